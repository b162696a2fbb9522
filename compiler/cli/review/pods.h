/*
 * Plans for Kubernetes, one beside another: what of their Pods changes, which
 * is no access of the policy's. Their manifests are read back; which options
 * made them nobody asks.
 */
#ifndef COMPILER_CLI_REVIEW_PODS_H
#define COMPILER_CLI_REVIEW_PODS_H

#include "compiler/algebra/compare/compare.h"
#include "compiler/emit/kubernetes/kube.h"
#include "compiler/plan/plan.h"

/* A field: "pod.yaml", "spec.containers[agent].image", and what it was and is;
 * empty: it was not there, or is not. */
struct pods_change {
	enum access_way way; /* more rights, fewer, or neither */
	const char *file;
	struct str path, was, is;
};
typedef VEC(struct pods_change) pods_changes;

/*
 * Is the ConfigMap of a plan the plan? Its name and what a gate is told are the
 * digest of its manifest.json, that seals the rest of it, and each of its files
 * is the plan's own. Then *out is what of the options its policy.json needs to
 * be compiled once more: where the gate is, and whether Cilium is there.
 * -EPROTO, and what is wrong.
 */
must_check int pods_open(struct arena *a, const struct plan *p,
			 struct kube_options *out, struct err *err);

/* Of two such plans, what differs in pod.yaml and gate.yaml, by path; the
 * digest of the plan itself apart. -EPROTO where one is no manifest. */
must_check int pods_compare(struct arena *a, const struct plan *old,
			    const struct plan *now, pods_changes *out,
			    struct err *err);

#endif
