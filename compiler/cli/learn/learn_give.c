/* What was learned, shown and written. */
#include "compiler/cli/learn/learn.h"

#include "compiler/base/sys/outfile.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/saving.h"
#include "runtime/launch/workspace/workspaces.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static bool is_empty(const struct lesson *x)
{
	return x->made.grants.n + x->made.asks.n == 0;
}

static void show_left(struct lesson *x)
{
	uint32_t n = x->made.unsaid.n + x->made.beyond.n;

	if (n)
		console_error(
			"%u of what was done %s not in it: no grant says so little%s",
			n, n == 1 ? "is" : "are",
			x->to.path ? "; without -o they are listed" : "");
}

static void show_diff(struct lesson *x)
{
	struct buf out;
	struct view v = {&out, console_width(STDERR_FILENO),
			 console_colour(STDERR_FILENO)};
	enum changes_verdict is = changes_verdict(&x->diff);
	struct str summary = changes_summary(&x->diff);

	buf_init(&out, x->a);
	view_row(&v, 0, VIEW_TITLE,
		 arena_fmt(x->a, "%.*s → with what %s used", STR_ARG(x->file),
			   x->p.label.p),
		 (struct str){0});
	view_paint(&v, is == CHANGES_WIDENED ? VIEW_BAD : VIEW_GOOD,
		   str_of(changes_verdict_about(is)));
	if (summary.n)
		buf_addf(&out, ": %.*s", STR_ARG(summary));
	buf_addc(&out, '\n');
	changes_view(&v, &x->diff, NULL);
	fwrite(out.p, 1, out.n, stderr);
}

static int write_policy(struct lesson *x, const struct outfile_rule *rule,
			struct err *err)
{
	if (!x->to.own)
		return outfile_write(x->a, rule, AT_FDCWD, x->to.path, x->after,
				     0644, err);
	if (x->is_new)
		return saving_new(x->a, x->in.workspace, x->file, x->after,
				  err);
	return saving_write(x->a, x->in.state, x->in.workspace, x->file,
			    x->before, x->after, err);
}

static int write_files(struct lesson *x)
{
	struct workspaces_ask ask = {x->a, x->in.state, x->in.workspace};
	struct outfile_rule rule = {workspaces_hold, &ask};
	struct err err;

	if (write_policy(x, &rule, &err) < 0) {
		console_error("not written: %s",
			      view_cleaned(x->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (outfile_write(x->a, &rule, AT_FDCWD, x->to.tests,
			  lesson_tests_yaml(x), 0644, &err) < 0) {
		console_error("wrote %s, and no tests: %s",
			      view_cleaned(x->a, str_of(x->to.path)).p,
			      view_cleaned(x->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	console_error(
		"wrote %s and %s%s", view_cleaned(x->a, str_of(x->to.path)).p,
		view_cleaned(x->a, str_of(x->to.tests)).p,
		x->to.own ? "; 'membrane trust' approves what is added" : "");
	return STATUS_OK;
}

int lesson_give(struct lesson *x)
{
	show_left(x);
	if (is_empty(x))
		console_error("%s used nothing beyond the policy%s",
			      x->p.label.p,
			      x->to.path ? ": nothing is written" : "");
	else
		show_diff(x);
	if (!x->to.path)
		return console_result(lesson_yaml(x));
	return is_empty(x) ? STATUS_OK : write_files(x);
}
