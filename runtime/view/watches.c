#include "runtime/view/watches.h"

#include "compiler/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BUCKETS 4096u
#define HEARD                                                                  \
	(IN_CREATE | IN_DELETE | IN_MOVE | IN_MODIFY | IN_ATTRIB | IN_ONLYDIR)

/* Of zfs, which the kernel's headers do not have. */
#define ZFS_MAGIC 0x2fc12fc1u
#define XFS_MAGIC 0x58465342u

/* Nobody changes it but by this kernel. */
static bool is_local(int dir)
{
	static const unsigned kinds[] = {
		BTRFS_SUPER_MAGIC, EXT4_SUPER_MAGIC,
		F2FS_SUPER_MAGIC,  OVERLAYFS_SUPER_MAGIC,
		TMPFS_MAGIC,	   XFS_MAGIC,
		ZFS_MAGIC};
	struct statfs fs;

	if (fstatfs(dir, &fs) < 0)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if ((unsigned)fs.f_type == kinds[i])
			return true;
	return false;
}

static uint32_t max_watches(void)
{
	FILE *f = fopen("/proc/sys/fs/inotify/max_user_watches", "re");
	unsigned long n = 0;

	if (f) {
		if (fscanf(f, "%lu", &n) != 1)
			n = 0;
		fclose(f);
	}
	n /= 4;
	return n < WATCHES_MAX ? (uint32_t)n : WATCHES_MAX;
}

void watches_open(struct watches *w, const struct node *root)
{
	*w = (struct watches){.fd = -1, .max = max_watches(), .dev = root->dev};
	if (w->max == 0 || !is_local(root->fd))
		return;
	w->buckets = calloc(BUCKETS, sizeof(struct node *));
	if (w->buckets)
		w->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
}

void watches_close(struct watches *w)
{
	fd_close(&w->fd);
	free(w->buckets);
	*w = (struct watches){.fd = -1};
}

static struct node **bucket_of(const struct watches *w, int wd)
{
	return &w->buckets[(unsigned)wd % BUCKETS];
}

struct node *watches_find(const struct watches *w, int wd)
{
	struct node *n = w->buckets ? *bucket_of(w, wd) : NULL;

	while (n && n->watch != wd)
		n = n->next_watch;
	return n;
}

static void take_out(struct watches *w, struct node *dir)
{
	struct node **at = bucket_of(w, dir->watch);

	while (*at != dir)
		at = &(*at)->next_watch;
	*at = dir->next_watch;
	dir->next_watch = NULL;
	dir->watch = 0;
	w->n--;
}

void watches_drop(struct watches *w, struct node *dir)
{
	int wd = dir->watch;

	if (wd == 0)
		return;
	take_out(w, dir);
	ignore(inotify_rm_watch(w->fd, wd));
}

bool watches_add(struct watches *w, int proc, struct node *dir)
{
	char path[64];
	struct node *had;
	int wd;

	if (dir->watch)
		return true;
	if (w->fd < 0 || dir->fd < 0 || dir->dev != w->dev || w->n >= w->max)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%d", proc, dir->fd);
	wd = inotify_add_watch(w->fd, path, HEARD);
	if (wd < 0)
		return false;
	/* The same folder, under the name that it had. */
	had = watches_find(w, wd);
	if (had)
		take_out(w, had);
	dir->watch = wd;
	dir->next_watch = *bucket_of(w, wd);
	*bucket_of(w, wd) = dir;
	w->n++;
	return true;
}
