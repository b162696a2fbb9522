/* What is sent to renew tokens, and what becomes of the reply. */
#include "compiler/base/sha256.h"
#include "runtime/launch/tokens/ends.h"
#include "runtime/launch/tokens/renew.h"
#include "runtime/launch/tokens/sentinel.h"
#include "tests/check.h"

#include <curl/curl.h>
#include <stdlib.h>
#include <string.h>

#define OLD  "oldoldoldoldold"
#define NEW  "newnewnewnewnew"
#define NEXT "nextnextnextnex"
#define FILE_TEXT                                                              \
	"{\"t\":{\"access\":\"" OLD "\",\"refresh\":\"s/e+c=\","               \
	"\"expires\":1700000000000,\"expires_at\":1700000000},\"n\":[1],"      \
	"\"last_refresh\":\"2020-01-01T00:00:00Z\"}"

#define NOW 1800000000

static struct arena *a;
static char *names[] = {(char[]){"t.access"}, (char[]){"t.refresh"}};
static char *fewer[] = {(char[]){"t.access"}};
static struct vectors_credential credentials[] = {
	{.n = 4,
	 .file = "~/f",
	 .fields = {.v = names, .n = 2},
	 .refresh = "https://a.test/t"},
	{.n = 5, .file = "~/f", .fields = {.v = fewer, .n = 1}},
	{.n = 6, .file = "~/g", .fields = {.v = fewer, .n = 1}},
};
static struct vectors v = {.credentials = {.v = credentials, .n = 3}};

static struct renew_ask ask_with(const char *body, bool is_form)
{
	return (struct renew_ask){.v = &v,
				  .n = 4,
				  .home = "/nonexistent",
				  .lock = "/nonexistent/lock",
				  .addr = "192.0.2.1",
				  .is_form = is_form,
				  .agent = "",
				  .body = body,
				  .had = ""};
}

/* With the sentinel in the place of a '@'. */
static const char *filled(const char *text, bool is_form)
{
	const char *digits = sentinel_digits(a, "~/f", "t.refresh");
	size_t at = str_find(str_of(text), '@', 0);
	struct renew_ask ask =
		ask_with(text[at] ? arena_fmt(a, "%.*sx-membrane%s0%s", (int)at,
					      text, digits, text + at + 1)
					    .p
				  : text,
			 is_form);
	struct str out;

	return renew_body(a, &ask, "s/e+c=", &out) ? out.p : NULL;
}

static void is_filled(const char *text, bool is_form, const char *want)
{
	const char *got = filled(text, is_form);

	CHECK_MSG(want ? got && strstr(got, want) : !got, "%s: %s", text,
		  got ? got : "(refused)");
	if (got)
		CHECK_MSG(!strstr(got, "membrane"), "%s", got);
}

static void bodies(void)
{
	is_filled("{\"grant_type\":\"refresh_token\",\"refresh_token\":\"@\"}",
		  false, "\"refresh_token\":\"s/e+c=\"");
	is_filled("grant_type=refresh_token&refresh_token=@&client_id=a%20b",
		  true, "&refresh_token=s%2Fe%2Bc%3D&client_id=a%20b");
	is_filled("{\"grant_type\":\"password\",\"refresh_token\":\"@\"}",
		  false, NULL);
	is_filled("{\"refresh_token\":\"@\"}", false, NULL);
	is_filled("{\"grant_type\":\"refresh_token\",\"other\":\"@\"}", false,
		  NULL);
	is_filled("{\"grant_type\":\"refresh_token\",\"refresh_token\":\"x\"}",
		  false, NULL);
	is_filled("[\"@\"]", false, NULL);
	is_filled("refresh_token=@", true, NULL);
	is_filled("grant_type=refresh_token&x=@", true, NULL);
	is_filled("grant_type=refresh_token&refresh_token=x", true, NULL);
	is_filled("", true, NULL);
}

static const char *printed(const cJSON *o)
{
	char *text = o ? cJSON_PrintUnformatted(o) : NULL;
	const char *copy = arena_str(a, str_of(text ? text : "")).p;

	free(text);
	return copy;
}

/* The agent's answer to a reply; the file and the gate's values behind it. */
static const char *answered(long status, const char *reply, bool taken)
{
	struct renew_ask ask = ask_with("", false);
	struct renew_reply r = {status, str_of(reply)};
	cJSON *file = fields_parse(STR(FILE_TEXT));
	struct renew_done done;
	const char *text;

	CHECK_MSG(renew_answer(a, &ask, &r, file, 2000000000, STR("7"),
			       &done) == taken,
		  "%s", reply);
	CHECK_MSG((done.values != NULL) == taken, "%s", reply);
	text = arena_fmt(a, "%u %s %s %s", done.status, printed(done.body),
			 printed(file), printed(done.values))
		       .p;
	fields_delete(done.body);
	fields_delete(done.values);
	fields_delete(file);
	return text;
}

static void taken(void)
{
	const char *digits = sentinel_digits(a, "~/f", "t.access");
	const char *got = answered(
		200,
		"{\"access_token\":\"" NEW "\",\"refresh_token\":\"" NEXT
		"\",\"expires_in\":60,\"id_token\":\"" NEW "x\",\"deep\":[{"
		"\"was\":\"Bearer " OLD "\",\"is\":\"" NEXT "\"}],\"n\":null}",
		true);
	const char *file = strstr(got, "{\"t\":");

	CHECK(strstr(got, digits) && strstr(got, "\"expires_in\":60") &&
	      strstr(got, "\"n\":null") && strncmp(got, "200 ", 4) == 0);
	/* The secrets stand behind the agent's part alone. */
	CHECK(file && strstr(got, NEW) > file && strstr(got, NEXT) > file &&
	      !strstr(got, OLD));
	CHECK(strstr(file, "\"access\":\"" NEW "\",\"refresh\":\"" NEXT
			   "\",\"expires\":2000000060000,"
			   "\"expires_at\":2000000060},\"n\":[1],"
			   "\"last_refresh\":\"2033-05-18T03:33:20Z\""));
	CHECK(strstr(file,
		     arena_fmt(a,
			       " {\"4:%s\":\"" NEW "\",\"5:%s\":\"" NEW "\"}",
			       digits, digits)
			     .p));
	got = answered(201, "{\"access_token\":\"" NEW "\"}", true);
	CHECK(strstr(got, "\"refresh\":\"s/e+c=\"") &&
	      strstr(got, "\"expires\":1700000000000"));
	got = answered(200,
		       "{\"access_token\":\"" NEW "\",\"expires_in\":1e300}",
		       true);
	CHECK_MSG(strstr(got, "\"expires\":1700000000000"), "no time: %s", got);
}

static void not_taken(void)
{
	static const struct {
		long status;
		const char *reply, *want;
	} cases[] = {
		{200, "", "502 "},
		{200, "<html>" OLD "</html>", "502 "},
		{200, "[]", "502 "},
		{200, "{}", "502 "},
		{200, "{\"access_token\":\"\"}", "502 "},
		{200, "{\"access_token\":null}", "502 "},
		{200, "{\"access_token\":\"a\\nb\"}", "502 "},
		{200, "{\"access_token\":\"a\\u00e4\"}", "502 "},
		{200, "{\"access_token\":\"" NEW "\",\"refresh_token\":1}",
		 "502 "},
		{400, "{\"error\":\"invalid_grant\",\"why\":\"" OLD "\"}",
		 "400 {\"error\":\"invalid_grant\""},
		{400, "{\"access_token\":\"" NEW "\"}",
		 "400 {\"access_token\""},
		{503, "busy with " OLD, "503 {\"error\":\"server_error\""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *got =
			answered(cases[i].status, cases[i].reply, false);
		const char *file = strstr(got, FILE_TEXT);

		CHECK_MSG(strncmp(got, cases[i].want, strlen(cases[i].want)) ==
				  0,
			  "%s: %s", cases[i].reply, got);
		CHECK_MSG(file && !strstr(got, NEW) && strstr(got, OLD) > file,
			  "%s: %s", cases[i].reply, got);
	}
}

static const char *repeated(char c, size_t n)
{
	char *text = arena_alloc(a, n + 1);

	memset(text, c, n);
	return text;
}

/* The old ones may be none any more: the file has what came, however odd. */
static void kept_for_the_host(void)
{
	const char *longest = repeated('x', 4096),
		   *longer = repeated('x', 4097);
	const struct {
		const char *access, *refresh;
		bool usable;
	} cases[] = {
		{longest, NEXT, true},	     {longer, NEXT, false},
		{NEW, longer, true},	     {"a b", NEXT, false},
		{NEW, "of two words", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct renew_ask ask = ask_with("", false);
		struct renew_reply r = {
			200,
			arena_fmt(
				a,
				"{\"access_token\":\"%s\",\"refresh_token\":\"%s\"}",
				cases[i].access, cases[i].refresh)};
		cJSON *file = fields_parse(STR(FILE_TEXT));
		struct renew_done done;

		CHECK(renew_answer(a, &ask, &r, file, NOW, STR("7"), &done));
		CHECK(strcmp(fields_find(file, "t.access")->valuestring,
			     cases[i].access) == 0 &&
		      strcmp(fields_find(file, "t.refresh")->valuestring,
			     cases[i].refresh) == 0);
		CHECK_MSG((done.values != NULL) == cases[i].usable &&
				  (done.unusable == NULL) == cases[i].usable &&
				  done.status == (cases[i].usable ? 200 : 502),
			  "%zu", i);
		CHECK(!strstr(printed(done.body), cases[i].access) &&
		      !strstr(printed(done.body), cases[i].refresh));
		fields_delete(done.body);
		fields_delete(done.values);
		fields_delete(file);
	}
}

/* --- tokens that somebody else renewed ------------------------------------ */

static bool found(const char *json, const char *had, struct renew_done *out)
{
	struct renew_ask ask = ask_with("", false);
	cJSON *file = fields_parse(str_of(json));
	bool is = renew_found(a, &ask, had, file, NOW, STR("7"), out);

	fields_delete(file);
	return is;
}

static void found_in_the_file(void)
{
	static const struct {
		const char *more;
		bool fresh;
	} cases[] = {
		{"", true},
		{",\"expires\":1800001000", true},
		{",\"expires_at\":1800001000000", true},
		{",\"expiresAt\":1800000299", false},
		{",\"expiresAt\":1700000000000", false},
		{",\"expires\":-1e300", false},
		{",\"expires\":\"1\"", true},
	};
	char digest[SHA256_HEX_MAX];
	struct renew_done done;

	sha256_hex(STR(OLD), digest);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *json = arena_fmt(a,
					     "{\"t\":{\"access\":\"" NEW
					     "\",\"refresh\":\"" NEXT
					     "\",\"scopes\":[\"a\",\"b\"]%s}}",
					     cases[i].more)
					   .p,
			   *text;
		bool is = found(json, digest, &done);

		CHECK_MSG(is == cases[i].fresh, "%s", cases[i].more);
		if (!is)
			continue;
		text = printed(done.body);
		CHECK_MSG(done.status == 200 && !strstr(text, NEW) &&
				  !strstr(text, NEXT) &&
				  strstr(text, "\"scope\":\"a b\"") &&
				  strstr(text, "\"refresh_token\":\"membrane"),
			  "%s", text);
		CHECK((strstr(text, "\"expires_in\":1000") != NULL) ==
		      (strstr(cases[i].more, "1000") != NULL));
		CHECK(strstr(printed(done.values), ":\"" NEW "\"") &&
		      !strstr(printed(done.values), NEXT));
		fields_delete(done.body);
		fields_delete(done.values);
	}
	CHECK(!found(FILE_TEXT, digest, &done)); /* the one that it has */
	CHECK(!found("{\"t\":{\"access\":\"" NEW "\"}}", "", &done));
	CHECK(!found("{\"t\":{\"access\":\"a\\tb\"}}", digest, &done));
	/* What it has is the host's alone; nobody has to be asked for that. */
	CHECK(found("{\"t\":{\"access\":\"a b\"}}", digest, &done) &&
	      done.unusable && done.status == 502 && !done.values);
	fields_delete(done.body);
	CHECK(!found("{\"t\":{\"access\":1}}", digest, &done));
	CHECK(!found("{}", digest, &done));
}

static bool left_of(const char *token, int64_t *left)
{
	cJSON *file = fields_parse(
		arena_fmt(a, "{\"t\":{\"access\":\"%s\"}}", token));
	bool is = ends_left(a, file, "t.access", NOW, left);

	fields_delete(file);
	return is;
}

static void claims(void)
{
	char long_token[6000] = "e30.";
	int64_t left;

	memset(long_token + 4, 'A', sizeof(long_token) - 7);
	memcpy(long_token + sizeof(long_token) - 3, ".x", 3);
	/* {"exp":1800000060,"a":"?~"} */
	CHECK(left_of("e30.eyJleHAiOjE4MDAwMDAwNjAsImEiOiI_fiJ9.x", &left) &&
	      left == 60);
	CHECK(left_of("e30.eyJleHAiOi0xZTMwMH0.x", &left) && left < 0);
	CHECK(!left_of("e30.eyJleHAiOiIxIn0.x", &left)); /* a text */
	CHECK(!left_of("e30.e30.x", &left) && !left_of("e30..x", &left));
	CHECK(!left_of("e30.!!!!.x", &left) && !left_of("e30.W10.x", &left));
	CHECK(!left_of("e30", &left) && !left_of("", &left));
	CHECK(!left_of(long_token, &left));
}

static void texts_with_a_nul(void)
{
	cJSON *fine = fields_parse(STR("{\"a\":\"\\\\u0000\"}"));

	CHECK(fine && !fields_parse(STR("{\"a\":\"b\\u0000c\"}")));
	CHECK(!fields_parse(STR("{\"a\":\"\\\\\\u0000\"}")));
	fields_delete(fine);
}

static void without_a_file(void)
{
	struct renew_ask ask = ask_with("{}", false);
	struct str line = renew_run(a, &ask);

	CHECK(str_starts(line, STR("{\"status\":502,")) &&
	      str_find(line, '\n', 0) == line.n);
	ask.n = 5; /* nothing says where it is renewed */
	line = renew_run(a, &ask);
	CHECK(str_starts(line, STR("{\"status\":400,")));
}

int main(void)
{
	a = arena_new();
	bodies(); /* before anything has opened libcurl */
	CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	taken();
	not_taken();
	kept_for_the_host();
	found_in_the_file();
	claims();
	texts_with_a_nul();
	without_a_file();
	arena_free(a);
	return check_status();
}
