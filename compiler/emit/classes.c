/*
 * Names and networks with the same ports, in classes: one set of addresses
 * each.
 */
#include "compiler/base/limits.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

#include <stdlib.h>
#include <string.h>

/* Whether the packet filter holds a set or a rule for it. */
static bool has_class(const struct ir_grant *g)
{
	if (g->key == IR_KEY_DENY && ir_grant_http(g))
		return false;
	switch (g->dest.kind) {
	case IR_DEST_ANY:
	case IR_DEST_CIDR:
		return true;
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		/* A name denied on all ports is not even resolved. */
		return g->key != IR_KEY_DENY || !ports_all(&g->ports);
	case IR_DEST_URL:
		return true;
	case IR_DEST_POISON:
		break;
	}
	abort();
}

static void mark_name(struct emit_class *k, bool http)
{
	k->has_name |= !http;
	k->has_http |= http;
}

static void mark_class(struct emit_class *k, const struct ir_grant *g)
{
	bool http = ir_grant_http(g);

	switch (g->dest.kind) {
	case IR_DEST_ANY:
		k->has_any |= !http;
		k->has_anyhttp |= http;
		/* Private addresses come from the resolver alone. */
		if (g->private.v)
			mark_name(k, http);
		return;
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		mark_name(k, http);
		return;
	case IR_DEST_CIDR: /* the packet filter has their sets */
		return;
	case IR_DEST_URL:
		if (g->dest.u.url.who != IR_DEST_CIDR)
			mark_name(k, true);
		return;
	case IR_DEST_POISON:
		break;
	}
	abort();
}

uint32_t emit_place(const struct str *texts, size_t stride, uint32_t n,
		    struct str text)
{
	uint32_t lo = 0, hi = n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const void *at = (const char *)texts + mid * stride;

		if (str_cmp(*(const struct str *)at, text) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static uint32_t place_of(const emit_classes *l, struct str text)
{
	return l->n ? emit_place(&l->v->text, sizeof(*l->v), l->n, text) : 0;
}

static struct emit_class *class_for(struct arena *a, emit_classes *classes,
				    const struct ir_grant *g)
{
	struct str text = ir_grant_ports(g);
	uint32_t at = place_of(classes, text);

	if (at < classes->n && str_eq(classes->v[at].text, text))
		return &classes->v[at];
	(void)vec_push(a, classes);
	memmove(&classes->v[at + 1], &classes->v[at],
		(classes->n - 1 - at) * sizeof(*classes->v));
	classes->v[at] = (struct emit_class){.ports = g->ports, .text = text};
	return &classes->v[at];
}

/* Sorted; goes no further than one more than there may be. */
static emit_classes collect_classes(struct arena *a, const ir_grants *grants)
{
	emit_classes out = {0};

	vec_each(g, grants)
		if (out.n <= LIMIT_CLASSES && has_class(g) &&
		    g->from.layer != LAYER_FLOOR)
			mark_class(class_for(a, &out, g), g);
	return out;
}

static emit_classes collect_quics(const struct emit_in *in)
{
	emit_classes out = {0};

	vec_each(d, &in->policy->deny)
		if (out.n <= LIMIT_CLASSES &&
		    inspection_quic_guards(in->policy, d))
			class_for(in->a, &out, d)->has_name = true;
	return out;
}

/* Two emitters make the same classes, and stop at the same list; one of them
 * complains. */
static bool was_said(struct diags *d)
{
	struct diag_view view;

	for (unsigned i = 0; diags_get(d, i, &view); i++)
		if (view.id == DIAG_CLASSES)
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

static bool bound_classes(const struct emit_in *in, emit_classes classes,
			  emit_classes *out)
{
	if (classes.n <= LIMIT_CLASSES) {
		*out = classes;
		return true;
	}
	if (was_said(in->diags))
		return false;
	diag_error(in->diags, DIAG_CLASSES, last_of(&classes),
		   "more than %u different port lists", LIMIT_CLASSES);
	diag_help(in->diags, "give destinations the same ports, or a range");
	return false;
}

bool emit_classes_make(const struct emit_in *in, emit_classes *out)
{
	return bound_classes(in, collect_classes(in->a, &in->policy->allow),
			     out);
}

bool emit_denials_make(const struct emit_in *in, emit_classes *out)
{
	return bound_classes(in, collect_classes(in->a, &in->policy->deny),
			     out);
}

bool emit_asks_make(const struct emit_in *in, emit_classes *out)
{
	return bound_classes(in, collect_classes(in->a, &in->policy->ask), out);
}

bool emit_quics_make(const struct emit_in *in, emit_classes *out)
{
	return bound_classes(in, collect_quics(in), out);
}

uint32_t emit_class_of(const emit_classes *classes, const struct ir_grant *g)
{
	struct str text = ir_grant_ports(g);
	uint32_t at = place_of(classes, text);

	return at < classes->n && str_eq(classes->v[at].text, text) ? at + 1
								    : 0;
}

uint32_t emit_quic_of(const emit_classes *classes, const struct ir_grant *d)
{
	return inspection_quic_names(d) ? emit_class_of(classes, d) : 0;
}
