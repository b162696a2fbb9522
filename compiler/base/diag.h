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
 * diag_quote(). Each warning has a name as well: lint.def. Nothing that is
 * printed shows a secret, the line above the caret included: secret.h.
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
	struct diag **sorted; /* by place, or NULL: diags_get() makes it */
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
 * What the warning just reported speaks of: a destination, a pattern, an
 * option. An exception can name it; without this, the text at its place does.
 */
void diag_about(struct diags *d, struct str subject);

/*
 * A user's bytes for a message: control bytes and bytes that are not UTF-8 as
 * \xNN, secrets as '*', cut after 60 bytes with "…". In the arena.
 */
const char *diag_quote(struct diags *d, struct str s);

/* Everything, sorted by place; warnings among the errors. */
void diags_print(const struct diags *d, struct buf *out, bool colour);
/* A place by itself: "file:line:column: text", the line and a caret. */
void diags_show(const struct diags *d, struct buf *out, struct span at,
		struct str text, bool colour);
/* For `plan --json`: {"level","id","text","source","line","column"}, one each,
 * in the same order. */
struct diag_view {
	bool error;
	enum diag_id id;
	struct span at;
	struct str text, help;
	struct str subject; /* diag_about(), or empty */
};
bool diags_get(struct diags *d, unsigned i, struct diag_view *out);
/* Drop the warnings for which keep says no; asked in the order of places. */
void diags_filter(struct diags *d,
		  bool (*keep)(void *ctx, const struct diag_view *view),
		  void *ctx);

#endif
