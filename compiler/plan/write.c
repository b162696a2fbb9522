/* A plan written into a folder: whole, or not at all. */
#include "compiler/plan/manifest.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/pathwalk.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The place of a plan: what is above it is open. */
struct spot {
	int dir_fd;
	const char *name;
	const char *shown; /* the path, for messages */
};

static int open_folder(const struct spot *at, const char *name, struct err *err)
{
	int fd = openat(at->dir_fd, name,
			O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd < 0 ? err_errno(err, at->shown) : fd;
}

/*
 * Whether the directory may be removed: it is empty, or holds a plan of ours
 * and nothing else. A manifest.json alone proves nothing: web applications
 * have one too.
 */
static int may_replace(const struct spot *at, struct err *err)
{
	struct arena *a = arena_new();
	auto_fd int fd = open_folder(at, at->name, err);
	int copy = fd < 0 ? -1 : dup(fd);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);
	struct plan p = {0};
	struct str text;
	struct dirent *e;
	int rc = fd < 0 ? fd : 0;

	if (rc == 0 && !d) {
		rc = err_errno(err, at->shown);
		fd_close(&copy);
	}
	if (rc == 0 &&
	    fileio_read(a, fd, MANIFEST_NAME, MANIFEST_BYTES, &text, err) ==
		    0 &&
	    manifest_parse(a, text, &p, err) == 0)
		vec_push(a, &p.files)->name = STR(MANIFEST_NAME);
	while (rc == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    !plan_file(&p, e->d_name))
			rc = err_set(
				err, -EEXIST,
				"%s: holds '%s', which is no part of a plan",
				at->shown, e->d_name);
	if (d)
		closedir(d);
	arena_free(a);
	return rc;
}

static int write_files(const struct spot *at, const char *name,
		       const struct plan *p, struct err *err)
{
	auto_fd int fd = open_folder(at, name, err);
	struct arena *a;
	int rc = 0;

	if (fd < 0)
		return fd;
	a = arena_new();
	vec_each(f, &p->files) {
		if (!manifest_name_ok(f->name))
			rc = err_set(err, -EINVAL,
				     "'%.*s': not a name for an artefact",
				     STR_ARG(f->name));
		if (rc == 0)
			rc = fileio_write(fd, arena_cstr(a, f->name), f->data,
					  0644, err);
	}
	if (rc == 0)
		rc = fileio_write(fd, MANIFEST_NAME, plan_manifest(a, p), 0644,
				  err);
	arena_free(a);
	return rc;
}

/*
 * Put the directory tmp in the place of the one that is there. Where the system
 * cannot swap two names, that keeps a name of its own until the new one is
 * there, and gets its old one back when that fails.
 */
static int swap_folders(const struct spot *at, const char *tmp, struct err *err)
{
	char old[NAME_MAX + 1];
	int rc;

#ifdef RENAME_EXCHANGE
	if (renameat2(at->dir_fd, tmp, at->dir_fd, at->name, RENAME_EXCHANGE) ==
	    0)
		return fileio_remove_tree(at->dir_fd, tmp, err);
	if (errno != EINVAL && errno != ENOSYS)
		return err_errno(err, at->shown);
#endif
	if (snprintf(old, sizeof(old), "%s.old", tmp) >= (int)sizeof(old))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", tmp);
	if (renameat(at->dir_fd, at->name, at->dir_fd, old) < 0)
		return err_errno(err, at->shown);
	if (renameat(at->dir_fd, tmp, at->dir_fd, at->name) < 0) {
		rc = err_errno(err, at->shown);
		if (renameat(at->dir_fd, old, at->dir_fd, at->name) < 0)
			return err_while(err, "the old plan is in %s", old);
		return rc;
	}
	return fileio_remove_tree(at->dir_fd, old, err);
}

static int write_there(const struct spot *at, bool exists, const char *tmp,
		       const struct plan *p, struct err *err)
{
	int rc = fileio_mkdir(at->dir_fd, tmp, 0755, err);

	if (rc >= 0)
		rc = write_files(at, tmp, p, err);
	if (rc == 0 && exists)
		rc = swap_folders(at, tmp, err);
	else if (rc == 0 && renameat(at->dir_fd, tmp, at->dir_fd, at->name) < 0)
		rc = err_errno(err, at->shown);
	return rc;
}

int plan_write_at(int dirfd, const char *name, const char *shown,
		  const struct plan *p, struct err *err)
{
	struct spot at = {dirfd, name, shown};
	char tmp[NAME_MAX + 1];
	struct err ignored;
	struct stat st;
	bool exists = fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
	int rc = exists ? may_replace(&at, err) : 0;

	if (rc < 0)
		return rc;
	if (snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", name, (long)getpid()) >=
	    (int)sizeof(tmp))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", shown);
	/* What a process of the same number left behind when it was killed. */
	rc = fileio_remove_tree(dirfd, tmp, err);
	if (rc < 0)
		return rc;
	rc = write_there(&at, exists, tmp, p, err);
	if (rc < 0) /* whose error says more than that of the cleaning up */
		ignore(fileio_remove_tree(dirfd, tmp, &ignored));
	return rc;
}

/* Everybody's own path: it means what it means to any program. */
static int allow_link(void *ctx, int dirfd, struct str path, struct err *err)
{
	(void)ctx, (void)dirfd, (void)path, (void)err;
	return 0;
}

int plan_write(const char *dir, const struct plan *p, struct err *err)
{
	static const struct pathwalk w = {.on_link = allow_link};
	struct arena *a = arena_new();
	struct pathwalk_end at;
	int rc = pathwalk_find(a, &w, AT_FDCWD, dir, &at, err);

	if (rc == 0) {
		rc = plan_write_at(at.dir_fd, at.name, dir, p, err);
		fd_close(&at.dir_fd);
	}
	arena_free(a);
	return rc;
}
