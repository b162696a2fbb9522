/* The objects of one plan as trees, for what compares them with others. */
#include "compiler/emit/kubernetes/parts.h"

/* A Deployment's and a Job's, and what agents.x-k8s.io calls its own. */
static struct kube_node *template_of(const struct kube_node *object)
{
	const struct kube_node *spec = kube_tree_get(object, "spec");
	struct kube_node *t = kube_tree_get(spec, "template");

	return t ? t : kube_tree_get(spec, "podTemplate");
}

bool kube_objects(const struct emit_in *in, struct kube_objects *out)
{
	/* The trees borrow its digest. */
	struct kube *k = arena_new_of(in->a, struct kube);
	struct kube_node *trees[KUBE_APPLIED_MAX];
	struct plan p;
	size_t n;

	*out = (struct kube_objects){0};
	if (!kube_plan(in, &p, out->digest))
		return false;
	*k = kube_begin(in, out->digest);
	vec_push(in->a, &out->all)->object = kube_configmap_tree(k, &p);
	n = kube_applied_trees(k, trees);
	for (size_t i = 0; i < n; i++)
		*vec_push(in->a, &out->all) = (struct kube_planned){
			trees[i], template_of(trees[i])};
	return true;
}
