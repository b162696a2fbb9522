/* What a change of a session's policy did, for people and for programs. */
#include "compiler/cli/amend/amend.h"

#include "compiler/cli/review/changes_json.h"

static void put_verdict(const struct view *v, const struct changes *x,
			const char *all)
{
	enum changes_verdict is = changes_verdict(x);
	struct str summary = changes_summary(x);

	buf_adds(v->out, "  ");
	view_paint(v, is == CHANGES_WIDENED ? VIEW_BAD : VIEW_GOOD,
		   str_of(changes_verdict_about(is)));
	if (summary.n)
		buf_addf(v->out, ": %s", summary.p);
	buf_addc(v->out, '\n');
	changes_view(v, x, all);
}

static void put_lines(const struct view *v, char sign,
		      const explain_texts *texts)
{
	vec_each(t, texts) {
		buf_adds(v->out, "    ");
		view_paint(v, sign == '+' ? VIEW_GOOD : VIEW_BAD,
			   arena_fmt(v->out->a, "%c %s", sign,
				     view_cleaned(v->out->a, *t).p));
		buf_addc(v->out, '\n');
	}
}

static void put_file(const struct view *v, const struct amend_save *s)
{
	buf_addc(v->out, '\n');
	vec_each(h, &s->hunks) {
		if (h->is_new)
			buf_addf(v->out, "  %.*s, a new file\n",
				 STR_ARG(h->file));
		else
			buf_addf(v->out, "  %.*s:%u\n", STR_ARG(h->file),
				 h->line);
		put_lines(v, '-', &h->gone);
		put_lines(v, '+', &h->come);
	}
}

void amend_view(const struct view *v, const struct amend *x, const char *all)
{
	struct arena *a = v->out->a;

	if (!x->is_idle) {
		view_row(v, 0, VIEW_TITLE,
			 arena_fmt(a, "session %s: %s %s", x->about.session.id,
				   x->allow ? "allow" : "deny",
				   view_cleaned(a, x->dest).p),
			 (struct str){0});
		put_verdict(v, &x->diff, all);
		if (amend_cuts(x))
			buf_adds(
				v->out,
				"  open connections by name are ended; those that stay permitted can be opened again\n");
	}
	if (!x->save.wanted)
		return;
	put_file(v, &x->save);
	put_verdict(v, &x->save.diff, all);
}

/* --- as JSON -------------------------------------------------------------- */

static void put_changes(cJSON *o, const struct changes *x)
{
	json_put_cstr(o, "verdict", changes_verdict_name(changes_verdict(x)));
	json_put(o, "changes", changes_json(x));
	json_put(o, "third_parties", changes_json_places(x));
}

static cJSON *saved_json(const struct amend *x)
{
	cJSON *o = json_object();

	json_put_str(o, "file", x->save.file);
	json_put_bool(o, "written", x->save.done);
	put_changes(o, &x->save.diff);
	return o;
}

struct str amend_json(const struct amend *x)
{
	cJSON *root = json_object();

	json_put_u64(root, "version", AMEND_JSON_VERSION);
	json_put_cstr(root, "session", x->about.session.id);
	json_put_cstr(root, "verb", x->allow ? "allow" : "deny");
	json_put_str(root, "dest", view_cleaned(x->a, x->dest));
	json_put_bool(root, "applied", x->answer.ok);
	if (x->answer.ok) {
		json_put_u64(root, "generation", x->answer.generation);
		json_put_u64(root, "ms", (uint64_t)x->answer.ms);
	}
	put_changes(root, &x->diff);
	if (x->save.wanted)
		json_put(root, "saved", saved_json(x));
	return json_shown(x->a, root);
}
