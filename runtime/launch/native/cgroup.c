#include "runtime/launch/native/cgroup.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX  (1u << 20)
#define RECORD	  "cgroup" /* in the session's folder: where it is */
#define NAME	  "membrane-"
#define PERIOD_US 100000u
#define END_TRIES 20
#define END_MS	  50 /* each, for the last of its processes to be gone */

/* --- pure ----------------------------------------------------------------- */

static bool is_whole_mount(struct str line, struct str *out)
{
	struct str word, root = {0}, at = {0};

	for (int i = 0; str_field(&line, ' ', &word); i++) {
		if (i == 3)
			root = word;
		if (i == 4)
			at = word;
		if (i > 5 && str_is(word, "-"))
			break;
	}
	*out = at;
	return str_field(&line, ' ', &word) && str_is(word, "cgroup2") &&
	       str_is(root, "/") && !memchr(at.p, '\\', at.n);
}

struct str cgroup_mount(struct str mounts)
{
	struct str line, at;

	while (str_line(&mounts, &line))
		if (is_whole_mount(line, &at))
			return at;
	return STR("");
}

struct str cgroup_own(struct str groups)
{
	static const struct str mine = STR_INIT("0::");
	struct str line;

	while (str_line(&groups, &line))
		if (str_starts(line, mine))
			return str_slice(line, mine.n, line.n);
	return STR("");
}

bool cgroup_has(struct str words, const char *controller)
{
	struct str line, word;

	if (!str_line(&words, &line))
		return false;
	while (str_field(&line, ' ', &word))
		if (str_is(word, controller))
			return true;
	return false;
}

uint64_t cgroup_count(struct str events, const char *name)
{
	struct str line, word;
	uint64_t n;

	while (str_line(&events, &line))
		if (str_field(&line, ' ', &word) && str_is(word, name) &&
		    str_u64(line, UINT64_MAX, &n))
			return n;
	return 0;
}

/* --- one group ------------------------------------------------------------ */

static int put_text(int dir, const char *name, const char *text,
		    struct err *err)
{
	auto_fd int fd = openat(dir, name, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return err_errno(err, name);
	return 0;
}

/* Of those that the limits take, and "pids" beside them where it is to be had.
 */
static int enable(struct arena *a, int dir, const struct cgroup_limits *l,
		  bool *out_pids, struct err *err)
{
	const char *wanted[] = {l->memory ? "memory" : NULL,
				l->cpus_milli ? "cpu" : NULL,
				l->processes ? "pids" : NULL};
	struct str has, on;
	int rc = fileio_read(a, dir, "cgroup.controllers", FILE_MAX, &has, err);

	*out_pids = false;
	if (rc == 0)
		rc = fileio_read(a, dir, "cgroup.subtree_control", FILE_MAX,
				 &on, err);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(wanted); i++) {
		bool is_pids = i == 2;

		if (!wanted[i] || (is_pids && !cgroup_has(has, wanted[i])))
			continue;
		if (!cgroup_has(has, wanted[i]))
			return err_set(err, -ENOTSUP,
				       "it has no controller '%s'", wanted[i]);
		if (!cgroup_has(on, wanted[i]))
			rc = put_text(dir, "cgroup.subtree_control",
				      arena_fmt(a, "+%s", wanted[i]).p, err);
		*out_pids |= is_pids && rc == 0;
	}
	return rc;
}

static int limit_group(struct arena *a, int dir, const struct cgroup_limits *l,
		       bool pids, struct err *err)
{
	struct err none;
	int rc = 0;

	if (l->memory)
		rc = put_text(
			dir, "memory.max",
			arena_fmt(a, "%llu", (unsigned long long)l->memory).p,
			err);
	/* where there is swap: else the limit would only slow it down */
	if (rc == 0 && l->memory &&
	    put_text(dir, "memory.swap.max", "0", &none) < 0 &&
	    none.code != -ENOENT)
		return *err = none, none.code;
	if (rc == 0 && l->cpus_milli)
		rc = put_text(dir, "cpu.max",
			      arena_fmt(a, "%llu %u",
					(unsigned long long)l->cpus_milli *
						(PERIOD_US / 1000),
					PERIOD_US)
				      .p,
			      err);
	if (rc == 0 && pids)
		rc = put_text(dir, "pids.max",
			      arena_fmt(a, "%u", l->processes).p, err);
	return rc;
}

static int make_below(struct arena *a, const char *parent, const char *name,
		      const struct cgroup_limits *l, int *out_procs,
		      struct err *err)
{
	auto_fd int dir = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	auto_fd int own = -1;
	bool pids;
	int rc;

	if (dir < 0)
		return err_errno(err, parent);
	rc = enable(a, dir, l, &pids, err);
	if (rc < 0)
		return err_while(err, "%s", parent);
	if (mkdirat(dir, name, 0755) < 0)
		return err_errno(err, parent);
	own = openat(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	rc = own < 0 ? err_errno(err, name) : limit_group(a, own, l, pids, err);
	if (rc == 0) {
		*out_procs = openat(own, "cgroup.procs", O_WRONLY | O_CLOEXEC);
		if (*out_procs >= 0)
			return 0;
		rc = err_errno(err, "cgroup.procs");
	}
	unlinkat(dir, name, AT_REMOVEDIR);
	return err_while(err, "%s", parent);
}

/* --- which ---------------------------------------------------------------- */

/* From the one that this process is in upwards: below that itself there is none
 * while anybody is in it. What the nearest one says counts. */
static int make_above(struct arena *a, struct str mount, struct str own,
		      const char *name, const struct cgroup_limits *l,
		      const char **out_path, int *out_procs, struct err *err)
{
	struct err first = {0};

	for (;; own = str_parent(own)) {
		const char *parent =
			arena_fmt(a, "%.*s%.*s", STR_ARG(mount),
				  own.n == 1 ? 0 : (int)own.n, own.p)
				.p;
		int rc = make_below(a, parent, name, l, out_procs, err);

		if (rc == 0) {
			*out_path = arena_fmt(a, "%s/%s", parent, name).p;
			return 0;
		}
		if (!first.code)
			first = *err;
		if (own.n <= 1)
			break;
	}
	*err = first;
	return first.code;
}

/* Below the nearest that can have it. */
static int make_nearest(struct arena *a, const char *name,
			const struct cgroup_limits *l, const char **out_path,
			int *out_procs, struct err *err)
{
	struct str mounts, groups, mount, own;
	int rc = fileio_read(a, AT_FDCWD, "/proc/self/mountinfo", FILE_MAX,
			     &mounts, err);

	if (rc == 0)
		rc = fileio_read(a, AT_FDCWD, "/proc/self/cgroup", FILE_MAX,
				 &groups, err);
	if (rc < 0)
		return rc;
	mount = cgroup_mount(mounts);
	own = cgroup_own(groups);
	if (!mount.n || !str_starts(own, STR("/")))
		return err_set(
			err, -ENOTSUP,
			"this machine has no control groups of version 2");
	return make_above(a, mount, own, name, l, out_path, out_procs, err);
}

int cgroup_make(struct arena *a, const char *dir, const struct cgroup_limits *l,
		int *out_procs, struct err *err)
{
	const char *name = arena_fmt(a, NAME "%s", strrchr(dir, '/') + 1).p;
	const char *path;
	int procs, rc = make_nearest(a, name, l, &path, &procs, err);

	if (rc < 0)
		return rc;
	rc = fileio_write(AT_FDCWD, arena_fmt(a, "%s/" RECORD, dir).p,
			  str_of(path), 0600, err);
	if (rc == 0) {
		*out_procs = procs;
		return 0;
	}
	fd_close(&procs);
	rmdir(path);
	return rc;
}

int cgroup_try(struct arena *a, struct err *err)
{
	static const struct cgroup_limits some = {.memory = 1 << 30,
						  .cpus_milli = 1000};
	const char *name = arena_fmt(a, NAME "try-%ld", (long)getpid()).p;
	const char *path;
	int procs, rc = make_nearest(a, name, &some, &path, &procs, err);

	if (rc < 0)
		return rc;
	fd_close(&procs);
	return rmdir(path) < 0 ? err_errno(err, path) : 0;
}

/* Where the session's group is; false: it has none. */
static bool read_record(struct arena *a, const char *dir, struct str *out)
{
	struct err ignored;

	return fileio_read(a, AT_FDCWD, arena_fmt(a, "%s/" RECORD, dir).p,
			   PATH_MAX, out, &ignored) == 0;
}

uint64_t cgroup_killed(struct arena *a, const char *dir)
{
	struct err ignored;
	struct str path, events;

	if (!read_record(a, dir, &path) ||
	    fileio_read(a, AT_FDCWD,
			arena_fmt(a, "%.*s/memory.events", STR_ARG(path)).p,
			FILE_MAX, &events, &ignored) < 0)
		return 0;
	return cgroup_count(events, "oom_kill");
}

/* An empty folder at most: what stands in the record is this user's. */
static void remove_group(const char *path)
{
	auto_fd int events = -1;
	char name[PATH_MAX];

	snprintf(name, sizeof(name), "%s/cgroup.events", path);
	events = open(name, O_RDONLY | O_CLOEXEC);
	for (int i = 0; i < END_TRIES; i++) {
		struct pollfd p = {events, POLLPRI, 0};

		if (rmdir(path) == 0 || errno != EBUSY)
			return;
		poll(&p, 1, END_MS);
		ignore(pread(events, name, sizeof(name), 0));
	}
}

void cgroup_end(const char *dir)
{
	struct arena *a = arena_new();
	struct str path;

	if (read_record(a, dir, &path)) {
		remove_group(arena_cstr(a, path));
		unlink(arena_fmt(a, "%s/" RECORD, dir).p);
	}
	arena_free(a);
}
