#include "compiler/commands/inputs.h"
#include "compiler/commands/say.h"
#include "compiler/commands/sealed.h"
#include "compiler/commands/view.h"

static int compare(const struct options *o, const struct inputs *in,
		   struct compilation *c)
{
	const char *dir = o->words.n ? arena_cstr(c->a, o->words.v[0]) : NULL;
	struct buf report;
	struct err err;
	bool same;

	buf_init(&report, c->a);
	if ((!dir && sealed_default(c->a, in->workspace, &dir, &err) < 0) ||
	    sealed_compare(c->a, dir, in, &c->plan, &same, &report, &err) < 0) {
		say("%s", view_cleaned(c->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (same)
		return say_result(arena_fmt(
			c->a, "%s is what the policy says\n",
			view_cleaned(c->a, sealed_short(str_of(dir), in)).p));
	say("%s  'membrane compile' writes what has a '+'; review it",
	    report.p);
	return STATUS_REFUSED;
}

int command_check(struct arena *a, const struct options *o)
{
	struct compilation c = {0};
	struct inputs in;
	int status = inputs_compile(a, o, false, &in, &c);

	if (status == STATUS_OK)
		status = compare(o, &in, &c);
	if (status == STATUS_OK && inputs_denied(o, &c, false))
		status = STATUS_REFUSED;
	driver_done(&c);
	return status;
}
