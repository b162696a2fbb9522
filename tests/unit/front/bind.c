/* Binding: values to the unit, recovery, and the order of sources. */
#include "compiler/front/bind/bind.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/front/front.h"
#include "tests/unit/front.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- values -------------------------------------------------------------- */

/* memory: TEXT; 0 when it is refused. */
static uint64_t size_of(const char *text)
{
	struct ir_policy p;
	char yaml[64];
	struct rig r;
	uint64_t v = 0;

	rig_init(&r);
	snprintf(yaml, sizeof(yaml), "hardening: {memory: %s}", text);
	if (rig_bind(&r, yaml, LAYER_GLOBAL, &p) && p.hardening.memory.set)
		v = p.hardening.memory.v;
	rig_done(&r);
	return v;
}

static uint64_t age_of(const char *text)
{
	struct ir_policy p;
	char yaml[64];
	struct rig r;
	uint64_t v = 0;

	rig_init(&r);
	snprintf(yaml, sizeof(yaml), "trace: {rotate: {age: %s}}", text);
	if (rig_bind(&r, yaml, LAYER_GLOBAL, &p))
		v = p.trace.rotate_age_s.v;
	rig_done(&r);
	return v;
}

static uint64_t cpus_of(const char *text)
{
	struct ir_policy p;
	char yaml[64];
	struct rig r;
	uint64_t v = 0;

	rig_init(&r);
	snprintf(yaml, sizeof(yaml), "hardening: {cpus: %s}", text);
	if (rig_bind(&r, yaml, LAYER_GLOBAL, &p))
		v = p.hardening.cpus_milli.v;
	rig_done(&r);
	return v;
}

static void test_units(void)
{
	CHECK(size_of("1") == 1 && size_of("512b") == 512);
	CHECK(size_of("4k") == 4096 && size_of("4K") == 4096);
	CHECK(size_of("3m") == 3 << 20 && size_of("4g") == 4ull << 30);
	CHECK(size_of("1024t") == 1ull << 50 && size_of("1025t") == 0);
	CHECK(size_of("0") == 0 && size_of("-1") == 0 && size_of("4gb") == 0);
	CHECK(size_of("1.5g") == 0 && size_of("g") == 0 &&
	      size_of("\"\"") == 0);
	CHECK(size_of("99999999999999999999g") == 0);
	CHECK(age_of("30s") == 30 && age_of("2m") == 120);
	CHECK(age_of("12h") == 43200 && age_of("7d") == 604800);
	CHECK(age_of("1w") == 604800 && age_of("7") == 0 && age_of("7y") == 0);
	CHECK(cpus_of("2") == 2000 && cpus_of("1.5") == 1500);
	CHECK(cpus_of("0.001") == 1 && cpus_of("0.0001") == 0);
	CHECK(cpus_of("1.") == 0 && cpus_of(".5") == 0 && cpus_of("0") == 0);
	CHECK(cpus_of("1024") == 1024000 && cpus_of("1025") == 0);
}

static void test_everything(void)
{
	struct ir_policy p;
	struct rig r;

	rig_init(&r);
	CHECK(rig_bind(&r,
		       "allow: [a.b, {dest: c.d, ports: [443, 53/udp],"
		       " private: true, tls: inspect,"
		       " http: [{methods: [GET]}, {paths: [/x]}]}]\n"
		       "hostnames: [e.f]\ncidrs: [192.0.2.0/24]\n"
		       "deny: ['*', 198.51.100.0/24]\n"
		       "ignore: [.env, '!x']\nreadonly: [/y]\n"
		       "resolver: 192.0.2.53:5353\n"
		       "args: ['', --env, 'A=b\tc']\n"
		       "credentials: [{host: a.b, header: X, from_env: T}]\n"
		       "protect: [{files: [~/k], by: x}]\n"
		       "trace: {engine: off, events: [{event: x,"
		       " filters: [a=b]}]}\n"
		       "tests: {never: ['*:25', {methods: [PUT]}]}\n"
		       "workspace_trust: never\n",
		       LAYER_GLOBAL, &p));
	CHECK(p.allow.n == 4 && p.allow.v[2].key == IR_KEY_HOSTNAMES);
	CHECK(p.allow.v[1].ports.n == 2 && p.allow.v[1].http.n == 2);
	CHECK(p.allow.v[1].has_http && p.allow.v[1].http.v[0].any_path &&
	      !p.allow.v[1].http.v[0].any_method);
	CHECK(p.allow.v[1].private.v && p.allow.v[1].tls.v == IR_TLS_INSPECT);
	CHECK(str_is(sources_text(&r.sources, p.allow.v[1].dest.at), "c.d"));
	CHECK(str_is(sources_text(&r.sources, p.allow.v[1].ports.v[1].at),
		     "53/udp"));
	/* A bare '*' in deny is a warning and nothing else. */
	CHECK(p.deny.n == 1 && r.diags.warnings == 1);
	CHECK(p.ignore.n == 2 && p.ignore.v[1].back && !p.ignore.v[0].back);
	CHECK(p.resolver.v.port == 5353);
	CHECK(p.args.n == 3 && p.args.v[0].s.n == 0);
	CHECK(str_is(p.credentials.v[0].format, "{}") &&
	      p.credentials.v[0].from_env);
	CHECK(p.trace.engine.v == IR_TRACE_OFF && p.trace.has_events);
	CHECK(p.tests.never.n == 2 && p.tests.never.v[0].has_dest &&
	      !p.tests.never.v[1].has_dest);
	CHECK(p.workspace_trust.v == IR_TRUST_NEVER);
	CHECK(p.workspace_trust.from.layer == LAYER_GLOBAL);
	rig_done(&r);
}

/* What is right around a mistake is bound all the same. */
static void test_recovery(void)
{
	struct ir_policy p;
	struct rig r;

	rig_init(&r);
	CHECK(!rig_bind(&r,
			"allow: [a.b, 'x*', c.d, ~, [e], {dest: f.g}]\n"
			"tls: nope\nimage: i\n",
			LAYER_WORKSPACE, &p));
	CHECK(p.allow.n == 3 && p.image.set && !p.tls.set);
	CHECK(r.diags.errors == 4);
	rig_done(&r);
}

/* A hostile file is not looked at for ever. */
static void test_many_errors(void)
{
	size_t n = 150000, at = 0;
	char *text = malloc(n * 7 + 1);
	struct ir_policy p;
	struct rig r;

	for (size_t i = 0; i < n; i++)
		at += (size_t)sprintf(text + at, "k%zu:\n", i % 9999);
	rig_init(&r);
	CHECK(!rig_bind(&r, text, LAYER_WORKSPACE, &p));
	CHECK(r.diags.errors < 1000);
	rig_done(&r);
	free(text);
}

/* --- sources ------------------------------------------------------------- */

struct place_rig {
	struct rig r;
	char dir[64];
	struct front_input in;
	char workspace[96], state[96], policies[96];
};

static void put(const struct place_rig *t, const char *path, const char *text)
{
	char full[192], *slash;
	struct err err;

	snprintf(full, sizeof(full), "%s/%s", t->dir, path);
	slash = strrchr(full, '/');
	*slash = '\0';
	CHECK(fileio_mkdirs(full, 0755, &err) == 0);
	*slash = '/';
	CHECK(fileio_write(AT_FDCWD, full, str_of(text), 0644, &err) == 0);
}

static void place_init(struct place_rig *t)
{
	*t = (struct place_rig){0};
	rig_init(&t->r);
	snprintf(t->dir, sizeof(t->dir), "/tmp/membrane-bind-XXXXXX");
	CHECK(mkdtemp(t->dir) != NULL);
	chmod(t->dir, 0755);
	snprintf(t->workspace, sizeof(t->workspace), "%s/w", t->dir);
	snprintf(t->state, sizeof(t->state), "%s/s", t->dir);
	snprintf(t->policies, sizeof(t->policies), "%s/p", t->dir);
	mkdir(t->workspace, 0755);
	t->in = (struct front_input){.workspace = t->workspace,
				     .state = t->state,
				     .policies = t->policies};
}

static void place_done(struct place_rig *t)
{
	struct err err;

	CHECK(fileio_remove_tree(AT_FDCWD, t->dir, &err) == 0);
	rig_done(&t->r);
}

static int load(struct place_rig *t, docs *out, bool *ok, struct err *err)
{
	*out = (docs){0};
	return front_load(&t->r.c, &t->r.sources, &t->in, out, ok, err);
}

static bool is_doc(const struct doc *d, enum layer layer, const char *source)
{
	return d->layer == layer && str_is(d->source, source);
}

static void test_order(void)
{
	const struct front_flag flags[] = {{.kind = FRONT_FLAG_IMAGE,
					    .spelling = STR("--image"),
					    .value = STR("i")}};
	struct place_rig t;
	struct err err;
	docs list;
	bool ok;

	place_init(&t);
	t.in.flags = flags;
	t.in.n_flags = 1;
	put(&t, "p/agents/one.yaml", "extends: [two]\nallow: [one.test]\n");
	put(&t, "p/forges/two.yaml", "allow: [two.test]\n");
	put(&t, "p/three.yaml", "extends: [two]\nallow: [three.test]\n");
	put(&t, "s/config.yaml", "extends: [one]\n");
	put(&t, "w/.membrane.yaml", "extends: [three, one, ci/x.yml]\n");
	put(&t, "w/ci/x.yml", "allow: [x.test]\n");
	put(&t, "w/.membraneignore", ".env\n");
	CHECK(load(&t, &list, &ok, &err) == 0 && ok);
	CHECK(list.n == 8);
	CHECK(is_doc(&list.v[0], LAYER_PRESET, "preset:two"));
	CHECK(is_doc(&list.v[1], LAYER_PRESET, "preset:one"));
	CHECK(is_doc(&list.v[2], LAYER_GLOBAL, "~/.membrane/config.yaml"));
	/* What a workspace extends is the workspace's own addition. */
	CHECK(list.v[4].policy.readonly.n == 1 &&
	      str_is(list.v[4].policy.readonly.v[0].line, "/ci/x.yml"));
	CHECK(is_doc(&list.v[3], LAYER_WORKSPACE, "preset:three"));
	CHECK(is_doc(&list.v[4], LAYER_WORKSPACE, "ci/x.yml"));
	CHECK(is_doc(&list.v[5], LAYER_WORKSPACE, ".membrane.yaml"));
	CHECK(is_doc(&list.v[6], LAYER_WORKSPACE, ".membraneignore"));
	CHECK(is_doc(&list.v[7], LAYER_FLAGS, "<command line>"));
	CHECK(list.v[7].policy.image.set);
	place_done(&t);
}

/* Of presets in a bound counts the network, and what the policy has by itself
 * is not there twice. */
static void test_within(void)
{
	const struct str within[] = {STR("one"), STR("a.test:22"), STR("two"),
				     STR("*.b.test")};
	struct place_rig t;
	struct place at;
	struct err err;
	docs list;
	bool ok;

	place_init(&t);
	t.in.within = within;
	t.in.n_within = ARRAY_LEN(within);
	put(&t, "p/agents/one.yaml",
	    "extends: [three]\nallow: [one.test]\nask: [q.test]\n"
	    "deny: [no.test]\nimage: other\nignore: [x]\nargs: [-e, X]\n"
	    "tests: {never: [{port: 25}]}\n");
	put(&t, "p/two.yaml", "allow: [two.test]\n");
	put(&t, "p/three.yaml", "readonly: [y]\nallow: [three.test]\n");
	put(&t, "w/.membrane.yaml", "extends: [two]\n");
	CHECK(load(&t, &list, &ok, &err) == 0 && ok);
	CHECK(list.n == 5);
	CHECK(is_doc(&list.v[2], LAYER_FLAGS, "--within three"));
	CHECK(is_doc(&list.v[3], LAYER_FLAGS, "--within one"));
	CHECK(is_doc(&list.v[4], LAYER_FLAGS, "--within"));
	CHECK(list.v[2].policy.allow.n == 1 &&
	      list.v[2].policy.readonly.n == 0);
	CHECK(list.v[3].policy.allow.n == 1 && list.v[3].policy.ask.n == 1 &&
	      list.v[3].policy.deny.n == 1);
	CHECK(!list.v[3].policy.image.set && list.v[3].policy.ignore.n == 0 &&
	      list.v[3].policy.args.n == 0 &&
	      list.v[3].policy.tests.never.n == 0);
	CHECK(list.v[4].policy.allow.n == 2);
	at = sources_place(&t.r.sources, list.v[4].policy.allow.v[1].from.at);
	CHECK(at.line == 4 && at.column == 10);
	place_done(&t);
}

static bool within_is_bound(struct str word)
{
	struct place_rig t;
	struct err err;
	docs list;
	bool ok;

	place_init(&t);
	t.in.within = &word;
	t.in.n_within = 1;
	put(&t, "p/one.yaml", "allow: [one.test]\n");
	put(&t, "p/bad.yaml", "allow: [one..test]\n");
	put(&t, "p/loop.yaml", "extends: [loop]\n");
	CHECK(load(&t, &list, &ok, &err) == 0);
	CHECK(ok == (t.r.diags.errors == 0));
	place_done(&t);
	return ok;
}

static void test_within_refused(void)
{
	CHECK(within_is_bound(STR("one")));
	CHECK(within_is_bound(STR("box:443")));
	CHECK(!within_is_bound(STR("")));
	CHECK(!within_is_bound(STR("box")));
	CHECK(!within_is_bound(STR("bad")));
	CHECK(!within_is_bound(STR("loop")));
	CHECK(!within_is_bound(STR("../one")));
	CHECK(!within_is_bound(STR("one.yaml/x")));
	CHECK(!within_is_bound(STR("\xff.test")));
	CHECK(!within_is_bound(STR("a.test b.test")));
}

/* What no command line of a shell's passes on, refused as in a file. */
static bool flag_is_bound(struct str value)
{
	const struct front_flag flags[] = {{.kind = FRONT_FLAG_IMAGE,
					    .spelling = STR("--image"),
					    .value = value}};
	struct place_rig t;
	struct err err;
	docs list;
	bool ok;

	place_init(&t);
	t.in.flags = flags;
	t.in.n_flags = 1;
	CHECK(load(&t, &list, &ok, &err) == 0);
	CHECK(ok == (t.r.diags.errors == 0));
	place_done(&t);
	return ok;
}

static void test_flags(void)
{
	static char text[LIMIT_SCALAR_BYTES + 1];

	memset(text, 'i', sizeof(text));
	CHECK(flag_is_bound(STR("i")));
	CHECK(!flag_is_bound(STR("\xff")));
	CHECK(!flag_is_bound((struct str){text, sizeof(text)}));
}

static void test_default(void)
{
	struct place_rig t;
	struct err err;
	docs list;
	bool ok;

	place_init(&t);
	put(&t, "p/default.yaml", "ignore: [.env]\n");
	CHECK(load(&t, &list, &ok, &err) == 0 && ok && list.n == 1);
	CHECK(is_doc(&list.v[0], LAYER_GLOBAL, "preset:default"));
	t.in.no_global = true;
	CHECK(load(&t, &list, &ok, &err) == 0 && ok && list.n == 0);
	t.in.no_global = false;
	t.in.global = "/nonexistent/config.yaml";
	CHECK(load(&t, &list, &ok, &err) == -ENOENT);
	place_done(&t);
}

/* The user's own files may be links; a workspace's may not. */
static void test_links(void)
{
	struct place_rig t;
	char from[192], to[192];
	struct err err;
	docs list;
	bool ok;

	place_init(&t);
	put(&t, "elsewhere.yaml", "allow: [a.test]\n");
	snprintf(to, sizeof(to), "%s/elsewhere.yaml", t.dir);
	mkdir(t.state, 0755);
	snprintf(from, sizeof(from), "%s/config.yaml", t.state);
	CHECK(symlink(to, from) == 0);
	CHECK(load(&t, &list, &ok, &err) == 0 && ok && list.n == 1);
	snprintf(from, sizeof(from), "%s/.membrane.yaml", t.workspace);
	CHECK(symlink(to, from) == 0);
	CHECK(load(&t, &list, &ok, &err) == 0 && !ok);
	place_done(&t);
}

static void test_unreadable(void)
{
	bool root = geteuid() == 0;
	struct place_rig t;
	char path[192];
	struct err err;
	docs list;
	bool ok;

	place_init(&t);
	put(&t, "w/.membrane.yaml", "allow: []\n");
	snprintf(path, sizeof(path), "%s/w/.membrane.yaml", t.dir);
	CHECK(chmod(path, 0) == 0);
	if (root)
		CHECK(seteuid(65534) == 0);
	CHECK(load(&t, &list, &ok, &err) == -EACCES);
	CHECK(strncmp(err.text, ".membrane.yaml: ", 16) == 0);
	if (root)
		CHECK(seteuid(0) == 0);
	place_done(&t);
}

int main(void)
{
	test_units();
	test_everything();
	test_recovery();
	test_many_errors();
	test_order();
	test_within();
	test_within_refused();
	test_flags();
	test_default();
	test_links();
	test_unreadable();
	return check_status();
}
