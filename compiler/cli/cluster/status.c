/* What a Pod's status says: what its gate does, and what images its containers
 * run, by the node's account. */
#include "compiler/cli/cluster/parts.h"

#define SHA "@sha256:"

static struct str digest_of(struct str image)
{
	size_t at = str_find(image, '@', 0);
	struct str rest = str_slice(image, at, image.n);

	return str_starts(rest, STR(SHA))
		       ? str_slice(rest, sizeof(SHA) - 1, rest.n)
		       : (struct str){0};
}

static const struct kube_node *container_of(const struct kube_node *spec,
					    const char *list, struct str name)
{
	const struct kube_node *l = kube_tree_get(spec, list);

	if (!l)
		return NULL;
	vec_each(c, &l->items) {
		const struct kube_node *n = kube_tree_get(*c, "name");

		if (n && str_eq(n->text, name))
			return *c;
	}
	return NULL;
}

/* The digest that was pulled. A node that was given an image without a
 * registry has none of it, and of a container that waits nothing is known. */
static void compare_image(struct arena *a, const struct kube_node *container,
			  const cJSON *status, const char *path,
			  struct cluster_object *out)
{
	const struct kube_node *image = kube_tree_get(container, "image");
	struct str want = digest_of(image->text);
	struct str got = digest_of(json_find_str(status, "imageID"));
	struct cluster_diff *d;

	if (want.n == 0 || got.n == 0) {
		out->unproved++;
		return;
	}
	if (str_eq(want, got)) {
		out->proved++;
		return;
	}
	d = vec_push(a, &out->diffs);
	d->path = arena_fmt(a, "%s.imageID", path);
	d->cluster = json_compact(
		a, json_str(view_cleaned(a, json_find_str(status, "imageID"))));
	d->plan = json_compact(a, json_str(image->text));
	d->by = image;
}

static const char *gate_state(const cJSON *status)
{
	const cJSON *state = cJSON_GetObjectItemCaseSensitive(status, "state");

	if (cJSON_GetObjectItemCaseSensitive(state, "terminated"))
		return "ended";
	return json_find_true(status, "started") &&
			       json_find_true(status, "ready")
		       ? "ready"
		       : "not ready";
}

static void read_statuses(struct arena *a, const struct kube_node *spec,
			  const char *containers, const char *key,
			  const cJSON *pod, struct cluster_object *out)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(
		cJSON_GetObjectItemCaseSensitive(pod, "status"), key);
	const cJSON *s;
	unsigned i = 0;

	cJSON_ArrayForEach(s, list) {
		struct str name = json_find_str(s, "name");
		const struct kube_node *c =
			container_of(spec, containers, name);

		if (str_is(name, "gate"))
			out->gate = gate_state(s);
		if (c)
			compare_image(a, c, s,
				      arena_fmt(a, "status.%s[%u]", key, i).p,
				      out);
		i++;
	}
}

void cluster_status(struct arena *a, const struct kube_node *spec,
		    const cJSON *pod, struct cluster_object *out)
{
	out->gate = container_of(spec, "initContainers", STR("gate")) ||
				    container_of(spec, "containers",
						 STR("gate"))
			    ? "unknown"
			    : "apart";
	read_statuses(a, spec, "initContainers", "initContainerStatuses", pod,
		      out);
	read_statuses(a, spec, "containers", "containerStatuses", pod, out);
}
