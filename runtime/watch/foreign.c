/*
 * The numbers that 32-bit programs and those of x32 know system calls by, as
 * the machine's own: int $0x80 is there for any program, so whoever followed
 * the machine's own numbers alone would not see all that is done.
 *
 * Names come from libseccomp, by number. A call that has another name there, or
 * other arguments, is in a table here; one that only 32-bit programs have, and
 * that is in none, does nothing that is recorded.
 */
#include "runtime/watch/backend.h"

#include "runtime/watch/events.h"

#include <linux/net.h>
#include <seccomp.h>
#include <stdlib.h>

#define X32_BIT	     0x40000000
#define COMMON_FIRST 424 /* from here on all machines have the same numbers */

#if defined(__x86_64__)
#define COMPAT_ARCH SCMP_ARCH_X86
#define PAIR	    WATCH_PAIR_1
#else
#define COMPAT_ARCH SCMP_ARCH_ARM
#define PAIR	    WATCH_PAIR_2
#endif

/* What a 32-bit program calls otherwise, or passes otherwise. */
static const struct alias {
	struct str name;
	const char *own;
	enum watch_shape shape;
} aliases[] = {
	{STR_INIT("chown32"), "chown", WATCH_SAME},
	{STR_INIT("fchown32"), "fchown", WATCH_SAME},
	{STR_INIT("lchown32"), "lchown", WATCH_SAME},
	{STR_INIT("chown"), "chown", WATCH_OLD_IDS},
	{STR_INIT("fchown"), "fchown", WATCH_OLD_IDS},
	{STR_INIT("lchown"), "lchown", WATCH_OLD_IDS},
	{STR_INIT("umount"), "umount2", WATCH_ONE},
	{STR_INIT("truncate64"), "truncate", PAIR},
	{STR_INIT("ftruncate64"), "ftruncate", PAIR},
	{STR_INIT("clock_settime64"), "clock_settime", WATCH_SAME},
	{STR_INIT("socketcall"), NULL, WATCH_SOCKETCALL},
};

/* linux/net.h: what socketcall's first argument says. */
static const struct {
	unsigned nr;
	const char *own;
	uint8_t n_args;
} sockets[] = {
	{SYS_SOCKET, "socket", 3},
	{SYS_BIND, "bind", 3},
	{SYS_CONNECT, "connect", 3},
	{SYS_LISTEN, "listen", 2},
	{SYS_ACCEPT, "accept", 3},
	{SYS_SEND, "sendto", 4},
	{SYS_SENDTO, "sendto", 6},
	{SYS_SENDMSG, "sendmsg", 3},
	{SYS_ACCEPT4, "accept4", 4},
	{SYS_SENDMMSG, "sendmmsg", 4},
	{SYS_SOCKETPAIR, "socketpair", 4},
	{SYS_SHUTDOWN, "shutdown", 2},
	{SYS_SETSOCKOPT, "setsockopt", 5},
	{SYS_GETSOCKOPT, "getsockopt", 5},
	{SYS_GETSOCKNAME, "getsockname", 3},
	{SYS_GETPEERNAME, "getpeername", 3},
	{SYS_RECV, "recvfrom", 4},
	{SYS_RECVFROM, "recvfrom", 6},
	{SYS_RECVMSG, "recvmsg", 3},
	{SYS_RECVMMSG, "recvmmsg", 5},
};

static uint16_t own_number(const char *name)
{
	int nr = events_call_number(name);

	return nr >= 0 && nr < (int)WATCH_CALLS_MAX ? (uint16_t)nr
						    : WATCH_CALLS_MAX;
}

static bool is_traced(const struct watch_config *c, uint16_t nr)
{
	return nr < WATCH_CALLS_MAX && c->calls[nr].how != WATCH_SKIP;
}

static void fill_sockets(struct watch_config *c)
{
	for (unsigned i = 0; i < WATCH_SOCKETCALLS; i++)
		c->sockets[i].nr = WATCH_CALLS_MAX;
	for (size_t i = 0; i < ARRAY_LEN(sockets); i++)
		c->sockets[sockets[i].nr] = (struct watch_foreign){
			.nr = own_number(sockets[i].own),
			.shape = sockets[i].n_args,
		};
}

static bool any_socket(const struct watch_config *c)
{
	for (unsigned i = 0; i < WATCH_SOCKETCALLS; i++)
		if (is_traced(c, c->sockets[i].nr))
			return true;
	return false;
}

/* The call of that name; NULL: it has no name. */
static struct watch_foreign named_call(const struct watch_config *c,
				       const char *name)
{
	struct watch_foreign f = {.nr = WATCH_CALLS_MAX, .narrow = true};
	const char *own = name;

	if (!name)
		return f;
	f.known = true;
	for (size_t i = 0; i < ARRAY_LEN(aliases); i++)
		if (str_is(aliases[i].name, name)) {
			own = aliases[i].own;
			f.shape = aliases[i].shape;
		}
	if (own)
		f.nr = own_number(own);
	f.traced = own ? is_traced(c, f.nr) : any_socket(c);
	return f;
}

static struct watch_foreign compat_call(const struct watch_config *c,
					unsigned nr)
{
	char *name = seccomp_syscall_resolve_num_arch(COMPAT_ARCH, (int)nr);
	struct watch_foreign f = named_call(c, name);

	free(name);
	if (f.known || nr < COMMON_FIRST)
		return f;
	f.nr = (uint16_t)nr;
	f.traced = is_traced(c, f.nr);
	return f;
}

void foreign_fill(struct watch_config *c)
{
	fill_sockets(c);
	for (unsigned i = 0; i < WATCH_NUMBERS; i++)
		c->foreign[i] = compat_call(c, i);
	for (unsigned i = WATCH_X32; i < WATCH_FOREIGN; i++) {
		char *name = seccomp_syscall_resolve_num_arch(
			SCMP_ARCH_X32, (int)(X32_BIT | i));

		c->foreign[i] = named_call(c, name);
		c->foreign[i].shape = WATCH_SAME;
		free(name);
	}
}
