/* What membrane-watch says, said by shell scripts instead of a container. */
#include "runtime/launch/tracer/tracer.h"

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

#define PLAN                                                                   \
	"{\"required\":false,\"rotate\":{\"size\":1000000,\"age\":1000,"       \
	"\"keep\":9,\"total\":1000000}}"
#define WORD(event, value)                                                     \
	"echo '{\"eventName\":\"" event "\",\"args\":[{\"name\":\"x\","        \
	"\"value\":" value "}]}' >&2; "
#define LOADED WORD("loaded", "2")
#define READY  WORD("ready", "3")
#define END(n) WORD("end", n)
#define FRAME  "printf '\\003\\000\\000\\000abc'; "
#define LAST   "printf '\\000\\000\\000\\000'; "

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

static char dir[] = "/tmp/membrane-tracer-XXXXXX";
static struct arena *a;
static struct err err;

/* In the script, $0 is the folder. */
static struct tracer *start(const char *script)
{
	struct tracer *t = arena_new_of(a, struct tracer);
	char *argv[] = {arena_cstr(a, STR("sh")), arena_cstr(a, STR("-c")),
			arena_cstr(a, str_of(script)), dir, NULL};

	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0 &&
	      fileio_mkdirs(dir, 0700, &err) == 0);
	CHECK(tracer_start(a, t, plain_engine(), argv, STR(PLAN), dir, "s", -1, &err) == 0);
	t->file.copy = -1;
	return t;
}

/* Let it go on once, or for as long as nothing happens. */
static void step(struct tracer *t)
{
	struct pollfd p[] = {{t->out, POLLIN, 0},
			     {t->err, POLLIN, 0},
			     {t->in, t->watch.say_n ? POLLOUT : 0, 0}};

	poll(p, ARRAY_LEN(p), 1000);
	tracer_pump(t);
}

static void finish(struct tracer *t)
{
	int64_t until = clock_ms() + 20000;
	int status = 0;

	while ((t->out >= 0 || t->err >= 0) && clock_ms() < until) {
		step(t);
		tracer_tell(t, 1, 2, NULL);
	}
	CHECK(waitpid(t->pid, &status, 0) == t->pid);
	tracer_ended(t, proc_status(status));
	tracer_done(t);
}

static struct tracer *play(const char *script)
{
	struct tracer *t = start(script);

	finish(t);
	return t;
}

static struct str in_file(const char *name)
{
	struct str text = {0};

	CHECK_MSG(fileio_read(a, AT_FDCWD, arena_fmt(a, "%s/%s", dir, name).p,
			      4 << 20, &text, &err) == 0,
		  "%s", err.text);
	return text;
}

static void whole(void)
{
	struct tracer *t = play(
		LOADED
		"read -r l; echo \"$l\" >\"$0/hello\"; " READY FRAME
		"printf '\\001\\000'; printf '\\000\\000x'; " WORD("lost", "7")
			WORD("found", "1") LAST END("9"));

	CHECK_MSG(t->state == TRACER_ENDED, "%d %s", t->state, t->why.text);
	CHECK(tracer_is_done(t));
	CHECK(t->watch.has_found && tracer_lost(t) == 9);
	CHECK(str_is(in_file("s.jsonl.gz"), "abcx"));
	CHECK(str_ends(in_file("hello"), STR("\"netns\":1,\"pidns\":2}\n")));
	CHECK(str_is(tracer_lacks(a, t),
		     "it lacks 9 events ('membrane trace stats' says why)"));
}

/* The words of the first line that was no JSON, or of the last that was. */
static void fails(const char *script, const char *why)
{
	struct tracer *t = play(script);

	CHECK_MSG(t->state == TRACER_FAILED, "%s: %d", script, t->state);
	CHECK_MSG(strcmp(t->why.text, why) == 0, "%s: '%s'", script,
		  t->why.text);
}

static void failures(void)
{
	const char *senseless = "it says nothing sensible";
	const char *none = "the tracer sent a frame that is none";

	fails("exit 3", "the tracer ended (status 3)");
	fails("echo 'docker: no such image' >&2; echo more >&2; exit 125",
	      "docker: no such image");
	fails(WORD("error", "\"no room\"") "read -r l", "no room");
	fails(READY "read -r l", senseless);
	fails(LOADED LOADED "read -r l", senseless);
	fails(LOADED READY READY "read -r l", senseless);
	fails(END("0") LOADED "read -r l", senseless);
	fails(END("\"0\""), "0");
	fails(LOADED LAST FRAME "read -r l", none);
	fails(LOADED LAST LAST "read -r l", none);
	fails(LOADED "printf '\\001\\000\\020\\000'; read -r l", none);
	fails(LOADED READY FRAME "exit 1", "the tracer ended (status 1)");
}

/* What is not there to be counted, and what ends before it is whole. */
static void halves(void)
{
	const char *senseless = "it says nothing sensible";
	const char *half = "the tracer's last records are missing";

	fails("printf 'docker: gone' >&2; exit 1", "docker: gone");
	fails(LOADED READY "printf '\\003\\000\\000\\000ab'; " END("0"), half);
	fails(LOADED READY FRAME "printf '\\003\\000'; " END("0"), half);
	fails(LOADED READY FRAME LAST "printf '\\003'; " END("0"), half);
	fails(LOADED READY FRAME END("0"), half);
	fails(LOADED READY END("-1"), senseless);
	fails(LOADED READY END("1e300"), senseless);
	fails(LOADED READY WORD("lost", "-1e19") "read -r l", senseless);
}

/* A plan that cannot be read starts nothing, and closes nothing. */
static void no_plan(void)
{
	struct tracer *t = arena_new_of(a, struct tracer);
	char *argv[] = {arena_cstr(a, STR("true")), NULL};
	struct stat before, after;

	CHECK(fstat(0, &before) == 0);
	CHECK(tracer_start(a, t, plain_engine(), argv, STR("{}"), dir, "s", -1, &err) ==
	      -EPROTO);
	tracer_done(t);
	CHECK(fstat(0, &after) == 0 && before.st_ino == after.st_ino);
	t = arena_new_of(a, struct tracer);
	tracer_init(t);
	tracer_done(t);
	CHECK(fstat(0, &after) == 0 && before.st_ino == after.st_ino);
}

#define ANSWERS 300 /* more than a pipe and the tracer's own room take */

static void tell_answers(struct tracer *t, unsigned n)
{
	struct str line =
		arena_fmt(a, "{\"event\":\"answer\",\"x\":\"%01000d\"}\n", 0);

	for (unsigned i = 0; i < n; i++)
		tracer_answer(t, line);
}

/* Answers that it heard of, each or as a number of missing ones. */
static uint64_t heard(void)
{
	static const struct str missing = STR_INIT("\"missing\":");
	struct str rest = in_file("heard"), line;
	uint64_t n = 0, more;

	while (str_line(&rest, &line)) {
		const char *p = memmem(line.p, line.n, missing.p, missing.n);

		if (!p && str_ends(line, STR("0\"}")))
			n++;
		if (p && str_ends(line, STR("}"))) {
			p += missing.n;
			CHECK(str_u64((struct str){p, (size_t)(line.p + line.n -
							       1 - p)},
				      ANSWERS, &more));
			n += more;
		}
	}
	return n;
}

/* Until it has been told whose processes. */
static void until_told(struct tracer *t)
{
	int64_t until = clock_ms() + 20000;

	while (!t->told && clock_ms() < until) {
		step(t);
		tracer_tell(t, 1, 2, NULL);
	}
	CHECK(t->told);
}

static void let_it_read(void)
{
	int fd = open(arena_fmt(a, "%s/go", dir).p, O_WRONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	fd_close(&fd);
}

/* One that reads nothing until "go" is opened. */
#define WAIT "read -r l <\"$0/go\"; "
#define SLOW "mkfifo \"$0/go\"; " LOADED "read -r l; " READY WAIT

static void answers(void)
{
	struct tracer *t = start(SLOW "cat >\"$0/heard\"; " LAST END("0"));

	until_told(t);
	tell_answers(t, ANSWERS);
	CHECK(tracer_lost(t) > 0);
	let_it_read();
	while (t->watch.say_n)
		step(t);
	tell_answers(t, 1); /* and it hears of those before */
	while (t->watch.say_n)
		step(t);
	tracer_end(t, 1);
	finish(t);
	CHECK(t->state == TRACER_ENDED && tracer_lost(t) == 0);
	CHECK(heard() == ANSWERS + 1);
}

/* Nor does it hear that some are missing: still all are counted. */
static void unheard(void)
{
	struct tracer *t = start(SLOW "head -c 40000 >\"$0/heard\"; " WAIT
				      "cat >>\"$0/heard\"; " LAST END("0"));
	size_t full;

	until_told(t);
	tell_answers(t, ANSWERS);
	full = t->watch.say_n;
	let_it_read();
	while (t->watch.say_n == full)
		step(t);
	tell_answers(t, 1); /* and it would hear of those before */
	tracer_end(t, 1);
	let_it_read();
	finish(t);
	CHECK(t->state == TRACER_ENDED && tracer_lost(t) > 0);
	CHECK_MSG(tracer_lost(t) + heard() == ANSWERS + 1, "%llu, %llu",
		  (unsigned long long)tracer_lost(t),
		  (unsigned long long)heard());
}

int main(void)
{
	a = arena_new();
	signal(SIGPIPE, SIG_IGN);
	alarm(60); /* a script that waits for us */
	CHECK(mkdtemp(dir) != NULL);
	whole();
	failures();
	halves();
	no_plan();
	answers();
	unheard();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
