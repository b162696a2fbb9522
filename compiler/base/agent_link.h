/*
 * The addresses of the link between gate and agent, which are the same in every
 * session: the rules speak of them, the gate and Docker give them out.
 */
#ifndef COMPILER_BASE_AGENT_LINK_H
#define COMPILER_BASE_AGENT_LINK_H

#define LINK_GATE_IF  "agent0"
#define LINK_GATE_V4  "192.0.0.1"
#define LINK_AGENT_V4 "192.0.0.2"
#define LINK_GATE_V6  "fd00:6d65:6d62::1"
#define LINK_AGENT_V6 "fd00:6d65:6d62::2"
/* Where a Docker network is the link: all of it, and what Docker calls the
 * gate's before the gate takes its own. */
#define LINK_SUBNET_V4 "192.0.0.0/29"
#define LINK_SUBNET_V6 "fd00:6d65:6d62::/64"
#define LINK_SPARE_V4  "192.0.0.6"
/* The machine that runs membrane, as the agent sees it: an address of the
 * gate's that leads to single ports there, and the names of it. */
#define LINK_MACHINE_V4	   "192.0.0.5"
#define LINK_MACHINE_NAME  "host"
#define LINK_MACHINE_ALIAS "host.docker.internal"

#endif
