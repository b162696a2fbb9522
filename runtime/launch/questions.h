/*
 * Questions of the gate that wait for a person: the launcher's side.
 *
 * What `ask` names and nothing allows or denies waits at the gate. The gate
 * tells of it by an event, `question`, and of its end by another, `answered`;
 * both are in the session's record, the first with what the trace says of whose
 * it is, for which it waits a moment (so a later question's may come before),
 * and whose place that is. In between a person may answer, by the control socket
 * (control.h):
 *
 *	{"version":1,"question":3,"answer":"session"}
 *
 *	once     whoever waits for it goes on, and nobody later
 *	session  it is allowed as long as the session runs,
 *	always   and the policy's file says so, too
 *	never    it is denied as long as the session runs
 *
 * What `session`, `always` and `never` change in the policy whoever answers has
 * put in force before, as `membrane allow` does; here they say what becomes of
 * those who wait. Somebody who could answer listens (listeners.h): where nobody
 * does, nobody waits. Where the launcher's own terminal is free (the command's
 * stdin is none), a person is asked there: by `membrane answer`, one question
 * after the other.
 */
#ifndef RUNTIME_LAUNCH_QUESTIONS_H
#define RUNTIME_LAUNCH_QUESTIONS_H

#include "compiler/base/err.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/arena.h"
#include "compiler/plan/gate.h"

#include "runtime/launch/session/refusal.h"
#include "runtime/launch/session/session.h"

#include <cjson/cJSON.h>
#include <sys/types.h>

enum questions_answer {
	QUESTIONS_ONCE,
	QUESTIONS_SESSION,
	QUESTIONS_ALWAYS,
	QUESTIONS_NEVER,
	QUESTIONS_ANSWERS,
};

struct questions_open {
	uint32_t id; /* the gate's; 0: free */
	bool is_answered;
	bool is_left; /* the person at our terminal did not want to say */
	enum questions_answer answer;
	cJSON *record; /* which nobody was told of yet; NULL: it was */
	int64_t until_ms;
};

struct gate;

struct questions {
	struct gate *gate; /* borrowed */
	const char *dir;   /* of the session; borrowed */
	const char *id;	   /* of the session; borrowed */
	bool never_asks;   /* --no-ask */
	bool has_terminal; /* a person is at ours, and the command is not */
	pid_t asker;	   /* `membrane answer` there; 0: none */
	uint32_t asked;	   /* what it asks about */
	/* Ask the trace whose it is; false: nobody will say; or NULL. */
	bool (*on_ask)(void *ctx, uint32_t id, const cJSON *question);
	void *ask_ctx;
	struct questions_open open[GATE_QUESTIONS_MAX];
};

/* "once" and so on; NULL: no such answer. */
const char *questions_answer_word(enum questions_answer answer);
/* False: text is none. */
must_check bool questions_answer_parse(const char *text,
				       enum questions_answer *out);

/* The gate's events come by themselves from here on. */
must_check int questions_open(struct questions *q, struct gate *g,
			      const struct session *s, struct err *err);
/* The agent starts: from now on it may be asked. */
must_check int questions_begin(struct questions *q, struct err *err);
/*
 * A person's answer; who it is the caller has seen to.
 *   -ENOENT   no such question waits, or it has an answer
 */
must_check int questions_answer(struct questions *q, uint32_t id,
				enum questions_answer answer, struct err *err);
/* What the trace says of the one that it was asked about, as it came. */
must_check int questions_whose(struct questions *q, uint32_t id,
			       const struct refusal_by *by, struct err *err);
/* clock_ms() at which questions_pump() is to be called at the latest; 0. */
int64_t questions_deadline(const struct questions *q);
must_check int questions_pump(struct questions *q, struct err *err);
/* A child has ended: maybe who asked, and the next question is asked. */
void questions_reap(struct questions *q);
/* Nobody is asked any more. */
void questions_close(struct questions *q);

#endif
