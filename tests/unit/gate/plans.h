/*
 * A plan of a test's own, without HAProxy, and a network of its own for a gate
 * that enforces it: with a default route that leads nowhere.
 */
#ifndef TESTS_UNIT_GATE_PLANS_H
#define TESTS_UNIT_GATE_PLANS_H

#include "runtime/gate/packet/link.h"
#include "tests/check.h"
#include "tests/unit/gate/rooms.h"

#include <poll.h>
#include <stdlib.h>

#define PLAN	 "/run/plan"
#define WAIT_MS	 10000 /* for what comes at once, on a machine that is busy */
#define HELLO	 "{\"version\":1,\"session\":\"0123\",\"host\":[\"11.0.0.99\"]}\n"
#define UPSTREAM "membrane-names 2\nupstream udp 203.0.113.1 53\n"
#define NAMES	 UPSTREAM "ports 1 tcp/443\nname good.test 1 - g-0000000001\n"
#define RULES                                                                  \
	"table inet membrane {\n"                                              \
	"	set host4 {\n"                                                       \
	"		type ipv4_addr\n"                                                   \
	"		flags interval\n"                                                   \
	"	}\n"                                                                 \
	"\n"                                                                   \
	"	set host4_1 {\n"                                                     \
	"		type ipv4_addr\n"                                                   \
	"		flags timeout\n"                                                    \
	"	}\n"                                                                 \
	"\n"                                                                   \
	"	chain input {\n"                                                     \
	"		type filter hook input priority filter; policy accept;\n"           \
	"	}\n"                                                                 \
	"}\n"

static struct err err;

/* Does a call that is given &err do what it is for, and say nothing? */
#define FINE(call) (err.text[0] = '\0', (call) == 0 && !err.text[0])

/* The next descriptor: the same as before where none was left open. */
static inline int next_fd(void)
{
	int fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);

	close(fd);
	return fd;
}

static inline void put_plan(const char *name, const char *text)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), PLAN "/%s", name);
	unlink(path);
	fd = text ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
	CHECK(!text || write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	if (fd >= 0)
		close(fd);
}

static inline void put_whole_plan(void)
{
	(void)mkdir(PLAN, 0755);
	put_plan("ruleset.nft", RULES);
	put_plan("names.map", NAMES);
	put_plan("provenance.json", "{\"version\":1,\"rules\":{}}");
	put_plan("docker.json", "{\"version\":1,\"link\":\"veth\"}");
}

/* uplink: with a way out. */
static inline void new_network(bool uplink)
{
	bool ipv6 = false;

	CHECK(unshare(CLONE_NEWNET) == 0 && loopback_up());
	/* one that forwards has it from the machine */
	(void)put_line("/proc/sys/net/ipv4/ip_forward", "0");
	if (uplink)
		CHECK(link_sink_up(&ipv6, &err) == 0);
}

/* A line without its end; false: there is none any more. */
static inline bool read_line(int fd, char *to, size_t size)
{
	struct pollfd p = {fd, POLLIN, 0};
	size_t n = 0;

	for (to[0] = '\0'; poll(&p, 1, WAIT_MS) == 1; to[n] = '\0') {
		if (read(fd, to + n, 1) <= 0)
			return false;
		if (to[n] == '\n') {
			to[n] = '\0';
			return true;
		}
		n += n + 1 < size;
	}
	return false;
}

#endif
