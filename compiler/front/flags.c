/*
 * The command line as a source of its own, so that a diagnostic can point into
 * it.
 */
#include "compiler/front/parts.h"

#include "compiler/base/limits.h"
#include "compiler/front/bind/bind.h"
#include "compiler/front/yaml/yaml.h"

#include <stdlib.h>

/* The key that a flag is short for; NULL for --no-trace. */
static const char *key_of(enum front_flag_kind kind)
{
	switch (kind) {
	case FRONT_FLAG_ALLOW:
		return "allow";
	case FRONT_FLAG_ASK:
		return "ask";
	case FRONT_FLAG_DENY:
		return "deny";
	case FRONT_FLAG_HOSTNAME:
		return "hostnames";
	case FRONT_FLAG_CIDR:
		return "cidrs";
	case FRONT_FLAG_IGNORE:
		return "ignore";
	case FRONT_FLAG_READONLY:
		return "readonly";
	case FRONT_FLAG_ARG:
	case FRONT_FLAG_ENV:
	case FRONT_FLAG_VOLUME:
		return "args";
	case FRONT_FLAG_PUBLISH:
		return "ports";
	case FRONT_FLAG_RESOLVER:
		return "resolver";
	case FRONT_FLAG_IMAGE:
		return "image";
	case FRONT_FLAG_ENGINE:
		return "engine";
	case FRONT_FLAG_UPLINK:
		return "uplink";
	case FRONT_FLAG_NO_TRACE:
		return NULL;
	}
	abort();
}

/* What docker run calls by the same name is both words of it. */
static bool is_of_docker(enum front_flag_kind kind)
{
	return kind == FRONT_FLAG_ENV || kind == FRONT_FLAG_VOLUME;
}

static bool bind_one(struct pass_ctx *c, enum layer layer,
		     const struct front_flag *flag, const struct text *value,
		     struct ir_policy *out)
{
	const char *key = key_of(flag->kind);

	if (flag->off)
		return true;
	if (!key) {
		out->trace.engine = (ir_opt_trace_engine){
			.set = true,
			.from = {value->at, layer},
			.v = IR_TRACE_OFF,
		};
		return true;
	}
	if (value->s.n > LIMIT_SCALAR_BYTES) {
		diag_error(c->diags, DIAG_SCALAR, value->at,
			   "a value of %zu bytes, at most %u", value->s.n,
			   LIMIT_SCALAR_BYTES);
		return false;
	}
	if (is_of_docker(flag->kind)) {
		struct text word = {flag->spelling, value->at, 0};

		word.at.beg = value->at.beg - 1 - (uint32_t)word.s.n;
		word.at.end = value->at.beg - 1;
		word.verbatim = word.at.beg;
		if (!bind_flag(c, layer, key, &word, out))
			return false;
	}
	return bind_flag(c, layer, key, value, out);
}

static struct str flags_line(struct arena *a, const struct flags_text *flags)
{
	struct buf line;

	buf_init(&line, a);
	for (size_t i = 0; i < flags->n; i++) {
		if (i)
			buf_addc(&line, flags->between);
		buf_add(&line, flags->v[i].spelling);
		if (key_of(flags->v[i].kind)) {
			buf_addc(&line, ' ');
			buf_add(&line, flags->v[i].value);
		}
	}
	return buf_str(&line);
}

bool flags_bind(struct pass_ctx *c, struct sources *sources,
		const struct flags_text *flags, struct doc *out)
{
	const struct source *src =
		sources_add(sources, str_of(flags->name),
			    flags_line(c->a, flags), flags->layer);
	uint32_t at;
	bool ok = true;

	*out = (struct doc){.layer = flags->layer, .source = src->name};
	if (!yaml_check_bytes(c->diags, src))
		return false;
	at = src->base;
	for (size_t i = 0; i < flags->n; i++) {
		const struct front_flag *f = &flags->v[i];
		uint32_t word = (uint32_t)f->spelling.n;
		struct text t = {f->value, {at, at + word}, 0};

		if (key_of(f->kind)) {
			t.verbatim = at + word + 1;
			t.at.beg = t.verbatim;
			t.at.end = t.verbatim + (uint32_t)f->value.n;
		}
		ok &= bind_one(c, flags->layer, f, &t, &out->policy);
		at = t.at.end + 1;
	}
	return ok;
}
