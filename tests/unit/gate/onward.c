/* The way out by a proxy, in a network of its own. */
#include "tests/unit/gate/onward_ends.h"

#include <linux/sockios.h>
#include <sys/syscall.h>

#define LOGIN "Proxy-Authorization: Basic bWU6YTpi\r\n" /* me:a:b */

/* --- ways ----------------------------------------------------------------- */

/* The proxy is asked for that, in those words of ours. */
static void by_proxy(const char *to, uint16_t port, const char *target,
		     const char *login)
{
	int client = call(to, port, 1000, "first"), far = take(proxy);
	char line[300];

	CHECK(hear(far, "\r\n\r\n"));
	snprintf(line, sizeof(line), "CONNECT %s HTTP/1.1\r\n", target);
	CHECK_MSG(strncmp(said, line, strlen(line)) == 0, "%s", said);
	snprintf(line, sizeof(line), "\r\nHost: %s\r\n", target);
	CHECK_MSG(strstr(said, line), "%s", said);
	CHECK(login ? strstr(said, login) != NULL
		    : !strstr(said, "Proxy-Authorization"));
	/* bytes behind the answer are the client's */
	say(far, "HTTP/1.1 200 yes\r\n\r\nearly");
	CHECK(hears(client, "early"));
	talk(client, far);
}

static void names_and_addresses(const char *login)
{
	by_proxy("192.0.2.1", 443, "a.test:443", login);
	by_proxy("192.0.2.2", 8080, "b.test:8080", login);
	by_proxy("11.0.9.1", 80, "11.0.9.1:80", login);
	by_proxy("2a0e::7", 443, "[2a0e::7]:443", login);
}

/* What 'direct' has, as a network or by a name, and the machine's own ports. */
static void past_proxy(void)
{
	static const char *const at[] = {"127.7.7.7", "127.8.8.8", "::1",
					 LINK_MACHINE_V4};
	struct addr a;

	CHECK(link_machine_up(&err) == 0);
	CHECK(addr_parse(STR("127.8.8.8"), &a) &&
	      standins_pass(names, &a, 1, INT64_MAX));
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		uint16_t port = 0;
		int server = listen_at(at[i], &port);
		int client = call(at[i], port, 1001, "first");

		talk(client, take(server));
		close(server);
	}
	CHECK(is_quiet(proxy) && is_quiet(admin));
}

/* One that the proxy has taken. */
static int begin_call(uint16_t from, int *far)
{
	int client = call("192.0.2.1", 443, from, "first");

	*far = take(proxy);
	CHECK(hear(*far, "\r\n\r\n"));
	say(*far, "HTTP/1.1 200 yes\r\n\r\n");
	return client;
}

/* None waits for another. */
static void two_at_once(void)
{
	int far[2], one = begin_call(1002, &far[0]),
		    two = begin_call(1003, &far[1]);

	talk(two, far[1]);
	talk(one, far[0]);
}

/* As much as there is room for on its way. */
static void flood(int fd)
{
	static char zeros[1 << 16];
	struct pollfd p = {fd, POLLOUT, 0};

	do
		while (send(fd, zeros, sizeof(zeros),
			    MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
			;
	while (poll(&p, 1, 50) == 1);
}

/* Who does not read is heard all the same. */
static void one_way_stuck(void)
{
	int far, client = begin_call(1004, &far);

	CHECK(hears(far, "first"));
	flood(far);
	say(client, "third");
	CHECK(hears(far, "third"));
	close(client);
	close(far);
	client = begin_call(1005, &far);
	CHECK(hears(far, "first"));
	flood(client);
	say(far, "second");
	CHECK(hears(client, "second"));
	close(client);
	close(far);
}

/* --- what becomes of a connection that is none ---------------------------- */

static const struct {
	const char *answer, *why;
} refusals[] = {
	{"HTTP/1.1 407 no\r\n\r\n",
	 "the\\ proxy\\ wants\\ another\\ login\\ (407)"},
	{"HTTP/1.1 403 no\r\n\r\n", "the\\ proxy\\ refuses\\ it\\ (403)"},
	{"HTTP/1.1 300 no\r\n\r\n", "the\\ proxy\\ refuses\\ it\\ (300)"},
	{"HTTP/1.1 302 no\r\nLocation: http://other.test/\r\n\r\n",
	 "the\\ proxy\\ refuses\\ it\\ (302)"},
	{"HTTP/1.1 502 no\r\n\r\n", "the\\ proxy\\ refuses\\ it\\ (502)"},
	{"", "the\\ proxy\\ breaks\\ off\\ or\\ answers\\ nonsense:"},
};

/* U-6 */
static void refused_by_proxy(void)
{
	struct addr a;

	for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
		int client = call("192.0.2.1", 443, (uint16_t)(2000 + i), "x"),
		    far = take(proxy);

		CHECK(hear(far, "\r\n\r\n"));
		say(far, refusals[i].answer);
		shutdown(far, SHUT_WR);
		fails(client, (uint16_t)(2000 + i), refusals[i].why);
		close(far);
	}
	fails(call("192.0.2.3", 443, 2100, "x"), 2100,
	      "no\\ name\\ is\\ known\\ for\\ it");
	fails(call("127.7.7.7", 1, 2101, "x"), 2101,
	      "past\\ the\\ proxy:\\ Connection\\ refused");
	CHECK(addr_parse(STR("11.9.9.9"), &a) &&
	      standins_pass(names, &a, 1, INT64_MAX));
	fails(call("11.9.9.9", 1, 2102, "x"), 2102,
	      "past\\ the\\ proxy:\\ Network\\ is\\ unreachable");
	CHECK(is_quiet(proxy));
}

/* Its port is another connection's then, by which nothing has failed. */
static void forgotten_reason(uint16_t from, const char *answer)
{
	char command[64];
	int client;

	snprintf(command, sizeof(command), "del map " GATE_FAILURES " %u\n",
		 from);
	fails(call("192.0.2.3", 443, from, "x"), from,
	      "no\\ name\\ is\\ known\\ for\\ it");
	client = call("192.0.2.1", 443, from, "first");
	CHECK(commanded(command, answer));
	for (int i = 0; i < 2; i++) {
		int far = take(proxy);

		CHECK(hear(far, "\r\n\r\n"));
		say(far, "HTTP/1.1 200 yes\r\n\r\n");
		talk(client, far);
		if (i == 0)
			client = call("192.0.2.1", 443, from, "first");
	}
	CHECK(is_quiet(admin));
}

/* A head that comes in pieces, and nothing of what is behind it is lost. */
static void head_in_pieces(void)
{
	static const char head[] = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"
				   "\0\0\0\0\xc0\0\2\1\3\xee\1\xbb"
				   "first";
	int client = call_server(), far, left = 1;

	CHECK(send(client, head, 5, 0) == 5);
	while (ioctl(client, SIOCOUTQ, &left) == 0 && left)
		sched_yield();
	CHECK(send(client, head + 5, sizeof(head) - 6, 0) == sizeof(head) - 6);
	far = take(proxy);
	CHECK(hear(far, "\r\n\r\n"));
	say(far, "HTTP/1.1 200 yes\r\n\r\n");
	talk(client, far);
}

/* All but its last byte; and of another protocol. */
static void half_a_head(void)
{
	static const char half[] = "\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c"
				   "\0\0\0\0\xc0\0\2\1\3\xee\1",
			  udp[] = "\r\n\r\n\0\r\nQUIT\n\x21\x12\0\x0c"
				  "\0\0\0\0\xc0\0\2\1\3\xee\1\xbb";
	int client = call_server();

	CHECK(send(client, half, sizeof(half) - 1, 0) == sizeof(half) - 1);
	shutdown(client, SHUT_WR);
	CHECK(hears_end(client));
	close(client);
	client = call_server();
	CHECK(send(client, udp, sizeof(udp) - 1, 0) == sizeof(udp) - 1);
	CHECK(hears_end(client));
	close(client);
}

/* Who does not say whose connection it is has none. */
static void no_head(void)
{
	static const char *const heads[] = {
		"GET / HTTP/1.1\r\nHost: a.test\r\n\r\n", "\r\n\r\n", "x"};

	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); i++) {
		int client = call_server();

		say(client, heads[i]);
		shutdown(client, SHUT_WR);
		CHECK(hears_end(client));
		close(client);
	}
	half_a_head();
	CHECK(is_quiet(proxy) && is_quiet(admin));
}

/* --- the process ---------------------------------------------------------- */

static void read_children(pid_t pid, char out[4096])
{
	char name[64];

	snprintf(name, sizeof(name), "task/%d/children", (int)pid);
	CHECK(read_proc(pid, name, out));
}

static bool is_ended(pid_t pid)
{
	char text[4096];

	return !read_proc(pid, "stat", text) || strstr(text, ") Z ");
}

/* Children that have ended are not kept. */
static void buried(const struct onward *o)
{
	char text[4096];
	const char *at;
	int client;

	for (int i = 0; i < 3; i++) {
		client = call_server();
		shutdown(client, SHUT_WR);
		CHECK(hears_end(client));
		close(client);
	}
	read_children(o->pid, text);
	for (at = text; *at; at += strcspn(at, " ") + 1)
		while (!is_ended(atoi(at)))
			sched_yield();
	client = call_server();
	shutdown(client, SHUT_WR);
	CHECK(hears_end(client));
	read_children(o->pid, text);
	at = strchr(text, ' ');
	CHECK_MSG(!at || !at[1], "%s", text);
	close(client);
}

static bool leads_to(pid_t pid, int fd, const char *what)
{
	char path[64], text[64] = "";

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	return readlink(path, text, sizeof(text) - 1) > 0 &&
	       strcmp(text, what) == 0;
}

/* Nothing of who began it, and of its own only what each needs. */
static void own_files(const struct onward *o)
{
	static const int nothing[] = {0, 1, 4};
	char path[64], listener[64] = "", text[4096];
	int far, client = begin_call(1006, &far);
	pid_t child;

	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++)
		CHECK(leads_to(o->pid, nothing[i], "/dev/null"));
	snprintf(path, sizeof(path), "/proc/%d/fd/3", (int)o->pid);
	CHECK(readlink(path, listener, sizeof(listener) - 1) > 0);
	read_children(o->pid, text);
	child = atoi(text);
	CHECK(child > 0);
	for (int i = 0; i < 32; i++)
		CHECK(!leads_to(child, i, listener));
	talk(client, far);
}

/* With it all connections end. */
static void killed(struct onward *o)
{
	int far, client = begin_call(1007, &far);

	CHECK(hears(far, "first"));
	end_server(o);
	CHECK(hears_end(client) && hears_end(far));
	close(client);
	close(far);
}

/* Without its socket it is of no use, and ends. */
static void broken_socket(void)
{
	struct onward_proxy p = proxy_at("127.0.0.1", "");
	struct onward o = {.pidfd = -1};
	int listener, client;

	CHECK(onward_start(&p, names, &o, &err) == 0);
	client = call_server();
	shutdown(client, SHUT_WR);
	CHECK(hears_end(client)); /* so it serves */
	close(client);
	listener = (int)syscall(SYS_pidfd_getfd, o.pidfd, 3, 0);
	CHECK(shutdown(listener, SHUT_RDWR) == 0);
	end_by_itself(&o);
	close(listener);
	close(proxy);
}

static void unknown_proxy(void)
{
	struct onward_proxy p = {.port = 0};
	struct onward o;

	CHECK(onward_start(&p, names, &o, &err) == -ENOENT);
	CHECK(access(GATE_UPSTREAM, F_OK) < 0);
}

static void without_login(void)
{
	struct onward_proxy p = proxy_at("127.0.0.1", "");
	struct onward o = {.pidfd = -1}, second;

	CHECK(onward_start(&p, names, &o, &err) == 0);
	CHECK(onward_start(&p, names, &second, &err) == -EADDRINUSE &&
	      strstr(err.text, GATE_UPSTREAM));
	names_and_addresses(NULL);
	privileges(&o);
	own_files(&o);
	two_at_once();
	one_way_stuck();
	head_in_pieces();
	past_proxy();
	refused_by_proxy();
	forgotten_reason(2110, "\n");
	forgotten_reason(65535, "Key not found.\n\n");
	no_head();
	buried(&o);
	close(proxy);
	fails(call("192.0.2.1", 443, 2200, "x"), 2200,
	      "the\\ proxy\\ cannot\\ be\\ reached:\\ Connection\\ refused");
	end_server(&o);
}

static void with_login(void)
{
	struct onward_proxy p = proxy_at("::1", "me:a:b");
	struct onward o = {.pidfd = -1};

	signal(SIGCHLD, SIG_IGN); /* whoever began it */
	CHECK(onward_start(&p, names, &o, &err) == 0);
	signal(SIGCHLD, SIG_DFL);
	names_and_addresses(LOGIN);
	privileges(&o);
	killed(&o);
	close(proxy);
}

/* HAProxy does not take the reason: said, and the client's end is the same. */
static void unheard_reason(void)
{
	struct onward_proxy p = proxy_at("127.0.0.1", "");
	int words[2], own = dup(STDERR_FILENO), client;
	struct onward o;

	CHECK(pipe2(words, O_CLOEXEC) == 0 && dup2(words[1], 2) == 2);
	CHECK(onward_start(&p, names, &o, &err) == 0 && dup2(own, 2) == 2);
	fails(call("192.0.2.3", 443, 2300, "x"), 2300,
	      "no\\ name\\ is\\ known\\ for\\ it");
	client = call("192.0.2.3", 443, 2300, "x");
	CHECK(commanded("del map " GATE_FAILURES " 2300\n", "\n"));
	CHECK(is_quiet(words[0]));
	CHECK(commanded(ADDED "2300 no\\ name\\ is\\ known\\ for\\ it\n",
			"Unknown map identifier.\n\n"));
	CHECK(hears_end(client) && comes(words[0]) &&
	      read(words[0], said, sizeof(said)) > 0 &&
	      strncmp(said, "why the proxy failed: HAProxy says 'Unknown map",
		      47) == 0);
	close(client);
	client = call("192.0.2.3", 443, 2300, "x");
	CHECK(commanded("del map " GATE_FAILURES " 2300\n",
			"Unknown map identifier.\n\n"));
	CHECK(comes(words[0]) && read(words[0], said, sizeof(said)) > 0 &&
	      strstr(said, "why the proxy failed: HAProxy says 'Unknown map"));
	CHECK(commanded(ADDED "2300", "\n") && hears_end(client));
	close(client);
	end_server(&o);
	close(words[0]);
	close(words[1]);
	close(own);
	close(proxy);
}

/* Its parent's end is its own. */
static void orphaned(void)
{
	struct onward_proxy p = proxy_at("127.0.0.1", "");
	int pair[2];
	pid_t pid;

	CHECK(pipe2(pair, 0) == 0);
	pid = fork();
	if (pid == 0) {
		struct onward o;

		/* with the server's the pipe has its last end */
		if (onward_start(&p, names, &o, &err) == 0)
			pause();
		_exit(1);
	}
	close(pair[1]);
	while (access(GATE_UPSTREAM, F_OK) < 0)
		sched_yield();
	close(call_server());
	CHECK(kill(pid, SIGKILL) == 0 && waitpid(pid, NULL, 0) == pid);
	CHECK(comes(pair[0]) && read(pair[0], said, 1) == 0);
	close(pair[0]);
	close(proxy);
	unlink(GATE_UPSTREAM);
}

int main(void)
{
	int in[2];

	if (!begin_ends())
		return NOT_HERE;
	signal(SIGPIPE, SIG_DFL); /* whatever whoever runs this makes of it */
	CHECK(pipe2(in, O_CLOEXEC) == 0 && dup2(in[0], STDIN_FILENO) == 0);
	unknown_proxy();
	without_login();
	with_login();
	unheard_reason();
	broken_socket();
	orphaned();
	return check_status();
}
