/*
 * membrane-seal.so: closes the memory of the session's first process to every
 * other, before its first instruction (LD_PRELOAD). Of any other process it
 * takes itself out of the environment.
 *
 * It needs no library, so that it serves whichever the image has, and it stays
 * in the first process's environment: that may be a shell or env(1) at first,
 * which goes on as the program that is meant.
 *
 * A static program loads no library. So the same file is a program, too:
 * membrane-seal.so COMMAND [WORD...] asks the view of the home to close
 * whatever it goes on as, and goes on as COMMAND.
 */
#include "compiler/plan/docker_json.h"
#include "compiler/plan/mounts_plan.h"
#include "compiler/plan/view_hello.h"

#include <errno.h>
#include <linux/limits.h>
#include <linux/prctl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

/* The C library's; where that has not begun yet, what it is begun with. */
extern char **environ __attribute__((weak));

static long call_kernel(long number, long first, long second, long third,
			long fourth)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = fourth;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(first), "S"(second), "d"(third),
			   "r"(r10)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = first;
	register long x1 __asm__("x1") = second;
	register long x2 __asm__("x2") = third;
	register long x3 __asm__("x3") = fourth;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3)
			 : "memory");
	return x0;
#else
#error "the seal knows no system calls of this machine"
#endif
}

static long address(const void *p)
{
	return (long)(intptr_t)p;
}

/* --- as a library --------------------------------------------------------- */

static int is_preload(const char *entry)
{
	static const char name[] = "LD_PRELOAD=" DOCKER_JSON_SEAL_AT;
	size_t i = 0;

	while (i < sizeof(name) && entry[i] == name[i])
		i++;
	return i == sizeof(name);
}

static void leave_environment(char **from)
{
	char **to = from;

	for (; from && *from; from++)
		if (!is_preload(*from))
			*to++ = *from;
	if (to)
		*to = NULL;
}

__attribute__((constructor)) static void seal(int argc, char **argv,
					      char **envp)
{
	(void)argc;
	(void)argv;
	if (call_kernel(SYS_getpid, 0, 0, 0, 0) == 1)
		call_kernel(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0);
	else
		leave_environment(&environ && environ ? environ : envp);
}

/* --- as a program --------------------------------------------------------- */

static size_t length(const char *s)
{
	size_t n = 0;

	while (s[n])
		n++;
	return n;
}

static void say_text(const char *s)
{
	call_kernel(SYS_write, 2, address(s), (long)length(s), 0);
}

static __attribute__((noreturn)) void leave(const char *command,
					    const char *why, long status)
{
	say_text("membrane: ");
	say_text(command);
	say_text(why);
	for (;;)
		call_kernel(SYS_exit_group, status, 0, 0, 0);
}

/* What a variable says, or NULL. */
static const char *variable(char *const *from, const char *name)
{
	for (; *from; from++) {
		size_t i = 0;

		while (name[i] && (*from)[i] == name[i])
			i++;
		if (!name[i])
			return *from + i;
	}
	return NULL;
}

static bool has_slash(const char *s)
{
	for (; *s; s++)
		if (*s == '/')
			return true;
	return false;
}

/* Why it cannot. */
static long go_on_as(const char *path, char *const *argv, char *const *envp)
{
	return -call_kernel(SYS_execve, address(path), address(argv),
			    address(envp), 0);
}

/* A folder of PATH, which is the current one if it is empty, and the name. */
static bool join(const char *folder, size_t n, const char *name,
		 char out[PATH_MAX])
{
	size_t have = length(name), at = 0;

	if (n + have + 3 > PATH_MAX)
		return false;
	if (n == 0)
		out[at++] = '.';
	for (size_t i = 0; i < n; i++)
		out[at++] = folder[i];
	out[at++] = '/';
	for (size_t i = 0; i <= have; i++)
		out[at++] = name[i];
	return true;
}

/* As execvp(3) looks. */
static long look_for(char *const *argv, char *const *envp)
{
	const char *path = variable(envp, "PATH=");
	long why = ENOENT, last;
	char buf[PATH_MAX];
	size_t n;

	if (has_slash(argv[0]))
		return go_on_as(argv[0], argv, envp);
	for (; path; path = path[n] ? path + n + 1 : NULL) {
		for (n = 0; path[n] && path[n] != ':'; n++)
			;
		if (!join(path, n, argv[0], buf))
			continue;
		last = go_on_as(buf, argv, envp);
		if (last != ENOENT && last != ENOTDIR && last != EACCES)
			return last;
		if (last == EACCES)
			why = last;
	}
	return why;
}

/* ENODATA: this is not the first process, which opens nothing. */
static bool may_go_on(void)
{
	long rc = call_kernel(SYS_getxattr, address(MOUNTS_PLAN_HOME),
			      address(VIEW_SEAL_ATTRIBUTE), 0, 0);

	return rc == 0 || rc == -ENODATA;
}

static __attribute__((noreturn, used)) void run_program(char **stack)
{
	char **argv = stack + 2; /* behind their number, and our own name */
	char **envp = argv;
	long why;

	if ((intptr_t)stack[0] < 2)
		leave("seal", ": no command\n", 125);
	while (*envp)
		envp++;
	if (!may_go_on())
		leave(argv[0], ": not started: its memory cannot be closed\n",
		      125);
	why = look_for(argv, envp + 1);
	if (why == ENOENT)
		leave(argv[0], ": not found\n", 127);
	if (why == ENOEXEC)
		leave(argv[0], ": no program of this machine\n", 126);
	leave(argv[0], ": cannot be run\n", 126);
}

__asm__(".globl seal_begin\n"
	".hidden seal_begin\n"
	"seal_begin:\n"
#if defined(__x86_64__)
	"	mov %rsp, %rdi\n"
	"	xor %ebp, %ebp\n"
	"	and $-16, %rsp\n"
	"	call run_program\n"
#else
	"	mov x0, sp\n"
	"	mov x29, #0\n"
	"	mov x30, #0\n"
	"	b run_program\n"
#endif
);
