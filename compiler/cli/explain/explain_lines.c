/*
 * The lines of a plan's artefacts that carry a decision about a request.
 */
#include "compiler/cli/explain/explain_model.h"

#include <stdlib.h>
#include <string.h>

/* The address that the request goes to, or NULL. */
static const struct addr *addr_of(const struct ir_request *r)
{
	if ((r->kind == IR_REQ_CONNECT || r->kind == IR_REQ_HTTP) &&
	    r->has_addr)
		return &r->addr;
	if (r->kind == IR_REQ_HTTP && r->url.who == IR_DEST_CIDR)
		return &r->url.net.addr;
	return NULL;
}

static unsigned packet_uses(const struct ir_request *r)
{
	const struct addr *addr = addr_of(r);
	unsigned family = MARKS_TCP4 | MARKS_UDP4 | MARKS_TCP6 | MARKS_UDP6;

	if (addr && addr->family == ADDR_V4)
		family = MARKS_TCP4 | MARKS_UDP4;
	else if (addr)
		family = MARKS_TCP6 | MARKS_UDP6;
	if (r->kind == IR_REQ_CONNECT && r->proto == IR_PROTO_UDP)
		return family & MARKS_UDP;
	return family & MARKS_TCP;
}

static unsigned http_uses(struct explained *q)
{
	const struct ir_url *u = &q->r->url;
	struct decide_request one = {.tls = true,
				     .port = u->port,
				     .has_addr = q->r->has_addr,
				     .addr = q->r->addr,
				     .is_pinned = !q->r->unresolved,
				     .sni = u->name,
				     .host = u->name};
	unsigned uses = packet_uses(q->r);

	if (u->who != IR_DEST_CIDR)
		uses |= MARKS_NAME;
	if (u->scheme == IR_SCHEME_HTTP)
		return uses | MARKS_REQUEST;
	uses |= MARKS_HELLO;
	if (u->who != IR_DEST_CIDR && decide_decrypts(q->p, &one))
		uses |= MARKS_REQUEST;
	return uses;
}

static unsigned connect_uses(struct explained *q)
{
	const struct ir_request *r = q->r;
	unsigned uses = packet_uses(r) | (r->name.n ? MARKS_NAME : 0u);

	if (r->proto != IR_PROTO_TCP)
		return uses;
	/* A name that is denied at an address is what a client states there. */
	if (r->name.n && r->has_addr &&
	    q->out->decision.reason == REASON_DENIED)
		uses |= MARKS_HELLO | MARKS_REQUEST;
	return uses | MARKS_RAW;
}

static unsigned uses_of(struct explained *q)
{
	switch (q->r->kind) {
	case IR_REQ_CONNECT:
		return connect_uses(q);
	case IR_REQ_HTTP:
		return http_uses(q);
	case IR_REQ_RESOLVE:
		return MARKS_NAME;
	case IR_REQ_READ:
		return MARKS_READ;
	case IR_REQ_WRITE:
		return MARKS_WRITE;
	case IR_REQ_ARG:
		return MARKS_ARG;
	}
	abort();
}

static bool in_range(const struct marks_one *m, const struct addr *addr)
{
	if (!m->has_range)
		return true;
	return addr && addr->family == m->lo.family &&
	       addr_cmp(&m->lo, addr) <= 0 && addr_cmp(addr, &m->hi) <= 0;
}

/* Maps of networks go by the longest one: another mark that is within m. */
static bool is_outdone(struct explained *q, const struct marks_one *m)
{
	const struct addr *addr = addr_of(q->r);

	if (!m->has_range)
		return false;
	vec_each(x, &q->c->marks.list)
		if (x->has_range && x->from == m->from && in_range(x, addr) &&
		    strcmp(x->file, m->file) == 0 &&
		    (addr_cmp(&x->lo, &m->lo) > 0 ||
		     addr_cmp(&x->hi, &m->hi) < 0))
			return true;
	return false;
}

static bool http_rule(struct explained *q, uint32_t rule)
{
	const struct ir_grant *g = q->out->decision.grant;

	return rule == 0 || !g || !g->has_http || rule > g->http.n ||
	       explain_http_decides(q, g, rule - 1);
}

static bool mark_carries(struct explained *q, const struct marks_one *m,
			 unsigned uses, enum reason reason)
{
	const struct explanation *e = q->out;

	if (!(m->uses & uses) || !(m->reasons & UINT64_C(1) << reason) ||
	    !in_range(m, addr_of(q->r)))
		return false;
	/* CONNECT is refused without a look at any grant. */
	if (!m->from)
		return reason != REASON_METHOD || !e->has_rule;
	return e->has_rule && m->from == e->rule.from &&
	       http_rule(q, m->rule) && !is_outdone(q, m);
}

static int by_place(const void *va, const void *vb)
{
	const struct explain_line *a = va, *b = vb;
	int c = strcmp(a->file, b->file);

	return c ? c : (a->line > b->line) - (a->line < b->line);
}

void explain_lines_find(struct explained *q, enum reason reason)
{
	struct explanation *e = q->out;
	unsigned uses = uses_of(q);
	uint32_t n = 0;

	vec_each(m, &q->c->marks.list) {
		const struct plan_file *f;
		struct explain_line l = {.file = m->file};

		if (!mark_carries(q, m, uses, reason))
			continue;
		f = plan_file(&q->c->plan, m->file);
		l.line = marks_line(f->data, m->at, &l.text);
		*vec_push(q->a, &e->lines) = l;
	}
	/* A denial where nothing is granted needs no line of its own. */
	if (e->lines.n == 0 && reason == REASON_DENIED)
		explain_lines_find(q, REASON_NO_GRANT);
	if (e->lines.n == 0)
		return;
	vec_sort(&e->lines, by_place);
	for (uint32_t i = 1; i < e->lines.n; i++)
		if (by_place(&e->lines.v[n], &e->lines.v[i]) != 0)
			e->lines.v[++n] = e->lines.v[i];
	e->lines.n = n + 1;
}
