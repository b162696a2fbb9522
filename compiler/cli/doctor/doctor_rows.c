#include "compiler/cli/doctor/doctor_rows.h"

#include <string.h>

#define MORE_COLUMN 11u

static const char *const words[] = {
	[DOCTOR_UNKNOWN] = "unknown",
	[DOCTOR_MISSING] = "missing",
	[DOCTOR_OK] = "ok",
};

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
static unsigned detail_column(const struct doctor_row *rows, int count)
{
	unsigned longest = 0;

	for (int i = 0; i < count; i++) {
		unsigned n = view_columns(str_of(rows[i].name));

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

static void put_row(const struct view *v, const struct doctor_row *r,
		    unsigned column)
{
	const struct doctor_finding *f = &r->found;
	struct str detail =
		view_cleaned(v->out->a, str_of(f->detail ? f->detail : ""));
	const char *state = words[f->state];

	buf_adds(v->out, "  ");
	view_paint(v, paint_of(r->needed, f->state), str_of(state));
	buf_addf(v->out, "%*s", (int)(MORE_COLUMN - 2 - strlen(state)), "");
	if (detail.n) {
		buf_addf(v->out, "%-*s", (int)(column - MORE_COLUMN), r->name);
		view_wrap(v, column, column, detail);
	} else {
		buf_addf(v->out, "%s\n", r->name);
	}
	if (f->state == DOCTOR_OK || f->unasked)
		return;
	put_more(v, "means:", r->consequence);
	put_more(v, "remedy:", r->remedy);
}

void doctor_rows_view(const struct view *v, const struct doctor_row *rows,
		      int n)
{
	unsigned column = detail_column(rows, n);

	for (int i = 0; i < n; i++) {
		const char *group = rows[i].group;

		if (i == 0 || strcmp(group, rows[i - 1].group) != 0) {
			if (i)
				buf_addc(v->out, '\n');
			view_row(v, 0, VIEW_TITLE, str_of(group),
				 (struct str){0});
		}
		put_row(v, &rows[i], column);
	}
	buf_addc(v->out, '\n');
}

cJSON *doctor_rows_json(const struct doctor_row *rows, int n, bool runs)
{
	cJSON *root = json_object(), *checks = json_array();

	json_put_u64(root, "version", DOCTOR_JSON_VERSION);
	json_put_bool(root, "runs", runs);
	json_put(root, "checks", checks);
	for (int i = 0; i < n; i++) {
		const struct doctor_finding *f = &rows[i].found;
		cJSON *o = json_object();

		json_put_cstr(o, "group", rows[i].group);
		json_put_cstr(o, "name", rows[i].name);
		json_put_cstr(o, "state", words[f->state]);
		json_put_bool(o, "needed", rows[i].needed);
		json_put_cstr(o, "detail", f->detail ? f->detail : "");
		json_put_cstr(o, "consequence", rows[i].consequence);
		json_put_cstr(o, "remedy", rows[i].remedy);
		json_push(checks, o);
	}
	return root;
}
