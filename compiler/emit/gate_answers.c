#include "compiler/emit/gate_parts.h"

#define H "http-request"

#define WHERE                                                                  \
	"%[var(txn.method),json(utf8s)] %[var(txn.scheme)]://"                 \
	"%[var(txn.name),json(utf8s)]:%[dst_port]"                             \
	"%[var(txn.shown)]"

void gate_answers_refusals(struct cfg *c)
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
	buf_adds(c->out,
		 "    " H " set-var-fmt(txn.fix) "
		 "'{dest: \"%[var(txn.name),json(utf8s)]:%[dst_port]\", http: "
		 "[{methods: [\"%[var(txn.method),bytes(0,40),json(utf8s)]\"], "
		 "paths: [\"%[var(txn.shown)]\"]}]}' if "
		 "{ var(txn.reason) -m str no-grant port scheme method path } "
		 "!{ var(txn.bad) -m found }\n");
	for (int i = 0; i < 2; i++) {
		const char *when = i ? "!granted" : "mismatch";

		buf_addf(c->out,
			 "    " H " return status %s content-type "
			 "application/json lf-string '{\"error\":\"refused\","
			 "\"by\":\"membrane\",",
			 statuses[i]);
		buf_adds(c->out, "\"method\":\"%[var(txn.method),bytes(0,40),"
				 "json(utf8s)]\","
				 "\"host\":\"%[var(txn.name),json(utf8s)]\","
				 "\"port\":%[dst_port],"
				 "\"path\":\"%[var(txn.shown)]\","
				 "\"reason\":\"%[var(txn.reason)]\","
				 "\"allow\":\"%[var(txn.fix),json(utf8s)]\"}'");
		buf_addf(c->out, " if %s json\n", when);
		buf_addf(c->out,
			 "    " H " return status %s content-type "
			 "text/plain lf-string \"membrane refused ",
			 statuses[i]);
		buf_adds(c->out, WHERE ": %[var(txn.reason)]\\n\"");
		buf_addf(c->out, " if %s !{ var(txn.fix) -m len gt 0 }\n",
			 when);
		buf_addf(c->out,
			 "    " H " return status %s content-type "
			 "text/plain lf-string \"membrane refused ",
			 statuses[i]);
		buf_adds(c->out, WHERE ": %[var(txn.reason)]\\n"
				       "to allow it, add under 'allow':\\n"
				       "  - %[var(txn.fix)]\\n\"");
		buf_addf(c->out, " if %s\n", when);
	}
}

void gate_answers_failures(struct cfg *c)
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
