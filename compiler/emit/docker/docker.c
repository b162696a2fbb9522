#include "compiler/emit/docker/docker.h"

#include "compiler/emit/docker/argv.h"
#include "compiler/emit/docker/parts.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/emit/gate/gate_cfg.h"
#include "compiler/emit/git/git_files.h"
#include "compiler/emit/git/known_hosts.h"
#include "compiler/ir/docker_mount.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"

#include <inttypes.h>

static enum ir_runtime runtime_of(const struct ir_policy *p)
{
	return p->runtime.set ? p->runtime.v : IR_RUNTIME_RUNC;
}

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
	if (uplink->set)
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
	if (w->in->policy->upstream_ca.set)
		argv_put(
			w,
			"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_UPSTREAM_CA_FILE
			",target=" GATE_UPSTREAM_CA ",readonly");
	put_args(w, ARG_GATE);
	argv_image(w);
	if (w->in->policy->resolver.v.host)
		argv_put(w, DOCKER_JSON_RESOLVER);
	return argv_end(w);
}

/* Renewals leave by the uplink that the policy names, for the launcher. */
static bool renews_by_uplink(const struct ir_policy *p)
{
	bool any = false;

	vec_each(c, &p->credentials)
		any |= c->has_refresh;
	return any && p->uplink.set;
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

/* Docker's command reads the file, here; what it hands to the daemon is its
 * text. Without a word the daemon's own default holds. */
static void put_seccomp(struct argv *w)
{
	const ir_opt_str *s = &w->in->policy->hardening.seccomp;

	if (seccomp_wanted(w->in->policy))
		argv_put(
			w,
			"--security-opt=seccomp={state}/sessions/{session}/plan/" PLAN_SECCOMP);
	else if (s->set && !str_is(s->v, "default") && !str_is(s->v, "docker"))
		argv_value(w, "security-opt",
			   arena_fmt(w->in->a, "seccomp=%.*s", STR_ARG(s->v)));
}

static bool is_at(struct arena *a, enum docker_run_id option, struct str value,
		  const char *path)
{
	struct str target;
	bool empty;

	return docker_mount_place(a, option, value, &target, &empty) &&
	       str_is(target, path);
}

/* Does the policy mount something there itself? Docker takes no two. */
static bool has_mount(const struct argv *w, const char *path)
{
	const struct ir_policy *p = w->in->policy;

	vec_each(t, &p->hardening.tmpfs)
		if (is_at(w->in->a, DOCKER_RUN_tmpfs, t->s, path))
			return true;
	vec_each(arg, &p->docker_args) {
		const struct docker_run_option *o =
			docker_run_named(arg->option);

		if (o && is_at(w->in->a, o->id, arg->value, path))
			return true;
	}
	return false;
}

/* Hardly a program lives without the first, and builds run what they make
 * there. */
static void put_read_only(struct argv *w)
{
	argv_put(w, "--read-only");
	if (!has_mount(w, "/tmp"))
		argv_put(w, "--tmpfs=/tmp:exec,nosuid,nodev,mode=1777,size=1g");
	if (!has_mount(w, "/run"))
		argv_put(w, "--tmpfs=/run:nosuid,nodev,mode=1777,size=64m");
}

static void put_hardening(struct argv *w)
{
	const struct ir_hardening *h = &w->in->policy->hardening;

	if (h->user.set) {
		argv_value(w, "user", h->user.v);
	} else {
		argv_put(w, "--user");
		argv_put(w, DOCKER_JSON_OWNER);
	}
	argv_put(w, "--cap-drop=ALL");
	vec_each(cap, &h->capabilities)
		argv_value(w, "cap-add", cap->s);
	if (!h->no_new_privileges.set || h->no_new_privileges.v)
		argv_put(w, "--security-opt=no-new-privileges");
	put_seccomp(w);
	if (h->read_only.set && h->read_only.v)
		put_read_only(w);
	vec_each(t, &h->tmpfs)
		argv_value(w, "tmpfs", t->s);
	argv_u64(w, "pids-limit", h->pids.set ? h->pids.v : 4096);
	if (h->memory.set)
		argv_u64(w, "memory", h->memory.v);
	if (h->cpus_milli.set)
		argv_value(w, "cpus",
			   arena_fmt(w->in->a, "%" PRIu64 ".%03" PRIu64,
				     h->cpus_milli.v / 1000,
				     h->cpus_milli.v % 1000));
}

/* Where programs look for roots; those that add to their own get the one. */
static const struct {
	const char *name, *file;
} ca_variables[] = {
	{"AWS_CA_BUNDLE", "bundle"},  {"CARGO_HTTP_CAINFO", "bundle"},
	{"CURL_CA_BUNDLE", "bundle"}, {"DENO_CERT", "ca"},
	{"GIT_SSL_CAINFO", "bundle"}, {"NODE_EXTRA_CA_CERTS", "ca"},
	{"PIP_CERT", "bundle"},	      {"REQUESTS_CA_BUNDLE", "bundle"},
	{"SSL_CERT_FILE", "bundle"},  {"npm_config_cafile", "bundle"},
};

static bool has_own_image(const struct ir_policy *p)
{
	return !p->image.set || str_is(p->image.v, DOCKER_JSON_IMAGE_AGENT);
}

static void put_roots(struct argv *w)
{
	static const char *const files[] = {"bundle", "ca"};

	if (!gate_cfg_decrypts(w->in->policy) &&
	    !w->in->policy->upstream_ca.set)
		return;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		argv_put(
			w,
			arena_fmt(
				w->in->a,
				"--mount=type=bind,source={state}/sessions/{session}/%s.pem,target=/etc/membrane/%s.pem,readonly",
				files[i], files[i])
				.p);
	/* For those that no variable reaches: apt, wget. */
	if (has_own_image(w->in->policy))
		argv_put(
			w,
			"--mount=type=bind,source={state}/sessions/{session}/bundle.pem,target=/etc/ssl/certs/ca-certificates.crt,readonly");
	for (size_t i = 0; i < ARRAY_LEN(ca_variables); i++)
		argv_put(w,
			 arena_fmt(w->in->a, "--env=%s=/etc/membrane/%s.pem",
				   ca_variables[i].name, ca_variables[i].file)
				 .p);
}

/* A file of the plan that programs inside read. */
static void put_plan_file(struct argv *w, const char *file, const char *at)
{
	argv_put(
		w,
		arena_fmt(
			w->in->a,
			"--mount=type=bind,source={state}/sessions/{session}/plan/%s,target=%s,readonly",
			file, at)
			.p);
}

static void put_git(struct argv *w)
{
	put_plan_file(w, PLAN_GIT, DOCKER_JSON_GIT_AT);
	if (git_files_wanted(w->in->policy)) {
		put_plan_file(w, PLAN_GIT_ATTRIBUTES,
			      DOCKER_JSON_GIT_ATTRIBUTES_AT);
		put_plan_file(w, PLAN_GIT_EXCLUDE, DOCKER_JSON_GIT_EXCLUDE_AT);
	}
	argv_put(w, "--env=GIT_CONFIG_SYSTEM=" DOCKER_JSON_GIT_AT);
	argv_put(w, DOCKER_JSON_GIT);
	argv_put(w, DOCKER_JSON_REPOSITORY);
	if (known_hosts_wanted(w->in->policy))
		put_plan_file(w, PLAN_KNOWN_HOSTS, DOCKER_JSON_KNOWN_HOSTS_AT);
}

/* The launcher answers there, with what the user's own one says. */
static void put_ssh_agent(struct argv *w)
{
	if (!ir_ssh_agent(w->in->policy))
		return;
	argv_put(
		w,
		"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_SSH_SOCKET
		",target=" DOCKER_JSON_SSH_SOCKET_AT ",readonly");
	argv_put(w, "--env=SSH_AUTH_SOCK=" DOCKER_JSON_SSH_SOCKET_AT);
}

static void put_mounts(struct argv *w)
{
	argv_put(
		w,
		"--mount=type=bind,source={state}/sessions/{session}/resolv.conf,target=/etc/resolv.conf,readonly");
	argv_put(w, docker_view_workspace(w->in->policy));
	argv_put(w, docker_view_home(w->in->policy));
	if (!ir_masks_hold(w->in->policy))
		argv_put(w, DOCKER_JSON_MASKS);
	argv_put(w, "--workdir=/workspace");
	if (ir_masks_hold(w->in->policy))
		argv_put(w, DOCKER_JSON_OWN_PATH);
	argv_put(w, "--env=HOME=/home/agent");
	docker_init_environment(w);
	put_plan_file(w, PLAN_README, DOCKER_JSON_README_AT);
	docker_view_seal(w);
	put_git(w);
	put_ssh_agent(w);
	put_roots(w);
}

/* Not of the first: a plan says nothing of it, as those before there was a
 * choice. */
static const char *home_word(enum ir_home h)
{
	switch (h) {
	case IR_HOME_SHARED:
		break;
	case IR_HOME_WORKSPACE:
		return DOCKER_JSON_HOME_WORKSPACE;
	case IR_HOME_NONE:
		return DOCKER_JSON_HOME_NONE;
	}
	return NULL;
}

static cJSON *fields_json(const struct ir_credential *c)
{
	cJSON *list = json_array();

	vec_each(f, &c->fields)
		json_push_str(list, f->s);
	return list;
}

/* Where the launcher finds what the gate gets; never what it is. */
static cJSON *credentials_json(struct arena *a, const struct ir_policy *p)
{
	cJSON *list = json_array();
	uint32_t n = 0;

	vec_each(c, &p->credentials) {
		cJSON *o = json_object();

		json_put_u64(o, DOCKER_JSON_NUMBER, ++n);
		json_put_str(o,
			     c->fields.n   ? DOCKER_JSON_FILE
			     : c->from_env ? DOCKER_JSON_FROM_ENV
					   : DOCKER_JSON_FROM_FILE,
			     c->source);
		if (c->fields.n)
			json_put(o, DOCKER_JSON_FIELDS, fields_json(c));
		if (c->has_refresh)
			json_put_str(o, DOCKER_JSON_REFRESH,
				     ir_dest_text(a, &c->refresh));
		json_push(list, o);
	}
	return list;
}

static cJSON *agent_vectors(struct argv *w)
{
	const struct ir_policy *p = w->in->policy;
	bool own = has_own_image(p);

	argv_begin(w, &(struct argv_run){
			      .image = own ? STR(DOCKER_JSON_IMAGE_AGENT)
					   : p->image.v,
			      .name = DOCKER_JSON_AGENT,
			      .input = DOCKER_JSON_TERMINAL,
			      .may_pull = !own});
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
	put_hardening(w);
	put_mounts(w);
	put_args(w, ARG_AGENT);
	docker_init_put(w);
	return argv_end(w);
}

bool docker_wanted(const struct ir_policy *p)
{
	return !p->engine.set || p->engine.v == IR_ENGINE_DOCKER;
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
		      ir_runtime_name(runtime_of(p)));
	json_put_cstr(root, DOCKER_JSON_LINK,
		      bridge ? DOCKER_JSON_BRIDGE : DOCKER_JSON_VETH);
	json_put(root, DOCKER_JSON_GATE, gate_vectors(&w));
	json_put(root, DOCKER_JSON_AGENT, agent_vectors(&w));
	if (renews_by_uplink(p))
		json_put(root, DOCKER_JSON_RELAY, relay_vectors(&w));
	docker_view_put(&w, root);
	docker_tracer_put(&w, root);
	if (ir_ssh_agent(p))
		json_put(root, DOCKER_JSON_SSH_AGENT, cJSON_CreateTrue());
	if (home_word(p->home.v))
		json_put_cstr(root, DOCKER_JSON_HOME, home_word(p->home.v));
	if (p->upstream_ca.set)
		json_put_str(root, DOCKER_JSON_UPSTREAM_CA, p->upstream_ca.v);
	docker_ports_put(in, root);
	if (p->credentials.n)
		json_put(root, DOCKER_JSON_CREDENTIALS,
			 credentials_json(in->a, p));
	argv_text(&w, root, out);
	return true;
}
