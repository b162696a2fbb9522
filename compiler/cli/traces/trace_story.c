/* A trace as a story, a line for each thing done. */
#include "compiler/cli/traces/trace_views.h"

#include "compiler/base/json.h"
#include "compiler/cli/traces/trace_held.h"
#include "compiler/cli/text/view.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROCESSES    65536u /* slots; one that is taken twice loses its depth */
#define INDENT_MAX   12u
#define ARENA_LINES  256u
#define SHOWN_ALIKE  3u /* of a process, in one folder, one after the other */
#define WHO_COLUMNS  22u
#define WHAT_COLUMNS 8u

struct process {
	int64_t pid; /* the host's; 0: free */
	unsigned depth;
};

/* What lines are folded by. */
struct alike {
	int64_t pid;
	const char *what; /* NULL: nothing is folded with it */
	int64_t error;	  /* as returned; 0: none */
	struct kept folder, text;
	unsigned shown;
	uint64_t same, folded;
};

struct story {
	struct held held;
	struct trace_look look;
	struct arena *a; /* of a few lines */
	unsigned uses;
	struct process process[PROCESSES];
	struct alike last;
	uint64_t day; /* of the last line, since 1970 */
};

struct story *story_new(const struct trace_look *look)
{
	struct story *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->look = *look;
	held_init(&s->held);
	s->a = arena_new();
	return s;
}

/* --- processes ------------------------------------------------------------ */

static struct process *process_slot(struct story *s, int64_t pid)
{
	return &s->process[(uint64_t)pid % PROCESSES];
}

static unsigned depth_of(struct story *s, int64_t pid)
{
	const struct process *p = process_slot(s, pid);

	return p->pid == pid ? p->depth : 0;
}

/* A program is one deeper than the process that it was forked from. */
static void learn_process(struct story *s, const struct trace_event *e)
{
	int64_t parent = e->host_pid, child;

	if (trace_kind(e) == TRACE_FORK) {
		child = trace_number(e, "child_pid", 0);
		if (child && child != parent)
			*process_slot(s, child) = (struct process){
				child, depth_of(s, parent) + 1};
		return;
	}
	if (process_slot(s, parent)->pid != parent)
		*process_slot(s, parent) = (struct process){
			parent, e->ppid ? depth_of(s, e->host_ppid) + 1 : 0};
}

/* --- lines ---------------------------------------------------------------- */

static enum view_paint paint_of(const struct told *l)
{
	if (l->error)
		return VIEW_BAD;
	if (strcmp(l->what, "exec") == 0)
		return VIEW_TITLE;
	if (strcmp(l->what, "connect") == 0 || strcmp(l->what, "dns") == 0 ||
	    strcmp(l->what, "send") == 0)
		return VIEW_GOOD;
	if (strcmp(l->what, "attempt") == 0)
		return VIEW_WARN;
	if (strcmp(l->what, "exit") == 0 || strcmp(l->what, "read") == 0)
		return VIEW_DIM;
	return VIEW_PLAIN;
}

static void pad_column(struct buf *out, unsigned have, unsigned want)
{
	for (; have < want; have++)
		buf_addc(out, ' ');
	buf_addc(out, ' ');
}

/* The clock of a line says no date: a session may go on for days. */
static void put_day(struct story *s, uint64_t at_ns)
{
	time_t at = (time_t)(at_ns / 1000000000u);
	uint64_t day = (uint64_t)at / 86400, last = s->day;
	struct tm tm;
	struct buf out;
	struct view v = {&out, s->look.width, s->look.colour};

	s->day = day > last ? day : last;
	if (last == 0 || day <= last || !gmtime_r(&at, &tm))
		return;
	buf_init(&out, s->a);
	view_row(&v, 0, VIEW_DIM,
		 arena_fmt(s->a, "%04d-%02d-%02d", tm.tm_year + 1900,
			   tm.tm_mon + 1, tm.tm_mday),
		 STR(""));
	fwrite(out.p, 1, out.n, s->look.out);
}

static void put_line(struct story *s, const struct told *l)
{
	struct buf out, who;
	struct view v = {&out, s->look.width, s->look.colour};
	char clock[TRACE_CLOCK_MAX];
	unsigned indent = 2 * (l->depth < INDENT_MAX ? l->depth : INDENT_MAX);

	buf_init(&out, s->a);
	buf_init(&who, s->a);
	buf_add(&who, kept_str(&l->comm));
	buf_addf(&who, "[%lld]", (long long)l->pid);
	view_paint(&v, VIEW_DIM, str_of(trace_clock(l->at_ns, clock)));
	pad_column(&out, 0, indent);
	buf_add(&out, buf_str(&who));
	pad_column(&out, view_columns(buf_str(&who)), WHO_COLUMNS);
	view_paint(&v, paint_of(l), str_of(l->what));
	pad_column(&out, (unsigned)strlen(l->what), WHAT_COLUMNS);
	view_paint(&v, paint_of(l), kept_str(&l->text));
	if (l->error) {
		buf_adds(&out, ": ");
		view_paint(&v, VIEW_BAD, str_of(strerror((int)-l->error)));
	}
	buf_addc(&out, '\n');
	fwrite(out.p, 1, out.n, s->look.out);
}

static void put_told_json(struct story *s, const struct told *l)
{
	cJSON *o = json_object();
	char *text;

	json_put_u64(o, "time_ns", l->at_ns);
	json_put_u64(o, "pid", (uint64_t)l->pid);
	json_put_str(o, "comm", kept_str(&l->comm));
	json_put_u64(o, "depth", l->depth);
	json_put_cstr(o, "what", l->what);
	json_put_str(o, "text", kept_str(&l->text));
	if (l->error)
		json_put_cstr(o, "error", strerror((int)-l->error));
	text = cJSON_PrintUnformatted(o);
	fprintf(s->look.out, "%s\n", text ? text : "{}");
	cJSON_free(text);
	cJSON_Delete(o);
}

/* --- folding -------------------------------------------------------------- */

static void put_counted(struct story *s, struct str text)
{
	struct buf out;
	struct view v = {&out, s->look.width, s->look.colour};

	buf_init(&out, s->a);
	pad_column(&out, 0, 13 + WHO_COLUMNS + WHAT_COLUMNS);
	view_paint(&v, VIEW_DIM, text);
	buf_addc(&out, '\n');
	fwrite(out.p, 1, out.n, s->look.out);
}

static void unfold_last(struct story *s)
{
	struct str folder = kept_str(&s->last.folder);

	if (s->last.same)
		put_counted(
			s,
			s->last.same == 1
				? STR("once more")
				: arena_fmt(s->a, "%llu times more",
					    (unsigned long long)s->last.same));
	if (s->last.folded)
		put_counted(s, arena_fmt(s->a, "%llu more in %.*s",
					 (unsigned long long)s->last.folded,
					 STR_ARG(folder)));
	s->last.same = s->last.folded = 0;
}

/* What failed is folded with its like alone: each of those may be news. */
static bool is_of_folder(const struct alike *last, const struct told *l)
{
	return !l->error && l->folder.n &&
	       str_eq(kept_str(&l->folder), kept_str(&last->folder));
}

/* True when the line is counted instead of shown. */
static bool folds_line(struct story *s, const struct told *l)
{
	struct alike *last = &s->last;
	unsigned shown = 1;

	if (last->what && l->host_pid == last->pid &&
	    strcmp(l->what, last->what) == 0) {
		if (l->error == last->error && last->folded == 0 &&
		    str_eq(kept_str(&l->text), kept_str(&last->text))) {
			last->same++;
			return true;
		}
		if (is_of_folder(last, l)) {
			if (last->shown >= SHOWN_ALIKE) {
				last->folded++;
				return true;
			}
			shown = last->shown + 1;
		}
	}
	unfold_last(s);
	last->pid = l->host_pid;
	last->what = l->what;
	last->error = l->error;
	last->shown = shown;
	kept_set(&last->folder, kept_str(&l->folder));
	kept_set(&last->text, kept_str(&l->text));
	return false;
}

/* --- in order ------------------------------------------------------------- */

static void put_told(struct story *s, const struct told *l)
{
	if (s->look.json) {
		put_told_json(s, l);
	} else if (!folds_line(s, l)) {
		put_day(s, l->at_ns);
		put_line(s, l);
	}
}

static void put_held(struct story *s)
{
	const struct told *l;

	while ((l = held_take(&s->held)))
		put_told(s, l);
}

static void hold_event(struct story *s, const struct trace_event *e,
		       const struct trace_line *l)
{
	struct told *t;

	if (held_must_yield(&s->held, e->at_ns)) {
		if (s->held.n == HELD_LINES)
			put_told(s, held_take(&s->held));
		else
			put_held(s);
	}
	t = held_add(&s->held, e->at_ns);
	t->pid = e->pid;
	t->host_pid = e->host_pid;
	t->error = l->error ? e->ret : 0;
	t->depth = depth_of(s, e->host_pid);
	t->what = l->what;
	kept_set(&t->comm, view_cleaned(s->a, e->comm));
	kept_set(&t->text, l->text);
	kept_set(&t->folder, view_cleaned(s->a, l->folder));
}

void story_add(struct story *s, const struct trace_event *e)
{
	struct trace_line l;

	learn_process(s, e);
	if (e->at_ns < s->look.since_ns || !trace_line(s->a, e, &l))
		return;
	hold_event(s, e, &l);
	if (++s->uses % ARENA_LINES)
		return;
	arena_free(s->a);
	s->a = arena_new();
}

void story_flush(struct story *s)
{
	put_held(s);
	fflush(s->look.out);
}

void story_end(struct story *s)
{
	put_held(s);
	unfold_last(s);
	fflush(s->look.out);
	arena_free(s->a);
	held_done(&s->held);
	kept_done(&s->last.folder);
	kept_done(&s->last.text);
	free(s);
}
