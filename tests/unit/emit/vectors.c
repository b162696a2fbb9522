/*
 * docker.json and native.json: which words each part of a session is begun
 * with, by policy, and what the launcher is told. What is the same in each is
 * in tests/cases/docker-*, native-*.
 */
#include "compiler/emit/docker/docker.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/emit/native/native.h"
#include "tests/unit/emit/compiled.h"

#include <cjson/cJSON.h>

static struct arena *a;

/* --- JSON as lines: "gate --read-only", "upstream.from_env=PROXY" -----------
 */

static void add_words(struct buf *b, const char *part, const cJSON *argv)
{
	const cJSON *w;

	cJSON_ArrayForEach(w, argv)
		buf_addf(b, "%s %s\n", part, w->valuestring);
}

static void add_values(struct buf *b, const char *path, const cJSON *v)
{
	const cJSON *item;
	unsigned i = 0;

	if (cJSON_HasObjectItem(v, "argv")) {
		add_words(b, path, cJSON_GetObjectItem(v, "argv"));
		return;
	}
	if (cJSON_IsString(v))
		buf_addf(b, "%s=%s\n", path, v->valuestring);
	else if (cJSON_IsNumber(v))
		buf_addf(b, "%s=%d\n", path, v->valueint);
	else if (cJSON_IsTrue(v))
		buf_addf(b, "%s=true\n", path);
	cJSON_ArrayForEach(item, v)
		add_values(b,
			   item->string
				   ? arena_fmt(a, "%s%s%s", path,
					       *path ? "." : "", item->string)
					     .p
				   : arena_fmt(a, "%s[%u]", path, i++).p,
			   item);
}

struct row {
	const char *policy, *lines;
};

static void check_row(const char *engine,
		      bool (*emit)(const struct emit_in *, struct buf *),
		      const struct row *row)
{
	struct compiled t;
	struct buf out, b;
	cJSON *json;

	compiled_init(&t, arena_fmt(a, "engine: %s\n%s", engine, row->policy).p,
		      LAYER_GLOBAL);
	buf_init(&out, t.a);
	CHECK(emit(&t.in, &out));
	json = cJSON_Parse(out.p);
	buf_init(&b, t.a);
	add_values(&b, "", json);
	check_lines(a, row->policy, buf_keep(&b), row->lines);
	cJSON_Delete(json);
	compiled_done(&t);
}

#define SESSION "{state}/sessions/{session}/"
#define BIND	"--mount=type=bind,source="

/* --- docker ----------------------------------------------------------------
 */

#define DECRYPTED "allow: [{dest: a.example.com, ports: [443], tls: inspect}]\n"
#define SYSTEM_ROOTS                                                           \
	BIND SESSION                                                           \
		"bundle.pem,target=/etc/ssl/certs/ca-certificates.crt,readonly\n"
#define REFRESHED                                                              \
	"allow: [a.example.com:443]\n"                                         \
	"credentials:\n"                                                       \
	"  - {host: a.example.com, file: ~/t, fields: [a.access, a.refresh],"  \
	" refresh: https://a.example.com/t}\n"

static const struct row docker[] = {
	{"", "runtime=runc\nlink=veth\n"
	     "gate --resolver={resolver}\n"
	     "agent --pids-limit=4096\n"
	     "!gate --network\n!relay\n!host_ports\n!upstream\n!home\n"
	     "!agent --read-only\n!agent --memory\n"},
	{"dns_resolver: 192.0.2.53\n", "!gate --resolver={resolver}\n"},
	/* names are the proxy's to ask for, but those that go past it */
	{"upstream: http://proxy.example.com:3128\n",
	 "upstream.proxy=proxy.example.com:3128\n"
	 "!gate --resolver\n!upstream.from\n!upstream.direct\n"},
	{"upstream: http://192.0.2.7:3128\n", "!gate --resolver={resolver}\n"},
	{"upstream: {proxy: http://192.0.2.7:3128, direct: [a.example.com, 10.0.0.0/8]}\n",
	 "gate --resolver={resolver}\n"
	 "upstream.direct[0]=a.example.com\n"
	 "upstream.direct[1]=10.0.0.0/8\n"},
	{"upstream: {proxy: http://192.0.2.7:3128, from_env: PROXY}\n",
	 "upstream.from_env=PROXY\n!upstream.from_file\n"},
	{"upstream: {proxy: http://192.0.2.7:3128, from_file: ~/p}\n",
	 "upstream.from_file=~/p\n!upstream.from_env\n"},
	{"allow: [\"host:5432\", \"host:80\"]\nports: [8080]\n",
	 "gate " BIND SESSION "ports,target=/ports,readonly\n"
	 "published[0].addr=127.0.0.1\n"
	 "published[0].port=8080\n"
	 "published[0].to=8080\n"
	 "host_ports[0]=80\n"
	 "host_ports[1]=5432\n"
	 "!host_ports[2]\n"},
	{"home: workspace\n", "home=workspace\n"},
	{"home: none\n", "home=none\n"},
	{"home: shared\n", "!home\n"},
	{"ssh_agent: true\n", "ssh_agent=true\n"},
	/* roots: of the session, and of the machine's own choice */
	{"upstream_ca: /etc/roots.pem\n",
	 "gate " BIND SESSION
	 "upstream-ca.pem,target=/upstream-ca.pem,readonly\n"
	 "agent --env=AWS_CA_BUNDLE=/etc/membrane/bundle.pem\n"
	 "agent --env=npm_config_cafile=/etc/membrane/bundle.pem\n"
	 "upstream_ca=/etc/roots.pem\n"},
	{DECRYPTED,
	 "agent " SYSTEM_ROOTS "agent --env=DENO_CERT=/etc/membrane/ca.pem\n"},
	{DECRYPTED "image: debian\n",
	 "agent --env=DENO_CERT=/etc/membrane/ca.pem\n!agent " SYSTEM_ROOTS},
	{"allow: [a.example.com:443]\n", "!agent --env=DENO_CERT\n"},
	{"image: debian\n",
	 "agent debian\n!agent --pull\n!agent membrane-agent\n"},
	{"image: membrane-agent\n",
	 "agent --pull=never\nagent membrane-agent\n"},
};

static const struct row hardened[] = {
	{"hardening: {read_only: true}\n",
	 "agent --read-only\n"
	 "agent --tmpfs=/tmp:exec,nosuid,nodev,mode=1777,size=1g\n"
	 "agent --tmpfs=/run:nosuid,nodev,mode=1777,size=64m\n"
	 "!agent --tmpfs=/var/tmp\n"},
	/* Docker takes no two mounts at one place */
	{"hardening: {read_only: true, tmpfs: [\"/tmp:size=1m\"]}\n",
	 "agent --tmpfs=/run:nosuid,nodev,mode=1777,size=64m\n"
	 "agent --tmpfs=/tmp:size=1m\n"
	 "!agent --tmpfs=/tmp:exec\n"},
	{"hardening: {read_only: true}\nargs: [--quiet, --tmpfs, /run]\n",
	 "agent --tmpfs=/tmp:exec,nosuid,nodev,mode=1777,size=1g\n"
	 "agent --tmpfs=/run\n"
	 "!agent --tmpfs=/run:\n"},
	{"hardening: {read_only: true}\nargs: [--mount, \"type=tmpfs,target=/tmp\"]\n",
	 "agent --tmpfs=/run:nosuid,nodev,mode=1777,size=64m\n"
	 "!agent --tmpfs=/tmp:\n"},
	{"hardening: {no_new_privileges: false, pids: 7, memory: 6m, cpus: 1.5}\n",
	 "agent --pids-limit=7\nagent --memory=6291456\nagent --cpus=1.500\n"
	 "!agent --security-opt=no-new\n"},
	{"hardening: {seccomp: docker}\n", "!agent --security-opt=seccomp\n"},
	{"hardening: {seccomp: unconfined}\n",
	 "agent --security-opt=seccomp=unconfined\n"},
	{"hardening: {seccomp: default}\n",
	 "agent --security-opt=seccomp=" SESSION "plan/seccomp.json\n"},
	{"runtime: sysbox-runc\n", "!agent --security-opt=seccomp\n"},
};

static const struct row others[] = {
	{"runtime: sysbox-runc\nargs: [--domainname, d, --publish, \"80\"]\n",
	 "runtime=sysbox-runc\nlink=bridge\n"
	 "gate --publish=80\n"
	 "agent --runtime=sysbox-runc\n"
	 "agent --domainname=d\n"
	 "!gate --domainname\n"},
	{"args: [--domainname, d]\n",
	 "gate --domainname=d\n!agent --domainname\n"},
	/* what renews tokens leaves by the uplink that is named */
	{REFRESHED "uplink: lab\n",
	 "gate --network=lab\n"
	 "relay --interactive\n"
	 "relay --pull=never\n"
	 "relay --network=lab\n"
	 "relay --user=64100\n"
	 "relay --cap-drop=ALL\n"
	 "relay --security-opt=no-new-privileges\n"
	 "relay --read-only\n"
	 "relay --pids-limit=4\n"
	 "relay --memory=64m\n"
	 "relay membrane-gate\n"
	 "relay --relay\n"
	 "credentials[0].n=1\n"
	 "credentials[0].file=~/t\n"
	 "credentials[0].fields[0]=a.access\n"
	 "credentials[0].fields[1]=a.refresh\n"
	 "credentials[0].refresh=https://a.example.com/t\n"},
	{REFRESHED, "!relay\n"},
	{REFRESHED "uplink: isolated\n", "!relay\n"},
	{"allow: [a.example.com:443]\nuplink: lab\n", "!relay\n"},
	/* an init is ours, the image's own, or none */
	{"args: [--init]\n", "agent --init\nagent --init=false\n"},
	{"args: [--init=false]\n",
	 "agent --init=false\nagent {command}\n"
	 "!agent --entrypoint\n!agent {entrypoint}\n"},
	{"args: [--init=false, --init]\n",
	 "agent --entrypoint=/etc/membrane/init\n"},
	/* release by release, by what it says of containers */
	{"trace: {engine: tracee, version: 0.23.2}\n",
	 "tracer aquasec/tracee:0.23.2\n"
	 "tracer --no-containers\n"
	 "!tracer --containers\n"},
	{"trace: {engine: tracee, version: 0.24.0}\n",
	 "tracer --containers\n"
	 "tracer enrich=false\n"
	 "tracer_version aquasec/tracee:0.24.0\n"
	 "tracer_version version\n"
	 "!tracer --no-containers\n"
	 "!tracer --interactive\n"},
	{"trace: {engine: \"off\"}\n", "!tracer\n"},
};

/* --- native ----------------------------------------------------------------
 */

static const struct row native[] = {
	{"allow: [a.example.com:443]\n",
	 "uplink=sockets\n"
	 "gate --sockets\n"
	 "gate --resolver={resolver}\n"
	 "agent --pid=container:membrane-asked-{session}\n"
	 "agent host\n"
	 "tracer /membrane-watch\n"
	 "asked --asked\n"
	 "!archive\n"},
	{"allow: [{dest: a.example.com, ports: [53/udp]}]\n",
	 "uplink=tap\ngate --await-uplink\n!gate --sockets\n"},
	{"allow: [a.example.com:443]\ndns_resolver: 192.0.2.53\n",
	 "!gate --resolver\n"},
	{"allow: [a.example.com:443]\nupstream: http://192.0.2.7:3128\n",
	 "!gate --resolver={resolver}\n"},
	{"allow: [a.example.com:443]\nupstream: {proxy: http://192.0.2.7:1, direct: [a.example.com]}\n",
	 "gate --resolver={resolver}\n"},
	{"allow: [\"host:80\"]\n",
	 "gate " BIND SESSION "ports,target=/ports,readonly\n"},
	{"trace: {engine: \"off\"}\n",
	 "!tracer\n!asked\n!agent --pid=\n!agent --ask\n"},
	{"trace: {engine: \"off\"}\nprotect: [{files: [~/.t], by: t}]\n",
	 "agent --pid=container:membrane-view-{session}\n"
	 "view --cap-add=SYS_PTRACE\n"
	 "view " BIND "{home},target=/home\n"
	 "view /home\n"
	 "!view --pid=\n"},
	{"masks: start\n", "agent --masks={state}/empty\n!view \n"},
	{"masks: hold\n",
	 "view /source\n!agent --masks={state}/empty\n!view --cap-add=SYS_PTRACE\n!view /home\n"
	 "!view " BIND "{home}\n"},
	{"protect: [{files: [~/.t], by: t}]\n",
	 "agent --pid=container:membrane-view-{session}\n"
	 "view --pid=container:membrane-asked-{session}\n"},
	{"image: dir:/srv/root\n",
	 "agent dir:/srv/root\n!agent host\n!agent --read-only\n"},
	{"image: dir:/srv/root\nhardening: {read_only: true}\n",
	 "agent --read-only\n"
	 "agent --tmpfs=/var/tmp:exec,nosuid,nodev,mode=1777,size=1g\n"},
	{"hardening: {tmpfs: [\"/var/tmp:size=1m\"]}\n",
	 "agent --read-only\n"
	 "agent --tmpfs=/var/tmp:size=1m\n"
	 "!agent --tmpfs=/var/tmp:exec\n"},
	{"args: [--init=false]\n", "agent {entrypoint}\nagent {command}\n"},
	{"image: dir:/srv/root\n" DECRYPTED, "agent " SYSTEM_ROOTS},
};

/* Which calls the kernel asks about: a word for each event, and files that are
 * only read where they are wanted. */
static const struct row asked[] = {
	{"trace: {events: [rmdir]}\n", "agent --ask=rmdir\n"},
	{"trace: {events: [security_file_open, rmdir], reads: false}\n",
	 "agent --ask=open:write,openat:write,openat2,creat\n"
	 "agent --ask=rmdir\n"},
	{"trace: {events: [security_file_open]}\n",
	 "agent --ask=open,openat,openat2,creat\n"},
	{"trace: {events: [security_file_open], reads: false, required: true}\n",
	 "agent --ask=open,openat,openat2,creat\n"},
	/* a program that begins is known by its calls */
	{"trace: {events: [sched_process_exec]}\n",
	 "agent --ask=execve\nagent --ask=execveat\n"},
	{"trace: {events: [sched_process_exec, rmdir]}\n",
	 "agent --ask=execve\nagent --ask=execveat\nagent --ask=rmdir\n"},
	{"trace: {events: [execveat]}\n", "agent --ask=execveat\n"},
	/* root's alone */
	{"trace: {events: [mount]}\n",
	 "tracer /membrane-watch\n!agent --ask\n!asked\n"},
};

/* --- other questions -------------------------------------------------------
 */

static void shown_paths(void)
{
	static const char *const shown[] = {"/usr",
					    "/usr/bin/x",
					    "/lib64/ld.so",
					    "/etc/services",
					    "/etc/vim/vimrc",
					    "/etc/profile",
					    "/etc/ssh/ssh_config"};
	static const char *const hidden[] = {
		"/",	    "/etc",	      "/etc/shadow",
		"/usrx",    "/etc/profiles",  "/etc/ssh",
		"/home/me", "/etc/services.d"};

	for (size_t i = 0; i < ARRAY_LEN(shown); i++)
		CHECK_MSG(native_shows(str_of(shown[i])), "%s", shown[i]);
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		CHECK_MSG(!native_shows(str_of(hidden[i])), "%s", hidden[i]);
}

/* The first event that a user's session does not have, or "". */
static void check_unasked(const char *policy, const char *wanted)
{
	struct compiled t;
	const char *got;

	compiled_init(&t, policy, LAYER_GLOBAL);
	got = native_unasked(&t.policy);
	check_same(policy, str_of(got ? got : ""), wanted);
	compiled_done(&t);
}

static void unasked(void)
{
	check_unasked("trace: {events: [execve, mount, rmdir]}\n", "mount");
	check_unasked("trace: {events: [execve, rmdir]}\n", "");
	/* which may be absent, and Tracee's own */
	check_unasked(
		"trace: {events: [{event: cap_capable, optional: true}]}\n",
		"");
	check_unasked("trace: {events: [cap_capable]}\n", "cap_capable");
	check_unasked("trace: {engine: tracee, events: [magic_write, mount]}\n",
		      "mount");
}

/* Could it run natively if it named the engine? from: what its file is. */
static void check_named(const char *policy, const char *from, bool wanted)
{
	struct compiled t;

	compiled_init(&t, policy, LAYER_GLOBAL);
	vec_each(s, &t.front.sources.list)
		if (str_is(s->name, "test"))
			s->name = str_of(from);
	if (!str_is(str_of(from), "test"))
		t.policy.image_written = (ir_opt_str){0};
	CHECK_MSG(native_if_named(t.a, &t.front.sources, &t.policy) == wanted,
		  "%s", policy);
	CHECK(t.front.diags.errors == 0);
	compiled_done(&t);
}

static void if_named(void)
{
	check_named("args: [--env, A=b]\n", "test", true);
	check_named("args: [--cpu-shares, \"9\"]\n", "test", false);
	check_named("hardening: {memory: 1g}\n", "test", true);
	/* the image of an agent's profile does not count */
	check_named("image: debian\n", "test", false);
	check_named("image: debian\n", "preset:x", true);
}

/* --- calls -----------------------------------------------------------------
 */

static bool has_name(const cJSON *list, const char *name)
{
	const cJSON *n;

	cJSON_ArrayForEach(n, list)
		if (strcmp(n->valuestring, name) == 0)
			return true;
	return false;
}

/* Is a call open, in whole or in part? how many are, each once. */
static bool open_calls(const cJSON *json, const char *name, unsigned *out_n)
{
	const cJSON *row, *n;
	cJSON *seen = cJSON_CreateArray();
	bool is_open = false;

	cJSON_ArrayForEach(row, cJSON_GetObjectItem(json, "syscalls")) {
		const cJSON *names = cJSON_GetObjectItem(row, "names");

		if (strcmp(cJSON_GetObjectItem(row, "action")->valuestring,
			   "SCMP_ACT_ALLOW") != 0)
			continue;
		is_open |= has_name(names, name);
		cJSON_ArrayForEach(n, names)
			if (!has_name(seen, n->valuestring))
				cJSON_AddItemToArray(
					seen,
					cJSON_CreateString(n->valuestring));
	}
	*out_n = (unsigned)cJSON_GetArraySize(seen);
	cJSON_Delete(seen);
	return is_open;
}

/* Whether a policy opens that call; its calls are counted in any case. */
static void check_call(const char *policy, const char *name, bool wanted)
{
	struct compiled t;
	struct buf out;
	cJSON *json;
	unsigned n;

	compiled_init(&t, policy, LAYER_GLOBAL);
	buf_init(&out, t.a);
	CHECK(seccomp_emit(&t.in, &out));
	json = cJSON_Parse(out.p);
	CHECK_MSG(open_calls(json, name, &n) == wanted, "%s: %s", policy, name);
	CHECK_MSG(seccomp_calls(&t.policy) == n, "%s: %u", policy, n);
	cJSON_Delete(json);
	compiled_done(&t);
}

/* A call is open on kernels that are new enough for it, in whatever rows. */
static void check_kernels(void)
{
	const cJSON *row;
	struct compiled t;
	struct buf out;
	cJSON *json;

	compiled_init(&t, "", LAYER_GLOBAL);
	buf_init(&out, t.a);
	CHECK(seccomp_emit(&t.in, &out));
	json = cJSON_Parse(out.p);
	cJSON_ArrayForEach(row, cJSON_GetObjectItem(json, "syscalls")) {
		const cJSON *names = cJSON_GetObjectItem(row, "names");
		const cJSON *least = cJSON_GetObjectItem(
			cJSON_GetObjectItem(row, "includes"), "minKernel");

		CHECK((least != NULL) == has_name(names, "ptrace"));
		CHECK(!least || strcmp(least->valuestring, "4.8") == 0);
	}
	cJSON_Delete(json);
	compiled_done(&t);
}

static void calls(void)
{
	check_kernels();
	check_call("", "chdir", true);
	check_call("", "mount", false);
	check_call("", "ptrace", true);
	check_call("protect: [{files: [~/.t], by: t}]\n", "ptrace", false);
	check_call("hardening: {user_namespaces: true}\n", "mount", true);
	check_call("hardening: {user_namespaces: false}\n", "mount", false);
	check_call("hardening: {capabilities: [SYS_ADMIN]}\n", "mount", true);
	check_call("hardening: {capabilities: [KILL]}\n", "mount", false);
	check_call("args: [--cap-add=SYS_ADMIN]\n", "mount", true);
	check_call("args: [--cap-add=CAP_SYS_ADMIN]\n", "mount", true);
	check_call("args: [--cap-add=ALL]\n", "mount", true);
	check_call("args: [--cap-drop=SYS_ADMIN]\n", "mount", false);
}

static void check_rows(const char *engine,
		       bool (*emit)(const struct emit_in *, struct buf *),
		       const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check_row(engine, emit, &rows[i]);
}

int main(void)
{
	a = arena_new();
	check_rows("docker", docker_emit, docker, ARRAY_LEN(docker));
	check_rows("docker", docker_emit, hardened, ARRAY_LEN(hardened));
	check_rows("docker", docker_emit, others, ARRAY_LEN(others));
	check_rows("native", native_emit, native, ARRAY_LEN(native));
	check_rows("native", native_emit, asked, ARRAY_LEN(asked));
	shown_paths();
	unasked();
	if_named();
	calls();
	arena_free(a);
	return check_status();
}
