/*
 * Asking a session's launcher for another policy, and telling it a person's
 * answer: control.h is its side.
 */
#ifndef RUNTIME_LAUNCH_ASK_H
#define RUNTIME_LAUNCH_ASK_H

#include "compiler/plan/plan.h"
#include "runtime/launch/questions.h"
#include "runtime/launch/session/change_log.h"

#define ASK_WAIT_MS 60000 /* others may be before us */

struct ask_answer {
	bool ok, stale;
	uint32_t generation;
	double ms;
	const char *message; /* when it is not ok */
};

/*
 * plan: compiled from the session's generation base; what: verb, destination,
 * saved, cut, what is gained and lost; the rest of it the launcher knows
 * better.
 *   -ENOENT     nobody listens: it ends, or an older membrane started it
 *   -ETIMEDOUT  after ASK_WAIT_MS; what became of it is not known
 */
must_check int ask_change(struct arena *a, const struct session *s,
			  uint32_t base, const struct plan *plan,
			  const struct change_log *what, struct ask_answer *out,
			  struct err *err);
/* To a question that waits: questions.h. As above; out has no generation. */
must_check int ask_tell(struct arena *a, const struct session *s,
			uint32_t question, enum questions_answer answer,
			struct ask_answer *out, struct err *err);

#endif
