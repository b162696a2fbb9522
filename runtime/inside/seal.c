/*
 * membrane-seal.so: closes the memory of the session's main process to every
 * other, before its first instruction (LD_PRELOAD). Of any other process it
 * takes itself out of the environment.
 *
 * It needs no library, so that it serves whichever the image has, and it stays
 * in the main process's environment: that may be a shell or env(1) at first,
 * which goes on as the program that is meant. A static program loads none:
 * init.c asks the view to close that.
 */
#include "compiler/plan/docker_json.h"
#include "runtime/inside/kernel.h"

#include <linux/prctl.h>

/* The C library's; where that has not begun yet, what it is begun with. */
extern char **environ __attribute__((weak));

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

/*
 * What the init has begun leads its own session. What has lost its parent is
 * the init's, too, and may lead one: it stays closed, which harms nobody else.
 */
static int is_main(void)
{
	long own = call_kernel(SYS_getpid, 0, 0, 0, 0);

	return call_kernel(SYS_getppid, 0, 0, 0, 0) == 1 &&
	       call_kernel(SYS_getsid, 0, 0, 0, 0) == own;
}

__attribute__((constructor)) static void seal(int argc, char **argv,
					      char **envp)
{
	(void)argc;
	(void)argv;
	if (is_main())
		call_kernel(SYS_prctl, PR_SET_DUMPABLE, 0, 0, 0);
	else
		leave_environment(&environ && environ ? environ : envp);
}
