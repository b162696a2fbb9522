/*
 * Policies for tests without YAML: one line per entry, the key first, then the
 * canonical text of a grant, "allow 10.0.0.0/8 tcp/22,udp/53 private",
 * "deny *", "readonly /.env". Ports may be left out, or be ":443" behind a
 * name. A key may have its layer behind it: "deny@global *". Rules of http are
 * "http=GET+POST+/a+/b", TLS is "inspect" or "verify", "public" is "private:
 * false"; a credential is
 * "credential HOST HEADER VARIABLE".
 */
#ifndef TESTS_POLICY_H
#define TESTS_POLICY_H

#include "compiler/emit/emit.h"
#include "compiler/passes/passes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_policy {
	struct arena *a;
	struct sources sources;
	struct diags diags;
	struct pass_ctx ctx;
	docs docs;
	struct ir_policy policy;
	bool ok;
};

static inline bool test_ports(struct arena *a, struct str text, ir_ports *out)
{
	struct str one;

	while (str_field(&text, ',', &one)) {
		struct ir_port p = {0};
		uint64_t lo, hi;
		size_t dash;

		if (str_starts(one, STR("udp/")))
			p.proto = IR_PROTO_UDP;
		else if (!str_starts(one, STR("tcp/")))
			return false;
		one = str_slice(one, 4, one.n);
		dash = str_find(one, '-', 0);
		if (!str_u64(str_slice(one, 0, dash), 65535, &lo))
			return false;
		hi = lo;
		if (dash < one.n &&
		    !str_u64(str_slice(one, dash + 1, one.n), 65535, &hi))
			return false;
		p.lo = (uint16_t)lo;
		p.hi = (uint16_t)hi;
		*vec_push(a, out) = p;
	}
	return true;
}

/* An address without a port; one of IPv6 in brackets. */
static inline bool test_url_addr(struct str text, struct ir_url *u)
{
	if (str_starts(text, STR("[")))
		text = str_slice(text, 1, text.n - 1);
	if (!addr_parse(text, &u->net.addr))
		return false;
	u->who = IR_DEST_CIDR;
	u->net.bits = (uint8_t)addr_bits(u->net.addr.family);
	return true;
}

static inline void test_url(struct str text, struct ir_dest *d)
{
	struct ir_url *u = &d->u.url;
	bool tls = str_starts(text, STR("https://"));
	size_t slash, colon;
	uint64_t port = tls ? 443 : 80;

	d->kind = IR_DEST_URL;
	u->scheme = tls ? IR_SCHEME_HTTPS : IR_SCHEME_HTTP;
	text = str_slice(text, tls ? 8 : 7, text.n);
	slash = str_find(text, '/', 0);
	if (test_url_addr(str_slice(text, 0, slash), u)) {
		u->port = (uint16_t)port;
		u->path = slash < text.n ? str_slice(text, slash, text.n)
					 : STR("/");
		return;
	}
	u->who = IR_DEST_HOST;
	u->name = str_slice(text, 0, slash);
	colon = str_find(u->name, ':', 0);
	if (colon < u->name.n &&
	    !str_u64(str_slice(u->name, colon + 1, u->name.n), 65535, &port))
		abort();
	u->port = (uint16_t)port;
	u->name = str_slice(u->name, 0, colon);
	if (str_find(u->name, '*', 0) < u->name.n)
		u->who = IR_DEST_PATTERN;
	u->path = slash < text.n ? str_slice(text, slash, text.n) : STR("/");
}

static inline void test_dest(struct str text, struct ir_dest *d)
{
	size_t colon = str_find(text, ':', 0);

	if (str_starts(text, STR("http"))) {
		test_url(text, d);
		return;
	}
	if (cidr_parse(text, &d->u.cidr.net) == CIDR_OK) {
		d->kind = IR_DEST_CIDR;
		return;
	}
	if (colon < text.n) {
		uint64_t port = 0;

		if (!str_u64(str_slice(text, colon + 1, text.n), 65535, &port))
			abort();
		d->has_port = true;
		d->port.lo = d->port.hi = (uint16_t)port;
		text = str_slice(text, 0, colon);
	}
	if (str_is(text, "*")) {
		d->kind = IR_DEST_ANY;
	} else if (str_find(text, '*', 0) < text.n) {
		d->kind = IR_DEST_PATTERN;
		d->u.pattern.name = text;
	} else {
		d->kind = IR_DEST_HOST;
		d->u.host.name = text;
	}
}

/* Methods and paths of one rule: "GET+POST+/a/b+/c", "*+/a", "*". */
static inline void test_http(struct arena *a, struct ir_grant *g,
			     struct ir_origin from, struct str text)
{
	struct ir_http *h = vec_push(a, &g->http);
	struct str word;

	g->has_http = h->any_method = h->any_path = true;
	h->at = from.at;
	while (str_field(&text, '+', &word)) {
		if (str_is(word, "*"))
			continue;
		if (word.p[0] == '/') {
			h->any_path = false;
			*vec_push(a, &h->paths) = (struct ir_text){from, word};
		} else {
			h->any_method = false;
			*vec_push(a, &h->methods) =
				(struct ir_text){from, word};
		}
	}
}

static inline void test_grant(struct arena *a, ir_grants *to,
			      enum ir_grant_key key, struct ir_origin from,
			      struct str rest)
{
	struct ir_grant *g = vec_push(a, to);
	struct str word;

	g->from = from;
	g->key = key;
	g->dest.at = from.at;
	str_field(&rest, ' ', &word);
	test_dest(word, &g->dest);
	while (str_field(&rest, ' ', &word)) {
		if (str_starts(word, STR("http="))) {
			test_http(a, g, from, str_slice(word, 5, word.n));
		} else if (str_is(word, "inspect") || str_is(word, "verify")) {
			g->tls.set = true;
			g->tls.v = str_is(word, "inspect") ? IR_TLS_INSPECT
							   : IR_TLS_VERIFY;
			g->tls.from = from;
		} else if (str_is(word, "private")) {
			g->private.set = g->private.v = true;
			g->private.from = from;
		} else if (str_is(word, "public")) { /* private: false */
			g->private.set = true;
			g->private.from = from;
		} else if (str_starts(word, STR("for="))) {
			for (enum ir_lasts l = 0; l <= IR_LASTS_ALWAYS; l++)
				if (str_is(str_slice(word, 4, word.n),
					   ir_lasts_name(l)))
					g->lasts =
						(ir_opt_lasts){true, from, l};
		} else if (str_is(word, "http")) {
			struct ir_http *h = vec_push(a, &g->http);

			g->has_http = h->any_method = h->any_path = true;
		} else if (!test_ports(a, word, &g->ports)) {
			abort();
		}
		vec_each(p, &g->ports)
			p->at = from.at;
	}
}

static inline struct doc *test_doc(struct test_policy *t, enum layer layer)
{
	struct doc *d;

	vec_each(x, &t->docs)
		if (x->layer == layer)
			return x;
	d = vec_push(t->a, &t->docs);
	d->layer = layer;
	d->source = str_of(layer_name(layer));
	return d;
}

static inline void test_pattern(struct arena *a, ir_patterns *to,
				struct ir_origin from, struct str line)
{
	struct ir_pattern *p = vec_push(a, to);

	*p = (struct ir_pattern){
		.from = from, .line = line, .back = line.p[0] == '!'};
}

static inline void test_credential(struct arena *a, struct ir_policy *p,
				   struct ir_origin from, struct str rest)
{
	struct ir_credential *c = vec_push(a, &p->credentials);
	struct str host;

	c->from = from;
	str_field(&rest, ' ', &host);
	test_dest(host, &c->host);
	str_field(&rest, ' ', &c->header);
	str_field(&rest, ' ', &c->source);
	c->from_env = true;
	c->format = STR("Bearer {}");
}

static inline void test_line(struct test_policy *t, struct str line,
			     uint32_t beg)
{
	struct ir_origin from = {{beg, beg + (uint32_t)line.n},
				 LAYER_WORKSPACE};
	struct str key, layer = {0};
	struct ir_policy *p;

	str_field(&line, ' ', &key);
	if (str_find(key, '@', 0) < key.n) {
		layer = str_slice(key, str_find(key, '@', 0) + 1, key.n);
		key = str_slice(key, 0, str_find(key, '@', 0));
	}
	for (enum layer l = LAYER_PRESET; l <= LAYER_FLAGS; l++)
		if (str_is(layer, layer_name(l)))
			from.layer = l;
	p = &test_doc(t, from.layer)->policy;
	if (str_is(key, "allow"))
		test_grant(t->a, &p->allow, IR_KEY_ALLOW, from, line);
	else if (str_is(key, "ask"))
		test_grant(t->a, &p->ask, IR_KEY_ASK, from, line);
	else if (str_is(key, "deny"))
		test_grant(t->a, &p->deny, IR_KEY_DENY, from, line);
	else if (str_is(key, "ignore"))
		test_pattern(t->a, &p->ignore, from, line);
	else if (str_is(key, "readonly"))
		test_pattern(t->a, &p->readonly, from, line);
	else if (str_is(key, "credential"))
		test_credential(t->a, p, from, line);
	else
		abort();
}

/* Docs come in the order of their layers. */
static inline int test_by_layer(const void *a, const void *b)
{
	return (int)((const struct doc *)a)->layer -
	       (int)((const struct doc *)b)->layer;
}

/* text: borrowed, and kept until test_policy_done(). */
static inline void test_policy_bind(struct test_policy *t, const char *text)
{
	struct str rest = str_of(text), line;

	*t = (struct test_policy){.a = arena_new()};
	sources_init(&t->sources, t->a);
	diags_init(&t->diags, t->a, &t->sources);
	t->ctx = (struct pass_ctx){t->a, &t->sources, &t->diags};
	sources_add(&t->sources, STR("test"), rest, LAYER_WORKSPACE);
	while (str_line(&rest, &line))
		if (line.n)
			test_line(t, line, 1 + (uint32_t)(line.p - text));
	if (t->docs.n)
		qsort(t->docs.v, t->docs.n, sizeof(*t->docs.v), test_by_layer);
}

static inline bool test_policy_make(struct test_policy *t, const char *text)
{
	test_policy_bind(t, text);
	t->ok = passes_layers(&t->ctx, &t->docs, &t->policy) &&
		passes_normalise(&t->ctx, &t->policy);
	return t->ok;
}

static inline struct str test_policy_emit(struct test_policy *t,
					  bool (*emit)(const struct emit_in *in,
						       struct buf *out))
{
	struct emit_in in = {.policy = &t->policy,
			     .sources = &t->sources,
			     .diags = &t->diags,
			     .a = t->a};
	struct buf out;

	buf_init(&out, t->a);
	if (!emit(&in, &out))
		return (struct str){0};
	return buf_str(&out);
}

/* What was said, as it would be printed. */
static inline struct str test_policy_said(struct test_policy *t)
{
	struct buf out;

	buf_init(&out, t->a);
	diags_print(&t->diags, &out, false);
	return buf_str(&out);
}

static inline void test_policy_done(struct test_policy *t)
{
	arena_free(t->a);
}

#endif
