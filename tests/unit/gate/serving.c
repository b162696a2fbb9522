/*
 * A gate's HAProxy from its plan to its end: what there is before it begins,
 * when it serves, what is done in each turn. In its place is this program, and
 * its runtime socket is the test's.
 */
#include "runtime/gate/l7/l7.h"

#include "compiler/base/sys/clock.h"
#include "tests/unit/gate/administrator.h"
#include "tests/unit/gate/haproxy_standin.h"
#include "tests/unit/gate/plans.h"
#include "tests/unit/gate/refused.h"

#include <malloc.h>

#define DIGITS	 "0123456789abcdef01234567"
#define PROFILES "membrane-profiles 1\n1 a.test g-0123456789\n"
#define LEAVES	 GATE_LEAVES "1.pem a.test\n" GATE_LEAVES "2.pem *.b.test\n"
#define INFO	 "show info\n"
#define MAP	 "get map " GATE_PINS " -\n"
#define TOKEN	 "set map " GATE_TOKENS " 7:" DIGITS " "
#define FOUND	 "found=no\n"

static struct l7 l;
static struct names_map names;

/* --- what is told --------------------------------------------------------- */

static char complaint[400];
static uint64_t lost;
static unsigned lines, asked;

static void on_error(void *data, const char *message)
{
	CHECK(data == &l);
	snprintf(complaint, sizeof(complaint), "%s", message);
}

static void on_lost(void *data, uint64_t n)
{
	CHECK(data == &l);
	lost += n;
}

static void on_line(void *data, pid_t pid, const struct logline *line)
{
	CHECK(data == &l && pid > 0 && line->kind == LOGLINE_CONNECT);
	lines++;
}

static bool on_renewal(void *data, const struct renewal_ask *ask)
{
	CHECK(data == &l && ask->n == 7);
	asked = ask->id;
	return true;
}

/* --- how it waits --------------------------------------------------------- */

/* Before each wait; the Makefile wraps this for this test alone. */
static void (*on_wait)(const struct pollfd *p, nfds_t n, int ms);

int __real_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms);

int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
	if (on_wait)
		on_wait(p, n, ms);
	return __real_poll(p, n, ms);
}

/* Nor is there a certificate when this test wants none. */
static bool no_authority, no_leaf;

int __real_ca_new(struct ca *ca, struct err *e);
int __wrap_ca_new(struct ca *ca, struct err *e);
int __real_ca_leaf(const struct ca *ca, const struct str *v, size_t n,
		   char out[CA_LEAF_MAX], size_t *out_n, struct err *e);
int __wrap_ca_leaf(const struct ca *ca, const struct str *v, size_t n,
		   char out[CA_LEAF_MAX], size_t *out_n, struct err *e);

int __wrap_ca_new(struct ca *ca, struct err *e)
{
	return no_authority ? err_set(e, -EIO, "no authority")
			    : __real_ca_new(ca, e);
}

int __wrap_ca_leaf(const struct ca *ca, const struct str *v, size_t n,
		   char out[CA_LEAF_MAX], size_t *out_n, struct err *e)
{
	return no_leaf ? err_set(e, -EIO, "no leaf")
		       : __real_ca_leaf(ca, v, n, out, out_n, e);
}

static unsigned pauses, waits;
static int lets[2], second; /* HAProxy waits for the one */

static void count_pause(const struct pollfd *p, nfds_t n, int ms)
{
	pauses +=
		n == 1 && p[0].fd == l.haproxy.pidfd && ms == HAPROXY_RETRY_MS;
}

/* HAProxy answers at the second, which waits for that and for what? */
static void see_second(const struct pollfd *p, nfds_t n, int ms)
{
	CHECK(n == 2 && ms > 0);
	if (++waits != 2)
		return;
	second = p[1].fd;
	CHECK(write(lets[1], "", 1) == 1);
}

/* --- its plan ------------------------------------------------------------- */

static void put_files(const char *config, const char *profiles,
		      const char *leaves)
{
	(void)rmdir(PLAN "/gate.cfg");
	(void)rmdir(PLAN "/crt.lst");
	put_plan("gate.cfg", config);
	put_plan("profiles.map", profiles);
	put_plan("crt.lst", leaves);
}

static int load(struct l7_plan *p)
{
	*p = (struct l7_plan){0};
	return l7_load(p, PLAN, &err);
}

static void unreadable(void)
{
	struct l7_plan p;

	put_files("x", NULL, NULL);
	CHECK(load(&p) == -ENOENT && !p.wanted && !p.config.p);
	put_files("x", "nonsense\n", NULL);
	CHECK(load(&p) == -EPROTO &&
	      strncmp(err.text, "profiles.map: ", 14) == 0);
	put_files("x", PROFILES, NULL);
	CHECK(mkdir(PLAN "/crt.lst", 0755) == 0 && load(&p) < 0 && !p.wanted);
	put_files(NULL, PROFILES, NULL);
	CHECK(mkdir(PLAN "/gate.cfg", 0755) == 0 && load(&p) < 0 && !p.wanted);
}

static void readable(void)
{
	struct l7_plan p;

	put_files(NULL, NULL, LEAVES);
	CHECK(load(&p) == 0 && !p.wanted && !p.decrypts && p.generation == 1);
	put_files("x", PROFILES, NULL);
	CHECK(load(&p) == 0 && p.wanted && !p.decrypts && p.generation == 1 &&
	      str_is(p.config, "x") && p.profiles.n == 1 &&
	      strcmp(p.path, PLAN "/gate.cfg") == 0);
	l7_plan_free(&p);
	CHECK(!p.wanted && !p.config.p && p.generation == 0);
	put_files("x", PROFILES, LEAVES);
	CHECK(load(&p) == 0 && p.decrypts && str_is(p.crtlist, LEAVES));
	l7_plan_free(&p);
}

/* The heap is as it was, once it has kept for itself what it will. */
static void loads(void)
{
	size_t before = 0;

	for (unsigned i = 0; i < 40; i++) {
		if (i == 20)
			before = mallinfo2().uordblks;
		unreadable();
		readable();
	}
	CHECK(mallinfo2().uordblks == before);
}

/* --- before it begins ----------------------------------------------------- */

static void set_tokens(struct l7 *of, unsigned n)
{
	of->credentials.n_tokens = n;
	of->credentials.tokens[0] =
		(struct hello_token){.n = 7, .digits = DIGITS, .value = "old"};
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

/* Nothing that it has no use for. */
static void prepares_little(void)
{
	static struct l7 little;
	static const struct l7_plan plain = {.wanted = true};
	size_t before = 0;

	l7_init(&little);
	CHECK(little.haproxy.pidfd == -1 && little.next.words == -1 &&
	      little.past[L7_PAST - 1].haproxy.door == -1);
	CHECK(l7_start(&little, &err) == 0 && l7_begin(&little, &err) == 0 &&
	      l7_wait(&little, &err) == 0 && little.log.fd == -1 &&
	      !little.haproxy.pid && !is_there(GATE_PINS));
	little.ports.own = true;
	CHECK(mkdir(GATE_LOG, 0755) == 0 &&
	      l7_prepare(&little, &plain, &err) < 0 &&
	      strstr(err.text, GATE_LOG) && rmdir(GATE_LOG) == 0);
	CHECK(l7_prepare(&little, &plain, &err) == 0);
	CHECK(little.log.fd >= 0 && !little.ca.key && !little.ports.open &&
	      little.signer.clients.listener == -1 &&
	      little.renewal.clients.listener == -1 && !is_there(GATE_SIGNER) &&
	      !is_there(GATE_RENEWAL) && is_there(GATE_PINS));
	/* and of its text nothing is left */
	put_files("x", PROFILES, NULL);
	for (unsigned i = 0; i < 20; i++) {
		if (i == 10)
			before = mallinfo2().uordblks;
		CHECK(load(&little.plan) == 0 && l7_start(&little, &err) == 0);
		l7_plan_free(&little.plan);
	}
	CHECK(mallinfo2().uordblks == before);
	close(little.log.fd);
	admin_meanwhile(-1, NULL, NULL);
}

static void prepares(void)
{
	int log, signer, renewal;
	const void *key;

	put_files("listen MEMBRANE_CREDENTIAL_1 x", PROFILES, LEAVES);
	CHECK(load(&l.plan) == 0);
	CHECK(l7_start(&l, &err) == -ENOENT &&
	      strstr(err.text, "a credential of the plan"));
	l.credentials.n = 1;
	strcpy(l.credentials.v[0], "MEMBRANE_CREDENTIAL_1=x");
	CHECK_MSG(l7_start(&l, &err) == 0, "%s", err.text);
	CHECK(!l.plan.config.p && l.plan.wanted && l.ca.key && l.ports.open &&
	      is_there(GATE_LEAVES "1.pem") && is_there(GATE_LEAVES "2.pem") &&
	      is_there(GATE_SIGNER) && is_there(GATE_TOKENS) &&
	      l.renewal.clients.listener == -1);
	CHECK(l.signer.ca == &l.ca && l.signer.names == &names &&
	      l.signer.profiles == &l.plan.profiles &&
	      strcmp(l.signer.admin, GATE_ADMIN) == 0 &&
	      strcmp(l.signer.list, "/plan/crt.lst") == 0 &&
	      strcmp(l.signer.dir, GATE_LEAVES) == 0);
	/* what is there already stays */
	log = l.log.fd;
	signer = l.signer.clients.listener;
	key = l.ca.key;
	set_tokens(&l, 1);
	CHECK(l7_prepare(&l, &l.plan, &err) == 0 && l.log.fd == log &&
	      l.ca.key == key && l.signer.clients.listener == signer);
	renewal = l.renewal.clients.listener;
	CHECK(renewal >= 0 && l7_prepare(&l, &l.plan, &err) == 0 &&
	      l.renewal.clients.listener == renewal);
}

/* The first descriptor is one like any other. */
static void first_file(void)
{
	int *const fds[] = {&l.log.fd, &l.signer.clients.listener,
			    &l.renewal.clients.listener};

	close(0);
	CHECK(l7_leaves(&l, &l.plan, &err) == 0 && l7_failures(&err) == 0);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++) {
		int was = *fds[i];

		CHECK(dup2(was, 0) == 0);
		*fds[i] = 0;
		CHECK(l7_prepare(&l, &l.plan, &err) == 0 && *fds[i] == 0);
		*fds[i] = was;
	}
}

static void no_certificate(void)
{
	no_leaf = true;
	CHECK(l7_leaves(&l, &l.plan, &err) == -EIO &&
	      strcmp(err.text, "crt.lst: no leaf") == 0);
	no_authority = true;
	ca_done(&l.ca);
	l.ca = (struct ca){0};
	CHECK(l7_leaves(&l, &l.plan, &err) == -EIO &&
	      strcmp(err.text, "no authority") == 0);
}

/* One that a file has no room for. */
static void large_leaf(void)
{
	struct rlimit some = {100, 100};

	signal(SIGXFSZ, SIG_IGN);
	CHECK(setrlimit(RLIMIT_FSIZE, &some) == 0 &&
	      l7_leaves(&l, &l.plan, &err) == -ENOSPC &&
	      strstr(err.text, "no room"));
}

static void leaves(void)
{
	struct l7_plan p = {.crtlist = STR("/etc/1.pem a.test\n")};

	CHECK(l7_leaves(&l, &p, &err) == -EPROTO &&
	      strncmp(err.text, "crt.lst: ", 9) == 0);
	CHECK(unlink(GATE_LEAVES "1.pem") == 0 &&
	      mkdir(GATE_LEAVES "1.pem", 0755) == 0);
	CHECK(l7_leaves(&l, &l.plan, &err) == -EISDIR &&
	      strstr(err.text, GATE_LEAVES "1.pem"));
	CHECK(rmdir(GATE_LEAVES "1.pem") == 0 &&
	      l7_leaves(&l, &l.plan, &err) == 0);
	/* one on a disk that is full */
	CHECK(unlink(GATE_LEAVES "1.pem") == 0 &&
	      symlink("/dev/full", GATE_LEAVES "1.pem") == 0 &&
	      l7_leaves(&l, &l.plan, &err) == -ENOSPC);
	CHECK(unlink(GATE_LEAVES "1.pem") == 0);
}

/* --- until it serves ------------------------------------------------------ */

static char mine[64];

static int turn(int64_t now_ms)
{
	struct pollfd p[L7_POLL];

	l7_poll(&l, p);
	CHECK(poll(p, L7_POLL, 0) >= 0);
	return l7_step(&l, p, now_ms, &err);
}

static void begins(void)
{
	int64_t from_ms = clock_ms();

	ANSWERS("");
	CHECK(turn(0) == 0 && l.haproxy.pid > 0 && !l.serves &&
	      administrator->n == 0);
	CHECK(l.begun_ms >= from_ms && l.begun_ms <= clock_ms());
	snprintf(mine, sizeof(mine), "Name: HAProxy\nPid: %d\n",
		 (int)l.haproxy.pid);
	l.sweep_ms = INT64_MAX;
	ANSWERS("Name: HAProxy\nPid: 1\n", "", "");
	CHECK(turn(l.begun_ms + HAPROXY_WAIT_MS - 1) == 0 && !l.serves);
	CHECK(turn(l.begun_ms + HAPROXY_WAIT_MS) == -ETIMEDOUT && !l.serves &&
	      strstr(err.text, "does not begin"));
	CHECK(TOLD(INFO, INFO));
}

/* Who takes all that comes there, and says that. */
static pid_t answer_at(const char *path, const char *text)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), one;
	char got[4096];
	pid_t pid;

	unlink(path);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	CHECK(bind(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(fd, 8) == 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while ((one = accept(fd, NULL, NULL)) >= 0) {
			(void)!recv(one, got, sizeof(got), 0);
			(void)send(one, text, strlen(text), MSG_NOSIGNAL);
			close(one);
		}
		_exit(0);
	}
	close(fd);
	return pid;
}

static void end_of(pid_t pid, const char *path)
{
	kill(pid, SIGKILL);
	CHECK(waitpid(pid, NULL, 0) == pid);
	unlink(path);
}

/* Each thing that it must do, which it does not. */
static void serves_not(void)
{
	struct str list = l.plan.crtlist;
	int door = l.haproxy.door;
	pid_t pid, tls;

	ANSWERS(mine, "Unknown map identifier.\n");
	CHECK(turn(0) == -EPROTO && !l.serves);
	pid = answer_at(GATE_L7_PLAIN, "HTTP/1.1 200 OK\r\n\r\n");
	ANSWERS(mine, FOUND, mine, FOUND);
	CHECK(turn(0) == -EPROTO && !l.serves && TOLD(INFO, MAP, INFO, MAP) &&
	      strstr(err.text, "has not read"));
	/* of one that answers no more nothing is said but that it ended */
	ANSWERS(mine, FOUND, "");
	CHECK(turn(0) == 0 && !l.serves && TOLD(INFO, MAP, INFO));
	/* nor by the other, where there is nothing to be asked */
	l.plan.crtlist = STR("");
	tls = answer_at(GATE_L7_TLS, "");
	ANSWERS(mine, FOUND, mine, FOUND);
	CHECK(turn(0) == -EPROTO && strstr(err.text, "has not read"));
	end_of(tls, GATE_L7_TLS);
	l.plan.crtlist = list;
	end_of(pid, GATE_L7_PLAIN);
	pid = answer_at(GATE_L7_TLS, "HTTP/1.1 200 OK\r\n\r\n");
	ANSWERS(mine, FOUND, mine, FOUND);
	CHECK(turn(0) == -EPROTO && !l.serves &&
	      strstr(err.text, "TLS for a.test"));
	l.plan.crtlist = STR("nonsense\n");
	ANSWERS(mine, FOUND, mine, FOUND);
	CHECK(turn(0) == -EPROTO && !strstr(err.text, "TLS for"));
	/* without a line there is nothing to be asked for */
	l.plan.crtlist = STR("");
	ANSWERS(mine, FOUND, "no such map\n", mine, FOUND);
	CHECK(turn(0) == -EPROTO && strstr(err.text, "no such map"));
	end_of(pid, GATE_L7_TLS);
	l.plan.crtlist = list;
	ANSWERS(mine, FOUND, "\n", "no\n", mine, FOUND);
	CHECK(turn(0) == -EPROTO && !l.serves &&
	      strstr(err.text, "did not take new tokens"));
	l.haproxy.door = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ANSWERS(mine, FOUND, "\n", "\n");
	CHECK(turn(0) < 0 && !l.serves &&
	      strstr(err.text, "opening HAProxy's ports"));
	close(l.haproxy.door);
	l.haproxy.door = door;
}

static void serves(void)
{
	pid_t plain = answer_at(GATE_L7_PLAIN, "400: a bare LF\n");

	ANSWERS("", "Name: HAProxy\nPid: 1\n", mine, FOUND, "\n", "\n");
	l.count_ms = INT64_MAX;
	on_wait = count_pause;
	CHECK_MSG(l7_wait(&l, &err) == 0, "%s", err.text);
	on_wait = NULL;
	CHECK(pauses == 2);
	CHECK(l.serves && l.haproxy.door == -1);
	CHECK(TOLD(INFO, INFO, INFO, MAP,
		   "add map " GATE_PINS " a.test@11.0.0.1 1\n", TOKEN "old\n"));
	end_of(plain, GATE_L7_PLAIN);
	/* and no more is asked then */
	CHECK(l7_wait(&l, &err) == 0 && turn(0) == 0 && administrator->n == 6);
}

/* What is learned after its list was written. */
static void learns(void)
{
	static const struct addr a = {ADDR_V4, {11, 0, 0, 1}};
	const struct addr *one = &a;

	CHECK(pins_add(&l.pins, STR("a.test"), &one, 1, 5000, &err) == 0);
}

/* --- its turns ------------------------------------------------------------ */

static void polls(void)
{
	struct pollfd p[L7_POLL];

	l7_poll(&l, p);
	CHECK(p[L7_SLOT_END].fd == l.haproxy.pidfd &&
	      p[L7_SLOT_WORDS].fd == l.haproxy.words &&
	      p[L7_SLOT_LOG].fd == l.log.fd &&
	      p[L7_SLOT_SIGNER].fd == l.signer.clients.listener &&
	      p[L7_SLOT_RENEWAL].fd == l.renewal.clients.listener &&
	      p[L7_SLOT_END].events == POLLIN);
	l.plan.decrypts = false;
	l7_poll(&l, p);
	CHECK(p[L7_SLOT_SIGNER].fd == -1 &&
	      p[L7_SLOT_RENEWAL].fd == l.renewal.clients.listener);
	l.plan.decrypts = true;
	l.plan.wanted = false;
	l7_poll(&l, p);
	CHECK(p[L7_SLOT_LOG].fd == l.log.fd);
	for (unsigned i = 0; i < L7_POLL; i++)
		CHECK(i == L7_SLOT_LOG || p[i].fd == -1);
	l.plan.wanted = true;
}

static void log_line(void)
{
	static const char line[] = "{\"k\":\"conn\",\"verdict\":\"allow\","
				   "\"reason\":\"granted\"}";
	struct sockaddr_un sa = {.sun_family = AF_UNIX, .sun_path = GATE_LOG};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	CHECK(sendto(fd, line, strlen(line), 0, (struct sockaddr *)&sa,
		     sizeof(sa)) > 0);
	close(fd);
}

static void hears_lines(void)
{
	struct pollfd none[L7_POLL] = {{.fd = -1}};

	log_line();
	CHECK(turn(0) == 0 && lines == 1);
	/* which are kept while an answer is waited for, and read then */
	log_line();
	ANSWERS("Name: HAProxy\n");
	l7_count_dropped(&l, GATE_ADMIN);
	CHECK(l.log.kept > 0 && lines == 1 && l7_wait_ms(&l, 5) == 0);
	CHECK(l7_step(&l, none, 0, &err) == 0 && lines == 2 && !l.log.kept);
}

/* More of them while there is room, and only then. */
static void keeps_lines(size_t kept, bool more)
{
	waits = 0;
	l.log.kept = kept;
	log_line();
	administrator->wait = lets[0];
	on_wait = see_second;
	ANSWERS("Name: HAProxy\n");
	l7_count_dropped(&l, GATE_ADMIN);
	on_wait = NULL;
	administrator->wait = -1;
	CHECK(waits >= 2 && second == (more ? l.log.fd : -1));
	if (!more)
		l.log.kept = 0;
	lines = 0;
	CHECK(turn(0) == 0 && lines == 1);
}

/* Of what was not polled nothing is read; at its end all is. */
static void hears_more(void)
{
	struct pollfd some[L7_POLL] = {{.fd = -1}};
	int words = l.haproxy.words, pair[2];

	CHECK(pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0);
	l.haproxy.words = pair[0];
	l.haproxy.alert[0] = '\0';
	log_line();
	CHECK(write(pair[1], "[ALERT] more\n", 13) == 13);
	lines = 0;
	CHECK(l7_step(&l, some, 0, &err) == 0 && lines == 0 &&
	      !l.haproxy.alert[0]);
	CHECK(turn(0) == 0 && lines == 1 &&
	      strcmp(l.haproxy.alert, "[ALERT] more") == 0);
	l.haproxy.alert[0] = '\0';
	CHECK(write(pair[1], "[ALERT] last\n", 13) == 13);
	some[L7_SLOT_END].revents = POLLIN;
	CHECK(l7_step(&l, some, 0, &err) == -EPIPE &&
	      strcmp(err.text, "HAProxy ended: [ALERT] last") == 0);
	close(pair[0]);
	close(pair[1]);
	l.haproxy.words = words;
	strcpy(l.haproxy.alert, "[ALERT] a stand-in");
}

static void hears_words(void)
{
	struct pollfd p = {l.haproxy.words, POLLIN, 0};

	while (!l.haproxy.alert[0] && poll(&p, 1, WAIT_MS) == 1)
		CHECK(turn(0) == 0);
	CHECK(strcmp(haproxy_words(&l.haproxy), "[ALERT] a stand-in") == 0);
}

static int dial(const char *to, const char *text)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", to);
	CHECK(connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      send(fd, text, strlen(text), MSG_NOSIGNAL) > 0);
	return fd;
}

static bool hears(int fd, const char *want)
{
	char got[64] = "";
	size_t n = 0;
	ssize_t more;

	while ((more = recv(fd, got + n, sizeof(got) - 1 - n, 0)) > 0)
		n += (size_t)more;
	close(fd);
	return strcmp(got, want) == 0;
}

static void signs(void)
{
	int fd = dial(GATE_SIGNER, "evil.test\n");

	complaint[0] = '\0';
	CHECK(turn(0) == 0 && turn(0) == 0 && hears(fd, "no\n") &&
	      !complaint[0]);
	fd = dial(GATE_SIGNER, "good.test\n");
	ANSWERS("cannot.\n", "deleted\n");
	CHECK(turn(0) == 0 && turn(0) == 0 && hears(fd, "no\n"));
	CHECK(strstr(complaint, "a certificate for 'good.test'"));
	/* nor are who waits too long let wait on */
	fd = dial(GATE_SIGNER, "good");
	CHECK(turn(0) == 0 && turn(0) == 0 && turn(SIGNER_IDLE_MS) == 0 &&
	      hears(fd, ""));
}

static int renewed(const char *text)
{
	return l7_renewed(&l, str_of(text), &err);
}

static void renews(void)
{
	int fd = dial(GATE_RENEWAL, "7 192.0.2.7 json 2\nx/1\n{}");
	char line[256];

	CHECK(turn(0) == 0 && turn(0) == 0 && asked > 0);
	snprintf(line, sizeof(line),
		 "%u {\"status\":201,\"body\":\"done\",\"values\":{\"7:" DIGITS
		 "\":\"new\"}}",
		 asked);
	ANSWERS("\n");
	CHECK(renewed(line) == 0 && hears(fd, "201 4\ndone") &&
	      TOLD(TOKEN "new\n") &&
	      strcmp(l.credentials.tokens[0].value, "new") == 0);
	/* one that has it not is not told of it */
	l.serves = false;
	CHECK(renewed(line) == 0 && administrator->n == 1);
	l.serves = true;
	/* one that HAProxy does not take is not said to the agent */
	fd = dial(GATE_RENEWAL, "7 192.0.2.7 json 2\nx/1\n{}");
	CHECK(turn(0) == 0 && turn(0) == 0);
	snprintf(line, sizeof(line),
		 "%u {\"status\":200,\"body\":\"x\",\"values\":{\"7:" DIGITS
		 "\":\"newer\"}}",
		 asked);
	ANSWERS("no\n");
	CHECK(renewed(line) == -EPROTO);
	CHECK(turn(RENEWAL_WAIT_MS) == 0 && hears(fd, ""));
}

/* Without values nothing is told: the launcher has none. */
static void renews_in_vain(void)
{
	static const char *const bad[] = {
		"",
		"1",
		"x {\"status\":200,\"body\":\"\"}",
		"4294967296 {\"status\":200,\"body\":\"\"}",
		"1 ",
		"1 [\"status\",200]",
		"1 {\"status\":200,\"body\":\"\"} x",
		"1 {\"status\":199,\"body\":\"\"}",
		"1 {\"status\":600,\"body\":\"\"}",
		"1 {\"status\":\"200\",\"body\":\"\"}",
		"1 {\"body\":\"\"}",
		"1 {\"status\":200}",
		"1 {\"status\":200,\"body\":7}",
		"1 {\"status\":200,\"body\":\"\",\"values\":[]}",
		"1 {\"status\":200,\"body\":\"\",\"values\":{\"7:" DIGITS
		"\":\"\"}}",
		"1 {\"status\":200,\"body\":\"\",\"values\":{\"8:" DIGITS
		"\":\"x\"}}",
		"1 {\"status\":200,\"body\":\"\",\"values\":{\"7:" DIGITS
		"\":7}}",
	};
	size_t before = mallinfo2().uordblks;

	ANSWERS("");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(renewed(bad[i]) == -EPROTO, "%s", bad[i]);
	CHECK(renewed("4294967295 {\"status\":200,\"body\":\"\"}") == 0 &&
	      renewed("1 {\"status\":599,\"body\":\"\"}") == 0);
	CHECK(administrator->n == 0 && mallinfo2().uordblks == before);
}

/* --- in their time -------------------------------------------------------- */

static void sweeps(void)
{
	l.count_ms = INT64_MAX;
	l.sweep_ms = 4000;
	ANSWERS("no\n", "\n");
	complaint[0] = '\0';
	CHECK(turn(3999) == 0 && turn(4000) == 0 && administrator->n == 0 &&
	      l.sweep_ms == 5000 && !complaint[0]);
	CHECK(l7_wait_ms(&l, 4400) == 600 && l7_wait_ms(&l, 5001) == 0);
	/* not while another is about to start, which has them */
	l.next.pid = l.haproxy.pid;
	CHECK(turn(5000) == 0 && administrator->n == 0 && l.sweep_ms == 5000);
	l.next.pid = 0;
	/* when that goes wrong nothing else is asked */
	l.count_ms = 5000;
	CHECK(turn(5000) == 0 && strstr(complaint, "HAProxy says 'no'") &&
	      TOLD("del map " GATE_PINS " a.test@11.0.0.1\n") &&
	      l.count_ms == 5000);
	CHECK(turn(6000) == 0 && l.sweep_ms == 7000);
}

static void counts(void)
{
	l.sweep_ms = INT64_MAX;
	l.count_ms = 8000;
	lost = 0;
	complaint[0] = '\0';
	ANSWERS("Name: HAProxy\nDroppedLogs: 3\n", "Name: HAProxy\n");
	CHECK(turn(7999) == 0 && administrator->n == 0);
	CHECK(turn(8000) == 0 && TOLD(INFO) && lost == 3 && !complaint[0] &&
	      l.count_ms == 8000 + L7_COUNT_MS);
	CHECK(turn(8001) == 0 && TOLD(INFO));
	l.count_ms = 0;
	l.pins.admin = "/none/admin";
	CHECK(turn(9000) == 0 && strstr(complaint, "/none/admin"));
	l.pins.admin = GATE_ADMIN;
}

static void profiles(void)
{
	uint32_t generation = 0;

	CHECK(l7_profiles_of(&l, 0, &generation) == &l.plan.profiles &&
	      generation == 1);
	l.past[3].haproxy.pid = 77;
	l.past[3].generation = 9;
	CHECK(l7_profiles_of(&l, 77, &generation) == &l.past[3].profiles &&
	      generation == 9);
	l.past[3].haproxy.pid = 0;
}

/* --- the end -------------------------------------------------------------- */

static void breaks_down(void)
{
	CHECK(kill(l.haproxy.pid, SIGKILL) == 0);
	CHECK(poll(&(struct pollfd){l.haproxy.pidfd, POLLIN, 0}, 1, WAIT_MS) ==
	      1);
	CHECK(turn(0) == -EPIPE &&
	      strcmp(err.text, "HAProxy ended: [ALERT] a stand-in") == 0);
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static pid_t waiting(struct haproxy *h)
{
	h->pid = fork();
	if (h->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	return h->pid;
}

static void ends(void)
{
	pid_t old = waiting(&l.past[2].haproxy), next = waiting(&l.next),
	      now = l.haproxy.pid;
	struct str key = str_of(l.credentials.v[0]);

	ANSWERS("to_tls/one 3/1 11.0.0.1 443\n", "\n", "",
		"Name: HAProxy\nDroppedLogs: 9\n");
	lost = l.dropped = 0;
	lines = 0;
	log_line();
	l7_end(&l);
	CHECK(TOLD("show servers conn\n",
		   "shutdown sessions server to_tls/one\n", "show sess\n",
		   INFO));
	CHECK(lines == 1 && lost == 9 && is_gone(old) && is_gone(next) &&
	      is_gone(now));
	CHECK(l.credentials.n == 0 && key.p[0] == '\0' && !l.ca.key);
	/* nor is it heard out where its connections were not ended */
	ANSWERS("to_tls/one 3/1 11.0.0.1 443\n", "no\n", "Name: HAProxy\n");
	l7_end(&l);
	CHECK(TOLD("show servers conn\n",
		   "shutdown sessions server to_tls/one\n", INFO));
	/* one that does not serve is asked nothing */
	l.serves = false;
	ANSWERS("");
	log_line();
	l7_end(&l);
	CHECK(administrator->n == 0 && lines == 2);
	close(l.log.fd);
	l.log.fd = -1;
	l7_end(&l);
}

int main(int argc, char **argv)
{
	standin_if_asked(argc, argv);
	if (!enter_room() || !standin_mount())
		return NOT_HERE;
	stay_apart();
	signal(SIGPIPE, SIG_IGN); /* as in the worker */
	CHECK(mkdir(PLAN, 0755) == 0 && pipe2(lets, O_CLOEXEC) == 0);
	administrator_start_at(GATE_ADMIN);
	CHECK(names_parse(str_of(NAMES), &names, &err) == 0);
	loads();
	prepares_little();
	l7_init(&l);
	l.names = &names;
	l.on_line = on_line;
	l.on_lost = on_lost;
	l.on_error = on_error;
	l.on_renewal = on_renewal;
	l.data = &l;
	prepares();
	apart(first_file);
	apart(large_leaf);
	apart(no_certificate);
	leaves();
	learns();
	begins();
	serves_not();
	serves();
	polls();
	hears_lines();
	keeps_lines(0, true);
	keeps_lines(L7LOG_KEEP, false);
	hears_words();
	hears_more();
	signs();
	renews();
	renews_in_vain();
	sweeps();
	counts();
	profiles();
	breaks_down();
	ends();
	l7_plan_free(&l.plan);
	names_free(&names);
	kill(administrator_pid, SIGKILL);
	CHECK(waitpid(administrator_pid, NULL, 0) == administrator_pid);
	return check_status();
}
