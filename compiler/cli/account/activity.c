#include "compiler/cli/account/activity.h"

#include "compiler/cli/account/parts.h"

#include "compiler/base/hash.h"
#include "compiler/cli/workspace/grantable.h"
#include "compiler/ir/text.h"

#define SLOTS		(8 * ACTIVITY_MAX)
#define SCRATCH_RECORDS 512u /* whose leavings are let go of together */

/* Texts and a number for each: deeds, flows that were decided, addresses. */
struct activity_index {
	struct {
		struct str text;
		uint32_t value;
	} slot[SLOTS];
	uint32_t used;
	struct arena *scratch; /* of the record at hand */
	unsigned records;
};

void activity_init(struct activity *d, struct arena *a)
{
	*d = (struct activity){
		.a = a,
		.refused = summary_new(a, grantable),
		.paths = refusals_new(a, STR(""), written_read(a, STR(""))),
		.index = arena_new_of(a, struct activity_index)};
}

void activity_mounted(struct activity *d, const char *path)
{
	*vec_push(d->a, &d->mounted) = arena_fmt(d->a, "%s/", path);
}

struct arena *activity_scratch(struct activity *d)
{
	struct activity_index *x = d->index;

	if (!x->scratch)
		x->scratch = arena_new();
	return x->scratch;
}

void activity_next_record(struct activity *d)
{
	struct activity_index *x = d->index;

	if (++x->records < SCRATCH_RECORDS)
		return;
	arena_free(x->scratch);
	x->scratch = NULL;
	x->records = 0;
}

uint32_t *activity_slot(struct activity *d, struct str text, bool add)
{
	struct activity_index *x = d->index;
	uint64_t h = hash64_bytes(HASH64_SEED, text.p, text.n);

	for (h %= SLOTS; x->slot[h].text.p; h = (h + 1) % SLOTS)
		if (str_eq(x->slot[h].text, text))
			return &x->slot[h].value;
	if (!add || x->used >= SLOTS / 2)
		return NULL;
	x->used++;
	x->slot[h].text = arena_str(d->a, text);
	return &x->slot[h].value;
}

struct act *activity_add(struct activity *d, const struct ir_request *r,
			 enum act_then then, enum reason reason)
{
	struct str text;
	uint32_t *at;
	struct act *x;

	if (d->is_unlisted)
		return NULL;
	text = ir_request_text(activity_scratch(d), r);
	at = activity_slot(
		d,
		arena_fmt(activity_scratch(d), "%d%.*s", then, STR_ARG(text)),
		d->v.n < ACTIVITY_MAX);
	if (!at) {
		d->beyond++;
		return NULL;
	}
	if (*at == 0) {
		x = vec_push(d->a, &d->v);
		*at = d->v.n;
		*x = (struct act){.r = *r,
				  .text = arena_str(d->a, text),
				  .then = then,
				  .reason = reason,
				  .order = d->v.n};
		x->r.name = arena_str(d->a, r->name);
		x->r.method = arena_str(d->a, r->method);
		x->r.url.name = arena_str(d->a, r->url.name);
		x->r.url.path = arena_str(d->a, r->url.path);
		x->r.type = arena_str(d->a, r->type);
		x->r.path = arena_str(d->a, r->path);
	}
	x = &d->v.v[*at - 1];
	x->n++;
	return x;
}

struct str act_who(struct arena *a, const struct act *d)
{
	char text[ADDR_TEXT_MAX];

	switch (d->r.kind) {
	case IR_REQ_CONNECT:
		if (d->r.name.n)
			return d->r.name;
		return arena_str(a, str_of(addr_text(&d->r.addr, text)));
	case IR_REQ_RESOLVE:
		return d->r.name;
	case IR_REQ_HTTP:
		if (d->r.url.who != IR_DEST_CIDR)
			return d->r.url.name;
		return arena_str(a,
				 str_of(addr_text(&d->r.url.net.addr, text)));
	case IR_REQ_READ:
	case IR_REQ_WRITE:
	case IR_REQ_ARG:
		break;
	}
	return STR("");
}

static bool is_file(const struct act *d)
{
	return d->r.kind == IR_REQ_READ || d->r.kind == IR_REQ_WRITE;
}

static int by_text(const void *va, const void *vb)
{
	const struct act *a = va, *b = vb;
	int c = is_file(a) - is_file(b);

	c = c ? c : str_cmp(a->text, b->text);
	return c ? c : (int)a->then - (int)b->then;
}

struct str activity_name_behind(struct activity *d, struct str addr)
{
	uint32_t *at = activity_slot(
		d, arena_fmt(activity_scratch(d), "=%.*s", STR_ARG(addr)),
		false);

	return at && *at ? d->v.v[*at - 1].r.name : STR("");
}

/* A trace tells of an answer later than of the connection that uses it. */
static void name_the_rest(struct activity *d)
{
	char text[ADDR_TEXT_MAX];

	vec_each(x, &d->v) {
		if (x->r.kind != IR_REQ_CONNECT || x->r.name.n)
			continue;
		activity_next_record(d);
		x->r.name = activity_name_behind(
			d, str_of(addr_text(&x->r.addr, text)));
		if (x->r.name.n)
			x->text = arena_str(
				d->a,
				ir_request_text(activity_scratch(d), &x->r));
	}
}

/* What has become the same by that. */
static void unite_acts(struct activity *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->v.n; i++) {
		struct act *x = &d->v.v[i], *last = &d->v.v[n - 1];

		if (n && last->then == x->then && str_eq(last->text, x->text)) {
			last->n += x->n;
			last->unseen += x->unseen;
			last->answered |= x->answered;
			continue;
		}
		d->v.v[n++] = *x;
	}
	d->v.n = n;
}

void activity_sort(struct activity *d)
{
	if (!d->has_decisions)
		name_the_rest(d);
	vec_sort(&d->v, by_text);
	unite_acts(d);
	arena_free(d->index->scratch);
	d->index->scratch = NULL;
}
