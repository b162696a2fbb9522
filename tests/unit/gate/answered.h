/*
 * Netlink, where the kernel says what it does not say at will: that it has no
 * IPv6, that something is there already, a record before an answer. What is
 * sent is looked at here, and answered here.
 */
#ifndef TESTS_UNIT_GATE_ANSWERED_H
#define TESTS_UNIT_GATE_ANSWERED_H

#include "runtime/gate/packet/rtnl.h"
#include "tests/unit/gate/plans.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/syscall.h>

#define ANSWERS_MAX 200

static struct {
	/* of each message that wants one: 0 or a negative errno; NULL: the
	 * kernel is asked */
	int (*answer)(const struct nlmsghdr *h);
	void (*look)(const struct nlmsghdr *h); /* at each; NULL: nobody does */
	unsigned n_sent;
	struct {
		int code; /* below 0: receiving fails so, with -code */
		size_t n;
		uint64_t room[64];
	} v[ANSWERS_MAX];
	unsigned n, at;
	bool noted; /* in said, a line for each */
	char said[8192];
} kernel;

static inline void begin_kernel(int (*answer)(const struct nlmsghdr *h))
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.answer = answer;
}

/* A message that is read next. */
static inline struct nlmsghdr *put_message(uint16_t type, uint32_t seq,
					   size_t body)
{
	struct nlmsghdr *h = (void *)kernel.v[kernel.n].room;

	h->nlmsg_type = type;
	h->nlmsg_seq = seq;
	h->nlmsg_len = (uint32_t)NLMSG_LENGTH(body);
	kernel.v[kernel.n].code = 0;
	kernel.v[kernel.n++].n = h->nlmsg_len;
	return h;
}

static inline void put_answer(uint32_t seq, int code)
{
	struct nlmsghdr *h =
		put_message(NLMSG_ERROR, seq, sizeof(struct nlmsgerr));
	struct nlmsgerr *e = NLMSG_DATA(h);

	e->error = code;
}

static inline void put_nothing(void)
{
	kernel.v[kernel.n].code = 0;
	kernel.v[kernel.n++].n = 0;
}

static inline void put_failure(int code)
{
	kernel.v[kernel.n++].code = -code;
}

static inline void add_bytes(const void *p, size_t n)
{
	size_t at = strlen(kernel.said);

	for (size_t i = 0; i < n; i++)
		at += (size_t)snprintf(kernel.said + at,
				       sizeof(kernel.said) - at, "%02x",
				       ((const uint8_t *)p)[i]);
	snprintf(kernel.said + at, sizeof(kernel.said) - at, " ");
}

static int note_attr(const struct nlattr *a, void *data)
{
	(void)data;
	add_bytes(a, a->nla_len);
	return MNL_CB_OK;
}

/* Type, flags, head, and what is behind that. */
static inline void note(const struct nlmsghdr *h)
{
	static const struct {
		uint16_t type;
		size_t head;
	} kinds[] = {
		{RTM_NEWLINK, sizeof(struct ifinfomsg)},
		{RTM_DELLINK, sizeof(struct ifinfomsg)},
		{RTM_NEWADDR, sizeof(struct ifaddrmsg)},
		{RTM_NEWROUTE, sizeof(struct rtmsg)},
		{RTM_NEWRULE, sizeof(struct fib_rule_hdr)},
		{RTM_NEWNEIGH, sizeof(struct ndmsg)},
	};
	size_t at = strlen(kernel.said);

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (kinds[i].type != h->nlmsg_type)
			continue;
		snprintf(kernel.said + at, sizeof(kernel.said) - at, "%u %x ",
			 h->nlmsg_type, h->nlmsg_flags);
		add_bytes(mnl_nlmsg_get_payload(h), kinds[i].head);
		(void)mnl_attr_parse(h, (unsigned)kinds[i].head, note_attr,
				     NULL);
		kernel.said[strlen(kernel.said) - 1] = '\n';
	}
}

/* These take the libraries' place in all of this program. */
ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *p, size_t n)
{
	const struct nlmsghdr *h = p;
	int left = (int)n;

	if (kernel.noted)
		note(h);
	if (!kernel.answer)
		return send(mnl_socket_get_fd(nl), p, n, 0);
	kernel.n_sent++;
	for (; mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left)) {
		if (kernel.look)
			kernel.look(h);
		if (h->nlmsg_flags & NLM_F_ACK) {
			int code = kernel.answer(h);

			if (code <= 0)
				put_answer(h->nlmsg_seq, code);
		}
	}
	errno = EIO;
	return 0; /* whole, as always: how much it was nobody asks */
}

static inline ssize_t take_answer(void *to, size_t size)
{
	unsigned at = kernel.at;

	if (at == kernel.n) {
		errno = EAGAIN;
		return -1;
	}
	kernel.at++;
	if (kernel.v[at].code < 0) {
		errno = -kernel.v[at].code;
		return -1;
	}
	CHECK(kernel.v[at].n <= size);
	errno = EAGAIN; /* which nobody asks for */
	memcpy(to, kernel.v[at].room, kernel.v[at].n);
	return (ssize_t)kernel.v[at].n;
}

ssize_t recv(int fd, void *to, size_t size, int flags)
{
	if (kernel.answer)
		return take_answer(to, size);
	return syscall(SYS_recvfrom, fd, to, size, flags, NULL, NULL);
}

ssize_t mnl_socket_recvfrom(const struct mnl_socket *nl, void *to, size_t size)
{
	return recv(mnl_socket_get_fd(nl), to, size, 0);
}

/* Of a socket: no socket, or none that is bound. */
static enum { SOCKETS, NO_SOCKET, NO_BINDING } has;

struct mnl_socket *mnl_socket_open2(int bus, int flags)
{
	static struct mnl_socket *(*real)(int, int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "mnl_socket_open2");
	errno = EMFILE;
	return has == NO_SOCKET ? NULL : real(bus, flags);
}

int mnl_socket_bind(struct mnl_socket *nl, unsigned groups, pid_t pid)
{
	static int (*real)(struct mnl_socket *, unsigned, pid_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "mnl_socket_bind");
	errno = EADDRINUSE;
	return has == NO_BINDING ? -1 : real(nl, groups, pid);
}

static inline int says_yes(const struct nlmsghdr *h)
{
	(void)h;
	return 0;
}

/* Only what the test has written down before. */
static inline int says_nothing(const struct nlmsghdr *h)
{
	(void)h;
	return 1;
}

static inline bool is_error(int rc, int code, const char *text)
{
	if (rc != code || strcmp(err.text, text) != 0)
		fprintf(stderr, "%d %s\n", rc, err.text);
	return rc == code && strcmp(err.text, text) == 0;
}

#endif
