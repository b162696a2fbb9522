/*
 * Folders in which changes of the host are heard of: inotify(7), one watch a
 * folder that the kernel knows.
 *
 * Not for two threads at once.
 */
#ifndef RUNTIME_VIEW_WATCHES_H
#define RUNTIME_VIEW_WATCHES_H

#include "runtime/view/node.h"

/* Of the user's own, which an editor wants too, a quarter; never more than
 * this: each holds about a kilobyte of the kernel's. */
#define WATCHES_MAX 65536u

struct watches {
	int fd; /* inotify, does not block; -1: nothing is heard of */
	uint32_t n, max;
	uint64_t dev; /* of the folders that are watched */
	struct node **buckets;
};

/*
 * For the folders of root's file system. Without a kernel that hears of all
 * changes there (a network's, a virtual machine's file system) nothing is
 * watched: that is no error.
 */
void watches_open(struct watches *w, const struct node *root);
void watches_close(struct watches *w);
/*
 * Be told of changes in a folder with a descriptor; proc is /proc/self/fd.
 * False: it is not watched.
 */
bool watches_add(struct watches *w, int proc, struct node *dir);
void watches_drop(struct watches *w, struct node *dir);
/* Whose watch it is; NULL: nobody's any more. */
struct node *watches_find(const struct watches *w, int wd);

#endif
