#include "runtime/launch/engine/engine.h"

int engine_start_piped(struct engine *e, enum engine_part part,
		       char *const *vector, int keep, pid_t *out_pid,
		       int *out_in, int *out_out, int *out_err, struct err *err)
{
	struct proc_opts o = {.argv = vector,
			      .group = PROC_SESSION,
			      .in = -1,
			      .out = -1,
			      .err = -1,
			      .keep = keep};
	int rc = proc_pipes(&o, out_in, out_out, out_err, err);

	if (rc == 0)
		rc = e->ops->start(e, part, &o, out_pid, err);
	proc_pipes_done(&o);
	return rc;
}
