/* Whether HAProxy reads as the gate's reader does: asked over TLS, of a server
 * that answers as this test wants. */
#include "runtime/gate/l7/reader_probe.h"

#include "runtime/gate/l7/admin.h"
#include "runtime/gate/l7/ca.h"
#include "tests/check.h"

#include <errno.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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

	if (pid == 0)
		_exit(serve(name, answer));
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

int main(void)
{
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
	unlink(path);
	return check_status();
}
