/* `membrane plan`: what would run here, in one of its views. */
#include "compiler/cli/plan/views.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/cli/workspace/last.h"
#include "compiler/cli/workspace/reached.h"
#include "compiler/emit/emit.h"
#include "runtime/launch/workspace/scan.h"

/* --emit=NAME: one artefact as it is in the plan. */
static int emit_artefact(struct arena *a, const struct compilation *c,
			 struct str name)
{
	const struct plan_file *f = NULL;

	for (size_t i = 0; emitter_at(i); i++)
		if (str_is(name, emitter_at(i)->name))
			f = plan_file(&c->plan, emitter_at(i)->file);
	if (str_is(name, "manifest"))
		return console_result(plan_manifest(a, &c->plan));
	if (f)
		return console_result(f->data);
	console_error("this policy has no artefact '%.*s'", STR_ARG(name));
	return STATUS_REFUSED;
}

static int show_plan(const struct options *o, const struct inputs *in,
		     struct compilation *c)
{
	const struct option_given *one = options_get(o, OPTION_EMIT);
	struct plan_model m;
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO),
			 console_colour(STDOUT_FILENO)};
	struct str text;

	if (c->stop_after)
		return console_result(c->dump);
	if (one)
		return emit_artefact(c->a, c, one->value);
	/* what ran here is another engine's */
	model_make(&m, c, in,
		   c->kubernetes ? NULL
				 : last_read(c->a, in->state, in->workspace));
	m.all = options_get(o, OPTION_EVERYTHING) != NULL;
	/* A comment on a change is about that, not about one checkout. */
	if (options_get(o, OPTION_MARKDOWN)) {
		m.all = true;
		m.counts = (struct workspace_counts){0};
	}
	if (options_get(o, OPTION_JSON)) {
		text = plan_json(&m);
	} else {
		buf_init(&out, c->a);
		if (options_get(o, OPTION_MARKDOWN))
			plan_markdown(&out, &m);
		else if (options_get(o, OPTION_HTML))
			plan_html(&out, &m);
		else
			plan_view(&v, &m);
		text = buf_str(&out);
	}
	model_done(&m);
	return console_result(text);
}

/* A Pod is shown to people alone. */
static bool one_view(const struct options *o)
{
	static const enum option_id others[] = {OPTION_JSON, OPTION_MARKDOWN,
						OPTION_HTML};

	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		const struct option_given *g = options_get(o, others[i]);

		if (!g || !options_get(o, OPTION_TARGET))
			continue;
		console_error(
			"'%.*s' is about this machine, and not about a target: leave one of the two out",
			STR_ARG(g->spelling));
		return false;
	}
	return true;
}

int command_plan(struct arena *a, const struct options *o)
{
	bool json = options_get(o, OPTION_JSON) != NULL;
	struct compilation c = {
		.stop_after = options_value(a, o, OPTION_DUMP_IR, NULL)};
	struct inputs in;
	int status;

	if (!one_view(o))
		return STATUS_USAGE;
	status = inputs_compile(a, o, true, &in, &c);

	if (status == STATUS_OK) {
		reached_say(c.a, &in);
		if (scan_is_readonly(in.workspace))
			console_error(
				"you cannot write to the workspace's folder, so 'run' makes all of it read-only");
		status = show_plan(o, &in, &c);
		if (status == STATUS_OK && inputs_denied(o, &c, true))
			status = STATUS_REFUSED;
	} else if (status == STATUS_REFUSED && json &&
		   console_result(plan_json_refused(c.a, PLAN_JSON_VERSION,
						    &c.diags)) != STATUS_OK) {
		status = STATUS_IO;
	}
	driver_done(&c);
	return status;
}
