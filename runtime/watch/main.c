/*
 * membrane-watch: records what the agent's processes do, from the kernel.
 *
 *   /plan/trace.json  what to record
 *   --asked           no programs in the kernel, which asks instead: what
 *                     runtime/watch/asked does
 *   --back-end NAME   how, whatever else the kernel can: for tests
 *   stdin             one JSON line: {"version":1,"host":NAME,"netns":INODE,
 *                     "pidns":INODE}, with netns 0 and "agent":NAME where
 *                     the agent is told by its host name; then one for each
 *                     answer of the gate's resolver, or refusal that somebody
 *                     is told of (whose.h); its end ends the trace
 *   stdout            frames of gzip members with JSON lines: pack.h
 *   stderr            JSON lines about the tracer itself: loaded, ready,
 *                     found (the agent's processes), lost, who, end, error
 */
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/signals.h"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/hello.h"
#include "runtime/watch/answers.h"
#include "runtime/watch/asked/asked.h"
#include "runtime/watch/asked/process.h"
#include "runtime/watch/line.h"
#include "runtime/watch/pack.h"
#include "runtime/watch/question.h"
#include "runtime/watch/sensor.h"
#include "runtime/watch/whose.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_tree.h>

#define BLOCK_BYTES  (512u << 10) /* of lines, before they are packed */
#define BLOCK_AGE_MS 100
#define POLL_MS	     20 /* the ring wakes nobody for a few events */
#define INPUT_MAX    (16u << 10)
#define TELL_LOST_MS 1000

struct watcher {
	struct select *select;
	struct sensor *sensor;
	struct line_writer lines;
	struct pack pack;
	struct record record;
	struct answers *answers; /* NULL: not asked for */
	struct whose *whose;
	struct err err;		 /* of the callback */
	uint64_t events, filtered, lost_told;
	int64_t begun_ms, block_ms, told_ms;
	char input[INPUT_MAX];
	size_t input_n;
	bool asked; /* by which of the sensors */
	bool following, found;
	char missing[4096];
};

/* --- about ourselves ------------------------------------------------------ */

static void tell_facts(struct watcher *w, const char *event,
		       const struct line_fact *facts, size_t n)
{
	struct line_writer line;
	struct err ignored;

	/* A line of its own: those of the trace are for stdout. */
	if (line_init(&line, w->lines.host, &ignored) < 0)
		return;
	if (line_facts(&line, event, facts, n, &ignored) == 0 &&
	    fileio_write_all(STDERR_FILENO, line_text(&line), &ignored) < 0)
		w->err = ignored;
	line_done(&line);
}

static void tell_event(struct watcher *w, const char *event, const char *name,
		       const char *text, uint64_t number)
{
	struct line_fact fact = {name, text, number};

	tell_facts(w, event, &fact, 1);
}

/* Events that were wanted and cannot be had; "" for none. */
static const char *missing_events(struct watcher *w)
{
	size_t n = 0;

	w->missing[0] = '\0';
	for (unsigned e = 0; e < WATCH_EVENTS; e++)
		if (select_wants(w->select, (enum watch_event)e) &&
		    !w->sensor->ops->gives(w->sensor, (enum watch_event)e) &&
		    n < sizeof(w->missing))
			n += (size_t)snprintf(
				w->missing + n, sizeof(w->missing) - n, "%s%s",
				n ? "," : "",
				events_info((enum watch_event)e)->name);
	return w->missing;
}

static void tell_loaded(struct watcher *w)
{
	const struct line_fact facts[] = {
		{"back_end", w->sensor->ops->back_end(w->sensor), 0},
		{"io_uring", w->sensor->ops->io_uring(w->sensor), 0},
		{"missing", missing_events(w), 0},
	};

	tell_facts(w, "loaded", facts, ARRAY_LEN(facts));
}

static int tell_failure(struct watcher *w, const struct err *err)
{
	tell_event(w, "error", "message", err->text, 0);
	return 1;
}

/* --- events --------------------------------------------------------------- */

static int flush_lines(struct watcher *w, struct err *err)
{
	struct str text = line_text(&w->lines);
	int rc;

	if (text.n == 0)
		return 0;
	rc = pack_write(&w->pack, STDOUT_FILENO, text, err);
	line_clear(&w->lines);
	w->block_ms = 0;
	return rc;
}

/* The record that was made, if it is one to tell of. */
static int tell_record(struct watcher *w)
{
	if (!select_takes(w->select, &w->record)) {
		w->filtered++;
		return 0;
	}
	w->events++;
	if (line_record(&w->lines, &w->record, &w->err) < 0)
		return w->err.code;
	if (line_text(&w->lines).n >= BLOCK_BYTES)
		return flush_lines(w, &w->err);
	return 0;
}

static int on_message(void *ctx, const void *message, size_t bytes)
{
	struct watcher *w = ctx;
	bool asks = select_wants(w->select, WATCH_EVENT_net_packet_dns_request);
	unsigned questions = 0;
	int rc = 0;

	if (!record_make(&w->record, message, bytes))
		return err_set(&w->err, -EPROTO,
			       "a message of the kernel's side that is none");
	if (w->record.group.n)
		line_container(&w->lines, w->record.group);
	/* A write to a resolver is nothing but its question. */
	if (w->answers)
		answers_asked(w->answers, &w->record);
	whose_saw(w->whose, &w->record, clock_ms());
	if (w->record.event != WATCH_EVENT_net_packet_dns_request)
		rc = tell_record(w);
	if (w->record.head->kind == WATCH_CALL)
		questions = question_count(message, bytes);
	for (unsigned n = 0; rc == 0 && n < questions; n++) {
		if (!question_make(&w->record, message, bytes, n))
			continue;
		if (w->answers)
			answers_asked(w->answers, &w->record);
		whose_saw(w->whose, &w->record, clock_ms());
		if (asks)
			rc = tell_record(w);
	}
	return rc;
}

static int tell_answers(struct watcher *w, bool all)
{
	int rc = 0;

	while (w->answers && rc == 0 &&
	       answers_next(w->answers, clock_ms(), all, &w->record))
		rc = tell_record(w);
	return rc;
}

/* What is missing, and why. */
struct losses {
	struct watch_counts kernel;
	uint64_t answers, all;
};

static struct losses losses_of(const struct watcher *w)
{
	struct losses l = {
		.kernel = w->sensor->ops->counts(w->sensor),
		.answers = w->answers ? answers_lost(w->answers) : 0,
	};

	l.all = l.kernel.no_room + l.kernel.crowded + l.kernel.no_slot +
		l.kernel.unknown + l.answers;
	return l;
}

static void tell_lost(struct watcher *w)
{
	uint64_t n = losses_of(w).all;

	if (n == w->lost_told || clock_ms() - w->told_ms < TELL_LOST_MS)
		return;
	w->told_ms = clock_ms();
	w->lost_told = n;
	tell_event(w, "lost", "events", NULL, n);
}

static void tell_whose(struct watcher *w, bool all)
{
	struct whose_answer x;

	while (whose_next(w->whose, clock_ms(), all, &x)) {
		const struct line_fact facts[] = {
			{"id", NULL, x.id},	{"sure", NULL, x.sure},
			{"pid", NULL, x.pid},	{"comm", x.comm, 0},
			{"command", x.command, 0},
		};

		tell_facts(w, HELLO_WHO, facts, ARRAY_LEN(facts));
	}
}

static void tell_found(struct watcher *w)
{
	if (w->found || !w->following || !w->sensor->ops->has_found(w->sensor))
		return;
	w->found = true;
	tell_event(w, "found", "agent", NULL, 1);
}

static int pump_sensor(struct watcher *w, struct err *err)
{
	int rc;

	tell_lost(w); /* before the seconds that a full ring takes */
	rc = w->sensor->ops->read(w->sensor);
	tell_found(w);
	tell_whose(w, false);
	if (rc == 0)
		rc = tell_answers(w, false);
	if (rc < 0) {
		*err = w->err.code ? w->err : *err;
		if (!w->err.code)
			return err_set(err, rc, "reading the ring: %s",
				       strerror(-rc));
		return w->err.code;
	}
	if (line_text(&w->lines).n == 0)
		return 0;
	if (w->block_ms == 0)
		w->block_ms = clock_ms();
	return clock_ms() - w->block_ms >= BLOCK_AGE_MS ? flush_lines(w, err)
							: 0;
}

/* --- the launcher --------------------------------------------------------- */

static bool hello_number(yajl_val o, const char *name, uint32_t *out)
{
	const char *path[] = {name, NULL};
	yajl_val v = yajl_tree_get(o, path, yajl_t_number);

	if (!YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < 0 ||
	    YAJL_GET_INTEGER(v) > UINT32_MAX)
		return false;
	*out = (uint32_t)YAJL_GET_INTEGER(v);
	return true;
}

static int follow_agent(struct watcher *w, yajl_val hello, struct err *err)
{
	const char *host[] = {HELLO_HOST, NULL}, *its[] = {HELLO_AGENT, NULL};
	const char *where[] = {HELLO_WORKSPACE, NULL};
	yajl_val name = yajl_tree_get(hello, host, yajl_t_string);
	yajl_val own = yajl_tree_get(hello, where, yajl_t_string);
	const char *agent =
		YAJL_GET_STRING(yajl_tree_get(hello, its, yajl_t_string));
	size_t n = agent ? strlen(agent) : 0;
	uint32_t version, netns, pidns;

	if (!hello_number(hello, HELLO_VERSION_KEY, &version) ||
	    version != HELLO_VERSION ||
	    !hello_number(hello, HELLO_NETNS, &netns) ||
	    !hello_number(hello, HELLO_PIDNS, &pidns) || !name ||
	    n >= WATCH_HOST || (netns == 0) != (n > 0))
		return err_set(err, -EPROTO,
			       "the first line on stdin is not the launcher's");
	snprintf(w->lines.host, sizeof(w->lines.host), "%s",
		 YAJL_GET_STRING(name));
	if (own)
		select_own(w->select, YAJL_GET_STRING(own));
	w->sensor->ops->follow(w->sensor, netns, agent, pidns);
	w->following = true;
	tell_event(w, "ready", "ms", NULL,
		   (uint64_t)(clock_ms() - w->begun_ms));
	return 0;
}

static int on_hello(struct watcher *w, const char *line, struct err *err)
{
	char why[64] = "";
	yajl_val hello = yajl_tree_parse(line, why, sizeof(why));
	struct line_fact facts[] = {
		{"back_end", w->sensor->ops->back_end(w->sensor), 0},
		{"io_uring", w->sensor->ops->io_uring(w->sensor), 0},
		{"missing", missing_events(w), 0},
		{"version", MEMBRANE_VERSION, 0},
	};
	int rc = YAJL_IS_OBJECT(hello)
			 ? follow_agent(w, hello, err)
			 : err_set(err, -EPROTO,
				   "the first line on stdin is no JSON object");

	yajl_tree_free(hello);
	return rc < 0 ? rc
		      : line_facts(&w->lines, "membrane_start", facts,
				   ARRAY_LEN(facts), err);
}

/* The question is in the ring: it was sent before it was answered. */
static int on_answer(struct watcher *w, struct str line, struct err *err)
{
	int rc = pump_sensor(w, err);

	if (rc == 0 && whose_asks(line)) {
		rc = whose_take(w->whose, line, clock_ms(), err);
		tell_whose(w, false);
		return rc;
	}
	if (rc < 0 || !w->answers)
		return rc;
	return answers_take(w->answers, line, clock_ms(), err);
}

static int on_line(struct watcher *w, struct str line, struct err *err)
{
	char text[ANSWERS_LINE_MAX + 1];

	if (w->following)
		return on_answer(w, line, err);
	if (line.n >= sizeof(text))
		return err_set(err, -EPROTO,
			       "the first line on stdin is not the launcher's");
	memcpy(text, line.p, line.n);
	text[line.n] = '\0';
	return on_hello(w, text, err);
}

/* 1: its end. */
static int on_stdin(struct watcher *w, struct err *err)
{
	size_t room = w->input_n < sizeof(w->input)
			      ? sizeof(w->input) - w->input_n
			      : 0;
	ssize_t n = read(STDIN_FILENO, w->input + w->input_n, room);
	struct str rest, line;
	int rc = 0;

	if (n < 0 && errno == EINTR)
		return 0;
	if (n <= 0)
		return 1;
	w->input_n += (size_t)n;
	rest = (struct str){w->input, w->input_n};
	while (rc == 0 && str_find(rest, '\n', 0) < rest.n &&
	       str_line(&rest, &line))
		rc = on_line(w, line, err);
	memmove(w->input, rest.p, rest.n);
	w->input_n = rest.n;
	if (rc == 0 && rest.n == sizeof(w->input))
		return err_set(err, -EPROTO, "a line on stdin that has no end");
	return rc;
}

static int poll_loop(struct watcher *w, int signals, struct err *err)
{
	for (;;) {
		struct pollfd fds[] = {
			{STDIN_FILENO, POLLIN, 0},
			{w->sensor->ops->fd(w->sensor), POLLIN, 0},
			{signals, POLLIN, 0},
		};
		int rc = poll(fds, ARRAY_LEN(fds), w->following ? POLL_MS : -1);

		if (rc < 0 && errno != EINTR)
			return err_set(err, -errno, "poll: %s",
				       strerror(errno));
		rc = fds[0].revents ? on_stdin(w, err) : 0;
		if (rc != 0 || fds[2].revents)
			return rc < 0 ? rc : 0;
		rc = pump_sensor(w, err);
		if (rc < 0)
			return rc;
	}
}

static int end_trace(struct watcher *w, struct err *err)
{
	struct losses l = losses_of(w);
	struct line_fact facts[] = {
		{"events", NULL, w->events},
		{"filtered", NULL, w->filtered},
		{"lost", NULL, l.all},
		{"lost_reads", NULL, l.kernel.crowded},
		{"lost_no_room", NULL, l.kernel.no_room},
		{"lost_in_hooks", NULL, l.kernel.no_slot},
		{"lost_unknown_calls", NULL, l.kernel.unknown},
		{"lost_answers", NULL, l.answers},
		{"back_end", w->sensor->ops->back_end(w->sensor), 0},
	};
	int rc = line_facts(&w->lines, "membrane_end", facts, ARRAY_LEN(facts),
			    err);

	if (rc == 0)
		rc = flush_lines(w, err);
	if (rc == 0)
		rc = pack_end(STDOUT_FILENO, err);
	if (rc == 0)
		tell_event(w, "end", "lost", NULL, l.all);
	return rc;
}

/* What is in the ring, and what was told, still belongs to the trace. */
static int finish_trace(struct watcher *w, struct err *err)
{
	int rc = pump_sensor(w, err);

	tell_whose(w, true);
	if (rc == 0 && tell_answers(w, true) < 0) {
		*err = w->err;
		return err->code;
	}
	return rc == 0 ? end_trace(w, err) : rc;
}

/* --- start ---------------------------------------------------------------- */

static int read_plan(struct watcher *w, const char *dir, struct err *err)
{
	struct arena *a = arena_new();
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct str text;
	int rc = fd < 0 ? err_set(err, -errno, "%s: %s", dir, strerror(errno))
			: fileio_read(a, fd, PLAN_TRACE, SELECT_FILE_MAX, &text,
				      err);

	if (rc == 0)
		rc = select_parse(str_of(arena_cstr(a, text)), &w->select, err);
	arena_free(a);
	return rc;
}

static int open_answers(struct watcher *w, struct err *err)
{
	if (!select_wants(w->select, WATCH_EVENT_net_packet_dns_response))
		return 0;
	w->answers = answers_new(w->lines.boot_epoch_ns);
	return w->answers ? 0
			  : err_set(err, -ENOMEM, "no memory for the trace");
}

static int open_sensor(struct watcher *w, const enum backend *forced,
		       struct err *err)
{
	return w->asked ? asked_open(w->select, on_message, w, &w->sensor, err)
			: sensor_open(w->select, forced, on_message, w,
				      &w->sensor, err);
}

static int start_watcher(struct watcher *w, const char *plan,
			 const enum backend *forced, struct err *err)
{
	int rc = line_init(&w->lines, "", err);

	w->record.boot_epoch_ns = w->lines.boot_epoch_ns;
	w->whose = whose_new(w->asked ? process_has : NULL);
	if (rc == 0 && !w->whose)
		rc = err_set(err, -ENOMEM, "no memory for the trace");
	if (rc == 0)
		rc = pack_init(&w->pack, err);
	if (rc == 0)
		rc = read_plan(w, plan, err);
	if (rc == 0)
		rc = open_answers(w, err);
	if (rc == 0)
		rc = open_sensor(w, forced, err);
	if (rc == 0)
		tell_loaded(w);
	return rc;
}

static int run_watcher(struct watcher *w, const char *plan,
		       const enum backend *forced)
{
	struct err err = {0};
	int signals = signals_open(false, &err);
	int rc = signals < 0 ? signals : start_watcher(w, plan, forced, &err);

	if (rc == 0)
		rc = poll_loop(w, signals, &err);
	if (rc == 0)
		rc = finish_trace(w, &err);
	if (rc < 0)
		rc = tell_failure(w, &err);
	if (w->sensor)
		w->sensor->ops->close(w->sensor);
	answers_free(w->answers);
	whose_free(w->whose);
	select_free(w->select);
	pack_done(&w->pack);
	line_done(&w->lines);
	return rc;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"asked", no_argument, NULL, 'a'},
		{"plan", required_argument, NULL, 'p'},
		{"back-end", required_argument, NULL, 'b'},
		{"version", no_argument, NULL, 'v'},
		{0},
	};
	static struct watcher w;
	const char *plan = GATE_PLAN;
	enum backend backend, *forced = NULL;
	int c;

	w.begun_ms = clock_ms();
	while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		if (c == 'v') {
			puts("membrane-watch " MEMBRANE_VERSION);
			return 0;
		}
		if (c == 'a') {
			w.asked = true;
		} else if (c == 'b' && backend_find(optarg, &backend)) {
			forced = &backend;
		} else if (c == 'p') {
			plan = optarg;
		} else {
			fputs("usage: membrane-watch [--plan DIR] [--asked] [--back-end fexit|lsm|sys_exit]\n",
			      stderr);
			return 2;
		}
	}
	return run_watcher(&w, plan, forced);
}
