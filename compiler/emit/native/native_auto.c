/*
 * `engine: auto`: which policies the native engine has an artefact for. It
 * depends on the policy alone, so a plan is the same bytes on every machine.
 */
#include "compiler/emit/docker/agent.h"
#include "compiler/emit/native/native.h"
#include "compiler/emit/native/parts.h"
#include "compiler/ir/natively.h"

/* Nothing prevents these where the engine is named, or it says so later; where
 * it is left open, who writes Docker's words is asking for Docker. */
static bool leaves_it_open(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;

	/* as well as 'engine' does, that names it */
	if (natively_runs(p))
		return true;
	if (p->docker_args.n)
		return native_refuse(in, p->docker_args.v[0].from.at,
				     "arguments of docker run are Docker's",
				     "'engine: native' takes some of them");
	if (p->hardening.memory.set || p->hardening.cpus_milli.set)
		return native_refuse(
			in,
			p->hardening.memory.set
				? p->hardening.memory.from.at
				: p->hardening.cpus_milli.from.at,
			"the limit takes a control group, which not every user has",
			"'engine: native' takes it where there is one");
	if (p->trace.required.v && native_unasked(p))
		return native_refuse(
			in, p->trace.required.from.at,
			arena_fmt(in->a,
				  "it records '%s' in sessions of root's alone",
				  native_unasked(p))
				.p,
			"'engine: native' begins no other then; 'events: [asked]' has what it records in everybody's");
	return true;
}

bool native_obstacle(struct arena *a, const struct ir_policy *p,
		     struct native_obstacle *out)
{
	static const struct str cannot = STR_INIT(NATIVE_CANNOT);
	struct sources none;
	struct diags found;
	struct diag_view first = {0};
	struct emit_in in = {
		.policy = p, .sources = &none, .diags = &found, .a = a};
	bool open;

	sources_init(&none, a);
	diags_init(&found, a, &none);
	open = native_check(&in);
	open &= leaves_it_open(&in);
	if (open)
		return false;
	(void)diags_get(&found, 0, &first); /* who refuses says so */
	if (str_starts(first.text, cannot))
		first.text = str_slice(first.text, cannot.n, first.text.n);
	*out = (struct native_obstacle){first.at, first.text};
	return true;
}

bool native_if_named(struct arena *a, const struct sources *sources,
		     const struct ir_policy *p)
{
	const struct source *from = sources_of(sources, p->image.from.at);
	struct ir_policy named = *p;
	struct sources none;
	struct diags found;
	struct emit_in in = {
		.policy = &named, .sources = &none, .diags = &found, .a = a};

	if (from && source_is_preset(from))
		named.image = p->image_written;
	sources_init(&none, a);
	diags_init(&found, a, &none);
	return native_check(&in);
}

bool native_wanted(const struct ir_policy *p)
{
	struct native_obstacle ignored;
	struct arena *a;
	bool open;

	/* what native cannot hold beside what is its own is an error, at its line */
	if (natively_runs(p))
		return true;
	if (p->engine.v != IR_ENGINE_AUTO)
		return false;
	a = arena_new();
	open = !native_obstacle(a, p, &ignored);
	arena_free(a);
	return open;
}
