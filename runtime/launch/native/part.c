/*
 * One part of a session: two processes. The first goes into the session's
 * namespaces, or makes them, and stays in those of the mounts and the network
 * that the others are made from; it passes on streams and signals. The second
 * is the first process of its own namespaces, gets the part's root and rights,
 * and becomes the program. It dies with the first, which dies with the
 * launcher; and all that it has begun dies with it.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/proc.h"

#include <errno.h>
#include <fcntl.h>
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
	int kept[] = {p->user,	 p->mounts, p->network,
		      p->status, p->mapped, p->keep};
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
	int flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS |
		    CLONE_NEWCGROUP |
		    (p->words->network == WORDS_NONE ? CLONE_NEWNET : 0);
	int rc = 0;

	if (setns(p->user, CLONE_NEWUSER) < 0 ||
	    setns(p->mounts, CLONE_NEWNS) < 0)
		return err_errno(err, "the session's namespaces");
	rc = root_share(p->words, err);
	if (rc == 0 && unshare(flags) < 0)
		rc = err_errno(err, "namespaces of a part's own");
	return rc;
}

/* --- the program ---------------------------------------------------------- */

static int hand_terminal(int to, int fd, struct err *err)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control = {0};
	struct iovec io = {(char[]){'t'}, 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = sizeof(control.room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(int));
	if (sendmsg(to, &m, MSG_NOSIGNAL) != 1)
		return err_errno(err, "the session's terminal");
	return 0;
}

/* -1 when the other side has none to hand over: it says why itself. */
static int take_terminal(int from)
{
	union {
		struct cmsghdr align;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec io = {&byte, 1};
	struct msghdr m = {.msg_iov = &io,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = sizeof(control.room)};
	const struct cmsghdr *c;
	int fd = -1;

	if (recvmsg(from, &m, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS &&
	    c->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
	return fd;
}

/* The last of a name counts, as with docker. */
static char **environment_of(const struct part *p)
{
	static char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
			     "/usr/bin:/sbin:/bin";
	const struct words *w = p->words;
	char **out = arena_array(p->a, w->env.n + 2, sizeof(*out));
	size_t n = 0;

	out[n++] = path;
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
		rc = rights_take(w, p->ids, err);
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
	if (recv(alive, &byte, 1, MSG_DONTWAIT) == 0)
		return err_set(err, -ESRCH, "the launcher is gone");
	return 0;
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
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC);
	execve(p->words->argv.v[0], p->words->argv.v, env);
	rc = err_errno(&err, p->words->argv.v[0]);
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

static int run_part(const struct part *p, struct err *err)
{
	int pair[2], signals = open_signals(), status;
	struct streams s;
	pid_t process;
	int rc;

	if (signals < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, "socketpair");
	rc = streams_open(&s, p->words->tty, err);
	if (rc < 0)
		return rc;
	process = fork();
	if (process < 0)
		return err_errno(err, "fork");
	if (process == 0) {
		close(pair[0]);
		become_program(p, &s, pair[1]);
	}
	close(pair[1]);
	streams_leave(&s);
	rc = say_word(
		p,
		&(struct part_word){.kind = PART_PROCESS, .process = process},
		err);
	if (rc < 0)
		return rc;
	close(p->status);
	if (s.tty)
		s.terminal = take_terminal(pair[0]);
	status = streams_serve(&s, process, signals);
	return proc_status(status);
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
		rc = p->user < 0 ? make_namespaces(p, &err)
				 : join_namespaces(p, &err);
	/* becoming root of the namespace has undone it */
	if (rc == 0 && prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		rc = err_errno(&err, "prctl");
	if (rc == 0)
		rc = run_part(p, &err);
	return rc < 0 ? fail_part(p, &err) : rc;
}
