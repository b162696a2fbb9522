#include "compiler/base/portlist.h"

static bool parse_port(struct str text, uint16_t *out)
{
	uint64_t port;

	if (!str_u64(text, UINT16_MAX, &port) || port == 0)
		return false;
	*out = (uint16_t)port;
	return true;
}

/* "tcp/443" or "tcp/8000-8999". */
static bool parse_range(struct str text, struct str *out_proto,
			uint16_t *out_lo, uint16_t *out_hi)
{
	size_t slash = str_find(text, '/', 0);
	size_t dash = str_find(text, '-', slash);

	*out_proto = str_slice(text, 0, slash);
	if (!parse_port(str_slice(text, slash + 1, dash), out_lo))
		return false;
	*out_hi = *out_lo;
	return dash == text.n ||
	       (parse_port(str_slice(text, dash + 1, text.n), out_hi) &&
		*out_lo <= *out_hi);
}

bool portlist_ok(struct str list)
{
	struct str one, proto;
	uint16_t lo, hi;

	if (list.n == 0 || list.p[list.n - 1] == ',')
		return false;
	while (str_field(&list, ',', &one))
		if (!parse_range(one, &proto, &lo, &hi) ||
		    (!str_is(proto, "tcp") && !str_is(proto, "udp")))
			return false;
	return true;
}

bool portlist_has(struct str list, const char *proto, uint16_t port)
{
	struct str one, of;
	uint16_t lo, hi;

	while (str_field(&list, ',', &one))
		if (parse_range(one, &of, &lo, &hi) && str_is(of, proto) &&
		    lo <= port && port <= hi)
			return true;
	return false;
}
