/*
 * What is said of keys: unknown ones, those that are there twice or missing,
 * and of what shape their values are.
 */
#include "compiler/base/limits.h"
#include "compiler/front/bind/bind_types.h"
#include "tests/unit/front.h"

static const struct {
	const char *text, *want;
} list[] = {
	/* unknown, and what was meant */
	{"alow: [a.test]",
	 "0-4 E200 unknown key 'alow' in a policy | did you mean 'allow'?\n"},
	{"IMAGE: x",
	 "0-5 E200 unknown key 'IMAGE' in a policy | did you mean 'image'?\n"},
	{"pids: 1",
	 "0-4 E200 unknown key 'pids' in a policy | 'pids' goes under 'hardening'\n"},
	{"dest: a.test",
	 "0-4 E200 unknown key 'dest' in a policy | 'dest' is a key of a grant\n"},
	{"allow: [{host: a.test, dest: a.test}]",
	 "9-13 E200 unknown key 'host' in a grant | 'host' is a key of an entry of 'credentials'\n"},
	{"hardening: {image: x}",
	 "12-17 E200 unknown key 'image' in 'hardening' | 'image' stands at the top level\n"},
	{"trace: {size: 1k}",
	 "8-12 E200 unknown key 'size' in 'trace' | 'size' goes under 'trace.rotate'\n"},
	{"trace: {rotate: {engine: native}}",
	 "17-23 E200 unknown key 'engine' in 'rotate' | 'engine' stands at the top level\n"},
	{"network: {ignore: [a]}",
	 "10-16 E200 unknown key 'ignore' in 'network' | 'ignore' stands at the top level\n"},
	{"qqqqqq: 1",
	 "0-6 E200 unknown key 'qqqqqq' in a policy | the keys are extends, allow, ask, deny, network, hostnames, cidrs, ignore, readonly, masks, dns_resolver, resolver, tls, uplink, upstream, upstream_ca, ports, ssl_insecure, args, image, engine, runtime, home, hardening, protect, visible, credentials, ssh_agent, trace, tests, allow_lint, refused_on_purpose, on_refusal, workspace_trust\n"},
	{"allow: [{dest: a.test, qqqqqq: 1}]",
	 "23-29 E200 unknown key 'qqqqqq' in a grant | no blank before a port: 'qqqqqq:1'\n"},
	{"masks: {qqqqqq: 1}",
	 "8-14 E200 unknown key 'qqqqqq' in 'masks' | the keys are hold, fast\n"},
	{"deny: [{dest: a.test, tls: verify}]",
	 "22-25 E200 unknown key 'tls' in a denial | 'tls' stands at the top level\n"},
	{"allow: [\"a.test\": 443]",
	 "8-16 E200 unknown key 'a.test' in a grant | no blank before a port: 'a.test:443'\n"},
	{"allow: [{a.test: 443}]",
	 "9-15 E200 unknown key 'a.test' in a grant | no blank before a port: 'a.test:443'\n"},
	{"ask: [{a.test: 65535}]",
	 "7-13 E200 unknown key 'a.test' in an entry of 'ask' | no blank before a port: 'a.test:65535'\n"},
	{"deny: [{a.test: 443}]",
	 "8-14 E200 unknown key 'a.test' in a denial | no blank before a port: 'a.test:443'\n"},
	{"masks: {\"qqqqqq:\": x}",
	 "8-17 E200 unknown key 'qqqqqq:' in 'masks' | the keys are hold, fast\n"},
	{"masks: {qqqqqq: }",
	 "8-14 E200 unknown key 'qqqqqq' in 'masks' | the keys are hold, fast\n"},
	{"deny: [{a.test: 65536}]",
	 "8-14 E200 unknown key 'a.test' in a denial | the keys are dest, ports, http\n"},
	{"allow: [{a.test: [443]}]",
	 "9-15 E200 unknown key 'a.test' in a grant | the keys are dest, ports, http, tls, private\n"},
	{"ignore: [{a.test: 443}]",
	 "9-10 E202 a mapping where a pattern belongs\n"},
	{"\"a:\":",
	 "0-4 E200 unknown key 'a:' in a policy | quote a value that ends in a colon: \"a::\"\n"},
	{"allow: [{\"a.test:\": }]",
	 "9-18 E200 unknown key 'a.test:' in a grant | quote a value that ends in a colon: \"a.test::\"\n"},

	/* twice */
	{"image: a\nimage: b",
	 "9-14 E201 duplicate key 'image' | keep one of them\n"
	 "test:1:1: note: the first is here\n"},
	{"image: a\nimage: -b",
	 "9-14 E201 duplicate key 'image' | keep one of them\n"
	 "test:1:1: note: the first is here\n"},
	{"resolver: 9.9.9.9\ndns_resolver: 9.9.9.9",
	 "18-30 E208 'dns_resolver' and 'resolver' together | keep one of them\n"
	 "test:1:1: note: the first is here\n"},
	{"allow: [a.test]\nnetwork: {allow: [b.test]}",
	 "26-31 E208 'network.allow' and 'allow' together | keep one of them\n"
	 "test:1:1: note: the first is here\n"},
	{"network: {allow: [b.test]}\nnetwork: {deny: [b.test]}",
	 "27-34 E201 duplicate key 'network' | keep one of them\n"
	 "test:1:1: note: the first is here\n"},
	{"network: {allow: [b.test]}\nallow: [a.test]",
	 "27-32 E208 'allow' and 'network.allow' together | keep one of them\n"
	 "test:1:11: note: the first is here\n"},
	{"network: {allow: [b.test], deny: [a.test]}", ""},

	/* of another shape */
	{"allow:",
	 "0-5 E203 'allow' has no value | remove the key, or write 'allow: []'\n"},
	{"allow: ~",
	 "0-5 E203 'allow' has no value | remove the key, or write 'allow: []'\n"},
	{"image:",
	 "0-5 E203 'image' has no value | remove the key, or give it an image\n"},
	{"hardening: ~",
	 "0-9 E203 'hardening' has no value | remove the key, or give it a mapping\n"},
	{"allow: a.test",
	 "7-13 E202 'allow' takes a list of destinations, not a word | write 'allow: [a.test]'\n"},
	{"allow: {a: b}",
	 "7-8 E202 'allow' takes a list of destinations, not a mapping | each item begins with '- '\n"},
	{"image: [a]", "7-8 E202 'image' takes an image, not a list\n"},
	{"image: {a: b}", "7-8 E202 'image' takes an image, not a mapping\n"},
	{"args: --a --b c",
	 "6-15 E202 'args' takes a list of words, not a word | write 'args: [--a, --b, c]'\n"},
	{"ignore: a b",
	 "8-11 E202 'ignore' takes a list of path patterns, not a word | write 'ignore: [a b]'\n"},
	{"args: {a: b}",
	 "6-7 E202 'args' takes a list of words, not a mapping | each item begins with '- '\n"},
	{"hardening: 1",
	 "11-12 E202 'hardening' takes a mapping, not a word | the keys are read_only, tmpfs, pids, memory, cpus, user, capabilities, no_new_privileges, seccomp, user_namespaces\n"},
	{"hardening: [a]",
	 "11-12 E202 'hardening' takes a mapping, not a list | the keys are read_only, tmpfs, pids, memory, cpus, user, capabilities, no_new_privileges, seccomp, user_namespaces\n"},
	{"masks: [a]",
	 "7-8 E202 'masks' takes hold, start, or a mapping, not a list\n"},
	{"upstream: [a]",
	 "10-11 E202 'upstream' takes the URL of a proxy, or a mapping, not a list\n"},
	{"on_refusal: tell",
	 "12-16 E202 'on_refusal' takes the words of a command, or a mapping, not a word | write 'on_refusal: [tell]'\n"},
	{"tests: {never: }",
	 "8-13 E203 'never' has no value | remove the key, or write 'never: []'\n"},
	{"hardening: {tmpfs: a}",
	 "19-20 E202 'tmpfs' takes a list of absolute paths, not a word | write 'tmpfs: [a]'\n"},
	{"trace: {events: {a: b}}",
	 "16-17 E202 'events' takes a list of events, not a mapping | each item begins with '- '\n"},
	{"visible: ~/x",
	 "9-12 E202 'visible' takes a list of paths of this machine, not a word | write 'visible: [~/x]'\n"},

	/* that have to be there */
	{"protect: [{files: [~/a]}]",
	 "10-11 E207 an entry of 'protect' without 'by' | 'by' is the name of a program, as in claude\n"},
	{"protect: [{by: git}]",
	 "10-11 E207 an entry of 'protect' without 'files' | 'files' is a list of files in the agent's home\n"},
	{"protect: [{}]",
	 "10-11 E207 an entry of 'protect' without 'files' | 'files' is a list of files in the agent's home\n"
	 "10-11 E207 an entry of 'protect' without 'by' | 'by' is the name of a program, as in claude\n"},
	{"protect: [{flies: [~/a]}]",
	 "11-16 E200 unknown key 'flies' in an entry of 'protect' | did you mean 'files'?\n"},
	{"allow: [{ports: [1]}]",
	 "8-9 E207 a grant without 'dest' | 'dest' is a destination\n"},

	/* no mapping at all */
	{"[a]",
	 "0-1 E202 a policy is a mapping, not a list | as in 'allow: [github.com:443]'\n"},
	{"a",
	 "0-1 E202 a policy is a mapping, not a word | as in 'allow: [github.com:443]'\n"},
	{"~",
	 "0-1 E202 a policy is a mapping, not nothing | as in 'allow: [github.com:443]'\n"},
};

/* How far from a name a word may be depends on its length. */
static void test_nearest(void)
{
	static const char *const names[] = {"abcd", "abcdefgh", "qrstuvwxy",
					    "zzzzz"};
	static const struct {
		const char *word, *near;
	} near[] = {
		{"ABCD", "abcd"},
		{"abcx", "abcd"},
		{"abxx", NULL},
		{"abcxx", "abcd"},
		{"zzzxx", "zzzzz"},
		{"zzxxx", NULL},
		{"abcdefgx", "abcdefgh"},
		{"abcdefxx", "abcdefgh"},
		{"abcdexxx", NULL},
		{"qrstuvzzz", "qrstuvwxy"},
		{"qrstuzzzz", NULL},
		{"QRSTUVWXY", "qrstuvwxy"},
		{"", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(near); i++) {
		const char *got = bind_nearest(str_of(near[i].word), names,
					       ARRAY_LEN(names));

		CHECK_MSG(near[i].near ? got && strcmp(got, near[i].near) == 0
				       : !got,
			  "%s: %s", near[i].word, got ? got : "none");
	}
}

/* "key: [x, x]" with so many items; what is said. */
static void said_of_many(const char *key, const char *item, uint32_t n,
			 const char *want)
{
	struct ir_policy p;
	struct str got;
	struct rig r;
	struct buf b;

	rig_init(&r);
	buf_init(&b, r.a);
	buf_addf(&b, "%s: [", key);
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&b, "%s%s", i ? "," : "", item);
	buf_adds(&b, "]");
	(void)rig_bind(&r, b.p, LAYER_GLOBAL, &p);
	got = rig_said(&r);
	CHECK_MSG(str_is(got, want), "%u of %s: %.*s", n, key, STR_ARG(got));
	rig_done(&r);
}

static void test_many(void)
{
	said_of_many("args", "a", LIMIT_ARGS, "");
	said_of_many("args", "a", LIMIT_ARGS + 1,
		     "1031-1032 E209 513 items in 'args', at most 512\n");
}

/* A file of tests has the keys of 'tests' and no others. */
static void said_of_tests(const char *yaml, const char *want)
{
	struct ir_tests tests = {0};
	struct yaml_node *root;
	struct str got;
	struct rig r;
	bool ok;

	rig_init(&r);
	ok = rig_yaml(&r, str_of(yaml), &root) &&
	     bind_tests(&r.c, LAYER_FLAGS, root, &tests);
	got = rig_said(&r);
	CHECK_MSG(ok == !want[0] && str_is(got, want), "%s: %.*s", yaml,
		  STR_ARG(got));
	vec_each(q, &tests.allow)
		CHECK(q->from.layer == LAYER_FLAGS);
	rig_done(&r);
}

static void test_tests(void)
{
	said_of_tests("", "");
	said_of_tests("allow: [a.test:443]\nnever: [a.test]", "");
	said_of_tests(
		"tests: {allow: [a.test:443]}",
		"0-5 E200 'tests' in a file of tests | 'allow', 'deny' and 'never' are its own keys\n");
	said_of_tests(
		"image: a",
		"0-5 E200 unknown key 'image' in 'tests' | 'image' stands at the top level\n");
	said_of_tests(
		"[a]",
		"0-1 E202 a file of tests is a mapping, not a list | as in 'deny: [POST https://gist.github.com/]'\n");
}

/* A value of the command line is bound as an item of a list would be. */
static void test_flag(void)
{
	struct ir_policy p = {0};
	struct text t;
	struct rig r;

	rig_init(&r);
	t = rig_text(&r, STR("a.test:443"));
	CHECK(bind_flag(&r.c, LAYER_FLAGS, "allow", &t, &p));
	t = rig_text(&r, STR("b.test"));
	CHECK(bind_flag(&r.c, LAYER_FLAGS, "allow", &t, &p));
	CHECK(p.allow.n == 2 && p.allow.v[1].from.layer == LAYER_FLAGS &&
	      p.allow.v[1].from.at.beg == t.at.beg &&
	      p.allow.v[1].dest.at.end == t.at.end);
	t = rig_text(&r, STR("img"));
	CHECK(bind_flag(&r.c, LAYER_FLAGS, "image", &t, &p));
	CHECK(p.image.set && str_is(p.image.v, "img") &&
	      p.image.from.at.beg == t.at.beg);
	t = rig_text(&r, STR("a..test"));
	CHECK(!bind_flag(&r.c, LAYER_FLAGS, "deny", &t, &p));
	CHECK(p.deny.n == 0 && r.diags.errors == 1);
	rig_done(&r);
}

int main(void)
{
	test_nearest();
	test_many();
	test_tests();
	test_flag();
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		check_said(list[i].text, list[i].want);
	return check_status();
}
