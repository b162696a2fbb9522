#include "compiler/cli/export/export.h"

#include "compiler/cli/export/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/traces/trace_since.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT_BYTES 8192u

void export_put(struct exporting *x, cJSON *take)
{
	struct str text = json_compact(x->line, take);

	fwrite(text.p, 1, text.n, stdout);
	putchar('\n');
	x->unwritten |= ferror(stdout) != 0;
}

void export_text(struct exporting *x, cJSON *o, const char *key, struct str s)
{
	if (s.n)
		json_put_str(
			o, key,
			view_cleaned(x->line, str_slice(s, 0, TEXT_BYTES)));
}

uint64_t export_time_ns(const cJSON *decision)
{
	uint64_t at_ns;

	return trace_since(json_find_str(decision, "time"), 0, &at_ns) ? at_ns
								       : 0;
}

static void next_line(struct exporting *x)
{
	arena_free(x->line);
	x->line = arena_new();
}

static void take_decision(void *ctx, const cJSON *o)
{
	struct exporting *x = ctx;

	if (x->form == EXPORT_OCSF)
		ocsf_decision(x, o);
	else
		otlp_decision(x, o);
	if (!x->batch)
		next_line(x);
}

static int take_event(void *ctx, const struct trace_event *e)
{
	struct exporting *x = ctx;
	uint32_t node;

	if (trace_is_own(e))
		return 0;
	node = processes_add(&x->processes, e);
	if (!x->first_ns || e->at_ns < x->first_ns)
		x->first_ns = e->at_ns;
	if (e->at_ns > x->last_ns)
		x->last_ns = e->at_ns;
	if (x->form == EXPORT_OCSF)
		ocsf_event(x, e);
	else
		otlp_event(x, e, node);
	if (!x->batch)
		next_line(x);
	return x->unwritten;
}

static bool find_form(const struct options *o, enum export_form *out)
{
	const struct option_given *otlp = options_get(o, OPTION_OTLP);
	bool ocsf = options_get(o, OPTION_OCSF) != NULL;

	*out = ocsf ? EXPORT_OCSF : EXPORT_OTLP;
	if (!otlp == !ocsf) {
		console_error(
			"trace export writes one of two forms: --otlp-json or --ocsf");
		return false;
	}
	if (ocsf || otlp->value.n == 0)
		return true;
	*out = str_is(otlp->value, "logs") ? EXPORT_OTLP_LOGS
					   : EXPORT_OTLP_SPANS;
	if (str_is(otlp->value, "logs") || str_is(otlp->value, "spans"))
		return true;
	console_error(
		"--otlp-json is of logs, of spans, or of both: =logs, =spans, or without a value");
	return false;
}

int export_trace(struct arena *a, const struct options *o, const char *state,
		 struct str what)
{
	struct exporting x = {.a = a};
	int status = STATUS_USAGE;

	if (!find_form(o, &x.form))
		return status;
	x.line = arena_new();
	x.past = (struct past){.a = a,
			       .abouts = x.form == EXPORT_OCSF ? abouts_new(a)
							       : NULL,
			       .on_decision = take_decision,
			       .on_event = take_event,
			       .ctx = &x};
	processes_init(&x.processes, a);
	status = past_load(&x.past, o, state, what);
	if (x.form != EXPORT_OCSF)
		otlp_end(&x);
	ocsf_end(&x);
	if (fflush(stdout) == EOF || ferror(stdout)) {
		console_error("stdout: %s",
			      errno ? strerror(errno) : "not written");
		status = STATUS_IO;
	}
	processes_done(&x.processes);
	past_done(&x.past);
	arena_free(x.line);
	return status;
}
