#include "compiler/commands/trace_views.h"

#include "compiler/commands/trace_line.h"
#include "compiler/commands/view.h"

#include <stdlib.h>

#define NODES_MAX   200000u
#define COMMAND_MAX 400u

/* A process, from its first event to its end. */
struct node {
	int64_t host_pid, pid;
	uint32_t parent, first, last, next; /* indices from 1; 0: none */
	uint64_t begun_ns, ended_ns, events;
	struct trace_exit end;
	struct str command; /* of the last program that it became */
	bool has_ended;
};

struct tree {
	struct trace_look look;
	struct arena *a;
	VEC(struct node) nodes; /* the first is nobody */
	uint32_t *by_pid;	/* living ones, by host_pid */
	uint64_t left_out;
};

#define SLOTS 4194304u /* as many as there are pids */

struct tree *tree_new(const struct trace_look *look)
{
	struct arena *a = arena_new();
	struct tree *t = arena_new_of(a, struct tree);

	t->a = a;
	t->look = *look;
	t->by_pid = calloc(SLOTS, sizeof(*t->by_pid));
	if (!t->by_pid)
		abort();
	*vec_push(a, &t->nodes) = (struct node){0};
	return t;
}

static uint32_t *slot(struct tree *t, int64_t host_pid)
{
	return &t->by_pid[(uint64_t)host_pid % SLOTS];
}

static uint32_t find(struct tree *t, int64_t host_pid)
{
	uint32_t i = *slot(t, host_pid);

	return i && t->nodes.v[i].host_pid == host_pid ? i : 0;
}

static uint32_t add(struct tree *t, int64_t host_pid, int64_t pid,
		    uint32_t parent, uint64_t at_ns)
{
	uint32_t i = t->nodes.n;
	struct node *n;

	if (i > NODES_MAX) {
		t->left_out++;
		return 0;
	}
	n = vec_push(t->a, &t->nodes);
	*n = (struct node){.host_pid = host_pid,
			   .pid = pid,
			   .parent = parent,
			   .begun_ns = at_ns};
	n = &t->nodes.v[parent];
	if (n->last)
		t->nodes.v[n->last].next = i;
	else
		n->first = i;
	n->last = i;
	*slot(t, host_pid) = i;
	return i;
}

static void end_node(struct tree *t, struct node *n,
		     const struct trace_event *e)
{
	if (str_is(trace_arg(e, "process_group_exit"), "false"))
		return;
	n->has_ended = true;
	n->ended_ns = e->at_ns;
	n->end = trace_exit(e);
	*slot(t, n->host_pid) = 0; /* its number may come again */
}

void tree_add(struct tree *t, const struct trace_event *e)
{
	enum trace_kind kind = trace_kind(e);
	uint32_t i, parent;
	int64_t child;

	if (kind == TRACE_ITSELF)
		return;
	i = find(t, e->host_pid);
	if (!i) {
		parent = find(t, e->host_ppid);
		i = add(t, e->host_pid, e->pid, parent, e->at_ns);
	}
	if (!i)
		return;
	t->nodes.v[i].events++;
	if (kind == TRACE_FORK) {
		child = trace_number(e, "child_pid", 0);
		if (child && child != e->host_pid)
			add(t, child, trace_number(e, "child_ns_pid", 0), i,
			    e->at_ns);
	} else if (kind == TRACE_EXEC) {
		t->nodes.v[i].command =
			arena_str(t->a, str_slice(trace_command(t->a, e), 0,
						  COMMAND_MAX));
	} else if (kind == TRACE_EXIT) {
		end_node(t, &t->nodes.v[i], e);
	}
}

/* --- printing ------------------------------------------------------------- */

static void put_end(struct tree *t, const struct view *v, const struct node *n)
{
	double ms = (double)(n->ended_ns - n->begun_ns) / 1e6;
	struct str text;

	if (!n->has_ended) {
		view_paint(v, VIEW_WARN, STR("  no end"));
		return;
	}
	text = n->end.signal ? arena_fmt(t->a, "  signal %lld, %.0f ms",
					 (long long)n->end.signal, ms)
			     : arena_fmt(t->a, "  %lld, %.0f ms",
					 (long long)n->end.code, ms);
	view_paint(v, n->end.signal || n->end.code ? VIEW_BAD : VIEW_DIM, text);
}

static void put_node(struct tree *t, uint32_t i, struct str stem, bool is_last)
{
	const struct node *n = &t->nodes.v[i];
	struct buf out;
	struct view v = {&out, t->look.width, t->look.colour};
	struct str text = view_cleaned(t->a, n->command);

	buf_init(&out, t->a);
	buf_add(&out, stem);
	buf_adds(&out, n->parent == 0 ? "" : is_last ? "└─ " : "├─ ");
	buf_addf(&out, "%lld ", (long long)n->pid);
	view_paint(&v, VIEW_TITLE,
		   text.n ? view_cut(text, t->look.width) : STR("(forked)"));
	put_end(t, &v, n);
	buf_addc(&out, '\n');
	fwrite(out.p, 1, out.n, t->look.out);
}

/* Depth first, without recursion: a chain of forks may be long. */
static void put_all(struct tree *t)
{
	struct buf stem;
	uint32_t i = t->nodes.v[0].first;
	VEC(size_t) lengths = {0};

	buf_init(&stem, t->a);
	while (i) {
		const struct node *n = &t->nodes.v[i];

		put_node(t, i, buf_str(&stem), n->next == 0);
		if (n->first) {
			*vec_push(t->a, &lengths) = stem.n;
			if (n->parent)
				buf_adds(&stem, n->next ? "│  " : "   ");
			i = n->first;
			continue;
		}
		while (n->next == 0 && n->parent) {
			stem.n = lengths.v[--lengths.n];
			n = &t->nodes.v[n->parent];
		}
		i = n->next;
	}
}

void tree_end(struct tree *t)
{
	put_all(t);
	if (t->left_out)
		fprintf(t->look.out, "… and %llu more processes\n",
			(unsigned long long)t->left_out);
	fflush(t->look.out);
	free(t->by_pid);
	arena_free(t->a);
}
