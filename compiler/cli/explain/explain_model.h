/*
 * One request explained: the decision, the rule that it comes from, the other
 * rules that speak of the same request, the lines of the artefacts that carry
 * it, and what was assumed. Gathered once, then written as text or as JSON.
 */
#ifndef COMPILER_CLI_EXPLAIN_EXPLAIN_MODEL_H
#define COMPILER_CLI_EXPLAIN_EXPLAIN_MODEL_H

#include "compiler/algebra/decide/decide.h"
#include "compiler/driver.h"

enum explain_kind {
	EXPLAIN_ALLOW,
	EXPLAIN_ASK,
	EXPLAIN_DENY,
	EXPLAIN_IGNORE,
	EXPLAIN_READONLY,
	EXPLAIN_PROTECT,
	EXPLAIN_ARG,
};

struct explain_rule {
	enum explain_kind kind;
	const struct ir_origin *from; /* in the policy: what it is told by */
	struct str text;	      /* canonical */
	struct str id;		      /* of grants, entries of ask and denials */
	/* What would become of the request if the rule were alone (a denial, a
	 * pattern: with nothing against it), and why. */
	enum verdict verdict;
	enum reason reason;
};
typedef VEC(struct explain_rule) explain_rules;

struct explain_line {
	const char *file;
	uint32_t line;
	struct str text;
};

/* What the workspace does to a path beside the policy: explain_found.h. */
struct explain_held {
	struct str text;   /* a sentence, cleaned; empty: nothing */
	struct str source; /* whose line names it; cleaned, or empty */
	uint32_t line;	   /* 0: not known */
};

struct explanation {
	const struct ir_request *request;
	struct decision decision;
	bool has_rule;
	struct explain_rule rule;
	/* Of http, of the rule that decided: those that the reason is about. */
	VEC(struct span) http;
	explain_rules others;
	VEC(struct explain_line) lines;
	VEC(const char *) assumed;
	struct explain_held held;
	bool committed; /* it is hidden, and git has it */
};

struct found;

/* "allow", "ignore": the key of a policy, too. */
const char *explain_kind_name(enum explain_kind k);

/* The reason as a sentence. */
const char *explain_model_about(const struct explanation *e);

/*
 * c was compiled with mark_lines and is ok; files: decide_files_new() of its
 * policy. found: the workspace, or NULL where it is not known or not asked
 * about. What is pointed to lives as long as c.
 */
void explain_model_make(struct compilation *c, const struct decide_files *files,
			struct found *found, const struct ir_request *r,
			struct explanation *out);
/* The decision alone, and its rule; false when no rule of the policy's
 * decided or came near. */
bool explain_model_rule(struct arena *a, const struct ir_policy *p,
			const struct ir_request *r, const struct decision *d,
			struct explain_rule *out);

/* --- explain_lines.c ------------------------------------------------------ */

/* The request that is explained, and what is known of it so far. */
struct explained {
	struct arena *a;
	struct compilation *c;
	const struct ir_policy *p;
	const struct decide_files *files;
	const struct ir_request *r;
	struct explanation *out;
};

/* Whether rule i of http, by itself, comes to the same as the whole grant. */
bool explain_http_decides(struct explained *q, const struct ir_grant *g,
			  uint32_t i);
/* The lines of artefacts that carry a decision for that reason. */
void explain_lines_find(struct explained *q, enum reason reason);

/* --- explain_found.c ------------------------------------------------------ */

/*
 * out has what the policy decides of a path. Where that permits and the
 * workspace does not, the decision becomes another one, without a rule; where
 * it refuses and the workspace would, too, that is noted.
 */
/* view: masks hold at every access. */
void explain_found(struct arena *a, struct found *f, bool view,
		   struct explanation *out);

#endif
