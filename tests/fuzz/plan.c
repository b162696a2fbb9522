/*
 * The reader of plans. The manifest ends at the first NUL; what follows stands
 * for every file that it names.
 */
#include "compiler/plan/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_rest(void *ctx, struct arena *a, struct str name,
		     struct str *out_data, struct err *err)
{
	(void)a;
	(void)name;
	(void)err;
	*out_data = *(const struct str *)ctx;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = {(const char *)data, size}, text;
	struct arena *a = arena_new();
	struct plan p = {0}, q = {0};
	struct err err;

	/* The manifest ends at the first NUL. */
	if (!str_field(&rest, '\0', &text))
		text = rest;
	if (manifest_open(a, text, read_rest, &rest, &p, &err) == 0 &&
	    !str_eq(plan_manifest(a, &p), text))
		abort();
	if (manifest_parse(a, text, &q, &err) == 0)
		for (uint32_t i = 0; i < q.files.n; i++)
			if (!manifest_name_ok(q.files.v[i].name))
				abort();
	arena_free(a);
	return 0;
}
