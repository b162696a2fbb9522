#include "compiler/base/sys/outfile.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

static bool is_agents(const struct outfile_rule *rule, int dirfd)
{
	return !rule->is_agents || rule->is_agents(rule->ctx, dirfd);
}

static int judge_link(void *ctx, int dirfd, struct str path, struct err *err)
{
	if (!is_agents(ctx, dirfd))
		return 0;
	return err_set(
		err, -ELOOP,
		"%.*s is a symbolic link in a folder that an agent writes to, so nothing is written through it: remove it, or name the place that it leads to",
		STR_ARG(path));
}

int outfile_find(struct arena *a, const struct outfile_rule *rule, int dirfd,
		 const char *path, unsigned make, struct pathwalk_end *out,
		 struct err *err)
{
	struct pathwalk w = {.on_link = judge_link,
			     .ctx = (void *)(uintptr_t)rule,
			     .make = make};

	return pathwalk_find(a, &w, dirfd, path, out, err);
}

/* A new one in the place of whatever has the name. */
static int replace_file(struct arena *a, const struct pathwalk_end *at,
			unsigned mode, int *out_fd, struct err *err)
{
	const char *tmp =
		arena_fmt(a, "%s.%ld.tmp", at->name, (long)getpid()).p;
	auto_fd int fd = -1;

	if (at->exists && !S_ISREG(at->st.st_mode))
		return err_set(
			err, -EINVAL,
			"%.*s is no file, and in a folder that an agent writes to: remove it, or name another place",
			STR_ARG(at->path));
	fd = fileio_create(at->dir_fd, tmp, O_WRONLY | O_EXCL, mode);
	if (fd < 0 && errno == EEXIST && unlinkat(at->dir_fd, tmp, 0) == 0)
		fd = fileio_create(at->dir_fd, tmp, O_WRONLY | O_EXCL, mode);
	if (fd < 0)
		return err_errno(err, arena_cstr(a, at->path));
	if (renameat(at->dir_fd, tmp, at->dir_fd, at->name) < 0) {
		err_errno(err, arena_cstr(a, at->path));
		unlinkat(at->dir_fd, tmp, 0);
		return err->code;
	}
	*out_fd = fd;
	fd = -1;
	return 0;
}

static int open_there(struct arena *a, const struct pathwalk_end *at,
		      unsigned mode, int *out_fd, struct err *err)
{
	int how = at->special ? 0 : O_CREAT | O_TRUNC | O_NOFOLLOW;

	*out_fd = openat(at->dir_fd, at->name,
			 O_WRONLY | O_NOCTTY | O_CLOEXEC | how, mode);
	return *out_fd < 0 ? err_errno(err, arena_cstr(a, at->path)) : 0;
}

int outfile_open(struct arena *a, const struct outfile_rule *rule, int dirfd,
		 const char *path, unsigned mode, int *out_fd, struct err *err)
{
	struct pathwalk_end at;
	int rc = outfile_find(a, rule, dirfd, path, 0, &at, err);

	if (rc < 0)
		return rc;
	if (is_agents(rule, at.dir_fd))
		rc = replace_file(a, &at, mode, out_fd, err);
	else
		rc = open_there(a, &at, mode, out_fd, err);
	fd_close(&at.dir_fd);
	return rc;
}

int outfile_write(struct arena *a, const struct outfile_rule *rule, int dirfd,
		  const char *path, struct str data, unsigned mode,
		  struct err *err)
{
	auto_fd int fd = -1;
	int rc = outfile_open(a, rule, dirfd, path, mode, &fd, err);

	if (rc < 0)
		return rc;
	return fileio_write_all(fd, data, err) < 0 ? err_while(err, "%s", path)
						   : 0;
}
