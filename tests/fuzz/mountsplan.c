/* mounts.plan: what is read is what the lines say, or nothing is. */
#include "compiler/plan/mountsplan.h"

#include "compiler/base/limits.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct str text = {(const char *)data, size}, line;
	struct mountsplan plan;
	struct err err = {0};
	uint32_t lines = 0;

	if (mountsplan_read(a, text, &plan, &err) < 0) {
		if (!err.text[0] || err.code >= 0)
			__builtin_trap();
	} else {
		while (str_line(&text, &line))
			lines++;
		if (lines != 2 + gitignore_count(plan.ignore) +
				     gitignore_count(plan.readonly) +
				     gitignore_count(plan.protect) +
				     plan.holds.n + plan.fast.n)
			__builtin_trap();
		if (plan.by.n != gitignore_count(plan.protect))
			__builtin_trap();
		vec_each(h, &plan.holds) {
			if (h->path.n == 0 || h->path.p[0] == '/')
				__builtin_trap();
			gitignore_match(plan.ignore, h->path, h->is_dir, NULL);
		}
	}
	arena_free(a);
	return 0;
}
