#include "runtime/launch/tell/tell.h"

#include "compiler/base/json.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/session/summary.h"
#include "runtime/launch/tell/webhook.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define CHUNK 4096

#define CHECK_INT(got, want)                                                   \
	CHECK_MSG((long long)(got) == (long long)(want), "%lld",               \
		  (long long)(got))

static void check_text(int line, struct str got, const char *want)
{
	CHECK_MSG(str_is(got, want), "line %d: %.*s", line, STR_ARG(got));
}
#define CHECK_STR(got, want) check_text(__LINE__, (got), (want))

static const struct refusal_of of = {"0123456789ab", "/home/me/project"};

static size_t read_all(int fd, char *buf, size_t size)
{
	size_t n = 0;
	ssize_t got;

	while (n < size - 1 && (got = read(fd, buf + n, size - 1 - n)) > 0)
		n += (size_t)got;
	buf[n] = '\0';
	return n;
}

/* What there is now. */
static size_t read_some(int fd, char *buf, size_t size)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	ssize_t n = poll(&p, 1, 0) > 0 ? read(fd, buf, size) : 0;

	return n > 0 ? (size_t)n : 0;
}

/* Until it would block; how its mode is does not matter to who writes. */
static void fill_pipe(int fd)
{
	static const char some[CHUNK];
	int flags = fcntl(fd, F_GETFL);

	fcntl(fd, F_SETFL, flags | O_NONBLOCK);
	while (write(fd, some, sizeof(some)) > 0)
		;
	fcntl(fd, F_SETFL, flags);
}

static void check_full_pipe(void)
{
	static char got[1 << 18];
	struct voice v;
	struct err err;
	int fds[2];

	CHECK(pipe(fds) == 0);
	fill_pipe(fds[1]);
	voice_init(&v);
	CHECK_INT(voice_open(&v, fds[1], &err), 0);
	CHECK((fcntl(fds[1], F_GETFL) & O_NONBLOCK) == 0);
	CHECK(voice_add(&v, STR("one\n")));
	voice_pump(&v); /* blocks for ever if it waits */
	CHECK(voice_add(&v, STR("two\n")));
	voice_pump(&v);
	CHECK(voice_waits(&v));
	while (voice_add(&v, STR("0123456789abcdef\n")))
		;
	CHECK(read(fds[0], got, sizeof(got)) > CHUNK);
	voice_pump(&v);
	CHECK(!voice_waits(&v));
	voice_done(&v);
	close(fds[1]);
	read_all(fds[0], got, sizeof(got));
	CHECK(memcmp(got, "one\ntwo\n0123456789abcdef\n", 25) == 0);
	close(fds[0]);
}

static void check_gone_reader(void)
{
	struct voice v;
	struct err err;
	int fds[2];

	CHECK(pipe(fds) == 0);
	voice_init(&v);
	CHECK_INT(voice_open(&v, fds[1], &err), 0);
	close(fds[0]);
	CHECK(voice_add(&v, STR("one\n")));
	voice_pump(&v);
	CHECK_INT(v.fd, -1);
	CHECK(!voice_add(&v, STR("two\n")));
	close(fds[1]);
}

static void check_socket_and_file(void)
{
	char path[] = "/tmp/membrane-tell-XXXXXX", got[16];
	int fds[2], file = mkstemp(path);
	struct voice v;
	struct err err;

	CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
	voice_init(&v);
	CHECK_INT(voice_open(&v, fds[1], &err), 0);
	CHECK(voice_add(&v, STR("one\n")));
	voice_pump(&v);
	CHECK(recv(fds[0], got, sizeof(got), MSG_DONTWAIT) == 4);
	voice_done(&v);
	CHECK(write(file, "zero\n", 5) == 5);
	CHECK_INT(voice_open(&v, file, &err), 0);
	CHECK(voice_add(&v, STR("one\n")));
	voice_pump(&v);
	voice_done(&v);
	CHECK(lseek(file, 0, SEEK_CUR) == 9); /* behind what was there */
	unlink(path);
	close(file);
	close(fds[0]);
	close(fds[1]);
}

/* --- how much is said ----------------------------------------------------- */

static struct refusal refusal_of(struct arena *a, unsigned i)
{
	return (struct refusal){
		.reason = REASON_NO_GRANT,
		.what = arena_fmt(a, "n%u.test", i),
		.advice = STR("add it"),
		.grant = STR("x.test:443"),
		.word = STR("x.test:443"),
	};
}

static unsigned lines_with(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text++;
	}
	return n;
}

static void check_pace(struct arena *a)
{
	static char got[1 << 16];
	size_t n = 0;
	struct tell *t = arena_new_of(a, struct tell);
	int fds[2], before = dup(STDERR_FILENO);

	CHECK(pipe(fds) == 0);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	tell_init(t, a, &of);
	tell_aloud(t, false, false);
	for (unsigned i = 0; i < 1000; i++) {
		struct refusal r = refusal_of(a, i);

		tell_refusal(t, &r);
	}
	CHECK(tell_deadline(t) > 0);
	while (tell_deadline(t)) { /* the second's end */
		int64_t left = tell_deadline(t) - clock_ms();

		poll(NULL, 0, left > 0 ? (int)left : 0);
		tell_pump(t);
	}
	for (unsigned s = 0; s < TELL_SESSION; s++) {
		struct refusal r = refusal_of(a, s);

		t->second_ms = 1; /* long ago */
		for (unsigned i = 0; i < TELL_SECOND + 1; i++)
			tell_refusal(t, &r);
		n += read_some(fds[0], got + n, sizeof(got) - n);
	}
	t->second_ms = t->second_ms ? 1 : 0;
	tell_finish(t);
	dup2(before, STDERR_FILENO);
	close(before);
	read_all(fds[0], got + n, sizeof(got) - n);
	close(fds[0]);
	CHECK_INT(lines_with(got, "membrane: refused "), TELL_SESSION);
	CHECK_INT(lines_with(got, "and 990 more were refused"), 1);
	CHECK_INT(lines_with(got, "refusals are said no more"), 1);
}

static void check_texts(struct arena *a)
{
	static const char hostile[] =
		"{\"kind\":\"request\",\"verdict\":\"deny\",\"reason\":\"path\","
		"\"name\":\"a.test\",\"proto\":\"tcp\",\"port\":443,"
		"\"method\":\"GET\",\"path\":\"/\\u001b]2;x\\u0007\","
		"\"source\":\".membrane.yaml\",\"line\":4}";
	struct summary *s = summary_new(a, NULL);
	cJSON *o = cJSON_Parse(hostile), *event;
	enum summary_news news;
	struct refusal r;
	struct err err;
	struct buf b;

	CHECK_INT(summary_add(s, o, &news, &err), 0);
	CHECK_INT(news, SUMMARY_NEW);
	CHECK(summary_newest(s, a, o, &r));
	buf_init(&b, a);
	refusal_line(&r, false, &b);
	CHECK_STR(
		buf_str(&b),
		"membrane: refused GET a.test:443/\\x1b]2;x\\x07: path (.membrane.yaml:4); no rule allows the path\n");
	CHECK(!r.place && r.by.sure == HELLO_NOBODY);
	event = refusal_json(a, &r, &of, 3);
	CHECK(cJSON_IsNull(cJSON_GetObjectItem(event, "process")));
	CHECK_STR(json_find_str(event, "at"), ".membrane.yaml:4");
	CHECK(strstr(json_compact(a, cJSON_Duplicate(event, true)).p,
		     "\"dropped\":3,"));
	CHECK(cJSON_Compare(cJSON_GetObjectItem(event, "decision"), o, true));
	CHECK(!cJSON_GetObjectItem(event, "command"));
	cJSON_Delete(event);
	r = refusal_of(a, 1);
	r.record = o;
	event = refusal_json(a, &r, &of, 0);
	CHECK_STR(json_find_str(event, "command"),
		  "membrane allow x.test:443 --session 0123456789ab");
	cJSON_Delete(event);
	cJSON_Delete(o);
}

/* --- whose it was --------------------------------------------------------- */

static uint32_t asked_id;
static char told[4096];
static unsigned n_told;

static bool take_ask(void *ctx, uint32_t id, const struct refusal *r)
{
	(void)r;
	asked_id = id;
	return *(bool *)ctx;
}

static void take_told(void *ctx, struct str line)
{
	(void)ctx;
	snprintf(told, sizeof(told), "%.*s", STR_ARG(line));
	n_told++;
}

/* Told once the trace has said it, or is late; with what it says. */
static void check_whose(struct arena *a)
{
	static const char gist[] =
		"{\"event\":\"decision\",\"kind\":\"resolve\",\"verdict\":\"deny\","
		"\"reason\":\"no-grant\",\"name\":\"gist.github.com\","
		"\"type\":\"A\"}";
	struct refusal_by by = {
		.sure = HELLO_SURELY,
		.pid = 10,
		.comm = STR("cu\033rl"),
		.command = STR("curl -H 'Authorization: Bearer "
			       "ghp_abcdefghijklmnopqrstuvwxyz0123456789'"),
	};
	struct summary *s = summary_new(a, NULL);
	struct tell *t = arena_new_of(a, struct tell);
	cJSON *o = cJSON_Parse(gist);
	bool has_trace = true;
	enum summary_news news;
	struct refusal r;
	struct err err;
	struct buf b;

	CHECK_INT(summary_add(s, o, &news, &err), 0);
	CHECK(summary_newest(s, a, o, &r));
	CHECK(r.place && r.place->kind == THIRD_PARTY_FORGE);
	tell_init(t, a, &of);
	t->on_ask = take_ask;
	t->on_told = take_told;
	t->ctx = &has_trace;
	tell_refusal(t, &r);
	CHECK_INT(n_told, 0);
	CHECK(tell_deadline(t) > 0);
	tell_whose(t, asked_id + 1, &by);
	CHECK_INT(n_told, 0);
	tell_whose(t, asked_id, &by);
	CHECK_INT(n_told, 1);
	CHECK(strstr(told, "\"sure\":true,\"pid\":10,") &&
	      strstr(told, "\"kind\":\"forge\"") &&
	      strstr(told, "Bearer ghp_***") && !strstr(told, "ghp_abc"));
	tell_whose(t, asked_id, &by); /* it is over */
	CHECK_INT(n_told, 1);
	tell_refusal(t, &r);
	tell_finish(t); /* nobody has said it */
	CHECK_INT(n_told, 2);
	CHECK(strstr(told, "\"process\":null"));
	has_trace = false;
	tell_refusal(t, &r);
	CHECK_INT(n_told, 3);
	has_trace = true;
	for (unsigned i = 0; i < TELL_WAITING + 3; i++)
		tell_refusal(t, &r);
	CHECK_INT(n_told, 6); /* for which there was no room to wait */
	tell_finish(t);
	CHECK_INT(n_told, TELL_WAITING + 6);
	r.by = by;
	r.by.command = STR("a\nb");
	buf_init(&b, a);
	refusal_line(&r, false, &b);
	CHECK(strstr(b.p, "\nmembrane:   others read there: gists, public or known "
			  "by their address alone (forge); by cu\\x1brl[10]: "
			  "a\\x0ab\n"));
	r.by.sure = HELLO_NOBODY;
	CHECK_STR(refusal_whose(a, &r), "");
	r.place = NULL;
	buf_init(&b, a);
	refusal_line(&r, false, &b);
	CHECK(!strstr(b.p, "\nmembrane:   "));
	cJSON_Delete(o);
}

/* --- a command ------------------------------------------------------------ */

static void wait_idle(struct hook *h, int64_t most_ms)
{
	int64_t until = clock_ms() + most_ms;

	while (!hook_is_idle(h) && clock_ms() < until) {
		struct pollfd p[HOOK_FDS + 1];
		size_t n = hook_fds(h, p);
		struct proc_signal s;

		p[n++] = (struct pollfd){.fd = proc_signals_fd(),
					 .events = POLLIN};
		poll(p, n, (int)(until - clock_ms()));
		while (proc_signals_next(&s))
			;
		hook_pump(h);
	}
}

static void check_command(struct arena *a)
{
	static char sh[] = "/bin/sh", c[] = "-c",
		    path[] = "/tmp/membrane-hook-XXXXXX";
	int fd = mkstemp(path);
	const struct str script = arena_fmt(
		a,
		"{ cat; echo; pwd; echo \"$SECRET:$MEMBRANE_SESSION\"; } >>%s",
		path);
	char *argv[] = {sh, c, arena_cstr(a, script), NULL};
	char got[512];
	struct hook h;

	setenv("SECRET", "s3cret", 1);
	hook_init(&h, a, HOOK_COMMAND);
	h.argv = argv;
	h.session = of.session;
	CHECK(hook_has_room(&h));
	hook_add(&h, STR("{\"a\":1}"));
	CHECK(hook_has_room(&h));
	hook_add(&h, STR("{\"a\":2}"));
	hook_pump(&h);
	wait_idle(&h, 5000);
	CHECK(hook_failure(&h) == NULL);
	lseek(fd, 0, SEEK_SET);
	read_all(fd, got, sizeof(got));
	CHECK_STR(str_of(got),
		  "{\"a\":1}\n/\n:0123456789ab\n{\"a\":2}\n/\n:0123456789ab\n");
	unlink(path);
	close(fd);
	hook_done(&h);
}

static void check_failing(struct arena *a)
{
	static char no[] = "/bin/false", nothing[] = "/nonexistent/x";
	char *argv[] = {no, NULL}, *gone[] = {nothing, NULL};
	const char *why;
	struct hook h;

	hook_init(&h, a, HOOK_COMMAND);
	h.argv = argv;
	h.session = of.session;
	for (int i = 0; i < 2; i++) {
		CHECK(hook_has_room(&h));
		hook_add(&h, STR("{}"));
	}
	hook_pump(&h);
	wait_idle(&h, 5000);
	why = hook_failure(&h);
	CHECK(why && strcmp(why, "status 1") == 0);
	CHECK(hook_failure(&h) == NULL);
	hook_done(&h);
	hook_init(&h, a, HOOK_COMMAND);
	h.argv = gone;
	h.session = of.session;
	hook_add(&h, STR("{}"));
	hook_pump(&h);
	wait_idle(&h, 5000);
	why = hook_failure(&h);
	CHECK(why && strcmp(why, "status 127") == 0);
	hook_done(&h);
}

static void check_bounds(struct arena *a)
{
	static char sleeps[] = "/bin/sleep", long_[] = "600";
	char *argv[] = {sleeps, long_, NULL};
	static char big[HOOK_TEXT + 1];
	struct hook h;
	const char *why;

	hook_init(&h, a, HOOK_COMMAND);
	h.argv = argv;
	h.session = of.session;
	hook_add(&h, (struct str){big, sizeof(big)});
	CHECK_INT(h.n, 0);
	CHECK_INT(h.dropped, 1);
	for (unsigned i = 0; i < HOOK_QUEUE + 10; i++)
		if (hook_has_room(&h))
			hook_add(&h, STR("{}"));
	CHECK_INT(h.n, HOOK_QUEUE);
	CHECK_INT(h.dropped, 10);
	hook_pump(&h);
	CHECK(h.pid > 0);
	h.n = 0;
	h.until_ms = 1; /* long ago */
	hook_pump(&h);
	wait_idle(&h, 5000);
	why = hook_failure(&h);
	CHECK(why && strcmp(why, "it took too long") == 0);
	hook_done(&h);
}

/* By openssl dgst -sha256 -hmac. */
static void check_signature(struct arena *a)
{
	struct webhook_call call = {.session = of.session,
				    .n = 2,
				    .events = {STR("{\"a\":1}"), STR("{}")}};
	char hex[WEBHOOK_SIGNATURE];

	CHECK_STR(
		webhook_body(a, &call),
		"{\"version\":1,\"session\":\"0123456789ab\",\"refusals\":[{\"a\":1},{}]}");
	webhook_sign("key", 1700000000, STR("{}"), hex);
	CHECK_STR(
		str_of(hex),
		"9d713ed406bb7076d4123f0dc2c39d2df5c654ed4b0cd56b52c8b4c940bd63ae");
}

int main(void)
{
	struct arena *a = arena_new();
	struct err err;

	CHECK_INT(proc_signals_catch(&err), 0);
	check_full_pipe();
	check_gone_reader();
	check_socket_and_file();
	check_pace(a);
	check_texts(a);
	check_whose(a);
	check_command(a);
	check_failing(a);
	check_bounds(a);
	check_signature(a);
	proc_signals_restore();
	arena_free(a);
	return check_status();
}
