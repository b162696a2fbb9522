/*
 * The broker: who may have which socket, and making it.
 */
#include "runtime/broker/broker.h"

#include "compiler/base/sys/fdpass.h"
#include "compiler/base/sys/sockaddr.h"
#include "runtime/broker/parts.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <unistd.h>

#define GATE 0 /* its channel's place */

struct broker {
	struct route route;
	const struct broker_proxy *proxy;	     /* port 0: there is none */
	struct pollfd channels[1 + BROKER_CHANNELS]; /* fd -1: none */
};

/* --- where to ------------------------------------------------------------- */

static bool read_addr(const struct broker_ask *ask, struct addr *out)
{
	const struct sockaddr_in6 *v6 = (const void *)&ask->to;
	socklen_t size = ask->to.ss_family == AF_INET
				 ? sizeof(struct sockaddr_in)
				 : sizeof(*v6);

	return ask->size == size &&
	       sockaddr_get((const struct sockaddr *)&ask->to, out) &&
	       (out->family == ADDR_V4 || v6->sin6_scope_id == 0);
}

/* Which addresses names have is the gate's to know; its resolver alone asks by
 * the gate's channel. */
static bool passes_proxy(const struct broker_proxy *p, const struct addr *to,
			 bool gate)
{
	if (p->port == 0 || p->names)
		return true;
	for (uint32_t i = 0; !gate && i < p->n; i++)
		if (cidr_has(&p->v[i], to))
			return true;
	return false;
}

/* 0, or an errno. */
static int judge(struct broker *b, const struct broker_ask *ask, bool gate,
		 int *out_index)
{
	struct addr to;

	if (!read_addr(ask, &to))
		return EAFNOSUPPORT;
	if (!passes_proxy(b->proxy, &to, gate))
		return EACCES;
	if (ask->word == BROKER_UDP && !gate)
		return EACCES;
	if (addr_scope(&to) == ADDR_NEVER && !(gate && addr_may_resolve(&to)))
		return EACCES;
	return route_interface(&b->route, &to, out_index);
}

/* --- what is handed over -------------------------------------------------- */

/* only NULL: as the interface has it; else nobody else is heard by it, ever.
 * -1, and errno. */
static int open_socket(const struct broker_ask *ask, int index,
		       const struct broker_proxy *only)
{
	int type = ask->word == BROKER_UDP ? SOCK_DGRAM : SOCK_STREAM, on = 1;
	int fd = socket(ask->to.ss_family, type | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0);
	/* 0: wherever it is */
	bool ok = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_BINDTOIFINDEX,
					&index, sizeof(index)) == 0;

	/* as HAProxy has its own */
	if (ok && type == SOCK_STREAM)
		ok = setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on,
				sizeof(on)) == 0;
	if (ok && only)
		ok = hear_only(fd, only);
	if (ok &&
	    (connect(fd, (const struct sockaddr *)&ask->to, ask->size) == 0 ||
	     errno == EINPROGRESS))
		return fd;
	if (fd >= 0) {
		int was = errno;

		close(fd);
		errno = was;
	}
	return -1;
}

static int connect_one(struct broker *b, const struct broker_ask *ask,
		       bool gate, int *out_fd)
{
	int index, rc = judge(b, ask, gate, &index);

	if (rc)
		return rc;
	*out_fd = open_socket(ask, index, NULL);
	return *out_fd < 0 ? errno : 0;
}

static int connect_proxy(struct broker *b, int *out_fd)
{
	const struct broker_proxy *p = b->proxy;
	struct broker_ask ask = {.word = BROKER_TCP};
	int index, rc;

	ask.size = sockaddr_put(&p->addr, p->port, &ask.to);
	rc = route_interface(&b->route, &p->addr, &index);
	if (rc && rc != EACCES)
		return rc;
	/* EACCES: it is on this machine, where no interface says who it is */
	*out_fd = open_socket(&ask, rc ? 0 : index, rc ? p : NULL);
	return *out_fd < 0 ? errno : 0;
}

static int open_channel(struct broker *b, int *out_fd)
{
	int pair[2];

	for (size_t i = GATE + 1; i <= BROKER_CHANNELS; i++) {
		if (b->channels[i].fd >= 0)
			continue;
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
			       pair) < 0)
			return errno;
		b->channels[i].fd = pair[0];
		*out_fd = pair[1];
		return 0;
	}
	return EMFILE;
}

static bool has_ipv6(struct broker *b)
{
	/* the first of what is assigned, RFC 4291, 2.4: no packet is sent */
	static const struct addr any = {ADDR_V6, {0x20, 1}};
	int index;

	return route_interface(&b->route, &any, &index) == 0;
}

static int answer_ask(struct broker *b, const struct broker_ask *ask, bool gate,
		      struct broker_answer *answer, int *out_fd)
{
	switch ((enum broker_word)ask->word) {
	case BROKER_TCP:
	case BROKER_UDP:
		return connect_one(b, ask, gate, out_fd);
	case BROKER_CHANNEL:
		return gate ? open_channel(b, out_fd) : EACCES;
	case BROKER_FACTS:
		answer->ipv6 = has_ipv6(b);
		return 0;
	case BROKER_PROXY:
		return b->proxy->port ? connect_proxy(b, out_fd) : EACCES;
	}
	return EPROTO;
}

/* False: nobody is there any more, or takes no answer. */
static bool serve_channel(struct broker *b, size_t i)
{
	struct broker_answer answer = {0};
	struct broker_ask ask;
	int channel = b->channels[i].fd, fd;
	bool told;

	if (fdpass_take(channel, &ask, sizeof(ask), &fd, 0) != sizeof(ask)) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	if (fd >= 0) {
		close(fd);
		return false;
	}
	answer.error = answer_ask(b, &ask, i == GATE, &answer, &fd);
	told = fdpass_send(channel, &answer, sizeof(answer), fd, MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
	return told;
}

static bool is_asked(const struct broker *b)
{
	for (size_t i = 0; i <= BROKER_CHANNELS; i++)
		if (b->channels[i].fd >= 0)
			return true;
	return false;
}

void broker_serve(int channel, const struct broker_proxy *proxy)
{
	struct broker b = {.proxy = proxy};
	int rc = route_open(&b.route);

	for (size_t i = 0; i <= BROKER_CHANNELS; i++)
		b.channels[i] = (struct pollfd){-1, POLLIN, 0};
	b.channels[GATE].fd = channel;
	if (rc == 0)
		rc = confine_self();
	while (rc == 0 && is_asked(&b)) {
		if (poll(b.channels, 1 + BROKER_CHANNELS, -1) < 0) {
			rc = errno == EINTR ? 0 : errno;
			continue;
		}
		for (size_t i = 0; i <= BROKER_CHANNELS; i++) {
			struct pollfd *p = &b.channels[i];

			if (p->fd < 0 || !p->revents || serve_channel(&b, i))
				continue;
			close(p->fd);
			p->fd = -1;
		}
	}
	errno = rc;
}
