#include "runtime/gate/onward/head.h"

#include <string.h>

#define VERSION_PROXY 0x21
#define TCP_OVER_IPV4 0x11
#define TCP_OVER_IPV6 0x21

static const uint8_t signature[12] = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
				      0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};

static uint16_t get_u16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

size_t head_size(const uint8_t *first)
{
	size_t n = HEAD_FIRST + get_u16(first + 14);

	if (memcmp(first, signature, sizeof(signature)) != 0 ||
	    first[12] != VERSION_PROXY || n > HEAD_MAX)
		return 0;
	return n;
}

bool head_parse(const uint8_t *bytes, size_t n, struct head *out)
{
	const uint8_t *at = bytes + HEAD_FIRST;
	bool six = bytes[13] == TCP_OVER_IPV6;
	struct head h = {.to = {.family = six ? ADDR_V6 : ADDR_V4}};
	size_t size = six ? 16 : 4; /* two of these, and two ports */

	if (n < HEAD_FIRST + 2 * size + 4 ||
	    (!six && bytes[13] != TCP_OVER_IPV4))
		return false;
	memcpy(h.to.b, at + size, size);
	h.from_port = get_u16(at + 2 * size);
	h.port = get_u16(at + 2 * size + 2);
	if (h.port == 0 || h.from_port == 0)
		return false;
	*out = h;
	return true;
}
