/* The way out by a proxy, where somebody says nothing: for how long that is
 * waited for, all at the same time. */
#include "compiler/base/sys/clock.h"
#include "tests/unit/gate/onward_ends.h"

#define HEAD_WAIT_MS 5000
#define PAST	     " 4000 past\\ the\\ proxy:\\ Connection\\ timed\\ out\n"
#define BY	     " 4001 the\\ proxy\\ does\\ not\\ answer\\ in\\ time\n"
#define LATE_MS	     5000 /* more, on a machine that is busy */

/* What it is now, to a number of milliseconds since. */
static bool is_since(int64_t began_ms, int64_t ms)
{
	int64_t took_ms = clock_ms() - began_ms;

	return took_ms >= ms - 50 && took_ms < ms + LATE_MS;
}

/* One that listens and has no more room: nothing answers there. */
static int listen_full(const char *addr, uint16_t *port)
{
	static int held;
	struct sockaddr_storage sa;
	int fd = listen_at(addr, port);
	socklen_t n = sizeof(sa);

	CHECK(listen(fd, 0) == 0);
	CHECK(getsockname(fd, (struct sockaddr *)&sa, &n) == 0);
	held = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	CHECK(connect(held, (struct sockaddr *)&sa, n) == 0);
	return fd;
}

int main(void)
{
	struct onward o = {.pidfd = -1};
	struct onward_proxy p;
	int64_t began_ms;
	int silent, unread, unanswered, far, full;
	bool heard[2] = {false, false};
	uint16_t port = 0;

	if (!begin_ends())
		return NOT_HERE;
	p = proxy_at("127.0.0.1", "");
	CHECK(onward_start(&p, names, &o, &err) == 0);
	full = listen_full("127.7.7.7", &port);
	began_ms = clock_ms();
	silent = call_server();
	unread = call("127.7.7.7", port, 4000, "x");
	unanswered = call("192.0.2.1", 443, 4001, "x");
	far = take(proxy);
	CHECK(hear(far, "\r\n\r\n"));
	CHECK(is_quiet(admin));
	CHECK(hears_end(silent) && is_since(began_ms, HEAD_WAIT_MS));
	for (int i = 0; i < 2; i++) { /* whichever is first */
		CHECK(commanded(ADDED "400", "\n"));
		heard[0] |= strstr(said, PAST) != NULL;
		heard[1] |= strstr(said, BY) != NULL;
	}
	CHECK(heard[0] && heard[1] && is_since(began_ms, ONWARD_CONNECT_MS));
	CHECK(hears_end(unread) && hears_end(unanswered));
	close(unread);
	close(unanswered);
	close(far);
	close(silent);
	close(full);
	close(proxy);
	end_server(&o);
	return check_status();
}
