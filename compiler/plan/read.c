/* A plan read back from its folder, as its manifest says. */
#include "compiler/plan/manifest.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int read_file(void *ctx, struct arena *a, struct str name,
		     struct str *out_data, struct err *err)
{
	const int *dirfd = ctx;
	int rc =
		fileio_read(a, *dirfd, name.p, LIMIT_PLAN_BYTES, out_data, err);

	if (rc == -ENOENT)
		return err_set(err, -EPROTO, "%s: missing", name.p);
	return rc;
}

/* Nothing may lie in the directory that the manifest does not speak of. */
static int no_extra(int fd, const struct plan *p, struct err *err)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *e;
	int rc = 0;

	if (!dir) {
		rc = err_set(err, -errno, "%s", strerror(errno));
		fd_close(&copy);
		return rc;
	}
	while (rc == 0 && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    strcmp(e->d_name, MANIFEST_NAME) &&
		    !plan_file(p, e->d_name))
			rc = err_set(err, -EPROTO, "%s: not of this plan",
				     e->d_name);
	closedir(dir);
	return rc;
}

static int read_at(struct arena *a, int fd, struct plan *out, struct err *err)
{
	struct plan p;
	struct str text;
	int rc = fileio_read(a, fd, MANIFEST_NAME, MANIFEST_BYTES, &text, err);

	if (rc == 0)
		rc = manifest_open(a, text, read_file, &fd, &p, err);
	if (rc == 0)
		rc = no_extra(fd, &p, err);
	if (rc == 0)
		*out = p;
	return rc;
}

int plan_read(struct arena *a, const char *dir, struct plan *out_plan,
	      struct err *err)
{
	auto_fd int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set(err, -errno, "%s: %s", dir, strerror(errno));
	if (read_at(a, fd, out_plan, err) < 0)
		return err_while(err, "%s", dir);
	return 0;
}
