/*
 * The gate's own reader of names.map says of every name and address what the
 * decision function says of the policy, and of every line the ports of its
 * grant.
 *
 *	names_gate [POLICIES [SEED]]
 */
#include "compiler/algebra/decide/decide.h"
#include "compiler/emit/parts.h"
#include "compiler/ir/ports.h"
#include "compiler/prove/prove.h"

#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/policy.h"

#define PROBES 40

static const char *const keeps[] = {"floor", "private", "covered", "open"};

static void probe(struct test_policy *t, const struct names_map *map,
		  const char *text, struct rng *r)
{
	struct str name = str_of(GEN_PICK(r, gen_names));
	struct addr addr = gen_addr(r);
	static const struct names_hosts none;
	struct names_match match;
	struct names_classes classes;
	bool resolves = decide_resolve(&t->policy, name, STR("A")).verdict ==
			VERDICT_ALLOW;
	bool matched =
		!names_denied(map, name) && names_match(map, name, &match);
	char shown[ADDR_TEXT_MAX];

	CHECK_MSG(resolves == matched, "%.*s: decide %d, gate %d\n%s",
		  STR_ARG(name), resolves, matched, text);
	if (matched) {
		enum decide_keep want = decide_answer(&t->policy, name, &addr);
		enum decide_keep got = prove_keep_of(
			names_judge(map, &match, &none, &addr, &classes));

		CHECK_MSG(want == got, "%.*s at %s: decide %s, gate %s\n%s",
			  STR_ARG(name), addr_text(&addr, shown), keeps[want],
			  keeps[got], text);
	}
}

/* Sets are filled by the resolver: not those of every public address, and
 * nothing for the machine's own names. */
static bool opens(const struct ir_grant *g, enum ir_proto proto, uint16_t port)
{
	bool private = g->private.set && g->private.v;

	return !ir_grant_http(g) && !ir_dest_machine(&g->dest) &&
	       (g->dest.kind != IR_DEST_ANY || private) &&
	       ports_has(&g->ports, proto, port);
}

static void check_ports(struct test_policy *t, const struct names_map *map,
			const struct names_line *line, struct rng *r,
			const char *text)
{
	static const uint16_t often[] = {22, 53, 80, 443, 8000};
	uint16_t port = rng_below(r, 2) ? GEN_PICK(r, often)
					: (uint16_t)(1 + rng_below(r, 65535));
	uint32_t n = 0;

	vec_each(g, &t->policy.allow) {
		if (!str_eq(g->id, line->id))
			continue;
		n++;
		CHECK_MSG(names_permits(map, line, "tcp", port) ==
					  opens(g, IR_PROTO_TCP, port) &&
				  names_permits(map, line, "udp", port) ==
					  opens(g, IR_PROTO_UDP, port),
			  "%.*s: port %u\n%s", STR_ARG(g->canon), port, text);
	}
	CHECK_MSG(n == 1, "%.*s: %u grants\n%s", STR_ARG(line->id), n, text);
}

int main(int argc, char **argv)
{
	unsigned policies = argc > 1 ? (unsigned)atoi(argv[1]) : 2000;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	static struct gen_policy p;

	for (unsigned i = 0; i < policies && check_failed < 5; i++) {
		struct rng r = {seed + i};
		struct names_map map;
		struct test_policy t;
		struct err err = {0};

		gen_policy(&r, &p);
		CHECK(test_policy_make(&t, p.text));
		if (names_parse(test_policy_emit(&t, names_emit), &map, &err)) {
			CHECK_MSG(false, "seed %llu: %s",
				  (unsigned long long)(seed + i), err.text);
		} else {
			for (unsigned k = 0; k < PROBES; k++)
				probe(&t, &map, p.text, &r);
			for (uint32_t k = 0; k < map.n_exact; k++)
				check_ports(&t, &map, &map.exact[k], &r,
					    p.text);
			for (uint32_t k = 0; k < map.n_wild; k++)
				check_ports(&t, &map, &map.wild[k], &r, p.text);
			names_free(&map);
		}
		test_policy_done(&t);
	}
	return check_status();
}
