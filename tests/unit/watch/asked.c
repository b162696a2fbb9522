/*
 * A call that waits for an answer, as a record: of this process, which asks
 * itself. And the queue between who answers and who writes.
 */
#include "runtime/watch/asked/parts.h"

#include "runtime/watch/asked/process.h"
#include "runtime/watch/asked/queue.h"
#include "runtime/watch/line.h"
#include "tests/check.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PLAN(events, more)                                                     \
	"{\"version\":1,\"events\":[" events                                   \
	"],\"reads\":false,\"sensitive\":[\".env\"],\"exclude\":[]" more "}"
#define EVENT(name) "{\"name\":\"" name "\",\"filters\":[]}"
#define ALL                                                                    \
	EVENT("sched_process_exec")                                            \
	"," EVENT("security_file_open") "," EVENT("security_socket_connect") "," EVENT("security_inode_rename") "," EVENT("security_socket_listen")

static struct select *select_all;
static struct message m;
static struct record r;
static struct line_writer w;
static struct err err;

/* The line of a call with these arguments; empty: no event. */
static struct str line_of(int nr, uint64_t a, uint64_t b, uint64_t c,
			  uint64_t d)
{
	struct seccomp_notif n = {
		.pid = (__u32)getpid(),
		.data = {.nr = nr, .args = {a, b, c, d}},
	};

	line_clear(&w);
	if (!message_make(&m, select_all, -1, &n))
		return (struct str){0};
	CHECK(record_make(&r, &m.head, m.head.bytes));
	CHECK(select_takes(select_all, &r));
	CHECK(line_record(&w, &r, &err) == 0);
	return line_text(&w);
}

static bool says(struct str text, const char *part)
{
	return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

#define AT(text) ((uint64_t)(uintptr_t)(text))
#define HERE	 ((uint64_t)AT_FDCWD)

static void test_opens(void)
{
	char name[] = "made", secret[] = "x/.env", cwd[PATH_MAX], want[PATH_MAX + 32];
	struct open_how how = {.flags = O_RDWR};
	struct str s = line_of(SYS_openat, HERE, AT(name), O_WRONLY | O_CREAT,
			       0600);

	CHECK(getcwd(cwd, sizeof(cwd)) != NULL);
	snprintf(want, sizeof(want), "\"value\":\"%s/made\"", cwd);
	CHECK(says(s, want) && says(s, "\"returnValue\":null") &&
	      says(s, "\"threadStartTime\":null") &&
	      says(s, "\"syscall\":\"openat\"") &&
	      says(s, "\"inode\",\"type\":\"uint64\",\"value\":null"));
	snprintf(want, sizeof(want), "\"processId\":%d,", getpid());
	CHECK(says(s, want));
	CHECK(line_of(SYS_openat, HERE, AT(name), O_RDONLY, 0).n == 0);
	CHECK(line_of(SYS_openat, HERE, AT(secret), O_RDONLY, 0).n > 0);
	CHECK(says(line_of(SYS_openat2, HERE, AT(name), AT(&how), sizeof(how)),
		   "\"flags\",\"type\":\"int32\",\"value\":2}"));
	how.flags = O_RDONLY;
	CHECK(line_of(SYS_openat2, HERE, AT(name), AT(&how), sizeof(how)).n ==
	      0);
	/* what cannot be read is taken for one that writes */
	CHECK(line_of(SYS_openat2, HERE, AT(name), 8, sizeof(how)).n > 0);
}

static void test_paths(void)
{
	char from[] = "/etc/./x/../a", to[] = "b", far[] = "../../c";
	int dir = open("/usr/bin", O_PATH | O_DIRECTORY);
	struct str s = line_of(SYS_renameat, HERE, AT(from), (uint64_t)dir,
			       AT(to));

	CHECK(says(s, "\"old_path\",\"type\":\"string\",\"value\":\"/etc/a\"") &&
	      says(s, "\"new_path\",\"type\":\"string\",\"value\":\"/usr/bin/b\""));
	s = line_of(SYS_renameat, (uint64_t)dir, AT(far), HERE, 8);
	CHECK(says(s, "\"old_path\",\"type\":\"string\",\"value\":\"/c\"") &&
	      says(s, "\"new_path\",\"type\":\"string\",\"value\":null"));
	close(dir);
}

static void test_programs(void)
{
	char path[] = "/bin/echo", odd[] = "a\xff\n", empty[] = "";
	char *words[] = {path, odd, empty, NULL}, *many[300];
	struct str s = line_of(SYS_execve, AT(path), AT(words), 0, 0);
	size_t n = 0;

	CHECK(says(s, "\"argv\",\"type\":\"[]string\",\"value\":"
		      "[\"/bin/echo\",\"a\xef\xbf\xbd\\n\",\"\"]") &&
	      says(s, "\"eventName\":\"sched_process_exec\"") &&
	      says(s, "\"interpreter_inode\",\"type\":\"uint64\",\"value\":null"));
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = odd;
	many[ARRAY_LEN(many) - 1] = NULL;
	s = line_of(SYS_execve, AT(path), AT(many), 0, 0);
	for (const char *at = s.p; at; n++)
		at = memmem(at, (size_t)(s.p + s.n - at), "a\xef\xbf\xbd", 4),
		at = at ? at + 4 : NULL;
	CHECK(n == ARRAY_LEN(many)); /* and once where there is none */
	s = line_of(SYS_execve, 8, 8, 0, 0);
	CHECK(says(s, "\"pathname\",\"type\":\"string\",\"value\":null") &&
	      says(s, "\"argv\",\"type\":\"[]string\",\"value\":null"));
}

static uint16_t bound_port(int fd)
{
	struct sockaddr_in at = {0};
	socklen_t n = sizeof(at);

	CHECK(getsockname(fd, (struct sockaddr *)&at, &n) == 0);
	return ntohs(at.sin_port);
}

static void test_sockets(void)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons(443),
				 .sin_addr = {htonl(0xc0000207)}};
	struct sockaddr_in own = {
		.sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int s = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct str text = line_of(SYS_connect, (uint64_t)s, AT(&to),
				  sizeof(to), 0);
	char want[64];

	CHECK(says(text, "\"sin_addr\":\"192.0.2.7\",\"sin_port\":\"443\"") &&
	      says(text, "\"type\",\"type\":\"int32\",\"value\":1}"));
	to.sin_port = htons(53);
	CHECK(says(line_of(SYS_connect, (uint64_t)s, AT(&to), sizeof(to), 0),
		   "\"sin_port\":\"53\"") &&
	      r.asked.by == ASKED_NOT &&
	      says(line_text(&w), "\"local_port\",\"type\":\"uint16\","
				  "\"value\":null"));
	CHECK(bind(s, (struct sockaddr *)&own, sizeof(own)) == 0);
	text = line_of(SYS_connect, (uint64_t)s, AT(&to), sizeof(to), 0);
	CHECK(r.asked.by == ASKED_TCP && r.asked.port == bound_port(s));
	snprintf(want, sizeof(want),
		 "\"local_port\",\"type\":\"uint16\",\"value\":%u",
		 bound_port(s));
	CHECK(says(text, want));
	text = line_of(SYS_connect, 1000, 8, sizeof(to), 0);
	CHECK(says(text, "\"type\",\"type\":\"int32\",\"value\":null") &&
	      says(text, "\"remote_addr\",\"type\":\"SockAddr\",\"value\":null"));
	CHECK(says(line_of(SYS_listen, (uint64_t)s, 5, 0, 0),
		   "\"sin_addr\":\"127.0.0.1\""));
	close(s);
}

/* Of what is connected alone, and by both its ports. */
static void test_connections(void)
{
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	uint32_t self = (uint32_t)getpid();
	uint16_t port, own;

	CHECK(bind(listener, (struct sockaddr *)&at, sizeof(at)) == 0 &&
	      listen(listener, 1) == 0);
	port = bound_port(listener);
	CHECK(!process_has(self, port, 0));
	at.sin_port = htons(port);
	CHECK(connect(client, (struct sockaddr *)&at, sizeof(at)) == 0);
	own = bound_port(client);
	CHECK(process_has(self, own, port));
	CHECK(!process_has(self, own, own) && !process_has(self, port, own));
	CHECK(!process_has(UINT32_MAX, own, port));
	close(client);
	CHECK(!process_has(self, own, port));
	close(listener);
}

/* The port that a socket gets is its own as if connect(2) had chosen it. */
static void give_port(int family, int type)
{
	struct sockaddr_storage to = {.ss_family = (sa_family_t)family};
	int s = socket(family, type | SOCK_CLOEXEC, 0), copy = dup(s);
	socklen_t n = family == AF_INET ? sizeof(struct sockaddr_in)
					: sizeof(struct sockaddr_in6);
	uint16_t port;

	CHECK(s >= 0 && process_socket(copy).local_port == 0);
	process_give_port(copy);
	port = process_socket(copy).local_port;
	CHECK(port != 0);
	process_give_port(copy);
	CHECK(process_socket(copy).local_port == port);
	((struct sockaddr_in *)&to)->sin_port = htons(53);
	CHECK(line_of(SYS_connect, (uint64_t)s, AT(&to), n, 0).n > 0);
	CHECK(r.asked.by == (type == SOCK_DGRAM ? ASKED_UDP : ASKED_TCP) &&
	      r.asked.all && r.asked.port == port);
	if (type == SOCK_DGRAM) {
		CHECK(connect(s, (struct sockaddr *)&to, n) == 0);
		CHECK(process_socket(copy).local_port == port);
		to.ss_family = AF_UNSPEC;
		CHECK(connect(s, (struct sockaddr *)&to, n) == 0);
		CHECK(process_socket(copy).local_port == 0);
	}
	close(copy);
	close(s);
}

static void test_ports(void)
{
	int s = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	give_port(AF_INET, SOCK_DGRAM);
	give_port(AF_INET, SOCK_STREAM);
	give_port(AF_INET6, SOCK_DGRAM);
	give_port(AF_INET6, SOCK_STREAM);
	process_give_port(s); /* of no such family: it stays as it is */
	CHECK(process_socket(s).family == AF_UNIX);
	CHECK(process_socket(-1).family == 0);
	process_give_port(-1);
	CHECK(process_copy(getpid(), 1000) < 0);
	close(s);
}

/* A text at the end of what there is, one that goes on behind it, and one that
 * lies across two pages. */
static void test_memory(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *two = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char to[64];

	CHECK(munmap(two + 2 * page, page) == 0);
	memcpy(two + 2 * page - 4, "end", 4);
	memcpy(two + page - 3, "across", 7);
	CHECK(process_text(getpid(), AT(two + 2 * page - 4), to, 64) == 4 &&
	      strcmp(to, "end") == 0);
	CHECK(process_text(getpid(), AT(two + page - 3), to, 64) == 7 &&
	      strcmp(to, "across") == 0);
	CHECK(process_text(getpid(), AT(two + page - 3), to, 6) == 0);
	two[2 * page - 1] = 'x';
	CHECK(process_text(getpid(), AT(two + 2 * page - 4), to, 64) == 0);
	CHECK(process_bytes(getpid(), AT(two + 2 * page - 4), to, 64) == 4);
	munmap(two, 2 * page);
}

static void test_names(void)
{
	struct watch_head h = {.host_tid = (__u32)getpid()};
	struct watch_head gone = {.host_tid = INT_MAX};

	prctl(PR_SET_NAME, "a\n\\b");
	CHECK(process_read(&h) && strcmp(h.comm, "a\n\\b") == 0 &&
	      h.uid == getuid() && h.host_ppid == (__u32)getppid());
	CHECK(!process_read(&gone));
}

/* --- the queue ------------------------------------------------------------ */

static void put_one(struct queue *q, uint32_t bytes, uint64_t n)
{
	m.head.bytes = bytes;
	m.head.time_ns = n;
	queue_put(q, &m.head);
}

static void test_queue(void)
{
	const uint32_t bytes = sizeof(struct watch_head) + 5;
	uint64_t next = 0, n = 0;
	struct queue q;

	CHECK(queue_init(&q, 4096));
	CHECK(queue_next(&q) == NULL);
	/* around its end, many times */
	for (unsigned turn = 0; turn < 1000; turn++) {
		const struct watch_head *h;

		for (unsigned i = 0; i < 1 + turn % 7; i++)
			put_one(&q, bytes + i, n++);
		while ((h = queue_next(&q))) {
			CHECK(h->time_ns == next++);
			queue_drop(&q, h);
		}
	}
	CHECK(next == n && q.no_room == 0 && queue_waiting(&q) == 0);
	/* nobody reads: what has room stays as it was */
	for (unsigned i = 0; i < 100; i++)
		put_one(&q, bytes, n++);
	CHECK(q.no_room > 0 && q.put + q.no_room == n);
	for (const struct watch_head *h; (h = queue_next(&q)); next++) {
		CHECK(h->time_ns == next);
		queue_drop(&q, h);
	}
	CHECK(next == q.put);
	queue_done(&q);
}

int main(void)
{
	CHECK(select_parse(STR(PLAN(ALL, "")), &select_all, &err) == 0);
	CHECK(line_init(&w, "box", &err) == 0);
	test_opens();
	test_paths();
	test_programs();
	test_sockets();
	test_connections();
	test_ports();
	test_memory();
	test_names();
	test_queue();
	line_done(&w);
	select_free(select_all);
	return check_status();
}
