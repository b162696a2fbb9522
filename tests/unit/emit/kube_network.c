/*
 * The ways out of a NetworkPolicy and of Cilium's: which ports lead to which
 * networks, what is left out of those, and which lines of the policy made it.
 */
#include "tests/unit/emit/kube.h"

static struct arena *a;

/* --- a rule as one line ----------------------------------------------------
 */

static void add_words(struct buf *b, const struct kube_node *list,
		      const char *front)
{
	if (list)
		vec_each(n, &list->items)
			buf_addf(b, "%s%.*s", front, STR_ARG((*n)->text));
}

/* "8000-8100/TCP"; without a number: all. */
static void add_ports(struct buf *b, const struct kube_node *list)
{
	vec_each(p, &list->items) {
		struct str last = kube_rig_text(*p, "endPort");

		buf_addf(b, "%s%.*s%s%.*s/%.*s", p == list->items.v ? "" : ",",
			 STR_ARG(kube_rig_text(*p, "port")), last.n ? "-" : "",
			 STR_ARG(last), STR_ARG(kube_rig_text(*p, "protocol")));
	}
}

static bool has_text(const struct kube_node *list, const char *text)
{
	vec_each(n, &list->items)
		if (str_is((*n)->text, text))
			return true;
	return false;
}

/* Of everything: whether private addresses are left out, or the floor's alone;
 * both are lists of base/addr.c. */
static void add_everything(struct buf *b, const struct kube_node *except)
{
	bool private =
		has_text(except, "10.0.0.0/8") || has_text(except, "fc00::/7");

	CHECK(has_text(except, "127.0.0.0/8") != has_text(except, "ff00::/8"));
	/* which Go takes for one of IPv4 */
	CHECK(!has_text(except, "::ffff:0:0/96"));
	buf_adds(b, private ? " -private" : " -floor");
}

static void add_net(struct buf *b, const struct kube_node *block)
{
	const struct kube_node *except = kube_tree_get(block, "except");
	struct str net = kube_rig_text(block, "cidr");

	buf_addf(b, " %.*s", STR_ARG(net));
	if (str_ends(net, STR("/0")))
		add_everything(b, except);
	else
		add_words(b, except, " -");
}

/* The lines of the policy. */
static void add_causes(struct buf *b, const struct kube_node *rule)
{
	buf_adds(b, " |");
	vec_each(c, &rule->causes) {
		struct str rest = *c, line;

		CHECK(str_field(&rest, ':', &line) && str_is(line, "test") &&
		      str_field(&rest, ':', &line));
		buf_addf(b, " %.*s", STR_ARG(line));
	}
	buf_addc(b, '\n');
}

static struct str egress_text(const struct kube_node *root)
{
	const struct kube_node *spec = kube_tree_get(root, "spec");
	struct buf b;

	buf_init(&b, a);
	vec_each(rule, &kube_tree_get(spec, "egress")->items) {
		add_ports(&b, kube_tree_get(*rule, "ports"));
		vec_each(to, &kube_tree_get(*rule, "to")->items)
			add_net(&b, kube_tree_get(*to, "ipBlock"));
		add_causes(&b, *rule);
	}
	return buf_keep(&b);
}

struct row {
	const char *policy, *egress;
};

static void check_rows(const struct row *rows, size_t n,
		       struct kube_node *(*tree)(const struct kube *),
		       struct str (*text)(const struct kube_node *))
{
	for (size_t i = 0; i < n; i++) {
		struct kube_rig t;
		struct kube k;

		kube_rig_body(&t, a, rows[i].policy);
		k = kube_begin(&t.c.in, "0123");
		check_same(rows[i].policy, text(tree(&k)), rows[i].egress);
		kube_rig_done(&t);
	}
}

/* --- ports -----------------------------------------------------------------
 */

#define NET "203.0.113.0/24"

static const struct row ports[] = {
	/* nothing granted, nothing let out */
	{"", ""},
	{"deny: [" NET "]\n", ""},
	{"allow:\n"
	 "  - {dest: " NET ", ports: [22, 53/udp]}\n",
	 "22/TCP,53/UDP " NET " | 4\n"},
	/* every port has no number; all but one has */
	{"allow:\n"
	 "  - " NET "\n",
	 "/TCP " NET " | 4\n"},
	{"allow:\n"
	 "  - {dest: " NET ", ports: [1-65534]}\n",
	 "1-65534/TCP " NET " | 4\n"},
	{"allow:\n"
	 "  - {dest: " NET ", ports: [2-65535]}\n",
	 "2-65535/TCP " NET " | 4\n"},
	{"allow:\n"
	 "  - {dest: " NET ", ports: [65535, 1]}\n",
	 "1/TCP,65535/TCP " NET " | 4\n"},
	/* eight stand alone, nine are a range */
	{"allow:\n"
	 "  - {dest: " NET ", ports: [10-17, 20-28/udp]}\n",
	 "10/TCP,11/TCP,12/TCP,13/TCP,14/TCP,15/TCP,16/TCP,17/TCP,20-28/UDP " NET
	 " | 4\n"},
	/* one rule for the networks of the same ports, where the first of them
	   is */
	{"allow:\n"
	 "  - 203.0.113.7:443\n"
	 "  - 192.0.2.0/24:80\n"
	 "  - 192.0.2.0/24:443\n",
	 "443/TCP 192.0.2.0/24 203.0.113.7/32 | 6 4\n"
	 "80/TCP 192.0.2.0/24 | 5\n"},
	/* what is asked about is let out, too */
	{"ask:\n"
	 "  - 203.0.113.7:443\n",
	 "443/TCP 203.0.113.7/32 | 4\n"},
};

/* What comes in: an entry without ports would be all of them. */
static void check_ingress(const char *policy, unsigned wanted)
{
	const struct kube_node *spec, *list;
	struct kube_rig t;
	struct kube k;

	kube_rig_body(&t, a, policy);
	k = kube_begin(&t.c.in, "0123");
	spec = kube_tree_get(kube_network_tree(&k), "spec");
	list = kube_tree_get(spec, "ingress");
	CHECK_MSG(list && list->items.n == (wanted > 0), "%s", policy);
	if (wanted)
		CHECK(kube_tree_get(list->items.v[0], "ports")->items.n ==
		      wanted);
	kube_rig_done(&t);
}

/* --- denials ---------------------------------------------------------------
 */

static const struct row denials[] = {
	/* two lists that would be one with nothing between their networks:
	   "410::/12" and "4abc::/16", "410::/124" and "abc::/16" */
	{"allow:\n"
	 "  - {dest: \"400::/8\", ports: [80, 443]}\n"
	 "  - {dest: \"abc::/16\", ports: [80, 443]}\n"
	 "  - {dest: \"4abc::/16\", ports: [80, 443]}\n"
	 "deny: [\"410::/12:80\", \"abc::/16:80\", \"410::/124:443\","
	 " \"4abc::/16:443\"]\n",
	 "80/TCP 400::/8 -410::/12 4abc::/16 | 4 6 5\n"
	 "443/TCP 400::/8 -410::/124 abc::/16 | 4 6 5\n"},
	/* of a network: what lies in it, the wider one alone, in order */
	{"allow:\n"
	 "  - " NET ":443\n"
	 "deny: [203.0.113.200, 203.0.113.7, 203.0.113.0/28, 203.0.113.16/28]\n",
	 "443/TCP " NET " -203.0.113.0/28 -203.0.113.16/28 -203.0.113.200/32"
	 " | 4\n"},
	/* and of what lies elsewhere nothing */
	{"allow:\n"
	 "  - " NET ":443\n"
	 "deny: [203.0.112.0/24, 203.0.114.0/24, \"2001:db8::/32\"]\n",
	 "443/TCP " NET " | 4\n"},
	/* as wide as the grant, or wider */
	{"allow:\n"
	 "  - " NET ":443\n"
	 "deny: [" NET "]\n",
	 ""},
	{"allow:\n"
	 "  - " NET ":443\n"
	 "deny: [203.0.112.0/23]\n",
	 ""},
	/* names and requests are the gate's to deny */
	{"allow:\n"
	 "  - " NET ":443\n"
	 "deny: [a.example.com, http://203.0.113.7/, {dest: 203.0.113.8, http: [{}]}]\n",
	 "443/TCP " NET " | 4\n"},
	/* everything, at one port */
	{"allow:\n"
	 "  - " NET ":80\n"
	 "  - {dest: 203.0.113.7, ports: [443, 444]}\n"
	 "deny: [{dest: \"*\", ports: [443]}]\n",
	 "80/TCP " NET " | 4\n"
	 "444/TCP 203.0.113.7/32 | 5\n"},
	/* at one port of several: the others together, in front of it */
	{"allow:\n"
	 "  - {dest: " NET ", ports: [442-444]}\n"
	 "deny: [{dest: 203.0.113.7, ports: [443]}]\n",
	 "442/TCP,444/TCP " NET " | 4\n"
	 "443/TCP " NET " -203.0.113.7/32 | 4\n"},
	/* two networks, each closed at one port: two rules */
	{"allow:\n"
	 "  - {dest: 192.0.2.0/24, ports: [442, 443]}\n"
	 "  - {dest: " NET ", ports: [442, 443]}\n"
	 "deny:\n"
	 "  - {dest: 192.0.2.0/24, ports: [442]}\n"
	 "  - {dest: " NET ", ports: [443]}\n",
	 "442/TCP " NET " | 4 5\n"
	 "443/TCP 192.0.2.0/24 | 4 5\n"},
	/* at every port of TCP, and so none of UDP */
	{"allow:\n"
	 "  - {dest: " NET ", ports: [443, 443/udp]}\n"
	 "deny: [{dest: " NET ", ports: [1-65535]}]\n",
	 "443/UDP " NET " | 4\n"},
	{"allow:\n"
	 "  - {dest: " NET ", ports: [443, 443/udp]}\n"
	 "deny: [{dest: 203.0.113.7, ports: [443/udp]}]\n",
	 "443/TCP " NET " | 4\n"
	 "443/UDP " NET " -203.0.113.7/32 | 4\n"},
};

#define RANGE                                                                  \
	"allow:\n"                                                             \
	"  - {dest: " NET ", ports: [100-120]}\n"

/* A range beside one that is denied: where it is cut. */
static const struct row cuts[] = {
	{RANGE "deny: [{dest: 203.0.113.7, ports: [90-99]}]\n",
	 "100-120/TCP " NET " | 4\n"},
	{RANGE "deny: [{dest: 203.0.113.7, ports: [121-130]}]\n",
	 "100-120/TCP " NET " | 4\n"},
	{RANGE "deny: [{dest: 203.0.113.7, ports: [90-100]}]\n",
	 "100/TCP " NET " -203.0.113.7/32 | 4\n"
	 "101-120/TCP " NET " | 4\n"},
	{RANGE "deny: [{dest: 203.0.113.7, ports: [120-130]}]\n",
	 "100-119/TCP " NET " | 4\n"
	 "120/TCP " NET " -203.0.113.7/32 | 4\n"},
	{RANGE "deny: [{dest: 203.0.113.7, ports: [100-120]}]\n",
	 "100-120/TCP " NET " -203.0.113.7/32 | 4\n"},
	{RANGE "deny: [{dest: 203.0.113.7, ports: [110-119]}]\n",
	 "100-109/TCP,120/TCP " NET " | 4\n"
	 "110-119/TCP " NET " -203.0.113.7/32 | 4\n"},
	{RANGE "deny: [{dest: 203.0.113.7, ports: [99-119, 119-130]}]\n",
	 "100-120/TCP " NET " -203.0.113.7/32 | 4\n"},
	/* two that overlap: three pieces, each with its own holes */
	{RANGE "deny:\n"
	       "  - {dest: 203.0.113.7, ports: [100-110]}\n"
	       "  - {dest: 203.0.113.8, ports: [102-120]}\n",
	 "100/TCP,101/TCP " NET " -203.0.113.7/32 | 4\n"
	 "102-110/TCP " NET " -203.0.113.7/32 -203.0.113.8/32 | 4\n"
	 "111-120/TCP " NET " -203.0.113.8/32 | 4\n"},
	/* closed for the middle of it */
	{RANGE "deny: [{dest: " NET ", ports: [101-119]}]\n",
	 "100/TCP,120/TCP " NET " | 4\n"},
	{RANGE "deny: [{dest: 203.0.113.7, ports: [100-120/udp]}]\n",
	 "100-120/TCP " NET " | 4\n"},
};

/* --- names and the floor ---------------------------------------------------
 */

#define RESOLVER "53/TCP,53/UDP 10.96.0.10/32 | 2\n"

static const struct row names[] = {
	/* public addresses, all names together, and the resolver's own */
	{"allow:\n"
	 "  - a.example.com:443\n"
	 "  - b.example.com:80\n",
	 "80/TCP,443/TCP 0.0.0.0/0 -private ::/0 -private | 4 5\n" RESOLVER},
	/* one that may be private opens its own ports to those */
	{"allow:\n"
	 "  - a.example.com:443\n"
	 "  - {dest: b.example.com, ports: [80], private: true}\n",
	 "443/TCP 0.0.0.0/0 -private ::/0 -private | 4\n"
	 "80/TCP 0.0.0.0/0 -floor ::/0 -floor | 5\n" RESOLVER},
	{"allow:\n"
	 "  - {dest: a.example.com, ports: [443], private: false}\n",
	 "443/TCP 0.0.0.0/0 -private ::/0 -private | 4\n" RESOLVER},
	{"ask:\n"
	 "  - a.example.com:443\n",
	 "443/TCP 0.0.0.0/0 -private ::/0 -private | 4\n" RESOLVER},
	/* of a network denied everywhere */
	{"allow:\n"
	 "  - a.example.com:443\n"
	 "deny: [0.0.0.0/0]\n",
	 "443/TCP ::/0 -private | 4\n" RESOLVER},
	/* the floor is opened by what is more specific alone */
	{"allow:\n"
	 "  - 169.254.0.0/16:80\n"
	 "  - 169.254.169.254:81\n",
	 "81/TCP 169.254.169.254/32 | 5\n"},
	/* what is private is none of it */
	{"allow:\n"
	 "  - 10.0.0.0/8:80\n",
	 "80/TCP 10.0.0.0/8 | 4\n"},
	{"allow:\n"
	 "  - 169.254.0.0/15:80\n",
	 "80/TCP 169.254.0.0/15 -169.254.0.0/16 | 4\n"},
};

/* --- Cilium's --------------------------------------------------------------
 */

static void add_lists(struct buf *b, const struct kube_node *lists)
{
	vec_each(item, &lists->items) {
		const struct kube_node *rules = kube_tree_get(*item, "rules");

		buf_adds(b, item == lists->items.v ? "" : " and ");
		add_ports(b, kube_tree_get(*item, "ports"));
		if (rules)
			vec_each(q, &kube_tree_get(rules, "dns")->items)
				buf_addf(b, " asked %.*s",
					 STR_ARG(kube_rig_text(
						 *q, "matchPattern")));
	}
}

static struct str cilium_text(const struct kube_node *root)
{
	const struct kube_node *spec = kube_tree_get(root, "spec"), *l;
	struct buf b;

	buf_init(&b, a);
	vec_each(rule, &kube_tree_get(spec, "egress")->items) {
		if (!(*rule)->items.n) {
			buf_adds(&b, "nothing\n");
			continue;
		}
		add_lists(&b, kube_tree_get(*rule, "toPorts"));
		add_words(&b, kube_tree_get(*rule, "toEntities"), " @");
		if ((l = kube_tree_get(*rule, "toCIDRSet")))
			add_net(&b, l->items.v[0]);
		if ((l = kube_tree_get(*rule, "toFQDNs")))
			vec_each(n, &l->items.v[0]->items)
				buf_addf(&b, " %s=%.*s", (*n)->key,
					 STR_ARG((*n)->text));
		add_causes(&b, *rule);
	}
	return buf_keep(&b);
}

#define ASKED                                                                  \
	"53/TCP,53/UDP asked * 10.96.0.10/32 | 2\n"                            \
	"53/TCP,53/UDP asked * @cluster | 2\n"

static const struct row cilium[] = {
	{"", "nothing\n"},
	{"allow:\n"
	 "  - a.example.com:443\n"
	 "  - \"*.example.com:443\"\n"
	 "  - \"**.example.com:80\"\n",
	 "80/TCP matchPattern=**.example.com | 6\n"
	 "443/TCP matchPattern=*.example.com | 5\n"
	 "443/TCP matchName=a.example.com | 4\n" ASKED},
	/* what may be private may be the cluster's */
	{"allow:\n"
	 "  - {dest: a.example.com, ports: [443], private: true}\n",
	 "443/TCP matchName=a.example.com | 4\n"
	 "443/TCP @cluster | 4\n" ASKED},
	{"allow:\n"
	 "  - 10.1.0.0/16:443\n",
	 "443/TCP 10.1.0.0/16 | 4\n"
	 "443/TCP @cluster | 4\n"},
	{"allow:\n"
	 "  - 169.254.169.254:80\n",
	 "80/TCP 169.254.169.254/32 | 4\n"},
	/* so may a network that holds private ones; of others nothing */
	{"allow:\n"
	 "  - 8.0.0.0/5:443\n"
	 "  - " NET ":443\n",
	 "443/TCP " NET " | 5\n"
	 "443/TCP 8.0.0.0/5 | 4\n"
	 "443/TCP @cluster | 4\n"},
	{"allow:\n"
	 "  - {dest: " NET ", ports: [8000-8100, 53/udp]}\n"
	 "deny: [203.0.113.8/29]\n",
	 "8000-8100/TCP,53/UDP " NET " -203.0.113.8/29 | 4\n"},
	{"allow:\n"
	 "  - " NET ":443\n"
	 "deny: [" NET "]\n",
	 "nothing\n"},
	{"allow:\n"
	 "  - {dest: \"*\", ports: [443]}\n",
	 "443/TCP 0.0.0.0/0 -private | 4\n"
	 "443/TCP ::/0 -private | 4\n" ASKED},
	{"allow:\n"
	 "  - {dest: \"*\", ports: [443], private: true}\n",
	 "443/TCP 0.0.0.0/0 -floor | 4\n"
	 "443/TCP @cluster | 4\n"
	 "443/TCP ::/0 -floor | 4\n"
	 "443/TCP @cluster | 4\n" ASKED},
	{"ask:\n"
	 "  - a.example.com:443\n",
	 "443/TCP matchName=a.example.com | 4\n" ASKED},
};

/* So many ports apart of each other, and how many lists that are. */
static void long_lists(void)
{
	static const struct {
		unsigned ports;
		uint32_t first, lists;
	} rows[] = {{1, 1, 1}, {40, 40, 1}, {41, 40, 2}, {64, 40, 2}};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct kube_node *n;
		struct kube_rig t;
		struct kube k;
		struct buf b;

		buf_init(&b, a);
		buf_adds(&b, "allow:\n  - {dest: " NET ", ports: [");
		for (unsigned p = 1; p <= rows[i].ports; p++)
			buf_addf(&b, "%s%u", p > 1 ? ", " : "", 2 * p);
		buf_adds(&b, "]}\n");
		kube_rig_body(&t, a, buf_keep(&b).p);
		k = kube_begin(&t.c.in, "0123");
		n = kube_tree_get(kube_cilium_tree(&k), "spec");
		n = kube_tree_get(n, "egress")->items.v[0];
		n = kube_tree_get(n, "toPorts");
		CHECK(n->items.n == rows[i].lists);
		CHECK(kube_tree_get(n->items.v[0], "ports")->items.n ==
		      rows[i].first);
		kube_rig_done(&t);
	}
}

int main(void)
{
	a = arena_new();
	check_rows(ports, ARRAY_LEN(ports), kube_network_tree, egress_text);
	check_rows(denials, ARRAY_LEN(denials), kube_network_tree, egress_text);
	check_rows(cuts, ARRAY_LEN(cuts), kube_network_tree, egress_text);
	check_rows(names, ARRAY_LEN(names), kube_network_tree, egress_text);
	check_rows(cilium, ARRAY_LEN(cilium), kube_cilium_tree, cilium_text);
	check_ingress("", 0);
	check_ingress("ports: [8080]\n", 1);
	check_ingress("ports: [8080, \"81:82\"]\n", 2);
	long_lists();
	arena_free(a);
	return check_status();
}
