#include "runtime/forward/forward.h"

#include "runtime/forward/pair.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define WORD "sockets" /* what is said with them */

/* --- sockets that are handed over ----------------------------------------- */

static bool is_listening(int fd)
{
	int type = 0, listens = 0;
	socklen_t n = sizeof(int);

	return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &n) == 0 &&
	       getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &n) == 0 &&
	       type == SOCK_STREAM && listens &&
	       fcntl(fd, F_SETFL, O_NONBLOCK) == 0;
}

/* Those of the message, and how many; more than max are the kernel's to close.
 */
static uint32_t sockets_in(struct msghdr *h, int *out, uint32_t max)
{
	uint32_t n = 0;

	for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c; c = CMSG_NXTHDR(h, c)) {
		size_t bytes = c->cmsg_len - CMSG_LEN(0);

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		n = (uint32_t)(bytes / sizeof(int));
		n = n < max ? n : max;
		memcpy(out, CMSG_DATA(c), n * sizeof(int));
	}
	return n;
}

int forward_take(int from, int *out_fds, uint32_t n, struct err *err)
{
	_Alignas(struct cmsghdr) char
		room[CMSG_SPACE(FORWARD_SOCKETS * sizeof(int))];
	char word[sizeof(WORD)] = "";
	struct iovec text = {word, sizeof(word) - 1};
	struct msghdr h = {.msg_iov = &text,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	int fds[FORWARD_SOCKETS];
	uint32_t got = 0;
	bool ok;

	if (recvmsg(from, &h, MSG_CMSG_CLOEXEC) < 0)
		return err_errno(err, "sockets");
	got = sockets_in(&h, fds, FORWARD_SOCKETS);
	ok = got == n && !(h.msg_flags & MSG_CTRUNC) && strcmp(word, WORD) == 0;
	for (uint32_t i = 0; i < got; i++)
		ok = ok && is_listening(fds[i]);
	for (uint32_t i = 0; i < got && !ok; i++)
		close(fds[i]);
	if (!ok)
		return err_set(err, -EPROTO,
			       "the sockets are not those of the plan");
	memcpy(out_fds, fds, n * sizeof(int));
	return 0;
}

int forward_hand(int to, const int *fds, uint32_t n, struct err *err)
{
	_Alignas(struct cmsghdr) char
		room[CMSG_SPACE(FORWARD_SOCKETS * sizeof(int))];
	char word[] = WORD;
	struct iovec text = {word, sizeof(word) - 1};
	struct msghdr h = {.msg_iov = &text,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = CMSG_SPACE(n * sizeof(int))};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);

	memset(room, 0, sizeof(room));
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	if (sendmsg(to, &h, MSG_NOSIGNAL) < 0)
		return err_errno(err, "handing sockets over");
	return 0;
}

int forward_connect(const char *path, struct err *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int got;

	if (strlen(path) >= sizeof(at.sun_path))
		return err_set(err, -ENAMETOOLONG, "%s", path);
	strcpy(at.sun_path, path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return err_set(err, -errno, "the launcher's socket: %s",
			       strerror(errno));
	got = fd;
	fd = -1;
	return got;
}

/* --- connections ---------------------------------------------------------- */

/* One, and what it is about: dialling until the pair has begun. */
struct passage {
	int client, dialled; /* client -1: none, or the pair has both */
	bool six;	     /* ::1 is tried */
	uint16_t port;
	struct pair pair;
};

struct server {
	const int *listen;
	const uint16_t *ports;
	uint32_t n, live;
	struct passage all[FORWARD_MAX];
	struct pollfd poll[FORWARD_SOCKETS + 2 * FORWARD_MAX];
};

/* -1: nobody is there, or the machine has no such loopback. */
static int dial_loopback(bool six, uint16_t port)
{
	struct sockaddr_in v4 = {.sin_family = AF_INET,
				 .sin_port = htons(port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
				  .sin6_port = htons(port),
				  .sin6_addr = IN6ADDR_LOOPBACK_INIT};
	const struct sockaddr *to = six ? (const struct sockaddr *)&v6
					: (const struct sockaddr *)&v4;
	int fd = socket(to->sa_family,
			SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0 || connect(fd, to, six ? sizeof(v6) : sizeof(v4)) == 0 ||
	    errno == EINPROGRESS)
		return fd;
	close(fd);
	return -1;
}

static bool is_free(const struct passage *x)
{
	return x->client < 0 && x->pair.end[0] < 0;
}

static void dial_next(struct server *s, struct passage *x, bool six)
{
	x->six = six;
	x->dialled = dial_loopback(six, x->port);
	if (x->dialled < 0 && !six) {
		x->six = true;
		x->dialled = dial_loopback(true, x->port);
	}
	if (x->dialled >= 0)
		return;
	pair_reset(x->client);
	x->client = -1;
	s->live--;
}

static void take_client(struct server *s, uint32_t port)
{
	int fd = accept4(s->listen[port], NULL, NULL,
			 SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return;
	for (uint32_t i = 0; i < FORWARD_MAX; i++) {
		struct passage *x = &s->all[i];

		if (!is_free(x))
			continue;
		x->client = fd;
		x->port = s->ports[port];
		s->live++;
		dial_next(s, x, false);
		return;
	}
	pair_reset(fd);
}

/* Where it is known whether somebody answers. */
static void finish_dial(struct server *s, struct passage *x)
{
	int why = 0;
	socklen_t size = sizeof(why);

	if (getsockopt(x->dialled, SOL_SOCKET, SO_ERROR, &why, &size) == 0 &&
	    why == 0) {
		pair_begin(&x->pair, x->client, x->dialled);
		x->client = x->dialled = -1;
		return;
	}
	close(x->dialled);
	x->dialled = -1;
	if (!x->six) {
		dial_next(s, x, true);
		return;
	}
	pair_reset(x->client);
	x->client = -1;
	s->live--;
}

static void poll_passage(const struct passage *x, struct pollfd out[2])
{
	out[0] = out[1] = (struct pollfd){.fd = -1};
	if (x->client >= 0)
		out[1] = (struct pollfd){x->dialled, POLLOUT, 0};
	else if (x->pair.end[0] >= 0)
		pair_poll(&x->pair, out);
}

static void step_passage(struct server *s, struct passage *x,
			 const struct pollfd got[2])
{
	if (x->client >= 0) {
		if (got[1].revents)
			finish_dial(s, x);
	} else if (x->pair.end[0] >= 0 && (got[0].revents || got[1].revents) &&
		   !pair_step(&x->pair, got)) {
		s->live--;
	}
}

static bool serve_once(struct server *s)
{
	bool room = s->live < FORWARD_MAX;

	for (uint32_t i = 0; i < s->n; i++)
		s->poll[i] =
			(struct pollfd){room ? s->listen[i] : -1, POLLIN, 0};
	for (uint32_t i = 0; i < FORWARD_MAX; i++)
		poll_passage(&s->all[i], s->poll + s->n + 2 * i);
	if (poll(s->poll, s->n + 2 * FORWARD_MAX, -1) < 0)
		return errno == EINTR;
	for (uint32_t i = 0; i < FORWARD_MAX; i++)
		step_passage(s, &s->all[i], s->poll + s->n + 2 * i);
	for (uint32_t i = 0; i < s->n; i++) {
		/* one that was shut down can be read for ever */
		if (s->poll[i].revents & ~POLLIN)
			return false;
		if (s->poll[i].revents)
			take_client(s, i);
	}
	return true;
}

void forward_serve(const int *listen, const uint16_t *ports, uint32_t n)
{
	struct server *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	s->listen = listen;
	s->ports = ports;
	s->n = n;
	for (uint32_t i = 0; i < FORWARD_MAX; i++) {
		s->all[i].client = s->all[i].dialled = -1;
		s->all[i].pair.end[0] = -1;
	}
	while (serve_once(s))
		;
	free(s);
}
