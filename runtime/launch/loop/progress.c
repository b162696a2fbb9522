#include "runtime/launch/loop/progress.h"

#include "runtime/launch/loop/parts.h"

#include <stdio.h>
#include <unistd.h>

void progress_tell(struct loop *r, const char *what)
{
	if (!r->progress || r->was_told)
		return;
	fprintf(stderr, "\r\033[Kmembrane: %s…", what);
	fflush(stderr);
	r->was_told = true;
}

void progress_clear(struct loop *r)
{
	if (!r->was_told)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	r->was_told = false;
}

/*
 * A person is told of what takes long. The command's last line on a terminal
 * may be unfinished: not over it.
 */
bool progress_say(struct loop *r)
{
	if (parts_starting(r))
		progress_tell(r, r->gate->ready && r->view && !r->view->ready
					 ? "starting the view of the workspace"
					 : "starting the gate");
	if (!parts_ending(r) || (r->agent_made && isatty(STDOUT_FILENO)))
		return false;
	if (r->agent)
		return true;
	progress_tell(r, "ending the session");
	return false;
}
