/*
 * The policy as manifests of Kubernetes: a Pod in which the gate takes the
 * wire with it, its plan as a ConfigMap, a NetworkPolicy behind the packet
 * filter, what a cluster has to admit, and a list of them for kustomize.
 *
 * What a Pod cannot hold is an error at its line. doc/kubernetes.md says what
 * becomes of each key, and which promise is held by which test.
 */
#ifndef COMPILER_EMIT_KUBERNETES_KUBE_H
#define COMPILER_EMIT_KUBERNETES_KUBE_H

#include "compiler/base/json.h"
#include "compiler/base/sha256.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/kubernetes/kube_tree.h"
#include "compiler/plan/kubernetes_json.h"

/* How what belongs to one plan is told from the rest of a cluster. */
#define KUBE_PLAN_NAME	   "membrane-plan-" /* and the plan's digest */
#define KUBE_LABEL_HEX	   40u		    /* of 64: a label has 63 at most */
#define KUBE_NAME_LABEL	   "app.kubernetes.io/name"
#define KUBE_MANAGER_LABEL "app.kubernetes.io/managed-by"
#define KUBE_MANAGER	   "membrane"
#define KUBE_SANDBOXES	   "agents.x-k8s.io/v1beta1"

/* Where the gate stands: in the agent's Pod, whose wire it takes; or in a Pod of
 * its own, at an address that is all that the agent may reach. */
enum kube_topology { KUBE_WIRE, KUBE_APART };

/* The object that runs the Pod. */
enum kube_kind {
	KUBE_POD,
	KUBE_JOB,
	KUBE_DEPLOYMENT,
	KUBE_SANDBOX,
	KUBE_TEMPLATE, /* of sandboxes, and a pool of them */
};

/* How the gate is in the agent's Pod: an init container that goes on (Kubernetes 1.28), or
 * the first of the others, behind the fence. */
enum kube_sidecar { KUBE_SIDECAR_NATIVE, KUBE_SIDECAR_CONTAINER };

/* What is in the workspace when the agent begins. */
enum kube_work {
	KUBE_WORK_EMPTY, /* nothing */
	KUBE_WORK_GIT,	 /* a clone, without what is ignored */
	KUBE_WORK_CLAIM, /* a PersistentVolumeClaim, as it is */
};

#define KUBE_FAMILIES 2
/* One Pod of `run`: what differs from what was reviewed. */
struct kube_run {
	struct str id;	      /* the session's: behind its name, and a label */
	char *const *command; /* the agent's; NULL at the end; empty: the
				 image's own */
	bool tty, input;      /* the agent has a terminal, or a stdin */
};

/* What of the manifests is not the policy's: the command line's. All texts
 * are valid where they stand: kube_fault(). */
struct kube_options {
	enum kube_topology topology;
	enum kube_kind kind;
	enum kube_sidecar sidecar;
	enum kube_work work;
	struct str name;       /* of the object; KUBE_NAME */
	struct str gate_image; /* NAME@sha256:HEX */
	struct str work_of;    /* the URL, or the claim's name */
	struct str work_ref;   /* a branch, tag or commit; empty: HEAD */
	struct str seccomp;    /* of the node; empty: the runtime's default */
	bool own_users;	       /* hostUsers: false */
	bool cilium;	       /* names are Cilium's to hold, too */
	/* How many Pods, each 0 where nobody said: of a deployment or of the
	 * pool of a template; of a job, at a time and in all. */
	uint32_t replicas, parallelism, completions;
	uint32_t deadline_s; /* of a pod or a job; 0: none */
	/* KUBE_APART: the gate's, of a Service; one of each family at most. */
	struct addr gate_at[KUBE_FAMILIES];
	uint32_t n_gate_at;
	const struct kube_run *run; /* NULL: as it is reviewed */
};
#define KUBE_NAME	"membrane-agent"
#define KUBE_PODS_MAX	10000u
#define KUBE_DEADLINE_S (366u * 86400u)

/* NULL, or what is wrong: with a name, with an image that is to have a digest,
 * with a URL that git is to clone, with the rest of an option's value. */
const char *kube_name_fault(struct str name);
const char *kube_gate_image_fault(struct str image);
const char *kube_url_fault(struct str url);
const char *kube_word_fault(struct str word);
/* "10.96.0.53", "10.96.0.53,fd00::53": NULL, or what is wrong with it. */
const char *kube_gate_at_parse(struct str text, struct kube_options *out);

/* Is the agent in another Pod than its gate? */
bool kube_apart(const struct emit_in *in);
/* The gate's own Pod and its Service, where it is apart. */
bool kube_gate_emit(const struct emit_in *in, struct buf *out);
/* What an API server admits of Pods with a gate in them. */
bool kube_admission_emit(const struct emit_in *in, struct buf *out);
bool kube_pod_emit(const struct emit_in *in, struct buf *out);
bool kube_configmap_emit(const struct emit_in *in, struct buf *out);
bool kube_cilium_emit(const struct emit_in *in, struct buf *out);
bool kube_network_emit(const struct emit_in *in, struct buf *out);
bool kube_kustomization_emit(const struct emit_in *in, struct buf *out);
/* kubernetes.json: what the gate is told besides. */
bool kube_json_emit(const struct emit_in *in, struct buf *out);

/* What is applied by `run`: the plan's ConfigMap, as it is for all Pods of that
 * plan, and in its own name a NetworkPolicy and a Pod. */
struct kube_applied {
	struct str text; /* documents, in this order */
	struct str name;
};
/* Of a policy that was compiled: in->made is all of its plan, and
 * in->kubernetes has a run. */
bool kube_run_emit(const struct emit_in *in, struct kube_applied *out);

/*
 * The cause of each field of the manifests, by file: for provenance.json. NULL
 * where the policy is refused, which the emitters say.
 */
cJSON *kube_fields(const struct emit_in *in);

/* One object that a cluster is to have, with what made each of its fields. */
struct kube_planned {
	struct kube_node *object;
	/* Metadata and specification of the Pods that come of it; NULL: it is a
	 * Pod, or none does. */
	struct kube_node *template;
};

/* Those of a plan, in the order in which they are applied. */
struct kube_objects {
	char digest[SHA256_HEX_MAX]; /* of the plan that the gate reads */
	VEC(struct kube_planned) all;
};
/* Of a policy that was compiled: in->made has its plan. False: it has none. */
must_check bool kube_objects(const struct emit_in *in,
			     struct kube_objects *out);

#endif
