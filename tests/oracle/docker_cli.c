/*
 * The docker client as judge of docker.json: every option of the table, in
 * every spelling, goes through parser and emitter, and a client that has no
 * daemon must get as far as missing it. A word that it does not know, or a
 * value in the wrong place, it would refuse before that.
 */
#include "compiler/base/sys/fileio.h"
#include "compiler/emit/docker/docker.h"
#include "compiler/emit/docker/seccomp.h"
#include "compiler/passes/args/args_judge.h"
#include "tests/check.h"
#include "tests/unit/policy.h"

#include <cjson/cJSON.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static struct arena *a;
static struct test_policy t;
static struct buf missing; /* options of this client, not of the table */
static char state[] = "/tmp/membrane-cli-XXXXXX";

/* Values for options that take not just any word or number. */
static const char *const samples[][2] = {
	{"blkio-weight", "500"},
	{"blkio-weight-device", "/dev/sda:100"},
	{"cpus", "1.5"},
	{"device", "/dev/null"},
	{"device-cgroup-rule", "c 1:3 r"},
	{"device-read-bps", "/dev/sda:1mb"},
	{"device-read-iops", "/dev/sda:10"},
	{"device-write-bps", "/dev/sda:1mb"},
	{"device-write-iops", "/dev/sda:10"},
	{"env-file", "/dev/null"},
	{"expose", "80"},
	{"health-interval", "1s"},
	{"health-start-interval", "1s"},
	{"health-start-period", "1s"},
	{"health-timeout", "1s"},
	{"io-maxbandwidth", "1m"},
	{"ipc", "private"},
	{"kernel-memory", "1g"},
	{"platform", "linux/amd64"},
	{"pull", "missing"},
	{"mac-address", "92:d0:c6:0a:29:33"},
	{"memory", "1g"},
	{"memory-reservation", "1g"},
	{"memory-swap", "2g"},
	{"memory-swappiness", "10"},
	{"mount", "type=tmpfs,target=/x"},
	{"add-host", "a:1.2.3.4"},
	{"annotation", "a=b"},
	{"env", "-A=b"},
	{"cgroupns", "private"},
	{"pid", "host"},
	{"publish", "1:2/udp"},
	{"security-opt", "no-new-privileges"},
	{"shm-size", "1g"},
	{"storage-opt", "size=1g"},
	{"sysctl", "kernel.msgmax=1"},
	{"tmpfs", "/x:size=1m"},
	{"ulimit", "nofile=10"},
	{"userns", "host"},
	{"uts", "host"},
	{"volume", "name:/x"},
	{"dns", "1.1.1.1"},
	{"ip", "10.0.0.5"},
	{"ip6", "fd00::5"},
	{"link-local-ip", "169.254.1.1"},
	{"label", "a=b"},
	{"gpus", "all"},
	{"hostname", "-x"},
};

static const char *sample(const struct docker_run_option *o)
{
	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		if (strcmp(samples[i][0], o->name) == 0)
			return samples[i][1];
	return o->type == DOCKER_RUN_NUMBER ? "2" : "x";
}

/* None, here. */
static bool stands_for_words(struct str s)
{
	static const char *const names[] = {
		"{masks}",	"{terminal}",	"{git}",
		"{repository}", "{own-path}",	"{environment}",
		"{init}",	"{entrypoint}", "{command}",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(s, names[i]))
			return true;
	return false;
}

/* Placeholders as the launcher would fill them, near enough. */
static char **expand(const cJSON *list)
{
	const char *const text[][2] = {
		{"{session}", "0123456789ab"},
		{"{workspace}", "/w"},
		{"{home}", "/h"},
		{"{state}", state},
		{"{owner}", "1:1"},
	};
	char **argv = arena_array(a, (size_t)cJSON_GetArraySize(list) + 4,
				  sizeof(*argv));
	const cJSON *w;
	size_t n = 0;

	cJSON_ArrayForEach(w, list) {
		struct str s = str_of(w->valuestring);
		struct buf b;

		if (stands_for_words(s))
			continue;
		buf_init(&b, a);
		while (s.n) {
			size_t i = 0;

			while (i < ARRAY_LEN(text) &&
			       !str_starts(s, str_of(text[i][0])))
				i++;
			if (i < ARRAY_LEN(text)) {
				buf_adds(&b, text[i][1]);
				i = strlen(text[i][0]);
			} else {
				buf_addc(&b, s.p[0]);
				i = 1;
			}
			s = str_slice(s, i, s.n);
		}
		argv[n++] = b.p;
		if (n == 1) {
			argv[n++] = arena_cstr(a, STR("-H"));
			argv[n++] = arena_cstr(a, STR("unix:///nonexistent"));
		}
	}
	return argv;
}

static bool misses_daemon(char **argv, char *said, size_t size)
{
	size_t n = 0;
	ssize_t got;
	int fds[2];
	pid_t pid;

	if (pipe(fds) < 0)
		return false;
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], 2);
		dup2(fds[1], 1);
		close(fds[0]);
		unsetenv("DOCKER_HOST");
		execvp(argv[0], argv);
		_exit(127);
	}
	close(fds[1]);
	while (n + 1 < size && (got = read(fds[0], said + n, size - n - 1)) > 0)
		n += (size_t)got;
	said[n] = '\0';
	close(fds[0]);
	waitpid(pid, NULL, 0);
	return strstr(said, "Cannot connect to the Docker daemon") ||
	       strstr(said, "failed to connect to the docker API");
}

static void judge(const char *vector, const cJSON *json, const char *what)
{
	const cJSON *v = cJSON_GetObjectItem(json, vector);
	char said[4096];

	/* An older client may not have it yet: then there is no reading it. */
	if (misses_daemon(expand(cJSON_GetObjectItem(v, "argv")), said,
			  sizeof(said)) ||
	    strncmp(said, arena_fmt(a, "unknown flag: --%s\n", what).p,
		    strlen(what) + 17) == 0) {
		check_passed++;
		return;
	}
	check_failed++;
	printf("%s, %s: %s\n", what, vector, said);
}

static void run(const char *what, bool gate)
{
	struct emit_in in;
	struct buf out;
	cJSON *json;

	if (!test_policy_done(&t)) {
		test_policy_show(&t);
		check_failed++;
		return;
	}
	in = test_policy_in(&t);
	buf_init(&out, a);
	if (!docker_emit(&in, &out)) {
		test_policy_show(&t);
		check_failed++;
		return;
	}
	json = cJSON_Parse(out.p);
	judge(gate ? "gate" : "agent", json, what);
	cJSON_Delete(json);
}

static void start(void)
{
	test_policy_init(&t, a, LAYER_GLOBAL);
	t.doc.uplink.set = true;
	t.doc.uplink.v = STR("lab");
}

/* The client reads the filter of system calls, and hands on what it holds. */
static void put_filter(void)
{
	struct str folder = STR("sessions/0123456789ab/plan");
	struct str path = arena_fmt(a, "%s/%.*s", state, STR_ARG(folder));
	struct emit_in in;
	struct buf out;
	struct err err;

	start();
	CHECK(test_policy_done(&t));
	in = test_policy_in(&t);
	buf_init(&out, a);
	CHECK(seccomp_emit(&in, &out));
	CHECK(fileio_mkdirs(path.p, 0700, &err) == 0);
	CHECK(fileio_write(AT_FDCWD, arena_fmt(a, "%s/seccomp.json", path.p).p,
			   buf_str(&out), 0600, &err) == 0);
}

/* One option, spelled in one of four ways. */
static void option(const struct docker_run_option *o, unsigned way)
{
	const char *value = sample(o);

	start();
	if (o->type == DOCKER_RUN_FLAG) {
		test_policy_arg(&t, arena_fmt(a, "--%s%s", o->name,
					      way & 1 ? "=true" : "")
					    .p);
	} else if (way == 0) {
		test_policy_arg(&t, arena_fmt(a, "--%s=%s", o->name, value).p);
	} else if (way == 1 || !o->letter) {
		test_policy_arg(&t, arena_fmt(a, "--%s", o->name).p);
		test_policy_arg(&t, value);
	} else {
		test_policy_arg(&t, arena_fmt(a, "-%c%s%s", o->letter,
					      way == 2 ? "" : "=", value)
					    .p);
	}
	run(o->name, args_option(o->id)->home == ARG_GATE);
}

static bool skipped(const struct docker_run_option *o)
{
	return args_option(o->id)->judge == ARGS_JUDGE_OURS ||
	       /* the client may be older than the option */
	       strcmp(o->name, "use-api-socket") == 0 ||
	       /* how it reads a device, it asks the daemon first */
	       strcmp(o->name, "device") == 0;
}

/*
 * A line of help: "  -e, --env list   Set …" or "      --init   Run …". The
 * words behind the name are indented by more than one blank.
 */
static bool help_line(struct str line, char *letter, struct str *name,
		      bool *flag)
{
	size_t i = str_find(line, '-', 0), end;

	if (i != 2 && i != 6)
		return false;
	*letter = i == 2 ? line.p[3] : 0;
	i = 6;
	if (line.n < 10 || line.p[6] != '-' || line.p[7] != '-')
		return false;
	end = str_find(line, ' ', i);
	*name = str_slice(line, i + 2, end);
	*flag = end + 1 >= line.n || line.p[end + 1] == ' ';
	return true;
}

/* Whether the client is the one that the table was made from. */
static bool same_release(void)
{
	char said[128] = "";
	FILE *f = popen("docker --version", "r");
	const char *want = arena_fmt(a, "version %s,", docker_run_version()).p;
	bool same = f && fgets(said, sizeof(said), f) && strstr(said, want);

	if (f)
		pclose(f);
	return same;
}

/*
 * The table says of each option of this client what its help says. A client of
 * another release may have more: those are refused, and the table can be made
 * again.
 */
static void table(void)
{
	FILE *f =
		popen("DOCKER_HOST=unix:///nonexistent docker run --help", "r");
	bool same = same_release();
	char text[512];
	unsigned n = 0;

	while (f && fgets(text, sizeof(text), f)) {
		struct str line = str_of(text), name;
		const struct docker_run_option *o;
		char letter;
		bool flag;

		if (line.n && line.p[line.n - 1] == '\n')
			line.n--;
		if (!help_line(line, &letter, &name, &flag))
			continue;
		n++;
		o = docker_run_named(name);
		if (!o) {
			buf_addf(&missing, " --%.*s", STR_ARG(name));
			CHECK(!same);
			continue;
		}
		CHECK(o->letter == letter);
		CHECK((o->type == DOCKER_RUN_FLAG) == flag);
	}
	CHECK(n > 80);
	if (f)
		pclose(f);
}

int main(void)
{
	struct err err;

	if (system("docker --version >/dev/null 2>&1") != 0) {
		puts("skipped: no docker client");
		return 77;
	}
	a = arena_new();
	buf_init(&missing, a);
	CHECK(mkdtemp(state));
	put_filter();
	table();
	start();
	run("nothing", false);
	start();
	run("nothing", true);
	for (unsigned i = 0; i < DOCKER_RUN_IDS; i++) {
		const struct docker_run_option *o =
			docker_run_option((enum docker_run_id)i);

		if (!skipped(o))
			option(o, i % 4);
	}
	CHECK(fileio_remove_tree(AT_FDCWD, state, &err) == 0);
	if (missing.n)
		printf("not in grammar/docker-run.def, which is from docker "
		       "%s, and so refused:%s; run grammar/docker-options.sh "
		       "and class them in "
		       "compiler/passes/args/docker_options.def\n",
		       docker_run_version(), missing.p);
	/* Of another release that is no fault, and worth a line all the same.
	 */
	return check_failed || !missing.n ? check_status() : 77;
}
