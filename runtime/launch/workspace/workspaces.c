#include "runtime/launch/workspace/workspaces.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/base/sys/pathwalk.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#define NAME	  "workspaces"
#define BYTES_MAX (WORKSPACES_MAX * (LIMIT_PATH_BYTES + 48u))

struct noted {
	uint64_t dev, ino;
	struct str path;
	struct str line; /* without the NUL */
};

typedef VEC(struct noted) noted_list;

struct workspaces {
	noted_list list;
	bool all; /* else some are not known */
};

static bool parse_line(struct str line, struct noted *out)
{
	struct str rest = line, dev, ino;

	out->line = line;
	if (!str_field(&rest, ' ', &dev) || !str_field(&rest, ' ', &ino) ||
	    !str_u64(dev, UINT64_MAX, &out->dev) ||
	    !str_u64(ino, UINT64_MAX, &out->ino) || !str_starts(rest, STR("/")))
		return false;
	out->path = rest;
	return true;
}

static int read_list(struct arena *a, const char *state, noted_list *out,
		     struct err *err)
{
	const char *path = arena_fmt(a, "%s/" NAME, state).p;
	struct str text, line;
	int rc = fileio_read(a, AT_FDCWD, path, BYTES_MAX, &text, err);

	if (rc < 0)
		return rc == -ENOENT ? 0 : rc;
	while (str_field(&text, '\0', &line))
		if (line.n && !parse_line(line, vec_push(a, out)))
			return err_set(
				err, -EPROTO,
				"%s is not what membrane writes: look at it, then remove it",
				path);
	return 0;
}

static int write_list(struct arena *a, const char *state,
		      const noted_list *list, struct str more, struct err *err)
{
	const char *path = arena_fmt(a, "%s/" NAME, state).p;
	uint32_t from =
		list->n < WORKSPACES_MAX ? 0 : list->n - WORKSPACES_MAX + 1;
	struct buf b;

	buf_init(&b, a);
	for (uint32_t i = from; i < list->n; i++) {
		buf_add(&b, list->v[i].line);
		buf_addc(&b, '\0');
	}
	buf_add(&b, more);
	buf_addc(&b, '\0');
	return fileio_write(AT_FDCWD, path, buf_str(&b), 0600, err);
}

int workspaces_note(struct arena *a, const char *state, const char *workspace,
		    struct err *err)
{
	auto_fd int dir = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	noted_list list = {0};
	struct stat st;
	struct str line;
	int rc;

	if (dir < 0)
		return err_errno(err, state);
	if (stat(workspace, &st) < 0)
		return err_errno(err, workspace);
	line = arena_fmt(a, "%llu %llu %s", (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino, workspace);
	while (flock(dir, LOCK_EX) < 0)
		if (errno != EINTR)
			return err_errno(err, state);
	fileio_remove_unfinished(dir, NAME);
	rc = read_list(a, state, &list, err);
	if (rc < 0)
		return rc;
	vec_each(n, &list)
		if (str_eq(n->line, line))
			return 0;
	return write_list(a, state, &list, line, err);
}

/* --- asking --------------------------------------------------------------- */

static bool is_same(const struct stat *x, const struct stat *y)
{
	return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

/* What the noted paths stand for now, beside what they stood for. */
const struct workspaces *workspaces_read(const struct workspaces_ask *ask)
{
	struct workspaces *w = arena_new_of(ask->a, struct workspaces);
	noted_list *list = &w->list;
	struct err ignored;
	struct stat st;
	uint32_t n;

	w->all = read_list(ask->a, ask->state, list, &ignored) == 0;
	if (ask->workspace)
		*vec_push(ask->a, list) =
			(struct noted){.path = str_of(ask->workspace)};
	*vec_push(ask->a, list) = (struct noted){.path = str_of(ask->state)};
	n = list->n;
	for (uint32_t i = 0; i < n; i++)
		if (stat(arena_cstr(ask->a, list->v[i].path), &st) == 0)
			*vec_push(ask->a, list) = (struct noted){
				.dev = st.st_dev, .ino = st.st_ino};
	return w;
}

static bool has_folder(const noted_list *list, const struct stat *st)
{
	vec_each(n, list)
		if (n->ino && n->dev == st->st_dev && n->ino == st->st_ino)
			return true;
	return false;
}

bool workspaces_have(const struct workspaces *w, int dirfd)
{
	struct stat here, above = {0};
	int fd = pathwalk_enter(dirfd, "."), up;

	while (w->all && fd >= 0 && fstat(fd, &here) == 0) {
		if (is_same(&here, &above)) { /* the root */
			fd_close(&fd);
			return false;
		}
		if (has_folder(&w->list, &here))
			break;
		above = here;
		up = pathwalk_enter(fd, "..");
		fd_close(&fd);
		fd = up;
	}
	fd_close(&fd);
	return true;
}

bool workspaces_hold(void *ask, int dirfd)
{
	return workspaces_have(workspaces_read(ask), dirfd);
}
