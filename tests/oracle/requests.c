/*
 * What HAProxy lets through with the configuration that is emitted is what
 * decide() allows, for the same reason: generated policies, each loaded into a
 * HAProxy of its own in a network namespace of this program's, and requests
 * over TLS and in the clear to a server behind it. requests.py talks; this
 * program writes down what it should hear. `haproxy -c` sees all of them.
 *
 *	requests [POLICIES [SEED [REQUESTS]]]
 */
#include "compiler/algebra/decide.h"
#include "compiler/emit/gate_cfg.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/policy.h"

#include <sched.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const paths[] = {
#define PATH(canonical, target, about) target,
#include "tests/oracle/paths.def"
#undef PATH
};
static const char *const addrs[] = {"1.2.3.4", "1.2.3.5", "10.0.0.1"};
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
static const char *const nets[] = {"1.2.3.0/24", "1.2.3.5/32", "10.0.0.0/8",
				   "::/0", "0.0.0.0/0"};

static const char *dest(struct rng *r)
{
	return rng_below(r, 3) ? GEN_PICK(r, gen_names)
			       : GEN_PICK(r, gen_patterns);
}

static void line(struct rng *r, char *out, size_t size)
{
	char rule[128];
	const char *port = GEN_PICK(r, rule_ports);
	const char *private = rng_below(r, 4) ? "" : " private";
	const char *tls = rng_below(r, 6) ? "" : " inspect";

	snprintf(rule, sizeof(rule), " http=%s%s", GEN_PICK(r, rule_methods),
		 GEN_PICK(r, rule_paths));
	switch (rng_below(r, 14)) {
	case 0:
		snprintf(out, size, "allow *%s%s%s", port,
			 rng_below(r, 2) ? rule : "", private);
		return;
	case 1:
		snprintf(out, size, "allow %s%s%s", GEN_PICK(r, nets), port,
			 rule);
		return;
	case 2:
		snprintf(out, size, "deny %s%s%s", dest(r), port,
			 rng_below(r, 2) ? rule : "");
		return;
	case 3:
		snprintf(out, size, "deny %s%s%s/api/", GEN_PICK(r, schemes),
			 dest(r), GEN_PICK(r, url_ports));
		return;
	case 4:
		snprintf(out, size, "allow %s%s%s%s", GEN_PICK(r, schemes),
			 dest(r), GEN_PICK(r, url_ports),
			 rng_below(r, 2) ? "/api" : "");
		return;
	case 5:
		if (rng_below(r, 4) == 0) {
			snprintf(out, size, "deny *%s%s", port, rule);
			return;
		}
		snprintf(out, size, "credential %s X-Secret TOKEN",
			 GEN_PICK(r, gen_names));
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

static void put_request(struct buf *out, struct test_policy *t, struct rng *r,
			uint64_t pins)
{
	struct decide_request q = {.tls = rng_below(r, 3) > 0};
	uint32_t name = rng_below(r, ARRAY_LEN(gen_names));
	uint32_t at = rng_below(r, ARRAY_LEN(addrs));
	struct decision d;

	q.port = GEN_PICK(r, ports);
	q.has_addr = addr_parse(str_of(addrs[at]), &q.addr);
	q.host = str_of(gen_names[name]);
	q.method = str_of(GEN_PICK(r, methods));
	q.path = str_of(GEN_PICK(r, paths));
	q.is_pinned = pins >> (name * ARRAY_LEN(addrs) + at) & 1;
	if (q.tls && rng_below(r, 20))
		q.sni = q.host;
	if (q.tls && q.sni.n && rng_below(r, 12) == 0)
		q.host = str_of(GEN_PICK(r, gen_names));
	d = decide_request(t->a, &t->policy, &q);
	buf_addf(out, "%d %d %s %u %.*s %.*s %.*s %s %d ", q.tls,
		 rng_below(r, 2) ? 1 : 2, addrs[at], q.port,
		 q.sni.n ? (int)q.sni.n : 1, q.sni.n ? q.sni.p : "-",
		 STR_ARG(q.host), STR_ARG(q.method), reason_name(d.reason),
		 q.tls && d.reason != REASON_NO_SNI &&
			 decide_decrypts(&t->policy, &q));
	buf_add(out, q.path);
	buf_addc(out, '\n');
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
		write_text(dir, "pins.map",
			   test_policy_emit(&t, gate_maps_pins));
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
			put_request(&b, &t, r, pins);
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

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : 25;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	unsigned requests = argc > 3 ? (unsigned)atoi(argv[3]) : 40;
	char dir[] = "/tmp/membrane-requests-XXXXXX", command[512];
	static struct gen_policy p;
	int status;

	check_paths();
	if (system("haproxy -v >/dev/null 2>&1 && "
		   "openssl version >/dev/null && "
		   "python3 --version >/dev/null && nft --version >/dev/null "
		   "&& "
		   "ip -V >/dev/null") != 0) {
		puts("no haproxy, openssl, nft, ip or python3");
		return check_failed ? 1 : 77;
	}
	if (!mkdtemp(dir))
		return 1;
	for (unsigned i = 0; i < policies; i++) {
		struct rng r = {seed + i};

		snprintf(command, sizeof(command), "%s/%llu", dir,
			 (unsigned long long)(seed + i));
		policy(&r, &p);
		put_policy(command, p.text, &r, rng_next(&r) | rng_next(&r),
			   requests);
	}
	/* For the shapes of first bytes, which requests.py knows. */
	snprintf(command, sizeof(command), "%s/shapes", dir);
	put_policy(command, "allow a.test\nallow x.test\n", &(struct rng){0},
		   UINT64_MAX, 0);
	if (!enter_namespace()) {
		puts("no network namespace of our own");
		return check_failed ? 1 : 77;
	}
	snprintf(command, sizeof(command),
		 "python3 tests/oracle/requests.py %s", dir);
	status = system(command);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	return check_status();
}
