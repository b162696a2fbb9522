#include "runtime/gate/ask/questions.h"

#include <string.h>

#define MINUTE_MS 60000

static bool is_same(const struct question_key *a, const struct question_key *b)
{
	return a->port == b->port && addr_eq(&a->addr, &b->addr) &&
	       strcmp(a->rule, b->rule) == 0 &&
	       strcmp(a->name, b->name) == 0 &&
	       a->tls == b->tls && strcmp(a->method, b->method) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

static bool still_counts(enum question_state s)
{
	switch (s) {
	case QUESTION_FREE:
	case QUESTION_ONCE:
		return false;
	case QUESTION_OPEN:
	case QUESTION_YES:
	case QUESTION_NO:
		return true;
	}
	return false;
}

static struct question *find_same(struct questions *q,
				  const struct question_key *key)
{
	for (size_t i = 0; i < QUESTIONS_MAX; i++)
		if (still_counts(q->v[i].state) &&
		    is_same(&q->v[i].key, key))
			return &q->v[i];
	return NULL;
}

static uint32_t count_open(const struct questions *q)
{
	uint32_t n = 0;

	for (size_t i = 0; i < QUESTIONS_MAX; i++)
		n += q->v[i].state == QUESTION_OPEN;
	return n;
}

/* Whether one more is within what a minute has; it then counts. */
static bool take_turn(struct questions *q, int64_t now_ms)
{
	int64_t *oldest = &q->asked_ms[q->n_asked % QUESTIONS_A_MINUTE];

	if (q->n_asked >= QUESTIONS_A_MINUTE && now_ms - *oldest < MINUTE_MS)
		return false;
	*oldest = now_ms;
	/* never to 0 again, where all would seem free */
	if (++q->n_asked == 2 * QUESTIONS_A_MINUTE)
		q->n_asked = QUESTIONS_A_MINUTE;
	return true;
}

/* How little is lost with it: a free one first, what is open never. */
static unsigned worth(const struct question *x)
{
	switch (x->state) {
	case QUESTION_FREE:
		return 0;
	case QUESTION_ONCE:
		return 1;
	case QUESTION_YES:
	case QUESTION_NO:
		return 2;
	case QUESTION_OPEN:
		break;
	}
	return 3;
}

/* There is always one: fewer than all are open. */
static struct question *find_room(struct questions *q)
{
	struct question *best = &q->v[0];

	for (size_t i = 1; i < QUESTIONS_MAX; i++) {
		struct question *x = &q->v[i];

		if (worth(x) < worth(best) ||
		    (worth(x) == worth(best) && x->number < best->number))
			best = x;
	}
	return best;
}

_Static_assert(QUESTIONS_OPEN < QUESTIONS_MAX, "find_room() finds one");

enum reason questions_ask(struct questions *q, const struct question_key *key,
			  uint32_t wait_s, int64_t now_ms,
			  struct question **out, bool *out_new)
{
	struct question *x = find_same(q, key);

	*out_new = false;
	*out = x && x->state != QUESTION_NO ? x : NULL;
	if (x)
		return x->state == QUESTION_OPEN  ? REASON_ASK
		       : x->state == QUESTION_YES ? REASON_ANSWERED
						  : REASON_ANSWERED_NO;
	if (!q->on)
		return REASON_NOT_ASKED;
	if (count_open(q) == QUESTIONS_OPEN || !take_turn(q, now_ms))
		return REASON_TOO_MANY;
	x = find_room(q);
	*x = (struct question){.state = QUESTION_OPEN,
			       .number = ++q->last,
			       .key = *key,
			       .deadline_ms =
				       now_ms + wait_s * INT64_C(1000)};
	*out_new = true;
	*out = x;
	return REASON_ASK;
}

bool questions_refused(struct questions *q, const struct question_key *key)
{
	const struct question *x = find_same(q, key);

	return x && x->state == QUESTION_NO;
}

struct question *questions_find(struct questions *q, uint32_t number)
{
	for (size_t i = 0; number && i < QUESTIONS_MAX; i++)
		if (q->v[i].state != QUESTION_FREE && q->v[i].number == number)
			return &q->v[i];
	return NULL;
}

struct question *questions_answered(struct questions *q, const char *name,
				    const struct addr *addr, uint16_t port)
{
	for (size_t i = 0; i < QUESTIONS_MAX; i++) {
		struct question *x = &q->v[i];

		if (x->state == QUESTION_YES && x->key.port == port &&
		    !x->key.method[0] &&
		    (x->key.name[0] ? strcmp(x->key.name, name) == 0
				    : addr_eq(&x->key.addr, addr)))
			return x;
	}
	return NULL;
}

void questions_settle(struct question *x, enum question_state state)
{
	if (x->state == QUESTION_OPEN)
		x->state = state;
}

struct question *questions_due(struct questions *q, int64_t now_ms)
{
	for (size_t i = 0; i < QUESTIONS_MAX; i++)
		if (q->v[i].state == QUESTION_OPEN &&
		    q->v[i].deadline_ms <= now_ms)
			return &q->v[i];
	return NULL;
}

int64_t questions_next_ms(const struct questions *q)
{
	int64_t least = -1;

	for (size_t i = 0; i < QUESTIONS_MAX; i++)
		if (q->v[i].state == QUESTION_OPEN &&
		    (least < 0 || q->v[i].deadline_ms < least))
			least = q->v[i].deadline_ms;
	return least;
}
