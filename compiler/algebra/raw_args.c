#include "compiler/algebra/raw_args.h"

#include "compiler/algebra/option.h"
#include "compiler/ir/text.h"

struct comparing {
	struct arena *a;
	const arg_list *was, *is;
	struct comparison *out;
};

static bool has_option(const arg_list *args, const struct option *o)
{
	vec_each(arg, args) {
		struct option x = option_of(arg);

		if (str_eq(x.name, o->name) && str_eq(x.value, o->value))
			return true;
	}
	return false;
}

/* Harmless options of which one less is not certainly less. */
static bool may_restrict(const struct arg *arg)
{
	static const char *const none[] = {"add-host",	 "env",	     "env-file",
					   "expose",	 "hostname", "label",
					   "domainname", "workdir",  "publish"};

	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		if (str_is(arg->option, none[i]))
			return false;
	return arg->class == ARG_HARMLESS;
}

static void add_arg(struct comparing *s, enum access_way way,
		    const struct arg *arg, bool old)
{
	struct option o = option_of(arg);
	struct access_change *c = way == ACCESS_KEPT
					  ? vec_push(s->a, &s->out->kept)
					  : vec_push(s->a, &s->out->changes);
	struct decision has = {.allow = true, .reason = REASON_GRANTED};
	struct decision none = {.reason = REASON_NO_GRANT};

	c->way = way;
	c->kind = ACCESS_ARG;
	c->text = option_text(s->a, &o);
	c->has_witness = true;
	c->witness.kind = IR_REQ_ARG;
	c->witness.arg = c->text;
	c->witness.text = ir_request_text(s->a, &c->witness);
	c->was = old || way == ACCESS_KEPT ? has : none;
	c->is = old ? none : has;
	c->why = arg->from;
	c->why_old = old;
}

/* Each option and value once. */
static bool is_first(const arg_list *args, const struct arg *arg)
{
	struct option o = option_of(arg);
	arg_list before = {.v = args->v, .n = (uint32_t)(arg - args->v)};

	return !has_option(&before, &o);
}

/* May it be given several times, each for something of its own? */
static bool adds_up(struct str name)
{
	static const char *const lists[] = {
		"add-host",
		"annotation",
		"attach",
		"cap-add",
		"cap-drop",
		"device",
		"dns",
		"dns-option",
		"dns-search",
		"env",
		"env-file",
		"expose",
		"group-add",
		"label",
		"label-file",
		"link",
		"link-local-ip",
		"log-opt",
		"mount",
		"network",
		"network-alias",
		"publish",
		"security-opt",
		"storage-opt",
		"sysctl",
		"tmpfs",
		"ulimit",
		"volume",
		"volumes-from",
		"blkio-weight-device",
		"device-read-bps",
		"device-read-iops",
		"device-write-bps",
		"device-write-iops",
		"device-cgroup-rule",
	};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		if (str_is(name, lists[i]))
			return true;
	return false;
}

static const struct arg *last_of(const arg_list *args, struct str name)
{
	const struct arg *last = NULL;

	vec_each(arg, args)
		if (str_eq(option_of(arg).name, name))
			last = arg;
	return last;
}

/* Both have both values, and docker takes the last: another one. */
static void compare_last(struct comparing *s, const struct arg *arg)
{
	struct option now = option_of(arg), old;
	const struct arg *before = last_of(s->was, now.name);

	if (adds_up(now.name) || last_of(s->is, now.name) != arg || !before)
		return;
	old = option_of(before);
	if (str_eq(old.value, now.value) || !has_option(s->was, &now) ||
	    !has_option(s->is, &old))
		return;
	*vec_push(s->a, &s->out->changes) = (struct access_change){
		.way = ACCESS_OTHER,
		.kind = ACCESS_SETTING,
		.text = arena_fmt(s->a, "the last of --%.*s %.*s -> %.*s",
				  STR_ARG(now.name), STR_ARG(old.value),
				  STR_ARG(now.value)),
		.why = arg->from,
	};
}

void raw_args_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out)
{
	struct comparing s = {a, &old->docker_args, &now->docker_args, out};

	vec_each(arg, s.is) {
		struct option o = option_of(arg);

		compare_last(&s, arg);
		if (!is_first(s.is, arg))
			continue;
		if (!has_option(s.was, &o))
			add_arg(&s, ACCESS_GAINED, arg, false);
		else if (out->with_kept)
			add_arg(&s, ACCESS_KEPT, arg, false);
	}
	vec_each(arg, s.was) {
		struct option o = option_of(arg);

		if (is_first(s.was, arg) && !has_option(s.is, &o))
			add_arg(&s,
				may_restrict(arg) ? ACCESS_OTHER : ACCESS_LOST,
				arg, true);
	}
}
