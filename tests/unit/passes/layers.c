#include "compiler/base/limits.h"
#include "compiler/front/bind/bind.h"
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

static uint32_t of_floor(const ir_patterns *list)
{
	uint32_t n = 0;

	vec_each(p, list)
		n += p->from.layer == LAYER_FLOOR;
	return n;
}

/*
 * The text of the floor is a policy, and says what the floor is, but for the
 * addresses of IPv4 in those of IPv6, which nobody else writes.
 */
static void check_floor_text(void)
{
	const struct source *src;
	struct ir_policy p = {0};
	struct diag_view v;
	struct yaml_node *root;
	struct test_policy t;
	ir_texts extends = {0};

	CHECK(test_policy_make(&t, ""));
	src = sources_named(&t.sources, STR("builtin"));
	CHECK(src && src->layer == LAYER_FLOOR);
	CHECK(yaml_parse(t.a, &t.diags, src, &root) &&
	      !bind_policy(&t.ctx, LAYER_FLOOR, root, &p, &extends));
	CHECK(t.diags.errors == 1 && diags_get(&t.diags, 0, &v) &&
	      str_is(sources_text(&t.sources, v.at), "::ffff:0.0.0.0"));
	CHECK(p.deny.n + 1 == t.policy.deny.n && p.deny.n > 10);
	CHECK(p.readonly.n == of_floor(&t.policy.readonly) &&
	      p.readonly.n > 10);
	CHECK(p.resolver.v.host && str_eq(p.image.v, t.policy.image.v));
	CHECK(p.hardening.pids.v == t.policy.hardening.pids.v &&
	      p.hardening.no_new_privileges.v && p.trace.engine.set &&
	      p.trace.required.set && p.workspace_trust.set && p.tls.set &&
	      p.engine.set && p.runtime.set && p.ssl_insecure.set &&
	      p.hardening.read_only.set && p.hardening.user_namespaces.set &&
	      str_eq(p.hardening.seccomp.v, t.policy.hardening.seccomp.v));
	/* Each denial says what is there. */
	CHECK(memmem(src->text.p, src->text.n, "\"169.254.0.0/16\" # ", 19));
	vec_each(d, &t.policy.deny)
		CHECK(d->dest.at.beg == d->from.at.beg);
	/* It is there once, however often it is asked for. */
	CHECK(passes_layers(&t.ctx, &t.docs, &t.policy));
	CHECK(sources_named(&t.sources, STR("builtin")) == src &&
	      sources_of(&t.sources, t.policy.resolver.from.at) == src);
	vec_each(s, &t.sources.list)
		CHECK(s->layer != LAYER_FLOOR || s == src);
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

/* How masks hold is the runtime's, where nothing is said of it. */
static void check_masks(void)
{
	for (unsigned i = 0; i < 4; i++) {
		bool kata = i & 1, said = i & 2;
		struct test_policy t;
		struct ir_policy *p;

		test_policy_bind(&t, "allow@global a.test\n");
		p = &test_doc(&t, LAYER_GLOBAL)->policy;
		p->runtime.set = kata;
		p->runtime.v = IR_RUNTIME_KATA;
		p->masks.set = said;
		p->masks.v = kata ? IR_MASKS_HOLD : IR_MASKS_START;
		CHECK(passes_layers(&t.ctx, &t.docs, &t.policy));
		CHECK(t.policy.masks.set &&
		      (t.policy.masks.v == IR_MASKS_HOLD) == (kata == said));
		test_policy_done(&t);
	}
}

/* A preset's own expectations are no tests of the policy, but for 'never'. */
static void check_preset_tests(void)
{
	for (unsigned preset = 0; preset < 2; preset++) {
		struct test_policy t;
		struct doc *d;

		test_policy_bind(&t, "");
		d = test_doc(&t, LAYER_PRESET);
		d->preset = preset;
		vec_push(t.a, &d->policy.tests.allow)->text = STR("x");
		vec_push(t.a, &d->policy.tests.ask)->text = STR("x");
		vec_push(t.a, &d->policy.tests.deny)->text = STR("x");
		vec_push(t.a, &d->policy.tests.never)->arg = STR("x");
		CHECK(passes_layers(&t.ctx, &t.docs, &t.policy));
		CHECK(t.policy.tests.allow.n == !preset &&
		      t.policy.tests.ask.n == !preset &&
		      t.policy.tests.deny.n == !preset &&
		      t.policy.tests.never.n == 1);
		test_policy_done(&t);
	}
}

/* So many patterns of either list, of all layers, and one more. */
static void check_patterns(void)
{
	for (unsigned i = 0; i < 4; i++) {
		bool readonly = i & 1, many = i & 2;
		struct test_policy t;
		ir_patterns *list;
		struct doc *d;

		CHECK(test_policy_make(&t, ""));
		CHECK(of_floor(&t.policy.ignore) == t.policy.ignore.n);
		d = test_doc(&t, LAYER_GLOBAL);
		list = readonly ? &d->policy.readonly : &d->policy.ignore;
		for (uint32_t n = readonly ? t.policy.readonly.n
					   : t.policy.ignore.n;
		     n < LIMIT_PATTERNS + many; n++)
			*vec_push(t.a, list) = (struct ir_pattern){
				.from.layer = LAYER_GLOBAL, .line = STR("x")};
		CHECK(passes_layers(&t.ctx, &t.docs, &t.policy) == !many);
		CHECK(t.diags.errors == many);
		test_policy_done(&t);
	}
}

int main(void)
{
	check_masks();
	check_patterns();
	check_preset_tests();
	check_defaults();
	check_spans();
	check_floor_text();
	check_order();
	check_trust();
	return check_status();
}
