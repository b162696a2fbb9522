#include "compiler/emit/gate_marks.h"

/* --- the edge: first bytes ------------------------------------------------ */

/*
 * A request's first line as the most lenient of servers reads it (RFC 9112, 3):
 * empty ones and blanks in front, any of SP, HTAB, VT, FF and CR between words,
 * LF at the end. \x25 is a percent sign, \x27 a quote.
 */
#define TOK   "!#$\\x25&\\x27*+.^_`|~0-9A-Za-z-"
#define BLANK " \\t\\x0b\\x0c\\r"
#define BEGIN "^[\\n" BLANK "]*"
/* How records of TLS and SSLv2 begin, and little else: not with one byte. */
#define TLS "\\x14\\x15\\x17\\x18\\x80-\\xff"
/* Enough is there to say what it is. */
#define DECIDED                                                                \
	BEGIN "([^\\n" BLANK TOK TLS "]|[" TOK "]+([^" BLANK TOK "]|[" BLANK   \
	      "][^\\n]*\\n))"
#define LIKE_HTTP                                                              \
	BEGIN "([" TOK "]+[" BLANK "][^\\n]*[" BLANK                           \
	      "](?i:HTTP)/"                                                    \
	      "|(GET|HEAD|POST|PUT|DELETE|OPTIONS|PATCH|CONNECT|TRACE|"        \
	      "PRI)([ \\t\\x0b\\x0c]|\\r[^\\n]))"

/* The same in hexadecimal: a NUL may stand in the target, nowhere else. */
#define HEX_TOK	   "(2[13-7ABDE]|3[0-9]|4[1-9A-F]|5[0-9AEF]|6[0-9A-F]|7[0-9ACE])"
#define HEX_BEGIN  "^(0[9A-D]|20)*"
#define HEX_BLANK  "(20|09|0[B-D])"
#define HEX_TARGET HEX_TOK "+" HEX_BLANK "((?!0A)..)*"
#define HEX_TLS	   "1[4578](0[^3]|[^0].)|[89A-F].(..){3}"
#define HEX_DECIDED                                                            \
	"^(" HEX_TLS "|(0[9A-D]|20)*(00|" HEX_TOK "+00|" HEX_TARGET "0A))"
#define HEX_HTTP HEX_BEGIN HEX_TARGET HEX_BLANK "[46]8([57]4){2}[57]02F"

enum edge {
	EDGE_RAW,     /* other protocols may pass, and servers speak first */
	EDGE_PATIENT, /* the same, where they hardly ever do */
	EDGE_STRICT,  /* only HTTP and TLS may pass */
	EDGES
};

static const struct {
	const char *about, *name, *bind, *wait;
	unsigned connections;
} edges[EDGES] = {
	[EDGE_RAW] = {"# other protocols may pass", "raw", "RAW", "200ms",
		      1900},
	[EDGE_PATIENT] = {"# ports on which the client speaks, be it late",
			  "patient", NULL, "5s", 300},
	[EDGE_STRICT] = {"# only HTTP and TLS may pass", "strict", "HTTP", "5s",
			 1900},
};

static void put_conn_log(struct cfg *c)
{
	cfg_line(c,
		 "log-format '{\"k\":\"conn\","
		 "\"verdict\":\"%%[var(sess.verdict)]\","
		 "\"reason\":\"%%[var(sess.reason)]\","
		 "\"rule\":\"%%[var(sess.rule)]\","
		 "\"proto\":\"%%[var(sess.proto)]\","
		 "\"addr\":\"%%[dst]\",\"port\":%%[dst_port],\"sport\":%%cp,"
		 "\"up\":%%U,\"down\":%%B,\"end\":\"%%ts\","
		 "\"name\":\"%%[var(sess.name),bytes(0,300),json(utf8s)]\"}'");
}

static void put_bind(struct cfg *c, enum edge e)
{
	if (edges[e].bind) {
		cfg_line(c, "bind \"${MEMBRANE_%s4}\"", edges[e].bind);
		cfg_line(c, "bind \"${MEMBRANE_%s6}\" v6only", edges[e].bind);
	} else {
		cfg_line(c, "bind unix@/run/gate/patient.sock accept-proxy");
	}
}

/* What the first bytes are: sess.proto, "none" where there are too few. */
static void put_sniff(struct cfg *c)
{
	const char *t = "tcp-request content";

	/* An ACL on the payload waits, set-var does not. A text ends at a NUL
	 * for HAProxy: what has one is looked at in hexadecimal. */
	cfg_line(c, "acl decided req.payload(0,0) -m reg '" DECIDED "'");
	cfg_line(c, "acl decided req.payload(0,0),bytes(0,256),hex -m reg "
		    "'" HEX_DECIDED "'");
	/* Some servers take an alert before the hello, and read on. */
	cfg_line(c, "acl decided req.payload(0,0) -m reg "
		    "'^[\\x14\\x15\\x17\\x18]\\x03'");
	cfg_line(c, "%s set-var(sess.done) str(1) if decided", t);
	cfg_line(c, "%s set-var(sess.head) req.payload(0,0)", t);
	cfg_line(c,
		 "%s set-var(sess.proto) str(raw) if { var(sess.done) -m "
		 "found }",
		 t);
	cfg_line(c,
		 "%s set-var(sess.proto) str(tls) if { var(sess.head) -m "
		 "reg '^(\\x16|[\\x14\\x15\\x17\\x18]\\x03)' }",
		 t);
	cfg_line(c,
		 "%s set-var(sess.proto) str(http) if { var(sess.head) -m "
		 "reg '" LIKE_HTTP "' }",
		 t);
	cfg_line(c,
		 "%s set-var(sess.proto) str(http) if { "
		 "var(sess.head),bytes(0,256),hex -m reg '" HEX_HTTP "' }",
		 t);
	/* A hello of SSLv2's form names nobody, and servers still take it. */
	cfg_line(c,
		 "%s set-var(sess.proto) str(old) if { "
		 "var(sess.head),bytes(0,4),hex -m reg "
		 "'^[89A-F]...01(00|03)' }",
		 t);
	cfg_line(c, "%s unset-var(sess.head)", t);
}

/* What nothing but HTTP and TLS may use. */
static void put_strict(struct gate *g)
{
	gate_marks_all(g, &g->p->allow, true, MARKS_RAW, MARKS_FOR(NOT_HTTP));
	gate_marks_guarded(g, MARKS_RAW, MARKS_FOR(DENIED));
	cfg_line(&g->c,
		 "tcp-request content reject unless { var(sess.proto) -m str "
		 "tls http }");
}

/* Other protocols pass, and so does who says nothing. */
static void put_other(struct gate *g, enum edge e)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";

	cfg_line(c, "acl silent var(sess.proto) -m str none");
	cfg_line(c, "acl other var(sess.proto) -m str raw none");
	cfg_line(c, "acl old var(sess.proto) -m str old");
	cfg_line(c, "%s set-var(sess.reason) str(bad-hello) if old", t);
	cfg_line(c, "%s reject if old", t);
	cfg_line(c, "%s set-var(sess.reason) str(granted) if other", t);
	if (e == EDGE_RAW)
		gate_marks_all(g, &g->p->allow, false, MARKS_RAW,
			       MARKS_FOR(GRANTED));
	cfg_line(c, "%s set-var(sess.verdict) str(allow) if other", t);
}

static void put_edge(struct gate *g, enum edge e)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";

	cfg_section(c, "%s", edges[e].about);
	buf_addf(c->out, "frontend %s\n", edges[e].name);
	cfg_line(c, "mode tcp");
	cfg_line(c, "maxconn %u", edges[e].connections);
	put_bind(c, e);
	put_conn_log(c);
	cfg_line(c, "tcp-request inspect-delay %s", edges[e].wait);
	cfg_line(c, "tcp-request session set-var(sess.verdict) str(deny)");
	cfg_line(c, "tcp-request session set-var(sess.reason) str(%s)",
		 e == EDGE_STRICT ? "not-http" : "bad-request");
	cfg_line(c, "tcp-request session set-var(sess.rule) str(-)");
	cfg_line(c, "tcp-request session set-var(sess.proto) str(none)");
	if (g->p->any_net && e != EDGE_STRICT)
		cfg_line(c, "tcp-request session set-var(sess.loose) str(1)");
	cfg_line(c,
		 "%s reject if { dst 127.0.0.0/8 192.0.0.0/29 0.0.0.0/32 "
		 "::1 :: fd00:6d65:6d62::/64 }",
		 t);
	put_sniff(c);
	if (e == EDGE_STRICT)
		put_strict(g);
	else
		put_other(g, e);
	cfg_line(c,
		 "%s set-var(sess.verdict) str(l7) if { var(sess.proto) -m "
		 "str http }",
		 t);
	if (e == EDGE_RAW) {
		cfg_line(c, "acl web dst_port 80 443 8080 8443");
		cfg_line(c, "%s set-var(sess.verdict) str(l7) if silent web",
			 t);
	}
	cfg_line(c, "use_backend tls if { var(sess.proto) -m str tls }");
	cfg_line(c, "use_backend plain if { var(sess.proto) -m str http }");
	if (e == EDGE_RAW)
		cfg_line(c, "use_backend patient if silent web");
	if (e != EDGE_STRICT) {
		cfg_line(c, "use_backend silent if silent");
		cfg_line(c, "use_backend direct if other");
	}
	cfg_line(c, "default_backend nowhere");
}

static void put_hops(struct cfg *c)
{
	cfg_section(c, "backend nowhere");
	cfg_line(c, "mode tcp");
	cfg_section(c, "# another protocol, unless a request is found in it");
	buf_adds(c->out, "backend direct\n");
	cfg_line(c, "mode tcp");
	cfg_line(c, "filter lua.late");
	cfg_line(c, "server origin 0.0.0.0");
	cfg_section(c, "# nobody spoke: when the client is the first to, its "
		       "bytes are looked at after all");
	buf_adds(c->out, "backend silent\n");
	cfg_line(c, "mode tcp");
	cfg_line(c, "filter lua.late");
	cfg_line(c, "server origin 0.0.0.0");
	cfg_section(c, "backend patient");
	cfg_line(c, "mode tcp");
	cfg_line(c, "server again unix@/run/gate/patient.sock send-proxy-v2");
	cfg_section(c, "backend plain");
	cfg_line(c, "mode tcp");
	cfg_line(c, "server l7 unix@/run/gate/l7plain.sock send-proxy-v2");
}

/* --- TLS: whom the client calls ------------------------------------------- */

static void put_splice(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";

	vec_each(x, &g->p->allow) {
		gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(GRANTED), 0);
		buf_addf(c->out, "    %s set-var(sess.rule) str(%.*s) if", t,
			 STR_ARG(x->token));
		gate_match_reached(g, x);
		buf_addc(c->out, '\n');
	}
	cfg_line(c,
		 "%s set-var(sess.reason) str(granted) unless { "
		 "var(sess.rule) -m str -- - }",
		 t);
	vec_each(x, &g->p->deny) {
		if (x->http)
			continue;
		gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(DENIED), 0);
		gate_match_reason(g, t, "sess", "denied");
		gate_match_aimed(g, x);
		buf_addf(c->out, "\n    %s set-var(sess.rule) str(%.*s) if", t,
			 STR_ARG(x->token));
		gate_match_aimed(g, x);
		buf_addc(c->out, '\n');
	}
	cfg_line(c, "%s reject unless { var(sess.reason) -m str granted }", t);
}

/* Which of them are decrypted. */
static void put_bumps(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";
	uint32_t n = 0;

	vec_each(x, &g->p->allow) {
		if (!x->bump)
			continue;
		buf_addf(c->out, "    %s set-var(sess.bump) str(1) if", t);
		gate_match_reached(g, x);
		buf_addf(c->out, "%s\n", gate_match_unless_net(g));
	}
	vec_each(x, &g->p->deny) {
		if (!x->http || !x->tls)
			continue;
		buf_addf(c->out, "    %s set-var(sess.bump) str(1) if", t);
		gate_match_aimed(g, x);
		buf_addc(c->out, '\n');
	}
	vec_each(x, &g->in->policy->credentials) {
		(void)x;
		n++;
		cfg_line(c, "%s set-var(sess.bump) str(1) if nc%u pc%u%s", t, n,
			 n, gate_match_unless_net(g));
	}
}

/*
 * A hello without a name: only to an address that is granted as such, and not
 * by the way of addresses where a denied name leads.
 */
static void put_nameless(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";

	if (!g->p->any_net) {
		gate_marks_default(g, MARKS_HELLO, MARKS_FOR(NO_SNI));
		cfg_line(c, "%s reject unless { var(sess.reason) -m str -- - }",
			 t);
		gate_match_lookup(g, t, "sess");
		return;
	}
	cfg_line(c, "acl nameless var(sess.name) -m str -- -");
	cfg_line(c,
		 "%s set-var(sess.name) str(-) if { var(sess.reason) -m str "
		 "no-sni } { var(sess.loose) -m found }",
		 t);
	cfg_line(c,
		 "%s reject unless { var(sess.reason) -m str -- - } || "
		 "nameless",
		 t);
	gate_match_lookup(g, t, "sess");
	gate_marks_default(g, MARKS_HELLO, MARKS_FOR(NO_SNI));
	cfg_line(c, "%s reject if nameless !net", t);
}

/* No request behind it is seen, and one that is denied might be. */
static void put_nameless_denied(struct gate *g)
{
	const char *t = "tcp-request content";

	if (!g->p->any_net)
		return;
	vec_each(x, &g->p->deny) {
		if (!x->http || !x->tls || x->who == PROFILE_NAME)
			continue;
		gate_marks_profile(g, x, MARKS_HELLO, MARKS_FOR(NO_SNI), 0);
		gate_match_reason(g, t, "sess", "no-sni");
		buf_adds(g->c.out, " nameless");
		gate_match_aimed(g, x);
		buf_addc(g->c.out, '\n');
	}
	cfg_line(&g->c,
		 "%s reject if nameless { var(sess.reason) -m str no-sni }", t);
}

static void put_tls(struct gate *g)
{
	struct cfg *c = &g->c;
	const char *t = "tcp-request content";

	cfg_section(c, "# TLS: one record, one hello, one name");
	buf_adds(c->out, "backend tls\n");
	cfg_line(c, "mode tcp");
	cfg_line(c, "filter lua.second");
	cfg_line(c, "tcp-request inspect-delay 5s");
	gate_match_acls(g, "sess");
	gate_match_credential_acls(g, "sess");
	cfg_line(c, "acl bump var(sess.bump) -m found");
	cfg_line(c, "%s set-var(sess.reason) str(bad-hello)", t);
	cfg_line(c, "%s reject unless { req.ssl_hello_type 1 }", t);
	/* This waits for the whole of it; what it says is not used. */
	cfg_line(c, "%s set-var(sess.k) str(-) if { req.ssl_sni -m found }", t);
	cfg_line(c, "%s lua.hello", t);
	put_nameless(g);
	gate_match_misses(g, t, "sess");
	put_splice(g);
	put_bumps(g);
	put_nameless_denied(g);
	cfg_line(c,
		 "%s set-var(sess.reason) str(ech) if !bump { var(sess.ech) "
		 "-m found }",
		 t);
	cfg_line(c, "%s reject if !bump { var(sess.ech) -m found }", t);
	cfg_line(c, "%s set-var(sess.verdict) str(allow)", t);
	if (!g->p->any_bump) {
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

void gate_edge_put(struct gate *g)
{
	for (enum edge e = 0; e < EDGES; e++)
		put_edge(g, e);
	put_hops(&g->c);
	put_tls(g);
}
