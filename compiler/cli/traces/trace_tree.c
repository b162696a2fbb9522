/* The processes of a trace, each below the one that made it. */
#include "compiler/cli/traces/trace_views.h"

#include "compiler/base/json.h"
#include "compiler/cli/traces/trace_processes.h"
#include "compiler/cli/text/view.h"

#include <stdlib.h>

#define LEVELS_MAX  24u /* that are drawn; beyond those a number says it */
#define TEXT_LEAST  12u /* columns of a command, in however narrow a place */
#define ARENA_LINES 256u

struct tree {
	struct trace_look look;
	struct processes of;
};

struct tree *tree_new(const struct trace_look *look)
{
	struct arena *a = arena_new();
	struct tree *t = arena_new_of(a, struct tree);

	t->look = *look;
	processes_init(&t->of, a);
	return t;
}

void tree_add(struct tree *t, const struct trace_event *e)
{
	processes_add(&t->of, e);
}

/* --- what is shown -------------------------------------------------------- */

/* Of --since: processes that did something then, and those above them. */
static void leave_out_old(struct tree *t)
{
	struct process_node *v = t->of.nodes.v;

	for (uint32_t i = t->of.nodes.n; i-- > 1;) {
		v[i].is_shown |= v[i].last_ns >= t->look.since_ns;
		v[v[i].parent].is_shown |= v[i].is_shown;
		v[i].first = v[i].last = v[i].next = 0;
	}
	v[0].first = v[0].last = 0;
	for (uint32_t i = 1; i < t->of.nodes.n; i++)
		if (v[i].is_shown)
			processes_append(&t->of, i);
}

/* --- printing ------------------------------------------------------------- */

/* Where the printing is. */
struct endpoint {
	struct arena *a; /* of a few lines */
	uint32_t i, depth;
	struct str stem; /* of its level, LEVELS_MAX at most */
};

static struct str end_text(struct arena *a, const struct process_node *n)
{
	double ms = (double)(n->ended_ns - n->begun_ns) / 1e6;

	if (!n->has_ended)
		return STR("  no end");
	return n->end.signal ? arena_fmt(a, "  signal %lld, %.0f ms",
					 (long long)n->end.signal, ms)
			     : arena_fmt(a, "  %lld, %.0f ms",
					 (long long)n->end.code, ms);
}

static enum view_paint end_paint(const struct process_node *n)
{
	if (!n->has_ended)
		return VIEW_WARN;
	return n->end.signal || n->end.code ? VIEW_BAD : VIEW_DIM;
}

static struct str branch_text(const struct endpoint *p,
			      const struct process_node *n)
{
	if (p->depth == 0)
		return STR("");
	if (p->depth > LEVELS_MAX)
		return arena_fmt(p->a, "… level %u: ", p->depth);
	return n->next ? STR("├─ ") : STR("└─ ");
}

static void put_node(const struct tree *t, const struct endpoint *p)
{
	const struct process_node *n = &t->of.nodes.v[p->i];
	struct str text = view_cleaned(p->a, n->command);
	struct str end = end_text(p->a, n);
	unsigned used, room = PROCESSES_COMMAND_MAX;
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
	const struct process_node *n = &t->of.nodes.v[p->i];
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
	struct endpoint p = {.a = arena_new(), .i = t->of.nodes.v[0].first};
	VEC(size_t) lengths = {0};
	uint64_t shown = 0;
	struct buf stem;

	buf_init(&stem, t->of.a);
	while (p.i && !ferror(t->look.out)) {
		const struct process_node *n = &t->of.nodes.v[p.i];

		p.stem = buf_str(&stem);
		t->look.json ? put_node_json(t, &p) : put_node(t, &p);
		if (++shown % ARENA_LINES == 0) {
			arena_free(p.a);
			p.a = arena_new();
		}
		if (n->first) {
			*vec_push(t->of.a, &lengths) = stem.n;
			stem_push(&stem, p.depth++, n->next != 0);
			p.i = n->first;
			continue;
		}
		while (n->next == 0 && n->parent) {
			stem.n = lengths.v[--lengths.n];
			p.depth--;
			n = &t->of.nodes.v[n->parent];
		}
		p.i = n->next;
	}
	arena_free(p.a);
}

void tree_end(struct tree *t)
{
	struct arena *a = t->of.a;

	if (t->look.since_ns)
		leave_out_old(t);
	put_nodes(t);
	if (t->of.left_out && !t->look.json)
		fprintf(t->look.out, "… and %llu more processes\n",
			(unsigned long long)t->of.left_out);
	fflush(t->look.out);
	processes_done(&t->of);
	arena_free(a);
}
