/*
 * What was refused in a session, folded by destination, with the line that
 * would allow each.
 *
 *	membrane: 2 destinations were refused
 *	  api.example.com:443  3×  no-grant  add to 'allow' in …:  - api.…:443
 *
 *	  on purpose: downloads.example.com (updates)
 *
 * Pure: decision records in, text out. Names in the records come from the
 * agent's own questions, so nothing but printable ASCII gets to the terminal.
 */
#ifndef RUNTIME_LAUNCH_SESSION_SUMMARY_H
#define RUNTIME_LAUNCH_SESSION_SUMMARY_H

#include "compiler/base/buf.h"
#include "compiler/base/err.h"
#include "runtime/launch/session/refusal.h"

#include <cjson/cJSON.h>

#define SUMMARY_ENTRIES_MAX 1024u /* destinations kept apart */
#define SUMMARY_LINES_MAX   20u	  /* destinations printed */

struct summary;

/* Is it a name that an `allow` could hold? Of whom the grammar is. */
typedef bool summary_can_grant(struct arena *a, struct str name);
/* Why a name is refused on purpose; empty: it is not. of: of whom gave it. */
typedef struct str summary_purpose(const void *of, struct str name);

/* can: NULL where nothing is printed. */
struct summary *summary_new(struct arena *a, summary_can_grant *can);
/* Such are told in one line, without an advice. of is borrowed. */
void summary_purposes(struct summary *s, summary_purpose *why, const void *of);

enum summary_news {
	SUMMARY_PERMITTED,
	SUMMARY_KNOWN, /* refused as before, or there is no room to tell */
	SUMMARY_NEW,   /* the first refusal of its kind */
};
/*
 * Take one decision record of the gate; permitted ones are only counted.
 * -EPROTO: not a decision as the contract of the gate has it.
 */
must_check int summary_add(struct summary *s, const cJSON *decision,
			   enum summary_news *out_news, struct err *err);
/*
 * What summary_add() called SUMMARY_NEW last, of which record is the decision;
 * texts are in a. False where it is refused on purpose: nobody is told of that
 * but at the end.
 */
must_check bool summary_newest(const struct summary *s, struct arena *a,
			       const cJSON *record, struct refusal *out);
/*
 * The text, with an LF behind every line; nothing when nothing was refused.
 * log: where all records are, named when not all destinations fit.
 */
void summary_print(const struct summary *s, const char *log, bool colour,
		   struct buf *out);
/* One destination, for whoever shows it otherwise. Texts are not cleaned. */
struct summary_row {
	struct str dest; /* printable ASCII: "POST api.example.com:443/x" */
	enum reason reason;
	uint64_t count;
	struct str grant;  /* the entry of 'allow' that would let it through;
			      or empty: no line would, or none is advised */
	struct str source; /* of the rule that denied, or empty */
	uint32_t line;
	struct str remedy;  /* as summary_print() has it, in a sentence */
	struct str purpose; /* refused on purpose: why */
};
typedef void summary_visit(void *ctx, const struct summary_row *row);
/* In the order first seen; how many more there was no room for. */
uint64_t summary_each(const struct summary *s, summary_visit *visit, void *ctx);
/* The first that one word of 'membrane allow' lets through, or empty. */
struct str summary_advised(const struct summary *s);
/* "refused":[…] for summary.json; the caller owns it. */
cJSON *summary_json(const struct summary *s);
/* text for a terminal: printable ASCII, the rest as \xNN; bounded. */
void summary_escape(struct buf *out, struct str text, size_t max);

#endif
