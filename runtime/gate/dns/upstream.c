#include "runtime/gate/dns/upstream.h"

#include "compiler/base/sys/sockaddr.h"
#include "runtime/broker/broker.h"

#include <errno.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

static void make_idle(struct upstream *u)
{
	u->fd = -1;
	u->tcp = false;
	u->tries = 0;
}

void upstream_init(struct upstream *u, int broker)
{
	make_idle(u);
	u->broker = broker;
}

void upstream_stop(struct upstream *u)
{
	if (u->fd >= 0)
		close(u->fd);
	make_idle(u);
}

static enum upstream_event fail_query(struct upstream *u)
{
	upstream_stop(u);
	return UPSTREAM_FAILED;
}

static bool open_socket(struct upstream *u, const struct addr *server,
			uint16_t port)
{
	int type = u->tcp ? SOCK_STREAM : SOCK_DGRAM;
	struct sockaddr_storage sa;
	socklen_t n = sockaddr_put(server, port, &sa);

	if (u->broker) {
		u->fd = broker_connect(u->broker, type, (struct sockaddr *)&sa,
				       n);
		return u->fd >= 0;
	}
	u->fd = socket(sa.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return u->fd >= 0 && (connect(u->fd, (struct sockaddr *)&sa, n) == 0 ||
			      errno == EINPROGRESS);
}

static enum upstream_event start_query(struct upstream *u,
				       const struct addr *server, uint16_t port,
				       const struct dns_query *q,
				       int64_t now_ms)
{
	size_t n;

	u->deadline_ms = now_ms + UPSTREAM_WAIT_MS;
	if (getrandom(&u->id, sizeof(u->id), 0) != sizeof(u->id) ||
	    !open_socket(u, server, port))
		return fail_query(u);
	n = dns_msg_ask(q, u->id, u->buf + 2, sizeof(u->buf) - 2);
	if (n == 0)
		return fail_query(u);
	u->buf[0] = (uint8_t)(n >> 8);
	u->buf[1] = (uint8_t)n;
	u->n = 0;
	u->want = n + 2;
	u->sending = u->tcp;
	if (!u->tcp && send(u->fd, u->buf + 2, n, 0) != (ssize_t)n)
		return fail_query(u);
	return UPSTREAM_WAIT;
}

enum upstream_event upstream_ask(struct upstream *u, const struct addr *server,
				 uint16_t port, const struct dns_query *q,
				 int64_t now_ms)
{
	make_idle(u);
	u->tries = 1;
	return start_query(u, server, port, q, now_ms);
}

struct pollfd upstream_poll(const struct upstream *u)
{
	return (struct pollfd){u->fd, u->sending ? POLLOUT : POLLIN, 0};
}

/* Once more, with another port and id; by TCP if tcp is set. */
static enum upstream_event ask_again(struct upstream *u,
				     const struct addr *server, uint16_t port,
				     const struct dns_query *q, bool tcp,
				     int64_t now_ms)
{
	unsigned tries = u->tries;

	/* A truncated answer does not count: the upstream is there. */
	if (tcp == u->tcp && tries >= UPSTREAM_TRIES)
		return fail_query(u);
	upstream_stop(u);
	u->tcp = tcp;
	u->tries = tries + 1;
	return start_query(u, server, port, q, now_ms);
}

/* Bytes of a TCP message, out or in. False when the connection is no more. */
static bool stream_step(struct upstream *u)
{
	ssize_t n = u->sending ? send(u->fd, u->buf + u->n, u->want - u->n,
				      MSG_NOSIGNAL)
			       : recv(u->fd, u->buf + u->n, u->want - u->n, 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return true;
	if (n <= 0)
		return false;
	u->n += (size_t)n;
	if (u->sending && u->n == u->want) {
		u->sending = false;
		u->n = 0;
		u->want = 2;
	} else if (!u->sending && u->n == 2) {
		u->want = 2u + (size_t)(u->buf[0] << 8 | u->buf[1]);
		return u->want > 2;
	}
	return true;
}

static enum upstream_event tcp_step(struct upstream *u,
				    const struct dns_query *q,
				    struct dns_answer *out)
{
	enum dns_msg_got got;

	if (!stream_step(u))
		return fail_query(u);
	if (u->n < u->want)
		return UPSTREAM_WAIT;
	got = dns_msg_answer(u->buf + 2, u->want - 2, q, u->id, out);
	upstream_stop(u);
	return got == DNS_MSG_GOT_ANSWER ? UPSTREAM_ANSWER : UPSTREAM_FAILED;
}

static enum upstream_event udp_step(struct upstream *u,
				    const struct addr *server, uint16_t port,
				    const struct dns_query *q, int64_t now_ms,
				    struct dns_answer *out)
{
	ssize_t n = recv(u->fd, u->buf, sizeof(u->buf), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return UPSTREAM_WAIT;
	if (n < 0) /* nobody listens there: an ICMP error */
		return ask_again(u, server, port, q, false, now_ms);
	switch (dns_msg_answer(u->buf, (size_t)n, q, u->id, out)) {
	case DNS_MSG_GOT_ANSWER:
		upstream_stop(u);
		return UPSTREAM_ANSWER;
	case DNS_MSG_GOT_TRUNCATED:
		return ask_again(u, server, port, q, true, now_ms);
	case DNS_MSG_GOT_FAILURE:
		return ask_again(u, server, port, q, false, now_ms);
	case DNS_MSG_GOT_FOREIGN:
		return UPSTREAM_WAIT;
	}
	return UPSTREAM_WAIT;
}

enum upstream_event upstream_step(struct upstream *u, const struct addr *server,
				  uint16_t port, const struct dns_query *q,
				  bool ready, int64_t now_ms,
				  struct dns_answer *out)
{
	if (ready && u->tcp)
		return tcp_step(u, q, out);
	if (ready)
		return udp_step(u, server, port, q, now_ms, out);
	if (now_ms < u->deadline_ms)
		return UPSTREAM_WAIT;
	return ask_again(u, server, port, q, u->tcp, now_ms);
}
