/*
 * The processes of a trace, each below the one that made it: out of all of its
 * events, in their order. Bounded; what is beyond is counted.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_PROCESSES_H
#define COMPILER_CLI_TRACES_TRACE_PROCESSES_H

#include "compiler/base/arena.h"
#include "compiler/trace/event.h"

#define PROCESSES_COMMAND_MAX 400u /* bytes of a command that are kept */
/* Of all commands; of what is beyond so much is kept as names the program. */
#define PROCESSES_COMMANDS_MAX (16u << 20)
#define PROCESSES_NAME_MAX     48u

/* A process, from its first event to its end. */
struct process_node {
	int64_t host_pid, pid;
	uint32_t parent, first, last, next; /* indices from 1; 0: none */
	uint64_t begun_ns, ended_ns, last_ns, events;
	struct trace_exit end;
	struct str command; /* of the last program that it became */
	bool has_ended, is_shown;
};

struct processes {
	struct arena *a;
	VEC(struct process_node) nodes; /* the first is nobody; malloc(3)'s */
	uint32_t *by_pid;		/* the last that had it, by host_pid */
	struct str *commands;		/* some that were there, by their hash */
	size_t command_bytes;
	uint64_t left_out;
};

/* Commands are in the arena, and all else until processes_done(). */
void processes_init(struct processes *t, struct arena *a);
void processes_done(struct processes *t);
/* Whose event it is: an index, or 0 where there is no room. */
uint32_t processes_add(struct processes *t, const struct trace_event *e);
/* Node i, whose parent is known, as that one's last child. */
void processes_append(struct processes *t, uint32_t i);

#endif
