/*
 * Whose it was that the gate or the view refused: the launcher asks, when it
 * tells of a refusal, and what was recorded a moment before says which process
 * had asked for that, and by which command it was begun.
 *
 * A line from the launcher is about a name, a path, or a connection:
 *
 *	{"event":"who","id":N,"name":"x.test"}
 *	{"event":"who","id":N,"name":"x.test","calls":true,"port":443,"sport":40000}
 *	{"event":"who","id":N,"path":"lib/a.c"}
 *	{"event":"who","id":N,"addr":"192.0.2.1","port":443,"sport":40000}
 *
 * A question for that name, a call for that path, and a connection from that
 * port are its process's. Where none of them was seen (a kernel that asks
 * knows no ports and no datagrams), it is the one of those who called such a
 * port before that has a socket with both ports; or the last one that called
 * there, or a resolver, before: probably; nobody's where another one did so
 * just before.
 * Who calls a name is known for the one who asked for it: of several probably
 * the last.
 *
 * Fixed room: what was seen longest ago is forgotten first, and of programs
 * those that have ended.
 */
#ifndef RUNTIME_WATCH_WHOSE_H
#define RUNTIME_WATCH_WHOSE_H

#include "compiler/base/err.h"
#include "compiler/plan/hello.h"
#include "runtime/watch/record.h"

#define WHOSE_WAIT_MS 100  /* what is asked about may still be on its way */
/* Without a port: how long before; and as long as a refusal takes to come here,
 * so that it may be the one before's. */
#define WHOSE_LAST_MS 2000
#define WHOSE_NEAR_MS 3

struct whose;

struct whose_answer {
	uint32_t id;
	enum hello_sure sure; /* HELLO_NOBODY: the rest is empty */
	uint32_t pid;	      /* as its own namespace counts */
	char comm[WATCH_COMM];
	/* Its words, as a shell would take them; "" where it is not known. */
	char command[HELLO_COMMAND_MAX + 1];
};

/* Has that process, as this namespace counts, a socket from that port of its
 * own to one of somebody's? */
typedef bool whose_has(uint32_t host_pid, uint16_t sport, uint16_t port);

/* has: NULL: nobody can look. NULL: no memory. */
struct whose *whose_new(whose_has *has);
void whose_free(struct whose *w);
/* Any record, in the order that they come. */
void whose_saw(struct whose *w, const struct record *r, int64_t now_ms);
/* Is that line, without its LF, for here? *err where it is and is none. */
must_check bool whose_asks(struct str line);
must_check int whose_take(struct whose *w, struct str line, int64_t now_ms,
			  struct err *err);
/* The next one that can be answered now, or is not waited for any more; all:
 * whatever is left. */
must_check bool whose_next(struct whose *w, int64_t now_ms, bool all,
			   struct whose_answer *out);

#endif
