/* Files, their names, modes and owners. */
#define _GNU_SOURCE
#include "worker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define P(i) ((long)pick_path(w, i))

static int flags(struct worker *w)
{
	static const int some[] = {O_CREAT,    O_CREAT | O_EXCL, O_TRUNC,
				   O_APPEND,   O_NOFOLLOW,	 O_DIRECTORY,
				   O_PATH,     O_TMPFILE,	 O_CLOEXEC,
				   O_NONBLOCK, O_SYNC,		 O_NOATIME,
				   0x40000000, O_DIRECT};
	int f = (int)pick(w, 4);

	/* A fifo that nobody writes to would be waited for. */
	f |= O_NONBLOCK;
	for (uint32_t i = pick(w, 3); i > 0; i--)
		f |= some[pick(w, sizeof(some) / sizeof(some[0]))];
	return f;
}

static void keep_opened(struct worker *w, long fd)
{
	struct stat st;

	if (fd < 0)
		return;
	if (fstat((int)fd, &st) == 0 && S_ISDIR(st.st_mode))
		keep(w, w->dirs, fd);
	else
		keep(w, w->files, fd);
}

static void open2(struct worker *w)
{
	static const uint64_t resolve[] = {0,
					   0,
					   0,
					   0,
					   RESOLVE_IN_ROOT,
					   RESOLVE_BENEATH,
					   RESOLVE_NO_XDEV,
					   RESOLVE_NO_SYMLINKS,
					   RESOLVE_NO_MAGICLINKS,
					   RESOLVE_CACHED,
					   1u << 30};
	long how = (long)w->how;

	/* Flags that do not go together are refused here. */
	w->how[0] = rare(w, 2) ? (uint64_t)(uint32_t)flags(w)
			       : pick(w, 3) | O_NONBLOCK | O_CREAT * rare(w, 2);
	w->how[0] |= rare(w, 30) * (1ull << 40);
	w->how[1] = w->how[0] & (O_CREAT | __O_TMPFILE) ? 0600 : rare(w, 9);
	w->how[2] = resolve[pick(w, 11)];
	keep_opened(w, DO(w, openat2, pick_dir(w), P(0), rare(w, 20) ? 1 : how,
			  rare(w, 20) ? 8 : 24));
}

/* What /proc has names for. */
static void open_link(struct worker *w)
{
	static const char *const links[] = {
		"/proc/self/ns/net", "/proc/thread-self/ns/mnt",
		"/proc/self/exe", "/proc/self/cwd", "/proc/self/root"};
	int pipes[2] = {-1, -1};

	if (rare(w, 2)) {
		snprintf(w->text[0], WORK_TEXT, "%s", links[pick(w, 5)]);
	} else if (rare(w, 2) && pipe(pipes) == 0) {
		snprintf(w->text[0], WORK_TEXT, "/proc/self/fd/%d", pipes[0]);
	} else {
		snprintf(w->text[0], WORK_TEXT, "/proc/self/fd/%d",
			 w->files[pick(w, WORK_FDS)]);
	}
	keep_opened(w, DO(w, openat, AT_FDCWD, (long)w->text[0],
			  (rare(w, 3) ? O_RDWR : O_RDONLY) | O_NONBLOCK));
	close(pipes[0]);
	close(pipes[1]);
}

static void creates(struct worker *w)
{
	const char *path = pick_path(w, 0);
	struct stat st = {0};

	/* It would wait for somebody who reads. */
	if (work_has(CALL_creat) &&
	    !(stat(path, &st) == 0 && S_ISFIFO(st.st_mode)))
		keep_opened(w, DO(w, creat, (long)path, 0600));
}

static void opens(struct worker *w)
{
	switch (pick(w, 12)) {
	case 0:
	case 1:
		if (work_has(CALL_open))
			keep_opened(w, DO(w, open, P(0), flags(w), 0600));
		return;
	case 2:
		creates(w);
		return;
	case 3:
	case 4:
		open2(w);
		return;
	case 5:
		open_link(w);
		return;
	case 6:
		keep_opened(w, DO(w, memfd_create, (long)pick_text(w, 0),
				  rare(w, 9) ? 77 : 0));
		return;
	case 7:
		keep_opened(w, DO(w, openat, pick_dir(w), P(0),
				  O_DIRECTORY | O_PATH * rare(w, 2)));
		return;
	}
	keep_opened(w, DO(w, openat, pick_dir(w), P(0), flags(w), 0600));
}

static void renames(struct worker *w)
{
	if (rare(w, 2) && work_has(CALL_rename))
		DO(w, rename, P(0), P(1));
	else if (rare(w, 2) && work_has(CALL_renameat))
		DO(w, renameat, pick_dir(w), P(0), pick_dir(w), P(1));
	else
		DO(w, renameat2, pick_dir(w), P(0), pick_dir(w), P(1),
		   (long)pick(w, 5));
}

static void links(struct worker *w)
{
	switch (pick(w, 4)) {
	case 0:
		if (work_has(CALL_link))
			DO(w, link, P(0), P(1));
		return;
	case 1:
		DO(w, linkat, pick_dir(w), P(0), pick_dir(w), P(1),
		   rare(w, 2) ? AT_SYMLINK_FOLLOW : (long)pick(w, 2));
		return;
	case 2:
		if (work_has(CALL_symlink))
			DO(w, symlink, (long)pick_text(w, 0), P(1));
		return;
	}
	DO(w, symlinkat, (long)pick_text(w, 0), pick_dir(w), P(1));
}

static void removes(struct worker *w)
{
	if (rare(w, 2) && work_has(CALL_unlink))
		DO(w, unlink, P(0));
	else if (rare(w, 3) && work_has(CALL_rmdir))
		DO(w, rmdir, P(0));
	else
		DO(w, unlinkat, pick_dir(w), P(0),
		   rare(w, 3) ? AT_REMOVEDIR : rare(w, 20));
}

static void makes(struct worker *w)
{
	static const int kinds[] = {S_IFREG, S_IFIFO, S_IFSOCK,
				    S_IFCHR, 0,	      S_IFDIR};
	int mode = kinds[pick(w, 6)] | 0644;

	switch (pick(w, 5)) {
	case 0:
	case 1:
		if (work_has(CALL_mkdir))
			DO(w, mkdir, P(0), 0755);
		return;
	case 2:
		if (work_has(CALL_mknod))
			DO(w, mknod, P(0), mode, 0x103);
		return;
	case 3:
		DO(w, mknodat, pick_dir(w), P(0), mode, 0x103);
		return;
	}
	DO(w, mkdirat, pick_dir(w), P(0), 0755);
}

static long who(struct worker *w)
{
	static const long ids[] = {-1, 0, 1000, 1000, 65535, 12345678};

	return ids[pick(w, 6)];
}

static void modes(struct worker *w)
{
	/* Whatever becomes of the root folder, others are still at home. */
	long mode = 0755 | (long)pick(w, 0100);
	int fd = rare(w, 9) ? 9999 : w->files[pick(w, WORK_FDS)];

	switch (pick(w, 8)) {
	case 0:
		if (work_has(CALL_chmod))
			DO(w, chmod, P(0), mode);
		return;
	case 1:
		DO(w, fchmod, fd, mode);
		return;
	case 2:
		DO(w, fchmodat, pick_dir(w), P(0), mode);
		return;
	case 3:
		DO(w, fchmodat2, pick_dir(w), P(0), mode,
		   rare(w, 2) ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW);
		return;
	case 4:
		if (work_has(CALL_chown))
			DO(w, chown, P(0), who(w), who(w));
		return;
	case 5:
		if (work_has(CALL_lchown))
			DO(w, lchown, P(0), who(w), who(w));
		return;
	case 6:
		DO(w, fchown, fd, who(w), who(w));
		return;
	}
	DO(w, fchownat, pick_dir(w), P(0), who(w), who(w),
	   rare(w, 2) ? AT_EMPTY_PATH : AT_SYMLINK_NOFOLLOW);
}

static void sizes(struct worker *w)
{
	int fd = rare(w, 9) ? 9999 : w->files[pick(w, WORK_FDS)];
	long size = rare(w, 9) ? -1 : (long)pick(w, 9000);

	switch (pick(w, 3)) {
	case 0:
		DO(w, truncate, P(0), size);
		return;
	case 1:
		DO(w, ftruncate, fd, size);
		return;
	}
	DO(w, fallocate, fd, 0, 0, size);
}

/* Nothing may be told of these. */
static void silent(struct worker *w)
{
	switch (pick(w, 8)) {
	case 0:
		DO(w, getpid, 0);
		return;
	case 1:
		DO(w, access, P(0), R_OK);
		return;
	case 2:
		keep_opened(w, DO(w, dup, w->dirs[pick(w, WORK_FDS)]));
		return;
	case 3:
		DO(w, fchdir, w->dirs[pick(w, WORK_FDS)]);
		return;
	}
	DO(w, chdir, P(0));
}

/* Back to where the worker is at home: it may have wandered off. */
static void home(struct worker *w)
{
	snprintf(w->text[0], WORK_TEXT, "%s", w->home);
	if (DO(w, chdir, (long)w->text[0]) < 0)
		DO(w, mkdirat, AT_FDCWD, (long)w->text[0], 0755);
}

void do_files(struct worker *w)
{
	static void (*const steps[])(struct worker *) = {
		opens, opens, opens,   opens,	opens,	opens, renames,
		links, links, removes, removes, makes,	makes, makes,
		modes, modes, sizes,   silent,	silent, home};

	steps[pick(w, sizeof(steps) / sizeof(steps[0]))](w);
}
