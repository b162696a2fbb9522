/*
 * membrane-reader.so: in HAProxy's process, before HAProxy reads.
 *
 * Loaded by the dynamic linker ahead of libc and libssl (LD_PRELOAD), it stands
 * in for the few functions by which HAProxy takes in what clients send: recv on
 * connections to the socket l7plain.sock, SSL_read where TLS is ended. What
 * they return has been vetted (stream.h). There is no other hop, no copy, and
 * nothing of HAProxy's that it touches. Between HAProxy's own parts it keeps a
 * refusal from being lost that is told before the whole request was read; and a
 * line about what was decided waits for room (sendmsg), where HAProxy drops it.
 * Where the gate's network leads nowhere, a broker makes what leaves (connect).
 * Who comes by the ports of the gate waits in the kernel's queue until the gate
 * has seen that all of this is so (accept).
 *
 * It says that it is there by MEMBRANE_READER in the environment, once each of
 * its functions is the one that a program gets; gate.cfg is refused without.
 */
#include "compiler/plan/gate.h"
#include "runtime/broker/broker.h"
#include "runtime/reader/http1_refusal.h"
#include "runtime/reader/stream.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* What HAProxy calls; all else of this library is its own. */
#define STANDS_IN __attribute__((visibility("default")))

/* Followed by what HAProxy adds while it starts. */
#define SOCKET	   "/l7plain.sock"
#define LOG_SOCKET "/log.sock"
#define LOG_WAIT_S 2 /* then HAProxy counts the line as dropped */
#define FDS_MAX	   (1 << 20)
#define PROXY_HEAD 16 /* of PROXY protocol version 2 */

struct plain {
	struct stream stream;
	bool has_origin; /* the PROXY header is behind us */
};

struct inner {
	struct stream stream;
	bool begun, unread;
	/* What SSL_get_error is to say of the last SSL_read, which asked
	 * nobody; once. Here and not beside the thread: the next connection
	 * may be at the same address. */
	bool has_said;
	int said;
};

static int (*real_accept)(int, struct sockaddr *, socklen_t *);
static int (*real_accept4)(int, struct sockaddr *, socklen_t *, int);
static int (*real_close)(int);
static int (*real_connect)(int, const struct sockaddr *, socklen_t);
static ssize_t (*real_recv)(int, void *, size_t, int);
static ssize_t (*real_send)(int, const void *, size_t, int);
static ssize_t (*real_sendmsg)(int, const struct msghdr *, int);
static ssize_t (*real_splice)(int, off64_t *, int, off64_t *, size_t, unsigned);
static int (*real_ssl_read)(SSL *, void *, int);
static int (*real_ssl_write)(SSL *, const void *, int);
static int (*real_ssl_error)(const SSL *, int);

static _Atomic(struct plain *) plains[FDS_MAX];
static int inner_index;

/* --- in the clear -------------------------------------------------------- */

static struct plain *plain_of(int fd)
{
	return fd >= 0 && fd < FDS_MAX ? atomic_load(&plains[fd]) : NULL;
}

static bool is_plain(int fd)
{
	struct sockaddr_un sa = {0};
	socklen_t n = sizeof(sa) - 1;

	return getsockname(fd, (struct sockaddr *)&sa, &n) == 0 &&
	       sa.sun_family == AF_UNIX && strstr(sa.sun_path, SOCKET);
}

/* Without room for its reader a connection is not taken. */
static int take_plain(int fd)
{
	struct plain *p;

	if (fd < 0 || !is_plain(fd))
		return fd;
	p = fd < FDS_MAX ? calloc(1, sizeof(*p)) : NULL;
	if (!p) {
		real_close(fd);
		errno = EMFILE;
		return -1;
	}
	atomic_store(&plains[fd], p);
	return fd;
}

/* --- who is let in ------------------------------------------------------- */

static atomic_int door = -1; /* of GATE_ENV_DOOR, while it is shut */

/* Between HAProxy's own parts, and to the gate's probe, nothing is shut. */
static bool is_shut(int fd)
{
	int domain, at = atomic_load(&door);
	socklen_t n = sizeof(domain);
	eventfd_t opened;

	if (at < 0 ||
	    (getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &n) == 0 &&
	     domain == AF_UNIX))
		return false;
	if (eventfd_read(at, &opened) < 0)
		return true;
	atomic_store(&door, -1);
	return false;
}

/* As if nobody had come: HAProxy looks again at once. */
static int say_nobody(void)
{
	errno = EAGAIN;
	return -1;
}

STANDS_IN int accept(int fd, struct sockaddr *sa, socklen_t *n)
{
	if (is_shut(fd))
		return say_nobody();
	return take_plain(real_accept(fd, sa, n));
}

STANDS_IN int accept4(int fd, struct sockaddr *sa, socklen_t *n, int flags)
{
	if (is_shut(fd))
		return say_nobody();
	return take_plain(real_accept4(fd, sa, n, flags));
}

STANDS_IN int close(int fd)
{
	struct plain *p =
		plain_of(fd) ? atomic_exchange(&plains[fd], NULL) : NULL;

	if (p)
		stream_done(&p->stream);
	free(p);
	return real_close(fd);
}

/* HAProxy looks at this header first, and then takes exactly that. */
static ssize_t take_origin(struct plain *p, int fd, void *buf, size_t n,
			   int flags)
{
	static const char mark[] = "\r\n\r\n\0\r\nQUIT\n";
	ssize_t got = real_recv(fd, buf, n, flags);
	const unsigned char *b = buf;

	if (got <= 0 || (flags & MSG_PEEK))
		return got;
	if (got < PROXY_HEAD || memcmp(b, mark, sizeof(mark) - 1) != 0 ||
	    got != PROXY_HEAD + b[14] * 256 + b[15]) {
		errno = EPROTO;
		return -1;
	}
	p->has_origin = true;
	return got;
}

/*
 * Whether the other end is a part of HAProxy that closed: it has answered, and
 * does not want the rest of a request. HAProxy, once a write fails, forgets
 * that answer, and the client would hear nothing; what is left of the request
 * nobody reads in any case. errno stays what it is where it did not.
 */
static bool has_left(int fd)
{
	struct sockaddr_un sa = {0};
	socklen_t n = sizeof(sa) - 1;
	int was = errno;
	bool left = (was == EPIPE || was == ECONNRESET) &&
		    getpeername(fd, (struct sockaddr *)&sa, &n) == 0 &&
		    sa.sun_family == AF_UNIX && sa.sun_path[0];

	errno = was;
	return left;
}

static ssize_t from_socket(void *data, char *buf, size_t n)
{
	return real_recv(*(int *)data, buf, n, 0);
}

STANDS_IN ssize_t recv(int fd, void *buf, size_t n, int flags)
{
	struct plain *p = plain_of(fd);
	ssize_t got;

	if (!p || !buf) {
		got = real_recv(fd, buf, n, flags);
		return got < 0 && has_left(fd) ? 0 : got;
	}
	if (!p->has_origin)
		return take_origin(p, fd, buf, n, flags);
	if (flags & (MSG_PEEK | MSG_TRUNC)) {
		errno = EIO;
		return -1;
	}
	got = stream_read(&p->stream, from_socket, &fd, buf, n);
	/* HAProxy takes less than it asked for as all that there is, and would
	 * wait for the client: the socket says that there is an end to see. */
	if (got > 0 && p->stream.end == STREAM_CUT)
		shutdown(fd, SHUT_RD);
	if (got >= -1)
		return got;
	errno = got == STREAM_AGAIN ? EAGAIN : ECONNRESET;
	return -1;
}

STANDS_IN ssize_t send(int fd, const void *buf, size_t n, int flags)
{
	struct plain *p = plain_of(fd);
	char page[HTTP1_PAGE_MAX];
	ssize_t got;

	if (p && http1_page(buf, n, page))
		return real_send(fd, page, n, flags);
	if (p)
		http1_answer(&p->stream.http, buf, n);
	got = real_send(fd, buf, n, flags);
	return got < 0 && has_left(fd) ? (ssize_t)n : got;
}

/* Nothing goes past the reader through a pipe; HAProxy reads it then. */
STANDS_IN ssize_t splice(int in, off64_t *in_at, int out, off64_t *out_at,
			 size_t n, unsigned flags)
{
	if (plain_of(in)) {
		errno = EINVAL;
		return -1;
	}
	return real_splice(in, in_at, out, out_at, n, flags);
}

/* --- what was decided ---------------------------------------------------- */

static bool is_record(const struct msghdr *m)
{
	const struct sockaddr_un *to = m->msg_name;
	size_t n = m->msg_namelen > offsetof(struct sockaddr_un, sun_path)
			   ? m->msg_namelen -
				     offsetof(struct sockaddr_un, sun_path)
			   : 0;

	return to && n && to->sun_family == AF_UNIX &&
	       memmem(to->sun_path, strnlen(to->sun_path, n), LOG_SOCKET,
		      sizeof(LOG_SOCKET) - 1);
}

/*
 * HAProxy never waits for who reads its log. Here it does, with the connection
 * that the line is about and the others of its thread: what cannot be told is
 * not done meanwhile.
 */
STANDS_IN ssize_t sendmsg(int fd, const struct msghdr *m, int flags)
{
	static const struct timeval most = {.tv_sec = LOG_WAIT_S};
	ssize_t got = real_sendmsg(fd, m, flags);

	if (got >= 0 || (errno != EAGAIN && errno != ENOBUFS) || !is_record(m))
		return got;
	if (setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most)) < 0) {
		errno = EAGAIN;
		return -1;
	}
	return real_sendmsg(fd, m, flags & ~MSG_DONTWAIT);
}

/* --- what leaves --------------------------------------------------------- */

static int broker = -1; /* a channel of runtime/broker's */
static pthread_mutex_t asking = PTHREAD_MUTEX_INITIALIZER;

/* To another machine: not a socket of the gate's, and not the one port of the
 * machine's own that the gate itself forwards. */
static bool leaves(const struct sockaddr *to)
{
	const struct sockaddr_in *v4 = (const void *)to;
	struct in_addr machine;

	return to->sa_family == AF_INET6 ||
	       (to->sa_family == AF_INET &&
		(inet_pton(AF_INET, LINK_MACHINE_V4, &machine) != 1 ||
		 v4->sin_addr.s_addr != machine.s_addr));
}

/* The same descriptor, of a socket that is on its way there. */
STANDS_IN int connect(int fd, const struct sockaddr *to, socklen_t n)
{
	int got, rc;

	if (broker < 0 || !leaves(to))
		return real_connect(fd, to, n);
	pthread_mutex_lock(&asking);
	got = broker_connect(broker, SOCK_STREAM, to, n);
	pthread_mutex_unlock(&asking);
	if (got < 0)
		return -1;
	rc = dup3(got, fd, O_CLOEXEC) < 0 ? errno : EINPROGRESS;
	real_close(got);
	errno = rc;
	return -1;
}

/* --- decrypted ----------------------------------------------------------- */

static void inner_free(void *parent, void *ptr, CRYPTO_EX_DATA *data, int index,
		       long arg, void *more)
{
	struct inner *in = ptr;

	(void)parent, (void)data, (void)index, (void)arg, (void)more;
	if (in)
		stream_done(&in->stream);
	free(in);
}

static struct inner *inner_of(const SSL *ssl)
{
	return SSL_get_ex_data(ssl, inner_index);
}

/* NULL: no memory. */
static struct inner *inner_new(SSL *ssl)
{
	struct inner *in = calloc(1, sizeof(*in));

	if (in && SSL_set_ex_data(ssl, inner_index, in) == 1)
		return in;
	free(in);
	return NULL;
}

static ssize_t from_tls(void *data, char *buf, size_t n)
{
	return real_ssl_read(data, buf, n > INT32_MAX ? INT32_MAX : (int)n);
}

/* HTTP/2 agreed upon has a parser that mends nothing. */
static void look_at_alpn(const SSL *ssl, struct inner *in)
{
	const unsigned char *name;
	unsigned n;

	SSL_get0_alpn_selected(ssl, &name, &n);
	in->unread = n == 2 && memcmp(name, "h2", 2) == 0;
	in->begun = true;
}

static int say_error(struct inner *in, int error)
{
	in->has_said = true;
	in->said = error;
	return error == SSL_ERROR_ZERO_RETURN ? 0 : -1;
}

STANDS_IN int SSL_read(SSL *ssl, void *buf, int n)
{
	struct inner *in;
	ssize_t got;

	if (!SSL_is_server(ssl))
		return real_ssl_read(ssl, buf, n);
	in = inner_of(ssl);
	if (!in)
		in = inner_new(ssl);
	if (!in)
		return -1; /* an error, as nothing waits to be read */
	in->has_said = false;
	if (!in->begun) {
		int done = SSL_do_handshake(ssl);

		if (done <= 0)
			return done;
		look_at_alpn(ssl, in);
	}
	if (in->unread)
		return real_ssl_read(ssl, buf, n);
	got = stream_read(&in->stream, from_tls, ssl, buf, (size_t)n);
	if (got == STREAM_AGAIN)
		return say_error(in, SSL_ERROR_WANT_READ);
	if (got == STREAM_ERROR)
		return say_error(in, SSL_ERROR_SSL);
	if (got == 0 && in->stream.end != STREAM_OPEN)
		return say_error(in, SSL_ERROR_ZERO_RETURN);
	return (int)got;
}

STANDS_IN int SSL_get_error(const SSL *ssl, int ret)
{
	struct inner *in = inner_of(ssl);

	if (!in || !in->has_said)
		return real_ssl_error(ssl, ret);
	in->has_said = false;
	return in->said;
}

STANDS_IN int SSL_write(SSL *ssl, const void *buf, int n)
{
	struct inner *in = SSL_is_server(ssl) ? inner_of(ssl) : NULL;
	char page[HTTP1_PAGE_MAX];

	if (in)
		in->has_said = false;
	if (in && !in->unread && n > 0 && http1_page(buf, (size_t)n, page))
		return real_ssl_write(ssl, page, n);
	if (in && n > 0)
		http1_answer(&in->stream.http, buf, (size_t)n);
	return real_ssl_write(ssl, buf, n);
}

/* --- being there --------------------------------------------------------- */

/* What the gate hands over under this name; -1: nothing. */
static int inherited(const char *variable)
{
	const char *text = getenv(variable);

	return text ? atoi(text) : -1;
}

/* The one behind ours; and whether ours is what a program gets. */
static bool stand_in(const char *name, void *out_real)
{
	void *real = dlsym(RTLD_NEXT, name), *got = dlsym(RTLD_DEFAULT, name);
	Dl_info us, them;

	memcpy(out_real, &real, sizeof(real));
	return real && dladdr(plains, &us) && dladdr(got, &them) &&
	       us.dli_fbase == them.dli_fbase;
}

__attribute__((constructor)) static void find_originals(void)
{
	bool all = stand_in("close", &real_close) &
		   stand_in("connect", &real_connect) &
		   stand_in("recv", &real_recv) & stand_in("send", &real_send) &
		   stand_in("accept", &real_accept) &
		   stand_in("accept4", &real_accept4) &
		   stand_in("sendmsg", &real_sendmsg) &
		   stand_in("splice", &real_splice) &
		   stand_in("SSL_read", &real_ssl_read) &
		   stand_in("SSL_write", &real_ssl_write) &
		   stand_in("SSL_get_error", &real_ssl_error);

	broker = inherited(GATE_ENV_BROKER);
	door = inherited(GATE_ENV_DOOR);
	inner_index = SSL_get_ex_new_index(0, NULL, NULL, NULL, inner_free);
	if (all && inner_index >= 0)
		setenv(GATE_ENV_READER, "1", 1);
	else
		unsetenv(GATE_ENV_READER);
}
