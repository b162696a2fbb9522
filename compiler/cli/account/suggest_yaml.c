/* A suggestion as the text of a policy, with what it leaves out as comments. */
#include "compiler/cli/account/suggest.h"

#include "compiler/base/secret.h"
#include "compiler/cli/text/view.h"
#include "compiler/emit/yaml_write.h"

#include <string.h>

#define FILES_SHOWN 20u
#define LEFT_SHOWN  20u
#define TEXT_MAX    400u

static void put_text(struct yaml_write *w, struct str s)
{
	yaml_write_scalar(w, s, YAML_ANY_SCALAR_STYLE);
}

/* --- grants --------------------------------------------------------------- */

static struct str port_text(struct arena *a, const struct suggest_port *p)
{
	return arena_fmt(a, p->proto == IR_PROTO_UDP ? "%u/udp" : "%u",
			 p->port);
}

/* Can they be ports of one entry? A URL has one. */
static bool is_alike(const struct suggest_port *p, const struct suggest_port *q)
{
	const suggest_rules *x = &p->http, *y = &q->http;

	if (p->https || q->https)
		return p == q;
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (!str_eq(x->v[i].method, y->v[i].method) ||
		    !str_eq(x->v[i].path, y->v[i].path))
			return false;
	return true;
}

/* The methods of a path, and whether the path is the first that has them. */
static suggest_texts methods_of(struct arena *a, const suggest_rules *list,
				struct str path)
{
	suggest_texts out = {0};

	vec_each(x, list)
		if (str_eq(x->path, path))
			*vec_push(a, &out) = x->method;
	return out;
}

static bool same_texts(const suggest_texts *x, const suggest_texts *y)
{
	if (x->n != y->n)
		return false;
	for (uint32_t i = 0; i < x->n; i++)
		if (!str_eq(x->v[i], y->v[i]))
			return false;
	return true;
}

static void put_list(struct yaml_write *w, const char *key,
		     const suggest_texts *list)
{
	put_text(w, str_of(key));
	yaml_write_list(w, YAML_FLOW_SEQUENCE_STYLE);
	vec_each(x, list)
		put_text(w, *x);
	yaml_write_list_end(w);
}

/* One rule for all paths that are asked with the same methods. */
static void put_http(struct yaml_write *w, const suggest_rules *list)
{
	suggest_texts done = {0};

	put_text(w, STR("http"));
	yaml_write_list(w, YAML_BLOCK_SEQUENCE_STYLE);
	vec_each(x, list) {
		suggest_texts methods = methods_of(w->a, list, x->path);
		suggest_texts paths = {0};
		bool is_done = false;

		vec_each(p, &done)
			is_done |= str_eq(*p, x->path);
		if (is_done)
			continue;
		for (const struct suggest_http *y = x; y < list->v + list->n;
		     y++) {
			suggest_texts m = methods_of(w->a, list, y->path);

			if (str_eq(y->method, x->method) &&
			    same_texts(&m, &methods)) {
				*vec_push(w->a, &paths) = y->path;
				*vec_push(w->a, &done) = y->path;
			}
		}
		yaml_write_map(w, YAML_FLOW_MAPPING_STYLE);
		put_list(w, "methods", &methods);
		put_list(w, "paths", &paths);
		yaml_write_map_end(w);
	}
	yaml_write_list_end(w);
}

/* "x.test:443", "[2001:db8::1]:443". */
static struct str short_form(struct arena *a, const struct suggest_grant *g,
			     const struct suggest_port *p)
{
	return arena_fmt(a, g->is_v6 ? "[%.*s]:%u" : "%.*s:%u",
			 STR_ARG(g->dest), p->port);
}

/* Only of names: nobody knows a server by its address alone. */
static struct str url_text(struct arena *a, const struct suggest_grant *g,
			   const struct suggest_port *p)
{
	return arena_fmt(a, "https://%.*s:%u", STR_ARG(g->dest), p->port);
}

/* The ports from the i-th on for which the same holds, as one grant. */
static void put_grant(struct yaml_write *w, const struct suggest_grant *g,
		      uint32_t i, bool flow)
{
	const struct suggest_port *first = &g->ports.v[i];
	suggest_texts ports = {0};

	for (uint32_t k = i; k < g->ports.n; k++)
		if (is_alike(&g->ports.v[k], first))
			*vec_push(w->a, &ports) =
				port_text(w->a, &g->ports.v[k]);
	if (ports.n == 1 && first->proto == IR_PROTO_TCP && !first->http.n &&
	    !g->private && !g->once) {
		put_text(w, short_form(w->a, g, first));
		return;
	}
	yaml_write_map(w, first->http.n && !flow ? YAML_BLOCK_MAPPING_STYLE
						 : YAML_FLOW_MAPPING_STYLE);
	put_text(w, STR("dest"));
	if (first->https) {
		put_text(w, url_text(w->a, g, first));
	} else {
		put_text(w, g->dest);
		put_list(w, "ports", &ports);
	}
	if (g->private) {
		put_text(w, STR("private"));
		put_text(w, STR("true"));
	}
	if (first->http.n)
		put_http(w, &first->http);
	if (g->once) {
		put_text(w, STR("for"));
		put_text(w, STR("once"));
	}
	yaml_write_map_end(w);
}

/* Does it begin a grant of its own, or go with an earlier port? */
static bool is_first(const struct suggest_grant *g, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (is_alike(&g->ports.v[k], &g->ports.v[i]))
			return false;
	return true;
}

static void put_grants(struct yaml_write *w, const struct suggest_grant *g)
{
	for (uint32_t i = 0; i < g->ports.n; i++)
		if (is_first(g, i))
			put_grant(w, g, i, false);
}

/* A list of one entry is "- …", whatever it is. */
static struct str item_text(struct arena *a, const struct suggest_grant *g,
			    uint32_t i)
{
	struct yaml_write w;
	struct str all, line;
	struct buf out;

	buf_init(&out, a);
	yaml_write_begin(&w, a, &out);
	yaml_write_list(&w, YAML_BLOCK_SEQUENCE_STYLE);
	put_grant(&w, g, i, true);
	yaml_write_list_end(&w);
	yaml_write_end(&w);
	all = buf_str(&out);
	str_line(&all, &line);
	return str_slice(line, strlen("- "), line.n);
}

void suggest_items(struct arena *a, const suggest_grants *grants,
		   suggest_texts *out)
{
	vec_each(g, grants)
		for (uint32_t i = 0; i < g->ports.n; i++)
			if (is_first(g, i))
				*vec_push(a, out) = item_text(a, g, i);
}

/* --- comments ------------------------------------------------------------- */

static void put_comment(struct buf *out, struct str text)
{
	struct str line;

	while (str_line(&text, &line))
		buf_addf(out, "#%s%.*s\n", line.n ? " " : "", STR_ARG(line));
}

/* Whatever YAML takes for the end of a line ends no comment. */
static struct str plain_text(struct arena *a, struct str s)
{
	struct buf b;

	buf_init(&b, a);
	summary_escape(&b, view_cleaned(a, s), TEXT_MAX);
	return buf_str(&b);
}

static bool is_cut(const struct activity *d)
{
	struct secret s;

	vec_each(x, &d->v)
		if (x->r.kind == IR_REQ_HTTP && x->then != ACT_REFUSED &&
		    secret_next(x->r.url.path, 0, &s))
			return true;
	return false;
}

static void put_records(struct buf *out, const struct activity *d,
			const char *log)
{
	struct buf refused;

	if (is_cut(d))
		put_comment(
			out,
			STR("A path that holds a secret is cut before it, which permits more."));
	if (!d->has_decisions)
		put_comment(
			out,
			STR("The gate's decisions are not here: names are those of answers in the\ntrace, and which connections were refused is not known.\n"));
	if (d->beyond)
		put_comment(
			out,
			arena_fmt(
				out->a,
				"%llu records are left out: there was no room.\n",
				(unsigned long long)d->beyond));
	buf_init(&refused, out->a);
	summary_print(d->refused, log, false, &refused);
	refusals_print(d->paths, log, false, &refused);
	if (refused.n) {
		buf_adds(out, "#\n");
		put_comment(out, buf_str(&refused));
	}
}

/* Files are in no rule here: what is in the trace depends on what it records.
 */
static void put_files(struct buf *out, const struct activity *d)
{
	uint64_t reads = 0, writes = 0, shown = 0;

	vec_each(x, &d->v) {
		reads += x->r.kind == IR_REQ_READ && x->then != ACT_REFUSED;
		writes += x->r.kind == IR_REQ_WRITE && x->then != ACT_REFUSED;
	}
	if (reads + writes == 0)
		return;
	put_comment(
		out,
		arena_fmt(
			out->a,
			"\nFiles of the workspace in the trace: %llu read, %llu changed.%s\n",
			(unsigned long long)reads, (unsigned long long)writes,
			reads ? " What should not\nhave been read belongs in 'ignore':"
			      : ""));
	vec_each(x, &d->v) {
		if (x->r.kind != IR_REQ_READ || x->then == ACT_REFUSED)
			continue;
		if (shown++ == FILES_SHOWN) {
			buf_addf(out, "#   and %llu more\n",
				 (unsigned long long)(reads - FILES_SHOWN));
			break;
		}
		buf_addf(out, "#   %s\n", plain_text(out->a, x->r.path).p);
	}
}

/* What was done all the same, in a policy that does not grant it. */
static void put_left(struct buf *out, const char *why,
		     const suggest_texts *list)
{
	uint32_t n = 0;

	if (list->n == 0)
		return;
	put_comment(out, arena_fmt(out->a, "\n%s:", why));
	vec_each(x, list) {
		if (n++ == LEFT_SHOWN) {
			buf_addf(out, "#   and %u more\n",
				 list->n - LEFT_SHOWN);
			break;
		}
		buf_addf(out, "#   %s\n", plain_text(out->a, *x).p);
	}
}

static void put_key(struct yaml_write *w, const char *key,
		    const suggest_grants *grants)
{
	put_text(w, str_of(key));
	yaml_write_list(w, grants->n ? YAML_BLOCK_SEQUENCE_STYLE
				     : YAML_FLOW_SEQUENCE_STYLE);
	vec_each(g, grants)
		put_grants(w, g);
	yaml_write_list_end(w);
}

/* asks: NULL where nothing of it is to be said. */
static void put_policy(struct arena *a, const suggest_grants *grants,
		       const suggest_grants *asks, struct buf *out)
{
	struct yaml_write w;

	yaml_write_begin(&w, a, out);
	yaml_write_map(&w, YAML_BLOCK_MAPPING_STYLE);
	put_key(&w, "allow", grants);
	if (asks && asks->n)
		put_key(&w, "ask", asks);
	yaml_write_map_end(&w);
	yaml_write_end(&w);
}

struct str suggest_grants_yaml(struct arena *a, const suggest_grants *grants)
{
	struct buf out;

	buf_init(&out, a);
	put_policy(a, grants, NULL, &out);
	return buf_str(&out);
}

void suggest_policy_yaml(struct arena *a, const struct suggestion *s,
			 struct buf *out)
{
	put_policy(a, &s->grants, &s->asks, out);
}

void suggest_comments(struct arena *a, const struct suggestion *s,
		      const struct activity *d, const char *log,
		      struct buf *out)
{
	put_records(out, d, log);
	put_left(out, "Left out, since no rule can say it", &s->unsaid);
	put_left(
		out,
		"Left out, since a grant for it would permit more than the session had",
		&s->beyond);
	if (s->unasked)
		put_comment(
			out,
			arena_fmt(
				a,
				"\n%llu destinations more were refused: there is no room to ask about all.",
				(unsigned long long)s->unasked));
}

struct str suggest_yaml(struct arena *a, const struct suggestion *s,
			const struct activity *d, struct str session,
			const char *log)
{
	struct buf out;

	buf_init(&out, a);
	put_comment(
		&out,
		arena_fmt(
			a,
			"What %.*s needed of the network, from 'membrane trace suggest'.\nPaths are prefixes. Read it, compare it with 'membrane diff', and only then use it.\n",
			STR_ARG(plain_text(a, session))));
	suggest_comments(a, s, d, log, &out);
	put_files(&out, d);
	suggest_policy_yaml(a, s, &out);
	return buf_str(&out);
}
