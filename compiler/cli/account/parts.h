/*
 * What the files of activity.h share: requests out of decisions and out of a
 * trace come to the same list.
 */
#ifndef COMPILER_CLI_ACCOUNT_PARTS_H
#define COMPILER_CLI_ACCOUNT_PARTS_H

#include "compiler/cli/account/activity.h"

#include <cjson/cJSON.h>

/* --- activity.c ----------------------------------------------------------- */

/* For the record at hand; what lies there is gone with the next one. */
struct arena *activity_scratch(struct activity *d);
void activity_next_record(struct activity *d);
/* The place of a text's number, or NULL when there is none and no room. */
uint32_t *activity_slot(struct activity *d, struct str text, bool add);
/* One more of these; NULL: no room. r may be of the scratch: what is kept is
 * copied. */
struct act *activity_add(struct activity *d, const struct ir_request *r,
			 enum act_then then, enum reason reason);
/* The name that an address was found for; empty when there is none. */
struct str activity_name_behind(struct activity *d, struct str addr);

/* --- activity_decisions.c ------------------------------------------------- */

/* The slot of a connection that was decided: "tcp 192.0.2.1:443", whoever is
 * meant; and of a path that the view has told of. */
struct str activity_flow_key(struct activity *d, const struct ir_request *r);
struct str activity_told_key(struct activity *d, struct str text);
/* A record, if it is one of a decision. */
void activity_add_decision(struct activity *d, const cJSON *o);

#endif
