/*
 * A gate as a whole where its system calls fail: whichever it is, no session
 * begins, and its status says so.
 */
#include "tests/unit/gate/plans.h"
#include "tests/unit/gate/program.h"
#include "tests/unit/steps.h"

static int in[2], out[2];

/* Shared: the first process of the gate, and whether that has begun. */
static struct {
	pid_t first;
	bool begun;
} * gate;

static bool make_gate(void)
{
	new_network(true);
	gate->first = 0;
	gate->begun = false;
	return pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 &&
	       write(in[1], HELLO, strlen(HELLO)) == (ssize_t)strlen(HELLO);
}

static void become_gate(void)
{
	char plan[] = PLAN, word[] = "--plan";
	char *argv[] = {program, word, plan, NULL};

	if (dup2(in[0], 0) != 0 || dup2(out[1], 1) != 1 || dup2(out[1], 2) != 2)
		_exit(125);
	gate->first = getpid();
	execv(program, argv);
	_exit(125);
}

/* Up to where a session would begin. */
static int run_gate(struct err *e)
{
	char line[4096];
	bool ready = false;
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		become_gate();
	close(out[1]);
	while (!ready && read_line(out[0], line, sizeof(line)))
		ready = strstr(line, "\"event\":\"ready\"") != NULL;
	close(in[1]);
	if (waitpid(pid, &status, 0) != pid)
		return -ECHILD;
	if (ready && status == 0)
		return 0;
	err_set(e, -EIO, "%s", strerror(EIO));
	return !ready && status == 1 << 8 ? -EIO : -EPROTO;
}

/* Of the first process, once its libraries are there. */
static bool is_first(const struct seccomp_notif *n)
{
	if ((pid_t)n->pid != gate->first ||
	    (n->data.nr == SYS_prctl && n->data.args[0] == PR_CAPBSET_DROP))
		return false;
	gate->begun |= n->data.nr == SYS_signalfd4;
	return gate->begun;
}

/* Of the worker: what it opens, and what it gives up. */
static bool is_worker(const struct seccomp_notif *n)
{
	if (!gate->first || (pid_t)n->pid == gate->first)
		return false;
	return n->data.nr == SYS_socket || n->data.nr == SYS_bind ||
	       (n->data.nr == SYS_prctl &&
		n->data.args[0] == PR_SET_NO_NEW_PRIVS);
}

int main(void)
{
	/* behind the worker's 22nd it asks for names, and ends */
	const struct steps_of first = {"PID 1",	  make_gate, run_gate,
				       " fcntl ", 0,	     is_first},
			      worker = {"the worker", make_gate, run_gate,
					NULL,	      22,	 is_worker};

	if (STEPS_SANITIZED || !steps_are_asked() || !enter_room())
		return NOT_HERE;
	find_program();
	put_whole_plan();
	gate = mmap(NULL, sizeof(*gate), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(gate != MAP_FAILED);
	steps_check(&first);
	steps_check(&worker);
	return check_status();
}
