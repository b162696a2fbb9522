#include "compiler/algebra/decide/option.h"

#include "compiler/ir/docker_run.h"

/* Second names, and those that they are kept under. */
static const char *const same[][2] = {
	{"dns-opt", "dns-option"},
	{"net", "network"},
	{"net-alias", "network-alias"},
};

static bool is_flag(const struct docker_run_option *d)
{
	return d && d->type == DOCKER_RUN_FLAG;
}

static struct option make_option(struct str name, bool has_value,
				 struct str value)
{
	struct option o = {name, !has_value, value};
	bool on = true;

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		if (str_is(name, same[i][0]))
			o.name = str_of(same[i][1]);
	if (is_flag(docker_run_named(name))) {
		if (has_value && !docker_run_bool(value, &on))
			on = true;
		o.any = false;
		o.value = on ? STR("true") : STR("false");
	}
	return o;
}

struct option option_of(const struct arg *arg)
{
	return make_option(arg->option, arg->has_value, arg->value);
}

/* What follows the name: "=value", " value", or nothing. */
static struct str text_after(struct str text, size_t at)
{
	return str_slice(text, at + 1, text.n);
}

static bool parse_long(struct arena *a, struct str text, option_list *out)
{
	size_t blank = str_find(text, ' ', 0), eq = str_find(text, '=', 0);
	size_t end = blank < eq ? blank : eq;

	if (end == 2)
		return false;
	*vec_push(a, out) = make_option(str_slice(text, 2, end), end < text.n,
					text_after(text, end));
	return true;
}

static bool parse_short(struct arena *a, struct str text, option_list *out)
{
	for (size_t i = 1; i < text.n; i++) {
		const struct docker_run_option *d =
			docker_run_lettered(text.p[i]);
		struct str rest = text_after(text, i);
		bool eq = str_starts(rest, STR("="));

		if (!d)
			return false;
		if (is_flag(d) && !eq) {
			*vec_push(a, out) =
				make_option(str_of(d->name), false, rest);
			continue;
		}
		if (eq || str_starts(rest, STR(" ")))
			rest = str_slice(rest, 1, rest.n);
		*vec_push(a, out) =
			make_option(str_of(d->name), i + 1 < text.n, rest);
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
	if (o->any ||
	    (is_flag(docker_run_named(o->name)) && str_is(o->value, "true")))
		return arena_fmt(a, "--%.*s", STR_ARG(o->name));
	return arena_fmt(a, "--%.*s=%.*s", STR_ARG(o->name), STR_ARG(o->value));
}

static const struct arg *find_option(const arg_list *args,
				     const struct option *o)
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
		if (!find_option(args, o))
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
		if (find_option(args, o))
			return find_option(args, o);
	return NULL;
}
