/*
 * The packet filter: the reviewed text goes into the kernel, and what the
 * kernel then holds is listed and compared with it.
 *
 * The text must be what `nft --stateless list table inet membrane` (nft 1.0)
 * prints for it, but for comment lines (first visible character '#') and
 * white space: the comparison is word by word. So: sets before chains, in the
 * order given; set attributes in the order type, size, flags, elements;
 * elements sorted by number; priorities by name; ports as numbers; counters
 * without values; one rule per line, no definitions, no includes, no variables.
 */
#ifndef RUNTIME_GATE_PACKET_RULESET_H
#define RUNTIME_GATE_PACKET_RULESET_H

#include "compiler/base/buf.h"
#include "compiler/base/err.h"
#include "runtime/gate/plan/names.h"

/*
 * Load the text (a NUL follows it) in one transaction into the network
 * namespace of the caller.
 *   -EEXIST  there is such a table already
 *   -EINVAL  nft refuses the text; *err has its words
 */
must_check int ruleset_load(struct str text, struct err *err);
/*
 * After that: list it and compare.
 *   -EPROTO  the kernel holds something else; *err has the first difference
 */
must_check int ruleset_verify(struct str text, struct err *err);
/*
 * The text in the place of one that was loaded, in one transaction; elements:
 * nft's commands that fill its sets, in the same. The packet path sees the one
 * or the other. What was there is untouched on -EINVAL; on -EPROTO it is gone.
 */
must_check int ruleset_replace(struct str text, struct str elements,
			       struct err *err);
/*
 * A table of the gate's own beside the reviewed one, called FAMILY NAME: text
 * defines it, whole, in the form above. One of that name is replaced in one
 * transaction. Errors as of ruleset_load() and ruleset_verify().
 */
must_check int ruleset_put(const char *table, struct str text, struct err *err);
/* Without it from then on, whether it was there or not. */
must_check int ruleset_drop(const char *table, struct err *err);
/* As far as nft's dry run goes; there is no table yet. */
must_check int ruleset_check(struct str text, struct err *err);
/* The same of a text that is to take the place of one that was loaded. */
must_check int ruleset_check_next(struct str text, struct err *err);
/* nft's commands for the host's addresses: into host4 and host6, where the text
 * has those sets. */
void ruleset_hosts_text(struct str text, const struct names_hosts *hosts,
			struct buf *out);
/* The same, done. */
must_check int ruleset_hosts(struct str text, const struct names_hosts *hosts,
			     struct err *err);

/*
 * Pure: compare word by word. On a difference false, with the line of the text
 * (from 1) and both words. A set that is empty in the text may have elements in
 * the listing.
 */
bool ruleset_same(struct str text, struct str listing, unsigned *out_line,
		  struct str *out_want, struct str *out_have);
/* Pure: does the text declare this set? */
bool ruleset_has_set(struct str text, const char *name);

#endif
