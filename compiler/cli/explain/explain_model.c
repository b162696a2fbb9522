#include "compiler/cli/explain/explain_model.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/algebra/decide/option.h"
#include "compiler/ir/http.h"
#include "compiler/ir/inspection.h"

#include <stdlib.h>

const char *explain_kind_name(enum explain_kind k)
{
	switch (k) {
	case EXPLAIN_ALLOW:
		return "allow";
	case EXPLAIN_ASK:
		return "ask";
	case EXPLAIN_DENY:
		return "deny";
	case EXPLAIN_IGNORE:
		return "ignore";
	case EXPLAIN_READONLY:
		return "readonly";
	case EXPLAIN_PROTECT:
		return "protect";
	case EXPLAIN_ARG:
		return "args";
	}
	abort();
}

/* Files are open and docker gets what args say without a grant. */
const char *explain_model_about(const struct explanation *e)
{
	if (e->decision.reason == REASON_GRANTED) {
		if (e->request->kind == IR_REQ_READ)
			return "no pattern hides it";
		if (e->request->kind == IR_REQ_WRITE)
			return "no pattern hides it or makes it read-only";
		if (e->request->kind == IR_REQ_ARG)
			return "docker gets it";
	}
	return reason_about(e->decision.reason);
}

/* --- rules --------------------------------------------------------------- */

static enum explain_kind kind_of(const struct ir_grant *g)
{
	switch (g->key) {
	case IR_KEY_ALLOW:
	case IR_KEY_HOSTNAMES:
	case IR_KEY_CIDRS:
		return EXPLAIN_ALLOW;
	case IR_KEY_ASK:
		return EXPLAIN_ASK;
	case IR_KEY_DENY:
		return EXPLAIN_DENY;
	}
	abort();
}

static struct explain_rule grant_rule(const struct ir_grant *g)
{
	return (struct explain_rule){
		.kind = kind_of(g),
		.from = &g->from,
		.text = g->canon,
		.id = g->id,
	};
}

static bool is_pattern_in(const ir_patterns *list, const struct ir_pattern *p)
{
	return list->n && p >= list->v && p < list->v + list->n;
}

static struct explain_rule pattern_rule(const struct ir_policy *p,
					const struct ir_pattern *x)
{
	enum explain_kind kind = EXPLAIN_READONLY;

	if (is_pattern_in(&p->ignore, x))
		kind = EXPLAIN_IGNORE;
	vec_each(one, &p->protect)
		if (is_pattern_in(&one->files, x))
			kind = EXPLAIN_PROTECT;
	return (struct explain_rule){
		.kind = kind,
		.from = &x->from,
		.text = x->line,
	};
}

static struct explain_rule arg_rule(struct arena *a, const struct arg *arg)
{
	struct option o = option_of(arg);

	return (struct explain_rule){
		.kind = EXPLAIN_ARG,
		.from = &arg->from,
		.text = option_text(a, &o),
	};
}

/* --- one pattern by itself ----------------------------------------------- */

/* Does the line match the path or a folder above it? Taking back counts. */
static bool pattern_speaks(struct arena *a, const struct ir_pattern *x,
			   const struct ir_request *r)
{
	struct ir_pattern one = *x;
	struct ir_policy alone = {0};

	if (one.back) {
		one.line = str_slice(one.line, 1, one.line.n);
		one.back = false;
	}
	alone.ignore.v = &one;
	alone.ignore.n = 1;
	return decide_read(decide_files_new(a, &alone), r->path).verdict ==
	       VERDICT_DENY;
}

/* The same of a file of the home. */
static bool home_speaks(struct arena *a, const struct ir_protect *of,
			const struct ir_pattern *x, const struct ir_request *r)
{
	struct ir_pattern file = *x;
	struct ir_protect one = *of;
	struct ir_policy alone = {0};

	if (!str_starts(r->path, STR("~/")))
		return false;
	one.files.v = &file;
	one.files.n = 1;
	alone.protect.v = &one;
	alone.protect.n = 1;
	return decide_asked(a, &alone, decide_files_new(a, &alone), r)
		       .verdict == VERDICT_DENY;
}

/* Of a path that may be read or written: the last line that takes it back. */
static const struct ir_pattern *taken_back(struct arena *a,
					   const ir_patterns *list,
					   const struct ir_request *r)
{
	const struct ir_pattern *last = NULL;

	vec_each(x, list)
		if (x->back && pattern_speaks(a, x, r))
			last = x;
	return last;
}

/* The pattern that decided: one that matches, or the last that takes back. */
static const struct ir_pattern *pattern_of(struct arena *a,
					   const struct ir_policy *p,
					   const struct ir_request *r,
					   const struct decision *d)
{
	const struct ir_pattern *x = d->pattern;

	if (!x && r->kind == IR_REQ_WRITE)
		x = taken_back(a, &p->readonly, r);
	return x ? x : taken_back(a, &p->ignore, r);
}

bool explain_model_rule(struct arena *a, const struct ir_policy *p,
			const struct ir_request *r, const struct decision *d,
			struct explain_rule *out)
{
	const struct ir_pattern *x;

	switch (r->kind) {
	case IR_REQ_CONNECT:
	case IR_REQ_HTTP:
	case IR_REQ_RESOLVE:
		if (d->grant)
			*out = grant_rule(d->grant);
		return d->grant != NULL;
	case IR_REQ_READ:
	case IR_REQ_WRITE:
		x = pattern_of(a, p, r, d);
		if (x)
			*out = pattern_rule(p, x);
		return x != NULL;
	case IR_REQ_ARG:
		if (d->verdict == VERDICT_ALLOW)
			*out = arg_rule(
				a, option_find(a, &p->docker_args, r->arg));
		return d->verdict == VERDICT_ALLOW;
	}
	abort();
}

/* --- other rules --------------------------------------------------------- */

static void add_other(struct explained *q, struct explain_rule rule,
		      enum verdict verdict, enum reason reason)
{
	if (q->out->has_rule && rule.from == q->out->rule.from)
		return;
	rule.verdict = verdict;
	rule.reason = reason;
	*vec_push(q->a, &q->out->others) = rule;
}

static struct decision ask_net(struct explained *q,
			       const struct ir_policy *part)
{
	return decide_part(q->a, part, inspection_unseen(q->p), q->files, q->r);
}

/* What a grant says of the request when nothing else does. */
static enum reason grant_alone(struct explained *q, const struct ir_grant *g)
{
	struct ir_policy part = *q->p;
	struct ir_grant one = *g;

	part.allow.n = part.ask.n = part.deny.n = 0;
	if (g->key == IR_KEY_ASK)
		part.ask = (ir_grants){.v = &one, .n = 1};
	else
		part.allow = (ir_grants){.v = &one, .n = 1};
	return ask_net(q, &part).reason;
}

/* Everything, so that only a denial is in the way. */
static uint32_t grant_everything(struct explained *q, struct ir_grant out[3])
{
	static const char *const nets[] = {"0.0.0.0/0", "::/0"};
	struct ir_port *ports = arena_array(q->a, 2, sizeof(*ports));

	ports[0] =
		(struct ir_port){.proto = IR_PROTO_TCP, .lo = 1, .hi = 65535};
	ports[1] =
		(struct ir_port){.proto = IR_PROTO_UDP, .lo = 1, .hi = 65535};
	for (uint32_t i = 0; i < 3; i++) {
		struct ir_grant *g = &out[i];

		*g = (struct ir_grant){.key = IR_KEY_ALLOW,
				       .from = {.layer = LAYER_FLAGS},
				       .dest = {.kind = IR_DEST_ANY}};
		g->ports.v = ports;
		g->ports.n = 2;
		g->private.set = g->private.v = true;
		if (i == 2)
			continue;
		g->dest.kind = IR_DEST_CIDR;
		cidr_parse(str_of(nets[i]), &g->dest.u.cidr.net);
	}
	return 3;
}

static enum reason denial_alone(struct explained *q, const struct ir_grant *d)
{
	struct ir_policy part = *q->p;
	struct ir_grant one = *d, all[3];

	part.allow.n = grant_everything(q, all);
	part.allow.v = all;
	part.ask.n = 0;
	part.deny.v = &one;
	part.deny.n = 1;
	return ask_net(q, &part).reason;
}

static void find_net(struct explained *q)
{
	enum reason r;

	vec_each(d, &q->p->deny) {
		r = denial_alone(q, d);
		if (r == REASON_DENIED || r == REASON_FLOOR)
			add_other(q, grant_rule(d), VERDICT_DENY, r);
	}
	vec_each(g, &q->p->allow) {
		r = grant_alone(q, g);
		if (r != REASON_NO_GRANT && r != REASON_NO_SNI)
			add_other(q, grant_rule(g),
				  r == REASON_GRANTED ? VERDICT_ALLOW
						      : VERDICT_DENY,
				  r);
	}
	vec_each(g, &q->p->ask)
		if (grant_alone(q, g) == REASON_ASK)
			add_other(q, grant_rule(g), VERDICT_ASK, REASON_ASK);
}

static void find_patterns(struct explained *q, const ir_patterns *list,
			  enum reason reason)
{
	vec_each(x, list)
		if (pattern_speaks(q->a, x, q->r))
			add_other(q, pattern_rule(q->p, x),
				  x->back ? VERDICT_ALLOW : VERDICT_DENY,
				  x->back ? REASON_GRANTED : reason);
}

static void find_protected(struct explained *q)
{
	vec_each(x, &q->p->protect)
		vec_each(f, &x->files)
			if (home_speaks(q->a, x, f, q->r))
				add_other(q, pattern_rule(q->p, f), VERDICT_DENY,
					  REASON_PROTECTED);
}

/* The same option with another value. */
static void find_args(struct explained *q)
{
	option_list wanted = {0};

	if (!option_parse(q->a, q->r->arg, &wanted))
		return;
	vec_each(arg, &q->p->docker_args)
		vec_each(o, &wanted) {
			struct option has = option_of(arg);
			bool same = o->any || str_eq(o->value, has.value);

			if (str_eq(o->name, has.name))
				add_other(q, arg_rule(q->a, arg),
					  same ? VERDICT_ALLOW : VERDICT_DENY,
					  same ? REASON_GRANTED
					       : REASON_NO_GRANT);
		}
}

static void find_others(struct explained *q)
{
	switch (q->r->kind) {
	case IR_REQ_CONNECT:
	case IR_REQ_HTTP:
	case IR_REQ_RESOLVE:
		find_net(q);
		return;
	case IR_REQ_WRITE:
		find_patterns(q, &q->p->ignore, REASON_IGNORED);
		find_patterns(q, &q->p->readonly, REASON_READONLY);
		find_protected(q);
		return;
	case IR_REQ_READ:
		find_patterns(q, &q->p->ignore, REASON_IGNORED);
		find_protected(q);
		return;
	case IR_REQ_ARG:
		find_args(q);
		return;
	}
	abort();
}

/* --- rules of http ------------------------------------------------------- */

bool explain_http_decides(struct explained *q, const struct ir_grant *g,
			  uint32_t i)
{
	struct ir_grant one = *g;

	if (!g->has_http)
		return true;
	one.http.v = &g->http.v[i];
	one.http.n = 1;
	return (g->key == IR_KEY_DENY
			? denial_alone(q, &one)
			: grant_alone(q, &one)) == q->out->decision.reason;
}

static void find_http(struct explained *q)
{
	const struct ir_grant *g = q->out->decision.grant;

	if (q->r->kind != IR_REQ_HTTP || !g || !g->has_http)
		return;
	for (uint32_t i = 0; i < g->http.n; i++)
		if (explain_http_decides(q, g, i))
			*vec_push(q->a, &q->out->http) = g->http.v[i].at;
}

/* --- what was assumed ---------------------------------------------------- */

static void assume_fact(struct explained *q, const char *what)
{
	*vec_push(q->a, &q->out->assumed) = what;
}

/* Where a name leads is not known here, nor whether a network is there. */
static void assume_public(struct explained *q)
{
	bool nets = false;

	vec_each(g, &q->p->allow)
		nets |= g->dest.kind == IR_DEST_CIDR &&
			addr_scope(&g->dest.u.cidr.net.addr) == ADDR_PUBLIC;
	assume_fact(
		q,
		nets ? "the name leads to public addresses that are not granted as such, and the session resolved it"
		     : "the name leads to public addresses, and the session resolved it");
}

/* Are datagrams permitted there, and QUIC refused? */
static bool is_but_quic(struct explained *q)
{
	struct ir_request quic = *q->r;

	quic.quic = true;
	return q->r->proto == IR_PROTO_UDP &&
	       q->out->decision.verdict == VERDICT_ALLOW &&
	       decide_asked(q->a, q->p, NULL, &quic).verdict == VERDICT_DENY;
}

static void find_assumed(struct explained *q, const struct found *found)
{
	const struct ir_request *r = q->r;

	switch (r->kind) {
	case IR_REQ_CONNECT:
		if (is_but_quic(q))
			assume_fact(
				q,
				"it is not QUIC: that is refused there, see 'explain quic …'");
		if (r->has_addr && !addr_is_machine(&r->addr))
			assume_fact(q, "the address is none of the host's own");
		else
			assume_public(q);
		if (r->has_addr && r->name.n)
			assume_fact(
				q,
				"the session resolved the name to that address");
		return;
	case IR_REQ_HTTP:
		if (r->has_addr || (r->url.who == IR_DEST_CIDR &&
				    !cidr_is_machine(&r->url.net)))
			assume_fact(q, "the address is none of the host's own");
		else
			assume_public(q);
		if (r->has_addr && !r->unresolved)
			assume_fact(
				q,
				"the session resolved the name to that address");
		if (r->url.scheme == IR_SCHEME_HTTPS &&
		    r->url.who != IR_DEST_CIDR)
			assume_fact(q, "the TLS hello states the same name");
		return;
	case IR_REQ_RESOLVE:
		return;
	case IR_REQ_READ:
	case IR_REQ_WRITE:
		if (str_starts(r->path, STR("~/"))) {
			assume_fact(
				q,
				q->out->decision.verdict == VERDICT_ALLOW
					? "it is in the agent's home, and no link leads there"
					: "who asks is not the session's main process, or that runs another program");
			return;
		}
		assume_fact(q, str_ends(r->path, STR("/"))
				       ? "the path is a folder"
				       : "the path is a file");
		assume_fact(
			q,
			found ? "links and git's configuration are as now"
			      : "no link leads there, and git does not run it");
		return;
	case IR_REQ_ARG:
		return;
	}
	abort();
}

void explain_model_make(struct compilation *c, const struct decide_files *files,
			struct found *found, const struct ir_request *r,
			struct explanation *out)
{
	struct explained q = {c->a, c, &c->policy, files, r, out};
	bool file = r->kind == IR_REQ_READ || r->kind == IR_REQ_WRITE;

	*out = (struct explanation){.request = r};
	out->decision = decide_asked(c->a, &c->policy, files, r);
	out->has_rule = explain_model_rule(c->a, &c->policy, r, &out->decision,
					   &out->rule);
	if (file && found)
		explain_found(c->a, found, ir_masks_hold(&c->policy), out);
	out->rule.verdict = out->decision.verdict;
	out->rule.reason = out->decision.reason;
	find_http(&q);
	find_others(&q);
	explain_lines_find(&q, out->decision.reason);
	find_assumed(&q, found);
}
