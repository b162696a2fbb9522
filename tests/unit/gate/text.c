/* The small pure parts: the launcher's line, the listing. */
#include "compiler/base/sys/clock.h"
#include "runtime/gate/l7/hello.h"
#include "runtime/gate/l7/tokens.h"
#include "runtime/gate/packet/ruleset.h"
#include "runtime/gate/record/outlog.h"

#include "tests/check.h"

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static struct err err;

/* What is written behind it is not one of this test's counts. */
static struct {
	struct hello_credentials it;
	struct hello_token behind;
} all;
#define creds all.it

static int hello(const char *text, struct names_hosts *h)
{
	*h = (struct names_hosts){0};
	hello_forget(&creds);
	return hello_parse(str_of(text), h, &creds, &err);
}

static void hellos(void)
{
	struct names_hosts h;

	CHECK(hello("{\"version\":1,\"session\":\"x\",\"host\":[\"10.0.0.5\","
		    "\"fd00::1\",\"10.0.0.5\"]}",
		    &h) == 0 &&
	      h.n == 2);
	CHECK(hello("{\"version\":1,\"host\":[]}", &h) == 0 && h.n == 0 &&
	      !creds.trial);
	CHECK(hello("{\"version\":1,\"host\":[],\"trial\":true}", &h) == 0 &&
	      creds.trial);
	CHECK(hello("", &h) == -EPROTO &&
	      strcmp(err.text, "not one JSON object") == 0);
	CHECK(hello("{", &h) == -EPROTO &&
	      strcmp(err.text, "not one JSON object") == 0);
	CHECK(hello("{}", &h) == -EPROTO);
	CHECK(hello("{\"version\":2,\"host\":[]}", &h) == -EPROTO);
	CHECK(hello("{\"version\":1,\"host\":[]}x", &h) == -EPROTO);
	CHECK(hello("{\"version\":1}", &h) == -EPROTO);
	CHECK(hello("{\"version\":1,\"host\":\"10.0.0.5\"}", &h) == -EPROTO);
	CHECK(hello("{\"version\":1,\"host\":[1]}", &h) == -EPROTO);
	CHECK(hello("{\"version\":1,\"host\":[\"10.0.0\"]}", &h) == -EPROTO);
	CHECK(hello("{\"version\":1,\"host\":[\"10.0.0.5 \"]}", &h) == -EPROTO);
	for (unsigned more = 0; more < 2; more++) {
		char text[8192];
		int n = sprintf(text, "{\"version\":1,\"host\":[\"10.0.1.0\"");

		for (unsigned i = 1; i < NAMES_HOSTS_MAX + more; i++)
			n += sprintf(text + n, ",\"10.0.1.%u\"", i);
		sprintf(text + n, "]}");
		CHECK(hello(text, &h) == (more ? -EPROTO : 0));
		CHECK(h.n == NAMES_HOSTS_MAX);
	}
}

#define PROXY(members)                                                         \
	"{\"version\":1,\"host\":[],\"proxy\":{\"addr\":" members "}}"

static void proxies(void)
{
	struct names_hosts h;

	CHECK(hello(PROXY("\"10.0.0.9\",\"port\":3128"), &h) == 0 &&
	      h.proxy_port == 3128 && h.proxy.b[3] == 9 && !creds.login[0]);
	/* The agent is kept away from it. */
	CHECK(h.n == 1 && addr_eq(&h.v[0], &h.proxy));
	CHECK(hello(PROXY("\"fd00::9\",\"port\":1,\"login\":\"me:x:y\""), &h) ==
		      0 &&
	      strcmp(creds.login, "me:x:y") == 0);
	CHECK(hello(PROXY("\"proxy\",\"port\":3128"), &h) == -EPROTO);
	CHECK(hello(PROXY("9,\"port\":3128"), &h) == -EPROTO);
	CHECK(hello(PROXY("\"10.0.0.9\",\"port\":0"), &h) == -EPROTO);
	CHECK(hello(PROXY("\"10.0.0.9\",\"port\":65536"), &h) == -EPROTO);
	CHECK(hello(PROXY("\"10.0.0.9\""), &h) == -EPROTO);
	CHECK(hello(PROXY("\"10.0.0.9\",\"port\":1,\"login\":\"hush\""), &h) ==
		      -EPROTO &&
	      !strstr(err.text, "hush"));
	CHECK(hello(PROXY("\"10.0.0.9\",\"port\":1,\"login\":\"a:\\n\""), &h) ==
	      -EPROTO);
	CHECK(hello(PROXY("\"10.0.0.9\",\"port\":1,\"login\":1"), &h) ==
	      -EPROTO);
}

/* One host fewer leaves room for it; a login has a bound. */
static void proxies_at_the_bounds(void)
{
	struct arena *a = arena_new();
	struct names_hosts h;
	struct buf login;

	for (unsigned more = 0; more < 2; more++) {
		struct buf text;

		buf_init(&text, a);
		buf_adds(&text, "{\"version\":1,\"host\":[\"10.1.0.1\"");
		for (unsigned i = 2; i < NAMES_HOSTS_MAX + more; i++)
			buf_addf(&text, ",\"10.1.%u.%u\"", i / 200,
				 1 + i % 200);
		buf_adds(&text, "],\"proxy\":{\"addr\":\"10.0.0.9\","
				"\"port\":1}}");
		CHECK(hello(buf_str(&text).p, &h) == (more ? -EPROTO : 0));
	}
	for (unsigned more = 0; more < 2; more++) {
		buf_init(&login, a);
		buf_adds(&login, "me:");
		while (login.n < HELLO_LOGIN_MAX + more)
			buf_addc(&login, 'x');
		CHECK(hello(arena_fmt(a,
				      PROXY("\"10.0.0.9\",\"port\":1,"
					    "\"login\":\"%.*s\""),
				      STR_ARG(buf_str(&login)))
				    .p,
			    &h) == (more ? -EPROTO : 0));
	}
	arena_free(a);
}

#define WITH(list) "{\"version\":1,\"host\":[],\"credentials\":" list "}"

static void credentials(void)
{
	struct names_hosts h;

	CHECK(hello(WITH("{\"1\":\"s3cret\",\"12\":\"=x\"}"), &h) == 0 &&
	      creds.n == 2);
	CHECK(strcmp(creds.v[0], "MEMBRANE_CREDENTIAL_1=s3cret") == 0);
	CHECK(strcmp(creds.v[1], "MEMBRANE_CREDENTIAL_12==x") == 0);
	CHECK(hello_covers(&creds, STR("a env(MEMBRANE_CREDENTIAL_1) b "
				       "env(MEMBRANE_CREDENTIAL_12) MEM")));
	CHECK(!hello_covers(&creds, STR("env(MEMBRANE_CREDENTIAL_2)")));
	CHECK(!hello_covers(&creds, STR("env(MEMBRANE_CREDENTIAL_)")));
	CHECK(!hello_covers(&creds, STR("env(MEMBRANE_CREDENTIAL_123)")));
	CHECK(hello(WITH("{\"10\":\"a b\",\"19\":\"c\"}"), &h) == 0 &&
	      strcmp(creds.v[0], "MEMBRANE_CREDENTIAL_10=a b") == 0 &&
	      hello_covers(&creds, STR("MEMBRANE_CREDENTIAL_10 "
				       "MEMBRANE_CREDENTIAL_19")));
	/* nor what is behind them, or behind the text */
	creds.n = 1;
	CHECK(!hello_covers(&creds, STR("MEMBRANE_CREDENTIAL_19")));
	CHECK(hello_covers(&creds,
			   str_slice(STR("MEMBRANE_CREDENTIAL_109"), 0, 22)));
	CHECK(hello(WITH("{}"), &h) == 0 && creds.n == 0);
	CHECK(hello(WITH("[]"), &h) == -EPROTO);
	CHECK(hello(WITH("{\"a\":\"x\"}"), &h) == -EPROTO);
	CHECK(hello(WITH("{\"01\":\"x\"}"), &h) == -EPROTO);
	CHECK(hello(WITH("{\"1\":\"\"}"), &h) == -EPROTO);
	CHECK(hello(WITH("{\"1\":1}"), &h) == -EPROTO);
	CHECK(hello(WITH("{\"1\":\"hush\\nx\"}"), &h) == -EPROTO &&
	      !strstr(err.text, "hush"));
	CHECK(hello(WITH("{\"1\":\"hush\177x\"}"), &h) == -EPROTO);
	CHECK(hello(WITH("{\"1\":\"x\"}"), &h) == 0 &&
	      hello_covers(&creds, STR("MEMBRANE_CREDENTIAL_1")) &&
	      hello_covers(&creds, STR("MEMBRANE_CREDENTIAL_1x")));
	for (unsigned more = 0; more < 2; more++) {
		static char text[HELLO_VALUE_MAX + 100];

		sprintf(text, WITH("{\"1\":\"%0*u\"}"),
			(int)(HELLO_VALUE_MAX + more), 7u);
		CHECK(hello(text, &h) == (more ? -EPROTO : 0));
	}
	for (unsigned more = 0; more < 2; more++) {
		char list[2048], text[4096];
		int n = 0;

		for (unsigned i = 1; i <= HELLO_CREDENTIALS_MAX + more; i++)
			n += sprintf(list + n, ",\"%u\":\"x\"", i);
		sprintf(text, WITH("{%s}"), list + 1);
		CHECK(hello(text, &h) == (more ? -EPROTO : 0));
		CHECK(creds.n == HELLO_CREDENTIALS_MAX);
	}
}

#define DIGITS "0123456789abcdef01234567"

static void too_many_sentinels(void)
{
	for (unsigned more = 0; more < 2; more++) {
		char list[8192], text[8300];
		struct names_hosts h;
		int n = 0;

		for (unsigned i = 1; i <= HELLO_CREDENTIALS_MAX + more; i++)
			n += sprintf(list + n, ",\"%u:" DIGITS "\":\"x\"", i);
		sprintf(text, WITH("{%s}"), list + 1);
		CHECK(hello(text, &h) == (more ? -EPROTO : 0));
		CHECK(creds.n_tokens == HELLO_CREDENTIALS_MAX);
	}
}

static void sentinels(void)
{
	static const char *const bad[] = {
		WITH("{\"2:\":\"x\"}"),
		WITH("{\":" DIGITS "\":\"x\"}"),
		WITH("{\"2:" DIGITS "0\":\"x\"}"),
		WITH("{\"2:0123456789ABCDEF01234567\":\"x\"}"),
		WITH("{\"2:-123456789abcdef01234567\":\"x\"}"),
		WITH("{\"2:g123456789abcdef01234567\":\"x\"}"),
		WITH("{\"2:" DIGITS "\":\"x y\"}"),
		WITH("{\"2:" DIGITS "\":\"\"}"),
		WITH("{\"2:" DIGITS "\":[]}"),
	};
	char path[] = "/tmp/membrane-tokens-XXXXXX", text[256];
	int fd = mkstemp(path);
	struct names_hosts h;
	ssize_t n;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(hello(bad[i], &h) == -EPROTO, "%s", bad[i]);
	CHECK(hello(WITH("{\"1\":\"k\",\"2:" DIGITS "\":\"s#3;\\\"x\"}"), &h) ==
		      0 &&
	      creds.n == 1 && creds.n_tokens == 1);
	too_many_sentinels();
	CHECK(hello(WITH("{\"1\":\"k\",\"2:" DIGITS "\":\"s#3;\\\"x\"}"), &h) ==
	      0);
	CHECK(fd >= 0 && tokens_file(&creds, path, &err) == 0);
	n = read(fd, text, sizeof(text));
	CHECK(n > 0 &&
	      str_is((struct str){text, (size_t)n}, "2:" DIGITS " s#3;\"x\n"));
	hello_forget(&creds);
	CHECK(creds.n_tokens == 0 && !creds.tokens[0].value[0]);
	CHECK(tokens_file(&creds, "/nonexistent/map", &err) == -ENOENT);
	close(fd);
	unlink(path);
}

static bool same(const char *text, const char *listing, unsigned want_line)
{
	struct str want, have;
	unsigned line = 0;
	bool ok = ruleset_same(str_of(text), str_of(listing), &line, &want,
			       &have);

	return ok ? want_line == 0 : line == want_line;
}

static void listings(void)
{
	CHECK(same("table inet membrane {\n\tset a {\n\t}\n}\n",
		   "table inet membrane {\n\tset a {\n\t}\n}\n", 0));
	CHECK(same("# why\ntable x {\n  # more\n\n}\n", "table x {\n}\n", 0));
	CHECK(same("a { 1, 2 }\n", "a { 1,\n\t\t2 }\n", 0));
	/* as nftables 1.1 lists it; no other code, and nothing but a code */
	CHECK(same("icmp code frag-needed x\n", "icmp code 4 x\n", 0));
	CHECK(same("icmp code frag-needed x\n", "icmp code 3 x\n", 1));
	CHECK(same("icmp code host-unreachable\n", "icmp code 4\n", 1));
	CHECK(same("icmp type frag-needed\n", "icmp type 4\n", 1));
	/* a '#' within a line is no comment, nor is one in the listing */
	CHECK(same("a \"# b\"\n", "a \"# b\"\n", 0));
	CHECK(same("a # b\n", "a # b\n", 0));
	CHECK(same("a\n# b\n", "a\n# b\n", 3));
	CHECK(same("a\nb\nc\n", "a\nb\nd\n", 3));
	CHECK(same("a\nb\n", "a\nb\nc\n", 3));
	CHECK(same("a\nb\nc\n", "a\nb\n", 3));
	CHECK(same("a b\n", "ab\n", 1));
	CHECK(same("", "", 0));
	/* what the gate put into a set that is empty in the text, only there */
	CHECK(same("set a {\n\tflags timeout\n}\nb\n",
		   "set a {\n\tflags timeout\n\telements = { 1.2.3.4 timeout "
		   "1m expires 59s,\n\t\t5.6.7.8 timeout 2m }\n}\nb\n",
		   0));
	CHECK(same("set a {\n\telements = { 1 }\n}\n",
		   "set a {\n\telements = { 1, 2 }\n}\n", 2));
	CHECK(same("set a {\n\telements = { 1 }\n}\n", "set a {\n}\n", 2));
	CHECK(same("set a {\n}\nb\n", "set a {\n\telements = { 1 }\n", 2));
	CHECK(same("a\n", "elements = { 1 }\na\n", 1));
	CHECK(same("set a {\n}\n", "set a {\n\telements = { 1", 2));
	CHECK(ruleset_has_set(STR("\tset host4 {\n"), "host4"));
	CHECK(!ruleset_has_set(STR("\tset host4_1 {\n"), "host4"));
	CHECK(!ruleset_has_set(STR("\tchain host4 {\n"), "host4"));
	CHECK(!ruleset_has_set(STR("# set host4 {\n"), "host4"));
}

/* A text ends where it ends: what is behind it is no word and no line, and is
 * not even read. */
static void ends_of_texts(void)
{
	static const char words[] = "a set b\nc";
	const size_t page = 65536, n = strlen(words); /* at least one */
	char *p = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);
	struct str want, have, last;
	unsigned line = 0;

	CHECK(!ruleset_same((struct str){words, 7}, STR("a set b c"), &line,
			    &want, &have) &&
	      line == 1 && want.n == 0 && str_is(have, "c"));
	CHECK(p != MAP_FAILED &&
	      mprotect(p, page, PROT_READ | PROT_WRITE) == 0);
	memcpy(p + page - n, words, n);
	last = (struct str){p + page - n, n};
	CHECK(ruleset_same(last, STR(words), &line, &want, &have));
	CHECK(ruleset_same(STR(words), last, &line, &want, &have));
	CHECK(ruleset_has_set(last, "b") && !ruleset_has_set(last, "c"));
	CHECK(munmap(p, 2 * page) == 0);
}

static struct outlog out;

static void lines(void)
{
	int pair[2];
	char line[1000], got[1200];
	unsigned n = 0, lost = 0;
	FILE *f;

	CHECK(pipe(pair) == 0);
	out.fd = pair[1];
	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (unsigned i = 0; i < 1000; i++)
		outlog_line(&out, line, sizeof(line));
	/* nobody reads: that is waited for once, and writing stops by itself */
	CHECK(out.stuck && out.n_lost > 0);
	CHECK(outlog_pending(&out));
	f = fdopen(pair[0], "r");
	outlog_drain(&out, 1);
	while (fgets(got, sizeof(got), f) &&
	       (got[0] == 'x' ||
		sscanf(got, "{\"event\":\"lost\",\"count\":%u}", &lost) != 1)) {
		n++;
		outlog_drain(&out, 1);
	}
	CHECK(n >= OUTLOG_BYTES / sizeof(line) && n + lost == 1000);
	CHECK(!outlog_pending(&out));
	fclose(f);
	close(pair[1]);
}

/* What nobody waits for goes out with what comes next, or soon. */
static void batches(void)
{
	static char got[2 * OUTLOG_BATCH], line[100];
	int64_t now_ms = clock_ms();
	int pair[2];

	/* where there is nothing to be written nobody writes */
	out = (struct outlog){.fd = -1};
	outlog_write(&out);
	CHECK(!out.closed);
	CHECK(pipe(pair) == 0);
	out = (struct outlog){.fd = pair[1]};
	memset(line, 'x', sizeof(line));
	CHECK(outlog_wait_ms(&out, now_ms) == -1);
	outlog_line_later(&out, line, sizeof(line));
	CHECK(outlog_wait_ms(&out, now_ms) > 0);
	CHECK(outlog_wait_ms(&out, clock_ms() + OUTLOG_LATE_MS) == 0);
	/* it waits no longer for another that can wait */
	out.due_ms = now_ms - 1;
	outlog_line_later(&out, line, sizeof(line));
	CHECK(outlog_wait_ms(&out, now_ms) == 0);
	outlog_write(&out);
	CHECK(outlog_wait_ms(&out, now_ms) == -1);
	CHECK(read(pair[0], got, sizeof(got)) == 2 * sizeof(line));
	/* nor where there is enough of them */
	for (unsigned i = 0; i * sizeof(line) < OUTLOG_BATCH; i++) {
		CHECK(i == 0 || outlog_wait_ms(&out, now_ms) > 0);
		outlog_line_later(&out, line, sizeof(line));
	}
	CHECK(outlog_wait_ms(&out, now_ms) == 0);
	outlog_write(&out);
	CHECK(outlog_wait_ms(&out, now_ms) > 0);
	/* nor behind one that cannot, or when lines were lost */
	outlog_line(&out, line, sizeof(line));
	CHECK(outlog_wait_ms(&out, now_ms) == 0);
	outlog_drain(&out, 1);
	outlog_line_later(&out, line, sizeof(line));
	outlog_lost(&out, 1);
	CHECK(outlog_wait_ms(&out, now_ms) == 0);
	close(pair[0]);
	close(pair[1]);
}

int main(void)
{
	hellos();
	proxies();
	proxies_at_the_bounds();
	credentials();
	sentinels();
	listings();
	ends_of_texts();
	lines();
	batches();
	return check_status();
}
