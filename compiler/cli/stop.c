/* `membrane stop`: end sessions in order. */
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/session/session.h"

#include <errno.h>

static int stop_session(struct arena *a, const char *state, struct str which,
			const uint32_t *grace_s)
{
	const char *id;
	struct err err;
	int rc = launch_stop(a, state, which, grace_s, &id, &err);

	if (rc == 0) {
		console_error("session %s has ended", id);
		return STATUS_OK;
	}
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return rc == -ENOENT || rc == -ESRCH ? STATUS_REFUSED : STATUS_IO;
}

/* Each of them, whatever becomes of another; the worst is the status. */
int command_stop(struct arena *a, const struct options *o)
{
	const struct option_given *given = options_get(o, OPTION_TIMEOUT);
	int status = STATUS_OK;
	const char *state;
	uint64_t seconds = 0;
	uint32_t grace_s;
	struct err err;

	if (o->words.n == 0) {
		console_error(
			"stop needs a session: 'membrane ps' lists those that run");
		return STATUS_USAGE;
	}
	if (given && !str_u64(given->value, SESSION_GRACE_MAX, &seconds)) {
		console_error("--timeout takes a number of seconds, at most %u",
			      SESSION_GRACE_MAX);
		return STATUS_USAGE;
	}
	grace_s = (uint32_t)seconds;
	if (inputs_state(a, &state, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	vec_each(which, &o->words) {
		int one =
			stop_session(a, state, *which, given ? &grace_s : NULL);

		status = one > status ? one : status;
	}
	return status;
}
