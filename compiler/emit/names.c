/*
 * names.map, whose format is compiler/plan/names_map.h.
 *
 * An answer is dropped when it lies in a floor network, unless a cover line
 * inside that network, and longer than it, holds it; or in a private one,
 * unless a cover line holds it or a matching name line says private.
 */
#include "compiler/emit/parts.h"

#include "compiler/base/agent_link.h"
#include "compiler/emit/profiles.h"
#include "compiler/ir/ports.h"
#include "compiler/ir/upstream.h"
#include "compiler/plan/names_map.h"

#include <stdlib.h>
#include <string.h>

/* A record, whose rule it is, and what it stands for: marks.h. */
struct line {
	struct str text;
	const struct ir_origin *from;
	uint64_t reasons;
	const struct cidr *net;
};
typedef VEC(struct line) lines;

static int by_bytes(const void *va, const void *vb)
{
	const struct line *a = va, *b = vb;

	return str_cmp(a->text, b->text);
}

static void mark_line(const struct emit_in *in, size_t at, const struct line *l)
{
	struct marks_one one = {.at = at,
				.from = l->from,
				.uses = MARKS_NAME,
				.reasons = l->reasons};

	if (l->net)
		marks_net(in->marks, one, l->net);
	else
		marks_add(in->marks, one);
}

/* A section: sorted, each line once. */
static void put_lines(const struct emit_in *in, struct buf *out, lines *l)
{
	size_t at = out->n;

	if (l->n == 0)
		return;
	vec_sort(l, by_bytes);
	for (uint32_t i = 0; i < l->n; i++) {
		if (!i || !str_eq(l->v[i - 1].text, l->v[i].text)) {
			at = out->n;
			buf_add(out, l->v[i].text);
			buf_addc(out, '\n');
		}
		mark_line(in, at, &l->v[i]);
	}
}

static void put_resolver(struct buf *out, const struct ir_resolver *r)
{
	char text[ADDR_TEXT_MAX];

	if (r->host)
		buf_adds(out, " " NAMES_MAP_HOST);
	else
		buf_addf(out, " " NAMES_MAP_UDP " %s %u",
			 addr_text(&r->addr, text), r->port);
}

static void put_upstream(struct buf *out, const struct ir_policy *p)
{
	buf_adds(out, NAMES_MAP_UPSTREAM);
	if (p->upstream.set)
		buf_adds(out, " " NAMES_MAP_PROXY);
	if (!p->upstream.set || upstream_asks(p))
		put_resolver(out, &p->resolver.v);
	buf_addc(out, '\n');
}

static void put_past(const struct emit_in *in, struct buf *out)
{
	lines past = {0};

	vec_each(d, &in->policy->upstream.direct) {
		const struct cidr *net = ir_dest_net(&d->dest);
		struct str name = ir_dest_name(&d->dest);
		char text[CIDR_TEXT_MAX];

		*vec_push(in->a, &past) = (struct line){
			net ? arena_fmt(in->a, NAMES_MAP_PAST " %s",
					cidr_text(net, text))
			    : arena_fmt(in->a, NAMES_MAP_PAST " %.*s",
					STR_ARG(name)),
			&d->from, 0, NULL};
	}
	put_lines(in, out, &past);
}

static struct line net_line(const struct emit_in *in, const char *word,
			    const struct cidr *net,
			    const struct ir_origin *from, uint64_t reasons)
{
	char text[CIDR_TEXT_MAX];
	struct cidr *copy = NULL;

	if (in->marks) {
		copy = arena_new_of(in->a, struct cidr);
		*copy = *net;
	}
	return (struct line){
		arena_fmt(in->a, "%s %s", word, cidr_text(net, text)), from,
		reasons, copy};
}

static void put_nets(const struct emit_in *in, struct buf *out)
{
	lines floor = {0}, private = {0}, cover = {0};
	const struct addr_special *s;

	for (size_t i = 0; (s = addr_special(i)); i++)
		if (s->scope == ADDR_NEVER)
			*vec_push(in->a, &floor) =
				net_line(in, NAMES_MAP_FLOOR, &s->net, NULL,
					 MARKS_FOR(FLOOR));
		else
			*vec_push(in->a, &private) =
				net_line(in, NAMES_MAP_PRIVATE, &s->net, NULL,
					 MARKS_FOR(PRIVATE_ADDRESS));
	vec_each(g, &in->policy->allow)
		if (g->dest.kind == IR_DEST_CIDR && !g->has_http)
			*vec_push(in->a, &cover) = net_line(
				in, NAMES_MAP_COVER, &g->dest.u.cidr.net,
				&g->from, MARKS_FOR(GRANTED));
	put_lines(in, out, &floor);
	put_lines(in, out, &private);
	put_lines(in, out, &cover);
}

static void put_ports_of(struct buf *out, const char *letter,
			 const emit_classes *classes)
{
	for (uint32_t k = 0; k < classes->n; k++)
		buf_addf(out, NAMES_MAP_PORTS " %s%u %.*s\n", letter, k + 1,
			 STR_ARG(classes->v[k].text));
}

/* In the order of their numbers: not of bytes, as the other sections. */
static void put_ports(struct buf *out, const emit_classes *grants,
		      const emit_classes *denials, const emit_classes *quics,
		      const emit_classes *asks)
{
	put_ports_of(out, "", grants);
	put_ports_of(out, NAMES_MAP_DENIAL, denials);
	put_ports_of(out, NAMES_MAP_QUIC, quics);
	put_ports_of(out, NAMES_MAP_ASKED, asks);
}

static const char *const machine_names[] = {LINK_MACHINE_NAME,
					    LINK_MACHINE_ALIAS};

/* Its names resolve, and lead nowhere by themselves. */
static void add_machine(const struct emit_in *in, const struct ir_grant *g,
			lines *to)
{
	for (size_t i = 0; i < ARRAY_LEN(machine_names); i++)
		*vec_push(in->a, to) = (struct line){
			arena_fmt(in->a,
				  NAMES_MAP_NAME " %s " NAMES_MAP_NONE
						 " " NAMES_MAP_NONE " %.*s",
				  machine_names[i], STR_ARG(g->id)),
			&g->from, MARKS_FOR(GRANTED) | MARKS_FOR(QUERY_TYPE),
			NULL};
}

static void put_names(const struct emit_in *in, struct buf *out,
		      const emit_classes *classes)
{
	lines names = {0};

	vec_each(g, &in->policy->allow) {
		bool private = g->private.v;
		struct str name = ir_dest_name(&g->dest);
		char room[512];
		struct buf b;
		uint32_t k;

		if (ir_dest_machine(&g->dest))
			add_machine(in, g, &names);
		if (name.n == 0)
			continue;
		buf_init_in(&b, in->a, room, sizeof(room));
		buf_adds(&b, NAMES_MAP_NAME " ");
		buf_add(&b, name);
		buf_addc(&b, ' ');
		k = emit_class_of(classes, g);
		/* '*' opens every public address by a rule of its own. */
		if (g->dest.kind == IR_DEST_ANY && !private) {
			buf_adds(&b, NAMES_MAP_NONE);
		} else {
			buf_adds(&b, ir_grant_http(g) ? NAMES_MAP_HTTP : "");
			buf_addu(&b, k);
		}
		buf_adds(&b, private ? " " NAMES_MAP_PRIVATE " "
				     : " " NAMES_MAP_NONE " ");
		buf_add(&b, g->id);
		*vec_push(in->a, &names) = (struct line){
			buf_keep(&b), &g->from,
			MARKS_FOR(GRANTED) | MARKS_FOR(QUERY_TYPE), NULL};
	}
	put_lines(in, out, &names);
}

_Static_assert(NAMES_MAP_WAIT_MAX == IR_WAIT_MAX_S, "what may be written");

/* "ask NAME a3 60 http private a-0123456789", or "asknet NET …" without what is
 * said of names. */
static void add_ask(const struct emit_in *in, const struct ir_grant *g,
		    const emit_classes *asks, const char *net, lines *to)
{
	bool private = g->private.v;
	struct str name = ir_dest_name(&g->dest);
	struct str text = arena_fmt(
		in->a, "%s %.*s " NAMES_MAP_ASKED "%u %u %s%s %.*s",
		net ? NAMES_MAP_ASKNET : NAMES_MAP_ASK,
		net ? (int)strlen(net) : (int)name.n, net ? net : name.p,
		emit_class_of(asks, g), (unsigned)g->wait_s.v,
		ir_grant_http(g) ? NAMES_MAP_REQUESTS : NAMES_MAP_NONE,
		net	  ? ""
		: private ? " " NAMES_MAP_PRIVATE
			  : " " NAMES_MAP_NONE,
		STR_ARG(g->id));

	*vec_push(in->a, to) = (struct line){
		text, &g->from, MARKS_FOR(ASK) | MARKS_FOR(QUERY_TYPE), NULL};
}

static void add_ask_nets(const struct emit_in *in, const struct ir_grant *g,
			 const emit_classes *asks, lines *to)
{
	const struct cidr *net = ir_dest_net(&g->dest);
	char text[CIDR_TEXT_MAX];

	if (net)
		add_ask(in, g, asks, cidr_text(net, text), to);
	if (g->dest.kind != IR_DEST_ANY)
		return;
	/* Where '*' does not lead the packet filter knows. */
	add_ask(in, g, asks, "0.0.0.0/0", to);
	add_ask(in, g, asks, "::/0", to);
}

/* Those with the widest answer first, then those that wait longest, which
 * decide: decide_asked(). */
static int by_width(const void *va, const void *vb)
{
	const struct ir_grant *a = *(const struct ir_grant *const *)va,
			      *b = *(const struct ir_grant *const *)vb;

	int lasts = (a->lasts.v < b->lasts.v) - (a->lasts.v > b->lasts.v);
	int wait = (a->wait_s.v < b->wait_s.v) - (a->wait_s.v > b->wait_s.v);

	if (lasts || wait)
		return lasts ? lasts : wait;
	return a < b ? -1 : 1; /* none is compared with itself */
}

static void put_asks(const struct emit_in *in, struct buf *out,
		     const emit_classes *asks, bool nets)
{
	emit_members sorted = {0};
	lines of = {0};

	vec_each(g, &in->policy->ask)
		*vec_push(in->a, &sorted) = g;
	vec_sort(&sorted, by_width);
	vec_each(g, &sorted) {
		if (nets)
			add_ask_nets(in, *g, asks, &of);
		else if (ir_dest_name(&(*g)->dest).n)
			add_ask(in, *g, asks, NULL, &of);
	}
	vec_each(l, &of) {
		mark_line(in, out->n, l);
		buf_add(out, l->text);
		buf_addc(out, '\n');
	}
}

static struct line denial_line(const struct ir_grant *d, struct str text)
{
	return (struct line){text, &d->from, MARKS_FOR(DENIED), NULL};
}

/* Names whose addresses QUIC may not go to, for the requests in it. */
static void add_quics(const struct emit_in *in, const emit_classes *quics,
		      lines *to)
{
	vec_each(d, &in->policy->deny) {
		uint32_t k = emit_quic_of(quics, d);

		if (!k)
			continue;
		*vec_push(in->a, to) = (struct line){
			arena_fmt(in->a,
				  NAMES_MAP_GUARD " %.*s " NAMES_MAP_QUIC
						  "%u %.*s",
				  STR_ARG(ir_dest_name(&d->dest)), k,
				  STR_ARG(d->id)),
			&d->from, MARKS_FOR(QUIC), NULL};
	}
}

/* The names of the machine, where nothing of it may be reached. */
static void deny_machine(const struct emit_in *in, const struct ir_grant *d,
			 lines *to)
{
	if (d->has_http || !ports_all(&d->ports) || !ir_dest_machine(&d->dest))
		return;
	for (size_t i = 0; i < ARRAY_LEN(machine_names); i++)
		*vec_push(in->a, to) = denial_line(
			d, arena_fmt(in->a, NAMES_MAP_DENY " %s %.*s",
				     machine_names[i], STR_ARG(d->id)));
}

/* Names that do not resolve, and those that do with fewer ports. */
static void put_denials(const struct emit_in *in, struct buf *out,
			const emit_classes *classes, const emit_classes *quics)
{
	lines denied = {0}, guarded = {0};

	vec_each(d, &in->policy->deny) {
		struct str name = ir_dest_name(&d->dest);

		deny_machine(in, d, &denied);
		if (name.n == 0 || ir_grant_http(d) ||
		    d->dest.kind == IR_DEST_ANY)
			continue;
		if (ports_all(&d->ports))
			*vec_push(in->a, &denied) = denial_line(
				d, arena_fmt(in->a, NAMES_MAP_DENY " %.*s %.*s",
					     STR_ARG(name), STR_ARG(d->id)));
		else
			*vec_push(in->a, &guarded) = denial_line(
				d,
				arena_fmt(in->a,
					  NAMES_MAP_GUARD
					  " %.*s " NAMES_MAP_DENIAL "%u %.*s",
					  STR_ARG(name),
					  emit_class_of(classes, d),
					  STR_ARG(d->id)));
	}
	add_quics(in, quics, &guarded);
	put_lines(in, out, &denied);
	put_lines(in, out, &guarded);
}

bool names_emit(const struct emit_in *in, struct buf *out)
{
	emit_classes classes, denials, quics, asks;

	if (!emit_classes_make(in, &classes) ||
	    !emit_denials_make(in, &denials) || !emit_quics_make(in, &quics) ||
	    !emit_asks_make(in, &asks))
		return false;
	buf_adds(out, NAMES_MAP_HEAD "\n");
	put_upstream(out, in->policy);
	put_nets(in, out);
	put_past(in, out);
	put_ports(out, &classes, &denials, &quics, &asks);
	put_names(in, out, &classes);
	put_asks(in, out, &asks, false);
	put_asks(in, out, &asks, true);
	put_denials(in, out, &denials, &quics);
	return true;
}
