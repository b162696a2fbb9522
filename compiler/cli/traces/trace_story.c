/* A trace as a story, a line for each thing done. */
#include "compiler/cli/traces/trace_views.h"

#include "compiler/base/json.h"
#include "compiler/base/question.h"
#include "compiler/cli/account/logs_line.h"
#include "compiler/cli/traces/trace_flows.h"
#include "compiler/cli/traces/trace_held.h"
#include "compiler/cli/text/view.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define PROCESSES     65536u /* slots; one that is taken twice loses its depth */
#define INDENT_MAX    12u
#define ARENA_LINES   256u
#define SHOWN_ALIKE   3u /* of a process, in one folder, one after the other */
#define WHO_COLUMNS   22u
#define WHAT_COLUMNS  8u
#define RESOLVER_PORT 53u
#define GATE	      STR("gate")

struct process {
	int64_t pid; /* the host's; 0: free */
	unsigned depth;
};

/* Which process had a number of the session's last. */
struct number {
	int64_t pid, host_pid;
};

/* What lines are folded by. */
struct alike {
	int64_t pid;
	const char *what; /* NULL: nothing is folded with it */
	int64_t error;	  /* as returned; 0: none */
	struct kept folder, text;
	unsigned shown;
	uint64_t same, folded, noise;
};

struct story {
	struct held held;
	struct trace_look look;
	struct arena *a; /* of a few lines */
	unsigned uses;
	struct process process[PROCESSES];
	struct number number[PROCESSES];
	struct flows *flows;
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
	s->flows = flows_new();
	s->a = arena_new();
	return s;
}

/* --- processes ------------------------------------------------------------ */

static struct process *process_slot(struct story *s, int64_t pid)
{
	return &s->process[(uint64_t)pid % PROCESSES];
}

static struct number *number_slot(struct story *s, int64_t pid)
{
	return &s->number[(uint64_t)pid % PROCESSES];
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

	*number_slot(s, e->pid) = (struct number){e->pid, e->host_pid};
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

/* --- names ---------------------------------------------------------------- */

/* An answer about "example.com A". */
static void learn_names(struct story *s, const struct told *t)
{
	struct str name = kept_str(&t->about);

	flows_learn_names(s->flows, str_slice(name, 0, str_find(name, ' ', 0)),
			  kept_str(&t->to));
}

/* Of what a flow goes to; empty where nobody asked for it. */
static struct str name_behind(struct story *s, const struct told *t)
{
	return t->role == TOLD_FLOW ? flows_name(s->flows, kept_str(&t->to))
				    : STR("");
}

/* --- lines ---------------------------------------------------------------- */

static enum view_paint paint_of(const struct told *l)
{
	if (l->error)
		return VIEW_BAD;
	if (strcmp(l->what, "exec") == 0)
		return VIEW_TITLE;
	if (strcmp(l->what, "connect") == 0 || strcmp(l->what, "dns") == 0 ||
	    strcmp(l->what, "send") == 0 || strcmp(l->what, "allow") == 0)
		return VIEW_GOOD;
	if (strcmp(l->what, "deny") == 0)
		return VIEW_BAD;
	if (strcmp(l->what, "attempt") == 0 || strcmp(l->what, "asks") == 0 ||
	    strcmp(l->what, "answer") == 0)
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

/* What the gate tells has no process where none is known to have wanted it. */
static void put_who(struct buf *out, const struct told *l)
{
	struct str comm = kept_str(&l->comm);

	buf_add(out, comm.n || l->pid ? comm : GATE);
	if (l->pid)
		buf_addf(out, "[%lld]", (long long)l->pid);
}

static void put_line(struct story *s, const struct told *l)
{
	struct buf out, who;
	struct view v = {&out, s->look.width, s->look.colour};
	char clock[TRACE_CLOCK_MAX];
	unsigned indent = 2 * (l->depth < INDENT_MAX ? l->depth : INDENT_MAX);

	buf_init(&out, s->a);
	buf_init(&who, s->a);
	put_who(&who, l);
	view_paint(&v, VIEW_DIM, str_of(trace_clock(l->at_ns, clock)));
	pad_column(&out, 0, indent);
	buf_add(&out, buf_str(&who));
	pad_column(&out, view_columns(buf_str(&who)), WHO_COLUMNS);
	view_paint(&v, paint_of(l), str_of(l->what));
	pad_column(&out, (unsigned)strlen(l->what), WHAT_COLUMNS);
	view_paint(&v, paint_of(l), kept_str(&l->text));
	if (name_behind(s, l).n)
		view_paint(
			&v, VIEW_DIM,
			arena_fmt(s->a, "  %.*s", STR_ARG(name_behind(s, l))));
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
	if (name_behind(s, l).n)
		json_put_str(o, "name", name_behind(s, l));
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
	if (s->last.noise)
		put_counted(s, arena_fmt(s->a,
					 "%llu for libraries, locale and zone",
					 (unsigned long long)s->last.noise));
	s->last.same = s->last.folded = s->last.noise = 0;
}

/* What most programs read is counted, below whatever line came before it. */
static bool folds_noise(struct story *s, const struct told *l)
{
	if (!l->is_noise || l->host_pid != s->last.pid || !s->last.what)
		return false;
	s->last.noise++;
	return true;
}

/* What failed is folded with its like alone: each of those may be news. */
static bool is_of_folder(const struct alike *last, const struct told *l)
{
	return !l->error && l->folder.n &&
	       str_eq(kept_str(&l->folder), kept_str(&last->folder));
}

/* One more of the same process; or of a loop that starts one program. */
static bool is_one_more(const struct alike *last, const struct told *l)
{
	return (l->host_pid == last->pid || strcmp(l->what, "exec") == 0) &&
	       strcmp(l->what, last->what) == 0 && l->error == last->error &&
	       last->folded == 0 &&
	       str_eq(kept_str(&l->text), kept_str(&last->text));
}

/* True when the line is counted instead of shown. */
static bool folds_line(struct story *s, const struct told *l)
{
	struct alike *last = &s->last;
	unsigned shown = 1;

	if (folds_noise(s, l))
		return true;
	if (last->what && is_one_more(last, l)) {
		last->pid = l->host_pid;
		last->same++;
		return true;
	}
	if (last->what && l->host_pid == last->pid &&
	    strcmp(l->what, last->what) == 0 && is_of_folder(last, l)) {
		if (last->shown >= SHOWN_ALIKE) {
			last->folded++;
			return true;
		}
		shown = last->shown + 1;
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

static enum told_role role_of(const struct trace_event *e)
{
	enum trace_kind kind = trace_kind(e);

	if (kind == TRACE_CONNECT || kind == TRACE_SEND)
		return TOLD_FLOW;
	if (kind != TRACE_DNS || trace_object(e).name.n == 0)
		return TOLD_ALONE;
	return trace_is_answer(e) ? TOLD_ANSWER : TOLD_QUESTION;
}

/* Room for a line of that time, to be filled. */
static struct told *hold_line(struct story *s, uint64_t at_ns)
{
	if (held_must_yield(&s->held, at_ns)) {
		if (s->held.n == HELD_LINES)
			put_told(s, held_take(&s->held));
		else
			put_held(s);
	}
	return held_add(&s->held, at_ns);
}

static void hold_event(struct story *s, const struct trace_event *e,
		       const struct trace_line *l)
{
	struct told *t = hold_line(s, e->at_ns);

	t->pid = e->pid;
	t->host_pid = e->host_pid;
	t->error = l->error ? e->ret : 0;
	t->depth = depth_of(s, e->host_pid);
	t->what = l->what;
	kept_set(&t->comm, view_cleaned(s->a, e->comm));
	kept_set(&t->text, l->text);
	kept_set(&t->folder, view_cleaned(s->a, l->folder));
	kept_set(&t->about, l->question);
	kept_set(&t->to, l->addresses);
	t->role = role_of(e);
	t->is_datagram = trace_kind(e) == TRACE_SEND &&
			 trace_object(e).port == RESOLVER_PORT;
	t->is_noise = l->is_noise;
	if (t->role == TOLD_ANSWER)
		learn_names(s, t);
	held_settle(&s->held, t);
}

/* --- what the gate decided ------------------------------------------------ */

static void learn_flow(struct story *s, const struct trace_event *e)
{
	if (role_of(e) == TOLD_FLOW)
		flows_learn(s->flows, e, view_cleaned(s->a, e->comm),
			    depth_of(s, e->host_pid));
}

/* "api.example.com:443  812 bytes out, 1,204 in", or why it was refused. */
static struct str decided_text(struct story *s, const cJSON *d, bool allow)
{
	uint64_t sent = json_find_u64(d, "sent", JSON_WHOLE_MAX),
		 received = json_find_u64(d, "received", JSON_WHOLE_MAX);
	struct buf b;

	buf_init(&b, s->a);
	logs_line_object(&b, d);
	if (!allow)
		buf_addf(&b, "  %.*s", STR_ARG(logs_line_why(s->a, d, false)));
	else if (sent || received)
		buf_addf(&b, "  %s bytes out, %s in", view_number(s->a, sent).p,
			 view_number(s->a, received).p);
	return buf_str(&b);
}

/* In one column what 'logs' has in two. */
static struct str question_text(struct story *s, const cJSON *d)
{
	struct buf b;

	buf_init(&b, s->a);
	logs_line_question(&b, d);
	buf_addf(&b, "  question %u",
		 (unsigned)json_find_u64(d, "id", UINT32_MAX));
	return buf_str(&b);
}

static struct str answer_text(struct story *s, const cJSON *d)
{
	struct buf b, by;

	buf_init(&b, s->a);
	buf_init(&by, s->a);
	logs_line_answer(&b, d);
	logs_line_person(&by, d);
	buf_adds(&b, by.n ? "  " : "");
	buf_add(&b, buf_str(&by));
	return buf_str(&b);
}

/* What a record of the gate's is called, and what it says. */
static const char *record_word(struct story *s, const cJSON *d,
			       struct str *out_text)
{
	struct str event = json_find_str(d, "event");
	bool allow = str_is(json_find_str(d, "verdict"), "allow");

	if (str_is(event, QUESTION_EVENT)) {
		*out_text = question_text(s, d);
		return "asks";
	}
	if (str_is(event, ANSWERED_EVENT)) {
		*out_text = answer_text(s, d);
		return "answer";
	}
	*out_text = decided_text(s, d, allow);
	return allow ? "allow" : "deny";
}

/* Below whose line it stands. */
struct teller {
	int64_t pid, host_pid; /* 0: no process of the agent's */
	unsigned depth;
	struct str comm;
};

/* On record for sure: of a question, whose connection waits. */
static bool is_on_record(struct story *s, const cJSON *d, struct teller *out)
{
	const cJSON *by = cJSON_GetObjectItemCaseSensitive(d, "process");
	int64_t pid = (int64_t)json_find_u64(by, "pid", UINT32_MAX);
	const struct number *n = number_slot(s, pid);

	if (!json_find_true(by, "sure") || pid == 0)
		return false;
	*out = (struct teller){.pid = pid,
			       .comm = view_cleaned(s->a,
						    json_find_str(by, "name"))};
	if (n->pid == pid) {
		out->host_pid = n->host_pid;
		out->depth = depth_of(s, n->host_pid);
	}
	return true;
}

static struct teller teller_of(struct story *s, const cJSON *d)
{
	const struct flow *f = flows_find(s->flows, d);
	struct str kind = json_find_str(d, "kind");
	bool is_path = str_is(kind, "read") || str_is(kind, "write");
	struct teller t;

	if (is_on_record(s, d, &t))
		return t;
	if (f)
		return (struct teller){f->pid, f->host_pid, f->depth,
				       kept_str(&f->comm)};
	return (struct teller){.comm = is_path ? STR("view") : GATE};
}

void story_decision(struct story *s, const cJSON *d, uint64_t at_ns)
{
	struct teller who = teller_of(s, d);
	struct str text;
	struct told *t;

	if (at_ns < s->look.since_ns)
		return;
	t = hold_line(s, at_ns);
	t->pid = who.pid;
	t->host_pid = who.host_pid;
	t->depth = who.depth;
	t->error = 0;
	t->what = record_word(s, d, &text);
	t->role = TOLD_ALONE;
	t->is_datagram = t->is_noise = false;
	kept_set(&t->comm, who.comm);
	kept_set(&t->text, text);
	kept_set(&t->folder, STR(""));
	kept_set(&t->about, STR(""));
	kept_set(&t->to, STR(""));
}

void story_add(struct story *s, const struct trace_event *e)
{
	struct trace_line l;

	learn_process(s, e);
	learn_flow(s, e);
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
	flows_free(s->flows);
	free(s);
}
