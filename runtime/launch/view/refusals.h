/*
 * What the view refused in a session, folded by path, with what decided it.
 *
 *	membrane: 1 path was refused
 *	  write lib/a.c  3×  readonly  by 'lib/' (.membrane.yaml:2:12); membrane
 *	  explain write lib/a.c
 *
 * Pure: decision records in, text out. Paths come from the agent, so nothing
 * but printable ASCII gets to the terminal.
 */
#ifndef RUNTIME_LAUNCH_VIEW_REFUSALS_H
#define RUNTIME_LAUNCH_VIEW_REFUSALS_H

#include "compiler/base/buf.h"
#include "compiler/base/err.h"
#include "runtime/launch/session/refusal.h"
#include "runtime/launch/view/hello.h"
#include "runtime/launch/view/written.h"

#include <cjson/cJSON.h>

#define REFUSALS_ENTRIES_MAX 1024u /* paths kept apart */
#define REFUSALS_LINES_MAX   20u   /* paths printed */

struct refusals;

/* mounts: the text of mounts.plan, and where its lines stand; borrowed. */
struct refusals *refusals_new(struct arena *a, struct str mounts,
			      const struct written *written);
/* What the view was told; borrowed. Before the first record. */
void refusals_know(struct refusals *r, const hello_holds *holds);
/*
 * Take one decision record of the view. *out_new: nothing like it came before.
 * -EPROTO: not one as compiler/plan/view_hello.h has it.
 */
must_check int refusals_add(struct refusals *r, const cJSON *decision,
			    bool *out_new, struct err *err);
/* What refusals_add() called new last, of which record is the decision; texts
 * are in a. */
void refusals_newest(const struct refusals *r, struct arena *a,
		     const cJSON *record, struct refusal *out);
/* Where that is written which decided a record; false: in no policy. */
bool refusals_place(const struct refusals *r, const cJSON *decision,
		    struct str *out_source, uint64_t *out_line);
/*
 * The text, with an LF behind every line; nothing when nothing was refused.
 * log: where all records are, named when not all paths fit.
 */
void refusals_print(const struct refusals *r, const char *log, bool colour,
		    struct buf *out);
/* "files":[…] for summary.json; the caller owns it. */
cJSON *refusals_json(const struct refusals *r);

#endif
