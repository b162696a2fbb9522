/*
 * Sockets of the machine's network for a session that has no way there: a
 * process that stays in that network, the broker, makes them, connects them and
 * hands them over. The session's own network has no route out at all, and who
 * is in it says where to, never how.
 *
 * A message of either side is one of SOCK_SEQPACKET. Each who asks has a
 * channel of their own; the first is the gate's, and makes the others, by
 * which there is less to be had. Where all goes by a proxy they are those of
 * who speaks to that one: there is a socket to it, and to what goes past it.
 */
#ifndef RUNTIME_BROKER_BROKER_H
#define RUNTIME_BROKER_BROKER_H

#include "compiler/base/addr.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Beside the gate's: what HAProxies there may be, or, beside a proxy, what
 * connections are made at a time. */
#define BROKER_CHANNELS 576

enum broker_word {
	BROKER_TCP = 1, /* a connection; on the gate's channel also to who may
			 * resolve names (addr_may_resolve()) */
	BROKER_UDP,	/* the gate's alone: to who may resolve names */
	BROKER_CHANNEL, /* the gate's alone: one more */
	BROKER_FACTS,	/* what the machine's network has */
	BROKER_PROXY,	/* a connection to the proxy */
};

struct broker_ask {
	uint32_t word; /* enum broker_word */
	uint32_t size; /* of the address */
	struct sockaddr_storage to;
};

struct broker_answer {
	int32_t error; /* errno, and there is no descriptor; 0 */
	uint32_t ipv6; /* FACTS: 1 where it has a route for it */
};

/* --- who asks: ask.c, which the reader in HAProxy's process has, too -------
 */

/*
 * A socket that does not block, of SOCK_STREAM or SOCK_DGRAM, connected or
 * about to be, closed on exec; the caller's. -1 and errno: what connect(2)
 * says, EACCES where the broker goes to nobody, EPIPE where it is gone.
 */
int broker_connect(int channel, int type, const struct sockaddr *to,
		   socklen_t size);
/* The same, to the proxy. */
int broker_to_proxy(int channel);
/* Another channel, for the caller to hand on or close; -1 and errno. */
int broker_channel(int channel);
/* False, and errno: nobody answers. */
bool broker_ipv6(int channel, bool *out);

/* --- the broker: serve.c -------------------------------------------------- */

struct broker_proxy {
	struct addr addr;
	uint16_t port;	      /* 0: there is none */
	bool names;	      /* some go past it: so may any address */
	const struct cidr *v; /* else what does */
	uint32_t n;
};

/*
 * Be it, for good, in a process of its own that is in the machine's network:
 * without privileges, files, and all calls but those that this takes. Returns
 * with errno where it cannot begin, and with 0 there once nobody has a channel:
 * the launcher's death may come before it is tied to that.
 *
 * Nobody gets to what addr_scope() says is never reached, nor to an address of
 * the machine's own, which is asked of the kernel each time. A socket stays
 * bound to the interface that the route named, so that it cannot be turned to
 * loopback by whoever has it. A proxy is what the policy names, on the machine
 * itself, too, its loopback included: only that one's socket is bound to
 * nothing, and its address and port come with the broker, from nobody who asks.
 */
void broker_serve(int channel, const struct broker_proxy *proxy);

#endif
