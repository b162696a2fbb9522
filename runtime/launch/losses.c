#include "runtime/launch/losses.h"

#include "compiler/base/json.h"
#include "compiler/base/sys/clock.h"

#include <time.h>

void losses_know(struct losses *l, const struct gate *g,
		 const struct tracer *t)
{
	l->of[DECISIONS_LOST_EVENTS].known = t ? tracer_lost(t) : 0;
	l->of[DECISIONS_LOST_LINES].known = g->lost;
	l->of[DECISIONS_LOST_REFUSALS].known = g->decisions.unwritten;
	if (t && t->state == TRACER_FAILED)
		l->why = t->why.text;
}

static bool is_due(const struct losses *l, int of, int64_t until_ms)
{
	return l->of[of].known > l->of[of].told &&
	       l->of[of].next_ms <= until_ms;
}

bool losses_are_due(const struct losses *l, int64_t until_ms)
{
	for (int i = 0; i < DECISIONS_LOST_KINDS; i++)
		if (is_due(l, i, until_ms))
			return true;
	return l->why && !l->was_why_told;
}

static cJSON *new_line(int of)
{
	char text[CLOCK_TEXT_MAX];
	struct timespec now;
	cJSON *o = json_object();

	clock_gettime(CLOCK_REALTIME, &now);
	json_put_cstr(o, "event", DECISIONS_LOST_EVENT);
	json_put_cstr(o, "time", clock_text(&now, text));
	json_put_cstr(o, "of",
		      decisions_lost_word((enum decisions_lost)of));
	return o;
}

static void add_line(struct buf *out, cJSON *take)
{
	buf_add(out, json_compact(out->a, take));
	buf_addc(out, '\n');
}

void losses_lines(struct losses *l, int64_t until_ms, int64_t now_ms,
		  struct buf *out)
{
	cJSON *o;

	for (int i = 0; i < DECISIONS_LOST_KINDS; i++) {
		if (!is_due(l, i, until_ms))
			continue;
		o = new_line(i);
		json_put_u64(o, "count", l->of[i].known - l->of[i].told);
		json_put_u64(o, "total", l->of[i].known);
		add_line(out, o);
		l->of[i].told = l->of[i].known;
		l->of[i].next_ms = now_ms + LOSSES_REST_MS;
	}
	if (!l->why || l->was_why_told)
		return;
	o = new_line(DECISIONS_LOST_EVENTS);
	json_put_cstr(o, "why", l->why);
	add_line(out, o);
	l->was_why_told = true;
}

int64_t losses_deadline(const struct losses *l)
{
	int64_t first = 0;

	for (int i = 0; i < DECISIONS_LOST_KINDS; i++)
		if (l->of[i].known > l->of[i].told)
			first = clock_earlier(first, l->of[i].next_ms);
	return first;
}
