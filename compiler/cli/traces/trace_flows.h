/*
 * Who went where: whom a decision of the gate's is about, which knows of no
 * process. By the connection's own port where both have it, which is exact;
 * else it is the last that went there, by the address or by the name that the
 * resolver gave for it: where a person is asked first, or a proxy is in
 * between, the two ends have not the same.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_FLOWS_H
#define COMPILER_CLI_TRACES_TRACE_FLOWS_H

#include "compiler/cli/traces/trace_held.h"
#include "compiler/trace/event.h"

#include <cjson/cJSON.h>

struct flow {
	struct kept to, comm; /* to: "192.0.2.1 443" */
	int64_t pid, host_pid;
	unsigned depth;
};

struct flows;

/* flows_free() */
struct flows *flows_new(void);
void flows_free(struct flows *f);
/* A connection or a datagram; depth: of its process, handed back. comm is
 * clean. */
void flows_learn(struct flows *f, const struct trace_event *e, struct str comm,
		 unsigned depth);
/* The resolver said of this name that it has these addresses:
 * " 192.0.2.1  192.0.2.2 ". */
void flows_learn_names(struct flows *f, struct str name, struct str addresses);
/* The name behind the first of addresses, as the resolver said last; empty:
 * nobody asked for it. Until the next flows_learn...(). */
struct str flows_name(const struct flows *f, struct str addresses);
/* Who went where this is about; or NULL. Until the next flows_learn...(). */
const struct flow *flows_find(const struct flows *f, const cJSON *decision);

#endif
