#include "runtime/launch/view/mounted.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/mounts/place.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FOLDER	  "view"
#define POINT	  FOLDER "/" DOCKER_JSON_VIEW_MOUNT
#define HOME	  FOLDER "/" DOCKER_JSON_VIEW_HOME
#define LAYERS	  64	/* mounts on top of each other */
#define HELPER_MS 30000 /* a container that takes them away */

static int share_folder(const char *folder, struct err *err)
{
	if (mount(folder, folder, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, folder, NULL, MS_SHARED, NULL) < 0)
		return err_errno(err, folder);
	return 0;
}

int mounted_prepare(struct arena *a, const struct session *s, bool shares,
		    struct err *err)
{
	const char *folder = arena_fmt(a, "%s/" FOLDER, s->dir).p;
	int rc = fileio_mkdir(AT_FDCWD, folder, 0711, err);

	/* whatever our umask is; the folder above is ours alone */
	if (rc >= 0 && chmod(folder, 0711) < 0)
		rc = err_errno(err, folder);
	if (rc >= 0)
		rc = fileio_mkdir(AT_FDCWD, arena_fmt(a, "%s/" POINT, s->dir).p,
				  0700, err);
	if (rc >= 0 && shares)
		rc = share_folder(folder, err);
	return rc < 0 ? rc : 0;
}

int mounted_prepare_home(struct arena *a, const struct session *s,
			 struct err *err)
{
	int rc = fileio_mkdir(AT_FDCWD, arena_fmt(a, "%s/" HOME, s->dir).p,
			      0700, err);

	return rc < 0 ? rc : 0;
}

/* The mount that a path is on, as the kernel writes it. */
static const char *mount_above(struct arena *a, const char *path)
{
	mountinfo_list own = {0};
	struct str best = STR("/");
	struct err ignored;

	if (place_mounts(a, "self", &own, &ignored) == 0)
		vec_each(m, &own)
			if (m->at.n > best.n &&
			    (str_is(m->at, path) ||
			     wspath_below(str_of(path), m->at)))
				best = m->at;
	return wspath_show(a, best);
}

int mounted_open(struct arena *a, const char *folder, const char *point,
		 int *out_fd, struct err *err)
{
	auto_fd int above = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd =
		above < 0
			? -1
			: openat(above, point,
				 O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	char real[PATH_MAX];

	if (fd >= 0 && fileio_is_mount(above, fd)) {
		*out_fd = fd;
		return 0;
	}
	fd_close(&fd);
	return err_set(
		err, -ENOTSUP,
		"the view of the workspace does not appear in %s: Docker runs elsewhere, or nothing that is mounted there passes on (mount --make-rshared %s); or 'masks: start' in the policy, which needs no view",
		folder, mount_above(a, realpath(folder, real) ? real : folder));
}

/* --- taking it away ------------------------------------------------------- */

/* What is mounted in the folder or on it now, whatever it is. */
static bool is_mounted(struct arena *a, const char *real)
{
	mountinfo_list own = {0};
	struct err ignored;

	if (place_mounts(a, "self", &own, &ignored) < 0)
		return false;
	vec_each(m, &own)
		if (str_is(m->at, real) || wspath_below(m->at, str_of(real)))
			return true;
	return false;
}

/* Until it has ended, for a bounded time. What it says nobody reads. */
static int wait_for(pid_t pid, int out, struct err *err)
{
	struct pollfd p = {.fd = out, .events = POLLIN};
	int64_t until = clock_ms() + HELPER_MS;
	char text[1024];
	int status = 0;

	while (p.fd >= 0 && clock_ms() < until)
		if (poll(&p, 1, 100) > 0)
			(void)proc_read(&p.fd, text, sizeof(text));
	if (p.fd >= 0)
		kill(pid, SIGKILL);
	fd_close(&p.fd);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return proc_status(status) == 0
		       ? 0
		       : err_set(err, -EIO,
				 "a container that was to take away what is mounted there failed");
}

static int run_helper(char *const *argv, struct err *err)
{
	auto_fd int null = open("/dev/null", O_RDONLY | O_CLOEXEC), said = -1;
	int out = -1, rc = null < 0 ? err_errno(err, "/dev/null") : 0;
	pid_t pid = 0;

	if (rc == 0)
		rc = proc_pipe(&out, &said, err);
	if (rc == 0)
		rc = proc_nonblock(out, err);
	if (rc == 0)
		rc = proc_spawn(&(struct proc_opts){.argv = argv,
						    .group = PROC_SESSION,
						    .in = null,
						    .out = said,
						    .err = said,
						    .keep = -1},
				&pid, err);
	fd_close(&said); /* its end is the helper's alone */
	if (rc == 0)
		return wait_for(pid, out, err);
	fd_close(&out);
	return rc;
}

/* As a field of CSV, which is what `--mount` reads. */
static const char *quoted(struct arena *a, const char *path)
{
	struct buf b;

	buf_init(&b, a);
	for (; *path; path++)
		buf_adds(&b, *path == '"' ? "\"\"" : (char[]){*path, '\0'});
	return buf_str(&b).p;
}

/* A user's way: in a container, from which that passes on. */
static int ask_docker(struct arena *a, const char *real, struct err *err)
{
	const char *words[] = {
		"docker",
		"run",
		"--rm",
		"--network=none",
		"--read-only",
		"--cap-drop=ALL",
		"--cap-add=SYS_ADMIN",
		"--security-opt=no-new-privileges",
		"--security-opt=apparmor=unconfined",
		"--mount",
		arena_fmt(
			a,
			"type=bind,\"source=%s\",target=/view,bind-propagation=rshared",
			quoted(a, real))
			.p,
		DOCKER_JSON_IMAGE_VIEW,
		"--unmount",
		"/view/" DOCKER_JSON_VIEW_MOUNT,
		"/view/" DOCKER_JSON_VIEW_HOME,
		NULL};
	char *argv[ARRAY_LEN(words)] = {NULL};

	for (size_t i = 0; words[i]; i++)
		argv[i] = arena_cstr(a, str_of(words[i]));
	return run_helper(argv, err);
}

static int unmount_all(struct arena *a, const char *real, struct err *err)
{
	/* the folder itself last */
	static const char *const points[] = {"/" DOCKER_JSON_VIEW_MOUNT,
					     "/" DOCKER_JSON_VIEW_HOME, ""};

	if (geteuid() != 0)
		return ask_docker(a, real, err);
	for (size_t p = 0; p < ARRAY_LEN(points); p++) {
		const char *at = arena_fmt(a, "%s%s", real, points[p]).p;

		for (int i = 0; i < LAYERS; i++)
			if (umount2(at, MNT_DETACH | UMOUNT_NOFOLLOW) < 0)
				break;
	}
	return 0;
}

int mounted_remove(struct arena *a, const struct session *s, struct err *err)
{
	const char *folder = arena_fmt(a, "%s/" FOLDER, s->dir).p;
	char real[PATH_MAX];
	int rc = 0;

	if (!realpath(folder, real))
		return errno == ENOENT ? 0 : err_errno(err, folder);
	if (is_mounted(a, real))
		rc = unmount_all(a, real, err);
	if (rc < 0)
		return err_while(err, "%s", folder);
	if (is_mounted(a, real))
		return err_set(err, -EBUSY,
			       "%s/workspace is still mounted (umount -l %s/*)",
			       real, real);
	/* no more than what was made */
	rmdir(arena_fmt(a, "%s/" POINT, s->dir).p);
	rmdir(arena_fmt(a, "%s/" HOME, s->dir).p);
	rmdir(folder);
	return 0;
}
