/*
 * The broker of sockets, as its two kinds of askers find it: in a network of
 * its own that has one address, 203.0.113.1, and a route to those beside it, by
 * a device that nobody reads. No packet leaves that.
 */
#include "runtime/broker/broker.h"

#include "compiler/base/sys/fdpass.h"
#include "compiler/base/sys/landlock.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/if_tun.h>
#include <linux/landlock.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define OWN    "203.0.113.1"
#define BESIDE "203.0.113.2"
#define DEVICE "beside0"

static int gate, part; /* channels: the gate's, and one with less */
static int tap;
static pid_t broker;

/* --- a network ------------------------------------------------------------ */

static struct sockaddr_storage at(const char *text, uint16_t port,
				  socklen_t *out_size)
{
	struct sockaddr_storage all = {0};
	struct sockaddr_in *v4 = (void *)&all;
	struct sockaddr_in6 *v6 = (void *)&all;

	*out_size = sizeof(*v4);
	v4->sin_family = AF_INET;
	v4->sin_port = htons(port);
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1)
		return all;
	*out_size = sizeof(*v6);
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(port);
	CHECK(inet_pton(AF_INET6, text, &v6->sin6_addr) == 1);
	return all;
}

static bool make_network(void)
{
	struct ifreq r = {.ifr_name = DEVICE, .ifr_flags = IFF_TAP | IFF_NO_PI};
	socklen_t size;
	struct sockaddr_storage own = at(OWN, 0, &size),
				mask = at("255.255.255.0", 0, &size);
	int fd = -1;
	bool ok = unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0 &&
		  (tap = open("/dev/net/tun", O_RDWR | O_CLOEXEC)) >= 0 &&
		  ioctl(tap, TUNSETIFF, &r) == 0 &&
		  (fd = socket(AF_INET, SOCK_DGRAM, 0)) >= 0;

	memcpy(&r.ifr_addr, &own, sizeof(r.ifr_addr));
	ok = ok && ioctl(fd, SIOCSIFADDR, &r) == 0;
	memcpy(&r.ifr_netmask, &mask, sizeof(r.ifr_netmask));
	ok = ok && ioctl(fd, SIOCSIFNETMASK, &r) == 0;
	r.ifr_flags = IFF_UP;
	ok = ok && ioctl(fd, SIOCSIFFLAGS, &r) == 0;
	strcpy(r.ifr_name, "lo");
	ok = ok && ioctl(fd, SIOCSIFFLAGS, &r) == 0;
	close(fd);
	return ok;
}

static void start_broker(const struct broker_proxy *proxy)
{
	int pair[2];

	CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	broker = fork();
	if (broker == 0) {
		close(pair[0]);
		broker_serve(pair[1], proxy);
		/* no more calls than it may have: sanitizers make some before _exit() */
		syscall(SYS_exit_group, errno);
	}
	close(pair[1]);
	gate = pair[0];
	CHECK(broker > 0);
}

/* What is said of an address: 0, and the socket, or an errno. */
static int reach(int channel, int type, const char *text, int *out_fd)
{
	socklen_t size;
	struct sockaddr_storage to = at(text, 53, &size);
	int fd = broker_connect(channel, type, (struct sockaddr *)&to, size);

	if (out_fd)
		*out_fd = fd;
	else if (fd >= 0)
		close(fd);
	return fd < 0 ? errno : 0;
}

/* --- what it says --------------------------------------------------------- */

static void test_floor(void)
{
	static const char *const never[] = {"127.0.0.1",
					    "127.8.8.8",
					    "0.0.0.0",
					    "224.0.0.1",
					    "255.255.255.255",
					    "192.0.0.5",
					    "::1",
					    "::",
					    "fe80::1",
					    "ff02::1",
					    "::ffff:127.0.0.1"};

	for (size_t i = 0; i < sizeof(never) / sizeof(*never); i++) {
		CHECK_MSG(reach(part, SOCK_STREAM, never[i], NULL) == EACCES,
			  "%s", never[i]);
		CHECK_MSG(reach(gate, SOCK_STREAM, never[i], NULL) == EACCES,
			  "%s", never[i]);
		CHECK_MSG(reach(gate, SOCK_DGRAM, never[i], NULL) == EACCES,
			  "%s", never[i]);
	}
	/* where some clouds have their resolvers */
	CHECK(reach(part, SOCK_STREAM, "169.254.1.1", NULL) == EACCES);
	CHECK(reach(gate, SOCK_DGRAM, "169.254.1.1", NULL) == ENETUNREACH);
}

static void test_own_addresses(void)
{
	CHECK(reach(part, SOCK_STREAM, OWN, NULL) == EACCES);
	CHECK(reach(gate, SOCK_STREAM, OWN, NULL) == EACCES);
	CHECK(reach(gate, SOCK_DGRAM, OWN, NULL) == EACCES);
	CHECK(reach(gate, SOCK_DGRAM, "203.0.113.255", NULL) == EACCES);
	CHECK(reach(part, SOCK_STREAM, "198.51.100.1", NULL) == ENETUNREACH);
}

/* Bound to where it goes, and nobody's to turn. */
static void test_socket(int channel, int type)
{
	int fd, got = 0, flags;
	socklen_t n = sizeof(got);

	CHECK(reach(channel, type, BESIDE, &fd) == 0);
	CHECK(getsockopt(fd, SOL_SOCKET, SO_TYPE, &got, &n) == 0 &&
	      got == type);
	CHECK(getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &got, &n) == 0 &&
	      got == (int)if_nametoindex(DEVICE));
	flags = fcntl(fd, F_GETFL);
	CHECK(flags & O_NONBLOCK && fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void test_less(void)
{
	int fd = broker_channel(part);

	CHECK(fd == -1 && errno == EACCES);
	CHECK(broker_to_proxy(gate) == -1 && errno == EACCES);
	CHECK(reach(part, SOCK_DGRAM, BESIDE, NULL) == EACCES);
}

static void test_facts(void)
{
	bool ipv6 = true;

	CHECK(broker_ipv6(gate, &ipv6) && !ipv6);
	CHECK(broker_ipv6(part, &ipv6) && !ipv6);
}

static void test_no_address(void)
{
	struct sockaddr_storage to = {.ss_family = AF_UNIX};

	CHECK(broker_connect(part, SOCK_STREAM, (struct sockaddr *)&to, 16) ==
		      -1 &&
	      errno == EAFNOSUPPORT);
	to.ss_family = AF_INET6;
	CHECK(broker_connect(part, SOCK_STREAM, (struct sockaddr *)&to, 16) ==
		      -1 &&
	      errno == EAFNOSUPPORT);
	CHECK(broker_connect(part, SOCK_STREAM, (struct sockaddr *)&to,
			     sizeof(to) + 1) == -1 &&
	      errno == EINVAL);
}

/* --- who asks wrongly ----------------------------------------------------- */

static int another(void)
{
	int fd = broker_channel(gate);

	CHECK(fd >= 0);
	return fd;
}

static void check_hung_up(int channel)
{
	char byte;

	CHECK(recv(channel, &byte, 1, 0) == 0);
	close(channel);
}

static void test_nonsense(void)
{
	struct broker_ask ask = {.word = 99};
	struct broker_answer answer;
	int fd, channel = another();

	CHECK(fdpass_send(channel, &ask, sizeof(ask), -1, 0));
	CHECK(fdpass_take(channel, &answer, sizeof(answer), &fd, 0) ==
	      sizeof(answer));
	CHECK(answer.error == EPROTO && fd == -1);
	/* one that is no question, and one that brings something */
	CHECK(send(channel, &ask, 3, 0) == 3);
	check_hung_up(channel);
	channel = another();
	CHECK(fdpass_send(channel, &ask, sizeof(ask), gate, 0));
	check_hung_up(channel);
}

/* Places are found again when channels have been closed. */
static void test_places(void)
{
	int all[BROKER_CHANNELS], n = 0, fd;

	while (n < BROKER_CHANNELS && (fd = broker_channel(gate)) >= 0)
		all[n++] = fd;
	CHECK(n == BROKER_CHANNELS - 1);
	CHECK(broker_channel(gate) == -1 && errno == EMFILE);
	while (n > 0)
		close(all[--n]);
	CHECK(reach(part, SOCK_STREAM, OWN, NULL) == EACCES);
	fd = broker_channel(gate);
	CHECK(fd >= 0);
	close(fd);
}

/* Where all goes by a proxy there is no other way, for nobody. */
static void test_proxy(void)
{
	struct broker_proxy at_home = {.port = 3128};
	struct sockaddr_in sa = {.sin_family = AF_INET};
	int fd, channel, got = 0, listener = socket(AF_INET, SOCK_STREAM, 0);
	socklen_t n = sizeof(sa);
	bool ipv6;

	CHECK(addr_parse(STR(OWN), &at_home.addr));
	inet_pton(AF_INET, OWN, &sa.sin_addr);
	CHECK(bind(listener, (struct sockaddr *)&sa, n) == 0 &&
	      listen(listener, 1) == 0 &&
	      getsockname(listener, (struct sockaddr *)&sa, &n) == 0);
	at_home.port = ntohs(sa.sin_port);
	start_broker(&at_home);
	CHECK(reach(gate, SOCK_STREAM, BESIDE, NULL) == EACCES);
	CHECK(reach(gate, SOCK_DGRAM, BESIDE, NULL) == EACCES);
	CHECK(broker_ipv6(gate, &ipv6));
	channel = another();
	CHECK(reach(channel, SOCK_STREAM, BESIDE, NULL) == EACCES);
	CHECK(broker_channel(channel) == -1 && errno == EACCES);
	fd = broker_to_proxy(channel);
	close(channel);
	n = sizeof(got);
	CHECK(fd >= 0 &&
	      getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &got, &n) == 0 &&
	      got == 0);
	CHECK(accept(listener, NULL, NULL) >= 0);
	kill(broker, SIGKILL);
	CHECK(waitpid(broker, NULL, 0) == broker);
}

/* A listener at loopback, at a port of the kernel's choice. */
static int listen_at_home(const char *text, uint16_t *out_port)
{
	socklen_t size;
	struct sockaddr_storage sa = at(text, 0, &size);
	int fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0 && bind(fd, (struct sockaddr *)&sa, size) == 0 &&
	      listen(fd, 4) == 0 &&
	      getsockname(fd, (struct sockaddr *)&sa, &size) == 0);
	*out_port = ntohs(((struct sockaddr_in *)&sa)->sin_port);
	return fd;
}

/* To us, as the kernel here has it. */
static bool gives_filters(void)
{
	struct sock_filter all = BPF_STMT(BPF_RET | BPF_K, UINT32_MAX);
	struct sock_fprog program = {1, &all};
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool given = setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
				sizeof(program)) == 0;

	CHECK(given || errno == EPERM);
	close(fd);
	if (!given)
		printf("no filters of sockets here: not tried\n");
	return given;
}

/* Who has the socket takes it back, and calls another; beside: who listens
 * there, and must not hear of it. */
static void try_elsewhere(int fd, const char *text, uint16_t port, int beside)
{
	struct sockaddr none = {.sa_family = AF_UNSPEC};
	socklen_t size;
	struct sockaddr_storage to = at(text, port, &size);
	struct pollfd p = {fd, POLLOUT, 0}, q = {beside, POLLIN, 0};
	struct sock_fprog nothing = {0};
	int off = 0;

	if (!gives_filters())
		return;
	CHECK(setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &off,
			 sizeof(off)) == -1 && errno == EPERM);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &nothing,
			 sizeof(nothing)) == -1 && errno == EPERM);
	CHECK(setsockopt(fd, SOL_SOCKET, SO_LOCK_FILTER, &off, sizeof(off)) ==
		      -1 && errno == EPERM);
	CHECK(connect(fd, &none, sizeof(none)) == 0);
	CHECK(connect(fd, (void *)&to, size) == 0 || errno == EINPROGRESS);
	CHECK(poll(&p, 1, beside < 0 ? 5000 : 300) == (beside < 0));
	CHECK(beside < 0 || poll(&q, 1, 0) == 0);
}

/* One at loopback: that address and port, by that word, and nothing else there,
 * for who has a channel of either kind. */
static void test_proxy_at_home(const char *text)
{
	struct broker_proxy home = {.names = true};
	uint16_t other;
	int listener = listen_at_home(text, &home.port),
	    beside = listen_at_home(text, &other), channel, fd;
	struct sockaddr_storage to;
	socklen_t size;

	CHECK(addr_parse(str_of(text), &home.addr));
	start_broker(&home);
	channel = another();
	fd = broker_to_proxy(channel);
	CHECK(fd >= 0 && accept(listener, NULL, NULL) >= 0);
	for (int i = 0; i < 2; i++) {
		const uint16_t ports[] = {home.port, other};

		for (size_t k = 0; k < 2; k++) {
			to = at(text, ports[k], &size);
			CHECK(broker_connect(i ? gate : channel, SOCK_STREAM,
					     (void *)&to, size) == -1 &&
			      errno == EACCES);
			CHECK(broker_connect(i ? gate : channel, SOCK_DGRAM,
					     (void *)&to, size) == -1 &&
			      errno == EACCES);
		}
	}
	try_elsewhere(fd, text, other, beside);
	try_elsewhere(fd, text, home.port, -1);
	close(fd);
	close(channel);
	close(listener);
	close(beside);
	kill(broker, SIGKILL);
	CHECK(waitpid(broker, NULL, 0) == broker);
}

/* One of another machine is as tied to the way there as anybody. */
static void test_proxy_beside(void)
{
	struct broker_proxy beside = {.port = 3128};
	int got = 0, fd;
	socklen_t n = sizeof(got);

	CHECK(addr_parse(STR(BESIDE), &beside.addr));
	start_broker(&beside);
	fd = broker_to_proxy(gate);
	CHECK(fd >= 0 &&
	      getsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX, &got, &n) == 0 &&
	      got == (int)if_nametoindex(DEVICE));
	kill(broker, SIGKILL);
	CHECK(waitpid(broker, NULL, 0) == broker);
}

/* What goes past one: networks, and any address of a name. */
static void test_past_proxy(void)
{
	struct cidr net = {.bits = 32};
	struct broker_proxy beside = {.port = 3128, .v = &net, .n = 1};
	int channel;

	CHECK(addr_parse(STR(BESIDE), &net.addr));
	CHECK(addr_parse(STR("203.0.113.3"), &beside.addr));
	start_broker(&beside);
	channel = another();
	CHECK(reach(channel, SOCK_STREAM, BESIDE, NULL) == 0);
	CHECK(reach(channel, SOCK_DGRAM, BESIDE, NULL) == EACCES);
	CHECK(reach(channel, SOCK_STREAM, "203.0.113.4", NULL) == EACCES);
	CHECK(reach(gate, SOCK_STREAM, BESIDE, NULL) == EACCES);
	CHECK(reach(gate, SOCK_DGRAM, BESIDE, NULL) == EACCES);
	close(channel);
	kill(broker, SIGKILL);
	CHECK(waitpid(broker, NULL, 0) == broker);
	beside.names = true;
	start_broker(&beside);
	channel = another();
	CHECK(reach(channel, SOCK_STREAM, "203.0.113.4", NULL) == 0);
	CHECK(reach(channel, SOCK_STREAM, OWN, NULL) == EACCES);
	CHECK(reach(channel, SOCK_STREAM, "127.0.0.1", NULL) == EACCES);
	CHECK(reach(channel, SOCK_DGRAM, BESIDE, NULL) == EACCES);
	CHECK(reach(gate, SOCK_DGRAM, BESIDE, NULL) == 0);
	close(channel);
	kill(broker, SIGKILL);
	CHECK(waitpid(broker, NULL, 0) == broker);
}

/* It stays for those who are left, ends when it is killed, and of itself when
 * nobody is. */
static void test_gone(void)
{
	static const struct broker_proxy none = {.port = 0};
	int status;

	close(gate);
	CHECK(reach(part, SOCK_STREAM, OWN, NULL) == EACCES);
	CHECK(waitpid(broker, &status, WNOHANG) == 0);
	kill(broker, SIGKILL);
	CHECK(waitpid(broker, &status, 0) == broker);
	CHECK(reach(part, SOCK_STREAM, OWN, NULL) == EPIPE);
	close(part);
	start_broker(&none);
	part = another();
	close(gate);
	CHECK(reach(part, SOCK_STREAM, OWN, NULL) == EACCES);
	close(part);
	CHECK(waitpid(broker, &status, 0) == broker && status == 0);
}

static void test_confined(void)
{
	char path[64], line[128];
	bool filtered = false, no_new = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)broker);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		filtered |= strcmp(line, "Seccomp:\t2\n") == 0;
		no_new |= strcmp(line, "NoNewPrivs:\t1\n") == 0;
	}
	if (f)
		fclose(f);
	CHECK(filtered && no_new);
}

/* What the filter of calls would end it for, tried without that. */
static void try_landlock(void)
{
	int abi = (int)syscall(SYS_landlock_create_ruleset, NULL, 0,
			       LANDLOCK_CREATE_RULESET_VERSION);
	int rc = landlock_confine(-1),
	    tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t size;
	struct sockaddr_storage own = at(OWN, 0, &size);

	CHECK(rc == 0);
	CHECK(abi < 1 || (open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES));
	CHECK(abi < 1 || (open("/tmp", O_RDONLY | O_DIRECTORY) < 0 &&
			  errno == EACCES));
	CHECK(abi < 4 || (bind(tcp, (void *)&own, size) < 0 && errno == EACCES));
	CHECK(abi < 6 || (kill(getppid(), 0) < 0 && errno == EPERM));
	own = at(BESIDE, 443, &size);
	CHECK(fcntl(tcp, F_SETFL, O_NONBLOCK) == 0 &&
	      connect(tcp, (void *)&own, size) < 0 && errno == EINPROGRESS);
}

static void test_landlock(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		try_landlock();
		_exit(check_status());
	}
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
	static const struct broker_proxy none = {.port = 0};

	if (!make_network()) {
		printf("no namespaces or /dev/net/tun here: not tried\n");
		return check_status();
	}
	start_broker(&none);
	part = broker_channel(gate);
	CHECK(part >= 0);
	test_floor();
	test_own_addresses();
	test_socket(part, SOCK_STREAM);
	test_socket(gate, SOCK_STREAM);
	test_socket(gate, SOCK_DGRAM);
	test_less();
	test_facts();
	test_no_address();
	test_nonsense();
	test_places();
	test_confined();
	test_landlock();
	test_gone();
	test_proxy();
	test_proxy_at_home("127.0.0.1");
	test_proxy_at_home("::1");
	test_proxy_beside();
	test_past_proxy();
	return check_status();
}
