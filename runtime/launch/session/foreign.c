#include "runtime/launch/session/foreign.h"

#include "runtime/launch/session/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define NAMES_MAX 100 /* of one that was put aside */

bool foreign_is(const struct stat *st)
{
	return geteuid() != 0 && st->st_uid != geteuid();
}

static void say_aside(const char *state, const char *name,
		      const struct stat *st, const char *aside)
{
	fprintf(stderr,
		"membrane: %s/%s belongs to user %u and cannot be used: it is now %s\n",
		state, name, (unsigned)st->st_uid, aside);
}

/* NAME.of-UID, or the next that is free. */
static int put_aside(struct arena *a, int dir, const char *name,
		     const struct stat *st, const char **out)
{
	struct stat taken;

	for (int i = 0; i < NAMES_MAX; i++) {
		*out = i ? arena_fmt(a, "%s.of-%u.%d", name,
				     (unsigned)st->st_uid, i)
				       .p
			 : arena_fmt(a, "%s.of-%u", name, (unsigned)st->st_uid)
				       .p;
		if (fstatat(dir, *out, &taken, AT_SYMLINK_NOFOLLOW) < 0)
			return renameat(dir, name, dir, *out) < 0 ? -errno : 0;
	}
	return -EEXIST;
}

static void count_sessions(int dir, const char *state)
{
	int fd = openat(dir, "sessions", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *all = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	struct stat st;
	unsigned n = 0;

	if (!all) {
		fd_close(&fd);
		return;
	}
	while ((e = readdir(all)))
		n += session_is_id(str_of(e->d_name)) &&
		     fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		     foreign_is(&st);
	closedir(all);
	if (n)
		fprintf(stderr,
			"membrane: %u session%s in %s/sessions belong%s to another user, and %s left alone\n",
			n, n == 1 ? "" : "s", state, n == 1 ? "s" : "",
			n == 1 ? "is" : "are");
}

static void set_aside(struct arena *a, int dir, const char *state,
		      const char *name, bool quiet)
{
	int how = R_OK | W_OK;
	const char *aside;
	struct stat st;

	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	    !foreign_is(&st))
		return;
	if (S_ISDIR(st.st_mode))
		how |= X_OK;
	if (faccessat(dir, name, how, AT_EACCESS) == 0)
		return;
	if (put_aside(a, dir, name, &st, &aside) == 0 && !quiet)
		say_aside(state, name, &st, aside);
}

int foreign_set_aside(struct arena *a, const char *state, bool quiet,
		      struct err *err)
{
	static const struct {
		const char *name;
		bool needed;
	} ours[] = {
#define STATE(part, name, needed) {name, needed},
#include "runtime/launch/session/state.def"
#undef STATE
	};
	auto_fd int dir = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (geteuid() == 0)
		return 0;
	if (dir < 0 || faccessat(dir, ".", R_OK | W_OK | X_OK, AT_EACCESS) < 0)
		return err_set(
			err, -errno,
			"%s: %s; if all in it is yours: sudo chown -R %u %s",
			state, strerror(errno), (unsigned)geteuid(), state);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (ours[i].needed)
			set_aside(a, dir, state, ours[i].name, quiet);
	if (!quiet)
		count_sessions(dir, state);
	return 0;
}
