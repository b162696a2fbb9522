#include "compiler/emit/docker/docker.h"

#include "compiler/emit/docker/argv.h"
#include "compiler/emit/docker/parts.h"
#include "compiler/ir/natively.h"
#include "compiler/ir/upstream.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/gate.h"

/* Else the agent joins the gate's network namespace. */
static bool over_bridge(const struct ir_policy *p)
{
	return !ir_runtime_is_runc(p);
}

/* --- raw arguments ------------------------------------------------------- */

static bool is_host_identity(const struct arg *arg)
{
	return str_is(arg->option, "hostname") ||
	       str_is(arg->option, "domainname") ||
	       str_is(arg->option, "add-host");
}

/* Over a bridge, names and hosts file are the agent's own. */
static enum arg_home home_of(const struct ir_policy *p, const struct arg *arg)
{
	return over_bridge(p) && is_host_identity(arg) ? ARG_AGENT : arg->home;
}

static void put_args(struct argv *w, enum arg_home home)
{
	const struct ir_policy *p = w->in->policy;

	vec_each(arg, &p->docker_args)
		if (home_of(p, arg) == home)
			argv_raw(w, arg);
}

/* --- the gate ------------------------------------------------------------ */

/*
 * HAProxy has a user of its own, which the gate can start it as, and end. It
 * has a thread for each processor, two descriptors for each end of what it
 * decrypts, and a log that it does not wait for. The gate has all that where
 * nothing needs HAProxy, too: a session may be allowed something that does.
 */
static void put_proxy(struct argv *w)
{
	argv_put(w, "--cap-add=KILL");
	argv_put(w, "--cap-add=SETGID");
	argv_put(w, "--cap-add=SETUID");
	argv_put(w, "--sysctl=net.unix.max_dgram_qlen=4096");
	argv_put(w, "--tmpfs=" GATE_DIR
		    ":mode=770,uid=" GATE_TEXT(GATE_UID) ",gid=0,size=64m");
	argv_put(w, "--ulimit=nofile=20000:20000");
	argv_put(w, "--pids-limit=1024");
	argv_put(w, "--memory=1g");
}

/*
 * SYS_ADMIN for the second network namespace; given up, with the rest but
 * NET_ADMIN, once the link is up. The switches must be set from outside: the
 * container's /proc/sys is read-only.
 */
static cJSON *gate_vectors(struct argv *w)
{
	const ir_opt_str *uplink = &w->in->policy->uplink;

	argv_begin(w, &(struct argv_run){.image = STR(DOCKER_JSON_IMAGE_GATE),
					 .name = DOCKER_JSON_GATE,
					 .input = "--interactive"});
	argv_put(w, "--hostname=" GATE_AGENT_HOST);
	/* one of its own is what every container has */
	if (ir_uplink_named(w->in->policy))
		argv_value(w, "network", uplink->v);
	argv_put(w, "--cap-drop=ALL");
	argv_put(w, "--cap-add=NET_ADMIN");
	argv_put(w, "--cap-add=NET_BIND_SERVICE");
	argv_put(w, "--cap-add=SETPCAP");
	argv_put(w, "--cap-add=SYS_ADMIN");
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	argv_put(w, "--sysctl=net.ipv4.ip_forward=1");
	argv_put(w, "--sysctl=net.ipv6.conf.all.forwarding=1");
	/* Docker turns it off for interfaces to come; agent0 is one. */
	argv_put(w, "--sysctl=net.ipv6.conf.default.disable_ipv6=0");
	put_proxy(w);
	argv_plan(w);
	docker_ports_mount(w);
	docker_roots_mount(w);
	put_args(w, ARG_GATE);
	argv_image(w);
	if (w->in->policy->resolver.v.host &&
	    (!w->in->policy->upstream.set || upstream_asks(w->in->policy)))
		argv_put(w, DOCKER_JSON_RESOLVER);
	return argv_end(w);
}

/* Renewals leave by the uplink that the policy names, for the launcher. */
static bool renews_by_uplink(const struct ir_policy *p)
{
	bool any = false;

	vec_each(c, &p->credentials)
		any |= c->has_refresh;
	return any && ir_uplink_named(p);
}

static cJSON *relay_vectors(struct argv *w)
{
	argv_begin(w, &(struct argv_run){.image = STR(DOCKER_JSON_IMAGE_GATE),
					 .name = DOCKER_JSON_RELAY,
					 .input = "--interactive"});
	argv_value(w, "network", w->in->policy->uplink.v);
	argv_put(w, "--user=" GATE_TEXT(GATE_UID));
	argv_put(w, "--cap-drop=ALL");
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	argv_put(w, "--pids-limit=4");
	argv_put(w, "--memory=64m");
	argv_image(w);
	argv_put(w, "--relay");
	return argv_end(w);
}

/* --- the agent ----------------------------------------------------------- */

static cJSON *agent_vectors(struct argv *w)
{
	const struct ir_policy *p = w->in->policy;

	argv_begin(w, &(struct argv_run){
			      .image = p->image.v,
			      .name = DOCKER_JSON_AGENT,
			      .input = DOCKER_JSON_TERMINAL,
			      .may_pull = !agent_has_own_image(p)});
	if (over_bridge(p)) {
		argv_value(w, "runtime", str_of(ir_runtime_name(p->runtime.v)));
		argv_put(w, "--network=" DOCKER_JSON_OURS "{session}");
		/* As on the other link: the packet filter knows no other. */
		argv_put(w, "--ip=" LINK_AGENT_V4);
		/* The built-in tracer knows it by this, and nobody else's. */
		argv_put(w, "--hostname=" DOCKER_JSON_OURS "{session}");
	} else {
		argv_put(
			w,
			"--network=container:" DOCKER_JSON_OURS DOCKER_JSON_GATE
			"-{session}");
	}
	agent_hardening(w);
	agent_mounts(w);
	put_args(w, ARG_AGENT);
	docker_init_put(w);
	return argv_end(w);
}

bool docker_wanted(const struct ir_policy *p)
{
	return !natively_runs(p);
}

bool docker_emit(const struct emit_in *in, struct buf *out)
{
	const struct ir_policy *p = in->policy;
	bool bridge = over_bridge(p);
	struct argv w = {.in = in};
	cJSON *root;

	if (!docker_check(in, bridge))
		return false;
	root = json_object();
	json_put_u64(root, DOCKER_JSON_VERSION_KEY, DOCKER_JSON_VERSION);
	json_put_cstr(root, DOCKER_JSON_ENGINE, DOCKER_JSON_DOCKER);
	json_put_cstr(root, DOCKER_JSON_RUNTIME,
		      ir_runtime_name(p->runtime.v));
	json_put_cstr(root, DOCKER_JSON_LINK,
		      bridge ? DOCKER_JSON_BRIDGE : DOCKER_JSON_VETH);
	json_put(root, DOCKER_JSON_GATE, gate_vectors(&w));
	json_put(root, DOCKER_JSON_AGENT, agent_vectors(&w));
	if (renews_by_uplink(p))
		json_put(root, DOCKER_JSON_RELAY, relay_vectors(&w));
	docker_view_put(&w, root);
	docker_tracer_put(&w, root);
	agent_session(in, root);
	argv_text(&w, root, out);
	return true;
}
