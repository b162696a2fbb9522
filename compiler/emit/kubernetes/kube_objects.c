/* The objects of one plan as trees, for what compares them with others. */
#include "compiler/emit/kubernetes/parts.h"

static struct kube_node *template_of(const struct kube *k,
				     const struct kube_node *workload)
{
	const struct kube_node *spec = kube_tree_get(workload, "spec");

	switch (k->o->kind) {
	case KUBE_POD:
	case KUBE_TEMPLATE: /* sandboxes are between: of a controller's */
		break;
	case KUBE_JOB:
	case KUBE_DEPLOYMENT:
		return kube_tree_get(spec, "template");
	case KUBE_SANDBOX:
		return kube_tree_get(spec, "podTemplate");
	}
	return NULL;
}

bool kube_objects(const struct emit_in *in, struct kube_objects *out)
{
	/* The trees borrow its digest. */
	struct kube *k = arena_new_of(in->a, struct kube);
	struct plan p;

	*out = (struct kube_objects){0};
	if (!kube_plan(in, &p, out->digest))
		return false;
	*k = kube_begin(in, out->digest);
	out->configmap = kube_configmap_tree(k, &p);
	out->network = kube_network_tree(k);
	out->workload = kube_pod_tree(k);
	out->template = template_of(k, out->workload);
	return true;
}
