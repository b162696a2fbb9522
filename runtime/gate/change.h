/*
 * Another plan for the running session, in one step or not at all.
 *
 * The launcher has written it where the first one was, and says so. It is read
 * and tried: the packet filter by nft's dry run, HAProxy by starting it beside
 * the one that runs. Only then does it take effect: the packet filter in one
 * transaction, which keeps open what was resolved for names that are still
 * granted; the resolver's table; HAProxy. At each moment a connection is judged
 * by one of the two plans, or by what both permit. What fails until then leaves
 * the old plan as it was.
 *
 * With cut, connections that were permitted by the old plan are ended: those of
 * HAProxy all, those of the packet filter are judged anew.
 */
#ifndef RUNTIME_GATE_CHANGE_H
#define RUNTIME_GATE_CHANGE_H

#include "runtime/gate/dns/dns_gate.h"
#include "runtime/gate/generation.h"

#define CHANGE_POLL_MS 2 /* between two looks whether HAProxy answers */

enum change_state {
	CHANGE_NONE,
	CHANGE_STARTING, /* HAProxy */
	CHANGE_CUTTING,	 /* done, but for connections that are about to end */
};

struct change {
	/* Borrowed, set by the caller with the rest zeroed. */
	const char *plan;	     /* directory */
	const struct addr *resolver; /* the host's; or NULL */
	struct generation *now;
	struct l7 *l7;
	struct dns_gate *dns;
	/* All that was decided by the old plan is to be told before. */
	int (*settle)(void *data, struct err *err);
	/* It is in force from now on. */
	void (*on_applied)(void *data, int64_t now_ms);
	void *data;

	enum change_state state;
	bool cut;
	struct generation next;
	struct l7_plan next_l7;
	int64_t begun_ms, deadline_ms;
};

/* Begin. On failure everything is as it was; -EBUSY: one is under way. */
must_check int change_begin(struct change *c, uint32_t number, bool cut,
			    int64_t now_ms, struct err *err);
/* What has begun does not go on: everything is as it was. */
void change_drop(struct change *c);
/*
 * Go on: 1 when it is done, 0 when not yet or when there is none to do.
 *   -ECANCELED  it could not be done; everything is as it was
 *   other       nor could that be restored: the session has to end
 */
must_check int change_step(struct change *c, int64_t now_ms, struct err *err);
/* How long poll may wait at most; -1: as long as it likes. */
int change_wait_ms(const struct change *c);

#endif
