/*
 * An item of `visible`: a folder or file of the machine that the agent has at
 * the same path, to be read or to be written. In words "read ~/.nvm", "write
 * /srv/out": what is compared, approved and kept.
 */
#ifndef COMPILER_IR_VISIBLE_H
#define COMPILER_IR_VISIBLE_H

#include "compiler/base/arena.h"
#include "compiler/ir/ir.h"

struct ir_visible {
	bool write;
	bool in_home;	 /* path begins behind the user's home */
	struct str path; /* "/.nvm", with in_home; else absolute */
};

/* NULL, or what is wrong with a path as it is written. */
const char *visible_fault(struct str path);
/* The words of one; path without a slash at its end. */
struct str visible_text(struct arena *a, struct str path, bool write);
/* Out of words that visible_text() made. */
struct ir_visible visible_of(struct str text);
/*
 * What the list has at a path: nothing, 0; to be read, 1; to be written, 2. Of
 * two that hold it the one further inside counts.
 */
unsigned visible_at(const ir_texts *list, const struct ir_visible *at);

#endif
