/* A trace in numbers: what came how often. */
#include "compiler/cli/traces/trace_views.h"

#include "compiler/base/json.h"
#include "compiler/cli/traces/trace_losses.h"
#include "compiler/cli/text/view.h"
#include "compiler/trace/count.h"

#include <stdlib.h>
#include <string.h>

#define TOP		12u
#define BAR_COLUMNS	24u
#define BAR_LEAST	8u
#define TEXT_COLUMNS	40u /* wanted for what is counted, before the bar */
#define OTHER_COLUMNS	16u
#define PREFIX_SEGMENTS 2u

enum table { BY_EVENT, BY_PROCESS, BY_PATH, BY_HOST, TABLES };

static const struct {
	const char *title, *member;
} tables[] = {
	[BY_EVENT] = {"events", "events"},
	[BY_PROCESS] = {"processes", "processes"},
	[BY_PATH] = {"paths", "paths"},
	[BY_HOST] = {"other ends", "hosts"},
};

struct stats {
	struct trace_look look;
	struct arena *a;
	struct count *count[TABLES];
	struct trace_losses losses;
	uint64_t records, failed, first_ns, last_ns;
};

struct stats *stats_new(const struct trace_look *look)
{
	struct arena *a = arena_new();
	struct stats *s = arena_new_of(a, struct stats);

	s->a = a;
	s->look = *look;
	for (int i = 0; i < TABLES; i++)
		s->count[i] = count_new(a);
	return s;
}

/* "/usr/lib" of "/usr/lib/x/y": where things are, not each of them. */
static struct str prefix_of(struct str path)
{
	size_t at = 0;

	for (unsigned i = 0; i < PREFIX_SEGMENTS && at < path.n; i++)
		at = str_find(path, '/', at + 1);
	return str_slice(path, 0, at);
}

static void add_host(struct stats *s, const struct trace_object *o)
{
	char text[128];
	int n = snprintf(
		text, sizeof(text),
		str_find(o->addr, ':', 0) < o->addr.n ? "[%.*s]:%u" : "%.*s:%u",
		(int)(o->addr.n < 64 ? o->addr.n : 64), o->addr.p, o->port);

	count_add(s->count[BY_HOST], (struct str){text, (size_t)n});
}

void stats_add(struct stats *s, const struct trace_event *e)
{
	enum trace_kind kind = trace_kind(e);
	struct trace_object o;

	if (kind == TRACE_ITSELF) {
		trace_losses_add(&s->losses, e);
		return;
	}
	if (e->at_ns < s->look.since_ns)
		return;
	s->records++;
	s->failed += e->ret < 0;
	if (e->at_ns && (s->first_ns == 0 || e->at_ns < s->first_ns))
		s->first_ns = e->at_ns;
	if (e->at_ns > s->last_ns)
		s->last_ns = e->at_ns;
	count_add(s->count[BY_EVENT], e->name);
	count_add(s->count[BY_PROCESS], e->comm);
	o = trace_object(e);
	if (o.path.n)
		count_add(s->count[BY_PATH], prefix_of(o.path));
	if (o.port && o.addr.n && kind != TRACE_LISTEN)
		add_host(s, &o);
	else if (o.name.n && !trace_is_answer(e))
		count_add(s->count[BY_HOST], o.name);
}

/* --- printing ------------------------------------------------------------- */

/* A narrow terminal has more need of the texts. */
static unsigned bar_columns(unsigned width)
{
	unsigned wanted = BAR_COLUMNS + TEXT_COLUMNS + OTHER_COLUMNS;

	if (width >= wanted)
		return BAR_COLUMNS;
	return wanted - width > BAR_COLUMNS - BAR_LEAST
		       ? BAR_LEAST
		       : BAR_COLUMNS - (wanted - width);
}

static void put_bar(struct buf *out, const struct view *v, unsigned columns,
		    uint64_t n, uint64_t most)
{
	/* In eighths of a column. */
	static const char *const parts[] = {"",	 "▏", "▎", "▍",
					    "▌", "▋", "▊", "▉"};
	uint64_t eighths = most ? n * columns * 8 / most : 0;
	struct buf bar;

	buf_init(&bar, out->a);
	for (uint64_t i = 0; i < eighths / 8; i++)
		buf_adds(&bar, "█");
	buf_adds(&bar, parts[eighths % 8]);
	view_paint(v, VIEW_GOOD, buf_str(&bar));
}

static void put_table(struct stats *s, const struct view *v, enum table t)
{
	struct count_entry *top;
	uint32_t n = count_top(s->count[t], TOP, &top);
	uint64_t rest = s->count[t]->total;
	unsigned bar = bar_columns(s->look.width);
	unsigned wide = s->look.width - bar - OTHER_COLUMNS;

	if (n == 0)
		return;
	view_title(v, tables[t].title, s->count[t]->total, NULL);
	for (uint32_t i = 0; i < n; i++) {
		struct str text =
			view_fit(s->a, view_cleaned(s->a, top[i].text), wide);

		rest -= top[i].n;
		buf_addf(v->out, "%12.*s  ",
			 STR_ARG(view_number(s->a, top[i].n)));
		buf_add(v->out, text);
		for (unsigned k = view_columns(text); k < wide; k++)
			buf_addc(v->out, ' ');
		buf_addc(v->out, ' ');
		put_bar(v->out, v, bar, top[i].n, top[0].n);
		buf_addc(v->out, '\n');
	}
	if (rest)
		buf_addf(v->out, "%12.*s  others\n",
			 STR_ARG(view_number(s->a, rest)));
}

static struct str head_text(struct stats *s)
{
	double seconds =
		s->last_ns ? (double)(s->last_ns - s->first_ns) / 1e9 : 0;
	struct buf b;

	buf_init(&b, s->a);
	buf_addf(&b, "%.*s record%s in %.1f s, %.*s of them failures",
		 STR_ARG(view_number(s->a, s->records)),
		 s->records == 1 ? "" : "s", seconds,
		 STR_ARG(view_number(s->a, s->failed)));
	if (s->losses.all)
		buf_addf(&b, "; %.*s",
			 STR_ARG(trace_losses_text(s->a, &s->losses)));
	else if (!s->losses.has_end)
		buf_adds(&b, "; the end of the trace is not here");
	return buf_str(&b);
}

static void put_stats_text(struct stats *s)
{
	struct buf out;
	struct view v = {&out, s->look.width, s->look.colour};

	buf_init(&out, s->a);
	view_wrap(&v, 0, 0, head_text(s));
	for (int t = 0; t < TABLES; t++)
		put_table(s, &v, (enum table)t);
	fwrite(out.p, 1, out.n, s->look.out);
}

static void put_stats_json(struct stats *s)
{
	cJSON *root = json_object();
	struct str text;

	json_put_u64(root, "version", 1);
	json_put_u64(root, "records", s->records);
	json_put_u64(root, "failed", s->failed);
	json_put_u64(root, "lost", s->losses.all);
	json_put_bool(root, "has_end", s->losses.has_end);
	json_put_u64(root, "first_ns", s->first_ns);
	json_put_u64(root, "last_ns", s->last_ns);
	for (int t = 0; t < TABLES; t++) {
		cJSON *list = json_array();
		struct count_entry *top;
		uint32_t n = count_top(s->count[t], 1000, &top);

		for (uint32_t i = 0; i < n; i++) {
			cJSON *o = json_object();

			json_put_str(o, "text",
				     view_cleaned(s->a, top[i].text));
			json_put_u64(o, "count", top[i].n);
			json_push(list, o);
		}
		json_put(root, tables[t].member, list);
	}
	text = json_text(s->a, root);
	fwrite(text.p, 1, text.n, s->look.out);
}

void stats_end(struct stats *s, bool prints)
{
	if (prints && s->look.json)
		put_stats_json(s);
	else if (prints)
		put_stats_text(s);
	fflush(s->look.out);
	arena_free(s->a);
}
