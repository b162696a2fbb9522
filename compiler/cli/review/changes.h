/*
 * What compiler/algebra/compare/compare.h found between two policies, in words:
 * the one telling of a change of access that `diff`, `check`, `run --plan`,
 * `plan` and whatever else asks for approval share.
 */
#ifndef COMPILER_CLI_REVIEW_CHANGES_H
#define COMPILER_CLI_REVIEW_CHANGES_H

#include "compiler/algebra/compare/calls.h"
#include "compiler/cli/text/view.h"
#include "compiler/driver.h"
#include "compiler/lint/parts.h"

struct changes {
	struct arena *a;
	const struct compilation *old, *now; /* both ok */
	struct comparison found;
	uint32_t n[ACCESS_OTHER + 1]; /* changes, by enum access_way */
	/* Places where others can read, that only the new policy reaches; one
	 * grant of each. */
	third_party_hits places;
};

/* From no more to no less. */
enum changes_verdict {
	CHANGES_SAME,	  /* the same policy in the same words */
	CHANGES_COSMETIC, /* the same access in other words */
	CHANGES_NARROWED, /* some lost, none gained */
	CHANGES_WIDENED,  /* some gained, or neither more nor less */
};

/* with_kept: what is unchanged as well, in found.kept. */
void changes_make(struct arena *a, const struct compilation *old,
		  const struct compilation *now, bool with_kept,
		  struct changes *out);
/* And what the two say of themselves, which a plan does not: promises.h. */
void changes_make_promises(struct changes *x);
/* And the system calls of two profiles, one of which may be NULL: there is
 * none there. Fails as calls_compare() does. */
must_check int changes_make_calls(struct changes *x, const struct calls *old,
				  const struct calls *now, struct err *err);
enum changes_verdict changes_verdict(const struct changes *x);
/* "the same", "same access, other text", "narrowed", "widened" */
const char *changes_verdict_about(enum changes_verdict v);
/* "same", "same-access", "narrowed", "widened": for programs */
const char *changes_verdict_name(enum changes_verdict v);
const char *changes_way_name(enum access_way w);   /* "gained", "lost", … */
const char *changes_kind_name(enum access_kind k); /* "connect", "http", … */
/* "2 gained, 1 lost, 3 unchanged"; without what is unchanged, "12 grants as
 * before" */
struct str changes_summary(const struct changes *x);

/* One change. All is cleaned; what there is not is empty. */
struct changes_words {
	struct str text;      /* the set of requests */
	struct str request;   /* one of them, as grammar/request.y takes it */
	const char *was, *is; /* why it was and is decided so: reasons, and of
				 what is asked about for how long */
	const char *label;    /* what 'ask' has to do with it, or "" */
	struct str rule;      /* "allow github.com tcp/443" */
	struct str rule_id;   /* of a grant or denial */
	struct str source;    /* "main:.membrane.yaml:3" */
	struct place at;
	/* Of what is unchanged, where another rule permitted it before. */
	struct str before, before_id, before_source;
	struct place before_at;
};
/* "granted", "ask for session" */
const char *changes_decision_name(struct arena *a, const struct decision *d);
struct changes_words changes_words(const struct changes *x,
				   const struct access_change *c);

/* "gist.github.com  (forge)"; of a grant to '*' all of them. Cleaned. */
struct str changes_place(const struct changes *x,
			 const struct third_party_hit *h);

/* Sections of what was gained, changed and lost; nothing when nothing was.
 * all: of view_more_by(). */
void changes_view(const struct view *v, const struct changes *x,
		  const char *all);
/*
 * A section of what is unchanged: with whole each of it, else the first texts.
 * Nothing when nothing is.
 */
void changes_view_kept(const struct view *v, const struct changes *x,
		       bool whole);
/* A change on lines of its own: what, one request, the rule. */
void changes_view_one(const struct view *v, const struct changes *x,
		      const struct access_change *c);

#endif
