/*
 * Credentials that are fields of a file: read on the host, copied with
 * sentinels into the agent's home, their values for the gate.
 *
 * The copy lies in the agent's home where the file lies in the user's, is the
 * owner's with mode 0600, and is made anew at each start. On the way to it no
 * link is followed: the home is the agent's to write. What the agent writes
 * there never comes back to the file of the host.
 */
#ifndef RUNTIME_LAUNCH_TOKENS_TOKENS_H
#define RUNTIME_LAUNCH_TOKENS_TOKENS_H

#include "runtime/launch/docker/secrets.h"

#define TOKENS_FILE_MAX (1u << 20) /* bytes of a file of credentials */

struct tokens_homes {
	const char *user, *agent; /* user: NULL where nobody knows */
};

/*
 * Add the values to *out, and make the copies. Refresh tokens of a file that is
 * renewed stay here: nobody but the renewal needs them.
 *   -EINVAL  the file is none with these fields: copy.h
 *   -EEXIST  in the agent's home there is a login of its own
 *   other    from reading and writing: *err says which file
 */
must_check int tokens_place(struct arena *a, const struct vectors *v,
			    const struct tokens_homes *homes, secrets *out,
			    struct err *err);

/* Lower-case hexadecimal digits at random, for sentinels. */
must_check int tokens_digits(struct arena *a, struct str *out, struct err *err);

#endif
