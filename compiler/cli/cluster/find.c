/* Which of a cluster's objects are a plan's, which say so, which are missing. */
#include "compiler/cli/cluster/parts.h"

static struct str label_of(const struct cluster *c)
{
	return str_slice(str_of(c->plan.digest), 0, KUBE_LABEL_HEX);
}

/* Its labels say that it is of this plan, or of a name in it. */
static bool is_claimed(const struct cluster *c, const cJSON *o)
{
	struct str name = state_label(o, KUBE_NAME_LABEL);

	if (str_eq(state_label(o, KUBE_PLAN_LABEL), label_of(c)))
		return true;
	if (!str_is(state_label(o, KUBE_MANAGER_LABEL), KUBE_MANAGER))
		return false;
	vec_each(part, &c->parts)
		if (str_eq(name, part_label(part->object, KUBE_NAME_LABEL)))
			return true;
	return false;
}

static bool has_kind(const struct cluster *c, const char *kind)
{
	vec_each(part, &c->parts)
		if (str_is(part_kind(part), kind))
			return true;
	return false;
}

/* A controller's notes: how many Pods there are, each of which is looked at;
 * and where they are. */
static bool is_count(const struct cluster *c, const cJSON *o)
{
	struct str kind = state_kind(o);

	if (str_is(kind, "ReplicaSet"))
		return has_kind(c, "Deployment");
	return (str_is(kind, "EndpointSlice") || str_is(kind, "Endpoints")) &&
	       has_kind(c, "Service");
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
	if (besides_widens(c, o))
		return "it may be about these Pods, and what it lets through is let through besides";
	if (!is_claimed(c, o) || is_count(c, o))
		return made_of(c, o) ? "its owner is this plan's, and its label is not"
				     : NULL;
	if (!str_eq(state_label(o, KUBE_PLAN_LABEL), label_of(c)))
		return "it has this name, and is of another plan";
	if (str_is(state_kind(o), "Pod") && has_kind(c, "SandboxTemplate"))
		return "it has this plan's label, and no Sandbox of the pool that is in this file has made it";
	return "it has this plan's label, and is nothing that the plan makes";
}

/* What it is to be held against, and as what; NULL: it is none of the plan's.
 */
static const struct kube_node *held(const struct cluster *c, const cJSON *o,
				    const char **out_root)
{
	const struct cluster_part *by = made_of(c, o);
	bool pod = str_is(state_kind(o), "Pod");

	*out_root = arena_cstr(c->a, state_kind(o));
	vec_each(part, &c->parts)
		if (str_eq(state_kind(o), part_kind(part)) &&
		    str_eq(state_name(o), part_name(part)))
			return part->object;
	if (!by || (pod && !str_eq(state_label(o, KUBE_PLAN_LABEL),
				   label_of(c))))
		return NULL;
	return made_as(by, o, out_root);
}

static void add_stray(struct cluster *c, const cJSON *o)
{
	const char *why = stray_of(c, o);

	if (why)
		add_object(c, state_kind(o), state_namespace(o), state_name(o),
			   CLUSTER_STRAY)
			->why = why;
}

/* --- what is not there ---------------------------------------------------- */

static bool has_object(const struct cluster *c,
		       const struct cluster_part *part, struct str ns)
{
	vec_each(o, &c->objects)
		if (o->end <= CLUSTER_DIFFERS &&
		    str_eq(o->kind, part_kind(part)) &&
		    str_eq(o->name, part_name(part)) && str_eq(o->ns, ns))
			return true;
	return false;
}

static void find_missing(struct cluster *c, struct str ns)
{
	vec_each(part, &c->parts)
		if (!has_object(c, part, ns))
			add_object(c, part_kind(part), ns, part_name(part),
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

void cluster_find(struct cluster *c, const struct cluster_state *s)
{
	const struct kube_node *plan;
	const char *root;

	made_begin(c, s);
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
