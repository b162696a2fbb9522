#include "compiler/commands/inputs.h"
#include "compiler/commands/say.h"
#include "compiler/commands/view.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/session.h"

#include <errno.h>

int command_stop(struct arena *a, const struct options *o)
{
	const struct option_given *given = options_get(o, OPTION_TIMEOUT);
	struct str which;
	const char *state, *id;
	uint64_t seconds = 0;
	uint32_t grace_s;
	struct err err;
	int rc;

	if (o->words.n == 0) {
		say("stop needs a session: 'membrane ps' lists those that run");
		return STATUS_USAGE;
	}
	if (given && !str_u64(given->value, SESSION_GRACE_MAX, &seconds)) {
		say("--timeout takes a number of seconds, at most %u",
		    SESSION_GRACE_MAX);
		return STATUS_USAGE;
	}
	grace_s = (uint32_t)seconds;
	which = o->words.v[0];
	rc = inputs_state(a, &state, &err);
	if (rc == 0)
		rc = launch_stop(a, state, which, given ? &grace_s : NULL, &id,
				 &err);
	if (rc == 0) {
		say("session %s has ended", id);
		return STATUS_OK;
	}
	say("%s", view_cleaned(a, str_of(err.text)).p);
	return rc == -ENOENT || rc == -ESRCH ? STATUS_REFUSED : STATUS_IO;
}
