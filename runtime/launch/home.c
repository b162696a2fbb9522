#include "runtime/launch/home.h"

#include "compiler/base/sha256.h"
#include "compiler/base/sys/fileio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#define OF_SESSION "home"
#define DIGEST	   16 /* hexadecimal digits: two of a user's never meet */

const char *home_path(struct arena *a, enum vectors_home kind,
		      const char *state, const struct session *s,
		      const char *workspace)
{
	char digest[SHA256_HEX_MAX];

	switch (kind) {
	case VECTORS_HOME_SHARED:
		return arena_fmt(a, "%s/home", state).p;
	case VECTORS_HOME_WORKSPACE:
		return arena_fmt(a, "%s/homes/%.*s", state, DIGEST,
				 sha256_hex(str_of(workspace), digest))
			.p;
	case VECTORS_HOME_NONE:
		return arena_fmt(a, "%s/" OF_SESSION, s->dir).p;
	}
	abort();
}

/* What an agent makes can be deeper than we have descriptors for. It is in
 * nobody's way, and goes with the session's record. */
void home_remove(struct arena *a, const struct session *s)
{
	const char *path = arena_fmt(a, "%s/" OF_SESSION, s->dir).p;
	struct err err;

	if (fileio_remove_tree(AT_FDCWD, path, &err) < 0)
		fprintf(stderr,
			"membrane: warning: %s, the home of a session that has ended, stays: %s\n",
			path, err.text);
}
