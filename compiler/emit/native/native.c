#include "compiler/emit/native/native.h"

#include "compiler/emit/docker/agent.h"
#include "compiler/emit/native/parts.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/native_json.h"
#include "compiler/ir/image.h"
#include "compiler/ir/upstream.h"

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

/* A list of the session's folder, in the place of the machine's own. */
static void put_list(struct argv *w, const char *name)
{
	argv_put(
		w,
		arena_fmt(
			w->in->a,
			"--mount=type=bind,source={state}/sessions/{session}/%s,target=/etc/%s,readonly",
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
	/* libnftables names by it what it lists */
	put_list(w, NATIVE_JSON_PROTOCOLS);
	argv_put(w, "--tmpfs=" GATE_DIR
		    ":mode=770,uid=" GATE_TEXT(GATE_UID) ",gid=0,size=64m");
	argv_plan(w);
	docker_ports_mount(w);
	docker_roots_mount(w);
	argv_image(w);
	argv_put(w, "/" NATIVE_JSON_GATE);
	argv_put(w, ir_uplink_sockets(w->in->policy) ? GATE_SOCKETS
						     : GATE_AWAIT_UPLINK);
	if (w->in->policy->resolver.v.host &&
	    (!w->in->policy->upstream.set || upstream_asks(w->in->policy)))
		argv_put(w, DOCKER_JSON_RESOLVER);
	return argv_end(w);
}

/* --- the view ------------------------------------------------------------ */

static bool protects(const struct argv *w)
{
	return w->in->policy->protect.n > 0;
}

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
	/* what program a process of the agent's runs takes a right to see */
	if (protects(w))
		argv_value(w, "cap-add", STR("SYS_PTRACE"));
	/* whose processes are to be seen by that as well */
	if (protects(w) && native_asks(w->in->policy))
		argv_put(w, "--pid=container:" DOCKER_JSON_OURS
			    NATIVE_JSON_ASKED "-{session}");
	argv_put(w, "--device=/dev/fuse");
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	native_programs(w);
	put_program(w, NATIVE_JSON_VIEW);
	argv_put(w, "--mount=type=bind,source={workspace},target=/source");
	argv_put(w, DOCKER_JSON_REPOSITORY_VIEW);
	if (protects(w))
		argv_put(w, "--mount=type=bind,source={home},target=/home");
	/* What is mounted there appears where the agent's mounts are made. */
	argv_put(w, "--mount=type=bind,source=" SESSION_VIEW
		    ",target=/view,bind-propagation=rshared");
	argv_plan(w);
	argv_image(w);
	argv_put(w, "/" NATIVE_JSON_VIEW);
	argv_put(w, GATE_PLAN "/" PLAN_MOUNTS);
	argv_put(w, "/source");
	argv_put(w, "/view/" DOCKER_JSON_VIEW_MOUNT);
	if (protects(w)) {
		argv_put(w, "/home");
		argv_put(w, "/view/" DOCKER_JSON_VIEW_HOME);
	}
	return argv_end(w);
}

/* --- the tracer ---------------------------------------------------------- */

/*
 * It sees the whole kernel, so it gets nothing else: no network, no file but
 * the plan and what the kernel says of its own types, no process but itself.
 * The kernel takes programs from its first user namespace alone.
 */
static cJSON *tracer_vector(struct argv *w)
{
	argv_begin(w, &(struct argv_run){.image = STR(NATIVE_JSON_HOST),
					 .name = DOCKER_JSON_TRACER,
					 .input = "--interactive"});
	argv_put(w, "--network=none");
	argv_put(w, "--userns=host");
	argv_put(w, "--cap-drop=ALL");
	argv_put(w, "--cap-add=BPF");
	argv_put(w, "--cap-add=PERFMON");
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	argv_put(
		w,
		"--mount=type=bind,source=/sys/kernel/btf,target=/sys/kernel/btf,readonly,optional");
	put_program(w, NATIVE_JSON_WATCH);
	argv_plan(w);
	argv_image(w);
	argv_put(w, "/" NATIVE_JSON_WATCH);
	return argv_end(w);
}

/*
 * What a user may have instead: it reads what the agent's processes ask the
 * kernel for, in their memory, and sees no others.
 */
static cJSON *asked_vector(struct argv *w)
{
	argv_begin(w, &(struct argv_run){.image = STR(NATIVE_JSON_HOST),
					 .name = NATIVE_JSON_ASKED,
					 .input = "--interactive"});
	argv_put(w, "--network=none");
	argv_put(w, "--cap-drop=ALL");
	argv_put(w, "--cap-add=SYS_PTRACE");
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	argv_put(w, "--ask");
	put_program(w, NATIVE_JSON_WATCH);
	argv_plan(w);
	argv_image(w);
	argv_put(w, "/" NATIVE_JSON_WATCH);
	argv_put(w, "--asked");
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

static void put_lists(struct argv *w)
{
	static const char *const lists[] = {
		NATIVE_JSON_USERS, NATIVE_JSON_GROUPS, NATIVE_JSON_HOSTS};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		put_list(w, lists[i]);
}

/* Of a root of the policy's all is there that this machine has not to say. */
static void put_system(struct argv *w, bool own_root)
{
	if (own_root) {
		put_list(w, NATIVE_JSON_HOSTS);
		return;
	}
	native_programs(w);
	native_settings(w);
	put_lists(w);
}

/* What stands where docker run has an image. */
static struct str root_word(struct argv *w)
{
	struct str image = w->in->policy->image.v;
	struct image_archive x;

	if (image_archive(image, &x))
		return arena_fmt(w->in->a, NATIVE_JSON_UNPACKED,
				 STR_ARG(x.sha256));
	return image_root(image).n ? image : STR(NATIVE_JSON_HOST);
}

static void put_archive(const struct emit_in *in, cJSON *root)
{
	struct image_archive x;
	cJSON *o;

	if (!image_archive(in->policy->image.v, &x))
		return;
	o = json_object();
	json_put_str(o, NATIVE_JSON_FILE, x.path);
	json_put_str(o, NATIVE_JSON_SHA256, x.sha256);
	json_put(root, NATIVE_JSON_ARCHIVE, o);
}

static cJSON *agent_vector(struct argv *w)
{
	argv_begin(w,
		   &(struct argv_run){.image = root_word(w),
				      .name = DOCKER_JSON_AGENT,
				      .input = DOCKER_JSON_TERMINAL});
	argv_put(w, "--network=container:" DOCKER_JSON_OURS DOCKER_JSON_GATE
		    "-{session}");
	/* the view knows by its number who asks */
	if (protects(w))
		argv_put(w, "--pid=container:" DOCKER_JSON_OURS DOCKER_JSON_VIEW
			    "-{session}");
	else if (native_asks(w->in->policy))
		argv_put(w, "--pid=container:" DOCKER_JSON_OURS
			    NATIVE_JSON_ASKED "-{session}");
	native_put_asked(w);
	argv_put(w, "--hostname=" GATE_AGENT_HOST);
	/* before other variables: of an image's root it has those, too */
	argv_put(w, NATIVE_JSON_PATH);
	put_system(w, image_is_own(w->in->policy->image.v));
	agent_hardening(w);
	if (!ir_masks_hold(w->in->policy))
		argv_put(w, NATIVE_JSON_MASKS);
	agent_mounts(w);
	put_args(w);
	docker_init_put(w);
	return argv_end(w);
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
	json_put_cstr(root, NATIVE_JSON_UPLINK,
		      ir_uplink_sockets(in->policy) ? NATIVE_JSON_SOCKETS
						    : NATIVE_JSON_TAP);
	json_put_cstr(root, DOCKER_JSON_LINK, DOCKER_JSON_VETH);
	put_archive(in, root);
	json_put(root, DOCKER_JSON_GATE, gate_vector(&w));
	json_put(root, DOCKER_JSON_AGENT, agent_vector(&w));
	if (native_traces(in->policy))
		json_put(root, DOCKER_JSON_TRACER, tracer_vector(&w));
	if (native_asks(in->policy))
		json_put(root, NATIVE_JSON_ASKED, asked_vector(&w));
	if (ir_masks_hold(in->policy))
		json_put(root, DOCKER_JSON_VIEW, view_vector(&w));
	agent_session(in, root);
	argv_text(&w, root, out);
	return true;
}
