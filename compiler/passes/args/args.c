#include "compiler/passes/args/args.h"

#include "compiler/base/limits.h"
#include "compiler/base/near.h"
#include "compiler/ir/variable.h"
#include "compiler/passes/args/args_judge.h"

#include <stdlib.h>

struct parser {
	struct pass_ctx *c;
	struct ir_policy *p;
	struct args_places places;
	struct docker_run_reader words;
};

/* --- variables ----------------------------------------------------------- */

static const char *stand_in(struct str name)
{
	if (str_is(name, "HOME"))
		return ARGS_HOME;
	if (str_is(name, "PWD"))
		return ARGS_PWD;
	if (str_is(name, "MEMBRANE_HOME"))
		return ARGS_STATE;
	return ARGS_UNKNOWN;
}

/*
 * A value with its variables replaced, by what env says or, when env is NULL,
 * by stand-ins. False after an error: malformed, or not set.
 */
static bool expand(struct pass_ctx *c, struct str s, struct span at,
		   args_env env, struct str *out)
{
	struct str name;
	struct buf b;
	size_t n;

	buf_init(&b, c->a);
	for (size_t i = 0; i < s.n; i += n) {
		const char *v;

		n = 1;
		if (s.p[i] != '$') {
			buf_addc(&b, s.p[i]);
			continue;
		}
		n = variable_at(s, i, &name);
		if (n == 0) {
			diag_error(c->diags, DIAG_ARG_VARIABLE, at,
				   "a '$' that begins no variable in '%s'",
				   diag_quote(c->diags, s));
			diag_help(
				c->diags,
				"write $NAME, ${NAME}, or $$ for the dollar sign itself");
			return false;
		}
		if (name.n == 0)
			v = "$";
		else if (!env)
			v = stand_in(name);
		else
			v = env(arena_cstr(c->a, name));
		if (!v) {
			diag_error(c->diags, DIAG_ARG_UNSET, at,
				   "the variable '%s' is not set",
				   diag_quote(c->diags, name));
			return false;
		}
		buf_adds(&b, v);
	}
	*out = buf_str(&b);
	return true;
}

static bool has_secret_variable(struct str expanded)
{
	return str_find(expanded, ARGS_UNKNOWN[0], 0) < expanded.n;
}

/* --- published ports ----------------------------------------------------- */

static bool port_range(struct str s, uint16_t *lo, uint16_t *hi)
{
	struct str first = {0};
	uint64_t a, b;

	(void)str_field(&s, '-', &first);
	if (!str_u64(first, 65535, &a) || a == 0)
		return false;
	b = a;
	if (s.n && (!str_u64(s, 65535, &b) || b < a))
		return false;
	*lo = (uint16_t)a;
	*hi = (uint16_t)b;
	return true;
}

static bool publish_fault(struct pass_ctx *c, struct span at, struct str value,
			  const char *what)
{
	diag_error(c->diags, DIAG_ARG_PUBLISH, at, "'%s': %s",
		   diag_quote(c->diags, value), what);
	diag_help(
		c->diags,
		"write [ADDRESS:][PORT:]PORT[/tcp|/udp], the port in the container last");
	return false;
}

/* [ip:][host:]container[/proto]; the container's part must be known now. */
static bool publish_parse(struct pass_ctx *c, struct span at, struct str raw,
			  struct str value, struct arg_publish *out)
{
	size_t slash = str_find(value, '/', 0), colon;
	struct str ports, host;
	uint16_t lo, hi;

	*out = (struct arg_publish){.text = raw, .proto = IR_PROTO_TCP};
	if (str_find(value, '=', 0) < value.n)
		return publish_fault(
			c, at, raw,
			"the form with key=value is not for 'docker run'");
	ports = str_slice(value, 0, slash);
	if (slash < value.n) {
		struct str proto = str_slice(value, slash + 1, value.n);

		if (str_is(proto, "udp"))
			out->proto = IR_PROTO_UDP;
		else if (!str_is(proto, "tcp"))
			return publish_fault(c, at, raw,
					     "only tcp and udp pass the gate");
	}
	for (colon = ports.n; colon > 0 && ports.p[colon - 1] != ':';)
		colon--;
	host = str_slice(ports, 0, colon ? colon - 1 : 0);
	if (!port_range(str_slice(ports, colon, ports.n), &out->lo, &out->hi))
		return publish_fault(
			c, at, raw,
			"no port from 1 to 65535 for the container");
	for (colon = host.n; colon > 0 && host.p[colon - 1] != ':';)
		colon--;
	host = str_slice(host, colon, host.n);
	if (port_range(host, &lo, &hi) && hi - lo != out->hi - out->lo &&
	    out->hi != out->lo)
		return publish_fault(c, at, raw,
				     "the two ranges are not equally long");
	return true;
}

/* --- judging ------------------------------------------------------------- */

static bool is_trusted_layer(enum layer layer)
{
	switch (layer) {
	case LAYER_FLOOR:
	case LAYER_GLOBAL:
	case LAYER_FLAGS:
	case LAYER_SESSION:
		return true;
	case LAYER_PRESET:
	case LAYER_WORKSPACE:
		return false;
	}
	abort();
}

static const char *spelled_option(struct pass_ctx *c, const struct arg *arg)
{
	const char *name = diag_quote(c->diags, arg->option);

	if (!arg->has_value)
		return arena_fmt(c->a, "--%s", name).p;
	return arena_fmt(c->a, "--%s %s", name,
			 diag_quote(c->diags, arg->value))
		.p;
}

/* What was just warned of is about this option. */
static void name_option(struct pass_ctx *c, const struct arg *arg)
{
	diag_about(c->diags, arena_fmt(c->a, "--%.*s", STR_ARG(arg->option)));
}

static bool report_arg(struct pass_ctx *c, const struct arg *arg,
		       const struct args_option *o,
		       const struct args_verdict *v)
{
	struct span at =
		o->judge == ARGS_JUDGE_UNDOING || o->judge == ARGS_JUDGE_OURS
			? arg->from.at
			: arg->value_at;
	bool ok = false;

	if (v->fault) {
		diag_error(c->diags, v->fault, at, "'%s': %s",
			   spelled_option(c, arg), v->why);
	} else if (v->class == ARG_OURS) {
		diag_error(c->diags, DIAG_ARG_OURS, at,
			   "'%s' is membrane's to say: %s",
			   spelled_option(c, arg), v->why);
	} else if (v->class == ARG_UNDOING &&
		   !is_trusted_layer(arg->from.layer)) {
		diag_error(c->diags, DIAG_ARG_UNDOING, at,
			   "'%s' undoes the sandbox: %s",
			   spelled_option(c, arg), v->why);
		diag_help(
			c->diags,
			"a workspace cannot ask for it; ~/.membrane/config.yaml and --arg can");
	} else if (v->class == ARG_UNDOING) {
		diag_warn(c->diags, DIAG_ARG_UNDOING, at,
			  "'%s' undoes the sandbox: %s", spelled_option(c, arg),
			  v->why);
		name_option(c, arg);
		ok = true;
	} else {
		ok = true;
		if (v->warning) {
			diag_warn(c->diags, DIAG_ARG_IGNORED, at, "'%s': %s",
				  spelled_option(c, arg), v->warning);
			name_option(c, arg);
		}
	}
	if (v->help)
		diag_help(c->diags, "%s", v->help);
	return ok;
}

static bool is_number(struct str s)
{
	uint64_t ignored;

	if (s.n && (s.p[0] == '-' || s.p[0] == '+'))
		s = str_slice(s, 1, s.n);
	return str_u64(s, UINT64_MAX, &ignored);
}

static bool value_fault(struct pass_ctx *c, const struct arg *arg,
			const char *wanted)
{
	diag_error(c->diags, DIAG_ARG_VALUE, arg->value_at,
		   "'--%s' takes %s, not '%s'", arg->option.p, wanted,
		   diag_quote(c->diags, arg->value));
	return false;
}

/* A flag that is written with its value: what =false turns off is no risk. */
static bool judge_flag(struct parser *ps, const struct args_option *o,
		       struct str value, struct arg *arg,
		       struct args_verdict *v)
{
	bool on = true;

	if (arg->has_value && !docker_run_bool(value, &on))
		return value_fault(ps->c, arg, "true or false");
	*v = args_judge(ps->c->a, o, value, &ps->places);
	if (!on && v->class != ARG_OURS) {
		*v = (struct args_verdict){.class = ARG_HARMLESS};
		if (o->judge == ARGS_JUDGE_read_only)
			v->class = ARG_WIDENING;
	}
	return true;
}

static bool add_arg(struct parser *ps, const struct docker_run_option *d,
		    struct arg *arg)
{
	const struct args_option *o = args_option(d->id);
	struct pass_ctx *c = ps->c;
	struct args_verdict v;
	struct str value;

	arg->option = str_of(d->name);
	arg->home = o->home;
	if (!expand(c, arg->value, arg->value_at, NULL, &value))
		return false;
	if (d->type == DOCKER_RUN_FLAG) {
		if (!judge_flag(ps, o, value, arg, &v))
			return false;
	} else {
		if (d->type == DOCKER_RUN_NUMBER &&
		    !has_secret_variable(value) && !is_number(value))
			return value_fault(c, arg, "a whole number");
		if (o->judge == ARGS_JUDGE_publish) {
			arg->is_publish = true;
			if (!publish_parse(c, arg->value_at, arg->value, value,
					   &arg->publish))
				return false;
		}
		v = args_judge(c->a, o, value, &ps->places);
	}
	if (v.class == ARG_HARMLESS && has_secret_variable(value))
		v.class =
			ARG_WIDENING; /* something of the host's environment */
	arg->class = v.class;
	if (!report_arg(c, arg, o, &v))
		return false;
	*vec_push(c->a, &ps->p->docker_args) = *arg;
	return true;
}

/* --- words --------------------------------------------------------------- */

static struct str word_at(const void *ctx, uint32_t i)
{
	const struct parser *ps = ctx;

	return ps->p->args.v[i].s;
}

/* Another source ends the words: no value comes out of another file. */
static bool joins_value(const void *ctx, uint32_t i)
{
	const struct parser *ps = ctx;
	const struct ir_text *word = &ps->p->args.v[i];

	return sources_of(ps->c->sources, word[0].from.at) ==
	       sources_of(ps->c->sources, word[-1].from.at);
}

static const char *nearest(struct str name)
{
	struct near near = {.word = name, .below = 3};

	/* Everything is near a word of one or two letters. */
	for (int i = 0; name.n > 2 && i < DOCKER_RUN_IDS; i++)
		(void)near_offer(
			&near, docker_run_option((enum docker_run_id)i)->name);
	return near.name;
}

static bool unknown_option(struct parser *ps, const struct ir_text *word,
			   struct str name)
{
	struct diags *d = ps->c->diags;
	size_t blank = str_find(name, ' ', 0);
	const char *near = nearest(name);

	diag_error(d, DIAG_ARG_UNKNOWN, word->from.at,
		   "docker run has no option '%s'",
		   diag_quote(d, str_slice(word->s, 0,
					   str_find(word->s, '=', 0))));
	if (blank < name.n)
		diag_help(
			d,
			"one word per item: write '--%s' and what follows it as two items",
			diag_quote(d, str_slice(name, 0, blank)));
	else if (near)
		diag_help(d, "did you mean '--%s'?", near);
	return false;
}

static bool variable_option(struct parser *ps, const struct ir_text *word)
{
	struct diags *d = ps->c->diags;

	diag_error(d, DIAG_ARG_VARIABLE, word->from.at,
		   "a variable in the place of an option: '%s'",
		   diag_quote(d, word->s));
	diag_help(
		d,
		"what docker is asked for must stand in the policy; only values can come from variables");
	return false;
}

/* No shell divides an item: docker would take the blank into the value. */
static bool blank_behind(struct parser *ps, const struct ir_text *word,
			 char letter)
{
	struct diags *d = ps->c->diags;

	diag_error(d, DIAG_ARG_WORD, word->from.at,
		   "a blank behind '-%c' in '%s'", letter,
		   diag_quote(d, word->s));
	diag_help(
		d,
		"one word per item: write '-%c' and what follows it as two items",
		letter);
	return false;
}

static bool no_option(struct parser *ps, const struct ir_text *word)
{
	struct diags *d = ps->c->diags;

	diag_error(d, DIAG_ARG_WORD, word->from.at,
		   "'%s' is neither an option nor the value of one",
		   diag_quote(d, word->s));
	diag_help(
		d,
		"the image is the key 'image'; the command stands behind '--' on the command line");
	return false;
}

static bool control_byte(struct pass_ctx *c, const struct ir_text *word)
{
	for (size_t i = 0; i < word->s.n; i++) {
		unsigned char b = (unsigned char)word->s.p[i];

		if ((b >= 0x20 && b != 0x7f) || b == '\n' || b == '\t')
			continue;
		diag_error(c->diags, DIAG_ARG_WORD, word->from.at,
			   "a control byte in '%s'",
			   diag_quote(c->diags, word->s));
		return true;
	}
	return false;
}

static bool take_found(struct parser *ps, const struct docker_run_found *f)
{
	const struct ir_text *word = &ps->p->args.v[f->at];
	struct arg arg = {
		.from = word->from,
		.value_at = ps->p->args.v[f->value_at].from.at,
		.has_value = f->has_value,
		.value = f->value,
	};

	/* right behind a letter there is a value of no other kind */
	if (f->value.p == f->text.p + 1 && f->value.p[0] == ' ')
		return blank_behind(ps, word, f->text.p[0]);
	return add_arg(ps, f->option, &arg);
}

static bool refuse_unknown(struct parser *ps, const struct docker_run_found *f)
{
	const struct ir_text *word = &ps->p->args.v[f->at];
	struct docker_run_reader *r = &ps->words;

	/* Whether it has a value is not known: go on at the next option. */
	while (r->next < r->n &&
	       !str_starts(ps->p->args.v[r->next].s, STR("-")))
		r->next++;
	if (str_find(f->text, '$', 0) < f->text.n)
		return variable_option(ps, word);
	if (f->is_letter && f->text.p[0] == ' ' && f->text.p > word->s.p + 1)
		return blank_behind(ps, word, f->text.p[-1]);
	if (f->is_letter && word->s.n > 2) {
		diag_error(ps->c->diags, DIAG_ARG_UNKNOWN, word->from.at,
			   "docker run has no option '-%s', in '%s'",
			   diag_quote(ps->c->diags, f->text),
			   diag_quote(ps->c->diags, word->s));
		return false;
	}
	return unknown_option(ps, word, f->text);
}

static bool refuse_word(struct parser *ps, const struct docker_run_found *f)
{
	const struct ir_text *word = &ps->p->args.v[f->at];

	ps->words.next = f->at + 1;
	if (str_starts(word->s, STR("$")))
		return variable_option(ps, word);
	return no_option(ps, word);
}

static bool read_all(struct parser *ps)
{
	struct docker_run_found f;
	bool ok = true;

	for (;;) {
		switch (docker_run_read(&ps->words, &f)) {
		case DOCKER_RUN_END:
			return ok;
		case DOCKER_RUN_TAKEN:
			ok &= take_found(ps, &f);
			break;
		case DOCKER_RUN_IMAGE:
			ok &= refuse_word(ps, &f);
			break;
		case DOCKER_RUN_UNKNOWN:
			ok &= refuse_unknown(ps, &f);
			break;
		case DOCKER_RUN_ALONE:
			ok = false;
			diag_error(ps->c->diags, DIAG_ARG_VALUE,
				   ps->p->args.v[f.at].from.at,
				   "'--%s' stands without its value",
				   f.option->name);
			break;
		}
	}
}

bool args_resolve(struct pass_ctx *c, struct ir_policy *p)
{
	struct parser ps = {
		.c = c,
		.p = p,
		.places = {STR(ARGS_HOME), STR(ARGS_PWD), STR(ARGS_STATE),
			   NULL},
		.words = {.word = word_at,
			  .joins = joins_value,
			  .n = p->args.n},
	};

	if (p->args.n > LIMIT_ARGS) {
		diag_error(c->diags, DIAG_ARG_LIMIT,
			   p->args.v[LIMIT_ARGS].from.at,
			   "%u docker arguments, at most %u", p->args.n,
			   LIMIT_ARGS);
		return false;
	}
	vec_each(word, &p->args)
		if (control_byte(c, word))
			return false;
	ps.words.ctx = &ps;
	return read_all(&ps);
}

/* --- with the environment ------------------------------------------------ */

static bool check_one(struct pass_ctx *c, const struct arg *arg, args_env env,
		      const struct args_places *places)
{
	const struct docker_run_option *d = docker_run_named(arg->option);
	const struct args_option *o = args_option(d->id);
	struct arg_publish publish;
	struct args_verdict v;
	struct str value;

	if (!expand(c, arg->value, arg->value_at, env, &value))
		return false;
	if (d->type == DOCKER_RUN_FLAG)
		return true;
	if (arg->is_publish &&
	    !publish_parse(c, arg->value_at, arg->value, value, &publish))
		return false;
	v = args_judge(c->a, o, value, places);
	/* What was seen without the environment has been reported. */
	if (v.class <= arg->class)
		return true;
	return report_arg(c, arg, o, &v);
}

bool args_check_env(struct pass_ctx *c, const struct ir_policy *p, args_env env,
		    const char *workspace, const char *state,
		    args_resolved resolve)
{
	const char *home = env("HOME");
	struct args_places places = {
		.home = str_of(home ? home : ""),
		.workspace = str_of(workspace),
		.state = str_of(state),
		.resolve = resolve,
	};
	bool ok = true;

	vec_each(arg, &p->docker_args)
		ok &= check_one(c, arg, env, &places);
	return ok;
}
