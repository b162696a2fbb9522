#include "compiler/ir/text.h"

#include "compiler/base/agent_link.h"
#include "compiler/base/buf.h"

#include <stdlib.h>

static uint16_t scheme_port(enum ir_scheme s)
{
	switch (s) {
	case IR_SCHEME_HTTP:
		return 80;
	case IR_SCHEME_HTTPS:
		return 443;
	}
	abort();
}

static void add_url(struct buf *b, const struct ir_url *u)
{
	char text[ADDR_TEXT_MAX];

	buf_addf(b, "%s://", ir_scheme_name(u->scheme));
	if (u->who != IR_DEST_CIDR)
		buf_add(b, u->name);
	else if (cidr_is_machine(&u->net))
		buf_adds(b, LINK_MACHINE_NAME);
	else if (u->net.addr.family == ADDR_V6)
		buf_addf(b, "[%s]", addr_text(&u->net.addr, text));
	else
		buf_adds(b, addr_text(&u->net.addr, text));
	if (u->port != scheme_port(u->scheme))
		buf_addf(b, ":%u", u->port);
	buf_add(b, u->path);
}

static void add_dest(struct buf *b, const struct ir_dest *d)
{
	char text[CIDR_TEXT_MAX];

	switch (d->kind) {
	case IR_DEST_POISON:
		buf_adds(b, "?");
		return;
	case IR_DEST_ANY:
		buf_addc(b, '*');
		return;
	case IR_DEST_HOST:
		buf_add(b, d->u.host.name);
		return;
	case IR_DEST_PATTERN:
		buf_add(b, d->u.pattern.name);
		return;
	case IR_DEST_CIDR:
		buf_adds(b, ir_dest_machine(d)
				    ? LINK_MACHINE_NAME
				    : cidr_text(&d->u.cidr.net, text));
		return;
	case IR_DEST_URL:
		add_url(b, &d->u.url);
		return;
	}
	abort();
}

static void add_ports(struct buf *b, const ir_ports *ports)
{
	vec_each(p, ports) {
		if (p != ports->v)
			buf_addc(b, ',');
		buf_adds(b, ir_proto_name(p->proto));
		buf_addc(b, '/');
		buf_addu(b, p->lo);
		if (p->hi == p->lo)
			continue;
		buf_addc(b, '-');
		buf_addu(b, p->hi);
	}
}

static void add_texts(struct buf *b, const ir_texts *texts, char sep)
{
	vec_each(t, texts) {
		if (t != texts->v)
			buf_addc(b, sep);
		buf_add(b, t->s);
	}
}

struct str ir_dest_text(struct arena *a, const struct ir_dest *d)
{
	char room[256];
	struct buf b;

	if (d->kind == IR_DEST_HOST)
		return d->u.host.name;
	if (d->kind == IR_DEST_PATTERN)
		return d->u.pattern.name;
	buf_init_in(&b, a, room, sizeof(room));
	add_dest(&b, d);
	return buf_keep(&b);
}

struct str ir_dest_name(const struct ir_dest *d)
{
	struct str none = {0};

	switch (d->kind) {
	case IR_DEST_ANY:
		return STR("**");
	case IR_DEST_HOST:
		return d->u.host.name;
	case IR_DEST_PATTERN:
		return d->u.pattern.name;
	case IR_DEST_URL:
		return d->u.url.who == IR_DEST_CIDR ? none : d->u.url.name;
	case IR_DEST_CIDR:
	case IR_DEST_POISON:
		return none;
	}
	abort();
}

const struct cidr *ir_dest_net(const struct ir_dest *d)
{
	if (d->kind == IR_DEST_CIDR)
		return &d->u.cidr.net;
	if (d->kind == IR_DEST_URL && d->u.url.who == IR_DEST_CIDR)
		return &d->u.url.net;
	return NULL;
}

bool ir_dest_machine(const struct ir_dest *d)
{
	const struct cidr *net = ir_dest_net(d);

	return net && cidr_is_machine(net);
}

bool ir_allows_machine(const struct ir_policy *p)
{
	vec_each(g, &p->allow)
		if (ir_dest_machine(&g->dest))
			return true;
	return false;
}

bool ir_dest_has_scheme(const struct ir_dest *d, enum ir_scheme s)
{
	return d->kind != IR_DEST_URL || d->u.url.scheme == s;
}

bool ir_grant_http(const struct ir_grant *g)
{
	return g->has_http || g->dest.kind == IR_DEST_URL;
}

bool ir_grant_reaches(const struct ir_grant *g, const struct addr *addr)
{
	const struct cidr *net = ir_dest_net(&g->dest);

	struct cidr one = {*addr, addr_bits(addr->family)};
	const struct addr_special *floor;

	if (!net || !cidr_has(net, addr))
		return false;
	if (addr_scope(addr) != ADDR_NEVER)
		return true;
	floor = addr_never_around(&one);
	return (!ir_grant_http(g) || cidr_is_machine(net)) &&
	       net->bits > floor->net.bits;
}

void ir_ports_put(struct buf *b, const ir_ports *ports)
{
	add_ports(b, ports);
}

struct str ir_ports_text(struct arena *a, const ir_ports *ports)
{
	char room[256];
	struct buf b;

	buf_init_in(&b, a, room, sizeof(room));
	add_ports(&b, ports);
	return buf_keep(&b);
}

struct str ir_grant_ports(const struct ir_grant *g)
{
	/* No destination has a blank in it, and no ports do. */
	size_t beg = str_find(g->canon, ' ', 0) + 1;

	return str_slice(g->canon, beg, str_find(g->canon, ' ', beg));
}

struct str ir_http_text(struct arena *a, const struct ir_http *h)
{
	char room[256];
	struct buf b;

	buf_init_in(&b, a, room, sizeof(room));
	if (h->any_method)
		buf_addc(&b, '*');
	else
		add_texts(&b, &h->methods, ',');
	buf_addc(&b, ' ');
	if (h->any_path)
		buf_addc(&b, '*');
	else
		add_texts(&b, &h->paths, ' ');
	return buf_keep(&b);
}

struct str ir_wait_text(struct arena *a, const struct ir_grant *g)
{
	unsigned s = (unsigned)g->wait_s.v;

	return s % 60 ? arena_fmt(a, "%us", s) : arena_fmt(a, "%um", s / 60);
}

struct str ir_grant_text(struct arena *a, const struct ir_grant *g)
{
	char room[256];
	struct buf b;

	buf_init_in(&b, a, room, sizeof(room));
	add_dest(&b, &g->dest);
	buf_addc(&b, ' ');
	add_ports(&b, &g->ports);
	if (g->has_http) {
		buf_adds(&b, " http");
		vec_each(h, &g->http) {
			buf_adds(&b, " [");
			buf_add(&b, ir_http_text(a, h));
			buf_addc(&b, ']');
		}
	}
	if (g->tls.set)
		buf_addf(&b, " tls=%s", ir_tls_name(g->tls.v));
	if (g->private.set && g->private.v)
		buf_adds(&b, " private");
	if (g->lasts.set)
		buf_addf(&b, " for=%s", ir_lasts_name(g->lasts.v));
	if (g->wait_s.set)
		buf_addf(&b, " wait=%s", ir_wait_text(a, g).p);
	return buf_keep(&b);
}

static void add_never_net(struct buf *b, const struct ir_never *n)
{
	if (n->methods.n) {
		add_texts(b, &n->methods, ',');
		buf_addc(b, ' ');
	}
	if (n->has_dest)
		add_dest(b, &n->dest);
	else
		buf_adds(b, "anything");
	if (n->has_dest && n->dest.has_port) {
		ir_ports own = {.v = (struct ir_port[]){n->dest.port}, .n = 1};

		buf_addc(b, ' ');
		add_ports(b, &own);
	}
	if (n->ports.n) {
		buf_addc(b, ' ');
		add_ports(b, &n->ports);
	}
	vec_each(p, &n->paths) {
		buf_addc(b, ' ');
		buf_add(b, p->s);
	}
}

struct str ir_never_text(struct arena *a, const struct ir_never *n)
{
	char room[256];
	struct buf b;

	buf_init_in(&b, a, room, sizeof(room));
	switch (n->kind) {
	case IR_NEVER_NET:
		add_never_net(&b, n);
		return buf_keep(&b);
	case IR_NEVER_READ:
		buf_adds(&b, "read ");
		buf_add(&b, n->pattern);
		return buf_keep(&b);
	case IR_NEVER_WRITE:
		buf_adds(&b, "write ");
		buf_add(&b, n->pattern);
		return buf_keep(&b);
	case IR_NEVER_ARG:
		buf_adds(&b, "docker-arg ");
		buf_add(&b, n->arg);
		return buf_keep(&b);
	}
	abort();
}

static void add_connect(struct buf *b, const struct ir_request *r)
{
	char text[ADDR_TEXT_MAX];

	/* A name alone is read as TCP; an address shows which it is. */
	if (r->proto == IR_PROTO_UDP || r->has_addr) {
		buf_adds(b, r->quic ? "quic" : ir_proto_name(r->proto));
		buf_addc(b, ' ');
	}
	if (!r->has_addr)
		buf_add(b, r->name);
	else if (addr_is_machine(&r->addr))
		buf_adds(b, LINK_MACHINE_NAME);
	else if (r->addr.family == ADDR_V6)
		buf_addf(b, "[%s]", addr_text(&r->addr, text));
	else
		buf_adds(b, addr_text(&r->addr, text));
	buf_addc(b, ':');
	buf_addu(b, r->port);
	if (r->has_addr && r->name.n && !addr_is_machine(&r->addr))
		buf_addf(b, " %.*s", STR_ARG(r->name));
}

struct str ir_request_text(struct arena *a, const struct ir_request *r)
{
	char room[256], text[ADDR_TEXT_MAX];
	struct buf b;

	buf_init_in(&b, a, room, sizeof(room));
	switch (r->kind) {
	case IR_REQ_CONNECT:
		add_connect(&b, r);
		return buf_keep(&b);
	case IR_REQ_HTTP:
		buf_addf(&b, "%.*s ", STR_ARG(r->method));
		add_url(&b, &r->url);
		if (r->has_addr && r->url.who != IR_DEST_CIDR)
			buf_addf(&b, " at %s%s",
				 addr_is_machine(&r->addr)
					 ? LINK_MACHINE_NAME
					 : addr_text(&r->addr, text),
				 r->unresolved ? " unresolved" : "");
		return buf_keep(&b);
	case IR_REQ_RESOLVE:
		buf_addf(&b, "resolve %.*s", STR_ARG(r->name));
		if (!str_is(r->type, "A"))
			buf_addf(&b, " %.*s", STR_ARG(r->type));
		return buf_keep(&b);
	case IR_REQ_READ:
		buf_addf(&b, "read %.*s", STR_ARG(r->path));
		return buf_keep(&b);
	case IR_REQ_WRITE:
		buf_addf(&b, "write %.*s", STR_ARG(r->path));
		return buf_keep(&b);
	case IR_REQ_ARG:
		buf_addf(&b, "docker-arg %.*s", STR_ARG(r->arg));
		return buf_keep(&b);
	}
	abort();
}

/* --- lists of texts ------------------------------------------------------- */

static int by_text(const void *va, const void *vb)
{
	const struct ir_text *a = va, *b = vb;

	return str_cmp(a->s, b->s);
}

void ir_texts_sort(ir_texts *list)
{
	vec_sort(list, by_text);
}

ir_texts ir_texts_sorted(struct arena *a, const ir_texts *in)
{
	ir_texts out = {0};
	uint32_t n = 0;

	vec_each(t, in)
		*vec_push(a, &out) = *t;
	if (out.n == 0)
		return out;
	ir_texts_sort(&out);
	for (uint32_t i = 1; i < out.n; i++)
		if (!str_eq(out.v[n].s, out.v[i].s))
			out.v[++n] = out.v[i];
	out.n = n + 1;
	return out;
}

bool ir_texts_same(const ir_texts *x, const ir_texts *y)
{
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (!str_eq(x->v[i].s, y->v[i].s))
			return false;
	return true;
}

struct str ir_resolver_text(struct arena *a, const struct ir_resolver *r)
{
	char text[ADDR_TEXT_MAX];

	if (r->host)
		return STR(IR_RESOLVER_HOST);
	return arena_fmt(a, r->addr.family == ADDR_V6 ? "[%s]:%u" : "%s:%u",
			 addr_text(&r->addr, text), r->port);
}

struct str ir_on_refusal_text(struct arena *a, const struct ir_on_refusal *r)
{
	struct buf b;

	if (r->webhook.s.n)
		return arena_fmt(a, "webhook %.*s", STR_ARG(r->webhook.s));
	if (!r->command.n)
		return STR("nothing");
	buf_init(&b, a);
	vec_each(word, &r->command) {
		bool bare = word->s.n && str_find(word->s, ' ', 0) == word->s.n;

		buf_addf(&b, "%s%s%.*s%s", b.n ? " " : "", bare ? "" : "'",
			 STR_ARG(word->s), bare ? "" : "'");
	}
	return buf_str(&b);
}
