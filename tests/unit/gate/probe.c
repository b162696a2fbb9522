/*
 * Whether HAProxy reads as the gate's reader does: asked over TLS, of a server
 * that answers as this test wants. What is called of the libraries comes here
 * first: each call fails in its turn, and nothing is called behind it.
 */
#include "runtime/gate/l7/reader_probe.h"

#include "runtime/gate/l7/admin.h"
#include "runtime/gate/l7/ca.h"
#include "tests/check.h"
#include "tests/unit/gate/pieces.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <openssl/crypto.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOCAL "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0" /* PROXY, on nobody's behalf */
#define ASKED "GET / HTTP/1.1\nHost: membrane\nConnection: close\n\n"

enum fault { NOTHING, NO_HEAD, NO_TLS, OTHER_NAME, OTHER_WORDS };

static struct err err;
static char path[] = "/tmp/membrane-probe-XXXXXX";
static char leaf[CA_LEAF_MAX];
static int listener;

/* --- calls that fail ------------------------------------------------------ */

static int failing = -1; /* after so many calls; below 0: none does */
static bool has_failed;
static struct timeval waits; /* for an answer, as it was set */

/* The libraries call each other, too, and so does this test. */
static bool fails_now(const char *from, const char *name)
{
	extern const char __executable_start, etext;

	if (failing < 0 || from < &__executable_start || from >= &etext)
		return false;
	CHECK_MSG(!has_failed, "%s is called after a failure", name);
	if (failing--)
		return false;
	failing = 0;
	has_failed = true;
	errno = EIO;
	return true;
}

#define FAILS(type, none, name, parameters, ...)                               \
	type name parameters                                                   \
	{                                                                      \
		static type(*real) parameters;                                 \
                                                                               \
		if (!real)                                                     \
			*(void **)&real = dlsym(RTLD_NEXT, #name);             \
		return fails_now(__builtin_return_address(0), #name)           \
			       ? (none)                                        \
			       : real(__VA_ARGS__);                            \
	}

FAILS(int, -1, socket, (int domain, int type, int protocol), domain, type,
      protocol)
FAILS(int, -1, connect, (int fd, const struct sockaddr *to, socklen_t n), fd,
      to, n)
FAILS(ssize_t, -1, send, (int fd, const void *p, size_t n, int flags), fd, p, n,
      flags)
FAILS(SSL_CTX *, NULL, SSL_CTX_new, (const SSL_METHOD *m), m)
FAILS(SSL *, NULL, SSL_new, (SSL_CTX * c), c)
FAILS(int, 0, SSL_set_fd, (SSL * s, int fd), s, fd)
FAILS(long, 0, SSL_ctrl, (SSL * s, int what, long n, void *p), s, what, n, p)
FAILS(int, 0, SSL_connect, (SSL * s), s)
FAILS(int, 0, SSL_write, (SSL * s, const void *p, int n), s, p, n)

int setsockopt(int fd, int level, int name, const void *p, socklen_t n)
{
	if (fails_now(__builtin_return_address(0), "setsockopt"))
		return -1;
	if (level == SOL_SOCKET && name == SO_RCVTIMEO)
		memcpy(&waits, p, sizeof(waits));
	return (int)syscall(SYS_setsockopt, fd, level, name, p, n);
}

static size_t room = ADMIN_ANSWER_MAX; /* for what is read; 0: no more is */

/* As much as there is room for, and nothing behind the end. */
int SSL_read(SSL *s, void *p, int n)
{
	static int (*real)(SSL *, void *, int);
	int got;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "SSL_read");
	if (SSL_is_server(s))
		return real(s, p, n);
	CHECK((size_t)n == room);
	if (room == 0)
		_exit(1);
	got = real(s, p, n);
	room = got > 0 ? room - (size_t)got : 0;
	return got;
}

/* --- the server ----------------------------------------------------------- */

static SSL_CTX *context_of_leaf(void)
{
	SSL_CTX *context = SSL_CTX_new(TLS_server_method());
	BIO *b = BIO_new_mem_buf(leaf, -1);

	if (SSL_CTX_use_certificate(
		    context, PEM_read_bio_X509(b, NULL, NULL, NULL)) != 1 ||
	    SSL_CTX_use_PrivateKey(
		    context, PEM_read_bio_PrivateKey(b, NULL, NULL, NULL)) != 1)
		_exit(NO_TLS);
	return context;
}

/* The status of the process: what was not as it has to be. */
static enum fault serve(const char *name, const char *answer)
{
	char got[sizeof(ASKED) + 1] = "";
	int fd = accept(listener, NULL, NULL), n;
	SSL *tls;

	if (recv(fd, got, 16, MSG_WAITALL) != 16 || memcmp(got, LOCAL, 16) != 0)
		return NO_HEAD;
	if (!answer)
		return NOTHING;
	tls = SSL_new(context_of_leaf());
	if (SSL_set_fd(tls, fd) != 1 || SSL_accept(tls) != 1)
		return NO_TLS;
	if (strcmp(SSL_get_servername(tls, TLSEXT_NAMETYPE_host_name), name))
		return OTHER_NAME;
	n = SSL_read(tls, got, sizeof(got));
	if (n != sizeof(ASKED) - 1 || memcmp(got, ASKED, sizeof(ASKED) - 1))
		return OTHER_WORDS;
	if (*answer)
		(void)SSL_write(tls, answer, (int)strlen(answer));
	/* or broken off */
	if (strchr(answer, '\n') || !*answer)
		SSL_shutdown(tls);
	return NOTHING;
}

/* What comes of asking for that, where the server expects that name. */
static int probe(const char *asked, const char *name, const char *answer)
{
	int status = -1, rc;
	pid_t pid = fork();

	if (pid == 0) {
		failing = -1;
		_exit(serve(name, answer));
	}
	room = ADMIN_ANSWER_MAX;
	rc = reader_probe_tls(path, str_of(asked), &err);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK_MSG(status == 0, "%s: fault %d", asked, status >> 8);
	return rc;
}

static void names(void)
{
	char longest[254];

	CHECK(probe("a.test", "a.test", "400 a bare LF\n") == 0);
	CHECK(probe("*.b.test", "x.b.test", "a bare LF") == 0);
	memset(longest, 'a', 253);
	longest[253] = '\0';
	for (int i = 60; i < 253; i += 60)
		longest[i] = '.';
	CHECK(probe(longest, longest, "a bare LF") == 0);
}

static void answers(void)
{
	static char text[ADMIN_ANSWER_MAX + 32];

	CHECK(probe("a.test", "a.test", "HTTP/1.1 200 OK\r\n\r\n") == -EPROTO &&
	      strstr(err.text, "is not one that it knows"));
	CHECK(probe("a.test", "a.test", "") == -EPROTO);
	CHECK(probe("a.test", "a.test", NULL) == -EPROTO &&
	      strcmp(err.text, "HAProxy does not take TLS for a.test") == 0);
	/* as far as there is room for it */
	memset(text, 'x', sizeof(text) - 1);
	memcpy(text + ADMIN_ANSWER_MAX - 9, "a bare LF", 9);
	CHECK(probe("a.test", "a.test", text) == 0);
	memcpy(text + ADMIN_ANSWER_MAX - 9, "xa bare LF", 10);
	CHECK(probe("a.test", "a.test", text) == -EPROTO);
	CHECK(reader_probe_tls("/none/tls", STR("a.test"), &err) == -ENOENT &&
	      strstr(err.text, "/none/tls"));
}

/* The same without TLS. */
static int probe_plain(const char *answer)
{
	char got[sizeof(LOCAL ASKED)];
	int status = -1, rc;
	pid_t pid = fork();

	if (pid == 0) {
		int fd = accept(listener, NULL, NULL);

		if (recv(fd, got, sizeof(got) - 1, MSG_WAITALL) !=
			    sizeof(got) - 1 ||
		    memcmp(got, LOCAL ASKED, sizeof(got) - 1) != 0)
			_exit(OTHER_WORDS);
		_exit(send(fd, answer, strlen(answer), 0) < 0);
	}
	rc = reader_probe_plain(path, &err);
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	return rc;
}

static void plain(void)
{
	CHECK(probe_plain("400 a bare LF\n") == 0);
	CHECK(probe_plain("HTTP/1.1 200 OK\r\n\r\n") == -EPROTO &&
	      strstr(err.text, "is not one that it knows"));
	CHECK(reader_probe_plain("/none/plain", &err) == -ENOENT);
}

/* Of connections that nobody has accepted. */
static void empty_queue(void)
{
	int fd;

	fcntl(listener, F_SETFL, O_NONBLOCK);
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		close(fd);
	fcntl(listener, F_SETFL, 0);
}

/* Whichever it is, it is said, and nothing is kept. */
static void each_call(void)
{
	int n = 0, rc;
	long before;

	for (;; n++) {
		pid_t pid = fork();

		if (pid == 0) {
			failing = -1;
			_exit(serve("a.test", "a bare LF\n") != NOTHING);
		}
		failing = n;
		has_failed = false;
		err.text[0] = '\0';
		before = pieces_held;
		room = ADMIN_ANSWER_MAX;
		rc = reader_probe_tls(path, STR("a.test"), &err);
		failing = -1;
		kill(pid, has_failed ? SIGKILL : 0);
		CHECK(waitpid(pid, NULL, 0) == pid);
		CHECK_MSG(pieces_held == before, "call %d: %ld pieces", n,
			  pieces_held - before);
		if (!has_failed)
			break;
		CHECK_MSG(rc == (n < 4 ? -EIO : -EPROTO) &&
				  strstr(err.text, n < 4 ? path : "a.test"),
			  "call %d: %d %s", n, rc, err.text);
		/* who came by this one is the next server's no more */
		empty_queue();
	}
	CHECK(rc == 0 && n == 10);
	/* the first descriptor is one like any other */
	close(0);
	CHECK(probe("a.test", "a.test", "a bare LF\n") == 0 && dup(1) == 0);
	CHECK(waits.tv_sec == PROBE_WAIT_S && waits.tv_usec == 0);
}

int main(void)
{
	CHECK(CRYPTO_set_mem_functions(pieces_take, pieces_change,
				       pieces_give) == 1);
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	const struct str name = STR_INIT("a.test");
	struct ca ca = {0};
	size_t n;

	signal(SIGPIPE, SIG_IGN); /* as the gate does */
	CHECK(close(mkstemp(path)) == 0 && unlink(path) == 0);
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(bind(listener, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(listener, 4) == 0);
	CHECK(ca_new(&ca, &err) == 0 &&
	      ca_leaf(&ca, &name, 1, leaf, &n, &err) == 0);
	ca_done(&ca);
	names();
	answers();
	plain();
	each_call();
	unlink(path);
	return check_status();
}
