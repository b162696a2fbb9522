/*
 * Raw docker arguments: every spelling docker takes, and what each may do.
 */
#include "compiler/passes/args/args_judge.h"
#include "tests/unit/passes/args.h"

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
	takes("--pids-limit=-1", "pids-limit", "-1", ARG_WIDENING);
	takes("--cpu-shares=+1", "cpu-shares", "+1", ARG_HARMLESS);
	/* a blank is a value's own but behind a letter */
	takes("-e\n A=b", "env", " A=b", ARG_HARMLESS);
	takes("-e= A=b", "env", " A=b", ARG_HARMLESS);
	takes("--env= A=b", "env", " A=b", ARG_HARMLESS);
	takes("-eA=\tb", "env", "A=\tb", ARG_HARMLESS);
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
	refuses(DIAG_ARG_WORD, "-e\nA=\x1f");
	refuses(DIAG_ARG_WORD, "-e\nA=\x7f");
	refuses(DIAG_ARG_VALUE, "--env");
	refuses(DIAG_ARG_VALUE, "-e");
	refuses(DIAG_ARG_VALUE, "--init=maybe");
	refuses(DIAG_ARG_VALUE, "--pids-limit=many");
	refuses(DIAG_ARG_VALUE, "--pids-limit=");
	refuses(DIAG_ARG_VALUE, "--pids-limit=-");
	refuses(DIAG_ARG_VALUE, "--pids-limit=+");
	refuses(DIAG_ARG_VALUE, "--pids-limit=--1");
	refuses(DIAG_ARG_VALUE, "--pids-limit=1x");
	/* -privileged is -p with a value, to docker too */
	refuses(DIAG_ARG_PUBLISH, "-privileged");
	/* A value does not come from another file. */
	fresh();
	add_words(LAYER_GLOBAL, "--volume");
	add_words(LAYER_WORKSPACE, "a:/b");
	CHECK(!args_resolve(&ctx, &policy));
	CHECK(first_id() == DIAG_ARG_VALUE);
	/* of the same layer neither */
	fresh();
	add_words(LAYER_GLOBAL, "--volume");
	add_words(LAYER_GLOBAL, "a:/b");
	CHECK(!args_resolve(&ctx, &policy));
	CHECK(first_id() == DIAG_ARG_VALUE);
}

static void variables(void)
{
	takes("-e\nA=$B", "env", "A=$B", ARG_WIDENING);
	takes("-e\nA=${B}c", "env", "A=${B}c", ARG_WIDENING);
	takes("-e\nA=$$B", "env", "A=$$B", ARG_HARMLESS);
	takes("-v$X/y:/z", "volume", "$X/y:/z", ARG_WIDENING);
	/* what is behind its value is not known */
	takes("-v$X:/workspace", "volume", "$X:/workspace", ARG_WIDENING);
	takes("-v/opt/a:$X", "volume", "/opt/a:$X", ARG_WIDENING);
	takes("--env-file=$X", "env-file", "$X", ARG_WIDENING);
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
		"--security-opt=label=docker-default",
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
		"-v/run/systemd/private/x:/x",
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
	takes("-v/srv/x.sock:/x", "volume", "/srv/x.sock:/x", ARG_WIDENING);
	takes("-v/srv/docker/x.sock:/x", "volume", "/srv/docker/x.sock:/x",
	      ARG_WIDENING);
	takes("-v/srv/docker:/x", "volume", "/srv/docker:/x", ARG_WIDENING);
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
	takes("-eLD_=x", "env", "LD_=x", ARG_WIDENING);
	takes("-ePATH=x", "env", "PATH=x", ARG_WIDENING);
	takes("-ePATHS=x", "env", "PATHS=x", ARG_HARMLESS);
	takes("-ePAT=x", "env", "PAT=x", ARG_HARMLESS);
	takes("-v/cache", "volume", "/cache", ARG_HARMLESS);
	takes("-v$HOME/.aws:/home/agent/.aws:ro", "volume",
	      "$HOME/.aws:/home/agent/.aws:ro", ARG_WIDENING);
	takes("-v/home/me/src:/x", "volume", "/home/me/src:/x", ARG_WIDENING);
	takes("-v/run/user/1000/ssh:/x", "volume", "/run/user/1000/ssh:/x",
	      ARG_WIDENING);
	takes("--mount=type=tmpfs,target=/x,tmpfs-size=1m", "mount",
	      "type=tmpfs,target=/x,tmpfs-size=1m", ARG_HARMLESS);
	takes("--mount=target=/x", "mount", "target=/x", ARG_HARMLESS);
	takes("--security-opt=no-new-privileges", "security-opt",
	      "no-new-privileges", ARG_HARMLESS);
	takes("--security-opt=apparmor=docker-default", "security-opt",
	      "apparmor=docker-default", ARG_HARMLESS);
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
	takes("-u$$1000", "user", "$$1000", ARG_WIDENING);
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
		"--label=membrane",
		"--label-file=x",
		"--sysctl=net.ipv4.ip_forward=0",
		"--sysctl=$X",
		"--help",
		"--log-driver=syslog",
		"--log-opt=gelf-address=udp://x:1",
		"-v/a:/workspace",
		"-v/a:/workspace/",
		"-v/a:/home/./agent",
		"--tmpfs=/workspace",
		"--tmpfs=/workspace:size=1m",
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
		"0",
		"65536",
		"x",
		"80/sctp",
		"80/",
		"80:",
		"90-80",
		":",
		"published=1,target=80",
		"$X",
		"8080:$X",
		"1-3:5-6",
		"80/tcp/udp",
		"80-65536",
		"2-1",
		"127.0.0.1:1-2:5-7",
		"1:5-7",
		"1-2:5-7",
	};

	published("80", IR_PROTO_TCP, 80, 80);
	published("8080:80", IR_PROTO_TCP, 80, 80);
	published("80/tcp", IR_PROTO_TCP, 80, 80);
	published("80-80", IR_PROTO_TCP, 80, 80);
	published("5-7", IR_PROTO_TCP, 5, 7);
	published("65534-65535", IR_PROTO_TCP, 65534, 65535);
	published("8080:80/udp", IR_PROTO_UDP, 80, 80);
	published("127.0.0.1:8080:80", IR_PROTO_TCP, 80, 80);
	published("127.0.0.1::80", IR_PROTO_TCP, 80, 80);
	published("[::1]:8080:80", IR_PROTO_TCP, 80, 80);
	published("8000-8010:9000-9010", IR_PROTO_TCP, 9000, 9010);
	published("8000-8010:80", IR_PROTO_TCP, 80, 80);
	published("$PORT:80", IR_PROTO_TCP, 80, 80);
	published("$PORT:80-81", IR_PROTO_TCP, 80, 81);
	published("127.0.0.1:1-3:5-7", IR_PROTO_TCP, 5, 7);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		refuses(DIAG_ARG_PUBLISH, arena_fmt(a, "-p%s", bad[i]).p);
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
	empty_values();
	table();
	arena_free(a);
	return check_status();
}
