/* `membrane check`: is a written plan what the policy compiles to? */
#include "compiler/cli/review/sealed.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"

static int show_sealed(const struct options *o, const struct sealed *s)
{
	struct buf report;
	struct view v = {&report, console_width(STDERR_FILENO),
			 console_colour(STDERR_FILENO)};
	int status;

	if (options_get(o, OPTION_JSON)) {
		status = console_result(sealed_json(s));
		return status != STATUS_OK ? status
		       : s->is_current	   ? STATUS_OK
					   : STATUS_REFUSED;
	}
	if (s->is_current)
		return console_result(arena_fmt(
			s->a, "%s is what the policy says\n", s->dir.p));
	buf_init(&report, s->a);
	sealed_view(&v, s);
	console_error(
		"%s  'membrane compile' writes what the policy says; review it",
		report.p);
	return STATUS_REFUSED;
}

static int compare_sealed(const struct options *o, const struct inputs *in,
			  struct compilation *c)
{
	const char *dir = o->words.n ? arena_cstr(c->a, o->words.v[0]) : NULL;
	struct sealed s = {0};
	struct err err;
	int status;

	if ((!dir && sealed_default(c->a, in->workspace, &dir, &err) < 0) ||
	    sealed_compare(dir, in, c, &s, &err) < 0) {
		console_error("%s", view_cleaned(c->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	status = show_sealed(o, &s);
	sealed_done(&s);
	return status;
}

int command_check(struct arena *a, const struct options *o)
{
	struct compilation c = {0};
	struct inputs in;
	int status = inputs_compile(a, o, false, &in, &c);

	if (status == STATUS_OK)
		status = compare_sealed(o, &in, &c);
	if (status == STATUS_OK && inputs_denied(o, &c, false))
		status = STATUS_REFUSED;
	driver_done(&c);
	return status;
}
