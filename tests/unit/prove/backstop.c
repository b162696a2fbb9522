/*
 * networkpolicy.yaml that was edited by hand: each of these lets through what
 * the policy does not, or keeps back what it does, or is none of a plan's; and
 * a proof has to say so, of the Pod with its gate and of the two.
 */
#include "compiler/emit/nft/nft.h"
#include "compiler/emit/parts.h"
#include "compiler/prove/prove.h"

#include "tests/check.h"
#include "tests/policy.h"

#include <string.h>

static const char *const wire = "allow 203.0.113.0/24 tcp/443,tcp/8000-8100\n"
				"allow 10.1.0.0/16 udp/53\n"
				"deny 203.0.113.64/26\n"
				"deny 203.0.113.7 tcp/443\n";
static const char *const apart = "allow a.test tcp/80\n";

#define HEAD                                                                   \
	"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"              \
	"metadata: {name: a, labels: {a: b}}\nspec:\n"
static const char *const wire_network = HEAD
	"  egress:\n"
	"  - ports: [{port: 443, protocol: TCP}]\n"
	"    to:\n"
	"    - ipBlock: {cidr: 203.0.113.0/24, except: [203.0.113.7/32, 203.0.113.64/26]}\n"
	"  - ports: [{port: 8000, endPort: 8100, protocol: TCP}]\n"
	"    to:\n"
	"    - ipBlock: {cidr: 203.0.113.0/24, except: [203.0.113.64/26]}\n"
	"  - ports: [{port: 53, protocol: UDP}]\n"
	"    to:\n"
	"    - ipBlock: {cidr: 10.1.0.0/16}\n"
	"  ingress: []\n"
	"  podSelector: {matchLabels: {membrane/plan: abc}}\n"
	"  policyTypes: [Ingress, Egress]\n";
#define NEVER                                                                  \
	"0.0.0.0/8, 10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, "  \
	"172.16.0.0/12, 192.0.0.0/24, 192.168.0.0/16, 198.18.0.0/15, "         \
	"224.0.0.0/4, 240.0.0.0/4"
/* Of IPv6 nothing, which the policy permits: what is said of the agent comes
 * first. */
static const char *const apart_network = HEAD
	"  egress:\n"
	"  - ports: [{port: 53, protocol: UDP}, {port: 53}, {port: 80}]\n"
	"    to: [{podSelector: {matchLabels: {membrane/plan: abc, membrane/role: gate}}}]\n"
	"  podSelector: {matchLabels: {membrane/plan: abc, membrane/role: agent}}\n"
	"  policyTypes: [Ingress, Egress]\n"
	"---\n" HEAD "  egress:\n"
	"  - ports: [{port: 80}]\n"
	"    to: [{ipBlock: {cidr: 0.0.0.0/0, except: [" NEVER "]}}]\n"
	"  ingress:\n"
	"  - ports: [{port: 53, protocol: UDP}, {port: 53}, {port: 80}]\n"
	"    from: [{podSelector: {matchLabels: {membrane/plan: abc, membrane/role: agent}}}]\n"
	"  podSelector: {matchLabels: {membrane/plan: abc, membrane/role: gate}}\n";

static const char *const wire_pod =
	"kind: Pod\nmetadata: {labels: {membrane/plan: abc, n: x}}\n";
static const char *const agent_pod =
	"kind: Job\nspec: {template: {metadata: {labels: {membrane/plan: abc, membrane/role: agent}}}}\n";
static const char *const gate_pod =
	"kind: Service\nspec: {}\n---\nkind: Deployment\n"
	"spec: {podTemplate: {metadata: {labels: {membrane/plan: abc, membrane/role: gate}}}}\n";

struct edit {
	const char *was, *is;
	enum prove_end end;
};

static const struct edit edits[] = {
	/* --- what leaves -----------------------------------------------------
	 */
	{"203.0.113.7/32, ", "", PROVE_DIFFERS},
	{", 203.0.113.64/26]}\n  - p", "]}\n  - p", PROVE_DIFFERS},
	{"203.0.113.7/32", "203.0.113.6/32", PROVE_DIFFERS},
	{"203.0.113.7/32", "203.0.113.6/31", PROVE_DIFFERS},
	{"except: [203.0.113.64/26]", "except: [203.0.113.64/27]",
	 PROVE_DIFFERS},
	{"cidr: 10.1.0.0/16", "cidr: 10.0.0.0/15", PROVE_DIFFERS},
	{"cidr: 10.1.0.0/16", "cidr: 10.1.0.0/17", PROVE_DIFFERS},
	{"cidr: 10.1.0.0/16", "cidr: \"::/0\"", PROVE_DIFFERS},
	{"port: 443", "port: 444", PROVE_DIFFERS},
	{"{port: 443, protocol: TCP}", "{protocol: TCP}", PROVE_DIFFERS},
	{"[{port: 443, protocol: TCP}]", "[]", PROVE_DIFFERS},
	{"ports: [{port: 443, protocol: TCP}]\n    ", "", PROVE_DIFFERS},
	{"port: 443, protocol: TCP", "port: 443, protocol: UDP", PROVE_DIFFERS},
	{"port: 443, protocol: TCP", "port: 443, protocol: SCTP",
	 PROVE_DIFFERS},
	{"endPort: 8100", "endPort: 8101", PROVE_DIFFERS},
	{"endPort: 8100", "endPort: 8099", PROVE_DIFFERS},
	{", endPort: 8100", "", PROVE_DIFFERS},
	{"port: 53, protocol: UDP", "port: 53", PROVE_DIFFERS},
	{"    to:\n    - ipBlock: {cidr: 10.1.0.0/16}\n", "", PROVE_DIFFERS},
	{"    - ipBlock: {cidr: 10.1.0.0/16}\n",
	 "    - ipBlock: {cidr: 10.1.0.0/16}\n    - podSelector: {}\n",
	 PROVE_DIFFERS},
	{"    - ipBlock: {cidr: 10.1.0.0/16}\n", "    - podSelector: {}\n",
	 PROVE_DIFFERS},
	{"  ingress: []\n", "  - {}\n  ingress: []\n", PROVE_DIFFERS},
	{"policyTypes: [Ingress, Egress]", "policyTypes: [Ingress]",
	 PROVE_DIFFERS},
	/* --- what comes in, and whom it is about -----------------------------
	 */
	{"ingress: []", "ingress: [{}]", PROVE_DIFFERS},
	{"ingress: []", "ingress: [{from: [{ipBlock: {cidr: 8.8.8.8/32}}]}]",
	 PROVE_DIFFERS},
	{"ingress: []", "ingress: [{from: [{podSelector: {}}]}]",
	 PROVE_DIFFERS},
	{"policyTypes: [Ingress, Egress]", "policyTypes: [Egress]",
	 PROVE_DIFFERS},
	{"membrane/plan: abc", "membrane/plan: abd", PROVE_DIFFERS},
	{"{matchLabels: {membrane/plan: abc}}", "{}", PROVE_DIFFERS},
	{"membrane/plan: abc", "n: x", PROVE_DIFFERS},
	/* --- the same, otherwise ---------------------------------------------
	 */
	{"  policyTypes: [Ingress, Egress]\n", "", PROVE_AGREES},
	{"policyTypes: [Ingress, Egress]", "policyTypes: []", PROVE_AGREES},
	{"  ingress: []\n", "", PROVE_AGREES},
	{"endPort: 8100, protocol: TCP}",
	 "endPort: 8050, protocol: TCP}, {port: 8051, endPort: 8100}",
	 PROVE_AGREES},
	/* --- no language of plans' -------------------------------------------
	 */
	{"podSelector: {", "podSelector: {matchExpressions: [], ",
	 PROVE_UNREADABLE},
	{"    - ipBlock: {cidr: 10.1.0.0/16}\n",
	 "    - ipBlock: {cidr: 10.1.0.0/16}\n      podSelector: {}\n",
	 PROVE_UNREADABLE},
	{"    - ipBlock: {cidr: 10.1.0.0/16}\n", "    - {}\n",
	 PROVE_UNREADABLE},
	{"    - ipBlock: {cidr: 10.1.0.0/16}\n",
	 "    - namespaceSelector: {}\n", PROVE_UNREADABLE},
	{"{cidr: 10.1.0.0/16}", "{}", PROVE_UNREADABLE},
	{"10.1.0.0/16", "10.1.0.0", PROVE_UNREADABLE},
	{"10.1.0.0/16", "10.1.0.1/16", PROVE_UNREADABLE},
	{"10.1.0.0/16", "\"::ffff:10.1.0.0/112\"", PROVE_UNREADABLE},
	{"203.0.113.7/32", "8.8.8.8/32", PROVE_UNREADABLE},
	{"[203.0.113.64/26]", "203.0.113.64/26", PROVE_UNREADABLE},
	{"port: 443,", "port: \"443\",", PROVE_UNREADABLE},
	{"port: 443,", "port: https,", PROVE_UNREADABLE},
	{"port: 443,", "port: 0,", PROVE_UNREADABLE},
	{"port: 443,", "port: 65536,", PROVE_UNREADABLE},
	{"port: 443,", "endPort: 443,", PROVE_UNREADABLE},
	{"endPort: 8100", "endPort: 7999", PROVE_UNREADABLE},
	{"endPort: 8100", "endPort: x", PROVE_UNREADABLE},
	{"protocol: UDP", "protocol: ICMP", PROVE_UNREADABLE},
	{"protocol: UDP", "protocol: []", PROVE_UNREADABLE},
	{"[{port: 443, protocol: TCP}]", "{port: 443}", PROVE_UNREADABLE},
	{"[{port: 443, protocol: TCP}]", "[443]", PROVE_UNREADABLE},
	{"ingress: []", "ingress: {}", PROVE_UNREADABLE},
	{"ingress: []", "ingress: [x]", PROVE_UNREADABLE},
	{"ingress: []", "ingress:", PROVE_UNREADABLE},
	{"policyTypes: [Ingress, Egress]", "policyTypes: [Both]",
	 PROVE_UNREADABLE},
	{"policyTypes: [Ingress, Egress]", "policyTypes: Egress",
	 PROVE_UNREADABLE},
	{"  podSelector: {matchLabels: {membrane/plan: abc}}\n", "",
	 PROVE_UNREADABLE},
	{"matchLabels: {membrane/plan: abc}", "matchLabels: [abc]",
	 PROVE_UNREADABLE},
	{"membrane/plan: abc", "membrane/plan: [abc]", PROVE_UNREADABLE},
	{"{name: a, labels: {a: b}}", "{name: a, namespace: b}",
	 PROVE_UNREADABLE},
	{"metadata: {name: a, labels: {a: b}}\n", "", PROVE_UNREADABLE},
	{"networking.k8s.io/v1\n", "networking.k8s.io/v2\n", PROVE_UNREADABLE},
	{"kind: NetworkPolicy", "kind: Ingress", PROVE_UNREADABLE},
	{"spec:\n", "status: {}\nspec:\n", PROVE_UNREADABLE},
	/* --- no YAML of a writer's -------------------------------------------
	 */
	{"10.1.0.0/16", "&a 10.1.0.0/16", PROVE_UNREADABLE},
	{"10.1.0.0/16", "*a", PROVE_UNREADABLE},
	{"10.1.0.0/16", "!!str 10.1.0.0/16", PROVE_UNREADABLE},
	{"{cidr: 10.1.0.0/16}", "!x {cidr: 10.1.0.0/16}", PROVE_UNREADABLE},
	{"ingress: []", "ingress: !x []", PROVE_UNREADABLE},
	{"ingress: []", "<<: {ingress: []}", PROVE_UNREADABLE},
	{"ingress: []", "[a]: []", PROVE_UNREADABLE},
	{"ingress: []", "ingress: []\n  ingress: []", PROVE_UNREADABLE},
	{"ingress: []", "ingress: [", PROVE_UNREADABLE},
	{"ingress: []", "ingress: [[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]",
	 PROVE_UNREADABLE},
};

static const struct edit apart_edits[] = {
	{"membrane/role: gate}}}]", "membrane/role: agent}}}]", PROVE_DIFFERS},
	{", membrane/role: gate}}}]", "}}}]", PROVE_DIFFERS},
	{"{port: 53, protocol: UDP}, ", "", PROVE_DIFFERS},
	{"{port: 80}]\n    to: [{podS", "{port: 81}]\n    to: [{podS",
	 PROVE_DIFFERS},
	{"to: [{podSelector: {matchLabels: {membrane/plan: abc, membrane/role: gate}}}]",
	 "to: [{ipBlock: {cidr: 10.96.0.53/32}}]", PROVE_DIFFERS},
	{", membrane/role: agent}}\n  policyTypes", "}}\n  policyTypes",
	 PROVE_DIFFERS},
	{"from: [{podSelector: {matchLabels: {membrane/plan: abc, membrane/role: agent}}}]",
	 "from: []", PROVE_DIFFERS},
	{"{cidr: 0.0.0.0/0, ", "{cidr: \"::/0\", except: [], ",
	 PROVE_UNREADABLE},
};

static struct str edited(struct arena *a, const char *text,
			 const struct edit *e)
{
	const char *at = strstr(text, e->was);

	if (!at)
		return (struct str){0};
	return arena_fmt(a, "%.*s%s%s", (int)(at - text), text, e->is,
			 at + strlen(e->was));
}

static void prove(const char *policy, const struct prove_pods *pods,
		  struct test_policy *t, struct prove_out *out)
{
	struct prove_in in;

	CHECK(test_policy_make(t, policy));
	in = (struct prove_in){&t->policy, test_policy_emit(t, nft_emit),
			       test_policy_emit(t, names_emit), pods};
	prove_plan(t->a, &in, out);
}

static void check_end(const struct prove_out *out, enum prove_end end,
		      const char *what)
{
	CHECK_MSG(out->end == end, "%u and not %u: %s: %.*s: %.*s, %.*s; %s:%u",
		  out->end, end, what, STR_ARG(out->subject),
		  STR_ARG(out->wanted), STR_ARG(out->got),
		  out->by.file ? out->by.file : "", out->by.line);
}

static void check_edit(const struct edit *e, bool is_apart)
{
	struct arena *a = arena_new();
	struct prove_pods pods = {
		.network =
			edited(a, is_apart ? apart_network : wire_network, e),
		.pod = str_of(is_apart ? agent_pod : wire_pod),
		.gate = str_of(is_apart ? gate_pod : ""),
		.apart = is_apart};
	struct test_policy t;
	struct prove_out out;

	CHECK_MSG(pods.network.n, "not there: %s", e->was);
	prove(is_apart ? apart : wire, &pods, &t, &out);
	check_end(&out, e->end, e->is);
	if (out.end == PROVE_UNREADABLE)
		CHECK(out.got.n &&
		      strcmp(out.by.file, "networkpolicy.yaml") == 0);
	test_policy_done(&t);
	arena_free(a);
}

/* The Pod is another, or none. */
static void check_pod(const char *network, const char *pod, enum prove_end end)
{
	struct prove_pods pods = {.network = str_of(network),
				  .pod = str_of(pod)};
	struct test_policy t;
	struct prove_out out;

	prove(wire, &pods, &t, &out);
	check_end(&out, end, pod);
	if (end == PROVE_AGREES)
		CHECK(out.backstop_cells > 0 && out.cells > out.backstop_cells);
	test_policy_done(&t);
}

/* As far as it goes it is right: the first thing said of it is what it lacks.
 */
static void check_apart(void)
{
	struct prove_pods pods = {.network = str_of(apart_network),
				  .pod = str_of(agent_pod),
				  .gate = str_of(gate_pod),
				  .apart = true};
	struct test_policy t;
	struct prove_out out;

	prove(apart, &pods, &t, &out);
	check_end(&out, PROVE_DIFFERS, "no IPv6, and no resolver");
	CHECK(str_ends(out.subject,
		       STR("by the gate's Pod, as an address of a.test")));
	CHECK(str_is(out.got, "kept back"));
	test_policy_done(&t);
	pods.gate = (struct str){0};
	prove(apart, &pods, &t, &out);
	check_end(&out, PROVE_UNREADABLE, "no gate");
	CHECK(strcmp(out.by.file, "gate.yaml") == 0);
	test_policy_done(&t);
}

int main(void)
{
	check_pod(wire_network, wire_pod, PROVE_AGREES);
	check_pod(wire_network, "kind: Pod\nmetadata: {}\n", PROVE_DIFFERS);
	check_pod(wire_network, "kind: ConfigMap\n", PROVE_UNREADABLE);
	check_pod(wire_network, "kind: Pod\nmetadata: {labels: [a]}\n",
		  PROVE_UNREADABLE);
	check_pod(wire_network, "a: [", PROVE_UNREADABLE);
	check_pod(wire_network, "", PROVE_UNREADABLE);
	check_pod("", wire_pod, PROVE_UNREADABLE);
	check_pod("---\n", wire_pod, PROVE_UNREADABLE);
	for (size_t i = 0; i < ARRAY_LEN(edits); i++)
		check_edit(&edits[i], false);
	for (size_t i = 0; i < ARRAY_LEN(apart_edits); i++)
		check_edit(&apart_edits[i], true);
	check_apart();
	printf("%zu edits\n", ARRAY_LEN(edits) + ARRAY_LEN(apart_edits));
	return check_status();
}
