/* The reader of networkpolicy.yaml, and of the labels of Pods. */
#include "compiler/prove/backstop.h"

struct reader {
	struct arena *a;
	struct manifest_fault *fault;
};

static bool fails(struct reader *r, uint32_t line, const char *what)
{
	*r->fault =
		(struct manifest_fault){line, arena_str(r->a, str_of(what))};
	return false;
}

/* A map that has none but these keys; NULL at the end. */
static bool is_map(struct reader *r, const struct manifest_node *n,
		   const char *const *keys)
{
	if (n->kind != MANIFEST_MAP)
		return fails(r, n->line, "a map belongs there");
	vec_each(m, &n->members) {
		size_t i = 0;

		while (keys[i] && !str_is(m->key, keys[i]))
			i++;
		if (!keys[i])
			return fails(r, m->line,
				     "a key that no plan has there");
	}
	return true;
}

static bool is_list(struct reader *r, const struct manifest_node *n)
{
	return n->kind == MANIFEST_LIST ||
	       fails(r, n->line, "a list belongs there");
}

static bool read_labels(struct reader *r, const struct manifest_node *n,
			backstop_labels *out)
{
	if (!n)
		return true;
	if (n->kind != MANIFEST_MAP)
		return fails(r, n->line, "a map of labels belongs there");
	vec_each(m, &n->members) {
		if (m->value->kind != MANIFEST_TEXT)
			return fails(r, m->line, "a label that is no text");
		*vec_push(r->a, out) =
			(struct backstop_label){m->key, m->value->text};
	}
	return true;
}

static bool read_selector(struct reader *r, const struct manifest_node *n,
			  backstop_labels *out)
{
	static const char *const keys[] = {"matchLabels", NULL};

	return is_map(r, n, keys) &&
	       read_labels(r, manifest_get(n, "matchLabels"), out);
}

/* --- ports -----------------------------------------------------------------
 */

static bool read_proto(struct reader *r, const struct manifest_node *n,
		       uint32_t *out)
{
	static const struct {
		const char *word;
		uint32_t number;
	} protos[] = {{"TCP", BACKSTOP_TCP},
		      {"UDP", BACKSTOP_UDP},
		      {"SCTP", BACKSTOP_SCTP}};

	*out = BACKSTOP_TCP; /* the API's default */
	for (size_t i = 0; n && i < ARRAY_LEN(protos); i++)
		if (str_is(manifest_text(n), protos[i].word)) {
			*out = protos[i].number;
			return true;
		}
	return !n || fails(r, n->line, "no protocol of a NetworkPolicy's");
}

static bool read_number(struct reader *r, const struct manifest_node *n,
			uint32_t *out)
{
	uint64_t v;

	if (!manifest_number(n, UINT16_MAX, &v) || v == 0)
		return fails(r, n->line, "no number of a port");
	*out = (uint32_t)v;
	return true;
}

static bool read_port(struct reader *r, const struct manifest_node *n,
		      struct backstop_port *out)
{
	static const char *const keys[] = {"port", "endPort", "protocol", NULL};
	const struct manifest_node *lo, *hi;

	*out = (struct backstop_port){
		.line = n->line, .lo = 1, .hi = UINT16_MAX};
	if (!is_map(r, n, keys) ||
	    !read_proto(r, manifest_get(n, "protocol"), &out->proto))
		return false;
	lo = manifest_get(n, "port");
	hi = manifest_get(n, "endPort");
	if (!lo)
		return !hi || fails(r, hi->line, "an endPort without a port");
	if (!read_number(r, lo, &out->lo))
		return false;
	out->hi = out->lo;
	if (!hi)
		return true;
	if (!read_number(r, hi, &out->hi))
		return false;
	return out->hi >= out->lo ||
	       fails(r, hi->line, "an endPort below its port");
}

/* --- peers -----------------------------------------------------------------
 */

/* Go takes ::ffff:192.0.2.0/120 for a network of IPv4: no plan has one. */
static bool read_net(struct reader *r, const struct manifest_node *n,
		     struct cidr *out)
{
	struct addr v4;

	return (n->kind == MANIFEST_TEXT &&
		str_find(n->text, '/', 0) < n->text.n &&
		cidr_parse(n->text, out) == CIDR_OK &&
		!addr_mapped(&out->addr, &v4)) ||
	       fails(r, n->line, "no network");
}

static bool read_block(struct reader *r, const struct manifest_node *n,
		       struct backstop_peer *out)
{
	static const char *const keys[] = {"cidr", "except", NULL};
	const struct manifest_node *list;

	if (!is_map(r, n, keys))
		return false;
	if (!manifest_get(n, "cidr"))
		return fails(r, n->line, "an ipBlock without a network");
	if (!read_net(r, manifest_get(n, "cidr"), &out->net))
		return false;
	list = manifest_get(n, "except");
	if (!list)
		return true;
	if (!is_list(r, list))
		return false;
	vec_each(m, &list->members) {
		struct backstop_net hole = {.line = m->line};

		if (!read_net(r, m->value, &hole.net))
			return false;
		if (hole.net.bits <= out->net.bits ||
		    !cidr_covers(&out->net, &hole.net))
			return fails(
				r, m->line,
				"a network that is not inside of its block's");
		*vec_push(r->a, &out->except) = hole;
	}
	return true;
}

static bool read_peer(struct reader *r, const struct manifest_node *n,
		      struct backstop_peer *out)
{
	static const char *const keys[] = {"ipBlock", "podSelector", NULL};
	const struct manifest_node *block, *pods;

	out->line = n->line;
	if (!is_map(r, n, keys))
		return false;
	block = manifest_get(n, "ipBlock");
	pods = manifest_get(n, "podSelector");
	if (!block == !pods)
		return fails(r, n->line, "a peer is an ipBlock or Pods");
	out->is_pods = pods != NULL;
	if (manifest_get(block, "cidr"))
		out->line = manifest_get(block, "cidr")->line;
	return pods ? read_selector(r, pods, &out->labels)
		    : read_block(r, block, out);
}

/* --- rules -----------------------------------------------------------------
 */

static bool read_rule(struct reader *r, const struct manifest_node *n,
		      enum backstop_way way, struct backstop_rule *out)
{
	const char *end = way == BACKSTOP_OUT ? "to" : "from";
	const char *const keys[] = {"ports", end, NULL};
	const struct manifest_node *ports, *peers;

	out->line = n->line;
	if (!is_map(r, n, keys))
		return false;
	ports = manifest_get(n, "ports");
	peers = manifest_get(n, end);
	if ((ports && !is_list(r, ports)) || (peers && !is_list(r, peers)))
		return false;
	if (ports)
		vec_each(m, &ports->members)
			if (!read_port(r, m->value,
				       vec_push(r->a, &out->ports)))
				return false;
	if (peers)
		vec_each(m, &peers->members)
			if (!read_peer(r, m->value,
				       vec_push(r->a, &out->peers)))
				return false;
	return true;
}

static bool read_rules(struct reader *r, const struct manifest_node *n,
		       enum backstop_way way, backstop_rules *out)
{
	if (!n)
		return true;
	if (!is_list(r, n))
		return false;
	vec_each(m, &n->members)
		if (!read_rule(r, m->value, way, vec_push(r->a, out)))
			return false;
	return true;
}

/* Where nothing is written, the API server writes Ingress, and Egress if there
 * is any rule of it: networking/v1, SetDefaults_NetworkPolicy. */
static bool read_types(struct reader *r, const struct manifest_node *n,
		       struct backstop_policy *out)
{
	if (!n) {
		out->holds[BACKSTOP_IN] = true;
		out->holds[BACKSTOP_OUT] = out->rules[BACKSTOP_OUT].n > 0;
		return true;
	}
	if (!is_list(r, n))
		return false;
	if (n->members.n == 0)
		return read_types(r, NULL, out);
	vec_each(m, &n->members) {
		bool in = str_is(manifest_text(m->value), "Ingress");

		if (!in && !str_is(manifest_text(m->value), "Egress"))
			return fails(r, m->line,
				     "no type of a NetworkPolicy's");
		out->holds[in ? BACKSTOP_IN : BACKSTOP_OUT] = true;
	}
	return true;
}

static bool read_spec(struct reader *r, const struct manifest_node *n,
		      struct backstop_policy *out)
{
	static const char *const keys[] = {"egress", "ingress", "podSelector",
					   "policyTypes", NULL};
	const struct manifest_node *selector = manifest_get(n, "podSelector");

	if (!is_map(r, n, keys))
		return false;
	if (!selector)
		return fails(r, n->line,
			     "a NetworkPolicy without a podSelector");
	return read_selector(r, selector, &out->selects) &&
	       read_rules(r, manifest_get(n, "egress"), BACKSTOP_OUT,
			  &out->rules[BACKSTOP_OUT]) &&
	       read_rules(r, manifest_get(n, "ingress"), BACKSTOP_IN,
			  &out->rules[BACKSTOP_IN]) &&
	       read_types(r, manifest_get(n, "policyTypes"), out);
}

static bool read_policy(struct reader *r, const struct manifest_node *n,
			struct backstop_policy *out)
{
	static const char *const keys[] = {"apiVersion", "kind", "metadata",
					   "spec", NULL};
	/* With a namespace of its own it would be about other Pods. */
	static const char *const metadata[] = {"name", "labels", NULL};
	const struct manifest_node *spec = manifest_get(n, "spec");

	out->line = n->line;
	if (!is_map(r, n, keys))
		return false;
	if (!str_is(manifest_text(manifest_get(n, "apiVersion")),
		    "networking.k8s.io/v1") ||
	    !str_is(manifest_text(manifest_get(n, "kind")), "NetworkPolicy"))
		return fails(r, n->line, "no NetworkPolicy");
	if (!spec || !manifest_get(n, "metadata"))
		return fails(r, n->line, "a NetworkPolicy without its parts");
	return is_map(r, manifest_get(n, "metadata"), metadata) &&
	       read_spec(r, spec, out);
}

bool backstop_read(struct arena *a, struct str text, struct backstop *out,
		   struct manifest_fault *fault)
{
	struct reader r = {a, fault};
	struct manifest m;

	*out = (struct backstop){0};
	if (!manifest_documents(a, text, &m, fault))
		return false;
	vec_each(n, &m.documents)
		if (!read_policy(&r, *n, vec_push(a, &out->policies)))
			return false;
	return true;
}

/* --- Pods ------------------------------------------------------------------
 */

/* Metadata of the Pods that an object makes; NULL: it makes none. */
static const struct manifest_node *pod_of(const struct manifest_node *n)
{
	const struct manifest_node *spec = manifest_get(n, "spec"), *t;

	if (str_is(manifest_text(manifest_get(n, "kind")), "Pod"))
		return manifest_get(n, "metadata");
	t = manifest_get(spec, "template");
	t = t ? t : manifest_get(spec, "podTemplate");
	return manifest_get(t, "metadata");
}

bool backstop_pod(struct arena *a, struct str text, backstop_labels *out,
		  struct manifest_fault *fault)
{
	struct reader r = {a, fault};
	struct manifest m;

	*out = (backstop_labels){0};
	if (!manifest_documents(a, text, &m, fault))
		return false;
	vec_each(n, &m.documents) {
		const struct manifest_node *pod = pod_of(*n);

		if (pod)
			return read_labels(&r, manifest_get(pod, "labels"),
					   out);
	}
	return fails(&r, 1, "nothing there makes a Pod");
}
