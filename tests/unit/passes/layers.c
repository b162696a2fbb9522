#include "tests/check.h"
#include "tests/policy.h"

static void check_defaults(void)
{
	struct test_policy t;

	CHECK(test_policy_make(&t, ""));
	CHECK(t.policy.resolver.v.host);
	CHECK(t.policy.resolver.from.layer == LAYER_FLOOR);
	CHECK(t.policy.hardening.pids.v == 4096);
	CHECK(t.policy.workspace_trust.v == IR_TRUST_ASK);
	CHECK(!t.policy.uplink.set && !t.policy.hardening.user.set);
	test_policy_done(&t);
}

/* Every span of the floor is its own text. */
static void check_spans(void)
{
	struct test_policy t;
	struct place place;

	CHECK(test_policy_make(&t, ""));
	vec_each(p, &t.policy.readonly)
		CHECK(str_eq(sources_text(&t.sources, p->from.at), p->line));
	vec_each(d, &t.policy.deny) {
		struct cidr net;

		CHECK(cidr_parse(sources_text(&t.sources, d->from.at), &net) ==
		      CIDR_OK);
		CHECK(cidr_cmp(&net, &d->dest.u.cidr.net) == 0);
	}
	place = sources_place(&t.sources, t.policy.resolver.from.at);
	CHECK(str_is(place.source->name, "builtin"));
	CHECK(str_is(place.text, "dns_resolver: host"));
	test_policy_done(&t);
}

static void check_order(void)
{
	struct test_policy t;
	struct doc *global, *work;

	test_policy_bind(&t, "readonly@global /g\nreadonly /w\n"
			     "ignore@global x\nignore !x\n");
	global = test_doc(&t, LAYER_GLOBAL);
	work = test_doc(&t, LAYER_WORKSPACE);
	global->policy.image.set = work->policy.image.set = true;
	global->policy.image.v = STR("one");
	work->policy.image.v = STR("two");
	global->policy.hardening.memory.set = true;
	global->policy.hardening.memory.v = 7;
	CHECK(passes_layers(&t.ctx, &t.docs, &t.policy));
	CHECK(str_is(t.policy.image.v, "two"));
	CHECK(t.policy.hardening.memory.v == 7);
	CHECK(t.policy.ignore.n == 2 && t.policy.ignore.v[1].back);
	CHECK(str_is(t.policy.readonly.v[t.policy.readonly.n - 1].line, "/w"));
	/* The documents are as they were. */
	CHECK(work->policy.readonly.n == 1 && global->policy.ignore.n == 1);
	test_policy_done(&t);
}

static void check_trust(void)
{
	struct test_policy t;

	for (enum layer l = LAYER_PRESET; l <= LAYER_WORKSPACE; l++) {
		struct doc *d;

		test_policy_bind(&t, "");
		d = test_doc(&t, l);
		d->policy.workspace_trust.set = true;
		d->policy.workspace_trust.v = IR_TRUST_ALWAYS;
		CHECK(passes_layers(&t.ctx, &t.docs, &t.policy) ==
		      (l == LAYER_GLOBAL));
		CHECK(t.diags.errors == (l != LAYER_GLOBAL));
		test_policy_done(&t);
	}
}

int main(void)
{
	check_defaults();
	check_spans();
	check_order();
	check_trust();
	return check_status();
}
