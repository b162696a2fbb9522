#include "compiler/trace/filter.h"

#include "compiler/trace/parts.h"
#include "compiler/trace/event.h"
#include "compiler/trace/filter_parser.h"
#include "grammar/filter.tab.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define YYSTYPE FILTERS_STYPE
#define YYLTYPE FILTERS_LTYPE
#include "grammar/filter.lex.h"

#define DEPTH_MAX 200u

/* Those behind a field's own name are what the records call it. */
static const struct {
	const char *name;
	enum filter_field field;
} fields[] = {
	{"event", FILTER_EVENT},
	{"comm", FILTER_COMM},
	{"path", FILTER_PATH},
	{"addr", FILTER_ADDR},
	{"port", FILTER_PORT},
	{"name", FILTER_NAME},
	{"pid", FILTER_PID},
	{"ppid", FILTER_PPID},
	{"tid", FILTER_TID},
	{"hostpid", FILTER_HOST_PID},
	{"uid", FILTER_UID},
	{"ret", FILTER_RET},
	{"syscall", FILTER_SYSCALL},
	{"container", FILTER_CONTAINER},
	{"eventName", FILTER_EVENT},
	{"processName", FILTER_COMM},
	{"processId", FILTER_PID},
	{"parentProcessId", FILTER_PPID},
	{"threadId", FILTER_TID},
	{"hostProcessId", FILTER_HOST_PID},
	{"userId", FILTER_UID},
	{"returnValue", FILTER_RET},
	{"containerId", FILTER_CONTAINER},
};

static bool is_number(enum filter_field f)
{
	switch (f) {
	case FILTER_PID:
	case FILTER_TID:
	case FILTER_PPID:
	case FILTER_HOST_PID:
	case FILTER_UID:
	case FILTER_RET:
	case FILTER_PORT:
		return true;
	case FILTER_EVENT:
	case FILTER_COMM:
	case FILTER_CONTAINER:
	case FILTER_SYSCALL:
	case FILTER_PATH:
	case FILTER_ADDR:
	case FILTER_NAME:
	case FILTER_ARG:
		return false;
	}
	abort();
}

/* --- building ------------------------------------------------------------- */

static struct span span_at(const struct filter_parser *p, struct span part)
{
	return (struct span){p->base + part.beg, p->base + part.end};
}

static struct str words_at(const struct filter_parser *p, struct span part)
{
	return str_slice(p->text, part.beg, part.end);
}

void filter_error(struct filter_parser *p, struct span part, const char *fmt,
		  ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	diag_error(p->d, DIAG_FILTER, span_at(p, part), "%s", text);
}

void filter_unexpected(struct filter_parser *p, struct span part)
{
	struct str s = words_at(p, part);

	if (s.n == 0)
		filter_error(p, part, "an expression that ends too early");
	else if (str_is(s, "\"") || str_is(s, "'"))
		filter_error(p, part, "a quote that nothing closes");
	else
		filter_error(p, part, "unexpected '%s' in an expression",
			     diag_quote(p->d, s));
	diag_help(p->d, "as in: event == exec and comm != \"git\"");
}

struct filter_node *filter_pair(struct filter_parser *p, enum filter_kind kind,
				struct filter_node *a, struct filter_node *b)
{
	struct filter_node *n = arena_new_of(p->a, struct filter_node);

	if (++p->depth > DEPTH_MAX) {
		filter_error(p, (struct span){0, (uint32_t)p->text.n},
			     "an expression of more than %u parts", DEPTH_MAX);
		return NULL;
	}
	n->kind = kind;
	n->a = a;
	n->b = b;
	return n;
}

static struct str unquoted_text(struct arena *a, struct str s)
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

/* "8000" */
static bool parse_hex(struct str s, uint64_t *out)
{
	static const char digits[] = "0123456789abcdef";
	const char *at;
	uint64_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		at = s.p[i] ? strchr(digits, s.p[i]) : NULL;
		if (!at)
			return false;
		n = n * 16 + (uint64_t)(at - digits);
	}
	*out = n;
	return s.n > 0 && s.n < 16;
}

/* "-5", "0x8000" */
static bool parse_number(struct str s, int64_t *out)
{
	bool negative = str_starts(s, STR("-"));
	struct str digits = str_slice(s, negative, s.n);
	uint64_t n;

	if (!(str_starts(digits, STR("0x"))
		      ? parse_hex(str_slice(digits, 2, digits.n), &n)
		      : str_u64(digits, INT64_MAX, &n)))
		return false;
	*out = negative ? -(int64_t)n : (int64_t)n;
	return true;
}

/* Networks of mapped addresses are those of IPv4. */
static bool parse_net(struct str s, struct cidr *out)
{
	struct addr v4;

	if (cidr_parse(s, out) != CIDR_OK)
		return false;
	if (out->bits >= 96 && addr_mapped(&out->addr, &v4))
		*out = (struct cidr){v4, (uint8_t)(out->bits - 96)};
	return true;
}

/* What a word processor makes of quotes: nothing would ever fit. */
static bool has_typeset_quotes(struct str s)
{
	static const char *const marks[] = {"\u201c", "\u201d", "\u2018",
					    "\u2019"};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (str_starts(s, str_of(marks[i])) ||
		    str_ends(s, str_of(marks[i])))
			return true;
	return false;
}

struct filter_value *filter_value(struct filter_parser *p, struct span part,
				  bool quoted)
{
	struct filter_value *v = arena_new_of(p->a, struct filter_value);
	struct str s = words_at(p, part);

	if (!quoted && has_typeset_quotes(s)) {
		filter_error(p, part, "typographic quotes in '%s'",
			     diag_quote(p->d, s));
		diag_help(p->d, "those of an expression are \" and '");
		return NULL;
	}
	v->at = part;
	v->text = quoted ? unquoted_text(p->a, s) : s;
	v->quoted = quoted;
	v->is_number = parse_number(v->text, &v->number);
	v->is_net = !v->is_number && parse_net(v->text, &v->net);
	return v;
}

/* --- names ---------------------------------------------------------------- */

/* What was likely meant, of names that are offered one by one. */
struct guess {
	struct str name, best;
	unsigned least;
};

static struct guess guess_name(struct str name)
{
	return (struct guess){.name = name, .least = 3};
}

/* True when it is that one. */
static bool offer_name(struct guess *g, struct str name)
{
	unsigned d = str_distance(g->name, name, 2);

	if (d < g->least) {
		g->least = d;
		g->best = name;
	}
	return d == 0;
}

static bool is_kind(struct guess *g)
{
	for (int k = 0; k < TRACE_KINDS; k++)
		if (offer_name(g, str_of(trace_kind_name((enum trace_kind)k))))
			return true;
	return false;
}

static bool is_event(const struct filter_parser *p, struct guess *g)
{
	struct str name;

	if (is_kind(g))
		return true;
	for (size_t i = 0; (name = trace_known(i)).n; i++)
		if (offer_name(g, name))
			return true;
	for (size_t i = 0; p->event_at && (name = p->event_at(i)).n; i++)
		if (offer_name(g, name))
			return true;
	return false;
}

static bool unknown_field(struct filter_parser *p, struct span part,
			  const struct guess *g)
{
	struct guess kind = guess_name(g->name);

	filter_error(p, part, "unknown field '%s'", diag_quote(p->d, g->name));
	if (is_kind(&kind))
		diag_help(p->d, "as in: event == %.*s", STR_ARG(g->name));
	else if (g->best.n)
		diag_help(p->d, "did you mean '%.*s'?", STR_ARG(g->best));
	else
		diag_help(
			p->d,
			"event, comm, path, addr, port, name, pid, ppid, tid, uid, ret, syscall, container, or an argument, as in args.flags");
	return false;
}

static bool find_field(struct filter_parser *p, struct span part,
		       struct filter_node *n)
{
	struct str name = words_at(p, part), rest = str_slice(name, 5, name.n);
	struct guess g = guess_name(name);

	if (rest.n && (str_starts(name, STR("args.")) ||
		       str_starts(name, STR("data.")))) {
		n->field = FILTER_ARG;
		n->arg = arena_cstr(p->a, rest);
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (offer_name(&g, str_of(fields[i].name))) {
			n->field = fields[i].field;
			return true;
		}
	return unknown_field(p, part, &g);
}

/* --- values --------------------------------------------------------------- */

static bool check_order(struct filter_parser *p, const struct filter_node *n,
			struct span field)
{
	if (!is_number(n->field) && n->field != FILTER_ARG) {
		filter_error(p, field, "'%s' is no number",
			     diag_quote(p->d, words_at(p, field)));
	} else if (!n->value->is_number) {
		filter_error(p, n->value->at, "'%s' is no number",
			     diag_quote(p->d, n->value->text));
	} else {
		return true;
	}
	diag_help(p->d, "only numbers have an order");
	return false;
}

static bool check_number(struct filter_parser *p, enum filter_field field,
			 struct filter_value *v)
{
	int error = field == FILTER_RET ? errnos_number(v->text) : 0;

	if (error) { /* as system calls return it */
		v->is_number = true;
		v->number = -error;
	}
	if (v->is_number)
		return true;
	filter_error(p, v->at, "'%s' is no number", diag_quote(p->d, v->text));
	if (field == FILTER_RET)
		diag_help(p->d, "a number, or an error's name, as in ENOENT");
	else if (field == FILTER_PORT)
		diag_help(p->d, "as in: port >= 1 and port <= 1023");
	return false;
}

static bool check_event(struct filter_parser *p, const struct filter_value *v)
{
	struct guess g = guess_name(v->text);

	if (!p->event_at || v->text.n == 0 || is_event(p, &g))
		return true;
	filter_error(p, v->at, "unknown event '%s'", diag_quote(p->d, v->text));
	if (g.best.n)
		diag_help(p->d, "did you mean '%.*s'?", STR_ARG(g.best));
	else
		diag_help(p->d, "'event ~ NAME' takes any name, and globs");
	return false;
}

/* Paths of sockets are addresses, too; they begin with '/' or '@', or are in
 * quotes. */
static bool check_addr(struct filter_parser *p, const struct filter_value *v)
{
	struct cidr net;

	if (v->is_net || v->quoted || str_starts(v->text, STR("/")) ||
	    str_starts(v->text, STR("@")))
		return true;
	switch (cidr_parse(v->text, &net)) {
	case CIDR_BAD_BITS:
		filter_error(p, v->at, "'%s' has too long a prefix",
			     diag_quote(p->d, v->text));
		return false;
	case CIDR_HOST_BITS: {
		char text[CIDR_TEXT_MAX];

		filter_error(p, v->at, "'%s' has bits behind its prefix",
			     diag_quote(p->d, v->text));
		diag_help(p->d, "the network is %s", cidr_text(&net, text));
		return false;
	}
	case CIDR_BAD_ADDRESS:
	case CIDR_OK:
		break;
	}
	filter_error(p, v->at, "'%s' is no address", diag_quote(p->d, v->text));
	diag_help(
		p->d,
		"names that were asked for are 'name'; paths of sockets go in quotes");
	return false;
}

static bool check_one(struct filter_parser *p, const struct filter_node *n,
		      struct filter_value *v)
{
	if (is_number(n->field))
		return check_number(p, n->field, v);
	if (n->field == FILTER_EVENT)
		return check_event(p, v);
	return n->field != FILTER_ADDR || check_addr(p, v);
}

static bool check_value(struct filter_parser *p, const struct filter_node *n,
			struct span field)
{
	switch (n->op) {
	case FILTER_LT:
	case FILTER_LE:
	case FILTER_GT:
	case FILTER_GE:
		return check_order(p, n, field);
	case FILTER_EQ:
	case FILTER_NE:
	case FILTER_IN:
		for (struct filter_value *v = n->value; v; v = v->next)
			if (!check_one(p, n, v))
				return false;
		return true;
	case FILTER_GLOB:
	case FILTER_REGEX:
	case FILTER_HAS:
		return true;
	}
	abort();
}

struct filter_node *filter_test(struct filter_parser *p, struct span field,
				enum filter_op op, struct filter_value *value)
{
	struct filter_node *n = filter_pair(p, FILTER_TEST, NULL, NULL);

	if (!n || !find_field(p, field, n))
		return NULL;
	n->op = op;
	n->value = value;
	if (value && !check_value(p, n, field))
		return NULL;
	if (op != FILTER_REGEX)
		return n;
	n->regex = filter_regex(p, value);
	return n->regex ? n : NULL;
}

struct filter *filter_parse(struct diags *d, struct sources *sources,
			    struct str text, filter_event_at *event_at)
{
	struct filter_parser p = {
		.d = d, .a = d->a, .event_at = event_at, .text = text};
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
