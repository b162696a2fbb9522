#include "compiler/front/yaml/yaml.h"

#include "compiler/base/ascii.h"
#include "compiler/base/limits.h"

#include <string.h>
#include <yaml.h>

struct anchor {
	struct str name;
	struct yaml_node *node; /* NULL while it is still open */
};

struct reader {
	struct arena *a;
	struct diags *d;
	const struct source *src;
	yaml_parser_t parser;
	VEC(struct anchor) anchors;
	uint32_t nodes; /* so far, aliases counted expanded */
	/* Where libyaml's character count and our byte count last met. */
	size_t chars, bytes;
	bool ascii; /* they are the same everywhere */
};

/* --- places -------------------------------------------------------------- */

static bool is_tail(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

/* Byte offset of a mark. Marks come nearly in order: walk from the last. */
static size_t mark_byte(struct reader *r, const yaml_mark_t *m)
{
	struct str s = r->src->text;

	if (r->ascii)
		return m->index < s.n ? m->index : s.n;
	while (r->chars < m->index && r->bytes < s.n) {
		r->bytes++;
		while (r->bytes < s.n && is_tail(s.p[r->bytes]))
			r->bytes++;
		r->chars++;
	}
	while (r->chars > m->index && r->bytes > 0) {
		r->bytes--;
		while (r->bytes > 0 && is_tail(s.p[r->bytes]))
			r->bytes--;
		r->chars--;
	}
	return r->bytes;
}

static struct span span_of(struct reader *r, size_t beg, size_t end)
{
	return (struct span){r->src->base + (uint32_t)beg,
			     r->src->base + (uint32_t)end};
}

/* An event's bytes, without the blanks and line ends behind it. */
static struct span event_at(struct reader *r, const yaml_event_t *e)
{
	size_t beg = mark_byte(r, &e->start_mark);
	size_t end = mark_byte(r, &e->end_mark);
	const char *p = r->src->text.p;

	while (end > beg && strchr(" \t\n", p[end - 1]))
		end--;
	return span_of(r, beg, end);
}

/* --- errors of libyaml --------------------------------------------------- */

/* What libyaml says, and what a writer of policies probably meant. */
static const struct {
	const char *problem, *help;
} remedies[] = {
	{"mapping values are not allowed in this context",
	 "quote a value that holds ': '"},
	{"found character that cannot start any token",
	 "quote a value that begins with '@', '`' or '%'"},
	{"did not find expected node content", "remove the ','"},
	{"did not find expected key",
	 "what belongs together begins in one column"},
	{"could not find expected ':'", "a key is followed by ': '"},
	{"did not find expected '-' indicator",
	 "what belongs together begins in one column"},
	{"found unexpected end of stream", "close the quotes"},
	{"did not find expected ',' or ']'", "close the '['"},
	{"did not find expected ',' or '}'", "close the '{'"},
	{"found unknown escape character",
	 "use single quotes, where a backslash is itself"},
};

/* A tab among the blanks that begin the line of offset at. */
static bool tab_before(struct reader *r, size_t at, size_t *out)
{
	struct str s = r->src->text;
	size_t i = at < s.n ? at : s.n;

	while (i > 0 && s.p[i - 1] != '\n')
		i--;
	for (; i < s.n && (s.p[i] == ' ' || s.p[i] == '\t' || s.p[i] == '-');
	     i++)
		if (s.p[i] == '\t') {
			*out = i;
			return true;
		}
	return false;
}

/* An unquoted wildcard: YAML takes it for an alias, and stops at its dot. */
static bool refuse_star(struct reader *r, size_t at, const char *what)
{
	struct str s = r->src->text;
	size_t end = at;

	while (at > 0 && at <= s.n &&
	       (ascii_is_alnum(s.p[at - 1]) || s.p[at - 1] == '-' ||
		s.p[at - 1] == '_'))
		at--;
	if (strcmp(what,
		   "did not find expected alphabetic or numeric character") !=
		    0 ||
	    at == 0 || at > s.n || s.p[at - 1] != '*')
		return false;
	while (end < s.n && !strchr(" \t\n,]}", s.p[end]))
		end++;
	diag_error(r->d, DIAG_YAML, span_of(r, at - 1, end),
		   "a value that begins with '*' needs quotes");
	diag_help(r->d, "write \"%s\"",
		  diag_quote(r->d, str_slice(s, at - 1, end)));
	return true;
}

static bool libyaml_fail(struct reader *r)
{
	const yaml_parser_t *y = &r->parser;
	size_t at = mark_byte(r, &y->problem_mark), tab;
	const char *what = y->problem ? y->problem : "unreadable";

	if (tab_before(r, at, &tab)) {
		diag_error(r->d, DIAG_TAB, span_of(r, tab, tab + 1),
			   "a tab in the indentation");
		diag_help(r->d, "YAML indents with blanks");
		return false;
	}
	if (refuse_star(r, at, what))
		return false;
	diag_error(r->d, DIAG_YAML, span_of(r, at, at), "not YAML: %s", what);
	if (y->context && y->context_mark.index < y->problem_mark.index) {
		size_t from = mark_byte(r, &y->context_mark);

		diag_note(r->d, span_of(r, from, from), "%s", y->context);
	}
	for (size_t i = 0; i < ARRAY_LEN(remedies); i++)
		if (strcmp(what, remedies[i].problem) == 0)
			diag_help(r->d, "%s", remedies[i].help);
	return false;
}

static bool next_event(struct reader *r, yaml_event_t *e)
{
	return yaml_parser_parse(&r->parser, e) || libyaml_fail(r);
}

/* --- nodes --------------------------------------------------------------- */

static bool count_nodes(struct reader *r, struct span at, uint32_t more)
{
	uint32_t most =
		r->src->derived ? LIMIT_DERIVED_NODES : LIMIT_YAML_NODES;

	if (more <= most - r->nodes) {
		r->nodes += more;
		return true;
	}
	diag_error(r->d, more > 1 ? DIAG_ALIAS : DIAG_TOO_BIG, at,
		   "more than %u values in one file%s", most,
		   more > 1 ? ", aliases counted" : "");
	return false;
}

static bool too_deep(struct reader *r, struct span at, unsigned depth)
{
	if (depth <= LIMIT_YAML_DEPTH)
		return false;
	diag_error(r->d, DIAG_DEPTH, at, "nested more than %u levels deep",
		   LIMIT_YAML_DEPTH);
	return true;
}

static struct str yaml_text(const yaml_char_t *s)
{
	return str_of((const char *)s);
}

static bool no_tag(struct reader *r, struct span at, const yaml_char_t *tag)
{
	struct str s, src = r->src->text;
	size_t beg = at.beg - r->src->base, end = beg;

	if (!tag)
		return true;
	/* An anchor may stand before the tag. */
	while (beg < src.n && src.p[beg] != '!' && src.p[beg] != '\n')
		beg++;
	end = beg;
	while (end < src.n && !strchr(" \t\n,[]{}", src.p[end]))
		end++;
	s = str_slice(src, beg, end);
	diag_error(r->d, DIAG_TAG, span_of(r, beg, end), "a tag, '%s'",
		   diag_quote(r->d, s.n ? s : yaml_text(tag)));
	diag_help(r->d, "remove it: types are known from the key");
	return false;
}

/*
 * The value's own bytes: between quotes when no escape or fold changed them.
 */
static uint32_t verbatim_at(struct reader *r, struct span at, struct str value)
{
	uint32_t inset = 0, beg = at.beg - r->src->base;
	struct str src = r->src->text;

	if (beg < src.n && (src.p[beg] == '"' || src.p[beg] == '\''))
		inset = 1;
	if (!str_eq(str_slice(src, beg + inset, beg + inset + value.n), value))
		return 0;
	return at.beg + inset;
}

/* Bytes that no value may hold, even through an escape. */
static bool scalar_bytes(struct reader *r, struct span at, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f) {
			diag_error(r->d, DIAG_SCALAR, at,
				   "a control character (\\x%02x) in a value",
				   c);
			diag_help(r->d, "remove the escape");
			return false;
		}
	}
	if (s.n <= LIMIT_SCALAR_BYTES)
		return true;
	diag_error(r->d, DIAG_SCALAR, at, "a value of %zu bytes, at most %u",
		   s.n, LIMIT_SCALAR_BYTES);
	return false;
}

/* Where the value begins: behind its anchor. */
static struct span behind_anchor(struct reader *r, struct span at,
				 const yaml_char_t *anchor)
{
	struct str s = r->src->text;
	size_t i = at.beg - r->src->base;

	if (!anchor || i >= s.n || s.p[i] != '&')
		return at;
	i += 1 + strlen((const char *)anchor);
	while (i < s.n && strchr(" \t\n", s.p[i]))
		i++;
	at.beg = r->src->base + (uint32_t)i;
	if (at.end < at.beg)
		at.end = at.beg;
	return at;
}

static bool read_scalar(struct reader *r, const yaml_event_t *e,
			struct text *out, bool *out_plain)
{
	struct span at = event_at(r, e);
	struct str s = {(const char *)e->data.scalar.value,
			e->data.scalar.length};

	if (!no_tag(r, at, e->data.scalar.tag))
		return false;
	at = behind_anchor(r, at, e->data.scalar.anchor);
	if (!scalar_bytes(r, at, s))
		return false;
	*out = (struct text){arena_str(r->a, s), at, verbatim_at(r, at, s)};
	*out_plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	return true;
}

/* --- anchors ------------------------------------------------------------- */

static uint32_t anchor_open(struct reader *r, const yaml_char_t *name)
{
	struct anchor *an;

	if (!name)
		return 0;
	an = vec_push(r->a, &r->anchors);
	an->name = arena_str(r->a, yaml_text(name));
	return r->anchors.n;
}

static void anchor_close(struct reader *r, uint32_t which,
			 struct yaml_node *node)
{
	if (which)
		r->anchors.v[which - 1].node = node;
}

static bool read_alias(struct reader *r, const yaml_event_t *e, unsigned depth,
		       struct yaml_node **out)
{
	struct str name = yaml_text(e->data.alias.anchor);
	struct span at = event_at(r, e);

	/* A later anchor of the same name hides the earlier. */
	for (uint32_t i = r->anchors.n; i-- > 0;) {
		struct yaml_node *n = r->anchors.v[i].node;

		if (!str_eq(r->anchors.v[i].name, name))
			continue;
		if (!n) {
			diag_error(r->d, DIAG_ALIAS, at,
				   "'*%s' stands inside what it names",
				   diag_quote(r->d, name));
			return false;
		}
		if (too_deep(r, at, depth + n->height - 1) ||
		    !count_nodes(r, at, n->size))
			return false;
		*vec_push(r->a, &n->uses) = at;
		*out = n;
		return true;
	}
	diag_error(r->d, DIAG_ALIAS, at, "no '&%s' before this '*%s'",
		   diag_quote(r->d, name), diag_quote(r->d, name));
	diag_help(r->d, "quote a value that begins with '*': \"*%s\"",
		  diag_quote(r->d, name));
	return false;
}

/* --- the tree ------------------------------------------------------------ */

static bool read_node(struct reader *r, const yaml_event_t *e, unsigned depth,
		      struct yaml_node **out);

static void adopt_child(struct yaml_node *n, const struct yaml_node *child)
{
	n->size += child->size;
	if (n->height <= child->height)
		n->height = (uint16_t)(child->height + 1);
}

/* Only a bracket is in the text; the end of a block is where others begin. */
static uint32_t find_closing(struct reader *r, const yaml_event_t *e)
{
	struct span at = event_at(r, e);

	return at.end > at.beg ? at.beg : 0;
}

static bool read_items(struct reader *r, struct yaml_node *n, unsigned depth)
{
	for (;;) {
		struct yaml_node *item;
		yaml_event_t e;
		bool ok;

		if (!next_event(r, &e))
			return false;
		if (e.type == YAML_SEQUENCE_END_EVENT) {
			n->close = find_closing(r, &e);
			yaml_event_delete(&e);
			return true;
		}
		ok = read_node(r, &e, depth + 1, &item);
		yaml_event_delete(&e);
		if (!ok)
			return false;
		*vec_push(r->a, &n->items) = item;
		adopt_child(n, item);
	}
}

static bool read_key(struct reader *r, const yaml_event_t *e, struct text *out)
{
	struct span at = event_at(r, e);
	bool plain;

	if (e->type != YAML_SCALAR_EVENT) {
		at.end = at.beg;
		diag_error(r->d, DIAG_KEY, at, "a key that is %s",
			   e->type == YAML_ALIAS_EVENT ? "an alias"
			   : e->type == YAML_SEQUENCE_START_EVENT
				   ? "a list"
				   : "a mapping");
		diag_help(r->d, "keys are plain words");
		return false;
	}
	if (!read_scalar(r, e, out, &plain))
		return false;
	if (plain && str_is(out->s, "<<")) {
		diag_error(r->d, DIAG_MERGE, out->at, "a merge key");
		diag_help(
			r->d,
			"lists of several files append; within one file write the keys out");
		return false;
	}
	return true;
}

static bool read_pairs(struct reader *r, struct yaml_node *n, unsigned depth)
{
	for (;;) {
		struct yaml_pair pair = {0};
		yaml_event_t e;
		bool ok;

		if (!next_event(r, &e))
			return false;
		if (e.type == YAML_MAPPING_END_EVENT) {
			n->close = find_closing(r, &e);
			yaml_event_delete(&e);
			return true;
		}
		ok = read_key(r, &e, &pair.key);
		yaml_event_delete(&e);
		if (!ok || !next_event(r, &e))
			return false;
		ok = read_node(r, &e, depth + 1, &pair.value);
		yaml_event_delete(&e);
		if (!ok)
			return false;
		*vec_push(r->a, &n->pairs) = pair;
		adopt_child(n, pair.value);
	}
}

static bool read_node(struct reader *r, const yaml_event_t *e, unsigned depth,
		      struct yaml_node **out)
{
	struct yaml_node *n;
	const yaml_char_t *name, *tag;
	uint32_t anchor;
	bool ok;

	if (e->type == YAML_ALIAS_EVENT)
		return read_alias(r, e, depth, out);
	n = arena_new_of(r->a, struct yaml_node);
	n->size = n->height = 1;
	n->text.at = event_at(r, e);
	if (too_deep(r, n->text.at, depth) || !count_nodes(r, n->text.at, 1))
		return false;
	if (e->type == YAML_SCALAR_EVENT) {
		n->kind = YAML_SCALAR;
		anchor = anchor_open(r, e->data.scalar.anchor);
		ok = read_scalar(r, e, &n->text, &n->plain);
	} else {
		bool map = e->type == YAML_MAPPING_START_EVENT;

		n->kind = map ? YAML_MAP : YAML_LIST;
		name = map ? e->data.mapping_start.anchor
			   : e->data.sequence_start.anchor;
		tag = map ? e->data.mapping_start.tag
			  : e->data.sequence_start.tag;
		anchor = anchor_open(r, name);
		ok = no_tag(r, n->text.at, tag) &&
		     (map ? read_pairs(r, n, depth) : read_items(r, n, depth));
	}
	anchor_close(r, anchor, n);
	*out = n;
	return ok;
}

/* The events around the document. */
static bool read_stream(struct reader *r, struct yaml_node **out)
{
	unsigned documents = 0;
	bool ok = true, end = false;

	while (ok && !end) {
		yaml_event_t e;

		if (!next_event(r, &e))
			return false;
		if (e.type == YAML_STREAM_END_EVENT) {
			end = true;
		} else if (e.type == YAML_DOCUMENT_START_EVENT) {
			const yaml_event_t *s = &e;
			struct span at = event_at(r, s);

			if (s->data.document_start.tag_directives.start !=
			    s->data.document_start.tag_directives.end) {
				diag_error(r->d, DIAG_TAG, at,
					   "a %%TAG directive");
				diag_help(r->d, "remove it: tags are refused");
				ok = false;
			} else if (++documents > 1) {
				diag_error(r->d, DIAG_DOCUMENTS, at,
					   "a second document");
				diag_help(
					r->d,
					"one file is one policy; split it and use 'extends'");
				ok = false;
			}
		} else if (e.type != YAML_STREAM_START_EVENT &&
			   e.type != YAML_DOCUMENT_END_EVENT) {
			ok = read_node(r, &e, 1, out);
		}
		yaml_event_delete(&e);
	}
	return ok;
}

bool yaml_parse(struct arena *a, struct diags *d, const struct source *src,
		struct yaml_node **out)
{
	struct reader r = {.a = a, .d = d, .src = src};
	uint32_t most = src->derived ? LIMIT_DERIVED_BYTES : LIMIT_SOURCE_BYTES;
	struct yaml_node *root = NULL;
	bool ok;

	if (src->text.n > most) {
		diag_error(d, DIAG_TOO_BIG, (struct span){0},
			   "'%s' has %zu bytes, at most %u",
			   diag_quote(d, src->name), src->text.n, most);
		return false;
	}
	if (!yaml_check_bytes(d, src))
		return false;
	r.ascii = ascii_is(src->text);
	if (!yaml_parser_initialize(&r.parser)) {
		diag_error(d, DIAG_READ, (struct span){0}, "out of memory");
		return false;
	}
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
		&r.parser, (const unsigned char *)src->text.p, src->text.n);
	ok = read_stream(&r, &root);
	yaml_parser_delete(&r.parser);
	if (!ok)
		return false;
	*out = root && yaml_is_null(root) && root->text.s.n == 0 ? NULL : root;
	return true;
}

bool yaml_is_null(const struct yaml_node *n)
{
	static const char *const words[] = {"", "~", "null", "Null", "NULL"};

	if (n->kind != YAML_SCALAR || !n->plain)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(n->text.s, words[i]))
			return true;
	return false;
}
