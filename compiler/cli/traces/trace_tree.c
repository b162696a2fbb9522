/* The processes of a trace, each below the one that made it. */
#include "compiler/cli/traces/trace_views.h"

#include "compiler/base/json.h"
#include "compiler/cli/traces/trace_line.h"
#include "compiler/cli/text/view.h"

#include <stdlib.h>

#define NODES_MAX   200000u
#define COMMAND_MAX 400u
#define LEVELS_MAX  24u /* that are drawn; beyond those a number says it */
#define TEXT_LEAST  12u /* columns of a command, in however narrow a place */
#define ARENA_LINES 256u

/* A process, from its first event to its end. */
struct node {
	int64_t host_pid, pid;
	uint32_t parent, first, last, next; /* indices from 1; 0: none */
	uint64_t begun_ns, ended_ns, last_ns, events;
	struct trace_exit end;
	struct str command; /* of the last program that it became */
	bool has_ended, is_shown;
};

struct tree {
	struct trace_look look;
	struct arena *a;
	VEC(struct node) nodes; /* the first is nobody */
	uint32_t *by_pid;	/* the last that had it, by host_pid */
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

static uint32_t *pid_slot(struct tree *t, int64_t host_pid)
{
	return &t->by_pid[(uint64_t)host_pid % SLOTS];
}

static uint32_t find_node(struct tree *t, int64_t host_pid)
{
	uint32_t i = *pid_slot(t, host_pid);

	return i && t->nodes.v[i].host_pid == host_pid ? i : 0;
}

/* As the last child of its parent. */
static void append_node(struct tree *t, uint32_t i)
{
	struct node *n = &t->nodes.v[t->nodes.v[i].parent];

	if (n->last)
		t->nodes.v[n->last].next = i;
	else
		n->first = i;
	n->last = i;
}

static uint32_t add_node(struct tree *t, int64_t host_pid, int64_t pid,
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
	append_node(t, i);
	*pid_slot(t, host_pid) = i;
	return i;
}

static void end_node(struct node *n, const struct trace_event *e)
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
static uint32_t owner_node(struct tree *t, const struct trace_event *e)
{
	uint32_t i = find_node(t, e->host_pid);
	const struct node *n = &t->nodes.v[i];

	if (i && n->has_ended && e->at_ns > n->ended_ns && !trace_is_answer(e))
		return 0;
	return i;
}

void tree_add(struct tree *t, const struct trace_event *e)
{
	enum trace_kind kind = trace_kind(e);
	uint32_t i, parent;
	int64_t child;

	if (kind == TRACE_ITSELF)
		return;
	i = owner_node(t, e);
	if (!i) {
		parent = find_node(t, e->host_ppid);
		i = add_node(t, e->host_pid, e->pid, parent, e->at_ns);
	}
	if (!i)
		return;
	t->nodes.v[i].events++;
	if (e->at_ns > t->nodes.v[i].last_ns)
		t->nodes.v[i].last_ns = e->at_ns;
	if (kind == TRACE_FORK) {
		child = trace_number(e, "child_pid", 0);
		if (child && child != e->host_pid)
			add_node(t, child, trace_number(e, "child_ns_pid", 0),
				 i, e->at_ns);
	} else if (kind == TRACE_EXEC) {
		t->nodes.v[i].command =
			arena_str(t->a, str_slice(trace_command(t->a, e), 0,
						  COMMAND_MAX));
	} else if (kind == TRACE_EXIT) {
		end_node(&t->nodes.v[i], e);
	}
}

/* --- what is shown -------------------------------------------------------- */

/* Of --since: processes that did something then, and those above them. */
static void leave_out_old(struct tree *t)
{
	struct node *v = t->nodes.v;

	for (uint32_t i = t->nodes.n; i-- > 1;) {
		v[i].is_shown |= v[i].last_ns >= t->look.since_ns;
		v[v[i].parent].is_shown |= v[i].is_shown;
		v[i].first = v[i].last = v[i].next = 0;
	}
	v[0].first = v[0].last = 0;
	for (uint32_t i = 1; i < t->nodes.n; i++)
		if (v[i].is_shown)
			append_node(t, i);
}

/* --- printing ------------------------------------------------------------- */

/* Where the printing is. */
struct endpoint {
	struct arena *a; /* of a few lines */
	uint32_t i, depth;
	struct str stem; /* of its level, LEVELS_MAX at most */
};

static struct str end_text(struct arena *a, const struct node *n)
{
	double ms = (double)(n->ended_ns - n->begun_ns) / 1e6;

	if (!n->has_ended)
		return STR("  no end");
	return n->end.signal ? arena_fmt(a, "  signal %lld, %.0f ms",
					 (long long)n->end.signal, ms)
			     : arena_fmt(a, "  %lld, %.0f ms",
					 (long long)n->end.code, ms);
}

static enum view_paint end_paint(const struct node *n)
{
	if (!n->has_ended)
		return VIEW_WARN;
	return n->end.signal || n->end.code ? VIEW_BAD : VIEW_DIM;
}

static struct str branch_text(const struct endpoint *p, const struct node *n)
{
	if (p->depth == 0)
		return STR("");
	if (p->depth > LEVELS_MAX)
		return arena_fmt(p->a, "… level %u: ", p->depth);
	return n->next ? STR("├─ ") : STR("└─ ");
}

static void put_node(const struct tree *t, const struct endpoint *p)
{
	const struct node *n = &t->nodes.v[p->i];
	struct str text = view_cleaned(p->a, n->command);
	struct str end = end_text(p->a, n);
	unsigned used, room = COMMAND_MAX;
	struct buf out;
	struct view v = {&out, t->look.width, t->look.colour};

	buf_init(&out, p->a);
	buf_add(&out, p->stem);
	buf_add(&out, branch_text(p, n));
	buf_addf(&out, "%lld ", (long long)n->pid);
	used = view_columns(buf_str(&out)) + view_columns(end);
	if (t->look.cut)
		room = used + TEXT_LEAST > t->look.width ? TEXT_LEAST
							 : t->look.width - used;
	view_paint(&v, VIEW_TITLE,
		   text.n ? view_fit(p->a, text, room) : STR("(forked)"));
	view_paint(&v, end_paint(n), end);
	buf_addc(&out, '\n');
	fwrite(out.p, 1, out.n, t->look.out);
}

static void put_node_json(const struct tree *t, const struct endpoint *p)
{
	const struct node *n = &t->nodes.v[p->i];
	cJSON *o = json_object();
	char *text;

	json_put_u64(o, "process", p->i);
	json_put_u64(o, "parent", n->parent);
	json_put_u64(o, "depth", p->depth);
	json_put_u64(o, "pid", (uint64_t)n->pid);
	json_put_u64(o, "host_pid", (uint64_t)n->host_pid);
	json_put_str(o, "command", view_cleaned(p->a, n->command));
	json_put_u64(o, "begun_ns", n->begun_ns);
	if (n->has_ended) {
		json_put_u64(o, "ended_ns", n->ended_ns);
		json_put_u64(o, "code", (uint64_t)n->end.code);
		json_put_u64(o, "signal", (uint64_t)n->end.signal);
	}
	json_put_u64(o, "events", n->events);
	text = cJSON_PrintUnformatted(o);
	fprintf(t->look.out, "%s\n", text ? text : "{}");
	cJSON_free(text);
	cJSON_Delete(o);
}

static void stem_push(struct buf *stem, unsigned depth, bool goes_on)
{
	if (depth > 0 && depth <= LEVELS_MAX)
		buf_adds(stem, goes_on ? "│  " : "   ");
}

/* Depth first, without recursion: a chain of forks may be long. */
static void put_nodes(struct tree *t)
{
	struct endpoint p = {.a = arena_new(), .i = t->nodes.v[0].first};
	VEC(size_t) lengths = {0};
	uint64_t shown = 0;
	struct buf stem;

	buf_init(&stem, t->a);
	while (p.i && !ferror(t->look.out)) {
		const struct node *n = &t->nodes.v[p.i];

		p.stem = buf_str(&stem);
		t->look.json ? put_node_json(t, &p) : put_node(t, &p);
		if (++shown % ARENA_LINES == 0) {
			arena_free(p.a);
			p.a = arena_new();
		}
		if (n->first) {
			*vec_push(t->a, &lengths) = stem.n;
			stem_push(&stem, p.depth++, n->next != 0);
			p.i = n->first;
			continue;
		}
		while (n->next == 0 && n->parent) {
			stem.n = lengths.v[--lengths.n];
			p.depth--;
			n = &t->nodes.v[n->parent];
		}
		p.i = n->next;
	}
	arena_free(p.a);
}

void tree_end(struct tree *t)
{
	if (t->look.since_ns)
		leave_out_old(t);
	put_nodes(t);
	if (t->left_out && !t->look.json)
		fprintf(t->look.out, "… and %llu more processes\n",
			(unsigned long long)t->left_out);
	fflush(t->look.out);
	free(t->by_pid);
	arena_free(t->a);
}
