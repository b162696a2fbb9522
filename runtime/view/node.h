/*
 * The nodes that the kernel knows of: names in folders.
 *
 * Pure, but for closing a folder's descriptor with its node. A file has no
 * descriptor: it is its folder and its name, and is opened anew each time. A
 * node stands for one file or folder (device, inode); what takes its name gets
 * a node of its own. It lives as long as the kernel has it, something below it
 * does, or a file of it is open.
 *
 * Not for two threads at once.
 */
#ifndef RUNTIME_VIEW_NODE_H
#define RUNTIME_VIEW_NODE_H

#include "runtime/view/judge/judge.h"

#include <sys/types.h>

struct handle; /* an open file: view.h */
struct watches;

struct node {
	struct node *parent;	       /* NULL: the workspace itself */
	struct node *next;	       /* in its bucket */
	struct node *down;	       /* while one below it is refreshed */
	struct node *next_watch;       /* in its bucket of watches.h */
	char *name;		       /* room, until it is renamed */
	struct handle *open;	       /* the files of it that are open */
	const struct judge_set *below; /* of a folder */
	uint64_t dev, ino;
	int64_t changed_s; /* ctime, when its data was last known */
	uint32_t changed_ns;
	uint32_t lookups; /* that the kernel has not forgotten */
	uint32_t seen;	  /* of a folder: where it was found, seconds */
	uint32_t below_n; /* nodes in it, and open files of it */
	uint32_t judged;  /* nodes.turn, when word and below were true */
	int fd;		  /* O_PATH, of a folder that is not hidden; -1 */
	int watch;	  /* of watches.h; 0: none */
	struct judge_word word;
	uint16_t type; /* S_IFMT */
	bool orphan;   /* no longer has its name */
	bool made;     /* a folder of git's, made in this session */
	bool aside;    /* made aside: copies.h */
	bool tracked;  /* hidden, and in git's index */
	char room[];
};

struct nodes {
	struct node **buckets;
	uint32_t n, size; /* a power of two */
	uint32_t turn;	  /* grows when a folder is renamed */
	struct watches
		*watches; /* where a node that goes has its watch; NULL */
	struct node root;
};

/* root_fd becomes the root's. False: no memory. */
must_check bool nodes_init(struct nodes *t, int root_fd);
/* All of them, whoever still has them. */
void nodes_done(struct nodes *t);

/* The node of that name, without another reference; NULL. */
struct node *node_find(const struct nodes *t, const struct node *parent,
		       const char *name);
/*
 * A new node without a reference: the caller counts one, or drops it. It takes
 * the name from the node that has it. NULL: no memory.
 */
must_check struct node *node_new(struct nodes *t, struct node *parent,
				 const char *name);
/* Let go of what nobody refers to any more, and of its parents. */
void node_settle(struct nodes *t, struct node *n);
/* It is not there under its name any more. */
void node_orphan(struct nodes *t, struct node *n);
/* Under another name; false, and an orphan: no memory. */
bool node_move(struct nodes *t, struct node *n, struct node *parent,
	       const char *name);
/* Two nodes change places; either may be NULL. */
void node_exchange(struct nodes *t, struct node *a, struct node *b);
/*
 * Where it is, relative to the workspace, name behind it unless that is NULL.
 * The length; 0 when it does not fit into size bytes with a NUL.
 */
size_t node_path(const struct node *n, const char *name, char *buf,
		 size_t size);

#endif
