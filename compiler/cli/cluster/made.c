/* Which object of a plan's a Pod comes of, or a Sandbox: by its owner's name. */
#include "compiler/cli/cluster/parts.h"

#include <stdlib.h>
#include <string.h>

#define POOL	    "SandboxWarmPool"
#define TEMPLATE_OF "agents.x-k8s.io/sandbox-template-ref"

static struct str text_of(const struct kube_node *map, const char *key)
{
	const struct kube_node *n = map ? kube_tree_get(map, key) : NULL;

	return n ? n->text : (struct str){0};
}

struct str part_kind(const struct cluster_part *part)
{
	return text_of(part->object, "kind");
}

struct str part_name(const struct cluster_part *part)
{
	return text_of(kube_tree_get(part->object, "metadata"), "name");
}

struct str part_label(const struct kube_node *object, const char *label)
{
	const struct kube_node *meta = kube_tree_get(object, "metadata");

	return text_of(kube_tree_get(meta, "labels"), label);
}

/* --- what is made --------------------------------------------------------- */

static struct kube_node *begin_object(struct arena *a, const char *api,
				      const char *kind)
{
	struct kube_node *root = kube_tree_root(a);

	kube_tree_word(root, "apiVersion", api);
	kube_tree_word(root, "kind", kind);
	return root;
}

/* The root of a Pod as its controller makes it. */
static struct kube_node *make_pod(struct arena *a,
				  const struct kube_node *template)
{
	struct kube_node *root = begin_object(a, "v1", "Pod");

	vec_each(item, &template->items)
		*vec_push(a, &root->items) = *item;
	return root;
}

/* That of a Sandbox of a pool: what the template says of Pods. */
static struct kube_node *make_sandbox(struct arena *a,
				      struct kube_node *template)
{
	struct kube_node *root = begin_object(a, KUBE_SANDBOXES, "Sandbox");
	struct kube_node *spec = kube_tree_map(root, "spec");

	*vec_push(a, &spec->items) = template;
	return root;
}

static void add_part(struct cluster *c, const struct kube_planned *p)
{
	struct cluster_part *part = vec_push(c->a, &c->parts);

	part->object = p->object;
	if (p->template)
		part->pod = make_pod(c->a, p->template);
	else if (str_is(part_kind(part), "Pod"))
		part->pod = p->object;
	if (str_is(part_kind(part), "SandboxTemplate"))
		part->sandbox = make_sandbox(c->a, p->template);
}

/* --- whose it is ---------------------------------------------------------- */

static const cJSON *owner_of(const cJSON *o)
{
	const cJSON *owners = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(o, "metadata"),
		"ownerReferences");

	return cJSON_GetArraySize(owners) == 1 ? owners->child : NULL;
}

static bool is_owner(const cJSON *owner, struct str kind, struct str name)
{
	return str_eq(json_find_str(owner, "kind"), kind) &&
	       str_eq(json_find_str(owner, "name"), name);
}

/* A Deployment's ReplicaSet is called by a hash of its template, in letters that
 * make no word (k8s.io/apimachinery, SafeEncodeString). The Pod's label has it
 * too, but who changes a Pod may have taken that. */
static bool is_replica(const struct cluster_part *part, const cJSON *owner)
{
	struct str name = json_find_str(owner, "name");
	struct str from = part_name(part);
	struct str hash = str_slice(name, from.n + 1, name.n);

	if (!str_is(json_find_str(owner, "kind"), "ReplicaSet") ||
	    !str_starts(name, from) || !hash.n || name.p[from.n] != '-')
		return false;
	for (size_t i = 0; i < hash.n; i++)
		if (!strchr("bcdfghjklmnpqrstvwxz2456789", hash.p[i]))
			return false;
	return true;
}

static struct str sandbox_key(struct arena *a, const cJSON *o, struct str name)
{
	return arena_fmt(a, "%.*s/%.*s", STR_ARG(state_namespace(o)),
			 STR_ARG(name));
}

static int cmp_keys(const void *x, const void *y)
{
	return str_cmp(*(const struct str *)x, *(const struct str *)y);
}

static bool is_of_pool(const struct cluster *c, const cJSON *pod,
		       const cJSON *owner)
{
	struct str key = sandbox_key(c->a, pod, json_find_str(owner, "name"));

	return str_is(json_find_str(owner, "kind"), "Sandbox") &&
	       c->sandboxes.n &&
	       bsearch(&key, c->sandboxes.v, c->sandboxes.n, sizeof(key),
		       cmp_keys);
}

static bool makes_pod(const struct cluster *c, const struct cluster_part *part,
		      const cJSON *pod, const cJSON *owner)
{
	if (!part->pod || part->pod == part->object)
		return false;
	if (part->sandbox)
		return is_of_pool(c, pod, owner);
	if (str_is(part_kind(part), "Deployment"))
		return is_replica(part, owner);
	return is_owner(owner, part_kind(part), part_name(part));
}

/* It waits in the pool, or was claimed out of it, or its Pods say that they are
 * this plan's. */
static bool makes_sandbox(const struct cluster_part *part, const cJSON *o)
{
	const cJSON *meta = cJSON_GetObjectItemCaseSensitive(o, "metadata");
	const cJSON *notes =
		cJSON_GetObjectItemCaseSensitive(meta, "annotations");
	const cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec");

	return is_owner(owner_of(o), STR(POOL), part_name(part)) ||
	       str_eq(json_find_str(notes, TEMPLATE_OF), part_name(part)) ||
	       str_eq(state_label(cJSON_GetObjectItemCaseSensitive(
					  spec, "podTemplate"),
				  KUBE_PLAN_LABEL),
		      part_label(part->object, KUBE_PLAN_LABEL));
}

const struct cluster_part *made_of(const struct cluster *c, const cJSON *o)
{
	bool pod = str_is(state_kind(o), "Pod");
	const cJSON *owner = owner_of(o);

	vec_each(part, &c->parts) {
		if (pod && owner && makes_pod(c, part, o, owner))
			return part;
		if (part->sandbox && str_is(state_kind(o), "Sandbox") &&
		    makes_sandbox(part, o))
			return part;
	}
	return NULL;
}

const struct kube_node *made_as(const struct cluster_part *part,
				const cJSON *o, const char **out_root)
{
	bool pod = str_is(state_kind(o), "Pod");

	*out_root = pod ? "made" : "pooled";
	return pod ? part->pod : part->sandbox;
}

void made_begin(struct cluster *c, const struct cluster_state *s)
{
	vec_each(p, &c->plan.all)
		add_part(c, p);
	vec_each(o, &s->items)
		if (str_is(state_kind(*o), "Sandbox") && made_of(c, *o))
			*vec_push(c->a, &c->sandboxes) =
				sandbox_key(c->a, *o, state_name(*o));
	vec_sort(&c->sandboxes, cmp_keys);
}
