/* The files of manifests, which objects are in each, and the list of what is
 * applied together. */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/plan/files.h"

#define TREES_MAX 2u

/* The objects of one file, in their order. */
struct file {
	const char *name;
	/* NULL behind the last */
	struct kube_node *(*trees[TREES_MAX + 1])(const struct kube *k);
};
#define FILES_MAX 3u

static const struct file pod_file = {PLAN_POD, {kube_pod_tree}};
static const struct file pool_file = {PLAN_POD,
				      {kube_pod_tree, kube_pool_tree}};
static const struct file gate_file = {
	PLAN_GATE_POD, {kube_apart_service, kube_apart_deployment}};
static const struct file admission_file = {PLAN_ADMISSION,
					   {kube_admission_tree}};
static const struct file network_file = {PLAN_NETWORKPOLICY,
					 {kube_network_tree}};
static const struct file cilium_file = {PLAN_CILIUM, {kube_cilium_tree}};
static const struct file apart_network_file = {
	PLAN_NETWORKPOLICY,
	{kube_apart_agent_network, kube_apart_gate_network}};

static const struct file *network_of(const struct emit_in *in)
{
	return kube_apart(in) ? &apart_network_file : &network_file;
}

static const struct file *pod_of(const struct emit_in *in)
{
	return in->kubernetes->kind == KUBE_TEMPLATE ? &pool_file : &pod_file;
}

/* In the order in which they are applied, behind the ConfigMap: what keeps a
 * Pod comes before it. Two policies of one Pod add up: that of names goes
 * alone. */
static size_t files_applied(const struct emit_in *in,
			    const struct file *out[FILES_MAX])
{
	size_t n = 0;

	out[n++] = in->kubernetes->cilium ? &cilium_file : network_of(in);
	if (kube_apart(in))
		out[n++] = &gate_file;
	out[n++] = pod_of(in);
	return n;
}

static size_t make_trees(const struct kube *k, const struct file *f,
			 struct kube_node *out[TREES_MAX])
{
	size_t n = 0;

	while (f->trees[n]) {
		out[n] = f->trees[n](k);
		n++;
	}
	return n;
}

/* Each object says of what plan it is. */
static bool emit_file(const struct emit_in *in, const struct file *f,
		      struct buf *out)
{
	struct kube_node *roots[TREES_MAX];
	char digest[SHA256_HEX_MAX];
	struct plan p;
	struct kube k;
	size_t n;

	if (!kube_plan(in, &p, digest))
		return false;
	k = kube_begin(in, digest);
	n = make_trees(&k, f, roots);
	kube_tree_write(k.a, roots, n, out);
	return true;
}

bool kube_object_emit(const struct emit_in *in,
		      struct kube_node *(*tree)(const struct kube *k),
		      struct buf *out)
{
	const struct file one = {NULL, {tree}};

	return emit_file(in, &one, out);
}

bool kube_run_emit(const struct emit_in *in, struct kube_applied *out)
{
	char digest[SHA256_HEX_MAX];
	struct kube_node *roots[3];
	struct plan p;
	struct buf b;
	struct kube k;

	if (!kube_plan(in, &p, digest))
		return false;
	k = kube_begin(in, digest);
	roots[0] = kube_configmap_tree(&k, &p);
	roots[1] = kube_network_tree(&k);
	roots[2] = kube_pod_tree(&k);
	buf_init(&b, k.a);
	kube_tree_write(k.a, roots, ARRAY_LEN(roots), &b);
	*out = (struct kube_applied){buf_str(&b), kube_name(&k)};
	return true;
}

bool kube_pod_emit(const struct emit_in *in, struct buf *out)
{
	return emit_file(in, pod_of(in), out);
}

bool kube_gate_emit(const struct emit_in *in, struct buf *out)
{
	return emit_file(in, &gate_file, out);
}

bool kube_cilium_emit(const struct emit_in *in, struct buf *out)
{
	return emit_file(in, &cilium_file, out);
}

bool kube_network_emit(const struct emit_in *in, struct buf *out)
{
	return emit_file(in, network_of(in), out);
}

size_t kube_applied_trees(const struct kube *k,
			  struct kube_node *out[KUBE_APPLIED_MAX])
{
	const struct file *files[FILES_MAX];
	size_t n_files = files_applied(k->in, files), n = 0;

	_Static_assert(KUBE_APPLIED_MAX == FILES_MAX * TREES_MAX, "room");
	for (size_t i = 0; i < n_files; i++)
		n += make_trees(k, files[i], out + n);
	return n;
}

bool kube_kustomization_emit(const struct emit_in *in, struct buf *out)
{
	struct kube_node *root = kube_tree_root(in->a), *list;
	const struct file *files[FILES_MAX];
	size_t n = files_applied(in, files);

	kube_tree_word(root, "apiVersion", "kustomize.config.k8s.io/v1beta1");
	kube_tree_word(root, "kind", "Kustomization");
	list = kube_tree_list(root, "resources");
	kube_tree_word(list, NULL, PLAN_CONFIGMAP);
	for (size_t i = 0; i < n; i++)
		kube_tree_word(list, NULL, files[i]->name);
	kube_tree_write(in->a, &root, 1, out);
	return true;
}

/* Of several objects paths begin with the object's place: "[1].spec". */
static void put_fields(const struct kube *k, cJSON *all, const struct file *f)
{
	struct kube_node *roots[TREES_MAX];
	size_t n = make_trees(k, f, roots);
	cJSON *one = json_object();

	for (size_t i = 0; i < n; i++)
		kube_tree_causes(roots[i],
				 n > 1 ? arena_fmt(k->a, "[%zu]", i).p : "",
				 one);
	json_put(all, f->name, one);
}

cJSON *kube_fields(const struct emit_in *in)
{
	struct kube k = kube_begin(in, "");
	cJSON *all;

	if (!kube_check(in))
		return NULL;
	all = json_object();
	put_fields(&k, all, kube_apart(in) ? &gate_file : &admission_file);
	if (k.o->cilium)
		put_fields(&k, all, &cilium_file);
	put_fields(&k, all, network_of(in));
	put_fields(&k, all, pod_of(in));
	return all;
}
