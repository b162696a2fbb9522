/* Whose something was: by what was seen, when it is asked for, and how sure. */
#include "runtime/watch/whose.h"

#include "tests/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

static struct whose *w;
static struct watch_head head;
static struct record r;
static struct whose_answer x;
static struct err err;
static uint32_t last_id;
static unsigned looks;

static void saw(enum watch_event event, uint32_t pid, int64_t now_ms)
{
	head.host_pid = head.host_tid = 1000 + pid;
	head.host_ppid = 1001;
	head.pid = pid;
	snprintf(head.comm, sizeof(head.comm), "p%u", pid);
	r.event = event;
	whose_saw(w, &r, now_ms);
}

static void none(void)
{
	for (unsigned i = 0; i < RECORD_VALUES_MAX; i++)
		r.v[i] = (struct value){.kind = VALUE_NONE};
	r.sport = 0;
	r.ret = 0;
}

static struct value *arg_of(enum watch_event event, const char *name)
{
	const struct watch_event_info *info = events_info(event);

	for (unsigned i = 0; i < info->n_args; i++)
		if (strcmp(info->args[i].name, name) == 0)
			return &r.v[i];
	CHECK_MSG(false, "no argument %s", name);
	return &r.v[0];
}

static void exec(uint32_t pid, struct str argv)
{
	none();
	*arg_of(WATCH_EVENT_sched_process_exec, "argv") =
		(struct value){VALUE_LIST, {.s = argv}};
	saw(WATCH_EVENT_sched_process_exec, pid, 0);
}

static void question(uint32_t pid, const char *name, int64_t now_ms)
{
	static char list[512];
	int n = snprintf(list, sizeof(list), "%s%cA%cIN", name, 0, 0);

	none();
	r.v[1] = (struct value){VALUE_QUESTIONS, {.s = {list, (size_t)n + 1}}};
	saw(WATCH_EVENT_net_packet_dns_request, pid, now_ms);
}

static void call(uint32_t pid, const char *addr, uint16_t port, uint16_t sport,
		 int64_t now_ms)
{
	struct value *v;
	struct sockaddr_in *in;

	none();
	v = arg_of(WATCH_EVENT_security_socket_connect, "remote_addr");
	in = (struct sockaddr_in *)&v->addr;
	*v = (struct value){.kind = VALUE_ADDR};
	in->sin_family = AF_INET;
	in->sin_port = htons(port);
	CHECK(inet_pton(AF_INET, addr, &in->sin_addr) == 1);
	r.sport = sport;
	saw(WATCH_EVENT_security_socket_connect, pid, now_ms);
}

static void path(uint32_t pid, const char *text)
{
	none();
	*arg_of(WATCH_EVENT_security_file_open, "pathname") =
		value_text(str_of(text));
	saw(WATCH_EVENT_security_file_open, pid, 0);
}

/* Ask at that time, and take what is said by then. */
static bool says(const char *about, int64_t asked_ms, int64_t now_ms)
{
	char line[1024];

	snprintf(line, sizeof(line), "{\"event\":\"who\",\"id\":%u,%s}",
		 ++last_id, about);
	CHECK(whose_asks(str_of(line)));
	CHECK(whose_take(w, str_of(line), asked_ms, &err) == 0);
	memset(&x, 0, sizeof(x));
	return whose_next(w, now_ms, false, &x) && x.id == last_id;
}

static bool is_whose(uint32_t pid, enum hello_sure sure)
{
	CHECK_MSG(x.pid == pid && x.sure == sure, "%u, %d", x.pid, x.sure);
	return x.pid == pid && x.sure == sure;
}

static void names(void)
{
	exec(2, STR("curl\0-sS\0https://a.test/it's?"));
	question(2, "a.test", 0);
	CHECK(says("\"name\":\"A.test\"", 0, 0));
	CHECK(is_whose(2, HELLO_SURELY));
	CHECK_MSG(strcmp(x.command, "curl -sS 'https://a.test/it'\\''s?'") == 0,
		  "%s", x.command);
	question(3, "a.test", 1); /* begun by none that was seen */
	CHECK(says("\"name\":\"a.test\"", 1, 1));
	CHECK(is_whose(3, HELLO_SURELY) && !x.command[0]);
	/* a name that nobody was seen to ask for, and nobody called anywhere */
	CHECK(!says("\"name\":\"b.test\"", 5000, 5050));
	CHECK(!whose_next(w, 5000 + WHOSE_WAIT_MS - 1, false, &x));
	CHECK(whose_next(w, 5000 + WHOSE_WAIT_MS, false, &x));
	CHECK(is_whose(0, HELLO_NOBODY) && !x.comm[0]);
	/* it comes while that is waited for */
	CHECK(!says("\"name\":\"c.test\"", 6000, 6000));
	question(2, "c.test", 6001);
	CHECK(whose_next(w, 6001, false, &x) && is_whose(2, HELLO_SURELY));
}

static void calls(void)
{
	call(2, "192.0.2.1", 443, 40000, 10000);
	call(3, "192.0.2.1", 443, 40001, 10000);
	CHECK(says("\"addr\":\"192.0.2.1\",\"port\":443,\"sport\":40000", 10000,
		   10000));
	CHECK(is_whose(2, HELLO_SURELY));
	CHECK(!says("\"addr\":\"192.0.2.1\",\"port\":443", 10000, 10000));
	CHECK(whose_next(w, 10200, false, &x));
	CHECK(is_whose(0, HELLO_NOBODY)); /* either */
	call(2, "192.0.2.2", 80, 0, 20000);
	call(2, "192.0.2.2", 80, 0, 20001);
	CHECK(!says("\"addr\":\"192.0.2.2\",\"port\":80,\"sport\":5", 20001,
		    20001));
	CHECK(whose_next(w, 20001, true, &x));
	CHECK(is_whose(2, HELLO_PROBABLY)); /* its port was not known yet */
	CHECK(!says("\"addr\":\"192.0.2.2\",\"port\":80,\"sport\":5", 30000,
		    30000));
	CHECK(whose_next(w, 30000, true, &x));
	CHECK(is_whose(0, HELLO_NOBODY)); /* too long ago */
	call(4, "192.0.0.1", 53, 0, 40000);
	CHECK(!says("\"name\":\"d.test\"", 40000, 40000));
	CHECK(whose_next(w, 40000, true, &x));
	CHECK(is_whose(4, HELLO_PROBABLY)); /* the only one at a resolver */
	call(5, "192.0.0.1", 53, 0, 40001);
	CHECK(!says("\"name\":\"d.test\"", 40001, 40001));
	CHECK(whose_next(w, 40001, true, &x));
	CHECK(is_whose(0, HELLO_NOBODY)); /* either */
}

/* One after the other, as a script calls its programs. */
static void turns(void)
{
	call(6, "192.0.0.1", 53, 0, 50000);
	call(7, "192.0.0.1", 53, 0, 50000 + WHOSE_NEAR_MS);
	CHECK(!says("\"name\":\"e.test\"", 50012, 50012));
	call(8, "192.0.0.1", 53, 0, 50030); /* not what that was about */
	CHECK(whose_next(w, 50012 + WHOSE_WAIT_MS, false, &x));
	CHECK(is_whose(7, HELLO_PROBABLY));
	/* the record comes behind what was recorded of it */
	CHECK(!says("\"addr\":\"192.0.2.9\",\"port\":80", 60000, 60000));
	call(6, "192.0.2.9", 80, 0, 60001);
	CHECK(whose_next(w, 60000 + WHOSE_WAIT_MS, false, &x));
	CHECK(is_whose(6, HELLO_PROBABLY));
}

static void paths(void)
{
	path(2, "/home/me/project/lib/a.c");
	path(3, "/home/me/project/other/xlib/a.c");
	CHECK(says("\"path\":\"lib/a.c\"", 0, 0));
	CHECK(is_whose(2, HELLO_SURELY));
}

/* Process p has a socket from 40000 + p to 443; both of 20 and 21 from 50000. */
static bool has(uint32_t host_pid, uint16_t sport, uint16_t port)
{
	uint32_t pid = host_pid - 1000;

	looks++;
	return port == 443 && (sport == 40000 + pid ||
			       (sport == 50000 && (pid == 20 || pid == 21)));
}

/* Where the ports of a call are not seen, who has the socket is looked for. */
static void owners(void)
{
	whose_free(w);
	w = whose_new(has);
	CHECK(w != NULL);
	for (uint32_t pid = 18; pid < 22; pid++)
		call(pid, "192.0.2.7", 443, 0, 100);
	call(22, "192.0.2.7", 80, 0, 100);
	CHECK(says("\"addr\":\"192.0.2.7\",\"port\":443,\"sport\":40019", 100,
		   100));
	CHECK(is_whose(19, HELLO_SURELY));
	/* to a name's stand-in: only the ports are known */
	CHECK(says("\"name\":\"x.test\",\"calls\":true,\"port\":443,"
		   "\"sport\":40020",
		   100, 100));
	CHECK(is_whose(20, HELLO_SURELY));
	/* two have it; one that called another port; nobody lately */
	CHECK(!says("\"addr\":\"192.0.2.7\",\"port\":443,\"sport\":50000", 100,
		    100));
	CHECK(whose_next(w, 200, true, &x) && is_whose(0, HELLO_NOBODY));
	CHECK(!says("\"name\":\"x.test\",\"port\":443,\"sport\":40022", 100, 100));
	CHECK(whose_next(w, 200, true, &x) && is_whose(0, HELLO_NOBODY));
	CHECK(!says("\"addr\":\"192.0.2.7\",\"port\":443,\"sport\":40019", 3000,
		    3000));
	CHECK(whose_next(w, 3100, true, &x) && is_whose(0, HELLO_NOBODY));
	/* it connects while that is waited for; looked at twice, not always */
	call(18, "192.0.2.8", 443, 0, 5000);
	looks = 0;
	CHECK(!says("\"addr\":\"192.0.2.8\",\"port\":443,\"sport\":40023", 5000,
		    5000));
	CHECK(!whose_next(w, 5001, false, &x) && looks == 1);
	call(23, "192.0.2.8", 443, 0, 5002);
	CHECK(whose_next(w, 5000 + WHOSE_WAIT_MS, false, &x) && looks == 3);
	CHECK(is_whose(23, HELLO_SURELY));
	/* without a port, and for a file, nobody is looked at */
	looks = 0;
	CHECK(!says("\"addr\":\"192.0.2.8\",\"port\":443", 5002, 5002));
	CHECK(whose_next(w, 5003, true, &x) && looks == 0);
}

/* Half a word is none: who reads it would not know a half secret. */
static void bounds(void)
{
	char argv[HELLO_COMMAND_MAX + 100], line[4096];
	static const char *const bad[] = {
		"{\"event\":\"who\"}", "{\"event\":\"who\",\"id\":0}",
		"{\"event\":\"who\",\"id\":1,\"addr\":\"x\"}",
		"{\"event\":\"who\""};

	memset(argv, 'y', sizeof(argv));
	memcpy(argv, "echo\0-n", 8);
	exec(6, (struct str){argv, sizeof(argv)});
	question(6, "e.test", 50000);
	CHECK(says("\"name\":\"e.test\"", 50000, 50000));
	CHECK_MSG(strcmp(x.command, "echo -n") == 0, "%s", x.command);
	for (unsigned i = 0; i < ARRAY_LEN(bad); i++)
		CHECK(whose_take(w, str_of(bad[i]), 0, &err) == -EPROTO);
	CHECK(!whose_asks(STR("{\"event\":\"answer\"}")));
	memset(line, ' ', sizeof(line));
	CHECK(whose_take(w, (struct str){line, sizeof(line)}, 0, &err) ==
	      -EPROTO);
	for (unsigned i = 0; i < 1000; i++) /* more than wait */
		CHECK(!says("\"name\":\"f.test\"", 60000, 60000));
	for (last_id = 0; whose_next(w, 60000, true, &x); last_id++)
		CHECK(x.sure == HELLO_NOBODY);
	CHECK(last_id == 64);
	/* an old program whose process goes on, below thousands that end */
	exec(7, STR("claude"));
	for (uint32_t pid = 10000; pid < 60000; pid++) {
		exec(pid, STR("true"));
		none();
		saw(WATCH_EVENT_sched_process_exit, pid, 0);
	}
	question(7, "g.test", 70000);
	CHECK(says("\"name\":\"g.test\"", 70000, 70000));
	CHECK_MSG(strcmp(x.command, "claude") == 0, "%s", x.command);
}

int main(void)
{
	w = whose_new(NULL);
	CHECK(w != NULL);
	r.head = &head;
	r.syscall = "";
	if (w) {
		names();
		calls();
	turns();
		paths();
		bounds();
		owners();
	}
	whose_free(w);
	return check_status();
}
