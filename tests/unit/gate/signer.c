/* Certificates on first use, and renewals: between a client, the gate and a
 * HAProxy that answers as this test wants. */
#include "runtime/gate/l7/l7.h"
#include "tests/unit/gate/administrator.h"
#include "tests/unit/gate/secrets.h"

#include <errno.h>

#define DIGITS	      "0123456789abcdef01234567"
#define FILE_OF(name) "/leaf/gen-" name ".pem"

static struct err err;
static struct signer s;
static struct ca ca;
static struct names_map names;
static struct profiles profiles;
static char path[64];

static int dial(const char *to)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", to);
	CHECK(connect(fd, (struct sockaddr *)&sa, sizeof(sa)) == 0);
	return fd;
}

static void say(int fd, const char *text)
{
	CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) ==
	      (ssize_t)strlen(text));
}

/* All that it says, to its end. */
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

static int turn(int64_t now_ms)
{
	struct pollfd p[SIGNER_POLL];

	signer_poll(&s, p);
	CHECK(poll(p, SIGNER_POLL, 1000) >= 0);
	return signer_step(&s, p, now_ms, &err);
}

/* What one name is answered, and what comes of it. */
static bool answers(const char *text, const char *want, int rc)
{
	int fd = dial(path);

	say(fd, text);
	CHECK(turn(0) == 0); /* accepts */
	return turn(0) == rc && hears(fd, want);
}

/* --- certificates --------------------------------------------------------- */

/* What is signed comes here first: the Makefile wraps it for this test. */
int __real_ca_leaf(const struct ca *from, const struct str *hosts, size_t n,
		   char out[CA_LEAF_MAX], size_t *out_n, struct err *e);
int __wrap_ca_leaf(const struct ca *from, const struct str *hosts, size_t n,
		   char out[CA_LEAF_MAX], size_t *out_n, struct err *e);

static int leaf_size = -1; /* of the next one; 0: there is none */

int __wrap_ca_leaf(const struct ca *from, const struct str *hosts, size_t n,
		   char out[CA_LEAF_MAX], size_t *out_n, struct err *e)
{
	int size = leaf_size;

	leaf_size = -1;
	if (size < 0)
		return __real_ca_leaf(from, hosts, n, out, out_n, e);
	if (size == 0)
		return err_set(e, -EIO, "no leaf");
	memset(out, 'x', (size_t)size);
	out[size] = '\0';
	*out_n = (size_t)size;
	return 0;
}

static const char *const good[] = {
	"New empty certificate store\n", "Transaction created\n",
	"Committing\nSuccess!\n", "Inserting\nSuccess!\n", NULL};

/* To the letter, but for the leaf itself. */
static bool told_of(unsigned from, const char *name)
{
	char want[4][400];

	snprintf(want[0], 400, "new ssl cert " FILE_OF("%s") "\n", name);
	snprintf(want[1], 400,
		 "set ssl cert " FILE_OF("%s") " <<\n-----BEGIN CERT", name);
	snprintf(want[2], 400, "commit ssl cert " FILE_OF("%s") "\n", name);
	snprintf(want[3], 400, "add ssl crt-list /crt.lst " FILE_OF("%s") "\n",
		 name);
	return was_told(from, want[0]) &&
	       strncmp(administrator->told[from + 1], want[1],
		       strlen(want[1])) == 0 &&
	       strstr(administrator->told[from + 1],
		      "-----END PRIVATE KEY-----\n\n") &&
	       was_told(from + 2, want[2]) && was_told(from + 3, want[3]);
}

static bool told_gone(unsigned at, const char *name)
{
	char want[400];

	snprintf(want, sizeof(want),
		 "del ssl crt-list /crt.lst " FILE_OF(
			 "%s") ";del ssl cert " FILE_OF("%s") "\n",
		 name, name);
	return was_told(at, want);
}

static void made_once(void)
{
	answer_with(good);
	CHECK(answers("a.test\n", "ok\n", 0) && told_of(0, "a.test"));
	CHECK(answers("a.test\n", "ok\n", 0) && administrator->n == 4);
	/* its key is HAProxy's, and nowhere here */
	CHECK(!is_in_memory(strstr(administrator->told[1], "PRIVATE KEY") + 80,
			    40));
	answer_with(good);
	CHECK(answers("x.y.wild.test\n", "ok\n", 0) &&
	      told_of(0, "x.y.wild.test"));
	/* what is asked about, and what a denial of requests is about */
	answer_with(good);
	CHECK(answers("asked.test\n", "ok\n", 0) && administrator->n == 4);
	answer_with(good);
	CHECK(answers("x.minded.test\n", "ok\n", 0) && administrator->n == 4);
}

static void made_never(void)
{
	static const char *const never[] = {"evil.test\n",     "*.wild.test\n",
					    "bad.wild.test\n", "\n",
					    "a.test.\n",       "a test\n",
					    "a.test;x\n",      "A.test\n",
					    "minded.test\n",   "A.wild.test\n",
					    "a;b.wild.test\n", ".wild.test\n"};

	ANSWERS("");
	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		CHECK_MSG(answers(never[i], "no\n", 0), "%s", never[i]);
	CHECK(administrator->n == 0);
}

/* HAProxy refuses one of the commands: what there was of it goes again. */
static void made_in_vain(void)
{
	for (unsigned i = 0; i < 4; i++) {
		const char *some[6] = {NULL};
		char name[] = "n0.wild.test", text[32], want[100];

		name[1] = (char)('0' + i);
		memcpy(some, good, sizeof(good));
		some[i] = "cannot.\n";
		some[i + 1] = i % 2 ? "deleted\n" : "no\n";
		some[i + 2] = NULL;
		snprintf(text, sizeof(text), "%s\n", name);
		snprintf(want, sizeof(want),
			 "a certificate for '%s': HAProxy says 'cannot'", name);
		answer_with(some);
		CHECK(answers(text, "no\n", -1));
		CHECK_MSG(strcmp(err.text, want) == 0, "%s", err.text);
		CHECK(administrator->n == i + 2 && told_gone(i + 1, name));
	}
	/* an answer that says nothing, or nothing but its end */
	ANSWERS(".\n", "");
	CHECK(answers("n4.wild.test\n", "no\n", -1) &&
	      strstr(err.text, "HAProxy says ''"));
	leaf_size = 0;
	ANSWERS("");
	CHECK(answers("n4.wild.test\n", "no\n", -1) &&
	      strstr(err.text, "no leaf") && administrator->n == 1 &&
	      told_gone(0, "n4.wild.test"));
	s.admin = "/none/admin";
	CHECK(answers("n4.wild.test\n", "no\n", -1) &&
	      strstr(err.text, "/none/admin"));
	s.admin = administrator_path;
}

/* A leaf that no command can hold, and the longest that one can. */
static void made_too_long(void)
{
	static const char head[] =
		"set ssl cert " FILE_OF("n4.wild.test") " <<\n";

	for (int more = 0; more < 2; more++) {
		answer_with(good);
		leaf_size = (int)(ADMIN_BATCH_MAX - sizeof(head)) - 1 + more;
		CHECK(answers("n4.wild.test\n", more ? "no\n" : "ok\n", -more));
		CHECK(administrator->n == (more ? 2 : 4));
		CHECK(!more || strstr(err.text, "a leaf too long"));
		/* it is made anew */
		memset(s.leaves[s.next - !more], 0, sizeof(s.leaves[0]));
	}
}

/* The oldest goes first, and its place is the next one's. */
static void made_in_turn(void)
{
	const char *more[] = {good[0], good[1],	    good[2],
			      good[3], "deleted\n", NULL};

	s.next = SIGNER_LEAVES - 1;
	strcpy(s.leaves[s.next], "older.wild.test");
	answer_with(more);
	CHECK(answers("new.wild.test\n", "ok\n", 0) &&
	      told_of(0, "new.wild.test") && told_gone(4, "older.wild.test"));
	CHECK(s.next == 0 &&
	      strcmp(s.leaves[SIGNER_LEAVES - 1], "new.wild.test") == 0);
	CHECK(answers("new.wild.test\n", "ok\n", 0) && administrator->n == 5);
	answer_with(more);
	CHECK(answers("older.wild.test\n", "ok\n", 0) &&
	      told_gone(4, "a.test") && s.next == 1);
}

/* --- clients -------------------------------------------------------------- */

static void in_pieces(void)
{
	char line[LIMIT_NAME_BYTES + 3];
	int fd = dial(path);

	ANSWERS("");
	say(fd, "evil.");
	CHECK(turn(0) == 0 && turn(0) == 0);
	say(fd, "test\n");
	CHECK(turn(0) == 0 && hears(fd, "no\n"));
	/* as long as a name may be, and longer */
	memset(line, 'a', sizeof(line));
	line[LIMIT_NAME_BYTES] = '\n';
	line[LIMIT_NAME_BYTES + 1] = '\0';
	CHECK(answers(line, "no\n", 0));
	memset(line, 'a', sizeof(line));
	line[LIMIT_NAME_BYTES + 1] = '\n';
	line[LIMIT_NAME_BYTES + 2] = '\0';
	CHECK(answers(line, "no\n", 0));
	memset(line, 'a', sizeof(line));
	line[LIMIT_NAME_BYTES + 2] = '\0';
	CHECK(answers(line, "", 0));
	/* who goes is forgotten */
	fd = dial(path);
	CHECK(turn(0) == 0 && close(fd) == 0);
	errno = EAGAIN; /* of something before */
	CHECK(turn(0) == 0);
	for (size_t i = 0; i < SIGNER_CLIENTS; i++)
		CHECK(s.slots[i].fd < 0);
}

/* Two more than there is room for wait; who says nothing has so long. */
static void crowded(void)
{
	int fds[SIGNER_CLIENTS + 1];
	struct pollfd p[SIGNER_POLL];

	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = dial(path);
	for (size_t i = 0; i < SIGNER_CLIENTS; i++) {
		signer_poll(&s, p);
		CHECK(p[0].fd == s.clients.listener);
		CHECK(turn(100) == 0);
	}
	signer_poll(&s, p);
	CHECK(p[0].fd == -1);
	for (size_t i = 0; i < SIGNER_POLL; i++)
		p[i].revents = 0;
	CHECK(signer_step(&s, p, 99 + SIGNER_IDLE_MS, &err) == 0 &&
	      s.slots[0].fd >= 0);
	/* not of those that wait is this */
	p[1].fd = -1;
	CHECK(signer_step(&s, p, 100 + SIGNER_IDLE_MS, &err) == 0 &&
	      s.slots[0].fd >= 0);
	for (size_t i = 1; i < SIGNER_CLIENTS; i++)
		CHECK(s.slots[i].fd < 0 && hears(fds[i], ""));
	say(fds[0], "evil.test\n");
	CHECK(turn(200) == 0 && hears(fds[0], "no\n"));
	say(fds[SIGNER_CLIENTS], "evil.test\n");
	CHECK(turn(200) == 0 && hears(fds[SIGNER_CLIENTS], "no\n"));
}

static void begin_signer(void)
{
	CHECK(names_parse(STR("membrane-names 2\nupstream udp 8.8.8.8 53\n"
			      "ports 1 tcp/443\nports a1 tcp/443\n"
			      "name **.wild.test 1 - g-00000000aa\n"
			      "name a.test 1 - g-0000000001\n"
			      "ask asked.test a1 60 - - a-0123456789\n"
			      "deny bad.wild.test d-0000000001\n"),
			  &names, &err) == 0);
	CHECK(profiles_parse(STR("membrane-profiles 1\n"
				 "d1 *.minded.test d-0000000003\n"),
			     &profiles, &err) == 0);
	CHECK(ca_new(&ca, &err) == 0);
	s = (struct signer){.ca = &ca,
			    .names = &names,
			    .profiles = &profiles,
			    .admin = administrator_path,
			    .list = "/crt.lst",
			    .dir = "/leaf/"};
	CHECK(signer_open(&s, path, &err) == 0);
}

/* --- renewals ------------------------------------------------------------- */

static struct l7 l;

static int renewed(const char *line)
{
	return l7_renewed(&l, str_of(line), &err);
}

static void refused_renewals(void)
{
	static const char *const bad[] = {
		"",
		"x {}",
		"4294967296 {}",
		"1 []",
		"1 {}",
		"1 {\"status\":200,\"body\":\"x\"} ",
		"1 {\"status\":\"200\",\"body\":\"x\"}",
		"1 {\"status\":199,\"body\":\"x\"}",
		"1 {\"status\":600,\"body\":\"x\"}",
		"1 {\"status\":200,\"body\":1}",
		"1 {\"status\":200,\"body\":\"x\",\"values\":[]}",
		"1 {\"status\":200,\"body\":\"x\",\"values\":{\"3:" DIGITS
		"\":\"v\"}}",
		"1 {\"status\":200,\"body\":\"x\",\"values\":{\"2:" DIGITS
		"\":\"v w\"}}"};

	ANSWERS("\n");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(renewed(bad[i]) == -EPROTO && err.text[0], "%s",
			  bad[i]);
	CHECK(administrator->n == 0 &&
	      strcmp(l.credentials.tokens[0].value, "old") == 0);
}

static bool tell(void *data, const struct renewal_ask *ask)
{
	*(uint32_t *)data = ask->id;
	return true;
}

/* Somebody asks; the number of that. */
static uint32_t ask_renewal(int *out_fd)
{
	struct pollfd p[RENEWAL_POLL];
	uint32_t id = 0;

	*out_fd = dial(path);
	say(*out_fd, "2 192.0.2.7 json 2\nx\n{}");
	for (int i = 0; i < 2; i++) {
		renewal_poll(&l.renewal, p);
		CHECK(poll(p, RENEWAL_POLL, 1000) > 0);
		renewal_step(&l.renewal, p, 0, tell, &id);
	}
	CHECK(id != 0);
	return id;
}

/* New values are HAProxy's before the agent has the answer. */
static void taken_renewals(void)
{
	char line[200];
	int fd;

	snprintf(line, sizeof(line),
		 "%u {\"status\":599,\"body\":\"yes\",\"values\":{\"2:" DIGITS
		 "\":\"new\"}}",
		 ask_renewal(&fd));
	l.serves = true;
	ANSWERS("no\n", "\n");
	CHECK(renewed(line) == -EPROTO);
	CHECK(renewed(line) == 0 && hears(fd, "599 3\nyes"));
	CHECK(TOLD("set map " GATE_TOKENS " 2:" DIGITS " new\n",
		   "set map " GATE_TOKENS " 2:" DIGITS " new\n"));
	/* no new ones: nothing for HAProxy */
	ANSWERS("");
	snprintf(line, sizeof(line), "%u {\"status\":200,\"body\":\"\"}",
		 ask_renewal(&fd));
	CHECK(renewed(line) == 0 && hears(fd, "200 0\n"));
	/* nor where it has not begun, and reads them when it does */
	l.serves = false;
	snprintf(line, sizeof(line),
		 "%u {\"status\":200,\"body\":\"\",\"values\":{\"2:" DIGITS
		 "\":\"newer\"}}",
		 ask_renewal(&fd));
	CHECK(renewed(line) == 0 && hears(fd, "200 0\n") &&
	      administrator->n == 0);
	CHECK(strcmp(l.credentials.tokens[0].value, "newer") == 0);
}

int main(void)
{
	administrator_start();
	snprintf(path, sizeof(path), "%s.signer", administrator_path);
	begin_signer();
	made_once();
	made_never();
	made_in_vain();
	made_too_long();
	made_in_turn();
	in_pieces();
	crowded();
	unlink(path);
	l7_init(&l);
	l.pins.admin = administrator_path;
	l.credentials = (struct hello_credentials){
		.n_tokens = 1, .tokens = {{2, DIGITS, "old"}}};
	CHECK(renewal_open(&l.renewal, path, &err) == 0);
	refused_renewals();
	taken_renewals();
	unlink(path);
	administrator_end();
	ca_done(&ca);
	names_free(&names);
	profiles_free(&profiles);
	return check_status();
}
