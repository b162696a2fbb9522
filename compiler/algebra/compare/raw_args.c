/*
 * compare.h, of raw arguments: requests of their own, "docker-arg
 * --name=value".
 */
#include "compiler/algebra/compare/parts.h"

#include "compiler/algebra/compare/covers.h"
#include "compiler/algebra/compare/docker_effect.h"
#include "compiler/base/buf.h"
#include "compiler/ir/text.h"

#include <stdlib.h>

struct comparing {
	struct arena *a;
	const arg_list *was, *is;
	struct comparison *out;
	struct covers covers;
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

static void add_arg(struct comparing *s, enum access_way way,
		    const struct arg *arg, bool old)
{
	struct option o = option_of(arg);
	struct access_change *c = way == ACCESS_KEPT
					  ? vec_push(s->a, &s->out->kept)
					  : vec_push(s->a, &s->out->changes);
	struct decision has = {.verdict = VERDICT_ALLOW,
			       .reason = REASON_GRANTED};
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

/* --- one that one side alone has ------------------------------------------ */

/* Is there another of the same key, of which docker takes the last? */
static bool has_rival(const arg_list *args, const struct option *o)
{
	struct str key, its;

	if (!docker_effect_key(o, &key))
		return false;
	vec_each(arg, args) {
		struct option x = option_of(arg);

		if (str_eq(x.name, o->name) && docker_effect_key(&x, &its) &&
		    str_eq(its, key))
			return true;
	}
	return false;
}

/* What is behind it comes or goes as such; what it lies on was told. */
static void add_cover(struct comparing *s, const struct arg *arg, bool old)
{
	enum access_way way = old ? ACCESS_LOST : ACCESS_GAINED;
	struct option o = option_of(arg);
	bool empty = true;

	switch (covers_tell(&s->covers, docker_run_named(o.name)->id, o.value,
			    option_text(s->a, &o), arg->from, old, &empty)) {
	case COVERS_INSIDE:
		if (!empty)
			add_arg(s, way, arg, old);
		return;
	case COVERS_NOTHING:
		add_arg(s, empty ? ACCESS_OTHER : way, arg, old);
		return;
	case COVERS_OUTSIDE:
		add_arg(s, old || empty ? ACCESS_OTHER : way, arg, old);
		return;
	case COVERS_UNKNOWN:
		add_arg(s, old ? ACCESS_OTHER : way, arg, old);
		return;
	}
	abort();
}

static void add_own(struct comparing *s, const struct arg *arg, bool old)
{
	struct option o = option_of(arg);

	if (docker_effect_of(&o).effect == DOCKER_EFFECT_COVERS)
		add_cover(s, arg, old);
	else if (!docker_effect_adds(&o))
		add_arg(s, ACCESS_OTHER, arg, old);
	else if (!old)
		add_arg(s, ACCESS_GAINED, arg, old);
	else
		add_arg(s, has_rival(s->is, &o) ? ACCESS_OTHER : ACCESS_LOST,
			arg, old);
}

/* --- several together ----------------------------------------------------- */

static void add_order(struct comparing *s, const char *what, struct str name,
		      struct str was, struct str is, const struct arg *arg)
{
	*vec_push(s->a, &s->out->changes) = (struct access_change){
		.way = ACCESS_OTHER,
		.kind = ACCESS_SETTING,
		.text = arena_fmt(s->a, "the %s of --%.*s %.*s -> %.*s", what,
				  STR_ARG(name), STR_ARG(was), STR_ARG(is)),
		.why = arg->from,
	};
}

static const struct arg *last_of(const arg_list *args, struct str name,
				 struct str key)
{
	const struct arg *last = NULL;
	struct str its;

	vec_each(arg, args) {
		struct option o = option_of(arg);

		if (str_eq(o.name, name) && docker_effect_key(&o, &its) &&
		    str_eq(its, key))
			last = arg;
	}
	return last;
}

/* Both have both values, and docker takes the last: another one. */
static void compare_last(struct comparing *s, const struct arg *arg)
{
	struct option now = option_of(arg), old;
	const struct arg *before;
	struct str key;

	if (!docker_effect_key(&now, &key) ||
	    last_of(s->is, now.name, key) != arg)
		return;
	before = last_of(s->was, now.name, key);
	if (!before)
		return;
	old = option_of(before);
	if (!str_eq(old.value, now.value) && has_option(s->was, &now) &&
	    has_option(s->is, &old))
		add_order(s, "last", now.name, old.value, now.value, arg);
}

/* Values of that option that both have, in the order of the first. */
static struct str common_head(struct arena *a, const arg_list *args,
			      const arg_list *other, struct str name)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(arg, args) {
		struct option o = option_of(arg);

		if (str_eq(o.name, name) && has_option(other, &o))
			buf_addf(&b, "%s'%.*s'", b.n ? " " : "",
				 STR_ARG(o.value));
	}
	return buf_str(&b);
}

/* Each counts, and which is first or last matters. */
static void compare_order(struct comparing *s, const struct arg *arg)
{
	struct option o = option_of(arg);
	struct str was, is;

	if (docker_effect_of(&o).times != DOCKER_TIMES_ORDER)
		return;
	for (const struct arg *x = s->is->v; x < arg; x++)
		if (str_eq(option_of(x).name, o.name))
			return; /* the first of them speaks for all */
	was = common_head(s->a, s->was, s->is, o.name);
	is = common_head(s->a, s->is, s->was, o.name);
	if (!str_eq(was, is))
		add_order(s, "order", o.name, was, is, arg);
}

void raw_args_compare(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out)
{
	struct comparing s = {
		.a = a,
		.was = &old->docker_args,
		.is = &now->docker_args,
		.out = out,
	};

	covers_init(&s.covers, a, old, now, out);
	vec_each(arg, s.is) {
		struct option o = option_of(arg);

		compare_last(&s, arg);
		compare_order(&s, arg);
		if (!is_first(s.is, arg))
			continue;
		if (!has_option(s.was, &o))
			add_own(&s, arg, false);
		else if (out->with_kept)
			add_arg(&s, ACCESS_KEPT, arg, false);
	}
	vec_each(arg, s.was) {
		struct option o = option_of(arg);

		if (is_first(s.was, arg) && !has_option(s.is, &o))
			add_own(&s, arg, true);
	}
}
