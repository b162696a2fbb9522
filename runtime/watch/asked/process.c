#include "runtime/watch/asked/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE	   4096u /* of no machine smaller */
#define STATUS_MAX 4096u
#define POINTERS   64u
#define LEVELS	   33u /* namespaces of processes: MAX_PID_NS_LEVEL + 1 */

/* --- who it is ------------------------------------------------------------ */

static struct str read_status(pid_t tid, char text[STATUS_MAX])
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return (struct str){0};
	n = read(fd, text, STATUS_MAX);
	close(fd);
	return (struct str){text, n > 0 ? (size_t)n : 0};
}

/* Numbers behind a name with its colon: how many. */
static unsigned take_numbers(struct str line, struct str name, uint32_t *out,
			     unsigned max)
{
	struct str word;
	unsigned n = 0;
	uint64_t v;

	if (!str_starts(line, name))
		return 0;
	line = str_slice(line, name.n, line.n);
	while (n < max && str_field(&line, '\t', &word))
		if (str_u64(str_trim(word), UINT32_MAX, &v))
			out[n++] = (uint32_t)v;
	return n;
}

/* "Name:\tsh": with LF and '\' as "\n" and "\\". */
static void take_name(struct str line, char out[WATCH_COMM])
{
	size_t n = 0;

	memset(out, 0, WATCH_COMM);
	line = str_slice(line, strlen("Name:\t"), line.n);
	for (size_t i = 0; i < line.n && n < WATCH_COMM - 1; i++) {
		bool escaped = line.p[i] == '\\' && i + 1 < line.n;

		i += escaped;
		out[n++] = escaped && line.p[i] == 'n' ? '\n' : line.p[i];
	}
}

struct numbers {
	uint32_t tid[LEVELS], pid[LEVELS]; /* from our namespace to its own */
	unsigned depth;
};

static bool take_status(struct str text, struct watch_head *h,
			struct numbers *out)
{
	struct str line;

	memset(out, 0, sizeof(*out));
	while (str_line(&text, &line)) {
		if (str_starts(line, STR("Name:\t")))
			take_name(line, h->comm);
		take_numbers(line, STR("PPid:"), &h->host_ppid, 1);
		take_numbers(line, STR("Uid:"), &h->uid, 1); /* the real one */
		take_numbers(line, STR("NStgid:"), out->pid, LEVELS);
		if (str_starts(line, STR("NSpid:")))
			out->depth = take_numbers(line, STR("NSpid:"), out->tid,
						  LEVELS);
	}
	return out->depth > 0;
}

bool process_read(struct watch_head *h)
{
	struct watch_head parent = {0};
	char text[STATUS_MAX];
	struct numbers own, its;

	if (!take_status(read_status((pid_t)h->host_tid, text), h, &own))
		return false;
	h->host_pid = own.pid[0];
	h->tid = own.tid[own.depth - 1];
	h->pid = own.pid[own.depth - 1];
	h->ppid = 0; /* from outside of its namespace */
	if (h->host_ppid &&
	    take_status(read_status((pid_t)h->host_ppid, text), &parent,
			&its) &&
	    its.depth >= own.depth)
		h->ppid = its.pid[own.depth - 1];
	return true;
}

/* --- its memory ----------------------------------------------------------- */

/* A page that is not there ends what the call gives, and not all of it. */
size_t process_bytes(pid_t tid, uint64_t at, void *to, size_t n)
{
	struct iovec own = {to, n}, its[4];
	unsigned pages = 0;
	ssize_t got;

	for (size_t i = 0; i < n && pages < ARRAY_LEN(its); pages++) {
		size_t step = PAGE - (size_t)((at + i) % PAGE);

		step = step < n - i ? step : n - i;
		its[pages].iov_base = (void *)(uintptr_t)(at + i);
		its[pages].iov_len = step;
		i += step;
	}
	got = process_vm_readv(tid, &own, 1, its, pages, 0);
	return got > 0 ? (size_t)got : 0;
}

size_t process_text(pid_t tid, uint64_t at, char *to, size_t n)
{
	size_t used = 0;

	while (used < n) {
		size_t step = PAGE - (size_t)((at + used) % PAGE);
		size_t got = process_bytes(tid, at + used, to + used,
					   step < n - used ? step : n - used);
		const char *end = memchr(to + used, '\0', got);

		if (end)
			return (size_t)(end - to) + 1;
		if (got == 0)
			return 0;
		used += got;
	}
	return 0;
}

size_t process_list(pid_t tid, uint64_t at, char *to, size_t n)
{
	uint64_t each[POINTERS];
	size_t used = 0, got;

	for (;; at += sizeof(each)) {
		got = process_bytes(tid, at, each, sizeof(each)) /
		      sizeof(each[0]);
		for (size_t i = 0; i < got; i++) {
			size_t one = each[i] ? process_text(tid, each[i],
							    to + used, n - used)
					     : 0;

			if (one == 0)
				return used;
			used += one;
		}
		if (got < POINTERS)
			return used;
	}
}

/* --- what it has open ----------------------------------------------------- */

struct str process_link(pid_t tid, const char *name, char *to, size_t n)
{
	char path[64];
	ssize_t got;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	got = readlink(path, to, n);
	return (struct str){to, got > 0 ? (size_t)got : 0};
}

static void take_local(struct watch_sock *s, const struct sockaddr_storage *a)
{
	const struct sockaddr_in *in = (const struct sockaddr_in *)a;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)a;

	s->family = a->ss_family;
	if (a->ss_family == AF_INET) {
		s->local_port = ntohs(in->sin_port);
		memcpy(s->local, &in->sin_addr, sizeof(in->sin_addr));
	} else if (a->ss_family == AF_INET6) {
		s->local_port = ntohs(in6->sin6_port);
		memcpy(s->local, &in6->sin6_addr, sizeof(in6->sin6_addr));
	}
}

int process_copy(pid_t pid, int fd)
{
	int of = (int)syscall(SYS_pidfd_open, pid, 0);
	int copy = (int)syscall(SYS_pidfd_getfd, of, fd, 0);

	if (of >= 0)
		close(of);
	return copy;
}

struct watch_sock process_socket(int copy)
{
	struct sockaddr_storage addr = {0};
	socklen_t n = sizeof(addr), n_type = sizeof(int);
	struct watch_sock s = {0};
	int type = 0;

	if (getsockopt(copy, SOL_SOCKET, SO_TYPE, &type, &n_type) == 0 &&
	    getsockname(copy, (struct sockaddr *)&addr, &n) == 0) {
		s.type = (__u16)type;
		take_local(&s, &addr);
	}
	return s;
}

/* Of any address: it is connect(2) that says which, and that gives the port
 * back when the socket is disconnected, as one that it chose itself. */
void process_give_port(int copy)
{
	struct watch_sock s = process_socket(copy);
	struct sockaddr_storage any = {.ss_family = s.family};
	socklen_t n = s.family == AF_INET ? sizeof(struct sockaddr_in)
					  : sizeof(struct sockaddr_in6);

	if ((s.family == AF_INET || s.family == AF_INET6) && !s.local_port)
		(void)!bind(copy, (struct sockaddr *)&any, n);
}

/* 0: it has none. */
static uint16_t port_of(const struct sockaddr_storage *a)
{
	struct watch_sock s = {0};

	take_local(&s, a);
	return s.local_port;
}

static bool is_between(int fd, uint16_t own, uint16_t port)
{
	struct sockaddr_storage here = {0}, there = {0};
	socklen_t n = sizeof(here), m = sizeof(there);

	return getsockname(fd, (struct sockaddr *)&here, &n) == 0 &&
	       getpeername(fd, (struct sockaddr *)&there, &m) == 0 &&
	       port_of(&here) == own && port_of(&there) == port;
}

/* name: of /proc/PID/fd. */
static bool is_socket(int folder, const char *name)
{
	static const char word[] = "socket:";
	char to[sizeof(word)];
	ssize_t n = readlinkat(folder, name, to, sizeof(word) - 1);

	return n == sizeof(word) - 1 && memcmp(to, word, (size_t)n) == 0;
}

bool process_has(uint32_t pid, uint16_t own, uint16_t port)
{
	const struct dirent *entry;
	unsigned n = 0;
	bool has = false;
	char path[64];
	DIR *folder;
	int copy;

	snprintf(path, sizeof(path), "/proc/%u/fd", pid);
	folder = opendir(path);
	while (folder && !has && n++ < PROCESS_FDS_MAX &&
	       (entry = readdir(folder))) {
		if (!is_socket(dirfd(folder), entry->d_name))
			continue;
		copy = process_copy((pid_t)pid, atoi(entry->d_name));
		has = copy >= 0 && is_between(copy, own, port);
		if (copy >= 0)
			close(copy);
	}
	if (folder)
		closedir(folder);
	return has;
}
