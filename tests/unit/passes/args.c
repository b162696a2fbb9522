/*
 * Raw docker arguments: every spelling docker takes, and what each may do.
 */
#include "compiler/passes/args/args.h"
#include "compiler/passes/args/args_judge.h"
#include "tests/check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static struct arena *a;
static struct sources sources;
static struct diags diags;
static struct ir_policy policy;
static struct pass_ctx ctx;

/* The words, one per line, as a source of that layer. */
static void add_words(enum layer layer, const char *words)
{
	const struct source *src =
		sources_add(&sources, STR("x"), str_of(words), layer);
	uint32_t at = src->base;
	struct str rest = str_of(words), word;

	while (str_field(&rest, '\n', &word)) {
		*vec_push(a, &policy.args) = (struct ir_text){
			{{at, at + (uint32_t)word.n}, layer}, word};
		at += (uint32_t)word.n + 1;
	}
}

static void fresh(void)
{
	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	memset(&policy, 0, sizeof(policy));
	ctx = (struct pass_ctx){a, &sources, &diags};
}

static bool resolve(enum layer layer, const char *words)
{
	fresh();
	add_words(layer, words);
	return args_resolve(&ctx, &policy);
}

static void shown(const char *words)
{
	struct buf b;

	buf_init(&b, a);
	diags_print(&diags, &b, false);
	printf("for '%s':\n%s", words, b.p ? b.p : "");
}

static enum diag_id first_id(void)
{
	struct diag_view v;

	return diags_get(&diags, 0, &v) ? v.id : 0;
}

/* An option's long name, value and class; "" for no value. */
static void takes(const char *words, const char *option, const char *value,
		  enum arg_class class)
{
	bool ok = resolve(LAYER_WORKSPACE, words);
	const struct arg *arg = policy.docker_args.v;

	if (ok && policy.docker_args.n && str_is(arg->option, option) &&
	    str_is(arg->value, value) && arg->class == class) {
		check_passed++;
		return;
	}
	check_failed++;
	if (ok)
		printf("'%s': --%.*s '%.*s' class %d\n", words,
		       STR_ARG(arg->option), STR_ARG(arg->value), arg->class);
	shown(words);
}

static void refuses(enum diag_id id, const char *words)
{
	if (!resolve(LAYER_WORKSPACE, words) && first_id() == id) {
		check_passed++;
		return;
	}
	check_failed++;
	printf("wanted E%d ", id);
	shown(words);
}

/* Refused from a workspace, warned of from the global file. */
static void undoes(const char *words)
{
	refuses(DIAG_ARG_UNDOING, words);
	if (resolve(LAYER_GLOBAL, words) && diags.errors == 0 &&
	    diags.warnings >= 1) {
		check_passed++;
		return;
	}
	check_failed++;
	printf("global ");
	shown(words);
}

static void spellings(void)
{
	takes("--env=A=b", "env", "A=b", ARG_HARMLESS);
	takes("--env\nA=b", "env", "A=b", ARG_HARMLESS);
	takes("-eA=b", "env", "A=b", ARG_HARMLESS);
	takes("-e=A=b", "env", "A=b", ARG_HARMLESS);
	takes("-e\nA=b", "env", "A=b", ARG_HARMLESS);
	takes("-e\n--privileged=x", "env", "--privileged=x", ARG_HARMLESS);
	takes("-qeA=b", "quiet", "", ARG_HARMLESS);
	takes("-e=", "env", "=", ARG_HARMLESS);
	takes("--init", "init", "", ARG_HARMLESS);
	takes("--init=false", "init", "false", ARG_HARMLESS);
	takes("--privileged=false", "privileged", "false", ARG_HARMLESS);
	takes("--hostname\n-x", "hostname", "-x", ARG_HARMLESS);
	takes("--cpu-shares\n12", "cpu-shares", "12", ARG_HARMLESS);
	takes("--env=", "env", "", ARG_WIDENING);
	CHECK(resolve(LAYER_WORKSPACE, "-qe\nA=b\n--init\n-wx"));
	CHECK(policy.docker_args.n == 4);
	CHECK(str_is(policy.docker_args.v[1].value, "A=b"));
	CHECK(str_is(policy.docker_args.v[3].option, "workdir"));
	CHECK(resolve(LAYER_WORKSPACE, ""));

	refuses(DIAG_ARG_UNKNOWN, "--privilegd");
	refuses(DIAG_ARG_UNKNOWN, "--env A=b");
	refuses(DIAG_ARG_UNKNOWN, "--cap_add=X");
	refuses(DIAG_ARG_UNKNOWN, "--PRIVILEGED");
	refuses(DIAG_ARG_UNKNOWN, "-Z");
	refuses(DIAG_ARG_UNKNOWN, "-qZ");
	refuses(DIAG_ARG_UNKNOWN, "--=x");
	refuses(DIAG_ARG_WORD, "debian");
	refuses(DIAG_ARG_WORD, "--init\ndebian");
	refuses(DIAG_ARG_WORD, "--");
	refuses(DIAG_ARG_WORD, "-");
	refuses(DIAG_ARG_WORD, "-e\nA=\x01");
	refuses(DIAG_ARG_VALUE, "--env");
	refuses(DIAG_ARG_VALUE, "-e");
	refuses(DIAG_ARG_VALUE, "--init=maybe");
	refuses(DIAG_ARG_VALUE, "--pids-limit=many");
	/* -privileged is -p with a value, to docker too */
	refuses(DIAG_ARG_PUBLISH, "-privileged");
	/* A value does not come from another file. */
	fresh();
	add_words(LAYER_GLOBAL, "--volume");
	add_words(LAYER_WORKSPACE, "a:/b");
	CHECK(!args_resolve(&ctx, &policy));
	CHECK(first_id() == DIAG_ARG_VALUE);
}

static void variables(void)
{
	takes("-e\nA=$B", "env", "A=$B", ARG_WIDENING);
	takes("-e\nA=${B}c", "env", "A=${B}c", ARG_WIDENING);
	takes("-e\nA=$$B", "env", "A=$$B", ARG_HARMLESS);
	takes("-v$X/y:/z", "volume", "$X/y:/z", ARG_WIDENING);
	refuses(DIAG_ARG_VARIABLE, "$X");
	refuses(DIAG_ARG_VARIABLE, "--$X");
	refuses(DIAG_ARG_VARIABLE, "--env$X=1");
	refuses(DIAG_ARG_VARIABLE, "-q$X");
	refuses(DIAG_ARG_VARIABLE, "-e\nA=$");
	refuses(DIAG_ARG_VARIABLE, "-e\nA=$1");
	refuses(DIAG_ARG_VARIABLE, "-e\nA=${B");
	refuses(DIAG_ARG_VARIABLE, "-e\nA=${}");
	refuses(DIAG_ARG_VARIABLE, "-e\nA=${B:-c}");
	refuses(DIAG_ARG_VARIABLE, "-e\nA=$(id)");
}

static void undoing(void)
{
	static const char *const words[] = {
		"--privileged",
		"--privileged=true",
		"--privileged=1",
		"--pid=host",
		"--pid\ncontainer:x",
		"--ipc=host",
		"--ipc=container:x",
		"--uts=host",
		"--userns=host",
		"--cgroupns=host",
		"--cap-add=SYS_ADMIN",
		"--cap-add\nALL",
		"--device=/dev/sda",
		"--device-cgroup-rule=c *:* rmw",
		"--gpus=all",
		"--cgroup-parent=/",
		"--volumes-from=x",
		"--use-api-socket",
		"--annotation=a=b",
		"--security-opt=seccomp=unconfined",
		"--security-opt=seccomp=builtin",
		"--security-opt=seccomp:unconfined",
		"--security-opt=seccomp=./mine.json",
		"--security-opt\napparmor=unconfined",
		"--security-opt=label=disable",
		"--security-opt=systempaths=unconfined",
		"--security-opt=no-new-privileges=false",
		"--security-opt=no-new-privileges:false",
		"--security-opt=$X",
		"--security-opt=writable-cgroups=true",
		"--volume-driver=local",
		"-v/:/x",
		"-v//:/x",
		"-v/.:/x",
		"-v/etc/..:/x",
		"-v/usr/../../:/x",
		"--volume=/:/x:ro",
		"-v/var/run/docker.sock:/x",
		"-v/run/docker.sock:/x",
		"-v/var/run/../run//docker.sock:/x",
		"-v/run:/x",
		"-v/var:/x",
		"-v/run/containerd/containerd.sock:/x",
		"-v/run/user/1000/podman/podman.sock:/x",
		"-v/proc/1/root:/x",
		"-v/run/user/1000:/x",
		"-v/sys:/x",
		"-v/dev:/x",
		"-v/etc:/x:ro",
		"-v/usr/bin/..:/x",
		"-v/tmp:/tmp",
		"-v/var/lib:/x",
		"-v/home:/x",
		"-v/home/me:/x",
		"-v/home/me/:/x",
		"-v/root:/x",
		"-v$HOME:/x",
		"-v${HOME}/:/x",
		"-v$HOME/.membrane:/x",
		"-v/home/me/.membrane/home:/x",
		"-v$MEMBRANE_HOME/home:/x",
		"-v$PWD:/x",
		"-v$PWD/secrets:/x",
		"-v.:/x",
		"-v./secrets:/x",
		"-v../other:/x",
		"-v$HOME/..:/x",
		"-v/a:/x:shared",
		"-v/a:/x:ro,rshared",
		"-v/a:/x:RShared",
		"--mount=type=bind,source=/a,target=/x,"
		"bind-propagation=RSHARED",
		"--env-file=.env",
		"--env-file=$HOME/.membrane/config.yaml",
		"--env-file=/proc/1/environ",
		"--mount=type=bind,source=/,target=/x",
		"--mount=type=bind,src=/,dst=/x",
		"--mount=TYPE=BIND,SRC=/,Destination=/x",
		"--mount=\"type=bind\",\"source=/\",target=/x",
		"--mount=target=/x,source=/run/docker.sock,type=bind,readonly",
		"--mount=type=bind,source=relative,target=/x,readonly"
		",bind-propagation=private",
		"--mount=type=bind,source=/a,target=/x,"
		"bind-propagation=rshared",
		"--mount=type=volume,target=/x,volume-opt=type=none,"
		"volume-opt=o=bind,volume-opt=device=/",
		"--mount=type=volume,target=/x,volume-driver=local",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		undoes(words[i]);
}

static void allowed(void)
{
	takes("-v/opt/cache:/cache", "volume", "/opt/cache:/cache",
	      ARG_WIDENING);
	takes("-vname:/cache", "volume", "name:/cache", ARG_WIDENING);
	takes("-v/workspace/x", "volume", "/workspace/x", ARG_WIDENING);
	takes("--mount=src=name,target=/x", "mount", "src=name,target=/x",
	      ARG_WIDENING);
	takes("--env-file=/etc/defaults", "env-file", "/etc/defaults",
	      ARG_WIDENING);
	takes("-eEDITOR=vi", "env", "EDITOR=vi", ARG_HARMLESS);
	takes("-eLD_PRELOAD=/workspace/x.so", "env",
	      "LD_PRELOAD=/workspace/x.so", ARG_WIDENING);
	takes("-eNODE_OPTIONS=--require=x", "env", "NODE_OPTIONS=--require=x",
	      ARG_WIDENING);
	takes("-eHttps_Proxy=x", "env", "Https_Proxy=x", ARG_WIDENING);
	takes("-eLD=x", "env", "LD=x", ARG_HARMLESS);
	takes("-v/cache", "volume", "/cache", ARG_HARMLESS);
	takes("-v$HOME/.aws:/home/agent/.aws:ro", "volume",
	      "$HOME/.aws:/home/agent/.aws:ro", ARG_WIDENING);
	takes("-v/run/user/1000/ssh:/x", "volume", "/run/user/1000/ssh:/x",
	      ARG_WIDENING);
	takes("--mount=type=tmpfs,target=/x,tmpfs-size=1m", "mount",
	      "type=tmpfs,target=/x,tmpfs-size=1m", ARG_HARMLESS);
	takes("--mount=target=/x", "mount", "target=/x", ARG_HARMLESS);
	takes("--security-opt=no-new-privileges", "security-opt",
	      "no-new-privileges", ARG_HARMLESS);
	takes("--ipc=private", "ipc", "private", ARG_HARMLESS);
	takes("--cgroupns=private", "cgroupns", "private", ARG_HARMLESS);
	takes("--cap-drop=ALL", "cap-drop", "ALL", ARG_HARMLESS);
	takes("-u0", "user", "0", ARG_WIDENING);
	takes("-u1000", "user", "1000", ARG_HARMLESS);
	takes("-u1000:1000", "user", "1000:1000", ARG_HARMLESS);
	takes("-u00", "user", "00", ARG_WIDENING);
	takes("-u+0", "user", "+0", ARG_WIDENING);
	takes("-utoor", "user", "toor", ARG_WIDENING);
	takes("-u1000:0", "user", "1000:0", ARG_WIDENING);
	takes("-u1000:", "user", "1000:", ARG_WIDENING);
	takes("--read-only", "read-only", "", ARG_HARMLESS);
	takes("--read-only=false", "read-only", "false", ARG_WIDENING);
	takes("--label=a=b", "label", "a=b", ARG_WIDENING);
	takes("-v/etc/ssl/certs:/x:ro", "volume", "/etc/ssl/certs:/x:ro",
	      ARG_WIDENING);
	takes("-v/usr/share/dict:/x", "volume", "/usr/share/dict:/x",
	      ARG_WIDENING);
	takes("--sysctl=kernel.shm_rmid_forced=1", "sysctl",
	      "kernel.shm_rmid_forced=1", ARG_HARMLESS);
}

static void ours(void)
{
	static const char *const words[] = {
		"--name=x",
		"--rm",
		"--rm=false",
		"--network=host",
		"--network\nnone",
		"--net=host",
		"-i",
		"-t",
		"-it",
		"-d",
		"-itd",
		"-P",
		"--publish-all",
		"--cidfile=/x",
		"--sig-proxy",
		"--restart=always",
		"--link=x",
		"--runtime=x",
		"--attach=x",
		"--label=membrane.session=0",
		"--label=$X",
		"--label-file=x",
		"--sysctl=net.ipv4.ip_forward=0",
		"--help",
		"--log-driver=syslog",
		"--log-opt=gelf-address=udp://x:1",
		"-v/a:/workspace",
		"-v/a:/workspace/",
		"-v/a:/home/./agent",
		"--tmpfs=/workspace",
		"--mount=target=/etc//resolv.conf",
		"-v/a:/etc/membrane",
		"-v/a:/etc/membrane/ca.pem",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		refuses(DIAG_ARG_OURS, words[i]);
	refuses(DIAG_ARG_MOUNT, "-v/a:/");
	refuses(DIAG_ARG_MOUNT, "-v/a:b");
	refuses(DIAG_ARG_MOUNT, "-v/a:");
	refuses(DIAG_ARG_MOUNT, "-v~/a:/b");
	refuses(DIAG_ARG_MOUNT, "--mount=x");
	refuses(DIAG_ARG_VALUE, "--env-file=");
	refuses(DIAG_ARG_MOUNT, "--mount=type=bind,source=/a");
	refuses(DIAG_ARG_MOUNT, "--mount=type=bind,target=/a");
	refuses(DIAG_ARG_MOUNT, "--mount=type=bind,source=\"/a,target=/b");
	refuses(DIAG_ARG_MOUNT, "--mount=type=nfs,source=/a,target=/b");
	refuses(DIAG_ARG_MOUNT, "--mount=type=bind,soruce=/a,target=/b");
}

static void published(const char *value, enum ir_proto proto, unsigned lo,
		      unsigned hi)
{
	const struct arg *arg;

	CHECK(resolve(LAYER_GLOBAL, arena_fmt(a, "-p%s", value).p));
	if (!policy.docker_args.n)
		return;
	arg = policy.docker_args.v;
	CHECK(arg->home == ARG_GATE && arg->is_publish);
	CHECK(arg->publish.proto == proto && arg->publish.lo == lo &&
	      arg->publish.hi == hi);
	CHECK(str_is(arg->publish.text, value));
}

static void publishing(void)
{
	static const char *const bad[] = {
		"0",	      "65536",	 "x",
		"80/sctp",    "80/",	 "80:",
		"90-80",      ":",	 "published=1,target=80",
		"$X",	      "8080:$X", "1-3:5-6",
		"80/tcp/udp",
	};

	published("80", IR_PROTO_TCP, 80, 80);
	published("8080:80", IR_PROTO_TCP, 80, 80);
	published("8080:80/udp", IR_PROTO_UDP, 80, 80);
	published("127.0.0.1:8080:80", IR_PROTO_TCP, 80, 80);
	published("127.0.0.1::80", IR_PROTO_TCP, 80, 80);
	published("[::1]:8080:80", IR_PROTO_TCP, 80, 80);
	published("8000-8010:9000-9010", IR_PROTO_TCP, 9000, 9010);
	published("8000-8010:80", IR_PROTO_TCP, 80, 80);
	published("$PORT:80", IR_PROTO_TCP, 80, 80);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		refuses(DIAG_ARG_PUBLISH, arena_fmt(a, "-p%s", bad[i]).p);
}

static const char *env(const char *name)
{
	static const char *const set[][2] = {
		{"HOME", "/home/me/"},
		{"PWD", "/src/project"},
		{"ROOT", "/"},
		{"EMPTY", ""},
		{"SOCK", "/run/user/7/agent"},
		{"TRICK", "/:/x:rw"},
		{"COMMA", "/a,source=/"},
		{"UP", "../.."},
		{"PORT", "8080"},
	};

	for (size_t i = 0; i < ARRAY_LEN(set); i++)
		if (strcmp(set[i][0], name) == 0)
			return set[i][1];
	return NULL;
}

/* /opt/link leads to the root, as far as the host is concerned. */
static struct str resolved(struct arena *arena, struct str path)
{
	(void)arena;
	return str_is(path, "/opt/link") ? STR("/") : path;
}

/* 0: taken; else the id of what was said. */
static void with_env(enum diag_id id, const char *words)
{
	bool ok = resolve(LAYER_WORKSPACE, words);

	CHECK(ok);
	if (!ok)
		shown(words);
	ok = args_check_env(&ctx, &policy, env, "/src/project",
			    "/home/me/.membrane", resolved);
	if (ok != (id == 0) || first_id() != id) {
		check_failed++;
		printf("env, wanted E%d: ", id);
		shown(words);
	} else {
		check_passed++;
	}
}

static void environment(void)
{
	with_env(0, "-e\nA=$PORT");
	with_env(0, "-v$SOCK:/x");
	with_env(0, "-p$PORT:80");
	with_env(0, "-v$HOME/.aws:/x");
	with_env(0, "--pids-limit=$PORT");
	with_env(DIAG_ARG_UNSET, "-e\nA=$NOPE");
	with_env(DIAG_ARG_UNDOING, "-v$ROOT:/x");
	with_env(DIAG_ARG_UNDOING, "-v$TRICK:/y");
	with_env(DIAG_ARG_UNDOING, "-v/opt/$UP:/y");
	with_env(DIAG_ARG_UNDOING, "--mount\ntype=bind,source=$ROOT,target=/x");
	with_env(DIAG_ARG_UNDOING, "-v/src/project/secret:/x");
	with_env(DIAG_ARG_UNDOING, "-v/src:/x");
	with_env(DIAG_ARG_MOUNT, "-v$EMPTY:$EMPTY");
	with_env(0, "-v/opt/other:/x");
	with_env(DIAG_ARG_UNDOING, "-v/opt/link:/x");
}

/* Options with an empty value: nothing to look at, and nothing looked at. */
static void empty_values(void)
{
	for (int i = 0; i < DOCKER_RUN_IDS; i++) {
		const struct docker_run_option *o =
			docker_run_option((enum docker_run_id)i);

		fresh();
		add_words(LAYER_WORKSPACE, arena_fmt(a, "--%s=", o->name).p);
		CHECK(args_resolve(&ctx, &policy) ==
		      (policy.docker_args.n == 1));
		if (policy.docker_args.n)
			CHECK(policy.docker_args.v[0].class <= ARG_WIDENING);
	}
	refuses(DIAG_ARG_MOUNT, "--volume=");
	refuses(DIAG_ARG_MOUNT, "--volume=:");
	refuses(DIAG_ARG_MOUNT, "--tmpfs=");
	refuses(DIAG_ARG_UNDOING, "--security-opt=");
}

/* The table is sorted, and no letter is there twice. */
static void table(void)
{
	const struct docker_run_option *o, *before = NULL;

	for (int i = 0; i < DOCKER_RUN_IDS; i++, before = o) {
		o = docker_run_option((enum docker_run_id)i);
		CHECK((int)o->id == i);
		CHECK(!before || strcmp(before->name, o->name) < 0);
		CHECK(docker_run_named(str_of(o->name)) == o);
		CHECK(!o->letter || docker_run_lettered(o->letter) == o);
	}
	CHECK(DOCKER_RUN_IDS > 100);
}

int main(void)
{
	a = arena_new();
	spellings();
	variables();
	undoing();
	allowed();
	ours();
	publishing();
	environment();
	empty_values();
	table();
	arena_free(a);
	return check_status();
}
