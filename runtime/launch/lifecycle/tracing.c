/*
 * The start of the tracer, which runs beside the gate.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/plan/files.h"
#include "runtime/launch/probe.h"

#include <errno.h>

/*
 * A tag is what somebody put on it; the policy was checked against what one
 * release knows.
 */
int tracing_check_release(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_TRACE);
	const char *said;
	char **argv;
	int rc;

	if (!l->vectors.tracer_version.image)
		return 0;
	if (!f)
		return err_set(err, -EPROTO, "the plan has no trace.json");
	rc = vectors_expand(l->a, &l->vectors.tracer_version, &l->values, &argv,
			    err);
	if (rc == 0)
		rc = probe_line(l->a, argv, &said, err);
	if (rc < 0)
		return err_while(err, "asking %s for its version",
				 l->vectors.tracer_version.image);
	return tracer_check_release(f->data, said, err);
}

int tracing_start(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_TRACE);
	const struct vector *vector;
	char **argv;
	int rc;

	if (!l->vectors.tracer.image)
		return 0;
	if (!f)
		return err_set(
			err, -ENOTSUP,
			"the plan asks for a tracer that this version cannot start; --no-trace runs without");
	rc = engines_tracer(l, tracer_is_required(f->data), &vector, err);
	if (rc < 0 || !vector->image)
		return rc;
	rc = vectors_expand(l->a, vector, &l->values, &argv, err);
	if (rc < 0)
		return rc;
	l->run.tracer = arena_new_of(l->a, struct tracer);
	rc = tracer_start(l->a, l->run.tracer, l->run.engine, argv, f->data,
			  arena_fmt(l->a, "%s/trace", l->o.state).p,
			  l->session.id, l->watchdog.keep_fd, err);
	if (rc == 0)
		l->run.tracer->file.copy = l->trace_copy;
	l->run.tracer->own = l->mounts.own;
	l->run.tracer->holds_agent = vector == &l->vectors.asked;
	if (l->run.tracer->pid)
		watchdog_tell(&l->watchdog, l->run.tracer->pid);
	l->run.gate->tracer = l->run.tracer;
	return rc;
}
