/*
 * What a policy reaches of the table of third parties, against proofs: a row
 * is reached exactly when the policy permits some request of it. Of names that
 * are somebody's each, by a wildcard.
 *
 *	third_party [POLICIES [SEED]]
 */
#include "compiler/algebra/compare/never.h"
#include "compiler/lint/parts.h"
#include "tests/check.h"
#include "tests/oracle/generate.h"
#include "tests/oracle/scaled.h"
#include "tests/policy.h"

static struct rng rng;
static unsigned reached, out_of_reach;

static const char *const dests[] = {
	"github.com",
	"*.github.com",
	"**.github.com",
	"api.github.com",
	"gist.github.com",
	"*.com",
	"**.s3.amazonaws.com",
	"*.s3.amazonaws.com",
	"a.s3.amazonaws.com",
	"s3.*.amazonaws.com",
	"*.*.amazonaws.com",
	"bedrock-runtime.*.amazonaws.com",
	"registry.npmjs.org",
	"**.npmjs.org",
	"crates.io",
	"*.github.io",
	"**.io",
	"acme.github.io",
	"abc.ngrok.io",
	"*",
	"termbin.com",
	"**.i.posthog.com",
};
static const char *const ports[] = {
	"",
	" tcp/443",
	" tcp/80",
	" tcp/22",
	" udp/443",
	" tcp/80,tcp/443",
	" tcp/8000-9000,udp/53",
};
static const char *const rules[] = {
	"",
	"",
	"",
	" http=GET",
	" http=POST",
	" http=GET+/repos",
	" http=POST+/gists",
	" http=POST+PATCH+/gists/x",
	" http=PUT+/api",
	" http=PUT+/api/v1/crates/new+/x",
	" http=/repository",
	" http=/",
};

static void line(struct buf *out, const char *key)
{
	buf_addf(out, "%s %s%s%s\n", key,
		 dests[rng_below(&rng, ARRAY_LEN(dests))],
		 ports[rng_below(&rng, ARRAY_LEN(ports))],
		 rules[rng_below(&rng, ARRAY_LEN(rules))]);
}

/* The requests of a row, whoever grants them. */
static struct ir_never set_of(struct arena *a, const struct third_party *row)
{
	struct ir_never set = {.kind = IR_NEVER_NET, .has_dest = true};
	struct str list = str_of(row->methods), one;

	test_dest(row->dest, &set.dest);
	test_ports(a,
		   row->any_port ? STR("tcp/1-65535") : STR("tcp/80,tcp/443"),
		   &set.ports);
	while (row->methods[0] != '*' && str_field(&list, ',', &one))
		*vec_push(a, &set.methods) = (struct ir_text){.s = one};
	if (row->path.n > 1)
		*vec_push(a, &set.paths) = (struct ir_text){.s = row->path};
	return set;
}

static bool has_hit(const third_party_hits *hits, const struct third_party *row)
{
	vec_each(h, hits)
		if (h->place == row)
			return true;
	return false;
}

/* Only the grants that can choose among names. */
static struct ir_policy wild(struct arena *a, const struct ir_policy *p)
{
	struct ir_policy out = *p;

	out.allow = (ir_grants){0};
	vec_each(g, &p->allow) {
		struct str name = ir_dest_name(&g->dest);

		if (str_find(name, '*', 0) < name.n)
			*vec_push(a, &out.allow) = *g;
	}
	return out;
}

static void check_row(struct test_policy *t, const third_party_hits *hits,
		      const struct third_party *row, const char *text)
{
	struct ir_policy choosing = wild(t->a, &t->policy);
	struct ir_never set = set_of(t->a, row);
	struct ir_request witness;
	struct decision d;
	bool may = never_find(t->a, row->shared ? &choosing : &t->policy, &set,
			      &witness, &d);

	CHECK_MSG(may == has_hit(hits, row), "%s is %sreached by\n%s",
		  row->dest.p, may ? "" : "not ", text);
	may ? reached++ : out_of_reach++;
}

static void one_policy(void)
{
	const struct third_party *row;
	third_party_hits hits = {0};
	struct test_policy t;
	struct buf text;
	struct arena *a = arena_new();

	buf_init(&text, a);
	for (uint32_t n = 1 + rng_below(&rng, 3); n; n--)
		line(&text, "allow");
	for (uint32_t n = rng_below(&rng, 4); n; n--)
		line(&text, "deny");
	if (test_policy_make(&t, text.p)) {
		third_party_reach(t.a, &t.policy, &hits);
		for (size_t i = 0; (row = third_party_at(i)); i++)
			if (has_hit(&hits, row) || rng_below(&rng, 10) == 0 ||
			    str_starts(row->dest, STR("api.github")))
				check_row(&t, &hits, row, text.p);
	}
	test_policy_done(&t);
	arena_free(a);
}

int main(int argc, char **argv)
{
	unsigned n = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : SCALED(2000, 8);

	rng.state = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
	while (n--)
		one_policy();
	/* Or nothing was compared. */
	CHECK(reached > 100 && out_of_reach > 100);
	printf("%u reached, %u out of reach\n", reached, out_of_reach);
	return check_status();
}
