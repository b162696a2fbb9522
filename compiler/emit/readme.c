/*
 * What programs in the sandbox are told of it, and agents that look for a
 * reason: what may be reached, that a refusal is meant, how more is asked for.
 * As everything of a plan it depends on the policy alone; what a running
 * session was allowed later is not in there.
 */
#include "compiler/emit/parts.h"

#include "compiler/emit/gate/gate_cfg.h"
#include "compiler/plan/docker_json.h"

#include <stdlib.h>

#define SHOWN 64u /* grants: it is read by those who pay for each word */

static const char beginning[] =
	"You are in a membrane: a container whose network, files and system calls are\n"
	"limited by a policy of its user's. What is refused in here is refused on purpose.\n"
	"Trying again does not help, nor does another name, address, port, proxy or program.\n"
	"\n"
	"So do not retry, and do not work around it. STOP, and tell your user which host and\n"
	"port you need and what for, with the command to run on their machine (not in here):\n"
	"\n"
	"  membrane allow HOST:PORT           for this session, at once\n"
	"  membrane allow HOST:PORT --save    for later ones, too\n"
	"\n"
	"They are told of each refusal as it happens, with the line of policy that would\n"
	"allow it. From in here the policy (.membrane.yaml) cannot be changed.\n"
	"\n"
	"NETWORK\n"
	"When the session began, this could be reached, but for what the policy denies:\n";

static const char refusals[] =
	"No other name resolves (NXDOMAIN, as if it did not exist; 'dig' shows EDE 15, Blocked);\n"
	"connections to other addresses and ports are reset at once.\n";

static const char requests[] =
	"Where only some requests are allowed, others get a 403 that says why.\n";

static const char roots[] =
	"Some connections are decrypted on the way. Their certificates are of an authority\n"
	"in /etc/membrane/ca.pem, to which variables such as SSL_CERT_FILE lead already.\n";

static const char ending[] =
	"\n"
	"FILES\n"
	"/workspace is a folder of the user's, on their disk, which may have its own path here,\n"
	"too. ";

static const char masked[] =
	"Files that the policy hides are there and empty, and others are read-only: neither is\n"
	"damage to be mended.\n";

static const char *home_text(enum ir_home h)
{
	switch (h) {
	case IR_HOME_SHARED:
		return "/home/agent stays for other sessions. All else is gone when the command ends.\n";
	case IR_HOME_WORKSPACE:
		return "/home/agent stays for other sessions in this folder.\n"
		       "All else is gone when the command ends.\n";
	case IR_HOME_NONE:
		return "All else, /home/agent too, is gone when the command ends.\n";
	}
	abort();
}

/* Texts of the policy: one line stays one. */
static void put_plain(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.n; i++)
		buf_addc(out,
			 text.p[i] < ' ' || text.p[i] > '~' ? '?' : text.p[i]);
}

static void put_grant(const struct emit_in *in, struct buf *out,
		      const struct ir_grant *g)
{
	buf_adds(out, "  ");
	put_plain(out, ir_dest_text(in->a, &g->dest));
	buf_adds(out, "  ");
	put_plain(out, ir_grant_ports(g));
	buf_addc(out, '\n');
	vec_each(h, &g->http) {
		buf_adds(out, "    only ");
		put_plain(out, ir_http_text(in->a, h));
		buf_addc(out, '\n');
	}
}

static bool has_requests(const struct ir_policy *p)
{
	vec_each(g, &p->allow)
		if (ir_grant_http(g))
			return true;
	return false;
}

bool readme_emit(const struct emit_in *in, struct buf *out)
{
	const struct ir_policy *p = in->policy;

	buf_adds(out, beginning);
	if (p->allow.n == 0)
		buf_adds(out, "  nothing\n");
	for (uint32_t i = 0; i < p->allow.n && i < SHOWN; i++)
		put_grant(in, out, &p->allow.v[i]);
	if (p->allow.n > SHOWN)
		buf_addf(out, "  and %u more\n", p->allow.n - SHOWN);
	buf_adds(out, refusals);
	if (has_requests(p))
		buf_adds(out, requests);
	if (gate_cfg_decrypts(p))
		buf_adds(out, roots);
	buf_adds(out, ending);
	buf_adds(out, home_text(p->home.v));
	buf_adds(out, masked);
	return true;
}
