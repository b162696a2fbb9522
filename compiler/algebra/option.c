#include "compiler/algebra/option.h"

#include "compiler/base/buf.h"

/* Those with a letter, those that take no value, and second names. */
static const struct known {
	const char *name;
	char letter;
	bool flag;
	const char *same; /* the name that the other is kept under */
} known[] = {
	{"attach", 'a', false, NULL},
	{"cpu-shares", 'c', false, NULL},
	{"detach", 'd', true, NULL},
	{"disable-content-trust", 0, true, NULL},
	{"dns-opt", 0, false, "dns-option"},
	{"env", 'e', false, NULL},
	{"help", 0, true, NULL},
	{"hostname", 'h', false, NULL},
	{"init", 0, true, NULL},
	{"interactive", 'i', true, NULL},
	{"label", 'l', false, NULL},
	{"memory", 'm', false, NULL},
	{"net", 0, false, "network"},
	{"net-alias", 0, false, "network-alias"},
	{"no-healthcheck", 0, true, NULL},
	{"oom-kill-disable", 0, true, NULL},
	{"privileged", 0, true, NULL},
	{"publish", 'p', false, NULL},
	{"publish-all", 'P', true, NULL},
	{"quiet", 'q', true, NULL},
	{"read-only", 0, true, NULL},
	{"rm", 0, true, NULL},
	{"sig-proxy", 0, true, NULL},
	{"tty", 't', true, NULL},
	{"use-api-socket", 0, true, NULL},
	{"user", 'u', false, NULL},
	{"volume", 'v', false, NULL},
	{"workdir", 'w', false, NULL},
};

static const struct known *named(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_is(name, known[i].name))
			return &known[i];
	return NULL;
}

static const struct known *lettered(char letter)
{
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (letter && known[i].letter == letter)
			return &known[i];
	return NULL;
}

/* As strconv.ParseBool() reads it. */
static struct str truth(struct str value)
{
	static const char *const no[] = {"0",	  "f",	   "F",
					 "false", "FALSE", "False"};

	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		if (str_is(value, no[i]))
			return STR("false");
	return STR("true");
}

static struct option make(struct str name, bool has_value, struct str value)
{
	const struct known *k = named(name);
	struct option o = {name, !has_value, value};

	if (k && k->same)
		o.name = str_of(k->same);
	if (k && k->flag) {
		o.any = false;
		o.value = truth(has_value ? value : STR("true"));
	}
	return o;
}

struct option option_of(const struct arg *arg)
{
	return make(arg->option, arg->has_value, arg->value);
}

/* What follows the name: "=value", " value", or nothing. */
static struct str after(struct str text, size_t at)
{
	return str_slice(text, at + 1, text.n);
}

static bool parse_long(struct arena *a, struct str text, option_list *out)
{
	size_t blank = str_find(text, ' ', 0), eq = str_find(text, '=', 0);
	size_t end = blank < eq ? blank : eq;

	if (end == 2)
		return false;
	*vec_push(a, out) =
		make(str_slice(text, 2, end), end < text.n, after(text, end));
	return true;
}

static bool parse_short(struct arena *a, struct str text, option_list *out)
{
	for (size_t i = 1; i < text.n; i++) {
		const struct known *k = lettered(text.p[i]);
		struct str rest = after(text, i);
		bool eq = str_starts(rest, STR("="));

		if (!k)
			return false;
		if (k->flag && !eq) {
			*vec_push(a, out) = make(str_of(k->name), false, rest);
			continue;
		}
		if (eq || str_starts(rest, STR(" ")))
			rest = str_slice(rest, 1, rest.n);
		*vec_push(a, out) = make(str_of(k->name), i + 1 < text.n, rest);
		return true;
	}
	return true;
}

bool option_parse(struct arena *a, struct str text, option_list *out)
{
	if (str_starts(text, STR("--")))
		return parse_long(a, text, out);
	if (text.n < 2 || text.p[0] != '-')
		return false;
	return parse_short(a, text, out);
}

struct str option_text(struct arena *a, const struct option *o)
{
	const struct known *k = named(o->name);

	if (o->any || (k && k->flag && str_is(o->value, "true")))
		return arena_fmt(a, "--%.*s", STR_ARG(o->name));
	return arena_fmt(a, "--%.*s=%.*s", STR_ARG(o->name), STR_ARG(o->value));
}

static const struct arg *find(const arg_list *args, const struct option *o)
{
	vec_each(arg, args) {
		struct option has = option_of(arg);

		if (str_eq(has.name, o->name) &&
		    (o->any || str_eq(has.value, o->value)))
			return arg;
	}
	return NULL;
}

bool option_among(struct arena *a, const arg_list *args, struct str text)
{
	option_list wanted = {0};

	if (!option_parse(a, text, &wanted))
		return false;
	vec_each(o, &wanted)
		if (!find(args, o))
			return false;
	return true;
}

const struct arg *option_find(struct arena *a, const arg_list *args,
			      struct str text)
{
	option_list wanted = {0};

	if (!option_parse(a, text, &wanted))
		return NULL;
	vec_each(o, &wanted)
		if (find(args, o))
			return find(args, o);
	return NULL;
}
