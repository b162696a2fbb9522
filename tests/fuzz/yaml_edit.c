/*
 * Edits of a text: each is refused or gives a text, and never touches what is
 * not there.
 */
#include "compiler/front/yaml/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const keys[] = {"allow", "deny", "ignore", "args"};
	struct str text = {(const char *)data, size}, out;
	struct arena *a;

	if (size > 4096)
		return 0;
	a = arena_new();
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (edit_add(a, text, keys[i], STR("x.test"), &out) &&
		    out.n < text.n + 6)
			__builtin_trap();
	for (size_t at = 0; at < size; at += 1 + size / 16) {
		ignore(edit_remove(a, text, at, NULL, &out));
		ignore(edit_remove(a, text, at, "deny", &out));
		ignore(edit_replace(a, text, at, "deny", STR("x"), &out));
		ignore(edit_extend(a, text, at, "ports", STR("1"), &out));
		out = edit_remove_line(a, text, at);
		if (out.n >= size)
			__builtin_trap();
	}
	arena_free(a);
	return 0;
}
