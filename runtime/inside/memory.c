/*
 * What a compiler may call on its own, though there is no library: clang fills
 * a struct by it, where gcc writes the stores.
 */
#include <stddef.h>

void *memset(void *at, int byte, size_t n);

void *memset(void *at, int byte, size_t n)
{
	unsigned char *p = at;

	while (n--)
		*p++ = (unsigned char)byte;
	return at;
}
