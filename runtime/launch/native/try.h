/*
 * What a session of the native engine does first, tried step by step: each as
 * the session would take it, in a process of its own that is gone afterwards
 * with all that it made. Nothing is judged by modes or version numbers.
 *
 * What it means that one fails, and what mends it: compiler/cli/doctor.
 */
#ifndef RUNTIME_LAUNCH_NATIVE_TRY_H
#define RUNTIME_LAUNCH_NATIVE_TRY_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#define TRY_STEP_MS 5000 /* one that hangs is killed, and has failed */

enum try_step {
	TRY_USERS,	/* a user namespace, and its maps */
	TRY_NAMESPACES, /* all the others in it */
	TRY_MOUNTS,	/* a root of its own, of clones and new file systems */
	TRY_PROC,	/* and in that a /proc, with sysctls that it may set */
	TRY_VIEW,	/* a file system of a program's */
	TRY_TAP,	/* a device of the uplink's */
	TRY_UPLINK,	/* and the program beside, that leads out by it */
	TRY_RULES,	/* a table in the new network's packet filter */
	TRY_FILTER,	/* seccomp.json, made and loaded */
	TRY_ASKED,	/* a call that the kernel asks about, read and let go */
	TRY_STEPS,
};

enum try_state { TRY_UNTRIED, TRY_FAILED, TRY_WORKED };

struct try_result {
	enum try_state state;
	int code;	   /* of TRY_FAILED: a negative errno */
	const char *words; /* of TRY_FAILED: which call, and why */
};

/* What is known to be in the way of these steps. */
struct try_host {
	bool container; /* this is one: what is outside decides */
	bool apparmor;	/* kernel.apparmor_restrict_unprivileged_userns=1 */
	bool profile;	/* there is one of AppArmor's for membrane */
	bool root;	/* it runs as that: none of these is asked then */
	bool forbidden; /* kernel.unprivileged_userns_clone=0 */
	bool none;	/* user.max_user_namespaces=0 */
};

struct try_report {
	struct try_result of[TRY_STEPS];
	struct try_host host;
};

/*
 * What a session needs of the kernel. A step that needs one that failed is not
 * tried.
 *
 * filter  the bytes of seccomp.json
 */
void try_native(struct arena *a, struct str filter, struct try_report *out);

/*
 * Of these what tells hosts apart that can run a session and that cannot, for
 * one that is about to start: some milliseconds. What it leaves out fails where
 * the session gets to it.
 *
 * view      it mounts one
 * tap       it leaves by a program's
 * out_step  what failed
 * out       what is known to be in its way
 */
must_check int try_start(struct arena *a, bool view, bool tap,
			 enum try_step *out_step, struct try_host *out,
			 struct err *err);

#endif
