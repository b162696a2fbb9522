/* What is bound, field by field, and where each was written. */
#include "tests/unit/front.h"

static struct rig r;
static struct ir_policy p;

static void bind_text(const char *yaml)
{
	rig_init(&r);
	CHECK_MSG(rig_bind(&r, yaml, LAYER_GLOBAL, &p), "%s\n%.*s", yaml,
		  STR_ARG(rig_said(&r)));
}

static bool stands_at(struct span at, const char *text)
{
	return str_is(sources_text(&r.sources, at), text);
}

static bool is_from(struct ir_origin from, const char *text)
{
	return from.layer == LAYER_GLOBAL && stands_at(from.at, text);
}

static bool is_text(const struct ir_text *t, const char *text)
{
	return str_is(t->s, text) && is_from(t->from, text);
}

static void test_grants(void)
{
	bind_text("allow: [{dest: a.test, http: [{methods: [GET]}]}]\n"
		  "ask: [{dest: b.test, for: once, wait: 2m}]\n"
		  "deny: ['c.test:53/udp']\nhostnames: [d.test]\n"
		  "cidrs: [10.0.0.0/8]\nreadonly: [x]\n");
	CHECK(p.allow.n == 3 && is_from(p.allow.v[0].from, "a.test"));
	CHECK(p.allow.v[0].key == IR_KEY_ALLOW);
	CHECK(is_text(&p.allow.v[0].http.v[0].methods.v[0], "GET"));
	CHECK(p.allow.v[1].key == IR_KEY_HOSTNAMES &&
	      p.allow.v[2].key == IR_KEY_CIDRS);
	CHECK(p.ask.v[0].key == IR_KEY_ASK && p.ask.v[0].wait_s.v == 120 &&
	      p.ask.v[0].lasts.v == IR_LASTS_ONCE);
	CHECK(is_from(p.ask.v[0].wait_s.from, "2m"));
	CHECK(p.deny.v[0].key == IR_KEY_DENY &&
	      p.deny.v[0].dest.port.proto == IR_PROTO_UDP &&
	      stands_at(p.deny.v[0].dest.port.at, "53/udp"));
	rig_done(&r);
}

/* Where its path is, or would be. */
static void test_urls(void)
{
	const struct ir_url *u;

	bind_text("allow: [https://a.test, http://a.test:81/x]");
	u = &p.allow.v[0].dest.u.url;
	CHECK(u->path_at.beg == p.allow.v[0].dest.at.end &&
	      u->path_at.end == u->path_at.beg && str_is(u->path, "/"));
	CHECK(u->scheme == IR_SCHEME_HTTPS && u->port == 443);
	u = &p.allow.v[1].dest.u.url;
	CHECK(stands_at(u->path_at, "/x") && u->scheme == IR_SCHEME_HTTP &&
	      u->port == 81);
	rig_done(&r);
}

static void test_credentials(void)
{
	const struct ir_credential *c;
	const struct ir_grant *g;

	bind_text(
		"credentials:\n"
		"- {host: a.test, header: X-A, from_env: T}\n"
		"- {host: b.test, header: X-B, from_file: t, format: 'B {}'}\n"
		"- {host: c.test, file: ~/c, fields: [access, refresh],\n"
		"   refresh: https://r.test/t}\n");
	CHECK(p.credentials.n == 3);
	c = p.credentials.v;
	CHECK(c[0].from_env && str_is(c[0].source, "T") &&
	      stands_at(c[0].source_at, "T") && str_is(c[0].header, "X-A") &&
	      str_is(c[0].format, "{}") &&
	      str_is(c[0].host.u.host.name, "a.test"));
	CHECK(c[0].from.layer == LAYER_GLOBAL &&
	      c[0].from.at.beg < c[0].source_at.beg &&
	      c[0].from.at.beg > r.sources.list.v[0].base);
	CHECK(!c[1].from_env && str_is(c[1].source, "t") &&
	      stands_at(c[1].source_at, "t") && str_is(c[1].format, "B {}"));
	CHECK(!c[1].has_refresh && c[1].fields.n == 0);
	CHECK(!c[2].from_env && str_is(c[2].source, "~/c") &&
	      c[2].has_refresh && c[2].fields.n == 2 &&
	      is_text(&c[2].fields.v[1], "refresh"));
	/* The gate's own request is a grant. */
	CHECK(p.allow.n == 1);
	g = p.allow.v;
	CHECK(g->implied && g->has_http && g->http.n == 1 &&
	      g->key == IR_KEY_ALLOW && g->http.v[0].any_path &&
	      !g->http.v[0].any_method &&
	      is_from(g->from, "https://r.test/t") &&
	      stands_at(g->http.v[0].at, "https://r.test/t"));
	CHECK(g->http.v[0].methods.n == 1 &&
	      str_is(g->http.v[0].methods.v[0].s, "POST"));
	rig_done(&r);
}

static void test_lint(void)
{
	const struct ir_waiver *w;

	bind_text("allow_lint:\n"
		  "- {id: third-party, reason: one, until: 2027-01-31}\n"
		  "- {dest: A.test, id: any-grant, reason: two}\n"
		  "- {id: any-grant, path: ' x', reason: three}\n"
		  "refused_on_purpose:\n"
		  "- {reason: r, dest: A.test}\n");
	CHECK(p.waivers.n == 3);
	w = p.waivers.v;
	CHECK(is_from(w[0].from, "third-party") && str_is(w[0].reason, "one"));
	CHECK(w[0].has_until && stands_at(w[0].until_at, "2027-01-31"));
	CHECK(w[0].kind != IR_WAIVER_DEST && w[0].kind != IR_WAIVER_TEXT);
	CHECK(w[0].lint != w[1].lint && w[1].lint == w[2].lint);
	CHECK(w[1].kind == IR_WAIVER_DEST && str_is(w[1].subject, "a.test") &&
	      is_from(w[1].from, "any-grant") && !w[1].has_until);
	CHECK(w[2].kind == IR_WAIVER_TEXT && str_is(w[2].subject, " x"));
	CHECK(p.purposes.n == 1 && is_from(p.purposes.v[0].from, "A.test") &&
	      str_is(p.purposes.v[0].reason, "r"));
	rig_done(&r);
}

static void test_tests(void)
{
	const struct ir_never *n;

	bind_text("tests:\n"
		  "  allow: ['a.test:443', GET https://b.test/]\n"
		  "  deny: [read .env]\n"
		  "  never: [a.test, {port: 25}, {method: PUT, path: /a},\n"
		  "    {read: r}, {write: w}, {docker_arg: --x}]\n");
	CHECK(p.tests.allow.n == 2 && p.tests.deny.n == 1);
	CHECK(is_from(p.tests.allow.v[1].from, "GET https://b.test/"));
	CHECK(p.tests.never.n == 6);
	n = p.tests.never.v;
	CHECK(n[0].has_dest && n[0].kind == IR_NEVER_NET &&
	      is_from(n[0].from, "a.test"));
	CHECK(!n[1].has_dest && n[1].ports.n == 1 && n[1].ports.v[0].lo == 25);
	CHECK(is_from(n[1].from, "port: 25"));
	CHECK(!n[2].has_dest && is_text(&n[2].methods.v[0], "PUT") &&
	      is_text(&n[2].paths.v[0], "/a"));
	CHECK(n[3].kind == IR_NEVER_READ && str_is(n[3].pattern, "r"));
	CHECK(n[4].kind == IR_NEVER_WRITE && str_is(n[4].pattern, "w"));
	CHECK(n[5].kind == IR_NEVER_ARG && str_is(n[5].arg, "--x"));
	rig_done(&r);
	/* One set without a list around it. */
	bind_text("tests: {never: {dest: a.test}}");
	CHECK(p.tests.never.n == 1 && p.tests.never.v[0].has_dest);
	rig_done(&r);
}

static void test_requests(void)
{
	const struct ir_request *q;
	struct addr a;

	bind_text(
		"tests: {allow: [quic a.test:443, 'a.test:443', 'udp a.test:53',\n"
		"  192.0.2.7:443 host, resolve host,\n"
		"  GET http://a.test/ at 192.0.2.9]}\n");
	q = p.tests.allow.v;
	CHECK(q[0].quic && q[0].proto == IR_PROTO_UDP && q[0].port == 443);
	CHECK(!q[1].quic && q[1].proto == IR_PROTO_TCP && !q[1].has_addr);
	CHECK(!q[2].quic && q[2].proto == IR_PROTO_UDP);
	CHECK(addr_parse(STR("192.0.2.7"), &a) && q[3].has_addr &&
	      addr_eq(&q[3].addr, &a) && str_is(q[3].name, "host"));
	CHECK(q[4].kind == IR_REQ_RESOLVE && str_eq(q[4].name, q[3].name));
	CHECK(addr_parse(STR("192.0.2.9"), &a) && q[5].has_addr &&
	      addr_eq(&q[5].addr, &a) && !q[5].unresolved);
	rig_done(&r);
}

static void test_upstream(void)
{
	const struct ir_upstream *u = &p.upstream;

	bind_text("upstream: {proxy: 'http://localhost:3128', from_env: L,\n"
		  "  direct: [a.test, 10.0.0.0/8]}\n");
	CHECK(u->set && is_from(u->from, "'http://localhost:3128'"));
	/* One address, on every machine. */
	CHECK(u->proxy.u.url.who == IR_DEST_CIDR &&
	      u->proxy.u.url.net.bits == 32 &&
	      u->proxy.u.url.net.addr.b[0] == 127);
	CHECK(u->has_login && u->from_env && str_is(u->source, "L") &&
	      stands_at(u->source_at, "L"));
	CHECK(u->direct.n == 2 && is_from(u->direct.v[1].from, "10.0.0.0/8"));
	rig_done(&r);
	bind_text("upstream: {from_file: /l, proxy: 'http://p.test:3128'}");
	CHECK(u->has_login && !u->from_env && str_is(u->source, "/l"));
	CHECK(u->proxy.u.url.who == IR_DEST_HOST && u->direct.n == 0);
	rig_done(&r);
	bind_text("upstream: http://p.test:3128");
	CHECK(u->set && !u->has_login &&
	      is_from(u->from, "http://p.test:3128"));
	rig_done(&r);
}

static void test_places(void)
{
	bind_text("masks: {fast: [a/, b], hold: true}\n"
		  "visible: [/srv/a/, {mode: write, path: ~/b}]\n"
		  "ports: [3000, '127.0.0.1:80:80']\n"
		  "on_refusal: {webhook: 'https://a.test/', secret_env: S}\n");
	CHECK(p.masks.set && p.masks.v == IR_MASKS_HOLD &&
	      is_from(p.masks.from, "true"));
	CHECK(p.fast.n == 2 && str_is(p.fast.v[0].s, "a") &&
	      is_from(p.fast.v[0].from, "a/") && is_text(&p.fast.v[1], "b"));
	CHECK(p.visible.n == 2 && str_is(p.visible.v[0].s, "read /srv/a") &&
	      is_from(p.visible.v[0].from, "/srv/a/"));
	CHECK(str_is(p.visible.v[1].s, "write ~/b") &&
	      is_from(p.visible.v[1].from, "~/b"));
	CHECK(p.ports.n == 2 && str_is(p.ports.v[1].s, "80"));
	CHECK(p.on_refusal.set && is_from(p.on_refusal.from, "on_refusal"));
	CHECK(str_is(p.on_refusal.webhook.s, "https://a.test/") &&
	      is_text(&p.on_refusal.secret_env, "S"));
	rig_done(&r);
	bind_text("masks: {hold: false}");
	CHECK(p.masks.set && p.masks.v == IR_MASKS_START && p.fast.n == 0);
	rig_done(&r);
	bind_text("masks: {fast: [a]}\non_refusal: [/bin/x, a b]");
	CHECK(p.masks.v == IR_MASKS_HOLD && is_from(p.masks.from, "masks"));
	CHECK(p.on_refusal.command.n == 2 &&
	      is_text(&p.on_refusal.command.v[1], "a b"));
	rig_done(&r);
}

static void test_trace(void)
{
	const struct ir_trace_event *e;

	bind_text("trace:\n"
		  "  events: [execve, {filters: [a=b], event: openat,\n"
		  "    optional: true}]\n"
		  "  exclude: [/a]\n"
		  "  rotate: {size: 1k, keep: 2, total: 3m}\n"
		  "protect: [{by: git, files: [~/a, ~/b*]}]\n");
	CHECK(p.trace.has_events && p.trace.events.n == 2);
	e = p.trace.events.v;
	CHECK(str_is(e[0].name, "execve") && is_from(e[0].from, "execve"));
	CHECK(str_is(e[1].name, "openat") && is_from(e[1].from, "openat") &&
	      is_text(&e[1].filters.v[0], "a=b") && e[1].optional.v);
	CHECK(p.trace.exclude.n == 1 && p.trace.rotate_bytes.v == 1024 &&
	      p.trace.keep_files.v == 2 && p.trace.keep_bytes.v == 3 << 20);
	CHECK(p.protect.n == 1 && p.protect.v[0].files.n == 2 &&
	      str_is(p.protect.v[0].by, "git") &&
	      is_from(p.protect.v[0].files.v[1].from, "~/b*"));
	rig_done(&r);
}

int main(void)
{
	test_grants();
	test_urls();
	test_credentials();
	test_lint();
	test_tests();
	test_requests();
	test_upstream();
	test_places();
	test_trace();
	return check_status();
}
