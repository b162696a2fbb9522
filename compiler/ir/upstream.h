/*
 * Which way what is granted leaves: by the proxy of `upstream`, or past it.
 *
 * A name takes one way, whatever address it has: that of its grants, by
 * `direct`. An address that no name led to takes that of its network.
 */
#ifndef COMPILER_IR_UPSTREAM_H
#define COMPILER_IR_UPSTREAM_H

#include "compiler/ir/ir.h"

/* "proxy.example.com:3128", "[2001:db8::1]:3128" */
struct str upstream_at(struct arena *a, const struct ir_upstream *u);
/* Does it listen at the loopback of the machine that the session begins on?
 * Nothing but the native engine's broker, who is there, gets to that. */
bool upstream_on_loopback(const struct ir_upstream *u);
/* All of it, for people and to compare: "http://… as $LOGIN". */
struct str upstream_text(struct arena *a, const struct ir_upstream *u);
/* What goes past it, as texts. */
ir_texts upstream_directs(struct arena *a, const struct ir_upstream *u);
/* Does all that a grant is about go past the proxy? Without one all does. */
bool upstream_passes(const struct ir_policy *p, const struct ir_dest *d);
/* Do names go past it, so that a resolver is asked for those? */
bool upstream_asks(const struct ir_policy *p);
/* Is TCP there that leads to addresses, and is to go by it, or past it by the
 * same hands? No packet of the agent's is passed on then. */
bool upstream_takes(const struct ir_policy *p, const struct ir_grant *g);

#endif
