#include "runtime/gate/l7/reader_probe.h"

#include "runtime/gate/l7/admin.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

/* PROXY protocol version 2, LOCAL: on nobody's behalf, so without addresses. */
#define FROM_US "\r\n\r\n\0\r\nQUIT\n\x20\0\0\0"
#define ASK	"GET / HTTP/1.1\nHost: membrane\nConnection: close\n\n"
#define ANSWER	"a bare LF"

static int judge_answer(const char *answer, size_t n, struct err *err)
{
	if (memmem(answer, n, ANSWER, sizeof(ANSWER) - 1))
		return 0;
	return err_set(
		err, -EPROTO,
		"HAProxy takes in requests that the gate's reader has not read: this HAProxy is not one that it knows");
}

int reader_probe_plain(const char *path, struct err *err)
{
	char answer[ADMIN_ANSWER_MAX];
	size_t n = 0;
	int rc = admin_ask(path, STR(FROM_US ASK), answer, &n, err);

	return rc < 0 ? rc : judge_answer(answer, n, err);
}

static int dial_socket(const char *path, int *out, struct err *err)
{
	struct sockaddr_un sa = {.sun_family = AF_UNIX};
	struct timeval wait = {.tv_sec = PROBE_WAIT_S};
	auto_fd int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (fd < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) < 0 ||
	    connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 ||
	    send(fd, FROM_US, sizeof(FROM_US) - 1, MSG_NOSIGNAL) !=
		    sizeof(FROM_US) - 1)
		return err_set(err, -errno, "%s: %s", path, strerror(errno));
	*out = fd;
	fd = -1;
	return 0;
}

/* The other end is behind a socket of ours: nobody to be verified. */
static int talk_tls(SSL *tls, int fd, const char *name, struct err *err)
{
	char answer[ADMIN_ANSWER_MAX];
	size_t n = 0;
	int got;

	if (!tls || SSL_set_fd(tls, fd) != 1 ||
	    SSL_set_tlsext_host_name(tls, name) != 1 || SSL_connect(tls) != 1 ||
	    SSL_write(tls, ASK, sizeof(ASK) - 1) <= 0)
		return err_set(err, -EPROTO, "HAProxy does not take TLS for %s",
			       name);
	while (n < sizeof(answer) &&
	       (got = SSL_read(tls, answer + n, (int)(sizeof(answer) - n))) > 0)
		n += (size_t)got;
	return judge_answer(answer, n, err);
}

int reader_probe_tls(const char *path, struct str name, struct err *err)
{
	char host[256];
	auto_fd int fd = -1;
	SSL_CTX *context;
	SSL *tls;
	int rc = dial_socket(path, &fd, err);

	if (rc < 0)
		return rc;
	snprintf(host, sizeof(host), "%.*s", STR_ARG(name));
	/* Any label will do for a pattern's. */
	if (host[0] == '*')
		host[0] = 'x';
	context = SSL_CTX_new(TLS_client_method());
	tls = context ? SSL_new(context) : NULL;
	rc = talk_tls(tls, fd, host, err);
	SSL_free(tls);
	SSL_CTX_free(context);
	return rc;
}
