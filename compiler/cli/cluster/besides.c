/* Policies of somebody's that are about a plan's Pods, too: they add up. */
#include "compiler/cli/cluster/parts.h"

#include <string.h>

/* Which Pods, and what it lets through, as each kind calls it. */
static const struct {
	const char *kind, *selector;
} kinds[] = {
	{"NetworkPolicy", "podSelector"},
	{"CiliumNetworkPolicy", "endpointSelector"},
	{"CiliumClusterwideNetworkPolicy", "endpointSelector"},
};

/* Cilium says where a label is from: Kubernetes, or wherever. */
static const char *label_name(const char *label)
{
	static const char *const sources[] = {"k8s:", "any:"};

	for (size_t i = 0; i < ARRAY_LEN(sources); i++)
		if (strncmp(label, sources[i], strlen(sources[i])) == 0)
			return label + strlen(sources[i]);
	return label;
}

/* Might they be of a Pod like that? What else than its own labels is asked for
 * (an expression, a namespace) counts as a yes. */
static bool might_select(const struct kube_node *pod, const cJSON *selector)
{
	const cJSON *labels =
		cJSON_GetObjectItemCaseSensitive(selector, "matchLabels");
	const cJSON *l;

	cJSON_ArrayForEach(l, labels) {
		const char *name = label_name(l->string);

		if (strncmp(name, "io.kubernetes.", 14) == 0 ||
		    strncmp(name, "io.cilium.", 10) == 0)
			continue;
		if (!cJSON_IsString(l) ||
		    !str_is(part_label(pod, name), l->valuestring))
			return false;
	}
	return true;
}

static bool lets_through(const cJSON *spec)
{
	return cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(spec, "egress")) ||
	       cJSON_GetArraySize(
		       cJSON_GetObjectItemCaseSensitive(spec, "ingress"));
}

static bool spec_widens(const struct cluster *c, const cJSON *spec,
			const char *selector)
{
	if (!lets_through(spec))
		return false;
	vec_each(part, &c->parts)
		if (part->pod &&
		    might_select(part->pod, cJSON_GetObjectItemCaseSensitive(
						    spec, selector)))
			return true;
	return false;
}

/* Where there is any of the plan; of what has no namespace: anywhere. */
static bool is_near(const struct cluster *c, const cJSON *o)
{
	struct str ns = state_namespace(o);

	vec_each(one, &c->objects)
		if (one->end <= CLUSTER_DIFFERS &&
		    (!ns.n || str_eq(one->ns, ns)))
			return true;
	return false;
}

bool besides_widens(const struct cluster *c, const cJSON *o)
{
	const cJSON *spec = cJSON_GetObjectItemCaseSensitive(o, "spec");
	const cJSON *specs = cJSON_GetObjectItemCaseSensitive(o, "specs");
	const cJSON *one;

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		if (!str_is(state_kind(o), kinds[i].kind) || !is_near(c, o))
			continue;
		if (spec_widens(c, spec, kinds[i].selector))
			return true;
		cJSON_ArrayForEach(one, specs)
			if (spec_widens(c, one, kinds[i].selector))
				return true;
	}
	return false;
}
