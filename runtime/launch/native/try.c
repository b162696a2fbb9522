#include "runtime/launch/native/try.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/native/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROFILE "/etc/apparmor.d/membrane"

struct trial {
	struct arena *a;
	struct ids ids;
	struct str filter;
	struct words words;
	struct uplink uplink; /* beside it */
	int said, mapped;  /* of the process that tries */
	enum try_step now; /* which of several it is at */
};

/* First that its namespaces are made, where it makes some; then the verdict. */
struct verdict {
	bool made;
	int code;
	enum try_step at; /* of several */
	char text[240];
};

/* --- in a process of its own ---------------------------------------------- */

static int become_quiet(struct err *err)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		return err_errno(err, "prctl");
	return 0;
}

static void say_verdict(const struct trial *t, int rc, const struct err *err)
{
	struct verdict v = {.code = rc, .at = t->now};

	if (rc < 0)
		snprintf(v.text, sizeof(v.text), "%.239s", err->text);
	/* nobody listens any more: then it was killed in time */
	ignore(write(t->said, &v, sizeof(v)));
}

static int try_mounts(struct trial *t, struct err *err)
{
	return root_try(t->a, &t->words, &t->ids, err);
}

static int try_proc(struct trial *t, struct err *err)
{
	return root_enter(t->a, &t->words, &t->ids, NULL, err);
}

/* The view's, as runtime/view/mount.c makes it: nobody answers, and nobody
 * asks. */
static int try_view(struct trial *t, struct err *err)
{
	auto_fd int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[160];

	if (fd < 0)
		return err_errno(err, "/dev/fuse");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return err_errno(err, "/");
	snprintf(
		options, sizeof(options),
		"fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other,default_permissions",
		fd, t->ids.uid, t->ids.gid);
	if (mount("membrane", "/", "fuse.membrane", MS_NOSUID | MS_NODEV,
		  options) < 0)
		return err_errno(err, "mount of a program's file system");
	return 0;
}

static int try_tap(struct trial *t, struct err *err)
{
	auto_fd int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);
	struct ifreq wanted = {.ifr_name = "membrane",
			       .ifr_flags = IFF_TAP | IFF_NO_PI};

	(void)t;
	if (fd < 0)
		return err_errno(err, "/dev/net/tun");
	if (ioctl(fd, TUNSETIFF, &wanted) < 0)
		return err_errno(err, "a device of /dev/net/tun");
	return 0;
}

static int try_uplink(struct trial *t, struct err *err)
{
	(void)t;
	return way_await(err);
}

static int try_rules(struct trial *t, struct err *err)
{
	(void)t;
	return table_try(err);
}

static int try_filter(struct trial *t, struct err *err)
{
	auto_fd int fd = memfd_create("seccomp", MFD_CLOEXEC);
	struct filter f = {0};
	char path[32];
	int rc;

	if (fd < 0 ||
	    write(fd, t->filter.p, t->filter.n) != (ssize_t)t->filter.n)
		return err_errno(err, "seccomp.json");
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	rc = filter_read(t->a, path, &f, err);
	if (rc == 0 && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		rc = err_errno(err, "no_new_privs");
	return rc == 0 ? filter_load(&f, err) : rc;
}

static int try_asked(struct trial *t, struct err *err)
{
	return asking_try(t->a, err);
}

static const struct step {
	int (*run)(struct trial *t, struct err *err); /* NULL: that is all */
	int namespaces;
	enum try_step after; /* itself: none */
	bool leaves;	     /* an uplink runs beside it */
} steps[] = {
#define OTHERS                                                                 \
	(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC |           \
	 CLONE_NEWUTS | CLONE_NEWCGROUP | CLONE_NEWPID)
	[TRY_USERS] = {NULL, CLONE_NEWUSER, TRY_USERS},
	[TRY_NAMESPACES] = {NULL, OTHERS, TRY_USERS},
	[TRY_MOUNTS] = {try_mounts, OTHERS, TRY_NAMESPACES},
	[TRY_PROC] = {try_proc, OTHERS, TRY_MOUNTS},
	[TRY_VIEW] = {try_view, OTHERS, TRY_NAMESPACES},
	[TRY_TAP] = {try_tap, OTHERS, TRY_NAMESPACES},
	[TRY_UPLINK] = {try_uplink, OTHERS, TRY_TAP, .leaves = true},
	[TRY_RULES] = {try_rules, OTHERS, TRY_NAMESPACES},
	[TRY_FILTER] = {try_filter, 0, TRY_FILTER},
	[TRY_ASKED] = {try_asked, OTHERS, TRY_NAMESPACES},
#undef OTHERS
};

/* What a session has to have, and most hosts that run none do not give: one
 * process's worth of it. */
static int try_first(struct trial *t, struct err *err)
{
	int rc;

	t->now = TRY_RULES;
	rc = try_rules(t, err);
	t->now = TRY_PROC;
	return rc < 0 ? rc : try_proc(t, err);
}

static const struct step first_steps = {
	try_first,
	CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID,
	TRY_USERS,
	false,
};

static int make_namespaces(const struct trial *t, int flags, struct err *err)
{
	struct verdict made = {.made = true};
	char byte;

	if (unshare(flags) < 0)
		return err_errno(err, "unshare");
	if (write(t->said, &made, sizeof(made)) != sizeof(made) ||
	    read(t->mapped, &byte, 1) != 1)
		return err_set(err, -EPIPE, "nobody listens");
	return become_quiet(err);
}

/* The first process of the new namespace of processes. */
static void run_inside(struct trial *t, const struct step *s)
{
	struct err err;
	pid_t pid = fork();
	int rc;

	if (pid < 0) {
		say_verdict(t, err_errno(&err, "fork"), &err);
		return;
	}
	if (pid > 0) {
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
		return;
	}
	rc = become_quiet(&err);
	if (rc == 0)
		rc = s->run(t, &err);
	say_verdict(t, rc, &err);
	_exit(0);
}

static _Noreturn void run_step(struct trial *t, const struct step *s)
{
	struct err err;
	int rc;

	proc_leave_terminal();
	proc_close_others(t->said, t->mapped);
	rc = become_quiet(&err);
	if (rc == 0 && s->namespaces)
		rc = make_namespaces(t, s->namespaces, &err);
	if (rc < 0 || !s->run)
		say_verdict(t, rc, &err);
	else
		run_inside(t, s);
	_exit(0);
}

/* --- beside it ------------------------------------------------------------ */

/* Also that it said nothing in time, ended without a word, or that what it
 * waits for has ended. */
static int hear_verdict(struct trial *t, int said, int64_t until,
			struct verdict *out, struct err *err)
{
	auto_fd int beside =
		t->uplink.pid > 0
			? (int)syscall(SYS_pidfd_open, t->uplink.pid, 0)
			: -1;
	struct pollfd p[] = {{said, POLLIN, 0}, {beside, POLLIN, 0}};
	int64_t left = until - clock_ms();
	int rc;

	do
		rc = poll(p, ARRAY_LEN(p), left > 0 ? (int)left : 0);
	while (rc < 0 && errno == EINTR);
	if (p[1].revents && uplink_check(&t->uplink, err) < 0)
		return err->code;
	if (rc > 0 && read(said, out, sizeof(*out)) == sizeof(*out))
		return 0;
	return err_set(err, -ETIMEDOUT, "no answer in time");
}

/* As a session has it: of namespaces that have users by now. */
static int start_uplink(struct trial *t, pid_t pid, struct err *err)
{
	struct native_place place = {0};
	int rc = uplink_find(t->a, &place, &t->uplink, err);
	auto_fd int users = -1, network = -1;

	if (rc < 0)
		return rc;
	users = open(arena_fmt(t->a, "/proc/%ld/ns/user", (long)pid).p,
		     O_RDONLY | O_CLOEXEC);
	network = open(arena_fmt(t->a, "/proc/%ld/ns/net", (long)pid).p,
		       O_RDONLY | O_CLOEXEC);
	if (users < 0 || network < 0)
		return err_errno(err, "the namespaces");
	return uplink_start(&t->uplink, users, network, err);
}

static int follow_step(struct trial *t, const struct step *s, pid_t pid,
		       int said, int mapped, struct err *err)
{
	int64_t until = clock_ms() + TRY_STEP_MS;
	struct verdict v;
	int rc = hear_verdict(t, said, until, &v, err);

	if (rc == 0 && v.made) {
		rc = ids_map(&t->ids, pid, err);
		if (rc == 0 && s->leaves)
			rc = start_uplink(t, pid, err);
		if (rc == 0 && write(mapped, "m", 1) != 1)
			rc = err_errno(err, "the namespaces");
		if (rc == 0)
			rc = hear_verdict(t, said, until, &v, err);
	}
	if (rc < 0)
		return rc;
	t->now = v.at;
	if (v.code < 0)
		return err_set(err, v.code, "%.*s", (int)sizeof(v.text),
			       v.text);
	return 0;
}

static int try_step(struct trial *t, const struct step *s, struct err *err)
{
	auto_fd int said = -1, mapped = -1;
	pid_t pid = -1;
	int rc = proc_pipe(&said, &t->said, err);

	t->mapped = -1;
	t->uplink = UPLINK_NONE;
	if (rc == 0)
		rc = proc_pipe(&t->mapped, &mapped, err);
	if (rc == 0 && (pid = fork()) < 0)
		rc = err_errno(err, "fork");
	if (pid == 0)
		run_step(t, s);
	fd_close(&t->said);
	fd_close(&t->mapped);
	if (rc == 0)
		rc = follow_step(t, s, pid, said, mapped, err);
	uplink_end(&t->uplink);
	if (pid > 0) {
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	return rc;
}

/* --- what is in the way --------------------------------------------------- */

/* What a setting of the kernel's is; NUL: there is none. */
static char setting(const char *name)
{
	char path[80], first = '\0';
	auto_fd int fd = -1;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, &first, 1) == 1 ? first : '\0';
}

static bool is_there(const char *path)
{
	return access(path, F_OK) == 0;
}

static void look_around(struct try_host *out)
{
	*out = (struct try_host){
		.container = is_there("/.dockerenv") ||
			     is_there("/run/.containerenv") ||
			     is_there("/run/systemd/container"),
		.apparmor = setting("kernel/apparmor_restrict_unprivileged_"
				    "userns") == '1',
		.profile = is_there(PROFILE),
		.root = geteuid() == 0,
		.forbidden = setting("kernel/unprivileged_userns_clone") == '0',
		.none = setting("user/max_user_namespaces") == '0',
	};
}

/* What the gate's root begins with, and a sysctl of its network. */
static void fill_words(struct arena *a, struct words *out)
{
	struct words_place usr = {.kind = WORDS_BIND,
				  .source = "/usr",
				  .target = "/usr",
				  .readonly = true};
	struct words_sysctl forward = {"net/ipv4/ip_forward", "1"};

	*out = (struct words){.folder = "/"};
	*vec_push(a, &out->places) = usr;
	*vec_push(a, &out->sysctls) = forward;
}

static int open_device(const char *path, struct err *err)
{
	auto_fd int fd = open(path, O_RDWR | O_CLOEXEC);

	return fd < 0 ? err_errno(err, path) : 0;
}

int try_start(struct arena *a, bool view, bool tap, enum try_step *out_step,
	      struct try_host *out, struct err *err)
{
	struct trial t = {.a = a, .ids = ids_own(a), .now = TRY_NAMESPACES};
	int rc = view ? open_device("/dev/fuse", err) : 0;

	look_around(out);
	*out_step = TRY_VIEW;
	if (rc < 0)
		return rc;
	fill_words(a, &t.words);
	rc = try_step(&t, &first_steps, err);
	if (rc == 0 && tap) {
		t.now = TRY_UPLINK;
		rc = try_step(&t, &steps[TRY_UPLINK], err);
	}
	*out_step = t.now;
	return rc;
}

void try_native(struct arena *a, struct str filter, struct try_report *out)
{
	struct trial t = {.a = a, .ids = ids_own(a), .filter = filter};

	*out = (struct try_report){0};
	look_around(&out->host);
	fill_words(a, &t.words);
	for (enum try_step i = 0; i < TRY_STEPS; i++) {
		struct try_result *r = &out->of[i];
		struct err err;
		int rc;

		if (steps[i].after != i &&
		    out->of[steps[i].after].state != TRY_WORKED)
			continue;
		rc = try_step(&t, &steps[i], &err);
		r->state = rc < 0 ? TRY_FAILED : TRY_WORKED;
		r->code = rc;
		r->words = rc < 0 ? arena_cstr(a, str_of(err.text)) : NULL;
	}
}
