/*
 * Names of which the view knows more than the disk says: hidden files that
 * git's index has, and what git made aside, in the session's memory.
 *
 * A tree of names from the workspace's root. Pure, but for closing what a copy
 * holds (a memfd). Bounds: COPIES_MAX copies and removed names,
 * COPIES_BYTES_MAX of content, COPIES_NAMES_MAX names beside those said at the
 * start. What is still open counts until it is closed, whether it has a name or
 * not.
 *
 * Not for two threads at once.
 */
#ifndef RUNTIME_VIEW_ASIDE_COPIES_H
#define RUNTIME_VIEW_ASIDE_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#define COPIES_MAX	 4096u
#define COPIES_NAMES_MAX 65536u
#define COPIES_BYTES_MAX (64u << 20)

enum copy_kind {
	COPY_NONE,    /* there for the names below it */
	COPY_TRACKED, /* the disk's, hidden; git's index has it */
	COPY_GONE,    /* whatever the disk has, it is not seen */
	COPY_FILE,
	COPY_LINK,
	COPY_FOLDER, /* nothing of the disk's is seen below it */
	COPY_HUSK,   /* a hidden file of the disk's, or of git's index */
};

/* What a copy is made of; shared by its name and those who have it open. */
struct copy_data {
	int fd; /* also of what has no content: times and mode are its */
	uint32_t refs;
	uint64_t size;	    /* as it is counted */
	struct statx *husk; /* what the disk said, or git's index; then no fd */
};

struct copy {
	struct copy *parent;			    /* NULL: the root */
	struct copy *next;			    /* in its bucket */
	struct copy *first, *last, *before, *after; /* by serial */
	struct copy_data *data; /* of all but NONE and GONE */
	char *name, *text; /* text: of TRACKED and HUSK, where a link leads */
	uint32_t serial;
	enum copy_kind kind;
	bool config; /* in the place of git's configuration */
	bool given;  /* there from the start: nobody is told of it */
};

struct copies {
	struct copy **buckets;
	uint32_t n, size; /* a power of two */
	uint32_t most;	  /* names; 0: no bound yet */
	uint32_t held;	  /* removed names, and data */
	uint32_t given;	  /* so much of it was there from the start */
	uint32_t serial;
	uint64_t bytes;
	struct copy root;
};

/* False: no memory. */
bool copies_init(struct copies *t);
void copies_done(struct copies *t);
/* What is there from the start is what there is: as much as it takes. */
void copies_open(struct copies *t);
/* From here on, so many names more at most, and COPIES_MAX copies. */
void copies_bound(struct copies *t, uint32_t more);
/* Is there no room for one copy more? */
bool copies_full(const struct copies *t);

/* Is there something of its own, that hides the disk's? */
bool copy_is_made(const struct copy *c);
struct copy *copies_below(const struct copies *t, const struct copy *parent,
			  const char *name);
/* By its path from the root; NULL. */
struct copy *copies_find(const struct copies *t, const char *path);
/* The same, made where it is missing, of no kind; NULL: too many. */
struct copy *copies_make(struct copies *t, const char *path);
/* Let go of what nothing is known of and nothing is below, and its parents. */
void copies_settle(struct copies *t, struct copy *c);
/*
 * What is known of the name from now on, and of nothing below it. take_data is
 * what its kind needs, or NULL. False: too many; nothing has changed. An entry
 * of no kind is let go of.
 */
bool copies_set(struct copies *t, struct copy *c, enum copy_kind kind,
		struct copy_data *take_data);
/* With all below it, to where take_to was, of which nothing is left. */
void copies_move(struct copies *t, struct copy *c, struct copy *take_to);
void copies_exchange(struct copies *t, struct copy *a, struct copy *b);
/* The next of its siblings in the order in which they came. */
struct copy *copies_after(const struct copy *parent, uint32_t serial);

/* With one reference, which takes the descriptor. NULL: too many. */
struct copy_data *copies_data(struct copies *t, int take_fd);
void copies_release(struct copies *t, struct copy_data *d);
/* May it become so large? False: no room, and nothing is counted. */
bool copies_grow(struct copies *t, struct copy_data *d, uint64_t size);
/* It is shorter by now. */
void copies_shrink(struct copies *t, struct copy_data *d, uint64_t size);

#endif
