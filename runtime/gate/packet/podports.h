/*
 * Ports of a Pod that lead inside: sockets that listen where the Pod's address
 * is, for a process that hands on what comes.
 *
 * Nothing that the agent did not begin passes the reviewed ruleset, and nothing
 * at all goes to an address of the host, from where the kubelet's probes come.
 * So what is for such a port never meets it: a table of its own hands these
 * frames on as they come in, at the Pod's interface, to a third network
 * namespace, which has the Pod's addresses once more and nothing but these
 * sockets, and takes what they answer. Nobody gets further from there.
 */
#ifndef RUNTIME_GATE_PACKET_PODPORTS_H
#define RUNTIME_GATE_PACKET_PODPORTS_H

#include "compiler/base/buf.h"
#include "runtime/gate/packet/podlink.h"

/*
 * Behind podlink_take(), with CAP_SYS_ADMIN: n listening sockets, one for each
 * port and both families, the caller's. n may be 0; ports ascend, each once.
 */
must_check int podports_open(const struct podlink *l, const uint16_t *ports,
			     uint32_t n, int *out_fds, struct err *err);

/* Pure: the tables' text, as nft lists it (ruleset.h). */
void podports_frames(const uint16_t *ports, uint32_t n, struct buf *out);
void podports_flows(const uint16_t *ports, uint32_t n, struct buf *out);

#endif
