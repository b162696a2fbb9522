/* The reader of ruleset.nft: firewall.h. What is in a rule: rule.c. */
#include "compiler/prove/parts.h"

#include "compiler/base/limits.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/names_map.h"

#define CHAINS_MAX 32u

bool reader_fails(struct reader *r, const char *what)
{
	if (!r->fault->what.n)
		*r->fault = (struct firewall_fault){r->number, r->line,
						    str_of(what)};
	return false;
}

/* The next line that is no comment and not empty. */
static bool next_line(struct reader *r)
{
	struct str line;

	while (str_line(&r->rest, &line)) {
		size_t n = 0;

		r->number++;
		while (n < line.n && line.p[n] == '\t')
			n++;
		r->depth = n;
		r->line = str_slice(line, n, line.n);
		if (r->line.n && r->line.p[0] != '#')
			return true;
	}
	return false;
}

static bool line_is(const struct reader *r, size_t depth, const char *text)
{
	return r->depth == depth && str_is(r->line, text);
}

/* --- addresses ----------------------------------------------------------- */

static bool read_range(struct str text, struct firewall_range *out)
{
	size_t dash = str_find(text, '-', 0);
	struct cidr net;

	if (dash < text.n)
		return addr_parse(str_slice(text, 0, dash), &out->lo) &&
		       addr_parse(str_slice(text, dash + 1, text.n),
				  &out->hi) &&
		       out->lo.family == out->hi.family &&
		       addr_cmp(&out->lo, &out->hi) < 0;
	if (cidr_parse(text, &net) != CIDR_OK)
		return false;
	out->lo = net.addr;
	out->hi = cidr_last(&net);
	return true;
}

bool reader_range(struct reader *r, struct firewall_term *t, struct str text)
{
	struct firewall_range range;

	if (!read_range(text, &range) || range.lo.family != t->family)
		return reader_fails(r, "no address or network of that family");
	if (t->list.n && addr_cmp(&t->list.v[t->list.n - 1].hi, &range.lo) >= 0)
		return reader_fails(
			r, "elements that are not in order, and apart");
	*vec_push(r->a, &t->list) = range;
	return true;
}

bool firewall_term_has(const struct firewall_term *t, const struct addr *addr)
{
	uint32_t lo = 0, hi = t->list.n;

	if (addr->family != t->family)
		return false;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (addr_cmp(&t->list.v[mid].hi, addr) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < t->list.n && addr_cmp(&t->list.v[lo].lo, addr) <= 0;
}

/* --- sets ---------------------------------------------------------------- */

/* "cidr4_7" is stem "cidr", family 4, number 7. */
static bool split_name(struct str name, struct str *out_stem,
		       uint64_t *out_number)
{
	size_t bar = str_find(name, '_', 0);
	struct str stem = str_slice(name, 0, bar);

	*out_number = 0;
	if (bar < name.n && (!str_u64(str_slice(name, bar + 1, name.n),
				      LIMIT_CLASSES, out_number) ||
			     *out_number == 0))
		return false;
	if (stem.n < 2 ||
	    (stem.p[stem.n - 1] != '4' && stem.p[stem.n - 1] != '6'))
		return false;
	*out_stem = str_slice(stem, 0, stem.n - 1);
	return true;
}

/* In the order in which names_classes counts them. */
static const char *const filled_stems[] = {
	NAMES_MAP_SET_GRANT, NAMES_MAP_SET_HTTP, NAMES_MAP_SET_DENIAL,
	NAMES_MAP_SET_QUIC, NAMES_MAP_SET_ASK};

/* By its name: what the gate puts into it. */
static bool find_class(struct firewall_term *t)
{
	struct str stem;
	uint64_t number;

	if (!split_name(t->name, &stem, &number) || number == 0)
		return false;
	for (uint32_t i = 0; i < ARRAY_LEN(filled_stems); i++)
		if (str_is(stem, filled_stems[i]))
			t->class = i * LIMIT_CLASSES + (uint32_t)number;
	if (str_is(stem, NAMES_MAP_SET_PAST) && number == 1)
		t->class = ARRAY_LEN(filled_stems) * LIMIT_CLASSES + 1;
	return t->class != 0;
}

static bool read_elements(struct reader *r, struct firewall_term *t)
{
	struct str text = str_slice(r->line, strlen("elements = {"), r->line.n);

	for (;;) {
		struct str word;
		bool last = str_ends(text, STR(" }"));

		if (last)
			text = str_slice(text, 0, text.n - 2);
		else if (!str_ends(text, STR(",")))
			return reader_fails(r, "a list without its end");
		text = str_trim(text);
		while (str_field(&text, ',', &word))
			if (!reader_range(r, t, str_trim(word)))
				return false;
		if (last)
			return true;
		if (!next_line(r))
			return reader_fails(r, "a list without its end");
		text = r->line;
	}
}

static bool read_type(struct reader *r, struct firewall_term *t)
{
	static const struct {
		const char *text;
		enum addr_family family;
		bool pairs;
	} types[] = {{"type ipv4_addr", ADDR_V4, false},
		     {"type ipv6_addr", ADDR_V6, false},
		     {"type ipv4_addr . inet_service", ADDR_V4, true},
		     {"type ipv6_addr . inet_service", ADDR_V6, true}};

	if (!next_line(r))
		return reader_fails(r, "a set without its end");
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (line_is(r, 2, types[i].text)) {
			t->family = types[i].family;
			t->pairs = types[i].pairs;
			return true;
		}
	return reader_fails(r, "a type of sets that is not known");
}

static bool read_set(struct reader *r)
{
	struct firewall_term t = {.line = r->number};
	bool interval = false;

	t.name = str_slice(r->line, strlen("set "), r->line.n - 2);
	if (firewall_set(r->f, arena_cstr(r->a, t.name)))
		return reader_fails(r, "a set that is there already");
	if (!read_type(r, &t) || !next_line(r))
		return reader_fails(r, "a set without its end");
	if (line_is(r, 2, "flags interval"))
		interval = true;
	else if (line_is(r, 2, "flags timeout"))
		t.filled = true;
	if (t.pairs == (interval || t.filled))
		return reader_fails(r, "flags of sets that are not known");
	if (!t.pairs && !next_line(r))
		return reader_fails(r, "a set without its end");
	if (t.filled && !find_class(&t))
		return reader_fails(r, "a set that nothing fills");
	if (interval && r->depth == 2 &&
	    str_starts(r->line, STR("elements = { "))) {
		if (!read_elements(r, &t) || !next_line(r))
			return reader_fails(r, "a set without its end");
	}
	if (!line_is(r, 1, "}"))
		return reader_fails(r, "a line that no set has");
	*vec_push(r->a, &r->f->terms) = t;
	return true;
}

const struct firewall_term *firewall_set(const struct firewall *f,
					 const char *name)
{
	vec_each(t, &f->terms)
		if (t->name.n && str_is(t->name, name))
			return t;
	return NULL;
}

/* --- chains -------------------------------------------------------------- */

#define HEAD(type, hook, at, policy)                                           \
	"type " type " hook " hook " priority " at "; policy " policy ";"
static const struct {
	const char *name, *text;
	enum firewall_hook hook;
	bool nat;
	int priority;
	bool drops;
} heads[] = {
	{"source", HEAD("filter", "prerouting", "-450", "accept"),
	 FIREWALL_PREROUTING, false, -450, false},
	{"divert", HEAD("filter", "prerouting", "mangle", "accept"),
	 FIREWALL_PREROUTING, false, -150, false},
	{"prerouting", HEAD("nat", "prerouting", "dstnat", "accept"),
	 FIREWALL_PREROUTING, true, -100, false},
	{"input", HEAD("filter", "input", "filter", "drop"), FIREWALL_INPUT,
	 false, 0, true},
	{"forward", HEAD("filter", "forward", "filter", "drop"),
	 FIREWALL_FORWARD, false, 0, true},
	{"output", HEAD("filter", "output", "filter", "drop"), FIREWALL_OUTPUT,
	 false, 0, true},
	{"postrouting", HEAD("nat", "postrouting", "srcnat", "accept"),
	 FIREWALL_POSTROUTING, true, 100, false},
};
#undef HEAD

static bool read_head(struct reader *r, struct firewall_chain *c)
{
	for (size_t i = 0; i < ARRAY_LEN(heads); i++) {
		if (!str_is(c->name, heads[i].name) ||
		    !str_is(r->line, heads[i].text))
			continue;
		c->hook = heads[i].hook;
		c->nat = heads[i].nat;
		c->priority = heads[i].priority;
		c->drops = heads[i].drops;
		return true;
	}
	return reader_fails(r, "not the hook of that chain");
}

static bool read_chain(struct reader *r)
{
	struct firewall_chain c = {.line = r->number};
	bool first = true;

	c.name = str_slice(r->line, strlen("chain "), r->line.n - 2);
	vec_each(o, &r->f->chains)
		if (str_eq(o->name, c.name))
			return reader_fails(r, "a chain that is there already");
	if (r->f->chains.n == CHAINS_MAX)
		return reader_fails(r, "too many chains");
	for (; next_line(r); first = false) {
		if (line_is(r, 1, "}")) {
			*vec_push(r->a, &r->f->chains) = c;
			return true;
		}
		if (first && r->depth == 2 &&
		    str_starts(r->line, STR("type "))) {
			if (!read_head(r, &c))
				return false;
		} else if (!rule_read(r, &c)) {
			return false;
		}
	}
	return reader_fails(r, "a chain without its end");
}

/* Which chain each rule leads to: one that is there, has no hook, and leads
 * further only to such. */
static bool link_rules(struct reader *r)
{
	vec_each(c, &r->f->chains)
		vec_each(rule, &c->rules) {
			struct firewall_chain *to = NULL;

			if (rule->end != FIREWALL_JUMP &&
			    rule->end != FIREWALL_GOTO)
				continue;
			for (uint32_t i = 0; i < r->f->chains.n; i++)
				if (str_eq(r->f->chains.v[i].name, rule->to)) {
					rule->chain = i;
					to = &r->f->chains.v[i];
				}
			r->number = rule->line;
			r->line = rule->text;
			if (!to || to->hook != FIREWALL_NO_HOOK || to == c)
				return reader_fails(
					r, "a chain that is not there");
		}
	return true;
}

/* Chains that lead to chains have an end: no more of them than there are. */
static bool has_end(const struct firewall *f, const struct firewall_chain *c,
		    uint32_t depth)
{
	if (depth > f->chains.n)
		return false;
	vec_each(rule, &c->rules)
		if ((rule->end == FIREWALL_JUMP ||
		     rule->end == FIREWALL_GOTO) &&
		    !has_end(f, &f->chains.v[rule->chain], depth + 1))
			return false;
	return true;
}

static void sort_bases(struct reader *r)
{
	struct firewall *f = r->f;

	for (uint32_t i = 0; i < f->chains.n; i++) {
		uint32_t k;

		if (f->chains.v[i].hook == FIREWALL_NO_HOOK)
			continue;
		(void)vec_push(r->a, &f->order);
		for (k = f->order.n - 1;
		     k > 0 && f->chains.v[f->order.v[k - 1]].priority >
				      f->chains.v[i].priority;
		     k--)
			f->order.v[k] = f->order.v[k - 1];
		f->order.v[k] = i;
	}
}

static bool read_table(struct reader *r)
{
	if (!next_line(r) || !line_is(r, 0, "table inet " GATE_TABLE " {"))
		return reader_fails(r, "no table of ours");
	while (next_line(r)) {
		bool block = r->depth == 1 && str_ends(r->line, STR(" {"));

		if (line_is(r, 0, "}"))
			return !next_line(r) ||
			       reader_fails(r, "a line behind the table");
		if (block && str_starts(r->line, STR("set "))) {
			if (!read_set(r))
				return false;
		} else if (block && str_starts(r->line, STR("chain "))) {
			if (!read_chain(r))
				return false;
		} else {
			return reader_fails(r, "a line that no table has");
		}
	}
	return reader_fails(r, "a table without its end");
}

bool firewall_read(struct arena *a, struct str text, struct firewall *out,
		   struct firewall_fault *fault)
{
	struct reader r = {.a = a, .f = out, .fault = fault, .rest = text};

	*out = (struct firewall){0};
	*fault = (struct firewall_fault){0};
	if (text.n == 0 || text.p[text.n - 1] != '\n')
		return reader_fails(&r, "not whole lines");
	if (!read_table(&r) || !link_rules(&r))
		return false;
	vec_each(c, &out->chains)
		if (!has_end(out, c, 0))
			return reader_fails(&r, "chains that lead round");
	sort_bases(&r);
	return true;
}
