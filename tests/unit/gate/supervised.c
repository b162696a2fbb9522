/*
 * The worker, whose supervisor and launcher this test is: what it says to
 * either, and in what order, and how it ends where one of them makes no sense.
 */
#include "runtime/gate/worker.h"
#include "tests/unit/gate/plans.h"

#include <signal.h>
#include <sys/wait.h>

#define ASKING UPSTREAM "ports a1 tcp/443\nask ask.test a1 60 - - a-0000000001\n"

struct worker {
	pid_t pid;
	int pair, in, out;
	char line[4096];
};

static struct worker start(enum uplink_kind uplink)
{
	int pair[2], in[2], out[2];
	struct worker w;

	new_network(true);
	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ==
		      0 &&
	      pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0);
	w.pid = fork();
	if (w.pid == 0) {
		struct worker_args args = {
			.uplink = uplink, .plan = PLAN, .supervisor = pair[1]};

		close(pair[0]);
		if (dup2(in[0], 0) != 0 || dup2(out[1], 1) != 1)
			_exit(125);
		_exit(worker_run(&args));
	}
	close(pair[1]);
	close(in[0]);
	close(out[1]);
	w.pair = pair[0];
	w.in = in[1];
	w.out = out[0];
	return w;
}

static void hello(struct worker *w)
{
	CHECK(write(w->in, HELLO, strlen(HELLO)) == (ssize_t)strlen(HELLO));
}

static void say(struct worker *w, enum worker_word word)
{
	struct worker_msg m = {
		.word = (uint8_t)word, .netns = 4711, .pidns = 4712};

	CHECK(send(w->pair, &m, sizeof(m), MSG_NOSIGNAL) == sizeof(m));
}

static bool hears(struct worker *w, enum worker_word word)
{
	struct pollfd p = {w->pair, POLLIN, 0};
	struct worker_msg m;

	return poll(&p, 1, WAIT_MS) == 1 &&
	       recv(w->pair, &m, sizeof(m), 0) == sizeof(m) && m.word == word &&
	       !m.ipv6;
}

static bool tells(struct worker *w, const char *part)
{
	while (read_line(w->out, w->line, sizeof(w->line)))
		if (strstr(w->line, part))
			return true;
	fprintf(stderr, "not said: %s\n", part);
	return false;
}

/* By whatever was said to it last. */
static int end_of(struct worker *w)
{
	int status = -1;

	while (read_line(w->out, w->line, sizeof(w->line)))
		;
	close(w->pair);
	close(w->in);
	close(w->out);
	CHECK(waitpid(w->pid, &status, 0) == w->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static struct worker begin(void)
{
	struct worker w = start(UPLINK_THERE);

	hello(&w);
	say(&w, WORKER_AGENT);
	CHECK(hears(&w, WORKER_LINK));
	CHECK(if_nametoindex(LINK_GATE_IF) && if_nametoindex(LINK_AGENT_IF));
	say(&w, WORKER_UP);
	CHECK(hears(&w, WORKER_READY));
	CHECK(tells(&w, "\"event\":\"ready\""));
	CHECK(strstr(w.line, "\"netns\":4711") &&
	      strstr(w.line, "\"pidns\":4712"));
	return w;
}

/* --- its beginning -------------------------------------------------------- */

/* The agent's end is waited for, and nobody else's word is taken for it. */
static void in_order(void)
{
	struct worker w = start(UPLINK_THERE);

	hello(&w);
	say(&w, WORKER_UP);
	CHECK(tells(&w, "the supervisor is gone") && end_of(&w) == 1);
	w = start(UPLINK_THERE);
	hello(&w);
	say(&w, WORKER_AGENT);
	CHECK(hears(&w, WORKER_LINK));
	say(&w, WORKER_AGENT);
	CHECK(tells(&w, "the supervisor is gone") && end_of(&w) == 1);
	w = start(UPLINK_THERE);
	hello(&w);
	close(w.pair);
	w.pair = -1;
	CHECK(tells(&w, "the supervisor is gone") && end_of(&w) == 1);
	w = start(UPLINK_THERE);
	hello(&w);
	CHECK(send(w.pair, "x", 1, MSG_NOSIGNAL) == 1);
	CHECK(tells(&w, "the supervisor is gone") && end_of(&w) == 1);
}

/* A line in pieces, and one that is too long. */
static void launcher(void)
{
	static char longest[1 << 17];
	struct worker w = start(UPLINK_THERE);
	size_t n = 0;
	ssize_t got = 1;

	CHECK(write(w.in, "{\"version\":1,", 13) == 13);
	CHECK(write(w.in, "\"host\":[]}\n", 11) == 11);
	say(&w, WORKER_AGENT);
	CHECK(hears(&w, WORKER_LINK));
	close(w.pair);
	w.pair = -1;
	CHECK(end_of(&w) == 1);
	w = start(UPLINK_THERE);
	memset(longest, ' ', sizeof(longest));
	signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 64 && got > 0; i++, n += got > 0 ? (size_t)got : 0)
		got = write(w.in, longest, sizeof(longest));
	CHECK(tells(&w, "the launcher's line: no whole line") &&
	      end_of(&w) == 1);
	CHECK(n < 64 * sizeof(longest)); /* it does not read on for ever */
}

/* --- its life ------------------------------------------------------------- */

/* What is no word to a worker ends it, as its supervisor's end does. */
static void nonsense(void)
{
	static const enum worker_word never[] = {
		WORKER_AGENT, WORKER_LINK, WORKER_UP, WORKER_READY,
		WORKER_OPEN,  0,	   99};
	char more[sizeof(struct worker_msg) + 1] = {WORKER_LISTENS};
	struct worker w;

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++) {
		w = begin();
		say(&w, never[i]);
		CHECK(tells(&w, "\"event\":\"done\"") && end_of(&w) == 0);
	}
	for (size_t n = 1; n <= sizeof(more); n += sizeof(more) - 1) {
		w = begin();
		CHECK(send(w.pair, more, n, MSG_NOSIGNAL) == (ssize_t)n);
		CHECK(tells(&w, "\"event\":\"done\"") && end_of(&w) == 0);
	}
	w = begin();
	close(w.pair);
	w.pair = -1;
	CHECK(tells(&w, "\"event\":\"done\"") && end_of(&w) == 0);
}

static void words(void)
{
	struct worker w = begin();

	say(&w, WORKER_LISTENS);
	say(&w, WORKER_ANSWER);
	say(&w, WORKER_CHANGE);
	CHECK(tells(&w, "\"event\":\"generation\"") &&
	      strstr(w.line, "\"ok\":true"));
	/* two at once: the second is refused, or comes after the first */
	say(&w, WORKER_CHANGE);
	CHECK(tells(&w, "\"event\":\"generation\""));
	close(w.pair);
	w.pair = -1;
	CHECK(tells(&w, "\"event\":\"done\"") && end_of(&w) == 0);
}

/* One that is told as refused is none: nothing of it comes later. */
static void refused(void)
{
	struct worker w = begin();

	CHECK(mkdir(GATE_ASK, 0755) == 0);
	put_plan("names.map", ASKING);
	say(&w, WORKER_CHANGE);
	CHECK(tells(&w, "\"event\":\"generation\"") &&
	      strstr(w.line, "asking people"));
	put_plan("names.map", NAMES);
	CHECK(rmdir(GATE_ASK) == 0);
	say(&w, WORKER_CHANGE);
	CHECK(tells(&w, "\"event\":\"generation\"") &&
	      strstr(w.line, "\"ok\":true"));
	close(w.pair);
	w.pair = -1;
	CHECK(!tells(&w, "\"event\":\"generation\"") && end_of(&w) == 0);
}

int main(void)
{
	if (!enter_room())
		return NOT_HERE;
	put_whole_plan();
	in_order();
	launcher();
	nonsense();
	words();
	refused();
	return check_status();
}
