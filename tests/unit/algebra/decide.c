#include "compiler/algebra/decide/decide.h"

#include "tests/check.h"
#include "tests/policy.h"

static void check_names(void)
{
	static const struct {
		const char *pattern, *name;
		bool match;
	} cases[] = {
		{"*.x.test", "a.x.test", true},
		{"*.x.test", "x.test", false},
		{"*.x.test", "b.a.x.test", false},
		{"**.x.test", "a.x.test", true},
		{"**.x.test", "b.a.x.test", true},
		{"**.x.test", "x.test", false},
		{"**.x.test", "ax.test", false},
		{"a.*.test", "a.b.test", true},
		{"a.*.test", "a.test", false},
		{"*.*.test", "a.b.test", true},
		{"*.*.test", "b.test", false},
		{"*.test", "a.best", false},
		{"**", "test", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		CHECK_MSG(decide_name_matches(str_of(cases[i].pattern),
					      str_of(cases[i].name)) ==
				  cases[i].match,
			  "%s %s", cases[i].pattern, cases[i].name);
}

static const char flows[] = "allow github.com:443\n"
			    "allow *.cdn.test\n"
			    "allow intra.test private\n"
			    "allow 203.0.113.0/24 tcp/1-65535,udp/53\n"
			    "allow 169.254.169.254 tcp/80\n"
			    "allow api.test:443 http\n"
			    "allow https://url.test/\n"
			    "deny 203.0.113.9\n"
			    "deny bad.cdn.test\n"
			    "deny * tcp/25\n";

static const struct {
	const char *name, *addr;
	enum ir_proto proto;
	uint16_t port;
	enum reason reason;
	const char *by; /* canonical text of the grant, or NULL */
} cases[] = {
	{"github.com", NULL, IR_PROTO_TCP, 443, REASON_GRANTED,
	 "github.com tcp/443"},
	{"github.com", NULL, IR_PROTO_TCP, 22, REASON_PORT,
	 "github.com tcp/443"},
	{"github.com", NULL, IR_PROTO_UDP, 443, REASON_UDP,
	 "github.com tcp/443"},
	{"api.github.com", NULL, IR_PROTO_TCP, 443, REASON_NO_GRANT, NULL},
	{"github.com", "1.2.3.4", IR_PROTO_TCP, 443, REASON_GRANTED, NULL},
	{"github.com", "10.0.0.1", IR_PROTO_TCP, 443, REASON_PRIVATE_ADDRESS,
	 NULL},
	{"intra.test", "10.0.0.1", IR_PROTO_TCP, 443, REASON_GRANTED, NULL},
	{"intra.test", "127.0.0.1", IR_PROTO_TCP, 443, REASON_FLOOR, NULL},
	{"intra.test", "169.254.169.254", IR_PROTO_TCP, 443,
	 REASON_PRIVATE_ADDRESS, NULL},
	{"", "169.254.169.254", IR_PROTO_TCP, 80, REASON_GRANTED, NULL},
	{"", "169.254.169.254", IR_PROTO_TCP, 81, REASON_PORT, NULL},
	{"", "169.254.169.253", IR_PROTO_TCP, 80, REASON_FLOOR, NULL},
	{"", "203.0.113.1", IR_PROTO_UDP, 53, REASON_GRANTED, NULL},
	{"", "203.0.113.1", IR_PROTO_UDP, 54, REASON_PORT, NULL},
	{"", "203.0.113.1", IR_PROTO_TCP, 25, REASON_DENIED, "* tcp/25"},
	{"", "203.0.113.9", IR_PROTO_TCP, 443, REASON_DENIED, NULL},
	{"a.cdn.test", NULL, IR_PROTO_TCP, 1, REASON_GRANTED, NULL},
	{"bad.cdn.test", NULL, IR_PROTO_TCP, 1, REASON_DENIED, NULL},
	{"api.test", NULL, IR_PROTO_TCP, 443, REASON_NOT_HTTP, NULL},
	{"url.test", NULL, IR_PROTO_TCP, 443, REASON_NOT_HTTP, NULL},
	{"", "1.2.3.4", IR_PROTO_TCP, 443, REASON_NO_GRANT, NULL},
};

static void check_flows(void)
{
	struct test_policy t;
	struct decide_flow host = {
		.port = 443, .has_addr = true, .is_host = true};

	CHECK(test_policy_make(&t, flows));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct decide_flow f = {.proto = cases[i].proto,
					.port = cases[i].port,
					.name = str_of(cases[i].name)};
		struct decision d;

		if (cases[i].addr)
			f.has_addr = addr_parse(str_of(cases[i].addr), &f.addr);
		d = decide_connect(&t.policy, &f);
		CHECK_MSG(d.reason == cases[i].reason, "%s %s %u: %s",
			  cases[i].name, cases[i].addr ? cases[i].addr : "",
			  cases[i].port, reason_name(d.reason));
		CHECK(d.allow == (d.reason == REASON_GRANTED));
		CHECK(!cases[i].by || str_is(d.grant->canon, cases[i].by));
	}
	CHECK(addr_parse(STR("203.0.113.1"), &host.addr));
	CHECK(decide_connect(&t.policy, &host).reason == REASON_HOST_ADDRESS);
	test_policy_done(&t);
}

static void check_resolve(void)
{
	struct test_policy t;

	CHECK(test_policy_make(&t, flows));
#define RESOLVE(name, type)                                                    \
	decide_resolve(&t.policy, STR(name), STR(type)).reason
	CHECK(RESOLVE("github.com", "A") == REASON_GRANTED);
	CHECK(RESOLVE("github.com", "NULL") == REASON_QUERY_TYPE);
	CHECK(RESOLVE("gist.github.com", "A") == REASON_NO_GRANT);
	CHECK(RESOLVE("x.cdn.test", "AAAA") == REASON_GRANTED);
	CHECK(RESOLVE("bad.cdn.test", "A") == REASON_DENIED);
	CHECK(RESOLVE("url.test", "A") == REASON_GRANTED);
	/* A closer grant is the one that is named. */
	test_policy_done(&t);
	CHECK(test_policy_make(&t, "allow *\nallow **.test\nallow a.test\n"));
	CHECK(str_is(
		decide_resolve(&t.policy, STR("a.test"), STR("A")).grant->canon,
		"a.test tcp/1-65535"));
	CHECK(str_is(
		decide_resolve(&t.policy, STR("b.test"), STR("A")).grant->canon,
		"**.test tcp/1-65535"));
	test_policy_done(&t);
}

static void check_files(void)
{
	struct test_policy t;
	struct decide_files *f;

	CHECK(test_policy_make(&t, "ignore .env\nignore secrets/\n"
				   "ignore !secrets/public\n"
				   "ignore *.pem\nignore !ca.pem\n"
				   "readonly /vendor/\nreadonly *.lock\n"));
	f = decide_files_new(t.a, &t.policy);
	CHECK(!decide_read(f, STR(".env")).allow);
	CHECK(!decide_read(f, STR("a/b/.env")).allow);
	CHECK(decide_read(f, STR("a/b/.envrc")).allow);
	CHECK(!decide_read(f, STR("secrets/a")).allow);
	/* What lies in a hidden directory is not taken back. */
	CHECK(!decide_read(f, STR("secrets/public")).allow);
	CHECK(decide_read(f, STR("secrets")).allow);
	CHECK(!decide_read(f, STR("secrets/")).allow);
	CHECK(decide_read(f, STR("ca.pem")).allow);
	CHECK(!decide_read(f, STR("x/key.pem")).allow);
	CHECK(decide_write(f, STR("src/main.c")).allow);
	CHECK(decide_write(f, STR(".env")).reason == REASON_IGNORED);
	CHECK(decide_write(f, STR("vendor/x/y")).reason == REASON_READONLY);
	CHECK(decide_write(f, STR("a/b.lock")).reason == REASON_READONLY);
	CHECK(decide_read(f, STR("a/b.lock")).allow);
	CHECK(decide_write(f, STR(".git/hooks/pre-commit")).reason ==
	      REASON_READONLY);
	CHECK(decide_write(f, STR("sub/.git/config")).reason ==
	      REASON_READONLY);
	CHECK(decide_write(f, STR(".git/index")).allow);
	CHECK(str_is(decide_write(f, STR(".membrane/x")).pattern->line,
		     "/.membrane/"));
	test_policy_done(&t);
}

int main(void)
{
	check_names();
	check_flows();
	check_resolve();
	check_files();
	return check_status();
}
