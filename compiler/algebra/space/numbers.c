#include "compiler/algebra/space/numbers.h"

#include "compiler/base/arena.h"

static int by_value(const void *va, const void *vb)
{
	uint32_t a = *(const uint32_t *)va, b = *(const uint32_t *)vb;

	return (a > b) - (a < b);
}

void numbers_sort(uint32_t *v, uint32_t n)
{
	VEC(uint32_t) list = {v, n, n};

	vec_sort(&list, by_value);
}

uint32_t numbers_unique(uint32_t *v, uint32_t n)
{
	uint32_t m = 0;

	if (n == 0)
		return 0;
	numbers_sort(v, n);
	for (uint32_t i = 1; i < n; i++)
		if (v[i] != v[m])
			v[++m] = v[i];
	return m + 1;
}
