/*
 * How a session's policy was changed while it ran: changes.jsonl in its folder,
 * a line for each change that is in force, in their order. The same line is in
 * decisions.jsonl, where it stands between what the plan before and the one
 * after it decided.
 *
 *	{"event":"change","time":"2026-01-31T12:00:00.000000Z",
 *	 "kind":"change","verb":"allow","dest":"github.com:22","generation":2,
 *	 "who":{"uid":1000,"name":"me"},"saved":false,"cut":false,
 *	 "gained":["tcp/22 github.com"],"lost":[],"ms":80}
 *
 * Generation 1 is the plan that the session began with. Once there was a
 * change, each is in the folder as plan.N; `plan` is what the gate has mounted:
 * the one that runs, or the next, which the gate may yet refuse.
 */
#ifndef RUNTIME_LAUNCH_SESSION_CHANGE_LOG_H
#define RUNTIME_LAUNCH_SESSION_CHANGE_LOG_H

#include "compiler/plan/plan.h"
#include "runtime/launch/session/session.h"

#include <cjson/cJSON.h>
#include <stdint.h>

#define CHANGE_LOG_FILE	    "changes.jsonl"
#define CHANGE_LOG_MAX	    1000u /* changes of one session */
#define CHANGE_LOG_BYTES    (8u << 20)
#define CHANGE_LOG_DEST_MAX 2048u
#define CHANGE_LOG_TEXTS                                                       \
	32u /* of what was gained, or lost; the rest is                        \
	       left out */
#define CHANGE_LOG_TEXT_MAX 512u

typedef VEC(const char *) change_log_texts;

/* One change. Strings are NUL-terminated, in the arena. */
struct change_log {
	bool allow; /* else a denial */
	const char *dest, *time, *name;
	uint32_t generation;
	uint64_t uid;
	bool saved; /* to the workspace's policy, too */
	bool cut;   /* connections were ended */
	change_log_texts gained, lost;
	double ms; /* from the request to the effect */
};

typedef VEC(struct change_log) change_log_list;

/* Without a line's end; the caller owns it. */
cJSON *change_log_json(const struct change_log *c);
/* -EPROTO: not as above. */
must_check int change_log_parse(struct arena *a, const cJSON *o,
				struct change_log *out, struct err *err);
/* All of a session; none when there is no file. */
must_check int change_log_read(struct arena *a, const struct session *s,
			       change_log_list *out, struct err *err);
/*
 * The plan of a generation that is in force, or was; from 1. Another process
 * may be changing the session meanwhile: what it tries is never taken for what
 * runs. -ENOENT: there is none, or not yet; else as plan_read().
 */
must_check int change_log_plan(struct arena *a, const struct session *s,
			       uint32_t generation, struct plan *out,
			       struct err *err);
/* "allow github.com:22"; cleaned for a terminal. */
struct str change_log_text(struct arena *a, const struct change_log *c);

#endif
