/*
 * PID 1 of a gate, with its worker, the forwarder and all that the system does
 * for it played by this test: what it calls in which order, and what becomes of
 * a session where any of that fails.
 */
int gate_main(int argc, char **argv);
#define main gate_main
#include "runtime/gate/supervisor.c"
#undef main

#include "tests/unit/gate/played.h"

/* Descriptors of nothing. */
enum { SIGNALS = 50, PAIR, WORKERS, MACHINE, SOCKET = 60, BROKER = 70 };
/* Processes of nobody. */
enum { WORKER = 101, FORWARDER, OTHER };

#define TURNS 8u

/* What one poll says is there. */
struct turn {
	int error; /* of poll, or of reading stdin */
	enum { NOTHING, SIGNAL, MESSAGE, LINE, POLL } what;
	uint32_t signal;
	pid_t dead;
	enum worker_word word;
	const char *line;
};

static struct scene {
	struct worker_args args;
	int signals;
	unsigned child; /* the fork whose child it is; 0: none */
	bool orphan, lives_on;
	struct turn turns[TURNS];
} scene;

static unsigned n_turns, n_forks, n_sent;
static pid_t dead;
static int64_t time_ms;
static bool signalled, ending;

static const struct turn *past_turn(void)
{
	return &scene.turns[n_turns - 1];
}

/* --- calls of the system -------------------------------------------------- */

void __real__exit(int status) __attribute__((noreturn));
void __wrap__exit(int status) __attribute__((noreturn));
PART(void, _exit, (int status))
{
	if (acting && status)
		say("_exit %d", status);
	__real__exit(0);
}

PART(int64_t, clock_ms, (void))
{
	return time_ms;
}

PART(int, socketpair, (int domain, int type, int protocol, int pair[2]))
{
	WIRED(domain == AF_UNIX && type == (SOCK_SEQPACKET | SOCK_CLOEXEC) &&
	      protocol == 0);
	pair[0] = PAIR;
	pair[1] = WORKERS;
	return PLAY_CALL("socketpair");
}

PART_OUTSIDE(pid_t, fork, (void), ())
{
	unsigned n = ++n_forks;

	if (PLAY_CALL("fork%u", n) < 0)
		return -1;
	return n == scene.child ? 0 : n == 1 ? WORKER : FORWARDER;
}

PART_OUTSIDE(int, close, (int fd), (fd))
{
	say("close %d", fd);
	ending |= fd == PAIR;
	return 0;
}

/* What it leaves there when it fails is nothing that anybody may look at. */
PART_OUTSIDE(int, stat, (const char *name, struct stat *out), (name, out))
{
	bool net = strcmp(name, "/proc/self/ns/net") == 0;

	WIRED(net || strcmp(name, "/proc/self/ns/pid") == 0);
	out->st_ino = net ? 4711 : 4712;
	return PLAY_CALL("stat_%s", net ? "net" : "pid");
}

PART(ssize_t, send, (int fd, const void *from, size_t n, int flags))
{
	const struct worker_msg *m = from;

	WIRED(fd == PAIR && n == sizeof(*m) && flags == MSG_NOSIGNAL);
	return PLAY_CALL("send%u %u: %u %u, %u", ++n_sent, m->word, m->netns,
			 m->pidns, m->generation) < 0
		       ? -1
		       : (ssize_t)n;
}

PART(ssize_t, sendmsg, (int fd, const struct msghdr *h, int flags))
{
	const struct iovec *v = h->msg_iov;
	const struct worker_msg *m = v[0].iov_base;

	WIRED(fd == PAIR && h->msg_iovlen == 2 && flags == MSG_NOSIGNAL &&
	      v[0].iov_len == sizeof(*m));
	return PLAY_CALL("sendmsg %u %.*s", m->word, (int)v[1].iov_len,
			 (const char *)v[1].iov_base) < 0
		       ? -1
		       : (ssize_t)(v[0].iov_len + v[1].iov_len);
}

PART(ssize_t, recv, (int fd, void *to, size_t n, int flags))
{
	struct worker_msg *m = to;

	WIRED(fd == PAIR && n == sizeof(*m) && flags == 0);
	*m = (struct worker_msg){.word = (uint8_t)past_turn()->word};
	return PLAY_CALL("recv") < 0 ? -1 : (ssize_t)n;
}

PART(int, prctl, (int option, unsigned long value))
{
	return PLAY_CALL("prctl %d %lu", option, value);
}

PART(pid_t, getppid, (void))
{
	return scene.orphan ? 1 : getpid();
}

PART(int, unshare, (int flags))
{
	WIRED(flags == CLONE_NEWNET);
	return PLAY_CALL("unshare");
}

PART(int, kill, (pid_t pid, int signal))
{
	say("kill %d %d", pid, signal);
	return 0;
}

PART_OUTSIDE(pid_t, waitpid, (pid_t pid, int *status, int options),
	     (pid, status, options))
{
	pid_t was = dead;

	if (pid > 0) {
		say("waitpid %d %d", pid, options);
		return pid;
	}
	WIRED(pid == -1 && !status && options == WNOHANG);
	dead = 0;
	return was;
}

static ssize_t read_signal(void *to, size_t n)
{
	struct signalfd_siginfo *info = to;

	WIRED(n == sizeof(*info));
	if (!signalled) {
		errno = EAGAIN;
		return -1;
	}
	signalled = false;
	info->ssi_signo = past_turn()->signal;
	return (ssize_t)n;
}

static ssize_t read_line(void *to)
{
	const struct turn *t = past_turn();

	say("read");
	errno = t->error;
	if (t->error)
		return -1;
	memcpy(to, t->line, strlen(t->line));
	return (ssize_t)strlen(t->line);
}

PART_OUTSIDE(ssize_t, read, (int fd, void *to, size_t n), (fd, to, n))
{
	WIRED(fd == STDIN_FILENO || fd == scene.signals);
	return fd == scene.signals ? read_signal(to, n) : read_line(to);
}

/* While it ends. */
static int poll_end(const struct pollfd *p, int ms)
{
	WIRED(p->fd == scene.signals && p->events == POLLIN);
	say("wait %d", ms);
	if (!scene.lives_on)
		dead = WORKER;
	time_ms += ms;
	return !scene.lives_on;
}

PART(int, poll, (struct pollfd * p, nfds_t n, int ms))
{
	const struct turn *t;

	if (ending)
		return poll_end(p, ms);
	WIRED(n == 3 && ms == -1 && p[0].fd == scene.signals &&
	      p[1].fd == PAIR && p[2].fd <= 0);
	say("poll%s", p[2].fd == 0 ? " stdin" : "");
	if (n_turns == TURNS)
		_exit(4);
	t = &scene.turns[n_turns++];
	for (nfds_t i = 0; i < n; i++)
		p[i].revents = t->what == SIGNAL + i ? POLLIN : 0;
	signalled = t->what == SIGNAL;
	dead = t->dead;
	errno = t->what == POLL ? t->error : EBADF;
	return t->what == POLL ? -1 : 1;
}

/* --- parts of the gate ---------------------------------------------------- */

PART(int, planfile_vectors,
     (const char *dir, struct planfile_vectors *out, struct err *e))
{
	WIRED(strcmp(dir, "/plan") == 0);
	*out = scene.args.vectors;
	return play(e, "planfile_vectors");
}

PART(int, signals_open, (bool children, struct err *e))
{
	return play(e, "signals_open %d", children) < 0 ? e->code
							: scene.signals;
}

PART(int, worker_run, (const struct worker_args *args))
{
	say("worker_run %d", args->supervisor);
	__real__exit(0);
}

PART(void, worker_complain, (const char *message))
{
	say("complain %s", message);
}

PART(int, forward_connect, (const char *path, struct err *e))
{
	return play(e, "forward_connect %s", path) < 0 ? e->code : MACHINE;
}

PART(int, forward_take, (int from, int *out, uint32_t n, struct err *e))
{
	for (uint32_t i = 0; i < n; i++)
		out[i] = SOCKET + (int)i;
	return play(e, "forward_take %d %u", from, n);
}

PART(void, forward_serve, (const int *from, const uint16_t *ports, uint32_t n))
{
	say("forward_serve %d %d %d %d %u", from[0], from[1], ports[0],
	    ports[1], n);
}

PART(int, link_agent_up, (bool ipv6, struct err *e))
{
	return play(e, "link_agent_up %d", ipv6);
}

PART(int, caps_drop, (enum caps_keep keep, struct err *e))
{
	return play(e, "caps_drop %d", keep);
}

PART(int, podlink_alone, (struct err * e))
{
	return play(e, "podlink_alone");
}

PART(int, fence_lift, (struct err * e))
{
	return play(e, "fence_lift");
}

PART(int, ready_hold, (struct err * e))
{
	return play(e, "ready_hold");
}

/* --- runs ----------------------------------------------------------------- */

static int act(void)
{
	struct worker_args args = scene.args;
	struct err e;

	memset(&args.vectors, 0, sizeof(args.vectors));
	return run_supervisor(&args, &e);
}

static void new_scene(enum uplink_kind uplink, enum planfile_link link)
{
	static const struct turn opened[] = {
		{.what = MESSAGE, .word = WORKER_LINK},
		{.what = MESSAGE, .word = WORKER_READY},
		{.what = SIGNAL, .signal = SIGTERM}};

	scene = (struct scene){.args = {.uplink = uplink, .plan = "/plan"},
			       .signals = SIGNALS};
	scene.args.vectors.link = link;
	memcpy(scene.turns, opened, sizeof(opened));
	time_ms = 5000;
}

static void two_ports(void)
{
	scene.args.vectors.published =
		(struct planfile_ports){.v = {80, 8080}, .n = 2};
}

static void says(const char *want)
{
	CHECK(play_act(act, 0, NULL));
	CHECK(same_lines(played->said, want));
}

/* All goes as before up to this call, and what follows it is this. */
static void without(const char *call, const char *then)
{
	char want[PLAYED_MAX], line[64];
	const char *at;

	CHECK(play_act(act, 0, NULL));
	snprintf(line, sizeof(line), "\n%s", call);
	at = strstr(played->said, line);
	CHECK_MSG(at != NULL, "%s", call);
	if (!at)
		return;
	at = strchr(at + 1, '\n') + 1;
	snprintf(want, sizeof(want), "%.*s%s", (int)(at - played->said),
		 played->said, then);
	CHECK(play_act(act, 0, call));
	CHECK_MSG(same_lines(played->said, want), "without %s", call);
}

#define STARTED                                                                \
	"planfile_vectors\nsignals_open 1\nsocketpair\nfork1\nclose 52\n"
#define NAMES "stat_net\nstat_pid\n"
#define AGENT NAMES "send1 1: 4711 4712, 0\n"
#define LINK  "poll\nrecv\nlink_agent_up 0\n"
#define UP    NAMES "send2 3: 4711 4712, 0\n"
#define READY "poll\nrecv\n"
#define ENDED "close 51\nwait 3000\n"
#define PORTS "fork2\nclose 60\nclose 61\n"

#define COMPLAINED(call) "complain " call " fails\n" ENDED "= 1\n"

/* --- its ways ------------------------------------------------------------- */

/* What begins fails: there is no session. */
static void beginning(void)
{
	new_scene(UPLINK_THERE, PLANFILE_VETH);
	two_ports();
	scene.args.broker = BROKER;
	says(STARTED "close 70\nforward_connect /published\nforward_take 53 2\n"
		     "close 53\nunshare\n" AGENT LINK
		     "caps_drop 0\n" PORTS UP READY
		     "caps_drop 0\npoll stdin\n" ENDED "= 0\n");
	without("signals_open", "= -5\n");
	without("socketpair", "= -5\n");
	without("fork1", "= -5\n");
	without("forward_connect", ENDED "= -5\n");
	without("forward_take", "close 53\n" ENDED "= -5\n");
	without("unshare", ENDED "= -5\n");
	without("link_agent_up", COMPLAINED("link_agent_up"));
	without("caps_drop", COMPLAINED("caps_drop"));
	without("fork2", "complain fork: Input/output error\n" ENDED "= 1\n");
	/* the worker says why itself */
	without("send2", ENDED "= 1\n");
	without("recv", ENDED "= 1\n");
}

/* A name that nobody knows is none. */
static void namespaces(void)
{
	new_scene(UPLINK_THERE, PLANFILE_VETH);
	CHECK(play_act(act, 0, "stat_net"));
	CHECK(strstr(played->said, "send1 1: 0 4712, 0\n"));
	CHECK(play_act(act, 0, "stat_pid"));
	CHECK(strstr(played->said, "send1 1: 4711 0, 0\n"));
}

/* Nothing is done as root any more where its fence is lifted. */
static void pod(void)
{
	new_scene(UPLINK_POD, PLANFILE_WIRE);
	two_ports();
	says(STARTED AGENT LINK UP READY
	     "forward_take 51 2\npodlink_alone\nfence_lift\n"
	     "caps_drop 0\n" PORTS "ready_hold\n" NAMES
	     "send3 9: 4711 4712, 0\npoll\n" ENDED "= 0\n");
	without("forward_take", COMPLAINED("forward_take"));
	without("podlink_alone", COMPLAINED("podlink_alone"));
	without("fence_lift", COMPLAINED("fence_lift"));
	without("caps_drop", COMPLAINED("caps_drop"));
	without("fork2", "complain fork: Input/output error\n" ENDED "= 1\n");
	without("ready_hold", COMPLAINED("ready_hold"));
	without("send3", ENDED "= 1\n");
}

/* In a Pod of its own it makes no link. */
static void apart(void)
{
	new_scene(UPLINK_APART, PLANFILE_APART);
	memmove(&scene.turns[0], &scene.turns[1],
		sizeof(scene.turns) - sizeof(*scene.turns));
	says(STARTED READY "caps_drop 0\nready_hold\n" NAMES
			   "send1 9: 4711 4712, 0\npoll\n" ENDED "= 0\n");
	without("caps_drop", COMPLAINED("caps_drop"));
	without("ready_hold", COMPLAINED("ready_hold"));
	without("send1", ENDED "= 1\n");
}

/* A Docker network is made by others; and 0 is a descriptor, too. */
static void bridge(void)
{
	new_scene(UPLINK_THERE, PLANFILE_BRIDGE);
	scene.signals = 0;
	scene.turns[0] = scene.turns[2];
	says(STARTED "poll\n" ENDED "= 0\n");
}

static void children(void)
{
	new_scene(UPLINK_THERE, PLANFILE_VETH);
	two_ports();
	scene.args.broker = BROKER;
	scene.child = 1;
	says("planfile_vectors\nsignals_open 1\nsocketpair\nfork1\nclose 51\n"
	     "close 50\nworker_run 52\n");
	scene.child = 2;
	CHECK(play_act(act, 0, NULL));
	CHECK(strstr(played->said, "fork2\nclose 51\nclose 50\nclose 0\n"
				   "prctl 1 9\nforward_serve 60 61 80 8080 2\n"
				   "_exit 1\n"));
	/* nobody would end it with the others */
	without("prctl", "_exit 1\n");
	scene.orphan = true;
	CHECK(play_act(act, 0, NULL));
	CHECK(strstr(played->said, "prctl 1 9\n_exit 1\n"));
}

/* --- a session ------------------------------------------------------------ */

#define OPENED                                                                 \
	STARTED "unshare\n" AGENT LINK "caps_drop 0\n" UP READY "caps_drop 0\n"

static void new_session(const struct turn *turns, size_t n)
{
	new_scene(UPLINK_THERE, PLANFILE_VETH);
	memcpy(scene.turns + 2, turns, n * sizeof(*turns));
}

static void waits(void)
{
	static const struct turn again[] = {{.what = POLL, .error = EINTR},
					    {.what = SIGNAL,
					     .signal = SIGTERM}},
				 broken = {.what = POLL, .error = EIO};

	new_session(again, ARRAY_LEN(again));
	says(OPENED "poll stdin\npoll stdin\n" ENDED "= 0\n");
	new_session(&broken, 1);
	says(OPENED "poll stdin\n" ENDED "= 1\n");
}

static void deaths(void)
{
	static const struct turn some[] = {
		{.what = SIGNAL, .signal = SIGCHLD, .dead = OTHER},
		{.what = SIGNAL, .signal = SIGCHLD, .dead = WORKER}};

	new_session(some, ARRAY_LEN(some));
	says(OPENED "poll stdin\npoll stdin\nclose 51\n= 1\n");
	/* one that does not end when it is told to */
	new_scene(UPLINK_THERE, PLANFILE_VETH);
	scene.turns[2] = (struct turn){.what = SIGNAL, .signal = SIGTERM};
	scene.lives_on = true;
	says(OPENED "poll stdin\n" ENDED "kill 101 9\nwaitpid 101 0\n= 0\n");
}

static void lines(void)
{
	static const struct turn said[] =
		{{.what = LINE, .error = EINTR},
		 {.what = LINE, .error = EAGAIN},
		 {.what = LINE, .line = "change 2 keep\nrenewed 1 {}\n"},
		 {.what = LINE, .line = ""}},
				 broken = {.what = LINE, .error = EIO};

	new_session(said, ARRAY_LEN(said));
	says(OPENED "poll stdin\nread\npoll stdin\nread\npoll stdin\nread\n"
		    "send3 5: 0 0, 2\nsendmsg 6 1 {}\npoll stdin\nread\n" ENDED
		    "= 0\n");
	without("send3", ENDED "= 0\n");
	without("sendmsg", ENDED "= 0\n");
	new_session(&broken, 1);
	says(OPENED "poll stdin\nread\n" ENDED "= 0\n");
}

int main(void)
{
	play_begin();
	beginning();
	namespaces();
	pod();
	apart();
	bridge();
	children();
	waits();
	deaths();
	lines();
	return check_status();
}
