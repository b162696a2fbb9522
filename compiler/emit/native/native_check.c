/*
 * What membrane's own engine cannot hold: an error at its place. Nothing is
 * left out and nothing weakened; Docker's engine has it.
 */
#include "compiler/emit/docker/agent.h"
#include "compiler/emit/native/parts.h"

bool native_refuse(const struct emit_in *in, struct span at, const char *what,
		   const char *help)
{
	diag_error(in->diags, DIAG_NEEDS_ENGINE, at,
		   "the native engine cannot hold this: %s", what);
	diag_note(in->diags, in->policy->engine.from.at,
		  "the engine is named here");
	diag_help(in->diags, "%s", help);
	return false;
}

#define WITH_DOCKER "'engine: docker' can"

static bool check_scalars(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;
	bool ok = true;

	if (!agent_has_own_image(p))
		ok = native_refuse(
			in, p->image.from.at, "it runs what this machine has",
			"leave 'image' out, or write 'engine: docker'");
	if (p->runtime.set && p->runtime.v != IR_RUNTIME_RUNC)
		ok = native_refuse(in, p->runtime.from.at,
				   "another runtime is Docker's", WITH_DOCKER);
	if (p->uplink.set)
		ok = native_refuse(in, p->uplink.from.at,
				   "there is no network of that name",
				   WITH_DOCKER);
	/* with another runtime masks start by themselves: said above */
	if (!ir_masks_hold(p) && ir_runtime_is_runc(p))
		ok = native_refuse(
			in, p->masks.from.at,
			"it has no mounts that are masks, but a view",
			"leave 'masks' out: then they hold at every access");
	if (p->protect.n)
		ok = native_refuse(
			in, p->protect.v[0].from.at,
			"its view cannot tell which program asks for a file",
			WITH_DOCKER);
	if (p->trace.required.v)
		ok = native_refuse(in, p->trace.required.from.at,
				   "nothing traces its sessions", WITH_DOCKER);
	return ok;
}

static bool check_hardening(const struct emit_in *in)
{
	const struct ir_hardening *h = &in->policy->hardening;
	bool ok = true;

	if (h->user.set)
		ok = native_refuse(
			in, h->user.from.at,
			"its command is the workspace's owner",
			"leave 'user' out, or write 'engine: docker'");
	if (h->capabilities.n)
		ok = native_refuse(
			in, h->capabilities.v[0].from.at,
			"no capability is given",
			"leave 'capabilities' out, or write 'engine: docker'");
	if (h->no_new_privileges.set && !h->no_new_privileges.v)
		ok = native_refuse(
			in, h->no_new_privileges.from.at,
			"a user can give up the right to new privileges, and not keep it",
			WITH_DOCKER);
	if (h->seccomp.set && !str_is(h->seccomp.v, "default"))
		ok = native_refuse(
			in, h->seccomp.from.at,
			"it loads membrane's own filter of system calls",
			"leave 'seccomp' out, or write 'engine: docker'");
	if (h->memory.set)
		ok = native_refuse(
			in, h->memory.from.at,
			"memory is limited by control groups, which it has none of",
			WITH_DOCKER);
	if (h->cpus_milli.set)
		ok = native_refuse(
			in, h->cpus_milli.from.at,
			"processors are limited by control groups, which it has none of",
			WITH_DOCKER);
	return ok;
}

bool native_check(const struct emit_in *in)
{
	bool ok = check_scalars(in);

	ok &= check_hardening(in);
	ok &= native_words_check(in);
	ok &= docker_ports_check(in);
	return ok;
}
