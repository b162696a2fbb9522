#include "compiler/driver.h"

#include "compiler/base/limits.h"
#include "compiler/base/sha256.h"
#include "compiler/emit/emit.h"
#include "compiler/emit/places.h"
#include "compiler/lint/invariants.h"
#include "compiler/parts.h"

#include <errno.h>
#include <string.h>

static bool pass_layers(struct pass_ctx *ctx, struct compilation *c)
{
	return passes_layers(ctx, &c->docs, &c->policy);
}

static bool pass_normalise(struct pass_ctx *ctx, struct compilation *c)
{
	return passes_normalise(ctx, &c->policy);
}

static bool pass_conflicts(struct pass_ctx *ctx, struct compilation *c)
{
	return passes_conflicts(ctx, &c->policy);
}

static bool pass_invariants(struct pass_ctx *ctx, struct compilation *c)
{
	return c->unbound || invariants_hold(ctx, &c->policy);
}

static bool pass_enforceable(struct pass_ctx *ctx, struct compilation *c)
{
	return passes_enforceable(ctx, &c->policy);
}

/* In order. */
static const struct pass {
	const char *name;
	bool (*run)(struct pass_ctx *ctx, struct compilation *c);
	enum ir_stage ensures;
	bool if_asked; /* `run` has it behind the plan, with a list of its own
			*/
} passes[] = {
	{"layers", pass_layers, IR_MERGED, false},
	{"normalise", pass_normalise, IR_NORMALISED, false},
	{"conflicts", pass_conflicts, IR_NORMALISED, false},
	{"invariants", pass_invariants, IR_NORMALISED, false},
	{"enforceable", pass_enforceable, IR_NORMALISED, true},
};

const char *driver_pass(size_t i)
{
	return i < ARRAY_LEN(passes) ? passes[i].name : NULL;
}

struct pass_ctx driver_ctx(struct compilation *c)
{
	return (struct pass_ctx){c->a, &c->sources, &c->diags};
}

struct emit_in driver_emit(struct compilation *c)
{
	return (struct emit_in){
		.policy = &c->policy,
		.sources = &c->sources,
		.diags = &c->diags,
		.a = c->a,
		.marks = c->mark_lines ? &c->marks : NULL,
		.unwritten = c->unwritten,
		.places = c->places.n ? places_read(c->a, c->places) : NULL,
		.kubernetes = c->kubernetes,
		.made = c->ok ? &c->plan : NULL,
	};
}

static bool is_asked_for(const struct compilation *c, const struct pass *pass)
{
	return c->stop_after && strcmp(c->stop_after, pass->name) == 0;
}

/* For --dump-ir: the policy as it is now. */
static void dump_policy(struct compilation *c)
{
	struct emit_in in = driver_emit(c);
	struct buf out;

	buf_init(&out, c->a);
	for (size_t i = 0; emitter_at(i); i++)
		if (strcmp(emitter_at(i)->name, "policy") == 0)
			c->ok = emitter_at(i)->emit(&in, &out);
	c->dump = buf_str(&out);
}

/* False where the policy is refused, or where --dump-ir goes no further. */
static bool run_passes(struct pass_ctx *ctx, struct compilation *c)
{
	for (size_t i = 0; i < ARRAY_LEN(passes); i++) {
		const struct pass *pass = &passes[i];

		if (pass->if_asked && !is_asked_for(c, pass))
			continue;
		if (!pass->run(ctx, c))
			return false;
		ir_verify(&c->policy, pass->ensures);
		if (is_asked_for(c, pass)) {
			dump_policy(c);
			return false;
		}
	}
	return true;
}

/* What the manifest tells of the texts that people wrote. */
static void seal_sources(struct compilation *c)
{
	char hex[SHA256_HEX_MAX];

	vec_each(s, &c->sources.list) {
		if (s->layer == LAYER_FLOOR)
			continue;
		*vec_push(c->a, &c->plan.sources) = (struct plan_source){
			s->name,
			arena_str(c->a, str_of(sha256_hex(s->text, hex)))};
	}
}

int driver_compile(struct compilation *c, const struct front_input *in,
		   struct err *err)
{
	struct pass_ctx ctx;
	struct emit_in emit;
	bool bound = false;
	int rc;

	arena_bound(LIMIT_MEMORY_BYTES);
	c->a = arena_new();
	c->marks.a = c->a;
	sources_init(&c->sources, c->a);
	diags_init(&c->diags, c->a, &c->sources);
	ctx = driver_ctx(c);
	rc = front_load(&ctx, &c->sources, in, &c->docs, &bound, err);
	if (rc < 0 || !bound)
		return rc;
	if (!run_passes(&ctx, c))
		return 0;
	if (c->origins.n && !origins_adopt(&ctx, c->origins, &c->policy))
		return err_set(err, -EPROTO, "provenance.json: not one");
	third_party_reach(c->a, &c->policy, &c->reached);
	emit = driver_emit(c);
	c->ok = emit_all(&emit, &c->plan);
	seal_sources(c);
	return 0;
}

void driver_lint(struct compilation *c, const struct driver_look *look)
{
	struct pass_ctx ctx = driver_ctx(c);

	c->denied = lint_policy(&ctx, &c->policy, &c->reached);
	if (look->workspace)
		c->unsearched = !workspace_lint(
			&ctx, &c->policy, look->workspace, look->patterns,
			look->patterns ? &c->counts : NULL);
	waive_warnings(&ctx, &c->policy, look->today,
		       look->workspace && look->patterns, &c->waived);
}

void driver_done(struct compilation *c)
{
	arena_free(c->a);
	c->a = NULL;
}
