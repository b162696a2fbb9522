/*
 * `upstream`: the proxy that the gate goes out through, as whom, and what is
 * reached without it.
 */
#include "compiler/front/bind/bind_types.h"
#include "compiler/front/word/dest.h"

#include <stddef.h>
#include <stdlib.h>

#define outer(type, member, field)                                             \
	((type *)(void *)((char *)(field)-offsetof(type, member)))

static void refuse_proxy(struct binder *b, struct span at, const char *why)
{
	bind_error(b, DIAG_PROXY, at, "%s", why);
	bind_help(b, "as in 'http://proxy.example.com:3128'");
}

/* The scheme's own would be 80, at which hardly a proxy listens. */
static bool has_port(struct str url)
{
	size_t beg = str_find(url, ':', 0) + 3;
	struct str host = str_slice(url, beg, str_find(url, '/', beg));

	if (str_starts(host, STR("[")))
		host = str_slice(host, str_find(host, ']', 0), host.n);
	return str_find(host, ':', 0) < host.n;
}

static bool is_proxy(struct binder *b, const struct text *t,
		     const struct ir_dest *d)
{
	const struct ir_url *url = &d->u.url;

	if (d->kind != IR_DEST_URL || url->who == IR_DEST_PATTERN) {
		refuse_proxy(b, t->at, "a proxy is one URL");
		return false;
	}
	if (url->scheme != IR_SCHEME_HTTP) {
		refuse_proxy(
			b, t->at,
			"a proxy is spoken to in the clear: it sees names, and passes TLS on");
		return false;
	}
	if (!str_is(url->path, "/")) {
		refuse_proxy(b, url->path_at, "a proxy has no path");
		return false;
	}
	if (!has_port(t->s)) {
		refuse_proxy(b, t->at, "the port of the proxy is missing");
		return false;
	}
	if (url->who == IR_DEST_CIDR && !addr_may_resolve(&url->net.addr) &&
	    !addr_is_loopback(&url->net.addr)) {
		bind_error(b, DIAG_PROXY, t->at,
			   "no proxy is reached at '%s': that is nobody's",
			   bind_quote(b, t->s));
		bind_help(
			b,
			"one of this machine's own is at 127.0.0.1 or [::1], or at an address of its network");
		return false;
	}
	return true;
}

/* One address, on every machine: which one a resolver would name is not asked,
 * and what a plan says is what is gone to. */
static void settle_localhost(struct ir_url *url)
{
	static const struct addr v4 = {ADDR_V4, {127, 0, 0, 1}};

	if (!str_is(url->name, "localhost"))
		return;
	url->who = IR_DEST_CIDR;
	url->net = (struct cidr){v4, addr_bits(ADDR_V4)};
}

static bool take_proxy(struct binder *b, const struct text *t,
		       struct ir_dest *out)
{
	struct ir_dest d;

	if (!dest_parse(b->c, t, &d) || !is_proxy(b, t, &d))
		return false;
	settle_localhost(&d.u.url);
	*out = d;
	return true;
}

void bind_upstream_proxy(struct binder *b, const struct yaml_pair *pair,
			 void *field)
{
	struct ir_upstream *u = outer(struct ir_upstream, proxy, field);

	u->set = take_proxy(b, &pair->value->text, &u->proxy);
}

static void set_login(struct ir_upstream *u, const struct text *t,
		      bool from_env)
{
	u->has_login = true;
	u->from_env = from_env;
	u->source = t->s;
	u->source_at = t->at;
}

void bind_upstream_env(struct binder *b, const struct yaml_pair *pair,
		       void *field)
{
	const struct text *t = &pair->value->text;

	if (bind_credential_is_env(b, t))
		set_login(outer(struct ir_upstream, source, field), t, true);
}

void bind_upstream_file(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	const struct text *t = &pair->value->text;

	if (bind_value_is_host_file(b, t))
		set_login(outer(struct ir_upstream, source, field), t, false);
}

/* Which way a connection takes is known before a port or a path is. */
static bool is_bypass(struct binder *b, const struct text *t,
		      const struct ir_dest *d)
{
	const char *why = NULL;

	switch (d->kind) {
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
	case IR_DEST_CIDR:
		why = d->has_port  ? "has a port: all of them take one way"
		      : d->by_name ? "is never behind a proxy"
				   : NULL;
		break;
	case IR_DEST_ANY:
		why = "is everything: without 'upstream' all goes past it";
		break;
	case IR_DEST_URL:
		why = "is a URL: requests to a name take one way";
		break;
	case IR_DEST_POISON:
		/* dest_parse() made none of it. */
		abort();
	}
	if (!why)
		return true;
	bind_error(b, DIAG_PROXY, t->at, "'%s' %s", bind_quote(b, t->s), why);
	bind_help(
		b,
		"a name, a pattern or a network, as in '**.corp.example' or '10.0.0.0/8'");
	return false;
}

void bind_upstream_direct(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	ir_directs *list = field;

	vec_each(item, &pair->value->items) {
		const struct text *t = &(*item)->text;
		struct ir_dest d;

		if (bind_word(b, *item, "a destination") &&
		    dest_parse(b->c, t, &d) && is_bypass(b, t, &d))
			*vec_push(b->c->a, list) =
				(struct ir_direct){bind_from(b, t->at), d};
	}
}

void bind_upstream(struct binder *b, const struct yaml_pair *pair, void *field)
{
	unsigned before = b->c->diags->errors;
	struct ir_upstream u = {0};

	if (pair->value->kind == YAML_SCALAR)
		u.set = take_proxy(b, &pair->value->text, &u.proxy);
	else
		bind_map(b, BIND_MAP_UPSTREAM, pair->value, &u);
	u.from = bind_from(b, u.proxy.at);
	if (b->c->diags->errors == before)
		*(struct ir_upstream *)field = u;
}
