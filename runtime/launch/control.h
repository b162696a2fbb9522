/*
 * Changing a session's policy while it runs: the launcher's side.
 *
 * A socket in the session's folder (SESSION_CONTROL), for the user who started
 * the session and for nobody else; the launcher looks at whose process it is.
 * One request at a time, others wait their turn:
 *
 *	{"version":1,"base":1,"staged":"next-4711","verb":"allow",
 *	 "dest":"github.com:22","saved":false,"cut":false,
 *	 "gained":["tcp/22 github.com"],"lost":[]}
 *
 * base is the generation that staged, a folder beside the socket, was compiled
 * from; another one is the session's by now: -ESTALE. The staged plan may
 * differ in what the gate enforces, and what is said of it: CONTROL_MAY_CHANGE.
 * It is put where the gate has its plan mounted, the gate is told and tries it;
 * when it refuses, the plan before is put back. The answer is a line as well:
 *
 *	{"ok":true,"generation":2,"ms":80}
 *	{"ok":false,"stale":true,"message":"..."}
 *
 * What is in force is recorded: change_log.h.
 *
 * The other request is an answer to a question of the gate's (questions.h):
 *
 *	{"version":1,"question":3,"answer":"session"}
 */
#ifndef RUNTIME_LAUNCH_CONTROL_H
#define RUNTIME_LAUNCH_CONTROL_H

#include "compiler/plan/files.h"
#include "compiler/base/sys/clock.h"
#include "compiler/plan/plan.h"
#include "runtime/launch/gate.h"
#include "runtime/launch/questions.h"
#include "runtime/launch/session/change_log.h"

#include <poll.h>

#define CONTROL_VERSION	   1
#define CONTROL_STAGED	   "next-" /* and digits */
#define CONTROL_LINE_MAX   65536u
#define CONTROL_BACKLOG	   16
#define CONTROL_REQUEST_MS 5000	 /* to say what is wanted */
#define CONTROL_GATE_MS	   15000 /* the gate gives up before that */
#define CONTROL_FDS	   2u

/* The artefacts that only the gate reads, and who wrote them. */
#define CONTROL_MAY_CHANGE                                                     \
	{                                                                      \
		PLAN_ADDRS, PLAN_LEAVES, PLAN_GATE, PLAN_LUA, PLAN_HOSTS,      \
			PLAN_NAMES, PLAN_POLICY, PLAN_PROFILES,                \
			PLAN_PROVENANCE, PLAN_README, PLAN_RULESET             \
	}

struct control {
	struct arena *a;
	const struct session *session; /* borrowed */
	struct gate *gate;	       /* borrowed */
	struct questions *questions;   /* borrowed */
	const struct plan *now;	       /* what runs */
	struct arena *now_a;	       /* of it; NULL: the caller's */
	int listen, client;	       /* -1: none */
	size_t n;
	char line[CONTROL_LINE_MAX];
	int64_t deadline; /* of the request, or of the gate's answer; 0: none */
	int64_t began;
	change_log_list done;
	/* Under way: */
	bool busy;
	struct arena *next_a;
	struct plan next;
	const char *staged; /* its folder */
	struct change_log change;
};

/* The socket; plan: what the session starts with. *c is zeroed. */
must_check int control_open(struct control *c, struct arena *a,
			    const struct session *s, struct gate *g,
			    struct questions *q, const struct plan *plan,
			    struct err *err);
/* What to wait for; at most CONTROL_FDS. */
size_t control_fds(const struct control *c, struct pollfd *out);
/* clock_ms() at which control_pump() is to be called at the latest; 0. */
int64_t control_deadline(const struct control *c);
/*
 * Take what there is; never blocks. What the gate said comes by itself
 * (gate->on_generation). Negative: it cannot be told which plan is in force,
 * or none is as it should be: the session has to end.
 */
must_check int control_pump(struct control *c, struct err *err);
/* Nothing is taken any more; who waits is told so. */
void control_close(struct control *c);
/* "membrane: this session's policy was changed: …" for the end, or nothing. */
void control_words(const struct control *c, struct buf *out);
/* The changes as JSON; the caller owns it. */
cJSON *control_json(const struct control *c);

/*
 * Pure: the first artefact that differs and may not; NULL: none does. What the
 * other engine would run is nothing of this session's.
 *
 * native  the native engine runs the session
 */
const char *control_forbidden(struct arena *a, const struct plan *old,
			      const struct plan *now, bool native);

#endif
