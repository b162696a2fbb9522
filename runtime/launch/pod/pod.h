/*
 * One session in a Pod of a cluster, from a compiled plan to the command's exit
 * status: what launch_run() is on one machine.
 *
 * The objects are the caller's to write, and are applied by kubectl. From then
 * on the kubelet has the order of things, and the gate is in there: this sees
 * what becomes of them (kubernetes/seen.h), takes what the gate decides out of
 * its log, has the command's output come out where ours would, and deletes all
 * of it at the end, whatever that is.
 */
#ifndef RUNTIME_LAUNCH_POD_POD_H
#define RUNTIME_LAUNCH_POD_POD_H

#include "runtime/launch/kubernetes/objects.h"
#include "runtime/launch/launch.h"

/* What the session asks of its Pod. */
struct pod_wish {
	const char *id;	 /* the session's: what its objects are called after */
	bool tty, input; /* the command has a terminal, or a stdin */
};

struct pod_target {
	struct kubectl at;
	/* Its manifests, as documents of YAML, and their names; at is not set. */
	bool (*write)(void *ctx, const struct pod_wish *wish,
		      struct objects *out, struct str *out_text);
	void *ctx;
};

/*
 * Run one. Of o all counts that has a meaning there: no engine, no repository,
 * no keeper. Signals and statuses are as with launch_run(), but that nobody can
 * signal a container: it is deleted, which sends SIGTERM to all of the Pod, and
 * SIGKILL when session_grace() is over.
 */
must_check int pod_run(const struct launch_opts *o, const struct pod_target *t,
		       struct err *err);

#endif
