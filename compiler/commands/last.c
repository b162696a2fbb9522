#include "compiler/commands/last.h"

#include "compiler/base/fileio.h"
#include "compiler/base/sha256.h"

/* Enough that two workspaces of one person do not meet. */
#define HASH_DIGITS 16

static const char *place(struct arena *a, const char *state,
			 const char *workspace)
{
	char hex[SHA256_HEX_MAX];

	return arena_fmt(a, "%s/last/%.*s", state, HASH_DIGITS,
			 sha256_hex(str_of(workspace), hex))
		.p;
}

const struct plan *last_read(struct arena *a, const char *state,
			     const char *workspace)
{
	struct plan *p = arena_new_of(a, struct plan);
	struct err err;

	if (plan_read(a, place(a, state, workspace), p, &err) < 0)
		return NULL;
	return p;
}

int last_write(struct arena *a, const char *state, const char *workspace,
	       const struct plan *p, struct err *err)
{
	if (fileio_mkdirs(arena_fmt(a, "%s/last", state).p, 0700, err) < 0)
		return err->code;
	return plan_write(place(a, state, workspace), p, err);
}
