/* Sockets of all kinds: who listens, who connects, what is sent to whom. */
#define _GNU_SOURCE
#include "worker.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef MSG_FASTOPEN
#define MSG_FASTOPEN 0x20000000
#endif

/* A few ports, so that somebody may listen there; and the resolvers'. */
static in_port_t port(struct worker *w)
{
	static const in_port_t some[] = {53, 80, 9};

	if (rare(w, 3))
		return htons(some[pick(w, 3)]);
	return htons((in_port_t)(20000 + w->id * 8 + (int)pick(w, 4)));
}

static long put_inet(struct worker *w, void *to)
{
	static const char *const at[] = {"127.0.0.1", "127.0.0.1",
					 "127.9.9.9", "0.0.0.0",
					 "192.0.2.1", "255.255.255.255"};
	struct sockaddr_in *a = to;

	a->sin_family = AF_INET;
	a->sin_port = port(w);
	inet_pton(AF_INET, at[pick(w, 6)], &a->sin_addr);
	return sizeof(*a);
}

static long put_inet6(struct worker *w, void *to)
{
	static const char *const at[] = {
		"::1",	  "::1", "::", "2001:db8::1", "::ffff:127.0.0.1",
		"fe80::1"};
	struct sockaddr_in6 *a = to;

	a->sin6_family = AF_INET6;
	a->sin6_port = port(w);
	a->sin6_flowinfo = rare(w, 9) ? htonl(5) : 0;
	a->sin6_scope_id = rare(w, 9);
	inet_pton(AF_INET6, at[pick(w, 6)], &a->sin6_addr);
	return sizeof(*a);
}

static long put_unix(struct worker *w, void *to)
{
	struct sockaddr_un *a = to;
	size_t n;

	a->sun_family = AF_UNIX;
	if (rare(w, 3)) { /* abstract */
		n = (size_t)sprintf(a->sun_path + 1, "w%d-%u", w->id,
				    pick(w, 3));
		return (long)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
	}
	if (rare(w, 8)) {
		memset(a->sun_path, 'u', sizeof(a->sun_path));
		return sizeof(*a);
	}
	sprintf(a->sun_path, "%ssock%u\xff", rare(w, 2) ? "./" : "",
		pick(w, 3));
	return sizeof(*a);
}

/* Its length; sometimes one that is none. */
static long put_address(struct worker *w, int i, int family)
{
	void *to = &w->addr[i];
	long n;

	memset(to, 0, sizeof(w->addr[i]));
	if (rare(w, 16)) {
		((struct sockaddr *)to)->sa_family =
			(sa_family_t)(rare(w, 2) ? AF_UNSPEC : AF_NETLINK);
		return 16;
	}
	if (rare(w, 12))
		family = rare(w, 2) ? AF_INET : AF_UNIX;
	n = family == AF_INET	 ? put_inet(w, to)
	    : family == AF_INET6 ? put_inet6(w, to)
				 : put_unix(w, to);
	switch (pick(w, 24)) {
	case 0:
		return 1 + pick(w, 12);
	case 1:
		return rare(w, 2) ? 0 : 200;
	case 2:
		return sizeof(w->addr[i]);
	}
	return n;
}

static int a_socket(struct worker *w)
{
	switch (pick(w, 16)) {
	case 0:
		return -1;
	case 1:
		return w->files[pick(w, WORK_FDS)];
	}
	return w->sockets[pick(w, WORK_FDS)];
}

static int family_of(int fd)
{
	int family = AF_INET;
	socklen_t n = sizeof(family);

	getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &family, &n);
	return family;
}

static void makes(struct worker *w)
{
	static const int families[] = {AF_INET, AF_INET, AF_INET6, AF_UNIX};
	static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_DGRAM,
				    SOCK_SEQPACKET};
	int fd = socket(families[pick(w, 4)],
			types[pick(w, 4)] | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int one = 1;

	/* So that one seed finds the same ports free as another time. */
	if (fd >= 0)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	keep(w, w->sockets, fd);
}

static void addressed(struct worker *w)
{
	int fd = a_socket(w);
	long n = put_address(w, 0, family_of(fd));
	long at = rare(w, 24) ? 1 : (long)&w->addr[0];

	if (rare(w, 2))
		DO(w, connect, fd, at, n);
	else
		DO(w, bind, fd, at, n);
}

/* It was not asked for one that does not wait. */
static void keep_accepted(struct worker *w, long fd)
{
	if (fd >= 0)
		fcntl((int)fd, F_SETFL, O_NONBLOCK);
	keep(w, w->sockets, fd);
}

static void listens(struct worker *w)
{
	int fd = a_socket(w);

	DO(w, listen, fd, (long)pick(w, 20) - 2);
	if (rare(w, 2))
		keep(w, w->sockets,
		     DO(w, accept4, fd, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC));
	else if (rare(w, 2))
		keep_accepted(w, DO(w, accept, fd, 0, 0));
}

/* One end that listens, another that connects to it. */
static void meets(struct worker *w)
{
	int family = (int[]){AF_INET, AF_INET6, AF_UNIX}[pick(w, 3)];
	int how = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
	int one = socket(family, how, 0), two = socket(family, how, 0);
	socklen_t n = sizeof(w->addr[0]);
	long length = put_address(w, 0, family);

	DO(w, bind, one, (long)&w->addr[0], length);
	DO(w, listen, one, 3);
	if (getsockname(one, (struct sockaddr *)&w->addr[0], &n) == 0)
		DO(w, connect, two, (long)&w->addr[0], (long)n);
	if (rare(w, 2))
		keep(w, w->sockets,
		     DO(w, accept4, one, 0, 0, SOCK_NONBLOCK | SOCK_CLOEXEC));
	else
		keep_accepted(w, DO(w, accept, one, 0, 0));
	keep(w, w->sockets, one);
	keep(w, w->sockets, two);
}

/* --- what is sent --------------------------------------------------------- */

/* A question, or nothing like it; its bytes. */
static size_t put_data(struct worker *w, int i)
{
	static const char *const types = "\1\34\14\17\20\101";
	char *to = w->data[i];
	size_t n = 3;

	if (rare(w, 3))
		return (size_t)sprintf(to, "no question %u", pick(w, 10)) -
		       pick(w, 9);
	memcpy(to, "\x12\x34\x01\0\0\1\0\0\0\0\0\0", 12);
	to[1] = (char)pick(w, 255);
	to[12] = (char)n;
	memset(to + 13, 'a' + (int)pick(w, 26), n);
	memcpy(to + 13 + n, "\4test\0\0\1\0\1", 10);
	to[13 + n + 7] = types[pick(w, 6)];
	return 13 + n + 10;
}

static void put_message(struct worker *w, int i, int family)
{
	struct msghdr *m = &w->messages[i].msg_hdr;

	memset(&w->messages[i], 0, sizeof(w->messages[i]));
	w->iov[i].iov_base = w->data[i];
	w->iov[i].iov_len = put_data(w, i);
	m->msg_iov = &w->iov[i];
	m->msg_iovlen = rare(w, 20) ? 0 : 1;
	if (rare(w, 3))
		return;
	/* The same as the one before, often. */
	if (i && rare(w, 2)) {
		m->msg_name = w->messages[i - 1].msg_hdr.msg_name;
		m->msg_namelen = w->messages[i - 1].msg_hdr.msg_namelen;
		return;
	}
	m->msg_namelen = (socklen_t)put_address(w, i, family);
	m->msg_name = &w->addr[i];
}

static void sends(struct worker *w)
{
	int fd = a_socket(w), family = family_of(fd);
	long how =
		MSG_DONTWAIT | MSG_NOSIGNAL | (rare(w, 12) ? MSG_FASTOPEN : 0);
	uint32_t n = 1 + pick(w, WORK_MESSAGES);
	size_t bytes;
	long length;

	switch (pick(w, 5)) {
	case 0:
	case 1:
		bytes = put_data(w, 0);
		length = put_address(w, 0, family);
		if (rare(w, 4))
			DO(w, sendto, fd, (long)w->data[0], (long)bytes, how, 0,
			   0);
		else
			DO(w, sendto, fd, (long)w->data[0], (long)bytes, how,
			   (long)&w->addr[0], length);
		return;
	case 2:
		put_message(w, 0, family);
		DO(w, sendmsg, fd,
		   rare(w, 20) ? 1 : (long)&w->messages[0].msg_hdr, how);
		return;
	case 3:
		bytes = put_data(w, 0);
		DO(w, write, fd < 3 ? -1 : fd, (long)w->data[0], (long)bytes);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		put_message(w, (int)i, family);
	DO(w, sendmmsg, fd, (long)w->messages, n, how);
}

void do_sockets(struct worker *w)
{
	static void (*const steps[])(struct worker *) = {
		makes, addressed, addressed, listens,
		meets, sends,	  sends,     sends};

	steps[pick(w, sizeof(steps) / sizeof(steps[0]))](w);
}
