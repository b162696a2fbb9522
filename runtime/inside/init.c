/*
 * The first process of the agent's container: it begins the command, passes
 * signals on to it, buries what processes leave behind, and ends as the command
 * did; all that still runs ends with it.
 *
 * The command has a session of its own, and the terminal: as without us it is
 * the leader of both, and nobody is above it who could let it go on once it has
 * stopped. So we do.
 *
 * No other process may look into this one, or trace it. Signals of whoever is
 * allowed to send them go to the command, to which they could have been sent.
 */
#include "runtime/inside/parts.h"

#include "compiler/plan/init_words.h"

#include <asm/ioctls.h>
#include <asm/siginfo.h>
#include <asm/signal.h>
#include <asm/termios.h>
#include <errno.h>
#include <linux/prctl.h>
#include <linux/wait.h>

#define TERMINAL   0 /* whichever stream: Docker gives it as all three */
#define BIT(signo) (UINT64_C(1) << ((signo)-1))

static void set_blocked(uint64_t set)
{
	call_kernel(SYS_rt_sigprocmask, SIG_SETMASK, address(&set), 0,
		    sizeof(set));
}

/* --- the terminal --------------------------------------------------------- */

static bool has_terminal(void)
{
	struct winsize size;

	return call_kernel(SYS_ioctl, TERMINAL, TIOCGWINSZ, address(&size),
			   0) == 0;
}

/* Before the command's first instruction: Docker's own word of it comes late.
 */
static void set_size(const struct told *t)
{
	struct winsize size;

	size.ws_row = (unsigned short)t->rows;
	size.ws_col = (unsigned short)t->columns;
	size.ws_xpixel = size.ws_ypixel = 0;
	if (t->rows && t->columns)
		call_kernel(SYS_ioctl, TERMINAL, TIOCSWINSZ, address(&size), 0);
}

/* --- the command ---------------------------------------------------------- */

static _Noreturn void begin_command(const struct told *t, bool terminal)
{
	call_kernel(SYS_setsid, 0, 0, 0, 0);
	if (terminal)
		call_kernel(SYS_ioctl, TERMINAL, TIOCSCTTY, 0, 0);
	command_announce();
	if (t->protects)
		command_claim();
	set_blocked(0);
	surroundings_mend(t);
	command_run(t);
}

/* --- its life ------------------------------------------------------------- */

/*
 * The command itself is left unburied: its number is nobody else's while there
 * is another process, and the view of the home knows it by that.
 */
static void bury_children(long command)
{
	siginfo_t child;

	for (;;) {
		child.si_pid = 0;
		if (call_kernel(SYS_waitid, P_ALL, 0, address(&child),
				WNOHANG | WEXITED | WSTOPPED | WNOWAIT) < 0 ||
		    child.si_pid == 0)
			return;
		if (child.si_pid == command && child.si_code == CLD_EXITED)
			command_leave(child.si_status);
		/* as a shell says it */
		if (child.si_pid == command && child.si_code != CLD_STOPPED)
			command_leave(128 + (long)child.si_status);
		call_kernel(SYS_wait4, child.si_pid, 0, WNOHANG | WUNTRACED, 0);
		if (child.si_pid == command)
			call_kernel(SYS_kill, command, SIGCONT, 0, 0);
	}
}

/*
 * What a terminal would send goes to all that a terminal sends it to; the rest
 * to the command, which knows what its children should hear of it.
 */
static void pass_signal(long command, int signo)
{
	bool to_all = signo == SIGINT || signo == SIGQUIT;

	/* it may not have a group yet */
	if (!to_all || call_kernel(SYS_kill, -command, signo, 0, 0) < 0)
		call_kernel(SYS_kill, command, signo, 0, 0);
}

static _Noreturn void tend_command(const struct told *t)
{
	bool terminal = has_terminal();
	uint64_t all = ~UINT64_C(0);
	long command, signo;

	/* Nobody's terminal, so that it can be the command's: that sends these
	 * two, which a first process does not get. */
	set_blocked(~(BIT(SIGHUP) | BIT(SIGCONT)));
	if (terminal) {
		set_size(t);
		call_kernel(SYS_ioctl, TERMINAL, TIOCNOTTY, 0, 0);
	}
	set_blocked(all);
	command = call_kernel(SYS_clone, SIGCHLD, 0, 0, 0);
	if (command == 0)
		begin_command(t, terminal);
	if (command < 0) {
		command_say((const char *const[]){
			"the command is not started: no process can be made",
			NULL});
		command_leave(INIT_FAILED);
	}
	for (;;) {
		signo = call_kernel(SYS_rt_sigtimedwait, address(&all), 0, 0,
				    sizeof(all));
		if (signo == SIGCHLD)
			bury_children(command);
		else if (signo > 0)
			pass_signal(command, (int)signo);
	}
}

static __attribute__((noreturn, used)) void run_init(char **stack)
{
	struct told t;

	if (!told_read(stack, &t)) {
		command_say((const char *const[]){
			"the init was not begun by membrane", NULL});
		command_leave(INIT_FAILED);
	}
	if (t.to_seal)
		command_run(&t);
	call_kernel(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0);
	tend_command(&t);
}

__asm__(".globl _start\n"
	"_start:\n"
#if defined(__x86_64__)
	"	mov %rsp, %rdi\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %rsp\n"
	"	call run_init\n"
#else
	"	mov x0, sp\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	b run_init\n"
#endif
);
