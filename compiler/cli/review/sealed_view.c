/* A written plan and what its sources say now, for people and for programs. */
#include "compiler/cli/review/changes_json.h"
#include "compiler/cli/review/sealed.h"
#include "compiler/plan/manifest.h"

#define SEALED_JSON_VERSION 1
/* Columns of a line of an artefact that are shown. */
#define LINE_SHOWN 72u
#define LINE_BYTES (4u * LINE_SHOWN) /* of it, enough for that */
#define LINE_AFTER 24u /* columns from the difference on, at least */

static struct str nth_line(struct str text, uint32_t n)
{
	struct str line = {0};

	while (n-- && str_line(&text, &line))
		;
	return line;
}

/* "    - text": one line of an artefact, cut around where it differs. */
static void show_line(struct buf *out, char mark, struct str line, size_t from)
{
	char *copy = arena_cstr(out->a, line);
	struct str clean, cut;
	size_t beg = 0, blank = 0;

	for (size_t i = 0; i < line.n; i++)
		if (copy[i] == '\t')
			copy[i] = ' ';
	while (blank < from && copy[blank] == ' ')
		blank++;
	line = (struct str){copy + blank, line.n - blank};
	from -= blank;
	if (from > LINE_SHOWN - LINE_AFTER)
		beg = from - LINE_SHOWN / 2;
	while (beg && ((unsigned char)line.p[beg] & 0xc0) == 0x80)
		beg--;
	clean = view_cleaned(out->a, str_slice(line, beg, beg + LINE_BYTES));
	cut = view_cut(clean, LINE_SHOWN);
	buf_addf(out, "    %c %s%.*s%s\n", mark, beg ? "…" : "", STR_ARG(cut),
		 cut.n < clean.n || beg + LINE_BYTES < line.n ? "…" : "");
}

static void show_delta(struct buf *out, const struct plan_delta *d,
		       const struct plan *old, const struct plan *now)
{
	const char *name = view_cleaned(out->a, d->name).p;
	struct str was, is;
	size_t i = 0;

	switch (d->change) {
	case PLAN_SAME:
		return;
	case PLAN_ADDED:
		buf_addf(out, "  %s: missing\n", name);
		return;
	case PLAN_REMOVED:
		buf_addf(out, "  %s: not a part of this plan\n", name);
		return;
	case PLAN_CHANGED:
		break;
	}
	was = nth_line(plan_file(old, arena_cstr(out->a, d->name))->data,
		       d->line);
	is = nth_line(plan_file(now, arena_cstr(out->a, d->name))->data,
		      d->line);
	while (i < was.n && i < is.n && was.p[i] == is.p[i])
		i++;
	buf_addf(out, "  %s:%u\n", name, d->line);
	show_line(out, '-', was, i);
	show_line(out, '+', is, i);
}

/* Artefacts that do not come from the plan's own policy. */
static void by_hand(const struct view *v, const struct sealed *s)
{
	if (s->own.n == 0)
		return;
	buf_adds(v->out, "  ");
	view_wrap(
		v, 2, 2,
		STR("edited by hand, or written by another version of membrane: this does not follow from the plan's own policy.json"));
	for (uint32_t i = 0; i < s->own.n; i++)
		show_delta(v->out, &s->own.deltas[i], &s->old, &s->own.c.plan);
}

static bool is_by_hand(const struct sealed *s, struct str name)
{
	for (uint32_t i = 0; i < s->own.n; i++)
		if (str_eq(s->own.deltas[i].name, name))
			return true;
	return false;
}

/* The drift of the sources, where it shows in no access: line by line. */
static void other_text(const struct view *v, const struct sealed *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n; i++)
		n += !is_by_hand(s, s->deltas[i].name);
	/* The manifest follows from the others: only alone it is news. */
	for (uint32_t i = 0; i < s->n; i++)
		if (!is_by_hand(s, s->deltas[i].name) &&
		    ((n == 1 && s->own.n == 0) ||
		     !str_is(s->deltas[i].name, MANIFEST_NAME)))
			show_delta(v->out, &s->deltas[i], &s->old, &s->now);
}

/* Where it shows in access: what that is, and where it will be written. */
static void put_drift(const struct view *v, const struct sealed *s,
		      const char *all)
{
	struct buf names;

	changes_view(v, &s->access, all);
	buf_init(&names, s->a);
	for (uint32_t i = 0; i < s->n; i++)
		if (!is_by_hand(s, s->deltas[i].name))
			buf_addf(&names, "%s%.*s", names.n ? ", " : "",
				 STR_ARG(s->deltas[i].name));
	if (names.n == 0)
		return;
	buf_adds(v->out, "\n  ");
	view_wrap(v, 2, 2,
		  arena_fmt(s->a, "out of date: %s",
			    view_cleaned(s->a, buf_str(&names)).p));
}

static bool has_other_pods(const struct sealed *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (derived_is_pods(s->deltas[i].name))
			return true;
	return false;
}

/* In which direction the sources are from the plan's policy.json. */
static const char *direction_text(const struct sealed *s)
{
	switch (changes_verdict(&s->access)) {
	case CHANGES_SAME:
	case CHANGES_COSMETIC:
		break;
	case CHANGES_NARROWED:
		return "narrowed: the policy permits less than the plan";
	case CHANGES_WIDENED:
		return s->access.n[ACCESS_LOST]
			       ? "widened: the policy permits more than the plan, and less"
			       : "widened: the policy permits more than the plan";
	}
	if (s->own.n)
		return "the plan's policy.json has the access that the policy gives";
	return has_other_pods(s)
		       ? "its policy.json has the access that the policy gives, its manifests for Kubernetes say something else"
		       : "cosmetic: same access, other text";
}

/* Most often somebody's own file, in one of the two. */
static void other_sources(const struct view *v, const struct sealed *s)
{
	bool global = str_starts(s->odd_source, STR("~/.membrane/"));

	if (s->odd_source.n == 0)
		return;
	buf_adds(v->out, "  ");
	view_wrap(
		v, 2, 2,
		arena_fmt(s->a, "it was compiled %s %s%s",
			  s->odd_in_plan ? "with" : "without", s->odd_source.p,
			  !global ? ""
			  : s->odd_in_plan
				  ? ": compile it anew with --no-global-config"
				  : ": check it with --no-global-config"));
}

void sealed_view(const struct view *v, const struct sealed *s, const char *all)
{
	struct str rest = s->why_not, line;

	if (s->is_missing) {
		buf_addf(v->out, "there is no plan in %s\n", s->dir.p);
		return;
	}
	buf_addf(v->out, "%s is not what the policy says now\n", s->dir.p);
	if (!s->has_own) {
		buf_adds(v->out, "  its policy.json is no policy:\n");
		while (str_line(&rest, &line))
			buf_addf(v->out, "    %.*s\n", STR_ARG(line));
		other_text(v, s);
		return;
	}
	by_hand(v, s);
	if (s->is_of_sources && changes_verdict(&s->access) != CHANGES_SAME) {
		buf_adds(v->out, "  ");
		view_wrap(
			v, 2, 2,
			STR("its policy.json was edited by hand, or written by another version of membrane: the sources are those that it was made of"));
	}
	other_sources(v, s);
	buf_adds(v->out, "  ");
	view_wrap(v, 2, 2, str_of(direction_text(s)));
	if (changes_verdict(&s->access) <= CHANGES_COSMETIC) {
		other_text(v, s);
		return;
	}
	put_drift(v, s, all);
}

static cJSON *files_json(const struct sealed *s, const struct plan_delta *list,
			 uint32_t n)
{
	static const char *const changes[] = {
		[PLAN_SAME] = "same",
		[PLAN_ADDED] = "missing",
		[PLAN_REMOVED] = "foreign",
		[PLAN_CHANGED] = "changed",
	};
	cJSON *array = json_array();

	for (uint32_t i = 0; i < n; i++) {
		cJSON *o = json_object();

		json_put_str(o, "name", view_cleaned(s->a, list[i].name));
		json_put_cstr(o, "change", changes[list[i].change]);
		if (list[i].change == PLAN_CHANGED)
			json_put_u64(o, "line", list[i].line);
		json_push(array, o);
	}
	return array;
}

struct str sealed_json(const struct sealed *s, cJSON *take_proof)
{
	cJSON *root = json_object();

	json_put_u64(root, "version", SEALED_JSON_VERSION);
	json_put_str(root, "plan", s->dir);
	json_put_bool(root, "current", s->is_current);
	json_put(root, "files", files_json(s, s->deltas, s->n));
	if (s->has_own) {
		json_put_bool(root, "of_these_sources", s->is_of_sources);
		json_put(root, "by_hand",
			 files_json(s, s->own.deltas, s->own.n));
		json_put_cstr(
			root, "verdict",
			changes_verdict_name(changes_verdict(&s->access)));
		json_put(root, "changes", changes_json(&s->access));
	}
	if (take_proof)
		json_put(root, "proof", take_proof);
	return json_shown(s->a, root);
}
