#include "compiler/emit/gate_cfg.h"

#include "compiler/emit/gate_marks.h"
#include "compiler/ir/inside.h"

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
		if (inside_opens(p, g))
			return true;
	vec_each(d, &p->deny)
		if (inside_opens(p, d))
			return true;
	return false;
}

/* --- global -------------------------------------------------------------- */

static void put_global(struct cfg *c)
{
	buf_adds(
		c->out,
		"# The gate's reader of HTTP/1 sets this once it stands before "
		"HAProxy.\n"
		".if !defined(MEMBRANE_READER)\n"
		".alert \"nothing reads HTTP/1 before HAProxy does: for a look "
		"at this file alone, set MEMBRANE_READER\"\n"
		".endif\n"
		"global\n");
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
	cfg_line(
		c,
		"# Each connection that is decrypted counts twice, one that is "
		"patient, too.");
	cfg_line(c, "maxconn 8000");
	cfg_line(c, "tune.bufsize 32768");
	cfg_line(c, "tune.maxrewrite 4096");
	cfg_line(c, "tune.http.maxhdr 128");
	cfg_line(c, "tune.h2.initial-window-size 1048576");
	cfg_line(c, "tune.ssl.default-dh-param 2048");
	cfg_line(c, "ssl-default-bind-options ssl-min-ver TLSv1.2");
	cfg_line(c, "ssl-default-server-options ssl-min-ver TLSv1.2");
	cfg_line(c, "# For a client that is HAProxy's own, and that nothing "
		    "here calls: no roots are read for it.");
	cfg_line(c, "httpclient.ssl.verify none");
	cfg_section(c, "defaults");
	cfg_line(c, "log global");
	cfg_line(c, "retries 0");
	/* A client's first request goes by a connection of its own: nobody
	 * asks again when an idle one turns out to be closed. */
	cfg_line(c, "http-reuse safe");
	cfg_line(c, "timeout connect 10s");
	cfg_line(c, "timeout client 15m");
	cfg_line(c, "timeout server 15m");
	cfg_line(c, "timeout tunnel 24h");
	cfg_line(c, "timeout http-request 30s");
	cfg_line(c, "timeout http-keep-alive 5m");
	cfg_line(c, "timeout client-fin 30s");
	cfg_line(c, "timeout server-fin 30s");
}

bool gate_cfg_emit(const struct emit_in *in, struct buf *out)
{
	struct gate g = {.in = in,
			 .p = profiles_make(in),
			 .c = {in->a, in->diags, out, true},
			 .insecure = in->policy->ssl_insecure.set &&
				     in->policy->ssl_insecure.v};

	if (!g.p)
		return false;
	g.marks = gate_marks_new(&g);
	put_global(&g.c);
	gate_edge_put(&g);
	gate_requests_put(&g);
	return g.c.ok;
}
