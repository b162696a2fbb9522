/*
 * HAProxy: the process that decides names, methods and paths.
 *
 * A child of the worker, without a capability and under a user of its own from
 * its first instruction: the sockets on which connections reach it are opened
 * here and inherited (it could not ask for a foreign destination address by
 * itself), as descriptors and as MEMBRANE_RAW4=fd@10 and so on in its
 * environment. The worker keeps them: the process that takes this one's place
 * inherits the same. It dies with the worker (PR_SET_PDEATHSIG, which asks for
 * the worker's CAP_KILL). What it prints is kept only as far as it says why it
 * ended, with every credential struck out.
 */
#ifndef RUNTIME_GATE_L7_HAPROXY_H
#define RUNTIME_GATE_L7_HAPROXY_H

#include "runtime/gate/l7/hello.h"

#include <sys/types.h>

#define HAPROXY_PROGRAM "/usr/sbin/haproxy"
#define HAPROXY_READER	"/membrane-reader.so" /* runtime/reader */
#define HAPROXY_WAIT_MS	 10000
#define HAPROXY_RETRY_MS 1 /* between two questions whether it is there */

#define HAPROXY_PORTS 8u

/* Four ports, IPv4 and IPv6; zeroed by the caller. */
struct haproxy_ports {
	/* HAProxy opens what its configuration names, as whoever starts it,
	 * who has no right to drop; told of the network there. */
	bool own, ipv6;
	const char *family; /* GATE_ENV_FAMILY */
	bool open;
	int fds[HAPROXY_PORTS];
	int broker; /* asked for a channel for each HAProxy; 0: there is none */
};

/* haproxy_none() is one that is not there. */
struct haproxy {
	pid_t pid; /* 0: not there */
	int pidfd; /* readable once it has ended */
	int words; /* what it prints */
	int door;  /* an eventfd that opens its ports; -1: they are open */
	char line[512], alert[256];
	size_t n_line;
	const struct hello_credentials *secrets; /* borrowed */
};

/* Bind them; once is enough. Asks for CAP_NET_ADMIN. */
must_check int haproxy_listen(struct haproxy_ports *ports, struct err *err);

struct haproxy haproxy_none(void);
/*
 * Start it with the configuration at this path. The caller must be root with
 * CAP_SETUID, CAP_SETGID and CAP_KILL, but where its ports are its own.
 */
must_check int haproxy_start(struct haproxy *h,
			     const struct haproxy_ports *ports,
			     const char *config,
			     const struct hello_credentials *secrets,
			     struct err *err);
/*
 * Does this process answer on the runtime socket, and has it this map? Asks
 * once, and waits for nothing: 1 when it does, 0 when not yet. -EPIPE: it has
 * ended; *err has its words.
 */
must_check int haproxy_ready(struct haproxy *h, const char *admin,
			     const char *map, struct err *err);
/* Until then: a moment, or until it has ended. */
void haproxy_pause(const struct haproxy *h);
/* Let it take who comes by its ports: until then they wait in the kernel's
 * queue. One whose ports are its own takes them from its beginning on. */
must_check int haproxy_open(struct haproxy *h, struct err *err);
/* Take in what it printed; never blocks. */
void haproxy_read(struct haproxy *h);
/* What it complained of last, for people; never NULL. */
const char *haproxy_words(const struct haproxy *h);
/* Has it? Never waits. */
bool haproxy_ended(const struct haproxy *h);
/* Let it accept nothing more, and end by itself after what it has. */
void haproxy_finish(const struct haproxy *h);
/* Kill it, and wait for that. */
void haproxy_end(struct haproxy *h);

#endif
