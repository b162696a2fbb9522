/*
 * A proof that nothing of a set is permitted, against a search through a small
 * world: names, addresses, ports, methods, paths and files, each request of
 * which is decided by itself. Where the world has one that is permitted there
 * must be a witness; a witness must lie in the set and be permitted, whether
 * the world has it or not. What lies in a set is said here a second time.
 *
 *	never [POLICIES [SEED]]
 */
#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/decide/ask.h"
#include "compiler/base/gitignore.h"
#include "compiler/front/bind/bind.h"
#include "compiler/front/word/request.h"
#include "compiler/passes/passes.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/scaled.h"

#include <stdlib.h>

#define SETS 4 /* for each policy */

static struct rng rng;
static unsigned broken, held, refused;

/* --- the world ----------------------------------------------------------- */

static const char *const names[] = {"a.test",	  "x.a.test", "y.a.test",
				    "z.y.a.test", "b.test",   "x.b.test"};
static const char *const addrs[] = {"8.8.8.0",	  "8.8.8.1",  "8.8.8.2",
				    "8.8.8.4",	  "10.0.0.1", "10.0.0.5",
				    "2001:db8::1"};
static const char *const protos[] = {"tcp", "tcp", "tcp", "tcp", "udp", "udp"};
static const char *const ports[] = {"22", "80", "443", "8080", "53", "54"};
static const char *const methods[] = {"GET", "POST", "PUT"};
static const char *const paths[] = {"/", "/p", "/p/q", "/pq"};
static const char *const segments[] = {".env", "a.k", "d", "s"};

struct world {
	struct arena *a;
	struct sources sources;
	struct diags diags;
	struct pass_ctx c;
	VEC(struct ir_request) requests;
};

static void add(struct world *w, struct str s)
{
	const struct source *src =
		sources_add(&w->sources, STR("world"), s, LAYER_FLAGS);
	struct text text = {
		s, {src->base, src->base + (uint32_t)s.n}, src->base};
	struct ir_request r;

	if (!request_parse(&w->c, &text, &r))
		abort();
	*vec_push(w->a, &w->requests) = r;
}

#define ADD(w, ...) add(w, arena_fmt((w)->a, __VA_ARGS__))

static void add_http(struct world *w, const char *host)
{
	for (size_t p = 0; p < 4; p++)
		for (size_t m = 0; m < ARRAY_LEN(methods); m++)
			for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
				ADD(w, "%s http://%s:%s%s", methods[m], host,
				    ports[p], paths[i]);
				ADD(w, "%s https://%s:%s%s", methods[m], host,
				    ports[p], paths[i]);
			}
}

/* To an address under a name, which led there or did not. */
static void add_http_at(struct world *w, const char *name, const char *addr)
{
	static const char *const schemes[] = {"http", "https"};
	static const char *const known[] = {"", " unresolved"};

	for (unsigned i = 0; i < 32; i++)
		ADD(w, "%s %s://%s:%s%s at %s%s", methods[i & 1],
		    schemes[i >> 1 & 1], name, ports[1 + (i >> 2 & 1)],
		    paths[i >> 3 & 1 ? 2 : 0], addr, known[i >> 4 & 1]);
}

/* In brackets where it needs them. */
static const char *as_host(struct world *w, const char *addr)
{
	return strchr(addr, ':') ? arena_fmt(w->a, "[%s]", addr).p : addr;
}

static void add_connects(struct world *w, const char *host, const char *name)
{
	for (size_t p = 0; p < ARRAY_LEN(ports); p++)
		ADD(w, "%s %s:%s%s%s", protos[p], host, ports[p],
		    *name ? " " : "", name);
}

static void add_files(struct world *w, const char *folder, unsigned depth)
{
	for (size_t i = 0; depth && i < ARRAY_LEN(segments); i++) {
		struct str path = arena_fmt(w->a, "%s%s", folder, segments[i]);

		ADD(w, "read %s", path.p);
		ADD(w, "write %s", path.p);
		add_files(w, arena_fmt(w->a, "%s/", path.p).p, depth - 1);
	}
}

static void world_init(struct world *w)
{
	*w = (struct world){.a = arena_new()};
	sources_init(&w->sources, w->a);
	diags_init(&w->diags, w->a, &w->sources);
	w->c = (struct pass_ctx){w->a, &w->sources, &w->diags};
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		add_connects(w, names[i], "");
		add_http(w, names[i]);
		ADD(w, "resolve %s", names[i]);
		for (size_t k = 0; k < ARRAY_LEN(addrs); k++) {
			add_connects(w, as_host(w, addrs[k]), names[i]);
			add_http_at(w, names[i], addrs[k]);
		}
	}
	for (size_t k = 0; k < ARRAY_LEN(addrs); k++) {
		add_connects(w, as_host(w, addrs[k]), "");
		add_http(w, as_host(w, addrs[k]));
	}
	add_files(w, "", 3);
}

/* --- what lies in a set -------------------------------------------------- */

/* "**.x" one label or more, "*" one. */
static bool name_fits(struct str pattern, struct str name)
{
	struct str p, n;

	if (str_starts(pattern, STR("**."))) {
		struct str rest = str_slice(pattern, 3, pattern.n);

		for (size_t dot = str_find(name, '.', 0); dot < name.n;
		     dot = str_find(name, '.', dot + 1))
			if (name_fits(rest, str_slice(name, dot + 1, name.n)))
				return true;
		return false;
	}
	while (pattern.n && name.n) {
		if (!str_field(&pattern, '.', &p) || !str_field(&name, '.', &n))
			return false;
		if (!str_is(p, "*") && !str_eq(p, n))
			return false;
	}
	return pattern.n == 0 && name.n == 0;
}

static bool dest_fits(const struct ir_dest *d, struct str name,
		      const struct addr *addr)
{
	switch (d->kind) {
	case IR_DEST_ANY:
		return name.n || (addr && addr_scope(addr) == ADDR_PUBLIC);
	case IR_DEST_HOST:
		return str_eq(d->u.host.name, name);
	case IR_DEST_PATTERN:
		return name.n && name_fits(d->u.pattern.name, name);
	case IR_DEST_CIDR:
		return addr && cidr_has(&d->u.cidr.net, addr);
	case IR_DEST_URL:
		if (d->u.url.who == IR_DEST_CIDR)
			return addr && cidr_has(&d->u.url.net, addr);
		return name.n && name_fits(d->u.url.name, name);
	case IR_DEST_POISON:
		break;
	}
	abort();
}

static bool port_fits(const struct ir_never *n, enum ir_proto proto,
		      uint16_t port)
{
	bool any = n->ports.n == 0;

	vec_each(p, &n->ports)
		if (p->proto == proto && p->lo <= port && port <= p->hi)
			return true;
	if (!n->has_dest)
		return any;
	if (n->dest.kind == IR_DEST_URL)
		return proto == IR_PROTO_TCP && port == n->dest.u.url.port;
	if (!n->dest.has_port)
		return any;
	return n->dest.port.proto == proto && n->dest.port.lo <= port &&
	       port <= n->dest.port.hi;
}

static bool below(struct str path, struct str prefix)
{
	if (str_ends(prefix, STR("/")))
		prefix.n--;
	return str_starts(path, prefix) &&
	       (path.n == prefix.n || path.p[prefix.n] == '/');
}

static bool http_fits(struct arena *a, const struct ir_never *n,
		      const struct ir_request *r)
{
	bool url = n->has_dest && n->dest.kind == IR_DEST_URL;
	struct str base = url ? n->dest.u.url.path : STR("/");
	bool method = n->methods.n == 0, path = n->paths.n == 0;

	vec_each(m, &n->methods)
		method |= str_eq(m->s, r->method);
	vec_each(p, &n->paths) {
		struct str s = p->s;

		if (s.p[0] != '/')
			s = arena_fmt(a, "%.*s%s%.*s", STR_ARG(base),
				      str_ends(base, STR("/")) ? "" : "/",
				      STR_ARG(s));
		path |= below(r->url.path, s);
	}
	return method && path && below(r->url.path, base) &&
	       (!url || n->dest.u.url.scheme == r->url.scheme);
}

/* Or it may: somebody is asked. */
static bool resolves(struct arena *a, const struct ir_policy *p,
		     struct str name)
{
	struct ir_request r = {
		.kind = IR_REQ_RESOLVE, .name = name, .type = STR("A")};

	return decide_asked(a, p, NULL, &r).verdict != VERDICT_DENY;
}

/*
 * Whom a request is to: a name where it leads, and the address, whatever name
 * is stated there. None is stated as led to that does not resolve.
 */
static bool whom_fits(struct arena *a, const struct ir_policy *p, const struct ir_never *n,
		      const struct ir_request *r)
{
	const struct str none = {0};

	if (r->url.who == IR_DEST_CIDR)
		return !n->has_dest ||
		       dest_fits(&n->dest, none, &r->url.net.addr);
	if (!r->has_addr)
		return !n->has_dest || dest_fits(&n->dest, r->url.name, NULL);
	if (r->unresolved)
		return !n->has_dest || dest_fits(&n->dest, none, &r->addr);
	return resolves(a, p, r->url.name) &&
	       (!n->has_dest || dest_fits(&n->dest, r->url.name, &r->addr));
}

static bool net_fits(struct arena *a, const struct ir_policy *p,
		     const struct ir_never *n, const struct ir_request *r)
{
	bool http = n->methods.n || n->paths.n ||
		    (n->has_dest && n->dest.kind == IR_DEST_URL);

	switch (r->kind) {
	case IR_REQ_CONNECT:
		/* To an address as a name's: only where the name resolves. */
		if (r->has_addr && r->name.n &&
		    !resolves(a, p, r->name))
			return false;
		return !http && port_fits(n, r->proto, r->port) &&
		       (!n->has_dest ||
			dest_fits(&n->dest, r->name,
				  r->has_addr ? &r->addr : NULL));
	case IR_REQ_HTTP:
		return port_fits(n, IR_PROTO_TCP, r->url.port) &&
		       http_fits(a, n, r) && whom_fits(a, p, n, r);
	case IR_REQ_RESOLVE:
		return !http && !n->ports.n &&
		       !(n->has_dest && n->dest.has_port) &&
		       (!n->has_dest || dest_fits(&n->dest, r->name, NULL));
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		return false;
	}
	abort();
}

/* The path, or a folder that it is in. */
static bool file_fits(struct arena *a, struct str pattern, struct str path)
{
	struct gitignore *g = gitignore_new(a);
	bool is_dir = str_ends(path, STR("/"));

	(void)gitignore_add(g, pattern, NULL);
	path.n -= is_dir;
	for (; path.n; path = str_parent(path), is_dir = true)
		if (gitignore_match(g, path, is_dir, NULL) == GITIGNORE_MATCH)
			return true;
	return false;
}

static bool fits(struct arena *a, const struct ir_policy *p,
		 const struct ir_never *n, const struct ir_request *r)
{
	switch (n->kind) {
	case IR_NEVER_NET:
		return net_fits(a, p, n, r);
	case IR_NEVER_READ:
		return r->kind == IR_REQ_READ &&
		       file_fits(a, n->pattern, r->path);
	case IR_NEVER_WRITE:
		return r->kind == IR_REQ_WRITE &&
		       file_fits(a, n->pattern, r->path);
	case IR_NEVER_ARG:
		return false;
	}
	abort();
}

/* --- policies ------------------------------------------------------------ */

#define PICK(list) (list)[rng_below(&rng, ARRAY_LEN(list))]

static bool one_in(uint32_t n)
{
	return rng_below(&rng, n) == 0;
}

static const char *const dests[] = {
	"a.test",
	"x.a.test",
	"b.test",
	"*.a.test",
	"**.a.test",
	"**.test",
	"*.test",
	"*.*.test",
	"*",
	"8.8.8.0/30",
	"8.8.8.1",
	"8.8.8.0/24",
	"10.0.0.0/29",
	"https://a.test/",
	"10.0.0.1",
	"http://x.a.test:8080/p/",
	"y.a.test",
	"8.8.8.2/31",
	"https://*.a.test/p",
	"https://10.0.0.1/",
	"https://[2001:db8::1]/p",
	"2001:db8::/32",
};
static const char *const port_lists[] = {"[443]", "[22, 80]", "[53/udp]",
					 "[80-8080]", "[443, 53/udp]"};
static const char *const http_lists[] = {
	"{methods: [GET]}",
	"{paths: [/p/]}",
	"{methods: [POST, PUT], paths: [/p/q]}",
	"{methods: [GET], paths: [/p/, /pq]}",
	"{methods: [GET]}, {paths: [/p]}",
};
static const char *const patterns[] = {
	".env", "*.k",	    "/d/", "d/", "/d/*.k",
	"s/**", "**/d/a.k", "/d",  "s",	 "*",
};

static void put_dest(struct buf *b, bool grant)
{
	const char *dest = PICK(dests);
	bool url = strstr(dest, "://");

	buf_addf(b, "{dest: \"%s\"", dest);
	if (!url && one_in(2))
		buf_addf(b, ", ports: %s", PICK(port_lists));
	if (one_in(3))
		buf_addf(b, ", http: [%s]", PICK(http_lists));
	if (grant && one_in(4))
		buf_adds(b, ", private: true");
	if (grant && one_in(6))
		buf_adds(b, ", tls: inspect");
	buf_adds(b, "}\n");
}

static void put_patterns(struct buf *b, const char *key)
{
	buf_addf(b, "%s: [\".never\"", key);
	for (uint32_t n = rng_below(&rng, 4); n; n--)
		buf_addf(b, ", \"%s%s\"", one_in(4) ? "!" : "", PICK(patterns));
	buf_adds(b, "]\n");
}

static void put_set(struct buf *b)
{
	if (one_in(4)) {
		buf_addf(b, "    - {%s: \"%s\"}\n",
			 one_in(2) ? "read" : "write", PICK(patterns));
		return;
	}
	buf_adds(b, "    - {");
	if (!one_in(6)) {
		const char *dest = PICK(dests);

		buf_addf(b, "dest: \"%s\"", dest);
		if (!strstr(dest, "://") && one_in(2))
			buf_addf(b, ", ports: %s", PICK(port_lists));
	} else {
		buf_addf(b, "ports: %s", PICK(port_lists));
	}
	if (one_in(3))
		buf_addf(b, ", method: %s", PICK(methods));
	if (one_in(4))
		buf_addf(b, ", path: %s", one_in(3) ? "q" : PICK(paths));
	buf_adds(b, "}\n");
}

static struct str policy_text(struct arena *a)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, "allow:\n  - never.test\n");
	for (uint32_t n = rng_below(&rng, 4); n; n--) {
		buf_adds(&b, "  - ");
		put_dest(&b, true);
	}
	if (one_in(2)) {
		buf_adds(&b, "ask:\n  - asked.test\n  - ");
		put_dest(&b, true);
	}
	buf_adds(&b, "deny:\n  - never.test\n");
	for (uint32_t n = rng_below(&rng, 3); n; n--) {
		buf_adds(&b, "  - ");
		put_dest(&b, false);
	}
	put_patterns(&b, "ignore");
	put_patterns(&b, "readonly");
	/* Refused where a pattern names it or something in it. */
	if (one_in(6))
		buf_addf(&b, "masks: {hold: true, fast: [%s/]}\n",
			 PICK(segments));
	if (one_in(6))
		buf_adds(&b, "tls: inspect\n");
	buf_adds(&b, "tests:\n  never:\n");
	for (int i = 0; i < SETS; i++)
		put_set(&b);
	return buf_str(&b);
}

/* False when it is refused: UDP with http, and the like. */
static bool compile(struct pass_ctx *c, struct str text, struct ir_policy *p)
{
	struct yaml_node *root;
	ir_texts extends = {0};
	docs list = {0};
	struct doc *doc = vec_push(c->a, &list);

	doc->layer = LAYER_WORKSPACE;
	return yaml_parse(c->a, c->diags,
			  sources_add(c->sources, STR("policy"), text,
				      LAYER_WORKSPACE),
			  &root) &&
	       bind_policy(c, doc->layer, root, &doc->policy, &extends) &&
	       passes_layers(c, &list, p) && passes_normalise(c, p) &&
	       passes_conflicts(c, p);
}

/* --- the comparison ------------------------------------------------------ */

static void show(struct arena *a, struct str text, const struct ir_never *n,
		 const char *what, struct str request)
{
	CHECK_MSG(false, "never %s: %s %s\n%s", ir_never_text(a, n).p, what,
		  request.n ? request.p : "-", text.p);
}

static void check_set(struct arena *a, const struct world *w,
		      const struct ir_policy *p, const bool *allowed,
		      struct str text, const struct ir_never *n)
{
	const struct decide_files *files = decide_files_new(a, p);
	const struct ir_request *seen = NULL;
	struct ir_request witness;
	struct decision d;

	for (uint32_t i = 0; i < w->requests.n && !seen; i++)
		if (allowed[i] && fits(a, p, n, &w->requests.v[i]))
			seen = &w->requests.v[i];
	if (!never_find(a, p, n, &witness, &d)) {
		held++;
		if (seen)
			show(a, text, n, "nothing found, but", seen->text);
		else
			CHECK(true);
		return;
	}
	broken++;
	if (d.verdict == VERDICT_DENY ||
	    decide_asked(a, p, files, &witness).verdict != d.verdict)
		show(a, text, n, "is denied:", witness.text);
	else if (!fits(a, p, n, &witness))
		show(a, text, n, "is not in it:", witness.text);
	else
		CHECK(true);
}

static void check_policy(const struct world *w)
{
	struct arena *a = arena_new();
	struct str text = policy_text(a);
	struct sources sources;
	struct diags diags;
	struct pass_ctx c = {a, &sources, &diags};
	const struct decide_files *files;
	struct ir_policy p;
	bool *allowed;

	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	if (compile(&c, text, &p)) {
		files = decide_files_new(a, &p);
		allowed = arena_array(a, w->requests.n, sizeof(*allowed));
		for (uint32_t i = 0; i < w->requests.n; i++)
			allowed[i] =
				decide_asked(a, &p, files, &w->requests.v[i])
					.verdict != VERDICT_DENY;
		vec_each(n, &p.tests.never)
			check_set(a, w, &p, allowed, text, n);
	} else {
		refused++;
	}
	arena_free(a);
}

int main(int argc, char **argv)
{
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : SCALED(1500, 4);
	struct world w;

	rng.state = argc > 2 ? (uint64_t)atoll(argv[2]) : 1;
	world_init(&w);
	for (unsigned i = 0; i < count && check_failed < 5; i++)
		check_policy(&w);
	printf("%u requests in the world, %u sets broken, %u hold, %u policies "
	       "refused\n",
	       w.requests.n, broken, held, refused);
	/* A comparison of nothing would pass, too. */
	CHECK(count < 1000 || (broken > count / 2 && held > count / 2));
	arena_free(w.a);
	return check_status();
}
