/*
 * intersect.h and numbers.h: what two destinations have in common, and lists
 * of numbers.
 */
#include "compiler/algebra/space/intersect.h"
#include "compiler/algebra/space/numbers.h"

#include "tests/check.h"
#include "tests/policy.h"

/* Of each pair, in both orders; both NULL: nothing in common. */
static const struct {
	const char *x, *y;
	const char *name, *net; /* name: a host, a pattern, or '*' */
	bool same;
} pairs[] = {
	{"a.test", "a.test", "a.test", NULL, true},
	{"a.test", "b.test", NULL, NULL, false},
	{"*.test", "a.test", "a.test", NULL, false},
	{"*.test", "**.test", "*.test", NULL, false},
	{"*.test", "*.test", "*.test", NULL, true},
	{"*.b.test", "a.*.test", "a.b.test", NULL, false},
	{"*.test", "test", NULL, NULL, false},
	{"a.b.test", "b.test", NULL, NULL, false},
	{"**.test", "test", NULL, NULL, false},
	{"**.test", "a.b.test", "a.b.test", NULL, false},
	{"*", "*", "*", NULL, true},
	{"*", "a.test", "a.test", NULL, false},
	{"*", "**.test", "**.test", NULL, false},
	{"*", "203.0.113.0/24", NULL, "203.0.113.0/24", false},
	{"a.test", "203.0.113.0/24", NULL, NULL, false},
	{"203.0.113.0/24", "203.0.113.0/24", NULL, "203.0.113.0/24", true},
	{"203.0.113.0/24", "203.0.113.7", NULL, "203.0.113.7/32", false},
	{"203.0.113.0/25", "203.0.113.128/25", NULL, NULL, false},
	{"203.0.113.0/24", "203.0.113.0/25", NULL, "203.0.113.0/25", false},
	{"0.0.0.0/0", "::/0", NULL, NULL, false},
	{"https://a.test/x/", "a.test", "a.test", NULL, true},
	{"https://a.test/x/", "*.test", "a.test", NULL, false},
	{"https://*.test/", "*.test", "*.test", NULL, true},
	{"https://203.0.113.7/", "203.0.113.0/24", NULL, "203.0.113.7/32",
	 false},
	{"https://203.0.113.7/", "203.0.113.7", NULL, "203.0.113.7/32", true},
	{"https://203.0.113.7/", "https://a.test/", NULL, NULL, false},
};

static void check_dest(const struct ir_dest *d, const char *name,
		       const char *net)
{
	char text[CIDR_TEXT_MAX];

	if (net) {
		CHECK(d->kind == IR_DEST_CIDR &&
		      strcmp(cidr_text(&d->u.cidr.net, text), net) == 0);
		return;
	}
	if (strcmp(name, "*") == 0) {
		CHECK(d->kind == IR_DEST_ANY);
		return;
	}
	CHECK(d->kind == (strchr(name, '*') ? IR_DEST_PATTERN : IR_DEST_HOST));
	CHECK_MSG(str_is(ir_dest_name(d), name), "%s", name);
}

static void check_pairs(void)
{
	struct arena *a = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct ir_dest d[2] = {0};

		test_dest(str_of(pairs[i].x), &d[0]);
		test_dest(str_of(pairs[i].y), &d[1]);
		for (int k = 0; k < 2; k++) {
			struct ir_dest out = {0};
			bool any = intersect_dest(a, &d[k], &d[!k], &out);

			CHECK_MSG(any == (pairs[i].name || pairs[i].net),
				  "%s and %s", pairs[i].x, pairs[i].y);
			if (any)
				check_dest(&out, pairs[i].name, pairs[i].net);
			CHECK_MSG(intersect_same(&d[k], &d[!k]) ==
					  pairs[i].same,
				  "%s and %s", pairs[i].x, pairs[i].y);
		}
	}
	arena_free(a);
}

/* --- numbers -------------------------------------------------------------- */

static const struct {
	uint32_t v[6], n, sorted[6], unique[6], n_unique;
} lists[] = {
	{{9}, 0, {9}, {9}, 0},
	{{9}, 1, {9}, {9}, 1},
	{{9, 9}, 2, {9, 9}, {9}, 1},
	{{1, 2, 3}, 3, {1, 2, 3}, {1, 2, 3}, 3},
	{{3, 1, 2, 1, 3, 1}, 6, {1, 1, 1, 2, 3, 3}, {1, 2, 3}, 3},
	/* more than an int has, and none below zero */
	{{UINT32_MAX, 0, 1u << 31},
	 3,
	 {0, 1u << 31, UINT32_MAX},
	 {0, 1u << 31, UINT32_MAX},
	 3},
};

static void check_numbers(void)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		uint32_t v[6], n = lists[i].n;

		memcpy(v, lists[i].v, sizeof(v));
		numbers_sort(v, n);
		CHECK(memcmp(v, lists[i].sorted, n * sizeof(*v)) == 0);
		memcpy(v, lists[i].v, sizeof(v));
		n = numbers_unique(v, n);
		CHECK(n == lists[i].n_unique &&
		      memcmp(v, lists[i].unique, n * sizeof(*v)) == 0);
	}
}

int main(void)
{
	check_pairs();
	check_numbers();
	return check_status();
}
