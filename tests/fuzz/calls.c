/*
 * The reader of seccomp profiles, which a plan of somebody else's brings, and
 * their comparison: two profiles, with a line of "%%" between them. What is
 * refused has a reason. Each is equal to itself, and what is gained one way is
 * lost the other.
 */
#include "compiler/algebra/compare/calls.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool read_profile(struct arena *a, struct str json, struct calls *out)
{
	struct err err = {0};
	int rc = calls_read(a, json, out, &err);

	if (rc < 0 && (rc != err.code || !*err.text))
		__builtin_trap();
	return rc == 0;
}

static uint32_t count_way(const struct comparison *c, enum access_way way)
{
	uint32_t n = 0;

	vec_each(x, &c->changes) {
		if (x->kind != ACCESS_CALL || x->text.n == 0)
			__builtin_trap();
		n += x->way == way;
	}
	return n;
}

static void compare_itself(struct arena *a, const struct calls *c)
{
	struct comparison same = {0};
	struct err err;

	if (calls_compare(a, c, c, &same, &err) == 0 && same.changes.n)
		__builtin_trap();
}

static void compare_both(struct arena *a, const struct calls *old,
			 const struct calls *now)
{
	struct comparison there = {0}, back = {0};
	struct err err;

	if (calls_compare(a, old, now, &there, &err) < 0 ||
	    calls_compare(a, now, old, &back, &err) < 0)
		return;
	if (count_way(&there, ACCESS_GAINED) != count_way(&back, ACCESS_LOST) ||
	    count_way(&there, ACCESS_LOST) != count_way(&back, ACCESS_GAINED) ||
	    count_way(&there, ACCESS_OTHER) != count_way(&back, ACCESS_OTHER))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char between[] = "\n%%\n";
	const char *text = (const char *)data;
	const char *cut = memmem(text, size, between, 4);
	size_t n = cut ? (size_t)(cut - text) : size;
	struct arena *a = arena_new();
	struct calls old = {0}, now = {0};
	bool ok = read_profile(a, (struct str){text, n}, &old);

	if (ok)
		compare_itself(a, &old);
	if (cut && read_profile(a, (struct str){cut + 4, size - n - 4}, &now) &&
	    ok)
		compare_both(a, &old, &now);
	arena_free(a);
	return 0;
}
