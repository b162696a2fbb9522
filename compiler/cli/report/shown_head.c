/* What a session was, how it ended, and what needs a look before all else. */
#include "compiler/cli/report/parts.h"

#include "compiler/base/buf.h"
#include "compiler/cli/text/view.h"
#include "compiler/ir/ir.h"

#include <string.h>
#include <time.h>

#define COMMAND_BYTES 600u
#define STRIP_HEIGHT  28u
#define BIN_WIDTH     6u
#define BINS_LEAST    20u /* of less there is no picture */

/* --- what it was ---------------------------------------------------------- */

static struct str command_text(struct report *r)
{
	struct buf b;

	buf_init(&b, r->a);
	vec_each(word, &r->past.about.command) {
		if (b.n)
			buf_addc(&b, ' ');
		view_shell_word(&b, str_of(*word));
		if (b.n > COMMAND_BYTES)
			break;
	}
	if (b.n == 0)
		return r->past.about.known ? STR("the image's own command")
					   : STR("(not on record)");
	return texts_cut(r->a, buf_str(&b), COMMAND_BYTES);
}

static void put_fact(struct html *h, const char *name, struct str value,
		     const char *as)
{
	html_open(h, HTML_DIV, NULL);
	html_leaf(h, HTML_DT, NULL, str_of(name));
	html_leaf(h, HTML_DD, as, value);
	html_close(h);
}

static int64_t ended_s(const struct report *r)
{
	struct tm tm = {0};

	if (!r->end.known || !strptime(r->end.at, "%Y-%m-%dT%H:%M:%SZ", &tm))
		return 0;
	return timegm(&tm);
}

static struct str span_text(struct arena *a, int64_t s)
{
	if (s < 60)
		return arena_fmt(a, "%lld s", (long long)s);
	if (s < 3600)
		return arena_fmt(a, "%lld min %lld s", (long long)s / 60,
				 (long long)s % 60);
	return arena_fmt(a, "%lld h %lld min", (long long)s / 3600,
			 (long long)s / 60 % 60);
}

static struct str status_text(struct report *r)
{
	if (r->end.known && r->end.error)
		return arena_fmt(r->a, "%d, ended by membrane", r->end.status);
	if (r->end.known)
		return arena_fmt(r->a, "%d", r->end.status);
	return r->state == SESSION_ALIVE ? STR("still runs")
					 : STR("lost: its launcher was killed");
}

static struct str policy_text(struct report *r)
{
	if (r->changes.n == 0)
		return STR("generation 1, never changed");
	return arena_fmt(r->a, "generation %u, after %s",
			 r->changes.v[r->changes.n - 1].generation,
			 page_count(r->a, r->changes.n, "change", "changes").p);
}

static struct str trace_text(struct report *r)
{
	if (r->past.paths.n == 0)
		return STR("nothing was traced");
	if (r->past.losses.all)
		return arena_fmt(r->a, "%s events, %s missing",
				 view_number(r->a, r->events).p,
				 view_number(r->a, r->past.losses.all).p);
	if (!r->past.losses.has_end || r->past.damage.code)
		return page_count(r->a, r->events, "event", "events");
	return arena_fmt(r->a, "%s, none missing",
			 page_count(r->a, r->events, "event", "events").p);
}

static void put_facts(struct html *h, struct report *r)
{
	const struct metadata *x = &r->past.about;
	int64_t end = ended_s(r);
	bool failed = r->end.known && (r->end.status || r->end.error);

	html_open(h, HTML_DL, "about");
	put_fact(h, "Workspace", x->known ? str_of(x->workspace) : STR("?"),
		 "mono");
	put_fact(h, "Engine", str_of(x->engine), NULL);
	put_fact(h, "Started", str_of(x->started), NULL);
	put_fact(h, "Duration",
		 end ? span_text(r->a, end - x->started_s) : STR("not known"),
		 NULL);
	put_fact(h, "Status", status_text(r),
		 failed || !r->end.known ? "bad" : "good");
	put_fact(h, "Policy", policy_text(r), NULL);
	put_fact(h, "Trace", trace_text(r),
		 r->past.paths.n == 0 || r->past.losses.all ? "warn" : NULL);
	html_close(h);
}

/* --- figures -------------------------------------------------------------- */

struct totals {
	uint64_t reached, refused, sent, received, files, secrets;
};

static struct totals count_totals(const struct report *r)
{
	struct totals t = {0};
	place_list list = {0};

	places_sorted(&r->places, &list);
	vec_each(p, &list) {
		t.reached += ((*p)->allowed || (*p)->unknown) && (*p)->port;
		t.refused += (*p)->refused > 0;
		t.sent += (*p)->sent;
		t.received += (*p)->received;
	}
	vec_each(f, &r->files.v) {
		t.files += f->in_workspace && f->writes;
		t.secrets += f->secret && f->touches;
	}
	return t;
}

static void put_figures(struct html *h, struct report *r)
{
	struct totals t = count_totals(r);
	struct arena *a = r->a;
	bool traced = r->past.paths.n > 0;

	html_open(h, HTML_DIV, "figures");
	page_figure(h, view_number(a, t.reached),
		    t.reached == 1 ? "destination reached"
				   : "destinations reached",
		    NULL);
	page_figure(h, view_number(a, t.refused),
		    t.refused == 1 ? "destination refused"
				   : "destinations refused",
		    t.refused ? "bad" : NULL);
	page_figure(h, page_bytes(a, t.sent), "sent", NULL);
	page_figure(h, page_bytes(a, t.received), "received", NULL);
	page_figure(h,
		    traced ? view_number(a, r->processes.nodes.n - 1 +
						    r->processes.left_out)
			   : STR("–"),
		    "processes", NULL);
	page_figure(h, traced ? view_number(a, t.files) : STR("–"),
		    "files changed", NULL);
	page_figure(h, traced ? view_number(a, t.secrets) : STR("–"),
		    "secret-looking files opened", t.secrets ? "warn" : NULL);
	html_close(h);
}

/* --- when ----------------------------------------------------------------- */

static uint32_t most_of(const struct pace *p)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < PACE_BINS; i++)
		if (p->done[i] + p->refused[i] > most)
			most = p->done[i] + p->refused[i];
	return most;
}

/* A tall bar is no reason for the others to vanish: by the cube root. */
static uint32_t bar_height(uint32_t n, uint32_t most)
{
	uint32_t height = 1;

	if (n == 0)
		return 0;
	while (height < STRIP_HEIGHT &&
	       (uint64_t)height * height * height * most <
		       (uint64_t)STRIP_HEIGHT * STRIP_HEIGHT * STRIP_HEIGHT * n)
		height++;
	return height < 2 ? 2 : height;
}

static void put_tick(struct html *h, uint32_t bin, uint32_t height,
		     const char *as)
{
	if (!height)
		return;
	html_open(h, HTML_RECT, as);
	html_attr_u64(h, HTML_ATTR_X, bin * BIN_WIDTH);
	html_attr_u64(h, HTML_ATTR_Y, STRIP_HEIGHT - height);
	html_attr_u64(h, HTML_ATTR_WIDTH, BIN_WIDTH - 1);
	html_attr_u64(h, HTML_ATTR_HEIGHT, height);
	html_close(h);
}

static void put_pace(struct html *h, const struct report *r)
{
	const struct pace *p = &r->pace;
	uint32_t most = most_of(p), last = PACE_BINS - 1;

	while (last && p->done[last] + p->refused[last] == 0)
		last--;
	if (!p->any || last < BINS_LEAST)
		return;
	html_open(h, HTML_SVG, "map");
	html_attrf(h, HTML_ATTR_VIEWBOX, "0 0 %u %u", (last + 1) * BIN_WIDTH,
		   STRIP_HEIGHT);
	html_attr(h, HTML_ATTR_WIDTH, STR("100%"));
	html_attr_u64(h, HTML_ATTR_HEIGHT, STRIP_HEIGHT);
	html_attr(h, HTML_ATTR_ROLE, STR("img"));
	html_attrf(h, HTML_ATTR_LABEL,
		   "when things happened, over %.1f seconds; refusals in red",
		   (double)(last + 1) * (double)p->bin_ns / 1e9);
	for (uint32_t i = 0; i <= last; i++) {
		put_tick(h, i, bar_height(p->done[i] + p->refused[i], most),
			 "tick");
		put_tick(h, i, bar_height(p->refused[i], most), "tick bad");
	}
	html_close(h);
	page_note(
		h,
		"What happened when, over %.1f s: events and decisions, refusals in red.",
		(double)(last + 1) * (double)p->bin_ns / 1e9);
}

void shown_head(struct html *h, struct report *r)
{
	html_open(h, HTML_HEADER, NULL);
	html_leaff(h, HTML_P, "kind", "membrane session %s",
		   r->past.about.session.id);
	html_leaf(h, HTML_H1, NULL, command_text(r));
	put_facts(h, r);
	html_close(h);
	put_figures(h, r);
	put_pace(h, r);
}

/* --- what needs a look ---------------------------------------------------- */

static void put_alert(struct html *h, bool grave, struct str text)
{
	html_leaf(h, HTML_P, grave ? "alert grave" : "alert", text);
}

/* What decisions lack, and a trace that has no end to say it by itself. */
static void put_losses(struct html *h, const struct report *r)
{
	const uint64_t *lost = r->asking.lost;
	struct arena *a = r->a;

	if (lost[DECISIONS_LOST_EVENTS] && !r->past.losses.has_end)
		put_alert(h, false,
			  page_count(a, lost[DECISIONS_LOST_EVENTS],
				     "event is not in the trace",
				     "events are not in the trace"));
	if (lost[DECISIONS_LOST_LINES])
		put_alert(h, false,
			  page_count(a, lost[DECISIONS_LOST_LINES],
				     "decision of the gate is on no record",
				     "decisions of the gate are on no record"));
	if (lost[DECISIONS_LOST_REFUSALS])
		put_alert(h, false,
			  page_count(a, lost[DECISIONS_LOST_REFUSALS],
				     "refusal is counted in the summary alone",
				     "refusals are counted in the summary alone"));
}

void shown_alerts(struct html *h, struct report *r)
{
	struct arena *a = r->a;

	if (r->end.error)
		put_alert(h, true,
			  arena_fmt(a, "membrane ended the session: %s",
				    r->end.error));
	if (!r->end.known && r->state == SESSION_ALIVE)
		put_alert(
			h, false,
			STR("The session still runs: this is what it has done until now."));
	if (!r->end.known && r->state != SESSION_ALIVE)
		put_alert(
			h, true,
			STR("The session has no end on record: its launcher was killed, and what came last may be missing."));
	if (!r->past.about.known)
		put_alert(
			h, true,
			STR("session.json cannot be read: command and workspace are not known."));
	if (r->past.paths.n == 0)
		put_alert(
			h, false,
			STR("Nothing was traced: which processes ran and which files they changed is not known. What the gate and the view decided is."));
	if (r->past.losses.all)
		put_alert(h, false, trace_losses_text(a, &r->past.losses));
	put_losses(h, r);
	if (r->past.paths.n && !r->past.losses.has_end && r->end.known)
		put_alert(
			h, false,
			STR("The trace has no last record: what came last may be missing."));
	if (r->past.damage.code)
		put_alert(h, true,
			  arena_fmt(a, "Records are damaged: %s",
				    r->past.damage.text));
	if (!r->past.deeds.has_decisions)
		put_alert(
			h, false,
			STR("There are no decisions on record: nothing says what was refused."));
}
