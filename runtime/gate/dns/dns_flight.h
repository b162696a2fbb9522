/*
 * A question on its way through the resolver (struct dns_flight): what becomes
 * of it, and who hears of that. An address is in the kernel's sets, and known
 * to HAProxy, before the answer with it leaves.
 */
#ifndef RUNTIME_GATE_DNS_DNS_FLIGHT_H
#define RUNTIME_GATE_DNS_DNS_FLIGHT_H

#include "runtime/gate/dns/dns_gate.h"

/* A free one, empty; NULL: all are taken. It is live when it is launched. */
struct dns_flight *dns_flight_new(struct dns_gate *g);
/*
 * Answer with what upstream said to the same question lately, as if it said so
 * now; false when it did not. It does not land: it never was live.
 */
bool dns_flight_recall(struct dns_gate *g, struct dns_flight *f,
		       int64_t now_ms);
/* Ask upstream. */
void dns_flight_launch(struct dns_gate *g, struct dns_flight *f,
		       int64_t now_ms);
/* Its answer is here: judge each address, open, reply, land. */
void dns_flight_use(struct dns_gate *g, struct dns_flight *f,
		    struct dns_answer *a, int64_t now_ms);
/* There will be none: SERVFAIL, and land. */
void dns_flight_fail(struct dns_gate *g, struct dns_flight *f);
/* Refused without a question upstream. It does not land: it may never have
 * been live. */
void dns_flight_refuse(struct dns_gate *g, struct dns_flight *f,
		       ldns_pkt_rcode rcode, enum reason reason);
/*
 * Names go by a proxy, or this one is only asked about: the name's stand-in is
 * the answer, and nothing else is known of it. It does not land: it never was live.
 */
void dns_flight_stand_in(struct dns_gate *g, struct dns_flight *f,
			 int64_t now_ms);
/* The gate's own address is the answer: where its name leads to is asked when
 * somebody calls it. It does not land: it never was live. */
void dns_flight_door(struct dns_gate *g, const struct dns_flight *f);
/* The name is that of the machine that runs membrane: nobody has to be asked.
 */
void dns_flight_machine(struct dns_gate *g, const struct dns_flight *f);
/*
 * A reply of one's own size for each transport, told of before it leaves; none
 * where nobody asked. answer may be NULL. why: REASON_GRANTED, or why the agent
 * gets nothing.
 */
void dns_flight_reply(struct dns_gate *g, const struct dns_flight *f,
		      ldns_pkt_rcode rcode, enum reason why,
		      const struct dns_answer *answer);
/* The slot is free again. */
void dns_flight_land(struct dns_gate *g, struct dns_flight *f);

#endif
