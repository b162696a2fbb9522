#include "compiler/trace/filter_match.h"

#include "compiler/trace/filter_parser.h"

#include <stdio.h>
#include <stdlib.h>

/* How many bytes of s from i on one character of the pattern takes; 0: none. */
static size_t match_one(struct str pattern, size_t p, struct str s, size_t i)
{
	size_t n = 1;

	if (p == pattern.n || i == s.n)
		return 0;
	if (pattern.p[p] != '?')
		return pattern.p[p] == s.p[i];
	if (s.p[i] == '/')
		return 0;
	while (i + n < s.n && ((unsigned char)s.p[i + n] & 0xc0) == 0x80)
		n++;
	return n;
}

/*
 * '*' stays within a segment, as '?' does, '**' crosses. Only the last star of
 * either kind is ever tried again: what an earlier one could take, a later one
 * can, too.
 */
static bool glob_match(struct str pattern, struct str s)
{
	struct {
		bool is_there;
		size_t in_pattern, in_s; /* behind it; what it has taken */
	} within = {0}, across = {0};
	size_t p = 0, i = 0;

	while (i < s.n || p < pattern.n) {
		bool star = p < pattern.n && pattern.p[p] == '*';
		size_t taken;

		if (star && p + 1 < pattern.n && pattern.p[p + 1] == '*') {
			p += 2;
			across.is_there = true;
			across.in_pattern = p;
			across.in_s = i;
			within.is_there = false;
		} else if (star) {
			within.is_there = true;
			within.in_pattern = ++p;
			within.in_s = i;
		} else if ((taken = match_one(pattern, p, s, i))) {
			p++;
			i += taken;
		} else if (within.is_there && within.in_s < s.n &&
			   s.p[within.in_s] != '/') {
			p = within.in_pattern;
			i = ++within.in_s;
		} else if (across.is_there && across.in_s < s.n) {
			within.is_there = false;
			p = across.in_pattern;
			i = ++across.in_s;
		} else {
			return false;
		}
	}
	return true;
}

/* As in a policy: a pattern without '/' is about a name in any folder, too. */
static bool glob_path(struct str pattern, struct str path)
{
	size_t last = path.n;

	if (glob_match(pattern, path))
		return true;
	if (str_find(pattern, '/', 0) < pattern.n)
		return false;
	while (last && path.p[last - 1] != '/')
		last--;
	return last && glob_match(pattern, str_slice(path, last, path.n));
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
		return e->asked ? have_text((struct str){0})
				: have_number(e->ret);
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

/* An address has several spellings, and IPv4 may come in IPv6's. */
static bool is_within(struct str text, const struct filter_value *v)
{
	struct addr addr, v4;

	if (!v->is_net || !addr_parse(text, &addr))
		return false;
	return cidr_has(&v->net, &addr) ||
	       (addr_mapped(&addr, &v4) && cidr_has(&v->net, &v4));
}

static bool equals_value(const struct have *h, const struct filter_value *v)
{
	if (h->is_number)
		return v->is_number && v->number == h->number;
	if (v->is_number) /* and nobody knows it */
		return false;
	return str_eq(h->text, v->text) || is_within(h->text, v);
}

static bool is_in(const struct have *h, const struct filter_value *v)
{
	for (; v; v = v->next)
		if (equals_value(h, v))
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
		return equals_value(h, n->value);
	case FILTER_NE:
		return !equals_value(h, n->value);
	case FILTER_LT:
		return h->is_number && h->number < n->value->number;
	case FILTER_LE:
		return h->is_number && h->number <= n->value->number;
	case FILTER_GT:
		return h->is_number && h->number > n->value->number;
	case FILTER_GE:
		return h->is_number && h->number >= n->value->number;
	case FILTER_GLOB:
		return n->field == FILTER_PATH
			       ? glob_path(n->value->text, text)
			       : glob_match(n->value->text, text);
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

static bool matches_node(const struct filter_node *n,
			 const struct trace_event *e)
{
	switch (n->kind) {
	case FILTER_TEST:
		return matches_test(n, e);
	case FILTER_NOT:
		return !matches_node(n->a, e);
	case FILTER_AND:
		return matches_node(n->a, e) && matches_node(n->b, e);
	case FILTER_OR:
		return matches_node(n->a, e) || matches_node(n->b, e);
	}
	abort();
}

bool filter_matches(const struct filter *f, const struct trace_event *e)
{
	return matches_node(f->root, e);
}
