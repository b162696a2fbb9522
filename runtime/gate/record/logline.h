/*
 * One log line of HAProxy, as gate.cfg formats it.
 *
 * Pure; any bytes are safe: names, methods and paths in it are the agent's.
 * Every line is one JSON object:
 *
 *	k        "conn" or "req"
 *	verdict  of conn: "allow", "deny", or "l7" when the connection went on
 *	         to where its requests have lines of their own
 *	reason   as in reason.def, or "-"
 *	rule     what decided, a token of profiles.map, or "-"
 *	proto    of conn: "tls", "http", "raw", "none";  tls  of req: 1 or 0
 *	addr, port, name, method, path, status, err, tlserr
 *	asked    of conn: by which answer it went on, or "-"
 *	way      why a proxy did not pass it on, or "-"
 *	sport    the client's own port, which tells its connections apart
 *	end      of req: how it ended, as HAProxy's "%ts"
 *	up, down bytes from the client, and to it
 */
#ifndef RUNTIME_GATE_RECORD_LOGLINE_H
#define RUNTIME_GATE_RECORD_LOGLINE_H

#include "compiler/base/addr.h"
#include "compiler/base/limits.h"
#include "compiler/base/reason.h"

#define LOGLINE_MAX	   8192u
#define LOGLINE_PATH_MAX   800u
#define LOGLINE_METHOD_MAX 40u
#define LOGLINE_ERROR_MAX  160u

enum logline_kind {
	LOGLINE_CONNECT,
	LOGLINE_REQUEST,
	LOGLINE_REQUESTLESS, /* a connection whose requests have their own lines
			      */
};

struct logline {
	enum logline_kind kind;
	bool allow, tls;
	enum reason reason;
	char rule[16]; /* empty: none */
	bool has_addr;
	struct addr addr;
	uint16_t port, sport, status;
	uint32_t asked; /* of a connection that was passed on; 0: none */
	uint64_t up, down;
	char name[LIMIT_NAME_BYTES + 1];
	char method[LOGLINE_METHOD_MAX + 1];
	char path[LOGLINE_PATH_MAX + 1];
	/* Why the upstream failed, or what is malformed. */
	char error[LOGLINE_ERROR_MAX + 1];
};

/* False when it is not a line of ours: one of HAProxy's own words. */
bool logline_parse(struct str line, struct logline *out);

#endif
