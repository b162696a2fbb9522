/*
 * What docker.json cannot say, because Docker would refuse it or read it
 * otherwise: an error at its place.
 */
#include "compiler/emit/docker/parts.h"

#include "compiler/emit/docker/docker_names.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/ir/image.h"
#include "compiler/ir/upstream.h"

#include <inttypes.h>

/* Docker refuses less: daemon/daemon_unix.go. */
#define MEMORY_MIN_BYTES (6u << 20)

static bool check_image(const struct emit_in *in)
{
	const ir_opt_str *image = &in->policy->image;

	if (docker_names_image(image->v))
		return true;
	if (image_is_own(image->v)) {
		diag_error(in->diags, DIAG_IMAGE, image->from.at,
			   "%s as a root is the native engine's",
			   image_root(image->v).n ? "a folder" : "an archive");
		diag_help(
			in->diags,
			image_root(image->v).n
				? "leave 'engine: docker' out, or write the name of an image"
				: "leave 'engine: docker' out; or 'docker load' it, and write its name");
		return false;
	}
	diag_error(in->diags, DIAG_IMAGE, image->from.at,
		   "'%s' is not the name of an image",
		   diag_quote(in->diags, image->v));
	diag_help(in->diags,
		  "write [HOST/]NAME[:TAG][@DIGEST], the name in lower case");
	return false;
}

static bool check_upstream(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;

	if (!upstream_on_loopback(&p->upstream))
		return true;
	diag_error(
		in->diags, DIAG_PROXY, p->upstream.from.at,
		"a proxy on this machine's loopback is the native engine's: a container has a loopback of its own");
	diag_note(in->diags, p->engine.from.at, "the engine is named here");
	diag_help(
		in->diags,
		"write 'engine: native', or have the proxy listen at an address that is not loopback");
	return false;
}

static bool check_uplink(const struct emit_in *in)
{
	const ir_opt_str *uplink = &in->policy->uplink;

	if (!ir_uplink_named(in->policy) || docker_names_network(uplink->v))
		return true;
	diag_error(
		in->diags, DIAG_UPLINK, uplink->from.at,
		"'%s' is no Docker network that the gate could go out through",
		diag_quote(in->diags, uplink->v));
	diag_help(
		in->diags,
		"write the name of a network that 'docker network ls' shows with driver bridge");
	return false;
}

static bool check_tmpfs(const struct emit_in *in, const struct ir_text *t)
{
	struct str path = str_slice(t->s, 0, str_find(t->s, ':', 0));

	if (path.n > 1 && path.p[0] == '/' && !str_is(path, "/workspace") &&
	    !str_is(path, "/home/agent"))
		return true;
	diag_error(in->diags, DIAG_HARDENING, t->from.at,
		   "no temporary file system can be at '%s'",
		   diag_quote(in->diags, t->s));
	diag_help(
		in->diags,
		"write an absolute path in the container, but not /workspace, /home/agent or /");
	return false;
}

bool docker_tmpfs_check(const struct emit_in *in)
{
	bool ok = true;

	vec_each(t, &in->policy->hardening.tmpfs)
		ok &= check_tmpfs(in, t);
	return ok;
}

/* Only our own filter knows of it: elsewhere the word would do nothing. */
static bool check_user_namespaces(const struct emit_in *in)
{
	const struct ir_hardening *h = &in->policy->hardening;
	bool named = !str_is(h->seccomp.v, "default");

	if (!h->user_namespaces.v || seccomp_wanted(in->policy))
		return true;
	diag_error(
		in->diags, DIAG_HARDENING, h->user_namespaces.from.at,
		"'user_namespaces' is for membrane's own filter of system calls");
	if (named)
		diag_note(in->diags, h->seccomp.from.at,
			  "here another one is named");
	else
		diag_note(in->diags, in->policy->runtime.from.at,
			  "with this runtime Docker's own holds");
	diag_help(in->diags,
		  named ? "leave one of the two out" : "leave it out");
	return false;
}

/* Behind an error of what takes runc: which runtime there is. False. */
static bool note_runtime(const struct emit_in *in, const char *help)
{
	diag_note(in->diags, in->policy->runtime.from.at,
		  "the runtime is named here");
	diag_help(in->diags, "%s", help);
	return false;
}

/*
 * Kata hands folders to its guest by a server of its own, Sysbox shifts the
 * owners of files by mapped mounts: over a view neither was ever seen to work.
 */
static bool check_masks(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;

	if (ir_runtime_is_runc(p) || !ir_masks_hold(p))
		return true;
	diag_error(
		in->diags, DIAG_MASKS, p->masks.from.at,
		"masks hold with the runtime 'runc' alone: that '%s' hands a view on to the agent is not proven",
		ir_runtime_name(p->runtime.v));
	return note_runtime(
		in,
		"leave 'masks' out: with this runtime they are made at the start");
}

/* Only with runc a socket of the host is one inside: Kata has another kernel,
 * and of Sysbox it was never seen. */
static bool check_ssh_agent(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;

	if (ir_runtime_is_runc(p) || !ir_ssh_agent(p))
		return true;
	diag_error(
		in->diags, DIAG_SSH_AGENT, p->ssh_agent.from.at,
		"'ssh_agent' needs the runtime 'runc': that '%s' hands a socket on to the agent is not proven",
		ir_runtime_name(p->runtime.v));
	return note_runtime(in, "leave one of the two out");
}

static bool check_hardening(const struct emit_in *in)
{
	const struct ir_hardening *h = &in->policy->hardening;
	bool ok = check_user_namespaces(in);

	ok &= docker_tmpfs_check(in);
	if (h->memory.set && h->memory.v < MEMORY_MIN_BYTES) {
		diag_error(in->diags, DIAG_HARDENING, h->memory.from.at,
			   "%" PRIu64
			   " bytes of memory: Docker wants 6 MiB at least",
			   h->memory.v);
		ok = false;
	}
	return ok;
}

/* Addresses and names on a network need one that Docker gives such to. */
static bool check_needs(const struct emit_in *in)
{
	static const char *const needy[] = {"ip", "ip6", "link-local-ip",
					    "net-alias", "network-alias"};
	const struct ir_policy *p = in->policy;
	bool ok = true;

	if (ir_uplink_named(p) && !str_is(p->uplink.v, "bridge"))
		return true;
	vec_each(arg, &p->docker_args)
		for (size_t i = 0; i < ARRAY_LEN(needy); i++) {
			if (!str_is(arg->option, needy[i]))
				continue;
			diag_error(in->diags, DIAG_ARG_NEEDS, arg->from.at,
				   "'--%s' is for a network of one's own",
				   needy[i]);
			diag_help(in->diags, "name it: 'uplink: NETWORK'");
			ok = false;
		}
	return ok;
}

/* Over a bridge the built-in tracer knows the agent by its host name. */
static bool check_host_name(const struct emit_in *in, bool bridge)
{
	const struct ir_policy *p = in->policy;
	bool ok = true;

	if (!bridge || p->trace.engine.v != IR_TRACE_NATIVE)
		return true;
	vec_each(arg, &p->docker_args) {
		if (!str_is(arg->option, "hostname"))
			continue;
		diag_error(
			in->diags, DIAG_ARG_NEEDS, arg->from.at,
			"with this runtime the built-in tracer knows the agent by its host name");
		diag_help(in->diags,
			  "leave it out, or write 'trace: {engine: \"off\"}'");
		ok = false;
	}
	return ok;
}

bool docker_check(const struct emit_in *in, bool bridge)
{
	bool ok = check_image(in);

	ok &= check_upstream(in);
	ok &= check_uplink(in);
	ok &= check_masks(in);
	ok &= check_ssh_agent(in);
	ok &= docker_protect_check(in);
	ok &= check_hardening(in);
	ok &= check_needs(in);
	ok &= check_host_name(in, bridge);
	ok &= docker_ports_check(in);
	return ok;
}
