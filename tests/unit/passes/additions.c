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

int main(void)
{
	check_grants();
	check_narrows();
	check_meet();
	check_settings();
	return check_status();
}
