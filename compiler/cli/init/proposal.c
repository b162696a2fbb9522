#include "compiler/cli/init/proposal.h"

#include "compiler/base/buf.h"
#include "compiler/base/limits.h"
#include "compiler/cli/text/view.h"
#include "compiler/emit/yaml_write.h"
#include "runtime/launch/session/summary.h"

#include <stdlib.h>

#define COMMENT_MAX  200u /* printed bytes of a text that is not ours */
#define UNSAID_SHOWN 60u
#define ITEMS_MAX    1000u /* of a key: nobody reads more */

static const char *key_word(enum proposal_key key)
{
	switch (key) {
	case PROPOSAL_EXTENDS:
		return "extends";
	case PROPOSAL_ALLOW:
		return "allow";
	case PROPOSAL_ASK:
		return "ask";
	case PROPOSAL_DENY:
		return "deny";
	case PROPOSAL_IGNORE:
		return "ignore";
	case PROPOSAL_READONLY:
		return "readonly";
	case PROPOSAL_ARGS:
		return "args";
	case PROPOSAL_IMAGE:
		return "image";
	case PROPOSAL_KEYS:
		break;
	}
	abort();
}

/* NEL, LS, PS: YAML 1.1 ends a line there, too. */
static bool ends_line(struct str s)
{
	return str_starts(s, STR("\xc2\x85")) ||
	       str_starts(s, STR("\xe2\x80\xa8")) ||
	       str_starts(s, STR("\xe2\x80\xa9"));
}

/* What libyaml's emitter takes, and fits on a line. */
static bool is_plain(struct str s)
{
	for (size_t i = 0, n; i < s.n; i += n) {
		unsigned char c = (unsigned char)s.p[i];

		n = str_utf8(s, i);
		if (n == 0 || c < ' ' || c == 0x7f ||
		    ends_line(str_slice(s, i, s.n)))
			return false;
	}
	return s.n > 0 && s.n <= LIMIT_SCALAR_BYTES;
}

static bool has_item(const proposal_items *list, struct str text)
{
	vec_each(x, list)
		if (str_eq(x->text, text))
			return true;
	return false;
}

static void drop_item(proposal_items *list, struct str text)
{
	uint32_t n = 0;

	vec_each(x, list)
		if (!str_eq(x->text, text))
			list->v[n++] = *x;
	list->n = n;
}

void proposal_add(struct proposal *d, enum proposal_key key, struct str text,
		  struct str why)
{
	if (!is_plain(text)) {
		proposal_unsaid(d,
				arena_fmt(d->a, "%s %.*s", key_word(key),
					  STR_ARG(text)),
				STR("is empty, too long or no text on a line"));
		return;
	}
	if (key == PROPOSAL_IMAGE && d->keys[key].n) {
		proposal_unsaid(d, arena_fmt(d->a, "image %.*s", STR_ARG(text)),
				STR("there is another one above"));
		return;
	}
	if (has_item(&d->keys[key], text) ||
	    (key == PROPOSAL_ALLOW && has_item(&d->keys[PROPOSAL_ASK], text)))
		return;
	if (key == PROPOSAL_ASK)
		drop_item(&d->keys[PROPOSAL_ALLOW], text);
	if (d->keys[key].n == ITEMS_MAX) {
		proposal_unsaid(d,
				arena_fmt(d->a, "%s %.*s", key_word(key),
					  STR_ARG(text)),
				STR("too many"));
		return;
	}
	*vec_push(d->a, &d->keys[key]) = (struct proposal_item){
		arena_str(d->a, text), arena_str(d->a, why)};
}

void proposal_unsaid(struct proposal *d, struct str found, struct str why)
{
	*vec_push(d->a, &d->unsaid) = (struct proposal_item){
		arena_str(d->a, found), arena_str(d->a, why)};
}

bool proposal_says(const struct proposal *d)
{
	for (int k = 0; k < PROPOSAL_KEYS; k++)
		if (d->keys[k].n)
			return true;
	return false;
}

/* --- its text ------------------------------------------------------------- */

/* For who begins with a file that says little. */
static const char *key_example(enum proposal_key key)
{
	switch (key) {
	case PROPOSAL_EXTENDS:
		return "# extends:\n#   - npm\n";
	case PROPOSAL_ALLOW:
		return "# allow:\n"
		       "#   - api.example.com:443\n"
		       "#   - dest: \"*.example.com\"  # one label\n"
		       "#     ports: [443, 8000-8999]\n";
	case PROPOSAL_ASK:
		return "# ask:         # a person says yes or no, each time it is new\n"
		       "#   - docs.example.com:443\n";
	case PROPOSAL_DENY:
		return "# deny:\n#   - 192.0.2.0/24\n";
	case PROPOSAL_IGNORE:
		return "# ignore:      # there, but empty; gitignore syntax\n"
		       "#   - secrets/\n";
	case PROPOSAL_READONLY:
		return "# readonly:\n#   - /vendor/\n";
	case PROPOSAL_ARGS:
	case PROPOSAL_IMAGE:
		return "";
	case PROPOSAL_KEYS:
		break;
	}
	abort();
}

/* A pattern may be any text: "null" is none where it stands bare. */
static yaml_scalar_style_t style_of(enum proposal_key key)
{
	return key == PROPOSAL_IGNORE || key == PROPOSAL_READONLY
		       ? YAML_DOUBLE_QUOTED_SCALAR_STYLE
		       : YAML_ANY_SCALAR_STYLE;
}

/* As one item of the key's list, or with the key itself; without an LF. */
static struct str yaml_line(struct arena *a, enum proposal_key key,
			    struct str text)
{
	struct str whole, line = {0};
	struct yaml_write w;
	struct buf b;

	buf_init(&b, a);
	yaml_write_begin(&w, a, &b);
	if (key == PROPOSAL_IMAGE) {
		yaml_write_map(&w, YAML_BLOCK_MAPPING_STYLE);
		yaml_write_scalar(&w, str_of(key_word(key)), style_of(key));
		yaml_write_scalar(&w, text, style_of(key));
		yaml_write_map_end(&w);
	} else {
		yaml_write_list(&w, YAML_BLOCK_SEQUENCE_STYLE);
		yaml_write_scalar(&w, text, style_of(key));
		yaml_write_list_end(&w);
	}
	yaml_write_end(&w);
	whole = buf_str(&b);
	str_line(&whole, &line);
	return line;
}

/* On one line, whatever it is, and without what looks like a secret. */
static void put_escaped(struct buf *out, struct str text)
{
	summary_escape(out, view_cleaned(out->a, text), COMMENT_MAX);
}

static void put_item(struct buf *out, enum proposal_key key,
		     const struct proposal_item *x)
{
	struct str line = yaml_line(out->a, key, x->text);

	buf_addf(out, "%s%.*s  # ", key == PROPOSAL_IMAGE ? "" : "  ",
		 STR_ARG(line));
	put_escaped(out, x->why);
	buf_addc(out, '\n');
}

static void put_key(struct buf *out, const struct proposal *d,
		    enum proposal_key key, bool examples)
{
	const proposal_items *list = &d->keys[key];

	if (!list->n) {
		buf_adds(out, examples ? key_example(key) : "");
		return;
	}
	if (key != PROPOSAL_IMAGE)
		buf_addf(out, "%s:\n", key_word(key));
	vec_each(x, list)
		put_item(out, key, x);
}

static void put_unsaid(struct buf *out, const proposal_items *list)
{
	uint32_t n = 0;

	if (list->n)
		buf_adds(out, "\n# Not said above:\n");
	vec_each(x, list) {
		if (n++ == UNSAID_SHOWN) {
			buf_addf(out, "#   and %u more\n",
				 list->n - UNSAID_SHOWN);
			return;
		}
		buf_adds(out, "#   ");
		put_escaped(out, x->text);
		buf_adds(out, ": ");
		put_escaped(out, x->why);
		buf_addc(out, '\n');
	}
}

struct str proposal_text(const struct proposal *d, struct str head,
			 bool examples)
{
	struct buf b;

	buf_init(&b, d->a);
	buf_add(&b, head);
	buf_addc(&b, '\n');
	for (int k = 0; k < PROPOSAL_KEYS; k++) {
		/* what is reached, and below it what is seen */
		if (examples && (k == PROPOSAL_ALLOW || k == PROPOSAL_IGNORE))
			buf_addc(&b, '\n');
		put_key(&b, d, k, examples);
	}
	if (!examples && !proposal_says(d))
		buf_adds(&b, "{}\n");
	put_unsaid(&b, &d->unsaid);
	if (examples)
		buf_adds(
			&b,
			"\n"
			"# tests:       # 'membrane test' holds the policy to them\n"
			"#   allow: [GET https://api.example.com/]\n"
			"#   deny: [read .env]\n"
			"#   never: [{dest: \"**.internal\"}]\n");
	return buf_str(&b);
}
