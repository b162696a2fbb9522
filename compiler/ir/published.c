#include "compiler/ir/published.h"

#include "compiler/base/buf.h"

#define LOOPBACK "127.0.0.1"

static bool parse_port(struct str s, uint16_t *out)
{
	uint64_t v;

	if (!str_u64(s, 65535, &v) || v == 0)
		return false;
	*out = (uint16_t)v;
	return true;
}

/* Where the last part begins: behind the last colon. */
static size_t last_part(struct str s)
{
	size_t at = s.n;

	while (at > 0 && s.p[at - 1] != ':')
		at--;
	return at;
}

static bool parse_addr(struct str s, struct addr *out)
{
	bool six = s.n > 2 && s.p[0] == '[' && s.p[s.n - 1] == ']';

	if (six)
		s = str_slice(s, 1, s.n - 1);
	return addr_parse(s, out) && (out->family == ADDR_V6) == six;
}

const char *published_parse(struct str s, struct ir_published *out)
{
	struct ir_published p = {0};
	struct str rest;
	size_t at;

	if (str_find(s, '/', 0) < s.n)
		return "has a protocol: TCP alone is published so";
	if (str_find(s, '-', 0) < s.n)
		return "is a range: one port each";
	at = last_part(s);
	if (!parse_port(str_slice(s, at, s.n), &p.to))
		return "has no port from 1 to 65535 for the inside";
	if (at == 0) {
		p.port = p.to;
		rest = STR(LOOPBACK);
	} else {
		rest = str_slice(s, 0, at - 1);
		at = last_part(rest);
		if (!parse_port(str_slice(rest, at, rest.n), &p.port))
			return "has no port from 1 to 65535 for the machine";
		rest = at ? str_slice(rest, 0, at - 1) : STR(LOOPBACK);
	}
	if (!parse_addr(rest, &p.addr))
		return "has no address of the machine in front";
	*out = p;
	return NULL;
}

struct str published_text(struct arena *a, const struct ir_published *p)
{
	char text[ADDR_TEXT_MAX];
	bool six = p->addr.family == ADDR_V6;

	addr_text(&p->addr, text);
	if (!str_is(str_of(text), LOOPBACK))
		return arena_fmt(a, "%s%s%s:%u:%u", six ? "[" : "", text,
				 six ? "]" : "", p->port, p->to);
	if (p->port != p->to)
		return arena_fmt(a, "%u:%u", p->port, p->to);
	return arena_fmt(a, "%u", p->to);
}

bool published_is_local(const struct ir_published *p)
{
	struct addr six;

	if (p->addr.family == ADDR_V4)
		return p->addr.b[0] == 127;
	return addr_parse(STR("::1"), &six) && addr_eq(&p->addr, &six);
}
