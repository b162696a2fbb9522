#include "compiler/base/limits.h"
#include "compiler/emit/emit.h"

#include <stdlib.h>

/* Whether the packet filter alone decides this grant. */
static bool has_class(const struct ir_grant *g)
{
	if (g->has_http)
		return false;
	switch (g->dest.kind) {
	case IR_DEST_ANY:
	case IR_DEST_CIDR:
		return true;
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		return g->key != IR_KEY_DENY;
	case IR_DEST_URL:
	case IR_DEST_POISON:
		return false;
	}
	abort();
}

static int by_text(const void *va, const void *vb)
{
	const struct emit_class *a = va, *b = vb;

	return str_cmp(a->text, b->text);
}

static void mark(struct emit_class *k, const struct ir_grant *g)
{
	switch (g->dest.kind) {
	case IR_DEST_ANY:
		k->has_any = true;
		/* Private addresses come from the resolver alone. */
		k->has_name |= g->private.set && g->private.v;
		return;
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		k->has_name = true;
		return;
	case IR_DEST_CIDR:
		if (g->dest.u.cidr.net.addr.family == ADDR_V4)
			k->has_cidr4 = true;
		else
			k->has_cidr6 = true;
		return;
	case IR_DEST_URL:
	case IR_DEST_POISON:
		return;
	}
	abort();
}

/* One class per grant, sorted, then those with the same text into one. */
static emit_classes collect(struct arena *a, const ir_grants *grants)
{
	emit_classes all = {0}, out = {0};

	vec_each(g, grants) {
		struct emit_class *k;

		if (!has_class(g) || g->from.layer == LAYER_FLOOR)
			continue;
		k = vec_push(a, &all);
		k->ports = g->ports;
		k->text = ir_ports_text(a, &g->ports);
		mark(k, g);
	}
	if (all.n)
		qsort(all.v, all.n, sizeof(*all.v), by_text);
	vec_each(k, &all) {
		struct emit_class *last = out.n ? &out.v[out.n - 1] : NULL;

		if (!last || !str_eq(last->text, k->text)) {
			*vec_push(a, &out) = *k;
			continue;
		}
		last->has_name |= k->has_name;
		last->has_cidr4 |= k->has_cidr4;
		last->has_cidr6 |= k->has_cidr6;
		last->has_any |= k->has_any;
	}
	return out;
}

/* Two emitters make the same classes; one of them complains. */
static bool was_said(const struct diags *d, struct span at)
{
	struct diag_view view;

	for (unsigned i = 0; diags_get(d, i, &view); i++)
		if (view.id == DIAG_CLASSES && view.at.beg == at.beg)
			return true;
	return false;
}

/* The list that was written last. */
static struct span last_of(const emit_classes *classes)
{
	struct span last = {0};

	vec_each(k, classes)
		if (k->ports.v[0].at.beg > last.beg)
			last = k->ports.v[0].at;
	return last;
}

static bool make(const struct emit_in *in, const ir_grants *grants,
		 emit_classes *out)
{
	emit_classes classes = collect(in->a, grants);
	struct span at = last_of(&classes);

	if (classes.n <= LIMIT_CLASSES) {
		*out = classes;
		return true;
	}
	if (was_said(in->diags, at))
		return false;
	diag_error(in->diags, DIAG_CLASSES, at,
		   "%u different port lists, more than %u", classes.n,
		   LIMIT_CLASSES);
	diag_help(in->diags, "give destinations the same ports, or a range");
	return false;
}

bool emit_classes_make(const struct emit_in *in, emit_classes *out)
{
	return make(in, &in->policy->allow, out);
}

bool emit_denials_make(const struct emit_in *in, emit_classes *out)
{
	return make(in, &in->policy->deny, out);
}

uint32_t emit_class_of(struct arena *a, const emit_classes *classes,
		       const struct ir_grant *g)
{
	struct emit_class key = {0}, *found = NULL;

	if (!has_class(g) || classes->n == 0)
		return 0;
	key.text = ir_ports_text(a, &g->ports);
	found = bsearch(&key, classes->v, classes->n, sizeof(*classes->v),
			by_text);
	return found ? (uint32_t)(found - classes->v) + 1 : 0;
}
