#include "compiler/emit/native/native.h"

#include "compiler/emit/docker/agent.h"
#include "compiler/emit/native/parts.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/native_json.h"

#define SESSION_VIEW "{state}/sessions/{session}/" DOCKER_JSON_VIEW_FOLDER

/* --- the gate ------------------------------------------------------------ */

/*
 * The rights that the gate has in a container, here in namespaces that the
 * session's own user namespace owns: they reach nothing of the host's.
 */
static void put_gate_rights(struct argv *w)
{
	static const char *const caps[] = {
		"NET_ADMIN", "NET_BIND_SERVICE", "SETPCAP", "SYS_ADMIN",
		"KILL",	     "SETGID",		 "SETUID"};

	argv_put(w, "--hostname=" GATE_AGENT_HOST);
	argv_put(w, "--cap-drop=ALL");
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		argv_value(w, "cap-add", str_of(caps[i]));
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	argv_put(w, "--sysctl=net.ipv4.ip_forward=1");
	argv_put(w, "--sysctl=net.ipv6.conf.all.forwarding=1");
	argv_put(w, "--sysctl=net.ipv6.conf.default.disable_ipv6=0");
	argv_put(w, "--sysctl=net.unix.max_dgram_qlen=4096");
	argv_put(w, "--ulimit=nofile=20000:20000");
}

static void put_program(struct argv *w, const char *name)
{
	argv_put(
		w,
		arena_fmt(
			w->in->a,
			"--mount=type=bind,source={programs}/%s,target=/%s,readonly",
			name, name)
			.p);
}

static cJSON *gate_vector(struct argv *w)
{
	argv_begin(w, &(struct argv_run){.image = STR(NATIVE_JSON_HOST),
					 .name = DOCKER_JSON_GATE,
					 .input = "--interactive"});
	put_gate_rights(w);
	native_programs(w);
	put_program(w, NATIVE_JSON_GATE);
	put_program(w, NATIVE_JSON_READER);
	argv_put(w, "--tmpfs=" GATE_DIR
		    ":mode=770,uid=" GATE_TEXT(GATE_UID) ",gid=0,size=64m");
	argv_plan(w);
	docker_ports_mount(w);
	docker_roots_mount(w);
	argv_image(w);
	argv_put(w, "/" NATIVE_JSON_GATE);
	argv_put(w, GATE_AWAIT_UPLINK);
	if (w->in->policy->resolver.v.host && !w->in->policy->upstream.set)
		argv_put(w, DOCKER_JSON_RESOLVER);
	return argv_end(w);
}

/* --- the view ------------------------------------------------------------ */

static cJSON *view_vector(struct argv *w)
{
	static const char *const caps[] = {"SYS_ADMIN", "SETUID", "SETGID",
					   "SETPCAP"};

	argv_begin(w, &(struct argv_run){.image = STR(NATIVE_JSON_HOST),
					 .name = DOCKER_JSON_VIEW,
					 .input = "--interactive"});
	argv_put(w, "--network=none");
	argv_put(w, "--cap-drop=ALL");
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		argv_value(w, "cap-add", str_of(caps[i]));
	argv_put(w, "--device=/dev/fuse");
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	native_programs(w);
	put_program(w, NATIVE_JSON_VIEW);
	argv_put(w, "--mount=type=bind,source={workspace},target=/source");
	argv_put(w, DOCKER_JSON_REPOSITORY_VIEW);
	/* What is mounted there appears where the agent's mounts are made. */
	argv_put(w, "--mount=type=bind,source=" SESSION_VIEW
		    ",target=/view,bind-propagation=rshared");
	argv_plan(w);
	argv_image(w);
	argv_put(w, "/" NATIVE_JSON_VIEW);
	argv_put(w, GATE_PLAN "/" PLAN_MOUNTS);
	argv_put(w, "/source");
	argv_put(w, "/view/" DOCKER_JSON_VIEW_MOUNT);
	return argv_end(w);
}

/* --- the agent ----------------------------------------------------------- */

/* Whether there is an init is read where its words are written: it is ours, or
 * none. */
static void put_args(struct argv *w)
{
	vec_each(arg, &w->in->policy->docker_args)
		if (!str_is(arg->option, "init"))
			argv_raw(w, arg);
}

/* In the place of the machine's own. */
static void put_lists(struct argv *w)
{
	static const char *const lists[] = {
		NATIVE_JSON_USERS, NATIVE_JSON_GROUPS, NATIVE_JSON_HOSTS};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		argv_put(
			w,
			arena_fmt(
				w->in->a,
				"--mount=type=bind,source={state}/sessions/{session}/%s,target=/etc/%s,readonly",
				lists[i], lists[i])
				.p);
}

static cJSON *agent_vector(struct argv *w)
{
	argv_begin(w, &(struct argv_run){.image = STR(NATIVE_JSON_HOST),
					 .name = DOCKER_JSON_AGENT,
					 .input = DOCKER_JSON_TERMINAL});
	argv_put(w, "--network=container:" DOCKER_JSON_OURS DOCKER_JSON_GATE
		    "-{session}");
	argv_put(w, "--hostname=" GATE_AGENT_HOST);
	native_programs(w);
	native_settings(w);
	put_lists(w);
	agent_hardening(w);
	agent_mounts(w);
	put_args(w);
	docker_init_put(w);
	return argv_end(w);
}

bool native_wanted(const struct ir_policy *p)
{
	return p->engine.set && p->engine.v == IR_ENGINE_NATIVE;
}

bool native_emit(const struct emit_in *in, struct buf *out)
{
	struct argv w = {.in = in, .native = true};
	cJSON *root;

	if (!native_check(in))
		return false;
	root = json_object();
	json_put_u64(root, DOCKER_JSON_VERSION_KEY, DOCKER_JSON_VERSION);
	json_put_cstr(root, DOCKER_JSON_ENGINE, NATIVE_JSON_NATIVE);
	json_put_cstr(root, NATIVE_JSON_UPLINK, NATIVE_JSON_PASTA);
	json_put_cstr(root, DOCKER_JSON_LINK, DOCKER_JSON_VETH);
	json_put(root, DOCKER_JSON_GATE, gate_vector(&w));
	json_put(root, DOCKER_JSON_AGENT, agent_vector(&w));
	json_put(root, DOCKER_JSON_VIEW, view_vector(&w));
	agent_session(in, root);
	argv_text(&w, root, out);
	return true;
}
