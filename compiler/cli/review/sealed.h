/*
 * A plan that was written earlier, held against what the policy compiles to
 * now: `check`, and `run --plan`.
 *
 * Every file is compared byte for byte, so that an artefact which was edited
 * by hand is found even when somebody mended the hashes in the manifest. What
 * differs is then told apart: artefacts that do not follow from the plan's own
 * policy.json were edited by hand (or written by another version); a
 * policy.json that says something else than the sources do is a drift, and
 * what access it is about, in which direction, is said as `diff` says it.
 */
#ifndef COMPILER_CLI_REVIEW_SEALED_H
#define COMPILER_CLI_REVIEW_SEALED_H

#include "compiler/base/json.h"
#include "compiler/cli/review/changes.h"
#include "compiler/cli/review/derived.h"
#include "compiler/cli/workspace/inputs.h"

struct sealed {
	struct arena *a;
	struct str dir;	 /* for people; cleaned */
	bool is_missing; /* there is no plan in it */
	bool is_current; /* every byte is what the policy says */
	struct plan old, now;
	struct plan_delta *deltas; /* between those two */
	uint32_t n;
	/* Its manifest names the very sources that there are: what differs was
	 * edited by hand, or written by another version. */
	bool is_of_sources;
	/* The other way round, a name on one side alone: the first such, and
	 * whether the plan has it. Empty when there is none. */
	struct str odd_source;
	bool odd_in_plan;
	/* The plan by itself, and how its policy and the sources' differ; both
	 * only when its policy.json is a policy. */
	bool has_own;
	struct derived own;
	struct changes access;
	struct str why_not; /* what is wrong with that policy.json, lines */
};

/*
 * .membrane/plan in the workspace: what is compiled there unless -o says.
 * -ELOOP when a link is on the way: a cloned repository does not choose what
 * outside of it is written or shown.
 */
must_check int sealed_default(struct arena *a, const char *workspace,
			      const char **out_dir, struct err *err);
/* dir as it is named to people: relative to the workspace when inside it. */
struct str sealed_short(struct str dir, const struct inputs *in);

/*
 * Compare dir with c, which is ok. Negative: dir cannot be read. sealed_done()
 * in any case.
 */
must_check int sealed_compare(const char *dir, const struct inputs *in,
			      const struct compilation *c, struct sealed *out,
			      struct err *err);
void sealed_done(struct sealed *s);

/* What differs, lines after "membrane: "; only when it is not current. all: of
 * view_more_by(). */
void sealed_view(const struct view *v, const struct sealed *s, const char *all);
/* proof: what proof_json() says, taken; or NULL. */
struct str sealed_json(const struct sealed *s, cJSON *take_proof);

#endif
