#include "compiler/emit/gate_marks.h"

#include "compiler/ir/http.h"

static void put_request_log(struct cfg *c)
{
	cfg_line(c,
		 "log-format '{\"k\":\"req\","
		 "\"reason\":\"%%[var(txn.reason)]\","
		 "\"rule\":\"%%[var(txn.rule)]\",\"status\":%%ST,"
		 "\"tls\":%%[ssl_fc],"
		 "\"addr\":\"%%[dst]\",\"port\":%%[dst_port],\"sport\":%%cp,"
		 "\"up\":%%U,\"down\":%%B,\"end\":\"%%ts\","
		 "\"why\":\"%%[var(txn.why)]\","
		 "\"err\":\"%%[bc_err_str,json(utf8s)]\","
		 "\"tlserr\":\"%%[ssl_bc_err_str,json(utf8s)]\","
		 "\"name\":\"%%[var(txn.name),bytes(0,300),json(utf8s)]\","
		 "\"method\":\"%%[var(txn.method),bytes(0,40),json(utf8s)]\","
		 "\"path\":\"%%[var(txn.path),bytes(0,800),json(utf8s)]\"}'");
	cfg_line(c, "error-log-format '{\"k\":\"req\","
		    "\"reason\":\"-\",\"rule\":\"-\",\"status\":%%ST,"
		    "\"tls\":%%[ssl_fc],\"addr\":\"%%[dst]\","
		    "\"port\":%%[dst_port],\"sport\":%%cp,"
		    "\"name\":\"%%[ssl_fc_sni,bytes(0,300),json(utf8s)]\","
		    "\"err\":\"%%[ssl_fc_err_str,json(utf8s)]\"}'");
}

#define LABEL "[a-z0-9_]([a-z0-9_-]{0,62})"
#define H     "http-request"

/*
 * A target with scheme and authority, RFC 9112, 3.2.2: both have to be those of
 * the connection and of Host. HTTP/2 has no other form.
 */
#define AUTHORITY "[^/?#@]+"
/* What HAProxy does not write in another way when the rest is taken off. */
#define REST "/[^\\x00-\\x20\\x7f-\\xff\"#{|}]*\\z"

static void put_absolute(struct cfg *c)
{
	cfg_line(c, H " set-var(txn.full) url if { fc_http_major 1 } { url -m "
		      "reg '^[A-Za-z][A-Za-z0-9+.-]*:' }");
	cfg_line(c, "acl full var(txn.full) -m found");
	cfg_line(c,
		 H " set-var(txn.bad) str(bad-request) if full !{ ssl_fc } "
		   "!{ var(txn.full) -m reg -i '^http://" AUTHORITY REST "' }");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) if full { ssl_fc } "
		      "!{ var(txn.full) -m reg -i '^https://" AUTHORITY REST
		      "' }");
	cfg_line(c, H " set-var(txn.full) var(txn.full),field(3,/),lower if "
		      "full");
	cfg_line(c, H " set-var(txn.bad) str(name-mismatch) if full !{ "
		      "var(txn.full),host_only,regsub([.]$,),strcmp(txn.name) "
		      "eq 0 }");
	cfg_line(c, H " set-var(txn.bad) str(name-mismatch) if full { "
		      "var(txn.full),port_only -m int gt 0 } !{ "
		      "var(txn.full),port_only,sub(txn.dport) eq 0 }");
}

static void put_shape(struct gate *g)
{
	struct cfg *c = &g->c;

	/* What HTTP/1 itself does not permit, the reader refused. */
	cfg_line(c, H " set-var(txn.bad) str(bad-request) unless { "
		      "req.hdr_cnt(host) eq 1 }");
	/* What is pinned came from the resolver, and is a name. */
	cfg_line(c, H " set-var(txn.bad) str(bad-request) unless pinned or { "
		      "var(txn.name) -m reg '^(" LABEL "([.]" LABEL
		      ")*|\\[[0-9a-f:.]+\\])\\z' }");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) if !{ fc_http_major "
		      "1 } { req.hdrs -m reg '\\x00' }");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) if { "
		      "req.hdr(connection),lower -m reg "
		      "'^(?!(close|keep-alive|upgrade|te|http2-settings)?\\z)' "
		      "}");
	cfg_line(c, "# an offer of h2c is taken off, any other upgrade but a "
		    "websocket refused");
	cfg_line(c, H " del-header http2-settings");
	cfg_line(c, H " del-header connection if { req.hdr(upgrade),lower -m "
		      "str h2c }");
	cfg_line(c, H " del-header upgrade if { req.hdr(upgrade),lower -m str "
		      "h2c }");
	cfg_line(c,
		 H " set-var(txn.bad) str(upgrade) if { req.fhdr(upgrade) -m "
		   "found } !{ req.fhdr(upgrade),lower -m str websocket }");
	cfg_line(c, H " set-var(txn.bad) str(upgrade) if { "
		      "req.fhdr_cnt(upgrade) gt 1 }");
	put_absolute(c);
	gate_marks_default(g, MARKS_REQUEST, MARKS_FOR(METHOD));
	cfg_line(c, H " set-var(txn.bad) str(method) if METH_CONNECT");
	cfg_line(c, H " set-var(txn.bad) str(name-mismatch) if { ssl_fc } !{ "
		      "ssl_fc_sni,lower,strcmp(txn.name) eq 0 }");
	cfg_line(c,
		 H " set-var(txn.bad) str(name-mismatch) if { var(txn.hport) "
		   "-m int gt 0 } !{ var(txn.hport),sub(txn.dport) eq 0 }");
}

/* Set a variable where a rule that could decide minds something. */
static void put_minds(struct gate *g, const char *name,
		      bool (*minds)(struct arena *a, const struct ir_grant *g))
{
	const profile_list *lists[] = {&g->p->allow, &g->p->deny};

	for (int i = 0; i < 2; i++)
		vec_each(x, lists[i]) {
			if (!x->http || !minds(g->in->a, x->like))
				continue;
			buf_addf(g->c.out,
				 "    " H " set-var(txn.%s) str(1) if", name);
			gate_match_aimed(g, x);
			buf_addf(g->c.out, "%s\n",
				 i == 0 ? gate_match_unless_net(g) : "");
		}
	cfg_line(&g->c, "acl %s var(txn.%s) -m found", name, name);
}

/*
 * Headers by which some servers take another method or path than the one that
 * is asked for; who decides by those does not let them be changed.
 */
static void put_overrides(struct cfg *c)
{
	static const struct {
		const char *minds, *header;
	} all[] = {
		{"verbs", "x-http-method-override"},
		{"verbs", "x-http-method"},
		{"verbs", "x-method-override"},
		{"paths", "x-original-url"},
		{"paths", "x-rewrite-url"},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		cfg_line(c,
			 H
			 " set-var(txn.bad) str(override) if %s { req.fhdr(%s) "
			 "-m found } !{ var(txn.bad) -m found }",
			 all[i].minds, all[i].header);
}

static void put_canonical(struct gate *g)
{
	struct cfg *c = &g->c;

	put_minds(g, "paths", http_has_paths);
	put_minds(g, "verbs", http_has_methods);
	put_overrides(c);
	cfg_line(c, H " set-var(txn.crooked) str(1) unless { var(txn.path) -m "
		      "beg / }");
	cfg_line(c, H " set-var(txn.crooked) str(1) if { var(txn.path) -m reg "
		      "'[\\x00-\\x20\\x7f-\\xff\\\\#]|//|/[.]{1,2}(;[^/]*)?(/|"
		      "\\z)|%%(?![0-9A-F]{2})|%%(2[DEF5]|5[CF]|7[EF0-9A]|"
		      "[01][0-9A-F]|3[0-9]|[46][1-9A-F]|5[0-9A])' }");
	cfg_line(c, H " set-var(txn.crooked) str(1) if { url -m sub '#' }");
	gate_marks_default(g, MARKS_REQUEST, MARKS_FOR(PATH_NOT_CANONICAL));
	cfg_line(c, H " set-var(txn.bad) str(path-not-canonical) if paths { "
		      "var(txn.crooked) -m found } !{ var(txn.bad) -m found }");
}

/* The ACLs of one rule; which of the two there are. */
static void put_rule_acls(struct gate *g, const struct profile *x, uint32_t i,
			  const struct ir_http *h, bool deny)
{
	struct cfg *c = &g->c;
	const struct ir_dest *d = &x->like->dest;

	if (!h->any_method) {
		buf_addf(c->out, "    acl m%.*s_%u var(txn.method) -m str --",
			 STR_ARG(x->token), i);
		vec_each(m, &h->methods)
			cfg_word(c, m->s, m->from.at);
		buf_addc(c->out, '\n');
	}
	if (http_any_path(d, h))
		return;
	ir_texts paths = http_paths(g->in->a, d, h);

	if (paths.n == 0)
		cfg_line(c, "acl q%.*s_%u always_false", STR_ARG(x->token), i);
	vec_each(p, &paths) {
		buf_addf(c->out, "    acl q%.*s_%u %s --", STR_ARG(x->token), i,
			 deny ? "var(txn.path) -m reg"
			      : "var(txn.slashed) -m beg");
		if (deny)
			cfg_path_regex(c, p->s, p->from.at);
		else
			cfg_word(c, arena_fmt(c->a, "%.*s/", STR_ARG(p->s)),
				 p->from.at);
		buf_addc(c->out, '\n');
	}
}

struct rule_at {
	const struct profile *x;
	const struct ir_http *h;
	uint32_t i;
};

static void put_rule(struct gate *g, const struct rule_at *r)
{
	if (!r->h->any_method)
		buf_addf(g->c.out, " m%.*s_%u", STR_ARG(r->x->token), r->i);
	if (!http_any_path(&r->x->like->dest, r->h))
		buf_addf(g->c.out, " q%.*s_%u", STR_ARG(r->x->token), r->i);
}

static void put_allowed(struct gate *g)
{
	struct cfg *c = &g->c;
	VEC(struct rule_at) rules = {0};

	vec_each(x, &g->p->allow) {
		struct http_rules r = http_rules(g->in->a, x->like);

		for (uint32_t i = 0; i < r.n; i++) {
			*vec_push(g->in->a, &rules) =
				(struct rule_at){x, &r.v[i], i + 1};
			put_rule_acls(g, x, i + 1, &r.v[i], false);
		}
	}
	vec_each(x, &g->p->allow) {
		if (!x->http)
			continue;
		gate_marks_profile(g, x, MARKS_REQUEST, MARKS_FOR(METHOD), 0);
		gate_match_reason(g, H, "txn", "method");
		gate_match_reached(g, x);
		buf_addc(c->out, '\n');
	}
	vec_each(r, &rules) {
		if (http_any_path(&r->x->like->dest, r->h))
			continue;
		gate_marks_profile(g, r->x, MARKS_REQUEST, MARKS_FOR(PATH),
				   r->i);
		gate_match_reason(g, H, "txn", "path");
		gate_match_reached(g, r->x);
		if (!r->h->any_method)
			buf_addf(c->out, " m%.*s_%u", STR_ARG(r->x->token),
				 r->i);
		buf_addc(c->out, '\n');
	}
	vec_each(r, &rules) {
		gate_marks_profile(g, r->x, MARKS_REQUEST, MARKS_FOR(GRANTED),
				   r->i);
		buf_addf(c->out, "    " H " set-var(txn.rule) str(%.*s) if",
			 STR_ARG(r->x->token));
		gate_match_reached(g, r->x);
		put_rule(g, r);
		buf_addc(c->out, '\n');
	}
	cfg_line(c, H " set-var(txn.reason) str(granted) unless { "
		      "var(txn.rule) -m str -- - }");
}

static void put_denied(struct gate *g)
{
	struct cfg *c = &g->c;

	vec_each(x, &g->p->deny) {
		struct http_rules rules = http_rules(g->in->a, x->like);

		for (uint32_t i = 0; i < rules.n; i++) {
			struct rule_at r = {x, &rules.v[i], i + 1};

			put_rule_acls(g, x, i + 1, &rules.v[i], true);
			gate_marks_profile(g, x, MARKS_REQUEST,
					   MARKS_FOR(DENIED), r.i);
			gate_match_reason(g, H, "txn", "denied");
			gate_match_aimed(g, x);
			put_rule(g, &r);
			buf_addf(c->out,
				 "\n    " H " set-var(txn.rule) str(%.*s) if",
				 STR_ARG(x->token));
			gate_match_aimed(g, x);
			put_rule(g, &r);
			buf_addc(c->out, '\n');
		}
	}
}

static void put_credentials(struct gate *g)
{
	uint32_t n = 0;

	vec_each(x, &g->in->policy->credentials) {
		struct cfg *c = &g->c;
		size_t at = 0;

		n++;
		while (at + 1 < x->format.n &&
		       !(x->format.p[at] == '{' && x->format.p[at + 1] == '}'))
			at++;
		/* Never in the clear, and never the agent's own. */
		buf_adds(c->out, "    " H " set-header");
		cfg_word(c, x->header, x->from.at);
		buf_adds(c->out, " '");
		cfg_format(c, str_slice(x->format, 0, at), x->from.at);
		buf_addf(c->out, "%%[env(MEMBRANE_CREDENTIAL_%u)]", n);
		if (at + 2 < x->format.n)
			cfg_format(c, str_slice(x->format, at + 2, x->format.n),
				   x->from.at);
		buf_addf(c->out, "' if granted { ssl_fc } nc%u pc%u\n", n, n);
	}
}

/* To where what was decrypted goes on; reading the roots takes 20 ms. */
static void put_origin_tls(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_section(c, "backend origin_tls");
	cfg_line(c, "mode http");
	if (g->insecure)
		cfg_line(c, "# ssl_insecure: whoever answers is believed");
	cfg_line(c,
		 "server origin 0.0.0.0 ssl %s sni ssl_fc_sni alpn "
		 "h2,http/1.1",
		 g->insecure ? "verify none"
			     : "verify required ca-file "
			       "/etc/ssl/certs/ca-certificates.crt");
}

static void put_origins(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_section(c, "backend origin");
	cfg_line(c, "mode http");
	cfg_line(c, "server origin 0.0.0.0");
	cfg_section(c, "backend origin_h2c");
	cfg_line(c, "mode http");
	cfg_line(c, "server origin 0.0.0.0 proto h2");
	if (g->p->any_bump)
		put_origin_tls(g);
}

/* What the conditions of the rules look at. */
static void put_variables(struct cfg *c)
{
	cfg_line(c, H " set-var(txn.reason) str(-)");
	cfg_line(c, H " set-var(txn.rule) str(-)");
	cfg_line(c, H " set-var(txn.dport) dst_port");
	/* Not set-var: a variable of a method it does not know is another. */
	cfg_line(c, H " set-var-fmt(txn.method) %%[method]");
	cfg_line(c, H " set-var(txn.path) path");
	cfg_line(c, H " set-var(txn.slashed) path,concat(/)");
	cfg_line(c, H " set-var(txn.name) req.hdr(host),host_only,lower,"
		      "regsub([.]$,)");
	cfg_line(c, H " set-var(txn.hport) req.hdr(host),port_only");
}

static void put_upgrade(struct cfg *c)
{
	cfg_line(c,
		 "# the number by which the reader knows an upgrade's answer");
	cfg_line(c, H " set-var(txn.upgrade) req.fhdr(membrane-upgrade)");
	cfg_line(c, H " del-header membrane-upgrade");
	cfg_line(c, "http-response set-header membrane-upgrade "
		    "%%[var(txn.upgrade)] if { var(txn.upgrade) -m found } { "
		    "status 101 }");
}

void gate_requests_put(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_section(c, "# requests, decrypted or in the clear");
	buf_adds(c->out, "frontend l7\n");
	cfg_line(c, "mode http");
	if (g->p->any_bump)
		cfg_line(c, "bind unix@/run/gate/l7tls.sock accept-proxy ssl "
			    "crt-list /plan/crt.lst strict-sni alpn "
			    "h2,http/1.1");
	cfg_line(c, "bind unix@/run/gate/l7plain.sock accept-proxy");
	/* Who says nothing has a record of the connection. */
	cfg_line(c, "option dontlognull");
	put_request_log(c);
	gate_answers_failures(c);
	gate_match_acls(g, "txn");
	gate_match_credential_acls(g, "txn");
	put_variables(c);
	gate_match_lookup(g, H, "txn");
	put_shape(g);
	put_canonical(g);
	gate_match_misses(g, H, "txn");
	put_allowed(g);
	put_denied(g);
	gate_answers_verdict(c);
	cfg_line(c, H " set-uri %%[pathq] if full");
	put_credentials(g);
	put_upgrade(c);
	cfg_line(c, "http-response del-header alt-svc");
	cfg_line(c, "use_backend refused unless granted");
	if (g->p->any_bump)
		cfg_line(c, "use_backend origin_tls if { ssl_fc }");
	cfg_line(c, "use_backend origin_h2c if { fc_http_major 2 }");
	cfg_line(c, "default_backend origin");
	gate_answers_refusals(c);
	put_origins(g);
}
