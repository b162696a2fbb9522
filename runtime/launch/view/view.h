/*
 * The view as the launcher sees it: a docker command with three pipes, whose
 * container holds the file system that the agent gets as its workspace.
 *
 * What is said to it and by it: compiler/plan/view_hello.h. stdin stays open:
 * its end is the view's. Anything on stdout that is not the protocol is a view
 * that cannot be trusted. Of stderr the last line is kept: a view has nothing
 * to say there, but docker has, when it cannot start one.
 */
#ifndef RUNTIME_LAUNCH_VIEW_VIEW_H
#define RUNTIME_LAUNCH_VIEW_VIEW_H

#include "compiler/plan/view_hello.h"
#include "runtime/launch/engine/engine.h"
#include "runtime/launch/session/decisions.h"
#include "runtime/launch/session/says.h"
#include "runtime/launch/view/kept.h"
#include "runtime/launch/view/refusals.h"
#include "runtime/launch/workspace/gitlinked.h"

#include <sys/types.h>

#define VIEW_WORDS_MS 1000

struct view {
	bool serves_home; /* by a second server: `protect` */
	pid_t pid; /* of its docker command; 0 once that has ended */
	int status;
	int in, out, err; /* -1 once closed */
	struct str hello; /* borrowed, until all of it is said */
	size_t said;
	bool ready;	  /* mounted, and it answers */
	bool is_told;	  /* to detach */
	bool is_unsealed; /* it protects for a program that is not closed */
	bool is_hidden;	  /* it has detached: the agent's mount is the last */
	struct refusals *refusals;
	struct kept *kept;
	int root; /* of the workspace; borrowed */
	/* The repository that the view shows, too; NULL, and borrowed. */
	struct str inside; /* where the workspace is in the session */
	const struct gitlinked *linked;
	struct decisions *decisions; /* borrowed: where the gate's go */
	/* Called with the first refusal of its kind, at once; or NULL. */
	void (*on_refusal)(void *ctx, const struct refusal *r);
	void *refusal_ctx;
	struct says says;
};

/* Nothing is open; *v is zeroed by the caller. What it refuses goes to both;
 * what it kept is compared with the workspace, whose folder is open as root. */
void view_init(struct view *v, struct refusals *refusals, struct kept *kept,
	       int root, struct decisions *decisions);
must_check int view_start(struct view *v, struct engine *e, char *const *argv,
			  int keep_fd, struct err *err);
/* What hello_write() made; said as it is taken: by view_pump(). */
void view_tell(struct view *v, struct str hello);
/* Is there something that waits to be said? */
bool view_has_to_say(const struct view *v);
/* The agent has a mount of its own: no other is needed. */
void view_detach(struct view *v);
/*
 * Say and take what there is; never blocks.
 *   -EPROTO  something that is not the protocol: the session must end
 */
must_check int view_pump(struct view *v, struct err *err);
/* Did it say an error? Waits for that, of one whose mounts are gone: what it
 * says comes by the engine, VIEW_WORDS_MS later at most. */
bool view_has_failed(struct view *v);
/* Ask it to end. */
void view_close_stdin(struct view *v);
void view_done(struct view *v);
/* What it said last, for people; never NULL. */
const char *view_last_words(const struct view *v);

#endif
