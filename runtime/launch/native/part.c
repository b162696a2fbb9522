/*
 * One part of a session: two processes. The first goes into the session's
 * namespaces, or makes them, and stays in those of the mounts and the network
 * that the others are made from; it passes on streams and signals. The second
 * is the first process of its own namespaces, gets the part's root and rights,
 * and becomes the program. It dies with the first, which dies with the
 * launcher; and all that it has begun dies with it.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fdpass.h"
#include "compiler/base/sys/moves.h"
#include "compiler/plan/gate.h"
#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CANNOT_START 125 /* as docker has them */
#define NOT_FOUND    127
#define NOT_RUN	     126

static const int passed[] = {SIGINT,  SIGTERM, SIGHUP,	 SIGQUIT,
			     SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};

static int say_word(const struct part *p, const struct part_word *word,
		    struct err *err)
{
	if (write(p->status, word, sizeof(*word)) != sizeof(*word))
		return err_set(err, -EPIPE, "the launcher is gone");
	return 0;
}

static int fail_part(const struct part *p, const struct err *err)
{
	struct part_word word = {.kind = PART_FAILED};
	struct err ignored;

	snprintf(word.text, sizeof(word.text), "%.250s", err->text);
	if (p->status >= 0)
		(void)say_word(p, &word, &ignored);
	fprintf(stderr, "membrane: %s\n", err->text);
	return CANNOT_START;
}

static int by_number(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

/* Of the launcher's descriptors only these: the others are the ends of pipes
 * whose closing somebody waits for. */
static void close_others(const struct part *p)
{
	int kept[] = {p->user,	 p->mounts, p->network, p->processes, p->status,
		      p->mapped, p->keep,   p->broker,	p->cgroup,
		      p->asker,	 p->moves,  p->hold};
	unsigned from = STDERR_FILENO + 1;

	qsort(kept, ARRAY_LEN(kept), sizeof(kept[0]), by_number);
	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		unsigned fd = (unsigned)kept[i];

		if (kept[i] < 0 || fd < from)
			continue;
		if (fd > from)
			syscall(SYS_close_range, from, fd - 1, 0);
		from = fd + 1;
	}
	syscall(SYS_close_range, from, ~0u, 0);
}

/* --- namespaces ----------------------------------------------------------- */

/* As the session's first: all of them are new. */
static int make_namespaces(const struct part *p, struct err *err)
{
	char byte;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC |
		    CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWPID) < 0)
		return err_set(
			err, -errno,
			"namespaces of a user's own: %s (sysctl kernel.unprivileged_userns_clone=1, user.max_user_namespaces; or AppArmor's kernel.apparmor_restrict_unprivileged_userns)",
			strerror(errno));
	if (say_word(p, &(struct part_word){.kind = PART_NAMESPACES}, err) < 0)
		return err->code;
	if (read(p->mapped, &byte, 1) != 1)
		return err_set(err, -EPIPE, "the launcher is gone");
	return 0;
}

static int join_namespaces(const struct part *p, struct err *err)
{
	int flags = CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS |
		    CLONE_NEWCGROUP | (p->processes < 0 ? CLONE_NEWPID : 0) |
		    (p->words->network == WORDS_NONE ? CLONE_NEWNET : 0);
	int rc = 0;

	if (!p->words->host_users && (setns(p->user, CLONE_NEWUSER) < 0 ||
				      setns(p->mounts, CLONE_NEWNS) < 0))
		return err_errno(err, "the session's namespaces");
	rc = root_share(p->words, err);
	if (rc == 0 && p->processes >= 0 &&
	    setns(p->processes, CLONE_NEWPID) < 0)
		rc = err_errno(err, "the view's namespace of processes");
	if (rc == 0 && unshare(flags) < 0)
		rc = err_errno(err, "namespaces of a part's own");
	return rc;
}

/* --- the program ---------------------------------------------------------- */

static int hand_terminal(int to, int fd, struct err *err)
{
	if (!fdpass_send(to, "t", 1, fd, 0))
		return err_errno(err, "the session's terminal");
	return 0;
}

/* -1 when the other side has none to hand over: it says why itself. */
static int take_terminal(int from)
{
	char byte;
	int fd;

	(void)fdpass_take(from, &byte, 1, &fd, 0);
	return fd;
}

/* The last of a name counts, and a terminal is one of some kind, as with
 * docker.
 */
static char **environment_of(const struct part *p)
{
	static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
			     "/usr/bin:/sbin:/bin",
		    term[] = "TERM=xterm";
	const struct words *w = p->words;
	char **out = arena_array(p->a, w->env.n + 3, sizeof(*out));
	size_t n = 0;

	out[n++] = path;
	if (w->tty)
		out[n++] = term;
	vec_each(e, &w->env) {
		size_t name = (size_t)(strchr(*e, '=') - *e) + 1, i = 0;

		while (i < n && strncmp(out[i], *e, name) != 0)
			i++;
		out[i] = (char *)(uintptr_t)*e;
		n += i == n;
	}
	out[n] = NULL;
	return out;
}

static int enter_folder(const struct words *w, struct err *err)
{
	if (chdir(w->folder) < 0)
		return err_set(err, -errno, "the folder %s inside: %s",
			       w->folder, strerror(errno));
	return 0;
}

/* Held: until what is beside it has heard of the launcher. */
static int await_release(const struct part *p, int to_parent, struct err *err)
{
	char byte;

	if (p->hold >= 0 && recv(to_parent, &byte, 1, 0) != 1)
		return err_set(err, -EPIPE, "the launcher is gone");
	return 0;
}

static int enter_part(const struct part *p, struct streams *s, int to_parent,
		      struct err *err)
{
	const struct words *w = p->words;
	int *terminal = s->tty ? &s->terminal : NULL;
	int rc = 0;

	/* the others' mounts are made from those of the gate's first process */
	if (p->user < 0 && unshare(CLONE_NEWNS) < 0)
		rc = err_errno(err, "mounts of the gate's own");
	if (rc == 0 && w->hostname &&
	    sethostname(w->hostname, strlen(w->hostname)) < 0)
		rc = err_errno(err, "sethostname");
	/* before the root: it is the namespace of the sysctls */
	if (rc == 0 && p->network >= 0 && setns(p->network, CLONE_NEWNET) < 0)
		rc = err_errno(err, "the agent's network");
	if (rc == 0)
		rc = root_enter(p->a, w, p->ids, terminal, err);
	if (rc == 0 && terminal)
		rc = hand_terminal(to_parent, s->terminal, err);
	if (rc == 0)
		rc = streams_take(s, err);
	if (rc == 0)
		rc = enter_folder(w, err);
	if (rc == 0)
		rc = await_release(p, to_parent, err);
	if (rc == 0 && p->moves >= 0 && moves_any(p->moves))
		rc = err_set(
			err, -ESTALE,
			"files of the workspace were moved while its masks were made: start again");
	if (rc == 0)
		rc = rights_take(w, p->ids, err);
	/* nothing is opened to be written any more, nor connected */
	if (rc == 0)
		rc = asking_begin(&p->asking, p->asker, err);
	if (rc == 0)
		rc = filter_load(&p->filter, err);
	return rc;
}

/* Whoever begins it dies with this process: an open end says that it lives. */
static int tie_to_parent(int alive, struct err *err)
{
	char byte;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_errno(err, "prctl");
	if (recv(alive, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0)
		return err_set(err, -ESRCH, "the launcher is gone");
	return 0;
}

/* The place that the program knows it by; whatever else was there. */
static int hand_broker(int fd)
{
	return fd == GATE_BROKER_FD ? fcntl(fd, F_SETFD, 0)
				    : dup2(fd, GATE_BROKER_FD);
}

static const char *value_in(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, n) == 0)
			return *env + n;
	return "";
}

/* Without an init of ours the program is looked for here, as Docker does. */
static int exec_program(struct arena *a, char *const *argv, char *const *env)
{
	struct str rest = str_of(value_in(env, "PATH=")), dir;
	int why = ENOENT;

	if (strchr(argv[0], '/')) {
		execve(argv[0], argv, env);
		return -errno;
	}
	while (str_field(&rest, ':', &dir)) {
		if (dir.n == 0 || dir.p[0] != '/')
			continue;
		execve(arena_fmt(a, "%.*s/%s", STR_ARG(dir), argv[0]).p, argv,
		       env);
		if (errno != ENOENT && errno != ENOTDIR)
			why = errno;
	}
	return -why;
}

/* Signals that the caller ignores (nohup, a shell's background) it ignores for
 * itself: what a terminal inside sends is the program's to hear, as in a
 * container. */
static void hear_signals(void)
{
	for (int signo = 1; signo <= SIGRTMAX; signo++)
		signal(signo, SIG_DFL); /* but for those that always are */
}

static _Noreturn void become_program(const struct part *p, struct streams *s,
				     int to_parent)
{
	char **env = environment_of(p);
	struct err err;
	sigset_t none;
	int rc;

	setsid();
	rc = tie_to_parent(to_parent, &err);
	if (rc == 0)
		rc = enter_part(p, s, to_parent, &err);
	/* changing the user has undone it */
	if (rc == 0)
		rc = tie_to_parent(to_parent, &err);
	if (rc < 0)
		_exit(fail_part(p, &err));
	hear_signals();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	if (p->broker >= 0 && hand_broker(p->broker) < 0)
		_exit(CANNOT_START);
	/* changing the user has hidden from who is asked what is executed */
	if (p->asking.code)
		prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	rc = exec_program(p->a, p->words->argv.v, env);
	rc = err_set(&err, rc, "%s: %s", p->words->argv.v[0], strerror(-rc));
	fail_part(p, &err);
	_exit(rc == -ENOENT ? NOT_FOUND : NOT_RUN);
}

/* --- beside it ------------------------------------------------------------ */

static int open_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < ARRAY_LEN(passed); i++)
		sigaddset(&set, passed[i]);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/*
 * A first process of a namespace that lies in another one than ours: made by
 * one that is in that, and a child of ours all the same. Zero in it, as fork(2)
 * has it, and one in here, where number_inside() says which it is.
 */
static pid_t fork_inside(int to_parent)
{
	pid_t between = fork();
	int status = 0;
	long made;

	if (between < 0)
		return -1;
	if (between > 0) {
		waitpid(between, &status, 0);
		errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
		return status == 0 ? 1 : -1;
	}
	made = syscall(SYS_clone, CLONE_NEWPID | CLONE_PARENT | SIGCHLD, 0L, 0L,
		       0L, 0L);
	if (made != 0)
		_exit(made < 0 ? errno : 0);
	if (send(to_parent, "p", 1, MSG_NOSIGNAL) != 1)
		_exit(CANNOT_START);
	return 0;
}

static int take_numbers(int from, int take)
{
	return setsockopt(from, SOL_SOCKET, SO_PASSCRED, &take, sizeof(take));
}

/* Whoever sent the first word, as we count; nobody else's is asked for. */
static pid_t number_inside(int from)
{
	union {
		struct cmsghdr head;
		char room[CMSG_SPACE(sizeof(struct ucred))];
	} control;
	char byte;
	struct iovec word = {&byte, 1};
	struct msghdr m = {.msg_iov = &word,
			   .msg_iovlen = 1,
			   .msg_control = &control,
			   .msg_controllen = sizeof(control)};
	const struct cmsghdr *c;
	struct ucred who;

	errno = ECHILD;
	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1 ||
	    !(c = CMSG_FIRSTHDR(&m)) || c->cmsg_level != SOL_SOCKET ||
	    c->cmsg_type != SCM_CREDENTIALS || take_numbers(from, 0) < 0)
		return -1;
	memcpy(&who, CMSG_DATA(c), sizeof(who));
	return who.pid;
}

/* Before anything is passed on: what is typed meanwhile is the caller's. Should
 * the program's process end first, that is seen to as at any time. */
static int pass_release(const struct part *p, pid_t process, int to_program,
			struct err *err)
{
	auto_fd int ended = (int)syscall(SYS_pidfd_open, process, 0);
	struct pollfd fds[] = {{p->hold, POLLIN, 0}, {ended, POLLIN, 0}};
	char byte;

	if (p->hold < 0)
		return 0;
	if (ended < 0)
		return err_errno(err, "pidfd_open");
	while (poll(fds, ARRAY_LEN(fds), -1) < 0)
		if (errno != EINTR)
			return err_errno(err, "poll");
	if (fds[1].revents)
		return 0;
	if (read(p->hold, &byte, 1) != 1)
		return err_set(err, -EPIPE, "the launcher is gone");
	/* where nobody takes it the process has ended by now */
	ignore(send(to_program, &byte, 1, MSG_NOSIGNAL));
	return 0;
}

static int run_part(const struct part *p, struct err *err)
{
	int pair[2], signals = open_signals(), status;
	struct streams s;
	pid_t process;
	int rc;

	if (signals < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, "socketpair");
	if (p->processes >= 0 && take_numbers(pair[0], 1) < 0)
		return err_errno(err, "socketpair");
	rc = streams_open(&s, p->words->tty, err);
	if (rc < 0)
		return rc;
	process = p->processes < 0 ? fork() : fork_inside(pair[1]);
	if (process < 0)
		return err_errno(err, "fork");
	if (process == 0) {
		close(pair[0]);
		become_program(p, &s, pair[1]);
	}
	close(pair[1]);
	if (p->moves >= 0)
		close(p->moves);
	streams_leave(&s);
	if (p->processes >= 0)
		process = number_inside(pair[0]);
	if (process < 0)
		return err_errno(err, "a namespace inside of the view's");
	rc = say_word(
		p,
		&(struct part_word){.kind = PART_PROCESS, .process = process},
		err);
	if (rc < 0)
		return rc;
	close(p->status);
	if (s.tty)
		s.terminal = take_terminal(pair[0]);
	rc = pass_release(p, process, pair[0], err);
	if (rc < 0)
		return rc;
	status = streams_serve(&s, process, signals);
	return proc_status(status);
}

/* Before there are namespaces: a new one of groups begins with this one. */
static int enter_group(const struct part *p, struct err *err)
{
	if (p->cgroup >= 0 && write(p->cgroup, "0", 1) != 1)
		return err_errno(err, "the session's control group");
	return 0;
}

int part_run(void *ctx, char *const *ignored)
{
	const struct part *p = ctx;
	struct err err;
	int rc = 0;

	(void)ignored;
	close_others(p);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		rc = err_errno(&err, "prctl");
	if (rc == 0)
		rc = enter_group(p, &err);
	if (rc == 0)
		rc = p->user < 0 ? make_namespaces(p, &err)
				 : join_namespaces(p, &err);
	/* becoming root of the namespace has undone it */
	if (rc == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		rc = err_errno(&err, "prctl");
	if (rc == 0)
		rc = run_part(p, &err);
	return rc < 0 ? fail_part(p, &err) : rc;
}
