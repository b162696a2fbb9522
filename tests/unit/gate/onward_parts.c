/*
 * The way out by a proxy, where the system refuses it something, whoever began
 * it is gone, or all the children that it may have are alive.
 */
#include "tests/unit/gate/onward_ends.h"

#include <curl/curl.h>
#include <sys/mman.h>

/* The Makefile has the linker lead calls of it here. */
#define PART(type, name, parameters)                                           \
	type __real_##name parameters;                                         \
	type __wrap_##name parameters;                                         \
	type __wrap_##name parameters

/* What is refused now, in whichever process. */
static enum {
	NOTHING,
	LISTEN,
	LISTENER, /* at its place */
	WAITING,
	UNTIMED, /* it is not refused, but no time goes by */
	LIBCURL,
	CHILDREN, /* there are none, and they live on */
} refused;

static unsigned n_parents, orphan_at; /* which of them is gone */
static pid_t test;

/* Shared: of the server's waits for a child. */
static struct {
	unsigned n, first_patient; /* from 1 */
} * waits;

PART(int, listen, (int fd, int n))
{
	errno = EIO;
	return refused == LISTEN ? -1 : __real_listen(fd, n);
}

PART(int, dup2, (int from, int to))
{
	errno = EIO;
	return refused == LISTENER && to == 3 ? -1 : __real_dup2(from, to);
}

PART(int, setsockopt, (int fd, int level, int name, const void *v, socklen_t n))
{
	if (level == SOL_SOCKET && name == SO_RCVTIMEO) {
		errno = EIO;
		if (refused == WAITING)
			return -1;
		if (refused == UNTIMED)
			return 0;
	}
	return __real_setsockopt(fd, level, name, v, n);
}

PART(CURLcode, curl_global_init, (long what))
{
	return refused == LIBCURL ? CURLE_FAILED_INIT
				  : __real_curl_global_init(what);
}

PART(pid_t, getppid, (void))
{
	return ++n_parents == orphan_at ? 1 : __real_getppid();
}

PART(pid_t, fork, (void))
{
	return refused == CHILDREN && getpid() != test ? 1 : __real_fork();
}

PART(pid_t, waitpid, (pid_t pid, int *status, int options))
{
	if (refused != CHILDREN || getpid() == test)
		return __real_waitpid(pid, status, options);
	waits->n++;
	if (!(options & WNOHANG) && !waits->first_patient)
		waits->first_patient = waits->n;
	return 0;
}

static struct onward start(const struct onward_proxy *p)
{
	struct onward o = {.pidfd = -1};

	CHECK(onward_start(p, names, &o, &err) == 0);
	return o;
}

static void finish(struct onward *o)
{
	end_server(o);
	refused = NOTHING;
	orphan_at = 0;
}

/* --- there is none -------------------------------------------------------- */

static void no_listener(const struct onward_proxy *p)
{
	struct onward o = {.pidfd = -1};

	refused = LISTEN;
	CHECK(onward_start(p, names, &o, &err) == -EIO && o.pidfd < 0 &&
	      strstr(err.text, GATE_UPSTREAM));
	refused = NOTHING;
	unlink(GATE_UPSTREAM);
}

/* It ends by itself, with 1. */
static void ends(const struct onward_proxy *p)
{
	struct onward o = start(p);
	siginfo_t end = {.si_status = -1};

	CHECK(comes(o.pidfd));
	CHECK(waitid(P_PID, (id_t)o.pid, &end, WEXITED | WNOHANG | WNOWAIT) ==
		      0 &&
	      end.si_code == CLD_EXITED && end.si_status == 1);
	finish(&o);
}

/* What is at that place is somebody else's, who listens, too. */
static void no_place(const struct onward_proxy *p)
{
	struct sockaddr_un sa = path_at("/run/other");
	int was = fcntl(3, F_DUPFD_CLOEXEC, 0);
	int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(bind(other, (struct sockaddr *)&sa, sizeof(sa)) == 0 &&
	      listen(other, 1) == 0 && dup2(other, 3) == 3);
	refused = LISTENER;
	ends(p);
	if (was >= 0)
		CHECK(dup2(was, 3) == 3);
	close(was);
	if (other != 3)
		close(other);
}

static void no_curl(const struct onward_proxy *p)
{
	int own = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 10), pair[2];

	CHECK(pipe2(pair, O_CLOEXEC | O_NONBLOCK) == 0);
	CHECK(dup2(pair[1], STDERR_FILENO) == STDERR_FILENO);
	refused = LIBCURL;
	ends(p);
	CHECK(dup2(own, STDERR_FILENO) == STDERR_FILENO);
	memset(said, 0, sizeof(said));
	CHECK(read(pair[0], said, sizeof(said) - 1) > 0 &&
	      strcmp(said, "there is no libcurl in the gate\n") == 0);
	close(own);
	close(pair[0]);
	close(pair[1]);
}

/* --- one connection ------------------------------------------------------- */

/* Its end is at once, and nobody else hears of it. */
static void unserved(const struct onward_proxy *p)
{
	struct onward o = start(p);
	int client = call("192.0.2.1", 443, 4000, "x");

	CHECK(hears_end(client));
	CHECK(is_quiet(proxy) && is_quiet(admin));
	close(client);
	finish(&o);
}

/* What is no head is not waited for to be one. */
static void no_head(const struct onward_proxy *p)
{
	struct onward o;
	int client;

	refused = UNTIMED;
	o = start(p);
	client = call_server();
	say(client, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n");
	CHECK(hears_end(client));
	close(client);
	finish(&o);
}

/* One that is more than there may be waits for the end of another. */
static void many(const struct onward_proxy *p)
{
	struct onward o;

	refused = CHILDREN;
	o = start(p);
	for (unsigned i = 0; i <= ONWARD_MAX; i++) {
		int client = call_server();

		CHECK(hears_end(client));
		close(client);
	}
	CHECK(waits->n == ONWARD_MAX && waits->first_patient == ONWARD_MAX);
	finish(&o);
}

int main(void)
{
	struct onward_proxy p;

	if (!begin_ends())
		return NOT_HERE;
	test = getpid();
	waits = mmap(NULL, sizeof(*waits), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(waits != MAP_FAILED);
	p = proxy_at("127.0.0.1", "");
	no_listener(&p);
	no_place(&p);
	no_curl(&p);
	orphan_at = 1;
	ends(&p);
	orphan_at = 2;
	unserved(&p);
	refused = WAITING;
	unserved(&p);
	no_head(&p);
	many(&p);
	return check_status();
}
