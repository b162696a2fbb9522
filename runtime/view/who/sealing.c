#include "runtime/view/who/sealing.h"

#include "runtime/view/who/who.h"

#include <elf.h>
#include <errno.h>
#include <linux/prctl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

/* --- one call in its name ------------------------------------------------- */

/* A system call and a break point, over the first instructions. */
#if defined(__x86_64__)
#define CALL	  UINT64_C(0xcc050f)
#define CALL_BITS UINT64_C(0xffffff)
#elif defined(__aarch64__)
#define CALL	  UINT64_C(0xd4200000d4000001)
#define CALL_BITS UINT64_MAX
#else
#error "no program of this machine can be closed"
#endif

static uintptr_t place_of(const struct user_regs_struct *r)
{
#if defined(__x86_64__)
	return r->rip;
#else
	return r->pc;
#endif
}

/* prctl(PR_SET_DUMPABLE, 0) */
static void set_call(struct user_regs_struct *r)
{
#if defined(__x86_64__)
	r->orig_rax = UINT64_MAX; /* nothing to go on with */
	r->rax = SYS_prctl;
	r->rdi = PR_SET_DUMPABLE;
	r->rsi = 0;
#else
	r->regs[8] = SYS_prctl;
	r->regs[0] = PR_SET_DUMPABLE;
	r->regs[1] = 0;
#endif
}

static uint64_t result_of(const struct user_regs_struct *r)
{
#if defined(__x86_64__)
	return r->rax;
#else
	return r->regs[0];
#endif
}

/* Programs of another word size have less. */
static bool get_registers(pid_t process, struct user_regs_struct *out)
{
	struct iovec v = {out, sizeof(*out)};

	return ptrace(PTRACE_GETREGSET, process, (void *)NT_PRSTATUS, &v) ==
		       0 &&
	       v.iov_len == sizeof(*out);
}

static bool set_registers(pid_t process, struct user_regs_struct *r)
{
	struct iovec v = {r, sizeof(*r)};

	return ptrace(PTRACE_SETREGSET, process, (void *)NT_PRSTATUS, &v) == 0;
}

static bool get_text(pid_t process, uintptr_t at, uint64_t *out)
{
	long word;

	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, process, (void *)at, NULL);
	*out = (uint64_t)word;
	return errno == 0;
}

static bool set_text(pid_t process, uintptr_t at, uint64_t word)
{
	return ptrace(PTRACE_POKETEXT, process, (void *)at,
		      (void *)(uintptr_t)word) == 0;
}

static bool set_blocked(pid_t process, uint64_t set)
{
	return ptrace(PTRACE_SETSIGMASK, process, (void *)sizeof(set), &set) ==
	       0;
}

/*
 * Up to the end of the call that it is in (PTRACE_SYSCALL), or the break point
 * (PTRACE_CONT). Signals wait, but for one that nobody can block: that is
 * dropped, as the init would let it go on.
 */
static bool run_on(pid_t process, int how)
{
	int status = 0;

	do {
		if (ptrace(how, process, NULL, NULL) < 0 ||
		    waitpid(process, &status, __WALL) != process ||
		    !WIFSTOPPED(status))
			return false;
	} while (status >> 16 != 0 || WSTOPSIG(status) == SIGSTOP);
	return WSTOPSIG(status) == SIGTRAP;
}

static bool call_as_it(pid_t process)
{
	struct user_regs_struct begin, r;
	uintptr_t at;
	uint64_t text;

	if (!get_registers(process, &begin))
		return false;
	r = begin;
	at = place_of(&begin);
	set_call(&r);
	return get_text(process, at, &text) &&
	       set_text(process, at, (text & ~CALL_BITS) | CALL) &&
	       set_registers(process, &r) && run_on(process, PTRACE_CONT) &&
	       get_registers(process, &r) && result_of(&r) == 0 &&
	       set_text(process, at, text) && set_registers(process, &begin);
}

/* It stands still in execve(2), whose result would go over what is set. */
static bool close_memory(pid_t process)
{
	uint64_t blocked;

	return ptrace(PTRACE_GETSIGMASK, process, (void *)sizeof(blocked),
		      &blocked) == 0 &&
	       set_blocked(process, ~(UINT64_C(1) << (SIGTRAP - 1))) &&
	       run_on(process, PTRACE_SYSCALL) && call_as_it(process) &&
	       set_blocked(process, blocked);
}

/* --- its life ------------------------------------------------------------- */

bool sealing_goes_on(const char *line, size_t n)
{
	static const char *const names[] = {"ash",   "bash", "busybox", "dash",
					    "env",   "ksh",  "mksh",	"nice",
					    "nohup", "sh",   "stdbuf",	"zsh"};
	struct str word = {line, strnlen(line, n)};
	const char *slash = memrchr(word.p, '/', word.n);

	if (slash)
		word = str_slice(word, (size_t)(slash + 1 - word.p), word.n);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(word, names[i]))
			return true;
	return false;
}

int sealing_begin(struct sealing *s, pid_t process, struct err *err)
{
	if (s->begun)
		return err_set(err, -EBUSY, "it is traced already");
	if (ptrace(PTRACE_SEIZE, process, NULL,
		   (void *)(uintptr_t)PTRACE_O_TRACEEXEC) < 0)
		return err_set(
			err, -errno,
			"ptrace: %s; sysctl kernel.yama.ptrace_scope has to be 2 or less, and no security module may forbid it",
			strerror(errno));
	s->begun = true;
	s->process = process;
	return 0;
}

static int on_exec(struct sealing *s, struct str program, struct err *err)
{
	char line[WHO_LINE_MAX];
	size_t n;

	if (!close_memory(s->process)) {
		ptrace(PTRACE_SETOPTIONS, s->process, NULL,
		       (void *)(uintptr_t)PTRACE_O_EXITKILL);
		return err_set(
			err, -EPERM,
			"it is not built for this machine's own word size; run one that is, or leave 'protect' out");
	}
	n = who_read_line(s->process, line);
	if (!who_is_named(line, n, program) || sealing_goes_on(line, n)) {
		ptrace(PTRACE_CONT, s->process, NULL, NULL);
		return 0;
	}
	ptrace(PTRACE_DETACH, s->process, NULL, NULL);
	s->process = 0;
	return 0;
}

/* What stops it, and is not ours, is done to it. */
static int on_stop(struct sealing *s, int status, struct str program,
		   struct err *err)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	if (event == PTRACE_EVENT_EXEC)
		return on_exec(s, program, err);
	if (event == PTRACE_EVENT_STOP)
		ptrace(sig == SIGTRAP ? PTRACE_CONT : PTRACE_LISTEN, s->process,
		       NULL, NULL);
	else
		ptrace(PTRACE_CONT, s->process, NULL, (void *)(intptr_t)sig);
	return 0;
}

int sealing_step(struct sealing *s, struct str program, struct err *err)
{
	int status, rc = 0;

	while (rc == 0 && s->process > 0 &&
	       waitpid(s->process, &status, WNOHANG | __WALL) > 0) {
		if (WIFSTOPPED(status))
			rc = on_stop(s, status, program, err);
		else
			s->process = 0;
	}
	return rc;
}
