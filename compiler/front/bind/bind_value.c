/* Values that are one word: switches, choices, numbers, names. */
#include "compiler/base/ascii.h"
#include "compiler/base/limits.h"
#include "compiler/front/bind/bind_types.h"

#include <string.h>

#define SET(b, pair, field, opt, val)                                          \
	(*(opt *)(field) = (opt){                                              \
		 .set = true,                                                  \
		 .from = bind_from((b), (pair)->value->text.at),               \
		 .v = (val),                                                   \
	 })

/* --- switches and choices ------------------------------------------------ */

void bind_value_bool(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	static const char *const yes[] = {"yes", "on", "y", "1", "true"};
	static const char *const no[] = {"no", "off", "n", "0", "false"};
	const struct yaml_node *n = pair->value;
	struct str low;

	if (n->plain &&
	    (str_is(n->text.s, "true") || str_is(n->text.s, "false"))) {
		SET(b, pair, field, ir_opt_bool, n->text.s.p[0] == 't');
		return;
	}
	low = ascii_lower(b->c->a, n->text.s);
	bind_error(b, DIAG_BOOL, n->text.at, "'%s' is neither true nor false",
		   bind_quote(b, n->text.s));
	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (str_is(low, yes[i]))
			bind_help(b, "write 'true'%s",
				  i == 4 ? ", lower case, without quotes" : "");
		if (str_is(low, no[i]))
			bind_help(b, "write 'false'%s",
				  i == 4 ? ", lower case, without quotes" : "");
	}
}

static const struct {
	enum bind_type type;
	const char *word;
} words[] = {
#define WORD(type, word) {BIND_TYPE_##type, word},
#include "grammar/schema.def"
};

/* What people have who ask for it, and why it is none: doc/engines.md. */
static void help_podman(struct binder *b)
{
	bind_help(
		b,
		"podman 4.3 does not hold a session: without root it leaves out limits and keeps the view to itself; with root it leaves '/run' of a read-only root writable, and an end without its status");
	bind_help(
		b,
		"'native' needs no daemon and no root; 'docker' runs images");
}

/* Index of the word among those of its type; -1 after reporting. */
static int choose_word(struct binder *b, const struct yaml_pair *pair,
		       enum bind_type type)
{
	const struct text *t = &pair->value->text;
	const char *names[ARRAY_LEN(words)], *near;
	struct buf list;
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words[i].type == type)
			names[n++] = words[i].word;
	for (size_t i = 0; i < n; i++)
		if (str_is(t->s, names[i]))
			return (int)i;
	if (type == BIND_TYPE_LASTS)
		bind_error(b, DIAG_CHOICE, t->at, "no answer is for '%s'",
			   bind_quote(b, t->s));
	else
		bind_error(b, DIAG_CHOICE, t->at, "unknown %.*s '%s'",
			   STR_ARG(pair->key.s), bind_quote(b, t->s));
	if (type == BIND_TYPE_ENGINE && str_is(t->s, "podman")) {
		help_podman(b);
		return -1;
	}
	near = bind_nearest(t->s, names, n);
	if (near) {
		bind_help(b, "did you mean '%s'?", near);
		return -1;
	}
	buf_init(&list, b->c->a);
	for (size_t i = 0; i < n; i++)
		buf_addf(&list, "%s'%s'", i ? ", " : "", names[i]);
	bind_help(b, "it is one of %s", list.p);
	return -1;
}

#define CHOICE(fn, opt, value_type, bound)                                     \
	void fn(struct binder *b, const struct yaml_pair *pair, void *field)   \
	{                                                                      \
		int i = choose_word(b, pair, BIND_TYPE_##bound);               \
                                                                               \
		if (i >= 0)                                                    \
			SET(b, pair, field, opt, (value_type)i);               \
	}

CHOICE(bind_value_tls, ir_opt_tls, enum ir_tls, TLS)
CHOICE(bind_value_lasts, ir_opt_lasts, enum ir_lasts, LASTS)
CHOICE(bind_value_engine, ir_opt_engine, enum ir_engine, ENGINE)
CHOICE(bind_value_runtime, ir_opt_runtime, enum ir_runtime, RUNTIME)
CHOICE(bind_value_masks, ir_opt_masks, enum ir_masks, MASKS)
CHOICE(bind_value_home, ir_opt_home, enum ir_home, HOME)
CHOICE(bind_value_mode, ir_opt_mode, enum ir_mode, MODE)
CHOICE(bind_value_trace_engine, ir_opt_trace_engine, enum ir_trace_engine,
       TRACE_ENGINE)
CHOICE(bind_value_trust, ir_opt_trust, enum ir_trust, TRUST)

/* --- numbers ------------------------------------------------------------- */

static void not_a(struct binder *b, const struct yaml_pair *pair,
		  const char *what, const char *help)
{
	bind_error(b, DIAG_NUMBER, pair->value->text.at, "'%s' is not %s",
		   bind_quote(b, pair->value->text.s), what);
	bind_help(b, "%s", help);
}

void bind_value_count(struct binder *b, const struct yaml_pair *pair,
		      void *field)
{
	uint64_t v;

	if (!str_u64(pair->value->text.s, 1u << 30, &v) || v == 0)
		not_a(b, pair, "a number", "a whole number, 1 or more");
	else
		SET(b, pair, field, ir_opt_u64, v);
}

struct unit {
	char letter;
	uint64_t factor;
};

/* Digits and at most one letter of units; the product is at most max. */
static bool with_unit(struct str s, const struct unit *units, size_t n,
		      bool need, uint64_t max, uint64_t *out)
{
	uint64_t factor = 1, v;
	char last = s.n ? s.p[s.n - 1] : '0';

	if (ascii_is_upper(last))
		last = (char)(last - 'A' + 'a');
	if (ascii_is_digit(last)) {
		if (need)
			return false;
	} else {
		size_t i = 0;

		while (i < n && units[i].letter != last)
			i++;
		if (i == n)
			return false;
		factor = units[i].factor;
		s.n--;
	}
	if (!str_u64(s, max, &v) || v == 0 || v > max / factor)
		return false;
	*out = v * factor;
	return true;
}

void bind_value_size(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	static const struct unit units[] = {
		{'b', 1},	 {'k', 1u << 10},	   {'m', 1u << 20},
		{'g', 1u << 30}, {'t', (uint64_t)1 << 40},
	};
	struct str s = pair->value->text.s;
	uint64_t v;

	if (with_unit(s, units, ARRAY_LEN(units), false, (uint64_t)1 << 50, &v))
		SET(b, pair, field, ir_opt_u64, v);
	else
		not_a(b, pair, "a size",
		      "a whole number and one of b, k, m, g, t, as in '512m'");
}

void bind_value_age(struct binder *b, const struct yaml_pair *pair, void *field)
{
	static const struct unit units[] = {
		{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}, {'w', 604800},
	};
	uint64_t v;

	if (with_unit(pair->value->text.s, units, ARRAY_LEN(units), true,
		      (uint64_t)1 << 32, &v))
		SET(b, pair, field, ir_opt_u64, v);
	else
		not_a(b, pair, "an age",
		      "a whole number and one of s, m, h, d, w, as in '7d'");
}

/* Long enough to be read and answered; no client waits for longer. */
void bind_value_wait(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	static const struct unit units[] = {{'s', 1}, {'m', 60}};
	uint64_t v;

	if (with_unit(pair->value->text.s, units, ARRAY_LEN(units), true,
		      IR_WAIT_MAX_S, &v))
		SET(b, pair, field, ir_opt_u64, v);
	else
		not_a(b, pair, "a time of 1s to 10m",
		      "a whole number and one of s, m, as in '60s' or '2m'");
}

/* "1.5": at most three decimals. Thousandths. */
static bool parse_cpus(struct str s, uint64_t *out)
{
	size_t dot = str_find(s, '.', 0);
	struct str frac = str_slice(s, dot + 1, s.n);
	uint64_t whole, milli = 0;

	if (!str_u64(str_slice(s, 0, dot), 1024, &whole) || frac.n > 3 ||
	    (dot < s.n && !str_u64(frac, 999, &milli)))
		return false;
	for (size_t i = frac.n; i < 3; i++)
		milli *= 10;
	*out = whole * 1000 + milli;
	return *out > 0;
}

void bind_value_cpus(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	uint64_t v;

	if (parse_cpus(pair->value->text.s, &v))
		SET(b, pair, field, ir_opt_u64, v);
	else
		not_a(b, pair, "a number of processors",
		      "as in '2' or '1.5', three decimals at most");
}

/* --- names --------------------------------------------------------------- */

/* Letters and digits, and of also any but the first. */
static bool made_of(struct str s, const char *also)
{
	if (s.n == 0 || !ascii_is_alnum(s.p[0]))
		return false;
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) && !strchr(also, s.p[i]))
			return false;
	return true;
}

static void set_text(struct binder *b, const struct yaml_pair *pair,
		     void *field, const char *also, const char *what)
{
	const struct text *t = &pair->value->text;

	if (made_of(t->s, also)) {
		SET(b, pair, field, ir_opt_str, t->s);
		return;
	}
	bind_error(b, DIAG_TEXT, t->at, "'%s' is not %s", bind_quote(b, t->s),
		   what);
	bind_help(
		b,
		"it begins with a letter or digit and holds letters, digits and '%s'",
		also);
}

void bind_value_image(struct binder *b, const struct yaml_pair *pair,
		      void *field)
{
	set_text(b, pair, field, "._-/:@", "the name of an image");
}

void bind_value_name(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	set_text(b, pair, field, "._-", "the name of a Docker network");
}

void bind_value_version(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	set_text(b, pair, field, "._-", "a version");
}

void bind_value_user(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	const struct text *t = &pair->value->text;
	size_t colon = str_find(t->s, ':', 0);
	struct str group = str_slice(t->s, colon + 1, t->s.n);
	uint64_t id;

	if (str_u64(str_slice(t->s, 0, colon), UINT32_MAX - 1, &id) &&
	    (colon == t->s.n || str_u64(group, UINT32_MAX - 1, &id))) {
		SET(b, pair, field, ir_opt_str, t->s);
		return;
	}
	bind_error(b, DIAG_TEXT, t->at, "'%s' is not UID or UID:GID",
		   bind_quote(b, t->s));
	bind_help(b, "numbers: what a name means depends on the image");
}

bool bind_value_is_line(struct str s)
{
	return str_find(s, '\t', 0) == s.n && str_find(s, '\n', 0) == s.n;
}

void bind_value_seccomp(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	static const char *const names[] = {"default", "docker", "unconfined"};
	const struct text *t = &pair->value->text;
	const char *near;

	if (str_is(t->s, names[0]) || str_is(t->s, names[1]) ||
	    str_is(t->s, names[2]) ||
	    (str_starts(t->s, STR("/")) && bind_value_is_line(t->s))) {
		SET(b, pair, field, ir_opt_str, t->s);
		return;
	}
	bind_error(b, DIAG_CHOICE, t->at, "unknown seccomp profile '%s'",
		   bind_quote(b, t->s));
	near = bind_nearest(t->s, names, ARRAY_LEN(names));
	/* Docker reads a relative one from wherever it was called. */
	if (near)
		bind_help(b, "did you mean '%s'?", near);
	else
		bind_help(
			b,
			"'default', 'docker', 'unconfined' or an absolute path");
}

/* Nobody knows where a relative one would begin. */
bool bind_value_is_host_file(struct binder *b, const struct text *t)
{
	bool below = str_starts(t->s, STR("~/"));

	if ((below || str_starts(t->s, STR("/"))) &&
	    t->s.n > (below ? 2u : 1u) && bind_value_is_line(t->s))
		return true;
	bind_error(b, DIAG_ABSOLUTE, t->at,
		   "'%s' is not the absolute path of a file",
		   bind_quote(b, t->s));
	bind_help(
		b,
		"a path of this machine, from '/' or '~/' on, as in '~/corp/file'");
	return false;
}

void bind_value_host_file(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	const struct text *t = &pair->value->text;

	if (bind_value_is_host_file(b, t))
		SET(b, pair, field, ir_opt_str, t->s);
}
