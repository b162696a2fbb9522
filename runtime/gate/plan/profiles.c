#include "runtime/gate/plan/profiles.h"

#include "compiler/plan/profiles_map.h"
#include "runtime/gate/plan/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ID_BYTES 12 /* "g-0123456789" */

static bool parse_line(struct str line, struct profiles_line *out)
{
	struct profiles_line l = {0};

	if (!str_field(&line, ' ', &l.token) || l.token.n == 0 ||
	    !str_field(&line, ' ', &l.pattern) ||
	    (line.n != ID_BYTES && !str_is(line, "-")) ||
	    str_find(line, ' ', 0) != line.n)
		return false;
	if (line.n == ID_BYTES)
		l.id = line;
	l.is_net = str_find(l.pattern, '/', 0) < l.pattern.n;
	if (l.is_net ? cidr_parse(l.pattern, &l.net) != CIDR_OK
		     : !names_pattern(l.pattern))
		return false;
	*out = l;
	return true;
}

static int parse_lines(struct profiles *p, struct str text, struct err *err)
{
	unsigned number = 1;
	struct str line;

	(void)str_line(&text, &line); /* there is one: a LF ends the text */
	if (!str_is(line, PROFILES_MAP_HEAD))
		return err_set(err, -EPROTO, "unknown version");
	while (str_line(&text, &line)) {
		number++;
		if (!parse_line(line, &p->v[p->n]))
			return err_set(err, -EPROTO, "line %u: malformed",
				       number);
		p->n++;
	}
	return 0;
}

/* Pointers into one text: within a token the order of the text stays. */
static int by_token(const void *a, const void *b)
{
	const struct profiles_line *x = a, *y = b;
	int c = str_cmp(x->token, y->token);

	return c ? c : (x->token.p > y->token.p) - (x->token.p < y->token.p);
}

int profiles_parse(struct str text, struct profiles *out, struct err *err)
{
	struct profiles p = {0};
	size_t lines = 1;
	int rc;

	if (text.n == 0 || text.n > LIMIT_PLAN_BYTES ||
	    text.p[text.n - 1] != '\n')
		return err_set(err, -EPROTO, "not whole lines");
	for (size_t i = 0; i < text.n; i++)
		lines += text.p[i] == '\n';
	p.text = malloc(text.n);
	p.v = calloc(lines, sizeof(*p.v));
	if (!p.text || !p.v) {
		profiles_free(&p);
		return err_set(err, -ENOMEM, "out of memory");
	}
	memcpy(p.text, text.p, text.n);
	rc = parse_lines(&p, (struct str){p.text, text.n}, err);
	if (rc < 0) {
		profiles_free(&p);
		return rc;
	}
	qsort(p.v, p.n, sizeof(*p.v), by_token);
	*out = p;
	return 0;
}

void profiles_free(struct profiles *p)
{
	free(p->v);
	free(p->text);
	*p = (struct profiles){0};
}

static bool fits_place(const struct profiles_line *l, struct str name,
		       const struct addr *addr)
{
	if (l->is_net)
		return addr && cidr_has(&l->net, addr);
	return name.n && names_pattern_has(l->pattern, name);
}

bool profiles_minds(const struct profiles *p, struct str name)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->v[i].is_net || (str_starts(p->v[i].token, STR("d")) &&
				       fits_place(&p->v[i], name, NULL)))
			return true;
	return false;
}

struct str profiles_find(const struct profiles *p, struct str token,
			 struct str name, const struct addr *addr)
{
	uint32_t lo = 0, hi = p->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (str_cmp(p->v[mid].token, token) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < p->n && str_eq(p->v[lo].token, token); lo++)
		if (fits_place(&p->v[lo], name, addr))
			return p->v[lo].id;
	return (struct str){0};
}

struct str profiles_token(const struct profiles *p, struct str id,
			  struct str name, const struct addr *addr)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (str_eq(p->v[i].id, id) && fits_place(&p->v[i], name, addr))
			return p->v[i].token;
	return (struct str){0};
}
