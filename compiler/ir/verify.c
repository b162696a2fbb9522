/*
 * What every policy in the IR keeps to, whoever made it: a broken promise is a
 * bug.
 */
#include "compiler/ir/ir.h"

#include <stdio.h>
#include <stdlib.h>

static _Noreturn void die_of_promise(const char *promise, struct str about)
{
	fprintf(stderr, "membrane: bug: IR promise broken: %s: %.*s\n", promise,
		STR_ARG(about));
	exit(4);
}

static void want_promise(bool kept, const char *promise, struct str about)
{
	if (!kept)
		die_of_promise(promise, about);
}

static void check_ports(const ir_ports *ports, struct str about)
{
	const struct ir_port *last = NULL;

	want_promise(ports->n > 0, "a grant has ports", about);
	vec_each(p, ports) {
		want_promise(p->lo > 0 && p->lo <= p->hi, "a port range",
			     about);
		want_promise(!last || last->proto < p->proto ||
				     (last->proto == p->proto &&
				      (unsigned)last->hi + 1 < p->lo),
			     "ports are sorted and merged", about);
		last = p;
	}
}

static void check_texts(const ir_texts *texts, struct str about)
{
	for (uint32_t i = 1; i < texts->n; i++)
		want_promise(str_cmp(texts->v[i - 1].s, texts->v[i].s) < 0,
			     "methods and paths are sorted and unique", about);
}

static void check_http(const struct ir_grant *g)
{
	want_promise(g->has_http || g->http.n == 0, "http rules are marked",
		     g->canon);
	vec_each(h, &g->http) {
		check_texts(&h->methods, g->canon);
		check_texts(&h->paths, g->canon);
		vec_each(p, &h->paths)
			want_promise(p->s.n && p->s.p[0] == '/',
				     "paths are absolute", p->s);
	}
}

static void check_grants(const ir_grants *grants, enum ir_grant_key key)
{
	struct str last = {0};

	vec_each(g, grants) {
		want_promise(g->canon.n > 0 && g->id.n == 12,
			     "canon and id are set", g->canon);
		want_promise(g->dest.kind != IR_DEST_POISON, "no poison",
			     g->canon);
		want_promise(g->key == key, "keys became allow, ask or deny",
			     g->canon);
		want_promise(!g->dest.has_port, "ports moved", g->canon);
		want_promise(str_cmp(last, g->canon) < 0,
			     "grants are sorted and unique", g->canon);
		check_ports(&g->ports, g->canon);
		check_http(g);
		last = g->canon;
	}
}

static void check_asked(const ir_grants *grants)
{
	vec_each(g, grants) {
		want_promise(g->lasts.set, "an answer has its width", g->canon);
		want_promise(g->wait_s.set && g->wait_s.v &&
				     g->wait_s.v <= IR_WAIT_MAX_S,
			     "a request waits for a while", g->canon);
		vec_each(p, &g->ports)
			want_promise(p->proto == IR_PROTO_TCP,
				     "nothing over UDP waits", g->canon);
	}
}

static void check_defaults(const struct ir_policy *p)
{
	struct str none = {0};

	want_promise(p->resolver.set, "resolver is set", none);
	want_promise(p->tls.set, "tls is set", none);
	want_promise(p->ssl_insecure.set, "ssl_insecure is set", none);
	want_promise(p->image.set, "image is set", none);
	want_promise(p->engine.set, "engine is set", none);
	want_promise(p->runtime.set, "runtime is set", none);
	want_promise(p->masks.set, "masks is set", none);
	want_promise(p->hardening.read_only.set, "read_only is set", none);
	want_promise(p->hardening.pids.set, "pids is set", none);
	want_promise(p->hardening.no_new_privileges.set,
		     "no_new_privileges is set", none);
	want_promise(p->hardening.seccomp.set, "seccomp is set", none);
	want_promise(p->hardening.user_namespaces.set, "user_namespaces is set",
		     none);
	want_promise(p->trace.engine.set, "trace engine is set", none);
	want_promise(p->trace.required.set, "trace.required is set", none);
	want_promise(p->workspace_trust.set, "workspace_trust is set", none);
}

static void check_patterns(const ir_patterns *patterns)
{
	vec_each(p, patterns) {
		want_promise(p->line.n > 0, "a pattern has text", p->line);
		want_promise(p->back == (p->line.p[0] == '!'), "back says '!'",
			     p->line);
	}
}

static void check_events(const struct ir_policy *p)
{
	for (uint32_t i = 1; i < p->trace.events.n; i++)
		want_promise(str_cmp(p->trace.events.v[i - 1].name,
				     p->trace.events.v[i].name) < 0,
			     "trace events are sorted and unique",
			     p->trace.events.v[i].name);
}

static void check_layers(const ir_grants *grants)
{
	enum layer last = LAYER_FLOOR;

	vec_each(g, grants) {
		want_promise(g->from.layer >= last,
			     "sources in order of layers", g->canon);
		last = g->from.layer;
	}
}

void ir_verify(const struct ir_policy *p, enum ir_stage stage)
{
	check_patterns(&p->ignore);
	check_patterns(&p->readonly);
	switch (stage) {
	case IR_BOUND:
		return;
	case IR_MERGED:
		check_layers(&p->allow);
		check_layers(&p->ask);
		check_layers(&p->deny);
		check_defaults(p);
		return;
	case IR_NORMALISED:
		check_grants(&p->allow, IR_KEY_ALLOW);
		check_grants(&p->ask, IR_KEY_ASK);
		check_asked(&p->ask);
		check_grants(&p->deny, IR_KEY_DENY);
		check_defaults(p);
		check_events(p);
		return;
	}
	abort();
}
