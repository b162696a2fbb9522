#include "compiler/emit/gate_marks.h"

#include <string.h>

/* --- which profiles a name or an address has ----------------------------- */

static bool any_entry(struct gate *g, bool (*is)(struct str))
{
	vec_each(e, &g->p->entries)
		if (e->name.n && is(e->name))
			return true;
	return false;
}

static bool is_other(struct str name)
{
	return str_find(name, '*', 0) < name.n && !profiles_star(name) &&
	       !profiles_deep(name) && !str_is(name, "**");
}

static uint32_t labels(struct str name)
{
	uint32_t n = 1;

	for (size_t i = 0; i < name.n; i++)
		n += name.p[i] == '.';
	return n;
}

#define LABELS_MAX 128u

/* Whether one of the "**." patterns has so many labels behind that. */
static void find_deep(struct gate *g, bool out[LABELS_MAX])
{
	vec_each(e, &g->p->entries)
		if (profiles_deep(e->name) && labels(e->name) <= LABELS_MAX)
			out[labels(e->name) - 1] = true;
}

static struct str any_tokens(struct gate *g)
{
	struct buf b;

	buf_init(&b, g->in->a);
	buf_addc(&b, '.');
	vec_each(e, &g->p->entries)
		if (str_is(e->name, "**"))
			buf_addf(&b, "%.*s.", STR_ARG(e->token));
	return buf_str(&b);
}

static void put_join(struct gate *g, const char *rule, const char *s)
{
	cfg_line(&g->c, "%s set-var(%s.k) var(%s.k),map_str(/plan/hosts.map,.)",
		 rule, s, s);
	cfg_line(&g->c, "%s set-var(%s.p) var(%s.p),concat(,%s.k)", rule, s, s,
		 s);
}

/* SCOPE.net: the address is granted as such, and only denials count. */
static void put_net(struct gate *g, const char *rule, const char *s)
{
	vec_each(x, &g->p->allow) {
		if (!profiles_net(x))
			continue;
		buf_addf(g->c.out, "    %s set-var(%s.net) str(1) if", rule, s);
		gate_match_aimed(g, x);
		buf_addc(g->c.out, '\n');
	}
}

/* Patterns of more than one label. */
static void put_deep(struct gate *g, const char *rule, const char *s)
{
	struct cfg *c = &g->c;
	bool deep[LABELS_MAX] = {false};

	find_deep(g, deep);
	for (uint32_t n = 1; n < LABELS_MAX; n++) {
		if (!deep[n])
			continue;
		/* The mark before the name keeps the apex from matching. */
		cfg_line(c, "%s set-var(%s.k) str(^.),concat(,%s.name)", rule,
			 s, s);
		cfg_line(c,
			 "%s set-var(%s.k) var(%s.k),field(-1,.,%u),"
			 "regsub('^[^.^]+','**')",
			 rule, s, s, n + 1);
		put_join(g, rule, s);
	}
}

/* Patterns that no key of a map stands for. */
static void put_odd(struct gate *g, const char *rule, const char *s)
{
	struct cfg *c = &g->c;

	vec_each(e, &g->p->entries) {
		if (!e->name.n || !is_other(e->name))
			continue;
		buf_addf(c->out,
			 "    %s set-var(%s.p) var(%s.p),concat(.%.*s.) if { "
			 "var(%s.name) -m reg --",
			 rule, s, s, STR_ARG(e->token), s);
		cfg_name_regex(c, e->name, (struct span){0});
		buf_adds(c->out, " }\n");
	}
}

/* rule: "tcp-request content"; s: the scope of variables. */
void gate_match_lookup(struct gate *g, const char *rule, const char *s)
{
	struct cfg *c = &g->c;

	cfg_line(c, "# .p: what is said of the name; .a: of the address");
	cfg_line(c, "%s set-var(%s.p) str(%s)", rule, s, any_tokens(g).p);
	cfg_line(c, "%s set-var(%s.k) var(%s.name)", rule, s, s);
	put_join(g, rule, s);
	if (any_entry(g, profiles_star)) {
		cfg_line(c, "%s set-var(%s.k) var(%s.name),field(2,.,0)", rule,
			 s, s);
		cfg_line(c, "%s set-var(%s.k) str(*.),concat(,%s.k)", rule, s,
			 s);
		put_join(g, rule, s);
	}
	put_deep(g, rule, s);
	put_odd(g, rule, s);
	cfg_line(c, "%s set-var(%s.a) dst,map_ip(/plan/addr.map,.)", rule, s);
	cfg_line(c, "%s set-var(%s.k) dst", rule, s);
	cfg_line(c, "%s set-var(%s.k) var(%s.name),concat(@,%s.k)", rule, s, s,
		 s);
	cfg_line(c, "%s set-var(%s.pin) var(%s.k),map_str(/run/gate/pins.map)",
		 rule, s, s);
	cfg_line(c, "%s set-var(%s.vouched) str(1) if pinned", rule, s);
	cfg_line(c, "%s set-var(%s.vouched) str(1) if !private", rule, s);
	put_net(g, rule, s);
}

/* --- conditions ---------------------------------------------------------- */

static bool all_ports(const struct profile *x)
{
	return x->ports.v[0].lo == 1 && x->ports.v[0].hi == 65535;
}

static void put_acl(struct gate *g, const struct profile *x, const char *s)
{
	struct cfg *c = &g->c;

	cfg_line(c, "acl n%.*s var(%s.%s) -m sub .%.*s.", STR_ARG(x->token), s,
		 x->who == PROFILE_ADDR ? "a" : "p", STR_ARG(x->token));
	if (all_ports(x))
		return;
	buf_addf(c->out, "    acl p%.*s dst_port", STR_ARG(x->token));
	cfg_ports(c, &x->ports);
	buf_addc(c->out, '\n');
}

static bool any_scheme(const profile_list *l)
{
	vec_each(x, l)
		if (!x->tls || !x->clear)
			return true;
	return false;
}

#define WORDS 48u /* behind an ACL's: HAProxy takes 64 in a line */

void gate_match_acls(struct gate *g, const char *s)
{
	struct cfg *c = &g->c;
	const struct addr_special *special;
	struct addr ignored;
	char text[CIDR_TEXT_MAX];
	bool is_tls = s[0] == 's'; /* before it is decrypted */

	/* Many in a line: one look into a tree, not one for each network. */
	for (size_t i = 0, n = 0; (special = addr_special(i)); i++) {
		/* HAProxy looks up IPv4 addresses as mapped ones, too. */
		if (addr_mapped(&special->net.addr, &ignored))
			continue;
		if (n++ % WORDS == 0)
			buf_addf(c->out, "%s    acl private dst",
				 n > 1 ? "\n" : "");
		buf_addf(c->out, " %s", cidr_text(&special->net, text));
	}
	buf_addc(c->out, '\n');
	if (any_scheme(&g->p->allow) || any_scheme(&g->p->deny)) {
		cfg_line(c, "acl tls %s", is_tls ? "always_true" : "ssl_fc");
		cfg_line(c, "acl clear %s",
			 is_tls ? "always_false" : "ssl_fc,not");
	}
	cfg_line(c, "acl pinned var(%s.pin) -m found", s);
	cfg_line(c, "acl vouched var(%s.vouched) -m found", s);
	vec_each(x, &g->p->allow)
		put_acl(g, x, s);
	vec_each(x, &g->p->deny)
		put_acl(g, x, s);
	if (g->p->any_net)
		cfg_line(c, "acl net var(%s.net) -m found", s);
}

/* " n3" and " p3" */
static void put_on_port(struct gate *g, const struct profile *x)
{
	buf_addf(g->c.out, " n%.*s", STR_ARG(x->token));
	if (!all_ports(x))
		buf_addf(g->c.out, " p%.*s", STR_ARG(x->token));
}

/* The same, and the scheme. */
void gate_match_aimed(struct gate *g, const struct profile *x)
{
	put_on_port(g, x);
	if (!x->tls || !x->clear)
		buf_adds(g->c.out, x->tls ? " tls" : " clear");
}

/* Everything about a connection that a grant asks for. */
void gate_match_reached(struct gate *g, const struct profile *x)
{
	gate_match_aimed(g, x);
	if (x->who == PROFILE_ADDR)
		return;
	if (!x->private)
		buf_adds(g->c.out, " !private");
	if (x->who == PROFILE_NAME)
		buf_adds(g->c.out, " pinned");
	else if (x->private)
		buf_adds(g->c.out, " vouched");
}

void gate_match_reason(struct gate *g, const char *rule, const char *s,
		       const char *reason)
{
	buf_addf(g->c.out, "    %s set-var(%s.reason) str(%s) if", rule, s,
		 reason);
}

const char *gate_match_unless_net(const struct gate *g)
{
	return g->p->any_net ? " !net" : "";
}

/* Why a name is not reached, the telling ones last: decide.c has the order. */
void gate_match_misses(struct gate *g, const char *rule, const char *s)
{
	unsigned use = s[0] == 's' ? MARKS_HELLO : MARKS_REQUEST;
	struct buf *out = g->c.out;

	gate_marks_default(g, use, MARKS_FOR(NO_GRANT));
	cfg_line(&g->c, "%s set-var(%s.reason) str(no-grant)", rule, s);
	vec_each(x, &g->p->allow) {
		if (profiles_net(x))
			continue; /* the packet filter has its other ports */
		gate_marks_profile(g, x, use, MARKS_FOR(PORT), 0);
		gate_match_reason(g, rule, s, "port");
		buf_addf(out, " n%.*s\n", STR_ARG(x->token));
	}
	vec_each(x, &g->p->allow) {
		if (x->tls && x->clear)
			continue;
		gate_marks_profile(g, x, use, MARKS_FOR(SCHEME), 0);
		gate_match_reason(g, rule, s, "scheme");
		put_on_port(g, x);
		buf_addc(out, '\n');
	}
	vec_each(x, &g->p->allow) {
		if (x->who == PROFILE_ADDR || x->private)
			continue;
		gate_marks_profile(g, x, use, MARKS_FOR(PRIVATE_ADDRESS), 0);
		gate_match_reason(g, rule, s, "private-address");
		gate_match_aimed(g, x);
		buf_adds(out, " private\n");
	}
	vec_each(x, &g->p->allow) {
		if (x->who == PROFILE_ADDR ||
		    (x->who == PROFILE_ANY && !x->private))
			continue;
		gate_marks_profile(g, x, use, MARKS_FOR(NOT_RESOLVED), 0);
		gate_match_reason(g, rule, s, "not-resolved");
		gate_match_aimed(g, x);
		buf_adds(out, x->private ? "" : " !private");
		buf_adds(out,
			 x->who == PROFILE_NAME ? " !pinned\n" : " !vouched\n");
	}
}

void gate_match_credential_acls(struct gate *g, const char *s)
{
	uint32_t n = 0;

	vec_each(x, &g->in->policy->credentials) {
		n++;
		buf_addf(g->c.out, "    acl nc%u var(%s.p) -m sub .c%u.\n", n,
			 s, n);
		if (x->host.has_port)
			cfg_line(&g->c, "acl pc%u dst_port %u", n,
				 x->host.port.lo);
		else
			cfg_line(&g->c, "acl pc%u always_true", n);
	}
}
