/*
 * Lines of HAProxy's log, one datagram each: whose they are, what is kept of
 * them and for how long, and that one may be empty.
 */
#include "runtime/gate/l7/l7log.h"

#include "tests/check.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define LINE "{\"k\":\"conn\",\"verdict\":\"allow\",\"reason\":\"granted\"}"
#define BAD  "[NOTICE] something"

static struct l7log l;
static int sender;
static int level, type; /* of what the kernel says of one; 0: as it does */
static unsigned n_told;
static pid_t teller;

/* What is received comes here first. */
ssize_t recvmsg(int fd, struct msghdr *m, int flags)
{
	ssize_t got = syscall(SYS_recvmsg, fd, m, flags);
	struct cmsghdr *c = CMSG_FIRSTHDR(m);

	if (got >= 0 && c && level)
		c->cmsg_level = level;
	if (got >= 0 && c && type)
		c->cmsg_type = type;
	return got;
}

static void on_line(void *data, pid_t pid, const struct logline *line)
{
	CHECK(data == &l && line->kind == LOGLINE_CONNECT && line->allow);
	teller = pid;
	n_told++;
}

static void say(const char *text)
{
	CHECK(send(sender, text, strlen(text), 0) == (ssize_t)strlen(text));
}

/* All that is there: so many datagrams, of which so many are lines of ours. */
static bool reads(unsigned n, unsigned lines)
{
	n_told = 0;
	teller = -1;
	return l7log_read(&l, on_line, &l) == n && n_told == lines &&
	       l.kept == 0;
}

static void read_at_once(void)
{
	CHECK(reads(0, 0));
	say(LINE);
	say("");
	say(BAD);
	say(LINE);
	CHECK(reads(4, 2));
	CHECK(reads(0, 0));
}

static void kept(void)
{
	size_t one;

	CHECK(l7log_keep(&l) && l.kept == 0);
	say(LINE);
	CHECK(l7log_keep(&l) && l.kept > sizeof(LINE) - 1);
	one = l.kept;
	say("");
	say(BAD);
	CHECK(l7log_keep(&l) &&
	      l.kept == one + 2 * (one - sizeof(LINE) + 1) + sizeof(BAD) - 1);
	say(LINE);
	CHECK(reads(4, 2) && teller == getpid());
	/* as long as the longest has room */
	say(LINE);
	say(LINE);
	memset(l.lines, 0, sizeof(l.lines));
	l.kept = L7LOG_KEEP - LOGLINE_MAX - (one - sizeof(LINE) + 1);
	CHECK(!l7log_keep(&l) && l.kept > L7LOG_KEEP - LOGLINE_MAX);
	l.kept = L7LOG_KEEP - LOGLINE_MAX;
	CHECK(!l7log_keep(&l) && l.kept == L7LOG_KEEP - LOGLINE_MAX);
	l.kept = 0;
	CHECK(reads(1, 1));
}

/* Others get their turn. */
static void turns(void)
{
	for (unsigned i = 0; i < 5; i++)
		say(LINE);
	CHECK(l7log_keep(&l));
	for (unsigned i = 0; i < 4; i++)
		say(LINE);
	CHECK(reads(9, 9));
}

/* Of whose line that is something else says nothing. */
static void whose(void)
{
	int on = 0;

	say(LINE);
	CHECK(reads(1, 1) && teller == getpid());
	say(LINE);
	level = IPPROTO_UDP;
	CHECK(reads(1, 1) && teller == 0);
	level = 0;
	say(LINE);
	type = SCM_RIGHTS;
	CHECK(reads(1, 1) && teller == 0);
	type = 0;
	/* nor of one of which the kernel says nothing */
	CHECK(setsockopt(l.fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) == 0);
	say(LINE);
	CHECK(reads(1, 1) && teller == 0);
}

int main(void)
{
	int pair[2], on = 1;

	CHECK(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) == 0 &&
	      setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on)) ==
		      0);
	l.fd = pair[0];
	sender = pair[1];
	read_at_once();
	kept();
	turns();
	whose();
	return check_status();
}
