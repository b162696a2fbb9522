/*
 * The root of a part's own: an empty file system in memory, and in it what the
 * words mount. The mounts are made by descriptor (open_tree(2), move_mount(2)),
 * so that a name which is exchanged meanwhile leads nowhere else, and only then
 * does the process go there (pivot_root(2)) and leave the host's behind.
 */
#include "runtime/launch/native/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ROOT_SIZE "16m"
#define OPEN_SIZE "50%" /* of memory: where the command may write to it */
#define DEV_SIZE  "64k"
#define SHM_SIZE  "1g"

struct root {
	struct arena *a;
	const struct ids *ids;
	int fd;
	int *shared; /* clones of those places that are; -1 for the others */
	struct err *err;
};

static int fail_at(const struct root *r, const char *path)
{
	return err_set(r->err, -errno, "%s: %s", path, strerror(errno));
}

/* --- places in it --------------------------------------------------------- */

/* Whatever links are on the way, it is below the root. */
static int open_below(const struct root *r, const char *path, uint64_t flags)
{
	struct open_how how = {.flags = flags | O_CLOEXEC,
			       .resolve = RESOLVE_IN_ROOT};

	return (int)syscall(SYS_openat2, r->fd, path, &how, sizeof(how));
}

/* The folders above a path; what is there stays as it is. */
static int make_above(const struct root *r, const char *path)
{
	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		struct str above = {path, (size_t)(p - path)};
		const char *at = arena_cstr(r->a, above);
		const char *parent = arena_cstr(r->a, str_parent(above));
		auto_fd int dir = -1, there = open_below(r, at, O_PATH);

		if (there >= 0)
			continue;
		dir = open_below(r, *parent ? parent : "/",
				 O_PATH | O_DIRECTORY);
		if (dir < 0 || mkdirat(dir, strrchr(at, '/') + 1, 0755) < 0)
			return fail_at(r, at);
	}
	return 0;
}

/* The folder that it lies in, open. */
static int open_parent(const struct root *r, const char *path)
{
	struct str parent = str_parent(str_of(path));

	return open_below(r, parent.n ? arena_cstr(r->a, parent) : "/",
			  O_PATH | O_DIRECTORY);
}

/* A folder, or an empty file, for something to be mounted on. */
static int make_point(const struct root *r, const char *path, bool is_folder,
		      int *out_fd)
{
	const char *name = strrchr(path, '/') + 1;
	auto_fd int dir = -1;
	int rc = make_above(r, path);

	if (rc < 0)
		return rc;
	*out_fd = open_below(r, path, O_PATH);
	if (*out_fd >= 0)
		return 0;
	dir = open_parent(r, path);
	/* of a root of its own: a link that leads nowhere in there */
	if (dir >= 0)
		(void)unlinkat(dir, name, 0);
	if (dir < 0 || (is_folder ? mkdirat(dir, name, 0755)
				  : mknodat(dir, name, S_IFREG | 0644, 0)) < 0)
		return fail_at(r, path);
	*out_fd = open_below(r, path, O_PATH);
	return *out_fd < 0 ? fail_at(r, path) : 0;
}

static int make_link(const struct root *r, const char *path, const char *to)
{
	auto_fd int dir = -1;
	int rc = make_above(r, path);

	if (rc < 0)
		return rc;
	dir = open_parent(r, path);
	if (dir >= 0)
		(void)unlinkat(dir, strrchr(path, '/') + 1, 0);
	if (dir < 0 || symlinkat(to, dir, strrchr(path, '/') + 1) < 0)
		return fail_at(r, path);
	return 0;
}

/* --- mounts --------------------------------------------------------------- */

static int attach(const struct root *r, int tree, const char *path,
		  bool is_folder)
{
	auto_fd int point = -1;
	int rc = make_point(r, path, is_folder, &point);

	if (rc < 0)
		return rc;
	if (move_mount(tree, "", point, "",
		       MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) < 0)
		return fail_at(r, path);
	return 0;
}

static int restrict_tree(const struct root *r, int tree, uint64_t attributes,
			 const char *path)
{
	struct mount_attr attr = {.attr_set = attributes};

	if (mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr,
			  sizeof(attr)) < 0)
		return fail_at(r, path);
	return 0;
}

int root_clone(int fd)
{
	return open_tree(fd, "",
			 OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH |
				 AT_RECURSIVE);
}

/* The same link inside leads where it leads inside. */
static int copy_link(const struct root *r, const struct words_place *p, int fd)
{
	char to[PATH_MAX];
	ssize_t n = readlinkat(fd, "", to, sizeof(to) - 1);

	if (n < 0)
		return fail_at(r, p->source);
	to[n] = '\0';
	return make_link(r, p->target, to);
}

/* Links on the way were followed before: whoever puts one there meanwhile has
 * the mount fail. */
int root_open(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
			       .resolve = RESOLVE_NO_SYMLINKS};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

/* shared: a clone that was made before; -1: it is made now. */
static int add_bind(const struct root *r, const struct words_place *p,
		    int shared, uint64_t keeps)
{
	auto_fd int fd = root_open(p->source);
	auto_fd int tree = shared;
	uint64_t attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
	struct stat st;
	int rc;

	if (fd < 0 && errno == ENOENT && p->optional)
		return 0;
	if (fd < 0 || fstat(fd, &st) < 0)
		return fail_at(r, p->source);
	if (S_ISLNK(st.st_mode))
		return copy_link(r, p, fd);
	if (tree < 0 && (tree = root_clone(fd)) < 0)
		return fail_at(r, p->source);
	if (p->readonly)
		attributes |= MOUNT_ATTR_RDONLY;
	rc = restrict_tree(r, tree, attributes & ~keeps, p->source);
	return rc < 0 ? rc : attach(r, tree, p->target, S_ISDIR(st.st_mode));
}

struct option {
	const char *key, *value;
};

/* A new file system, not yet anywhere. */
static int make_mount(const struct root *r, const char *type,
		      const struct option *options, size_t n,
		      unsigned attributes, int *out)
{
	auto_fd int fs = fsopen(type, FSOPEN_CLOEXEC);

	if (fs < 0)
		return fail_at(r, type);
	for (size_t i = 0; i < n; i++)
		if (options[i].key &&
		    (options[i].value
			     ? fsconfig(fs, FSCONFIG_SET_STRING, options[i].key,
					options[i].value, 0)
			     : fsconfig(fs, FSCONFIG_SET_FLAG, options[i].key,
					NULL, 0)) < 0)
			return fail_at(r, options[i].key);
	if (fsconfig(fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		return fail_at(r, type);
	*out = fsmount(fs, FSMOUNT_CLOEXEC, attributes);
	return *out < 0 ? fail_at(r, type) : 0;
}

static int add_tmpfs(const struct root *r, const struct words_place *p)
{
	char mode[16], uid[16], gid[16];
	struct option options[] = {
		{"mode", mode},
		{"uid", uid},
		{"gid", gid},
		{p->size ? "size" : NULL, p->size},
	};
	unsigned attributes = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
			      (p->exec ? 0 : MOUNT_ATTR_NOEXEC) |
			      (p->readonly ? MOUNT_ATTR_RDONLY : 0);
	auto_fd int tree = -1;
	int rc;

	snprintf(mode, sizeof(mode), "%o", p->mode);
	snprintf(uid, sizeof(uid), "%lu",
		 (unsigned long)ids_user(r->ids, p->uid));
	snprintf(gid, sizeof(gid), "%lu",
		 (unsigned long)ids_group(r->ids, p->gid));
	rc = make_mount(r, "tmpfs", options, ARRAY_LEN(options), attributes,
			&tree);
	return rc < 0 ? rc : attach(r, tree, p->target, true);
}

static int add_place(const struct root *r, const struct words_place *p,
		     int shared)
{
	switch (p->kind) {
	case WORDS_BIND:
		return add_bind(r, p, shared, 0);
	case WORDS_TMPFS:
		return add_tmpfs(r, p);
	}
	abort();
}

/* --- /dev ----------------------------------------------------------------- */

static int add_device(const struct root *r, const char *path)
{
	struct words_place p = {
		.kind = WORDS_BIND, .source = path, .target = path};

	return add_bind(r, &p, -1, MOUNT_ATTR_NODEV);
}

static int add_terminals(const struct root *r)
{
	static const struct option options[] = {
		{"newinstance", NULL}, {"ptmxmode", "0666"}, {"mode", "0620"}};
	auto_fd int tree = -1;
	int rc = make_mount(r, "devpts", options, ARRAY_LEN(options),
			    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, &tree);

	return rc < 0 ? rc : attach(r, tree, "/dev/pts", true);
}

/* Nothing is made in it any more; what is mounted in it stays as it is. */
static int close_mount(const struct root *r, const char *path)
{
	struct mount_attr attr = {.attr_set = MOUNT_ATTR_RDONLY};
	auto_fd int fd = open_below(r, path, O_PATH);

	if (fd < 0 ||
	    mount_setattr(fd, "", AT_EMPTY_PATH, &attr, sizeof(attr)) < 0)
		return fail_at(r, path);
	return 0;
}

static int add_devices(const struct root *r, bool fuse)
{
	static const struct words_place dev = {.kind = WORDS_TMPFS,
					       .target = "/dev",
					       .mode = 0755,
					       .size = DEV_SIZE},
					shm = {.kind = WORDS_TMPFS,
					       .target = "/dev/shm",
					       .mode = 01777,
					       .exec = true,
					       .size = SHM_SIZE};
	static const char *const nodes[] = {"/dev/null",    "/dev/zero",
					    "/dev/full",    "/dev/random",
					    "/dev/urandom", "/dev/tty"};
	static const struct option links[] = {
		{"/dev/fd", "/proc/self/fd"},
		{"/dev/stdin", "/proc/self/fd/0"},
		{"/dev/stdout", "/proc/self/fd/1"},
		{"/dev/stderr", "/proc/self/fd/2"},
		{"/dev/ptmx", "pts/ptmx"},
	};
	int rc = add_tmpfs(r, &dev);

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(nodes); i++)
		rc = add_device(r, nodes[i]);
	if (rc == 0 && fuse)
		rc = add_device(r, "/dev/fuse");
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(links); i++)
		rc = make_link(r, links[i].key, links[i].value);
	if (rc == 0)
		rc = add_terminals(r);
	if (rc == 0)
		rc = add_tmpfs(r, &shm);
	return rc == 0 ? close_mount(r, "/dev") : rc;
}

/* Both ends of a new terminal are the new root's. */
static int open_terminal(const struct root *r, int *out)
{
	int unlock = 0, fd = open_below(r, "/dev/pts/ptmx", O_RDWR | O_NOCTTY);

	if (fd < 0 || ioctl(fd, TIOCSPTLCK, &unlock) < 0)
		return fail_at(r, "/dev/pts/ptmx");
	*out = fd;
	return 0;
}

/* --- /proc ---------------------------------------------------------------- */

/* As Docker has them: what shows the machine's memory, keys or hardware, and
 * what would change the machine. */
static const char *const proc_hidden[] = {
	"/proc/acpi",	     "/proc/asound", "/proc/interrupts",
	"/proc/kcore",	     "/proc/keys",   "/proc/latency_stats",
	"/proc/sched_debug", "/proc/scsi",   "/proc/timer_list",
	"/proc/timer_stats",
};
static const char *const proc_readonly[] = {"/proc/bus", "/proc/fs",
					    "/proc/irq", "/proc/sys",
					    "/proc/sysrq-trigger"};

static int hide(const struct root *r, const char *path)
{
	struct words_place empty = {.kind = WORDS_TMPFS,
				    .target = path,
				    .mode = 0555,
				    .readonly = true,
				    .size = "0"},
			   null = {.kind = WORDS_BIND,
				   .source = "/dev/null",
				   .target = path};
	auto_fd int fd = open_below(r, path, O_PATH);
	struct stat st;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) < 0)
		return fail_at(r, path);
	return S_ISDIR(st.st_mode) ? add_tmpfs(r, &empty)
				   : add_bind(r, &null, -1, MOUNT_ATTR_NODEV);
}

static int make_readonly(const struct root *r, const char *path)
{
	auto_fd int fd = open_below(r, path, O_PATH), tree = -1;
	struct stat st;
	int rc;

	if (fd < 0)
		return 0;
	tree = root_clone(fd);
	if (tree < 0 || fstat(fd, &st) < 0)
		return fail_at(r, path);
	rc = restrict_tree(r, tree, MOUNT_ATTR_RDONLY, path);
	return rc < 0 ? rc : attach(r, tree, path, S_ISDIR(st.st_mode));
}

static int add_proc(const struct root *r, const struct words *w)
{
	auto_fd int tree = -1;
	int rc = make_mount(r, "proc", NULL, 0,
			    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV |
				    MOUNT_ATTR_NOEXEC,
			    &tree);

	if (rc < 0)
		return err_set(
			r->err, rc,
			"a /proc of the session's own: %s (this machine's is partly covered, as in a container: start that with --security-opt systempaths=unconfined)",
			strerror(-rc));
	rc = attach(r, tree, "/proc", true);
	if (rc == 0)
		rc = rights_sysctls(w, r->fd, r->err);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(proc_hidden); i++)
		rc = hide(r, proc_hidden[i]);
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(proc_readonly); i++)
		rc = make_readonly(r, proc_readonly[i]);
	return rc;
}

/* --- all ------------------------------------------------------------------ */

/*
 * A folder of the host's in the place of an empty root, to be read: above it is
 * what is in memory, for the places where something is mounted. The folder is
 * opened once; that it is not another one meanwhile is the descriptor's.
 */
static int put_under(struct root *r, const char *folder)
{
	char lower[32], upper[32], work[32];
	struct option options[] = {{"lowerdir", lower},
				   {"upperdir", upper},
				   {"workdir", work},
				   {"userxattr", NULL}};
	auto_fd int under = root_open(folder);
	auto_fd int above = r->fd;
	int rc;

	r->fd = -1;
	if (under < 0)
		return fail_at(r, folder);
	if (mkdirat(above, "upper", 0755) < 0 ||
	    mkdirat(above, "work", 0755) < 0)
		return fail_at(r, folder);
	snprintf(lower, sizeof(lower), "/proc/self/fd/%d", under);
	snprintf(upper, sizeof(upper), "/proc/self/fd/%d/upper", above);
	snprintf(work, sizeof(work), "/proc/self/fd/%d/work", above);
	rc = make_mount(r, "overlay", options, ARRAY_LEN(options),
			MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &r->fd);
	if (rc < 0)
		return err_while(r->err, "%s as a root", folder);
	if (move_mount(r->fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fail_at(r, folder);
	return 0;
}

static bool stays_open(const struct words *w)
{
	return w->root && !w->read_only;
}

static int open_root(struct root *r, const struct words *w)
{
	const struct option options[] = {
		{"mode", "0755"},
		{"size", stays_open(w) ? OPEN_SIZE : ROOT_SIZE}};
	int rc = make_mount(r, "tmpfs", options, ARRAY_LEN(options),
			    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, &r->fd);

	if (rc < 0)
		return rc;
	/* Over the root, where no name leads to it: those of the host still
	 * lead where they did. */
	if (move_mount(r->fd, "", AT_FDCWD, "/", MOVE_MOUNT_F_EMPTY_PATH) < 0)
		return fail_at(r, "/");
	return w->root ? put_under(r, w->root) : 0;
}

static int go_there(const struct root *r, const struct words *w)
{
	int rc = stays_open(w) ? 0 : close_mount(r, "/");

	if (rc < 0)
		return rc;
	if (fchdir(r->fd) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
	    umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return fail_at(r, "the new root");
	return 0;
}

static int add_places(struct root *r, const struct words *w)
{
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && i < w->places.n; i++) {
		rc = add_place(r, &w->places.v[i], r->shared[i]);
		r->shared[i] = -1; /* its descriptor was closed */
	}
	return rc;
}

/*
 * A clone of what is shared is shared: it is made first. Nothing else passes
 * on: when the host's tree is left behind, that is no end of anybody's mounts.
 */
static int leave_others(struct root *r, const struct words *w)
{
	r->shared = arena_array(r->a, w->places.n, sizeof(*r->shared));
	for (uint32_t i = 0; i < w->places.n; i++) {
		const struct words_place *p = &w->places.v[i];
		auto_fd int fd = p->shared ? root_open(p->source) : -1;

		r->shared[i] = fd < 0 ? -1 : root_clone(fd);
		if (p->shared && r->shared[i] < 0)
			return fail_at(r, p->source);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return fail_at(r, "/");
	return 0;
}

int root_share(const struct words *w, struct err *err)
{
	vec_each(p, &w->places) {
		if (!p->shared)
			continue;
		if (mount(p->source, p->source, NULL, MS_BIND, NULL) < 0 ||
		    mount(NULL, p->source, NULL, MS_SHARED, NULL) < 0)
			return err_errno(err, p->source);
	}
	return 0;
}

static int begin_root(struct root *r, const struct words *w)
{
	int rc = leave_others(r, w);

	if (rc == 0)
		rc = open_root(r, w);
	return rc == 0 ? add_devices(r, w->fuse) : rc;
}

int root_enter(struct arena *a, const struct words *w, const struct ids *ids,
	       int *terminal, struct err *err)
{
	struct root r = {.a = a, .ids = ids, .fd = -1, .err = err};
	int rc = begin_root(&r, w);

	if (rc == 0)
		rc = add_proc(&r, w);
	if (rc == 0)
		rc = add_places(&r, w);
	if (rc == 0)
		rc = masks_attach(w, r.fd, err);
	if (rc == 0 && terminal)
		rc = open_terminal(&r, terminal);
	if (rc == 0)
		rc = go_there(&r, w);
	fd_close(&r.fd);
	return rc;
}

int root_try(struct arena *a, const struct words *w, const struct ids *ids,
	     struct err *err)
{
	struct root r = {.a = a, .ids = ids, .fd = -1, .err = err};
	int rc = begin_root(&r, w);

	if (rc == 0)
		rc = add_places(&r, w);
	if (rc == 0)
		rc = go_there(&r, w);
	fd_close(&r.fd);
	return rc;
}
