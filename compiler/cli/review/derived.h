/*
 * A plan judged by itself. Its policy.json is a policy, and whatever else is
 * in the plan follows from it: an artefact that does not was edited by hand,
 * or written by another version of membrane, and what would run is not what
 * policy.json says.
 */
#ifndef COMPILER_CLI_REVIEW_DERIVED_H
#define COMPILER_CLI_REVIEW_DERIVED_H

#include "compiler/driver.h"
#include "compiler/plan/files.h"

struct derived {
	struct compilation c; /* of policy.json; the caller: driver_done() */
	/* What policy.json compiles to beside what there is. */
	struct plan_delta *deltas;
	uint32_t n;
};

/*
 * Compile the policy.json of p; prefix stands before its name for people,
 * "plan/". When out->c.ok, out->deltas are the files that do not follow from
 * it; where things were written (provenance.json) and the manifest do not
 * count, nor do manifests of Kubernetes, in which digests of those are.
 * kubernetes: what it was compiled for besides, or NULL. Otherwise
 * out->c.diags says why it is no policy; one that extends anything is none.
 * -ENOENT: p has no policy.json.
 */
must_check int derived_make(const struct plan *p, const char *prefix,
			    const struct kube_options *kubernetes,
			    struct derived *out, struct err *err);

/* A manifest of Kubernetes: what Pods have by it, a policy does not say. */
bool derived_is_pods(struct str name);

/*
 * The same with what was changed while the session ran: a flag each. Rules are
 * where the plan's provenance.json says. The plan that comes out names the
 * sources of p, and those changes as "session". told: what is to come out, as
 * it was written: comments have its places; or NULL.
 */
must_check int derived_extend(const struct plan *p, const struct plan *told,
			      const char *prefix,
			      const struct front_flag *changes, size_t n,
			      struct derived *out, struct err *err);

/*
 * Before a plan's own policy is compared with another: what policy.json leaves
 * out, since it is no part of a plan (workspace_trust, on_refusal), is as the other has it.
 */
void derived_adopt(struct compilation *own, const struct compilation *other);

#endif
