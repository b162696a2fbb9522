/* Where it went: drawn, and as a table; and what was refused. */
#include "compiler/cli/report/parts.h"

#include "compiler/base/json.h"
#include "compiler/cli/text/view.h"

#include <string.h>

/* --- the map -------------------------------------------------------------- */

#define MAP_WIDTH    1056u
#define MAP_ROW	     26u
#define MAP_REACHED  10u
#define MAP_REFUSED  6u
#define AGENT_X	     96u
#define GATE_X	     470u
#define NAME_X	     640u
#define NAME_COLUMNS 38u
#define SIDE_COLUMNS 13u

static bool is_reached(const struct goal *p)
{
	return p->allowed || p->unknown;
}

/* 1 to 12 units for what moved: each is some three times the one before. */
static unsigned flow_width(const struct goal *p)
{
	uint64_t n = p->sent + p->received;
	unsigned width = 1;

	for (; n >= 1000 && width < 12; n /= 3)
		width++;
	return width;
}

static void put_label(struct html *h, unsigned x, unsigned y, const char *as,
		      struct str text)
{
	html_open(h, HTML_TEXT, as);
	html_attr_u64(h, HTML_ATTR_X, x);
	html_attr_u64(h, HTML_ATTR_Y, y);
	html_text(h, text);
	html_close(h);
}

static void put_curve(struct html *h, unsigned from_y, unsigned to_x,
		      unsigned to_y, const char *as, unsigned width)
{
	unsigned bend = AGENT_X + (GATE_X - AGENT_X) / 2;

	html_open(h, HTML_PATH, as);
	html_attrf(h, HTML_ATTR_D, "M%u %uC%u %u %u %u %u %uH%u", AGENT_X,
		   from_y, bend, from_y, bend, to_y, GATE_X - 30, to_y, to_x);
	html_attr_u64(h, HTML_ATTR_STROKE_WIDTH, width);
	html_close(h);
}

static void put_cross(struct html *h, unsigned x, unsigned y)
{
	for (int way = -1; way <= 1; way += 2) {
		html_open(h, HTML_LINE, "cross");
		html_attr_u64(h, HTML_ATTR_X1, x - 5);
		html_attr_u64(h, HTML_ATTR_X2, x + 5);
		html_attr_u64(h, HTML_ATTR_Y1, way < 0 ? y - 5 : y + 5);
		html_attr_u64(h, HTML_ATTR_Y2, way < 0 ? y + 5 : y - 5);
		html_close(h);
	}
}

/* What a picture has room for, once it is seen what is in it. */
static struct str map_name(struct arena *a, struct str name, unsigned columns)
{
	return view_fit(a, view_cleaned(a, name), columns);
}

static void map_row(struct html *h, struct arena *a, const struct goal *p,
		    unsigned y, unsigned middle)
{
	struct str name = map_name(a, place_text(a, p), NAME_COLUMNS);

	if (is_reached(p)) {
		put_curve(h, middle, NAME_X - 12, y, "flow", flow_width(p));
		put_label(h, NAME_X, y + 5, NULL, name);
		put_label(h, NAME_X + 316, y + 5, "small",
			  p->sent + p->received
				  ? page_bytes(a, p->sent + p->received)
				  : page_count(a, p->allowed + p->unknown,
					       "time", "times"));
		return;
	}
	put_curve(h, middle, GATE_X - 12, y, "stop", 1);
	put_cross(h, GATE_X - 8, y);
	put_label(h, NAME_X, y + 5, "bad", name);
	put_label(h, NAME_X + 316, y + 5, "small",
		  map_name(a, p->reason, SIDE_COLUMNS));
}

/* The first of each kind: the list has those that were reached before. */
static void choose_rows(const place_list *list, place_list *out,
			struct arena *a)
{
	unsigned reached = 0, refused = 0;

	vec_each(p, list)
		if (is_reached(*p) ? reached++ < MAP_REACHED
				   : refused++ < MAP_REFUSED)
			*vec_push(a, out) = *p;
}

void shown_map(struct html *h, struct report *r, const place_list *list)
{
	place_list rows = {0};
	unsigned height, y = MAP_ROW;

	choose_rows(list, &rows, r->a);
	page_section(h, "reached", "Where it went",
		     page_count(r->a, list->n, "destination", "destinations"));
	if (rows.n == 0) {
		page_note(
			h,
			r->past.deeds.has_decisions
				? "It asked for nothing and connected to nobody."
				: "That is not known: there are no decisions on record.");
		return;
	}
	height = MAP_ROW * (rows.n + 1);
	html_open(h, HTML_SVG, "map");
	html_attrf(h, HTML_ATTR_VIEWBOX, "0 0 %u %u", MAP_WIDTH, height);
	html_attr_u64(h, HTML_ATTR_WIDTH, MAP_WIDTH);
	html_attr_u64(h, HTML_ATTR_HEIGHT, height);
	html_attr(h, HTML_ATTR_ROLE, STR("img"));
	html_attr(
		h, HTML_ATTR_LABEL,
		STR("the agent, the gate, and where connections led; the table below says the same"));
	vec_each(p, &rows) {
		map_row(h, r->a, *p, y, height / 2);
		y += MAP_ROW;
	}
	html_open(h, HTML_LINE, "wall");
	html_attr_u64(h, HTML_ATTR_X1, GATE_X);
	html_attr_u64(h, HTML_ATTR_X2, GATE_X);
	html_attr_u64(h, HTML_ATTR_Y1, 18);
	html_attr_u64(h, HTML_ATTR_Y2, height - 12);
	html_close(h);
	put_label(h, GATE_X - 18, 12, "small", STR("gate"));
	put_label(h, 40, height / 2 + 5, NULL, STR("agent"));
	html_close(h);
}

/* --- the table ------------------------------------------------------------ */

#define PLACES_MAX   150u
#define BAR_WIDTH    120u
#define WHO_BYTES    260u
#define SOURCE_BYTES 60u

static void put_bar(struct html *h, unsigned x, uint64_t n, uint64_t most,
		    const char *as, bool to_left)
{
	unsigned width =
		most ? (unsigned)((double)n / (double)most * BAR_WIDTH) : 0;

	if (n == 0)
		return;
	width = width < 2 ? 2 : width;
	html_open(h, HTML_RECT, as);
	html_attr_u64(h, HTML_ATTR_X, to_left ? x - width : x);
	html_attr_u64(h, HTML_ATTR_Y, 0);
	html_attr_u64(h, HTML_ATTR_WIDTH, width);
	html_attr_u64(h, HTML_ATTR_HEIGHT, 10);
	html_close(h);
}

/* Sent to the left of the axis, received to its right; both by one scale. */
static void put_bars(struct html *h, struct arena *a, const struct goal *p,
		     uint64_t most)
{
	html_open(h, HTML_TD, "graph");
	if (p->sent || p->received) {
		html_open(h, HTML_SVG, NULL);
		html_attrf(h, HTML_ATTR_VIEWBOX, "0 0 %u 10",
			   2 * BAR_WIDTH + 2);
		html_attr_u64(h, HTML_ATTR_WIDTH, 2 * BAR_WIDTH + 2);
		html_attr_u64(h, HTML_ATTR_HEIGHT, 10);
		html_attr(h, HTML_ATTR_ROLE, STR("img"));
		html_attrf(h, HTML_ATTR_LABEL, "%s sent, %s received",
			   page_bytes(a, p->sent).p,
			   page_bytes(a, p->received).p);
		put_bar(h, BAR_WIDTH, p->sent, most, "out", true);
		put_bar(h, BAR_WIDTH + 2, p->received, most, "in", false);
		html_close(h);
	}
	html_close(h);
}

static void put_requests(struct html *h, struct arena *a, const struct goal *p)
{
	if (p->requests == 0)
		return;
	html_open(h, HTML_DETAILS, NULL);
	html_leaf(h, HTML_SUMMARY, "dim",
		  page_count(a, p->requests + (p->more_requests > 0),
			     "kind of request", "kinds of requests"));
	html_open(h, HTML_UL, NULL);
	for (uint32_t i = 0; i < p->requests; i++) {
		html_open(h, HTML_LI, NULL);
		html_leaf(h, HTML_CODE, p->request[i].allow ? NULL : "bad",
			  p->request[i].text);
		if (p->request[i].n > 1)
			html_leaff(h, HTML_SPAN, "times", " ×%s",
				   view_number(a, p->request[i].n).p);
		html_close(h);
	}
	if (p->more_requests)
		html_leaff(h, HTML_LI, "dim", "and %s more requests",
			   view_number(a, p->more_requests).p);
	html_close(h);
	html_close(h);
}

static void put_programs(struct html *h, struct arena *a, const struct goal *p)
{
	struct buf b;

	buf_init(&b, a);
	for (uint32_t i = 0; i < p->programs; i++)
		buf_addf(&b, "%s%.*s", i ? ", " : "by ",
			 STR_ARG(p->program[i]));
	if (p->more_programs)
		buf_adds(&b, b.n ? " and others"
				 : "by programs that are not named here");
	if (b.n)
		html_leaf(h, HTML_DIV, "dim", buf_str(&b));
}

struct str shown_rule(struct arena *a, struct str source, uint64_t line)
{
	if (source.n == 0)
		return STR("");
	source = texts_cut(a, source, SOURCE_BYTES);
	return line ? arena_fmt(a, "%.*s:%llu", STR_ARG(source),
				(unsigned long long)line)
		    : source;
}

static void put_verdict(struct html *h, const struct goal *p)
{
	html_open(h, HTML_TD, "mark");
	if (p->allowed)
		html_leaf(h, HTML_DIV, "good", STR("allowed"));
	if (p->refused)
		html_leaf(h, HTML_DIV, "bad", STR("refused"));
	if (p->unknown)
		html_leaf(h, HTML_DIV, "dim", STR("traced"));
	html_close(h);
}

static void put_place(struct html *h, struct arena *a, const struct goal *p,
		      uint64_t most)
{
	html_open(h, HTML_TR, NULL);
	put_verdict(h, p);
	html_open(h, HTML_TD, "name");
	html_leaf(h, HTML_CODE, NULL,
		  texts_cut(a, place_text(a, p), WHO_BYTES));
	if (p->port == 0)
		html_leaf(h, HTML_SPAN, "dim", STR(" only asked for"));
	else if (p->proto.n && !str_is(p->proto, "tcp"))
		html_leaff(h, HTML_SPAN, "dim", " %.*s", STR_ARG(p->proto));
	put_programs(h, a, p);
	put_requests(h, a, p);
	html_close(h);
	html_leaf(h, HTML_TD, "num",
		  view_number(a, p->allowed + p->refused + p->unknown));
	html_leaf(h, HTML_TD, "num",
		  p->sent ? page_bytes(a, p->sent) : STR(""));
	put_bars(h, a, p, most);
	html_leaf(h, HTML_TD, "num",
		  p->received ? page_bytes(a, p->received) : STR(""));
	html_leaf(h, HTML_TD, "at", shown_rule(a, p->source, p->line));
	html_close(h);
}

void shown_places(struct html *h, struct report *r, const place_list *list)
{
	uint64_t most = 0;
	uint32_t i = 0;

	vec_each(p, list) {
		most = (*p)->sent > most ? (*p)->sent : most;
		most = (*p)->received > most ? (*p)->received : most;
	}
	if (list->n) {
		html_open(h, HTML_TABLE, NULL);
		page_columns(
			h,
			"|Destination|>Times|>Sent||>Received|Line of the policy");
		html_open(h, HTML_TBODY, NULL);
		for (;
		     i < list->n && i < PLACES_MAX && SHOWN_ROOM(h, SHOWN_MAP);
		     i++)
			put_place(h, r->a, list->v[i], most);
		html_close(h);
		html_close(h);
	}
	if (i < list->n)
		page_note(
			h,
			"%s more: all of them, in the order of time: membrane logs %s",
			page_count(r->a, list->n - i, "destination",
				   "destinations")
				.p,
			r->past.about.session.id);
	page_section_end(h);
}

/* --- refused -------------------------------------------------------------- */

struct refused {
	struct html *h;
	struct arena *a;
	struct asking *asking;
	uint64_t shown, left_out;
};

/* The table is there once it has a row. */
static bool open_row(struct refused *x)
{
	if (!SHOWN_ROOM(x->h, SHOWN_REFUSED)) {
		x->left_out++;
		return false;
	}
	if (x->shown++)
		return true;
	html_open(x->h, HTML_TABLE, NULL);
	page_columns(
		x->h,
		"What|>Times|Why|Line of the policy|Narrowest entry of allow that permits it");
	html_open(x->h, HTML_TBODY, NULL);
	return true;
}

static void refused_row(void *ctx, const struct summary_row *row)
{
	struct refused *x = ctx;
	struct html *h = x->h;

	if (!open_row(x))
		return;
	html_open(h, HTML_TR, NULL);
	html_open(h, HTML_TD, "name");
	/* What is asked for behind a '?' is for the server's eyes. */
	html_leaf(h, HTML_CODE, NULL,
		  str_slice(row->dest, 0, str_find(row->dest, '?', 0)));
	shown_whose(h, x->a, asking_whose(x->asking, row->dest));
	html_close(h);
	html_leaf(h, HTML_TD, "num", view_number(x->a, row->count));
	html_open(h, HTML_TD, "why");
	html_leaf(h, HTML_SPAN, row->purpose.n ? "dim" : "bad",
		  str_of(reason_name(row->reason)));
	html_leaf(h, HTML_DIV, "dim",
		  row->purpose.n ? arena_fmt(x->a, "on purpose: %.*s",
					     STR_ARG(row->purpose))
				 : str_of(reason_about(row->reason)));
	html_close(h);
	html_leaf(h, HTML_TD, "at", shown_rule(x->a, row->source, row->line));
	html_open(h, HTML_TD, NULL);
	if (row->grant.n)
		html_leaff(h, HTML_CODE, NULL, "- %.*s", STR_ARG(row->grant));
	else
		html_leaf(h, HTML_SPAN, "dim", STR("no line is advised"));
	html_close(h);
	html_close(h);
}

static void refused_path(struct refused *x, const cJSON *o)
{
	struct html *h = x->h;
	struct str by = json_find_str(o, "by"), at = json_find_str(o, "at");

	if (!open_row(x))
		return;
	html_open(h, HTML_TR, NULL);
	html_open(h, HTML_TD, "name");
	html_leaff(h, HTML_SPAN, "dim", "%s ", json_find_str(o, "kind").p);
	html_leaf(h, HTML_CODE, NULL,
		  texts_tail(x->a, json_find_str(o, "path"), WHO_BYTES));
	shown_whose(h, x->a,
		    asking_whose(x->asking,
				 arena_fmt(x->a, "%s %s",
					   json_find_str(o, "kind").p,
					   json_find_str(o, "path").p)));
	html_close(h);
	html_leaf(h, HTML_TD, "num",
		  view_number(x->a, json_find_u64(o, "count", JSON_WHOLE_MAX)));
	html_leaf(h, HTML_TD, "bad", json_find_str(o, "reason"));
	html_leaf(h, HTML_TD, "at", texts_cut(x->a, at, SOURCE_BYTES));
	html_open(h, HTML_TD, NULL);
	if (by.n)
		html_leaff(h, HTML_SPAN, "dim", "by the pattern %.*s",
			   STR_ARG(by));
	html_close(h);
	html_close(h);
}

void shown_refused(struct html *h, struct report *r)
{
	struct refused x = {.h = h, .a = r->a, .asking = &r->asking};
	cJSON *paths = refusals_json(r->past.deeds.paths), *one;

	page_section(h, "refused", "What was refused", STR(""));
	x.left_out += summary_each(r->past.deeds.refused, refused_row, &x);
	cJSON_ArrayForEach(one, paths)
		refused_path(&x, one);
	cJSON_Delete(paths);
	if (x.shown) {
		html_close(h);
		html_close(h);
	}
	if (x.shown == 0)
		page_note(
			h,
			r->past.deeds.has_decisions
				? "Nothing."
				: "That is not known: there are no decisions on record.");
	else
		page_note(
			h,
			"What a path would need: membrane explain read PATH. Why a destination is refused, and each edit that would turn it over: membrane explain DEST.");
	if (x.left_out)
		page_note(h, "%s more: membrane logs %s",
			  view_number(r->a, x.left_out).p,
			  r->past.about.session.id);
	page_section_end(h);
}
