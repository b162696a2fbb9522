#include "compiler/plan/manifest.h"

#include "compiler/base/fileio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Whether the directory may be removed: it is empty, or holds a plan of ours
 * and nothing else. A manifest.json alone proves nothing: web applications
 * have one too.
 */
static int may_replace(const char *dir, struct err *err)
{
	struct arena *a = arena_new();
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct plan p = {0};
	struct str text;
	struct dirent *e;
	DIR *d = NULL;
	int rc = 0;

	if (fd < 0 || !(d = opendir(dir))) {
		rc = err_errno(err, dir);
		goto out;
	}
	if (fileio_read(a, fd, MANIFEST_NAME, MANIFEST_BYTES, &text, err) ==
		    0 &&
	    manifest_parse(a, text, &p, err) == 0)
		vec_push(a, &p.files)->name = STR(MANIFEST_NAME);
	while (rc == 0 && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    !plan_file(&p, e->d_name))
			rc = err_set(err, -EEXIST,
				     "%s: holds '%s', which is "
				     "no part of a plan",
				     dir, e->d_name);
out:
	if (d)
		closedir(d);
	arena_free(a);
	return rc;
}

static int write_files(const char *dir, const struct plan *p, struct err *err)
{
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct arena *a;
	int rc = 0;

	if (fd < 0)
		return err_errno(err, dir);
	a = arena_new();
	vec_each(f, &p->files) {
		if (!manifest_name_ok(f->name))
			rc = err_set(err, -EINVAL,
				     "'%.*s': not a name for an "
				     "artefact",
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
 * Put the directory tmp in the place of dir, which exists. Where the system
 * cannot swap two names, dir keeps a name of its own until the new one is
 * there, and gets its old one back when that fails.
 */
static int swap(const char *tmp, const char *dir, struct err *err)
{
	char old[PATH_MAX];
	int rc;

#ifdef RENAME_EXCHANGE
	if (renameat2(AT_FDCWD, tmp, AT_FDCWD, dir, RENAME_EXCHANGE) == 0)
		return fileio_remove_tree(AT_FDCWD, tmp, err);
	if (errno != EINVAL && errno != ENOSYS)
		return err_errno(err, dir);
#endif
	if (snprintf(old, sizeof(old), "%s.old", tmp) >= (int)sizeof(old))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", tmp);
	if (rename(dir, old) < 0)
		return err_errno(err, dir);
	if (rename(tmp, dir) < 0) {
		rc = err_errno(err, dir);
		if (rename(old, dir) < 0)
			return err_while(err, "the old plan is in %s", old);
		return rc;
	}
	return fileio_remove_tree(AT_FDCWD, old, err);
}

/*
 * The directory that a name stands for: links followed, so that a rename hits
 * what they lead to; no slash at the end. *out_exists: it is there.
 */
static int target(const char *dir, char out[PATH_MAX], bool *out_exists,
		  struct err *err)
{
	size_t n = strlen(dir);

	if (realpath(dir, out)) {
		*out_exists = true;
		return 0;
	}
	if (errno != ENOENT)
		return err_errno(err, dir);
	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (n == 0 || n >= PATH_MAX - 32)
		return err_set(err, -ENAMETOOLONG,
			       "'%s': not a name for a "
			       "directory",
			       dir);
	memcpy(out, dir, n);
	out[n] = '\0';
	*out_exists = false;
	return 0;
}

int plan_write(const char *dir, const struct plan *p, struct err *err)
{
	char path[PATH_MAX], tmp[PATH_MAX];
	struct err ignored;
	bool exists;
	int rc = target(dir, path, &exists, err);

	if (rc < 0)
		return rc;
	if (exists && (rc = may_replace(path, err)) < 0)
		return rc;
	if (snprintf(tmp, sizeof(tmp), "%s.%ld.tmp", path, (long)getpid()) >=
	    (int)sizeof(tmp))
		return err_set(err, -ENAMETOOLONG, "%s: name too long", path);
	/* What a process of the same number left behind when it was killed. */
	rc = fileio_remove_tree(AT_FDCWD, tmp, err);
	if (rc < 0)
		return rc;
	if (mkdir(tmp, 0755) < 0)
		return err_errno(err, tmp);
	rc = write_files(tmp, p, err);
	if (rc == 0 && exists)
		rc = swap(tmp, path, err);
	else if (rc == 0 && rename(tmp, path) < 0)
		rc = err_errno(err, path);
	if (rc < 0 && fileio_remove_tree(AT_FDCWD, tmp, &ignored) < 0)
		return rc; /* the first error says more */
	return rc;
}
