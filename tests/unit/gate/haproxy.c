/*
 * HAProxy's process: what it has when it begins, to the last descriptor and
 * variable, and how it ends. In its place is this program.
 */
#include "runtime/gate/l7/haproxy.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fdpass.h"
#include "runtime/broker/broker.h"
#include "runtime/gate/l7/user.h"
#include "tests/unit/gate/haproxy_standin.h"
#include "tests/unit/gate/refused.h"

#include <netinet/tcp.h>
#include <sys/un.h>

static struct err err;
static struct hello_credentials secrets = {
	.n = 2,
	.v = {"MEMBRANE_CREDENTIAL_1=hush", "MEMBRANE_CREDENTIAL_7=quiet"}};
static struct haproxy_ports ports;

/* --- its ports ------------------------------------------------------------ */

static bool is_paced_by(int fd, const char *name)
{
	char text[32] = "";
	socklen_t n = sizeof(text);

	return getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, text, &n) == 0 &&
	       strcmp(text, name) == 0;
}

static void all_ports(void)
{
	struct haproxy_ports again;

	put_line("/proc/sys/net/ipv4/tcp_congestion_control", "cubic");
	CHECK(haproxy_listen(&ports, &err) == 0 && ports.open);
	for (size_t i = 0; i < HAPROXY_PORTS; i++)
		CHECK(ports.fds[i] >= 40 && is_paced_by(ports.fds[i], "reno") &&
		      fcntl(ports.fds[i], F_GETFD) == FD_CLOEXEC);
	/* once is enough, and whose ports are its own has none of these */
	again = ports;
	CHECK(haproxy_listen(&ports, &err) == 0 &&
	      memcmp(&again, &ports, sizeof(ports)) == 0);
	again = (struct haproxy_ports){.own = true};
	CHECK(haproxy_listen(&again, &err) == 0 && !again.open);
}

/* One that is taken: none of them is left open. */
static void taken_port(void)
{
	struct haproxy_ports none = {.open = false};
	struct sockaddr_in sa = {.sin_family = AF_INET,
				 .sin_port = htons(GATE_PORT_NETS)};
	unsigned before;
	int fd;

	CHECK(unshare(CLONE_NEWNET) == 0 && loopback_up());
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 1) == 0);
	before = open_files();
	CHECK(haproxy_listen(&none, &err) == -EADDRINUSE && !none.open &&
	      strstr(err.text, "port 15003 for HAProxy"));
	CHECK(open_files() == before);
	close(fd);
	CHECK(haproxy_listen(&none, &err) == 0 && none.open &&
	      open_files() == before - 1 + HAPROXY_PORTS);
}

/* In place of what there is not, one that nothing gets to. */
static void no_ipv6(void)
{
	struct haproxy_ports some = {.open = false};

	CHECK(unshare(CLONE_NEWNET) == 0 && loopback_up());
	CHECK(refuse_call(SYS_socket, 0, AF_INET6, EAFNOSUPPORT));
	CHECK(haproxy_listen(&some, &err) == 0);
	for (size_t i = 0; i < HAPROXY_PORTS; i++) {
		struct sockaddr_in sa = {.sin_family = 0};
		socklen_t n = sizeof(sa);
		bool v6 = i % 2;
		unsigned port;

		CHECK(getsockname(some.fds[i], (struct sockaddr *)&sa, &n) ==
			      0 &&
		      sa.sin_family == AF_INET &&
		      sa.sin_addr.s_addr ==
			      htonl(v6 ? INADDR_LOOPBACK : INADDR_ANY));
		port = ntohs(sa.sin_port);
		CHECK(v6 ? port > 0 && (port < GATE_PORT_RAW ||
					port > GATE_PORT_ASK)
			 : port == GATE_PORT_RAW + i / 2);
	}
}

static void no_ipv6_at_all(void)
{
	struct haproxy_ports some = {.open = false};

	CHECK(unshare(CLONE_NEWNET) == 0 && loopback_up());
	CHECK(refuse_call(SYS_socket, 0, AF_INET6, EMFILE));
	CHECK(haproxy_listen(&some, &err) == -EMFILE && !some.open);
}

/* --- what it has ---------------------------------------------------------- */

static bool says(const char *said, const char *line)
{
	if (strstr(said, line))
		return true;
	fprintf(stderr, "not said: %s\n%s\n", line, said);
	return false;
}

static unsigned count_of(const char *said, const char *word)
{
	unsigned n = 0;

	for (; (said = strstr(said, word)); said++)
		n++;
	return n;
}

/* Which every one has. */
static void has_the_usual(const char *said)
{
	CHECK(says(said, "0: /dev/null waits\n"));
	CHECK(says(said, "\n1: pipe now\n2: pipe now\n") ||
	      says(said, "0: /dev/null waits\n1: pipe now\n2: pipe now\n"));
	CHECK(says(said, "argument haproxy\nargument -db\nargument -f\n"
			 "argument " STANDIN_CONFIG "\nvariable "));
	CHECK(count_of(said, "\nargument ") == 4);
	CHECK(says(said, "variable LD_PRELOAD=" HAPROXY_READER "\n"));
	CHECK(says(said, "variable MEMBRANE_CREDENTIAL_1=hush\n"));
	CHECK(says(said, "variable MEMBRANE_CREDENTIAL_7=quiet\n"));
	CHECK(!strstr(said, "variable \n"));
	CHECK(says(said, "NoNewPrivs:\t1\n"));
	CHECK(says(said, "SigBlk:\t0000000000000000\n"));
	CHECK(says(said, " dies 9 files 1\n"));
}

static struct haproxy begin(const struct haproxy_ports *p)
{
	struct haproxy h;
	unsigned before = open_files();

	CHECK(haproxy_start(&h, p, STANDIN_CONFIG, &secrets, &err) == 0);
	/* its end, its words, its door */
	CHECK(open_files() == before + 2 + p->open && h.pid > 0);
	return h;
}

static void end(struct haproxy *h)
{
	unsigned before = open_files() - 2 - (h->door >= 0);
	pid_t pid = h->pid;

	haproxy_end(h);
	CHECK(h->pid == 0 && h->pidfd == -1 && h->words == -1 &&
	      h->door == -1 && open_files() == before);
	CHECK(waitpid(pid, NULL, 0) < 0 && errno == ECHILD);
	haproxy_end(h);
}

static void inherits(void)
{
	static const char *const variables[] = {"RAW4",	 "RAW6",  "HTTP4",
						"HTTP6", "NETS4", "NETS6",
						"ASK4",	 "ASK6"};
	struct haproxy h = begin(&ports);
	const char *said = standin_said(&h), *at;
	char line[100];

	has_the_usual(said);
	for (unsigned i = 0; i < HAPROXY_PORTS; i++) {
		snprintf(line, sizeof(line), "\n%u: listens %s %u now\n",
			 10 + i, i % 2 ? "::" : "0.0.0.0",
			 GATE_PORT_RAW + i / 2);
		CHECK(says(said, line));
		snprintf(line, sizeof(line), "variable MEMBRANE_%s=fd@%u\n",
			 variables[i], 10 + i);
		CHECK(says(said, line));
	}
	CHECK(says(said, "\n19: anon_inode now\n") &&
	      says(said, "variable MEMBRANE_DOOR=19\n"));
	CHECK(count_of(said, "variable MEMBRANE_") == 11);
	CHECK(!strstr(said, "\n18: ") && !strstr(said, "\n20: ") &&
	      !strstr(said, "\n40: "));
	snprintf(line, sizeof(line), "user %u group %u groups 0 ", GATE_UID,
		 GATE_UID);
	CHECK(says(said, line));
	CHECK(says(said, "CapEff:\t0000000000000000\n"));
	/* what was ignored here is not there; the C library may ignore what is
	 * its own, 32 and 33, in whatever it spawns */
	at = strstr(said, "SigIgn:\t");
	CHECK(at && (strtoull(at + 8, NULL, 16) & 0x7fffffff) == 0);
	end(&h);
}

/* Whoever opens its ports itself is who starts it, and is told of the network.
 */
static void has_its_own(void)
{
	struct haproxy_ports own = {.own = true, .family = "ipv4"};
	struct haproxy h = begin(&own);
	const char *said = standin_said(&h);
	char line[64];

	has_the_usual(said);
	CHECK(h.door == -1 && count_of(said, "variable MEMBRANE_") == 3 &&
	      says(said, "variable MEMBRANE_FAMILY=ipv4\n"));
	CHECK(!strstr(said, "listens") && !strstr(said, "\n19: "));
	snprintf(line, sizeof(line), "user %u group %u ", geteuid(), getegid());
	CHECK(says(said, line));
	CHECK(!strstr(said, "CapEff:\t0000000000000000\n"));
	end(&h);
	own.ipv6 = true;
	own.family = "ipv6";
	h = begin(&own);
	said = standin_said(&h);
	CHECK(count_of(said, "variable MEMBRANE_") == 4 &&
	      says(said, "variable MEMBRANE_FAMILY=ipv6\n") &&
	      says(said, "variable MEMBRANE_IPV6=1\n"));
	end(&h);
}

/* A broker that has answered before it is asked. */
static int broker_with(int error, int fd)
{
	struct broker_answer answer = {.error = error};
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	CHECK(fdpass_send(pair[1], &answer, sizeof(answer), fd, 0));
	/* the other end stays open for what it is asked */
	ports.broker = pair[0];
	return pair[1];
}

static void has_a_channel(void)
{
	int pair[2], far;
	struct broker_ask ask = {.word = 0};
	struct haproxy h;
	const char *said;
	int none;

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	far = broker_with(0, pair[0]);
	h = begin(&ports);
	said = standin_said(&h);
	has_the_usual(said);
	CHECK(says(said, "\n18: socket waits\n") &&
	      says(said, "variable MEMBRANE_BROKER=18\n") &&
	      count_of(said, "variable MEMBRANE_") == 12);
	CHECK(fdpass_take(far, &ask, sizeof(ask), &none, 0) == sizeof(ask) &&
	      ask.word == BROKER_CHANNEL);
	end(&h);
	close(pair[0]);
	close(pair[1]);
	close(far);
	close(ports.broker);
	/* one that has none for it */
	far = broker_with(EMFILE, -1);
	CHECK(haproxy_start(&h, &ports, STANDIN_CONFIG, &secrets, &err) ==
		      -EMFILE &&
	      strstr(err.text, "the broker of sockets") && h.pid == 0);
	haproxy_end(&h);
	close(far);
	close(ports.broker);
	ports.broker = 0;
}

/* --- what goes wrong ------------------------------------------------------ */

static void refused(int call, const char *says_why)
{
	struct haproxy h;
	unsigned before = open_files();

	CHECK(refuse_call(call, 0, -1, ENOMEM));
	CHECK(haproxy_start(&h, &ports, STANDIN_CONFIG, &secrets, &err) ==
		      -ENOMEM &&
	      strstr(err.text, says_why));
	haproxy_end(&h);
	CHECK(h.pid == 0 && open_files() == before);
}

static void no_process(void)
{
	refused(SYS_clone, "fork");
}

static void no_pidfd(void)
{
	refused(SYS_pidfd_open, "watching HAProxy");
}

static void no_pipe(void)
{
	refused(SYS_pipe2, "pipe");
}

static void no_eventfd(void)
{
	refused(SYS_eventfd2, "eventfd");
}

static bool begins_not(void)
{
	struct haproxy h;
	int status = 0;
	bool ended;

	CHECK(haproxy_start(&h, &ports, STANDIN_CONFIG, &secrets, &err) == 0);
	ended = poll(&(struct pollfd){h.pidfd, POLLIN, 0}, 1,
		     STANDIN_WAITS / 2) == 1 &&
		waitpid(h.pid, &status, WNOHANG) == h.pid;
	haproxy_end(&h);
	return ended && WIFEXITED(status) && WEXITSTATUS(status) == 127;
}

/* Who started it is not there any more, when it looks for that. */
static void no_parent(void)
{
	CHECK(refuse_call(SYS_getpid, 0, -1, EPERM) && begins_not());
}

#ifdef SYS_dup2
#define DUP SYS_dup2
#else
#define DUP SYS_dup3
#endif

static void no_output(void)
{
	CHECK(refuse_call(DUP, 1, STDOUT_FILENO, EIO) && begins_not());
}

static void no_words(void)
{
	CHECK(refuse_call(DUP, 1, STDERR_FILENO, EIO) && begins_not());
}

static void no_door(void)
{
	CHECK(refuse_call(DUP, 1, 19, EIO) && begins_not());
}

static void no_broker(void)
{
	int far = broker_with(0, STDERR_FILENO);

	CHECK(refuse_call(DUP, 1, 18, EIO) && begins_not());
	close(far);
}

static void no_signals(void)
{
	CHECK(refuse_call(SYS_rt_sigprocmask, 0, SIG_SETMASK, EIO) &&
	      begins_not());
}

/* A program that cannot be begun is said as its own words, in which there is no
 * credential. */
static void no_program(void)
{
	struct haproxy h;

	strcpy(secrets.v[1], "MEMBRANE_CREDENTIAL_7=denied");
	CHECK(mount("/dev/null", HAPROXY_PROGRAM, NULL, MS_BIND, NULL) == 0);
	CHECK(haproxy_start(&h, &ports, STANDIN_CONFIG, &secrets, &err) == 0);
	CHECK(poll(&(struct pollfd){h.pidfd, POLLIN, 0}, 1, STANDIN_WAITS) ==
	      1);
	CHECK(haproxy_ready(&h, "/none", "/pins", &err) == -EPIPE &&
	      strcmp(err.text, "HAProxy ended: [ALERT] " HAPROXY_PROGRAM
			       ": Permission ******") == 0);
	haproxy_end(&h);
	CHECK(umount2(HAPROXY_PROGRAM, MNT_DETACH) == 0);
}

/* The first descriptor is one like any other. */
static void first_file(void)
{
	struct haproxy_ports some = {.open = false};
	struct haproxy h;
	const char *said;
	int far, pair[2];

	CHECK(unshare(CLONE_NEWNET) == 0 && loopback_up());
	far = broker_with(0, STDERR_FILENO);
	some.broker = ports.broker;
	close(0);
	errno = EAFNOSUPPORT; /* of something before */
	CHECK(haproxy_listen(&some, &err) == 0);
	h = begin(&some);
	said = standin_said(&h);
	has_the_usual(said);
	CHECK(says(said, "variable MEMBRANE_BROKER=18\n") &&
	      says(said, "\n11: listens :: 15001 now\n"));
	end(&h);
	close(far);
	h = haproxy_none();
	CHECK(pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0 && pair[0] == 0 &&
	      write(pair[1], "[ALERT] one\n", 12) == 12);
	h.words = pair[0];
	haproxy_read(&h);
	CHECK(strcmp(h.alert, "[ALERT] one") == 0);
	close(pair[1]);
	haproxy_end(&h);
	CHECK(refuse_call(SYS_socket, 0, AF_INET6, EAFNOSUPPORT));
	some.open = false;
	CHECK(unshare(CLONE_NEWNET) == 0 && loopback_up());
	CHECK_MSG(haproxy_listen(&some, &err) == 0, "%s", err.text);
}

/* --- its life ------------------------------------------------------------- */

static void put_config(const char *text)
{
	unlink(STANDIN_CONFIG);
	close(open(STANDIN_CONFIG, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
	CHECK(!*text || put_line(STANDIN_CONFIG, text));
}

static void ends(void)
{
	struct haproxy h;
	unsigned before = open_files();

	put_config("end");
	h = begin(&ports);
	CHECK(poll(&(struct pollfd){h.pidfd, POLLIN, 0}, 1, STANDIN_WAITS) ==
	      1);
	CHECK(haproxy_ended(&h) &&
	      haproxy_ready(&h, "/none", "/pins", &err) == -EPIPE);
	CHECK_MSG(strcmp(err.text, "HAProxy ended: [ALERT] it ends") == 0, "%s",
		  err.text);
	haproxy_end(&h);
	CHECK(h.words == -1 && open_files() == before);
	put_config("");
}

/* Who only waits. */
static pid_t somebody(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	return pid;
}

/* A socket where nobody listens. */
static int deaf_at(const char *path)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0);
	return fd;
}

static void not_yet(void)
{
	struct haproxy h = haproxy_none();
	int closed = deaf_at("/run/closed");
	int64_t least_ms = INT64_MAX;
	int pair[2];

	h.pid = somebody();
	h.pidfd = (int)syscall(SYS_pidfd_open, h.pid, 0);
	CHECK(haproxy_ready(&h, "/run/closed", "/pins", &err) == 0);
	/* another is not waited for */
	for (unsigned i = 0; i < 5; i++) {
		int64_t from_ms = clock_ms();

		CHECK(haproxy_ready(&h, "/run/closed", "/pins", &err) == 0);
		if (clock_ms() - from_ms < least_ms)
			least_ms = clock_ms() - from_ms;
	}
	CHECK(least_ms < 150);
	/* what can be nobody's is an error, of one that has not ended */
	CHECK(haproxy_ready(&h, "/run/closed/x", "/pins", &err) == -ENOTDIR);
	/* what it says meanwhile is read */
	CHECK(pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0 &&
	      write(pair[1], "[ALERT] soon\n", 13) == 13);
	h.words = pair[0];
	CHECK(haproxy_ready(&h, "/run/closed", "/pins", &err) == 0 &&
	      strcmp(h.alert, "[ALERT] soon") == 0);
	close(pair[1]);
	haproxy_end(&h);
	h = haproxy_none();
	CHECK(pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0 &&
	      write(pair[1], "[ALERT] late\n", 13) == 13);
	close(pair[1]);
	h.words = pair[0];
	h.pid = somebody();
	h.pidfd = (int)syscall(SYS_pidfd_open, h.pid, 0);
	CHECK(kill(h.pid, SIGKILL) == 0 &&
	      poll(&(struct pollfd){h.pidfd, POLLIN, 0}, 1, STANDIN_WAITS) ==
		      1);
	/* an end is the better word of two */
	CHECK(haproxy_ready(&h, "/run/closed/x", "/pins", &err) == -EPIPE &&
	      strcmp(err.text, "HAProxy ended: [ALERT] late") == 0);
	haproxy_end(&h);
	close(closed);
}

static void no_signal(int number)
{
	(void)number;
}

/* Nothing that is not there is told to end: 0 would be all of us. */
static void nobody(void)
{
	struct haproxy h = haproxy_none();
	sigset_t told;

	signal(SIGUSR1, no_signal); /* and it is blocked */
	errno = 0;
	haproxy_finish(&h);
	haproxy_end(&h);
	CHECK(errno == 0); /* the kernel was asked nothing */
	CHECK(sigpending(&told) == 0 && !sigismember(&told, SIGUSR1));
	CHECK(!haproxy_ended(&h));
}

static void begin_room(void)
{
	struct rlimit files;
	sigset_t all;

	close_range(3, ~0u, 0);
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	for (int i = 1; i < 32; i++)
		signal(i, SIG_DFL);
	CHECK(sigprocmask(SIG_SETMASK, &all, NULL) == 0);
	signal(SIGPIPE, SIG_IGN);
	CHECK(getrlimit(RLIMIT_NOFILE, &files) == 0);
	files.rlim_cur = files.rlim_max < 256 ? files.rlim_max - 1 : 256;
	CHECK(setrlimit(RLIMIT_NOFILE, &files) == 0);
}

int main(int argc, char **argv)
{
	standin_if_asked(argc, argv);
	if (!enter_room() || !standin_mount())
		return NOT_HERE;
	stay_apart();
	begin_room();
	put_config("");
	all_ports();
	apart(taken_port);
	apart(no_ipv6);
	apart(no_ipv6_at_all);
	inherits();
	has_its_own();
	has_a_channel();
	apart(no_process);
	apart(no_pidfd);
	apart(no_pipe);
	apart(no_eventfd);
	apart(no_parent);
	apart(no_output);
	apart(no_words);
	apart(no_door);
	apart(no_broker);
	apart(no_signals);
	apart(no_program);
	apart(first_file);
	ends();
	not_yet();
	nobody();
	return check_status();
}
