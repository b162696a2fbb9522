/*
 * The way out by a proxy: a process of the gate's takes what HAProxy passes on
 * (head.h), asks the proxy to CONNECT to the name that the address stands in
 * for (standins.h), or to an address that is granted as such, or goes past the
 * proxy where 'direct' says so, and carries the bytes. Nobody else of the
 * gate's can send to the world there: the packet filter knows it by its user.
 *
 * What is asked of the proxy is decided before: the agent chooses a name by an
 * address that the resolver gave it, and HAProxy has held what it states
 * against that. libcurl speaks to the proxy. Each connection has a process of
 * its own, which may wait; ONWARD_MAX at a time, more wait.
 *
 * Why one failed is in HAProxy's map GATE_FAILURES, under the port of the
 * agent's, before the connection ends: the client's page and the record of the
 * decision have it from there.
 */
#ifndef RUNTIME_GATE_ONWARD_ONWARD_H
#define RUNTIME_GATE_ONWARD_ONWARD_H

#include "runtime/gate/onward/standins.h"
#include "runtime/gate/plan/names.h"

#include <sys/types.h>

#define ONWARD_MAX	  512u
#define ONWARD_CONNECT_MS 8000 /* less than gate.cfg's timeout connect */
#define ONWARD_LOGIN_MAX  1024u

struct onward_proxy {
	struct addr addr;
	uint16_t port;			  /* 0: there is none */
	char login[ONWARD_LOGIN_MAX + 1]; /* USER:PASSWORD; empty: none */
	int broker; /* who connects to it: runtime/broker; 0: we do */
	const struct names_nets *past; /* networks past it; it is copied */
};

/* Where a connection goes. */
enum onward_way {
	ONWARD_NOWHERE,
	ONWARD_NAME,	/* by the proxy, which is told a name */
	ONWARD_ADDRESS, /* by the proxy, which is told an address */
	ONWARD_PAST,	/* past it */
	ONWARD_MACHINE, /* to this machine: the gate's own address for it */
};

/* By the address that was called: out_name only with ONWARD_NAME. */
enum onward_way onward_way(const struct standins *s,
			   const struct names_nets *past, const struct addr *to,
			   int64_t now_ms, const char **out_name);

struct onward {
	pid_t pid;
	int pidfd; /* -1: none */
};

/* As root still; names is shared with it. It ends with its parent. */
must_check int onward_start(const struct onward_proxy *proxy,
			    struct standins *names, struct onward *out,
			    struct err *err);

#endif
