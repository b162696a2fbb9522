/*
 * What a session has in a cluster: a NetworkPolicy and a Pod, both its own and
 * of one name, which has its ID, so that they can go by that. And the plan's
 * ConfigMap, called by its digest: it never changes, other Pods may have it,
 * now or later, and nobody can know that none will; so it stays.
 *
 * They are on record in the session's folder (SESSION_POD) before they are
 * made, with the context and the namespace that kubectl meant then: whoever
 * cleans up, at whatever time, does it there.
 */
#ifndef RUNTIME_LAUNCH_KUBERNETES_OBJECTS_H
#define RUNTIME_LAUNCH_KUBERNETES_OBJECTS_H

#include "runtime/launch/kubernetes/kubectl.h"
#include "runtime/launch/session/session.h"

#define OBJECTS_MS 30000 /* for one call of kubectl */

struct objects {
	struct kubectl at;
	struct str name; /* of the Pod, and of the NetworkPolicy */
};

/*
 * Where nothing else was said, what the kubeconfig says now. One that says
 * nothing, as inside a Pod, is left to kubectl.
 */
must_check int objects_find(struct arena *a, struct kubectl *at,
			    struct err *err);
must_check int objects_note(struct arena *a, const struct session *s,
			    const struct objects *o, struct err *err);
/* -EPROTO: what is there is none of objects_note(). */
must_check int objects_noted(struct arena *a, const struct session *s,
			     struct objects *out, struct err *err);
/* On the server's side: an annotation would hold 256 KiB at most. */
must_check int objects_apply(struct arena *a, const struct objects *o,
			     struct str text, struct err *err);
/*
 * Both: what is not there is no error, and nothing is waited for.
 *
 * grace_s  for the Pod's containers; 0: it is gone at once, whatever they do
 */
must_check int objects_end(struct arena *a, const struct objects *o,
			   uint32_t grace_s, struct err *err);
/* What nobody needs once the Pod is gone. */
must_check int objects_remove(struct arena *a, const struct objects *o,
			      struct err *err);
/* All of a session whose launcher is gone. */
must_check int objects_reap(const struct session *s, struct err *err);

#endif
