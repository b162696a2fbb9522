/*
 * What the files of this room ask of each other.
 */
#ifndef RUNTIME_BROKER_PARTS_H
#define RUNTIME_BROKER_PARTS_H

#include "runtime/broker/broker.h"

#include <libmnl/libmnl.h>

/* --- route.c ------------------------------------------------------------- */

/* What the kernel says of a way: rtnetlink(7). */
struct route {
	struct mnl_socket *nl;
	uint32_t seq;
};

/* 0, or an errno. */
int route_open(struct route *r);
/*
 * The interface by which packets to an address leave the machine. An errno:
 * there is no way; EACCES: the address is one of the machine's own, or all
 * machines'.
 */
int route_interface(struct route *r, const struct addr *to, int *out_index);

/* --- hear.c --------------------------------------------------------------- */

/*
 * A TCP socket takes segments from that address and port alone, from now on and
 * whoever has it: it can be taken back and turned to another, and no connection
 * comes of it. Some kernels give no filter to who is not root (EPERM): nothing is
 * done there. False, and errno: it failed otherwise.
 */
bool hear_only(int fd, const struct broker_proxy *from);

/* --- confine.c ----------------------------------------------------------- */

/* From here on this process can do what broker_serve() takes. 0, or an errno.
 */
int confine_self(void);

#endif
