#include "compiler/front/yaml/edit.h"

#include "compiler/base/ascii.h"
#include "compiler/front/yaml/yaml.h"

#include <string.h>

/* A text and its tree; the first byte has the offset 1 in spans. */
struct edit {
	struct arena *a;
	struct str text;
	struct sources sources;
	struct diags diags;
	struct yaml_node *root;
};

static bool begin_edit(struct edit *e, struct arena *a, struct str text)
{
	const struct source *src;

	*e = (struct edit){.a = a, .text = text};
	sources_init(&e->sources, a);
	diags_init(&e->diags, a, &e->sources);
	src = sources_add(&e->sources, STR("edit"), text, LAYER_WORKSPACE);
	return yaml_parse(a, &e->diags, src, &e->root);
}

static size_t beg_of(const struct yaml_node *n)
{
	return n->text.at.beg - 1;
}

/* Behind the last byte; of an alias, behind that of what it names. */
static size_t end_of(const struct yaml_node *n)
{
	size_t end = n->text.at.end - 1, last;

	if (n->close)
		return n->close;
	vec_each(item, &n->items) {
		last = end_of(*item);
		end = last > end ? last : end;
	}
	vec_each(pair, &n->pairs) {
		last = pair->key.at.end - 1;
		end = last > end ? last : end;
		last = end_of(pair->value);
		end = last > end ? last : end;
	}
	return end;
}

static size_t line_beg(struct str s, size_t at)
{
	while (at > 0 && s.p[at - 1] != '\n')
		at--;
	return at;
}

/* Where the next line begins. */
static size_t line_end(struct str s, size_t at)
{
	at = str_find(s, '\n', at);
	return at < s.n ? at + 1 : s.n;
}

static struct str replaced_text(struct arena *a, struct str s, size_t beg,
				size_t end, struct str with)
{
	struct buf b;

	buf_init(&b, a);
	buf_add(&b, str_slice(s, 0, beg));
	buf_add(&b, with);
	buf_add(&b, str_slice(s, end, s.n));
	return buf_str(&b);
}

/* Whole lines before the byte at, which begins one. */
static struct str with_lines(struct arena *a, struct str s, size_t at,
			     struct str lines)
{
	bool open = at > 0 && s.p[at - 1] != '\n';

	return replaced_text(
		a, s, at, at,
		arena_fmt(a, "%s%.*s", open ? "\n" : "", STR_ARG(lines)));
}

static struct yaml_pair *pair_of(const struct yaml_node *map, const char *key)
{
	if (map && map->kind == YAML_MAP)
		vec_each(p, &map->pairs)
			if (str_is(p->key.s, key))
				return p;
	return NULL;
}

/* --- aliases ------------------------------------------------------------- */

/* Where a node stands: where it was written, or where an alias of it is. */
struct stand {
	size_t beg, end; /* from its anchor on */
	bool alias;
};

/* Of what was written at beg, where its anchor begins; no further than from. */
static size_t anchor_of(const struct edit *e, size_t from, size_t beg)
{
	size_t at = beg;

	while (at > from && strchr(" \n", e->text.p[at - 1]))
		at--;
	while (at > from && !strchr(" \n,[{", e->text.p[at - 1]))
		at--;
	return at < beg && e->text.p[at] == '&' ? at : beg;
}

/* What is written comes before its aliases. from: where it is looked for. */
static struct stand stand_of(const struct edit *e, const struct yaml_node *n,
			     size_t from)
{
	if (beg_of(n) < from)
		vec_each(u, &n->uses)
			if (u->beg - 1 >= from)
				return (struct stand){u->beg - 1, u->end - 1,
						      true};
	return (struct stand){anchor_of(e, from, beg_of(n)), end_of(n), false};
}

static struct stand stand_at(const struct edit *e, const struct yaml_node *list,
			     uint32_t i)
{
	struct stand s = {.end = beg_of(list)};

	for (uint32_t k = 0; k <= i; k++)
		s = stand_of(e, list->items.v[k], s.end);
	return s;
}

static struct stand value_of(const struct edit *e, const struct yaml_pair *p)
{
	return stand_of(e, p->value, p->key.at.end - 1);
}

/*
 * The list on one line: without one of its items, another in its place, or one
 * more at the end, where i is the number of them. Empty when it does not fit.
 */
static struct str copy_of(struct edit *e, const struct yaml_node *list,
			  uint32_t i, struct str item)
{
	struct buf b;

	if (list->kind != YAML_LIST)
		return (struct str){0};
	buf_init(&b, e->a);
	buf_addc(&b, '[');
	for (uint32_t k = 0; k <= list->items.n; k++) {
		struct str s = item;

		if (k < list->items.n && k != i) {
			struct stand at = stand_at(e, list, k);

			s = str_slice(e->text, at.beg, at.end);
		}
		if (str_find(s, '\n', 0) < s.n)
			return (struct str){0};
		if (k == list->items.n && i != k)
			break;
		if (s.n)
			buf_addf(&b, "%s%.*s", b.n > 1 ? ", " : "", STR_ARG(s));
	}
	buf_addc(&b, ']');
	return buf_str(&b);
}

/* The same in place of the alias that stands for it. */
static bool put_copy(struct edit *e, const struct yaml_pair *p, uint32_t i,
		     struct str item, struct str *out)
{
	struct stand s = value_of(e, p);
	struct str copy = copy_of(e, p->value, i, item);

	if (!s.alias || !copy.n)
		return false;
	*out = replaced_text(e->a, e->text, s.beg, s.end, copy);
	return true;
}

/* --- one more ------------------------------------------------------------ */

/* "[a, b]": behind the last item, on a line of its own where that has one. */
static struct str add_flow(struct edit *e, const struct yaml_node *list,
			   struct str item)
{
	struct str s = e->text;
	const struct yaml_node *last;
	size_t at = list->close - 1, beg, indent;

	if (list->items.n == 0)
		return replaced_text(e->a, s, at, at, item);
	last = list->items.v[list->items.n - 1];
	if (beg_of(last) < beg_of(list))
		return replaced_text(e->a, s, at, at,
				     arena_fmt(e->a, ", %.*s", STR_ARG(item)));
	at = end_of(last);
	beg = line_beg(s, beg_of(last));
	for (indent = beg; s.p[indent] == ' '; indent++)
		;
	if (indent != beg_of(last) || beg <= beg_of(list))
		return replaced_text(e->a, s, at, at,
				     arena_fmt(e->a, ", %.*s", STR_ARG(item)));
	return replaced_text(e->a, s, at, at,
			     arena_fmt(e->a, ",\n%.*s%.*s",
				       STR_ARG(str_slice(s, beg, indent)),
				       STR_ARG(item)));
}

static bool add_to_list(struct edit *e, const struct yaml_node *list,
			struct str item, struct str *out)
{
	struct str s = e->text, indent;
	size_t beg, dash;

	if (list->kind != YAML_LIST)
		return false;
	if (list->close) {
		*out = add_flow(e, list, item);
		return true;
	}
	dash = beg_of(list);
	beg = line_beg(s, dash);
	indent = str_slice(s, beg, dash);
	if (dash >= s.n || s.p[dash] != '-' || str_trim(indent).n)
		return false;
	*out = with_lines(e->a, s, line_end(s, end_of(list)),
			  arena_fmt(e->a, "%.*s- %.*s\n", STR_ARG(indent),
				    STR_ARG(item)));
	return true;
}

/* A key that the mapping does not have yet. */
static bool add_key(struct edit *e, const struct yaml_node *map,
		    const char *key, struct str item, struct str *out)
{
	struct str s = e->text, indent;
	size_t beg;

	if (map->close) {
		*out = replaced_text(e->a, s, map->close - 1, map->close - 1,
				     arena_fmt(e->a, "%s%s: [%.*s]",
					       map->pairs.n ? ", " : "", key,
					       STR_ARG(item)));
		return true;
	}
	beg = line_beg(s, beg_of(map));
	indent = str_slice(s, beg, beg_of(map));
	if (str_trim(indent).n)
		return false;
	*out = with_lines(e->a, s, line_end(s, end_of(map)),
			  arena_fmt(e->a, "%.*s%s:\n%.*s  - %.*s\n",
				    STR_ARG(indent), key, STR_ARG(indent),
				    STR_ARG(item)));
	return true;
}

bool edit_add(struct arena *a, struct str text, const char *key,
	      struct str item, struct str *out)
{
	const struct yaml_pair *network, *pair;
	const struct yaml_node *map;
	struct edit e;

	if (!begin_edit(&e, a, text))
		return false;
	if (!e.root) {
		*out = with_lines(
			a, text, text.n,
			arena_fmt(a, "%s:\n  - %.*s\n", key, STR_ARG(item)));
		return true;
	}
	map = e.root;
	if (map->kind != YAML_MAP)
		return false;
	network = pair_of(map, "network");
	if (network && (strcmp(key, "allow") == 0 || strcmp(key, "ask") == 0 ||
			strcmp(key, "deny") == 0))
		map = network->value;
	pair = pair_of(map, key);
	if (pair)
		return put_copy(&e, pair, pair->value->items.n, item, out) ||
		       add_to_list(&e, pair->value, item, out);
	return map->kind == YAML_MAP && add_key(&e, map, key, item, out);
}

/* --- one less ------------------------------------------------------------ */

/* An item of a list of the policy. */
struct found {
	const struct yaml_node *map; /* that holds the list */
	const struct yaml_pair *pair;
	uint32_t i;
};

static bool find_under(const struct yaml_node *map, size_t at, const char *key,
		       struct found *out)
{
	if (!map || map->kind != YAML_MAP)
		return false;
	vec_each(p, &map->pairs) {
		const struct yaml_node *list = p->value;

		/* Of others, as tests, a key is another one. */
		if (list->kind == YAML_MAP &&
		    (!key || str_is(p->key.s, "network")) &&
		    find_under(list, at, key, out))
			return true;
		if (key && !str_is(p->key.s, key))
			continue;
		for (uint32_t i = 0; i < list->items.n; i++) {
			const struct yaml_node *n = list->items.v[i];

			if (at < beg_of(n) || at >= end_of(n))
				continue;
			*out = (struct found){map, p, i};
			return true;
		}
	}
	return false;
}

static bool find_key(const struct yaml_node *map, size_t at, const char *key,
		     struct found *out)
{
	return (key && find_under(map, at, key, out)) ||
	       find_under(map, at, NULL, out);
}

/*
 * What other places have by an alias, moved to the first of these, so that the
 * item can go. Nothing before its own place moves by that.
 */
static bool hand_on(struct edit *e, const struct found *f)
{
	const struct yaml_node *n = f->pair->value->items.v[f->i];
	struct stand s = stand_at(e, f->pair->value, f->i);
	struct str item = str_slice(e->text, s.beg, s.end);

	if (s.alias || n->uses.n == 0)
		return true;
	if (str_find(item, '\n', 0) < item.n)
		return false;
	e->text = replaced_text(e->a, e->text, n->uses.v[0].beg - 1,
				n->uses.v[0].end - 1, item);
	return true;
}

static struct str remove_flow(struct edit *e, const struct found *f)
{
	const struct yaml_node *list = f->pair->value;
	struct stand s = stand_at(e, list, f->i);

	if (f->i + 1 < list->items.n)
		s.end = stand_at(e, list, f->i + 1).beg;
	else if (f->i > 0)
		s.beg = stand_at(e, list, f->i - 1).end;
	return replaced_text(e->a, e->text, s.beg, s.end, (struct str){0});
}

/* Its lines; with the key where it was the only one. */
static bool remove_block(struct edit *e, const struct found *f, struct str *out)
{
	const struct yaml_node *list = f->pair->value;
	struct stand at = stand_at(e, list, f->i);
	struct str s = e->text, before;
	size_t beg = line_beg(s, at.beg), key = f->pair->key.at.beg - 1;
	size_t end = line_end(s, at.end);

	before = str_trim(str_slice(s, beg, at.beg));
	if (!str_is(before, "-"))
		return false;
	if (list->items.n > 1) {
		*out = replaced_text(e->a, s, beg, end, (struct str){0});
		return true;
	}
	beg = line_beg(s, key);
	if (str_trim(str_slice(s, beg, key)).n)
		return false;
	if (f->map == e->root) {
		*out = replaced_text(e->a, s, beg, end, (struct str){0});
		return true;
	}
	*out = replaced_text(e->a, s, f->pair->key.at.end - 1, end,
			     STR(": []\n"));
	return true;
}

static bool remove_found(struct edit *e, const struct found *f, struct str *out)
{
	if (value_of(e, f->pair).alias)
		return put_copy(e, f->pair, f->i, (struct str){0}, out);
	if (!hand_on(e, f))
		return false;
	if (!f->pair->value->close)
		return remove_block(e, f, out);
	*out = remove_flow(e, f);
	return true;
}

bool edit_remove(struct arena *a, struct str text, size_t at, const char *key,
		 struct str *out)
{
	struct found f;
	struct edit e;

	return begin_edit(&e, a, text) && find_key(e.root, at, key, &f) &&
	       remove_found(&e, &f, out);
}

bool edit_remove_nth(struct arena *a, struct str text, const char *key,
		     uint32_t i, struct str *out)
{
	struct found f;
	struct edit e;

	if (!begin_edit(&e, a, text))
		return false;
	f = (struct found){e.root, pair_of(e.root, key), i};
	return f.pair && i < f.pair->value->items.n &&
	       remove_found(&e, &f, out);
}

bool edit_replace(struct arena *a, struct str text, size_t at, const char *key,
		  struct str item, struct str *out)
{
	struct stand s;
	struct found f;
	struct edit e;

	if (!begin_edit(&e, a, text) || !find_key(e.root, at, key, &f))
		return false;
	if (value_of(&e, f.pair).alias)
		return put_copy(&e, f.pair, f.i, item, out);
	if (!hand_on(&e, &f))
		return false;
	s = stand_at(&e, f.pair->value, f.i);
	*out = replaced_text(a, e.text, s.beg, s.end, item);
	return true;
}

bool edit_extend(struct arena *a, struct str text, size_t at, const char *key,
		 struct str item, struct str *out)
{
	const struct yaml_pair *pair;
	struct found f;
	struct edit e;

	if (!begin_edit(&e, a, text) || !find_key(e.root, at, NULL, &f))
		return false;
	pair = pair_of(f.pair->value->items.v[f.i], key);
	if (!pair)
		return false;
	return put_copy(&e, pair, pair->value->items.n, item, out) ||
	       add_to_list(&e, pair->value, item, out);
}

/* --- lines --------------------------------------------------------------- */

struct str edit_add_line(struct arena *a, struct str text, struct str line)
{
	return with_lines(a, text, text.n,
			  arena_fmt(a, "%.*s\n", STR_ARG(line)));
}

struct str edit_remove_line(struct arena *a, struct str text, size_t at)
{
	return replaced_text(a, text, line_beg(text, at), line_end(text, at),
			     (struct str){0});
}

/* --- scalars ------------------------------------------------------------- */

/* Words that mean something else without quotes, here or to other readers. */
static bool is_special(struct str s)
{
	static const char *const words[] = {"null",  "Null", "NULL", "true",
					    "false", "yes",  "no",   "on",
					    "off",   "y",    "n"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(s, words[i]))
			return true;
	return false;
}

static bool is_plain(struct str s)
{
	if (s.n == 0 || is_special(s) ||
	    !(ascii_is_alnum(s.p[0]) || strchr("./_", s.p[0])) ||
	    s.p[s.n - 1] == ':')
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) && !strchr("._:/@%+~=-", s.p[i]))
			return false;
	return true;
}

struct str edit_scalar(struct arena *a, struct str s)
{
	struct buf b;

	if (is_plain(s))
		return s;
	buf_init(&b, a);
	buf_addc(&b, '"');
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == '"' || c == '\\')
			buf_addf(&b, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_addf(&b, "\\x%02X", c);
		else
			buf_addc(&b, s.p[i]);
	}
	buf_addc(&b, '"');
	return buf_str(&b);
}
