#include "compiler/cli/traces/trace_held.h"

#include <stdlib.h>
#include <string.h>

void kept_set(struct kept *k, struct str s)
{
	if (s.n > k->room) {
		k->room = 2 * s.n;
		k->p = realloc(k->p, k->room);
		if (!k->p)
			abort();
	}
	if (s.n)
		memcpy(k->p, s.p, s.n);
	k->n = s.n;
}

struct str kept_str(const struct kept *k)
{
	return (struct str){k->p, k->n};
}

void kept_done(struct kept *k)
{
	free(k->p);
	*k = (struct kept){0};
}

void held_init(struct held *h)
{
	*h = (struct held){0};
	for (unsigned i = 0; i < HELD_LINES; i++)
		h->order[i] = &h->line[i];
}

void held_done(struct held *h)
{
	for (unsigned i = 0; i < HELD_LINES; i++) {
		kept_done(&h->line[i].comm);
		kept_done(&h->line[i].text);
		kept_done(&h->line[i].folder);
		kept_done(&h->line[i].about);
		kept_done(&h->line[i].to);
	}
}

bool held_must_yield(const struct held *h, uint64_t at_ns)
{
	return h->n == HELD_LINES ||
	       (h->n &&
		at_ns + HELD_LATE_S * 1000000000u < h->order[h->n - 1]->at_ns);
}

struct told *held_add(struct held *h, uint64_t at_ns)
{
	struct told *t = h->order[h->n];
	unsigned i = h->n++;

	for (; i && h->order[i - 1]->at_ns > at_ns; i--)
		h->order[i] = h->order[i - 1];
	h->order[i] = t;
	t->at_ns = at_ns;
	return t;
}

/* --- causes --------------------------------------------------------------- */

static unsigned place_of(const struct held *h, const struct told *t)
{
	unsigned i = 0;

	while (h->order[i] != t)
		i++;
	return i;
}

/* The line at place from comes to stand at place to. */
static void move_line(struct held *h, unsigned from, unsigned to)
{
	struct told *t = h->order[from];
	struct told **v = h->order;

	if (from > to)
		memmove(v + to + 1, v + to, (from - to) * sizeof(*v));
	else
		memmove(v + from, v + from + 1, (to - from) * sizeof(*v));
	v[to] = t;
}

static bool is_same(const struct kept *a, const struct kept *b)
{
	return str_eq(kept_str(a), kept_str(b));
}

/* Does an answer lead to where a flow goes? to: " 192.0.2.1 " */
static bool leads_to(const struct told *answer, const struct told *flow)
{
	return flow->to.n && answer->to.n &&
	       memmem(answer->to.p, answer->to.n, flow->to.p, flow->to.n);
}

/*
 * How a line has to do with an answer: its question, another answer that says
 * the same, or what was done with it.
 */
enum kin { KIN_NONE, KIN_QUESTION, KIN_RIVAL, KIN_EFFECT };

static enum kin kin_of(const struct told *answer, const struct told *l)
{
	if (l == answer || l->host_pid != answer->host_pid)
		return KIN_NONE;
	switch (l->role) {
	case TOLD_QUESTION:
		return is_same(&l->about, &answer->about) ? KIN_QUESTION
							  : KIN_NONE;
	case TOLD_ANSWER:
		return is_same(&l->about, &answer->about) ? KIN_RIVAL
							  : KIN_NONE;
	case TOLD_FLOW:
		return leads_to(answer, l) ? KIN_EFFECT : KIN_NONE;
	case TOLD_ALONE:
		break;
	}
	return KIN_NONE;
}

/* Up to before the first effect that has no earlier cause. */
static void raise_answer(struct held *h, const struct told *answer)
{
	unsigned at = place_of(h, answer), best = at;

	for (unsigned i = at; i-- > 0;) {
		enum kin kin = kin_of(answer, h->order[i]);

		if (kin == KIN_QUESTION || kin == KIN_RIVAL)
			break;
		if (kin == KIN_EFFECT)
			best = i;
	}
	move_line(h, at, best);
}

/* A question that stands behind its answer, by the clocks of two. */
static void raise_question(struct held *h, const struct told *answer)
{
	unsigned at = place_of(h, answer);

	for (unsigned i = at; i-- > 0;) {
		enum kin kin = kin_of(answer, h->order[i]);

		if (kin == KIN_QUESTION)
			return;
		if (kin == KIN_RIVAL)
			break;
	}
	for (unsigned i = at + 1; i < h->n; i++) {
		enum kin kin = kin_of(answer, h->order[i]);

		if (kin == KIN_RIVAL)
			return;
		if (kin == KIN_QUESTION) {
			move_line(h, i, at);
			return;
		}
	}
}

/* The line at place i is not told: its room is free again. */
static void drop_line(struct held *h, unsigned i)
{
	move_line(h, i, h->n - 1);
	h->n--;
}

/* The datagram that carried a question says nothing that this does not. */
static void drop_carrier(struct held *h, const struct told *question)
{
	for (unsigned i = place_of(h, question); i-- > 0;) {
		const struct told *l = h->order[i];

		if (l->host_pid != question->host_pid)
			continue;
		if (l->is_datagram && !l->error &&
		    is_same(&l->to, &question->to))
			drop_line(h, i);
		return;
	}
}

void held_settle(struct held *h, struct told *t)
{
	if (t->role == TOLD_ALONE)
		return;
	if (t->role == TOLD_QUESTION)
		drop_carrier(h, t);
	if (t->role == TOLD_ANSWER) {
		raise_answer(h, t);
		raise_question(h, t);
		return;
	}
	/* What comes before an answer that is there already. */
	for (unsigned i = place_of(h, t) + 1; i < h->n; i++) {
		struct told *l = h->order[i];

		if (l->role != TOLD_ANSWER || kin_of(l, t) == KIN_NONE)
			continue;
		raise_answer(h, l);
		break;
	}
	for (unsigned i = place_of(h, t); t->role == TOLD_QUESTION && i-- > 0;)
		if (h->order[i]->role == TOLD_ANSWER &&
		    kin_of(h->order[i], t) == KIN_QUESTION) {
			raise_question(h, h->order[i]);
			break;
		}
}

/* --- on their way --------------------------------------------------------- */

const struct told *held_take(struct held *h)
{
	struct told *t = h->order[0];

	if (h->n == 0)
		return NULL;
	h->n--;
	memmove(h->order, h->order + 1, h->n * sizeof(h->order[0]));
	h->order[h->n] = t;
	return t;
}
