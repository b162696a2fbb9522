/*
 * What the compiler has to say about a policy.
 *
 *	policy.yaml:12:15: error: unknown method 'GETT' [E107]
 *	   12 |     methods: [GETT, POST]
 *	      |               ^^^^
 *	      = help: did you mean 'GET'?
 *
 * Reported once, where the place is known; callers then only return false.
 * Notes and helps belong to the error or warning before them. Errors are
 * printed in source order, LIMIT_ERRORS at most (and LIMIT_WARNINGS warnings),
 * and a line that says how many more there were. Text is lower case without a
 * full stop; the user's own words stand in single quotes, made printable with
 * diag_quote().
 */
#ifndef COMPILER_BASE_DIAG_H
#define COMPILER_BASE_DIAG_H

#include "compiler/base/buf.h"
#include "compiler/base/source.h"

/* diag.def: DIAG(number, NAME, "what it is about"); numbers never change. */
enum diag_id {
#define DIAG(num, name, about) DIAG_##name = num,
#include "compiler/base/diag.def"
#undef DIAG
};

struct diag;

struct diags {
	struct arena *a;
	const struct sources *sources;
	VEC(struct diag *) list;
	unsigned errors, warnings;
	struct diag *last;
};

void diags_init(struct diags *d, struct arena *a, const struct sources *s);

void diag_error(struct diags *d, enum diag_id id, struct span at,
		const char *fmt, ...) printf_like(4, 5);
void diag_warn(struct diags *d, enum diag_id id, struct span at,
	       const char *fmt, ...) printf_like(4, 5);
/* A second place that explains the first. */
void diag_note(struct diags *d, struct span at, const char *fmt, ...)
	printf_like(3, 4);
/* What would be right, or the next step. */
void diag_help(struct diags *d, const char *fmt, ...) printf_like(2, 3);

/*
 * A user's bytes for a message: control bytes and bytes that are not UTF-8 as
 * \xNN, cut after 60 bytes with "…". In the arena.
 */
const char *diag_quote(struct diags *d, struct str s);

/* Everything, sorted by place; warnings among the errors. */
void diags_print(const struct diags *d, struct buf *out, bool colour);
/* For `plan --json`: {"level","id","text","source","line","column"}, one each,
 * in the same order. */
struct diag_view {
	bool error;
	enum diag_id id;
	struct span at;
	struct str text, help;
};
bool diags_get(const struct diags *d, unsigned i, struct diag_view *out);

#endif
