/*
 * What `membrane doctor` found, for its two outputs.
 */
#ifndef COMPILER_CLI_DOCTOR_DOCTOR_H
#define COMPILER_CLI_DOCTOR_DOCTOR_H

#include "compiler/cli/doctor/doctor_rows.h"
#include "compiler/ir/ir.h"

enum doctor_id {
#define CHECK(id, group, name, needed, consequence, remedy) DOCTOR_##id,
#include "compiler/cli/doctor/doctor.def"
#undef CHECK
	DOCTOR_CHECKS,
};

/* The HAProxy of the machine, as the gate starts it. */
#define DOCTOR_HAPROXY_PATH "/usr/sbin/haproxy"

/* Which engine a check is needed for. */
enum doctor_need { DOCTOR_FOR_NO, DOCTOR_FOR_DOCKER, DOCTOR_FOR_NATIVE };

struct doctor {
	enum ir_engine engine; /* what the policy here says */
	bool viewless; /* and that masks are mounted at the start: no view */
	struct doctor_finding of[DOCTOR_CHECKS];
};

/* What mends that it is missing, on any machine. */
const char *doctor_remedy(enum doctor_id id);
/* Whether a session of the default policy runs here, by the policy's engine,
 * and without a view where that has none; by either of the two engines where it
 * leaves it open. */
bool doctor_runs(const struct doctor *d);
void doctor_view(const struct view *v, const struct doctor *d);
struct str doctor_json(struct arena *a, const struct doctor *d);

#endif
