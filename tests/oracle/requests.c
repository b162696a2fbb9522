/*
 * What HAProxy lets through with the configuration that is emitted is what
 * decide() allows, for the same reason: generated policies, each loaded into a
 * HAProxy of its own in a network namespace of this program's, and requests
 * over TLS and in the clear to a server behind it. requests.py talks, several
 * of it side by side; this program writes down what it should hear. Half of the
 * policies ask, too: what somebody answers is drawn, and nobody is asked about
 * what is granted or denied.
 * `haproxy -c` sees all of them.
 *
 *	requests [POLICIES [SEED [CONNECTIONS]]]
 */
#include "compiler/algebra/decide/decide.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

#include "tests/check.h"
#include "tests/oracle/haproxy.h"
#include "tests/oracle/requests_draw.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* They wait more than they work: so many at once, each with a part of it. */
#define WORKERS	   4
#define FOLDER_MAX 128

static const char *const paths[] = {
#define PATH(canonical, target, about) target,
#include "tests/oracle/paths.def"
#undef PATH
};
static const char *const addrs[] = {"1.2.3.4", "1.2.3.5", "10.0.0.1",
				    "2606:4700::5", "fd00::1"};
static const uint16_t ports[] = {80, 443, 8000, 8443};
static const char *const methods[] = {"GET",   "POST",	  "PUT", "DELETE",
				      "PATCH", "OPTIONS", "FOO"};

/* --- files ---------------------------------------------------------------- */

/* Spellings that change nothing, and that HAProxy refuses: see talk.py. */
static const char *const shapes[] = {
	"-",	 "-",	 "-",	 "-",	  "lf",	       "full", "port", "dot",
	"upper", "fold", "clte", "other", "websocket", "foo",  "h2c",
};
static const char *const shapes_h2[] = {"-", "-", "-", "two_names"};

enum entry {
	PAST,	      /* HAProxy: the packet filter's fast way */
	RAW,	      /* any protocol */
	STRICT,	      /* as where a denied name leads */
	ASKED_RAW,    /* the same two behind the door where it waits for */
	ASKED_STRICT, /* somebody's answer */
	ENTRIES,
};

struct connection {
	struct decide_request hello;
	enum entry entry;
	const struct ir_grant *yes; /* to the whole of it: that entry of ask; */
	struct ir_policy policy;    /* which is among the grants here then */
	uint32_t name, at;	    /* of gen_names and addrs */
	uint64_t pins;
	bool h2, decrypts;
};

static bool is_one_of(const char *shape, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(shape, list[i]) == 0)
			return true;
	return false;
}

/* --- ask ------------------------------------------------------------------ */

static struct ir_policy with_entry(struct test_policy *t,
				   const struct ir_policy *p,
				   const struct ir_grant *g)
{
	struct ir_policy out = *p;

	out.allow.v = decide_room(t->a, p);
	out.allow.v[out.allow.n] = *g;
	out.allow.v[out.allow.n].key = IR_KEY_ALLOW;
	out.allow.cap = ++out.allow.n;
	return out;
}

static bool is_allowed(struct test_policy *t, const struct ir_policy *p,
		       const struct decide_request *q)
{
	return decide_request(t->a, p, q).verdict == VERDICT_ALLOW;
}

static bool is_opened_by(struct test_policy *t, const struct ir_policy *p,
			 const struct ir_grant *g,
			 const struct decide_request *q)
{
	struct ir_policy with = with_entry(t, p, g);

	return is_allowed(t, &with, q);
}

/* The first entry whose yes is one to that; NULL: nobody is asked. */
static const struct ir_grant *asked_entry(struct test_policy *t,
					  const struct ir_policy *p,
					  const struct decide_request *q)
{
	if (is_allowed(t, p, q))
		return NULL;
	vec_each(g, &p->ask)
		if (is_opened_by(t, p, g, q))
			return g;
	return NULL;
}

/* Where requests wait by themselves, the hello before them does not. */
static bool is_let_in(struct test_policy *t, const struct connection *c)
{
	vec_each(g, &c->policy.ask)
		if (ir_grant_http(g) &&
		    is_opened_by(t, &c->policy, g, &c->hello))
			return true;
	return is_allowed(t, &c->policy, &c->hello);
}

/* What somebody answers, by all that a question has: no query. */
static bool is_yes(const struct decide_request *q)
{
	uint32_t n = 2166136261u ^ q->port ^ (q->tls ? 1u << 16 : 0);
	const struct str all[] = {
		q->host, q->method,
		str_slice(q->path, 0, str_find(q->path, '?', 0))};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		for (size_t k = 0; k < all[i].n; k++)
			n = (n ^ (unsigned char)all[i].p[k]) * 16777619u;
	return n >> 20 & 1;
}

/* Is it refused, for whatever reason: some are of what was not answered. */
#define REFUSED "refused"

/* */
static const char *narrower_path(const struct decide_request *q)
{
	struct str path = str_slice(q->path, 0, str_find(q->path, '?', 0));

	return decide_path_canonical(path) ? "" : "|path-not-canonical";
}

/*
 * Why it is refused, by the grants alone or as far as an entry would have it
 * get: "no-grant|path". HAProxy looks at all of them at once.
 */
static const char *reasons_of(struct test_policy *t, const struct ir_policy *p,
			      const struct decide_request *q)
{
	enum reason first = decide_request(t->a, p, q).reason;
	struct buf b;

	buf_init(&b, t->a);
	buf_adds(&b, reason_name(first));
	vec_each(g, &p->ask) {
		struct ir_policy with = with_entry(t, p, g);
		struct decision d = decide_request(t->a, &with, q);

		if (d.reason != first)
			buf_addf(&b, "|%s", reason_name(d.reason));
	}
	buf_addc(&b, '\0');
	return buf_str(&b).p;
}

/* What becomes of a hello that is not let in, or of what nobody sees. */
static const char *wanted_hello(struct test_policy *t,
				const struct connection *c,
				const struct decide_request *q)
{
	if (asked_entry(t, &c->policy, q))
		return is_let_in(t, c) ? reason_name(REASON_ANSWERED) : REFUSED;
	return is_allowed(t, &c->policy, q) ? reason_name(REASON_GRANTED)
					    : reasons_of(t, &c->policy, q);
}

/* Requests of a network's are not looked at; those that are have one name. */
static const char *narrower_name(const struct decide_request *q)
{
	return !q->tls || str_eq(q->host, q->sni) ? "" : "|name-mismatch";
}

static const char *narrower(struct test_policy *t,
			    const struct decide_request *q, const char *verdict)
{
	return arena_fmt(t->a, "%s%s%s", verdict, narrower_path(q),
			 narrower_name(q))
		.p;
}

/* What becomes of a request that is seen. */
static const char *wanted_request(struct test_policy *t,
				  const struct connection *c,
				  const struct decide_request *q)
{
	if (asked_entry(t, &c->policy, q))
		return narrower(t, q, is_yes(q) ? "answered" : "answered-no");
	if (asked_entry(t, &t->policy, q) && is_allowed(t, &c->policy, q))
		return narrower(t, q, "answered");
	return wanted_hello(t, c, q);
}

/* What is refused for its shape, whoever could be asked. */
static const char *wanted_shape(struct test_policy *t,
				const struct connection *c,
				const struct decide_request *q, enum reason why)
{
	return c->policy.ask.n ? narrower(t, q, reason_name(why))
			       : reason_name(why);
}

/* Are the requests over TLS seen? */
static bool is_decrypted(struct test_policy *t, const struct connection *c)
{
	const struct ir_policy *p = &c->policy;
	const struct decide_request *q = &c->hello;

	if (!q->tls || !q->sni.n)
		return false;
	/* What is granted anyway is not opened for what might be asked. */
	if (p->ask.n == 0 || is_allowed(t, &t->policy, q) ||
	    (c->yes && ir_dest_net(&c->yes->dest)))
		return decide_decrypts(p, q);
	if (is_allowed(t, p, q) && decide_decrypts(p, q))
		return true;
	vec_each(g, &p->ask) {
		struct ir_policy with = with_entry(t, p, g);

		if (ir_grant_http(g) && is_allowed(t, &with, q) &&
		    decide_decrypts(&with, q))
			return true;
	}
	return false;
}

/* --- what is wanted ------------------------------------------------------- */

/* What HAProxy should say: decide(), and what it thinks of the shape. */
static const char *wanted(struct test_policy *t, const struct connection *c,
			  const struct decide_request *q, const char *shape)
{
	/* What the reader refuses before anything is asked of anybody. */
	static const char *const unread[] = {"fold", "lf", "clte"};

	if (q->tls && !c->decrypts)
		return wanted_hello(t, c, q);
	if (q->tls && !is_let_in(t, c))
		return wanted_hello(t, c, &c->hello);
	if (is_one_of(shape, unread, ARRAY_LEN(unread)))
		return reason_name(REASON_BAD_REQUEST);
	if (decide_request(t->a, &c->policy, q).reason ==
		    REASON_NAME_MISMATCH &&
	    !asked_entry(t, &c->policy, q))
		return reasons_of(t, &c->policy, q);
	if (strcmp(shape, "other") == 0)
		return wanted_shape(t, c, q, REASON_BAD_REQUEST);
	if (strcmp(shape, "foo") == 0)
		return wanted_shape(t, c, q, REASON_UPGRADE);
	return wanted_request(t, c, q);
}

/* Is the address granted as such, and to be looked at for denials or not? */
static bool is_net(struct test_policy *t, const struct decide_request *q,
		   bool looked_at)
{
	ir_ports inside = inspection_ports(t->a, &t->policy);

	if (ports_has(&inside, IR_PROTO_TCP, q->port) != looked_at)
		return false;
	vec_each(g, &t->policy.allow)
		if (g->dest.kind == IR_DEST_CIDR && !g->has_http &&
		    cidr_has(&g->dest.u.cidr.net, &q->addr) &&
		    ports_has(&g->ports, IR_PROTO_TCP, q->port))
			return true;
	return false;
}

static const char *shape_of(struct rng *r, const struct connection *c,
			    const struct decide_request *q)
{
	const char *shape = GEN_PICK(r, shapes);
	bool body = str_is(q->method, "POST") || str_is(q->method, "PUT");

	if (c->h2)
		return GEN_PICK(r, shapes_h2);
	/* Who looks into no tunnel does not mend what is in it. */
	if (c->entry == PAST || (q->tls && !c->decrypts) ||
	    (strcmp(shape, "clte") == 0 && !body))
		return "-";
	return shape;
}

static void draw_request(struct rng *r, const struct connection *c,
			 struct decide_request *out)
{
	uint32_t name = c->name;

	*out = c->hello;
	out->only_hello = false;
	/* Another name on a connection: often where none was stated yet. */
	if (rng_below(r, out->tls ? 12 : 4) == 0)
		name = rng_below(r, ARRAY_LEN(gen_names));
	out->host = str_of(gen_names[name]);
	if (strchr(addrs[c->at], '.') && rng_below(r, 8) == 0)
		out->host = str_of(addrs[c->at]); /* IPv4, by itself */
	/* Inside TLS it is the hello's name that has to be. */
	if (!out->tls)
		out->is_pinned =
			out->host.p != addrs[c->at] &&
			c->pins >> (name * ARRAY_LEN(addrs) + c->at) & 1;
	out->method = str_of(GEN_PICK(r, methods));
	out->path = str_of(GEN_PICK(r, paths));
}

static void put_request(struct buf *out, struct test_policy *t, struct rng *r,
			const struct connection *c)
{
	struct decide_request q;
	const char *shape;

	/* Most of what is possible is refused: prefer what is not. */
	for (unsigned i = rng_below(r, 5); i < 5; i++) {
		draw_request(r, c, &q);
		if (is_allowed(t, &c->policy, &q) ||
		    asked_entry(t, &c->policy, &q))
			break;
	}
	shape = shape_of(r, c, &q);
	buf_addf(out, "R %s %.*s %.*s %s ", shape, STR_ARG(q.host),
		 STR_ARG(q.method), wanted(t, c, &q, shape));
	buf_add(out, q.path);
	buf_addc(out, '\n');
}

static void draw_connection(struct test_policy *t, struct rng *r,
			    struct connection *c)
{
	bool asks = t->policy.ask.n > 0;

	struct decide_request *hello = &c->hello;

	*hello = (struct decide_request){.tls = rng_below(r, 3) > 0,
					 .only_hello = true};
	c->name = rng_below(r, ARRAY_LEN(gen_names));
	c->at = rng_below(r, ARRAY_LEN(addrs));
	hello->port = GEN_PICK(r, ports);
	c->entry = RAW + rng_below(r, asks ? ENTRIES - RAW : 2);
	hello->is_guarded = c->entry == STRICT || c->entry == ASKED_STRICT;
	hello->has_addr = addr_parse(str_of(addrs[c->at]), &hello->addr);
	hello->is_pinned = c->pins >> (c->name * ARRAY_LEN(addrs) + c->at) & 1;
	if (hello->tls && rng_below(r, 10))
		hello->sni = str_of(gen_names[c->name]);
	/* For the look at whether anything is granted there. */
	hello->host = hello->tls ? hello->sni : str_of(gen_names[c->name]);
	hello->method = STR("GET");
	hello->path = STR("/api/x");
	c->policy = t->policy;
	c->yes = rng_below(r, 2) ? asked_entry(t, &t->policy, hello) : NULL;
	/* Where requests wait, nobody is asked about all of them. */
	if (c->yes && ir_grant_http(c->yes))
		c->yes = NULL;
	if (!c->yes)
		return;
	c->policy = with_entry(t, &t->policy, c->yes);
	/* Its door is that of any protocol. */
	if (ir_dest_net(&c->yes->dest) || c->yes->dest.kind == IR_DEST_ANY) {
		c->entry = ASKED_RAW;
		hello->is_guarded = false;
	}
}

static void put_connection(struct buf *out, struct test_policy *t,
			   struct rng *r, uint64_t pins)
{
	struct connection c = {.pins = pins};
	const struct decide_request *hello = &c.hello;

	for (unsigned i = rng_below(r, 8); i < 8; i++) {
		draw_connection(t, r, &c);
		if (is_allowed(t, &t->policy, hello) ||
		    asked_entry(t, &t->policy, hello))
			break;
	}
	if (is_net(t, hello, false))
		c.entry = PAST;
	c.decrypts = is_decrypted(t, &c);
	c.h2 = rng_below(r, 3) == 0 && (!hello->tls || c.decrypts);
	buf_addf(out, "C %d %u %s %u %.*s %d %d %d %.*s\n", hello->tls, c.entry,
		 addrs[c.at], hello->port, hello->sni.n ? (int)hello->sni.n : 1,
		 hello->sni.n ? hello->sni.p : "-", c.decrypts, c.h2,
		 is_net(t, hello, true), c.yes ? (int)c.yes->id.n : 1,
		 c.yes ? c.yes->id.p : "-");
	for (unsigned i = 1 + rng_below(r, c.h2 ? 8 : 4); i > 0; i--)
		put_request(out, t, r, &c);
}

static void put_policy(const char *dir, const char *text, struct rng *r,
		       uint64_t pins, unsigned requests)
{
	struct test_policy t;
	struct buf b;

	CHECK(test_policy_make(&t, text));
	mkdir(dir, 0755);
	haproxy_text(dir, "policy", str_of(text));
	if (gate_cfg_wanted(&t.policy)) {
		haproxy_plan(dir, &t);
		buf_init(&b, t.a);
		for (uint32_t n = 0; n < ARRAY_LEN(gen_names); n++)
			for (uint32_t k = 0; k < ARRAY_LEN(addrs); k++)
				if (pins >> (n * ARRAY_LEN(addrs) + k) & 1)
					buf_addf(&b, "%s@%s\n", gen_names[n],
						 addrs[k]);
		haproxy_text(dir, "pins", buf_str(&b));
		buf_init(&b, t.a);
		for (unsigned i = 0; i < requests; i++)
			put_connection(&b, &t, r, pins);
		haproxy_text(dir, "requests", buf_str(&b));
	}
	test_policy_done(&t);
}

static void check_paths(void)
{
#define PATH(canonical, target, about)                                         \
	{                                                                      \
		struct str s = str_of(target);                                 \
                                                                               \
		s.n = str_find(s, '?', 0);                                     \
		CHECK_MSG(decide_path_canonical(s) == canonical, "%s: %s",     \
			  target, about);                                      \
	}
#include "tests/oracle/paths.def"
#undef PATH
}

/* Policies of a range of seeds, each in a folder of its own. */
static void put_policies(const char *dir, uint64_t seed, unsigned n,
			 unsigned requests)
{
	static struct gen_policy p;
	char name[FOLDER_MAX + 16];

	for (unsigned i = 0; i < n; i++) {
		struct rng r = {seed + i};

		snprintf(name, sizeof(name), "%s/%llu", dir,
			 (unsigned long long)(seed + i));
		draw_policy(&r, &p);
		put_policy(name, p.text, &r, rng_next(&r) | rng_next(&r),
			   requests);
	}
}

/* For the shapes of first bytes, which requests.py knows. */
static void put_shapes(const char *dir)
{
	char name[FOLDER_MAX + 16];

	snprintf(name, sizeof(name), "%s/shapes", dir);
	put_policy(name, "allow a.test\nallow x.test\n", &(struct rng){0},
		   UINT64_MAX, 0);
	snprintf(name, sizeof(name), "%s/net-shapes", dir);
	put_policy(name,
		   "allow 1.2.3.0/24\n"
		   "deny evil.test\n"
		   "deny **.bad.test\n"
		   "deny * tcp/8443 http=DELETE\n",
		   &(struct rng){0}, 0, 0);
}

/* What drawn policies seldom have together: a crooked path that is denied, on
 * a connection that an answer let in, and on one that is granted anyway. */
/* J-12 */
static void put_met(const char *dir, uint64_t seed)
{
	char name[FOLDER_MAX + 16];

	snprintf(name, sizeof(name), "%s/met", dir);
	put_policy(name,
		   "allow x.test\n"
		   "ask a.test http=GET+DELETE+/api\n"
		   "ask x.test http=*+/api\n"
		   "deny **.test http=DELETE+PUT+PATCH\n",
		   &(struct rng){seed}, UINT64_MAX, 100);
}

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : 60;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	unsigned requests = argc > 3 ? (unsigned)atoi(argv[3]) : 20;
	char top[] = "/tmp/membrane-requests-XXXXXX", dir[WORKERS][FOLDER_MAX];
	int status, skipped = 0;

	check_paths();
	if (!haproxy_tools()) {
		puts("no haproxy, openssl, nft, ip or python3");
		return check_failed ? 1 : 77;
	}
	if (!mkdtemp(top))
		return 1;
	for (unsigned w = 0, first = 0; w < WORKERS; w++) {
		unsigned end = policies * (w + 1) / WORKERS;

		snprintf(dir[w], sizeof(dir[w]), "%s/%u", top, w);
		mkdir(dir[w], 0755);
		put_policies(dir[w], seed + first, end - first, requests);
		first = end;
	}
	put_shapes(dir[0]);
	put_met(dir[1], seed);
	for (unsigned w = 0; w < WORKERS; w++)
		if (fork() == 0)
			exit(haproxy_talk("tests/oracle/requests.py", dir[w]));
	while (wait(&status) > 0)
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			skipped++;
		else
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	rmdir(top); /* what failed stays to be looked at */
	return skipped && !check_failed ? 77 : check_status();
}
