/*
 * Findings as rows, whatever was looked at: for a terminal, and for programs.
 */
#ifndef COMPILER_CLI_DOCTOR_DOCTOR_ROWS_H
#define COMPILER_CLI_DOCTOR_DOCTOR_ROWS_H

#include "compiler/base/json.h"
#include "compiler/cli/text/view.h"

#define DOCTOR_JSON_VERSION 1

enum doctor_state { DOCTOR_UNKNOWN, DOCTOR_MISSING, DOCTOR_OK };

struct doctor_finding {
	enum doctor_state state;
	const char *detail; /* as it was found: not cleaned; NULL: nothing */
	const char *remedy; /* for what was found; NULL: the table's */
	bool unasked;	    /* of UNKNOWN: another finding is in the way */
};

struct doctor_row {
	const char *group, *name;
	const char *consequence; /* of its being missing */
	const char *remedy;
	bool needed;
	struct doctor_finding found;
};

/* In their order, each group below its title, and an empty line. */
void doctor_rows_view(const struct view *v, const struct doctor_row *rows,
		      int n);
/* "version", "runs" and "checks"; the caller's. */
cJSON *doctor_rows_json(const struct doctor_row *rows, int n, bool runs);

#endif
