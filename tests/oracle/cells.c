/*
 * HAProxy with the configuration that is emitted decides as decide() does, in
 * every cell of compiler/algebra/space: what the rules of a policy cannot tell
 * apart is asked once, and nothing is left to chance. For the policy of each
 * golden case that has a gate.cfg, and for generated ones.
 *
 *	cells [POLICIES [SEED [CASES]]]
 *	cells -f
 *
 * CASES: which golden cases, as a shell has patterns; "-" is none. -f: of one
 * policy, whether changes to its plan are seen, and how many.
 *
 * A cell is a name, an address and a port, whether the session saw that name
 * lead there, TLS or not, and of requests a method and a path. Names: one of
 * each class, and each with one more label; those alike meet each kind of
 * address, addresses alike each kind of name. Ports: both ends of each class
 * and the two beside it, and one of each class of other rules. Paths: one of
 * each class, around each prefix of a rule what is no boundary, what is below,
 * and other spellings, and what other rules permit. A connection comes by one
 * of the doors "raw" and "strict" in turn; without a name, by both. Where a
 * person is asked, those are also behind the door where connections wait, there
 * is every answer to a hello, and to requests there is yes and no. Where
 * packets pass HAProxy by, nobody is asked.
 *
 * A policy of more than CELLS_MAX is named with its number, and not asked.
 */
#include "compiler/algebra/decide/ask.h"
#include "compiler/algebra/space/endpoints.h"
#include "compiler/algebra/space/numbers.h"
#include "compiler/base/name_match.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/driver.h"
#include "compiler/emit/profiles.h"
#include "compiler/ir/http.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

#include "tests/check.h"
#include "tests/oracle/haproxy.h"
#include "tests/oracle/requests_draw.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WORKERS	   2
#define FOLDER_MAX 128
#define CELLS_MAX  1000000u

typedef VEC(struct str) text_list;

/* A policy and what is asked of it. */
struct subject {
	struct arena *a;
	struct arena *scratch; /* of one pair */
	const struct ir_policy *p;
	const struct profiles *profiles;
	struct sides s;
	endpoint_list names, addrs;
	/* A port of each class of all rules, and a request that each permits:
	 * what is said of others must not hold for whom it is not about. */
	VEC(uint16_t) others_ports;
	text_list others_methods, others_paths; /* of one length */
	FILE *out;
	uint64_t cells, packets;
	unsigned doors;
	struct str answer; /* to the hello of the connection */

	/* of a name and an address: */
	struct target to;
	uint32_t *ids, n_ids;
	VEC(uint16_t) ports;
	text_list methods, paths;
};

/* --- what decide() says ------------------------------------------------------
 */

/* The grants with some of the entries of `ask` among them. */
static struct ir_policy opened(struct subject *x,
			       bool (*is)(const struct profile *f,
					  struct str token),
			       struct str token)
{
	struct ir_policy out = *x->p;

	if (x->p->ask.n == 0)
		return out;
	out.allow = (ir_grants){0};
	vec_each(g, &x->p->allow)
		*vec_push(x->scratch, &out.allow) = *g;
	vec_each(g, &x->p->ask) {
		const struct profile *f = profiles_of(x->profiles, x->p, g);

		if (!f || !is(f, token))
			continue;
		*vec_push(x->scratch, &out.allow) = *g;
		out.allow.v[out.allow.n - 1].key = IR_KEY_ALLOW;
	}
	return out;
}

/* A hello passes by an answer to what has no rules of requests; the requests of
 * what has some wait one by one. */
static bool is_hello_open(const struct profile *f, struct str token)
{
	return f->http || str_eq(f->token, token);
}

static bool is_wider(const struct ir_grant *g, const struct ir_grant *than)
{
	return g->lasts.v != than->lasts.v ? g->lasts.v > than->lasts.v
					   : g->wait_s.v > than->wait_s.v;
}

/* ".a1.a2." */
static void put_token(struct subject *x, struct buf *out,
		      const struct ir_grant *g)
{
	if (out->n == 0)
		buf_addc(out, '.');
	buf_addf(out, "%.*s.",
		 STR_ARG(profiles_of(x->profiles, x->p, g)->token));
}

static bool is_crooked(struct str path)
{
	return !decide_path_canonical(
		str_slice(path, 0, str_find(path, '?', 0)));
}

/*
 * Why the grants alone refuse it; of a connection that answers let in and no
 * grant does, a denial, or that it is CONNECT, as if those were grants.
 */
/* J-12 */
static struct decision refused(struct subject *x,
			       const struct decide_request *q)
{
	struct decision d = decide_request(x->scratch, x->p, q), then;
	struct decide_request hello = *q;
	struct ir_policy with;

	hello.only_hello = true;
	if (d.verdict == VERDICT_ALLOW || !q->tls || x->p->ask.n == 0 ||
	    decide_request(x->scratch, x->p, &hello).verdict == VERDICT_ALLOW)
		return d;
	with = opened(x, is_hello_open, x->answer);
	then = decide_request(x->scratch, &with, q);
	return then.reason == REASON_DENIED || str_is(q->method, "CONNECT")
		       ? then
		       : d;
}

/*
 * A reason, or "ask:" and the tokens of the entries for one of which a person
 * is asked; or one of several: where an entry has paths, the contract leaves it
 * open whether that the path is not canonical is told.
 */
static const char *wanted(struct subject *x, const struct decide_request *q)
{
	struct decision d = refused(x, q);
	const struct ir_grant *best = NULL;
	struct ir_policy with = *x->p;
	const char *crooked = "";
	struct buf tokens;

	if (d.verdict == VERDICT_ALLOW || x->p->ask.n == 0)
		return reason_name(d.reason);
	with.allow.v = decide_room(x->scratch, x->p);
	with.allow.n = with.allow.cap = x->p->allow.n + 1;
	buf_init(&tokens, x->scratch);
	vec_each(g, &x->p->ask) {
		struct decision then;

		if (best && is_wider(best, g))
			continue;
		with.allow.v[with.allow.n - 1] = *g;
		with.allow.v[with.allow.n - 1].key = IR_KEY_ALLOW;
		then = decide_request(x->scratch, &with, q);
		if (then.reason == REASON_PATH_NOT_CANONICAL)
			crooked = "|path-not-canonical";
		if (then.verdict != VERDICT_ALLOW)
			continue;
		if (best && is_wider(g, best))
			buf_init(&tokens, x->scratch);
		best = g;
		put_token(x, &tokens, g);
	}
	if (!best)
		return arena_fmt(x->scratch, "%s%s", reason_name(d.reason),
				 crooked)
			.p;
	/* */
	if (is_crooked(q->path))
		crooked = "|path-not-canonical";
	return arena_fmt(x->scratch, "ask:%.*s%s", STR_ARG(buf_str(&tokens)),
			 crooked)
		.p;
}

static bool is_open_net(const struct ir_grant *g,
			const struct decide_request *q)
{
	return g->dest.kind == IR_DEST_CIDR && !g->has_http &&
	       ir_grant_reaches(g, &q->addr) &&
	       ports_has(&g->ports, IR_PROTO_TCP, q->port);
}

/* Does the packet filter let it pass without a word to HAProxy, or refuse it,
 * being of the floor, whatever name it is for? */
static bool is_packets(struct subject *x, const struct decide_request *q)
{
	ir_ports inside = inspection_ports(x->scratch, x->p);
	bool open = false, asked = false;

	vec_each(g, &x->p->allow)
		open |= is_open_net(g, q);
	vec_each(g, &x->p->ask)
		asked |= is_open_net(g, q);
	if (addr_scope(&q->addr) == ADDR_NEVER && !open && !asked)
		return true;
	return open && !ports_has(&inside, IR_PROTO_TCP, q->port);
}

/* --- connections -------------------------------------------------------------
 */

/* As Host has it. */
static struct str host_text(struct arena *a, struct str name)
{
	if (str_find(name, ':', 0) == name.n)
		return name;
	return arena_fmt(a, "[%.*s]", STR_ARG(name));
}

static bool has_text(const text_list *l, struct str text)
{
	vec_each(t, l)
		if (str_eq(*t, text))
			return true;
	return false;
}

/* Would the agent renew tokens? The gate itself answers that. */
static bool is_renewal(struct subject *x, const struct decide_request *q)
{
	struct str path = str_slice(q->path, 0, str_find(q->path, '?', 0));

	vec_each(c, &x->p->credentials) {
		const struct ir_url *url = &c->refresh.u.url;
		struct str below = url->path;

		if (!c->has_refresh || !q->tls || q->port != url->port ||
		    !str_eq(q->host, url->name) || !str_is(q->method, "POST"))
			continue;
		while (str_ends(below, STR("/")))
			below = str_slice(below, 0, below.n - 1);
		if (str_starts(path, below) &&
		    (path.n == below.n || path.p[below.n] == '/'))
			return true;
	}
	return false;
}

static void put_request(struct subject *x, const struct decide_request *q,
			const char *want)
{
	if (x->cells++ >= CELLS_MAX)
		return;
	if (!want)
		want = wanted(x, q);
	if (strcmp(want, reason_name(REASON_GRANTED)) == 0 && is_renewal(x, q))
		want = "renewed";
	fprintf(x->out, "R %.*s %.*s %s %.*s\n",
		STR_ARG(host_text(x->scratch, q->host)), STR_ARG(q->method),
		want, STR_ARG(q->path));
}

static void put_requests(struct subject *x, const struct decide_request *hello)
{
	struct decide_request q = *hello;

	q.only_hello = false;
	vec_each(path, &x->paths) {
		q.path = *path;
		vec_each(method, &x->methods) {
			q.method = *method;
			put_request(x, &q, NULL);
		}
	}
	for (uint32_t i = 0; i < x->others_paths.n; i++) {
		q.method = x->others_methods.v[i];
		q.path = x->others_paths.v[i];
		if (!has_text(&x->methods, q.method) ||
		    !has_text(&x->paths, q.path))
			put_request(x, &q, NULL);
	}
	if (!q.tls)
		return;
	/* Another name than that of the hello. */
	q.host = STR("mismatch.example");
	put_request(x, &q, reason_name(REASON_NAME_MISMATCH));
}

/* kind: "plain", "opened", or of a hello alone what is wanted of it. */
static void put_head(struct subject *x, const struct decide_request *q,
		     const char *kind, struct str answer)
{
	char at[ADDR_TEXT_MAX];

	if (x->cells < CELLS_MAX)
		fprintf(x->out, "C %d %u %s %u %.*s %s %d %.*s\n", q->tls,
			x->doors + 1, addr_text(&q->addr, at), q->port,
			STR_ARG(q->sni.n ? q->sni : STR("-")), kind,
			q->is_pinned, STR_ARG(answer));
}

/* False: refused. */
static bool put_hello(struct subject *x, const struct decide_request *q,
		      struct str answer, bool requests)
{
	struct ir_policy p = opened(x, is_hello_open, answer);
	struct decision d = decide_request(x->scratch, &p, q);

	/* What nobody permitted is refused as if nobody were asked. */
	if (d.verdict == VERDICT_DENY)
		d = decide_request(x->scratch, x->p, q);
	if (d.verdict == VERDICT_DENY || !q->sni.n || !decide_decrypts(&p, q)) {
		put_head(x, q, reason_name(d.reason), answer);
		x->cells++;
	} else if (requests) {
		put_head(x, q, "opened", answer);
		x->answer = answer;
		put_requests(x, q);
	}
	return d.verdict != VERDICT_DENY;
}

static void put_tls(struct subject *x, const struct decide_request *q)
{
	bool passed = put_hello(x, q, STR("-"), true);

	/* A yes to a network leads to the door "raw". */
	if (!q->sni.n && q->is_guarded)
		return;
	vec_each(f, &x->profiles->ask)
		if (!f->http)
			passed |= put_hello(x, q, f->token, !passed);
}

static void put_connection(struct subject *x, struct decide_request *q)
{
	if (is_packets(x, q)) {
		x->packets++;
		return;
	}
	q->is_guarded = x->doors & 1;
	if (q->tls) {
		put_tls(x, q);
	} else {
		put_head(x, q, "plain", STR("-"));
		put_requests(x, q);
	}
	x->doors = (x->doors + 1) % (x->p->ask.n ? 4 : 2);
}

/* Nobody states a name: by both doors, which differ in what they say of it. */
static void put_nameless(struct subject *x, uint16_t port)
{
	char text[ADDR_TEXT_MAX];
	struct decide_request q = {.port = port,
				   .has_addr = true,
				   .addr = x->to.addr,
				   .only_hello = true};

	q.tls = true;
	for (unsigned door = 0; door < 2; door++) {
		x->doors = door;
		put_connection(x, &q);
	}
	q.tls = false;
	q.host = str_of(addr_text(&q.addr, text));
	put_connection(x, &q);
}

static void put_port(struct subject *x, uint16_t port)
{
	struct decide_request q = {.port = port,
				   .has_addr = true,
				   .addr = x->to.addr,
				   .host = x->to.name,
				   .only_hello = true};

	if (!x->to.name.n) {
		put_nameless(x, port);
		return;
	}
	for (int k = 0; k < 4; k++) {
		q.tls = k & 1;
		q.is_pinned = k & 2;
		q.sni = q.tls ? x->to.name : (struct str){0};
		put_connection(x, &q);
	}
}

/* --- ports, methods and paths ------------------------------------------------
 */

static void add_port(struct subject *x, uint32_t port)
{
	if (port < 1 || port > 65535)
		return;
	vec_each(p, &x->ports)
		if (*p == port)
			return;
	*vec_push(x->scratch, &x->ports) = (uint16_t)port;
}

static void add_ports(void *ctx, const struct cells_ports *c)
{
	if (c->proto != IR_PROTO_TCP)
		return;
	add_port(ctx, c->lo - 1u);
	add_port(ctx, c->lo);
	add_port(ctx, c->hi);
	add_port(ctx, c->hi + 1u);
}

static void add_text(struct subject *x, text_list *to, struct str text)
{
	if (!has_text(to, text))
		*vec_push(x->scratch, to) = arena_str(x->scratch, text);
}

static void add_request(void *ctx, const struct cells_http *c)
{
	struct subject *x = ctx;

	add_text(x, &x->methods, c->request.method);
	add_text(x, &x->paths, c->request.url.path);
}

/* The last byte as an escape: needless, or one that may be. */
static struct str escaped_end(struct arena *a, struct str s)
{
	return arena_fmt(a, "%.*s%%%02X", (int)s.n - 1, s.p,
			 (unsigned char)s.p[s.n - 1]);
}

/* prefix: without a '/' at its end; empty is the root. */
static void add_border(struct subject *x, struct str prefix)
{
	static const char *const behind[] = {
		"", "/", "/x", "x", "?/x", "//x", "/.", "/..;/x", "%2Fx"};
	struct arena *a = x->scratch;

	for (size_t i = prefix.n ? 0 : 1; i < ARRAY_LEN(behind); i++)
		if (prefix.n || behind[i][0] == '/')
			add_text(x, &x->paths,
				 arena_fmt(a, "%.*s%s", STR_ARG(prefix),
					   behind[i]));
	if (prefix.n < 2)
		return;
	add_text(x, &x->paths, str_slice(prefix, 0, prefix.n - 1));
	if (str_find(prefix, '%', 0) < prefix.n)
		return;
	add_text(x, &x->paths, escaped_end(a, prefix));
	for (size_t i = 1; i < prefix.n; i++)
		if (strchr("@;,=+$&'()!*:", prefix.p[i]))
			add_text(x, &x->paths,
				 arena_fmt(a, "%.*s%%%02X%.*s/x", (int)i,
					   prefix.p, prefix.p[i],
					   (int)(prefix.n - i - 1),
					   prefix.p + i + 1));
}

static void add_borders(struct subject *x)
{
	for (uint32_t i = 0; i < x->n_ids; i++) {
		const struct ir_grant *g = rule_grant(&x->s.rules.v[x->ids[i]]);
		struct http_rules rules;

		if (!ir_grant_http(g))
			continue;
		rules = http_rules(x->scratch, g);
		for (uint32_t k = 0; k < rules.n; k++) {
			ir_texts paths;

			if (http_any_path(&g->dest, &rules.v[k]))
				continue;
			paths = http_paths(x->scratch, &g->dest, &rules.v[k]);
			vec_each(p, &paths)
				add_border(x, p->s);
		}
	}
}

/* --- names and addresses -----------------------------------------------------
 */

static bool speaks_of(const struct ir_grant *g, const struct target *to)
{
	const struct cidr *net = ir_dest_net(&g->dest);

	if (net)
		return cidr_has(net, &to->addr);
	if (g->dest.kind == IR_DEST_ANY)
		return true;
	return to->name.n && name_matches(ir_dest_name(&g->dest), to->name);
}

static void put_pair(struct subject *x, struct str name,
		     const struct addr *addr)
{
	x->to = (struct target){name, true, *addr};
	x->n_ids = 0;
	x->ids = arena_array(x->scratch, x->s.rules.n + 1, sizeof(*x->ids));
	for (uint32_t i = 0; i < x->s.rules.n; i++)
		if (speaks_of(rule_grant(&x->s.rules.v[i]), &x->to))
			x->ids[x->n_ids++] = i;
	memset(&x->ports, 0, sizeof(x->ports));
	memset(&x->methods, 0, sizeof(x->methods));
	memset(&x->paths, 0, sizeof(x->paths));
	add_port(x, 443);
	add_port(x, 80);
	cells_ports(&x->s, x->ids, x->n_ids, NULL, add_ports, x);
	cells_http(&x->s, &x->to, 443, x->ids, x->n_ids, NULL, add_request, x);
	add_borders(x);
	vec_each(port, &x->others_ports)
		add_port(x, *port);
	vec_each(port, &x->ports)
		put_port(x, *port);
	sides_rest(&x->s);
	arena_free(x->scratch);
	x->scratch = arena_new();
}

/* Whom no packet that HAProxy sees is for: the gate itself, and nobody's. */
static bool is_nobody(const struct addr *addr)
{
	static const char *const nets[] = {
		"127.0.0.0/8", "192.0.0.0/29",
		"0.0.0.0/8",   "224.0.0.0/3",
		"::/96",       "::ffff:0.0.0.0/96",
		"fe80::/10",   "fd00:6d65:6d62::/64",
		"ff00::/8",
	};

	for (size_t i = 0; i < ARRAY_LEN(nets); i++) {
		struct cidr net = {0};

		CHECK(cidr_parse(str_of(nets[i]), &net) == CIDR_OK);
		if (cidr_has(&net, addr))
			return true;
	}
	return false;
}

static void add_name(struct subject *x, struct str name)
{
	vec_each(e, &x->names)
		if (str_eq(e->to.name, name))
			return;
	*vec_push(x->a, &x->names) =
		(struct endpoint){.to.name = name, .kind = UINT32_MAX};
}

static void find_endpoints(struct subject *x)
{
	struct endpoints all;
	uint32_t n;

	endpoints_find(&x->s, NULL, true, &all);
	CHECK(all.complete);
	endpoints_sort(&all.names);
	endpoints_sort(&all.addrs);
	x->names = all.names;
	vec_each(e, &all.addrs)
		if (!is_nobody(&e->to.addr))
			*vec_push(x->a, &x->addrs) = *e;
	vec_each(c, &x->p->credentials)
		add_name(x, ir_dest_name(&c->host));
	n = x->names.n;
	for (uint32_t i = 0; i < n; i++)
		if (x->names.v[i].to.name.n < 200)
			add_name(x, arena_fmt(x->a, "zz.%.*s",
					      STR_ARG(x->names.v[i].to.name)));
}

static bool is_first(const endpoint_list *l, uint32_t i)
{
	return i == 0 || l->v[i].kind != l->v[i - 1].kind ||
	       l->v[i].kind == UINT32_MAX;
}

static void add_others_port(void *ctx, const struct cells_ports *c)
{
	struct subject *x = ctx;

	if (c->proto == IR_PROTO_TCP)
		*vec_push(x->a, &x->others_ports) = c->shown;
}

static void add_others_request(struct subject *x, const struct ir_dest *d,
			       const struct ir_http *h)
{
	struct str path = STR("/");

	if (!http_any_path(d, h)) {
		ir_texts paths = http_paths(x->a, d, h);

		if (!paths.n)
			return;
		path = arena_fmt(x->a, "%.*s/x", STR_ARG(paths.v[0].s));
	}
	*vec_push(x->a, &x->others_paths) = path;
	*vec_push(x->a, &x->others_methods) =
		h->any_method ? STR("GET") : h->methods.v[0].s;
}

static void find_others(struct subject *x)
{
	uint32_t *all = arena_array(x->a, x->s.rules.n + 1, sizeof(*all));

	for (uint32_t i = 0; i < x->s.rules.n; i++) {
		const struct ir_grant *g = rule_grant(&x->s.rules.v[i]);
		struct http_rules rules = http_rules(x->a, g);

		all[i] = i;
		for (uint32_t k = 0; ir_grant_http(g) && k < rules.n; k++)
			add_others_request(x, &g->dest, &rules.v[k]);
	}
	cells_ports(&x->s, all, x->s.rules.n, NULL, add_others_port, x);
	sides_rest(&x->s);
}

static void put_pairs(struct subject *x)
{
	static const struct str none;

	for (uint32_t k = 0; k < x->addrs.n; k++) {
		bool first = is_first(&x->addrs, k);

		put_pair(x, none, &x->addrs.v[k].to.addr);
		for (uint32_t i = 0; i < x->names.n; i++)
			if (first || (is_first(&x->names, i) &&
				      x->names.v[i].kind != UINT32_MAX))
				put_pair(x, x->names.v[i].to.name,
					 &x->addrs.v[k].to.addr);
	}
}

/* --- policies ----------------------------------------------------------------
 */

static char top[] = "/tmp/membrane-cells-XXXXXX";
static uint64_t load[WORKERS], all_cells, all_packets;
static unsigned policies, beyond;
static VEC(struct str) seen; /* hashes would do: texts of the plans */
static struct arena *lasting;

static void drop_folder(const char *dir)
{
	struct err err = {0};

	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
}

/* What is asked of the policy whose plan is in the folder; how much that is. */
static uint64_t put_cells(const char *dir, const char *about,
			  const struct emit_in *in)
{
	struct subject x = {.a = in->a,
			    .p = in->policy,
			    .profiles = profiles_make(in),
			    .scratch = arena_new()};
	char path[FOLDER_MAX + 16];

	snprintf(path, sizeof(path), "%s/cells", dir);
	x.out = fopen(path, "w");
	if (!x.out || !x.profiles)
		abort();
	sides_init(&x.s, in->a, NULL, in->policy);
	find_endpoints(&x);
	find_others(&x);
	put_pairs(&x);
	sides_done(&x.s);
	arena_free(x.scratch);
	CHECK(fclose(x.out) == 0);
	all_packets += x.packets;
	if (x.cells > CELLS_MAX) {
		printf("%s: %llu cells, more than %u: not asked\n", about,
		       (unsigned long long)x.cells, CELLS_MAX);
		beyond++;
		return 0;
	}
	policies++;
	all_cells += x.cells;
	return x.cells;
}

/* To the worker with the least to do. */
static void hand_out(const char *dir, const char *name, uint64_t cells)
{
	char to[FOLDER_MAX];
	unsigned w = 0;

	for (unsigned i = 1; i < WORKERS; i++)
		if (load[i] < load[w])
			w = i;
	load[w] += cells + 2000; /* HAProxy has to start, too */
	snprintf(to, sizeof(to), "%s/w%u/%s", top, w, name);
	CHECK(rename(dir, to) == 0);
}

static void finish_policy(const char *dir, const char *name,
			  const struct emit_in *in)
{
	uint64_t cells = put_cells(dir, name, in);

	if (cells)
		hand_out(dir, name, cells);
	else
		drop_folder(dir);
}

static void put_text(const char *name, const char *text)
{
	struct test_policy t;
	char dir[FOLDER_MAX];

	CHECK(test_policy_make(&t, text));
	if (gate_cfg_wanted(&t.policy)) {
		struct emit_in in = {.policy = &t.policy,
				     .sources = &t.sources,
				     .diags = &t.diags,
				     .a = t.a};

		snprintf(dir, sizeof(dir), "%s/%s", top, name);
		mkdir(dir, 0755);
		haproxy_text(dir, "policy", str_of(text));
		haproxy_plan(dir, &t);
		finish_policy(dir, name, &in);
	}
	test_policy_done(&t);
}

static void put_generated(uint64_t seed)
{
	static struct gen_policy g;
	struct rng r = {seed};
	char name[32];

	draw_policy(&r, &g);
	snprintf(name, sizeof(name), "seed-%llu", (unsigned long long)seed);
	put_text(name, g.text);
}

/* Whose plan is then changed by hand: a rule of each kind, each with a say. */
static const char of_each_kind[] =
	"allow a.test tcp/443\n"
	"allow **.x.test tcp/8000-8099\n"
	"allow x.test tcp/443 http=GET+POST+/api\n"
	"allow other.example tcp/80 private\n"
	"allow 1.2.3.0/24 tcp/443,tcp/8050\n"
	"ask a.example tcp/443\n"
	"deny b.x.test tcp/8050\n"
	"deny other.example tcp/80 http=PUT+/del@ete\n";

/* Many cases are about something else, and have the gate of others. */
static bool is_new(const struct plan *plan)
{
	static const char *const files[] = {"gate.cfg", "hosts.map",
					    "addr.map"};
	struct buf b;

	buf_init(&b, lasting);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		buf_add(&b, plan_file(plan, files[i])->data);
	vec_each(s, &seen)
		if (str_eq(*s, buf_str(&b)))
			return false;
	*vec_push(lasting, &seen) = buf_str(&b);
	return true;
}

static void put_plan(struct compilation *c, const char *name, struct str text)
{
	static const char *const files[] = {"gate.cfg", "gate.lua", "hosts.map",
					    "addr.map", "crt.lst"};
	struct emit_in in = {.policy = &c->policy,
			     .sources = &c->sources,
			     .diags = &c->diags,
			     .a = c->a};
	char dir[FOLDER_MAX];

	snprintf(dir, sizeof(dir), "%s/%s", top, name);
	mkdir(dir, 0755);
	haproxy_text(dir, "policy", text);
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		const struct plan_file *f = plan_file(&c->plan, files[i]);

		if (f)
			haproxy_text(dir, files[i], f->data);
	}
	finish_policy(dir, name, &in);
}

static void put_golden(const char *path)
{
	char work[FOLDER_MAX], name[FOLDER_MAX - 32];
	struct front_input in = {.workspace = work,
				 .state = work,
				 .global = path,
				 .policies = "policies"};
	struct compilation c = {0};
	struct err err = {0};
	struct str text = {0};

	snprintf(work, sizeof(work), "%s/empty", top);
	mkdir(work, 0755);
	snprintf(name, sizeof(name), "%.90s", path + strlen("tests/cases/"));
	*strchr(name, '/') = '.';
	CHECK_MSG(driver_compile(&c, &in, &err) == 0, "%s: %s", path, err.text);
	if (c.ok && plan_file(&c.plan, "gate.cfg") && is_new(&c.plan)) {
		CHECK(fileio_read(c.a, AT_FDCWD, path, 1 << 20, &text, &err) ==
		      0);
		put_plan(&c, name, text);
	}
	driver_done(&c);
}

static void put_cases(const char *cases)
{
	static const char *const files[] = {"input.yaml", "global.yaml"};
	char pattern[256];

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		glob_t g;

		snprintf(pattern, sizeof(pattern), "tests/cases/%s/%s", cases,
			 files[i]);
		if (glob(pattern, 0, NULL, &g) == 0)
			for (size_t k = 0; k < g.gl_pathc; k++)
				put_golden(g.gl_pathv[k]);
		globfree(&g);
	}
}

/* --- everything --------------------------------------------------------------
 */

static int ask_all(const char *program, unsigned workers)
{
	char dir[FOLDER_MAX];
	int status, skipped = 0;

	fflush(stdout);
	for (unsigned w = 0; w < workers; w++) {
		snprintf(dir, sizeof(dir), "%s/w%u", top, w);
		if (fork() == 0)
			exit(haproxy_talk(program, dir));
	}
	while (wait(&status) > 0)
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			skipped++;
		else
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return skipped;
}

static void make_folders(void)
{
	char dir[FOLDER_MAX];

	for (unsigned w = 0; w < WORKERS; w++) {
		snprintf(dir, sizeof(dir), "%s/w%u", top, w);
		mkdir(dir, 0755);
	}
}

static void put_all(unsigned n, uint64_t seed, const char *cases)
{
	char dir[FOLDER_MAX];

	put_cases(cases);
	for (unsigned i = 0; i < n; i++)
		put_generated(seed + i);
	snprintf(dir, sizeof(dir), "%s/empty", top);
	rmdir(dir);
	printf("%u policies, %llu cells (%llu connections more are packets'), %u policies with too many\n",
	       policies, (unsigned long long)all_cells,
	       (unsigned long long)all_packets, beyond);
}

/* What stands in for a flag, and is taken off. */
static bool take_flag(int *argc, char ***argv, const char *flag)
{
	if (*argc < 2 || strcmp((*argv)[1], flag) != 0)
		return false;
	--*argc;
	++*argv;
	return true;
}

int main(int argc, char **argv)
{
	bool faults = take_flag(&argc, &argv, "-f");
	unsigned n = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	int skipped;

	if (!haproxy_tools()) {
		puts("no haproxy, openssl, nft, ip or python3");
		return 77;
	}
	if (!mkdtemp(top))
		return 1;
	lasting = arena_new();
	make_folders();
	if (faults)
		put_text("faults", of_each_kind);
	else
		put_all(n, seed, argc > 3 ? argv[3] : "l7-names");
	skipped = faults ? ask_all("tests/oracle/cells_faults.py", 1)
			 : ask_all("tests/oracle/cells.py", WORKERS);
	for (unsigned w = 0; w < WORKERS; w++) {
		char dir[FOLDER_MAX];

		snprintf(dir, sizeof(dir), "%s/w%u", top, w);
		rmdir(dir);
	}
	rmdir(top); /* what failed stays to be looked at */
	return skipped && !check_failed ? 77 : check_status();
}
