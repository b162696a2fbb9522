#include "runtime/gate/record/fold.h"

#include <string.h>

/* Without what is different each time. */
static size_t common_line(const struct record *given, char buf[RECORD_MAX])
{
	struct record r = *given;
	struct packet packet;
	struct logline flow;

	r.time = (struct timespec){0};
	if (r.packet) {
		packet = *r.packet;
		packet.sport = 0;
		r.packet = &packet;
	}
	if (r.flow) {
		flow = *r.flow;
		flow.up = flow.down = 0;
		r.flow = &flow;
	}
	return record_decision(&r, buf);
}

bool fold_add(struct fold *f, const struct record *r)
{
	char line[RECORD_MAX];
	size_t n = common_line(r, line);
	struct fold_entry *e = f->entries;

	if (n == 0)
		return false;
	while (e < f->entries + f->n &&
	       !(e->n == n && memcmp(e->line, line, n) == 0))
		e++;
	if (e == f->entries + FOLD_ENTRIES)
		return false;
	if (e == f->entries + f->n) {
		f->n++;
		e->count = 0;
		e->n = n;
		memcpy(e->line, line, n);
	}
	e->count++;
	e->last = r->time;
	return true;
}

size_t fold_take(struct fold *f, char buf[RECORD_MAX])
{
	const struct fold_entry *e = f->entries;
	size_t n;

	if (f->n == 0)
		return 0;
	n = record_folded((struct str){e->line, e->n}, &e->last, e->count, buf);
	f->n--;
	memmove(f->entries, f->entries + 1, f->n * sizeof(*f->entries));
	return n;
}
