/*
 * What HAProxy lets through with the configuration that is emitted is what
 * decide() allows, for the same reason: generated policies, each loaded into a
 * HAProxy of its own in a network namespace of this program's, and requests
 * over TLS and in the clear to a server behind it. requests.py talks, several
 * of it side by side; this program writes down what it should hear.
 * `haproxy -c` sees all of them.
 *
 *	requests [POLICIES [SEED [CONNECTIONS]]]
 */
#include "compiler/algebra/decide/decide.h"
#include "compiler/emit/gate/gate_cfg.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/policy.h"

#include <sched.h>
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
static const char *const rule_methods[] = {
	"*", "GET", "GET+POST", "PUT", "DELETE+POST", "OPTIONS", "PATCH+GET"};
static const char *const rule_paths[] = {"",
					 "",
					 "+/api",
					 "+/api/",
					 "+/private",
					 "+/api/x+/private",
					 "+/it's/$x;y",
					 "+/del@ete",
					 "+/"};
static const char *const rule_ports[] = {"",
					 "",
					 " tcp/443",
					 " tcp/80,tcp/443",
					 " tcp/8000-8999",
					 " tcp/443,udp/443"};
static const char *const schemes[] = {"https://", "https://", "http://"};
static const char *const url_ports[] = {"", "", "", ":443", ":80", ":8443"};
static const char *const nets[] = {"1.2.3.0/24",     "1.2.3.5/32", "10.0.0.0/8",
				   "2606:4700::/32", "::/0",	   "0.0.0.0/0"};

static const char *dest(struct rng *r)
{
	return rng_below(r, 3) ? GEN_PICK(r, gen_names)
			       : GEN_PICK(r, gen_patterns);
}

static void denial(struct rng *r, char *out, size_t size)
{
	const char *port = GEN_PICK(r, rule_ports);
	char rule[128];

	snprintf(rule, sizeof(rule), " http=%s%s", GEN_PICK(r, rule_methods),
		 GEN_PICK(r, rule_paths));
	switch (rng_below(r, 6)) {
	case 0:
		snprintf(out, size, "deny %s%s%s/api/", GEN_PICK(r, schemes),
			 dest(r), GEN_PICK(r, url_ports));
		return;
	case 1:
		snprintf(out, size, "deny %s%s%s",
			 rng_below(r, 4) ? GEN_PICK(r, nets) : "*", port, rule);
		return;
	default:
		snprintf(out, size, "deny %s%s%s", dest(r), port,
			 rng_below(r, 2) ? rule : "");
		return;
	}
}

static void line(struct rng *r, char *out, size_t size)
{
	char rule[128];
	const char *port = GEN_PICK(r, rule_ports);
	const char *private = rng_below(r, 4) ? "" : " private";
	const char *tls = rng_below(r, 6) ? "" : " inspect";

	snprintf(rule, sizeof(rule), " http=%s%s", GEN_PICK(r, rule_methods),
		 GEN_PICK(r, rule_paths));
	switch (rng_below(r, 16)) {
	case 0:
		snprintf(out, size, "allow *%s%s%s", port,
			 rng_below(r, 2) ? rule : "", private);
		return;
	case 1:
		snprintf(out, size, "allow %s%s%s", GEN_PICK(r, nets), port,
			 rule);
		return;
	case 2:
	case 3:
		denial(r, out, size);
		return;
	case 4:
		snprintf(out, size, "allow %s%s%s%s", GEN_PICK(r, schemes),
			 dest(r), GEN_PICK(r, url_ports),
			 rng_below(r, 2) ? "/api" : "");
		return;
	case 5:
		snprintf(out, size, "credential %s X-Secret TOKEN",
			 GEN_PICK(r, gen_names));
		return;
	case 14:
	case 15:
		snprintf(out, size, "allow %s%s", GEN_PICK(r, nets), port);
		return;
	case 6:
	case 7:
	case 8:
		snprintf(out, size, "allow %s%s%s%s", dest(r), port, private,
			 tls);
		return;
	default:
		/* Two rules, often. */
		snprintf(out, size, "allow %s%s%s", dest(r), port, rule);
		if (rng_below(r, 2)) {
			size_t n = strlen(out);

			snprintf(out + n, size - n, " http=%s%s",
				 GEN_PICK(r, rule_methods),
				 GEN_PICK(r, rule_paths));
		}
		return;
	}
}

static void policy(struct rng *r, struct gen_policy *p)
{
	p->n = 1 + rng_below(r, rng_below(r, 3) ? 6 : GEN_LINES_MAX);
	for (uint32_t i = 0; i < p->n; i++)
		line(r, p->lines[i], sizeof(p->lines[i]));
	if (rng_below(r, 2) && p->n + 2 <= GEN_LINES_MAX) {
		snprintf(p->lines[p->n++], GEN_LINE_MAX, "allow %s%s",
			 GEN_PICK(r, nets), GEN_PICK(r, rule_ports));
		denial(r, p->lines[p->n++], GEN_LINE_MAX);
	}
	gen_text(p, UINT32_MAX);
}

/* --- files ---------------------------------------------------------------- */

static void write_text(const char *dir, const char *name, struct str text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!f || fwrite(text.p, 1, text.n, f) != text.n || fclose(f) != 0) {
		perror(path);
		exit(1);
	}
}

/* Spellings that change nothing, and that HAProxy refuses: see talk.py. */
static const char *const shapes[] = {
	"-",	 "-",	 "-",	 "-",	  "lf",	       "full", "port", "dot",
	"upper", "fold", "clte", "other", "websocket", "foo",  "h2c",
};
static const char *const shapes_h2[] = {"-", "-", "-", "two_names"};

struct connection {
	struct decide_request hello;
	/* 0: past HAProxy; 1: raw; 2: strict, as where a denied name leads */
	unsigned entry;
	uint32_t name, at; /* of gen_names and addrs */
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

/* What HAProxy should say: decide(), and what it thinks of the shape. */
static const char *wanted(struct test_policy *t, const struct connection *c,
			  const struct decide_request *q, const char *shape)
{
	/* What the reader refuses before anything is asked of anybody. */
	static const char *const unread[] = {"fold", "lf", "clte"};
	struct decision d = decide_request(t->a, &t->policy, q);

	if (q->tls && !c->decrypts)
		return reason_name(d.reason);
	if (q->tls) {
		struct decision hello =
			decide_request(t->a, &t->policy, &c->hello);

		if (!hello.allow)
			return reason_name(hello.reason);
	}
	if (is_one_of(shape, unread, ARRAY_LEN(unread)))
		return reason_name(REASON_BAD_REQUEST);
	if (d.reason == REASON_NAME_MISMATCH)
		return reason_name(d.reason);
	if (strcmp(shape, "other") == 0)
		return reason_name(REASON_BAD_REQUEST);
	if (strcmp(shape, "foo") == 0)
		return reason_name(REASON_UPGRADE);
	return reason_name(d.reason);
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
	if (c->entry == 0 || (q->tls && !c->decrypts) ||
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
		if (decide_request(t->a, &t->policy, &q).allow)
			break;
	}
	shape = shape_of(r, c, &q);
	buf_addf(out, "R %s %.*s %.*s %s ", shape, STR_ARG(q.host),
		 STR_ARG(q.method), wanted(t, c, &q, shape));
	buf_add(out, q.path);
	buf_addc(out, '\n');
}

static void draw_connection(struct rng *r, struct connection *c)
{
	struct decide_request *hello = &c->hello;

	*hello = (struct decide_request){.tls = rng_below(r, 3) > 0,
					 .only_hello = true};
	c->name = rng_below(r, ARRAY_LEN(gen_names));
	c->at = rng_below(r, ARRAY_LEN(addrs));
	hello->port = GEN_PICK(r, ports);
	c->entry = 1 + rng_below(r, 2);
	hello->is_guarded = c->entry == 2;
	hello->has_addr = addr_parse(str_of(addrs[c->at]), &hello->addr);
	hello->is_pinned = c->pins >> (c->name * ARRAY_LEN(addrs) + c->at) & 1;
	if (hello->tls && rng_below(r, 10))
		hello->sni = str_of(gen_names[c->name]);
	/* For the look at whether anything is granted there. */
	hello->host = hello->tls ? hello->sni : str_of(gen_names[c->name]);
	hello->method = STR("GET");
	hello->path = STR("/api/x");
}

static void put_connection(struct buf *out, struct test_policy *t,
			   struct rng *r, uint64_t pins)
{
	struct connection c = {.pins = pins};
	const struct decide_request *hello = &c.hello;

	for (unsigned i = rng_below(r, 8); i < 8; i++) {
		draw_connection(r, &c);
		if (decide_request(t->a, &t->policy, hello).allow)
			break;
	}
	if (is_net(t, hello, false))
		c.entry = 0; /* the packet filter's fast way */
	c.decrypts = hello->tls && hello->sni.n &&
		     decide_decrypts(&t->policy, hello);
	c.h2 = rng_below(r, 3) == 0 && (!hello->tls || c.decrypts);
	buf_addf(out, "C %d %u %s %u %.*s %d %d %d\n", hello->tls, c.entry,
		 addrs[c.at], hello->port, hello->sni.n ? (int)hello->sni.n : 1,
		 hello->sni.n ? hello->sni.p : "-", c.decrypts, c.h2,
		 is_net(t, hello, true));
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
	write_text(dir, "policy", str_of(text));
	if (gate_cfg_wanted(&t.policy)) {
		write_text(dir, "gate.cfg",
			   test_policy_emit(&t, gate_cfg_emit));
		write_text(dir, "gate.lua",
			   test_policy_emit(&t, gate_lua_emit));
		write_text(dir, "hosts.map",
			   test_policy_emit(&t, gate_maps_hosts));
		write_text(dir, "addr.map",
			   test_policy_emit(&t, gate_maps_addrs));
		if (gate_cfg_decrypts(&t.policy))
			write_text(dir, "crt.lst",
				   test_policy_emit(&t, gate_maps_leaves));
		buf_init(&b, t.a);
		for (uint32_t n = 0; n < ARRAY_LEN(gen_names); n++)
			for (uint32_t k = 0; k < ARRAY_LEN(addrs); k++)
				if (pins >> (n * ARRAY_LEN(addrs) + k) & 1)
					buf_addf(&b, "%s@%s\n", gen_names[n],
						 addrs[k]);
		write_text(dir, "pins", buf_str(&b));
		buf_init(&b, t.a);
		for (unsigned i = 0; i < requests; i++)
			put_connection(&b, &t, r, pins);
		write_text(dir, "requests", buf_str(&b));
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

static bool write_map(const char *name, const char *text)
{
	FILE *f = fopen(name, "w");

	return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

static bool enter_namespace(void)
{
	char map[64];
	unsigned uid = getuid(), gid = getgid();

	if (unshare(CLONE_NEWNET) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return false;
	snprintf(map, sizeof(map), "0 %u 1\n", uid);
	if (!write_map("/proc/self/setgroups", "deny") ||
	    !write_map("/proc/self/uid_map", map))
		return false;
	snprintf(map, sizeof(map), "0 %u 1\n", gid);
	return write_map("/proc/self/gid_map", map);
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
		policy(&r, &p);
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

/* In a process of its own: what is in a folder, in a namespace. */
static int talk(const char *dir)
{
	if (!enter_namespace()) {
		puts("no network namespace of our own");
		return 77;
	}
	execlp("python3", "python3", "tests/oracle/requests.py", dir, NULL);
	return 1;
}

static bool has_tools(void)
{
	return system("haproxy -v >/dev/null 2>&1 && "
		      "openssl version >/dev/null && "
		      "python3 --version >/dev/null && "
		      "nft --version >/dev/null && ip -V >/dev/null") == 0;
}

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : 60;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	unsigned requests = argc > 3 ? (unsigned)atoi(argv[3]) : 20;
	char top[] = "/tmp/membrane-requests-XXXXXX", dir[WORKERS][FOLDER_MAX];
	int status, skipped = 0;

	check_paths();
	if (!has_tools()) {
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
	for (unsigned w = 0; w < WORKERS; w++)
		if (fork() == 0)
			exit(talk(dir[w]));
	while (wait(&status) > 0)
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			skipped++;
		else
			CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	rmdir(top); /* what failed stays to be looked at */
	return skipped && !check_failed ? 77 : check_status();
}
