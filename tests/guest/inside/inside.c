/*
 * What runs inside a session, on whichever processor: the init as the first
 * process of a namespace of its own, and the seal that a program loads. Prints
 * a line for each, and ends with how many were not as they should be.
 *
 *	inside           all of it; /init-inside, /etc/membrane/seal.so and
 *	                 /inside.dynamic are what it is about
 *	inside WHAT      what the init begins, and answers by its status
 */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define INIT   "/init-inside"
#define SEAL   "/etc/membrane/seal.so"
#define SELF   "/inside"
#define LOADED "/inside.dynamic"
#define USER   1000u
#define WAIT_S 60u /* of an emulated machine */

/* --- what the init begins ------------------------------------------------- */

/* It leads, and nobody looks into the first process. */
static int leads(void)
{
	static const char *const closed[] = {"/proc/1/mem", "/proc/1/environ",
					     "/proc/1/exe"};
	char to[64];

	if (getppid() != 1 || getsid(0) != getpid())
		return 2;
	for (size_t i = 0; i < sizeof(closed) / sizeof(closed[0]); i++)
		if (open(closed[i], O_RDONLY) >= 0)
			return 3;
	return readlink("/proc/1/exe", to, sizeof(to)) >= 0 ? 4 : 0;
}

/* A process that has lost its parent is the init's, which buries it. */
static int leaves_orphan(void)
{
	char path[64];
	int told[2];
	pid_t child, orphan = 0;

	if (pipe(told) < 0)
		return 2;
	child = fork();
	if (child == 0) {
		pid_t own = fork();

		if (own == 0)
			pause();
		_exit(write(told[1], &own, sizeof(own)) != sizeof(own));
	}
	if (waitpid(child, NULL, 0) != child ||
	    read(told[0], &orphan, sizeof(orphan)) != sizeof(orphan) ||
	    kill(orphan, SIGKILL) < 0)
		return 3;
	snprintf(path, sizeof(path), "/proc/%d/stat", orphan);
	/* the alarm of whoever began all this ends a wait for nothing */
	while (access(path, F_OK) == 0)
		sched_yield();
	return 0;
}

static void on_signal(int signo)
{
	(void)signo;
	_exit(5);
}

static _Noreturn void wait_for_signal(void)
{
	signal(SIGTERM, on_signal);
	/* to whoever began us: they wait for it */
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
}

/* Closed as the main process; what it begins is not, and is told nothing. */
static int is_sealed(void)
{
	int status = 0;
	pid_t child;

	if (prctl(PR_GET_DUMPABLE) != 0)
		return 2;
	child = fork();
	if (child == 0) {
		execl(LOADED, LOADED, "open", NULL);
		_exit(9);
	}
	if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return 3;
	return WEXITSTATUS(status);
}

static int is_open(void)
{
	const char *more = getenv("LD_PRELOAD");

	if (prctl(PR_GET_DUMPABLE) != 1)
		return 4;
	return more ? 5 : 0;
}

static int answer(const char *what)
{
	if (strcmp(what, "seven") == 0)
		return 7;
	if (strcmp(what, "killed") == 0)
		return raise(SIGTERM);
	if (strcmp(what, "stopped") == 0)
		return raise(SIGSTOP); /* and goes on */
	if (strcmp(what, "leads") == 0)
		return leads();
	if (strcmp(what, "orphan") == 0)
		return leaves_orphan();
	if (strcmp(what, "signal") == 0)
		wait_for_signal();
	if (strcmp(what, "sealed") == 0)
		return is_sealed();
	return strcmp(what, "open") == 0 ? is_open() : 99;
}

/* --- who begins it -------------------------------------------------------- */

static char *environment[] = {(char[]){"PATH=/none:/"}, NULL, NULL};

/* The first process of a namespace, and nobody's root. */
static void become_init(const char *const *argv, int out)
{
	alarm(WAIT_S);
	if (unshare(CLONE_NEWNS) < 0 ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("proc", "/proc", "proc", 0, NULL) < 0 ||
	    (out >= 0 && dup2(out, STDOUT_FILENO) < 0) ||
	    setresgid(USER, USER, USER) < 0 || setresuid(USER, USER, USER) < 0)
		_exit(90);
	execve(INIT, (char *const *)argv, environment);
	_exit(91);
}

/* Its status, 128 and more of a signal. */
static int run_init(const char *const *argv, int signo)
{
	int told[2], status = 0;
	pid_t init;
	char c;

	if (pipe2(told, O_CLOEXEC) < 0 || unshare(CLONE_NEWPID) < 0)
		return -1;
	init = fork();
	if (init == 0)
		become_init(argv, signo ? told[1] : -1);
	close(told[1]);
	if (signo && read(told[0], &c, 1) == 1)
		kill(init, signo);
	close(told[0]);
	if (waitpid(init, &status, 0) != init)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In a process of its own: who made a namespace has all its children there. */
static int status_of(const char *const *argv, int signo)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0)
		_exit(run_init(argv, signo));
	waitpid(child, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

struct
try {
	const char *name, *words[6];
	int signo, status;
	bool preloads;
};

static const struct try tries[] = {
	{"a status passes", {"--", SELF, "seven"}, 0, 7, false},
	{"a name is looked for in PATH",
	 {"--", "inside", "seven"},
	 0,
	 7,
	 false},
	{"a signal is 128 and it", {"--", SELF, "killed"}, 0, 128 + 15, false},
	{"what stops goes on", {"--", SELF, "stopped"}, 0, 0, false},
	{"the command leads", {"--", SELF, "leads"}, 0, 0, false},
	{"orphans are buried", {"--", SELF, "orphan"}, 0, 0, false},
	{"a signal is passed on", {"--", SELF, "signal"}, SIGTERM, 5, false},
	{"a size without a terminal",
	 {"size=24x80", "--", SELF, "seven"},
	 0,
	 7,
	 false},
	{"what is not there", {"--", "nothing"}, 0, 127, false},
	{"what cannot be run", {"--", "/proc/version"}, 0, 126, false},
	{"a word that is none",
	 {"size=24", "--", SELF, "seven"},
	 0,
	 125,
	 false},
	{"no command", {"--"}, 0, 125, false},
	{"a program that loads the seal is closed",
	 {"--", LOADED, "sealed"},
	 0,
	 0,
	 true},
	{"and without it is not", {"--", LOADED, "sealed"}, 0, 2, false},
};

static bool is_as_meant(const struct try *t)
{
	const char *argv[8] = {"init"};
	int status;

	for (size_t i = 0; i < 6 && t->words[i]; i++)
		argv[i + 1] = t->words[i];
	environment[1] = t->preloads ? (char[]){"LD_PRELOAD=" SEAL} : NULL;
	status = status_of(argv, t->signo);
	printf("%s: %s: %d\n", status == t->status ? "ok" : "FAIL", t->name,
	       status);
	fflush(stdout);
	return status == t->status;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc > 1)
		return answer(argv[1]);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		failed += !is_as_meant(&tries[i]);
	return failed;
}
