/* The gate's protocol, spoken by shell scripts instead of a container. */
#include "runtime/launch/gate.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/docker/engine.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DECISION                                                               \
	"{\"event\":\"decision\",\"kind\":\"resolve\",\"verdict\":\"deny\","   \
	"\"reason\":\"no-grant\",\"name\":\"a.test\",\"type\":\"A\"}"

/* A part is whatever program the vector names. */
static struct engine *plain_engine(void)
{
	static struct docker_engine plain;
	static struct arena *names;

	if (!names)
		names = arena_new();
	docker_engine_init(&plain, names, NULL, "s");
	return &plain.engine;
}

static char dir[] = "/tmp/membrane-gate-XXXXXX";
static struct err err;

struct outcome {
	int rc; /* of the pump that failed, or 0 */
	bool ready, done;
	int status;
	uint64_t lost;
	const char *words;
	struct str decisions, log;
};

/* What it is told of, where somebody listens. */
static struct {
	unsigned generations, renewals;
	uint32_t number;
	bool ok;
	char message[64];
} told;

static void hear_generation(void *ctx, uint32_t number, bool ok,
			    const char *message)
{
	(void)ctx;
	told.generations++;
	told.number = number;
	told.ok = ok;
	snprintf(told.message, sizeof(told.message), "%s", message);
}

static int hear_renewal(void *ctx, const cJSON *event, struct err *e)
{
	(void)ctx;
	(void)event;
	told.renewals++;
	return told.renewals == 1 ? 0 : err_set(e, -EPROTO, "once is enough");
}

/* Of a gate whose launcher listens for changes and renewals, or does not. */
static struct outcome play_heard(struct arena *a, const char *script,
				 bool heard)
{
	struct gate *g = arena_new_of(a, struct gate);
	char *argv[] = {arena_cstr(a, STR("sh")), arena_cstr(a, STR("-c")),
			arena_cstr(a, str_of(script)), NULL};
	struct outcome o = {0};
	int64_t until = clock_ms() + 20000;
	int status = 0;

	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0 &&
	      fileio_mkdirs(dir, 0700, &err) == 0);
	gate_init(g, summary_new(a, NULL));
	if (heard) {
		g->on_generation = hear_generation;
		g->on_renewal = hear_renewal;
	}
	CHECK(gate_start(g, plain_engine(), argv, dir, -1, &err) == 0);
	if (gate_hello(g, STR("hello\n"), &err) < 0)
		CHECK(err.code == -EPIPE); /* it was quick to end */
	gate_close_stdin(g);
	while (o.rc == 0 && (g->out >= 0 || g->err >= 0) &&
	       clock_ms() < until) {
		struct pollfd p[] = {{g->out, POLLIN, 0}, {g->err, POLLIN, 0}};

		poll(p, 2, 1000);
		o.rc = gate_pump(g, &err);
	}
	if (o.rc < 0)
		kill(g->pid, SIGKILL);
	waitpid(g->pid, &status, 0);
	o.ready = g->ready;
	o.done = g->says.done;
	o.lost = g->lost;
	o.status = proc_status(status);
	o.words = arena_cstr(a, str_of(gate_last_words(g)));
	gate_done(g);
	CHECK(fileio_read(a, AT_FDCWD,
			  arena_fmt(a, "%s/decisions.jsonl", dir).p, 1 << 20,
			  &o.decisions, &err) == 0);
	CHECK(fileio_read(a, AT_FDCWD, arena_fmt(a, "%s/gate.log", dir).p,
			  1 << 20, &o.log, &err) == 0);
	return o;
}

static struct outcome play(struct arena *a, const char *script)
{
	return play_heard(a, script, false);
}

/* What it had no room to tell is counted, and no decision. */
static void check_lost(struct arena *a)
{
	struct outcome o = play(a, "echo '{\"event\":\"ready\",\"ms\":3}'; "
				   "echo '{\"event\":\"lost\",\"count\":7}'; "
				   "echo '" DECISION "'; "
				   "echo '{\"event\":\"lost\",\"count\":5}'; "
				   "echo '{\"event\":\"done\"}'");

	CHECK(o.rc == 0 && o.done && o.lost == 12);
	CHECK(str_is(o.decisions, DECISION "\n"));
}

static void check_protocol(struct arena *a)
{
	struct outcome o;

	o = play(a, "read l; echo got $l >&2; echo '{\"event\":\"ready\","
		    "\"ms\":3}'; printf '%s' '{\"event\":\"deci'; "
		    "echo '"
		    "sion\",\"kind\":\"resolve\",\"verdict\":\"deny\","
		    "\"reason\":\"no-grant\",\"name\":\"a.test\"}'; exit 3");
	CHECK_MSG(o.rc == 0 && o.ready && o.status == 3, "%d %d %d %s", o.rc,
		  o.ready, o.status, err.text);
	CHECK(strcmp(o.words, "got hello") == 0);
	CHECK(str_is(o.log, "got hello\n"));
	CHECK(str_is(o.decisions,
		     "{\"event\":\"decision\",\"kind\":\"resolve\","
		     "\"verdict\":\"deny\",\"reason\":\"no-grant\","
		     "\"name\":\"a.test\"}\n"));
	o = play(a, "echo '{\"event\":\"end\",\"sent\":1}'");
	CHECK(o.rc == 0 && !o.done &&
	      str_is(o.decisions, "{\"event\":\"end\",\"sent\":1}\n"));
	o = play(a, "echo '" DECISION "'; echo '{\"event\":\"done\"}'");
	CHECK(o.rc == 0 && o.done && o.decisions.n == sizeof(DECISION));
	o = play(a,
		 "echo '" DECISION "'; echo '" DECISION "'; "
		 "echo '{\"event\":\"error\",\"message\":\"no \\u001b room\"}';"
		 "echo later >&2");
	CHECK(o.rc == 0 && !o.ready && o.decisions.n == 2 * sizeof(DECISION));
	CHECK(strcmp(o.words, "no \\x1b room") == 0 ||
	      strcmp(o.words, "later") == 0);
	o = play(a, "printf 'docker: no such image\\nRun '\"'\"'docker run "
		    "--help'\"'\"' for more\\n' >&2; exit 125");
	CHECK(o.status == 125 && strcmp(o.words, "docker: no such image") == 0);
	o = play(a,
		 "echo 'docker: Error response from daemon: failed to create "
		 "task: error during container init: open "
		 "/proc/sys/net/ipv6/conf/all/forwarding: no such file' "
		 ">&2; exit 127");
	CHECK(strstr(o.words, "start it without 'ipv6.disable=1'") &&
	      str_starts(o.log, STR("docker: Error")));
	o = play(a, "exit 0");
	CHECK(o.rc == 0 && strcmp(o.words, "it said nothing") == 0);
}

static bool holds(struct arena *a, const char *name, const char *text)
{
	const char *path = arena_fmt(a, "%s/%s", dir, name).p;
	struct stat st;
	struct str got;

	return stat(path, &st) == 0 && (st.st_mode & 0777) == 0644 &&
	       fileio_read(a, AT_FDCWD, path, 1 << 20, &got, &err) == 0 &&
	       str_eq(got, str_of(text));
}

#define ROOTS(pem) "echo '{\"event\":\"roots\",\"pem\":\"" pem "\"}';"
#define READY(ca)                                                              \
	"echo '{\"event\":\"ready\",\"ca\":" ca ",\"ipv6\":true,"              \
	"\"netns\":7,\"pidns\":8}';"

/* Whoever the agent is, it reads both, whatever our umask is. */
static void check_roots(struct arena *a)
{
	mode_t was = umask(077);
	struct outcome o =
		play(a, ROOTS("one ") ROOTS("two ") READY("\"ours\""));

	umask(was);
	CHECK_MSG(o.rc == 0 && o.ready, "%s", err.text);
	CHECK(holds(a, "bundle.pem", "one two ours"));
	CHECK(holds(a, "ca.pem", "ours"));
}

static void check_roots_refused(struct arena *a)
{
	static const char *const bad[] = {
		"echo '{\"event\":\"roots\"}'",
		"echo '{\"event\":\"roots\",\"pem\":7}'",
		"echo '{\"event\":\"ready\"}';" ROOTS("late"),
		READY("\"of no roots\""),
		ROOTS("one") READY("7"),
		/* 140 lines of 60,000 bytes */
		"pem=$(head -c 60000 /dev/zero | tr '\\0' a); i=0;"
		"while [ $i -lt 140 ] && echo "
		"'{\"event\":\"roots\",\"pem\":\"'$pem'\"}'; do "
		"i=$((i + 1)); done; sleep 20",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct outcome o = play(a, bad[i]);

		CHECK_MSG(o.rc == -EPROTO, "%s: %d", bad[i], o.rc);
		CHECK(access(arena_fmt(a, "%s/ca.pem", dir).p, F_OK) < 0);
	}
	CHECK(strcmp(err.text, "the gate sent too many roots") == 0);
}

#define GENERATION(rest) "echo '{\"event\":\"generation\"" rest "}';"
#define RENEWAL		 "echo '{\"event\":\"renewal\"}';"

static void check_heard(struct arena *a)
{
	struct outcome o;

	o = play_heard(a, GENERATION(",\"generation\":3,\"ok\":true") RENEWAL,
		       true);
	CHECK(o.rc == 0 && told.generations == 1 && told.renewals == 1);
	CHECK(told.number == 3 && told.ok && told.message[0] == '\0');
	o = play_heard(a,
		       GENERATION(",\"generation\":4,\"ok\":false,"
				  "\"message\":\"no\"")
			       GENERATION(",\"generation\":0"),
		       true);
	CHECK(o.rc == -EPROTO && told.generations == 2);
	CHECK(told.number == 4 && !told.ok && strcmp(told.message, "no") == 0);
	o = play_heard(a, RENEWAL, true);
	CHECK(o.rc == -EPROTO && strcmp(err.text, "once is enough") == 0);
	o = play(a, GENERATION(",\"generation\":3,\"ok\":true"));
	CHECK(o.rc == -EPROTO && strstr(err.text, "nobody asked for"));
	o = play(a, RENEWAL);
	CHECK(o.rc == -EPROTO && strstr(err.text, "tokens that nobody has"));
	CHECK(told.generations == 2 && told.renewals == 2);
	/* an answer is for a tracer, and no decision */
	o = play(a, "echo '{\"event\":\"answer\",\"name\":\"a.test\"}'");
	CHECK(o.rc == 0 && o.decisions.n == 0);
}

/* What the launcher says goes to its stdin, a line each. */
static void check_told(struct arena *a)
{
	struct gate *g = arena_new_of(a, struct gate);
	char *argv[] = {arena_cstr(a, STR("sh")), arena_cstr(a, STR("-c")),
			arena_cstr(a, STR("cat >&2")), NULL};
	struct str log;

	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0 &&
	      fileio_mkdirs(dir, 0700, &err) == 0);
	gate_init(g, summary_new(a, NULL));
	CHECK(gate_start(g, plain_engine(), argv, dir, -1, &err) == 0);
	CHECK(gate_hello(g, STR("hello\n"), &err) == 0 &&
	      gate_change(g, 2, false, &err) == 0 &&
	      gate_change(g, 3, true, &err) == 0 &&
	      gate_say(g, STR("token\n"), &err) == 0);
	gate_close_stdin(g);
	waitpid(g->pid, NULL, 0);
	CHECK(gate_pump(g, &err) == 0);
	CHECK(gate_say(g, STR("token\n"), &err) == -EBADF);
	gate_done(g);
	CHECK(fileio_read(a, AT_FDCWD, arena_fmt(a, "%s/gate.log", dir).p,
			  1 << 20, &log, &err) == 0 &&
	      str_is(log, "hello\nchange 2 keep\nchange 3 cut\ntoken\n"));
}

static void check_refused(struct arena *a)
{
	static const char *const bad[] = {
		"echo hello",
		"echo '[]'",
		"echo '{}'",
		"echo '{\"event\":\"party\"}'",
		"echo '{\"event\":\"decision\"}'",
		"echo",
		"echo '{\"event\":\"ready\"} x'",
		"echo '{\"event\":\"done\"}'; echo '" DECISION "'",
		"head -c 70000 /dev/zero | tr '\\0' a; sleep 20",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct outcome o = play(a, bad[i]);

		CHECK_MSG(o.rc == -EPROTO, "%s: %d", bad[i], o.rc);
		CHECK(!o.ready);
	}
}

static void check_missing(struct arena *a)
{
	struct gate *g = arena_new_of(a, struct gate);
	char *argv[] = {arena_cstr(a, STR("membrane-no-such-program")), NULL};

	gate_init(g, summary_new(a, NULL));
	CHECK(gate_start(g, plain_engine(), argv, dir, -1, &err) == -ENOENT);
	CHECK(strstr(err.text, "membrane-no-such-program"));
	gate_done(g);
	/* nor without a folder for what it says */
	g = arena_new_of(a, struct gate);
	gate_init(g, summary_new(a, NULL));
	CHECK(gate_start(g, plain_engine(), argv, "/nowhere", -1, &err) == -ENOENT);
	gate_done(g);
}

int main(void)
{
	struct arena *a = arena_new();

	CHECK(mkdtemp(dir) != NULL);
	CHECK(proc_signals_catch(&err) == 0);
	check_protocol(a);
	check_lost(a);
	check_refused(a);
	check_roots(a);
	check_roots_refused(a);
	check_heard(a);
	check_told(a);
	check_missing(a);
	proc_signals_restore();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
