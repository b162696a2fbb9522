/*
 * Another HAProxy in the place of the one that runs: a new plan, the same
 * session.
 *
 * Both inherit the same ports, so that no connection is refused on the way.
 * The new one takes the paths of the sockets by which HAProxy is reached inside
 * the gate; until it is known to be good, the old one's are kept in L7_KEEP,
 * and l7_next_drop() leaves everything as it was. Between the two calls the
 * old one goes on deciding, by its own rules.
 */
#ifndef RUNTIME_GATE_L7_L7_NEXT_H
#define RUNTIME_GATE_L7_L7_NEXT_H

#include "runtime/gate/l7/l7.h"

#define L7_KEEP	  GATE_DIR "/keep/"
#define L7_CUT_MS 60 /* for what it still sends to clients */

/*
 * Start it, for this plan. -EOPNOTSUPP: it decrypts, and the session, which
 * does not, has no CA that the agent trusts. Does nothing for a plan that wants
 * no HAProxy. On failure nothing has changed.
 */
must_check int l7_next_start(struct l7 *l, const struct l7_plan *p,
			     struct err *err);
/*
 * Asks once: 1 when it answers and has every pin, 0 when not yet. On failure
 * l7_next_drop() has to follow.
 */
must_check int l7_next_ready(struct l7 *l, const struct l7_plan *p,
			     struct err *err);
/*
 * It decides from here on. The old one takes nothing more; it ends what it
 * has, or, with cut, every connection of it and of those before it is ended:
 * l7_next_cutting() says how long that goes on. Takes *p.
 */
void l7_next_take(struct l7 *l, struct l7_plan *p, bool cut, int64_t now_ms);
bool l7_next_cutting(const struct l7 *l);
/* End it; the old one is what it was before l7_next_start(). */
void l7_next_drop(struct l7 *l);

#endif
