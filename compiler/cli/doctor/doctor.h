/*
 * What `membrane doctor` found, for its two outputs.
 */
#ifndef COMPILER_CLI_DOCTOR_DOCTOR_H
#define COMPILER_CLI_DOCTOR_DOCTOR_H

#include "compiler/cli/text/view.h"

#define DOCTOR_JSON_VERSION 1

enum doctor_id {
#define CHECK(id, group, name, needed, consequence, remedy) DOCTOR_##id,
#include "compiler/cli/doctor/doctor.def"
#undef CHECK
	DOCTOR_CHECKS,
};

enum doctor_state { DOCTOR_UNKNOWN, DOCTOR_MISSING, DOCTOR_OK };

struct doctor_finding {
	enum doctor_state state;
	const char *detail; /* as it was found: not cleaned; NULL: nothing */
	const char *remedy; /* for what was found; NULL: the table's */
	bool unasked;	    /* of UNKNOWN: another finding is in the way */
};

/* Which engine a check is needed for. */
enum doctor_need { DOCTOR_FOR_NO, DOCTOR_FOR_DOCKER, DOCTOR_FOR_NATIVE };

struct doctor {
	bool native; /* 'engine: native' is what the policy here says */
	struct doctor_finding of[DOCTOR_CHECKS];
};

/* Whether a session of the default policy runs here, by the policy's engine. */
bool doctor_runs(const struct doctor *d);
void doctor_view(const struct view *v, const struct doctor *d);
struct str doctor_json(struct arena *a, const struct doctor *d);

#endif
