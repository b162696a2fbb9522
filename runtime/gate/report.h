/*
 * What the worker tells of what was decided, answered and moved, whoever saw
 * it: the resolver, the packet filter, HAProxy, conntrack. Each is brought
 * together with the names that led there and the rule behind it, and goes to
 * the log in the form of record.h.
 *
 * data is the struct gate: these are what resolver, l7, nflog and flows call.
 */
#ifndef RUNTIME_GATE_REPORT_H
#define RUNTIME_GATE_REPORT_H

#include "runtime/gate/gate.h"

#define REPORT_DRAIN_MS 100

void report_record(void *data, const struct record *given);
/* Never in the way of a decision: those without room are counted. */
void report_answer(void *data, const struct record_answer *given);
void report_flow(void *data, const struct flow *flow);
/* At the end, where there may be many at once, and nothing else to wait for. */
void report_rest(void *data, const struct flow *flow);
/* What was folded, as far as there is room. */
void report_folded(struct gate *g);
void report_lost(void *data, uint64_t n);
void report_error(void *data, const char *message);
/* The agent asks for new tokens: for the launcher to do. False: no room. */
bool report_renewal(void *data, const struct renewal_ask *ask);
/* What waits for a person; false: it cannot be told. And how that ended. */
bool report_question(void *data, const struct question *q, uint16_t sport,
		     uint32_t wait_s);
void report_answered(void *data, uint32_t number, enum asking_end end);
void report_packet(void *data, struct str prefix, const struct packet *packet);
void report_logline(void *data, pid_t pid, const struct logline *l);
/* Connections that have ended, and waited for their requests long enough. */
void report_idle(struct gate *g, int64_t now_ms);

#endif
