/*
 * What manifests are made of: values of options and words of a policy that
 * Kubernetes takes, and trees as YAML.
 */
#include "tests/unit/emit/kube.h"

static struct arena *a;

/* --- values of options -----------------------------------------------------
 */

typedef const char *(*fault_of)(struct str);

static void check_fault(fault_of fault, const char *value, const char *begins)
{
	const char *said = fault(str_of(value));

	CHECK_MSG(begins ? said && str_starts(str_of(said), str_of(begins))
			 : !said,
		  "'%s' %s", value, said ? said : "is taken");
}

static void names(void)
{
	char longest[] = "a123456789b123456789c123456789d1234567890";

	CHECK(strlen(longest) == 41);
	check_fault(kube_name_fault, longest, "is empty, or longer");
	longest[40] = '\0';
	check_fault(kube_name_fault, longest, NULL);
	check_fault(kube_name_fault, "a", NULL);
	check_fault(kube_name_fault, "0", NULL);
	check_fault(kube_name_fault, "a-z0-9", NULL);
	check_fault(kube_name_fault, "", "is empty, or longer");
	check_fault(kube_name_fault, "-a", "begins or ends");
	check_fault(kube_name_fault, "a-", "begins or ends");
	check_fault(kube_name_fault, "-", "begins or ends");
	check_fault(kube_name_fault, "A", "has a sign");
	check_fault(kube_name_fault, "a.b", "has a sign");
	check_fault(kube_name_fault, "a_b", "has a sign");
	check_fault(kube_name_fault, "a b", "has a sign");
	/* the first and the last of what is taken, and their neighbours */
	check_fault(kube_name_fault, "az09", NULL);
	check_fault(kube_name_fault, "a`", "has a sign");
	check_fault(kube_name_fault, "a{", "has a sign");
	check_fault(kube_name_fault, "a/", "has a sign");
	check_fault(kube_name_fault, "a:", "has a sign");
}

#define DIGEST                                                                 \
	"@sha256:2222222222222222222222222222222222222222222222222222222222222222"

static void images(void)
{
	check_fault(kube_gate_image_fault, "r.example.com/gate" DIGEST, NULL);
	check_fault(kube_gate_image_fault, "gate:1" DIGEST, NULL);
	check_fault(kube_gate_image_fault, "gate:1", "has no digest");
	check_fault(kube_gate_image_fault, "gate", "has no digest");
	check_fault(kube_gate_image_fault,
		    "gate@sha512:22222222222222222222222222222222",
		    "has no digest");
	check_fault(kube_gate_image_fault, "Gate" DIGEST, "is not the name");
	check_fault(kube_gate_image_fault, "", "is not the name");
}

static void words(void)
{
	static const char taken[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
		"/._-+~:%@=&?,";

	check_fault(kube_word_fault, "", "is empty");
	check_fault(kube_word_fault, "-x", "begins with");
	check_fault(kube_word_fault, "x-", NULL);
	for (unsigned c = 1; c < 256; c++) {
		char word[] = {'a', (char)c, '\0'};

		check_fault(kube_word_fault, word,
			    strchr(taken, (char)c) ? NULL : "has a sign");
	}
}

static void urls(void)
{
	check_fault(kube_url_fault, "https://example.com/x.git", NULL);
	check_fault(kube_url_fault, "http://example.com:80/x", NULL);
	check_fault(kube_url_fault, "", "is empty");
	check_fault(kube_url_fault, "-u", "begins with");
	check_fault(kube_url_fault, "https://example.com/a b", "has a sign");
	check_fault(kube_url_fault, "ssh://example.com/x", "is no https:");
	check_fault(kube_url_fault, "ext::sh", "is no https:");
	check_fault(kube_url_fault, "https:/example.com", "is no https:");
	check_fault(kube_url_fault, "https://me@example.com/x", "holds a user");
	check_fault(kube_url_fault, "https://example.com/x@", "holds a user");
}

/* "FAMILY:ADDRESS" of each that is taken, or what is wrong. */
static void check_at(const char *text, const char *wanted)
{
	struct kube_options o = {0};
	const char *fault = kube_gate_at_parse(str_of(text), &o);
	char one[ADDR_TEXT_MAX];
	struct buf b;

	buf_init(&b, a);
	for (uint32_t i = 0; i < o.n_gate_at; i++)
		buf_addf(&b, "%s%s", i ? " " : "",
			 addr_text(&o.gate_at[i], one));
	if (fault)
		buf_addf(&b, "%s%.12s", b.n ? " " : "", fault);
	check_same(text, buf_keep(&b), wanted);
}

static void addresses(void)
{
	check_at("10.96.0.53", "10.96.0.53");
	check_at("10.96.0.53,fd00::53", "10.96.0.53 fd00::53");
	check_at("fd00::53,10.96.0.53", "fd00::53 10.96.0.53");
	check_at("", "is no addres");
	check_at("10.96.0.53,", "10.96.0.53 is no addres");
	check_at(",10.96.0.53", "is no addres");
	check_at("gate", "is no addres");
	check_at("127.0.0.1", "has an addre");
	check_at("10.96.0.53,ff02::1", "10.96.0.53 has an addre");
	check_at("10.96.0.53,10.96.0.54", "10.96.0.53 has more tha");
	check_at("fd00::53,fd00::54", "fd00::53 has more tha");
	check_at("10.96.0.53,fd00::53,fd00::54",
		 "10.96.0.53 fd00::53 has more tha");
}

/* --- words of docker run ---------------------------------------------------
 */

static void check_tmpfs(const char *text, const char *path, uint64_t bytes)
{
	uint64_t n = 1;
	struct str at;
	bool ok = kube_tmpfs(str_of(text), &at, &n);

	CHECK_MSG(ok == (path != NULL), "%s", text);
	if (ok && path)
		CHECK_MSG(str_is(at, path) && n == bytes, "%s: %.*s, %lu", text,
			  STR_ARG(at), (unsigned long)n);
}

static void temporary(void)
{
	static const char *const refused[] = {
		"",
		"/",
		"a",
		":size=1",
		"tmp",
		"/workspace",
		"/workspace/",
		"/workspace/a",
		"/proc",
		"/proc/1",
		"/sys",
		"/dev/shm",
		"/dev",
		"/home/agent",
		"/etc/membrane/x",
		"/a:exec",
		"/a:size=",
		"/a:size=0",
		"/a:size=0k",
		"/a:size=x",
		"/a:size=1x",
		"/a:size=1kk",
		"/a:size=-1",
		"/a:size=m",
		"/a:size=1,exec",
		"/a\x01",
		"/a:size=1M",
		"/a:size=1073741825",
		"/a:size=1073741825k",
		"/a:mode=1777",
	};

	for (size_t i = 0; i < ARRAY_LEN(refused); i++)
		check_tmpfs(refused[i], NULL, 0);
	check_tmpfs("/a", "/a", 0);
	check_tmpfs("/a/", "/a", 0);
	check_tmpfs("/workspaces", "/workspaces", 0);
	check_tmpfs("/home", "/home", 0);
	check_tmpfs("/a:", "/a", 0);
	check_tmpfs("/a:size=1", "/a", 1);
	check_tmpfs("/a:size=1k", "/a", 1 << 10);
	check_tmpfs("/a:size=64m", "/a", 64 << 20);
	check_tmpfs("/a:size=3g", "/a", 3ull << 30);
	check_tmpfs("/a:size=1073741824", "/a", 1ull << 30);
	check_tmpfs("/a:size=1073741824g", "/a", 1ull << 60);
	/* the last one counts, as docker has it */
	check_tmpfs("/a:size=1,size=2", "/a", 2);
}

/* NAME=VALUE, as the agent's container has it: what Kubernetes expands is
 * doubled. NULL: refused. */
static void check_variable(const char *arg, const char *name, const char *value)
{
	struct kube_node *env;
	struct kube_rig t;
	struct kube k;
	bool ok;

	kube_rig_body(&t, a, arena_fmt(a, "args: [--env, '%s']\n", arg).p);
	k = kube_begin(&t.c.in, "");
	env = kube_tree_list(kube_tree_root(t.c.a), "env");
	ok = kube_words_check(&t.c.in);
	CHECK_MSG(ok == (name != NULL), "%s", arg);
	if (ok) {
		kube_words_put(&k, env);
		CHECK(env->items.n == 1);
		check_same(arg, kube_rig_text(env->items.v[0], "name"), name);
		check_same(arg, kube_rig_text(env->items.v[0], "value"), value);
		CHECK(env->items.v[0]->causes.n == 1 &&
		      str_is(env->items.v[0]->causes.v[0], "test:3:8"));
	}
	kube_rig_done(&t);
}

static void variables(void)
{
	check_variable("A=b", "A", "b");
	check_variable("_a0Z9=b=c", "_a0Z9", "b=c");
	check_variable("A=", "A", "");
	check_variable("A=$$", "A", "$$");
	check_variable("A=$$$$b", "A", "$$$$b");
	check_variable("A=x$$(HOME)y", "A", "x$$(HOME)y");
	check_variable("A", NULL, NULL);
	check_variable("0A=b", NULL, NULL);
	check_variable("A.B=c", NULL, NULL);
	check_variable("A-B=c", NULL, NULL);
	check_variable("=b", NULL, NULL);
	check_variable("A=$HOME", NULL, NULL);
	check_variable("A=b${HOME}c", NULL, NULL);
	check_variable("A=$$$HOME", NULL, NULL);
}

/* --- trees -----------------------------------------------------------------
 */

static struct str written(struct kube_node *const *roots, size_t n)
{
	struct buf out;

	buf_init(&out, a);
	kube_tree_write(a, roots, n, &out);
	return buf_keep(&out);
}

/* As it stands behind "k: ". */
static void check_text(const char *text, const char *wanted)
{
	struct kube_node *root = kube_tree_root(a);
	const char *file = arena_fmt(a, "k: %s\n", wanted).p;

	kube_tree_word(root, "k", text);
	check_same(text, written(&root, 1), file);
}

static void texts(void)
{
	static const char *const plain[] = {
		"a",	  "Z",	     "/",      "/a",   "a/b",	"a.b",
		"a_b",	  "a-b",     "a0",     "nu",   "nully", "truely",
		"False1", "falsely", "onward", "yess", "nos",	"offs",
	};
	static const char *const quoted[] = {
		"0a",  "1",   "-a",   ".a",    "_a",	"~",	"a:b",	"a b",
		"a,b", "a@b", "a#",   "*",     "y",	"n",	"yes",	"no",
		"on",  "off", "true", "false", "null",	"Y",	"N",	"YES",
		"No",  "oN",  "OFF",  "True",  "FALSE", "NULL", "NuLL",
	};

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		check_text(plain[i], plain[i]);
	for (size_t i = 0; i < ARRAY_LEN(quoted); i++)
		check_text(quoted[i], arena_fmt(a, "\"%s\"", quoted[i]).p);
	check_text("", "\"\"");
	check_text("a\nb\n", "|\n  a\n  b");
	check_text("a\nb", "|-\n  a\n  b");
	check_text("\"\\", "\"\\\"\\\\\"");
}

static void literals(void)
{
	struct kube_node *root = kube_tree_root(a);

	/* a text that nobody set */
	kube_tree_text(root, "k", (struct str){0});
	check_same("none", written(&root, 1), "k: \"\"\n");
	check_same("literal",
		   kube_tree_literal(root, "k", STR("$a$$(B)"))->text,
		   "$$a$$$$(B)");
	check_same("literal", kube_tree_literal(root, "k", STR(""))->text, "");
}

/* A tree of every kind of node, and one beside it. */
static struct kube_node *tree_of_all(void)
{
	static const char *const words[] = {"x", "z", NULL};
	static const char *const none[] = {NULL};
	struct kube_node *root = kube_tree_root(a), *m, *l;

	kube_tree_number(root, "count", UINT64_MAX);
	m = kube_tree_map(root, "m");
	kube_tree_bool(m, "t", true);
	kube_tree_bool(m, "f", false);
	kube_tree_words(m, "w", words);
	kube_tree_words(m, "none", none);
	kube_tree_map(m, "empty");
	l = kube_tree_list(root, "l");
	kube_tree_word(kube_tree_map(l, NULL), "a", "b");
	kube_tree_word(l, NULL, "c");
	return root;
}

static void documents(void)
{
	struct kube_node *roots[] = {tree_of_all(), kube_tree_root(a)};
	static const char *const one = "count: 18446744073709551615\n"
				       "m:\n"
				       "  t: true\n"
				       "  f: false\n"
				       "  w:\n"
				       "  - x\n"
				       "  - z\n"
				       "  none: []\n"
				       "  empty: {}\n"
				       "l:\n"
				       "- a: b\n"
				       "- c\n";

	kube_tree_word(roots[1], "k", "v");
	check_same("one", written(roots, 1), one);
	check_same("two", written(roots, 2),
		   arena_fmt(a, "%s---\nk: v\n", one).p);
}

static void members(void)
{
	struct kube_node *root = tree_of_all();

	CHECK(kube_tree_get(root, "count") == root->items.v[0]);
	CHECK(kube_tree_get(root, "l") == root->items.v[2]);
	CHECK(!kube_tree_get(root, "t") && !kube_tree_get(root, ""));
	CHECK(!kube_tree_get(kube_tree_get(root, "l"), "c"));
}

static void causes(void)
{
	struct kube_node *root = tree_of_all(), *l = root->items.v[2];
	struct sources none;
	struct emit_in in = {.sources = &none};
	const struct ir_origin nowhere = {{0}, LAYER_WORKSPACE};
	struct ir_origin floor = {{0}, LAYER_FLOOR};
	cJSON *out = cJSON_CreateObject();
	char *text;

	sources_init(&none, a);
	kube_tree_flag(root->items.v[1]->items.v[0], "--one");
	kube_tree_flag(l->items.v[0]->items.v[0], "--two");
	kube_tree_flag(l->items.v[1], "--two");
	kube_tree_flag(l->items.v[1], "--three");
	/* each once, and nothing of what no file has */
	kube_tree_flag(l->items.v[1], "--two");
	kube_tree_from(&in, l->items.v[1], &nowhere);
	/* what the floor has is nobody's */
	floor.at.beg =
		sources_add(&none, STR("f"), STR("x"), LAYER_FLOOR)->base;
	kube_tree_from(&in, l->items.v[1], &floor);
	kube_tree_causes(root, "", out);
	text = cJSON_PrintUnformatted(out);
	check_same("causes", str_of(text),
		   "{\"m.t\":[\"--one\"],\"l[0].a\":[\"--two\"],"
		   "\"l[1]\":[\"--two\",\"--three\"]}");
	cJSON_free(text);
	cJSON_Delete(out);
	out = cJSON_CreateObject();
	kube_tree_causes(l, "[1].x", out);
	text = cJSON_PrintUnformatted(out);
	check_same("prefix", str_of(text),
		   "{\"[1].x[0].a\":[\"--two\"],"
		   "\"[1].x[1]\":[\"--two\",\"--three\"]}");
	cJSON_free(text);
	cJSON_Delete(out);
}

int main(void)
{
	a = arena_new();
	names();
	images();
	words();
	urls();
	addresses();
	temporary();
	variables();
	texts();
	literals();
	documents();
	members();
	causes();
	arena_free(a);
	return check_status();
}
