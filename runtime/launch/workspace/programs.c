#include "runtime/launch/workspace/programs.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"

#include <fcntl.h>
#include <stdlib.h>

/* Where only root writes. */
#define SYSTEM "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

static bool is_trusted(struct arena *a, const struct workspaces *agents,
		       struct str dir)
{
	auto_fd int fd = -1;

	if (!str_starts(dir, STR("/")))
		return false;
	fd = open(arena_cstr(a, dir), O_PATH | O_DIRECTORY | O_CLOEXEC);
	/* What is not there now is not looked into later. */
	return fd >= 0 && !workspaces_have(agents, fd);
}

void programs_trust_path(const struct workspaces_ask *ask)
{
	const char *path = getenv("PATH");
	const struct workspaces *agents;
	struct str rest, dir;
	struct buf kept;

	if (!path)
		return; /* execvp(3) then has folders of the system's */
	agents = workspaces_read(ask);
	buf_init(&kept, ask->a);
	rest = str_of(path);
	while (str_field(&rest, ':', &dir))
		if (is_trusted(ask->a, agents, dir))
			buf_addf(&kept, "%s%.*s", kept.n ? ":" : "",
				 STR_ARG(dir));
	/* Nothing is trusted where nobody can tell which folders are agents'.
	 */
	setenv("PATH", kept.n ? buf_str(&kept).p : SYSTEM, 1);
}
