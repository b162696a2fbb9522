#include "runtime/gate/plan/classes.h"

#include <netinet/in.h>

/* The next word of a line, without a comma at its end; empty at the end. */
static struct str word(struct str *line)
{
	struct str w;

	do {
		if (!str_field(line, ' ', &w))
			return STR("");
		w = str_trim(w);
	} while (w.n == 0);
	if (w.p[w.n - 1] == ',')
		w.n--;
	return w;
}

/* K of "@host4_K" or "@host6_K"; 0 for every other word. */
static unsigned class_of(struct str w)
{
	uint64_t k;

	if ((!str_starts(w, STR("@host4_")) &&
	     !str_starts(w, STR("@host6_"))) ||
	    !str_u64(str_slice(w, 7, w.n), LIMIT_CLASSES, &k))
		return 0;
	return (unsigned)k;
}

/* "443" or "8000-8999". False for what is no port. */
static bool add_port(struct classes *c, unsigned class, uint8_t proto,
		     struct str w)
{
	size_t dash = str_find(w, '-', 0);
	uint64_t lo, hi;

	if (!str_u64(str_slice(w, 0, dash), UINT16_MAX, &lo))
		return false;
	hi = lo;
	if (dash < w.n &&
	    !str_u64(str_slice(w, dash + 1, w.n), UINT16_MAX, &hi))
		return false;
	if (c->n < CLASSES_PORTS_MAX)
		c->v[c->n++] = (struct classes_port){
			(uint16_t) class, proto, (uint16_t)lo, (uint16_t)hi};
	return true;
}

static void read_rule(struct str line, struct classes *c)
{
	unsigned class = 0;
	uint8_t proto = 0;
	struct str w;

	while ((w = word(&line)).n) {
		if (str_is(w, "tcp"))
			proto = IPPROTO_TCP;
		else if (str_is(w, "udp"))
			proto = IPPROTO_UDP;
		else if (!class)
			class = class_of(w);
		else if (str_is(w, "dport") && proto)
			break;
	}
	w = word(&line);
	if (str_is(w, "{"))
		w = word(&line);
	while (w.n && add_port(c, class, proto, w))
		w = word(&line);
}

void classes_read(struct str ruleset, struct classes *out)
{
	struct str line;

	out->n = 0;
	while (str_line(&ruleset, &line))
		if (str_find(line, '@', 0) < line.n &&
		    !str_starts(str_trim(line), STR("#")))
			read_rule(line, out);
}

bool classes_have(const struct classes *c, unsigned class, uint8_t proto,
		  uint16_t port)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct classes_port *p = &c->v[i];

		if (p->class == class && p->proto == proto && p->lo <= port &&
		    port <= p->hi)
			return true;
	}
	return false;
}
