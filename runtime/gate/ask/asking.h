/*
 * What waits for a person's answer, and what becomes of it.
 *
 * HAProxy asks (parts.h), by an action of gate.lua, one connection for each that
 * waits; that it closes means that the agent did. The gate knows whom an
 * address stands for, holds the question against what was answered
 * (questions.h), tells the launcher of a new one, and answers when the launcher
 * has. Only after a yes a name is asked for upstream: until then nothing leaves,
 * not even a question. Each address is judged as that of any name.
 *
 * A connection that was permitted is known by the agent's own port as long as
 * it lives, so that what it says next (a hello, requests in the clear) is
 * decided by the same answer.
 */
#ifndef RUNTIME_GATE_ASK_ASKING_H
#define RUNTIME_GATE_ASK_ASKING_H

#include "runtime/gate/ask/questions.h"
#include "runtime/gate/dns/dns_gate.h"
#include "runtime/gate/l7/l7.h"

#define ASKING_CLIENTS 384u /* more than gate.cfg lets in at once */
#define ASKING_WAITERS 320u /* of them, at most that many wait */
#define ASKING_BEAT_MS 1000 /* between two looks whether a client is there */
#define ASKING_PORTS   65536u
#define ASKING_POLL    (1 + ASKING_CLIENTS)
#define ASKING_NAMES   32u /* of one address, the newest, that are looked at */
/* How long an answer may come after a plan that makes it void: whoever answers
 * puts the plan in force first. */
#define ASKING_GRACE_MS 5000

enum waiter_state { WAITER_FREE, WAITER_ASKS, WAITER_RESOLVES };

struct waiter {
	enum waiter_state state;
	uint32_t id;	   /* of its client */
	uint32_t question; /* that it waits for, or that was answered; 0 */
	int64_t beat_ms;
	pid_t pid; /* of the HAProxy that asks */
	struct ask_line line;
	char name[LIMIT_NAME_BYTES + 1]; /* being resolved, */
	bool private_ok;		 /* to private addresses, too */
	bool strict;			 /* by the door for HTTP and TLS */
};

/* A connection that was permitted, by the agent's port. */
struct asked_conn {
	uint32_t question; /* 0: none */
	uint32_t serial;
	bool over; /* only its record is still to come */
};

/* How a question ended, beside what the launcher answers. */
enum asking_end {
	ASKING_ONCE,
	ASKING_YES,
	ASKING_NO,
	ASKING_NONE,	/* nobody is there */
	ASKING_TIMEOUT, /* nobody answered */
	ASKING_GONE,	/* nobody waits for it any more */
	ASKING_DECIDED, /* by another plan */
};
const char *asking_end_text(enum asking_end e);
/* Of the launcher: "once", "yes", "no", "none". */
bool asking_end_parse(struct str text, enum asking_end *out);

struct asking {
	/* Borrowed, set by the caller with the rest zeroed. */
	const struct names_map *names;
	struct dns_gate *dns;
	struct l7 *l7;
	/* A new question, and whose connection waits; false: it cannot be told. */
	bool (*on_question)(void *data, const struct question *q,
			    uint16_t sport, uint32_t wait_s);
	void (*on_answered)(void *data, uint32_t number, enum asking_end end);
	void *data;

	bool open;
	struct questions questions;
	struct clients clients;
	struct client slots[ASKING_CLIENTS];
	char texts[ASKING_CLIENTS][ASK_LINE_MAX];
	struct waiter waiters[ASKING_CLIENTS]; /* by slot */
	struct asked_conn conns[ASKING_PORTS];
	uint32_t last_id;
};

/* Once is enough. */
must_check int asking_open(struct asking *a, const char *path, struct err *err);
/* Fill exactly ASKING_POLL entries. */
void asking_poll(const struct asking *a, struct pollfd *p);
/* After poll, with the same entries. */
void asking_step(struct asking *a, const struct pollfd *p, int64_t now_ms);
/* How long poll may wait at most; -1: as long as it likes. */
int asking_wait_ms(const struct asking *a, int64_t now_ms);

/* Whether anybody may be asked from now on. Of what waits nobody is told. */
void asking_listens(struct asking *a, bool on);
/* The launcher's answer; one to what is not open any more says nothing. */
void asking_answer(struct asking *a, uint32_t number, enum asking_end end,
		   int64_t now_ms);
/* dns_gate.on_found: a name that was asked for after a yes. NULL: it has no
 * address that may be reached. */
void asking_found(struct asking *a, const char *name, bool private_ok,
		  const struct addr *addr);
/* *names is another map: what waits is held against that. */
void asking_changed(struct asking *a, int64_t now_ms);
/* A connection that came by a question is over. */
void asking_closed(struct asking *a, uint16_t sport, uint32_t serial);
/* The question by which a connection from that port to this one was permitted,
 * also after it is over; NULL: none. */
const struct question *asking_question_of(struct asking *a, uint16_t sport,
					  uint16_t port);

#endif
