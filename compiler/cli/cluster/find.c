/* Which of a cluster's objects are a plan's, which say so, which are missing. */
#include "compiler/cli/cluster/parts.h"

#include <string.h>

static struct str text_of(const struct kube_node *map, const char *key)
{
	const struct kube_node *n = kube_tree_get(map, key);

	return n ? n->text : (struct str){0};
}

static struct str kind_of(const struct kube_node *plan)
{
	return text_of(plan, "kind");
}

static struct str name_of(const struct kube_node *plan)
{
	return text_of(kube_tree_get(plan, "metadata"), "name");
}

/* --- whose it is ---------------------------------------------------------- */

static struct str label_of(const struct cluster *c)
{
	return str_slice(str_of(c->plan.digest), 0, KUBE_LABEL_HEX);
}

/* Its labels say that it is of this plan, or of this name. */
static bool is_claimed(const struct cluster *c, const cJSON *o)
{
	return str_eq(state_label(o, KUBE_PLAN_LABEL), label_of(c)) ||
	       (str_is(state_label(o, KUBE_MANAGER_LABEL), KUBE_MANAGER) &&
		str_eq(state_label(o, KUBE_NAME_LABEL), c->name));
}

static const cJSON *owner_of(const cJSON *o)
{
	const cJSON *owners = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(o, "metadata"),
		"ownerReferences");

	return cJSON_GetArraySize(owners) == 1 ? owners->child : NULL;
}

/* A Deployment's ReplicaSet is called by the hash that its Pods are labelled
 * with. */
static bool is_replica_set(const struct cluster *c, const cJSON *pod,
			   struct str owner)
{
	struct str hash = state_label(pod, "pod-template-hash");

	return hash.n && str_eq(owner, arena_fmt(c->a, "%.*s-%.*s",
						 STR_ARG(c->name),
						 STR_ARG(hash)));
}

/* A Pod that the workload has made. */
static bool is_made(const struct cluster *c, const cJSON *o)
{
	const cJSON *owner = owner_of(o);
	struct str kind, name;

	if (!c->made || !owner || !str_is(state_kind(o), "Pod"))
		return false;
	kind = json_find_str(owner, "kind");
	name = json_find_str(owner, "name");
	if (str_is(kind, "ReplicaSet"))
		return str_is(kind_of(c->plan.workload), "Deployment") &&
		       is_replica_set(c, o, name);
	return str_eq(kind, kind_of(c->plan.workload)) &&
	       str_eq(name, c->name);
}

/* --- a NetworkPolicy of somebody's: they add up --------------------------- */

static struct str pod_label(const struct cluster *c, const char *label)
{
	const struct kube_node *pod = c->made ? c->made : c->plan.workload;

	return text_of(kube_tree_get(kube_tree_get(pod, "metadata"), "labels"),
		       label);
}

/* Might it be about this plan's Pods? An expression counts as a yes. */
static bool selects_pods(const struct cluster *c, const cJSON *spec)
{
	const cJSON *labels = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(spec, "podSelector"),
		"matchLabels");
	const cJSON *l;

	cJSON_ArrayForEach(l, labels) {
		if (!cJSON_IsString(l) ||
		    !str_is(pod_label(c, l->string), l->valuestring))
			return false;
	}
	return true;
}

/* Of a namespace where there is any of it. */
static bool is_there(const struct cluster *c, struct str ns)
{
	vec_each(o, &c->objects)
		if (o->end <= CLUSTER_DIFFERS && str_eq(o->ns, ns))
			return true;
	return false;
}

static bool widens_network(const struct cluster *c, const cJSON *o)
{
	const cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec");

	return str_is(state_kind(o), "NetworkPolicy") &&
	       is_there(c, state_namespace(o)) && selects_pods(c, spec) &&
	       (cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(
			spec, "egress")) ||
		cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(
			spec, "ingress")));
}

/* --- each ----------------------------------------------------------------- */

static struct cluster_object *add_object(struct cluster *c, struct str kind,
					 struct str ns, struct str name,
					 enum cluster_end end)
{
	struct cluster_object *o = vec_push(c->a, &c->objects);

	o->end = end;
	o->kind = view_cleaned(c->a, kind);
	o->ns = view_cleaned(c->a, ns);
	o->name = view_cleaned(c->a, name);
	return o;
}

static void hold_object(struct cluster *c, const cJSON *o,
			const struct kube_node *plan, const char *root)
{
	struct cluster_object *one =
		add_object(c, state_kind(o), state_namespace(o), state_name(o),
			   CLUSTER_SAME);

	cluster_compare(c->a, plan, o, root, &one->diffs);
	if (str_is(state_kind(o), "Pod"))
		cluster_status(c->a, kube_tree_get(plan, "spec"), o, one);
	if (one->diffs.n)
		one->end = CLUSTER_DIFFERS;
}

static const char *stray_of(const struct cluster *c, const cJSON *o)
{
	struct str label = state_label(o, KUBE_PLAN_LABEL);

	if (widens_network(c, o))
		return "it may be about these Pods, and what it lets through is let through besides";
	if (!is_claimed(c, o))
		return NULL;
	if (!str_eq(label, label_of(c)))
		return "it has this name, and is of another plan";
	/* A count of Pods, each of which is looked at. */
	if (str_is(state_kind(o), "ReplicaSet") &&
	    str_is(kind_of(c->plan.workload), "Deployment"))
		return NULL;
	return "it has this plan's label, and is nothing that the plan makes";
}

/* One of three, or NULL. */
static const struct kube_node *planned(const struct cluster *c, const cJSON *o)
{
	const struct kube_node *all[] = {c->plan.configmap, c->plan.network,
					 c->plan.workload};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (str_eq(state_kind(o), kind_of(all[i])) &&
		    str_eq(state_name(o), name_of(all[i])))
			return all[i];
	return NULL;
}

/* What it is to be held against, and as what; NULL: it is none of the plan's.
 */
static const struct kube_node *held(const struct cluster *c, const cJSON *o,
				    const char **out_root)
{
	const struct kube_node *plan = planned(c, o);

	*out_root = plan ? arena_cstr(c->a, state_kind(o)) : "made";
	if (plan)
		return plan;
	return is_made(c, o) &&
			       str_eq(state_label(o, KUBE_PLAN_LABEL),
				      label_of(c))
		       ? c->made
		       : NULL;
}

static void add_stray(struct cluster *c, const cJSON *o)
{
	const char *why = stray_of(c, o);

	if (!why && is_made(c, o))
		why = "its owner is this plan's, and its label is not";
	if (why)
		add_object(c, state_kind(o), state_namespace(o), state_name(o),
			   CLUSTER_STRAY)
			->why = why;
}

/* --- what is not there ---------------------------------------------------- */

static bool has_object(const struct cluster *c, const struct kube_node *plan,
		       struct str ns)
{
	vec_each(o, &c->objects)
		if (o->end <= CLUSTER_DIFFERS && str_eq(o->kind, kind_of(plan)) &&
		    str_eq(o->name, name_of(plan)) && str_eq(o->ns, ns))
			return true;
	return false;
}

static void find_missing(struct cluster *c, struct str ns)
{
	const struct kube_node *all[] = {c->plan.configmap, c->plan.network,
					 c->plan.workload};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (!has_object(c, all[i], ns))
			add_object(c, kind_of(all[i]), ns, name_of(all[i]),
				   CLUSTER_MISSING);
}

/* In each namespace where there is any of it; in none: once. */
static void find_all_missing(struct cluster *c)
{
	VEC(struct str) seen = {0};

	vec_each(o, &c->objects) {
		bool known = o->end > CLUSTER_DIFFERS;

		vec_each(ns, &seen)
			known |= str_eq(*ns, o->ns);
		if (!known)
			*vec_push(c->a, &seen) = o->ns;
	}
	if (seen.n == 0)
		*vec_push(c->a, &seen) = (struct str){0};
	vec_each(ns, &seen)
		find_missing(c, *ns);
}

/* The root of a Pod as the workload makes it. */
static struct kube_node *make_pod(struct arena *a,
				  const struct kube_node *template)
{
	struct kube_node *root = kube_tree_root(a);

	kube_tree_word(root, "apiVersion", "v1");
	kube_tree_word(root, "kind", "Pod");
	vec_each(item, &template->items)
		*vec_push(a, &root->items) = *item;
	return root;
}

void cluster_find(struct cluster *c, const struct cluster_state *s)
{
	const struct kube_node *plan;
	const char *root;

	if (c->plan.template)
		c->made = make_pod(c->a, c->plan.template);
	vec_each(o, &s->items)
		if ((plan = held(c, *o, &root)))
			hold_object(c, *o, plan, root);
	vec_each(o, &s->items)
		if (!held(c, *o, &root))
			add_stray(c, *o);
	find_all_missing(c);
	c->same = true;
	vec_each(o, &c->objects) {
		c->same &= o->end == CLUSTER_SAME;
		c->pods += o->gate != NULL;
	}
}
