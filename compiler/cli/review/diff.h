/*
 * What `diff` has to say, gathered once and then written in one of four ways.
 */
#ifndef COMPILER_CLI_REVIEW_DIFF_H
#define COMPILER_CLI_REVIEW_DIFF_H

#include "compiler/cli/review/changes.h"
#include "compiler/cli/review/operand.h"
#include "compiler/cli/review/pods.h"

struct diff {
	struct arena *a;
	const struct operand *old, *now;
	struct changes access;
	pods_changes pods; /* of two plans for Kubernetes */
	/* The plan that would run is not what was compared: counts as widened.
	 */
	bool is_forged;
	bool unchanged; /* all of it is wanted, in a text for people */
};

/* "widened", and so on; a forged plan is "widened" too. */
enum changes_verdict diff_verdict(const struct diff *d);
/* What there is to say of a side besides its policy, or empty. Cleaned. */
struct str diff_remark(struct arena *a, const struct operand *s);

/* "pod.yaml: spec.containers[agent].image: A → B". Cleaned. */
struct str diff_pods_text(struct arena *a, const struct pods_change *p);

void diff_view(const struct view *v, const struct diff *d);
#define DIFF_JSON_VERSION 1
struct str diff_json(const struct diff *d);
/* At most MARKDOWN_MAX bytes. */
struct str diff_markdown(const struct diff *d);
/* Of a side that is no policy. */
struct str diff_markdown_refused(const struct operand *s);
/*
 * SARIF 2.1.0 (OASIS standard, 27 March 2020). Without what is unchanged: a
 * result of it would have the kind "informational" (3.27.9), which forges show
 * as a finding on the line like any other.
 */
struct str diff_sarif(const struct diff *d);

#endif
