/*
 * What the resolver does with a question, and with each address of an answer:
 * the gate's own functions over names.map, in the order in which the gate asks
 * them (runtime/gate/dns), held against decide.h.
 */
#include "compiler/prove/parts.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/name_match.h"
#include "compiler/base/standin_nets.h"

#include <stdlib.h>

enum question {
	QUESTION_DENIED,
	QUESTION_UNKNOWN,
	QUESTION_ASKED,
	QUESTION_ANSWERED
};

static const char *const question_texts[] = {
	[QUESTION_DENIED] = "does not resolve (denied)",
	[QUESTION_UNKNOWN] = "does not resolve (no-grant)",
	[QUESTION_ASKED] = "is asked about",
	[QUESTION_ANSWERED] = "resolves",
};

/* As `explain` has it; what that needs on the way goes at once. */
static bool is_asked_about(const struct proof *p, struct str name,
			   struct decision *out)
{
	struct ir_request r = {
		.kind = IR_REQ_RESOLVE, .name = name, .type = STR("A")};
	struct arena *scratch;

	if (p->in->policy->ask.n == 0)
		return false;
	scratch = arena_new();
	*out = decide_asked(scratch, p->in->policy, NULL, &r);
	arena_free(scratch);
	return out->verdict == VERDICT_ASK;
}

static enum question wanted_question(const struct proof *p, struct str name,
				     struct decision *out)
{
	*out = decide_resolve(p->in->policy, name, STR("A"));
	if (out->verdict == VERDICT_ALLOW)
		return QUESTION_ANSWERED;
	if (out->reason == REASON_DENIED)
		return QUESTION_DENIED;
	return is_asked_about(p, name, out) ? QUESTION_ASKED : QUESTION_UNKNOWN;
}

static enum question given_question(const struct name_cell *n)
{
	if (n->denied)
		return QUESTION_DENIED;
	if (n->match.n_lines)
		return QUESTION_ANSWERED;
	/* The machine itself is none of what names lead to. */
	return n->match.ask && !n->machine ? QUESTION_ASKED : QUESTION_UNKNOWN;
}

/* The line of names.map that begins so and speaks of the name; 0: none. */
static struct prove_line line_of(const struct proof *p, const char *word,
				 struct str name)
{
	struct str rest = p->in->names, line;
	uint32_t number = 0;

	while (str_line(&rest, &line)) {
		struct str words = line, kind, pattern;

		number++;
		if (str_field(&words, ' ', &kind) && str_is(kind, word) &&
		    str_field(&words, ' ', &pattern) &&
		    names_pattern(pattern) && names_pattern_has(pattern, name))
			return (struct prove_line){"names.map", number, line};
	}
	return (struct prove_line){"names.map", 0, {0}};
}

static void answer_differs(struct proof *p, struct str subject,
			   const struct decision *want, const char *wanted,
			   const char *got, struct prove_line by)
{
	struct prove_out *o = p->out;

	o->end = PROVE_DIFFERS;
	o->subject = subject;
	o->want = *want;
	o->wanted = str_of(wanted);
	o->got = str_of(got);
	o->by = by;
	p->done = true;
}

static struct str upstream_line(const struct proof *p)
{
	struct str rest = p->in->names, line = {0};

	for (int i = 0; i < 2; i++)
		(void)str_line(&rest, &line);
	return line;
}

/* By the proxy, or past it? */
static bool answers_way(struct proof *p, const struct name_cell *n)
{
	static const char *const ways[] = {
		"is gone to past a proxy, or without one",
		"is gone to by the proxy"};
	const struct ir_upstream *u = &p->in->policy->upstream;
	bool want = u->set, got = names_by_proxy(&p->map, n->name);

	vec_each(d, &u->direct)
		if (name_matches(ir_dest_name(&d->dest), n->name) &&
		    ir_dest_name(&d->dest).n)
			want = false;
	p->out->cells++;
	if (want == got)
		return true;
	answer_differs(p, arena_fmt(p->a, "%.*s", STR_ARG(n->name)),
		       &(struct decision){0}, ways[want], ways[got],
		       (struct prove_line){"names.map", 2, upstream_line(p)});
	return false;
}

bool answers_resolve(struct proof *p, const struct name_cell *n)
{
	struct decision d;
	enum question want = wanted_question(p, n->name, &d),
		      got = given_question(n);

	p->out->cells++;
	if (want == got)
		return answers_way(p, n);
	answer_differs(p, arena_fmt(p->a, "resolve %.*s", STR_ARG(n->name)), &d,
		       question_texts[want], question_texts[got],
		       line_of(p,
			       got == QUESTION_DENIED  ? "deny"
			       : got == QUESTION_ASKED ? "ask"
						       : "name",
			       n->name));
	return false;
}

/* --- addresses of answers ------------------------------------------------ */

static const char *const keep_texts[] = {
	[DECIDE_DROP_FLOOR] = "left out of the answer (floor)",
	[DECIDE_DROP_PRIVATE] = "left out of the answer (private-address)",
	[DECIDE_KEEP_COVERED] = "kept, for the network that is granted",
	[DECIDE_KEEP_OPEN] = "kept, and opened for the name",
};

enum decide_keep prove_keep_of(enum names_verdict v)
{
	switch (v) {
	case NAMES_OPEN:
		return DECIDE_KEEP_OPEN;
	case NAMES_COVERED:
		return DECIDE_KEEP_COVERED;
	case NAMES_FLOOR:
	case NAMES_HOST:
		return DECIDE_DROP_FLOOR;
	case NAMES_PRIVATE:
		return DECIDE_DROP_PRIVATE;
	}
	abort();
}

/* By the policy, and by what of it a person may permit. */
static enum decide_keep wanted_keep(const struct proof *p, struct str name,
				    const struct addr *addr)
{
	enum decide_keep keep = decide_answer(p->in->policy, name, addr);

	if (keep != DECIDE_DROP_PRIVATE && keep != DECIDE_KEEP_COVERED)
		return keep;
	for (uint32_t i = 0; i < p->in->policy->ask.n; i++)
		if (addr_scope(addr) == ADDR_PRIVATE &&
		    decide_answer(&p->with[i], name, addr) == DECIDE_KEEP_OPEN)
			return DECIDE_KEEP_OPEN;
	return keep;
}

bool answers_opens(const struct proof *p, struct str name,
		   const struct addr *addr)
{
	return wanted_keep(p, name, addr) == DECIDE_KEEP_OPEN;
}

bool answers_asks(const struct name_cell *n)
{
	return !n->machine && given_question(n) >= QUESTION_ASKED;
}

/* Does it lead to an address of its own, that stands for it? */
static bool stands_in(const struct proof *p, const struct name_cell *n)
{
	return (p->map.proxied && !n->match.past) || !n->match.n_lines;
}

/* Which of the two a judgement copied. */
static const struct names_classes *same_of(const struct name_cell *n,
					   const struct names_classes *c)
{
	return memcmp(c, &n->match.classes, sizeof(*c)) == 0
		       ? &n->match.classes
		       : &n->match.classes_private;
}

const struct names_classes *answers_tie(struct proof *p,
					const struct name_cell *n,
					const struct addr *addr)
{
	static const struct names_hosts nobody;
	bool standin = standin_nets_have(addr);
	struct names_classes classes = {0};
	enum names_verdict v;
	enum decide_keep want;
	char text[ADDR_TEXT_MAX];

	if (n->machine || given_question(n) < QUESTION_ASKED ||
	    (stands_in(p, n) && !standin))
		return NULL;
	v = names_judge(&p->map, &n->match, &nobody, addr, &classes);
	if (n->match.past && standin)
		v = NAMES_FLOOR; /* some name's that goes by the proxy */
	want = n->match.past && standin ? DECIDE_DROP_FLOOR
					: wanted_keep(p, n->name, addr);
	p->out->cells++;
	if (prove_keep_of(v) == want)
		return v == NAMES_OPEN ? same_of(n, &classes) : NULL;
	answer_differs(
		p,
		arena_fmt(p->a, "the answer %s for %.*s", addr_text(addr, text),
			  STR_ARG(n->name)),
		&(struct decision){.grant = decide_resolve(p->in->policy,
							   n->name, STR("A"))
						    .grant},
		keep_texts[want], keep_texts[prove_keep_of(v)],
		line_of(p, "name", n->name));
	return NULL;
}

/* The host's own are in no answer, whatever is granted. */
bool answers_host(struct proof *p, const struct name_cell *n,
		  const struct addr *addr)
{
	struct names_hosts hosts = {.v = {*addr}, .n = 1};
	struct names_classes classes = {0};
	enum names_verdict v;
	char text[ADDR_TEXT_MAX];

	if (n->machine || given_question(n) < QUESTION_ASKED)
		return true;
	v = names_judge(&p->map, &n->match, &hosts, addr, &classes);
	p->out->cells++;
	if (v != NAMES_OPEN && v != NAMES_COVERED)
		return true;
	answer_differs(
		p,
		arena_fmt(p->a, "the answer %s, the host's own, for %.*s",
			  addr_text(addr, text), STR_ARG(n->name)),
		&(struct decision){.reason = REASON_HOST_ADDRESS},
		keep_texts[DECIDE_DROP_FLOOR], keep_texts[prove_keep_of(v)],
		line_of(p, "name", n->name));
	return false;
}
