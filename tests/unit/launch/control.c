/*
 * Changing a session's policy: the launcher's socket, a client's requests, and
 * a gate that says yes or no.
 */
#include "runtime/launch/control.h"
#include "runtime/launch/listeners.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/session/local.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define WANTED                                                                 \
	"\"verb\":\"allow\",\"dest\":\"github.com:22\",\"saved\":true,"        \
	"\"gained\":[\"tcp/22 github.com\"],\"lost\":[]"
#define OK "{\"ok\":true,\"generation\":"

static struct err err;
static struct arena *a;

struct run {
	struct session session;
	struct gate gate;
	struct control control;
	struct questions questions;
	int gate_end; /* what the gate is told */
	struct plan plan;
};

/* Only what the gate enforces: args is of the agent's container. */
static struct plan plan_of(const char *rules, const char *args)
{
	struct plan p = {0};

	plan_add(a, &p, STR(PLAN_RULESET), str_of(rules));
	plan_add(a, &p, STR(PLAN_DOCKER), str_of(args));
	return p;
}

static struct str read_own(const struct run *r, const char *name)
{
	struct str text = STR("");

	return fileio_read(a, AT_FDCWD,
			   arena_fmt(a, "%s/%s", r->session.dir, name).p,
			   CONTROL_LINE_MAX, &text, &err) == 0
		       ? text
		       : STR("");
}

static struct run *start_run(const char *state)
{
	struct run *r = arena_new_of(a, struct run);
	int pipe_in[2];

	CHECK(session_new(a, state, &r->session, &err) == 0);
	gate_init(&r->gate, NULL);
	CHECK(proc_pipe(&pipe_in[0], &pipe_in[1], &err) == 0);
	r->gate_end = pipe_in[0];
	r->gate.in = pipe_in[1];
	CHECK(proc_nonblock(r->gate_end, &err) == 0);
	CHECK(decisions_open(&r->gate.decisions, r->session.dir, &err) == 0);
	r->plan = plan_of("first\n", "args\n");
	CHECK(plan_write(arena_fmt(a, "%s/plan", r->session.dir).p, &r->plan,
			 &err) == 0);
	CHECK(questions_open(&r->questions, &r->gate, &r->session, &err) == 0);
	CHECK_MSG(control_open(&r->control, a, &r->session, &r->gate,
			       &r->questions, &r->plan, &err) == 0,
		  "%s", err.text);
	return r;
}

static void end_run(struct run *r)
{
	control_close(&r->control);
	CHECK(str_is(read_own(r, SESSION_CONTROL), ""));
	arena_free(r->control.now_a);
	decisions_done(&r->gate.decisions);
	fd_close(&r->gate.in);
	fd_close(&r->gate_end);
	session_release(&r->session, true);
}

/* --- a client ------------------------------------------------------------- */

static int connect_client(struct run *r)
{
	int fd = -1;

	CHECK_MSG(local_connect(r->session.dir, SESSION_CONTROL, &fd, &err) ==
			  0,
		  "%s", err.text);
	return fd;
}

static void send_text(int fd, struct str text)
{
	CHECK(send(fd, text.p, text.n, MSG_NOSIGNAL) == (ssize_t)text.n);
}

/* What the launcher has answered by now; empty: nothing. */
static struct str heard(int fd)
{
	static char text[CONTROL_LINE_MAX];
	ssize_t n = recv(fd, text, sizeof(text), MSG_DONTWAIT);

	return (struct str){text, n > 0 ? (size_t)n : 0};
}

static void stage(struct run *r, const char *name, const struct plan *p)
{
	CHECK(plan_write(arena_fmt(a, "%s/%s", r->session.dir, name).p, p,
			 &err) == 0);
}

/* Ask; the answer, if there is one without the gate. */
static struct str ask(struct run *r, int *out_fd, const char *request)
{
	*out_fd = connect_client(r);
	send_text(*out_fd, arena_fmt(a, "%s\n", request));
	CHECK(control_pump(&r->control, &err) == 0);
	return heard(*out_fd);
}

static struct str ask_change(struct run *r, int *out_fd, unsigned base,
			     const char *staged)
{
	return ask(r, out_fd,
		   arena_fmt(a,
			     "{\"version\":1,\"base\":%u,\"staged\":\"%s\","
			     "\"cut\":%s," WANTED "}",
			     base, staged, base == 1 ? "false" : "true")
			   .p);
}

static bool is_refused(struct str answer, const char *words)
{
	return str_starts(answer, STR("{\"ok\":false,\"stale\":false,")) &&
	       memmem(answer.p, answer.n, words, strlen(words));
}

static bool gate_heard(const struct run *r, const char *line)
{
	char text[128];
	ssize_t n = read(r->gate_end, text, sizeof(text));

	return n == (ssize_t)strlen(line) && memcmp(text, line, (size_t)n) == 0;
}

static bool is_gate_told(const struct run *r)
{
	char one;

	return read(r->gate_end, &one, 1) >= 0 || errno != EAGAIN;
}

/* --- questions ------------------------------------------------------------ */

static int gate_says(struct run *r, const char *event, const char *text)
{
	struct str line = str_of(text);
	cJSON *o = cJSON_Parse(text);
	int rc = r->gate.on_question(r->gate.question_ctx, event, o,
				     (struct str){line.p, line.n - 1}, &err);

	cJSON_Delete(o);
	return rc;
}

#define QUESTION(id)                                                           \
	"{\"event\":\"question\",\"id\":" #id                                  \
	",\"name\":\"x.test\",\"port\":443}\n"
#define TOLD(id, by)                                                           \
	"{\"event\":\"question\",\"id\":" #id                                  \
	",\"name\":\"x.test\",\"port\":443,\"process\":" by "}\n"
#define ANSWERED(id, word)                                                     \
	"{\"event\":\"answered\",\"id\":" #id ",\"answer\":\"" word "\"}\n"

/* Nobody is there, and the gate hears so at once. */
static void check_unheard(struct run *r)
{
	CHECK(gate_says(r, "question", QUESTION(1)) == 0);
	CHECK(gate_heard(r, "answer 1 none\n"));
	CHECK(gate_says(r, "answered", ANSWERED(1, "none")) == 0);
	CHECK(str_is(read_own(r, "decisions.jsonl"),
		     TOLD(1, "null") ANSWERED(1, "none")));
	CHECK(gate_says(r, "answered", ANSWERED(1, "none")) == -EPROTO);
	CHECK(gate_says(r, "question", QUESTION(0)) == -EPROTO);
}

static bool will_say(void *ctx, uint32_t id, const cJSON *question)
{
	(void)question;
	*(uint32_t *)ctx = id;
	return true;
}

static bool has_told(struct run *r, const char *text)
{
	return strstr(read_own(r, "decisions.jsonl").p, text) != NULL;
}

/* Nobody is told of one before the trace has said whose it is, or is late. */
static void check_whose(struct run *r)
{
	struct refusal_by by = {.sure = HELLO_SURELY,
				.pid = 10,
				.comm = STR("curl"),
				.command = STR("curl -u ghp_abcdefghijklmnopqr"
					       "stuvwxyz0123456789")};
	struct questions *q = &r->questions;
	uint32_t asked = 0;

	q->on_ask = will_say;
	q->ask_ctx = &asked;
	CHECK(gate_says(r, "question", QUESTION(3)) == 0 && asked == 3);
	CHECK(!has_told(r, "\"id\":3") && !is_gate_told(r));
	CHECK(questions_answer(q, 3, QUESTIONS_ONCE, &err) == -ENOENT);
	CHECK(questions_deadline(q) > clock_ms());
	CHECK(questions_pump(q, &err) == 0 && !has_told(r, "\"id\":3"));
	CHECK(questions_whose(q, 3, &by, &err) == 0 &&
	      questions_deadline(q) == 0);
	CHECK(has_told(r, "\"process\":{\"sure\":true,\"pid\":10,"
			  "\"name\":\"curl\",\"command\":"
			  "\"curl -u ghp_*"));
	CHECK(questions_whose(q, 3, &by, &err) == 0); /* once is enough */
	CHECK(gate_says(r, "answered", ANSWERED(3, "gone")) == 0);
	CHECK(gate_says(r, "question", QUESTION(4)) == 0);
	q->open[0].until_ms = clock_ms();
	CHECK(questions_pump(q, &err) == 0 && has_told(r, TOLD(4, "null")));
	CHECK(gate_says(r, "answered", ANSWERED(4, "gone")) == 0);
	/* Over before that: it stands before its end all the same. */
	CHECK(gate_says(r, "question", QUESTION(5)) == 0);
	CHECK(gate_says(r, "answered", ANSWERED(5, "gone")) == 0);
	CHECK(has_told(r, TOLD(5, "null") ANSWERED(5, "gone")));
	q->on_ask = NULL;
}

/* And nobody is there: who has ended, or is to end, is told nothing. */
static void check_late(struct run *r)
{
	struct refusal_by by = {.sure = HELLO_PROBABLY, .pid = 11};
	struct questions *q = &r->questions;
	uint32_t asked = 0;
	int in = r->gate.in;

	q->on_ask = will_say;
	q->ask_ctx = &asked;
	CHECK(gate_says(r, "question", QUESTION(6)) == 0);
	CHECK(gate_says(r, "answered", ANSWERED(6, "gone")) == 0);
	CHECK(!is_gate_told(r));
	CHECK(gate_says(r, "question", QUESTION(7)) == 0);
	r->gate.in = -1;
	CHECK_MSG(questions_whose(q, 7, &by, &err) == 0, "%s", err.text);
	r->gate.in = in;
	CHECK(has_told(r, "\"process\":{\"sure\":false,\"pid\":11"));
	CHECK(gate_says(r, "answered", ANSWERED(7, "gone")) == 0);
	q->on_ask = NULL;
}

static struct str answer(struct run *r, const char *request)
{
	static char text[CONTROL_LINE_MAX];
	int fd;
	struct str said = ask(r, &fd, request);

	fd_close(&fd);
	memcpy(text, said.p, said.n);
	return (struct str){text, said.n};
}

#define REQUEST(id, word)                                                      \
	"{\"version\":1,\"question\":" #id ",\"answer\":\"" word "\"}"

static void check_answers(struct run *r)
{
	CHECK(is_refused(answer(r, REQUEST(2, "session")), "does not wait"));
	CHECK(gate_says(r, "question", QUESTION(2)) == 0 && !is_gate_told(r));
	CHECK(gate_says(r, "question", QUESTION(2)) == -EPROTO);
	CHECK(is_refused(answer(r, REQUEST(2, "yes")), "no answer that"));
	CHECK(is_refused(answer(r, REQUEST(0, "once")), "does not wait"));
	CHECK(is_refused(answer(r, "{\"version\":1,\"question\":2,"
				   "\"answer\":\"once\",\"who\":1}"),
			 "no answer that"));
	CHECK(str_is(answer(r, REQUEST(2, "session")), "{\"ok\":true}\n"));
	CHECK(gate_heard(r, "answer 2 yes\n"));
	CHECK(is_refused(answer(r, REQUEST(2, "never")), "does not wait"));
	CHECK(gate_says(r, "answered", ANSWERED(2, "yes")) == 0);
	/* Who it was is in the record, and what they said. */
	CHECK(strstr(read_own(r, "decisions.jsonl").p,
		     "\"answer\":\"session\",\"who\":{\"uid\":"));
	for (uint32_t id = 10; id < 10 + GATE_QUESTIONS_MAX; id++)
		CHECK(gate_says(r, "question",
				arena_fmt(a, "{\"id\":%u}\n", id).p) == 0);
	CHECK(gate_says(r, "question", QUESTION(99)) == -EPROTO);
}

static void check_questions(const char *state)
{
	struct run *r = start_run(state);
	auto_fd int listener = -1;

	check_unheard(r);
	check_late(r);
	CHECK(listeners_join(r->session.dir, &listener, &err) == 0);
	check_whose(r);
	check_answers(r);
	end_run(r);
}

/* --- what is refused at once ---------------------------------------------- */

static void check_requests(struct run *r)
{
	static const char *const not_understood[] = {
		"{}",
		"{\"version\":2,\"base\":1,\"staged\":\"next-1\"," WANTED "}",
		"{\"version\":1,\"staged\":\"next-1\"," WANTED "}",
		"{\"version\":1,\"base\":1,\"staged\":1," WANTED "}",
		"{\"version\":1,\"base\":1,\"staged\":\"next-\"," WANTED "}",
		"{\"version\":1,\"base\":1,\"staged\":\"next-1/../x\"," WANTED
		"}",
		"{\"version\":1,\"base\":1,\"staged\":\"plan\"," WANTED "}",
		"{\"version\":1,\"base\":1,\"staged\":\"next-1\",\"who\":1," WANTED
		"}",
		"{\"version\":1,\"base\":1,\"staged\":\"next-1\",\"ms\":1," WANTED
		"}",
	};
	static const char *const no_json[] = {"", "[]", "{", "{} {}", "word"};
	int fd;

	for (size_t i = 0; i < ARRAY_LEN(not_understood); i++) {
		CHECK_MSG(is_refused(ask(r, &fd, not_understood[i]),
				     "no request that this launcher"),
			  "%s", not_understood[i]);
		fd_close(&fd);
	}
	for (size_t i = 0; i < ARRAY_LEN(no_json); i++) {
		CHECK_MSG(
			is_refused(ask(r, &fd, no_json[i]), "no line of JSON"),
			"%s", no_json[i]);
		fd_close(&fd);
	}
	CHECK(is_refused(ask(r, &fd,
			     "{\"version\":1,\"base\":1,\"staged\":\"next-1\","
			     "\"verb\":\"let\"}"),
			 "not a record of a change"));
	fd_close(&fd);
	CHECK(str_starts(ask_change(r, &fd, 2, "next-1"),
			 STR("{\"ok\":false,\"stale\":true,")));
	fd_close(&fd);
	CHECK(is_refused(ask_change(r, &fd, 1, "next-1"), "the new plan"));
	fd_close(&fd);
}

/* What another engine would run is no part of the session. */
static void check_other_engine(void)
{
	struct plan old = plan_of("first\n", "args\n");
	struct plan now = plan_of("second\n", "args\n");

	plan_add(a, &old, STR(PLAN_NATIVE), STR("{}"));
	plan_add(a, &now, STR(PLAN_NATIVE), STR("{\"uplink\":1}"));
	CHECK(!control_forbidden(a, &old, &now, false));
	CHECK(strcmp(control_forbidden(a, &old, &now, true), PLAN_NATIVE) == 0);
	now = plan_of("second\n", "--privileged\n");
	plan_add(a, &now, STR(PLAN_NATIVE), STR("{}"));
	CHECK(!control_forbidden(a, &old, &now, true));
	CHECK(strcmp(control_forbidden(a, &old, &now, false), PLAN_DOCKER) ==
	      0);
}

/* Nothing but what the gate enforces may be another. */
static void check_forbidden(struct run *r)
{
	struct plan p = plan_of("second\n", "--privileged\n");
	int fd;

	stage(r, "next-1", &p);
	CHECK(is_refused(ask_change(r, &fd, 1, "next-1"),
			 "the new plan has another " PLAN_DOCKER));
	fd_close(&fd);
	CHECK(str_is(read_own(r, "next-1/manifest.json"), ""));
	CHECK(str_is(read_own(r, "plan/" PLAN_RULESET), "first\n"));
	/* altered after it was sealed */
	p = plan_of("second\n", "args\n");
	stage(r, "next-2", &p);
	CHECK(fileio_write(
		      AT_FDCWD,
		      arena_fmt(a, "%s/next-2/" PLAN_RULESET, r->session.dir).p,
		      STR("other\n"), 0644, &err) == 0);
	CHECK(is_refused(ask_change(r, &fd, 1, "next-2"), PLAN_RULESET));
	fd_close(&fd);
	CHECK(!is_gate_told(r));
}

/* One that says too much, too little, or nothing. */
static void check_clients(struct run *r)
{
	struct str much = {arena_array(a, CONTROL_LINE_MAX, 1),
			   CONTROL_LINE_MAX};
	struct pollfd p[CONTROL_FDS];
	int fd = connect_client(r);

	CHECK(control_fds(&r->control, p) == 1 &&
	      p[0].fd == r->control.listen && !control_deadline(&r->control));
	CHECK(control_pump(&r->control, &err) == 0);
	CHECK(control_fds(&r->control, p) == 1 &&
	      p[0].fd == r->control.client && control_deadline(&r->control));
	send_text(fd, much);
	for (int i = 0; i < 100 && r->control.client >= 0; i++)
		CHECK(control_pump(&r->control, &err) == 0);
	CHECK(is_refused(heard(fd), "too long"));
	fd_close(&fd);
	fd = connect_client(r);
	CHECK(control_pump(&r->control, &err) == 0);
	r->control.deadline = 1; /* as if its time were over */
	CHECK(control_pump(&r->control, &err) == 0);
	CHECK(is_refused(heard(fd), "in time"));
	fd_close(&fd);
	fd = connect_client(r);
	CHECK(control_pump(&r->control, &err) == 0);
	fd_close(&fd);
	CHECK(control_pump(&r->control, &err) == 0);
	CHECK(r->control.client < 0 && !control_deadline(&r->control));
}

/* --- what the gate tries -------------------------------------------------- */

static void check_refused(struct run *r)
{
	struct plan p = plan_of("worse\n", "args\n");
	struct pollfd fds[CONTROL_FDS];
	int fd;

	plan_add(a, &p, STR(PLAN_LEAVES), STR("new\n"));
	stage(r, "next-3", &p);
	CHECK(ask_change(r, &fd, 1, "next-3").n == 0);
	CHECK(gate_heard(r, "change 2 keep\n"));
	CHECK(str_is(read_own(r, "plan/" PLAN_RULESET), "worse\n"));
	CHECK(control_fds(&r->control, fds) == 0);
	/* of another one, which nobody waits for */
	r->gate.on_generation(r->gate.ctx, 7, true, "");
	CHECK(heard(fd).n == 0);
	r->gate.on_generation(r->gate.ctx, 2, false, "haproxy: line 3");
	CHECK(is_refused(heard(fd), "nothing has changed: haproxy: line 3"));
	CHECK(str_is(read_own(r, "plan/" PLAN_RULESET), "first\n"));
	CHECK(str_is(read_own(r, "plan/" PLAN_LEAVES), ""));
	CHECK(r->control.done.n == 0 &&
	      str_is(read_own(r, CHANGE_LOG_FILE), ""));
	fd_close(&fd);
}

static void check_applied(struct run *r)
{
	struct plan p = plan_of("second\n", "args\n"), kept = {0};
	change_log_list list = {0};
	struct buf words;
	cJSON *o;
	int fd;

	buf_init(&words, a);
	control_words(&r->control, &words);
	CHECK(buf_str(&words).n == 0);
	stage(r, "next-4", &p);
	CHECK(ask_change(r, &fd, 1, "next-4").n == 0);
	CHECK(gate_heard(r, "change 2 keep\n"));
	r->gate.on_generation(r->gate.ctx, 2, true, "");
	CHECK(str_starts(heard(fd), STR(OK "2,")));
	fd_close(&fd);
	p = plan_of("third\n", "args\n");
	stage(r, "next-5", &p);
	CHECK(str_starts(ask_change(r, &fd, 1, "next-5"),
			 STR("{\"ok\":false,\"stale\":true,")));
	fd_close(&fd);
	stage(r, "next-5", &p);
	CHECK(ask_change(r, &fd, 2, "next-5").n == 0);
	CHECK(gate_heard(r, "change 3 cut\n"));
	r->gate.on_generation(r->gate.ctx, 3, true, "");
	CHECK(str_starts(heard(fd), STR(OK "3,")));
	fd_close(&fd);
	CHECK(str_is(read_own(r, "plan.1/" PLAN_RULESET), "first\n") &&
	      str_is(read_own(r, "plan.2/" PLAN_RULESET), "second\n") &&
	      str_is(read_own(r, "plan.3/" PLAN_RULESET), "third\n") &&
	      str_is(read_own(r, "plan/" PLAN_RULESET), "third\n"));
	CHECK(change_log_read(a, &r->session, &list, &err) == 0 && list.n == 2);
	CHECK(!list.v[0].cut && list.v[1].cut && list.v[1].generation == 3 &&
	      list.v[1].uid == geteuid());
	CHECK(change_log_plan(a, &r->session, 2, &kept, &err) == 0 &&
	      str_is(plan_file(&kept, PLAN_RULESET)->data, "second\n"));
	CHECK(str_eq(read_own(r, CHANGE_LOG_FILE),
		     read_own(r, "decisions.jsonl")));
	control_words(&r->control, &words);
	CHECK(strstr(buf_str(&words).p, "changed 2 times:\n") &&
	      strstr(buf_str(&words).p, "allow github.com:22  (") &&
	      strstr(buf_str(&words).p, ", saved)\n"));
	o = control_json(&r->control);
	CHECK(cJSON_GetArraySize(o) == 2);
	cJSON_Delete(o);
}

/* A gate that says nothing: nobody can tell which plan is in force. */
static void check_silent(struct run *r)
{
	struct plan p = plan_of("fourth\n", "args\n");
	int fd;

	stage(r, "next-6", &p);
	CHECK(ask_change(r, &fd, 3, "next-6").n == 0);
	CHECK(gate_heard(r, "change 4 cut\n"));
	r->control.deadline = 1;
	CHECK(control_pump(&r->control, &err) == -ETIMEDOUT);
	control_close(&r->control);
	CHECK(is_refused(heard(fd), "the session ends"));
	CHECK(str_is(read_own(r, "next-6/manifest.json"), ""));
	fd_close(&fd);
}

/* A gate that is gone is told nothing, and its plan folder is as it was. */
static void check_gone(const char *state)
{
	struct run *r = start_run(state);
	struct plan p = plan_of("second\n", "args\n");
	int fd;

	fd_close(&r->gate_end);
	r->gate_end = -1;
	stage(r, "next-1", &p);
	CHECK(is_refused(ask_change(r, &fd, 1, "next-1"), ""));
	CHECK(str_is(read_own(r, "plan/" PLAN_RULESET), "first\n"));
	fd_close(&fd);
	end_run(r);
}

int main(void)
{
	char dir[] = "/tmp/membrane-control-XXXXXX";
	struct run *r;

	signal(SIGPIPE, SIG_IGN);
	a = arena_new();
	CHECK(mkdtemp(dir) != NULL);
	r = start_run(dir);
	check_requests(r);
	check_other_engine();
	check_forbidden(r);
	check_clients(r);
	check_refused(r);
	check_applied(r);
	check_silent(r);
	end_run(r);
	check_gone(dir);
	check_questions(dir);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
