/*
 * What the broker can no longer do, whatever becomes of it: by Landlock, where
 * the kernel has that, and by a filter of system calls.
 */
#include "compiler/base/sys/landlock.h"
#include "runtime/broker/parts.h"

#include <errno.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

/* Of any arguments: what each is about is a descriptor that is there. */
static const int calls[] = {
	SCMP_SYS(recvmsg),    SCMP_SYS(sendmsg),      SCMP_SYS(recvfrom),
	SCMP_SYS(sendto),     SCMP_SYS(poll),	      SCMP_SYS(ppoll),
	SCMP_SYS(connect),    SCMP_SYS(setsockopt),   SCMP_SYS(close),
	SCMP_SYS(exit_group), SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall),
};

/* Of the families a socket may have. */
static int permit_sockets(scmp_filter_ctx f)
{
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(calls) / sizeof(*calls); i++)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, calls[i], 0);
	if (rc == 0)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				      SCMP_A0(SCMP_CMP_EQ, AF_INET, 0));
	if (rc == 0)
		rc = seccomp_rule_add(f, SCMP_ACT_ALLOW, SCMP_SYS(socket), 1,
				      SCMP_A0(SCMP_CMP_EQ, AF_INET6, 0));
	if (rc == 0)
		rc = seccomp_rule_add(
			f, SCMP_ACT_ALLOW, SCMP_SYS(socketpair), 2,
			SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0),
			/* one of datagrams could be connected elsewhere */
			SCMP_A1(SCMP_CMP_EQ, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
	return rc;
}

int confine_self(void)
{
	scmp_filter_ctx f = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int rc = f ? -landlock_confine(-1) : -ENOMEM;

	if (rc == 0)
		rc = permit_sockets(f);
	if (rc == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		rc = -errno;
	/* sets no_new_privs, too */
	if (rc == 0)
		rc = seccomp_load(f);
	if (f)
		seccomp_release(f);
	return -rc;
}
