/*
 * What a workspace adds, over every key of grammar/schema.def: no key by which
 * it can widen is without a text, and no two values of such a key have the
 * same digest. A key that is not in the table below fails.
 */
#include "compiler/cli/trust/contribution.h"
#include "tests/unit/front.h"

#include <stdlib.h>

struct made {
	struct compilation c;
	struct contribution x;
};

static bool add_doc(struct made *m, enum layer layer, const char *yaml)
{
	struct pass_ctx ctx = driver_ctx(&m->c);
	struct doc *d = vec_push(m->c.a, &m->c.docs);
	struct yaml_node *root;
	ir_texts extends = {0};

	*d = (struct doc){.layer = layer, .source = str_of(layer_name(layer))};
	return yaml_parse(m->c.a, &m->c.diags,
			  sources_add(&m->c.sources, d->source, str_of(yaml),
				      layer),
			  &root) &&
	       bind_policy(&ctx, layer, root, &d->policy, &extends);
}

/* NULL for a source that is not there. */
static void make(struct made *m, const char *global, const char *workspace,
		 const char *flags)
{
	struct pass_ctx ctx;
	bool ok = true;

	*m = (struct made){.c = {.a = arena_new()}};
	sources_init(&m->c.sources, m->c.a);
	diags_init(&m->c.diags, m->c.a, &m->c.sources);
	ctx = driver_ctx(&m->c);
	ok &= add_doc(m, LAYER_GLOBAL, global);
	if (workspace)
		ok &= add_doc(m, LAYER_WORKSPACE, workspace);
	if (flags)
		ok &= add_doc(m, LAYER_FLAGS, flags);
	CHECK_MSG(ok, "%s --- %s", global, workspace ? workspace : "");
	/* some of the table are no whole policy: their texts are enough */
	m->c.ok = passes_layers(&ctx, &m->c.docs, &m->c.policy) &&
		  passes_normalise(&ctx, &m->c.policy);
	contribution_make(&m->c, &m->x);
}

static void done(struct made *m)
{
	driver_done(&m->c);
}

/* --- every key ----------------------------------------------------------- */

enum what {
	WIDENS,	 /* one and other are added, and are not the same */
	NARROWS, /* one adds nothing */
	REFUSED, /* no workspace may say it */
	FILES,	 /* of other files: tests/cases/trust-extended */
};

#define GRANT(text) "allow: [{dest: a.test" text "}]"
#define ASK(text)   "ask: [{dest: a.test" text "}]"
#define HARD(text)  "hardening: {" text "}"
#define CRED(text)  "credentials: [{" text "}]"
#define TRACE(text) "trace: {" text "}"
#define NEVER(text) "tests: {never: [{" text "}]}"
#define PURPOSE	    "refused_on_purpose: [{dest: a.test, reason: so}]"
#define WAIVE(text) "allow_lint: [{id: any-grant, reason: \"so\"" text "}]"

static const struct {
	const char *map, *key;
	enum what what;
	const char *global, *one, *other;
} table[] = {
	{"POLICY", "extends", FILES, "", "", ""},
	{"POLICY", "allow", WIDENS, "", "allow: [a.test]", "allow: [b.test]"},
	{"POLICY", "deny", NARROWS, "allow: [a.test]", "deny: [a.test]", ""},
	{"POLICY", "ask", WIDENS, "", "ask: [a.test]", "ask: [b.test]"},
	{"POLICY", "network", WIDENS, "", "network: {allow: [a.test]}",
	 "network: {allow: [a.test:80]}"},
	{"POLICY", "hostnames", WIDENS, "", "hostnames: [a.test]",
	 "hostnames: [b.test]"},
	{"POLICY", "cidrs", WIDENS, "", "cidrs: [10.0.0.0/8]",
	 "cidrs: [10.0.0.0/9]"},
	{"POLICY", "ignore", WIDENS, "ignore: [.env, .key]",
	 "ignore: [\"!.env\"]", "ignore: [\"!.key\"]"},
	{"POLICY", "readonly", WIDENS, "", "readonly: [\"!/.git/hooks/\"]",
	 "readonly: [\"!/.git/config\"]"},
	{"POLICY", "masks", WIDENS, "masks: hold", "masks: start",
	 "masks: hold"},
	{"MASKS", "hold", WIDENS, "masks: hold", "masks: {hold: false}",
	 "masks: {hold: true}"},
	{"MASKS", "fast", WIDENS, "", "masks: {fast: [a]}",
	 "masks: {fast: [b]}"},
	{"POLICY", "dns_resolver", WIDENS, "", "dns_resolver: 9.9.9.9",
	 "dns_resolver: 9.9.9.9:54"},
	{"POLICY", "resolver", WIDENS, "", "resolver: 9.9.9.9",
	 "resolver: '[2620:fe::fe]'"},
	{"POLICY", "tls", WIDENS, "tls: inspect", "tls: verify",
	 "tls: inspect"},
	{"POLICY", "uplink", WIDENS, "", "uplink: a", "uplink: b"},
	{"POLICY", "upstream", WIDENS, "", "upstream: http://a.test:1",
	 "upstream: http://a.test:2"},
	{"UPSTREAM", "proxy", WIDENS, "", "upstream: {proxy: http://a.test:1}",
	 "upstream: {proxy: http://b.test:1}"},
	{"UPSTREAM", "from_env", WIDENS, "",
	 "upstream: {proxy: http://a.test:1, from_env: A}",
	 "upstream: {proxy: http://a.test:1, from_env: B}"},
	{"UPSTREAM", "from_file", WIDENS, "",
	 "upstream: {proxy: http://a.test:1, from_file: /A}",
	 "upstream: {proxy: http://a.test:1, from_file: ~/A}"},
	{"UPSTREAM", "direct", WIDENS, "upstream: http://a.test:1",
	 "upstream: {proxy: http://a.test:1, direct: [b.test]}",
	 "upstream: {proxy: http://a.test:1, direct: [c.test]}"},
	{"POLICY", "upstream_ca", WIDENS, "", "upstream_ca: /a",
	 "upstream_ca: ~/a"},
	{"POLICY", "ports", WIDENS, "", "ports: [3000]",
	 "ports: [\"3000:80\"]"},
	{"POLICY", "visible", WIDENS, "", "visible: [/srv/a]",
	 "visible: [~/a]"},
	{"VISIBLE", "path", WIDENS, "", "visible: [{path: /srv/a}]",
	 "visible: [{path: /srv/b}]"},
	{"VISIBLE", "mode", WIDENS, "",
	 "visible: [{path: /srv/a, mode: write}]", "visible: [/srv/a]"},
	{"POLICY", "ssl_insecure", WIDENS, "", "ssl_insecure: true",
	 "ssl_insecure: false"},
	{"POLICY", "args", WIDENS, "", "args: [--env, A=b]",
	 "args: [--env, A=c]"},
	{"POLICY", "image", WIDENS, "", "image: a", "image: a:1"},
	{"POLICY", "engine", WIDENS, "", "engine: native", "engine: docker"},
	{"POLICY", "runtime", WIDENS, "", "runtime: kata",
	 "runtime: sysbox-runc"},
	{"POLICY", "hardening", WIDENS, "", HARD("user: 1"), HARD("user: 2")},
	{"POLICY", "protect", NARROWS, "",
	 "protect: [{files: [~/.npmrc], by: b}]", ""},
	{"POLICY", "credentials", WIDENS, "",
	 CRED("host: a.test, header: X, from_env: A"),
	 CRED("host: a.test, header: X, from_file: A")},
	{"POLICY", "ssh_agent", WIDENS, "ssh_agent: false", "ssh_agent: true",
	 "ssh_agent: false"},
	{"POLICY", "home", WIDENS, "home: none", "home: workspace",
	 "home: shared"},
	{"POLICY", "trace", WIDENS, "", TRACE("engine: \"off\""),
	 TRACE("engine: tracee")},
	{"POLICY", "tests", NARROWS, "", "tests: {allow: [\"a.test:1\"]}", ""},
	{"POLICY", "allow_lint", NARROWS, "", WAIVE(""), ""},
	{"POLICY", "refused_on_purpose", NARROWS, "", PURPOSE, ""},
	{"POLICY", "on_refusal", REFUSED, "", "on_refusal: [/bin/true]", NULL},
	{"ON_REFUSAL", "webhook", REFUSED, "",
	 "on_refusal: {webhook: \"https://x.test/\", secret_env: KEY}", NULL},
	{"ON_REFUSAL", "secret_env", REFUSED, "",
	 "on_refusal: {webhook: \"https://x.test/\", secret_env: KEY}", NULL},
	{"POLICY", "workspace_trust", REFUSED, "", "workspace_trust: always",
	 ""},
	{"NETWORK", "allow", WIDENS, "", "network: {allow: [a.test]}",
	 "network: {allow: [b.test]}"},
	{"NETWORK", "deny", NARROWS, "", "network: {deny: [a.test]}", ""},
	{"GRANT", "dest", WIDENS, "", "allow: [{dest: a.test}]",
	 "allow: [{dest: b.test}]"},
	{"GRANT", "ports", WIDENS, "allow: [a.test:80]",
	 GRANT(", ports: [80, 81]"), GRANT(", ports: [80, 81/udp]")},
	{"GRANT", "http", WIDENS, "", GRANT(", http: [{methods: [GET]}]"),
	 GRANT(", http: [{methods: [PUT]}]")},
	{"GRANT", "tls", WIDENS, "tls: inspect\nallow: [a.test]",
	 GRANT(", tls: verify"), GRANT(", tls: inspect")},
	{"GRANT", "private", WIDENS, "allow: [a.test]",
	 GRANT(", private: true"), GRANT(", private: false")},
	{"NETWORK", "ask", WIDENS, "", "network: {ask: [a.test]}",
	 "network: {ask: [b.test]}"},
	{"ASKED", "dest", WIDENS, "", ASK(""), "ask: [{dest: b.test}]"},
	{"ASKED", "ports", WIDENS, "ask: [a.test:80]", ASK(", ports: [443]"),
	 ASK(", ports: [444]")},
	{"ASKED", "http", WIDENS, "", ASK(", http: [{methods: [GET]}]"),
	 ASK(", http: [{methods: [PUT]}]")},
	{"ASKED", "tls", WIDENS, "tls: inspect\nask: [a.test]",
	 ASK(", tls: verify"), ASK(", tls: inspect")},
	{"ASKED", "private", WIDENS, "ask: [a.test]", ASK(", private: true"),
	 ASK("")},
	{"ASKED", "for", WIDENS, "ask: [a.test]", ASK(", for: always"),
	 ASK(", for: once")},
	{"ASKED", "wait", WIDENS, "ask: [a.test]", ASK(", wait: 10m"),
	 ASK(", wait: 2m")},
	{"DENIAL", "dest", NARROWS, "", "deny: [{dest: a.test}]", ""},
	{"DENIAL", "ports", NARROWS, "", "deny: [{dest: a.test, ports: [1]}]",
	 ""},
	{"DENIAL", "http", NARROWS, "",
	 "deny: [{dest: a.test, http: [{methods: [GET]}]}]", ""},
	{"HTTP", "methods", WIDENS, GRANT(", http: [{methods: [GET]}]"),
	 GRANT(", http: [{methods: [CONNECT]}]"),
	 GRANT(", http: [{methods: [TRACE]}]")},
	{"HTTP", "paths", WIDENS, GRANT(", http: [{paths: [/a]}]"),
	 GRANT(", http: [{paths: [/b]}]"), GRANT(", http: [{paths: [/b/c]}]")},
	{"HARDENING", "read_only", WIDENS, HARD("read_only: true"),
	 HARD("read_only: false"), HARD("read_only: true")},
	{"HARDENING", "tmpfs", WIDENS, "", HARD("tmpfs: [/a]"),
	 HARD("tmpfs: [/b]")},
	{"HARDENING", "pids", WIDENS, "", HARD("pids: 4097"),
	 HARD("pids: 4098")},
	{"HARDENING", "memory", WIDENS, HARD("memory: 1g"), HARD("memory: 2g"),
	 HARD("memory: 3g")},
	{"HARDENING", "cpus", WIDENS, HARD("cpus: 1"), HARD("cpus: 1.1"),
	 HARD("cpus: 1.01")},
	{"HARDENING", "user", WIDENS, "", HARD("user: 0"), HARD("user: 0:1")},
	{"HARDENING", "capabilities", WIDENS, "", HARD("capabilities: [CHOWN]"),
	 HARD("capabilities: [FOWNER]")},
	{"HARDENING", "no_new_privileges", WIDENS, "",
	 HARD("no_new_privileges: false"), HARD("no_new_privileges: true")},
	{"HARDENING", "seccomp", WIDENS, "", HARD("seccomp: unconfined"),
	 HARD("seccomp: /a")},
	{"HARDENING", "user_namespaces", WIDENS, "",
	 HARD("user_namespaces: true"), HARD("user_namespaces: false")},
	{"PROTECT", "files", NARROWS, "protect: [{files: [~/a], by: a}]",
	 "protect: [{files: [~/b], by: a}]", ""},
	{"PROTECT", "by", NARROWS, "protect: [{files: [~/a], by: a}]",
	 "protect: [{files: [~/a], by: b}]", ""},
	{"CREDENTIAL", "host", WIDENS, "",
	 CRED("host: a.test, header: X, from_env: A"),
	 CRED("host: b.test, header: X, from_env: A")},
	{"CREDENTIAL", "header", WIDENS, "",
	 CRED("host: a.test, header: X, from_env: A"),
	 CRED("host: a.test, header: Y, from_env: A")},
	{"CREDENTIAL", "from_env", WIDENS, "",
	 CRED("host: a.test, header: X, from_env: A"),
	 CRED("host: a.test, header: X, from_env: B")},
	{"CREDENTIAL", "from_file", WIDENS, "",
	 CRED("host: a.test, header: X, from_file: /a"),
	 CRED("host: a.test, header: X, from_file: /b")},
	{"CREDENTIAL", "format", WIDENS, "",
	 CRED("host: a.test, header: X, from_env: A, format: \"a {}\""),
	 CRED("host: a.test, header: X, from_env: A, format: \"b {}\"")},
	{"CREDENTIAL", "file", WIDENS, "",
	 CRED("host: a.test, file: ~/a, fields: [x]"),
	 CRED("host: a.test, file: ~/b, fields: [x]")},
	{"CREDENTIAL", "fields", WIDENS, "",
	 CRED("host: a.test, file: ~/a, fields: [x]"),
	 CRED("host: a.test, file: ~/a, fields: [x, y]")},
	{"CREDENTIAL", "refresh", WIDENS, "",
	 CRED("host: a.test, file: ~/a, fields: [access, refresh]"),
	 CRED("host: a.test, file: ~/a, fields: [access, refresh], "
	      "refresh: \"https://b.test/t\"")},
	{"TRACE", "engine", WIDENS, "", TRACE("engine: \"off\""), TRACE("")},
	{"TRACE", "version", WIDENS, "", TRACE("version: 0.24.1"),
	 TRACE("version: 0.20.0")},
	{"TRACE", "events", WIDENS, "", TRACE("events: [ptrace]"),
	 TRACE("events: [ptrace, bpf]")},
	{"TRACE", "exclude", WIDENS, "", TRACE("exclude: [/a]"),
	 TRACE("exclude: [/b]")},
	{"TRACE", "rotate", WIDENS, "", TRACE("rotate: {keep: 1}"),
	 TRACE("rotate: {keep: 2}")},
	{"TRACE", "reads", WIDENS, TRACE("reads: true"), TRACE("reads: false"),
	 TRACE("reads: true")},
	{"TRACE", "required", WIDENS, TRACE("required: true"),
	 TRACE("required: false"), TRACE("required: true")},
	{"EVENT", "event", WIDENS, "", TRACE("events: [{event: ptrace}]"),
	 TRACE("events: [{event: bpf}]")},
	{"EVENT", "optional", WIDENS, "",
	 TRACE("events: [{event: cap_capable, optional: true}]"),
	 TRACE("events: [{event: cap_capable}]")},
	{"EVENT", "filters", WIDENS, "",
	 TRACE("events: [{event: openat, filters: [data.pathname=/a]}]"),
	 TRACE("events: [{event: openat, filters: [data.pathname=/b]}]")},
	{"ROTATE", "size", WIDENS, "", TRACE("rotate: {size: 1m}"),
	 TRACE("rotate: {size: 2m}")},
	{"ROTATE", "age", WIDENS, "", TRACE("rotate: {age: 1h}"),
	 TRACE("rotate: {age: 2h}")},
	{"ROTATE", "keep", WIDENS, "", TRACE("rotate: {keep: 1}"),
	 TRACE("rotate: {keep: 2}")},
	{"ROTATE", "total", WIDENS, "", TRACE("rotate: {total: 1m}"),
	 TRACE("rotate: {total: 2m}")},
	{"TESTS", "allow", NARROWS, "", "tests: {allow: [\"a.test:1\"]}", ""},
	{"TESTS", "ask", NARROWS, "", "tests: {ask: [\"a.test:1\"]}", ""},
	{"TESTS", "deny", NARROWS, "", "tests: {deny: [\"a.test:1\"]}", ""},
	{"TESTS", "never", NARROWS, "", NEVER("dest: a.test"), ""},
	{"NEVER", "dest", NARROWS, "", NEVER("dest: a.test"), ""},
	{"NEVER", "ports", NARROWS, "", NEVER("ports: [1]"), ""},
	{"NEVER", "port", NARROWS, "", NEVER("port: 1"), ""},
	{"NEVER", "methods", NARROWS, "", NEVER("methods: [GET]"), ""},
	{"NEVER", "method", NARROWS, "", NEVER("method: GET"), ""},
	{"NEVER", "paths", NARROWS, "", NEVER("paths: [/a]"), ""},
	{"NEVER", "path", NARROWS, "", NEVER("path: /a"), ""},
	{"NEVER", "read", NARROWS, "", NEVER("read: a"), ""},
	{"NEVER", "write", NARROWS, "", NEVER("write: a"), ""},
	{"NEVER", "docker_arg", NARROWS, "", NEVER("docker_arg: --init"), ""},
	{"WAIVER", "id", NARROWS, "", WAIVE(""), ""},
	{"WAIVER", "dest", NARROWS, "", WAIVE(", dest: a.test"), ""},
	{"WAIVER", "path", NARROWS, "", WAIVE(", path: a"), ""},
	{"WAIVER", "arg", NARROWS, "", WAIVE(", arg: --init"), ""},
	{"WAIVER", "reason", NARROWS, "", WAIVE(""), ""},
	{"WAIVER", "until", NARROWS, "", WAIVE(", until: 2030-01-01"), ""},
	{"PURPOSE", "dest", NARROWS, "", PURPOSE, ""},
	{"PURPOSE", "reason", NARROWS, "", PURPOSE, ""},
};

static void check_widens(const char *global, const char *one, const char *other,
			 const char *key)
{
	struct made a, b, none;

	make(&a, global, one, NULL);
	make(&b, global, other, NULL);
	make(&none, global, NULL, NULL);
	CHECK_MSG(a.x.adds.n > 0, "%s adds nothing: %s", key, one);
	CHECK_MSG(strcmp(a.x.digest, b.x.digest) != 0, "%s: %s, %s", key, one,
		  other);
	CHECK(none.x.adds.n == 0 && strcmp(a.x.digest, none.x.digest) != 0);
	CHECK(a.x.notes.n == a.x.adds.n);
	done(&a);
	done(&b);
	done(&none);
}

static void check_narrows(const char *global, const char *one, const char *key)
{
	struct made m;

	make(&m, global, one, NULL);
	CHECK_MSG(m.x.adds.n == 0, "%s adds '%.*s'", key,
		  STR_ARG(m.x.adds.v[0].s));
	done(&m);
}

static void check_refused(const char *yaml)
{
	struct made m;
	struct ir_policy p;
	struct pass_ctx ctx;

	make(&m, "", yaml, NULL);
	ctx = driver_ctx(&m.c);
	CHECK(!passes_layers(&ctx, &m.c.docs, &p));
	done(&m);
}

static void check_key(const char *map, const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (strcmp(table[i].map, map) || strcmp(table[i].key, key))
			continue;
		switch (table[i].what) {
		case WIDENS:
			check_widens(table[i].global, table[i].one,
				     table[i].other, key);
			return;
		case NARROWS:
			check_narrows(table[i].global, table[i].one, key);
			return;
		case REFUSED:
			check_refused(table[i].one);
			return;
		case FILES:
			return;
		}
	}
	CHECK_MSG(false, "%s.%s: can a workspace widen by it?", map, key);
}

static void check_keys(void)
{
	static const struct {
		const char *map, *key;
	} keys[] = {
#define KEY(map, key, type, field, setting, flags, doc) {#map, key},
#include "grammar/schema.def"
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		check_key(keys[i].map, keys[i].key);
}

/* --- what the digest does not depend on ---------------------------------- */

static bool same(const char *global, const char *one, const char *other)
{
	struct made a, b;
	bool is_same;

	make(&a, global, one, NULL);
	make(&b, global, other, NULL);
	is_same = strcmp(a.x.digest, b.x.digest) == 0;
	done(&a);
	done(&b);
	return is_same;
}

static void check_forms(void)
{
	CHECK(same("", "allow: [a.test, b.test]",
		   "# why\nallow:\n  - B.test.\n  - {dest: a.test}\n"));
	CHECK(same("", "allow: [a.test, a.test]", "hostnames: [a.test]"));
	CHECK(same("", "args: [-e, A=b, -q]", "args: [--env=A=b, --quiet]"));
	CHECK(same("", "args: [-qeA=b]", "args: [-q, --env, A=b]"));
	CHECK(same("", "image: a\nuplink: b", "uplink: b\nimage: a"));
	CHECK(same("", HARD("capabilities: [CHOWN, FOWNER]"),
		   HARD("capabilities: [cap_fowner, CAP_CHOWN]")));
	CHECK(same("", "allow: [a.test]",
		   "allow: [a.test]\ndeny: [b.test]\nignore: [.env]"));
	/* Order has meaning there. */
	CHECK(!same("", "args: [-eA=b, -eA=c]", "args: [-eA=c, -eA=b]"));
	CHECK(!same("ignore: [.env]", "ignore: [\"!.env\", \"!.en?\"]",
		    "ignore: [\"!.en?\", \"!.env\"]"));
	/* One text with a blank is not two. */
	CHECK(!same("", "args: [-e, \"A=b -q\"]", "args: [-e, A=b, -q]"));
	/* No value is cut: these differ in the last of many bytes. */
	CHECK(!same("",
		    "args: [-eA=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab]",
		    "args: [-eA=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac]"));
}

/* Flags are neither the user's policy nor the workspace's. */
static void check_flags(void)
{
	struct made with, without;

	make(&with, "allow: [a.test]", "allow: [b.test, c.test]",
	     "allow: [b.test]\nimage: mine");
	make(&without, "allow: [a.test]", "allow: [b.test, c.test]", NULL);
	CHECK(strcmp(with.x.digest, without.x.digest) == 0);
	CHECK(with.x.adds.n == 2);
	done(&with);
	done(&without);
}

/* What gives no access of its own is left out. */
static void check_access(void)
{
	struct made m;

	check_narrows("deny: [a.test]", "allow: [a.test:443]", "denied");
	check_narrows("allow: [\"*\"]", "allow: [a.test]", "given");
	check_narrows("ignore: [a/, .env]", "ignore: [\"!.env\", .env]",
		      "taken back and given");
	check_narrows("allow: [a.test:80, a.test:443]",
		      "allow: [{dest: a.test, ports: [80, 443]}]",
		      "given in two");
	/* Names may lead there then, though nothing connects to it by itself.
	 */
	make(&m, "allow: [a.test]\ndeny: [10.0.0.0/8:22]",
	     "allow: [10.0.0.0/8:22]", NULL);
	CHECK(m.x.adds.n == 1);
	done(&m);
	make(&m, "", "allow: [a.test:443]", NULL);
	CHECK(m.x.adds.n == 1 && str_is(m.x.notes.v[0].witness, "a.test:443") &&
	      m.x.notes.v[0].was.reason == REASON_NO_GRANT);
	done(&m);
}

int main(void)
{
	check_keys();
	check_forms();
	check_flags();
	check_access();
	return check_status();
}
