/*
 * Who is told of refusals, as the user's policy has it: for any course of a
 * session.
 */
#ifndef RUNTIME_LAUNCH_LIFECYCLE_TELLING_H
#define RUNTIME_LAUNCH_LIFECYCLE_TELLING_H

#include "runtime/launch/launch.h"

struct gate;

/*
 * What o->tell wishes for; nothing is said aloud yet.
 *   -EPERM   `on_refusal` would be run from where an agent writes
 *   -ENOKEY  as tell_hook()
 */
must_check int telling_open(struct arena *a, const struct launch_opts *o,
			    const char *id, struct tell **out, struct err *err);
/* Is stderr a terminal that takes colours? */
bool telling_in_colour(void);
/* What was told, on record, too, for who watches. */
void telling_note(struct gate *g, struct str line);

#endif
