#include "compiler/emit/docker.h"

#include "compiler/base/json.h"
#include "compiler/emit/docker_names.h"
#include "compiler/emit/gate_cfg.h"
#include "compiler/ir/tracee.h"
#include "compiler/ir/variable.h"

#include <inttypes.h>

#define AGENT_IMAGE "membrane-agent"
#define GATE_IMAGE  "membrane-gate"
#define WATCH_IMAGE "membrane-watch"
/* Docker refuses less: daemon/daemon_unix.go. */
#define MEMORY_MIN_BYTES (6u << 20)

struct writer {
	const struct emit_in *in;
	const struct ir_policy *p;
	bool bridge; /* else the agent joins the gate's network namespace */
	cJSON *argv;
	/* For marks: the words of raw arguments, in the order of sources. */
	VEC(struct json_place) words;
	VEC(const struct arg *) args;
};

/* --- words --------------------------------------------------------------- */

/* Our own words, with their placeholders. */
static void put(struct writer *w, const char *word)
{
	json_push_str(w->argv, str_of(word));
}

/* Braces of the policy's own are no placeholders. */
static void escape(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '{' || s.p[i] == '}')
			buf_addc(out, s.p[i]);
		buf_addc(out, s.p[i]);
	}
}

/*
 * --option=value in one word: whatever the value is, it cannot be taken for an
 * option of its own.
 */
static void put_value(struct writer *w, const char *option, struct str value)
{
	struct buf b;

	buf_init(&b, w->in->a);
	buf_addf(&b, "--%s=", option);
	escape(&b, value);
	json_push_str(w->argv, buf_str(&b));
}

static void put_u64(struct writer *w, const char *option, uint64_t v)
{
	put_value(w, option, arena_fmt(w->in->a, "%" PRIu64, v));
}

/* A raw argument's value: $NAME, ${NAME} and $$; passes/args.c checked it. */
static void put_raw(struct writer *w, const struct arg *arg)
{
	struct str s = arg->value;
	struct buf b;
	size_t n;

	buf_init(&b, w->in->a);
	buf_addf(&b, "--%.*s", STR_ARG(arg->option));
	if (arg->has_value)
		buf_addc(&b, '=');
	for (size_t i = 0; i < s.n; i += n) {
		struct str name;

		n = s.p[i] == '$' ? variable_at(s, i, &name) : 0;
		if (n == 0) {
			escape(&b, str_slice(s, i, i + 1));
			n = 1;
		} else if (name.n) {
			buf_addf(&b, "{env:%.*s}", STR_ARG(name));
		} else {
			buf_addc(&b, '$');
		}
	}
	json_push_str(w->argv, buf_str(&b));
	if (!w->in->marks)
		return;
	*vec_push(w->in->a, &w->args) = arg;
	*vec_push(w->in->a, &w->words) = (struct json_place){
		cJSON_GetArrayItem(w->argv, cJSON_GetArraySize(w->argv) - 1),
		0};
}

static void put_session(struct writer *w, const char *role)
{
	put(w, arena_fmt(w->in->a, "--name=membrane-%s-{session}", role).p);
	put(w, "--label=membrane.session={session}");
	put(w, arena_fmt(w->in->a, "--label=membrane.role=%s", role).p);
	/* What a container prints goes to membrane, not to the host's disk. */
	put(w, "--log-driver=none");
}

static bool is_host_identity(const struct arg *arg)
{
	return str_is(arg->option, "hostname") ||
	       str_is(arg->option, "domainname") ||
	       str_is(arg->option, "add-host");
}

/* Over a bridge, names and hosts file are the agent's own. */
static enum arg_home home_of(struct writer *w, const struct arg *arg)
{
	return w->bridge && is_host_identity(arg) ? ARG_AGENT : arg->home;
}

static void put_args(struct writer *w, enum arg_home home)
{
	vec_each(arg, &w->p->docker_args)
		if (home_of(w, arg) == home)
			put_raw(w, arg);
}

/* --- the gate ------------------------------------------------------------ */

/*
 * HAProxy has a user of its own, which the gate can start it as, and end. It
 * has a thread for each processor, two descriptors for each end of what it
 * decrypts, and a log that it does not wait for. The gate has all that where
 * nothing needs HAProxy, too: a session may be allowed something that does.
 */
static void put_proxy(struct writer *w)
{
	put(w, "--cap-add=KILL");
	put(w, "--cap-add=SETGID");
	put(w, "--cap-add=SETUID");
	put(w, "--sysctl=net.unix.max_dgram_qlen=4096");
	put(w, "--tmpfs=/run/gate:mode=770,uid=64100,gid=0,size=64m");
	put(w, "--ulimit=nofile=20000:20000");
	put(w, "--pids-limit=1024");
	put(w, "--memory=1g");
}

/*
 * SYS_ADMIN for the second network namespace; given up, with the rest but
 * NET_ADMIN, once the link is up. The switches must be set from outside: the
 * container's /proc/sys is read-only.
 */
static cJSON *gate(struct writer *w)
{
	cJSON *o = json_object();

	json_put_cstr(o, "image", GATE_IMAGE);
	w->argv = json_array();
	put(w, "docker");
	put(w, "run");
	put(w, "--rm");
	put(w, "--interactive");
	/* It is built here: nobody else's image of that name is wanted. */
	put(w, "--pull=never");
	put_session(w, "gate");
	put(w, "--hostname=membrane");
	if (w->p->uplink.set)
		put_value(w, "network", w->p->uplink.v);
	put(w, "--cap-drop=ALL");
	put(w, "--cap-add=NET_ADMIN");
	put(w, "--cap-add=NET_BIND_SERVICE");
	put(w, "--cap-add=SETPCAP");
	put(w, "--cap-add=SYS_ADMIN");
	put(w, "--security-opt=no-new-privileges");
	put(w, "--read-only");
	put(w, "--sysctl=net.ipv4.ip_forward=1");
	put(w, "--sysctl=net.ipv6.conf.all.forwarding=1");
	/* Docker turns it off for interfaces to come; agent0 is one. */
	put(w, "--sysctl=net.ipv6.conf.default.disable_ipv6=0");
	put_proxy(w);
	put(w, "--mount=type=bind,source={state}/sessions/{session}/plan,"
	       "target=/plan,readonly");
	put_args(w, ARG_GATE);
	put(w, GATE_IMAGE);
	json_put(o, "argv", w->argv);
	return o;
}

/* --- the agent ----------------------------------------------------------- */

static void put_hardening(struct writer *w)
{
	const struct ir_hardening *h = &w->p->hardening;

	if (h->user.set) {
		put_value(w, "user", h->user.v);
	} else {
		put(w, "--user");
		put(w, "{owner}");
	}
	put(w, "--cap-drop=ALL");
	vec_each(cap, &h->capabilities)
		put_value(w, "cap-add", cap->s);
	if (!h->no_new_privileges.set || h->no_new_privileges.v)
		put(w, "--security-opt=no-new-privileges");
	if (h->seccomp.set && !str_is(h->seccomp.v, "default"))
		put_value(w, "security-opt",
			  arena_fmt(w->in->a, "seccomp=%.*s",
				    STR_ARG(h->seccomp.v)));
	if (h->read_only.set && h->read_only.v)
		put(w, "--read-only");
	vec_each(t, &h->tmpfs)
		put_value(w, "tmpfs", t->s);
	put_u64(w, "pids-limit", h->pids.set ? h->pids.v : 4096);
	if (h->memory.set)
		put_u64(w, "memory", h->memory.v);
	if (h->cpus_milli.set)
		put_value(w, "cpus",
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

static bool own_image(struct writer *w)
{
	return !w->p->image.set || str_is(w->p->image.v, AGENT_IMAGE);
}

static void put_roots(struct writer *w)
{
	static const char *const files[] = {"bundle", "ca"};

	if (!gate_cfg_decrypts(w->p))
		return;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		put(w, arena_fmt(w->in->a,
				 "--mount=type=bind,source={state}/sessions/"
				 "{session}/%s.pem,target=/etc/membrane/%s.pem,"
				 "readonly",
				 files[i], files[i])
			       .p);
	/* For those that no variable reaches: apt, wget. */
	if (own_image(w))
		put(w, "--mount=type=bind,source={state}/sessions/{session}/"
		       "bundle.pem,target=/etc/ssl/certs/ca-certificates.crt,"
		       "readonly");
	for (size_t i = 0; i < ARRAY_LEN(ca_variables); i++)
		put(w, arena_fmt(w->in->a, "--env=%s=/etc/membrane/%s.pem",
				 ca_variables[i].name, ca_variables[i].file)
			       .p);
}

static void put_mounts(struct writer *w)
{
	put(w, "--mount=type=bind,"
	       "source={state}/sessions/{session}/resolv.conf,"
	       "target=/etc/resolv.conf,readonly");
	put(w, "--mount=type=bind,source={workspace},target=/workspace");
	put(w, "--mount=type=bind,source={home},target=/home/agent");
	put(w, "{masks}");
	put(w, "--workdir=/workspace");
	put(w, "--env=HOME=/home/agent");
	put_roots(w);
}

/* Where the launcher finds what the gate gets; never what it is. */
static cJSON *credentials(struct writer *w)
{
	cJSON *list = json_array();
	uint32_t n = 0;

	vec_each(c, &w->p->credentials) {
		cJSON *o = json_object();

		json_put_u64(o, "n", ++n);
		json_put_str(o, c->from_env ? "from_env" : "from_file",
			     c->source);
		json_push(list, o);
	}
	return list;
}

static cJSON *agent(struct writer *w)
{
	struct str image = own_image(w) ? STR(AGENT_IMAGE) : w->p->image.v;
	cJSON *o = json_object();

	json_put_str(o, "image", image);
	w->argv = json_array();
	put(w, "docker");
	put(w, "run");
	put(w, "--rm");
	put(w, "{terminal}");
	if (own_image(w))
		put(w, "--pull=never");
	put_session(w, "agent");
	if (w->bridge) {
		put_value(w, "runtime",
			  str_of(ir_runtime_name(w->p->runtime.v)));
		put(w, "--network=membrane-{session}");
		/* The built-in tracer knows it by this, and nobody else's. */
		put(w, "--hostname=membrane-{session}");
	} else {
		put(w, "--network=container:membrane-gate-{session}");
	}
	put_hardening(w);
	put_mounts(w);
	put_args(w, ARG_AGENT);
	json_push_str(w->argv, image);
	put(w, "{command}");
	json_put(o, "argv", w->argv);
	return o;
}

/* --- the tracer ---------------------------------------------------------- */

/*
 * Tracee's own program, not the image's script around it: that would not pass
 * the signal on which Tracee writes what is left.
 */
static void put_tracee_program(struct writer *w, struct str image)
{
	put(w, "--entrypoint=/tracee/tracee");
	json_push_str(w->argv, image);
}

/* What it says of itself; a tag can be put on anything. */
static cJSON *tracee_version(struct writer *w, struct str image)
{
	cJSON *o = json_object();

	json_put_str(o, "image", image);
	w->argv = json_array();
	put(w, "docker");
	put(w, "run");
	put(w, "--rm");
	put(w, "--pull=never");
	put(w, "--name=membrane-tracer-version-{session}");
	put(w, "--label=membrane.session={session}");
	put(w, "--label=membrane.role=version");
	put(w, "--log-driver=none");
	put(w, "--network=none");
	put(w, "--cap-drop=ALL");
	put(w, "--security-opt=no-new-privileges");
	put(w, "--read-only");
	put_tracee_program(w, image);
	put(w, "version");
	json_put(o, "argv", w->argv);
	return o;
}

/*
 * The host's processes and cgroups are what it tells containers by. It gets
 * what its list of least privileges names (docs/install/prerequisites, with
 * SYS_ADMIN: where perf_event_paranoid is 2 or more, as on most hosts, its
 * code does not use BPF and PERFMON), and of AppArmor's default profile
 * nothing, which lets it look at no process but its own. No Docker socket: it
 * would only look up names and images.
 */
static void put_tracee_rights(struct writer *w)
{
	static const char *const caps[] = {
		"IPC_LOCK",  "NET_ADMIN",  "SETPCAP",	   "SYSLOG",
		"SYS_ADMIN", "SYS_PTRACE", "SYS_RESOURCE",
	};

	put(w, "--network=none");
	put(w, "--pid=host");
	put(w, "--cgroupns=host");
	put(w, "--cap-drop=ALL");
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		put_value(w, "cap-add", str_of(caps[i]));
	put(w, "--security-opt=no-new-privileges");
	put(w, "--security-opt=apparmor=unconfined");
	put(w, "--read-only");
	put(w, "--tmpfs=/tmp:mode=755,size=64m");
	put(w, "--pids-limit=512");
	put(w, "--memory=1g");
}

static cJSON *tracee(struct writer *w, struct str image, unsigned release)
{
	cJSON *o = json_object();

	json_put_str(o, "image", image);
	w->argv = json_array();
	put(w, "docker");
	put(w, "run");
	put(w, "--rm");
	/* It gets near to everything: what is not here is not fetched. */
	put(w, "--pull=never");
	put_session(w, "tracer");
	put_tracee_rights(w);
	put(w, "--mount=type=bind,source=/etc/os-release,"
	       "target=/etc/os-release-host,readonly");
	put(w, "--env=LIBBPFGO_OSRELEASE_FILE=/etc/os-release-host");
	put(w, "--mount=type=bind,source={state}/sessions/{session}/plan,"
	       "target=/plan,readonly");
	put_tracee_program(w, image);
	put(w, "--policy");
	put(w, "/plan/tracee.yaml");
	put(w, "--output");
	put(w, "json");
	/* That it is ready, and what it cannot record, it says only so. */
	put(w, "--log");
	put(w, "debug");
	if (release < TRACEE_RELEASE_CONTAINERS) {
		put(w, "--no-containers");
	} else {
		put(w, "--containers");
		put(w, "enrich=false");
	}
	json_put(o, "argv", w->argv);
	return o;
}

static void put_tracee(struct writer *w, cJSON *root)
{
	const struct ir_trace *t = &w->p->trace;
	struct str version =
		t->version.set ? t->version.v : STR(TRACEE_DEFAULT_VERSION);
	struct str image =
		arena_fmt(w->in->a, "aquasec/tracee:%.*s", STR_ARG(version));
	unsigned release = TRACEE_RELEASE_DEFAULT;

	/* Known: passes/trace refuses any other. */
	(void)!tracee_release(version, &release);
	json_put(root, "tracer", tracee(w, image, release));
	json_put(root, "tracer_version", tracee_version(w, image));
}

/*
 * The built-in tracer sees the whole kernel, so it gets nothing else: no
 * network, no file but the plan, no process but itself. {tracing} is the least
 * that the running Docker can give for loading programs.
 */
static cJSON *watch(struct writer *w)
{
	cJSON *o = json_object();

	json_put_cstr(o, "image", WATCH_IMAGE);
	w->argv = json_array();
	put(w, "docker");
	put(w, "run");
	put(w, "--rm");
	put(w, "--interactive");
	put(w, "--pull=never");
	put_session(w, "tracer");
	put(w, "--network=none");
	put(w, "--cap-drop=ALL");
	put(w, "{tracing}");
	put(w, "--security-opt=no-new-privileges");
	put(w, "--read-only");
	put(w, "--pids-limit=16");
	put(w, "--memory=512m");
	put(w, "--mount=type=bind,source={state}/sessions/{session}/plan,"
	       "target=/plan,readonly");
	put(w, WATCH_IMAGE);
	json_put(o, "argv", w->argv);
	return o;
}

static void put_tracer(struct writer *w, cJSON *root)
{
	const struct ir_trace *t = &w->p->trace;

	if (!t->engine.set || t->events.n == 0)
		return;
	switch (t->engine.v) {
	case IR_TRACE_NATIVE:
		json_put(root, "tracer", watch(w));
		return;
	case IR_TRACE_TRACEE:
		put_tracee(w, root);
		return;
	case IR_TRACE_OFF:
		return;
	}
}

/* --- what Docker would refuse -------------------------------------------- */

static bool check_image(const struct emit_in *in)
{
	const ir_opt_str *image = &in->policy->image;

	if (!image->set || docker_names_image(image->v))
		return true;
	diag_error(in->diags, DIAG_IMAGE, image->from.at,
		   "'%s' is not the name of an image",
		   diag_quote(in->diags, image->v));
	diag_help(in->diags, "write [HOST/]NAME[:TAG][@DIGEST], the name in "
			     "lower case");
	return false;
}

static bool check_uplink(const struct emit_in *in)
{
	const ir_opt_str *uplink = &in->policy->uplink;

	if (!uplink->set || docker_names_network(uplink->v))
		return true;
	diag_error(in->diags, DIAG_UPLINK, uplink->from.at,
		   "'%s' is no Docker network that the gate could go out "
		   "through",
		   diag_quote(in->diags, uplink->v));
	diag_help(in->diags, "write the name of a network that 'docker "
			     "network ls' shows with driver bridge");
	return false;
}

static bool check_capability(const struct emit_in *in,
			     const struct ir_text *cap)
{
	const char *best = NULL, *c;
	unsigned least = 3;

	if (docker_names_capability(cap->s))
		return true;
	for (size_t i = 0; (c = docker_names_capability_at(i)); i++) {
		unsigned d = str_distance(cap->s, str_of(c), 2);

		if (d < least) {
			least = d;
			best = c;
		}
	}
	diag_error(in->diags, DIAG_HARDENING, cap->from.at,
		   "unknown capability '%s'", diag_quote(in->diags, cap->s));
	if (best)
		diag_help(in->diags, "did you mean '%s'?", best);
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
	diag_help(in->diags, "write an absolute path in the container, but "
			     "not /workspace, /home/agent or /");
	return false;
}

static bool check_seccomp(const struct emit_in *in)
{
	const ir_opt_str *s = &in->policy->hardening.seccomp;

	if (!s->set || s->v.n > 0)
		return true;
	diag_error(in->diags, DIAG_HARDENING, s->from.at,
		   "no seccomp profile is named");
	diag_help(in->diags, "write 'default', 'unconfined' or a file");
	return false;
}

static bool check_hardening(const struct emit_in *in)
{
	const struct ir_hardening *h = &in->policy->hardening;
	bool ok = check_seccomp(in);

	vec_each(cap, &h->capabilities)
		ok &= check_capability(in, cap);
	vec_each(t, &h->tmpfs)
		ok &= check_tmpfs(in, t);
	if (h->user.set && !docker_names_user(h->user.v)) {
		diag_error(in->diags, DIAG_HARDENING, h->user.from.at,
			   "'%s' is not a user",
			   diag_quote(in->diags, h->user.v));
		diag_help(in->diags, "write USER or USER:GROUP, by name or "
				     "number");
		ok = false;
	}
	if (h->memory.set && h->memory.v < MEMORY_MIN_BYTES) {
		diag_error(in->diags, DIAG_HARDENING, h->memory.from.at,
			   "%" PRIu64 " bytes of memory: Docker wants 6 MiB "
			   "at least",
			   h->memory.v);
		ok = false;
	}
	if (h->pids.set && h->pids.v == 0) {
		/* Docker takes 0 for "no limit". */
		diag_error(in->diags, DIAG_HARDENING, h->pids.from.at,
			   "no process at all could run");
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

	if (p->uplink.set && !str_is(p->uplink.v, "bridge"))
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

	if (!bridge || p->trace.engine.v != IR_TRACE_NATIVE ||
	    p->trace.events.n == 0)
		return true;
	vec_each(arg, &p->docker_args) {
		if (!str_is(arg->option, "hostname"))
			continue;
		diag_error(in->diags, DIAG_ARG_NEEDS, arg->from.at,
			   "with this runtime the built-in tracer knows the "
			   "agent by its host name");
		diag_help(in->diags, "leave it out, or write 'trace: {engine: "
				     "\"off\"}'");
		ok = false;
	}
	return ok;
}

bool docker_wanted(const struct ir_policy *p)
{
	return !p->engine.set || p->engine.v == IR_ENGINE_DOCKER;
}

static void mark_words(const struct writer *w)
{
	for (uint32_t i = 0; i < w->words.n; i++)
		marks_add(w->in->marks,
			  (struct marks_one){.at = w->words.v[i].at,
					     .from = &w->args.v[i]->from,
					     .uses = MARKS_ARG,
					     .reasons = MARKS_FOR(GRANTED)});
}

bool docker_emit(const struct emit_in *in, struct buf *out)
{
	const struct ir_policy *p = in->policy;
	enum ir_runtime runtime =
		p->runtime.set ? p->runtime.v : IR_RUNTIME_RUNC;
	struct writer w = {
		.in = in, .p = p, .bridge = runtime != IR_RUNTIME_RUNC};
	bool ok = check_image(in);
	cJSON *root;

	ok &= check_uplink(in);
	ok &= check_hardening(in);
	ok &= check_needs(in);
	ok &= check_host_name(in, w.bridge);
	if (!ok)
		return false;
	root = json_object();
	json_put_u64(root, "version", 1);
	json_put_cstr(root, "engine", "docker");
	json_put_cstr(root, "runtime", ir_runtime_name(runtime));
	json_put_cstr(root, "link", w.bridge ? "bridge" : "veth");
	json_put(root, "gate", gate(&w));
	json_put(root, "agent", agent(&w));
	put_tracer(&w, root);
	if (p->credentials.n)
		json_put(root, "credentials", credentials(&w));
	buf_add(out, json_text_at(in->a, root, w.words.v, w.words.n));
	mark_words(&w);
	return true;
}
