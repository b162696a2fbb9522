#include "runtime/gate/requestless.h"

static uint64_t *word_of(struct requestless *o, uint16_t port)
{
	return &o->asked[port / 64];
}

static uint64_t bit_of(uint16_t port)
{
	return UINT64_C(1) << (port % 64);
}

void requestless_request(struct requestless *o, const struct logline *l)
{
	for (size_t i = 0; o->n && i < REQUESTLESS_MAX; i++) {
		struct requestless_end *e = &o->ends[i];

		if (e->due_ms && e->line.sport == l->sport) {
			e->due_ms = 0;
			o->n--;
			return;
		}
	}
	*word_of(o, l->sport) |= bit_of(l->sport);
}

bool requestless_end(struct requestless *o, const struct logline *l,
		     int64_t now_ms)
{
	if (*word_of(o, l->sport) & bit_of(l->sport)) {
		*word_of(o, l->sport) &= ~bit_of(l->sport);
		return true;
	}
	for (size_t i = 0; i < REQUESTLESS_MAX; i++)
		if (!o->ends[i].due_ms) {
			o->ends[i] = (struct requestless_end){
				*l, now_ms + REQUESTLESS_WAIT_MS};
			o->n++;
			return true;
		}
	return false;
}

bool requestless_due(struct requestless *o, int64_t now_ms, struct logline *out)
{
	for (size_t i = 0; o->n && i < REQUESTLESS_MAX; i++) {
		struct requestless_end *e = &o->ends[i];

		if (!e->due_ms || e->due_ms > now_ms)
			continue;
		*out = e->line;
		e->due_ms = 0;
		o->n--;
		return true;
	}
	return false;
}
