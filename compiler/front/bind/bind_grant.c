/* Destinations and what hangs on them: ports, requests, the resolver. */
#include "compiler/base/agent_link.h"
#include "compiler/base/ascii.h"
#include "compiler/base/limits.h"
#include "compiler/front/bind/bind_types.h"
#include "compiler/front/word/dest.h"
#include "compiler/ir/http.h"

#include <stddef.h>
#include <stdlib.h>

/* --- grants -------------------------------------------------------------- */

/* Ports behind the destination and under `ports` as well. */
static bool ports_once(struct binder *b, struct ir_grant *g)
{
	bool url = g->dest.kind == IR_DEST_URL;

	if (g->ports.n == 0 || !(g->dest.has_port || url))
		return true;
	bind_error(b, DIAG_PORT_TWICE, g->ports.v[0].at,
		   url ? "ports for a URL" : "ports in two places");
	bind_note(b, g->dest.at,
		  url ? "the URL has its port already" : "the other is here");
	bind_help(b, url ? "write the port in the URL, or the host instead"
			 : "keep the list, and leave the port out here");
	return false;
}

/* What hostnames and cidrs do not take. */
static bool kind_fits(struct binder *b, const struct ir_grant *g)
{
	const struct ir_dest *d = &g->dest;
	bool host = d->kind == IR_DEST_HOST || d->kind == IR_DEST_PATTERN;

	if (g->key != IR_KEY_HOSTNAMES && g->key != IR_KEY_CIDRS)
		return true;
	if (g->key == IR_KEY_HOSTNAMES
		    ? !host
		    : d->kind != IR_DEST_CIDR || d->by_name) {
		bind_error(b, DIAG_DEST_KIND, d->at,
			   g->key == IR_KEY_HOSTNAMES
				   ? "not a host name"
				   : "not an address or network");
		bind_help(b, "'allow' takes every kind of destination");
		return false;
	}
	if (!d->has_port)
		return true;
	bind_error(b, DIAG_DEST_KIND, d->port.at, "a port under '%s'",
		   g->key == IR_KEY_HOSTNAMES ? "hostnames" : "cidrs");
	bind_help(
		b,
		"'hostnames' and 'cidrs' open every TCP port; with a port it goes under 'allow'");
	return false;
}

/* Is it a part of the gate's link, which no grant can open: what goes there is
 * taken in by the gate, and the rest is the agent's own? */
static bool is_of_link(const struct ir_dest *d)
{
	static const char *const links[] = {LINK_SUBNET_V4, LINK_SUBNET_V6};
	const struct cidr *net = ir_dest_net(d);
	struct cidr link;

	for (size_t i = 0; net && !d->by_name && i < ARRAY_LEN(links); i++)
		if (cidr_parse(str_of(links[i]), &link) == CIDR_OK &&
		    net->bits > link.bits && cidr_covers(&link, net))
			return true;
	return false;
}

/* "localhost", and names below it: RFC 6761, section 6.3. */
static bool is_localhost(const struct ir_dest *d)
{
	struct str name = ir_dest_name(d);

	return str_is(name, "localhost") || str_ends(name, STR(".localhost"));
}

static bool refuse_machine(struct binder *b, struct span at, const char *why)
{
	bind_error(b, DIAG_MACHINE, at, "%s", why);
	bind_help(
		b,
		"'host' is the machine that runs membrane, one TCP port each: 'host:11434'");
	return false;
}

/* What is granted of the machine is a port that was written, over TCP. */
static bool machine_ports(struct binder *b, const struct ir_grant *g)
{
	const struct ir_dest *d = &g->dest;
	uint32_t n = 0;

	if (d->kind == IR_DEST_URL)
		return true;
	if (!d->has_port && g->ports.n == 0)
		return refuse_machine(b, d->at, "'host' without a port");
	for (uint32_t i = 0; i < (d->has_port ? 1 : g->ports.n); i++) {
		const struct ir_port *p =
			d->has_port ? &d->port : &g->ports.v[i];

		if (p->proto != IR_PROTO_TCP)
			return refuse_machine(b, p->at, "UDP to 'host'");
		n += p->hi - p->lo + 1u;
		if (n > LIMIT_MACHINE_PORTS)
			return refuse_machine(b, p->at,
					      "too many ports of 'host'");
	}
	return true;
}

/* The machine that runs membrane has a name, and is granted by it alone. */
static bool machine_fits(struct binder *b, const struct ir_grant *g)
{
	if (is_of_link(&g->dest))
		return refuse_machine(b, g->dest.at,
				      "an address of the gate's own");
	if (g->key == IR_KEY_DENY)
		return true;
	if (is_localhost(&g->dest))
		return refuse_machine(
			b, g->dest.at,
			"'localhost' inside a session is the session itself, and needs no grant");
	return !ir_dest_machine(&g->dest) || machine_ports(b, g);
}

static bool refuse_asked(struct binder *b, struct span at, const char *what,
			 const char *help)
{
	bind_error(b, DIAG_ASK, at, "%s", what);
	bind_help(b, "%s", help);
	return false;
}

/*
 * What is asked about waits for the answer: a connection does. Nobody waits for
 * a datagram, and a port of the machine is opened before anybody can ask.
 */
static bool asked_fits(struct binder *b, const struct ir_grant *g)
{
	const struct ir_port *own = &g->dest.port;

	if (g->key != IR_KEY_ASK)
		return true;
	if (ir_dest_machine(&g->dest))
		return refuse_asked(
			b, g->dest.at,
			"'host' under 'ask': its ports are opened when the session begins",
			"write it under 'allow', or 'membrane allow' it when it is needed");
	for (uint32_t i = 0; i < g->ports.n + g->dest.has_port; i++) {
		const struct ir_port *p = i < g->ports.n ? &g->ports.v[i] : own;

		if (p->proto == IR_PROTO_UDP)
			return refuse_asked(
				b, p->at,
				"UDP under 'ask': a datagram does not wait for an answer",
				"ask about a TCP port, or write the UDP port under 'allow'; HTTP/3 clients go on with TCP where UDP is closed");
	}
	return true;
}

/* A bare '*' in deny states what holds anyway. */
static bool says_nothing(struct binder *b, const struct ir_grant *g)
{
	if (g->key != IR_KEY_DENY || g->dest.kind != IR_DEST_ANY ||
	    g->dest.has_port || g->ports.n || g->has_http)
		return false;
	diag_warn(b->c->diags, DIAG_DENY_ALL, g->dest.at,
		  "a '*' in 'deny' changes nothing");
	bind_help(
		b,
		"what nothing allows is denied already; a denial of everything would be an empty 'allow'");
	return true;
}

static enum bind_map map_of(enum ir_grant_key key)
{
	switch (key) {
	case IR_KEY_DENY:
		return BIND_MAP_DENIAL;
	case IR_KEY_ASK:
		return BIND_MAP_ASKED;
	case IR_KEY_ALLOW:
	case IR_KEY_HOSTNAMES:
	case IR_KEY_CIDRS:
		return BIND_MAP_GRANT;
	}
	abort();
}

static void one_grant(struct binder *b, const struct yaml_node *node,
		      enum ir_grant_key key, ir_grants *list)
{
	struct ir_grant g = {.key = key};
	bool map_fits = key != IR_KEY_HOSTNAMES && key != IR_KEY_CIDRS;
	unsigned before = b->c->diags->errors;

	g.from = bind_from(b, node->text.at);
	if (node->kind == YAML_MAP && map_fits) {
		bind_map(b, map_of(key), node, &g);
		g.from.at = g.dest.at;
	} else if (!bind_word(b, node, "a destination") ||
		   !dest_parse(b->c, &node->text, &g.dest)) {
		return;
	}
	if (b->c->diags->errors == before && kind_fits(b, &g) &&
	    ports_once(b, &g) && machine_fits(b, &g) && asked_fits(b, &g) &&
	    !says_nothing(b, &g))
		*vec_push(b->c->a, list) = g;
}

static void bind_grants(struct binder *b, const struct yaml_pair *pair,
			enum ir_grant_key key, ir_grants *list)
{
	vec_reserve(b->c->a, list, pair->value->items.n);
	vec_each(item, &pair->value->items)
		one_grant(b, *item, key, list);
}

void bind_grant_allow(struct binder *b, const struct yaml_pair *pair,
		      void *field)
{
	bind_grants(b, pair, IR_KEY_ALLOW, field);
}

void bind_grant_ask(struct binder *b, const struct yaml_pair *pair, void *field)
{
	bind_grants(b, pair, IR_KEY_ASK, field);
}

void bind_grant_deny(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	bind_grants(b, pair, IR_KEY_DENY, field);
}

void bind_grant_hostnames(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	bind_grants(b, pair, IR_KEY_HOSTNAMES, field);
}

void bind_grant_cidrs(struct binder *b, const struct yaml_pair *pair,
		      void *field)
{
	bind_grants(b, pair, IR_KEY_CIDRS, field);
}

void bind_grant_dest(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	if (!dest_parse(b->c, &pair->value->text, field))
		return;
}

static void push_port(struct binder *b, ir_ports *ports, const struct text *t)
{
	struct ir_port port;

	if (dest_parse_port(b->c, t, &port))
		*vec_push(b->c->a, ports) = port;
}

void bind_grant_ports(struct binder *b, const struct yaml_pair *pair,
		      void *field)
{
	ir_ports *ports = field;

	if (pair->value->items.n == 0) {
		bind_error(b, DIAG_TEXT, pair->value->text.at,
			   "an empty list of ports");
		bind_help(b, "remove 'ports' for any TCP port");
	}
	vec_each(item, &pair->value->items)
		if (bind_word(b, *item, "a port"))
			push_port(b, ports, &(*item)->text);
}

void bind_grant_port(struct binder *b, const struct yaml_pair *pair,
		     void *field)
{
	push_port(b, field, &pair->value->text);
}

/* --- http rules ---------------------------------------------------------- */

static bool bind_method(struct binder *b, const struct text *t)
{
	const char *near;

	if (str_is(t->s, "*")) {
		bind_error(b, DIAG_METHOD, t->at, "a '*' for a method");
		bind_help(b, "leave 'methods' out for any method");
		return false;
	}
	if (http_method_fits(b->c->a, t->s, &near))
		return true;
	bind_error(b, DIAG_METHOD, t->at, "unknown method '%s'",
		   bind_quote(b, t->s));
	if (near)
		bind_help(b, "did you mean '%s'?", near);
	else if (ascii_is_token(t->s))
		bind_help(b, "methods are upper case: '%s'",
			  ascii_upper(b->c->a, t->s).p);
	else
		bind_help(b, "a method is letters and digits (RFC 9110)");
	return false;
}

static void push_text(struct binder *b, ir_texts *list, const struct text *t)
{
	*vec_push(b->c->a, list) = (struct ir_text){bind_from(b, t->at), t->s};
}

static void no_items(struct binder *b, const struct yaml_pair *pair)
{
	if (pair->value->items.n)
		return;
	bind_error(b, DIAG_TEXT, pair->value->text.at, "an empty list of %.*s",
		   STR_ARG(pair->key.s));
	bind_help(b, "it would permit nothing; remove '%.*s' for any",
		  STR_ARG(pair->key.s));
}

void bind_grant_methods(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	no_items(b, pair);
	vec_each(item, &pair->value->items)
		if (bind_word(b, *item, "a method") &&
		    bind_method(b, &(*item)->text))
			push_text(b, field, &(*item)->text);
}

void bind_grant_method(struct binder *b, const struct yaml_pair *pair,
		       void *field)
{
	if (bind_method(b, &pair->value->text))
		push_text(b, field, &pair->value->text);
}

static void push_path(struct binder *b, ir_texts *paths, const struct text *t)
{
	if (t->s.n == 0)
		bind_error(b, DIAG_URL_PATH, t->at, "an empty path");
	else if (dest_path_check(b->c, t, (struct span){0, (uint32_t)t->s.n}))
		push_text(b, paths, t);
}

void bind_grant_url_paths(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	no_items(b, pair);
	vec_each(item, &pair->value->items)
		if (bind_word(b, *item, "a path"))
			push_path(b, field, &(*item)->text);
}

void bind_grant_url_path(struct binder *b, const struct yaml_pair *pair,
			 void *field)
{
	push_path(b, field, &pair->value->text);
}

void bind_grant_http_rules(struct binder *b, const struct yaml_pair *pair,
			   void *field)
{
	struct ir_grant *g =
		(struct ir_grant *)(void *)((char *)field -
					    offsetof(struct ir_grant, http));

	g->has_http = true;
	no_items(b, pair);
	vec_each(item, &pair->value->items) {
		struct ir_http rule = {.at = (*item)->text.at};

		if ((*item)->kind != YAML_MAP) {
			bind_error(b, DIAG_TYPE, (*item)->text.at,
				   "an 'http' rule is a mapping");
			bind_help(b, "as in '{methods: [GET], paths: [/v1/]}'");
			continue;
		}
		bind_map(b, BIND_MAP_HTTP, *item, &rule);
		rule.any_method = rule.methods.n == 0;
		rule.any_path = rule.paths.n == 0;
		*vec_push(b->c->a, &g->http) = rule;
	}
}

/* --- the resolver -------------------------------------------------------- */

static bool refuse_resolver(struct binder *b, struct span at, const char *why)
{
	bind_error(b, DIAG_RESOLVER, at, "%s", why);
	bind_help(
		b,
		"write 'host', for what this machine asks, or 'IP' or 'IP:PORT', as in '9.9.9.9' or '[2620:fe::fe]:53'; the gate asks it over the uplink, in the clear");
	return false;
}

/* "tls://", "https://": its questions would be no plain DNS. */
static bool has_scheme(struct str s)
{
	return str_starts(str_slice(s, str_find(s, ':', 0), s.n), STR("://"));
}

static bool resolver_addr(struct binder *b, const struct ir_dest *d,
			  const struct text *t, struct ir_resolver *out)
{
	bool has_slash = str_find(t->s, '/', 0) < t->s.n;

	if (d->kind != IR_DEST_CIDR)
		return refuse_resolver(b, t->at,
				       "a resolver is given by its address");
	if (d->u.cidr.net.bits != addr_bits(d->u.cidr.net.addr.family) ||
	    (has_slash && !d->has_port))
		return refuse_resolver(b, t->at, "a network for a resolver");
	if (d->has_port && d->port.lo != d->port.hi)
		return refuse_resolver(b, d->port.at,
				       "several ports for a resolver");
	if (has_slash)
		return refuse_resolver(
			b, t->at, "a resolver is one address and one port");
	if (!addr_may_resolve(&d->u.cidr.net.addr)) {
		bind_error(b, DIAG_RESOLVER, t->at,
			   "no resolver can be at '%s'", bind_quote(b, t->s));
		bind_help(
			b,
			"the gate asks from a network of its own: write the address of the resolver that this host's own one asks");
		return false;
	}
	out->addr = d->u.cidr.net.addr;
	if (d->has_port)
		out->port = d->port.lo;
	return true;
}

/* "host:53", "Host": as a destination, that would be an address. */
static bool is_host_otherwise(struct arena *a, struct str s)
{
	return str_is(ascii_lower(a, str_slice(s, 0, str_find(s, ':', 0))),
		      IR_RESOLVER_HOST);
}

void bind_grant_resolver(struct binder *b, const struct yaml_pair *pair,
			 void *field)
{
	const struct text *t = &pair->value->text;
	struct ir_resolver r = {.port = 53};
	struct ir_dest d;

	if (str_is(t->s, IR_RESOLVER_HOST)) {
		*(ir_opt_resolver *)field =
			(ir_opt_resolver){.set = true,
					  .from = bind_from(b, t->at),
					  .v = {.host = true}};
		return;
	}
	if (is_host_otherwise(b->c->a, t->s)) {
		refuse_resolver(b, t->at,
				"'host' stands alone and in small letters");
		return;
	}
	if (has_scheme(t->s)) {
		refuse_resolver(b, t->at,
				"a resolver is asked in plain DNS alone");
		return;
	}
	if (!dest_parse(b->c, t, &d) || !resolver_addr(b, &d, t, &r))
		return;
	*(ir_opt_resolver *)field = (ir_opt_resolver){
		.set = true, .from = bind_from(b, t->at), .v = r};
}
