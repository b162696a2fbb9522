/* The Pod, once, and the objects that it is written in. */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/base/agent_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kube kube_begin(const struct emit_in *in, const char *digest)
{
	struct kube k = {.in = in,
			 .policy = in->policy,
			 .o = in->kubernetes,
			 .a = in->a};

	snprintf(k.digest, sizeof(k.digest), "%s", digest);
	return k;
}

struct str kube_name(const struct kube *k)
{
	return k->o->run ? arena_fmt(k->a, "%.*s-%.*s", STR_ARG(k->o->name),
				     STR_ARG(k->o->run->id))
			 : k->o->name;
}

struct kube_node *kube_object(const struct kube *k, const char *api,
			      const char *kind, struct str name,
			      struct kube_node **out_metadata)
{
	struct kube_node *root = kube_tree_root(k->a);

	kube_tree_word(root, "apiVersion", api);
	kube_tree_word(root, "kind", kind);
	*out_metadata = kube_tree_map(root, "metadata");
	kube_tree_text(*out_metadata, "name", name);
	return root;
}

struct str kube_role_name(const struct kube *k, const char *role)
{
	return role && strcmp(role, KUBE_ROLE_GATE) == 0
		       ? arena_fmt(k->a, "%.*s-" KUBE_ROLE_GATE,
				   STR_ARG(k->o->name))
		       : k->o->name;
}

static void put_plan(const struct kube *k, struct kube_node *labels)
{
	kube_tree_text(labels, KUBE_PLAN_LABEL,
		       arena_fmt(k->a, "%.*s", (int)KUBE_LABEL_HEX, k->digest));
}

void kube_role_put(const struct kube *k, struct kube_node *labels,
		   const char *role)
{
	kube_tree_text(labels, KUBE_NAME_LABEL, kube_role_name(k, role));
	put_plan(k, labels);
	kube_tree_word(labels, KUBE_ROLE_LABEL, role);
}

struct kube_node *kube_labels_put(const struct kube *k, struct kube_node *in,
				  const char *role)
{
	struct kube_node *l = kube_tree_map(in, "labels");

	kube_tree_word(l, KUBE_MANAGER_LABEL, KUBE_MANAGER);
	kube_tree_flag(kube_tree_text(l, KUBE_NAME_LABEL,
				      kube_role_name(k, role)),
		       "--name");
	put_plan(k, l);
	if (role)
		kube_tree_word(l, KUBE_ROLE_LABEL, role);
	return l;
}

void kube_session_put(const struct kube *k, struct kube_node *labels)
{
	if (k->o->run)
		kube_tree_text(labels, KUBE_SESSION_LABEL, k->o->run->id);
}

/* Of the agent's Pod, where the gate has one, too. */
static const char *role_of(const struct kube *k)
{
	return k->o->topology == KUBE_APART ? KUBE_ROLE_AGENT : NULL;
}

/* --- the Pod's specification ---------------------------------------------- */

/* The gate is the resolver, at its end of the link, or at its address. */
static void put_dns(const struct kube *k, struct kube_node *spec)
{
	struct kube_node *list = kube_tree_list(
		kube_tree_map(spec, "dnsConfig"), "nameservers");
	char text[ADDR_TEXT_MAX];

	for (uint32_t i = 0; i < k->o->n_gate_at; i++)
		kube_tree_flag(
			kube_tree_text(list, NULL,
				       arena_fmt(k->a, "%s",
						 addr_text(&k->o->gate_at[i],
							   text))),
			"--gate-address");
	if (k->o->topology == KUBE_WIRE)
		kube_tree_word(list, NULL, LINK_GATE_V4);
	kube_tree_word(spec, "dnsPolicy", "None");
}

/* Volumes are the group's of whoever runs in it. */
static void put_context(const struct kube *k, struct kube_node *spec)
{
	struct kube_node *s = kube_tree_map(spec, "securityContext"), *group;
	const ir_opt_str *user = &k->policy->hardening.user;
	uint64_t uid, gid;

	kube_user(k, &uid, &gid);
	group = kube_tree_number(s, "fsGroup", gid);
	kube_tree_from(k->in, group, &user->from);
	kube_tree_word(s, "fsGroupChangePolicy", "OnRootMismatch");
	kube_tree_word(kube_tree_map(s, "seccompProfile"), "type",
		       "RuntimeDefault");
}

static const char *restart_of(const struct kube *k)
{
	switch (k->o->kind) {
	case KUBE_POD:
	case KUBE_JOB:
	case KUBE_SANDBOX:
	case KUBE_TEMPLATE:
		break;
	case KUBE_DEPLOYMENT:
		return "Always";
	}
	return "Never";
}

void kube_pod_hosts_nothing(const struct kube *k, struct kube_node *spec)
{
	kube_tree_bool(spec, "enableServiceLinks", false);
	kube_tree_bool(spec, "hostIPC", false);
	kube_tree_bool(spec, "hostNetwork", false);
	kube_tree_bool(spec, "hostPID", false);
	if (k->o->own_users)
		kube_tree_flag(kube_tree_bool(spec, "hostUsers", false),
			       "--own-users");
}

static void put_spec(const struct kube *k, struct kube_node *spec)
{
	bool wire = k->o->topology == KUBE_WIRE;
	bool native = k->o->sidecar == KUBE_SIDECAR_NATIVE;
	struct kube_node *list;

	kube_tree_bool(spec, "automountServiceAccountToken", false);
	list = kube_tree_list(spec, "containers");
	if (!native) /* and so by the wire */
		kube_gate_put(k, list);
	kube_agent_put(k, list);
	put_dns(k, spec);
	kube_pod_hosts_nothing(k, spec);
	list = kube_tree_list(spec, "initContainers");
	if (wire)
		kube_fence_put(k, list);
	if (wire && native)
		kube_gate_put(k, list);
	kube_work_put(k, list);
	kube_tree_word(spec, "restartPolicy", restart_of(k));
	put_context(k, spec);
	kube_tree_bool(spec, "shareProcessNamespace", false);
	kube_tree_number(spec, "terminationGracePeriodSeconds", 30);
	list = kube_tree_list(spec, "volumes");
	if (wire)
		kube_gate_volumes(k, list);
	kube_agent_volumes(k, list);
}

/* --- what it is written in ------------------------------------------------ */

static void put_template(const struct kube *k, struct kube_node *in,
			 const char *key)
{
	struct kube_node *t = kube_tree_map(in, key);

	kube_labels_put(k, kube_tree_map(t, "metadata"), role_of(k));
	put_spec(k, kube_tree_map(t, "spec"));
}

/* otherwise: where nobody said; 0 leaves it to the API. */
static void put_count(struct kube_node *spec, const char *key, uint32_t n,
		      uint32_t otherwise, const char *flag)
{
	if (n)
		kube_tree_flag(kube_tree_number(spec, key, n), flag);
	else if (otherwise)
		kube_tree_number(spec, key, otherwise);
}

static void put_deadline(const struct kube *k, struct kube_node *spec)
{
	put_count(spec, "activeDeadlineSeconds", k->o->deadline_s, 0,
		  "--deadline");
}

/* A Pod that failed is not begun again. Not Indexed: the Job's controller
 * would add a variable to the fence and the gate, and theirs are all known. */
static void put_job(const struct kube *k, struct kube_node *spec)
{
	put_deadline(k, spec);
	kube_tree_number(spec, "backoffLimit", 0);
	put_count(spec, "completions", k->o->completions, 0, "--completions");
	put_count(spec, "parallelism", k->o->parallelism, 0, "--parallelism");
	put_template(k, spec, "template");
}

static void put_deployment(const struct kube *k, struct kube_node *spec)
{
	struct kube_node *m;

	put_count(spec, "replicas", k->o->replicas, 1, "--replicas");
	m = kube_tree_map(kube_tree_map(spec, "selector"), "matchLabels");
	kube_tree_text(m, KUBE_NAME_LABEL, k->o->name);
	kube_tree_word(kube_tree_map(spec, "strategy"), "type", "Recreate");
	put_template(k, spec, "template");
}

/* Nobody who claims one changes what is in it, and the NetworkPolicy is that of
 * the plan: the controller's own would let out more. */
static void put_sandboxes(const struct kube *k, struct kube_node *spec)
{
	kube_tree_word(spec, "envVarsInjectionPolicy", "Disallowed");
	kube_tree_word(spec, "networkPolicyManagement", "Unmanaged");
	put_template(k, spec, "podTemplate");
}

/* Sandboxes that wait to be claimed, all of one plan: with another the old ones
 * go at once. */
struct kube_node *kube_pool_tree(const struct kube *k)
{
	struct kube_node *meta, *root, *spec;

	root = kube_object(k, KUBE_POOLS, "SandboxWarmPool", k->o->name, &meta);
	kube_session_put(k, kube_labels_put(k, meta, role_of(k)));
	spec = kube_tree_map(root, "spec");
	put_count(spec, "replicas", k->o->replicas, 1, "--replicas");
	kube_tree_text(kube_tree_map(spec, "sandboxTemplateRef"), "name",
		       k->o->name);
	kube_tree_word(kube_tree_map(spec, "updateStrategy"), "type",
		       "Recreate");
	return root;
}

struct kube_node *kube_pod_tree(const struct kube *k)
{
	static const char *const kinds[][2] = {
		[KUBE_POD] = {"v1", "Pod"},
		[KUBE_JOB] = {"batch/v1", "Job"},
		[KUBE_DEPLOYMENT] = {"apps/v1", "Deployment"},
		[KUBE_SANDBOX] = {KUBE_SANDBOXES, "Sandbox"},
		[KUBE_TEMPLATE] = {KUBE_POOLS, "SandboxTemplate"},
	};
	struct kube_node *meta, *root, *spec;

	root = kube_object(k, kinds[k->o->kind][0], kinds[k->o->kind][1],
			   kube_name(k), &meta);
	kube_tree_flag(meta->items.v[0], "--name");
	kube_session_put(k, kube_labels_put(k, meta, role_of(k)));
	spec = kube_tree_map(root, "spec");
	switch (k->o->kind) {
	case KUBE_POD:
		put_deadline(k, spec);
		put_spec(k, spec);
		return root;
	case KUBE_JOB:
		put_job(k, spec);
		return root;
	case KUBE_DEPLOYMENT:
		put_deployment(k, spec);
		return root;
	case KUBE_SANDBOX:
		put_template(k, spec, "podTemplate");
		return root;
	case KUBE_TEMPLATE:
		put_sandboxes(k, spec);
		return root;
	}
	abort();
}
