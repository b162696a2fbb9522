/*
 * Two policy files, with a line of "%%" between them: what the second permits
 * and the first does not is shown by requests that can be written down and
 * read back, and that the two decide as is said. Each is equal to itself, and
 * what is gained one way is lost the other.
 */
#include "compiler/algebra/compare/compare.h"
#include "compiler/algebra/compare/parts.h"
#include "compiler/algebra/decide/ask.h"
#include "compiler/front/bind/bind.h"
#include "compiler/front/word/request.h"
#include "compiler/ir/text.h"
#include "compiler/passes/passes.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_policy(struct pass_ctx *c, struct str text,
			struct ir_policy *out)
{
	const struct source *src =
		sources_add(c->sources, STR("fuzz"), text, LAYER_GLOBAL);
	struct yaml_node *root;
	ir_texts extends = {0};
	docs list = {0};
	struct doc *doc;

	if (!yaml_parse(c->a, c->diags, src, &root))
		return false;
	doc = vec_push(c->a, &list);
	doc->layer = LAYER_GLOBAL;
	doc->source = src->name;
	return bind_policy(c, doc->layer, root, &doc->policy, &extends) &&
	       passes_layers(c, &list, out) && passes_normalise(c, out);
}

static unsigned level(struct pass_ctx *c, const struct ir_policy *p,
		      const struct ir_request *r)
{
	struct decision d = decide_asked(c->a, p, decide_files_new(c->a, p), r);

	return access_level(&d);
}

static void check_witness(struct pass_ctx *c, const struct ir_policy *old,
			  const struct ir_policy *now,
			  const struct access_change *x)
{
	struct text text = {.s = x->witness.text};
	struct ir_request again;
	unsigned was, is;

	if (!request_parse(c, &text, &again) ||
	    !str_eq(ir_request_text(c->a, &again), x->witness.text))
		__builtin_trap();
	was = level(c, old, &again);
	is = level(c, now, &again);
	if ((was == is) != (x->way == ACCESS_KEPT) ||
	    was != access_level(&x->was) || is != access_level(&x->is) ||
	    was != level(c, old, &x->witness) ||
	    is != level(c, now, &x->witness))
		__builtin_trap();
	if (x->way == ACCESS_KEPT ? !is
				  : x->way != ACCESS_OTHER &&
					    (is > was) !=
						    (x->way == ACCESS_GAINED))
		__builtin_trap();
}

/* Both permit it, and it says of which sets it is. */
static void check_kept(struct pass_ctx *c, const struct ir_policy *old,
		       const struct ir_policy *now)
{
	struct comparison whole, changes;

	compare_whole(c->a, old, now, &whole);
	compare_policies(c->a, old, now, &changes);
	if (whole.changes.n != changes.changes.n ||
	    whole.unchanged != changes.unchanged || changes.kept.n)
		__builtin_trap();
	vec_each(k, &whole.kept) {
		if (k->way != ACCESS_KEPT || k->text.n == 0 ||
		    (k->has_witness && (!access_level(&k->was) ||
				       !access_level(&k->is))))
			__builtin_trap();
		if (k->has_witness)
			check_witness(c, old, now, k);
	}
}

static unsigned ways(const struct comparison *c)
{
	unsigned seen = 0;

	vec_each(x, &c->changes)
		seen |= 1u << x->way;
	return seen;
}

static void compare(struct pass_ctx *c, const struct ir_policy *old,
		    const struct ir_policy *now)
{
	struct rule_finding *found[RULE_LISTS];
	struct comparison there, back, same;
	unsigned x, y;

	compare_policies(c->a, old, now, &there);
	vec_each(change, &there.changes) {
		if (change->text.n == 0)
			__builtin_trap();
		if (change->has_witness)
			check_witness(c, old, now, change);
	}
	check_kept(c, old, now);
	compare_policies(c->a, now, old, &back);
	x = ways(&there);
	y = ways(&back);
	if (!((x | y) & 1u << ACCESS_OTHER) &&
	    ((x >> ACCESS_GAINED & 1) != (y >> ACCESS_LOST & 1) ||
	     (x >> ACCESS_LOST & 1) != (y >> ACCESS_GAINED & 1)))
		__builtin_trap();
	compare_policies(c->a, now, now, &same);
	if (!compare_equal(&same) || !same.same_text || compare_widens(&same))
		__builtin_trap();
	if (!rules_find(c->a, now, found))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char between[] = "\n%%\n";
	const uint8_t *cut = memmem(data, size, between, 4);
	struct ir_policy old, now;
	struct arena *a;
	struct sources s;
	struct diags d;
	struct pass_ctx c;

	if (!cut || size > 4096)
		return 0;
	a = arena_new();
	sources_init(&s, a);
	diags_init(&d, a, &s);
	c = (struct pass_ctx){a, &s, &d};
	if (read_policy(
		    &c,
		    (struct str){(const char *)data, (size_t)(cut - data) + 1},
		    &old) &&
	    read_policy(&c,
			(struct str){(const char *)cut + 4,
				     size - (size_t)(cut - data) - 4},
			&now))
		compare(&c, &old, &now);
	arena_free(a);
	return 0;
}
