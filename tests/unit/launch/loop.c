/*
 * The loop of a session with shell scripts for the docker commands of gate and
 * agent, and a small server for Docker, whose events come oddly or not at all.
 */
#include "runtime/launch/loop/loop.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/docker/engine.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define READY "read hello; echo '{\"event\":\"ready\",\"ms\":3}'; "
#define SERVE READY "cat; echo '{\"event\":\"done\"}'"
#define SLOW_GATE "\r\033[Kmembrane: starting the gate…\r\033[K"
#define SELF  "$PPID" /* of a script: this program */

#define EVENT(role, action)                                                    \
	"{\"Action\":\"" action "\",\"Actor\":{\"ID\":\"c\",\"Attributes\":"   \
	"{\"membrane.role\":\"" role "\"}}}\n"

static const struct canned {
	const char *request; /* how the request line begins */
	int status;
	const char *body;
} table[] = {
	{"GET /_ping", 200, "OK"},
	/* what Docker says last comes first */
	{"GET /v1.48/events?filters=%7B%22label%22%3A%5B%22membrane.session%3D"
	 "0dd",
	 200,
	 EVENT("agent", "destroy") EVENT("agent", "die") EVENT("gate", "die")
		 EVENT("agent", "unpause") EVENT("tracer", "destroy")
			 EVENT("agent", "create") EVENT("agent", "pause")},
	{"GET /v1.48/events", 200, ""},
	{"GET /v1.48/containers/json", 200,
	 "[{\"Id\":\"c\",\"State\":\"running\",\"Labels\":{"
	 "\"membrane.session\":\"x\",\"membrane.role\":\"agent\"}}]"},
	{"POST /v1.48/containers/unmade/kill", 404, "{\"message\":\"none\"}"},
	{"POST /v1.48/containers/deaf/kill", 204, ""},
	{"DELETE /v1.48/containers/", 500, "{\"message\":\"no\"}"},
};

static void answer(int c, const char *head)
{
	const struct canned *found = NULL;
	char out[4096];
	int n;

	for (size_t i = 0; i < ARRAY_LEN(table) && !found; i++)
		if (strncmp(head, table[i].request, strlen(table[i].request)) ==
		    0)
			found = &table[i];
	n = snprintf(out, sizeof(out),
		     "HTTP/1.1 %d X\r\nApi-Version: 1.99\r\n"
		     "Content-Length: %zu\r\n\r\n%s",
		     found ? found->status : 400,
		     strlen(found ? found->body : ""),
		     found ? found->body : "");
	if (write(c, out, (size_t)n) != n)
		_exit(1);
}

static void serve_one(int c)
{
	char head[8192];
	size_t n = 0;

	for (;;) {
		ssize_t got = read(c, head + n, sizeof(head) - 1 - n);

		if (got <= 0)
			_exit(0);
		n += (size_t)got;
		head[n] = '\0';
		if (!strstr(head, "\r\n\r\n"))
			continue;
		answer(c, head);
		n = 0;
	}
}

static pid_t start_server(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int listener = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	CHECK(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	      listen(listener, 16) == 0);
	pid = fork();
	if (pid == 0) {
		signal(SIGCHLD, SIG_IGN);
		for (;;) {
			int c = accept(listener, NULL, NULL);

			if (c < 0)
				_exit(0);
			if (fork() == 0)
				serve_one(c);
			close(c);
		}
	}
	close(listener);
	return pid;
}

/* --- one session -----------------------------------------------------------
 */

static char dir[] = "/tmp/membrane-loop-XXXXXX";
static struct endpoint at;

struct play {
	struct docker *docker;
	struct docker_engine engine;
	const char *gate, *agent;   /* scripts */
	const char *view;	    /* the same; NULL: none */
	const char *session, *name; /* NULL: as usual */
	unsigned queue;		    /* so often others come first */
	int refusal;		    /* of on_ready, after that */
	const uint32_t *grace_s;    /* NULL: as usual */
	bool caller_is_gone, progress;
	bool may_hold;	 /* the agent is begun before the gate is ready */
	bool gate_waits; /* for that, at FIFO "held" */
	int not_now;   /* of on_view */
	const char *first; /* what the init says of the command's beginning */
	unsigned ran;	   /* how often it was said to run */
	/* What came of it: */
	struct loop *r;
	unsigned asked, started, viewed, held, released, paused;
	int rc;
	int64_t ms;
	struct err err;
};

static int on_ready(void *ctx, struct err *err)
{
	struct play *p = ctx;

	if (p->asked++ < p->queue)
		return 1;
	return p->refusal ? err_set(err, p->refusal, "not ready") : 0;
}

static int on_view(void *ctx, struct err *err)
{
	struct play *p = ctx;

	p->viewed++;
	return p->not_now < 0 ? err_set(err, p->not_now, "no files")
			      : p->not_now;
}

static int on_started(void *ctx, struct err *err)
{
	struct play *p = ctx;

	(void)err;
	p->started++;
	return 0;
}

static int on_agent_runs(void *ctx, struct err *err)
{
	struct play *p = ctx;

	(void)err;
	p->ran++;
	return 0;
}

/* Of a pipe, whose other end has said that and is closed. */
static int begun(const char *says)
{
	int ends[2];

	CHECK(pipe2(ends, O_CLOEXEC) == 0);
	CHECK(write(ends[1], says, strlen(says)) == (ssize_t)strlen(says));
	close(ends[1]);
	return ends[0];
}

/* Lets go on who reads FIFO "paused"; the loop asks again until one does. */
static bool on_paused(void *ctx, const char *container)
{
	struct play *p = ctx;
	char path[64];
	int fd;

	CHECK(strcmp(container, "c") == 0);
	p->paused++;
	snprintf(path, sizeof(path), "%s/paused", dir);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	CHECK(fd < 0 || write(fd, "go\n", 3) == 3);
	fd_close(&fd);
	return false;
}

static char **script(struct arena *a, const char *text)
{
	char **argv = arena_array(a, 4, sizeof(*argv));

	argv[0] = arena_cstr(a, STR("sh"));
	argv[1] = arena_cstr(a, STR("-c"));
	argv[2] = arena_cstr(a, str_of(text));
	argv[3] = NULL;
	return argv;
}

/* --- an engine that can hold ----------------------------------------------- */

static struct engine_ops holding;
static struct play *held_in;

static bool may_hold(struct engine *e)
{
	(void)e;
	return true;
}

/* A line to who reads that FIFO, or is about to. */
static int say_at(const char *name, struct err *err)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "go\n", 3) != 3)
		return err_errno(err, path);
	close(fd);
	return 0;
}

static void make_fifo(const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	CHECK(mkfifo(path, 0600) == 0);
}

static int hold_agent(struct engine *e, enum engine_part part,
		      const struct proc_opts *o, pid_t *out_pid,
		      struct err *err)
{
	int rc;

	CHECK(part == ENGINE_AGENT);
	held_in->held++;
	rc = holding.start(e, part, o, out_pid, err);
	return rc == 0 && held_in->gate_waits ? say_at("held", err) : rc;
}

static int release_agent(struct engine *e, enum engine_part part,
			 struct err *err)
{
	(void)e;
	CHECK(part == ENGINE_AGENT);
	held_in->released++;
	return say_at("go", err);
}

static void let_hold(struct play *p)
{
	make_fifo("go");
	make_fifo("held");
	held_in = p;
	holding = *p->engine.engine.ops;
	holding.may_hold = may_hold;
	holding.hold = hold_agent;
	holding.release = release_agent;
	p->engine.engine.ops = &holding;
	p->r->on_view = on_view;
}

static void run_session(struct arena *a, struct play *p)
{
	struct loop *r = p->r;
	int nobody[2] = {-1, -1};

	CHECK(proc_signals_catch(&p->err) == 0);
	CHECK(docker_open(a, &at, &p->docker, &p->err) == 0);
	docker_engine_init(&p->engine, a, p->docker, r->session->id);
	p->engine.names[ENGINE_AGENT] = p->name ? p->name : "deaf";
	p->engine.names[ENGINE_GATE] = "gate";
	p->engine.names[ENGINE_VIEW] = "view";
	if (p->may_hold)
		let_hold(p);
	r->engine = &p->engine.engine;
	CHECK(gate_start(r->gate, r->engine, script(a, p->gate), r->session->dir, -1,
			 &p->err) == 0);
	if (gate_hello(r->gate, STR("hello\n"), &p->err) < 0)
		CHECK(p->err.code == -EPIPE);
	if (p->view)
		CHECK(view_start(r->view, r->engine, script(a, p->view), -1, &p->err) ==
		      0);
	if (p->caller_is_gone) {
		CHECK(pipe(nobody) == 0);
		close(nobody[1]);
	}
	r->caller = nobody[0];
	p->rc = loop_run(r, &p->err);
	p->ms = clock_ms() - r->begun;
	/* whatever it was, nothing of it runs any more */
	CHECK(r->agent == 0 && r->gate->pid == 0 && !r->left);
	CHECK(p->started <= 1);
	fd_close(&nobody[0]);
	gate_done(r->gate);
	if (r->view)
		view_done(r->view);
	docker_close(p->docker);
	proc_signals_restore();
}

static void play(struct arena *a, struct play *p)
{
	struct loop *r = arena_new_of(a, struct loop);
	struct session *s = arena_new_of(a, struct session);
	struct watchdog *w = arena_new_of(a, struct watchdog);

	snprintf(s->id, sizeof(s->id), "%s",
		 p->session ? p->session : "0123456789ab");
	s->dir = dir;
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &p->err) == 0 &&
	      fileio_mkdirs(dir, 0700, &p->err) == 0);
	if (p->grace_s)
		CHECK(session_set_grace(s, *p->grace_s, &p->err) == 0);
	*w = (struct watchdog){0, open("/dev/null", O_WRONLY | O_CLOEXEC), -1};
	*r = (struct loop){
		.a = a,
		.session = s,
		.gate = arena_new_of(a, struct gate),
		.control = arena_new_of(a, struct control),
		.questions = arena_new_of(a, struct questions),
		.watchdog = w,
		.agent_argv = script(a, p->agent ? p->agent : "exit 7"),
		.on_ready = on_ready,
		.on_started = on_started,
		.on_paused = on_paused,
		.progress = p->progress,
		.ctx = p,
		.begun = clock_ms(),
		.begun_fd = p->first ? begun(p->first) : -1,
		.on_agent_runs = on_agent_runs,
	};
	gate_init(r->gate, summary_new(a, NULL));
	if (p->view) {
		r->view = arena_new_of(a, struct view);
		view_init(r->view,
			  refusals_new(a, STR(""), written_read(a, STR(""))),
			  kept_new(a), -1, &r->gate->decisions);
	}
	r->control->listen = r->control->client = -1;
	p->r = r;
	run_session(a, p);
	fd_close(&w->alive_fd);
}

/* --- what may happen -------------------------------------------------------
 */

static void test_status(struct arena *a)
{
	struct play p = {.gate = SERVE, .agent = "exit 7"};
	struct play odd = {
		.gate = SERVE,
		.agent = arena_fmt(a, "mkfifo %s/paused; read go <%s/paused; exit 7",
				   dir, dir)
				 .p,
		.session = "0dd456789abc"};
	struct play looked = {.gate = SERVE, .agent = "sleep 1; exit 9"};
	struct play begins = {
		.gate = SERVE, .agent = "sleep 1; exit 9", .first = ""};
	struct play cannot = {
		.gate = SERVE, .agent = "sleep 1; exit 127", .first = "-"};

	play(a, &p);
	CHECK_MSG(p.rc == 7, "%d %s", p.rc, p.err.text);
	CHECK(p.r->course.state == COURSE_ENDING && !p.r->was_killed);
	/* an end that is told of before there was anything, or too early */
	play(a, &odd);
	CHECK_MSG(odd.rc == 7 && !odd.r->was_killed && odd.paused > 0, "%d %s",
		  odd.rc, odd.err.text);
	/* no event at all: that it runs is found out all the same */
	play(a, &looked);
	CHECK_MSG(looked.rc == 9 && looked.started == 1 && looked.ran == 1,
		  "%d %u %u", looked.rc, looked.started, looked.ran);
	play(a, &begins);
	CHECK(begins.rc == 9 && begins.ran == 1 && !begins.r->is_refused);
	/* its container runs, and no command in it */
	play(a, &cannot);
	CHECK(cannot.rc == 127 && cannot.started == 1 && cannot.ran == 0 &&
	      cannot.r->is_refused);
}

/* It is made while the gate starts, and its program begins after that, or not
 * at all. */
static void test_held(struct arena *a)
{
	const char *waits = arena_fmt(a, "read go <%s/go; exit 7", dir).p;
	struct play p = {.gate = SERVE, .agent = waits, .may_hold = true};
	struct play fails = {.gate = "cat >/dev/null",
			     .agent = "exit 125",
			     .may_hold = true};
	struct play lost = {
		.gate = arena_fmt(a, "read hello; read go <%s/held; exit 3",
				  dir)
				.p,
		.agent = waits,
		.name = "unmade",
		.may_hold = true,
		.gate_waits = true};
	struct play signalled = {.gate = "cat >/dev/null",
				 .agent = arena_fmt(a, "kill -TERM " SELF "; %s",
						    waits)
						  .p,
				 .name = "unmade",
				 .may_hold = true};
	struct play later = {.gate = SERVE, .may_hold = true, .not_now = 1};
	struct play no_files = {
		.gate = SERVE, .may_hold = true, .not_now = -EIO};

	play(a, &p);
	CHECK_MSG(p.rc == 7 && p.held == 1 && p.released == 1 && p.viewed == 1,
		  "%d %s", p.rc, p.err.text);
	/* nobody waits for the gate of an agent that could not be made */
	play(a, &fails);
	CHECK_MSG(fails.rc == 125 && fails.released == 0, "%d %s", fails.rc,
		  fails.err.text);
	play(a, &lost);
	CHECK_MSG(lost.rc == -EPIPE && lost.r->was_killed && lost.held == 1 &&
			  lost.released == 0,
		  "%d %s", lost.rc, lost.err.text);
	play(a, &signalled);
	CHECK_MSG(signalled.rc == 128 + SIGTERM && signalled.r->was_killed &&
			  signalled.released == 0,
		  "%d %s", signalled.rc, signalled.err.text);
	/* others are in the way: it begins as it does without */
	play(a, &later);
	CHECK_MSG(later.rc == 7 && later.held == 0 && later.viewed > 0, "%d %s",
		  later.rc, later.err.text);
	play(a, &no_files);
	CHECK(no_files.rc == -EIO && !no_files.r->agent_made);
}

static void test_before_the_agent(struct arena *a)
{
	struct play queued = {.gate = SERVE, .queue = 3};
	struct play refused = {.gate = SERVE, .refusal = -EBUSY};
	struct play alone = {.gate = SERVE, .caller_is_gone = true};
	struct play signalled = {.gate = "kill -TERM " SELF "; cat >/dev/null"};

	play(a, &queued);
	CHECK_MSG(queued.rc == 7 && queued.asked == 4 && queued.ms >= 300,
		  "%d %u %lld", queued.rc, queued.asked, (long long)queued.ms);
	play(a, &refused);
	CHECK(refused.rc == -EBUSY && !refused.r->agent_made);
	play(a, &alone);
	CHECK(alone.rc == -ECANCELED && !alone.r->agent_made);
	play(a, &signalled);
	CHECK(signalled.rc == 128 + SIGTERM && signalled.asked == 0);
}

/* Who waits at a terminal is told for what, and the line goes again. */
static void test_progress(struct arena *a)
{
	struct play slow = {.gate = "sleep 1; " SERVE, .progress = true};
	int said = memfd_create("said", MFD_CLOEXEC), was = dup(2);
	char text[512] = "";

	CHECK(said >= 0 && was >= 0 && dup2(said, 2) == 2);
	play(a, &slow);
	CHECK(dup2(was, 2) == 2);
	CHECK(pread(said, text, sizeof(text) - 1, 0) > 0);
	CHECK_MSG(slow.rc == 7 && str_starts(str_of(text), STR(SLOW_GATE)),
		  "%d %s", slow.rc, text);
	close(said);
	close(was);
}

static void test_signals(struct arena *a)
{
	struct play asked = {.gate = SERVE,
			     .agent = "kill -INT " SELF "; exec sleep 30",
			     .grace_s = &(uint32_t){1}};
	struct play at_once = {.gate = SERVE,
			       .agent = "kill -TERM " SELF "; exec sleep 30",
			       .grace_s = &(uint32_t){0}};
	struct play unmade = {.gate = SERVE,
			      .agent = "kill -TERM " SELF "; exec sleep 30",
			      .name = "unmade",
			      .grace_s = &(uint32_t){1}};
	struct play twice = {.gate = SERVE,
			     .agent = "kill -TERM " SELF "; sleep 0.5; "
				      "kill -TERM " SELF "; exec sleep 30",
			     .grace_s = &(uint32_t){20}};

	play(a, &asked);
	CHECK_MSG(asked.rc == 128 + SIGINT && asked.r->was_killed &&
			  asked.ms >= 1000 && asked.ms < 15000,
		  "%d %lld", asked.rc, (long long)asked.ms);
	/* no time at all is not as much as there is */
	play(a, &at_once);
	CHECK_MSG(at_once.rc == 128 + SIGTERM && at_once.ms < 15000, "%d %lld",
		  at_once.rc, (long long)at_once.ms);
	/* no container to send it to: again and again, until its time is up */
	play(a, &unmade);
	CHECK_MSG(unmade.rc == 128 + SIGTERM && unmade.ms >= 1000, "%d %lld",
		  unmade.rc, (long long)unmade.ms);
	play(a, &twice);
	CHECK_MSG(twice.rc == 128 + SIGTERM && twice.ms < 15000, "%d %lld",
		  twice.rc, (long long)twice.ms);
}

#define SHOWN "echo '{\"event\":\"ready\"}'; echo '{\"event\":\"detached\"}'; "
#define GONE  "echo '{\"event\":\"done\"}'"

static void test_view_ends(struct arena *a)
{
	/* with the agent, of which nobody has told yet */
	struct play first = {.gate = SERVE,
			     .view = SHOWN "sleep 0.5; " GONE,
			     .agent = "sleep 2; exit 7"};
	/* before the agent has a mount of its own, or in disorder */
	struct play bare = {
		.gate = SERVE,
		.view = "echo '{\"event\":\"ready\"}'; sleep 0.5; " GONE,
		.agent = "exec sleep 30"};
	struct play killed = {.gate = SERVE,
			      .view = SHOWN "sleep 0.5; kill -9 $$",
			      .agent = "exec sleep 30"};
	/* an agent that goes on without files */
	struct play alone = {.gate = SERVE,
			     .view = SHOWN "sleep 0.5; " GONE,
			     .agent = "exec sleep 30"};

	/* whose end the agent has seen first, and so ended itself, or well */
	struct play seen = {.gate = SERVE,
			    .view = SHOWN "cat >/dev/null; kill -9 $$",
			    .agent = "exit 1"};
	struct play unsaid = {.gate = SERVE,
			      .view = SHOWN "cat >/dev/null",
			      .agent = "exit 0"};

	play(a, &first);
	CHECK_MSG(first.rc == 7, "%d %s", first.rc, first.err.text);
	play(a, &seen);
	CHECK_MSG(seen.rc == -ENOTCONN &&
			  strstr(seen.err.text, "the view of the workspace"),
		  "%d %s", seen.rc, seen.err.text);
	play(a, &unsaid);
	CHECK_MSG(unsaid.rc == -ENOTCONN, "%d %s", unsaid.rc, unsaid.err.text);
	play(a, &bare);
	CHECK_MSG(bare.rc == -ENOTCONN && bare.ms < LOOP_VIEW_MS, "%d %lld",
		  bare.rc, (long long)bare.ms);
	play(a, &killed);
	CHECK_MSG(killed.rc == -ENOTCONN && killed.ms < LOOP_VIEW_MS, "%d %lld",
		  killed.rc, (long long)killed.ms);
	play(a, &alone);
	CHECK_MSG(alone.rc == -ENOTCONN && alone.ms >= LOOP_VIEW_MS, "%d %lld",
		  alone.rc, (long long)alone.ms);
}

/* What Docker says of a port, by its version, and one of ours. */
static void test_taken_ports(struct arena *a)
{
	static const char *const said[][2] = {
		{"Bind for 0.0.0.0:80 failed: port is already allocated",
		 "port 0.0.0.0:80 of this host is taken"},
		{"failed to bind host port 127.0.0.1:80/tcp: address already in use",
		 "port 127.0.0.1:80 of this host is taken"},
		{"failed to bind host port for 0.0.0.0:80:172.17.0.2:80/tcp: address already in use",
		 "port 0.0.0.0:80 of this host is taken"},
		{"Bind for :::80 failed: port is already allocated",
		 "port :::80 of this host is taken"},
		{"listen tcp6 [::1]:80: bind: address already in use",
		 "port [::1]:80 of this host is taken"},
		{"listen tcp4 127.0.0.1:80: bind: address already in use",
		 "port 127.0.0.1:80 of this host is taken"},
		{"something: address already in use",
		 "port of this host is taken"},
	};

	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		struct play p = {.gate = arena_fmt(a, "echo '%s' >&2; exit 125",
						   said[i][0])
						 .p};

		play(a, &p);
		CHECK_MSG(p.rc == -EPIPE && strncmp(p.err.text, said[i][1],
						    strlen(said[i][1])) == 0,
			  "%d %s", p.rc, p.err.text);
	}
}

static void test_gate_fails(struct arena *a)
{
	struct play early = {.gate = "echo no room >&2; exit 4"};
	struct play late = {.gate = READY "sleep 0.5; exit 4",
			    .agent = "exec sleep 30"};
	struct play liar = {.gate = READY "echo hello; cat",
			    .agent = "exec sleep 30"};

	play(a, &early);
	CHECK_MSG(early.rc == -EPIPE && strstr(early.err.text, "no room"),
		  "%d %s", early.rc, early.err.text);
	CHECK(!early.r->agent_made);
	test_taken_ports(a);
	play(a, &late);
	CHECK_MSG(late.rc == -EPIPE && late.r->was_killed &&
			  strstr(late.err.text, "the gate ended (status 4)"),
		  "%d %s", late.rc, late.err.text);
	play(a, &liar);
	CHECK_MSG(liar.rc == -EPROTO, "%d %s", liar.rc, liar.err.text);
}

int main(void)
{
	struct arena *a = arena_new();
	char sock[] = "/tmp/membrane-loop-s-XXXXXX";
	const char *path;
	pid_t server;

	unsetenv("DOCKER_API_VERSION");
	CHECK(mkdtemp(dir) && mkdtemp(sock));
	path = arena_fmt(a, "%s/docker.sock", sock).p;
	server = start_server(path);
	at = (struct endpoint){.base = "http://localhost", .socket = path};
	test_status(a);
	test_held(a);
	test_before_the_agent(a);
	test_progress(a);
	test_signals(a);
	test_view_ends(a);
	test_gate_fails(a);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &(struct err){0}) == 0 &&
	      fileio_remove_tree(AT_FDCWD, sock, &(struct err){0}) == 0);
	arena_free(a);
	return check_status();
}
