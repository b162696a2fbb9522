/* Renewals that wait, the process that does one, and what the gate is told. */
#include "runtime/launch/tokens/renewals.h"
#include "runtime/launch/tokens/sentinel.h"
#include "tests/check.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OLD  "oldoldoldoldold"
#define NEW  "newnewnewnewnew"
#define TOLD 16

static char root[] = "/tmp/membrane-renewals-XXXXXX";
static struct arena *a;
static char *names[] = {(char[]){"t.access"}, (char[]){"t.refresh"}};
/* Nobody listens at port 1. */
static struct vectors_credential credentials[] = {
	{.n = 4,
	 .file = "~/f",
	 .fields = {.v = names, .n = 2},
	 .refresh = "https://a.test:1/t"},
	{.n = 5, .file = "~/f", .fields = {.v = names, .n = 1}},
};
static struct vectors v = {.credentials = {.v = credentials, .n = 2}};

static const char *told[TOLD];
static unsigned n_told;

static int tell(void *ctx, struct str line, struct err *err)
{
	if (ctx)
		return err_set(err, -EPIPE, "the gate is gone");
	CHECK(line.n && line.p[line.n - 1] == '\n' &&
	      str_find(line, '\n', 0) == line.n - 1);
	if (n_told < TOLD)
		told[n_told++] = arena_str(a, line).p;
	return 0;
}

static const struct vectors_values no_values;

static void begin(struct renewals *r)
{
	char *value = strdup(OLD);
	struct secret had[] = {
		{4, value, sentinel_digits(a, "~/f", "t.access")},
		{5, value, NULL},
	};
	secrets all = {.v = had, .n = 2};

	renewals_init(r);
	r->v = &v;
	r->values = &no_values;
	r->home = root;
	r->lock = arena_fmt(a, "%s/lock", root).p;
	r->tell = tell;
	renewals_know(a, r, &all);
	CHECK(r->had.n == 1);
	n_told = 0;
	free(value);
}

/* What is in the host's file. */
static void write_file(const char *text)
{
	FILE *f = fopen(arena_fmt(a, "%s/f", root).p, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static const char *renewal(void)
{
	return arena_fmt(a,
			 "{\"grant_type\":\"refresh_token\",\"refresh_token\":"
			 "\"x-membrane%s0\"}",
			 sentinel_digits(a, "~/f", "t.refresh"))
		.p;
}

static int ask(struct renewals *r, double id, double n, const char *body)
{
	cJSON *event = cJSON_CreateObject();
	struct err err;
	int rc;

	cJSON_AddNumberToObject(event, "id", id);
	cJSON_AddNumberToObject(event, "n", n);
	cJSON_AddStringToObject(event, "addr", "127.0.0.1");
	cJSON_AddStringToObject(event, "agent", "test");
	cJSON_AddStringToObject(event, "body", body);
	rc = renewals_ask(r, event, &err);
	cJSON_Delete(event);
	return rc;
}

static int ask_text(struct renewals *r, const char *json)
{
	cJSON *event = cJSON_Parse(json);
	struct err err;
	int rc = renewals_ask(r, event, &err);

	cJSON_Delete(event);
	return rc;
}

/* Until none is under way. */
static int finish(struct renewals *r)
{
	struct err err;
	int rc = 0;

	while (rc == 0 && r->pid) {
		struct pollfd p = {r->out, POLLIN, 0};

		if (poll(&p, 1, 20000) <= 0)
			return -ETIME;
		rc = renewals_pump(r, &err);
	}
	return rc;
}

static void is_told(unsigned i, const char *start, bool values)
{
	const char *line = i < n_told ? told[i] : "(nothing)";

	CHECK_MSG(strncmp(line, start, strlen(start)) == 0, "%u: %s", i, line);
	CHECK_MSG((strstr(line, "\"values\":") != NULL) == values, "%u: %s", i,
		  line);
}

/* --- what is tried ---------------------------------------------------------
 */

static void malformed(void)
{
	struct renewals r;
	struct err err;

	begin(&r);
	CHECK(renewals_pump(&r, &err) == 0 && !r.pid);
	CHECK(ask_text(&r, "{}") == -EPROTO);
	CHECK(ask_text(&r, "{\"id\":1}") == -EPROTO);
	CHECK(ask_text(&r, "{\"id\":1,\"n\":4}") == -EPROTO);
	CHECK(ask_text(&r, "{\"id\":1,\"n\":4,\"addr\":\"::1\",\"agent\":1,"
			   "\"body\":\"\"}") == -EPROTO);
	CHECK(ask_text(&r, "{\"id\":1,\"n\":4,\"addr\":\"::1\",\"agent\":\"\","
			   "\"body\":null}") == -EPROTO);
	CHECK(ask_text(&r, arena_fmt(a,
				     "{\"id\":1,\"n\":4,\"addr\":\"%0100d\","
				     "\"agent\":\"\",\"body\":\"\"}",
				     1)
				   .p) == -EPROTO);
	CHECK(n_told == 0 && !r.pid);
	renewals_done(&r);
}

/* Somebody else has renewed: who waits gets that, the gate the values once. */
static void shared(void)
{
	struct renewals r;

	write_file("{\"t\":{\"access\":\"" NEW "\",\"refresh\":\"r\"}}");
	begin(&r);
	CHECK(ask(&r, 1, 4, renewal()) == 0 && r.pid);
	CHECK(ask(&r, 2, 4, renewal()) == 0 && n_told == 0);
	CHECK(finish(&r) == 0 && n_told == 2);
	/* The last place is taken first. */
	is_told(0, "renewed 2 {\"status\":200,", true);
	is_told(1, "renewed 1 {\"status\":200,", false);
	CHECK(strstr(told[0], NEW) && !strstr(told[1], NEW));
	/* Who asks a moment later gets it as well, at once. */
	CHECK(ask(&r, 3, 4, renewal()) == 0 && !r.pid && n_told == 3);
	is_told(2, "renewed 3 {\"status\":200,", false);
	renewals_done(&r);
}

static void one_after_the_other(void)
{
	struct renewals r;

	begin(&r);
	CHECK(ask(&r, 1, 9, "") == 0 && ask(&r, 2, 5, "") == 0 &&
	      ask(&r, 3, 4, "nothing") == 0);
	CHECK(finish(&r) == 0 && n_told == 3);
	for (unsigned i = 0; i < 3; i++)
		CHECK_MSG(n_told > i && strstr(told[i], " {\"status\":400,"),
			  "%u", i);
	CHECK(n_told == 3 && strstr(told[0], "nothing to renew"));
	/* Of what failed nothing is kept. */
	CHECK(ask(&r, 4, 4, "nothing") == 0 && r.pid && finish(&r) == 0);
	renewals_done(&r);
}

/* The file has what the gate has, and nobody answers at its URL. */
static void nobody_to_ask(void)
{
	struct renewals r;

	write_file("{\"t\":{\"access\":\"" OLD "\",\"refresh\":\"r\"}}");
	begin(&r);
	CHECK(ask(&r, 1, 4, renewal()) == 0 && finish(&r) == 0);
	is_told(0, "renewed 1 {\"status\":502,", false);
	CHECK(n_told == 1 && strstr(told[0], "nobody could be asked"));
	renewals_done(&r);
}

static void no_lock(void)
{
	struct renewals r;

	begin(&r);
	r.lock = "/nonexistent/lock";
	CHECK(ask(&r, 1, 4, renewal()) == 0 && finish(&r) == 0);
	is_told(0, "renewed 1 {\"status\":502,", false);
	renewals_done(&r);
}

static void too_many(void)
{
	struct renewals r;

	begin(&r);
	for (unsigned i = 0; i < RENEWALS_MAX; i++)
		CHECK(ask(&r, i + 1, 4, "") == 0);
	CHECK(n_told == 0 && ask(&r, 99, 4, "") == 0 && n_told == 1);
	is_told(0, "renewed 99 {\"status\":429,", false);
	renewals_done(&r); /* with one under way */
	CHECK(!r.pid && r.out == -1);
}

/* A process that ends without a word, and a gate that is gone. */
static void what_dies(void)
{
	struct renewals r;

	begin(&r);
	CHECK(ask(&r, 1, 4, "") == 0 && kill(r.pid, SIGKILL) == 0);
	CHECK(finish(&r) == 0 && n_told == 1);
	is_told(0, "renewed 1 {\"status\":", false);
	r.ctx = &r;
	CHECK(ask(&r, 2, 4, "") == 0 && finish(&r) == -EPIPE);
	renewals_done(&r);
}

int main(void)
{
	a = arena_new();
	if (!mkdtemp(root))
		return 3;
	CHECK(curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK);
	malformed();
	shared();
	one_after_the_other();
	nobody_to_ask();
	no_lock();
	too_many();
	what_dies();
	unlink(arena_fmt(a, "%s/f", root).p);
	unlink(arena_fmt(a, "%s/lock", root).p);
	CHECK(rmdir(root) == 0);
	arena_free(a);
	return check_status();
}
