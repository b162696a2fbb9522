#include "compiler/base/sys/pathwalk.h"

#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#ifdef O_PATH
#define FOLDER (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#else
#define FOLDER (O_SEARCH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#endif

struct state {
	struct arena *a;
	const struct pathwalk *w;
	int fd;	       /* the folder that was come to */
	struct str at; /* its text; "/" is the empty string */
	struct str todo;
	unsigned links;
	struct err *err;
};

int pathwalk_enter(int dirfd, const char *name)
{
	return openat(dirfd, name, FOLDER);
}

static struct str path_below(const struct state *s, const char *name)
{
	return arena_fmt(s->a, "%.*s/%s", STR_ARG(s->at), name);
}

static int fail_at(const struct state *s, const char *name)
{
	return err_errno(s->err, path_below(s, name).p);
}

static void move_to(struct state *s, int fd, struct str at)
{
	fd_close(&s->fd);
	s->fd = fd;
	s->at = at;
}

/* Only slashes and single dots are left. */
static bool is_last(struct str todo)
{
	struct str c;

	while (str_field(&todo, '/', &c))
		if (c.n && !str_is(c, "."))
			return false;
	return true;
}

static int follow_link(struct state *s, const char *name)
{
	struct str path = path_below(s, name);
	char text[PATH_MAX];
	ssize_t n;
	int rc = s->w->on_link(s->w->ctx, s->fd, path, s->err);

	if (rc < 0)
		return rc;
	n = readlinkat(s->fd, name, text, sizeof(text));
	if (n <= 0 || (size_t)n == sizeof(text))
		return fail_at(s, name);
	if (++s->links > PATHWALK_LINKS_MAX ||
	    s->todo.n > PATHWALK_LINKS_MAX * (size_t)PATH_MAX)
		return err_set(s->err, -ELOOP, "%s: too many links", path.p);
	s->todo = arena_fmt(s->a, "%.*s/%.*s", (int)n, text, STR_ARG(s->todo));
	if (text[0] == '/') {
		int root = pathwalk_enter(AT_FDCWD, "/");

		if (root < 0)
			return err_errno(s->err, "/");
		move_to(s, root, STR(""));
	}
	return 0;
}

static bool is_link(int dirfd, const char *name)
{
	struct stat st;

	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISLNK(st.st_mode);
}

/* One part that others follow. */
static int enter_folder(struct state *s, const char *name)
{
	bool up = strcmp(name, "..") == 0;
	int fd = pathwalk_enter(s->fd, name);

	if (fd < 0 && errno == ENOENT && s->w->make && !up) {
		if (fileio_mkdir(s->fd, name, s->w->make, s->err) < 0)
			return s->err->code;
		fd = pathwalk_enter(s->fd, name);
	}
	if (fd < 0 && (errno == ENOTDIR || errno == ELOOP) &&
	    is_link(s->fd, name))
		return follow_link(s, name);
	if (fd < 0)
		return fail_at(s, name);
	move_to(s, fd, up ? str_parent(s->at) : path_below(s, name));
	return 0;
}

/* 1: *out is what was looked for; 0: it was a link, and there is more to do. */
static int look_at_name(struct state *s, const char *name,
			struct pathwalk_end *out)
{
	struct stat st;

	*out = (struct pathwalk_end){
		.dir_fd = s->fd, .name = name, .path = path_below(s, name)};
	if (fstatat(s->fd, name, &out->st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 1 : fail_at(s, name);
	out->exists = true;
	if (!S_ISLNK(out->st.st_mode))
		return 1;
	if (fstatat(s->fd, name, &st, 0) == 0 && !S_ISREG(st.st_mode) &&
	    !S_ISDIR(st.st_mode)) {
		out->special = true;
		return s->w->on_link(s->w->ctx, s->fd, out->path, s->err) < 0
			       ? s->err->code
			       : 1;
	}
	return follow_link(s, name);
}

/* The path ended in dots: the folder that was come to, by its name above. */
static int name_folder(struct state *s, struct pathwalk_end *out)
{
	struct str up = str_parent(s->at);
	struct stat st;
	int fd;

	*out = (struct pathwalk_end){.dir_fd = s->fd,
				     .name = ".",
				     .path = s->at.n ? s->at : STR("/"),
				     .exists = true};
	if (fstat(s->fd, &out->st) < 0)
		return fail_at(s, "");
	fd = pathwalk_enter(s->fd, "..");
	if (fd < 0)
		return fail_at(s, "");
	if (s->at.n)
		out->name =
			arena_cstr(s->a, str_slice(s->at, up.n + 1, s->at.n));
	if (fstatat(fd, out->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    st.st_dev != out->st.st_dev || st.st_ino != out->st.st_ino) {
		fd_close(&fd);
		return err_set(s->err, -ESTALE, "%.*s: it was renamed",
			       STR_ARG(out->path));
	}
	move_to(s, fd, up);
	out->dir_fd = fd;
	return 0;
}

static int walk_names(struct state *s, struct pathwalk_end *out)
{
	struct str c;
	int rc;

	while (str_field(&s->todo, '/', &c)) {
		const char *name = arena_cstr(s->a, c);

		if (c.n == 0 || str_is(c, "."))
			continue;
		if (!is_last(s->todo) || str_is(c, "..")) {
			rc = enter_folder(s, name);
			if (rc < 0)
				return rc;
			continue;
		}
		rc = look_at_name(s, name, out);
		if (rc != 0)
			return rc < 0 ? rc : 0;
	}
	return name_folder(s, out);
}

static int begin_walk(struct state *s, int dirfd, const char *path)
{
	char cwd[PATH_MAX];

	s->todo = str_of(path);
	s->at = STR("");
	s->fd = pathwalk_enter(dirfd, path[0] == '/' ? "/" : ".");
	if (s->fd < 0)
		return err_errno(s->err, path[0] == '/' ? "/" : ".");
	if (path[0] == '/' || dirfd != AT_FDCWD)
		return 0;
	if (!getcwd(cwd, sizeof(cwd)))
		return err_errno(s->err, "the current folder");
	if (strcmp(cwd, "/") != 0)
		s->at = arena_str(s->a, str_of(cwd));
	return 0;
}

int pathwalk_find(struct arena *a, const struct pathwalk *w, int dirfd,
		  const char *path, struct pathwalk_end *out, struct err *err)
{
	struct state s = {.a = a, .w = w, .fd = -1, .err = err};
	struct pathwalk_end end;
	int rc = begin_walk(&s, dirfd, path);

	if (rc == 0)
		rc = walk_names(&s, &end);
	if (rc < 0) {
		fd_close(&s.fd);
		return rc;
	}
	*out = end;
	return 0;
}
