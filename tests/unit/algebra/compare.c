/*
 * compare.h, where a generated policy seldom goes, and what its texts say.
 * Policies are written as in tests/policy.h.
 */
#include "compiler/algebra/compare/compare.h"
#include "compiler/algebra/compare/docker_effect.h"
#include "compiler/algebra/compare/parts.h"
#include "compiler/algebra/compare/witness.h"
#include "compiler/algebra/decide/ask.h"
#include "compiler/algebra/space/intersect.h"
#include "compiler/algebra/space/names.h"
#include "compiler/ir/text.h"

#include "tests/check.h"
#include "tests/policy.h"

/* --- comparing ------------------------------------------------------------ */

/* "+ text | witness\n" of each change. */
static struct str said(struct arena *a, const struct comparison *c)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(x, &c->changes) {
		buf_addc(&b, "+-~"[x->way]);
		buf_addf(&b, " %.*s", STR_ARG(x->text));
		if (x->has_witness)
			buf_addf(&b, " | %.*s", STR_ARG(x->witness.text));
		buf_addc(&b, '\n');
	}
	return buf_str(&b);
}

static const struct {
	const char *old, *now, *changes;
} cases[] = {
	/* Nothing, in other words. */
	{"allow *.a.test\nallow b.a.test\n", "allow *.a.test\n", ""},
	{"allow 1.2.3.0/24\n", "allow 1.2.3.0/25\nallow 1.2.3.128/25\n", ""},
	{"allow a.test tcp/1-65535\n",
	 "allow a.test tcp/1-99\n"
	 "allow a.test tcp/100-65535\n",
	 ""},
	{"allow **.a.test\ndeny **.a.test\n", "", ""},
	{"allow a.test http=GET http=POST\n", "allow a.test http=GET+POST\n",
	 ""},
	{"allow https://a.test/x/\nallow https://a.test/x/y/\n",
	 "allow https://a.test/x/\n", ""},
	{"ignore a\nignore b\n", "ignore [ab]\n", ""},
	{"ignore *.pem\nignore !ca.pem\nignore ca.pem\n", "ignore *.pem\n", ""},
	{"ignore a/**\n", "ignore a/*\n", ""},
	/* Names. */
	{"allow github.com:443\n",
	 "allow github.com:443\nallow *.github.com:443\n",
	 "+ tcp/443 *.github.com | www.github.com:443\n"},
	{"allow *.a.test\nallow **.a.test\n", "allow *.a.test\n",
	 "- tcp/1-65535 **.a.test | www.eu.a.test:443\n"},
	{"allow *.a.test\n", "allow *.a.test\ndeny www.a.test tcp/22\n",
	 "- tcp/22 www.a.test | www.a.test:22\n"},
	{"allow *.a.test\ndeny www.a.test\n", "allow *.a.test\n",
	 "+ tcp/1-65535 www.a.test | www.a.test:443\n"},
	{"allow *.b.test:443\ndeny a.*.test\n", "allow *.b.test:443\n",
	 "+ tcp/443 a.b.test | a.b.test:443\n"},
	/* A witness that no other rule is about. */
	{"allow www.a.test\nallow api.a.test\nallow app.a.test\n",
	 "allow www.a.test\nallow api.a.test\nallow app.a.test\n"
	 "allow *.a.test\n",
	 "+ tcp/1-65535 *.a.test | mail.a.test:443\n"},
	{"allow a.test:443\n", "allow a.test tcp/22,tcp/443\n",
	 "+ tcp/22 a.test | a.test:22\n"},
	/* Its questions are answered, where its port is denied. */
	{"deny a.test tcp/443\n", "deny a.test tcp/443\nallow a.test:443\n",
	 "+ a.test | resolve a.test\n"},
	/* Addresses: the floor, and what is private. */
	{"", "allow 169.254.169.254 tcp/80\n",
	 "+ tcp/80 169.254.169.254/32 | tcp 169.254.169.254:80\n"},
	{"", "allow 169.254.0.0/16\n", ""},
	{"", "allow 169.254.0.0/16\nallow 169.254.169.254 udp/9\n",
	 "+ udp/9 169.254.169.254/32 | udp 169.254.169.254:9\n"},
	{"allow a.test:443\n", "allow a.test:443 private\n",
	 "+ tcp/443 a.test at private addresses | tcp 10.0.0.1:443 a.test\n"},
	{"allow a.test:443\n", "allow a.test:443\ndeny 203.0.113.0/24\n",
	 "- tcp/443 203.0.113.0/24 under granted names"
	 " | tcp 203.0.113.1:443 a.test\n"},
	{"allow 203.0.113.0/24 tcp/22\n",
	 "allow 203.0.113.0/24 tcp/22\ndeny bad.test\n",
	 "- tcp/22 bad.test at addresses that other rules are about"
	 " | tcp 203.0.113.1:22 bad.test\n"
	 "- CONNECT 203.0.113.0/24 tcp/22 / in the clear (requests that are read now)"
	 " | CONNECT http://203.0.113.1:22/\n"},
	/* Requests. */
	{"allow a.test:443\n", "allow a.test tcp/443 http=GET+/x\n",
	 "- tcp/443 a.test | a.test:443\n"
	 "- * https://a.test/ | GET https://a.test/\n"},
	{"allow a.test tcp/443 http=GET+/x\n",
	 "allow a.test tcp/443 http=GET+POST+/x\n",
	 "+ POST https://a.test/x | POST https://a.test/x\n"},
	{"allow a.test:443\n", "allow a.test:443\ndeny https://a.test/x@y/\n",
	 "- * https://a.test/x@y | GET https://a.test/x@y\n"},
	{"allow a.test tcp/443 http=*+/x%40y\n",
	 "allow a.test tcp/443 http=*+/x%40y\ndeny https://a.test/x@y/z\n",
	 "- * https://a.test/x%40y/z | GET https://a.test/x%40y/z\n"},
	{"allow https://a.test/\n", "allow http://a.test/\n",
	 "+ * http://a.test/ | GET http://a.test/\n"
	 "- * https://a.test/ | GET https://a.test/\n"},
	{"allow a.test:443\n", "allow a.test:443\ndeny * http=DELETE\n",
	 "- DELETE https://a.test/ | DELETE https://a.test/\n"},
	/* A rule about paths refuses those that are not canonical. */
	{"allow a.test tcp/443 http=GET\n",
	 "allow a.test tcp/443 http=GET http=GET+/x\n",
	 "- GET https://a.test/ (paths that are not canonical)"
	 " | GET https://a.test/a/../b\n"},
	{"allow a.test tcp/80 http=GET\nallow a.test tcp/80 http=PUT+/x\n",
	 "allow a.test tcp/80 http=GET\n",
	 "+ GET http://a.test/ (paths that are not canonical)"
	 " | GET http://a.test/a/../b\n"
	 "- PUT http://a.test/x | PUT http://a.test/x\n"},
	{"allow a.test:443\n", "allow a.test:443\ndeny https://a.test/x/\n",
	 "- * https://a.test/x | GET https://a.test/x\n"},
	/* To an address under a name. */
	{"allow 203.0.113.0/24 tcp/80 http=GET\ndeny bad.test\n",
	 "allow 203.0.113.0/24 tcp/80 http=GET\n",
	 "+ GET http://bad.test/ at addresses that other rules are about"
	 " | GET http://bad.test/ at 203.0.113.1\n"},
	{"allow a.test tcp/80 http=GET\n",
	 "allow a.test tcp/80 http=GET private\n",
	 "+ GET http://a.test/ at private addresses"
	 " | GET http://a.test/ at 10.0.0.1\n"},
	/* Who looks into it. */
	{"allow a.test inspect\n", "allow a.test\n",
	 "+ CONNECT a.test tcp/1-65535 / over TLS (requests that are not read)"
	 " | CONNECT https://a.test/\n"
	 "+ tls of a.test inspect -> verify\n"},
	{"allow a.test\nallow b.test\n", "allow a.test inspect\nallow b.test\n",
	 "- CONNECT a.test tcp/1-65535 / over TLS (requests that are read now)"
	 " | CONNECT https://a.test/\n"
	 "- tls of a.test verify -> inspect\n"},
	/* Files. */
	{"", "ignore *.pem\n", "- read *.pem | read file.pem\n"},
	{"ignore secrets/\n", "ignore secrets/*\nignore !secrets/a\n",
	 "+ read secrets/ | read secrets/\n"
	 "+ read secrets/a | read secrets/a\n"},
	{"", "readonly /vendor/\n", "- write /vendor/ | write vendor/file\n"},
	{"ignore x\n", "readonly x\n", "+ read x | read x\n"},
	{"ignore a\nignore !a/b\n", "ignore a\n", ""},
};

static void check_changes(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct test_policy old, now;
		struct comparison c;

		CHECK(test_policy_make(&old, cases[i].old));
		CHECK(test_policy_make(&now, cases[i].now));
		compare_policies(now.a, &old.policy, &now.policy, &c);
		CHECK_MSG(str_is(said(now.a, &c), cases[i].changes),
			  "%zu:\n%swanted:\n%s", i, said(now.a, &c).p,
			  cases[i].changes);
		CHECK(compare_equal(&c) == (*cases[i].changes == '\0'));
		CHECK(compare_widens(&c) == (*cases[i].changes == '+'));
		CHECK(!c.same_text);
		test_policy_done(&old);
		test_policy_done(&now);
	}
}

/* --- raw arguments ---------------------------------------------------------
 */

static bool is_listed(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

/* The way of the option alone, coming or going. */
static struct str arg_way(struct arena *a, const char *name, const char *value,
			  bool goes)
{
	struct arg arg = {.option = str_of(name),
			  .has_value = true,
			  .value = str_of(value)};
	struct ir_policy none = {0}, one = {0};
	struct comparison c = {0};

	*vec_push(a, &one.docker_args) = arg;
	raw_args_compare(a, goes ? &one : &none, goes ? &none : &one, &c);
	return said(a, &c);
}

/*
 * Every option has an answer; what goes is lost only where it is on this list,
 * and what comes is never said to narrow.
 */
static void check_options(void)
{
	static const char *const adds[] = {
		"cap-add", "device-cgroup-rule", "gpus",	   "privileged",
		"publish", "publish-all",	 "use-api-socket", NULL};
	static const char *const lifts[] = {"cgroupns", "ipc", "pid",
					    "userns",	"uts", NULL};
	struct arena *a = arena_new();

	for (int i = 0; i < DOCKER_RUN_IDS; i++) {
		const struct docker_run_option *d =
			docker_run_option((enum docker_run_id)i);
		bool flag = d->type == DOCKER_RUN_FLAG;
		struct option o = {.name = str_of(d->name),
				   .value = STR("8")};
		enum docker_times times = docker_effect_row(d->id)->times;
		struct str key;
		char way;

		CHECK_MSG(docker_effect_key(&o, &key) ==
				  (times != DOCKER_TIMES_SET &&
				   times != DOCKER_TIMES_ORDER),
			  "--%s has a key, or none", d->name);

		CHECK_MSG(docker_effect_row(d->id)->effect !=
				  DOCKER_EFFECT_NONE,
			  "--%s has no answer", d->name);
		CHECK_MSG(arg_way(a, d->name, flag ? "true" : "8", true).p[0] ==
				  (is_listed(adds, d->name) ? '-' : '~'),
			  "--%s goes", d->name);
		way = arg_way(a, d->name, flag ? "true" : "8", false).p[0];
		CHECK_MSG(is_listed(adds, d->name) ? way == '+' : way != '-',
			  "--%s comes", d->name);
		CHECK_MSG(flag || arg_way(a, d->name, "host", true).p[0] ==
					  (is_listed(adds, d->name) ||
							   is_listed(lifts,
								     d->name)
						   ? '-'
						   : '~'),
			  "--%s=host goes", d->name);
		/* A flag that is off does not add. */
		CHECK(!flag || arg_way(a, d->name, "false", true).p[0] == '~');
	}
	/* One that docker does not have. */
	CHECK(arg_way(a, "none-such", "1", false).p[0] == '~');
	arena_free(a);
}

/* What is shown is tried; what does not show it is no line of output. */
static void check_refuted(void)
{
	struct test_policy old, now;
	const struct ir_policy *p[2] = {&old.policy, &now.policy};
	struct comparison c;

	CHECK(test_policy_make(&old, "allow a.test:443\nignore x\n"));
	CHECK(test_policy_make(&now, "allow b.test:443\nignore y\n"));
	compare_whole(old.a, p[0], p[1], &c);
	CHECK(c.changes.n == 4 && c.kept.n > 0);
	CHECK(!witness_refuted(p[0], p[1], &c));
	vec_each(x, &c.changes) {
		struct access_change forged = *x;

		CHECK(witness_holds(old.a, p[0], p[1], x));
		CHECK(!witness_holds(old.a, p[1], p[0], x));
		CHECK(!witness_holds(old.a, p[0], p[0], x));
		forged.way =
			x->way == ACCESS_LOST ? ACCESS_GAINED : ACCESS_LOST;
		CHECK(!witness_holds(old.a, p[0], p[1], &forged));
	}
	c.changes.v[c.changes.n - 1].witness = c.changes.v[0].witness;
	CHECK(witness_refuted(p[0], p[1], &c) == &c.changes.v[c.changes.n - 1]);
	test_policy_done(&old);
	test_policy_done(&now);
}

/* "= text | witness < before\n" of what is unchanged, but files. */
static struct str said_kept(struct arena *a, const struct comparison *c)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(x, &c->kept) {
		if (x->kind == ACCESS_READ || x->kind == ACCESS_WRITE)
			continue;
		CHECK(x->way == ACCESS_KEPT && 
		      (x->was.verdict != VERDICT_DENY) == x->has_witness &&
		      x->is.verdict == x->was.verdict);
		buf_addf(&b, "= %.*s", STR_ARG(x->text));
		if (x->has_witness)
			buf_addf(&b, " | %.*s", STR_ARG(x->witness.text));
		if (x->has_before)
			buf_addf(&b, " < %.*s", STR_ARG(x->was.grant->canon));
		buf_addc(&b, '\n');
	}
	return buf_str(&b);
}

static const struct {
	const char *old, *now, *kept;
} kept_cases[] = {
	{"", "", ""},
	{"allow a.test:443\n", "allow b.test:443\n", ""},
	{"allow a.test:443\n", "allow a.test tcp/80,tcp/443\n",
	 "= tcp/443 a.test | a.test:443 < a.test tcp/443\n"},
	/* A rule in common, before others that permit it as well. */
	{"allow b.a.test:443\n", "allow *.a.test:443\nallow b.a.test:443\n",
	 "= tcp/443 b.a.test | b.a.test:443\n"},
	{"allow *.a.test:443\n", "allow www.a.test:443\n",
	 "= tcp/443 www.a.test | www.a.test:443 < *.a.test tcp/443\n"},
	/* The part that the two have in common. */
	{"allow *.b.test:443\n", "allow a.*.test:443\n",
	 "= tcp/443 a.b.test | a.b.test:443 < *.b.test tcp/443\n"},
	{"allow 203.0.113.0/24 tcp/1-500\n",
	 "allow 203.0.113.0/28 tcp/400-900\n",
	 "= tcp/400-500 203.0.113.0/28 | tcp 203.0.113.1:443"
	 " < 203.0.113.0/24 tcp/1-500\n"},
	{"allow a.test:443\n", "allow a.test:443\ndeny a.test\n", ""},
	/* Requests, where connections are not what is unchanged. */
	{"allow a.test tcp/443 http=GET+POST+/x\n",
	 "allow a.test tcp/443 http=GET+/x/y http=PUT+/z\n",
	 "= GET https://a.test/x/y | GET https://a.test/x/y"
	 " < a.test tcp/443 http [GET,POST /x]\n"},
	{"allow a.test:443\n", "allow a.test tcp/443 http=GET+/x\n",
	 "= GET https://a.test/x | GET https://a.test/x < a.test tcp/443\n"},
	/* And of each path its own methods. */
	{"allow a.test tcp/443 http=GET+/x http=POST+/y\n",
	 "allow a.test tcp/443 http=GET+/x http=POST+/y http=PUT+/z\n",
	 "= GET https://a.test/x; POST /y | GET https://a.test/x"
	 " < a.test tcp/443 http [GET /x] [POST /y]\n"},
	{"allow a.test:443\n", "allow a.test:22\n",
	 "= a.test | resolve a.test < a.test tcp/443\n"},
	/* A name that one grants, at an address that the other does. */
	{"allow a.test:443\nallow b.test:443\n", "allow 203.0.113.0/24\n",
	 "= tcp/443 * (addresses granted now, under names that were)"
	 " | tcp 203.0.113.1:443 a.test < a.test tcp/443\n"},
};

static void check_kept(void)
{
	for (size_t i = 0; i < ARRAY_LEN(kept_cases); i++) {
		struct test_policy old, now;
		struct comparison c;

		CHECK(test_policy_make(&old, kept_cases[i].old));
		CHECK(test_policy_make(&now, kept_cases[i].now));
		compare_whole(now.a, &old.policy, &now.policy, &c);
		CHECK_MSG(str_is(said_kept(now.a, &c), kept_cases[i].kept),
			  "%zu:\n%swanted:\n%s", i, said_kept(now.a, &c).p,
			  kept_cases[i].kept);
		test_policy_done(&old);
		test_policy_done(&now);
	}
}

static void check_counts(void)
{
	struct test_policy old, now;
	struct comparison c;

	CHECK(test_policy_make(&old, "allow a.test:443\nallow b.test\n"
				     "allow 1.2.3.4\n"));
	CHECK(test_policy_make(&now, "allow a.test:443\nallow b.test\n"
				     "allow 1.2.3.4\ndeny b.test tcp/25\n"));
	compare_policies(now.a, &old.policy, &now.policy, &c);
	/* what is denied, and that others are read there for it */
	CHECK_MSG(c.unchanged == 1 && c.changes.n == 2, "%s",
		  said(now.a, &c).p);
	CHECK(c.changes.v[0].was.reason == REASON_GRANTED);
	CHECK(c.changes.v[0].is.reason == REASON_DENIED);
	CHECK(!c.changes.v[0].why_old);
	CHECK(c.changes.v[0].why.at.beg == now.policy.deny.v[0].from.at.beg ||
	      c.changes.v[0].is.grant->from.at.beg ==
		      c.changes.v[0].why.at.beg);
	compare_policies(now.a, &old.policy, &old.policy, &c);
	CHECK(c.unchanged == 3 && c.same_text && compare_equal(&c));
	test_policy_done(&old);
	test_policy_done(&now);
}

/* Grants of the new policy alone, whether old ones are gone or not. */
static void check_unchanged(void)
{
	struct test_policy old, now;
	struct comparison c;

	CHECK(test_policy_make(&old, "allow *.a.test\nallow b.a.test\n"));
	CHECK(test_policy_make(&now, "allow *.a.test\n"));
	compare_policies(now.a, &old.policy, &now.policy, &c);
	CHECK(compare_equal(&c) && !c.same_text && c.unchanged == 1);
	compare_policies(now.a, &now.policy, &old.policy, &c);
	CHECK(compare_equal(&c) && !c.same_text && c.unchanged == 2);
	test_policy_done(&old);
	test_policy_done(&now);
}

/* As many entries as before, and none of them the same. */
static void check_same_text(void)
{
	static const char *const pairs[][2] = {
		{"allow *.a.test\nallow b.a.test\n",
		 "allow *.a.test\nallow c.a.test\n"},
		{"deny b.a.test\n", "deny c.a.test\n"},
		{"allow *.a.test\nask b.a.test\n",
		 "allow *.a.test\nask c.a.test\n"},
	};

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct test_policy old, now;
		struct comparison c;

		CHECK(test_policy_make(&old, pairs[i][0]));
		CHECK(test_policy_make(&now, pairs[i][1]));
		compare_policies(now.a, &old.policy, &now.policy, &c);
		CHECK_MSG(compare_equal(&c) && !c.same_text, "%s: %s",
			  pairs[i][1], said(now.a, &c).p);
		test_policy_done(&old);
		test_policy_done(&now);
	}
}

/* --- settings ------------------------------------------------------------- */

static enum access_way setting(void (*change)(struct ir_policy *p))
{
	struct test_policy old, now;
	struct comparison c;
	enum access_way way = ACCESS_OTHER;

	CHECK(test_policy_make(&old, ""));
	CHECK(test_policy_make(&now, ""));
	change(&now.policy);
	compare_policies(now.a, &old.policy, &now.policy, &c);
	CHECK_MSG(c.changes.n == 1, "%s", said(now.a, &c).p);
	if (c.changes.n) {
		way = c.changes.v[0].way;
		CHECK(c.changes.v[0].kind == ACCESS_SETTING);
		CHECK(!c.changes.v[0].has_witness);
	}
	test_policy_done(&old);
	test_policy_done(&now);
	return way;
}

static void more_pids(struct ir_policy *p)
{
	p->hardening.pids.v = 8192;
}

static void less_memory(struct ir_policy *p)
{
	p->hardening.memory.set = true;
	p->hardening.memory.v = 1 << 30;
}

static void read_only(struct ir_policy *p)
{
	p->hardening.read_only.v = true;
}

static void unconfined(struct ir_policy *p)
{
	p->hardening.seccomp.v = STR("unconfined");
}

static void other_profile(struct ir_policy *p)
{
	p->hardening.seccomp.v = STR("/etc/profile.json");
}

static void no_trace(struct ir_policy *p)
{
	p->trace.engine.v = IR_TRACE_OFF;
}

static void other_image(struct ir_policy *p)
{
	p->image.v = STR("other");
}

static void inspect(struct ir_policy *p)
{
	p->tls.v = IR_TLS_INSPECT;
}

static void insecure(struct ir_policy *p)
{
	p->ssl_insecure.v = true;
}

static void ssh_agent(struct ir_policy *p)
{
	p->ssh_agent.set = p->ssh_agent.v = true;
}

static void home_of_none(struct ir_policy *p)
{
	p->home.set = true;
	p->home.v = IR_HOME_NONE;
}

static void bare_later(struct ir_policy *p)
{
	p->masks.v = IR_MASKS_START;
}

static void check_settings(void)
{
	CHECK(setting(bare_later) == ACCESS_GAINED);
	CHECK(setting(ssh_agent) == ACCESS_GAINED);
	CHECK(setting(home_of_none) == ACCESS_LOST);
	CHECK(setting(more_pids) == ACCESS_GAINED);
	CHECK(setting(less_memory) == ACCESS_LOST);
	CHECK(setting(read_only) == ACCESS_LOST);
	CHECK(setting(unconfined) == ACCESS_GAINED);
	CHECK(setting(other_profile) == ACCESS_OTHER);
	CHECK(setting(no_trace) == ACCESS_GAINED);
	CHECK(setting(other_image) == ACCESS_OTHER);
	CHECK(setting(inspect) == ACCESS_LOST);
	CHECK(setting(insecure) == ACCESS_GAINED);
}

/* --- parts ---------------------------------------------------------------- */

static void check_meet(void)
{
	static const char *const met[][3] = {
		{"*.b", "a.*", "a.b"},	      {"**.b", "*.a.b", "*.a.b"},
		{"**.a", "**.b.a", "**.b.a"}, {"**", "x.y", "x.y"},
		{"*.a", "a", NULL},	      {"a.b", "a.c", NULL},
		{"**.a", "a", NULL},	      {"*.*.a", "**.b.a", "*.b.a"},
		{"**.a", "**.a", "**.a"},
	};
	struct arena *a = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(met); i++)
		for (int turn = 0; turn < 2; turn++) {
			struct str out = {0};
			bool any = intersect_names(a, str_of(met[i][turn]),
						   str_of(met[i][!turn]), &out);

			CHECK_MSG(any == (met[i][2] != NULL) &&
					  (!any || str_is(out, met[i][2])),
				  "%s and %s: %.*s", met[i][0], met[i][1],
				  STR_ARG(out));
		}
	arena_free(a);
}

/* DNS has no room for one label more: no name is below this one. */
static void check_long_names(void)
{
	char text[300] = "allow *.", label[70];
	struct test_policy old, now;
	struct comparison c;

	memset(label, 'a', 63);
	for (int i = 0; i < 4; i++) {
		label[i == 3 ? 61 : 63] = '\0';
		strcat(strcat(text, i ? "." : ""), label);
	}
	CHECK(test_policy_make(&old, ""));
	CHECK(test_policy_make(&now, text));
	compare_policies(now.a, &old.policy, &now.policy, &c);
	CHECK_MSG(compare_equal(&c), "%s", said(now.a, &c).p);
	test_policy_done(&now);
	text[strlen(text) - 2] = '\0';
	CHECK(test_policy_make(&now, text));
	compare_policies(now.a, &old.policy, &now.policy, &c);
	CHECK(c.changes.n == 1 && c.changes.v[0].witness.name.n == 253);
	test_policy_done(&old);
	test_policy_done(&now);
}

/* More patterns than an automaton holds, and one line more or less. */
static void check_many_patterns(void)
{
	static const struct {
		const char *line, *changes, *back;
	} added[] = {
		{"ignore *.pem\n", "- read *.pem | read file.pem\n",
		 "+ read *.pem | read file.pem\n"},
		{"ignore !a1b\n", "+ read a1b | read a1b\n",
		 "- read a1b | read a1b\n"},
		{"ignore /xa1by\n", "", ""},
	};
	struct test_policy few, more;
	struct comparison c;
	struct buf b;

	for (size_t i = 0; i < ARRAY_LEN(added); i++) {
		struct arena *a = arena_new();

		buf_init(&b, a);
		for (int k = 0; k < 60; k++)
			buf_addf(&b, "ignore *a%db*\n", k);
		CHECK(test_policy_make(&few, b.p));
		buf_adds(&b, added[i].line);
		CHECK(test_policy_make(&more, b.p));
		compare_policies(a, &few.policy, &more.policy, &c);
		CHECK_MSG(str_is(said(a, &c), added[i].changes), "%s",
			  said(a, &c).p);
		compare_policies(a, &more.policy, &few.policy, &c);
		CHECK_MSG(str_is(said(a, &c), added[i].back), "%s",
			  said(a, &c).p);
		test_policy_done(&few);
		test_policy_done(&more);
		arena_free(a);
	}
}

/*
 * Names and networks, each with a port of its own: so many pairs that nobody
 * looks at all of them, and what was not looked at may have been widened.
 */
static void check_many_pairs(void)
{
	struct test_policy t;
	struct comparison c;
	struct buf b;
	struct arena *a = arena_new();

	buf_init(&b, a);
	for (unsigned i = 0; i < 520; i++)
		buf_addf(&b,
			 "allow n%u.test tcp/%u\n"
			 "allow 203.%u.%u.0/24 tcp/%u\n",
			 i, 1 + i, 1 + i / 256, i % 256, 1001 + i);
	CHECK(test_policy_make(&t, b.p));
	compare_policies(a, &t.policy, &t.policy, &c);
	CHECK_MSG(
		str_is(said(a, &c),
		       "~ more combinations of names and networks than can be compared\n"),
		"%s", said(a, &c).p);
	CHECK(compare_widens(&c) && !c.same_text);
	test_policy_done(&t);
	arena_free(a);
}

/* Nothing before a line is a part of it. */
static void check_example(void)
{
	struct arena *a = arena_new();
	struct str text = STR("**.pem");

	CHECK(str_is(example_path(a, text, false), "file.pem"));
	text = str_slice(text, 1, text.n);
	CHECK(str_is(example_path(a, text, false), "file.pem"));
	CHECK(str_is(example_path(a, text, true), "file.pem/file"));
	arena_free(a);
}

int main(void)
{
	check_changes();
	check_options();
	check_refuted();
	check_kept();
	check_counts();
	check_unchanged();
	check_settings();
	check_meet();
	check_long_names();
	check_many_patterns();
	check_same_text();
	check_many_pairs();
	check_example();
	return check_status();
}
