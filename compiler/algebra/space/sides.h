/*
 * The rules of two policies, or of one, side by side; and decisions by a few
 * of them.
 *
 * A rule that both have, by its canonical text, is one rule here: where all
 * rules that speak of something are shared, the two decide the same.
 */
#ifndef COMPILER_ALGEBRA_SPACE_SIDES_H
#define COMPILER_ALGEBRA_SPACE_SIDES_H

#include "compiler/algebra/decide/ask.h"

#define SIDES_NONE UINT32_MAX

struct rule {
	bool deny, ask; /* neither: a grant */
	const struct ir_grant *g[2]; /* NULL in a policy that has it not */
};

/* A policy of a few rules, for decide.h to look at. */
struct side_view {
	struct ir_policy p;
	VEC(uint32_t) allow, ask, deny; /* which rule each of them is */
	bool unseen;		   /* of the whole policy */
	ir_ports quic;	 /* inspection_quic_ports() of the whole policy */
	ir_ports inside; /* and inspection_ports() */
	/* The first denial that has a port of those, as it was asked last. */
	uint16_t quic_port;
	uint32_t quic_rule;
};

struct sides {
	struct arena *a;
	struct arena *scratch; /* what lasts until sides_rest() */
	unsigned used;	       /* decisions since it is new */
	uint32_t n;	       /* 1 or 2 policies */
	const struct ir_policy *p[2];
	VEC(struct rule) rules; /* grants in their order, what is asked about,
				   then denials */
	uint32_t *places;	/* one per rule, for cells.c */
	struct side_view view[2];
	bool quic_differs;	 /* their ports of QUIC do */
	bool inspection_differs; /* and those that are looked into */
};

/* Either may be NULL; both are borrowed, IR_NORMALISED. */
void sides_init(struct sides *s, struct arena *a, const struct ir_policy *was,
		const struct ir_policy *is);
void sides_done(struct sides *s);
/* Between two destinations: what was needed for the last is released. */
void sides_rest(struct sides *s);

/* The rule as either side has it. */
const struct ir_grant *rule_grant(const struct rule *r);
/* Does it name the method CONNECT? */
bool rule_connect(const struct rule *r);
/* Do both sides have it? */
bool rule_shared(const struct rule *r);
/* Are all of them shared, and is nothing else different? */
bool sides_same(const struct sides *s, const uint32_t *ids, uint32_t n);

/*
 * Begin views anew, then put rules in, in rising order. With http, a rule has
 * only those of its entries, in any path: where the caller has matched paths.
 */
void sides_clear(struct sides *s);
void sides_put(struct sides *s, uint32_t rule, const struct ir_http *http,
	       uint32_t n);
/* A fresh view of these, sorted here. */
void sides_put_all(struct sides *s, uint32_t *ids, uint32_t n);

/* A decision with the rule that made it, or SIDES_NONE. */
struct ruling {
	struct decision d;
	uint32_t rule;
};
/* What the view of one side says; net requests and questions only. */
struct ruling sides_ask(struct sides *s, int side, const struct ir_request *r);

#endif
