/* What the tests of the front share: one text, parsed or bound. */
#ifndef TESTS_UNIT_FRONT_H
#define TESTS_UNIT_FRONT_H

#include "compiler/front/bind/bind.h"
#include "tests/check.h"

#include <string.h>

struct rig {
	struct arena *a;
	struct sources sources;
	struct diags diags;
	struct pass_ctx c;
};

static inline void rig_init(struct rig *r)
{
	r->a = arena_new();
	sources_init(&r->sources, r->a);
	diags_init(&r->diags, r->a, &r->sources);
	r->c = (struct pass_ctx){r->a, &r->sources, &r->diags};
}

static inline void rig_done(struct rig *r)
{
	arena_free(r->a);
}

/* A text that stands in a source byte for byte. */
static inline struct text rig_text(struct rig *r, struct str s)
{
	const struct source *src =
		sources_add(&r->sources, STR("test"), s, LAYER_WORKSPACE);

	return (struct text){
		s, {src->base, src->base + (uint32_t)s.n}, src->base};
}

static inline bool rig_yaml(struct rig *r, struct str s, struct yaml_node **out)
{
	return yaml_parse(
		r->a, &r->diags,
		sources_add(&r->sources, STR("test"), s, LAYER_WORKSPACE), out);
}

static inline bool rig_bind(struct rig *r, const char *s, enum layer layer,
			    struct ir_policy *out)
{
	struct yaml_node *root;
	ir_texts extends = {0};

	*out = (struct ir_policy){0};
	return rig_yaml(r, str_of(s), &root) &&
	       bind_policy(&r->c, layer, root, out, &extends);
}

/* Notes, as they are printed, without the lines that they are about. */
static inline void put_notes(struct rig *r, struct buf *out)
{
	struct str rest, line;
	struct buf all;

	buf_init(&all, r->a);
	diags_print(&r->diags, &all, false);
	rest = buf_str(&all);
	while (str_line(&rest, &line))
		if (memmem(line.p, line.n, ": note: ", 8))
			buf_addf(out, "%.*s\n", STR_ARG(line));
}

/*
 * What was said, one line each: the bytes of the text that are meant, the
 * number, the words, and behind a '|' the last help; then all notes.
 */
static inline struct str rig_said(struct rig *r)
{
	struct diag_view v;
	struct buf out;

	buf_init(&out, r->a);
	for (unsigned i = 0; diags_get(&r->diags, i, &v); i++) {
		const struct source *src = sources_of(&r->sources, v.at);
		uint32_t base = src ? src->base : 0;

		buf_addf(&out, "%u-%u %c%03d %.*s", v.at.beg - base,
			 v.at.end - base, v.error ? 'E' : 'W', (int)v.id,
			 STR_ARG(v.text));
		if (v.help.n)
			buf_addf(&out, " | %.*s", STR_ARG(v.help));
		buf_addc(&out, '\n');
	}
	put_notes(r, &out);
	return buf_str(&out);
}

/* Is anything there that a refused value or item would have made? */
static inline bool is_bound(const struct ir_policy *p)
{
	const struct ir_hardening *h = &p->hardening;
	const struct ir_trace *t = &p->trace;
	const struct ir_tests *e = &p->tests;

	return p->allow.n || p->ask.n || p->deny.n || p->ignore.n ||
	       p->readonly.n || p->fast.n || p->protect.n || p->credentials.n ||
	       p->resolver.set || p->tls.set || p->uplink.set ||
	       p->upstream.set || p->upstream_ca.set || p->ports.n ||
	       p->ssl_insecure.set || p->args.n || p->image.set ||
	       p->engine.set || p->runtime.set || p->home.set || p->visible.n ||
	       h->tmpfs.n || h->pids.set || h->memory.set ||
	       h->cpus_milli.set || h->user.set || h->capabilities.n ||
	       h->seccomp.set || t->engine.set || t->version.set ||
	       t->events.n || t->rotate_age_s.set || t->keep_files.set ||
	       p->waivers.n || p->purposes.n || e->allow.n || e->deny.n ||
	       e->never.n || p->on_refusal.set || p->workspace_trust.set;
}

/* A policy, and what is said of it; "" of one that is bound as it is. */
static inline void check_said(const char *yaml, const char *want)
{
	struct ir_policy p;
	struct str got;
	struct rig r;
	bool ok;

	rig_init(&r);
	ok = rig_bind(&r, yaml, LAYER_GLOBAL, &p);
	got = rig_said(&r);
	CHECK_MSG(str_is(got, want), "%s\n%.*s", yaml, STR_ARG(got));
	CHECK_MSG(ok == (r.diags.errors == 0), "%s", yaml);
	CHECK_MSG(want[0] || is_bound(&p) || p.masks.set, "%s", yaml);
	/* In several lines there is something else that is right. */
	CHECK_MSG(ok || strchr(yaml, '\n') || !is_bound(&p), "%s", yaml);
	rig_done(&r);
}

#endif
