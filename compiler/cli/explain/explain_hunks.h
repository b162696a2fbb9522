/*
 * What an edit changed in the text of a file, in lines.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_HUNKS_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_HUNKS_H

#include "compiler/base/arena.h"

typedef VEC(struct str) explain_texts;

/* Lines that go and lines that come in one place of a file. */
struct explain_hunk {
	struct str file;
	uint32_t line; /* where it is now, or where the new ones will be */
	bool is_new;   /* the file does not exist yet */
	explain_texts gone, come;
};
typedef VEC(struct explain_hunk) explain_hunks;

/*
 * Append what leads from before (NULL: there is no such file) to now, in the
 * order of lines. Good for few changes: it looks for the next line that both
 * have. Lines are views into the texts.
 */
void explain_hunks_find(struct arena *a, struct str file,
			const struct str *before, struct str now,
			explain_hunks *out);
bool explain_hunks_same(const explain_hunks *a, const explain_hunks *b);
bool explain_hunks_same_texts(const explain_texts *a, const explain_texts *b);

#endif
