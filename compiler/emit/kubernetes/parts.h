/*
 * What the files of this room share.
 */
#ifndef COMPILER_EMIT_KUBERNETES_PARTS_H
#define COMPILER_EMIT_KUBERNETES_PARTS_H

#include "compiler/emit/kubernetes/kube.h"
#include "compiler/emit/kubernetes/kube_tree.h"

/* How things of a Pod's are called, in it and in what admits it. */
#define KUBE_ROLE_LABEL	    "membrane/role" /* where there are two Pods */
#define KUBE_ROLE_AGENT	    "agent"
#define KUBE_ROLE_GATE	    "gate"
#define KUBE_SESSION_LABEL  "membrane/session"
#define KUBE_VOLUME_PLAN    "plan"
#define KUBE_VOLUME_RUN	    "gate-run"
#define KUBE_VOLUME_KEYS    "secrets"
#define KUBE_VOLUME_ROOTS   "roots"
#define KUBE_VOLUME_WORK    "workspace"
#define KUBE_SECRETS_AT	    "/secrets"
#define KUBE_ROOTS_AT	    "/roots"
#define KUBE_AGENT_ROOTS_AT "/etc/membrane"
#define KUBE_POOLS	    "extensions.agents.x-k8s.io/v1beta1"

/* One manifest that is being made. */
struct kube {
	const struct emit_in *in;
	const struct ir_policy *policy;
	const struct kube_options *o;
	struct arena *a;
	char digest[SHA256_HEX_MAX]; /* of the plan that the gate reads */
};

/* digest: that of kube_plan(), or any where causes alone are asked for. */
struct kube kube_begin(const struct emit_in *in, const char *digest);

/* --- kube_check.c --------------------------------------------------------- */

/* What a Pod cannot hold, at its line. Several emitters ask; it is said once.
 */
must_check bool kube_check(const struct emit_in *in);
/* Says so. False. */
must_check bool kube_refuse(const struct emit_in *in, struct span at,
			    const char *what, const char *help);

/* --- kube_apart.c --------------------------------------------------------- */

/* What no gate holds that is reached at one address, at its line. */
must_check bool kube_apart_check(const struct emit_in *in);
/* kubernetes.json: where it is. */
void kube_apart_json(const struct emit_in *in, cJSON *root);
/* The ports that it is reached at: those of grants, which are TCP. */
ir_ports kube_apart_ports(const struct kube *k);
/* Of the grants behind one of them: what made that. */
void kube_apart_from(const struct kube *k, struct kube_node *n, uint16_t port);

/* --- kube_apart_network.c ------------------------------------------------- */

/* Of the agent's Pod, and of the gate's. */
struct kube_node *kube_apart_agent_network(const struct kube *k);
struct kube_node *kube_apart_gate_network(const struct kube *k);

/* --- kube_apart_gate.c ---------------------------------------------------- */

struct kube_node *kube_apart_deployment(const struct kube *k);
struct kube_node *kube_apart_service(const struct kube *k);

/* --- kube_files.c --------------------------------------------------------- */

/* Those of all files that are applied, in their order, without the ConfigMap. */
#define KUBE_APPLIED_MAX 6u
size_t kube_applied_trees(const struct kube *k,
			  struct kube_node *out[KUBE_APPLIED_MAX]);

/* --- kube_words.c --------------------------------------------------------- */

/* Of the words of `docker run` a Pod has those that set a variable. */
must_check bool kube_words_check(const struct emit_in *in);
void kube_words_put(const struct kube *k, struct kube_node *env);
/* Temporary file systems: the path, and how large it may grow (empty: any). */
must_check bool kube_tmpfs(struct str text, struct str *out_path,
			   uint64_t *out_bytes);

/* --- kube_plan.c ---------------------------------------------------------- */

/* What the gate reads, out of what has been made, with its manifest. */
must_check bool kube_plan(const struct emit_in *in, struct plan *out,
			  char digest[SHA256_HEX_MAX]);
struct kube_node *kube_configmap_tree(const struct kube *k,
				      const struct plan *p);

/* --- kube_gate.c ---------------------------------------------------------- */

void kube_fence_put(const struct kube *k, struct kube_node *list);
void kube_gate_put(const struct kube *k, struct kube_node *list);
void kube_gate_volumes(const struct kube *k, struct kube_node *list);

/* --- kube_agent.c --------------------------------------------------------- */

void kube_agent_put(const struct kube *k, struct kube_node *list);
void kube_agent_volumes(const struct kube *k, struct kube_node *list);
/* The init container that fills the workspace, where one does. */
void kube_work_put(const struct kube *k, struct kube_node *list);
/* Who the agent is, in numbers: the policy's, or 1000. */
void kube_user(const struct kube *k, uint64_t *out_uid, uint64_t *out_gid);
/* Does the gate decrypt, so that programs have to trust it? */
bool kube_has_roots(const struct kube *k);

/* --- kube_admission.c ----------------------------------------------------- */

/* The list of plans that are admitted, with this one. */
struct kube_node *kube_admission_tree(const struct kube *k);

/* --- kube_network.c ------------------------------------------------------- */

struct kube_node *kube_network_tree(const struct kube *k);
/* "egress": what the gate lets out, and its own questions. */
void kube_network_egress(const struct kube *k, struct kube_node *spec);
/* {"port": N, "protocol": "TCP"}, an item of "ports". */
struct kube_node *kube_network_port(struct kube_node *list, uint16_t port,
				    const char *proto);
/* A grant of this network opens none of it: a denial or the floor has it. */
bool kube_net_is_shut(const struct kube *k, const struct cidr *net);
/* "cidr" and "except"; publicly: without what is private. */
void kube_net_put(const struct kube *k, struct kube_node *block, bool publicly,
		  const struct cidr *net);

/* --- kube_cilium.c -------------------------------------------------------- */

struct kube_node *kube_cilium_tree(const struct kube *k);

/* --- kube_pod.c ----------------------------------------------------------- */

/* role: of one of two Pods; NULL: there is one, or it is neither's. The labels,
 * for more of them. */
struct kube_node *kube_labels_put(const struct kube *k, struct kube_node *in,
				  const char *role);
/* "matchLabels" of the Pods of that role. */
void kube_role_put(const struct kube *k, struct kube_node *selector,
		   const char *role);
/* The object's name, or that of the gate's own objects. */
struct str kube_role_name(const struct kube *k, const char *role);
/* The Pod's name, and that of what only it has: of a run, with the session's ID
 * behind it. */
struct str kube_name(const struct kube *k);
/* Of a run, which session's it is. */
void kube_session_put(const struct kube *k, struct kube_node *labels);
struct kube_node *kube_pod_tree(const struct kube *k);
/* What hands Pods out, of KUBE_TEMPLATE. */
struct kube_node *kube_pool_tree(const struct kube *k);
/* Fields of a Pod: nothing of the node's is its own, nor of Services'. */
void kube_pod_hosts_nothing(const struct kube *k, struct kube_node *spec);
/* "apiVersion", "kind", and "metadata" with a name: what each object has. */
struct kube_node *kube_object(const struct kube *k, const char *api,
			      const char *kind, struct str name,
			      struct kube_node **out_metadata);
/* Such an object, which says of what plan it is. */
must_check bool kube_object_emit(
	const struct emit_in *in,
	struct kube_node *(*tree)(const struct kube *k), struct buf *out);

#endif
