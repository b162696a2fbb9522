/*
 * What a process asks the kernel for, read while it waits: of each call by the
 * table of events, as the kernel's side reads it when it has ended.
 */
#include "runtime/watch/asked/parts.h"

#include "runtime/watch/asked/process.h"
#include "runtime/watch/value.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>

#define TEXT_MAX 4096u /* PATH_MAX, with its NUL */

/* --- items ---------------------------------------------------------------- */

static void put_item(struct message *m, enum watch_tag tag,
		     enum watch_part part, const void *bytes, size_t n)
{
	size_t used = m->head.bytes - sizeof(m->head);
	struct watch_item i = {(__u8)tag, (__u8)part, (__u16)n};

	if (n > WATCH_ITEM_MAX || sizeof(i) + n > sizeof(m->items) - used)
		return;
	memcpy(m->items + used, &i, sizeof(i));
	memcpy(m->items + used + sizeof(i), bytes, n);
	m->head.bytes += (__u32)(sizeof(i) + n);
}

/* "/a/b" as its components, leaf first, each with a NUL. */
static void put_place(struct message *m, enum watch_tag tag,
		      enum watch_part part, struct str path)
{
	char out[TEXT_MAX];
	size_t n = 0, end = path.n;

	while (end > 0) {
		size_t beg = end;

		while (beg > 0 && path.p[beg - 1] != '/')
			beg--;
		if (beg < end) {
			memcpy(out + n, path.p + beg, end - beg);
			n += end - beg;
			out[n++] = '\0';
		}
		end = beg ? beg - 1 : 0;
	}
	put_item(m, tag, part, out, n);
}

static void put_link(struct message *m, enum watch_tag tag,
		     enum watch_part part, const char *link)
{
	char to[TEXT_MAX - 1];
	struct str path =
		process_link((pid_t)m->head.host_tid, link, to, sizeof(to));

	if (path.n)
		put_place(m, tag, part, path);
}

/* What the text is relative to: the process's root, a folder that it has open,
 * or where it is. */
static void put_base(struct message *m, struct str text, int dir,
		     enum watch_part part)
{
	char link[24] = "cwd";

	if (str_starts(text, STR("/")))
		snprintf(link, sizeof(link), "root");
	else if (dir != AT_FDCWD)
		snprintf(link, sizeof(link), "fd/%d", dir);
	put_link(m, WATCH_BASE, part, link);
	if (str_find(text, '.', 0) < text.n && !str_starts(text, STR("/")))
		put_link(m, WATCH_PATH, WATCH_ROOT, "root");
}

static struct str read_text(const struct message *m, int arg,
			    char to[TEXT_MAX])
{
	return (struct str){to, process_text((pid_t)m->head.host_tid,
					     m->head.args[arg], to, TEXT_MAX)};
}

static void put_text(struct message *m, int arg, enum watch_part part)
{
	char to[TEXT_MAX];
	struct str text = read_text(m, arg, to);

	if (text.n)
		put_item(m, WATCH_TEXT, part, text.p, text.n);
}

/* dir: the argument that is a folder, -1: there is none. */
static void put_path(struct message *m, int dir, int arg, enum watch_part part)
{
	char to[TEXT_MAX];
	struct str text = read_text(m, arg, to);

	if (!text.n)
		return;
	put_base(m, text, dir < 0 ? AT_FDCWD : (int)m->head.args[dir], part);
	put_item(m, WATCH_TEXT, part, text.p, text.n);
}

static void put_list(struct message *m, int arg)
{
	char to[WATCH_ITEM_MAX];
	size_t n = process_list((pid_t)m->head.host_tid, m->head.args[arg], to,
				sizeof(to));

	if (n)
		put_item(m, WATCH_TEXT, WATCH_ARGV, to, n);
}

static struct sockaddr_storage put_address(struct message *m, int arg,
					   int length)
{
	struct sockaddr_storage to = {0};
	uint64_t n = (uint32_t)m->head.args[length];

	n = n < sizeof(to) ? n : sizeof(to);
	n = process_bytes((pid_t)m->head.host_tid, m->head.args[arg], &to, n);
	put_item(m, WATCH_ADDR, WATCH_FIRST, &to, n);
	return to;
}

/* asks: it is about to connect to a resolver, and the port that it has then
 * says whose the answers are. The copy is its own: it waits still. */
static void put_socket(struct message *m, int arg, bool asks)
{
	auto_fd int copy = process_copy((pid_t)m->head.host_pid,
					(int)m->head.args[arg]);
	struct watch_sock s;

	if (asks && message_waits(m))
		process_give_port(copy);
	s = process_socket(copy);
	if (s.family)
		put_item(m, WATCH_SOCK, WATCH_FIRST, &s, sizeof(s));
}

static void put_call(struct message *m, const struct events_call *call)
{
	const struct watch_call *how = &call->how;
	struct sockaddr_storage to = put_address(m, how->b, how->c);

	put_socket(m, how->a,
		   call->event == WATCH_EVENT_security_socket_connect &&
			   value_is_resolver(&to));
}

/* --- calls ---------------------------------------------------------------- */

static void put_exec(struct message *m, const struct events_call *call)
{
	put_text(m, call->how.b, WATCH_CMD);
	put_path(m, call->how.a, call->how.b, WATCH_FIRST);
	put_list(m, call->how.b + 1);
	put_link(m, WATCH_PATH, WATCH_CWD, "cwd");
}

static void put_arguments(struct message *m, const struct events_call *call)
{
	const struct watch_call *how = &call->how;

	switch ((enum watch_how)how->how) {
	case WATCH_OPEN:
		put_path(m, how->a, how->b, WATCH_FIRST);
		return;
	case WATCH_PATHS:
		put_path(m, how->a, how->b, WATCH_FIRST);
		if (how->d >= 0)
			put_path(m, how->c, how->d, WATCH_SECOND);
		return;
	case WATCH_TARGET:
		put_text(m, how->a, WATCH_FIRST);
		if (how->d >= 0)
			put_path(m, how->c, how->d, WATCH_SECOND);
		return;
	case WATCH_TO:
		put_call(m, call);
		return;
	case WATCH_SOCKET:
		put_socket(m, how->a, false);
		return;
	case WATCH_PLAIN:
	case WATCH_FD:
		return; /* its numbers alone */
	case WATCH_SKIP:
	case WATCH_MSG:
	case WATCH_WRITE:
	case WATCH_CLONE:
		return; /* nobody is asked about those */
	}
}

/* --- files opened --------------------------------------------------------- */

static uint64_t flags_of(const struct message *m)
{
	struct open_how how = {0};
	const __u64 *args = m->head.args;

	switch (m->head.nr) {
#ifdef SYS_creat
	case SYS_creat:
		return O_CREAT | O_WRONLY | O_TRUNC;
	case SYS_open:
		return args[1];
#endif
	case SYS_openat:
		return args[2];
	}
	/* openat2: in memory, where the filter did not see them */
	if (process_bytes((pid_t)m->head.host_tid, args[2], &how,
			  sizeof(how)) < sizeof(how.flags))
		return O_WRONLY;
	return how.flags;
}

static bool is_leaf(const struct message *m, const struct select *s, int arg)
{
	char to[TEXT_MAX];
	struct str text = read_text(m, arg, to), name = {0};
	const char *const *leaves;
	size_t n = select_leaves(s, &leaves);

	text = str_slice(text, 0, text.n ? text.n - 1 : 0);
	while (text.n && str_field(&text, '/', &name))
		;
	for (size_t i = 0; i < n; i++)
		if (str_is(name, leaves[i]))
			return true;
	return false;
}

/* To be written, or of those that are told of when they are only read. */
static bool opens_wanted(struct message *m, const struct select *s, int arg)
{
	m->head.args[5] = flags_of(m);
	return (m->head.args[5] & (O_ACCMODE | O_CREAT | O_TRUNC)) ||
	       select_reads(s) || is_leaf(m, s, arg);
}

/* --- messages ------------------------------------------------------------- */

static uint64_t since_boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool is_exec(const struct events_call *call)
{
	return call->event == WATCH_EVENT_execve ||
	       call->event == WATCH_EVENT_execveat;
}

bool message_waits(const struct message *m)
{
	return ioctl(m->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &m->id) == 0;
}

bool message_make(struct message *m, const struct select *s, int listener,
		  const struct seccomp_notif *asked)
{
	unsigned nr = (unsigned)asked->data.nr;
	const struct events_call *call =
		nr < WATCH_CALLS_MAX ? &events_calls()[nr] : NULL;
	bool exec = call && call->name && is_exec(call) &&
		    select_wants(s, WATCH_EVENT_sched_process_exec);

	if (!call || !call->name || (!exec && !select_wants(s, call->event)))
		return false;
	m->listener = listener;
	m->id = asked->id;
	memset(&m->head, 0, sizeof(m->head));
	m->head.bytes = sizeof(m->head);
	m->head.kind = exec ? WATCH_EXEC : WATCH_CALL;
	m->head.flags = WATCH_ASKED;
	m->head.nr = (__u16)nr;
	m->head.time_ns = since_boot_ns();
	m->head.host_tid = asked->pid;
	memcpy(m->head.args, asked->data.args, sizeof(m->head.args));
	if (call->how.how == WATCH_OPEN && !opens_wanted(m, s, call->how.b))
		return false;
	if (!process_read(&m->head))
		return false;
	if (exec)
		put_exec(m, call);
	else
		put_arguments(m, call);
	return true;
}
