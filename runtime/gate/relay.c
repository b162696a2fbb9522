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

	if (w->n == 0) {
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

static int poll_until(struct pollfd *p, size_t n, int64_t deadline_ms,
		      const char *late, struct err *err)
{
	int64_t left_ms = deadline_ms - clock_ms();
	int ready = poll(p, n, left_ms > 0 ? (int)left_ms : 0);

	if (ready > 0)
		return 0;
	return ready < 0 ? err_errno(err, "poll")
			 : err_set(err, -ETIMEDOUT, "%s", late);
}

/* Whoever asks may go while nobody answers: that is its end. */
static int await_peer(int in, int sock, int64_t deadline_ms, struct err *err)
{
	struct pollfd p[] = {{in, 0, 0}, {sock, POLLOUT, 0}};
	socklen_t size = sizeof(int);
	int why = 0, rc = poll_until(p, ARRAY_LEN(p), deadline_ms,
				     "nobody answers", err);

	if (rc < 0)
		return rc;
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
		int rc = poll_until(p, ARRAY_LEN(p), deadline_ms,
				    "it takes too long", err);

		if (rc < 0)
			return rc;
		if (move_bytes(there) < 0 || move_bytes(back) < 0)
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
