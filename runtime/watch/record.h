/*
 * One message of the kernel's side as an event with named arguments.
 *
 * Pure: bytes in, values out, in storage of the record itself. Paths are put
 * together here: from components, or from a directory and the text that a
 * process gave, of which '.' and '..' are taken out by name (links in it are
 * not followed, and nothing is above the root that the process has).
 */
#ifndef RUNTIME_WATCH_RECORD_H
#define RUNTIME_WATCH_RECORD_H

#include "runtime/watch/events.h"
#include "runtime/watch/value.h"

#define RECORD_VALUES_MAX 24u
#define RECORD_TEXT_MAX	  (4u * WATCH_ITEMS_MAX)

/* That a resolver was asked, and what will say that an answer is for that. */
enum asked_by { ASKED_NOT, ASKED_UDP, ASKED_TCP };
struct asked {
	enum asked_by by;
	bool all;	   /* that come to that port: a connection's */
	uint16_t port, id; /* one's own port; of the message, unless all */
};

struct record {
	int64_t boot_epoch_ns;	       /* set by who owns it, once */
	const struct watch_head *head; /* borrowed */
	enum watch_event event;
	const char *syscall; /* its name, "" for none */
	int64_t ret;
	struct str group; /* name of the container's control group, once */
	struct asked asked;
	uint16_t sport; /* of one that connects: its own port; 0: unknown */
	struct value v[RECORD_VALUES_MAX]; /* as events_info() names them */
	size_t used;
	char text[RECORD_TEXT_MAX];
};

/*
 * False for a message that is not one: it is of another build, and nothing
 * that it says can be relied on.
 */
must_check bool record_make(struct record *r, const void *message,
			    size_t bytes);
/* An argument that only the file, the program or the call's end tells: NONE in
 * a record with WATCH_ASKED. */
bool record_is_later(struct str arg);
/* Room for n bytes of text in the record; NULL when there is none left. */
char *record_room(struct record *r, size_t n);
/* Put a text and its NUL at the end of a list that was begun last. */
must_check bool record_add_text(struct record *r, struct str *list,
				struct str text);
/* The value of an argument; NULL when the event has none of that name. */
const struct value *record_value(const struct record *r, struct str name);

#endif
