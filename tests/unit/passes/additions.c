#include "compiler/passes/parts.h"
#include "tests/check.h"
#include "tests/policy.h"

/* What the workspace adds, one per line. */
static void adds(const char *policy, const char *want)
{
	struct test_policy t;
	addition_list out = {0};
	struct buf b;

	test_policy_bind(&t, policy);
	passes_additions(&t.ctx, &t.docs, &out);
	buf_init(&b, t.a);
	vec_each(x, &out) {
		buf_add(&b, x->text);
		buf_addc(&b, '\n');
	}
	CHECK_MSG(str_is(buf_str(&b), want), "%s---\n%s", policy, b.p);
	test_policy_done(&t);
}

static void check_grants(void)
{
	adds("allow a.test:443\n", "allow a.test tcp/443\n");
	adds("allow@global a.test\nallow a.test:443\n", "");
	adds("allow@global a.test:443\nallow a.test\n",
	     "allow a.test tcp/1-65535\n");
	adds("allow@global *.test\nallow a.test:443\nallow b.a.test\n",
	     "allow b.a.test tcp/1-65535\n");
	adds("allow@global **.test\nallow a.test\nallow *.a.test\n"
	     "allow **.b.test\nallow test\n",
	     "allow test tcp/1-65535\n");
	adds("allow@global *.test\nallow **.test\n",
	     "allow **.test tcp/1-65535\n");
	adds("allow@global *\nallow a.test\nallow *\n", "");
	adds("allow@global * tcp/443\nallow *\n", "allow * tcp/1-65535\n");
	adds("allow@global 10.0.0.0/8\nallow 10.1.0.0/16 tcp/22\n"
	     "allow 10.0.0.0/7\n",
	     "allow 10.0.0.0/7 tcp/1-65535\n");
	/* More specific than the floor: opens it, as what holds it does not. */
	adds("allow@global 0.0.0.0/0\nallow 169.254.169.254/32\n"
	     "allow 1.0.0.0/8\nallow 127.0.0.0/8\n",
	     "allow 169.254.169.254/32 tcp/1-65535\n");
	adds("allow@global 169.254.169.0/24\nallow 169.254.169.254/32\n", "");
	adds("allow@global a.test\nallow a.test private\n",
	     "allow a.test tcp/1-65535 private\n");
	adds("allow@global a.test private\nallow a.test private\n", "");
	adds("allow@global a.test http\nallow a.test\n",
	     "allow a.test tcp/1-65535\n");
	adds("allow@global a.test http\nallow a.test http\n", "");
	adds("allow@global a.test:443\nallow https://a.test/x\n", "");
	adds("allow@global https://a.test/x\nallow a.test:443\n",
	     "allow a.test tcp/443\n");
	/* The command line is the user's own, a preset the user's choice. */
	adds("allow@flags a.test\nallow a.test\n", "");
	adds("allow@preset a.test\nallow a.test\n", "");
	adds("allow@global a.test\n", "");
}

static void check_narrows(void)
{
	adds("deny 10.0.0.0/8\nignore .env\nreadonly /x\n", "");
	/* What the workspace itself has hidden is its own to show. */
	adds("ignore *.log\nignore !keep.log\n", "");
	adds("ignore@global .env\nignore !.env\nreadonly !/.git/config\n",
	     "ignore !.env\nreadonly !/.git/config\n");
}

static bool meet(const char *a, const char *b)
{
	struct ir_pattern p = {.line = str_of(a), .back = a[0] == '!'};
	struct ir_pattern q = {.line = str_of(b)};
	bool there = pattern_intersect(&p, &q);

	CHECK(pattern_intersect(&q, &p) == there);
	return there;
}

static void check_meet(void)
{
	CHECK(meet("!.env", ".env") && meet("!.env", ".e*"));
	CHECK(meet("!.e*", "*.env") && meet("!a*c", "?b*"));
	CHECK(meet("!*", "x") && meet("!a/*", "b/x") && meet("!a/**", "b"));
	CHECK(meet("!**", "b") && meet("!**/x/", "x") && meet("!x*", "*y*z"));
	CHECK(meet("![.]env", ".env") && meet("!\\.env", ".env"));
	CHECK(meet("!.env ", ".env") && meet("!", ".env"));
	CHECK(!meet("!keep.log", ".env") && !meet("!keep.log", "*.pem"));
	CHECK(!meet("!*.txt", "*.pem") && !meet("!a*", "b*"));
	CHECK(!meet("!a?c", "ac") && !meet("!x/", "x/y") && !meet("!*a", "b"));
	CHECK(!meet("!*a*", "bcd") && meet("!*a*", "bad"));
	CHECK(!meet("!a?", "a") && !meet("!a", "a?") && meet("!a*", "a"));
}

/* Of longer ones than 255 bytes it is not asked. */
static void check_meet_long(void)
{
	char a[258] = "!", b[257] = "";

	memset(a + 1, 'a', 255);
	memset(b, 'b', 255);
	CHECK(!meet(a, b));
	a[256] = 'a';
	CHECK(meet(a, b));
	a[256] = '\0';
	b[255] = 'b';
	CHECK(meet(a, b));
}

/* What is about connections by name, and nothing else, and which grant. */
static void check_plain(void)
{
	static const struct {
		const char *policy, *canon;
		bool plain;
	} list[] = {
		{"allow a.test", "a.test tcp/1-65535", true},
		{"allow *.a.test:443", "*.a.test tcp/443", true},
		{"allow *", "* tcp/1-65535", false},
		{"allow 10.0.0.0/8", "10.0.0.0/8 tcp/1-65535", false},
		{"allow https://a.test/", "https://a.test/ tcp/443", false},
		{"allow a.test http", "a.test tcp/1-65535 http [* *]", false},
		{"allow a.test inspect", "a.test tcp/1-65535 tls=inspect",
		 false},
		{"allow a.test public", "a.test tcp/1-65535", false},
		{"ask a.test", "a.test tcp/1-65535 for=session wait=1m", true},
		{"ask a.test inspect",
		 "a.test tcp/1-65535 tls=inspect for=session wait=1m", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		addition_list out = {0};
		struct test_policy t;

		test_policy_bind(&t, list[i].policy);
		passes_additions(&t.ctx, &t.docs, &out);
		CHECK_MSG(out.n == 1 && out.v[0].is_plain == list[i].plain &&
				  out.v[0].grant &&
				  str_is(out.v[0].grant->canon, list[i].canon),
			  "%s", list[i].policy);
		test_policy_done(&t);
	}
}

/* A denial is told with its grant; a pattern is plain and has none. */
static void check_cut_grant(void)
{
	addition_list out = {0};
	struct test_policy t;

	test_policy_bind(&t, "deny b.test:1\ndeny a.test:1\n");
	passes_cuts(&t.ctx, &t.docs, &out);
	CHECK(out.n == 2 && str_is(out.v[0].grant->canon, "a.test tcp/1") &&
	      str_is(out.v[1].grant->canon, "b.test tcp/1"));
	test_policy_done(&t);
	out = (addition_list){0};
	test_policy_bind(&t, "ignore@global x\nignore !x\n");
	passes_additions(&t.ctx, &t.docs, &out);
	CHECK(out.n == 1 && out.v[0].is_plain && !out.v[0].grant &&
	      out.v[0].part == ADDITION_PATTERN);
	test_policy_done(&t);
}

static void settings(struct ir_policy *p)
{
	p->hardening.pids.set = true;
	p->hardening.pids.v = 100;
	p->hardening.memory.set = true;
	p->hardening.memory.v = 1 << 20;
	p->tls.set = true;
	p->tls.v = IR_TLS_INSPECT;
	p->trace.required.set = p->trace.required.v = true;
}

static uint32_t count(struct test_policy *t)
{
	addition_list out = {0};

	passes_additions(&t->ctx, &t->docs, &out);
	return out.n;
}

static void check_settings(void)
{
	struct test_policy t;
	struct ir_policy *work, *global;

	test_policy_bind(&t, "");
	settings(&test_doc(&t, LAYER_WORKSPACE)->policy);
	CHECK(count(&t) == 0); /* all of it narrows */
	test_policy_done(&t);

	test_policy_bind(&t, "deny@global 1.1.1.1\ndeny 1.1.1.1\n");
	global = &test_doc(&t, LAYER_GLOBAL)->policy;
	work = &test_doc(&t, LAYER_WORKSPACE)->policy;
	settings(global);
	settings(work);
	CHECK(count(&t) == 0); /* the same again */
	work->hardening.pids.v = 101;
	work->hardening.memory.v++;
	work->tls.v = IR_TLS_VERIFY;
	work->trace.required.v = false;
	CHECK(count(&t) == 4);
	work->ssl_insecure.set = work->ssl_insecure.v = true;
	CHECK(count(&t) == 5);
	work->ssh_agent.set = work->ssh_agent.v = true;
	CHECK(count(&t) == 6);
	global->ssh_agent.set = global->ssh_agent.v = true;
	CHECK(count(&t) == 5); /* trusted already */
	work->ssh_agent.set = false;
	/* narrower than what is trusted, and the same, is nobody's affair */
	work->home.set = global->home.set = true;
	work->home.v = IR_HOME_NONE;
	CHECK(count(&t) == 5);
	global->home.v = IR_HOME_WORKSPACE;
	work->home.v = IR_HOME_WORKSPACE;
	CHECK(count(&t) == 5);
	work->home.v = IR_HOME_SHARED;
	CHECK(count(&t) == 6);
	work->home.set = global->home.set = false;
	work->home.v = global->home.v = IR_HOME_SHARED;
	work->image.set = true;
	work->image.v = STR("other");
	work->engine.set = true;
	work->engine.v = IR_ENGINE_NATIVE;
	work->resolver.set = true;
	work->resolver.v.host = true;
	CHECK(count(&t) == 7); /* the resolver is the one it was */
	work->resolver.v = (struct ir_resolver){.port = 53};
	CHECK(addr_parse(STR("9.9.9.9"), &work->resolver.v.addr));
	CHECK(count(&t) == 8);
	vec_push(t.a, &work->args)->s = STR("--privileged");
	CHECK(count(&t) == 9);
	test_policy_done(&t);
}

static void set_flag(ir_opt_bool *v, bool on)
{
	v->set = true;
	v->v = on;
}

static void set_limit(ir_opt_u64 *v, uint64_t limit)
{
	v->set = true;
	v->v = limit;
}

/* Each setting that has a tighter and a looser value. */
static void set_all(struct ir_policy *p, bool tight)
{
	struct ir_hardening *h = &p->hardening;

	p->masks.set = p->tls.set = p->home.set = true;
	p->masks.v = tight ? IR_MASKS_HOLD : IR_MASKS_START;
	p->tls.v = tight ? IR_TLS_INSPECT : IR_TLS_VERIFY;
	p->home.v = tight ? IR_HOME_NONE : IR_HOME_SHARED;
	set_flag(&p->ssl_insecure, !tight);
	set_flag(&p->ssh_agent, !tight);
	set_flag(&h->read_only, tight);
	set_flag(&h->no_new_privileges, tight);
	set_flag(&h->user_namespaces, !tight);
	set_limit(&h->pids, tight ? 10 : 11);
	set_limit(&h->memory, tight ? 1000 : 1001);
	set_limit(&h->cpus_milli, tight ? 1500 : 1501);
	set_flag(&p->trace.reads, tight);
	set_flag(&p->trace.required, tight);
}

static const char loosened[] = "hardening.cpus 1.501\n"
			       "hardening.memory 1001\n"
			       "hardening.no_new_privileges false\n"
			       "hardening.pids 11\n"
			       "hardening.read_only false\n"
			       "hardening.user_namespaces true\n"
			       "home shared\n"
			       "masks start\n"
			       "ssh_agent true\n"
			       "ssl_insecure true\n"
			       "tls verify\n"
			       "trace.reads false\n"
			       "trace.required false\n";
static const char tightened[] = "hardening.cpus, in thousandths, 1500\n"
				"hardening.memory 1000\n"
				"hardening.no_new_privileges true\n"
				"hardening.pids 10\n"
				"hardening.read_only true\n"
				"hardening.user_namespaces false\n"
				"home none\n"
				"masks hold\n"
				"ssh_agent false\n"
				"ssl_insecure false\n"
				"tls inspect\n"
				"trace.reads true\n"
				"trace.required true\n";

static void check_list(const addition_list *list, const char *want,
		       const char *what)
{
	struct arena *a = arena_new();
	struct buf b;

	buf_init(&b, a);
	vec_each(x, list) {
		buf_add(&b, x->text);
		buf_addc(&b, '\n');
	}
	CHECK_MSG(str_is(buf_str(&b), want), "%s\n%.*s", what,
		  STR_ARG(buf_str(&b)));
	arena_free(a);
}

/* What is yours, what the workspace says, what that adds and cuts. */
static void check_ways(void)
{
	static const struct {
		bool own, its;
		const char *adds, *cuts;
	} ways[] = {
		{true, true, "", ""},
		{false, false, "", ""},
		{true, false, loosened, ""},
		{false, true, "", tightened},
	};

	for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
		addition_list adds = {0}, cuts = {0};
		struct test_policy t;

		test_policy_bind(&t, "allow@global a.test\nallow a.test\n");
		set_all(&test_doc(&t, LAYER_GLOBAL)->policy, ways[i].own);
		set_all(&test_doc(&t, LAYER_WORKSPACE)->policy, ways[i].its);
		passes_additions(&t.ctx, &t.docs, &adds);
		passes_cuts(&t.ctx, &t.docs, &cuts);
		check_list(&adds, ways[i].adds, "adds");
		check_list(&cuts, ways[i].cuts, "cuts");
		test_policy_done(&t);
	}
}

static void check_resolver(void)
{
	static const struct {
		const char *addr;
		uint16_t port;
		bool host;
		uint32_t adds;
	} its[] = {
		{"9.9.9.9", 53, false, 0},
		{"9.9.9.9", 54, false, 1},
		{"9.9.9.8", 53, false, 1},
		{"9.9.9.9", 53, true, 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(its); i++) {
		struct test_policy t;
		ir_opt_resolver *own, *r;

		test_policy_bind(&t, "allow@global a.test\nallow a.test\n");
		own = &test_doc(&t, LAYER_GLOBAL)->policy.resolver;
		r = &test_doc(&t, LAYER_WORKSPACE)->policy.resolver;
		own->set = r->set = true;
		own->v.port = 53;
		r->v.port = its[i].port;
		r->v.host = its[i].host;
		CHECK(addr_parse(STR("9.9.9.9"), &own->v.addr));
		CHECK(addr_parse(str_of(its[i].addr), &r->v.addr));
		CHECK_MSG(count(&t) == its[i].adds, "%s:%u", its[i].addr,
			  its[i].port);
		test_policy_done(&t);
	}
}

static void set_text(ir_opt_str *v, const char *text)
{
	v->set = true;
	v->v = str_of(text);
}

/* Those that are neither tighter nor looser: any other one is told. */
static void set_texts(struct ir_policy *p, const char *text)
{
	set_text(&p->hardening.seccomp, text);
	set_text(&p->hardening.user, text);
	set_text(&p->image, text);
	set_text(&p->uplink, text);
	set_text(&p->upstream_ca, text);
}

static void check_texts(void)
{
	addition_list same = {0}, others = {0};
	struct test_policy t;
	struct ir_policy *its;

	test_policy_bind(&t, "allow@global a.test\nallow a.test\n");
	its = &test_doc(&t, LAYER_WORKSPACE)->policy;
	set_texts(&test_doc(&t, LAYER_GLOBAL)->policy, "a");
	set_texts(its, "a");
	passes_additions(&t.ctx, &t.docs, &same);
	check_list(&same, "", "the same");
	set_texts(its, "b");
	passes_additions(&t.ctx, &t.docs, &others);
	check_list(&others,
		   "hardening.seccomp b\nhardening.user b\nimage b\n"
		   "uplink b\nupstream_ca b\n",
		   "others");
	test_policy_done(&t);
}

int main(void)
{
	check_ways();
	check_texts();
	check_resolver();
	check_grants();
	check_narrows();
	check_meet();
	check_meet_long();
	check_plain();
	check_cut_grant();
	check_settings();
	return check_status();
}
