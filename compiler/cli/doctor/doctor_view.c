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

static unsigned lacking_count(const struct doctor *d, enum doctor_need engine)
{
	unsigned n = 0;

	for (int i = 0; i < DOCTOR_CHECKS; i++)
		n += table[i].needed == engine && d->of[i].state != DOCTOR_OK;
	return n;
}

static enum doctor_need engine_of(const struct doctor *d)
{
	return d->native ? DOCTOR_FOR_NATIVE : DOCTOR_FOR_DOCKER;
}

bool doctor_runs(const struct doctor *d)
{
	return lacking_count(d, engine_of(d)) == 0;
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

static void put_row(const struct view *v, const struct check *c,
		    const struct doctor_finding *f, bool needed)
{
	struct str detail =
		view_cleaned(v->out->a, str_of(f->detail ? f->detail : ""));
	const char *state = words[f->state];
	unsigned column = detail_column();

	buf_adds(v->out, "  ");
	view_paint(v, paint_of(needed, f->state), str_of(state));
	buf_addf(v->out, "%*s", (int)(MORE_COLUMN - 2 - strlen(state)), "");
	if (detail.n) {
		buf_addf(v->out, "%-*s", (int)(column - MORE_COLUMN), c->name);
		view_wrap(v, column, column, detail);
	} else {
		buf_addf(v->out, "%s\n", c->name);
	}
	if (f->state == DOCTOR_OK || f->unasked)
		return;
	put_more(v, "means:", c->consequence);
	put_more(v, "remedy:", remedy_of(c, f));
}

static void put_sum(const struct view *v, const struct doctor *d)
{
	static const char *const by[] = {
		[DOCTOR_FOR_DOCKER] = "",
		[DOCTOR_FOR_NATIVE] = " and 'engine: native'",
	};
	enum doctor_need engine = engine_of(d);
	unsigned n = lacking_count(d, engine);

	if (n == 0) {
		buf_addf(
			v->out,
			"'membrane run' works here with the default policy%s\n",
			by[engine]);
		return;
	}
	if (!d->native && lacking_count(d, DOCTOR_FOR_NATIVE) == 0)
		buf_adds(
			v->out,
			"with 'engine: native' in the policy it needs no Docker, and what that engine takes is here\n");
	buf_addf(
		v->out,
		"'membrane run' does not work here: it lacks %u of what it needs\n",
		n);
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
		put_row(v, &table[i], &d->of[i],
			table[i].needed == engine_of(d));
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
		json_put_bool(o, "needed", table[i].needed == engine_of(d));
		json_put_cstr(o, "detail", f->detail ? f->detail : "");
		json_put_cstr(o, "consequence", table[i].consequence);
		json_put_cstr(o, "remedy", remedy_of(&table[i], f));
		json_push(checks, o);
	}
	return json_shown(a, root);
}
