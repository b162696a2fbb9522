/* How the findings of doctor are shown: for a terminal, and for programs. */
#include "compiler/base/json.h"
#include "compiler/cli/doctor/doctor.h"

#include <string.h>

#define MORE_COLUMN 11u

struct check {
	const char *group, *name, *consequence, *remedy;
	enum doctor_need needed;
};

static const struct check table[] = {
#define CHECK(id, group, name, needed, consequence, remedy)                    \
	[DOCTOR_##id] = {group, name, consequence, remedy, DOCTOR_FOR_##needed},
#include "compiler/cli/doctor/doctor.def"
#undef CHECK
};

static const char *const words[] = {
	[DOCTOR_UNKNOWN] = "unknown",
	[DOCTOR_MISSING] = "missing",
	[DOCTOR_OK] = "ok",
};

/* What a view takes, where the policy here has none. */
static bool is_spared(const struct doctor *d, int id)
{
	return d->viewless && (id == DOCTOR_NATIVE_VIEW || id == DOCTOR_FUSE ||
			       id == DOCTOR_SHARED || id == DOCTOR_IMAGE_VIEW);
}

static unsigned lacking_count(const struct doctor *d, enum doctor_need engine)
{
	unsigned n = 0;

	for (int i = 0; i < DOCTOR_CHECKS; i++)
		n += table[i].needed == engine && !is_spared(d, i) &&
		     d->of[i].state != DOCTOR_OK;
	return n;
}

/* What runs it, or would: of what is left open the native engine where it
 * works, then Docker; NO: neither does. */
static enum doctor_need engine_of(const struct doctor *d)
{
	switch (d->engine) {
	case IR_ENGINE_DOCKER:
		return DOCTOR_FOR_DOCKER;
	case IR_ENGINE_NATIVE:
		return DOCTOR_FOR_NATIVE;
	case IR_ENGINE_AUTO:
		break;
	}
	if (lacking_count(d, DOCTOR_FOR_NATIVE) == 0)
		return DOCTOR_FOR_NATIVE;
	return lacking_count(d, DOCTOR_FOR_DOCKER) == 0 ? DOCTOR_FOR_DOCKER
							: DOCTOR_FOR_NO;
}

bool doctor_runs(const struct doctor *d)
{
	enum doctor_need engine = engine_of(d);

	return engine != DOCTOR_FOR_NO && lacking_count(d, engine) == 0;
}

/* Where neither engine works, whatever one of them lacks would help. */
static bool is_needed(const struct doctor *d, int id)
{
	enum doctor_need engine = engine_of(d), own = table[id].needed;

	return own != DOCTOR_FOR_NO && !is_spared(d, id) &&
	       (engine == DOCTOR_FOR_NO || own == engine);
}

static const char *consequence_of(const struct doctor *d, int id)
{
	return is_spared(d, id)
		       ? "nothing for the policy here, of 'masks: start': its sessions have no view; no session starts where masks hold"
		       : table[id].consequence;
}

/* Of the policies that a folder here could have. */
static const char *policy_of(const struct doctor *d)
{
	for (int i = 0; i < DOCTOR_CHECKS; i++)
		if (is_spared(d, i) && d->of[i].state != DOCTOR_OK)
			return "with masks that are made at the start, as the policy here says";
	return "with the default policy";
}

const char *doctor_remedy(enum doctor_id id)
{
	return table[id].remedy;
}

static const char *remedy_of(const struct check *c,
			     const struct doctor_finding *f)
{
	return f->remedy ? f->remedy : c->remedy;
}

static enum view_paint paint_of(bool needed, enum doctor_state state)
{
	switch (state) {
	case DOCTOR_OK:
		return VIEW_GOOD;
	case DOCTOR_MISSING:
		return needed ? VIEW_BAD : VIEW_WARN;
	case DOCTOR_UNKNOWN:
		break;
	}
	return VIEW_WARN;
}

/* Two behind the longest name. */
static unsigned detail_column(void)
{
	unsigned longest = 0;

	for (int i = 0; i < DOCTOR_CHECKS; i++) {
		unsigned n = view_columns(str_of(table[i].name));

		longest = n > longest ? n : longest;
	}
	return MORE_COLUMN + longest + 2;
}

static void put_more(const struct view *v, const char *what, const char *text)
{
	struct str line = arena_fmt(v->out->a, "%s %s", what, text);

	buf_addf(v->out, "%*s", (int)MORE_COLUMN, "");
	view_wrap(v, MORE_COLUMN, MORE_COLUMN + 2, line);
}

static void put_row(const struct view *v, const struct doctor *d, int id)
{
	const struct doctor_finding *f = &d->of[id];
	const struct check *c = &table[id];
	struct str detail =
		view_cleaned(v->out->a, str_of(f->detail ? f->detail : ""));
	const char *state = words[f->state];
	unsigned column = detail_column();

	buf_adds(v->out, "  ");
	view_paint(v, paint_of(is_needed(d, id), f->state), str_of(state));
	buf_addf(v->out, "%*s", (int)(MORE_COLUMN - 2 - strlen(state)), "");
	if (detail.n) {
		buf_addf(v->out, "%-*s", (int)(column - MORE_COLUMN), c->name);
		view_wrap(v, column, column, detail);
	} else {
		buf_addf(v->out, "%s\n", c->name);
	}
	if (f->state == DOCTOR_OK || f->unasked)
		return;
	put_more(v, "means:", consequence_of(d, id));
	put_more(v, "remedy:", remedy_of(c, f));
}

static void put_sum(const struct view *v, const struct doctor *d)
{
	static const char *const by[] = {
		[DOCTOR_FOR_NO] = "",
		[DOCTOR_FOR_DOCKER] = "docker",
		[DOCTOR_FOR_NATIVE] = "the native engine",
	};
	enum doctor_need engine = engine_of(d);

	if (doctor_runs(d)) {
		buf_addf(
			v->out,
			"'membrane run' works here %s, by %s\n",
			policy_of(d), by[engine]);
		return;
	}
	if (engine == DOCTOR_FOR_NO) {
		buf_addf(
			v->out,
			"'membrane run' does not work here: the native engine lacks %u of what it needs, and docker %u\n",
			lacking_count(d, DOCTOR_FOR_NATIVE),
			lacking_count(d, DOCTOR_FOR_DOCKER));
		return;
	}
	if (engine == DOCTOR_FOR_DOCKER &&
	    lacking_count(d, DOCTOR_FOR_NATIVE) == 0)
		buf_adds(
			v->out,
			"without 'engine: docker' in the policy it needs no Docker, and what the native engine takes is here\n");
	buf_addf(
		v->out,
		"'membrane run' does not work here by %s: it lacks %u of what it needs\n",
		by[engine], lacking_count(d, engine));
}

void doctor_view(const struct view *v, const struct doctor *d)
{
	for (int i = 0; i < DOCTOR_CHECKS; i++) {
		const char *group = table[i].group;

		if (i == 0 || strcmp(group, table[i - 1].group) != 0) {
			if (i)
				buf_addc(v->out, '\n');
			view_row(v, 0, VIEW_TITLE, str_of(group),
				 (struct str){0});
		}
		put_row(v, d, i);
	}
	buf_addc(v->out, '\n');
	put_sum(v, d);
}

struct str doctor_json(struct arena *a, const struct doctor *d)
{
	cJSON *root = json_object(), *checks = json_array();

	json_put_u64(root, "version", DOCTOR_JSON_VERSION);
	json_put_bool(root, "runs", doctor_runs(d));
	json_put(root, "checks", checks);
	for (int i = 0; i < DOCTOR_CHECKS; i++) {
		const struct doctor_finding *f = &d->of[i];
		cJSON *o = json_object();

		json_put_cstr(o, "group", table[i].group);
		json_put_cstr(o, "name", table[i].name);
		json_put_cstr(o, "state", words[f->state]);
		json_put_bool(o, "needed", is_needed(d, i));
		json_put_cstr(o, "detail", f->detail ? f->detail : "");
		json_put_cstr(o, "consequence", consequence_of(d, i));
		json_put_cstr(o, "remedy", remedy_of(&table[i], f));
		json_push(checks, o);
	}
	return json_shown(a, root);
}
