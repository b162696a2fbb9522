/* `membrane trust`: approve what a workspace adds, show it, take it back. */
#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/trust/trust_linked.h"
#include "compiler/cli/workspace/reached.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int fail_trust(struct arena *a, const struct err *err)
{
	console_error("%s", view_cleaned(a, str_of(err->text)).p);
	return STATUS_IO;
}

static const char *counted_text(struct arena *a, uint64_t n, const char *unit)
{
	return arena_fmt(a, "%llu %s%s", (unsigned long long)n, unit,
			 n == 1 ? "" : "s")
		.p;
}

/* --- what was approved --------------------------------------------------- */

/* The path that approvals are kept under; the folder may be gone. */
static int path_of(struct arena *a, const struct options *o, struct str *out,
		   struct err *err)
{
	const char *where = o->words.n ? arena_cstr(a, o->words.v[0]) : ".";
	char real[PATH_MAX], cwd[PATH_MAX];

	if (realpath(where, real)) {
		*out = arena_str(a, str_of(real));
		return 0;
	}
	if (errno != ENOENT && errno != ENOTDIR)
		return err_set(err, -errno, "%s: %s", where, strerror(errno));
	if (!getcwd(cwd, sizeof(cwd)))
		return err_set(err, -errno, "the current folder: %s",
			       strerror(errno));
	*out = where[0] == '/' ? str_of(where)
			       : arena_fmt(a, "%s/%s", cwd, where);
	while (out->n > 1 && out->p[out->n - 1] == '/')
		out->n--;
	return 0;
}

static void view_entry(const struct view *v, const struct trust_entry *e,
		       bool whole)
{
	struct arena *a = v->out->a;
	struct str head = arena_fmt(
		a, "%s  %.12s  %s", view_cleaned(a, e->when).p, e->digest.p,
		counted_text(a, e->adds.n + e->more, "addition"));

	if (!whole) {
		buf_addf(v->out, "%s  %s\n", head.p,
			 view_cleaned(a, e->workspace).p);
		return;
	}
	view_row(v, 0, VIEW_PLAIN, head, (struct str){0});
	vec_each(t, &e->adds)
		view_row(v, 2, VIEW_GOOD,
			 arena_fmt(a, "+ %s", view_cleaned(a, t->s).p),
			 (struct str){0});
	vec_each(t, &e->cuts)
		view_row(v, 2, VIEW_DIM,
			 arena_fmt(a, "- %s  (of it)", view_cleaned(a, t->s).p),
			 (struct str){0});
	if (e->more)
		view_row(v, 2, VIEW_DIM,
			 arena_fmt(a, "and %llu more",
				   (unsigned long long)e->more),
			 (struct str){0});
}

static int list_entries(struct arena *a, const struct options *o)
{
	struct trust_store store;
	struct str only = {0};
	const char *state;
	struct err err;
	struct buf out;
	struct view v = {&out, 80, false};

	buf_init(&out, a);
	if (inputs_state(a, &state, &err) < 0 ||
	    (o->words.n && path_of(a, o, &only, &err) < 0) ||
	    trust_store_read(a, state, &store, &err) < 0)
		return fail_trust(a, &err);
	vec_each(e, &store.entries)
		if (!only.p || str_eq(only, e->workspace))
			view_entry(&v, e, false);
	vec_each(e, &store.older)
		if (!only.p || str_eq(only, e->workspace))
			buf_addf(&out, "%s  no longer counts  %s\n",
				 view_cleaned(a, e->when).p,
				 view_cleaned(a, e->workspace).p);
	if (out.n == 0)
		console_error("nothing is approved%s", only.p ? " there" : "");
	return out.n ? console_result(buf_str(&out)) : STATUS_OK;
}

static int take_back(struct arena *a, const struct options *o)
{
	const char *state;
	struct str where;
	struct err err;
	uint32_t n;

	if (inputs_state(a, &state, &err) < 0 ||
	    path_of(a, o, &where, &err) < 0 ||
	    trust_store_revoke(a, state, where, &n, &err) < 0)
		return fail_trust(a, &err);
	where = view_cleaned(a, where);
	if (n)
		console_error("%s of %s taken back",
			      counted_text(a, n, "approval"), where.p);
	else
		console_error("nothing was approved for %s", where.p);
	return STATUS_OK;
}

/* --- what is to be approved ---------------------------------------------- */

struct attempt {
	const struct options *o;
	struct inputs in;
	struct compilation c;
	struct contribution x;
	struct trust_linked linked;
};

static struct view to_stdout(struct buf *out, struct arena *a)
{
	buf_init(out, a);
	return (struct view){out, console_width(STDOUT_FILENO),
			     console_colour(STDOUT_FILENO)};
}

static int approve_workspace(struct attempt *t, bool told)
{
	struct arena *a = t->c.a;
	struct str where = str_of(t->in.workspace);
	struct buf out;
	struct view v = to_stdout(&out, a);
	struct err err;

	if (trust_store_add(a, t->in.state, where, str_of(t->x.digest),
			    &t->x.adds, &t->x.cuts, &err) < 0)
		return fail_trust(a, &err);
	buf_addf(&out, "approved %s of %s\n",
		 counted_text(a, t->x.adds.n, "addition"),
		 view_cleaned(a, where).p);
	if (!told)
		trust_view(&v, &t->c, &t->x);
	return console_result(buf_str(&out));
}

static int ask_approval(struct attempt *t)
{
	auto_fd int tty = confirm_terminal();
	struct buf out;
	struct view v = to_stdout(&out, t->c.a);

	if (tty >= 0 && trust_ask(tty, &t->c, &t->in, &t->x))
		return approve_workspace(t, true);
	if (tty >= 0) {
		console_error("not approved");
		return STATUS_REFUSED;
	}
	trust_view(&v, &t->c, &t->x);
	if (console_result(buf_str(&out)) != STATUS_OK)
		return STATUS_IO;
	console_error(
		"there is no terminal to ask at, so this is not approved; --yes approves it");
	return STATUS_REFUSED;
}

static int decide_state(struct attempt *t)
{
	struct err err;

	switch (trust_state(&t->c, &t->in, &t->x, &err)) {
	case TRUST_NOTHING:
		return console_result(STR(
			"the workspace adds nothing: there is nothing to approve\n"));
	case TRUST_APPROVED:
		return console_result(STR("approved already\n"));
	case TRUST_NEVER:
		console_error(
			"'workspace_trust: never' in the global file: nothing of a workspace is ever approved");
		return STATUS_REFUSED;
	case TRUST_UNKNOWN:
		return fail_trust(t->c.a, &err);
	case TRUST_ALWAYS:
	case TRUST_OPEN:
		break;
	}
	if (!inputs_apart(t->c.a, &t->in) || !reached_allowed(t->c.a, &t->in))
		return STATUS_REFUSED;
	return options_get(t->o, OPTION_YES) ? approve_workspace(t, false)
					     : ask_approval(t);
}

/* --- the repository beside it --------------------------------------------- */

static int keep_linked(struct attempt *t, bool yes)
{
	struct err err;

	if (trust_linked_keep(&t->c, &t->in, &t->linked, yes, &err) < 0)
		return fail_trust(t->c.a, &err);
	if (yes)
		return console_result(arena_fmt(
			t->c.a, "approved the repository %s of %s\n",
			view_cleaned(t->c.a, t->linked.git.common).p,
			view_cleaned(t->c.a, str_of(t->in.workspace)).p));
	console_error("not approved");
	return STATUS_REFUSED;
}

static int ask_linked(struct attempt *t)
{
	auto_fd int tty = confirm_terminal();
	struct buf out;
	struct view v = to_stdout(&out, t->c.a);

	if (tty >= 0)
		return keep_linked(
			t, trust_linked_ask(tty, &t->c, &t->in, &t->linked));
	trust_linked_view(&v, &t->linked.git);
	if (console_result(buf_str(&out)) != STATUS_OK)
		return STATUS_IO;
	console_error(
		"there is no terminal to ask at, so this is not approved; --yes approves it");
	return STATUS_REFUSED;
}

static int decide_linked(struct attempt *t)
{
	switch (t->linked.state) {
	case TRUST_NOTHING:
		return STATUS_OK;
	case TRUST_APPROVED:
		return console_result(
			STR("its repository: approved already\n"));
	case TRUST_NEVER:
		console_error(
			"'workspace_trust: never' in the global file: nothing of a workspace is ever approved");
		return STATUS_REFUSED;
	case TRUST_UNKNOWN:
		return fail_trust(t->c.a, &t->linked.err);
	case TRUST_ALWAYS:
	case TRUST_OPEN:
		break;
	}
	if (!inputs_apart(t->c.a, &t->in) || !reached_allowed(t->c.a, &t->in))
		return STATUS_REFUSED;
	return options_get(t->o, OPTION_YES) ? keep_linked(t, true)
					     : ask_linked(t);
}

static int decide_all(struct attempt *t)
{
	bool alone = t->x.adds.n == 0 && t->linked.state != TRUST_NOTHING;
	int status = alone ? STATUS_OK : decide_state(t);

	if (t->linked.git.kind == GITLINKED_REFUSED)
		console_error("its repository is not shown: %s",
			      view_cleaned(t->c.a, t->linked.git.why).p);

	return status == STATUS_OK ? decide_linked(t) : status;
}

/* --- showing ------------------------------------------------------------- */

static const char *state_text(enum trust_state state)
{
	switch (state) {
	case TRUST_NOTHING:
		return "it adds nothing: there is nothing to approve";
	case TRUST_ALWAYS:
		return "'workspace_trust: always': runs without being asked";
	case TRUST_NEVER:
		return "'workspace_trust: never': does not run";
	case TRUST_APPROVED:
		return "approved";
	case TRUST_OPEN:
		return "not approved";
	case TRUST_UNKNOWN:
		return "not known to be approved";
	}
	abort();
}

static void show_linked(const struct view *v, const struct attempt *t)
{
	const struct trust_linked *l = &t->linked;
	struct arena *a = v->out->a;

	switch (l->git.kind) {
	case GITLINKED_NONE:
	case GITLINKED_FOLDER:
		return;
	case GITLINKED_REFUSED:
		buf_addf(v->out, "its repository: not shown, %s\n",
			 view_cleaned(a, l->git.why).p);
		return;
	case GITLINKED_WORKTREE:
	case GITLINKED_MODULE:
	case GITLINKED_PART:
		break;
	}
	buf_addf(v->out, "its repository: %s\n",
		 l->declined ? "declined" : state_text(l->state));
	trust_linked_view(v, &l->git);
}

static bool is_open(enum trust_state state)
{
	return state == TRUST_OPEN || state == TRUST_NEVER;
}

static int show_state(struct attempt *t)
{
	struct arena *a = t->c.a;
	struct trust_store store = {0};
	struct err err;
	struct buf out;
	struct view v = to_stdout(&out, a);
	enum trust_state state = trust_state(&t->c, &t->in, &t->x, &err);
	uint32_t n = 0;

	buf_addf(&out, "%s: %s\n", view_cleaned(a, str_of(t->in.workspace)).p,
		 state_text(state));
	trust_view(&v, &t->c, &t->x);
	show_linked(&v, t);
	if (state == TRUST_UNKNOWN ||
	    trust_store_read(a, t->in.state, &store, &err) < 0)
		(void)fail_trust(a, &err);
	vec_each(e, &store.entries) {
		if (!str_eq(e->workspace, str_of(t->in.workspace)))
			continue;
		if (n++ == 0)
			view_title(&v, "approved before", 0, NULL);
		view_entry(&v, e, true);
	}
	if (console_result(buf_str(&out)) != STATUS_OK ||
	    state == TRUST_UNKNOWN || t->linked.state == TRUST_UNKNOWN)
		return STATUS_IO;
	return is_open(state) ||
			       (is_open(t->linked.state) && !t->linked.declined)
		       ? STATUS_REFUSED
		       : STATUS_OK;
}

int command_trust(struct arena *a, const struct options *o)
{
	bool wants_list = options_get(o, OPTION_LIST) != NULL;
	bool wants_revoke = options_get(o, OPTION_REVOKE) != NULL;
	bool wants_show = options_get(o, OPTION_SHOW) != NULL;
	bool wants_yes = options_get(o, OPTION_YES) != NULL;
	struct attempt t = {.o = o};
	int status;

	if (wants_list + wants_revoke + wants_show + wants_yes > 1) {
		console_error(
			"one of --list, --revoke, --show and --yes at a time\n"
			"  'membrane help trust' says what they do");
		return STATUS_USAGE;
	}
	if (wants_list)
		return list_entries(a, o);
	if (wants_revoke)
		return take_back(a, o);
	status = inputs_compile(a, o, false, &t.in, &t.c);
	if (status == STATUS_OK) {
		contribution_make(&t.c, &t.x);
		trust_linked_find(&t.c, &t.in, &t.linked);
		status = wants_show ? show_state(&t) : decide_all(&t);
	}
	driver_done(&t.c);
	return status;
}
