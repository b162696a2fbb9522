/*
 * In a user and a mount namespace of its own a worker may mount, and change its
 * root: what was a path is another one then.
 */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define P(i) ((long)pick_path(w, i))

/* Its own files in /proc are root's, as long as it may not be looked into. */
static bool write_at(struct worker *w, const char *name, const char *text)
{
	long fd;
	bool good;

	snprintf(w->text[0], WORK_TEXT, "/proc/self/%s", name);
	fd = DO(w, openat, AT_FDCWD, (long)w->text[0], O_WRONLY);
	if (fd < 0)
		return false;
	good = write((int)fd, text, strlen(text)) > 0;
	close((int)fd);
	return good;
}

bool spaces_enter(struct worker *w)
{
	unsigned uid = (unsigned)w->account.uid;
	char map[40];

	if (DO(w, unshare, CLONE_NEWUSER | CLONE_NEWNS) < 0)
		return false;
	account_spaces(&w->account);
	snprintf(map, sizeof(map), "0 %u 1\n", uid);
	return write_at(w, "setgroups", "deny") &&
	       write_at(w, "uid_map", map) && write_at(w, "gid_map", map);
}

/* What is there already, mostly: else there is nothing to mount on. */
static long there(struct worker *w, int i)
{
	static const char *const some[] = {".",	   "dir", "a",	  "..",
					   "../z", "b",	  "dir/a"};

	if (rare(w, 3))
		return P(i);
	snprintf(w->text[i], WORK_TEXT, "%s", some[pick(w, 7)]);
	return (long)w->text[i];
}

static long empty(struct worker *w)
{
	*w->text[0] = '\0';
	return (long)w->text[0];
}

static void mounts(struct worker *w)
{
	snprintf(w->text[2], WORK_TEXT, "tmpfs");
	switch (pick(w, 8)) {
	case 0:
	case 1:
		DO(w, mount, there(w, 0), there(w, 1), (long)w->text[2],
		   MS_BIND);
		return;
	case 2:
		DO(w, mount, P(0), there(w, 1), (long)w->text[2], 0, 0);
		return;
	case 3:
	case 4:
		DO(w, umount2, there(w, 0), rare(w, 2) ? MNT_DETACH : 8);
		return;
	case 5:
		keep(w, w->dirs,
		     DO(w, open_tree, pick_dir(w), there(w, 0),
			rare(w, 2) ? 0x80001 : 0x80000));
		return;
	case 6:
		DO(w, move_mount, w->dirs[pick(w, WORK_FDS)], empty(w),
		   AT_FDCWD, there(w, 1), 4);
		return;
	}
	DO(w, mount, P(0), P(1), 0, MS_REMOUNT | MS_BIND);
}

/* Into the working directory; the one outside stays open, for paths that begin
 * there. */
static void root(struct worker *w)
{
	char cwd[1000];
	long fd;

	if (w->jailed || syscall(SYS_getcwd, cwd, sizeof(cwd)) < 0 ||
	    *cwd != '/')
		return;
	snprintf(w->text[0], WORK_TEXT, "..");
	fd = DO(w, openat, AT_FDCWD, (long)w->text[0], O_PATH | O_DIRECTORY);
	work_witness(w);
	snprintf(w->text[0], WORK_TEXT, "%s", rare(w, 2) ? "." : cwd);
	DO(w, chroot, (long)w->text[0]);
	w->outside = (int)fd;
	w->may &= ~MAY_PROGRAMS;
}

void do_spaces(struct worker *w)
{
	if (rare(w, 60))
		root(w);
	else
		mounts(w);
}
