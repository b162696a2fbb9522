#include "compiler/cli/traces/trace_processes.h"

#include "compiler/base/hash.h"
#include "compiler/cli/traces/trace_line.h"

#include <stdlib.h>

#define PROCESSES_MAX 200000u
#define SLOTS	      4194304u /* as many as there are pids */
#define COMMANDS      65536u
#define NODES	      1024u /* at first */

/* There are many, and an arena keeps each table that was too small. */
static struct process_node *new_node(struct processes *t)
{
	if (t->nodes.n == t->nodes.cap) {
		t->nodes.cap = t->nodes.cap ? 2 * t->nodes.cap : NODES;
		t->nodes.v = realloc(t->nodes.v,
				     t->nodes.cap * sizeof(*t->nodes.v));
		if (!t->nodes.v)
			abort();
	}
	return &t->nodes.v[t->nodes.n++];
}

void processes_init(struct processes *t, struct arena *a)
{
	*t = (struct processes){.a = a};
	t->by_pid = calloc(SLOTS, sizeof(*t->by_pid));
	t->commands = calloc(COMMANDS, sizeof(*t->commands));
	if (!t->by_pid || !t->commands)
		abort();
	*new_node(t) = (struct process_node){0};
}

void processes_done(struct processes *t)
{
	free(t->by_pid);
	free(t->commands);
	free(t->nodes.v);
	*t = (struct processes){0};
}

static uint32_t *pid_slot(struct processes *t, int64_t host_pid)
{
	return &t->by_pid[(uint64_t)host_pid % SLOTS];
}

static uint32_t find_node(struct processes *t, int64_t host_pid)
{
	uint32_t i = *pid_slot(t, host_pid);

	return i && t->nodes.v[i].host_pid == host_pid ? i : 0;
}

void processes_append(struct processes *t, uint32_t i)
{
	struct process_node *n = &t->nodes.v[t->nodes.v[i].parent];

	if (n->last)
		t->nodes.v[n->last].next = i;
	else
		n->first = i;
	n->last = i;
}

static uint32_t add_node(struct processes *t, int64_t host_pid, int64_t pid,
			 uint32_t parent, uint64_t at_ns)
{
	uint32_t i = t->nodes.n;
	struct process_node *n;

	if (i > PROCESSES_MAX) {
		t->left_out++;
		return 0;
	}
	n = new_node(t);
	*n = (struct process_node){.host_pid = host_pid,
				   .pid = pid,
				   .parent = parent,
				   .begun_ns = at_ns};
	processes_append(t, i);
	*pid_slot(t, host_pid) = i;
	return i;
}

static void end_node(struct process_node *n, const struct trace_event *e)
{
	if (str_is(trace_arg(e, "process_group_exit"), "false"))
		return;
	n->has_ended = true;
	n->ended_ns = e->at_ns;
	n->end = trace_exit(e);
}

/*
 * Whose event it is; 0: of one not seen before. The number of a process that
 * has ended may come again, but what was answered to it comes late.
 */
static uint32_t owner_node(struct processes *t, const struct trace_event *e)
{
	uint32_t i = find_node(t, e->host_pid);
	const struct process_node *n = &t->nodes.v[i];

	if (i && n->has_ended && e->at_ns > n->ended_ns && !trace_is_answer(e))
		return 0;
	return i;
}

/* Most were there before. */
static struct str keep_text(struct processes *t, struct str text)
{
	struct str *before =
		&t->commands[hash64_folded(hash64_bytes(HASH64_SEED, text.p,
							text.n)) %
			     COMMANDS];

	if (!str_eq(*before, text)) {
		*before = arena_str(t->a, text);
		t->command_bytes += text.n;
	}
	return *before;
}

/* The whole of it may be long, and there are many. */
static struct str kept_command(struct processes *t, const struct trace_event *e)
{
	size_t most = t->command_bytes < PROCESSES_COMMANDS_MAX
			      ? PROCESSES_COMMAND_MAX
			      : PROCESSES_NAME_MAX;
	struct arena *scratch = arena_new();
	struct str kept = keep_text(
		t, str_slice(trace_command(scratch, e), 0, most));

	arena_free(scratch);
	return kept;
}

uint32_t processes_add(struct processes *t, const struct trace_event *e)
{
	enum trace_kind kind = trace_kind(e);
	uint32_t i, parent;
	int64_t child;

	if (kind == TRACE_ITSELF)
		return 0;
	i = owner_node(t, e);
	if (!i) {
		parent = find_node(t, e->host_ppid);
		i = add_node(t, e->host_pid, e->pid, parent, e->at_ns);
	}
	if (!i)
		return 0;
	t->nodes.v[i].events++;
	if (e->at_ns > t->nodes.v[i].last_ns)
		t->nodes.v[i].last_ns = e->at_ns;
	if (kind == TRACE_FORK) {
		child = trace_number(e, "child_pid", 0);
		if (child && child != e->host_pid)
			add_node(t, child, trace_number(e, "child_ns_pid", 0),
				 i, e->at_ns);
	} else if (kind == TRACE_EXEC) {
		t->nodes.v[i].command = kept_command(t, e);
	} else if (kind == TRACE_EXIT) {
		end_node(&t->nodes.v[i], e);
	}
	return i;
}
