/*
 * The resolver that this host asks, for a policy that says 'host': read when a
 * session starts, from /etc/resolv.conf (resolv.conf(5)). The gate asks from a
 * network of its own, where an address of the host's loopback is the gate: of a
 * stub on it (systemd-resolved, NetworkManager's dnsmasq) what that asks is
 * taken, from the file in which it says so.
 *
 * One address: the first of IPv4, which Docker's networks always have, or else
 * the first at all. No name is asked for here.
 */
#ifndef RUNTIME_LAUNCH_RESOLVERS_H
#define RUNTIME_LAUNCH_RESOLVERS_H

#include "compiler/base/addr.h"
#include "compiler/base/arena.h"
#include "compiler/base/err.h"

/* What one such file names. */
#define RESOLVERS_ENV "MEMBRANE_RESOLV_CONF" /* path of another file */

struct resolvers {
	struct addr first; /* that the gate may ask; family 0: none */
	struct addr local; /* that this host alone may; family 0: none */
};

/* Lines that are none of nameserver are passed over, addresses that are none
 * and those with a zone, too. */
void resolvers_parse(struct str text, struct resolvers *out);

/*
 * own_path  of the file; NULL: /etc/resolv.conf
 * root      in front of that, and of the files of stubs; "" for the host's own
 * out       an address
 *
 *   -EADDRNOTAVAIL  none that the gate could ask: *err says what to write
 *   others          it cannot be read
 */
must_check int resolvers_find(struct arena *a, const char *own_path,
			      const char *root, const char **out,
			      struct err *err);

#endif
