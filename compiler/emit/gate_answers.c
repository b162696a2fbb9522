#include "compiler/emit/gate_parts.h"

#define H "http-request"

/* The converter writes a slash as "\/": fine in JSON, odd in what people read.
 */
#define QUOTED "json(utf8s),regsub('\\\\\\\\/','/',g)"

/* What both kinds of refusal say of a request, quoted for JSON. */
static void put_said(struct cfg *c)
{
	cfg_line(c, H " set-var(txn.scheme) str(http)");
	cfg_line(c, H " set-var(txn.scheme) str(https) if { ssl_fc }");
	cfg_line(c, H " set-var(txn.verb) var(txn.method),bytes(0,40)," QUOTED);
	cfg_line(c, H " set-var(txn.host) var(txn.name),bytes(0,300)," QUOTED);
	cfg_line(c, H " set-var(txn.shown) path,bytes(0,800)," QUOTED);
}

/* The smallest grant that would do, where one would. */
static void put_fix(struct cfg *c)
{
	buf_adds(c->out,
		 "    " H " set-var-fmt(txn.fix) "
		 "'{dest: \"%[var(txn.host)]:%[dst_port]\", http: "
		 "[{methods: [\"%[var(txn.verb)]\"], "
		 "paths: [\"%[var(txn.shown)]\"]}]}' if "
		 "{ var(txn.reason) -m str no-grant port scheme method path } "
		 "!{ var(txn.bad) -m found }\n");
	cfg_line(c, H " set-var(txn.allow) var(txn.fix)," QUOTED);
}

#define REFUSED                                                                \
	"membrane refused %%[var(txn.verb)] %%[var(txn.scheme)]://"            \
	"%%[var(txn.host)]:%%[dst_port]%%[var(txn.shown)]: "                   \
	"%%[var(txn.reason)]\\n"

/* when: " mismatch", or nothing */
static void put_refusal(struct cfg *c, const char *status, const char *when)
{
	cfg_line(c,
		 H " return status %s content-type application/json lf-string "
		   "'{\"error\":\"refused\",\"by\":\"membrane\","
		   "\"method\":\"%%[var(txn.verb)]\","
		   "\"host\":\"%%[var(txn.host)]\",\"port\":%%[dst_port],"
		   "\"path\":\"%%[var(txn.shown)]\","
		   "\"reason\":\"%%[var(txn.reason)]\","
		   "\"allow\":\"%%[var(txn.allow)]\"}' if json%s",
		 status, when);
	cfg_line(
		c,
		H
		" return status %s content-type text/plain lf-string \"" REFUSED
		"\" if !{ var(txn.fix) -m found }%s",
		status, when);
}

/*
 * What the reader found (runtime/reader/http1.def), said once more: it stands
 * in a header that no client has any business to send.
 */
static void put_refused_unread(struct cfg *c)
{
	cfg_line(c, H " return status 400 content-type application/json "
		      "lf-string '{\"error\":\"refused\",\"by\":\"membrane\","
		      "\"method\":\"%%[var(txn.verb)]\","
		      "\"host\":\"%%[var(txn.host)]\",\"port\":%%[dst_port],"
		      "\"path\":\"%%[var(txn.shown)]\","
		      "\"reason\":\"%%[var(txn.reason)]\","
		      "\"detail\":\"%%[var(txn.why)]\"}' if unread json");
	cfg_line(c, H " return status 400 content-type text/plain lf-string "
		      "\"" REFUSED
		      "what HTTP/1 does not permit: %%[var(txn.why)]\\n\" if "
		      "unread");
}

/* Only a 403 is something that a grant would have permitted. */
static void put_advice(struct cfg *c)
{
	cfg_line(c, H " return status 403 content-type text/plain lf-string "
		      "\"" REFUSED "to allow it, add under 'allow':\\n"
		      "  - %%[var(txn.fix)]\\n\"");
}

/*
 * The pages of a backend have no conditions: what stands between the parts of
 * one is a variable where JSON is asked for, and its default elsewhere.
 */
static const struct {
	const char *json, *text;
} between[] = {
	{"{\"error\":\"upstream\",\"by\":\"membrane\",\"reason\":\"upstream\","
	 "\"method\":\"",
	 "membrane: "},
	{"\",\"host\":\"", " "},
	{"\",\"port\":", ":"},
	{",\"path\":\"", ""},
	{"\",\"addr\":\"", " ("},
	{"\",\"detail\":\"", ") upstream: "},
	{"\"}", ""},
};

static void put_between(struct cfg *c)
{
	cfg_line(c, "acl for_json var(txn.json) -m found");
	cfg_line(c, H " set-var(txn.json) str(1) if { req.hdr(accept) -m sub "
		      "application/json }");
	for (size_t i = 0; i < ARRAY_LEN(between); i++)
		cfg_line(c, H " set-var-fmt(txn.j%zu) '%s' if for_json", i + 1,
			 between[i].json);
}

void gate_answers_verdict(struct cfg *c)
{
	cfg_line(c, "acl unread var(txn.why) -m found");
	cfg_line(c, H " set-var(txn.why) req.fhdr(membrane-refused),"
		      "bytes(0,100)," QUOTED);
	cfg_line(c, H " set-var(txn.bad) str(bad-request) if unread");
	cfg_line(c, H " set-var(txn.name) ssl_fc_sni,lower if unread !{ "
		      "var(txn.name) -m found }");
	cfg_line(c, H " set-var(txn.reason) var(txn.bad) if { var(txn.bad) -m "
		      "found }");
	cfg_line(c, H " set-var(txn.rule) str(-) if { var(txn.bad) -m found }");
	cfg_line(c, "acl granted var(txn.reason) -m str granted");
	put_between(c);
}

/* Where what is refused goes; what is granted is spared these rules. */
void gate_answers_refusals(struct cfg *c)
{
	cfg_section(c, "# what is refused is told why");
	buf_adds(c->out, "backend refused\n");
	cfg_line(c, "mode http");
	cfg_line(c, "acl unread var(txn.why) -m found");
	cfg_line(c, "acl mismatch var(txn.reason) -m str name-mismatch");
	cfg_line(c, "acl malformed var(txn.reason) -m str bad-request");
	cfg_line(c, "acl json req.hdr(accept) -m sub application/json");
	put_said(c);
	put_fix(c);
	put_refused_unread(c);
	put_refusal(c, "421", " mismatch");
	put_refusal(c, "400", " malformed");
	put_refusal(c, "403", "");
	put_advice(c);
}

static void put_part(struct cfg *c, size_t i, const char *part)
{
	buf_addf(c->out, "%%[var(txn.j%zu,'%s')]%s", i + 1, between[i].text,
		 part);
}

/* A server's failure, as the pages of the frontend. */
void gate_answers_failures(struct cfg *c)
{
	static const struct {
		const char *status, *text;
	} all[] = {
		{"502", "broke off or answered nonsense"},
		{"503", "cannot be reached or its certificate is not good"},
		{"504", "did not answer in time"},
	};
	static const char *const parts[] = {
		"%[var(txn.method),bytes(0,40)," QUOTED "]",
		"%[var(txn.name),bytes(0,300)," QUOTED "]",
		"%[dst_port]",
		"%[var(txn.path),bytes(0,800)," QUOTED "]",
		"%[dst]",
	};
	size_t k;

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		buf_addf(c->out,
			 "    http-error status %s content-type text/plain hdr "
			 "membrane upstream lf-string \"",
			 all[i].status);
		for (k = 0; k < ARRAY_LEN(parts); k++)
			put_part(c, k, parts[k]);
		put_part(c, k++, all[i].text);
		buf_adds(c->out, ": %[bc_err_str," QUOTED "] "
				 "%[ssl_bc_err_str," QUOTED "]");
		put_part(c, k, "\\n\"\n");
	}
	cfg_line(c, "http-after-response set-header content-type "
		    "application/json if { res.hdr(membrane) -m str upstream } "
		    "{ var(txn.json) -m found }");
}
