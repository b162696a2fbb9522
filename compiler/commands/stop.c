#include "compiler/commands/inputs.h"
#include "compiler/commands/say.h"
#include "compiler/commands/view.h"
#include "runtime/launch/launch.h"

#include <errno.h>

int command_stop(struct arena *a, const struct options *o)
{
	struct str which;
	const char *state, *id;
	struct err err;
	int rc;

	if (o->words.n == 0) {
		say("stop needs a session: 'membrane ps' lists those that run");
		return STATUS_USAGE;
	}
	which = o->words.v[0];
	rc = inputs_state(a, &state, &err);
	if (rc == 0)
		rc = launch_stop(a, state, which, &id, &err);
	if (rc == 0) {
		say("session %s has ended", id);
		return STATUS_OK;
	}
	say("%s", view_cleaned(a, str_of(err.text)).p);
	return rc == -ENOENT || rc == -ESRCH ? STATUS_REFUSED : STATUS_IO;
}
