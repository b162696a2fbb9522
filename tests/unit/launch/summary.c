#include "runtime/launch/session/summary.h"

#include "compiler/base/json.h"
#include "tests/check.h"

#include <errno.h>
#include <string.h>

/* The grammar is tested elsewhere. */
static bool can_grant(struct arena *a, struct str name)
{
	(void)a;
	return str_find(name, '\\', 0) == name.n &&
	       str_find(name, '\033', 0) == name.n && !str_is(name, ".") &&
	       !str_is(name, "-x.test");
}

static int add(struct summary *s, const char *json)
{
	cJSON *o = cJSON_Parse(json);
	struct err err;
	enum summary_news news;
	int rc = summary_add(s, o, &news, &err);

	cJSON_Delete(o);
	return rc;
}

#define CONNECT(rest) "{\"kind\":\"connect\",\"verdict\":\"deny\"," rest "}"
#define REQUEST(rest)                                                          \
	"{\"kind\":\"request\",\"verdict\":\"deny\",\"name\":\"a.test\","      \
	"\"proto\":\"tcp\",\"addr\":\"192.0.2.4\",\"port\":443," rest "}"
#define RESOLVE(rest) "{\"kind\":\"resolve\",\"verdict\":\"deny\"," rest "}"

static const char *const records[] = {
	RESOLVE("\"reason\":\"no-grant\",\"name\":\"api.example.com\","
		"\"type\":\"A\""),
	RESOLVE("\"reason\":\"no-grant\",\"name\":\"api.example.com\","
		"\"type\":\"AAAA\""),
	CONNECT("\"reason\":\"no-grant\",\"name\":\"api.example.com\","
		"\"proto\":\"tcp\",\"addr\":\"192.0.2.1\",\"port\":443"),
	CONNECT("\"reason\":\"no-grant\",\"name\":\"api.example.com\","
		"\"proto\":\"tcp\",\"addr\":\"192.0.2.2\",\"port\":443"),
	CONNECT("\"reason\":\"port\",\"name\":\"github.com\","
		"\"proto\":\"tcp\",\"addr\":\"192.0.2.3\",\"port\":22"),
	CONNECT("\"reason\":\"udp\",\"proto\":\"udp\",\"addr\":\"8.8.8.8\","
		"\"port\":53"),
	CONNECT("\"reason\":\"no-grant\",\"proto\":\"tcp\","
		"\"addr\":\"2001:db8::1\",\"port\":443"),
	CONNECT("\"reason\":\"no-grant\",\"proto\":\"udp\","
		"\"addr\":\"2001:db8::1\",\"port\":53"),
	CONNECT("\"reason\":\"protocol\",\"proto\":\"icmp\","
		"\"addr\":\"192.0.2.9\""),
	RESOLVE("\"reason\":\"private-address\",\"name\":\"nas.lan\","
		"\"type\":\"A\""),
	CONNECT("\"reason\":\"denied\",\"proto\":\"tcp\","
		"\"addr\":\"192.0.2.7\",\"port\":80,\"id\":\"d-0123456789\","
		"\"source\":\".membrane.yaml\",\"line\":3"),
	RESOLVE("\"reason\":\"no-grant\",\"name\":\"a\\u001b[31mb: x\","
		"\"type\":\"TXT\""),
	"{\"kind\":\"connect\",\"verdict\":\"allow\",\"reason\":\"granted\"}",
	REQUEST("\"reason\":\"path\",\"method\":\"POST\",\"path\":\"/v1/x\""),
	REQUEST("\"reason\":\"path\",\"method\":\"POST\",\"path\":\"/v1/x\""),
	REQUEST("\"reason\":\"method\",\"method\":\"PUT\",\"path\":\"/a,b\","
		"\"source\":\".membrane.yaml\",\"line\":4"),
	RESOLVE("\"reason\":\"no-grant\",\"name\":\".\",\"type\":\"NS\""),
	RESOLVE("\"reason\":\"no-grant\",\"name\":\"a\\\\.b.test\","
		"\"type\":\"A\""),
	RESOLVE("\"reason\":\"no-grant\",\"name\":\"membrane\","
		"\"type\":\"A\""),
	RESOLVE("\"reason\":\"no-grant\",\"name\":\"wpad\",\"type\":\"A\""),
	CONNECT("\"reason\":\"no-grant\",\"name\":\"-x.test\","
		"\"proto\":\"tcp\",\"addr\":\"192.0.2.3\",\"port\":443"),
	CONNECT("\"reason\":\"port\",\"name\":\"nas\","
		"\"proto\":\"tcp\",\"addr\":\"192.0.2.3\",\"port\":22"),
	RESOLVE("\"reason\":\"upstream\",\"name\":\"mute.test\","
		"\"type\":\"A\",\"source\":\".membrane.yaml\",\"line\":1"),
};

static const char golden[] =
	"membrane: 18 destinations were refused\n"
	"  api.example.com:443   3×  no-grant         "
	"add to 'allow' in .membrane.yaml:  - api.example.com:443\n"
	"  github.com:22         1×  port             "
	"add to 'allow' in .membrane.yaml:  - github.com:22\n"
	"  8.8.8.8:53/udp        1×  udp              "
	"add to 'allow' in .membrane.yaml:  - {dest: 8.8.8.8, ports: [53/udp]}\n"
	"  [2001:db8::1]:443     1×  no-grant         "
	"add to 'allow' in .membrane.yaml:  - \"[2001:db8::1]:443\"\n"
	"  [2001:db8::1]:53/udp  1×  no-grant         "
	"add to 'allow' in .membrane.yaml:  "
	"- {dest: \"2001:db8::1\", ports: [53/udp]}\n"
	"  192.0.2.9             1×  protocol         "
	"neither plain TCP nor plain UDP\n"
	"  nas.lan               1×  private-address  "
	"add to 'allow' in .membrane.yaml:  - {dest: nas.lan, private: true}\n"
	"  192.0.2.7:80          1×  denied           "
	"a deny rule forbids it (.membrane.yaml:3)\n"
	"  a\\x1b[31mb: x         1×  no-grant         "
	"no policy can grant such a name\n"
	"  POST a.test:443/v1/x  2×  path             "
	"add to 'allow' in .membrane.yaml:  - {dest: a.test, ports: [443], "
	"http: [{methods: [POST], paths: [/v1/x]}]}\n"
	"  PUT a.test:443/a,b    1×  method           "
	"no rule allows the method (.membrane.yaml:4)\n"
	"  .                     1×  no-grant         "
	"no policy can grant such a name\n"
	"  a\\.b.test             1×  no-grant         "
	"no policy can grant such a name\n"
	"  membrane              1×  no-grant         "
	"the sandbox's own host name\n"
	"  wpad                  1×  no-grant         "
	"one label is no public name: grant it by hand where your own "
	"resolver knows it\n"
	"  -x.test:443           1×  no-grant         "
	"no policy can grant such a name\n"
	"  nas:22                1×  port             "
	"add to 'allow' in .membrane.yaml:  - nas:22\n"
	"  mute.test             1×  upstream         "
	"the resolver did not answer: 'dns_resolver' names another\n";

static void check_golden(struct arena *a)
{
	struct summary *s = summary_new(a, can_grant);
	struct buf out;

	buf_init(&out, a);
	summary_print(s, "log", false, &out);
	CHECK(out.n == 0 && summary_advised(s).n == 0);
	for (size_t i = 0; i < ARRAY_LEN(records); i++)
		CHECK_MSG(add(s, records[i]) == 0, "%s", records[i]);
	summary_print(s, "log", false, &out);
	CHECK_MSG(strcmp(out.p, golden) == 0, "\n%s", out.p);
	CHECK(str_is(summary_advised(s), "api.example.com:443"));
	buf_init(&out, a);
	summary_print(s, "log", true, &out);
	CHECK(strstr(out.p, "\033[1mapi.example.com:443"));
	CHECK(strstr(out.p, "a\\x1b[31mb"));
}

static void check_many(struct arena *a)
{
	struct summary *s = summary_new(a, can_grant);
	struct buf out;
	unsigned lines = 0;

	for (unsigned i = 0; i < 2000; i++) {
		char json[160];

		snprintf(json, sizeof(json),
			 CONNECT("\"reason\":\"no-grant\",\"proto\":\"tcp\","
				 "\"addr\":\"192.0.%u.%u\",\"port\":1"),
			 i / 256, i % 256);
		CHECK(add(s, json) == 0);
	}
	buf_init(&out, a);
	summary_print(s, "/x/decisions.jsonl", false, &out);
	for (size_t i = 0; i < out.n; i++)
		lines += out.p[i] == '\n';
	CHECK(lines == 1 + SUMMARY_LINES_MAX + 1);
	CHECK(strstr(out.p, "membrane: 2000 destinations were refused\n"));
	CHECK(strstr(out.p, "  and 1980 more: /x/decisions.jsonl\n"));
}

static struct str purpose_of(const void *of, struct str name)
{
	return str_starts(name, STR("updates")) ? str_of(of) : STR("");
}

/* What is refused on purpose: one line, no advice, the reason on record. */
static void check_purposes(struct arena *a)
{
	struct summary *s = summary_new(a, can_grant);
	struct buf out;
	cJSON *json;

	summary_purposes(s, purpose_of, "a new image\033");
	for (unsigned i = 0; i < 6; i++) {
		char line[200];

		snprintf(line, sizeof(line),
			 RESOLVE("\"type\":\"A\",\"reason\":\"no-grant\","
				 "\"name\":\"updates%u.test\""),
			 i);
		CHECK(add(s, line) == 0);
	}
	CHECK(summary_advised(s).n == 0);
	CHECK(add(s, RESOLVE("\"type\":\"A\",\"reason\":\"no-grant\","
			     "\"name\":\"other.test\"")) == 0);
	CHECK(add(s, CONNECT("\"reason\":\"port\",\"proto\":\"tcp\",\"port\":80,"
			     "\"name\":\"updates.test\"")) == 0);
	buf_init(&out, a);
	summary_print(s, "log", false, &out);
	CHECK_MSG(strcmp(out.p,
			 "membrane: 8 destinations were refused\n"
			 "  other.test       1×  no-grant  add to 'allow' in "
			 ".membrane.yaml:  - other.test:443\n"
			 "  updates.test:80  1×  port      add to 'allow' in "
			 ".membrane.yaml:  - updates.test:80\n"
			 "  on purpose: updates0.test (a new image\\x1b), "
			 "updates1.test (a new image\\x1b), "
			 "updates2.test (a new image\\x1b), "
			 "updates3.test (a new image\\x1b) and 2 more\n") == 0,
		  "\n%s", out.p);
	CHECK(str_is(summary_advised(s), "other.test:443"));
	json = summary_json(s);
	CHECK(strcmp(json_find_str(cJSON_GetArrayItem(json, 0), "purpose").p,
		     "a new image\033") == 0);
	CHECK(!cJSON_HasObjectItem(cJSON_GetArrayItem(json, 7), "purpose"));
	cJSON_Delete(json);
}

static void check_refused(struct arena *a)
{
	static const char *const bad[] = {
		"{}",
		"{\"kind\":\"connect\"}",
		"{\"kind\":\"dance\",\"verdict\":\"deny\"}",
		"{\"kind\":\"connect\",\"verdict\":\"maybe\"}",
		"{\"kind\":\"connect\",\"verdict\":\"deny\"}",
		CONNECT("\"reason\":\"because\""),
		CONNECT("\"reason\":1"),
	};
	struct summary *s = summary_new(a, can_grant);
	struct buf out;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(add(s, bad[i]) == -EPROTO, "%s", bad[i]);
	/* odd values are no reason to fall over */
	CHECK(add(s, CONNECT("\"reason\":\"no-grant\",\"port\":-7,"
			     "\"addr\":[],\"proto\":{}")) == 0);
	buf_init(&out, a);
	summary_print(s, "log", false, &out);
	CHECK(strstr(out.p, "(unknown)"));
}

int main(void)
{
	struct arena *a = arena_new();

	check_golden(a);
	check_many(a);
	check_purposes(a);
	check_refused(a);
	arena_free(a);
	return check_status();
}
