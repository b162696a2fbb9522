/* What HAProxy is told by its runtime socket, to the letter, and what the gate
 * makes of its answers. */
#include "runtime/gate/l7/l7.h"
#include "runtime/gate/l7/tokens.h"
#include "tests/unit/gate/administrator.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#define ADMIN  administrator_path
#define DIGITS "0123456789abcdef01234567"

static struct err err;
static struct l7 l;

/* --- calls that do not do all at once --------------------------------------
 */

static short waits;			/* for what, so far */
static int64_t later_ms, wait_takes_ms; /* by this test's clock */
static int64_t frozen_ms;		/* it stands; 0: it runs */
static nfds_t slow_n;			/* which waits take so long; 0: all */
static int rest_ms;			/* the last wait for lines alone */

/* The next one of that name; the Makefile wraps these for this test alone. */
static struct {
	const char *call; /* NULL: none */
	int result, code;
	int64_t takes_ms;
} next_call;
static void next_is(const char *call, int result, int code)
{
	next_call.call = call;
	next_call.result = result;
	next_call.code = code;
	next_call.takes_ms = 0;
}

static bool is_next(const char *call)
{
	if (!next_call.call || strcmp(next_call.call, call) != 0)
		return false;
	next_call.call = NULL;
	later_ms += next_call.takes_ms;
	errno = next_call.code;
	return true;
}

#define WRAPPED(type, name, parameters, arguments)                             \
	type __real_##name parameters;                                         \
	type __wrap_##name parameters;                                         \
	type __wrap_##name parameters                                          \
	{                                                                      \
		return is_next(#name) ? next_call.result                       \
				      : __real_##name arguments;               \
	}

WRAPPED(ssize_t, send, (int fd, const void *p, size_t n, int flags),
	(fd, p, n, flags))
WRAPPED(ssize_t, recv, (int fd, void *p, size_t n, int flags),
	(fd, p, n, flags))
int64_t __real_clock_ms(void);
int64_t __wrap_clock_ms(void);
int __real_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms);

int64_t __wrap_clock_ms(void)
{
	return (frozen_ms ? frozen_ms : __real_clock_ms()) + later_ms;
}

int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
	if (slow_n == 0 || n == slow_n)
		later_ms += wait_takes_ms;
	rest_ms = n == 1 ? ms : rest_ms;
	waits |= n ? p[0].events : 0;
	return is_next("poll") ? next_call.result : __real_poll(p, n, ms);
}

/* --- questions ------------------------------------------------------------ */

static int ask(size_t n, size_t *out_n)
{
	static char text[ADMIN_BATCH_MAX + 2], answer[ADMIN_ANSWER_MAX];

	memset(text, 'x', sizeof(text));
	text[n - 1] = '\n';
	*out_n = 0;
	return admin_ask(ADMIN, (struct str){text, n}, answer, out_n, &err);
}

static void sizes(void)
{
	static char answer[ANSWER_MAX],
		path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1];
	char got[ADMIN_ANSWER_MAX];
	size_t n;

	ANSWERS("yes\n", "yes\n");
	CHECK(ask(ADMIN_BATCH_MAX, &n) == 0 && n == 4);
	CHECK(ask(ADMIN_BATCH_MAX + 1, &n) == -EMSGSIZE &&
	      administrator->n == 1);
	memset(answer, 'y', ADMIN_ANSWER_MAX - 1);
	ANSWERS(answer);
	CHECK(ask(2, &n) == 0 && n == ADMIN_ANSWER_MAX - 1);
	memset(answer, 'y', ADMIN_ANSWER_MAX + 1);
	ANSWERS(answer, answer, "few", "");
	CHECK(ask(2, &n) == -EMSGSIZE && n == ADMIN_ANSWER_MAX);
	CHECK(admin_ask_some(ADMIN, STR("x\n"), got, &n, &err) == 0 &&
	      n == ADMIN_ANSWER_MAX);
	CHECK(admin_ask_some(ADMIN, STR("x\n"), got, &n, &err) == 0 && n == 3);
	CHECK(admin_ask_some(ADMIN, STR("x\n"), got, &n, &err) == 0 && n == 0);
	n = 0;
	CHECK(admin_ask_some(ADMIN, (struct str){answer, ADMIN_BATCH_MAX + 1},
			     got, &n, &err) == -EMSGSIZE);
	n = 5;
	CHECK(admin_ask_some("/none", STR("x\n"), got, &n, &err) == -ENOENT);
	memset(path, '/', sizeof(path) - 1);
	CHECK(admin_ask(path, STR("x\n"), got, &n, &err) == -ENAMETOOLONG);
	path[sizeof(path) - 2] = '\0';
	CHECK(admin_ask(path, STR("x\n"), got, &n, &err) < 0 &&
	      err.code != -ENAMETOOLONG);
	CHECK(admin_ask("/none/admin", STR("x\n"), got, &n, &err) == -ENOENT);
}

/* What is to be tried again, and what is not. */
static void by_and_by(void)
{
	static const struct {
		const char *call;
		int result, code, rc;
	} cases[] = {
		{"send", -1, EAGAIN, 0}, {"send", -1, EINTR, 0},
		{"send", -1, EIO, -EIO}, {"recv", -1, EAGAIN, 0},
		{"recv", -1, EINTR, 0},	 {"recv", -1, EIO, -EIO},
		{"poll", -1, EINTR, 0},
	};
	size_t n;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		ANSWERS("yes\n", "yes\n");
		next_is(cases[i].call, cases[i].result, cases[i].code);
		CHECK_MSG(ask(2, &n) == cases[i].rc && !next_call.call &&
				  (n == 4) == (cases[i].rc == 0),
			  "%zu: %d %zu", i, err.code, n);
	}
	/* none of it was taken: that is waited for */
	waits = 0;
	ANSWERS("yes\n", "yes\n");
	CHECK(ask(2, &n) == 0 && waits == POLLIN);
	next_is("send", 0, EIO);
	CHECK(ask(2, &n) == 0 && waits == (POLLIN | POLLOUT));
}

/* An answer that comes when it was not waited for any more. */
static void too_late(void)
{
	size_t n = 0;

	frozen_ms = 1000000;
	for (int more = 0; more < 2; more++) {
		ANSWERS("yes\n");
		wait_takes_ms = ADMIN_WAIT_MS + more;
		CHECK(ask(2, &n) == -ETIMEDOUT && n == 0);
	}
	frozen_ms = wait_takes_ms = 0;
}

static char mute_path[64];

/* Where nobody takes what comes. */
static int listen_at(const char *end)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(mute_path, sizeof(mute_path), "%s%s", ADMIN, end);
	strcpy(sa.sun_path, mute_path);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 1) == 0);
	return fd;
}

/* What could not be said in time is not said later. */
static void unsaid(void)
{
	int mute = listen_at(".unsaid"), fd;
	char got[8];
	size_t n = 0;

	next_is("send", -1, EAGAIN);
	next_call.takes_ms = ADMIN_WAIT_MS;
	CHECK(admin_ask(mute_path, STR("x\n"), (char[ADMIN_ANSWER_MAX]){0}, &n,
			&err) == -ETIMEDOUT);
	fd = accept(mute, NULL, NULL);
	CHECK(__real_recv(fd, got, sizeof(got), 0) == 0);
	close(fd);
	close(mute);
	unlink(mute_path);
}

/* With as many files as it may have, and where the first is to be had. */
static void files(void)
{
	struct rlimit few = {3, 3};
	int status = -1;
	pid_t pid = fork();
	size_t n;

	if (pid == 0) {
		close(0);
		ANSWERS("yes\n");
		if (ask(2, &n) != 0 || n != 4)
			_exit(1);
		CHECK(open("/dev/null", O_RDONLY) == 0);
		close_range(3, ~0u, 0);
		setrlimit(RLIMIT_NOFILE, &few);
		_exit(ask(2, &n) == -EMFILE ? 0 : 2);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static void done(void)
{
	static char x[] = "x";
	struct str said;

	CHECK(admin_do("/none/admin", STR("a\n"), 0, NULL, &err) == -ENOENT);
	CHECK(!admin_done(STR("\nhalf"), 1, "half", &said) &&
	      str_is(said, "\nhalf"));
	CHECK(!admin_done(STR("\nOther.\n\n"), 2, "Fine.", &said) &&
	      str_is(said, "Other."));
	CHECK(admin_done((struct str){x + 1, 0}, 0, NULL, &said));
	ANSWERS("\n\n", "\nNo such thing.\n\n", "No such thing.\n\n", "\n");
	CHECK(admin_do(ADMIN, STR("a;b\n"), 2, NULL, &err) == 0);
	CHECK(admin_do(ADMIN, STR("a;b\n"), 2, "No such thing.", &err) == 0);
	CHECK(admin_do(ADMIN, STR("a\n"), 1, NULL, &err) == -EPROTO &&
	      strcmp(err.text, "HAProxy says 'No such thing.'") == 0);
	CHECK(admin_do(ADMIN, STR("a;b\n"), 2, NULL, &err) == -EPROTO);
}

/* --- meanwhile ------------------------------------------------------------ */

static unsigned steps, steps_until;
static int lets[2],
	more[2]; /* HAProxy waits for the one, step reads the other */

/* After so many of them HAProxy answers. */
static bool step(void *data)
{
	char c;

	CHECK(data == &steps);
	if (++steps < steps_until)
		return read(more[0], &c, 1) == 1;
	if (steps == steps_until)
		CHECK(write(lets[1], "", 1) == 1);
	return false; /* there is more, but not in this wait */
}

static void meanwhile(void)
{
	size_t n;

	CHECK(write(more[1], "abcdef", 6) == 6);
	administrator->wait = lets[0];
	admin_meanwhile(more[0], step, &steps);
	for (steps_until = 1; steps_until < 4; steps_until += 2) {
		steps = 0;
		ANSWERS("yes\n");
		CHECK(ask(2, &n) == 0 && n == 4);
		/* the end of the answer is waited for by itself */
		CHECK(steps >= steps_until && steps <= steps_until + 1);
	}
	administrator->wait = -1;
	admin_meanwhile(-1, NULL, NULL);
}

/* --- pins and tokens ------------------------------------------------------ */

static bool has_text(const char *path, const char *want)
{
	char text[400] = "";
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, sizeof(text) - 1);
	struct stat st;
	bool ok = n >= 0 && strcmp(text, want) == 0 && fstat(fd, &st) == 0 &&
		  (st.st_mode & 0777) == 0644;

	close(fd);
	unlink(path);
	return ok;
}

static void pins(void)
{
	static struct pins p;
	const struct addr a = {ADDR_V4, {11, 0, 0, 1}},
			  b = {ADDR_V6, {0x2a, 0x0e, [15] = 1}};
	const struct addr *both[] = {&a, &b};
	char file[64];

	pins_init(&p, "/pins");
	p.admin = ADMIN;
	ANSWERS("\n\n");
	CHECK(pins_add(&p, STR("a_9.test"), both, 2, 1000, &err) == 0);
	/* known, and only longer then */
	CHECK(pins_add(&p, STR("a_9.test"), both, 1, 2000, &err) == 0 &&
	      pins_add(&p, STR("a_9.test"), both, 1, 1500, &err) == 0);
	CHECK(TOLD("add map /pins a_9.test@11.0.0.1 1;"
		   "add map /pins a_9.test@2a0e::1 1\n"));
	ANSWERS("Key not found.\n\n");
	CHECK(pins_sweep(&p, 999, &err) == 0 && administrator->n == 0);
	CHECK(pins_sweep(&p, 1000, &err) == 0 && p.n == 1);
	CHECK(TOLD("del map /pins a_9.test@2a0e::1\n"));
	snprintf(file, sizeof(file), "%s.pins", ADMIN);
	CHECK(pins_file(&p, file, &err) == 0 &&
	      has_text(file, "a_9.test@11.0.0.1 1\n"));
	/* what it has read is not told again; what came since is */
	ANSWERS("\n", "\n", "no such map\n");
	CHECK(pins_add(&p, STR("z-0.test"), both, 1, 3000, &err) == 0);
	CHECK(pins_follow(&p, ADMIN, &err) == 0);
	CHECK(TOLD("add map /pins z-0.test@11.0.0.1 1\n",
		   "add map /pins z-0.test@11.0.0.1 1\n"));
	/* none that HAProxy has not */
	CHECK(pins_add(&p, STR("y.test"), both, 1, 3000, &err) == -EPROTO &&
	      p.n == 2);
	for (const char *c = "/:@[`{A Z"; *c; c++) {
		char name[] = "a?.test";

		name[1] = *c;
		CHECK(pins_add(&p, str_of(name), both, 1, 3000, &err) == 0);
	}
	CHECK(p.n == 2 && administrator->n == 3);
	ANSWERS("\n\n");
	CHECK(pins_sweep(&p, 5000, &err) == 0 && p.n == 0);
	CHECK(TOLD("del map /pins a_9.test@11.0.0.1;"
		   "del map /pins z-0.test@11.0.0.1\n"));
}

/* --- more pins ------------------------------------------------------------ */

#define NUMBERED 6000u /* names; of the buckets many have several */

static struct pins many;
static struct addr addrs[300];
static const struct addr *all[ARRAY_LEN(addrs)];

static void begin_many(const char *admin)
{
	for (size_t i = 0; i < ARRAY_LEN(addrs); i++) {
		addrs[i] = (struct addr){
			ADDR_V4, {11, 0, (uint8_t)(i >> 8), (uint8_t)i}};
		all[i] = &addrs[i];
	}
	memset(&many, 0, sizeof(many));
	pins_init(&many, "/pins");
	many.admin = admin;
}

static void add_numbered(unsigned from, unsigned each, int64_t until_ms)
{
	char name[32];

	for (unsigned i = from; i < NUMBERED; i += each) {
		snprintf(name, sizeof(name), "n%u.test", i);
		CHECK(pins_add(&many, str_of(name), all, 1, until_ms, &err) ==
		      0);
	}
}

static void sweep_all(int64_t now_ms)
{
	for (uint32_t before = 0; before != many.n;) {
		before = many.n;
		CHECK(pins_sweep(&many, now_ms, &err) == 0);
	}
}

/* Several of a bucket: each goes alone, and none is taken for another. */
static void same_buckets(void)
{
	begin_many(NULL);
	add_numbered(0, 1, 100);
	CHECK(many.n == NUMBERED);
	add_numbered(0, 3, 200);
	CHECK(many.n == NUMBERED);
	sweep_all(100);
	CHECK(many.n == NUMBERED / 3);
	add_numbered(0, 1, 300);
	CHECK(many.n == NUMBERED && many.n_ever == many.n);
	sweep_all(300);
	CHECK(many.n == 0);
}

/* To the last one that there is room for. */
static void full_of_pins(void)
{
	char name[LIMIT_NAME_BYTES + 2];

	begin_many(NULL);
	many.n = many.n_ever = PINS_MAX - 1;
	CHECK(pins_add(&many, STR("a.test"), all, 2, 100, &err) == -ENFILE &&
	      many.n == PINS_MAX - 1);
	CHECK(pins_add(&many, STR("a.test"), all, 1, 100, &err) == 0 &&
	      many.n == PINS_MAX &&
	      strcmp(many.v[PINS_MAX - 1].name, "a.test") == 0);
	/* one that is as long as a name may be, and what takes its place */
	begin_many(NULL);
	memset(name, 'a', sizeof(name));
	CHECK(pins_add(&many, (struct str){name, LIMIT_NAME_BYTES + 1}, all, 1,
		       100, &err) == 0 &&
	      many.n == 0);
	CHECK(pins_add(&many, (struct str){name, LIMIT_NAME_BYTES}, all, 1, 100,
		       &err) == 0 &&
	      many.n == 1);
	sweep_all(100);
	CHECK(pins_add(&many, STR("b.test"), all, 1, 100, &err) == 0 &&
	      many.n_ever == 1 && strcmp(many.v[0].name, "b.test") == 0);
}

/* What HAProxy refuses of several batches ends it there. */
static void refused_batches(void)
{
	begin_many(ADMIN);
	ANSWERS("no\n", "no\n");
	CHECK(pins_add(&many, STR("a.test"), all, 300, 9, &err) == -EPROTO &&
	      many.n == 0 && administrator->n == 1);
	many.admin = NULL;
	CHECK(pins_add(&many, STR("a.test"), all, 300, 9, &err) == 0 &&
	      many.n == 300);
	CHECK(pins_follow(&many, ADMIN, &err) == -EPROTO &&
	      administrator->n == 2);
	CHECK(many.admin == administrator_path);
	CHECK(pins_sweep(&many, 9, &err) < 0 && administrator->n == 3);
}

/* A batch goes out when the longest command would not fit any more, and not
 * before. */
static void whole_batches(void)
{
	const size_t longest = 16 + 108 + LIMIT_NAME_BYTES + ADDR_TEXT_MAX + 8;
	const size_t rest = sizeof("add map /pins @11.0.0.0 1;") - 1;
	char name[LIMIT_NAME_BYTES + 1], done[TOLD_MAX * 8];

	for (unsigned full = 0; full < 2; full++) {
		size_t left = ADMIN_BATCH_MAX - longest + full, size, n = 0;

		begin_many(NULL);
		for (; left; left -= size, n++) {
			size = left >= 400 ? 200 : left > 200 ? left / 2 : left;
			memset(name, 'a', sizeof(name));
			name[n] = 'b';
			CHECK(pins_add(&many, (struct str){name, size - rest},
				       all, 1, 100, &err) == 0);
		}
		CHECK(pins_add(&many, STR("b.test"), all, 1, 100, &err) == 0);
		snprintf(done, sizeof(done), "%0*d", (int)(n + !full), 0);
		for (char *c = done; *c; c++)
			*c = '\n';
		ANSWERS(done, "\n");
		CHECK(pins_follow(&many, ADMIN, &err) == 0);
		CHECK(administrator->n == 1 + full);
	}
}

/* A place that is free, and those behind the last, are nobody's. */
static void free_places(void)
{
	char file[64];

	begin_many(NULL);
	CHECK(pins_add(&many, STR("a.test"), all, 1, 1, &err) == 0 &&
	      pins_add(&many, STR("b.test"), all, 1, 2, &err) == 0);
	strcpy(many.v[2].name, "c.test");
	CHECK(pins_sweep(&many, 1, &err) == 0 && many.n == 1);
	snprintf(file, sizeof(file), "%s.pins", ADMIN);
	close(0);
	CHECK(pins_file(&many, file, &err) == 0 &&
	      has_text(file, "b.test@11.0.0.0 1\n"));
	CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) == 0);
	many.v[1].filed = false;
	ANSWERS("\n", "\n");
	CHECK(pins_follow(&many, ADMIN, &err) == 0);
	CHECK(pins_sweep(&many, 2, &err) == 0);
	CHECK(TOLD("add map /pins b.test@11.0.0.0 1\n",
		   "del map /pins b.test@11.0.0.0\n"));
}

static int renew(struct hello_credentials *c, const char *value)
{
	cJSON *o = cJSON_CreateObject();
	int rc;

	cJSON_AddStringToObject(o, "2:" DIGITS, value);
	rc = tokens_renew(c, o, &err);
	cJSON_Delete(o);
	return rc;
}

static void tokens(void)
{
	static struct hello_credentials c = {
		.tokens = {{2, DIGITS, "one"}, {10, DIGITS, "a;b\\c<d e"}},
		.n_tokens = 2};
	static char longest[HELLO_VALUE_MAX + 2];
	char file[64], *one;

	snprintf(file, sizeof(file), "%s.tokens", ADMIN);
	/* the first descriptor is one like any other */
	close(0);
	CHECK(tokens_file(&c, file, &err) == 0 &&
	      has_text(file, "2:" DIGITS " one\n10:" DIGITS " a;b\\c<d e\n"));
	CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) == 0);
	ANSWERS("\n", "\n");
	err.text[0] = '\0';
	CHECK(tokens_tell(&c, ADMIN, &err) == 0 && !err.text[0]);
	CHECK(TOLD("set map " GATE_TOKENS " 2:" DIGITS " one\n",
		   "set map " GATE_TOKENS " 10:" DIGITS " a\\;b\\\\c\\<d e\n"));
	ANSWERS("set map: one is wrong\n", "\n");
	CHECK(tokens_tell(&c, ADMIN, &err) == -EPROTO &&
	      administrator->n == 1 &&
	      strcmp(err.text, "HAProxy did not take new tokens") == 0);
	CHECK(renew(&c, "!~") == 0 && renew(&c, " x") == -EPROTO &&
	      renew(&c, "x\x7f") == -EPROTO &&
	      renew(&c, "\xc3\xa4") == -EPROTO);
	memset(longest, 'x', sizeof(longest) - 1);
	CHECK(renew(&c, longest) == -EPROTO);
	longest[HELLO_VALUE_MAX] = '\0';
	CHECK(renew(&c, longest) == 0);
	/* what is behind them is nobody's */
	c.n_tokens = 0;
	CHECK(renew(&c, "x") == -EPROTO);
	c.n_tokens = 2;
	one = c.tokens[0].value;
	CHECK(strcmp(one, longest) == 0);
}

/* --- what it has in hand -------------------------------------------------- */

static void shut_down(void)
{
	ANSWERS("# bkname/svname bkid/svid addr port\n"
		"to_tls/one 3/1 11.0.0.1 443\n\n"
		"to_web/two 4/1 11.0.0.2 80\n",
		"\n\n", "# bkname\n", "x/y 1/1 a\n", "No such server.\n\n", "");
	CHECK(l7_shut_down(ADMIN, &err) == 0);
	CHECK(l7_shut_down(ADMIN, &err) == 0);
	CHECK(l7_shut_down(ADMIN, &err) == -EPROTO);
	CHECK(TOLD("show servers conn\n",
		   "shutdown sessions server to_tls/one;"
		   "shutdown sessions server to_web/two\n",
		   "show servers conn\n", "show servers conn\n",
		   "shutdown sessions server x/y\n"));
	CHECK(l7_shut_down("/none/admin", &err) == -ENOENT);
}

/* As many of them as one batch has room for: "shutdown sessions server NAME;"
 * of each, and a little more. */
static void shut_down_many(void)
{
	static char answer[ANSWER_MAX], blank[100];
	size_t n = 0, each = 25 + 100 + 1, whole = ADMIN_BATCH_MAX - 64;
	unsigned servers = (unsigned)(whole / each) - 1;

	for (int over = 0; over < 2; over++) {
		size_t last = whole - servers * each + (size_t)over;

		n = 0;
		for (unsigned i = 0; i < servers; i++)
			n += (size_t)snprintf(answer + n, sizeof(answer) - n,
					      "%0100u 1\n", i);
		snprintf(answer + n, sizeof(answer) - n, "%0*u 1\n", (int)last,
			 7u);
		memset(blank, '\n', sizeof(blank));
		blank[servers + !over] = '\0';
		ANSWERS(answer, blank);
		CHECK_MSG(l7_shut_down(ADMIN, &err) == 0, "%s", err.text);
		n = strlen(administrator->told[1]);
		CHECK_MSG(n == servers * each + (over ? 0 : 26 + last), "%zu",
			  n);
	}
	/* the first is too long, and one behind it is not */
	memset(answer, 'x', ADMIN_BATCH_MAX);
	snprintf(answer + ADMIN_BATCH_MAX, 32, " 1\na/b 1\n");
	ANSWERS(answer, "\n");
	CHECK(l7_shut_down(ADMIN, &err) == 0 &&
	      TOLD("show servers conn\n", "shutdown sessions server a/b\n"));
}

static unsigned lines;

static void count_line(void *data, pid_t pid, const struct logline *line)
{
	CHECK(data == &lines && pid > 0 && line->kind == LOGLINE_CONNECT);
	lines++;
}

#define OURS                                                                   \
	"0x1: proto=unix_stream src=unix:1 fe=GLOBAL be=<NONE> srv=<none>\n"
#define IDLE  "0x2: proto=tcpv4 src=1:2 fe=raw be=<NONE> srv=<none> ts=00\n"
#define BUSY  "0x3: proto=tcpv4 src=1:3 fe=raw be=to_tls srv=tls ts=00\n"
#define BUSY2 "0x4: proto=tcpv4 src=1:4 fe=raw be=to_web srv=web ts=00\n"

/* "shutdown session NUMBER;" of each, and a little more. */
static void hear_out_many(void)
{
	static char answer[ANSWER_MAX], blank[100];
	size_t n = 0, each = 17 + 100 + 1, whole = ADMIN_BATCH_MAX - 32;
	unsigned streams = (unsigned)(whole / each) - 1;

	for (int over = 0; over < 2; over++) {
		size_t last = whole - streams * each + (size_t)over;

		n = 0;
		for (unsigned i = 0; i < streams; i++)
			n += (size_t)snprintf(answer + n, sizeof(answer) - n,
					      "0x%098u: srv=a\n", i);
		snprintf(answer + n, sizeof(answer) - n, "0x%0*u: srv=a\n",
			 (int)last - 2, 7u);
		memset(blank, '\n', sizeof(blank));
		blank[streams + !over] = '\0';
		ANSWERS(answer, blank, OURS);
		l7_hear_out(&l, ADMIN);
		CHECK(administrator->n == 3);
		n = strlen(administrator->told[1]);
		CHECK_MSG(n == streams * each + (over ? 0 : 18 + last), "%zu",
			  n);
	}
}

/* For lines of streams that there are, and of no others. */
static void waits_for_whom(void)
{
	static const struct {
		const char *answer;
		int ms;
	} cases[] = {
		{"", 0},
		{OURS, 0},
		{OURS "\n", 0},
		{OURS "nonsense\n", 0},
		{OURS "foo: srv=x\n", 0},
		{OURS IDLE, L7_SETTLE_MS},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		ANSWERS(cases[i].answer);
		rest_ms = -1;
		l7_hear_out(&l, ADMIN);
		CHECK_MSG(rest_ms == cases[i].ms && administrator->n == 1,
			  "%zu: %d", i, rest_ms);
	}
	/* and for no longer than it may */
	ANSWERS(BUSY, "\n", BUSY, "\n", OURS);
	frozen_ms = 1000000;
	slow_n = 1; /* those for lines */
	wait_takes_ms = L7_CLOSE_MS;
	l7_hear_out(&l, ADMIN);
	CHECK(administrator->n == 2);
	wait_takes_ms = L7_CLOSE_MS - 1;
	l7_hear_out(&l, ADMIN);
	CHECK(administrator->n == 5);
	slow_n = 0;
	frozen_ms = wait_takes_ms = 0;
}

static void hear_out(void)
{
	static const char line[] = "{\"k\":\"conn\",\"verdict\":\"allow\","
				   "\"reason\":\"granted\"}";
	char path[64];
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd;

	snprintf(path, sizeof(path), "%s.log", ADMIN);
	/* the first descriptor is one like any other */
	close(0);
	CHECK(l7log_open(&l.log, path, &err) == 0 && l.log.fd == 0);
	l.on_line = count_line;
	l.data = &lines;
	ANSWERS(OURS "nonsense\n" IDLE BUSY BUSY2, "\n\n", OURS BUSY,
		"No such session (use 'show sess').\n\n", OURS);
	l7_hear_out(&l, ADMIN);
	CHECK(TOLD("show sess\n", "shutdown session 0x3;shutdown session 0x4\n",
		   "show sess\n", "shutdown session 0x3\n", "show sess\n"));
	/* who goes to no server is not waited for, nor ended */
	ANSWERS(OURS IDLE);
	l7_hear_out(&l, ADMIN);
	CHECK(TOLD("show sess\n"));
	/* a line is read, and then there may be more */
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	CHECK(sendto(fd, line, strlen(line), 0, (struct sockaddr *)&sa,
		     sizeof(sa)) > 0);
	ANSWERS(OURS, OURS);
	l7_hear_out(&l, ADMIN);
	CHECK(lines == 1 && TOLD("show sess\n", "show sess\n"));
	/* what HAProxy refuses ends it */
	ANSWERS(BUSY, "no\n", BUSY);
	l7_hear_out(&l, ADMIN);
	CHECK(TOLD("show sess\n", "shutdown session 0x3\n"));
	/* nor is anything heard of who does not answer */
	CHECK(sendto(fd, line, strlen(line), 0, (struct sockaddr *)&sa,
		     sizeof(sa)) > 0);
	l7_hear_out(&l, "/none/admin");
	CHECK(lines == 1 && l7log_read(&l.log, count_line, &lines) == 1);
	hear_out_many();
	waits_for_whom();
	close(fd);
	close(l.log.fd);
	CHECK(open("/dev/null", O_RDWR | O_CLOEXEC) == 0);
	unlink(path);
	l.log.fd = -1;
}

static uint64_t lost;
static char complaint[200];
static unsigned losses, complaints;

static void on_lost(void *data, uint64_t n)
{
	(void)data;
	lost += n;
	losses++;
}

static void on_error(void *data, const char *message)
{
	(void)data;
	complaints++;
	snprintf(complaint, sizeof(complaint), "%s", message);
}

static uint64_t lost_now(const char *info)
{
	lost = 0;
	ANSWERS(info);
	l7_count_dropped(&l, ADMIN);
	CHECK(TOLD("show info\n"));
	return lost;
}

static void dropped(void)
{
	l.on_lost = on_lost;
	l.on_error = on_error;
	l.dropped = 0;
	CHECK(lost_now("Name: HAProxy\nDroppedLogs: 5\nUptime: 9\n") == 5);
	CHECK(lost_now("Name: HAProxy\nDroppedLogs: 7\n") == 2);
	CHECK(lost_now("Name: HAProxy\nDroppedLogs: 7\n") == 0);
	/* a HAProxy that has begun anew */
	CHECK(lost_now("Name: HAProxy\nDroppedLogs: 1\n") == 0);
	CHECK(lost_now("Name: HAProxy\nDroppedLogs: 2\n") == 1);
	/* of an answer nothing is read that the one before it had */
	CHECK(lost_now("N") == 0 && l.dropped == 0);
	CHECK(lost_now("Name: HAProxy\n") == 0 && !complaint[0]);
	CHECK(losses == 3 && complaints == 0);
	l7_count_dropped(&l, "/none/admin");
	CHECK(strstr(complaint, "/none/admin"));
}

/* --- is it there ---------------------------------------------------------- */

/* Who hangs up may have ended: that is seen by its own descriptor. */
static void hung_up(struct haproxy *h)
{
	static const struct {
		const char *call;
		int code, rc;
	} cases[] = {{"send", EPIPE, 0},
		     {"recv", ECONNRESET, 0},
		     {"send", EIO, -EIO},
		     {"recv", EIO, -EIO}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		ANSWERS("");
		next_is(cases[i].call, -1, cases[i].code);
		CHECK(haproxy_ready(h, ADMIN, "/pins", &err) == cases[i].rc &&
		      !next_call.call);
	}
}

static void ready(void)
{
	static char much[ANSWER_MAX];
	struct haproxy h = haproxy_none();
	eventfd_t opened = 0;
	char mine[64], both[80];
	pid_t pid = fork();
	int door, mute, was;

	if (pid == 0) {
		pause();
		_exit(0);
	}
	h.pid = pid;
	h.pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	snprintf(mine, sizeof(mine), "Name: HAProxy\nPid: %d\n", (int)pid);
	CHECK(haproxy_ready(&h, "/none/admin", "/pins", &err) == 0);
	/* one that listens, and is not heard in time */
	mute = listen_at(".mute");
	next_is("poll", 0, 0);
	wait_takes_ms = ADMIN_WAIT_MS + 1;
	CHECK(haproxy_ready(&h, mute_path, "/pins", &err) == 0);
	wait_takes_ms = 0;
	close(mute);
	unlink(mute_path);
	ANSWERS("Name: HAProxy\nPid: 1\n");
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == 0 &&
	      TOLD("show info\n"));
	ANSWERS(mine, "type=str, case=sensitive, found=no\n");
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == 1 &&
	      TOLD("show info\n", "get map /pins -\n"));
	ANSWERS(mine, "Unknown map identifier.\n");
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == -EPROTO &&
	      strcmp(err.text, "HAProxy has no map /pins") == 0);
	/* of an answer nothing is read that the one before it had */
	ANSWERS(mine, "");
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == 0);
	snprintf(both, sizeof(both), "%sfound=no\n", mine);
	ANSWERS(both, "none\n");
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == -EPROTO);
	ANSWERS("N");
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == 0 &&
	      TOLD("show info\n"));
	memset(much, 'y', ADMIN_ANSWER_MAX + 1);
	ANSWERS(much, "found=no\n");
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == -EMSGSIZE);
	ANSWERS(mine, much);
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == -EMSGSIZE);
	hung_up(&h);
	CHECK(!haproxy_ended(&h));
	/* its ports are opened once; one whose ports are its own has no door */
	CHECK(haproxy_open(&h, &err) == 0);
	h.door = was = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	door = dup(h.door);
	CHECK(haproxy_open(&h, &err) == 0 && h.door == -1 &&
	      eventfd_read(door, &opened) == 0 && opened == 1 &&
	      fcntl(was, F_GETFD) < 0);
	close(door);
	haproxy_finish(&h);
	haproxy_pause(&h);
	CHECK(poll(&(struct pollfd){h.pidfd, POLLIN, 0}, 1, 10000) == 1);
	CHECK(haproxy_ended(&h) &&
	      haproxy_ready(&h, "/none/admin", "/pins", &err) == -EPIPE &&
	      strcmp(err.text, "HAProxy ended: it said nothing") == 0);
	/* whoever has answered was there */
	ANSWERS(mine, "found=no\n");
	CHECK(haproxy_ready(&h, ADMIN, "/pins", &err) == 1);
	haproxy_end(&h);
	CHECK(h.pid == 0 && h.pidfd == -1 && waitpid(pid, NULL, 0) < 0);
}

static const char *words_of(const char *text, bool ended)
{
	static struct hello_credentials secrets = {
		.n = 2, .v = {"MEMBRANE_CREDENTIAL_1=hush", "A_2=quiet"}};
	static struct haproxy h;
	int pair[2];

	h = haproxy_none();
	h.secrets = &secrets;
	CHECK(pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0);
	h.words = pair[0];
	CHECK(write(pair[1], text, strlen(text)) == (ssize_t)strlen(text));
	if (ended)
		close(pair[1]);
	haproxy_read(&h);
	CHECK((h.words < 0) == ended);
	haproxy_read(&h);
	haproxy_end(&h);
	if (!ended)
		close(pair[1]);
	return haproxy_words(&h);
}

static void words(void)
{
	static char text[1200];

	CHECK(strcmp(words_of("", true), "it said nothing") == 0);
	CHECK(strcmp(words_of("[NOTICE] x\n[ALERT] first\n[ALERT] last\n",
			      true),
		     "[ALERT] first") == 0);
	/* of a line that goes on nothing is known yet, or it is the last */
	CHECK(strcmp(words_of("[ALERT] fi", false), "it said nothing") == 0);
	CHECK(strcmp(words_of("[ALERT] fi", true), "[ALERT] fi") == 0);
	CHECK(strcmp(words_of("[ALERT] Lua function x\n[ALERT] y\n", true),
		     "[ALERT] y") == 0);
	CHECK(strcmp(words_of("[ALERT] hush, quiet hushhush 1=hus\n", true),
		     "[ALERT] ****, ***** ******** 1=hus") == 0);
	memset(text, 'x', 1000);
	memcpy(text + 511, "[ALERT] z", 9);
	CHECK(strncmp(words_of(text, true), "[ALERT] z", 9) == 0 &&
	      strlen(words_of(text, true)) == 255);
	memcpy(text + 505, "[ALERT] z", 9);
	CHECK(strcmp(words_of(text, true), "it said nothing") == 0);
}

int main(void)
{
	CHECK(pipe2(lets, O_CLOEXEC) == 0 && pipe2(more, O_CLOEXEC) == 0);
	administrator_start();
	l7_init(&l);
	sizes();
	by_and_by();
	too_late();
	unsaid();
	files();
	done();
	pins();
	same_buckets();
	full_of_pins();
	refused_batches();
	whole_batches();
	free_places();
	tokens();
	shut_down();
	shut_down_many();
	hear_out();
	dropped();
	ready();
	words();
	meanwhile();
	administrator_end();
	return check_status();
}
