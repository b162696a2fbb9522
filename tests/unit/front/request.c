/*
 * decide_request() and the writer of HAProxy's language, where a generated
 * policy seldom goes.
 */
#include "compiler/algebra/decide/decide.h"
#include "compiler/emit/gate/cfg_write.h"

#include "tests/check.h"
#include "tests/policy.h"

static enum reason ask(const char *policy, bool tls, const char *sni,
		       const char *host, const char *method, const char *path)
{
	struct test_policy t;
	struct decide_request r = {.tls = tls,
				   .port = tls ? 443 : 80,
				   .sni = str_of(sni),
				   .host = str_of(host),
				   .method = str_of(method),
				   .path = str_of(path)};
	enum reason reason;

	CHECK(test_policy_make(&t, policy));
	reason = decide_request(t.a, &t.policy, &r).reason;
	test_policy_done(&t);
	return reason;
}

static void check_requests(void)
{
	const char *api = "allow a.test http=GET+/api\n"
			  "allow b.test\n"
			  "deny c.b.test\n"
			  "allow **.b.test\n"
			  "deny https://b.test/x@y/\n";

	CHECK(ask(api, true, "a.test", "a.test", "GET", "/api?x") ==
	      REASON_GRANTED);
	CHECK(ask(api, false, "", "a.test", "GET", "/api/") == REASON_GRANTED);
	CHECK(ask(api, true, "a.test", "a.test", "PUT", "/api") ==
	      REASON_METHOD);
	CHECK(ask(api, true, "a.test", "a.test", "GET", "/apix") ==
	      REASON_PATH);
	CHECK(ask(api, true, "a.test", "a.test", "GET", "/api/../x") ==
	      REASON_PATH_NOT_CANONICAL);
	CHECK(ask(api, true, "a.test", "b.test", "GET", "/api") ==
	      REASON_NAME_MISMATCH);
	CHECK(ask(api, true, "", "a.test", "GET", "/api") == REASON_NO_SNI);
	CHECK(ask(api, true, "z.test", "z.test", "GET", "/") ==
	      REASON_NO_GRANT);
	CHECK(ask(api, true, "c.b.test", "c.b.test", "GET", "/") ==
	      REASON_DENIED);
	/* Decrypted for the denial's sake, and not evaded by an escape. */
	CHECK(ask(api, true, "b.test", "b.test", "GET", "/x@y/z") ==
	      REASON_DENIED);
	CHECK(ask(api, true, "b.test", "b.test", "GET", "/x%40y") ==
	      REASON_DENIED);
	CHECK(ask(api, true, "b.test", "b.test", "GET", "/x@yz") ==
	      REASON_GRANTED);
	/* Passed as it is: what is inside nobody sees. */
	CHECK(ask(api, true, "d.b.test", "other.test", "GET", "/") ==
	      REASON_GRANTED);
	CHECK(ask(api, true, "a.test", "a.test", "CONNECT", "/api") ==
	      REASON_METHOD);
}

static bool word_is(const char *in, const char *want)
{
	struct test_policy t;
	struct buf out;
	struct cfg c;
	bool same;

	test_policy_bind(&t, "");
	buf_init(&out, t.a);
	c = (struct cfg){t.a, &t.diags, &out, true, NULL};
	cfg_word(&c, str_of(in), (struct span){1, 1});
	same = want ? c.ok && str_is(buf_str(&out), want)
		    : !c.ok && t.diags.errors == 1 && out.n == 0;
	test_policy_done(&t);
	return same;
}

static void check_words(void)
{
	CHECK(word_is("/api", " '/api'"));
	CHECK(word_is("it's", " 'it'\\''s'"));
	CHECK(word_is("$HOME\\x\"#{}", " '$HOME\\x\"#{}'"));
	CHECK(word_is("a\nb", NULL));
	CHECK(word_is("a b", NULL));
	CHECK(word_is("a\tb", NULL));
	CHECK(word_is("\x7f", NULL));
	CHECK(word_is("\xc3\xa9", NULL));
	CHECK(word_is("", NULL));
	CHECK(cfg_name_ok(STR("**.a-b_c.test")));
	CHECK(!cfg_name_ok(STR("a b")));
	CHECK(!cfg_name_ok(STR("a'b")));
	CHECK(!cfg_name_ok(STR("A")));
	CHECK(!cfg_name_ok(STR("a\n")));
	CHECK(!cfg_name_ok(STR("")));
}

int main(void)
{
	check_requests();
	check_words();
	return check_status();
}
