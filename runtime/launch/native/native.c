#include "runtime/launch/native/native.h"

#include "compiler/plan/files.h"
#include "runtime/launch/native/cgroup.h"
#include "runtime/launch/native/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROCESS_MS 5000 /* until a part has a process */
#define NOT_THE_GATES "the agent's network is not the gate's"

static const char *const roles[ENGINE_PARTS] = {
	[ENGINE_GATE] = "gate",
	[ENGINE_AGENT] = "agent",
	[ENGINE_TRACER] = "tracer",
	[ENGINE_VIEW] = "view",
};

/* One that was started. */
struct process {
	pid_t pid;  /* the launcher's child; 0: none, or waited for */
	int status; /* what it says; -1: all is said */
	int first;  /* a pidfd of the part's first process; -1: unknown */
	pid_t number;
	int hold;	  /* a byte there begins its program; -1: it has begun */
	uint32_t network; /* it goes into that one; 0: into none of another's */
	bool failed;
};

static const struct process no_process = {
	.status = -1, .first = -1, .hold = -1};

struct native {
	struct engine engine;
	struct arena *a;
	const char *dir; /* of the session */
	struct ids ids;
	int user, network, mounts; /* the session's namespaces; -1 */
	uint32_t expected;	   /* the agent's network; 0: any */
	struct uplink uplink;
	int cgroup; /* who writes to it is in the agent's group; -1: none */
	uint64_t killed;      /* in there, for want of memory */
	int asker;  /* of who is asked, for the agent's listener; -1: nobody */
	int moves;  /* native_hear(); -1 */
	const char *filtered; /* the file that filter is of; NULL: none yet */
	struct filter filter;
	struct process parts[ENGINE_PARTS];
	engine_on_event *on_event;
	void *ctx;
};

static struct native *own(struct engine *e)
{
	return (struct native *)e;
}

/* --- starting ------------------------------------------------------------- */

static const char *from_environment(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

static int open_namespace(pid_t pid, const char *name, int *out,
			  struct err *err)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%ld/ns/%s", (long)pid, name);
	*out = open(path, O_RDONLY | O_CLOEXEC);
	return *out < 0 ? err_errno(err, path) : 0;
}

/* The session's namespaces are there: who is in them, and the way out. */
static int take_namespaces(struct native *n, pid_t pid, struct err *err)
{
	int rc = ids_map(&n->ids, pid, err);

	if (rc == 0)
		rc = open_namespace(pid, "user", &n->user, err);
	if (rc == 0)
		rc = open_namespace(pid, "net", &n->network, err);
	if (rc == 0)
		rc = open_namespace(pid, "mnt", &n->mounts, err);
	return rc == 0 ? uplink_start(&n->uplink, n->user, n->network, err)
		       : rc;
}

static int hear_part(struct process *p, struct part_word *out)
{
	ssize_t got;

	do
		got = read(p->status, out, sizeof(*out));
	while (got < 0 && errno == EINTR);
	return got == sizeof(*out) ? 0 : -EPIPE;
}

static int begin_session(struct native *n, struct process *p, int mapped,
			 struct err *err)
{
	struct part_word word;
	int rc;

	if (hear_part(p, &word) < 0)
		return err_set(err, -EPIPE, "the gate's first process ended");
	if (word.kind == PART_FAILED)
		return err_set(err, -EPERM, "%.*s", (int)sizeof(word.text),
			       word.text);
	rc = take_namespaces(n, p->pid, err);
	if (rc == 0 && write(mapped, "m", 1) != 1)
		rc = err_errno(err, "the session's namespaces");
	return rc;
}

static int send_signal(const struct process *p, int signo)
{
	return (int)syscall(SYS_pidfd_send_signal, p->first, signo, NULL, 0);
}

static uint32_t number_of(int namespace)
{
	struct stat st;

	return fstat(namespace, &st) < 0 ? 0 : (uint32_t)st.st_ino;
}

/* The gate's first process has moved into it by now. */
static int open_network(struct native *n, int *out, struct err *err)
{
	int rc = open_namespace(n->parts[ENGINE_GATE].number, "net", out, err);

	if (rc < 0)
		return rc;
	if (number_of(*out) != number_of(n->network) &&
	    (!n->expected || number_of(*out) == n->expected))
		return 0;
	close(*out);
	*out = -1;
	return err_set(err, -EXDEV, NOT_THE_GATES);
}

static void tell_start(const struct native *n, enum engine_part part,
		       engine_on_event *on_event, void *ctx)
{
	struct engine_event event = {"start", roles[part], ""};
	const struct process *p = &n->parts[part];

	if (on_event && p->first >= 0 && p->status < 0 && p->hold < 0 &&
	    !p->failed)
		on_event(ctx, &event);
}

static void hear_status(struct native *n, enum engine_part part)
{
	struct process *p = &n->parts[part];
	struct part_word word;

	for (;;) {
		ssize_t got = read(p->status, &word, sizeof(word));

		if (got < 0)
			return;
		if (got != sizeof(word))
			break;
		p->failed |= word.kind == PART_FAILED;
		if (word.kind != PART_PROCESS)
			continue;
		p->number = word.process;
		p->first = (int)syscall(SYS_pidfd_open, word.process, 0);
	}
	fd_close(&p->status);
	p->status = -1;
	tell_start(n, part, n->on_event, n->ctx);
}

/* It says so as soon as it is one. */
static void await_process(struct native *n, enum engine_part part)
{
	struct process *p = &n->parts[part];

	while (p->first < 0 && p->status >= 0) {
		struct pollfd said = {p->status, POLLIN, 0};

		if (poll(&said, 1, PROCESS_MS) <= 0)
			return;
		hear_status(n, part);
	}
}

/* Another part's, which is there by now; its number may not be another's. */
static int open_processes(struct native *n, enum engine_part part, int *out,
			  struct err *err)
{
	const struct process *p = &n->parts[part];
	int rc;

	await_process(n, part);
	rc = p->first < 0 ? err_set(err, -ESRCH, "the session has no %s yet",
				    roles[part])
			  : open_namespace(p->number, "pid", out, err);
	if (rc < 0 || send_signal(p, 0) == 0)
		return rc;
	return err_set(err, -ESRCH, "the session's %s is gone", roles[part]);
}

static int open_within(struct native *n, enum words_within within, int *out,
		       struct err *err)
{
	switch (within) {
	case WORDS_NOBODYS:
		return 0;
	case WORDS_VIEWS:
		return open_processes(n, ENGINE_VIEW, out, err);
	case WORDS_ASKEDS:
		return n->asker < 0
			       ? 0
			       : open_processes(n, ENGINE_TRACER, out, err);
	}
	return 0;
}

/* What of the path is behind the folder, from its slash on. */
static bool is_below(struct str path, struct str folder, struct str *out)
{
	*out = str_slice(path, folder.n, path.n);
	return str_starts(path, folder) && str_starts(*out, STR("/"));
}

/*
 * Where what is mounted lies now. From here on no link is followed any more, so
 * that none of somebody's who may write on the way leads elsewhere.
 */
static int find_sources(struct native *n, struct words *w, struct err *err)
{
	char real[PATH_MAX], dir[PATH_MAX];

	if (!realpath(n->dir, dir))
		return err_errno(err, n->dir);
	if (w->root && !realpath(w->root, real))
		return err_errno(err, w->root);
	if (w->root)
		w->root = arena_cstr(n->a, str_of(real));
	if (w->empty && !realpath(w->empty, real))
		return err_errno(err, w->empty);
	if (w->empty)
		w->empty = arena_cstr(n->a, str_of(real));
	vec_each(p, &w->places) {
		struct str below;

		if (p->kind != WORDS_BIND || p->optional)
			continue;
		/* ours alone; and a view is there for the session alone */
		if (is_below(str_of(p->source), str_of(n->dir), &below)) {
			p->source =
				arena_fmt(n->a, "%s%.*s", dir, STR_ARG(below))
					.p;
			continue;
		}
		if (!realpath(p->source, real))
			return err_errno(err, p->source);
		p->source = arena_cstr(n->a, str_of(real));
	}
	return 0;
}

/* Once: libseccomp takes as long for it as a process does to start. */
static int read_filter(struct native *n, const char *path, struct filter *out,
		       struct err *err)
{
	int rc = 0;

	if (!n->filtered || strcmp(path, n->filtered) != 0)
		rc = filter_read(n->a, path, &n->filter, err);
	if (rc < 0)
		return rc;
	n->filtered = path;
	*out = n->filter;
	return 0;
}

/* The agent's, while the gate starts. An error is told when that is. */
static void foresee_filter(struct native *n)
{
	struct filter ignored;
	struct err err;
	struct str path = arena_fmt(n->a, "%s/plan/" PLAN_SECCOMP, n->dir);

	ignore(read_filter(n, path.p, &ignored, &err));
}

/* How a process of this part is begun; in the arena, for the fork. */
static int prepare_part(struct native *n, enum engine_part part,
			char *const *vector, struct part **out, struct err *err)
{
	struct words *w = arena_new_of(n->a, struct words);
	struct part *p = arena_new_of(n->a, struct part);
	int rc = words_read(n->a, vector, from_environment, NULL, w, err);

	*p = (struct part){.a = n->a,
			   .words = w,
			   .ids = &n->ids,
			   .user = n->user,
			   .mounts = n->mounts,
			   .network = -1,
			   .processes = -1,
			   .status = -1,
			   .mapped = -1,
			   .broker = -1,
			   .asker = -1,
			   .hold = -1,
			   .cgroup = part == ENGINE_AGENT ? n->cgroup : -1,
			   .moves = part == ENGINE_AGENT ? n->moves : -1};
	w->grouped = p->cgroup >= 0;
	if (rc == 0)
		rc = find_sources(n, w, err);
	if (rc == 0 && w->host_users && !native_may_trace(n))
		rc = err_set(err, -EPERM, NATIVE_NOT_TRACED);
	if (rc == 0 && w->filter)
		rc = read_filter(n, w->filter, &p->filter, err);
	if (rc == 0 && part != ENGINE_GATE && n->user < 0)
		rc = err_set(err, -ESRCH, "the session has no gate yet");
	if (rc == 0 && w->network == WORDS_AGENT)
		rc = open_network(n, &p->network, err);
	if (rc == 0)
		rc = open_within(n, w->within, &p->processes, err);
	if (rc == 0 && part == ENGINE_AGENT && n->asker >= 0) {
		p->asker = n->asker;
		asking_make(n->a, w, &p->asking);
	}
	*out = p;
	return rc;
}

/* By which who is asked gets the agent's listener. */
static int open_channel(int *out_ours, int *out_its, struct err *err)
{
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return err_errno(err, "socketpair");
	*out_ours = pair[0];
	*out_its = pair[1];
	return 0;
}

static int begin_part(struct native *n, enum engine_part part, bool held,
		      const struct proc_opts *given, pid_t *out_pid,
		      struct err *err)
{
	struct process *process = &n->parts[part];
	struct proc_opts o = *given;
	auto_fd int mapped = -1;
	struct part *p;
	int rc = prepare_part(n, part, o.argv, &p, err);

	if (rc < 0)
		return rc;
	*process = no_process;
	process->network = p->network < 0 ? 0 : number_of(p->network);
	rc = proc_pipe(&process->status, &p->status, err);
	if (rc == 0 && held)
		rc = proc_pipe(&p->hold, &process->hold, err);
	if (rc == 0 && part == ENGINE_GATE)
		rc = proc_pipe(&p->mapped, &mapped, err);
	if (rc == 0 && part == ENGINE_GATE)
		rc = uplink_broker(&n->uplink, &p->broker, err);
	if (rc == 0 && p->words->is_asked)
		rc = open_channel(&n->asker, &p->broker, err);
	p->keep = o.keep;
	o.run = part_run;
	o.ctx = p;
	if (rc == 0)
		rc = proc_spawn(&o, &process->pid, err);
	fd_close(&p->status);
	fd_close(&p->mapped);
	fd_close(&p->network);
	fd_close(&p->processes);
	fd_close(&p->broker);
	fd_close(&p->hold);
	*out_pid = process->pid;
	if (rc == 0 && part == ENGINE_GATE) {
		rc = begin_session(n, process, mapped, err);
		if (rc == 0)
			foresee_filter(n);
	}
	return rc < 0 ? rc : proc_nonblock(process->status, err);
}

static int start_part(struct engine *e, enum engine_part part,
		      const struct proc_opts *o, pid_t *out_pid,
		      struct err *err)
{
	return begin_part(own(e), part, false, o, out_pid, err);
}

/* --- starting it early ---------------------------------------------------- */

/* The gate is in the agent's network by now, which is all that the agent needs
 * of it but for its program. */
static bool may_hold(struct engine *e)
{
	struct native *n = own(e);
	auto_fd int network = -1;
	struct err ignored;

	return n->parts[ENGINE_GATE].first >= 0 &&
	       open_network(n, &network, &ignored) == 0;
}

static int hold_part(struct engine *e, enum engine_part part,
		     const struct proc_opts *o, pid_t *out_pid, struct err *err)
{
	return begin_part(own(e), part, true, o, out_pid, err);
}

static int release_part(struct engine *e, enum engine_part part,
			struct err *err)
{
	struct native *n = own(e);
	struct process *p = &n->parts[part];

	/* when it was begun nobody had said which that is */
	if (p->network && n->expected && p->network != n->expected)
		return err_set(err, -EXDEV, NOT_THE_GATES);
	if (write(p->hold, "g", 1) != 1 && errno != EPIPE)
		return err_errno(err, "the agent's start");
	fd_close(&p->hold);
	p->hold = -1;
	tell_start(n, part, n->on_event, n->ctx);
	return 0;
}

/* --- signals -------------------------------------------------------------- */

static int number_named(const char *name)
{
	static const struct {
		const char *name;
		int signo;
	} signals[] = {{"SIGTERM", SIGTERM},
		       {"SIGINT", SIGINT},
		       {"SIGHUP", SIGHUP},
		       {"SIGQUIT", SIGQUIT},
		       {"SIGKILL", SIGKILL}};

	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (strcmp(name, signals[i].name) == 0)
			return signals[i].signo;
	return SIGTERM;
}

static int signal_part(struct engine *e, enum engine_part part,
		       const char *signame, struct err *err)
{
	const struct process *p = &own(e)->parts[part];

	/* before its program has begun the signal would kill it */
	if (p->first < 0 || p->status >= 0 || p->hold >= 0)
		return err_set(err, -ENOENT, "it does not run");
	if (send_signal(p, number_named(signame)) < 0)
		return err_set(err, errno == ESRCH ? -ENOENT : -errno, "%s: %s",
			       signame, strerror(errno));
	return 0;
}

/* With its first process all of it ends; that which stays beside says how. */
static int remove_part(struct engine *e, enum engine_part part, struct err *err)
{
	const struct process *p = &own(e)->parts[part];

	(void)err;
	if (p->first >= 0)
		(void)send_signal(p, SIGKILL);
	else if (p->pid > 0)
		kill(p->pid, SIGKILL);
	return 0;
}

/* --- what becomes of them ------------------------------------------------- */

static int follow_parts(struct engine *e, engine_on_event *on_event, void *ctx,
			struct err *err)
{
	(void)err;
	own(e)->on_event = on_event;
	own(e)->ctx = ctx;
	return 0;
}

static int ask_parts(struct engine *e, engine_on_event *on_event, void *ctx,
		     struct err *err)
{
	(void)err;
	for (enum engine_part part = 0; part < ENGINE_PARTS; part++)
		tell_start(own(e), part, on_event, ctx);
	return 0;
}

static int poll_parts(struct engine *e, const struct pollfd *fds, size_t n_fds,
		      int timeout_ms, struct err *err)
{
	struct pollfd all[ENGINE_FDS_MAX + ENGINE_PARTS];
	struct native *n = own(e);

	memcpy(all, fds, n_fds * sizeof(*fds));
	for (size_t i = 0; i < ENGINE_PARTS; i++)
		all[n_fds + i] = (struct pollfd){n->parts[i].status, POLLIN, 0};
	if (poll(all, n_fds + ENGINE_PARTS, timeout_ms) < 0 && errno != EINTR)
		return err_errno(err, "poll");
	for (enum engine_part part = 0; part < ENGINE_PARTS; part++)
		if (n->parts[part].status >= 0)
			hear_status(n, part);
	if (uplink_check(&n->uplink, err) == 0)
		return 0;
	/* which waits for it in vain, or has nowhere to go any more */
	(void)remove_part(e, ENGINE_GATE, err);
	return err->code;
}

static bool is_gone(struct engine *e, enum engine_part part)
{
	struct process *p = &own(e)->parts[part];

	fd_close(&p->status);
	fd_close(&p->first);
	fd_close(&p->hold);
	*p = no_process;
	return true;
}

/* --- its life ------------------------------------------------------------- */

struct engine *native_engine(struct native *n)
{
	return &n->engine;
}

int native_limit(struct native *n, char *const *vector, struct str *out_weaker,
		 struct err *err)
{
	struct words w;
	struct err why;
	int rc = words_read(n->a, vector, from_environment, NULL, &w, err);
	struct cgroup_limits l = {w.memory, w.cpus_milli, w.processes};

	if (rc < 0 || (!l.memory && !l.cpus_milli))
		return rc;
	rc = cgroup_make(n->a, n->dir, &l, &n->cgroup, &why);
	if (rc == 0)
		return 0;
	if (l.cpus_milli)
		return err_set(
			err, rc,
			"'hardening.cpus' takes a control group that this user may write: %s (" NATIVE_GROUP
			", or 'engine: docker')",
			why.text);
	*out_weaker = arena_fmt(
		n->a,
		"'hardening.memory' is each process's own limit, not that of all together, for want of a control group: %s (" NATIVE_GROUP
		")",
		why.text);
	return 0;
}

bool native_may_trace(const struct native *n)
{
	return n->ids.kind == IDS_ALL;
}

void native_hear(struct native *n, int moves)
{
	n->moves = moves;
}

void native_expect(struct native *n, uint32_t netns)
{
	n->expected = netns;
}

const char *native_view_folder(struct arena *a, const struct native *n,
			       const char *folder)
{
	return arena_fmt(a, "/proc/%ld/root%s", (long)n->parts[ENGINE_GATE].pid,
			 folder)
		.p;
}

int native_open(struct arena *a, const struct native_place *place,
		struct native **out, struct err *err)
{
	static const struct engine_ops ops = {
		.start = start_part,
		.may_hold = may_hold,
		.hold = hold_part,
		.release = release_part,
		.signal = signal_part,
		.remove = remove_part,
		.follow = follow_parts,
		.ask = ask_parts,
		.poll = poll_parts,
		.ended = is_gone,
	};
	struct native *n = arena_new_of(a, struct native);
	int rc = uplink_find(a, place, &n->uplink, err);

	if (rc < 0)
		return rc;
	n->engine.ops = &ops;
	n->a = a;
	n->dir = place->dir;
	n->ids = ids_own(a);
	n->user = n->network = n->mounts = n->cgroup = n->asker = -1;
	n->moves = -1;
	for (size_t i = 0; i < ENGINE_PARTS; i++)
		n->parts[i] = no_process;
	*out = n;
	return 0;
}

void native_close(struct native *n)
{
	if (!n)
		return;
	uplink_end(&n->uplink);
	for (enum engine_part part = 0; part < ENGINE_PARTS; part++)
		(void)is_gone(&n->engine, part);
	fd_close(&n->user);
	fd_close(&n->network);
	fd_close(&n->mounts);
	fd_close(&n->cgroup);
	n->killed = cgroup_killed(n->a, n->dir);
	fd_close(&n->asker);
	cgroup_end(n->dir);
}

uint64_t native_killed(const struct native *n)
{
	return n ? n->killed : 0;
}
