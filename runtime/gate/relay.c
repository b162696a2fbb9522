#include "runtime/gate/relay.h"

#include "compiler/base/addr.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/sockaddr.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* What was read and not yet written. */
struct way {
	int from, to;
	char buf[RELAY_BUF];
	size_t n;
	bool ended; /* there is no more to read */
};

int relay_dial(struct str addr, struct str port, int *out, struct err *err)
{
	struct sockaddr_storage sa;
	auto_fd int fd = -1;
	socklen_t size;
	struct addr a;
	uint64_t n;

	if (!addr_parse(addr, &a) || !str_u64(port, UINT16_MAX, &n) || n == 0)
		return err_set(err, -EINVAL, "no address and port");
	size = sockaddr_put(&a, (uint16_t)n, &sa);
	fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
		    0);
	if (fd < 0 || (connect(fd, (struct sockaddr *)&sa, size) < 0 &&
		       errno != EINPROGRESS))
		return err_set(err, -errno, "%.*s: %s", STR_ARG(addr),
			       strerror(errno));
	*out = fd;
	fd = -1;
	return 0;
}

/* Negative, with errno, when a descriptor is broken. */
static int move_bytes(struct way *w)
{
	ssize_t n = 0;

	if (w->n == 0 && !w->ended) {
		n = read(w->from, w->buf, sizeof(w->buf));
		w->ended = n == 0;
		w->n = n > 0 ? (size_t)n : 0;
	}
	if (w->n) {
		n = write(w->to, w->buf, w->n);
		if (n > 0) {
			w->n -= (size_t)n;
			memmove(w->buf, w->buf + n, w->n);
		}
	}
	return n < 0 && errno != EAGAIN && errno != EINTR ? -1 : 0;
}

static int left_until(int64_t deadline_ms)
{
	int64_t left_ms = deadline_ms - clock_ms();

	return left_ms > 0 ? (int)left_ms : 0;
}

/* Whoever asks may go while nobody answers: that is its end. */
static int await_peer(int in, int sock, int64_t deadline_ms, struct err *err)
{
	struct pollfd p[] = {{in, 0, 0}, {sock, POLLOUT, 0}};
	socklen_t size = sizeof(int);
	int why = 0, n = poll(p, ARRAY_LEN(p), left_until(deadline_ms));

	if (n == 0)
		return err_set(err, -ETIMEDOUT, "nobody answers");
	if (n < 0)
		return err_errno(err, "poll");
	if (!p[1].revents)
		return err_set(err, -EPIPE, "nobody waits for it");
	if (getsockopt(sock, SOL_SOCKET, SO_ERROR, &why, &size) < 0)
		why = errno;
	return why ? err_set(err, -why, "%s", strerror(why)) : 0;
}

static int move_all(struct way *there, struct way *back, int64_t deadline_ms,
		    struct err *err)
{
	while (!there->ended && !(back->ended && back->n == 0)) {
		struct pollfd p[] = {
			{there->n ? -1 : there->from, POLLIN, 0},
			{there->to,
			 (short)((there->n ? POLLOUT : 0) |
				 (back->n ? 0 : POLLIN)),
			 0},
			{back->n ? back->to : -1, POLLOUT, 0},
		};
		int n = poll(p, ARRAY_LEN(p), left_until(deadline_ms));

		if (n == 0)
			return err_set(err, -ETIMEDOUT, "it takes too long");
		if (n < 0 || move_bytes(there) < 0 || move_bytes(back) < 0)
			return err_errno(err, "relay");
	}
	return 0;
}

int relay_run(int in, int out, int sock, int life_ms, struct err *err)
{
	static struct way there, back; /* too large for a stack */
	const int fds[] = {in, out, sock};
	int64_t deadline_ms = clock_ms() + life_ms;
	int rc;

	there = (struct way){.from = in, .to = sock};
	back = (struct way){.from = sock, .to = out};
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		if (fcntl(fds[i], F_SETFL, O_NONBLOCK) < 0)
			return err_errno(err, "fcntl");
	rc = await_peer(in, sock, deadline_ms, err);
	return rc < 0 ? rc : move_all(&there, &back, deadline_ms, err);
}

int relay_stdio(const char *addr, const char *port, struct err *err)
{
	auto_fd int sock = -1;
	int rc = relay_dial(str_of(addr), str_of(port), &sock, err);

	if (rc == 0)
		rc = relay_run(STDIN_FILENO, STDOUT_FILENO, sock, RELAY_LIFE_MS,
			       err);
	return rc < 0 ? err_while(err, "%.100s", addr) : 0;
}
