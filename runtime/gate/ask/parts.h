/*
 * What HAProxy asks the gate about a destination that a person may permit: one
 * line of gate.lua's, on GATE_ASK.
 *
 * Pure; any bytes are safe: name, method and path are the agent's. Fields are
 * separated by single spaces, and have no other bytes than those of ASCII that
 * can be seen, so that none needs a quote:
 *
 *	conn ADDR PORT SPORT            may this connection go on, and where to?
 *	hello ADDR PORT SPORT NAME      is one to that name answered already?
 *	request ADDR PORT SPORT TOKEN NAME SCHEME METHOD PATH
 *	                                may this request, http or https?
 *
 * ADDR and PORT are what the agent called, SPORT its own port, TOKEN is of
 * profiles.map. The answer is a line, too:
 *
 *	wait                            it is being asked: more will come
 *	yes raw|strict ADDR             of conn: on it goes there, by that door
 *	yes TOKEN                       of hello: by this rule
 *	yes ADDR                        of request
 *	no REASON                       as in reason.def; "no -" of hello
 */
#ifndef RUNTIME_GATE_ASK_PARTS_H
#define RUNTIME_GATE_ASK_PARTS_H

#include "compiler/base/addr.h"
#include "compiler/base/limits.h"

#define ASK_TOKEN_MAX  15u
#define ASK_METHOD_MAX 40u
#define ASK_PATH_MAX   800u
/* Words, blanks, and the LF with it. */
#define ASK_LINE_MAX                                                           \
	(22u + ADDR_TEXT_MAX + 12u + ASK_TOKEN_MAX + LIMIT_NAME_BYTES +        \
	 ASK_METHOD_MAX + ASK_PATH_MAX + 8u)

enum ask_kind { ASK_CONN, ASK_HELLO, ASK_REQUEST };

struct ask_line {
	enum ask_kind kind;
	struct addr addr;
	uint16_t port, sport;
	char token[ASK_TOKEN_MAX + 1];
	char name[LIMIT_NAME_BYTES + 1]; /* as it stands: nobody vouches */
	bool tls;			 /* https */
	char method[ASK_METHOD_MAX + 1];
	char path[ASK_PATH_MAX + 1];
};

/* Without its LF. False for anything else than the above. */
bool ask_line_parse(struct str text, struct ask_line *out);

#endif
