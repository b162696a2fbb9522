/*
 * A process for each refusal that somebody wants to hear of: a command of the
 * user's, a call of a URL, a note on the desktop.
 *
 * One at a time, of its own, with a bound on its time and on what waits for it:
 * what comes then is left out and counted. None of them is heard in the
 * session, and what fails is said once.
 */
#ifndef RUNTIME_LAUNCH_TELL_HOOK_H
#define RUNTIME_LAUNCH_TELL_HOOK_H

#include "compiler/base/arena.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/err.h"

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define HOOK_QUEUE   64u
#define HOOK_TEXT    8192u /* most bytes of one event */
#define HOOK_TIME_MS 10000
#define HOOK_WHY     256u
#define HOOK_FDS     2u

enum hook_kind {
	HOOK_NONE,
	HOOK_COMMAND, /* the event on its stdin */
	HOOK_WEBHOOK, /* webhook.h, all that waits at once */
	HOOK_DESKTOP, /* notify-send, two words of it */
};

/* A text for each event: JSON, or of HOOK_DESKTOP title LF body. */
struct hook_text {
	size_t n;
	char p[HOOK_TEXT];
};

struct hook {
	enum hook_kind kind;
	char *const
		*argv;	 /* of COMMAND: argv[0] is absolute; NULL at the end */
	const char *url; /* of WEBHOOK */
	const char *key; /* of WEBHOOK: what signs */
	const char *session;
	struct hook_text *queue; /* HOOK_QUEUE of them */
	uint32_t n;		 /* that wait, the first ones */
	uint64_t dropped;	 /* since the last that was queued */
	pid_t pid;		 /* 0: none runs */
	int in, out;		 /* what it reads, what it says; -1 */
	size_t sent;		 /* of event */
	struct hook_text *event; /* that is written to it */
	int64_t until_ms;
	size_t why_n;
	char why[HOOK_WHY]; /* what it says while it runs */
	bool failed;	    /* once is enough; why says how, until it is told */
	bool was_told;
};

/* What goes with the kind is set by the caller. */
void hook_init(struct hook *h, struct arena *a, enum hook_kind kind);
/* Room for one more? If not it counts as dropped. */
must_check bool hook_has_room(struct hook *h);
/* Behind hook_has_room(); too long a text is dropped, too. */
void hook_add(struct hook *h, struct str text);
size_t hook_fds(const struct hook *h, struct pollfd *out);
/* clock_ms() at which hook_pump() is to be called at the latest; 0. */
int64_t hook_deadline(const struct hook *h);
/* Take what there is; starts the next one. Never blocks. */
void hook_pump(struct hook *h);
/* Nothing waits and none runs. */
bool hook_is_idle(const struct hook *h);
/* Why the first one failed, once; NULL. */
const char *hook_failure(struct hook *h);
/* What runs is ended; what waits is forgotten. */
void hook_done(struct hook *h);

#endif
