#include "compiler/trace/filter.h"

#include "compiler/trace/filter_parser.h"
#include "grammar/filter.tab.h"

#include <stdlib.h>
#include <string.h>

#define YYSTYPE FILTERS_STYPE
#define YYLTYPE FILTERS_LTYPE
#include "grammar/filter.lex.h"

#define DEPTH_MAX 200u

static const struct {
	const char *name;
	enum filter_field field;
} fields[] = {
	{"event", FILTER_EVENT},
	{"comm", FILTER_COMM},
	{"pid", FILTER_PID},
	{"tid", FILTER_TID},
	{"ppid", FILTER_PPID},
	{"hostpid", FILTER_HOST_PID},
	{"uid", FILTER_UID},
	{"ret", FILTER_RET},
	{"container", FILTER_CONTAINER},
	{"syscall", FILTER_SYSCALL},
	{"path", FILTER_PATH},
	{"addr", FILTER_ADDR},
	{"port", FILTER_PORT},
	{"name", FILTER_NAME},
};

/* --- building ------------------------------------------------------------- */

static struct span at(const struct filter_parser *p, struct span part)
{
	return (struct span){p->base + part.beg, p->base + part.end};
}

static struct str words(const struct filter_parser *p, struct span part)
{
	return str_slice(p->text, part.beg, part.end);
}

void filter_unexpected(struct filter_parser *p, struct span part)
{
	struct str s = words(p, part);

	if (s.n == 0)
		diag_error(p->d, DIAG_FILTER, at(p, part),
			   "an expression that ends too early");
	else
		diag_error(p->d, DIAG_FILTER, at(p, part),
			   "unexpected '%s' in an expression",
			   diag_quote(p->d, s));
	diag_help(p->d, "as in: event == exec and comm != \"git\"");
}

struct filter_node *filter_pair(struct filter_parser *p, enum filter_kind kind,
				struct filter_node *a, struct filter_node *b)
{
	struct filter_node *n = arena_new_of(p->a, struct filter_node);

	if (++p->depth > DEPTH_MAX) {
		diag_error(p->d, DIAG_FILTER,
			   at(p, (struct span){0, (uint32_t)p->text.n}),
			   "an expression of more than %u parts", DEPTH_MAX);
		return NULL;
	}
	n->kind = kind;
	n->a = a;
	n->b = b;
	return n;
}

static struct str unquoted(struct arena *a, struct str s)
{
	struct buf b;

	if (s.p[0] == '\'')
		return str_slice(s, 1, s.n - 1);
	buf_init(&b, a);
	for (size_t i = 1; i + 1 < s.n; i++) {
		/* '\' before anything else is of a regular expression. */
		if (s.p[i] == '\\' && (s.p[i + 1] == '"' || s.p[i + 1] == '\\'))
			i++;
		buf_addc(&b, s.p[i]);
	}
	return buf_str(&b);
}

struct filter_value *filter_value(struct filter_parser *p, struct span part,
				  bool quoted)
{
	struct filter_value *v = arena_new_of(p->a, struct filter_value);
	struct str s = words(p, part), digits;
	uint64_t n;
	bool negative;

	v->at = part;
	v->text = quoted ? unquoted(p->a, s) : s;
	negative = str_starts(v->text, STR("-"));
	digits = str_slice(v->text, negative, v->text.n);
	v->is_number = !quoted && str_u64(digits, INT64_MAX, &n);
	if (v->is_number)
		v->number = negative ? -(int64_t)n : (int64_t)n;
	v->is_net = !v->is_number && cidr_parse(v->text, &v->net) == CIDR_OK;
	return v;
}

static bool find_field(struct filter_parser *p, struct span part,
		       struct filter_node *n)
{
	struct str name = words(p, part), rest;
	const char *best = NULL;
	unsigned least = 3;

	rest = str_slice(name, 5, name.n);
	if (rest.n && (str_starts(name, STR("args.")) ||
		       str_starts(name, STR("data.")))) {
		n->field = FILTER_ARG;
		n->arg = arena_cstr(p->a, rest);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		unsigned d = str_distance(name, str_of(fields[i].name), 2);

		if (d == 0) {
			n->field = fields[i].field;
			return true;
		}
		if (d < least) {
			least = d;
			best = fields[i].name;
		}
	}
	diag_error(p->d, DIAG_FILTER, at(p, part), "unknown field '%s'",
		   diag_quote(p->d, name));
	if (best)
		diag_help(p->d, "did you mean '%s'?", best);
	else
		diag_help(p->d,
			  "event, comm, path, addr, port, name, pid, "
			  "ppid, tid, uid, ret, syscall, container, or an "
			  "argument, as in args.flags");
	return false;
}

static bool make_regex(struct filter_parser *p, struct filter_node *n)
{
	char why[128];
	int rc;

	/* Not the arena's: the library keeps memory of its own in there. */
	n->regex = calloc(1, sizeof(*n->regex));
	if (!n->regex)
		abort();
	rc = regcomp(n->regex, arena_cstr(p->a, n->value->text),
		     REG_EXTENDED | REG_NOSUB);
	if (rc == 0) {
		*vec_push(p->a, &p->out->regexes) = n->regex;
		return true;
	}
	regerror(rc, n->regex, why, sizeof(why));
	free(n->regex);
	diag_error(p->d, DIAG_FILTER, at(p, n->value->at),
		   "not a regular expression: %s", why);
	diag_help(p->d, "extended ones, as grep -E has them");
	return false;
}

static bool check_value(struct filter_parser *p, const struct filter_node *n)
{
	switch (n->op) {
	case FILTER_LT:
	case FILTER_LE:
	case FILTER_GT:
	case FILTER_GE:
		if (n->value->is_number)
			return true;
		diag_error(p->d, DIAG_FILTER, at(p, n->value->at),
			   "'%s' is no number",
			   diag_quote(p->d, n->value->text));
		diag_help(p->d, "only numbers have an order");
		return false;
	case FILTER_EQ:
	case FILTER_NE:
	case FILTER_GLOB:
	case FILTER_REGEX:
	case FILTER_IN:
	case FILTER_HAS:
		return true;
	}
	abort();
}

struct filter_node *filter_test(struct filter_parser *p, struct span field,
				enum filter_op op, struct span op_at,
				struct filter_value *value)
{
	struct filter_node *n = filter_pair(p, FILTER_TEST, NULL, NULL);

	(void)op_at;
	if (!n || !find_field(p, field, n))
		return NULL;
	n->op = op;
	n->value = value;
	if (value && !check_value(p, n))
		return NULL;
	return op == FILTER_REGEX && !make_regex(p, n) ? NULL : n;
}

struct filter *filter_parse(struct diags *d, struct sources *sources,
			    struct str text)
{
	struct filter_parser p = {.d = d, .a = d->a, .text = text};
	yyscan_t scanner = NULL;
	int rc;

	p.base = sources_add(sources, STR("<expression>"), text, LAYER_FLAGS)
			 ->base;
	p.out = arena_new_of(d->a, struct filter);
	filters_lex_init_extra(&p, &scanner);
	filters__scan_bytes(text.p, (int)text.n, scanner);
	rc = filters_parse(&p, scanner);
	filters_lex_destroy(scanner);
	if (rc == 0)
		return p.out;
	filter_done(p.out);
	return NULL;
}

void filter_done(struct filter *f)
{
	vec_each(r, &f->regexes) {
		regfree(*r);
		free(*r);
	}
	f->regexes.n = 0;
}

/* --- matching ------------------------------------------------------------- */

/* '*' stays within a segment, '**' crosses. */
static bool glob(struct str pattern, struct str s)
{
	while (pattern.n) {
		bool any = str_starts(pattern, STR("**"));

		if (pattern.p[0] != '*') {
			if (s.n == 0 || s.p[0] != pattern.p[0])
				return false;
			pattern = str_slice(pattern, 1, pattern.n);
			s = str_slice(s, 1, s.n);
			continue;
		}
		pattern = str_slice(pattern, any ? 2 : 1, pattern.n);
		for (size_t i = 0;; i++) {
			if (glob(pattern, str_slice(s, i, s.n)))
				return true;
			if (i == s.n || (!any && s.p[i] == '/'))
				return false;
		}
	}
	return s.n == 0;
}

/* A field of an event: text, or a number. */
struct have {
	bool is_number;
	int64_t number;
	struct str text;
};

static struct have have_number(int64_t n)
{
	return (struct have){.is_number = true, .number = n};
}

static struct have have_text(struct str s)
{
	return (struct have){.text = s};
}

static struct have field_of(enum filter_field f, const struct trace_event *e)
{
	struct trace_object o;

	switch (f) {
	case FILTER_EVENT:
		return have_text(e->name);
	case FILTER_COMM:
		return have_text(e->comm);
	case FILTER_PID:
		return have_number(e->pid);
	case FILTER_TID:
		return have_number(e->tid);
	case FILTER_PPID:
		return have_number(e->ppid);
	case FILTER_HOST_PID:
		return have_number(e->host_pid);
	case FILTER_UID:
		return have_number(e->uid);
	case FILTER_RET:
		return have_number(e->ret);
	case FILTER_CONTAINER:
		return have_text(e->container);
	case FILTER_SYSCALL:
		return have_text(e->syscall);
	case FILTER_PATH:
		return have_text(trace_object(e).path);
	case FILTER_ADDR:
		return have_text(trace_object(e).addr);
	case FILTER_NAME:
		return have_text(trace_object(e).name);
	case FILTER_PORT:
		o = trace_object(e);
		return o.port ? have_number(o.port)
			      : have_text((struct str){0});
	case FILTER_ARG: /* has several values: see matches_arg() */
		break;
	}
	abort();
}

static bool equals(const struct have *h, const struct filter_value *v)
{
	if (h->is_number)
		return v->is_number && v->number == h->number;
	return str_eq(h->text, v->text);
}

static bool is_in(const struct have *h, const struct filter_value *v)
{
	struct addr addr;
	bool is_addr = !h->is_number && addr_parse(h->text, &addr);

	for (; v; v = v->next)
		if (equals(h, v) ||
		    (is_addr && v->is_net && cidr_has(&v->net, &addr)))
			return true;
	return false;
}

static bool matches_regex(const regex_t *r, struct str s)
{
	regmatch_t part = {0, (regoff_t)s.n};

	return regexec(r, s.p ? s.p : "", 1, &part, REG_STARTEND) == 0;
}

static bool has_value(const struct have *h, const struct filter_node *n)
{
	struct str text = h->text;
	char digits[24];

	if (h->is_number && (n->op == FILTER_GLOB || n->op == FILTER_REGEX)) {
		int len = snprintf(digits, sizeof(digits), "%lld",
				   (long long)h->number);

		text = (struct str){digits, (size_t)len};
	}
	switch (n->op) {
	case FILTER_EQ:
		return equals(h, n->value);
	case FILTER_NE:
		return !equals(h, n->value);
	case FILTER_LT:
		return h->is_number && h->number < n->value->number;
	case FILTER_LE:
		return h->is_number && h->number <= n->value->number;
	case FILTER_GT:
		return h->is_number && h->number > n->value->number;
	case FILTER_GE:
		return h->is_number && h->number >= n->value->number;
	case FILTER_GLOB:
		return glob(n->value->text, text);
	case FILTER_REGEX:
		return matches_regex(n->regex, text);
	case FILTER_IN:
		return is_in(h, n->value);
	case FILTER_HAS:
		return h->is_number || text.n > 0;
	}
	abort();
}

/* Any of the values that it has under that name; for !=, all of them. */
static bool matches_arg(const struct filter_node *n,
			const struct trace_event *e)
{
	bool all = n->op == FILTER_NE, any = false;

	for (uint32_t i = 0; i < e->n; i++) {
		const struct trace_leaf *l = &e->leaf[i];
		struct have h = {.is_number = l->number, .text = l->text};
		bool negative = str_starts(l->text, STR("-"));
		uint64_t v = 0;

		if (!str_is(l->key, n->arg))
			continue;
		h.is_number = h.is_number &&
			      str_u64(str_slice(l->text, negative, l->text.n),
				      INT64_MAX, &v);
		h.number = negative ? -(int64_t)v : (int64_t)v;
		if (has_value(&h, n) != all)
			return !all;
		any = true;
	}
	return all && any;
}

static bool matches_test(const struct filter_node *n,
			 const struct trace_event *e)
{
	struct have h, kind;

	if (n->field == FILTER_ARG)
		return matches_arg(n, e);
	h = field_of(n->field, e);
	if (n->field != FILTER_EVENT)
		return has_value(&h, n);
	/* Under its name or its kind; != is neither. */
	kind = have_text(str_of(trace_kind_name(trace_kind(e))));
	return n->op == FILTER_NE ? has_value(&h, n) && has_value(&kind, n)
				  : has_value(&h, n) || has_value(&kind, n);
}

static bool matches(const struct filter_node *n, const struct trace_event *e)
{
	switch (n->kind) {
	case FILTER_TEST:
		return matches_test(n, e);
	case FILTER_NOT:
		return !matches(n->a, e);
	case FILTER_AND:
		return matches(n->a, e) && matches(n->b, e);
	case FILTER_OR:
		return matches(n->a, e) || matches(n->b, e);
	}
	abort();
}

bool filter_matches(const struct filter *f, const struct trace_event *e)
{
	return matches(f->root, e);
}
