/*
 * HAProxy: the process that decides names, methods and paths.
 *
 * A child of the worker, without a capability and under a user of its own from
 * its first instruction: the sockets on which connections reach it are opened
 * here and inherited (it could not ask for a foreign destination address by
 * itself), as descriptors and as MEMBRANE_RAW4=fd@10 and so on in its
 * environment. It dies with the worker (PR_SET_PDEATHSIG, which asks for the
 * worker's CAP_KILL). What it prints is
 * kept only as far as it says why it ended, with every credential struck out.
 */
#ifndef RUNTIME_GATE_HAPROXY_H
#define RUNTIME_GATE_HAPROXY_H

#include "runtime/gate/hello.h"

#include <sys/types.h>

#define HAPROXY_PROGRAM	  "/usr/sbin/haproxy"
#define HAPROXY_UID	  64100
#define HAPROXY_PORT_RAW  15001
#define HAPROXY_PORT_HTTP 15002
#define HAPROXY_WAIT_MS	  10000

struct haproxy {
	pid_t pid; /* 0: not there */
	int pidfd; /* readable once it has ended */
	int words; /* what it prints */
	char line[512], alert[256];
	size_t n_line;
	const struct hello_credentials *secrets; /* borrowed */
};

/*
 * Start it with the configuration at this path. The caller must still be root
 * with CAP_SETUID, CAP_SETGID, CAP_KILL and CAP_NET_ADMIN.
 */
must_check int haproxy_start(struct haproxy *h, const char *config,
			     const struct hello_credentials *secrets,
			     struct err *err);
/*
 * Wait until it answers on its runtime socket, and has this map.
 *   -EPIPE      it ended; *err has its words
 *   -ETIMEDOUT  after HAPROXY_WAIT_MS
 */
must_check int haproxy_wait(struct haproxy *h, const char *admin,
			    const char *map, struct err *err);
/* Take in what it printed; never blocks. */
void haproxy_read(struct haproxy *h);
/* What it complained of last, for people; never NULL. */
const char *haproxy_words(const struct haproxy *h);
/* Kill it, and wait for that. */
void haproxy_end(struct haproxy *h);

#endif
