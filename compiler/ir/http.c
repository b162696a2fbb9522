#include "compiler/ir/http.h"

#include "compiler/base/ascii.h"

struct http_rules http_rules(struct arena *a, const struct ir_grant *g)
{
	struct ir_http *any;

	if (g->has_http)
		return (struct http_rules){g->http.v, g->http.n};
	any = arena_new_of(a, struct ir_http);
	any->any_method = any->any_path = true;
	return (struct http_rules){any, 1};
}

static struct ir_text trimmed_text(struct ir_text t)
{
	t.s = str_unslashed(t.s);
	return t;
}

/* Is the path under the URL's, at a boundary of segments? */
static bool is_under(struct str path, struct str base)
{
	return str_starts(path, base) &&
	       (path.n == base.n || path.p[base.n] == '/');
}

bool http_any_path(const struct ir_dest *d, const struct ir_http *h)
{
	return h->any_path && !(d->kind == IR_DEST_URL && d->u.url.path.n > 1);
}

ir_texts http_paths(struct arena *a, const struct ir_dest *d,
		    const struct ir_http *h)
{
	struct ir_text base = {.s = STR("/")};
	ir_texts out = {0};

	if (d->kind == IR_DEST_URL) {
		base.s = d->u.url.path;
		base.from.at = d->u.url.path_at;
	}
	base = trimmed_text(base);
	if (h->any_path) {
		if (base.s.n)
			*vec_push(a, &out) = base;
		return out;
	}
	vec_each(p, &h->paths) {
		struct ir_text t = trimmed_text(*p);

		if (is_under(t.s, base.s))
			*vec_push(a, &out) = t;
		else if (is_under(base.s, t.s))
			*vec_push(a, &out) = base;
	}
	return out;
}

bool http_has_paths(struct arena *a, const struct ir_grant *g)
{
	struct http_rules rules = http_rules(a, g);

	for (uint32_t i = 0; i < rules.n; i++)
		if (!http_any_path(&g->dest, &rules.v[i]))
			return true;
	return false;
}

bool http_has_methods(struct arena *a, const struct ir_grant *g)
{
	struct http_rules rules = http_rules(a, g);

	for (uint32_t i = 0; i < rules.n; i++)
		if (!rules.v[i].any_method)
			return true;
	return false;
}

/* RFC 9110, RFC 5789, RFC 4918. */
const char *http_known_method(size_t i)
{
	static const char *const methods[] = {
		"GET",	   "HEAD",     "POST",	    "PUT",     "DELETE",
		"OPTIONS", "TRACE",    "PATCH",	    "CONNECT", "COPY",
		"MOVE",	   "LOCK",     "UNLOCK",    "MKCOL",   "REPORT",
		"SEARCH",  "PROPFIND", "PROPPATCH", "PURGE",
	};

	return i < ARRAY_LEN(methods) ? methods[i] : NULL;
}

bool http_method_fits(struct arena *a, struct str method, const char **out_near)
{
	struct str up = ascii_upper(a, method);
	const char *known;

	*out_near = NULL;
	for (size_t i = 0; (known = http_known_method(i)); i++) {
		if (str_is(method, known))
			return true;
		if (str_is(up, known) ||
		    (!*out_near && str_distance(up, str_of(known), 1) <= 1))
			*out_near = known;
	}
	return !*out_near && ascii_is_token(method) && str_eq(method, up);
}
