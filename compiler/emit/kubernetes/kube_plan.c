/*
 * The plan as a ConfigMap: what the gate reads, sealed by a manifest of its
 * own, whose digest is the name. And kubernetes.json, which is part of it.
 */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/ir/published.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/kubernetes_json.h"
#include "compiler/plan/manifest.h"

#include <stdlib.h>

/* What etcd and the API take of one object, with some room for its head. */
#define CONFIGMAP_BYTES ((1u << 20) - 4096u)

/* The rest of a plan is for people, and for other engines. */
static const char *const read_by_gate[] = {
	PLAN_ADDRS, PLAN_GATE,	PLAN_HOSTS,    PLAN_KUBERNETES, PLAN_LEAVES,
	PLAN_LUA,   PLAN_NAMES, PLAN_PROFILES, PLAN_PROVENANCE, PLAN_RULESET,
};

bool kube_json_emit(const struct emit_in *in, struct buf *out)
{
	cJSON *root, *list;

	if (!kube_check(in))
		return false;
	root = json_object();
	json_put_u64(root, DOCKER_JSON_VERSION_KEY, DOCKER_JSON_VERSION);
	json_put_cstr(root, DOCKER_JSON_ENGINE, KUBERNETES_JSON_ENGINE);
	json_put_cstr(root, DOCKER_JSON_LINK,
		      kube_apart(in) ? DOCKER_JSON_APART : DOCKER_JSON_WIRE);
	if (kube_apart(in))
		kube_apart_json(in, root);
	if (in->policy->ports.n) {
		list = json_array();
		vec_each(t, &in->policy->ports) {
			struct ir_published p;
			cJSON *o = json_object();

			if (published_parse(t->s, &p))
				abort(); /* bound */
			json_put_u64(o, DOCKER_JSON_TO, p.to);
			json_push(list, o);
		}
		json_put(root, DOCKER_JSON_PUBLISHED, list);
	}
	json_add(out, root);
	return true;
}

static size_t plan_bytes(const struct plan *p)
{
	size_t n = 0;

	vec_each(f, &p->files)
		n += f->data.n;
	return n;
}

/* Several manifests have its digest; one says what is wrong. False. */
static bool refuse_large(const struct emit_in *in, const struct plan *p)
{
	const struct plan_file *largest = p->files.v;

	vec_each(f, &p->files)
		if (f->data.n > largest->data.n)
			largest = f;
	diag_error(
		in->diags, DIAG_POD, (struct span){0},
		"a plan of %zu bytes: a ConfigMap takes a megabyte, and %.*s alone has %zu",
		plan_bytes(p), STR_ARG(largest->name), largest->data.n);
	diag_help(
		in->diags,
		"grant patterns ('*.example.com') and networks in the place of many single ones, or give what differs a Pod of its own");
	return false;
}

bool kube_plan(const struct emit_in *in, struct plan *out,
	       char digest[SHA256_HEX_MAX])
{
	struct str manifest;

	*out = (struct plan){0};
	for (size_t i = 0; i < ARRAY_LEN(read_by_gate); i++) {
		const struct plan_file *f =
			plan_file(in->made, read_by_gate[i]);

		if (f)
			plan_add(in->a, out, f->name, f->data);
	}
	manifest = plan_manifest(in->a, out);
	sha256_hex(manifest, digest);
	plan_add(in->a, out, STR(MANIFEST_NAME), manifest);
	return plan_bytes(out) <= CONFIGMAP_BYTES;
}

struct kube_node *kube_configmap_tree(const struct kube *k,
				      const struct plan *p)
{
	struct kube_node *root, *meta, *data;

	root = kube_object(k, "v1", "ConfigMap",
			   arena_fmt(k->a, KUBE_PLAN_NAME "%s", k->digest),
			   &meta);
	kube_labels_put(k, meta, NULL);
	kube_tree_bool(root, "immutable", true);
	data = kube_tree_map(root, "data");
	vec_each(f, &p->files)
		kube_tree_text(data, arena_cstr(k->a, f->name), f->data);
	return root;
}

bool kube_configmap_emit(const struct emit_in *in, struct buf *out)
{
	char digest[SHA256_HEX_MAX];
	struct kube_node *root;
	struct plan p;
	struct kube k;

	if (!kube_plan(in, &p, digest))
		return refuse_large(in, &p);
	k = kube_begin(in, digest);
	root = kube_configmap_tree(&k, &p);
	kube_tree_write(k.a, &root, 1, out);
	return true;
}
