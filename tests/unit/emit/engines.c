/*
 * What Docker and the native engine cannot hold: which lines of a policy each
 * refuses, and what stands beside those and is taken.
 */
#include "compiler/emit/docker/docker.h"
#include "compiler/emit/native/native.h"
#include "tests/unit/emit/compiled.h"

static struct arena *a;

struct row {
	const char *policy;
	const char *docker, *native; /* where errors are */
};

/* Each error but those of a number says what would be right. */
static void check_helps(struct compiled *t)
{
	struct diag_view v;

	for (unsigned i = 0; diags_get(t->in.diags, i, &v); i++)
		CHECK_MSG(!v.error || v.help.n ||
				  str_ends(v.text, STR("6 MiB at least")),
			  "%.*s", STR_ARG(v.text));
}

static void check_engine(const char *engine, const char *policy,
			 bool (*emit)(const struct emit_in *, struct buf *),
			 const char *places)
{
	const char *yaml = arena_fmt(a, "engine: %s\n%s", engine, policy).p;
	struct compiled t;
	struct buf out;
	bool ok;

	compiled_init(&t, yaml, LAYER_GLOBAL);
	buf_init(&out, t.a);
	ok = emit(&t.in, &out);
	CHECK_MSG(ok == !*places, "%s", yaml);
	CHECK_MSG(ok == (out.n > 0), "%s", yaml);
	check_same(yaml, compiled_errors(&t, 1), places);
	check_helps(&t);
	compiled_done(&t);
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (rows[i].docker)
			check_engine("docker", rows[i].policy, docker_emit,
				     rows[i].docker);
		if (rows[i].native)
			check_engine("native", rows[i].policy, native_emit,
				     rows[i].native);
	}
}

/* --- scalars ---------------------------------------------------------------
 */

static const struct row scalars[] = {
	{"", "", ""},
	{"image: debian\n", "", "1:8"},
	{"image: membrane-agent\n", "", ""},
	{"image: Debian\n", "1:8", "1:8"},
	{"image: dir:/srv/root\n", "1:8", ""},
	{"image: dir:srv/root\n", NULL, "1:8"},
	{"runtime: runc\n", "", ""},
	{"runtime: kata\ntrace: {engine: \"off\"}\n", "", "1:10"},
	{"runtime: sysbox-runc\nmasks: hold\n", "2:8", NULL},
	{"runtime: sysbox-runc\nssh_agent: true\n", "2:12", NULL},
	{"runtime: sysbox-runc\nssh_agent: false\n", "", NULL},
	{"runtime: sysbox-runc\nports: [8080]\n", "2:9", NULL},
	{"runtime: sysbox-runc\nargs: [--hostname, a]\n", "2:8", NULL},
	{"runtime: sysbox-runc\nargs: [--quiet]\n", "", NULL},
	{"runtime: sysbox-runc\nargs: [--hostname, a]\ntrace: {engine: \"off\"}\n",
	 "", NULL},
	{"args: [--hostname, a]\n", "", "1:8"},
	{"uplink: isolated\n", "", ""},
	{"uplink: lab\n", "", "1:9"},
	{"uplink: host\n", "1:9", "1:9"},
	{"uplink: bridge\nargs: [--ip=10.0.0.1]\n", "2:8", NULL},
	{"uplink: lab\nargs: [--ip=10.0.0.1]\n", "", NULL},
	{"args: [--ip6=fd00::2, --network-alias=a, --link-local-ip=169.254.1.1]\n",
	 "1:8 1:23 1:42", NULL},
	{"upstream: http://127.0.0.1:3128\n", "1:11", ""},
	{"upstream: http://proxy.example.com:3128\n", "", ""},
	{"upstream: http://proxy.example.com:3128\nuplink: isolated\n", NULL,
	 "1:11"},
	{"trace: {engine: tracee}\n", "", "1:17"},
};

/* --- hardening -------------------------------------------------------------
 */

static const struct row hardening[] = {
	{"hardening: {user: \"1:1\"}\n", "", "1:19"},
	{"hardening: {capabilities: [KILL, NET_RAW]}\n", "", "1:28"},
	{"hardening: {no_new_privileges: false}\n", "", "1:32"},
	{"hardening: {no_new_privileges: true}\n", "", ""},
	{"hardening: {seccomp: unconfined}\n", "", "1:22"},
	{"hardening: {seccomp: default}\n", "", ""},
	{"hardening: {seccomp: docker, user_namespaces: true}\n", "1:47",
	 "1:22"},
	{"hardening: {user_namespaces: true}\n", "", ""},
	{"hardening: {seccomp: docker, user_namespaces: false}\n", "", NULL},
	{"hardening: {user_namespaces: true}\nruntime: sysbox-runc\n", "1:30",
	 NULL},
	{"hardening: {memory: 6291455}\n", "1:21", ""},
	{"hardening: {memory: 6291456, cpus: 0.5, pids: 1}\n", "", ""},
	{"hardening: {tmpfs: [/a, \"/b:size=1m,exec\"]}\n", "", ""},
	{"hardening: {tmpfs: [/a, /, /workspace, \"/home/agent:exec\"]}\n",
	 "1:25 1:28 1:40", "1:25 1:28 1:40"},
	{"hardening: {tmpfs: [/a, \"/b:exec,huge=always,x\"]}\n", "", "1:25"},
};

/* --- ports of the machine --------------------------------------------------
 */

static const struct row ports[] = {
	{"allow: [\"host:15000\", \"host:15005\"]\n", "", ""},
	{"allow: [\"host:15001\"]\n", "1:15", "1:15"},
	{"allow: [\"host:15002\"]\n", "1:15", "1:15"},
	{"allow: [\"host:15003\"]\n", "1:15", "1:15"},
	{"allow: [\"host:15004\"]\n", "1:15", "1:15"},
	{"allow: [{dest: host, ports: [14990-15001]}]\n", "1:30", "1:30"},
	{"allow: [{dest: host, ports: [15004-15010]}]\n", "1:30", "1:30"},
	{"allow: [{dest: host, ports: [14990-15010]}]\n", "1:30", "1:30"},
	{"allow: [{dest: host, ports: [100-163]}]\n", "", ""},
	/* the same ones twice are as many */
	{"allow: [{dest: host, ports: [100-163]}, {dest: host, ports: [120-163]}]\n",
	 "", ""},
	{"allow: [{dest: host, ports: [100-162]}, {dest: host, ports: [200, 201]}]\n",
	 "1:62", "1:62"},
};

/* --- protected files -------------------------------------------------------
 */

#define PROTECT "protect: [{files: [~/.t], by: t}]\n"

static const struct row protected[] = {
	{PROTECT, "", ""},
	{PROTECT "masks: start\n", "2:8", "2:8"},
	{PROTECT "runtime: sysbox-runc\n", "2:10", NULL},
	{PROTECT "hardening: {capabilities: [KILL]}\n", "2:28", NULL},
	{PROTECT "hardening: {seccomp: docker}\n", "2:22", NULL},
	{PROTECT "args: [--env, A=b, --env=ENVY=x, --quiet]\n", "", NULL},
	{PROTECT "args: [--env, A=b, --env=ENVY=x]\n", "", ""},
	{PROTECT "args: [--env, LD_PRELOAD=x]\n", "2:15", "2:15"},
	{PROTECT "args: [--env, LD_=x]\n", "2:15", "2:15"},
	{PROTECT "args: [--env, LD=x, --env, XLD_A=y]\n", "", ""},
	{PROTECT "args: [--env=PYTHONPATH, --env=NODE_OPTIONS=a]\n", "2:8 2:26",
	 "2:8 2:26"},
	{PROTECT "args: [--env=BASH_ENV=a, --env=ENV=a, --env=LOCPATH=a]\n",
	 "2:8 2:26 2:39", "2:8 2:26 2:39"},
	{PROTECT "args: [--env=GCONV_PATH=a, --env=GLIBC_TUNABLES=a]\n",
	 "2:8 2:28", "2:8 2:28"},
	{PROTECT "args: [--env=BUN_OPTIONS=a]\n", "2:8", "2:8"},
	{PROTECT "args: [--cap-add, KILL]\n", "2:8", NULL},
	{PROTECT "args: [--cap-drop, KILL]\n", "", NULL},
	{PROTECT "args: [--env-file=/srv/env]\n", "2:8", NULL},
	{PROTECT "args: [--init]\n", "2:8", "2:8"},
	{PROTECT "args: [--entrypoint=/x]\n", "2:8", "2:8"},
};

/* --- words of docker run, natively -----------------------------------------
 */

static const struct row words[] = {
	{"args: [--env, A, --init]\n", NULL, ""},
	{"args: [--cpu-shares, \"12\"]\n", NULL, "1:8"},
	{"args: [--workdir, /a]\n", NULL, ""},
	{"args: [--workdir, $A/b]\n", NULL, ""},
	{"args: [--workdir, a]\n", NULL, "1:19"},
	{"args: [\"--workdir=\"]\n", NULL, "1:8"},
	{"args: [--entrypoint, /a]\n", NULL, ""},
	{"args: [\"--entrypoint=\"]\n", NULL, "1:8"},
	{"image: archive:/i@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\n"
	 "args: [\"--entrypoint=\"]\n",
	 NULL, ""},
	{"args: [--tmpfs, /a]\n", NULL, ""},
	{"args: [--tmpfs, \"/a:exec,noexec,nosuid,nodev,ro,rw,size=1,mode=1,uid=1,gid=1\"]\n",
	 NULL, ""},
	{"args: [--tmpfs, \"/a:exe\"]\n", NULL, "1:17"},
	{"args: [--tmpfs, \"/a:execs\"]\n", NULL, "1:17"},
	{"args: [--tmpfs, \"/a:size\"]\n", NULL, "1:17"},
	{"args: [--tmpfs, \"/a:exec,mpol=x\"]\n", NULL, "1:17"},
	{"args: [--volume, \"/a:/b\"]\n", NULL, ""},
	{"args: [--volume, \"$A/a:/b:ro\"]\n", NULL, ""},
	{"args: [--volume, \"/a:/b:rw\"]\n", NULL, ""},
	{"args: [--volume, \"/a:/b:ro,rw\"]\n", NULL, "1:18"},
	{"args: [--volume, \"a:/b\"]\n", NULL, "1:18"},
	{"args: [--volume, /a]\n", NULL, "1:18"},
	{"args: [--mount, \"type=bind,source=/a,target=/b\"]\n", NULL, ""},
	{"args: [--mount, \"type=bind,src=/a,dst=/b,ro\"]\n", NULL, ""},
	{"args: [--mount, \"type=bind,src=$A,destination=/b,ro=true,readonly=true,readonly\"]\n",
	 NULL, ""},
	{"args: [--mount, \"type=tmpfs,target=/b\"]\n", NULL, ""},
	{"args: [--mount, \"type=tmpfs,target=/b,tmpfs-size=1\"]\n", NULL,
	 "1:17"},
	{"args: [--mount, \"type=volume,target=/b\"]\n", NULL, "1:17"},
	{"args: [--mount, \"target=/b\"]\n", NULL, "1:17"},
	{"args: [--mount, \"type=bind,source=/a,target=/b,bind-propagation=private\"]\n",
	 NULL, "1:17"},
	{"args: [--mount, \"target=/b,type=bind,source=/a\"]\n", NULL, ""},
};

/* --- in which words ------------------------------------------------------- */

static void check_first(const char *policy,
			bool (*emit)(const struct emit_in *, struct buf *),
			const char *begins)
{
	struct compiled t;
	struct diag_view v;
	struct buf out;

	compiled_init(&t, policy, LAYER_GLOBAL);
	buf_init(&out, t.a);
	CHECK(!emit(&t.in, &out));
	CHECK_MSG(diags_get(t.in.diags, 0, &v) &&
			  str_starts(v.text, str_of(begins)),
		  "%s: %.*s", policy, STR_ARG(v.text));
	compiled_done(&t);
}

static void images(void)
{
	check_first("engine: docker\nimage: Debian\n", docker_emit,
		    "'Debian' is not the name of an image");
	check_first("engine: docker\nimage: dir:/srv/root\n", docker_emit,
		    "a folder as a root is the native engine's");
}

/* --- left open -------------------------------------------------------------
 */

/* NULL: nothing is in the way of the native engine. */
static void check_open(const char *policy, const char *place)
{
	struct native_obstacle o = {0};
	struct compiled t;
	struct place at;

	compiled_init(&t, policy, LAYER_GLOBAL);
	CHECK_MSG(native_obstacle(t.a, &t.policy, &o) == (place != NULL), "%s",
		  policy);
	CHECK_MSG(native_wanted(&t.policy) == !place, "%s", policy);
	CHECK(t.front.diags.errors == 0);
	if (place) {
		at = sources_place(&t.front.sources, o.at);
		check_same(policy,
			   arena_fmt(t.a, "%u:%u %.*s", at.line, at.column,
				     STR_ARG(o.text)),
			   place);
	}
	compiled_done(&t);
}

static void left_open(void)
{
	static const char *const limit =
		"the limit takes a control group, which not every user has";
	static const char *const image = "it runs what this machine has";

	check_open("allow: [a.example.com:443]\n", NULL);
	check_open("args: [--init]\n",
		   "1:8 arguments of docker run are Docker's");
	check_open("hardening: {memory: 1g}\n",
		   arena_fmt(a, "1:21 %s", limit).p);
	check_open("hardening: {cpus: 1}\n", arena_fmt(a, "1:19 %s", limit).p);
	check_open("hardening: {cpus: 1, memory: 1g}\n",
		   arena_fmt(a, "1:30 %s", limit).p);
	check_open("hardening: {pids: 9}\n", NULL);
	check_open("trace: {events: [mount], required: true}\n",
		   "1:36 it records 'mount' in sessions of root's alone");
	check_open("trace: {events: [rmdir], required: true}\n", NULL);
	check_open("trace: {events: [mount]}\n", NULL);
	/* what no engine holds */
	check_open("allow: [\"host:15001\"]\n",
		   "1:15 port 15001 of 'host' is one of the gate's own");
	/* the first of the policy's lines, of several */
	check_open("image: debian\nargs: [--init]\n",
		   arena_fmt(a, "1:8 %s", image).p);
	check_open("args: [--init]\nimage: debian\n",
		   "1:8 arguments of docker run are Docker's");
	/* what is this engine's alone names it */
	check_open("image: dir:/srv/root\nargs: [--init]\n", NULL);
	check_open("image: dir:/srv/root\nhardening: {memory: 1g}\n", NULL);
}

#define ZEROS64                                                                \
	"0000000000000000000000000000000000000000000000000000000000000000"

/* What helps is about what is written. */
static void check_advice(bool (*emit)(const struct emit_in *, struct buf *),
			 const char *yaml, const char *help)
{
	struct compiled t;
	struct diag_view v;
	struct buf out;

	compiled_init(&t, yaml, LAYER_GLOBAL);
	buf_init(&out, t.a);
	CHECK(!emit(&t.in, &out) && diags_get(t.in.diags, 0, &v));
	CHECK_MSG(str_is(v.help, help), "%.*s", STR_ARG(v.help));
	compiled_done(&t);
}

/* Why it is this engine, which does not hold something. */
static void check_why(bool (*emit)(const struct emit_in *, struct buf *),
		      const char *yaml, const char *note)
{
	struct compiled t;
	struct str said;
	struct buf out;

	compiled_init(&t, yaml, LAYER_GLOBAL);
	buf_init(&out, t.a);
	CHECK(!emit(&t.in, &out));
	said = rig_said(&t.front);
	CHECK_MSG(memmem(said.p, said.n, note, strlen(note)), "%.*s",
		  STR_ARG(said));
	compiled_done(&t);
}

static void advice(void)
{
	check_why(docker_emit,
		  "hardening: {seccomp: docker, user_namespaces: true}\n",
		  "test:1:22: note: here another one is named\n");
	check_why(docker_emit,
		  "hardening: {user_namespaces: true}\nruntime: sysbox-runc\n",
		  "test:2:10: note: with this runtime Docker's own holds\n");
	check_why(native_emit, "engine: native\nargs: [--label=a]\n",
		  "test:1:9: note: the engine is named here\n");
	check_why(native_emit, "image: dir:/srv/root\nargs: [--label=a]\n",
		  "test:1:8: note: a root of your own is this engine's\n");
	check_advice(docker_emit,
		     "hardening: {seccomp: docker, user_namespaces: true}\n",
		     "leave one of the two out");
	check_advice(docker_emit,
		     "hardening: {user_namespaces: true}\n"
		     "runtime: sysbox-runc\n",
		     "leave it out");
	check_advice(
		docker_emit, "engine: docker\nimage: dir:/srv/root\n",
		"leave 'engine: docker' out, or write the name of an image");
	check_advice(
		docker_emit,
		"engine: docker\nimage: archive:/a.tar@sha256:" ZEROS64 "\n",
		"leave 'engine: docker' out; or 'docker load' it, and write its name");
	check_advice(native_emit, "engine: native\nargs: [--label=a]\n",
		     "leave it out, or write 'engine: docker'");
	check_advice(native_emit, "engine: native\nruntime: sysbox-runc\n",
		     "write 'engine: docker'");
	check_advice(
		native_emit, "image: dir:/srv/root\nargs: [--label=a]\n",
		"leave it out, or write 'engine: docker' and the name of an image");
}

int main(void)
{
	a = arena_new();
	advice();
	check_rows(scalars, ARRAY_LEN(scalars));
	check_rows(hardening, ARRAY_LEN(hardening));
	check_rows(ports, ARRAY_LEN(ports));
	check_rows(protected, ARRAY_LEN(protected));
	check_rows(words, ARRAY_LEN(words));
	images();
	left_open();
	arena_free(a);
	return check_status();
}
