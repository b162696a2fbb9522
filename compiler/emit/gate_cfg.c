#include "compiler/emit/gate_cfg.h"

#include "compiler/emit/cfg_write.h"
#include "compiler/emit/profiles.h"
#include "compiler/ir/http.h"

#include <string.h>

struct gate {
	const struct emit_in *in;
	struct cfg c;
	struct profiles p;
	profile_entries entries;
	bool insecure;
};

bool gate_cfg_wanted(const struct ir_policy *p)
{
	return profiles_wanted(p);
}

bool gate_cfg_decrypts(const struct ir_policy *p)
{
	if (!profiles_wanted(p))
		return false;
	if (p->credentials.n)
		return true;
	vec_each(g, &p->allow)
		if (profiles_decrypts(p, g))
			return true;
	vec_each(d, &p->deny)
		if (d->from.layer != LAYER_FLOOR && profiles_denies_inside(d))
			return true;
	return false;
}

/* --- global -------------------------------------------------------------- */

static void put_global(struct cfg *c)
{
	buf_adds(c->out, "global\n");
	cfg_line(c, "log /run/gate/log.sock len 8192 format raw local0");
	cfg_line(c, "stats socket /run/gate/admin.sock mode 666 level admin");
	cfg_line(c, "unix-bind mode 666");
	cfg_line(c, "uid 64100");
	cfg_line(c, "gid 64100");
	cfg_line(c, "# The gate opens these ports and hands them over; this "
		    "is for a look without it.");
	cfg_line(c, "presetenv MEMBRANE_RAW4 0.0.0.0:15001");
	cfg_line(c, "presetenv MEMBRANE_RAW6 [::]:15001");
	cfg_line(c, "presetenv MEMBRANE_HTTP4 0.0.0.0:15002");
	cfg_line(c, "presetenv MEMBRANE_HTTP6 [::]:15002");
	cfg_line(c, "lua-load-per-thread /plan/gate.lua");
	cfg_line(c, "# Each connection that is decrypted counts twice.");
	cfg_line(c, "maxconn 8000");
	cfg_line(c, "tune.bufsize 32768");
	cfg_line(c, "tune.maxrewrite 4096");
	cfg_line(c, "tune.h2.initial-window-size 1048576");
	cfg_line(c, "tune.ssl.default-dh-param 2048");
	cfg_line(c, "ssl-default-bind-options ssl-min-ver TLSv1.2");
	cfg_line(c, "ssl-default-server-options ssl-min-ver TLSv1.2");
	cfg_section(c, "defaults");
	cfg_line(c, "log global");
	cfg_line(c, "retries 0");
	cfg_line(c, "http-reuse always");
	cfg_line(c, "timeout connect 10s");
	cfg_line(c, "timeout client 15m");
	cfg_line(c, "timeout server 15m");
	cfg_line(c, "timeout tunnel 24h");
	cfg_line(c, "timeout http-request 30s");
	cfg_line(c, "timeout http-keep-alive 5m");
	cfg_line(c, "timeout client-fin 30s");
	cfg_line(c, "timeout server-fin 30s");
}

/* --- which profiles a name or an address has ----------------------------- */

static bool any_entry(struct gate *g, bool (*is)(struct str))
{
	vec_each(e, &g->entries)
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

/* Whether one of the "**." patterns has so many labels behind that. */
static bool any_deep(struct gate *g, uint32_t n)
{
	vec_each(e, &g->entries)
		if (profiles_deep(e->name) && labels(e->name) == n + 1)
			return true;
	return false;
}

static struct str any_tokens(struct gate *g)
{
	struct buf b;

	buf_init(&b, g->in->a);
	buf_addc(&b, '.');
	vec_each(e, &g->entries)
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

/* rule: "tcp-request content"; s: the scope of variables. */
static void put_lookup(struct gate *g, const char *rule, const char *s)
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
	for (uint32_t n = 1; n < 128; n++) {
		if (!any_deep(g, n))
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
	vec_each(e, &g->entries) {
		if (!e->name.n || !is_other(e->name))
			continue;
		buf_addf(c->out,
			 "    %s set-var(%s.p) var(%s.p),concat(.%.*s.) if { "
			 "var(%s.name) -m reg --",
			 rule, s, s, STR_ARG(e->token), s);
		cfg_name_regex(c, e->name, (struct span){0});
		buf_adds(c->out, " }\n");
	}
	cfg_line(c, "%s set-var(%s.a) dst,map_ip(/plan/addr.map,.)", rule, s);
	cfg_line(c, "%s set-var(%s.k) dst", rule, s);
	cfg_line(c, "%s set-var(%s.k) var(%s.name),concat(@,%s.k)", rule, s, s,
		 s);
	cfg_line(c, "%s set-var(%s.pin) var(%s.k),map_str(/plan/pins.map)",
		 rule, s, s);
	cfg_line(c, "%s set-var(%s.vouched) str(1) if pinned", rule, s);
	cfg_line(c, "%s set-var(%s.vouched) str(1) if !private", rule, s);
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

static void put_acls(struct gate *g, const char *s)
{
	struct cfg *c = &g->c;
	const struct addr_special *special;
	struct cidr net;
	char text[CIDR_TEXT_MAX];
	bool is_tls = s[0] == 's'; /* before it is decrypted */

	for (size_t i = 0; (special = addr_special(i)); i++) {
		/* HAProxy looks up IPv4 addresses as mapped ones, too. */
		if (strncmp(special->text, "::ffff:", 7) == 0)
			continue;
		cidr_parse(str_of(special->text), &net);
		cfg_line(c, "acl private dst %s", cidr_text(&net, text));
	}
	for (size_t at = 0; addr_private_next(&at, &net);)
		cfg_line(c, "acl private dst %s", cidr_text(&net, text));
	if (any_scheme(&g->p.allow) || any_scheme(&g->p.deny)) {
		cfg_line(c, "acl tls %s", is_tls ? "always_true" : "ssl_fc");
		cfg_line(c, "acl clear %s",
			 is_tls ? "always_false" : "ssl_fc,not");
	}
	cfg_line(c, "acl pinned var(%s.pin) -m found", s);
	cfg_line(c, "acl vouched var(%s.vouched) -m found", s);
	vec_each(x, &g->p.allow)
		put_acl(g, x, s);
	vec_each(x, &g->p.deny)
		put_acl(g, x, s);
}

/* " n3" and " p3" */
static void put_on_port(struct gate *g, const struct profile *x)
{
	buf_addf(g->c.out, " n%.*s", STR_ARG(x->token));
	if (!all_ports(x))
		buf_addf(g->c.out, " p%.*s", STR_ARG(x->token));
}

/* The same, and the scheme. */
static void put_aimed(struct gate *g, const struct profile *x)
{
	put_on_port(g, x);
	if (!x->tls || !x->clear)
		buf_adds(g->c.out, x->tls ? " tls" : " clear");
}

/* Everything about a connection that a grant asks for. */
static void put_reached(struct gate *g, const struct profile *x)
{
	put_aimed(g, x);
	if (x->who == PROFILE_ADDR)
		return;
	if (!x->private)
		buf_adds(g->c.out, " !private");
	if (x->who == PROFILE_NAME)
		buf_adds(g->c.out, " pinned");
	else if (x->private)
		buf_adds(g->c.out, " vouched");
}

static void put_reason(struct gate *g, const char *rule, const char *s,
		       const char *reason)
{
	buf_addf(g->c.out, "    %s set-var(%s.reason) str(%s) if", rule, s,
		 reason);
}

/* Why a name is not reached, the telling ones last: decide.c has the order. */
static void put_misses(struct gate *g, const char *rule, const char *s)
{
	struct buf *out = g->c.out;

	cfg_line(&g->c, "%s set-var(%s.reason) str(no-grant)", rule, s);
	vec_each(x, &g->p.allow) {
		put_reason(g, rule, s, "port");
		buf_addf(out, " n%.*s\n", STR_ARG(x->token));
	}
	vec_each(x, &g->p.allow) {
		if (x->tls && x->clear)
			continue;
		put_reason(g, rule, s, "scheme");
		put_on_port(g, x);
		buf_addc(out, '\n');
	}
	vec_each(x, &g->p.allow) {
		if (x->who == PROFILE_ADDR || x->private)
			continue;
		put_reason(g, rule, s, "private-address");
		put_aimed(g, x);
		buf_adds(out, " private\n");
	}
	vec_each(x, &g->p.allow) {
		if (x->who == PROFILE_ADDR ||
		    (x->who == PROFILE_ANY && !x->private))
			continue;
		put_reason(g, rule, s, "not-resolved");
		put_aimed(g, x);
		buf_adds(out, x->private ? "" : " !private");
		buf_adds(out, x->who == PROFILE_NAME ? " !pinned\n"
						     : " !vouched\n");
	}
}

/* --- the edge: first bytes ------------------------------------------------ */

/* Of a token, RFC 9110, but for the quote; \x25 is a percent sign. */
#define TOK "!#$\\x25&*+.^_`|~0-9A-Za-z-"
/* Enough is there to say what it is. */
#define DECIDED                                                                \
	"^([^\\r\\n" TOK "]|[\\r\\n]*[" TOK "]+([^ \\t" TOK "]|[ \\t][^\\r\\n]*"   \
	"[\\r\\n]))"
#define LIKE_HTTP                                                              \
	"^[\\r\\n]*([" TOK "]+[ \\t][^\\r\\n]*[ \\t]HTTP/|(GET|HEAD|POST|PUT|"  \
	"DELETE|OPTIONS|PATCH|CONNECT|TRACE|PRI)[ \\t])"

static void put_conn_log(struct cfg *c)
{
	cfg_line(c,
		 "log-format '{\"k\":\"conn\",\"ms\":%%[date(0,ms)],"
		 "\"verdict\":\"%%[var(sess.verdict)]\","
		 "\"reason\":\"%%[var(sess.reason)]\","
		 "\"rule\":\"%%[var(sess.rule)]\","
		 "\"proto\":\"%%[var(sess.proto)]\","
		 "\"addr\":\"%%[dst]\",\"port\":%%[dst_port],"
		 "\"up\":%%U,\"down\":%%B,\"end\":\"%%ts\","
		 "\"name\":\"%%[var(sess.name),bytes(0,300),json(utf8s)]\"}'");
}

static void put_edge(struct cfg *c, bool raw)
{
	const char *t = "tcp-request content";

	cfg_section(c, raw ? "# other protocols may pass"
			   : "# only HTTP and TLS may pass");
	buf_addf(c->out, "frontend %s\n", raw ? "raw" : "strict");
	cfg_line(c, "mode tcp");
	cfg_line(c, "maxconn 3900");
	cfg_line(c, "bind \"${MEMBRANE_%s4}\"", raw ? "RAW" : "HTTP");
	cfg_line(c, "bind \"${MEMBRANE_%s6}\" v6only", raw ? "RAW" : "HTTP");
	put_conn_log(c);
	cfg_line(c, "tcp-request inspect-delay %s", raw ? "200ms" : "5s");
	cfg_line(c, "tcp-request session set-var(sess.verdict) str(deny)");
	cfg_line(c, "tcp-request session set-var(sess.reason) str(%s)",
		 raw ? "bad-request" : "not-http");
	cfg_line(c, "tcp-request session set-var(sess.rule) str(-)");
	cfg_line(c, "tcp-request session set-var(sess.proto) str(none)");
	cfg_line(c, "%s reject if { dst 127.0.0.0/8 192.0.0.0/29 0.0.0.0/32 "
		    "::1 :: fd00:6d65:6d62::/64 }", t);
	/* An ACL on the payload waits, set-var does not. A text ends at a NUL
	 * for HAProxy: a message that has one is no text. */
	cfg_line(c, "acl decided req.payload(0,0) -m reg '" DECIDED "'");
	cfg_line(c, "acl decided req.payload(0,0),bytes(0,256),hex -m reg "
		    "'^(..)*00'");
	cfg_line(c, "%s set-var(sess.done) str(1) if decided", t);
	cfg_line(c, "%s set-var(sess.head) req.payload(0,0)", t);
	cfg_line(c, "%s set-var(sess.proto) str(raw) if { var(sess.done) -m "
		    "found }", t);
	cfg_line(c, "%s set-var(sess.proto) str(tls) if { var(sess.head) -m "
		    "reg '^\\x16' }", t);
	cfg_line(c, "%s set-var(sess.proto) str(http) if { var(sess.head) -m "
		    "reg '" LIKE_HTTP "' }", t);
	/* A hello of SSLv2's form names nobody, and servers still take it. */
	cfg_line(c, "%s set-var(sess.proto) str(old) if { "
		    "var(sess.head),bytes(0,4),hex -m reg "
		    "'^[89A-F]...01(00|03)' }", t);
	cfg_line(c, "%s unset-var(sess.head)", t);
	if (raw) {
		cfg_line(c, "%s set-var(sess.reason) str(bad-hello) if { "
			    "var(sess.proto) -m str old }", t);
		cfg_line(c, "%s reject if { var(sess.proto) -m str old }", t);
		cfg_line(c, "%s set-var(sess.reason) str(granted) if { "
			    "var(sess.proto) -m str raw none }", t);
		cfg_line(c, "%s set-var(sess.verdict) str(allow) if { "
			    "var(sess.proto) -m str raw none }", t);
	} else {
		cfg_line(c, "%s reject unless { var(sess.proto) -m str tls "
			    "http }", t);
	}
	cfg_line(c, "%s set-var(sess.verdict) str(l7) if { var(sess.proto) -m "
		    "str http }", t);
	cfg_line(c, "use_backend tls if { var(sess.proto) -m str tls }");
	cfg_line(c, "use_backend plain if { var(sess.proto) -m str http }");
	if (raw) {
		cfg_line(c, "use_backend silent if { var(sess.proto) -m str "
			    "none }");
		cfg_line(c, "use_backend direct if { var(sess.proto) -m str "
			    "raw }");
	}
	cfg_line(c, "default_backend nowhere");
}

static void put_hops(struct cfg *c)
{
	cfg_section(c, "backend nowhere");
	cfg_line(c, "mode tcp");
	cfg_section(c, "backend direct");
	cfg_line(c, "mode tcp");
	cfg_line(c, "server origin 0.0.0.0");
	cfg_section(c, "# nobody spoke: when the client is the first to, its "
		       "bytes are looked at after all");
	buf_adds(c->out, "backend silent\n");
	cfg_line(c, "mode tcp");
	cfg_line(c, "filter lua.late");
	cfg_line(c, "server origin 0.0.0.0");
	cfg_section(c, "backend plain");
	cfg_line(c, "mode tcp");
	cfg_line(c, "server l7 unix@/run/gate/l7plain.sock send-proxy-v2");
}

/* --- TLS: whom the client calls ------------------------------------------- */

static void put_credential_acls(struct gate *g, const char *s)
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

static void put_splice(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";
	uint32_t n = 0;

	vec_each(x, &g->p.allow) {
		buf_addf(c->out, "    %s set-var(sess.rule) str(%.*s) if", t,
			 STR_ARG(x->token));
		put_reached(g, x);
		buf_addc(c->out, '\n');
	}
	cfg_line(c, "%s set-var(sess.reason) str(granted) unless { "
		    "var(sess.rule) -m str -- - }", t);
	vec_each(x, &g->p.deny) {
		if (x->http)
			continue;
		put_reason(g, t, "sess", "denied");
		put_aimed(g, x);
		buf_addf(c->out, "\n    %s set-var(sess.rule) str(%.*s) if", t,
			 STR_ARG(x->token));
		put_aimed(g, x);
		buf_addc(c->out, '\n');
	}
	cfg_line(c, "%s reject unless { var(sess.reason) -m str granted }", t);
	vec_each(x, &g->p.allow) {
		if (!x->bump)
			continue;
		buf_addf(c->out, "    %s set-var(sess.bump) str(1) if", t);
		put_reached(g, x);
		buf_addc(c->out, '\n');
	}
	vec_each(x, &g->p.deny) {
		if (!x->http || !x->tls)
			continue;
		buf_addf(c->out, "    %s set-var(sess.bump) str(1) if", t);
		put_aimed(g, x);
		buf_addc(c->out, '\n');
	}
	vec_each(x, &g->in->policy->credentials) {
		(void)x;
		n++;
		cfg_line(c, "%s set-var(sess.bump) str(1) if nc%u pc%u", t, n,
			 n);
	}
}

static void put_tls(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";

	cfg_section(c, "# TLS: one record, one hello, one name");
	buf_adds(c->out, "backend tls\n");
	cfg_line(c, "mode tcp");
	cfg_line(c, "tcp-request inspect-delay 5s");
	put_acls(g, "sess");
	put_credential_acls(g, "sess");
	cfg_line(c, "acl bump var(sess.bump) -m found");
	cfg_line(c, "%s set-var(sess.reason) str(bad-hello)", t);
	cfg_line(c, "%s reject unless { req.ssl_hello_type 1 }", t);
	/* This waits for the whole of it; what it says is not used. */
	cfg_line(c, "%s set-var(sess.k) str(-) if { req.ssl_sni -m found }", t);
	cfg_line(c, "%s lua.hello", t);
	cfg_line(c, "%s reject unless { var(sess.reason) -m str -- - }", t);
	put_lookup(g, t, "sess");
	put_misses(g, t, "sess");
	put_splice(g);
	cfg_line(c, "%s set-var(sess.reason) str(ech) if !bump { var(sess.ech) "
		    "-m found }", t);
	cfg_line(c, "%s reject if !bump { var(sess.ech) -m found }", t);
	cfg_line(c, "%s set-var(sess.verdict) str(allow)", t);
	if (!g->p.any_bump) {
		cfg_line(c, "server origin 0.0.0.0");
		return;
	}
	cfg_line(c, "%s set-var(sess.verdict) str(l7) if bump", t);
	cfg_line(c, "%s lua.leaf if bump !{ var(sess.p) -m sub .m. }", t);
	cfg_line(c, "use-server l7 if bump");
	cfg_line(c, "use-server origin unless bump");
	cfg_line(c, "server origin 0.0.0.0");
	cfg_line(c, "server l7 unix@/run/gate/l7tls.sock send-proxy-v2");
}

/* --- requests ------------------------------------------------------------- */

static void put_request_log(struct cfg *c)
{
	cfg_line(c,
		 "log-format '{\"k\":\"req\",\"ms\":%%[date(0,ms)],"
		 "\"reason\":\"%%[var(txn.reason)]\","
		 "\"rule\":\"%%[var(txn.rule)]\",\"status\":%%ST,"
		 "\"tls\":%%[ssl_fc],\"h\":%%[fc_http_major],"
		 "\"addr\":\"%%[dst]\",\"port\":%%[dst_port],"
		 "\"up\":%%U,\"down\":%%B,\"end\":\"%%ts\","
		 "\"err\":\"%%[bc_err_str,json(utf8s)]\","
		 "\"tlserr\":\"%%[ssl_bc_err_str,json(utf8s)]\","
		 "\"name\":\"%%[var(txn.name),bytes(0,300),json(utf8s)]\","
		 "\"sni\":\"%%[ssl_fc_sni,bytes(0,300),json(utf8s)]\","
		 "\"method\":\"%%[var(txn.method),bytes(0,40),json(utf8s)]\","
		 "\"path\":\"%%[var(txn.path),bytes(0,800),json(utf8s)]\"}'");
	cfg_line(c,
		 "error-log-format '{\"k\":\"req\",\"ms\":%%[date(0,ms)],"
		 "\"reason\":\"-\",\"rule\":\"-\",\"status\":%%ST,"
		 "\"tls\":%%[ssl_fc],\"addr\":\"%%[dst]\","
		 "\"port\":%%[dst_port],"
		 "\"name\":\"%%[ssl_fc_sni,bytes(0,300),json(utf8s)]\","
		 "\"err\":\"%%[ssl_fc_err_str,json(utf8s)]\"}'");
}

#define LABEL "[a-z0-9_]([a-z0-9_-]{0,62})"
#define H     "http-request"

static void put_shape(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_line(c, H " set-var(txn.bad) str(bad-request) unless { req.ver 1.0 "
		      "1.1 2.0 }");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) if { req.ver 1.0 } { "
		      "req.hdr(transfer-encoding) -m found }");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) unless { "
		      "req.hdr_cnt(host) eq 1 }");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) unless { "
		      "var(txn.name) -m reg '^(" LABEL "([.]" LABEL
		      ")*|\\[[0-9a-f:.]+\\])\\z' }");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) if { req.hdrs -m reg "
		      "'\\x00' }");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) if { "
		      "req.hdr(connection),lower -m reg "
		      "'^(?!(close|keep-alive|upgrade|te|http2-settings)?\\z)' "
		      "}");
	cfg_line(c, H " set-var(txn.bad) str(bad-request) if { fc_http_major 1 "
		      "} { url -m reg '^[A-Za-z][A-Za-z0-9+.-]*:' }");
	cfg_line(c, "# an offer of h2c is taken off, any other upgrade but a "
		    "websocket refused");
	cfg_line(c, H " del-header http2-settings");
	cfg_line(c, H " del-header connection if { req.hdr(upgrade),lower -m "
		      "str h2c }");
	cfg_line(c, H " del-header upgrade if { req.hdr(upgrade),lower -m str "
		      "h2c }");
	cfg_line(c, H " set-var(txn.bad) str(upgrade) if { req.fhdr(upgrade) -m "
		      "found } !{ req.fhdr(upgrade),lower -m str websocket }");
	cfg_line(c, H " set-var(txn.bad) str(upgrade) if { "
		      "req.fhdr_cnt(upgrade) gt 1 }");
	cfg_line(c, H " set-var(txn.bad) str(method) if METH_CONNECT");
	cfg_line(c, H " set-var(txn.bad) str(name-mismatch) if { ssl_fc } !{ "
		      "ssl_fc_sni,lower,strcmp(txn.name) eq 0 }");
	cfg_line(c, H " set-var(txn.bad) str(name-mismatch) if { var(txn.hport) "
		      "-m int gt 0 } !{ var(txn.hport),sub(txn.dport) eq 0 }");
}

static void put_canonical(struct gate *g)
{
	struct cfg *c = &g->c;
	const profile_list *lists[] = {&g->p.allow, &g->p.deny};

	for (int i = 0; i < 2; i++)
		vec_each(x, lists[i]) {
			if (!x->http ||
			    !http_has_paths(g->in->a, x->like))
				continue;
			buf_adds(c->out, "    " H
					 " set-var(txn.paths) str(1) if");
			put_aimed(g, x);
			buf_addc(c->out, '\n');
		}
	cfg_line(c, "acl paths var(txn.paths) -m found");
	cfg_line(c, H " set-var(txn.crooked) str(1) unless { var(txn.path) -m "
		      "beg / }");
	cfg_line(c, H " set-var(txn.crooked) str(1) if { var(txn.path) -m reg "
		      "'[\\x00-\\x20\\x7f-\\xff\\\\#]|//|/[.]{1,2}(;[^/]*)?(/|"
		      "\\z)|%%(?![0-9A-F]{2})|%%(2[DEF5]|5[CF]|7[EF0-9A]|"
		      "[01][0-9A-F]|3[0-9]|[46][1-9A-F]|5[0-9A])' }");
	cfg_line(c, H " set-var(txn.crooked) str(1) if { url -m sub '#' }");
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
			cfg_word(c,
				 arena_fmt(c->a, "%.*s/", STR_ARG(p->s)),
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

	vec_each(x, &g->p.allow) {
		struct http_rules r = http_rules(g->in->a, x->like);

		for (uint32_t i = 0; i < r.n; i++) {
			*vec_push(g->in->a, &rules) =
				(struct rule_at){x, &r.v[i], i + 1};
			put_rule_acls(g, x, i + 1, &r.v[i], false);
		}
	}
	vec_each(x, &g->p.allow) {
		if (!x->http)
			continue;
		put_reason(g, H, "txn", "method");
		put_reached(g, x);
		buf_addc(c->out, '\n');
	}
	vec_each(r, &rules) {
		if (http_any_path(&r->x->like->dest, r->h))
			continue;
		put_reason(g, H, "txn", "path");
		put_reached(g, r->x);
		if (!r->h->any_method)
			buf_addf(c->out, " m%.*s_%u", STR_ARG(r->x->token),
				 r->i);
		buf_addc(c->out, '\n');
	}
	vec_each(r, &rules) {
		buf_addf(c->out, "    " H " set-var(txn.rule) str(%.*s) if",
			 STR_ARG(r->x->token));
		put_reached(g, r->x);
		put_rule(g, r);
		buf_addc(c->out, '\n');
	}
	cfg_line(c, H " set-var(txn.reason) str(granted) unless { "
		      "var(txn.rule) -m str -- - }");
}

static void put_denied(struct gate *g)
{
	struct cfg *c = &g->c;

	vec_each(x, &g->p.deny) {
		struct http_rules rules =
			http_rules(g->in->a, x->like);

		for (uint32_t i = 0; i < rules.n; i++) {
			struct rule_at r = {x, &rules.v[i], i + 1};

			put_rule_acls(g, x, i + 1, &rules.v[i], true);
			put_reason(g, H, "txn", "denied");
			put_aimed(g, x);
			put_rule(g, &r);
			buf_addf(c->out,
				 "\n    " H " set-var(txn.rule) str(%.*s) if",
				 STR_ARG(x->token));
			put_aimed(g, x);
			put_rule(g, &r);
			buf_addc(c->out, '\n');
		}
	}
}

#define WHERE                                                                  \
	"%[var(txn.method),json(utf8s)] %[var(txn.scheme)]://"                 \
	"%[var(txn.name),json(utf8s)]:%[dst_port]"                             \
	"%[var(txn.shown)]"

static void put_answers(struct cfg *c)
{
	static const char *const statuses[] = {"421", "403"};

	cfg_line(c, H " set-var(txn.reason) var(txn.bad) if { var(txn.bad) -m "
		      "found }");
	cfg_line(c, H " set-var(txn.rule) str(-) if { var(txn.bad) -m found }");
	cfg_line(c, "acl granted var(txn.reason) -m str granted");
	cfg_line(c, "acl mismatch var(txn.reason) -m str name-mismatch");
	cfg_line(c, "acl json req.hdr(accept) -m sub application/json");
	cfg_line(c, H " set-var(txn.scheme) str(http)");
	cfg_line(c, H " set-var(txn.scheme) str(https) if { ssl_fc }");
	cfg_line(c, H " set-var(txn.fix) str()");
	buf_adds(c->out, "    " H " set-var-fmt(txn.fix) "
		"'{dest: \"%[var(txn.name),json(utf8s)]:%[dst_port]\", http: "
		"[{methods: [\"%[var(txn.method),bytes(0,40),json(utf8s)]\"], "
		"paths: [\"%[var(txn.shown)]\"]}]}' if "
		"{ var(txn.reason) -m str no-grant port scheme method path } "
		"!{ var(txn.bad) -m found }\n");
	for (int i = 0; i < 2; i++) {
		const char *when = i ? "!granted" : "mismatch";

		buf_addf(c->out, "    " H " return status %s content-type "
			"application/json lf-string '{\"error\":\"refused\","
			"\"by\":\"membrane\",", statuses[i]);
		buf_adds(c->out,
			"\"method\":\"%[var(txn.method),bytes(0,40),"
			"json(utf8s)]\","
			"\"host\":\"%[var(txn.name),json(utf8s)]\","
			"\"port\":%[dst_port],"
			"\"path\":\"%[var(txn.shown)]\","
			"\"reason\":\"%[var(txn.reason)]\","
			"\"allow\":\"%[var(txn.fix),json(utf8s)]\"}'");
		buf_addf(c->out, " if %s json\n", when);
		buf_addf(c->out, "    " H " return status %s content-type "
			"text/plain lf-string \"membrane refused ", statuses[i]);
		buf_adds(c->out, WHERE ": %[var(txn.reason)]\\n\"");
		buf_addf(c->out, " if %s !{ var(txn.fix) -m len gt 0 }\n",
			 when);
		buf_addf(c->out, "    " H " return status %s content-type "
			"text/plain lf-string \"membrane refused ", statuses[i]);
		buf_adds(c->out, WHERE ": %[var(txn.reason)]\\n"
			"to allow it, add under 'allow':\\n"
			"  - %[var(txn.fix)]\\n\"");
		buf_addf(c->out, " if %s\n", when);
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
			cfg_format(c,
				   str_slice(x->format, at + 2, x->format.n),
				   x->from.at);
		buf_addf(c->out, "' if { ssl_fc } nc%u pc%u\n", n, n);
	}
}

static void put_requests(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_section(c, "# requests, decrypted or in the clear");
	buf_adds(c->out, "frontend l7\n");
	cfg_line(c, "mode http");
	if (g->p.any_bump)
		cfg_line(c, "bind unix@/run/gate/l7tls.sock accept-proxy ssl "
			    "crt-list /plan/crt.lst strict-sni alpn "
			    "h2,http/1.1");
	cfg_line(c, "bind unix@/run/gate/l7plain.sock accept-proxy");
	put_request_log(c);
	put_acls(g, "txn");
	put_credential_acls(g, "txn");
	cfg_line(c, H " set-var(txn.reason) str(-)");
	cfg_line(c, H " set-var(txn.rule) str(-)");
	cfg_line(c, H " set-var(txn.dport) dst_port");
	/* Not set-var: a variable of a method it does not know is another. */
	cfg_line(c, H " set-var-fmt(txn.method) %%[method]");
	cfg_line(c, H " set-var(txn.path) path");
	cfg_line(c, H " set-var(txn.slashed) path,concat(/)");
	cfg_line(c, H " set-var(txn.shown) path,bytes(0,800),json(utf8s),"
		      "regsub('\\\\\\\\/','/',g)");
	cfg_line(c, H " set-var(txn.name) req.hdr(host),host_only,lower,"
		      "regsub([.]$,)");
	cfg_line(c, H " set-var(txn.hport) req.hdr(host),port_only");
	put_lookup(g, H, "txn");
	put_shape(g);
	put_canonical(g);
	put_misses(g, H, "txn");
	put_allowed(g);
	put_denied(g);
	put_answers(c);
	put_credentials(g);
	cfg_line(c, "http-response del-header alt-svc");
	cfg_line(c, "use_backend origin_tls if { ssl_fc }");
	cfg_line(c, "use_backend origin_h2c if { fc_http_major 2 }");
	cfg_line(c, "default_backend origin");
}

static void put_failures(struct cfg *c)
{
	static const struct {
		const char *status, *text;
	} all[] = {
		{"502", "broke off or answered nonsense"},
		{"503", "cannot be reached or its certificate is not good"},
		{"504", "did not answer in time"},
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		cfg_line(c,
			 "http-error status %s content-type text/plain "
			 "lf-string \"membrane: %%[var(txn.name),json(utf8s)]:"
			 "%%[dst_port] (%%[dst]) %s: upstream "
			 "%%[bc_err_str] %%[ssl_bc_err_str]\\n\"",
			 all[i].status, all[i].text);
}

static void put_origins(struct gate *g)
{
	struct cfg *c = &g->c;

	cfg_section(c, "backend origin");
	cfg_line(c, "mode http");
	put_failures(c);
	cfg_line(c, "server origin 0.0.0.0");
	cfg_section(c, "backend origin_h2c");
	cfg_line(c, "mode http");
	put_failures(c);
	cfg_line(c, "server origin 0.0.0.0 proto h2");
	cfg_section(c, "backend origin_tls");
	cfg_line(c, "mode http");
	put_failures(c);
	if (g->insecure)
		cfg_line(c, "# ssl_insecure: whoever answers is believed");
	cfg_line(c,
		 "server origin 0.0.0.0 ssl %s sni ssl_fc_sni alpn "
		 "h2,http/1.1",
		 g->insecure ? "verify none"
			     : "verify required ca-file "
			       "/etc/ssl/certs/ca-certificates.crt");
}

bool gate_cfg_emit(const struct emit_in *in, struct buf *out)
{
	struct gate g = {.in = in,
			 .c = {in->a, in->diags, out, true},
			 .insecure = in->policy->ssl_insecure.set &&
				     in->policy->ssl_insecure.v};

	if (!profiles_make(in, &g.p))
		return false;
	g.entries = profiles_entries(in, &g.p);
	put_global(&g.c);
	put_edge(&g.c, true);
	put_edge(&g.c, false);
	put_hops(&g.c);
	put_tls(&g);
	put_requests(&g);
	put_origins(&g);
	return g.c.ok;
}
