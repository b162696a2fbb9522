/*
 * The host's files and folders that words of `docker run` mount. Pure.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_BINDS_H
#define RUNTIME_LAUNCH_DOCKER_BINDS_H

#include "compiler/base/arena.h"

struct bind {
	const char *source; /* on the host, absolute */
	const char *target; /* in the container */
	bool readonly;
};
typedef VEC(struct bind) bind_list;

/*
 * Of `--mount=` and `--volume=`, as the plan spells them; NULL at the end of
 * words, and no image or command behind the options. Named volumes are Docker's
 * own. Appends; in the arena.
 */
void binds_read(struct arena *a, char *const *words, bind_list *out);
/* "--mount=type=bind,…" for two paths without a control byte. */
const char *binds_word(struct arena *a, struct str source, struct str target,
		       bool readonly);
/*
 * Take one CSV field (RFC 4180), as `--mount` has them, off *rest, unquoted.
 * *out_more: another one follows. False: it is none.
 */
bool binds_field(struct arena *a, struct str *rest, struct str *out,
		 bool *out_more);

#endif
