/* `membrane report`: what a session did, as a page. */
#include "compiler/cli/report/report.h"

#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"

int command_report(struct arena *a, const struct options *o)
{
	const char *state;
	struct err err;

	if (inputs_state(a, &state, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	return report_session(a, o, state,
			      o->words.n ? o->words.v[0] : (struct str){0});
}
