#include "compiler/base/fileio.h"
#include "compiler/base/sha256.h"
#include "compiler/commands/inputs.h"
#include "compiler/commands/say.h"
#include "compiler/commands/sealed.h"
#include "compiler/commands/view.h"

#include <string.h>

/* The folder above dir, so that the plan can be written beside its place. */
static int make_parent(struct arena *a, const char *dir, struct err *err)
{
	const char *slash = strrchr(dir, '/');

	if (!slash || slash == dir)
		return 0;
	return fileio_mkdirs(
		arena_cstr(a, (struct str){dir, (size_t)(slash - dir)}), 0777,
		err);
}

static int write_plan(const struct options *o, const struct inputs *in,
		      struct compilation *c)
{
	const char *dir = options_value(c->a, o, OPTION_OUTPUT, NULL);
	char hex[SHA256_HEX_MAX];
	struct err err;

	if ((!dir && sealed_default(c->a, in->workspace, &dir, &err) < 0) ||
	    make_parent(c->a, dir, &err) < 0 ||
	    plan_write(dir, &c->plan, &err) < 0) {
		say("%s", view_cleaned(c->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	sha256_hex(plan_manifest(c->a, &c->plan), hex);
	return say_result(arena_fmt(
		c->a, "plan %.12s: %u files in %s\n", hex, c->plan.files.n + 1,
		view_cleaned(c->a, sealed_short(str_of(dir), in)).p));
}

int command_compile(struct arena *a, const struct options *o)
{
	struct compilation c = {0};
	struct inputs in;
	int status = inputs_compile(a, o, false, &in, &c);

	if (status == STATUS_OK && inputs_denied(o, &c, false))
		status = STATUS_REFUSED;
	if (status == STATUS_OK)
		status = write_plan(o, &in, &c);
	driver_done(&c);
	return status;
}
