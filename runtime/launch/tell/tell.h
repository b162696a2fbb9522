/*
 * Telling of refusals when they happen: on stderr, on the desktop, or as the
 * user's `on_refusal` says.
 *
 * Nothing here waits, or holds up whoever was refused something: what comes
 * faster than TELL_SECOND a second is counted, and told as a number; beyond
 * TELL_SESSION lines only where to look is said. The end of the session has
 * all of them (summary.h).
 */
#ifndef RUNTIME_LAUNCH_TELL_TELL_H
#define RUNTIME_LAUNCH_TELL_TELL_H

#include "runtime/launch/session/refusal.h"
#include "compiler/base/sys/clock.h"
#include "runtime/launch/tell/carrier.h"
#include "runtime/launch/tell/hook.h"
#include "runtime/launch/tell/voice.h"

#define TELL_SECOND  10u  /* lines of one second */
#define TELL_SESSION 100u /* lines of one session */
#define TELL_END_MS  3000 /* for what is under way when a session ends */
#define TELL_FDS     (HOOK_FDS + 1u)
/* What waits for the trace to say who it was; more of it is told without. */
#define TELL_WAITING 32u

/* What the user wants to happen; all borrowed. */
struct tell_wish {
	/* No more than one of them; neither, and not silent: the desktop. */
	char *const *command; /* NULL: none; else ends with NULL */
	const char *webhook;
	const char *key_env; /* of webhook: the variable with what signs */
	bool silent;	     /* nothing but what stderr says */
};

struct tell_waiting {
	uint32_t id; /* 0: free */
	int64_t until_ms;
	struct arena *a;
	struct refusal r;
	cJSON *record;
};

struct tell {
	struct arena *a;
	/* Ask the trace whose it was: false: nobody will say; or NULL. */
	bool (*on_ask)(void *ctx, uint32_t id, const struct refusal *r);
	/* It is told of now: JSON, as it is on record; or NULL. */
	void (*on_told)(void *ctx, struct str line);
	void *ctx;
	uint32_t last_id;
	struct tell_waiting waiting[TELL_WAITING];
	struct refusal_of of;
	struct voice voice;
	struct carrier carrier;
	bool hands_on; /* the engine, pipes of stderr: nothing is carried */
	bool in_line;  /* after the end: where stderr was left */
	struct hook hook;
	bool colour;
	int64_t second_ms; /* when this second began; 0: none has */
	uint32_t in_second, in_session;
	uint64_t folded; /* in this second */
	bool is_over;	 /* TELL_SESSION lines, and that there are more */
};

/* Nothing is told yet; *t is zeroed by the caller, of is borrowed. */
void tell_init(struct tell *t, struct arena *a, const struct refusal_of *of);
/* From now on on stderr, where that can be had without waiting. */
void tell_aloud(struct tell *t, bool colour, bool hands_on);
/*
 * Right before the command starts with *o: what it prints there passes through
 * a process that keeps its lines and ours apart, where carrier.h has one; that
 * none can be had is no reason not to go on. What it set in *o is closed by
 * tell_streams_done().
 */
void tell_streams(struct tell *t, struct proc_opts *o);
void tell_streams_done(struct tell *t, struct proc_opts *o);
/*
 * And to whom the user said.
 *
 * command  as it is to be started: its first word absolute; NULL: none
 *   -ENOKEY  the variable of a webhook's key is not set
 */
must_check int tell_hook(struct tell *t, const struct tell_wish *wish,
			 char *const *command, struct err *err);
/* A note on the desktop of whoever sits there; nothing where there is none. */
void tell_desktop(struct tell *t);
/* Soon: when the trace has said whose it was, or has not. */
void tell_refusal(struct tell *t, const struct refusal *r);
/* What the trace says of the one that was asked about, as it came: what is known
 * for a secret is hidden here. */
void tell_whose(struct tell *t, uint32_t id, const struct refusal_by *by);
/* What to wait for: TELL_FDS of them. */
size_t tell_fds(const struct tell *t, struct pollfd *out);
/* clock_ms() at which tell_pump() is to be called at the latest; 0. */
int64_t tell_deadline(const struct tell *t);
/* Never blocks. */
void tell_pump(struct tell *t);
/* The session is over: waits for what is under way, TELL_END_MS at most. */
void tell_finish(struct tell *t);
/* Behind that, before anything else is printed: end the line that the command
 * left; once. */
void tell_begin_line(struct tell *t);
/* What of it failed and was not said aloud, with its LF; or nothing. */
void tell_words(struct tell *t, struct buf *out);

#endif
