/* The launcher's words: what is read is what the lines say, or nothing is. */
#include "runtime/view/judge/hello.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_path(struct str p)
{
	if (p.n == 0 || p.p[0] == '/' || memchr(p.p, 0, p.n))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct str text = {(const char *)data, size};
	struct err err = {0};
	struct hello h;
	size_t used = size + 1;

	if (hello_read(a, text, &h, &used, &err) < 0) {
		if (!err.text[0] || err.code >= 0)
			__builtin_trap();
	} else if (used) {
		if (used > size || data[used - 1] != '\n')
			__builtin_trap();
		vec_each(p, &h.holds)
			check_path(*p);
		vec_each(p, &h.hides)
			check_path(*p);
		vec_each(p, &h.tracked)
			check_path(p->path);
	}
	arena_free(a);
	return 0;
}
