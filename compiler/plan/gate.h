/*
 * What the compiler writes of the gate and the gate itself goes by: ports,
 * marks, groups of the log, user, paths, variables. With compiler/base/
 * agent_link.h, which has the addresses, the one place of each; the texts that
 * cannot include it (*.cfg, gate.lua) are held against it by
 * tests/check/constants.
 */
#ifndef COMPILER_PLAN_GATE_H
#define COMPILER_PLAN_GATE_H

#include "compiler/base/agent_link.h"

/* A number of these, in a text. */
#define GATE_TEXT(number)  GATE_TEXT_(number)
#define GATE_TEXT_(number) #number

/* Where HAProxy listens: for what may be any protocol, for HTTP and TLS alone.
 * The gate opens these ports and hands them over in variables. */
#define GATE_PORT_RAW	15001
#define GATE_PORT_HTTP	15002
#define GATE_PORT_NETS	15003 /* for what nothing is asked of, by a proxy */
/* And for what waits until a person was asked. */
#define GATE_PORT_ASK	15004
/* Where the gate's resolver answers HAProxy, where the agent is in another Pod;
 * and what HAProxy is told of the network there: "ipv4" or "ipv6", whichever
 * is asked for first, and whether its ports are to be those of IPv6, too. */
#define GATE_PORT_NAMES 15053
#define GATE_ENV_FAMILY "MEMBRANE_FAMILY"
#define GATE_ENV_IPV6	"MEMBRANE_IPV6"
#define GATE_ENV_RAW4	"MEMBRANE_RAW4"
#define GATE_ENV_RAW6	"MEMBRANE_RAW6"
#define GATE_ENV_HTTP4	"MEMBRANE_HTTP4"
#define GATE_ENV_HTTP6	"MEMBRANE_HTTP6"
#define GATE_ENV_NETS4	"MEMBRANE_NETS4"
#define GATE_ENV_NETS6	"MEMBRANE_NETS6"
#define GATE_ENV_ASK4	"MEMBRANE_ASK4"
#define GATE_ENV_ASK6	"MEMBRANE_ASK6"
#define GATE_ENV_READER "MEMBRANE_READER"      /* runtime/reader is there */
#define GATE_ENV_SECRET "MEMBRANE_CREDENTIAL_" /* and its number */

/* The user that HAProxy is. */
#define GATE_UID 64100
/* And that of who speaks to the proxy. */
#define GATE_UPSTREAM_UID 64101

/* Packets of IPv6 that are HAProxy's, and flows whose end is told. */
#define GATE_MARK_TPROXY 0x00000001
#define GATE_MARK_FLOW	 0x00000001

#define GATE_TABLE "membrane" /* of nftables, family inet */

/* The log of nftables: groups, and what stands in front of a reason. */
#define GATE_LOG_REFUSED 77
#define GATE_LOG_GRANTED 78
#define GATE_LOG_PREFIX	 "membrane:"
#define GATE_LOG_ALLOW	 "allow"

/* Questions that wait for a person at one time (ask). */
#define GATE_QUESTIONS_MAX 32u

/* In the gate's container: the plan, and the session's own. */
#define GATE_PLAN	 "/plan"
#define GATE_DIR	 "/run/gate"
#define GATE_ADMIN	 GATE_DIR "/admin.sock" /* of HAProxy's commands */
#define GATE_LOG	 GATE_DIR "/log.sock"
#define GATE_SIGNER	 GATE_DIR "/signer.sock"
#define GATE_L7_PLAIN	 GATE_DIR "/l7plain.sock"
#define GATE_L7_TLS	 GATE_DIR "/l7tls.sock"
#define GATE_L7_AGAIN	 GATE_DIR "/patient.sock"
#define GATE_ASK	 GATE_DIR "/ask.sock"
#define GATE_L7_ASKED	 GATE_DIR "/asked.sock" /* doors of what was */
#define GATE_L7_EACH	 GATE_DIR "/askedhttp.sock"
#define GATE_PINS	 GATE_DIR "/pins.map"
#define GATE_TOKENS	 GATE_DIR "/tokens.map"
#define GATE_RENEWAL	 GATE_DIR "/renewal.sock"
#define GATE_LEAVES	 GATE_DIR "/leaf/"
#define GATE_PUBLISHED	 "/published"		   /* and its other one */
#define GATE_UPSTREAM_CA "/upstream-ca.pem"	   /* of the launcher's */
#define GATE_UPSTREAM	 GATE_DIR "/upstream.sock" /* to the proxy */
#define GATE_FAILURES	 GATE_DIR "/upstream.map" /* why that failed, by port */
#define GATE_READY	 GATE_DIR "/ready"	  /* locked by a gate that is */
#define GATE_ROOTS	 GATE_DIR "/roots.pem"	  /* the system's, and those */
#define GATE_PORTS	 "/ports" /* the launcher's socket: docker_json.h */

/* What a sentinel has in place of a secret: this, the digits that say which
 * field of which file it stands for, and digits at random. */
#define GATE_SENTINEL	     "membrane"
#define GATE_SENTINEL_DIGITS 24 /* lower-case, hexadecimal */

/* The launcher's line about a renewal: "renewed ID JSON", bytes at most. */
#define GATE_RENEWED_MAX 49152

/* Its uplink is made beside it: it waits for a default route. Or there is none,
 * and a broker of the launcher's makes what leaves, at this descriptor of the
 * gate's, and at the one that HAProxy has in a variable (runtime/broker). */
#define GATE_AWAIT_UPLINK "--await-uplink"
#define GATE_SOCKETS	  "--sockets"
#define GATE_BROKER_FD	  3
#define GATE_ENV_BROKER	  "MEMBRANE_BROKER"
/* HAProxy takes none of the agent's connections until this eventfd says so. */
#define GATE_ENV_DOOR	  "MEMBRANE_DOOR"
#define GATE_AGENT_HOST	  "membrane" /* how the agent's own machine is called */

#endif
