/* The first process of each Pod, which has the network and waits. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void
end(int number)
{
	(void)number;
	_exit(0);
}

static void
reap(int number)
{
	(void)number;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

int
main(void)
{
	signal(SIGTERM, end);
	signal(SIGINT, end);
	signal(SIGCHLD, reap);
	for (;;)
		pause();
}
