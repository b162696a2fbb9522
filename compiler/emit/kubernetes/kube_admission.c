/*
 * What an API server admits: its policy, a text that is the same for each
 * plan, and behind it the list of plans, which has this one.
 */
#include "compiler/emit/kubernetes/parts.h"

static const char policy[] =
#include "compiler/emit/kubernetes/admission.yaml.inc"
	;

/* "1=API_TOKEN,2=OTHER": which key of the Secret is which file of the gate's.
 * A key that holds one of these signs is none that an API server takes. */
static void put_credentials(const struct kube *k, struct kube_node *data)
{
	unsigned i = 0;
	struct buf b;

	if (k->policy->credentials.n == 0)
		return;
	buf_init(&b, k->a);
	vec_each(c, &k->policy->credentials) {
		buf_addf(&b, "%s%u=%.*s", i ? "," : "", i + 1,
			 STR_ARG(c->source));
		kube_tree_from(k->in, data, &c->from);
		i++;
	}
	kube_tree_text(data, arena_fmt(k->a, "credentials-%s", k->digest).p,
		       buf_str(&b));
}

/* One list for a cluster, whatever the Pods are called. */
struct kube_node *kube_admission_tree(const struct kube *k)
{
	struct kube_node *meta, *root, *data;

	root = kube_object(k, "v1", "ConfigMap", STR("membrane-plans"), &meta);
	kube_tree_word(meta, "namespace", "membrane-system");
	data = kube_tree_map(root, "data");
	put_credentials(k, data);
	kube_tree_text(data, arena_fmt(k->a, KUBE_PLAN_NAME "%s", k->digest).p,
		       k->o->gate_image);
	kube_tree_flag(data, "--gate-image");
	return root;
}

bool kube_admission_emit(const struct emit_in *in, struct buf *out)
{
	buf_adds(out, policy);
	buf_adds(out, "---\n");
	return kube_object_emit(in, kube_admission_tree, out);
}
