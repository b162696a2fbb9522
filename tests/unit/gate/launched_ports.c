/*
 * membrane-gate with ports that the machine publishes: the launcher's sockets,
 * which lead to the agent's loopback, and who has them then. In a root of its
 * own, for the launcher's name in it.
 */
#include "compiler/base/sys/clock.h"
#include "compiler/plan/gate.h"
#include "runtime/forward/forward.h"
#include "tests/unit/gate/sessions.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <sys/un.h>

#define END_WAIT_MS 3000 /* of a worker that does not end */
#define ROOT	    "/run/root"
#define PUBLISHED                                                              \
	"{\"version\":1,\"link\":\"veth\",\"published\":["                     \
	"{\"addr\":\"127.0.0.1\",\"port\":3000,\"to\":9090},"                  \
	"{\"addr\":\"127.0.0.1\",\"port\":3001,\"to\":8080}]}"

/* --- a root --------------------------------------------------------------- */

/* Whatever the machine's has, but that names can be made in it. */
static void take_entry(const char *name)
{
	char from[300], to[300], text[300] = "";
	struct stat st;

	snprintf(from, sizeof(from), "/%s", name);
	snprintf(to, sizeof(to), ROOT "/%s", name);
	CHECK(lstat(from, &st) == 0);
	if (S_ISLNK(st.st_mode))
		CHECK(readlink(from, text, sizeof(text) - 1) > 0 &&
		      symlink(text, to) == 0);
	else if (S_ISDIR(st.st_mode))
		CHECK(mkdir(to, 0755) == 0 &&
		      mount(from, to, NULL,
			    MS_BIND | (strcmp(name, "run") ? MS_REC : 0),
			    NULL) == 0);
}

static void enter_root(void)
{
	const struct dirent *e;
	DIR *top = opendir("/");

	CHECK(top && mkdir(ROOT, 0755) == 0);
	while (top && (e = readdir(top)))
		if (e->d_name[0] != '.')
			take_entry(e->d_name);
	closedir(top);
	CHECK(chroot(ROOT) == 0 && chdir("/") == 0);
}

/* --- the launcher --------------------------------------------------------- */

static int listen_named(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX,
				 .sun_path = GATE_PUBLISHED};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	unlink(GATE_PUBLISHED);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 1) == 0);
	return fd;
}

static int listen_loopback(uint16_t port, struct sockaddr_in *at)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t n = sizeof(*at);

	*at = loopback_at(port);
	CHECK(bind(fd, (struct sockaddr *)at, n) == 0 && listen(fd, 1) == 0 &&
	      getsockname(fd, (struct sockaddr *)at, &n) == 0);
	return fd;
}

/* To a gate that has begun: for the first port one that nobody calls. */
static int spare;

static void hand_over(int named, int published, uint32_t n)
{
	const int both[] = {spare, published};
	int gate;

	CHECK(comes(named));
	gate = accept4(named, NULL, NULL, SOCK_CLOEXEC);
	CHECK(forward_hand(gate, both, n, &err) == 0);
	close(gate);
}

/* --- a session ------------------------------------------------------------ */

/* In the agent's network. */
static int listen_inside(pid_t first)
{
	int here = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), there, fd;
	struct sockaddr_in at;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/ns/net", (int)first);
	there = open(path, O_RDONLY | O_CLOEXEC);
	CHECK(setns(there, CLONE_NEWNET) == 0);
	fd = listen_loopback(8080, &at);
	CHECK(setns(here, CLONE_NEWNET) == 0);
	close(here);
	close(there);
	return fd;
}

/* The forwarder's alone, which has nothing else of PID 1's. */
static void whose_socket(pid_t first, int published)
{
	static const char signals[] = "anon_inode:[signalfd]";
	pid_t worker = child_of(first), forwarder = nth_child(first, 1);
	char socket[64], in[64];

	read_file(getpid(), published, socket);
	read_file(first, STDIN_FILENO, in);
	CHECK(!has_file(first, socket) && !has_file(worker, socket) &&
	      has_file(forwarder, socket));
	CHECK(has_file(first, signals) && !has_file(worker, signals) &&
	      !has_file(forwarder, signals));
	CHECK(!has_file(forwarder, in));
}

static struct gate begin(int named, int published)
{
	struct gate g = start("--plan " PLAN);

	hand_over(named, published, 2);
	tell(&g, HELLO);
	CHECK(says(&g, "\"event\":\"ready\""));
	return g;
}

static void leads_inside(int named)
{
	struct sockaddr_in at, peer;
	int published = listen_loopback(0, &at), inside, client, server;
	socklen_t n = sizeof(peer);
	struct gate g = begin(named, published);
	char said[2] = "";

	server = listen_inside(g.pid);
	client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(connect(client, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	      comes(server));
	inside = accept(server, (struct sockaddr *)&peer, &n);
	CHECK(send(inside, "x", 1, 0) == 1 && comes(client) &&
	      recv(client, said, 1, 0) == 1 && said[0] == 'x');
	whose_socket(g.pid, published);
	close(inside);
	close(client);
	close(server);
	/* who carries them is not who enforces */
	CHECK(kill(nth_child(g.pid, 1), SIGKILL) == 0);
	while (nth_child(g.pid, 1))
		sched_yield();
	tell(&g, "change 2 keep\n");
	CHECK(says(&g, "\"generation\":2,\"ok\":true") && end_of(&g) == 0);
	close(published);
}

/* They end with PID 1. */
static void killed(int named)
{
	struct sockaddr_in at;
	int published = listen_loopback(0, &at), pidfd;
	struct gate g;

	new_network(true);
	g = begin(named, published);
	pidfd = (int)syscall(SYS_pidfd_open, nth_child(g.pid, 1), 0);
	CHECK(pidfd >= 0 && kill(g.pid, SIGKILL) == 0 && comes(pidfd));
	CHECK(end_of(&g) == -1);
	close(pidfd);
	close(published);
}

static void refusals(int named)
{
	struct sockaddr_in at;
	int published = listen_loopback(0, &at);
	int64_t began_ms = clock_ms();
	struct gate g;

	new_network(true);
	g = start("--plan " PLAN);
	hand_over(named, published, 1);
	/* its worker waits for a line that does not come, but not for ever */
	CHECK(says(&g, "published ports: the sockets are not those"));
	CHECK(clock_ms() - began_ms >= END_WAIT_MS && end_of(&g) == 1);
	CHECK(unlink(GATE_PUBLISHED) == 0);
	g = start("--plan " PLAN);
	tell(&g, HELLO);
	CHECK(says(&g, "published ports: the launcher's socket: No such file"));
	CHECK(end_of(&g) == 1);
	close(published);
}

int main(void)
{
	struct sockaddr_in at;
	int named;

	if (!enter_room())
		return NOT_HERE;
	find_program();
	enter_root();
	put_whole_plan();
	put_plan("docker.json", PUBLISHED);
	new_network(true);
	named = listen_named();
	spare = listen_loopback(0, &at);
	leads_inside(named);
	killed(named);
	refusals(named);
	close(named);
	close(spare);
	return check_status();
}
