/*
 * The command line of membrane-gate.
 */
#ifndef RUNTIME_GATE_OPTIONS_H
#define RUNTIME_GATE_OPTIONS_H

#include "runtime/gate/worker.h"

enum options_act {
	OPTIONS_GATE,
	OPTIONS_CHECK,
	OPTIONS_RELAY,
	OPTIONS_FENCE, /* shut this network namespace */
	OPTIONS_READY, /* is the gate of this container ready? */
	OPTIONS_HELP,
	OPTIONS_VERSION,
};

struct options {
	enum options_act act;
	struct worker_args args; /* of the gate, and of a check */
	char **words;		 /* OPTIONS_RELAY: two */
	struct addr resolver;
};

/* False: no such command line. *out has what holds where nothing is said, and
 * stays where it is: args points into it. */
bool options_parse(int argc, char **argv, struct options *out);
void options_usage(FILE *to);

#endif
