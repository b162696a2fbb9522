/*
 * What membrane's own engine cannot hold: an error at its place. Nothing is
 * left out and nothing weakened; Docker's engine has it.
 */
#include "compiler/emit/docker/agent.h"
#include "compiler/emit/native/parts.h"
#include "compiler/ir/image.h"
#include "compiler/ir/natively.h"

bool native_refuse(const struct emit_in *in, struct span at, const char *what,
		   const char *help)
{
	diag_error(in->diags, DIAG_NEEDS_ENGINE, at, NATIVE_CANNOT "%s", what);
	struct natively own;

	if (in->policy->engine.v != IR_ENGINE_AUTO)
		diag_note(in->diags, in->policy->engine.from.at,
			  "the engine is named here");
	else if (natively_alone(in->policy, 0, &own))
		diag_note(in->diags, own.from.at, "%s is this engine's",
			  own.what);
	diag_help(in->diags, "%s", help);
	return false;
}

bool native_or_docker(const struct emit_in *in, struct span at, const char *what,
		  const char *help)
{
	struct natively own;
	struct str all =
		arena_fmt(in->a, "%s%swrite 'engine: docker'",
			  help ? help : "", help ? ", or " : "");

	/* which Docker refuses */
	for (size_t i = 0; natively_alone(in->policy, i, &own); i++)
		all = arena_fmt(in->a, "%.*s and %s", STR_ARG(all),
				own.instead);
	return native_refuse(in, at, what, all.p);
}

static bool check_image(const struct emit_in *in)
{
	const ir_opt_str *image = &in->policy->image;
	bool own = image_is_own(image->v);
	const char *fault = own ? image_fault(image->v) : NULL;

	if (agent_has_own_image(in->policy) || (own && !fault))
		return true;
	if (fault)
		return native_refuse(
			in, image->from.at,
			arena_fmt(in->a, "'%s' %s",
				  diag_quote(in->diags, image_place(image->v)),
				  fault)
				.p,
			image_root(image->v).n
				? "write dir: and the absolute path of an unpacked root"
				: "write archive:/FILE@sha256: and what 'sha256sum FILE' prints");
	return native_or_docker(
		in, image->from.at, "it runs what this machine has",
		"leave 'image' out, name a root as dir:FOLDER or archive:FILE@sha256:HEX");
}

static bool check_scalars(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;
	bool ok = true;

	ok &= check_image(in);
	if (!ir_runtime_is_runc(p))
		ok = native_or_docker(in, p->runtime.from.at,
				  "another runtime is Docker's", NULL);
	if (p->upstream.set && !ir_uplink_sockets(p))
		ok = native_or_docker(
			in, p->upstream.from.at,
			"beside a proxy all leaves by sockets for TCP, and not 'isolated'",
			NULL);
	if (p->uplink.set && !ir_uplink_isolated(p))
		ok = native_or_docker(
			in, p->uplink.from.at,
			"there is no network of that name",
			"write 'isolated', leave 'uplink' out");
	if (p->trace.engine.v == IR_TRACE_TRACEE)
		ok = native_or_docker(
			in, p->trace.engine.from.at, "Tracee is a container",
			"leave 'engine' of the trace out: membrane's own tracer runs here");
	return ok;
}

static bool check_hardening(const struct emit_in *in)
{
	const struct ir_hardening *h = &in->policy->hardening;
	bool ok = true;

	if (h->user.set)
		ok = native_or_docker(
			in, h->user.from.at,
			"its command is the workspace's owner",
			"leave 'user' out");
	if (h->capabilities.n)
		ok = native_or_docker(
			in, h->capabilities.v[0].from.at,
			"no capability is given",
			"leave 'capabilities' out");
	if (!h->no_new_privileges.v)
		ok = native_or_docker(
			in, h->no_new_privileges.from.at,
			"a user can give up the right to new privileges, and not keep it",
			NULL);
	if (!str_is(h->seccomp.v, "default"))
		ok = native_or_docker(
			in, h->seccomp.from.at,
			"it loads membrane's own filter of system calls",
			"leave 'seccomp' out");
	return ok;
}

bool native_check(const struct emit_in *in)
{
	bool ok = check_scalars(in);

	ok &= check_hardening(in);
	ok &= native_words_check(in);
	ok &= docker_ports_check(in);
	ok &= docker_protect_check(in);
	return ok;
}
