/*
 * names.map: which names resolve, and which sets their addresses go into.
 * Written by compiler/emit/names.c, read by runtime/gate/plan/names.c.
 *
 * One record per line, fields separated by single spaces, LF:
 *
 *	membrane-names 2
 *	upstream udp ADDR PORT | host | proxy [udp ADDR PORT | host]
 *	                                host: what --resolver says, at its
 *	                                port 53; proxy: nobody, names lead to
 *	                                stand-ins and go by the proxy, but for
 *	                                those that go past it
 *	floor CIDR                      in an answer only when a longer cover
 *	                                line opens it, whatever names say
 *	private CIDR                    in an answer only when covered or
 *	                                granted
 *	cover CIDR                      granted by address: kept in answers
 *	past NAME | CIDR                goes past the proxy
 *	ports CLASS PORTS               what a class opens, or a denial closes
 *	name NAME CLASS[,CLASS...]|- private|- ID
 *	ask NAME CLASS WAIT http|- private|- ID
 *	                                a person may permit it: so many seconds
 *	                                a connection waits for the answer, or,
 *	                                with http, each request
 *	asknet CIDR CLASS WAIT http|- ID
 *	                                the same of addresses
 *	deny NAME ID                    does not resolve, whatever name lines
 *	guard NAME CLASS ID             resolves, and its addresses go into the
 *	                                sets of that class as well
 *
 * Sections come in this order; upstream is there once, and
 * past with a proxy alone; of ask lines, which are
 * in the order of the widest answer that may be given, the first that holds
 * counts. NAME is a host name,
 * "*" in place of exactly one label, "**." in front for one or more, "**" for
 * every name. PORTS is "tcp/443,tcp/8000-8999,udp/53".
 *
 * Who has the same ports is of one class. There are five kinds of them, each
 * counted from 1, ascending wherever they stand:
 *
 *	K   grants: addresses go into host4_K or host6_K
 *	hK  those of K that only HTTP and TLS may use: http4_K
 *	dK  denials by name with ports: guard4_K
 *	qK  denied requests, which HTTP/3 would hide: quic4_K
 *	aK  what is asked about: ask4_K
 *
 * A class that is used has a ports line; "h" has that of the grants. A name
 * without any class resolves and opens nothing by itself. Addresses of names
 * that go past the proxy are in past4_1 or past6_1 as well.
 */
#ifndef COMPILER_PLAN_NAMES_MAP_H
#define COMPILER_PLAN_NAMES_MAP_H

#define NAMES_MAP_HEAD "membrane-names 2"

/* Records, in the order of their sections. */
#define NAMES_MAP_UPSTREAM "upstream"
#define NAMES_MAP_FLOOR	   "floor"
#define NAMES_MAP_PRIVATE  "private" /* and of a name line */
#define NAMES_MAP_COVER	   "cover"
#define NAMES_MAP_PAST	   "past"
#define NAMES_MAP_PORTS	   "ports"
#define NAMES_MAP_NAME	   "name"
#define NAMES_MAP_ASK	   "ask"
#define NAMES_MAP_ASKNET   "asknet"
#define NAMES_MAP_DENY	   "deny"
#define NAMES_MAP_GUARD	   "guard"

#define NAMES_MAP_UDP	"udp"
#define NAMES_MAP_HOST	"host"
#define NAMES_MAP_PROXY "proxy"

#define NAMES_MAP_NONE	   "-"
#define NAMES_MAP_REQUESTS "http" /* of an ask line */
#define NAMES_MAP_WAIT_MAX 600	  /* and its seconds at most */

/* The letters of classes, and the stems of their sets in ruleset.nft. */
#define NAMES_MAP_HTTP	 "h"
#define NAMES_MAP_DENIAL "d"
#define NAMES_MAP_QUIC	 "q"
#define NAMES_MAP_ASKED	 "a"

#define NAMES_MAP_SET_GRANT  "host"
#define NAMES_MAP_SET_HTTP   "http"
#define NAMES_MAP_SET_DENIAL "guard"
#define NAMES_MAP_SET_QUIC   "quic"
#define NAMES_MAP_SET_ASK    "ask"
#define NAMES_MAP_SET_PAST   "past"

#endif
