/*
 * What a person is asked in a session: the questions that are open, and the
 * answers that were given.
 *
 * Pure, of fixed size. Questions that are equal are one. An answer is about
 * that question: "once" is for who waits just then, "yes" and "no" hold for the
 * session, whatever plan it has by then; what a plan does not ask about any
 * more is not looked up here. So many are open at a time, and so many new ones
 * may there be in a minute: what inside is in a hurry does not get to flood the
 * person.
 */
#ifndef RUNTIME_GATE_ASK_QUESTIONS_H
#define RUNTIME_GATE_ASK_QUESTIONS_H

#include "compiler/base/reason.h"
#include "compiler/plan/gate.h"
#include "runtime/gate/ask/parts.h"

#define QUESTIONS_OPEN	   GATE_QUESTIONS_MAX
#define QUESTIONS_A_MINUTE 60u
#define QUESTIONS_MAX	   512u /* with those that are answered */
#define QUESTIONS_ID	   12u	/* bytes in the id of a rule */

/* What makes two of them equal. */
struct question_key {
	char rule[QUESTIONS_ID + 1];
	char name[LIMIT_NAME_BYTES + 1]; /* empty: it is about the address */
	struct addr addr;		 /* without a name; else zero */
	uint16_t port;
	bool tls; /* of a request: https */
	char method[ASK_METHOD_MAX + 1]; /* empty: about the connection */
	char path[ASK_PATH_MAX + 1];
};

enum question_state {
	QUESTION_FREE,
	QUESTION_OPEN,
	QUESTION_ONCE, /* answered so: for who waited then */
	QUESTION_YES,
	QUESTION_NO,
};

struct question {
	enum question_state state;
	uint32_t number; /* from 1; what the launcher answers to */
	struct question_key key;
	int64_t deadline_ms;
	bool decided; /* by another plan: it waits for its answer alone */
};

struct questions {
	bool on; /* somebody may be asked */
	struct question v[QUESTIONS_MAX];
	uint32_t last;
	/* When the newest were asked: a ring. */
	int64_t asked_ms[QUESTIONS_A_MINUTE];
	uint32_t n_asked;
};

/*
 * Ask, or find what was answered: REASON_ASK when one has to wait, and *out is
 * the question, *out_new whether nobody was told of it before;
 * REASON_ANSWERED with the question that was answered so; else why not, and
 * *out is NULL.
 */
enum reason questions_ask(struct questions *q, const struct question_key *key,
			  uint32_t wait_s, int64_t now_ms,
			  struct question **out, bool *out_new);
/* Was that refused for the session? */
bool questions_refused(struct questions *q, const struct question_key *key);
/* One that is open or was answered; NULL: it is not known any more. */
struct question *questions_find(struct questions *q, uint32_t number);
/* The answered one about that connection, by whichever rule; NULL: none. */
struct question *questions_answered(struct questions *q, const char *name,
				    const struct addr *addr, uint16_t port);
/* What is open becomes that; QUESTION_FREE: nobody answered. */
void questions_settle(struct question *x, enum question_state state);
/* One whose time is over; NULL: none. */
struct question *questions_due(struct questions *q, int64_t now_ms);
/* When the next one is; -1: none is open. */
int64_t questions_next_ms(const struct questions *q);

#endif
