/* `membrane compile`: the plan, written into a folder. */
#include "compiler/base/sys/outfile.h"
#include "compiler/base/sha256.h"
#include "compiler/cli/review/proof.h"
#include "compiler/cli/review/sealed.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/workspace/workspaces.h"

#include <fcntl.h>

/* By default into the workspace, where others write, too. */
static int write_there(struct arena *a, const char *dir,
		       const struct inputs *in, const struct plan *p,
		       struct err *err)
{
	struct workspaces_ask ask = {a, in->state, in->workspace};
	struct outfile_rule rule = {workspaces_hold, &ask};
	struct pathwalk_end at;
	int rc = outfile_find(a, &rule, AT_FDCWD, dir, 0777, &at, err);

	if (rc < 0)
		return rc;
	rc = plan_write_at(at.dir_fd, at.name, dir, p, err);
	fd_close(&at.dir_fd);
	return rc;
}

static int write_plan(const struct options *o, const struct inputs *in,
		      struct compilation *c)
{
	const char *dir = options_value(c->a, o, OPTION_OUTPUT, NULL);
	char hex[SHA256_HEX_MAX];
	struct err err;

	if ((!dir && sealed_default(c->a, in->workspace, &dir, &err) < 0) ||
	    write_there(c->a, dir, in, &c->plan, &err) < 0) {
		console_error("%s", view_cleaned(c->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	sha256_hex(plan_manifest(c->a, &c->plan), hex);
	return console_result(arena_fmt(
		c->a, "plan %.12s: %u files in %s\n", hex, c->plan.files.n + 1,
		view_cleaned(c->a, sealed_short(str_of(dir), in)).p));
}

/* A plan of ours that does not agree is a bug of ours, and not written. */
static int prove_compiled(const struct compilation *c)
{
	struct prove_out proof;
	struct buf text;
	struct view v = {&text, console_width(STDERR_FILENO),
			 console_colour(STDERR_FILENO)};

	buf_init(&text, c->a);
	proof_make(c, &c->plan, &proof);
	if (proof.end == PROVE_AGREES) {
		v = (struct view){&text, console_width(STDOUT_FILENO), false};
		proof_view(&v, &proof);
		return console_result(buf_str(&text));
	}
	proof_complain(&v, c, STR("the plan"), &proof);
	console_error("%s  nothing was written", text.p);
	return proof.end == PROVE_TOO_LARGE ? STATUS_REFUSED : STATUS_BUG;
}

int command_compile(struct arena *a, const struct options *o)
{
	struct compilation c = {0};
	struct inputs in;
	int status = inputs_compile(a, o, false, &in, &c);

	if (status == STATUS_OK && inputs_denied(o, &c, false))
		status = STATUS_REFUSED;
	if (status == STATUS_OK && options_get(o, OPTION_PROVE))
		status = prove_compiled(&c);
	if (status == STATUS_OK)
		status = write_plan(o, &in, &c);
	driver_done(&c);
	return status;
}
