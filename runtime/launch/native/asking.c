/*
 * The filter that has the kernel ask before the calls which native.json names
 * (SECCOMP_RET_USER_NOTIF). It refuses nothing of this machine's own: that is
 * for the filter of seccomp.json, whose refusals go before any question.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fdpass.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV /* Linux 5.19 */
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define X32_BIT 0x40000000u /* of calls by that convention */
#define HEAD	6	    /* instructions of put_head() */
#define EACH	5	    /* at most, for a call */
#define WRITES	(O_ACCMODE | O_CREAT | O_TRUNC)

static void put_code(struct filter *f, struct sock_filter code)
{
	f->code[f->n++] = code;
}

static void put_load(struct filter *f, size_t offset)
{
	put_code(f, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 (unsigned)offset));
}

static void put_jump(struct filter *f, unsigned how, unsigned k, unsigned yes,
		     unsigned no)
{
	put_code(f, (struct sock_filter)BPF_JUMP(BPF_JMP | how | BPF_K, k,
						 (__u8)yes, (__u8)no));
}

static void put_end(struct filter *f, unsigned action)
{
	put_code(f, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action));
}

/* By another convention the same calls have other numbers: seccomp.json opens
 * none of those, and here nobody gets around a question by one. */
static void put_head(struct filter *f)
{
	put_load(f, offsetof(struct seccomp_data, arch));
	put_jump(f, BPF_JEQ, seccomp_arch_native(), 1, 0);
	put_end(f, SECCOMP_RET_KILL_PROCESS);
	put_load(f, offsetof(struct seccomp_data, nr));
	put_jump(f, BPF_JGE, X32_BIT, 0, 1);
	put_end(f, SECCOMP_RET_KILL_PROCESS);
}

/* The kernel takes an int of the argument: its lower half, which is first on
 * every machine that there is a package for. */
static void put_flags(struct filter *f, unsigned nr, unsigned argument)
{
	put_jump(f, BPF_JEQ, nr, 0, 4);
	put_load(f, offsetof(struct seccomp_data, args) +
			    argument * sizeof(__u64));
	put_jump(f, BPF_JSET, WRITES, 0, 1);
	put_end(f, SECCOMP_RET_USER_NOTIF);
	put_end(f, SECCOMP_RET_ALLOW);
}

void asking_make(struct arena *a, const struct words *w, struct filter *out)
{
	*out = (struct filter){
		.code = arena_array(a, HEAD + EACH * w->ask.n + 1,
				    sizeof(*out->code))};
	put_head(out);
	vec_each(c, &w->ask) {
		if (c->write) {
			put_flags(out, (unsigned)c->nr,
				  c->nr == SYS_openat ? 2 : 1);
			continue;
		}
		put_jump(out, BPF_JEQ, (unsigned)c->nr, 0, 1);
		put_end(out, SECCOMP_RET_USER_NOTIF);
	}
	put_end(out, SECCOMP_RET_ALLOW);
}

/* A call that was asked about goes on waiting through signals, so that none of
 * them has it asked again. */
int asking_load(const struct filter *f, int *out_listener, struct err *err)
{
	struct sock_fprog program = {f->n, f->code};
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER |
			      SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
			  &program);

	if (fd < 0 && errno == EINVAL)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			     SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	if (fd < 0)
		return err_errno(err, "the filter of calls that are asked about");
	*out_listener = (int)fd;
	return 0;
}

int asking_begin(const struct filter *f, int channel, struct err *err)
{
	int listener, rc;

	if (!f->code)
		return 0;
	rc = asking_load(f, &listener, err);
	if (rc < 0)
		return rc;
	if (!fdpass_send(channel, "l", 1, listener, 0))
		rc = err_errno(err, "the session's tracer");
	close(listener);
	return rc;
}
