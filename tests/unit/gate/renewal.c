/* What HAProxy asks of the gate to renew tokens, and new tokens in its map. */
#include "runtime/gate/l7/renewal.h"
#include "runtime/gate/l7/tokens.h"

#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#define DIGITS "0123456789abcdef01234567"

static struct err err;
static struct renewal r;
static unsigned told;
static bool may_tell = true;

static int parse(const char *text, struct renewal_ask *out)
{
	return renewal_parse(str_of(text), out);
}

static void asks(void)
{
	struct renewal_ask ask;

	CHECK(parse("3 192.0.2.7 json 2\nclaude/1\n{}", &ask) == 1);
	CHECK(ask.n == 3 && !ask.is_form && str_is(ask.agent, "claude/1") &&
	      str_is(ask.body, "{}"));
	CHECK(parse("3 2001:db8::1 form 0\n\n", &ask) == 1 && ask.is_form &&
	      ask.body.n == 0);
	CHECK(parse("", &ask) == 0 && parse("3 192.0.2.7 json 2", &ask) == 0 &&
	      parse("3 192.0.2.7 json 2\nx", &ask) == 0 &&
	      parse("3 192.0.2.7 json 2\nx\n{", &ask) == 0);
	CHECK(parse("0 192.0.2.7 json 2\nx\n{}", &ask) == -1);
	CHECK(parse("x 192.0.2.7 json 2\nx\n{}", &ask) == -1);
	CHECK(parse("10000 192.0.2.7 json 2\nx\n{}", &ask) == -1);
	CHECK(parse("9999 192.0.2.7 json 2\nx\n{}", &ask) == 1);
	/* what ends too early */
	CHECK(parse("\nx\n{}", &ask) == -1 && parse("3\nx\n{}", &ask) == -1 &&
	      parse("3 192.0.2.7\nx\n{}", &ask) == -1 &&
	      parse("3 192.0.2.7 json\nx\n{}", &ask) == -1);
	CHECK(parse("3 192.0.2 json 2\nx\n{}", &ask) == -1);
	CHECK(parse("3 192.0.2.7 xml 2\nx\n{}", &ask) == -1);
	CHECK(parse("3 192.0.2.7 json -1\nx\n{}", &ask) == -1);
	CHECK(parse("3 192.0.2.7 json 99999\nx\n{}", &ask) == -1);
	CHECK(parse("3 192.0.2.7 json 2\nx\n{}x", &ask) == -1);
	CHECK(renewal_parse((struct str){"3 192.0.2.7 json 1\nx\n\0", 22},
			    &ask) == -1);
}

/* --- over its socket -------------------------------------------------------
 */

static char path[] = "/tmp/membrane-renewal-XXXXXX";

static bool closes_nothing;

/* What of the gate is closed comes here first: it has to be open. */
int close(int fd)
{
	closes_nothing |= fd < 0;
	return (int)syscall(SYS_close, fd);
}

static bool on_ask(void *data, const struct renewal_ask *ask)
{
	(void)data;
	told = ask->id;
	return may_tell;
}

static void turn(int64_t now_ms)
{
	struct pollfd p[RENEWAL_POLL];

	renewal_poll(&r, p);
	CHECK(poll(p, RENEWAL_POLL, now_ms ? 0 : 1000) >= 0);
	renewal_step(&r, p, now_ms, on_ask, NULL);
}

static int dial(const char *text)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	CHECK(connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0);
	CHECK(send(fd, text, strlen(text), 0) == (ssize_t)strlen(text));
	turn(0); /* accepts */
	turn(0); /* reads */
	return fd;
}

static void heard(int fd, const char *want)
{
	char got[256];
	ssize_t n = 0, more;

	while ((more = recv(fd, got + n, sizeof(got) - (size_t)n, 0)) > 0)
		n += more;
	CHECK_MSG(str_is((struct str){got, (size_t)n}, want), "%.*s", (int)n,
		  got);
	close(fd);
}

static void served(void)
{
	static char line[RENEWAL_BODY_MAX + 100];
	uint32_t first;
	int one, two;

	CHECK(renewal_open(&r, path, &err) == 0);
	one = dial("3 192.0.2.7 json 2\nx\n{}");
	first = told;
	two = dial("3 192.0.2.7 json 2\nx\n{}");
	CHECK(first && told && told != first);
	renewal_answer(&r, told + 7, 200, STR("nobody"));
	renewal_answer(&r, first, 200, STR("yes"));
	heard(one, "200 3\nyes");
	turn(RENEWAL_WAIT_MS + 1);
	heard(two, ""); /* it waited long enough */
	snprintf(line, sizeof(line), "3 192.0.2.7 json %u\nx\n%0*u",
		 RENEWAL_BODY_MAX + 1, (int)RENEWAL_BODY_MAX + 1, 1u);
	heard(dial(line),
	      "413 68\n{\"error\":\"invalid_request\",\"error_description\":\"membrane: too long\"}");
	may_tell = false;
	heard(dial("3 192.0.2.7 json 2\nx\n{}"),
	      "413 68\n{\"error\":\"invalid_request\",\"error_description\":\"membrane: too long\"}");
	heard(dial("nonsense\n"), "");
}

/* It comes in pieces, or goes on when it has ended. */
static void in_pieces(void)
{
	int fd = dial("3 192.0.2.7 json 2\nx");

	may_tell = true;
	told = 0;
	CHECK(send(fd, "\n{", 2, 0) == 2);
	turn(0);
	CHECK(told == 0 && send(fd, "}", 1, 0) == 1);
	turn(0);
	CHECK(told != 0);
	renewal_answer(&r, told, 200, STR("yes"));
	heard(fd, "200 3\nyes");
	/* it is not there any more */
	renewal_answer(&r, told, 200, STR("yes"));
	fd = dial("3 192.0.2.7 json 2\nx\n{}");
	CHECK(send(fd, "x", 1, 0) == 1);
	turn(0);
	renewal_answer(&r, told, 200, STR("yes"));
	heard(fd, "");
}

/* The last number, and the lowest descriptor, are like any other. */
static void at_the_ends(void)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	r.last_id = UINT32_MAX - 1;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	CHECK(connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0);
	close(0);
	turn(0);
	CHECK(send(fd, "3 192.0.2.7 json 0\nx\n", 21, 0) == 21);
	turn(0);
	CHECK(told == UINT32_MAX && r.slots[0].fd == 0);
	renewal_answer(&r, told, 200, STR(""));
	heard(fd, "200 0\n");
	CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) == 0);
	/* 0 is of who has not asked */
	fd = dial("3 192.0.2.7 json 0\nx\n");
	CHECK(told == 1);
	renewal_answer(&r, told, 200, STR(""));
	heard(fd, "200 0\n");
	CHECK(!closes_nothing);
}

/* --- what comes of it ------------------------------------------------------
 */

static int renew(struct hello_credentials *c, const char *values)
{
	cJSON *o = cJSON_Parse(values);
	int rc = tokens_renew(c, o, &err);

	cJSON_Delete(o);
	return rc;
}

static void renewed(void)
{
	static struct hello_credentials c = {
		.tokens = {{2, DIGITS, "old"}, {3, DIGITS, "old"}},
		.n_tokens = 2};

	CHECK(renew(&c, "{\"2:" DIGITS "\":\"new\"}") == 0);
	CHECK(strcmp(c.tokens[0].value, "new") == 0 &&
	      strcmp(c.tokens[1].value, "old") == 0);
	CHECK(renew(&c, "{\"2:" DIGITS "\":\"x\",\"4:" DIGITS "\":\"y\"}") ==
	      -EPROTO);
	CHECK(strcmp(c.tokens[0].value, "new") == 0); /* all or none */
	CHECK(renew(&c, "{\"2:" DIGITS "\":\"\"}") == -EPROTO);
	CHECK(renew(&c, "{\"2:" DIGITS "\":\"hush x\"}") == -EPROTO &&
	      !strstr(err.text, "hush"));
	CHECK(renew(&c, "{\"2:" DIGITS "\":1}") == -EPROTO);
	CHECK(renew(&c, "[]") == -EPROTO && renew(&c, "{}") == 0);
	CHECK(tokens_tell(&c, "/nonexistent", &err) < 0 &&
	      !strstr(err.text, "new:"));
}

int main(void)
{
	int fd = mkstemp(path);

	CHECK(fd >= 0 && close(fd) == 0 && unlink(path) == 0);
	asks();
	served();
	in_pieces();
	at_the_ends();
	renewed();
	unlink(path);
	return check_status();
}
