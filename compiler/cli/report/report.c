#include "compiler/cli/report/report.h"

#include "compiler/base/json.h"
#include "compiler/cli/report/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/traces/trace_since.h"

#include <string.h>

/* --- gathering ------------------------------------------------------------ */

static void take_record(void *ctx, const cJSON *o)
{
	struct report *r = ctx;
	struct str event = json_find_str(o, "event");
	uint64_t at_ns;

	if (asking_take(&r->asking, o))
		return;
	if (!str_is(event, "decision") && !str_is(event, "end") &&
	    !str_is(event, "change")) {
		r->unnamed++;
		return;
	}
	places_decision(&r->places, o);
	files_decision(&r->files, o);
	if (str_is(event, "decision") &&
	    trace_since(json_find_str(o, "time"), 0, &at_ns))
		pace_add(&r->pace, at_ns,
			 str_is(json_find_str(o, "verdict"), "deny"));
}

static void note_deeds(struct report *r, uint32_t process, uint32_t place,
		       const struct trace_event *e)
{
	struct report_deeds *d;
	enum trace_kind kind = trace_kind(e);
	uint32_t i = 0;

	while (r->deeds.n <= process)
		*vec_push(r->a, &r->deeds) = (struct report_deeds){0};
	d = &r->deeds.v[process];
	d->attempts += kind == TRACE_ATTEMPT;
	d->written += kind == TRACE_FILE && e->ret >= 0;
	if (!place)
		return;
	while (i < d->places && i < REPORT_PLACES && d->place[i] != place)
		i++;
	if (i < d->places && i < REPORT_PLACES)
		return;
	if (i < REPORT_PLACES)
		d->place[i] = place;
	d->places++;
}

static int take_event(void *ctx, const struct trace_event *e)
{
	struct report *r = ctx;
	uint32_t process, place;

	if (trace_is_own(e))
		return 0;
	r->events++;
	process = processes_add(&r->processes, e);
	place = places_event(&r->places, e);
	files_event(&r->files, e);
	if (process)
		note_deeds(r, process, place, e);
	pace_add(&r->pace, e->at_ns, false);
	return 0;
}

static void read_records(struct report *r)
{
	struct err err;

	metadata_end_read(r->a, &r->past.about.session, &r->end);
	if (metadata_state(&r->past.about, &r->state, &err) < 0)
		r->state = SESSION_FINISHED;
	if (change_log_read(r->a, &r->past.about.session, &r->changes, &err) <
		    0 &&
	    r->past.damage.code == 0)
		r->past.damage = err;
}

/* --- the page ------------------------------------------------------------- */

static struct str report_html(struct report *r)
{
	place_list list = {0};
	struct buf out;
	struct html h;

	buf_init(&out, r->a);
	html_init(&h, &out);
	places_sorted(&r->places, &list);
	page_begin(&h, arena_fmt(r->a, "membrane: session %s",
				 r->past.about.session.id));
	shown_head(&h, r);
	shown_alerts(&h, r);
	shown_map(&h, r, &list);
	shown_places(&h, r, &list);
	shown_refused(&h, r);
	shown_asked(&h, r);
	shown_runs(&h, r);
	shown_files(&h, r);
	shown_secrets(&h, r);
	shown_changes(&h, r);
	shown_limits(&h, r);
	page_end(&h);
	return buf_str(&out);
}

int report_page(struct arena *a, const struct options *o, const char *state,
		struct str what, struct str *out, struct err *damage)
{
	struct report *r = arena_new_of(a, struct report);
	int status;

	r->a = a;
	r->past = (struct past){.a = a,
				.on_decision = take_record,
				.on_event = take_event,
				.ctx = r,
				.is_session = true,
				.is_unlisted = true};
	places_init(&r->places, a);
	asking_init(&r->asking, a);
	files_init(&r->files, a, &r->past.deeds);
	processes_init(&r->processes, a);
	status = past_load(&r->past, o, state, what);
	if (status == STATUS_OK) {
		read_records(r);
		*out = report_html(r);
		*damage = r->past.damage;
	}
	processes_done(&r->processes);
	past_done(&r->past);
	return status;
}

int report_session(struct arena *a, const struct options *o, const char *state,
		   struct str what)
{
	struct str page = {0};
	struct err damage = {0};
	int status = report_page(a, o, state, what, &page, &damage);

	if (status == STATUS_OK)
		status = console_result(page);
	if (status == STATUS_OK && damage.code) {
		console_error("%s", view_cleaned(a, str_of(damage.text)).p);
		status = STATUS_IO;
	}
	return status;
}
