/*
 * A list of patterns, an empty line, then paths: each judged as file and as
 * directory.
 */
#include "compiler/base/gitignore.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct str rest = {(const char *)data, size}, line;
	struct gitignore *g = gitignore_new(a);

	while (str_line(&rest, &line) && line.n) {
		size_t at = 0;
		enum gitignore_fault f = gitignore_add(g, line, &at);

		if (at > line.n || !gitignore_fault_text(f)[0])
			__builtin_trap();
	}
	while (str_line(&rest, &line)) {
		uint32_t by = 0;

		if (gitignore_match(g, line, false, &by) != GITIGNORE_NONE &&
		    by >= gitignore_count(g))
			__builtin_trap();
		gitignore_match(g, line, true, NULL);
	}
	arena_free(a);
	return 0;
}
