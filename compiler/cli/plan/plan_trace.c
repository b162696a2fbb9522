/*
 * The part of the plan's text about the trace: which events, under which
 * conditions, by whom, and what becomes of the files.
 */
#include "compiler/cli/plan/parts.h"

#include "compiler/emit/native/native.h"
#include "compiler/ir/tracee.h"

static void put_nothing(const struct view *v, const struct plan_model *m,
			const char *text, struct ir_origin from)
{
	view_title(v, "traced", 0, NULL);
	view_row(v, 2, VIEW_PLAIN, str_of(text), model_source(m, from));
}

/* Of these the first are named. */
#define NAMED 6u

/* What is recorded whole, as one paragraph; then what only under conditions. */
static void put_events(const struct view *v, const struct plan_model *m,
		       const struct ir_trace *t)
{
	uint32_t whole = 0, shown;
	struct buf b;

	buf_init(&b, m->a);
	vec_each(e, &t->events)
		whole += e->filters.n == 0;
	/* One alone is named as quickly as it is counted. */
	shown = m->all || whole <= NAMED + 1 ? whole : NAMED;
	vec_each(e, &t->events) {
		if (e->filters.n)
			continue;
		if (shown == 0)
			break;
		buf_addf(&b, "%s%.*s", b.n ? ", " : "", STR_ARG(e->name));
		shown--;
		whole--;
	}
	if (whole)
		buf_addf(&b, " and %u more", whole);
	if (b.n)
		view_paragraph(v, str_of(b.p));
	vec_each(e, &t->events) {
		if (e->filters.n == 0)
			continue;
		buf_init(&b, m->a);
		buf_addf(&b, "%.*s where", STR_ARG(e->name));
		vec_each(f, &e->filters) {
			buf_adds(&b, f == e->filters.v ? " '" : ", '");
			view_clean(&b, f->s);
			buf_addc(&b, '\'');
		}
		view_row(v, 2, VIEW_PLAIN, buf_str(&b),
			 model_source(m, e->from));
	}
	vec_each(x, &t->exclude)
		view_row(v, 2, VIEW_PLAIN,
			 arena_fmt(m->a, "not under %s",
				   view_cleaned(m->a, x->s).p),
			 model_source(m, x->from));
}

static void by_tracee(const struct view *v, const struct plan_model *m)
{
	const ir_opt_str *version = &m->policy->trace.version;
	struct str release =
		version->set ? version->v : STR(TRACEE_DEFAULT_VERSION);

	view_paragraph(
		v,
		arena_fmt(
			m->a,
			"By the image aquasec/tracee:%.*s, which has to be here, and sees all of the host.",
			STR_ARG(release)));
}

/* Of what becomes of the files, that which somebody asked for. */
static void put_files(const struct view *v, const struct plan_model *m,
		      const struct ir_trace *t)
{
	const struct {
		const char *before, *behind;
		const ir_opt_u64 *o;
	} bounds[] = {
		{"a new file at", " bytes", &t->rotate_bytes},
		{"a new file after", " seconds", &t->rotate_age_s},
		{"of all sessions, kept:", " files", &t->keep_files},
		{"of all sessions, kept:", " bytes", &t->keep_bytes},
	};

	for (size_t i = 0; i < ARRAY_LEN(bounds); i++) {
		const ir_opt_u64 *o = bounds[i].o;

		if (!o->set || o->from.layer == LAYER_FLOOR)
			continue;
		view_row(v, 2, VIEW_PLAIN,
			 arena_fmt(m->a, "%s %s%s", bounds[i].before,
				   view_number(m->a, o->v).p, bounds[i].behind),
			 model_source(m, o->from));
	}
	if (t->required.v)
		view_row(v, 2, VIEW_PLAIN,
			 STR("required: where it fails, the session ends"),
			 model_source(m, t->required.from));
}

static bool is_set(const ir_opt_u64 *o)
{
	return o->set && o->from.layer != LAYER_FLOOR;
}

bool plan_trace_is_usual(const struct plan_model *m)
{
	const struct ir_trace *t = &m->policy->trace;

	vec_each(e, &t->events)
		if (e->from.layer != LAYER_FLOOR)
			return false;
	return t->engine.v == IR_TRACE_NATIVE && !t->exclude.n && !t->reads.v &&
	       !t->required.v && !is_set(&t->rotate_bytes) &&
	       !is_set(&t->rotate_age_s) && !is_set(&t->keep_files) &&
	       !is_set(&t->keep_bytes) &&
	       m->policy->engine.v != IR_ENGINE_NATIVE &&
	       m->policy->runtime.v != IR_RUNTIME_KATA;
}

/* What root's sessions have, and what all others. */
static struct str by_native(const struct plan_model *m)
{
	const char *without = native_unasked(m->policy);

	if (!native_asks(m->policy))
		return m->policy->trace.required.v
			       ? STR("Natively only root may load what records: for anybody else this session does not begin.")
			       : STR("Natively only root may load what records: anybody else's session is not traced, and says so.");
	if (!without)
		return STR("Natively, where root launches it, programs in the kernel record what is done; for anybody else what is asked for, before it is done.");
	if (!m->policy->trace.required.v)
		return STR("Natively, where root launches it, programs in the kernel record what is done; for anybody else what is asked for, before it is done, of events with a * in 'membrane help events'.");
	return arena_fmt(
		m->a,
		"Natively only root may load what records '%s': for anybody else this session does not begin. 'events: [asked]' has what everybody's sessions have.",
		without);
}

void plan_trace(const struct view *v, const struct plan_model *m)
{
	const struct ir_trace *t = &m->policy->trace;

	if (!m->all && plan_trace_is_usual(m))
		return;
	if (t->engine.v == IR_TRACE_OFF) {
		put_nothing(v, m, "nothing", t->engine.from);
		return;
	}
	if (m->policy->runtime.v == IR_RUNTIME_KATA) {
		put_nothing(v, m, "nothing, with this runtime",
			    m->policy->runtime.from);
		return;
	}
	view_title(v, "traced", t->events.n, "event");
	put_events(v, m, t);
	if (t->engine.v == IR_TRACE_TRACEE)
		by_tracee(v, m);
	else if (!t->reads.v && m->all)
		view_paragraph(
			v,
			STR("Of files that are only read: those with names that are hidden, or known for secrets."));
	put_files(v, m, t);
	if (m->by_native)
		view_paragraph(v, by_native(m));
}
