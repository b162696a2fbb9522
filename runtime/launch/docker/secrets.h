/*
 * The values of credentials: from this process's environment, or from files,
 * to the gate's stdin, and nowhere else.
 *
 * No message ever holds a value; what was read is overwritten when it has been
 * sent.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_SECRETS_H
#define RUNTIME_LAUNCH_DOCKER_SECRETS_H

#include "runtime/launch/docker/vectors.h"

#define SECRETS_VALUE_MAX                                                      \
	4096u		       /* bytes of one; HELLO_VALUE_MAX of the gate    \
				*/
#define SECRETS_ALL_MAX 49152u /* of all: a pipe takes them with the rest */

struct secret {
	uint32_t n;
	char *value;
	const char *digits; /* of its sentinel; NULL: it is a header's */
};

typedef VEC(struct secret) secrets;

/*
 * Read every one but those that are fields of a file (tokens.h). A file's last
 * line end does not count.
 *   -ENOENT  a variable that is not set, or a file that is not there
 *   -EINVAL  empty, too long, a control byte, a path that is neither absolute
 *            nor begins with "~/"
 */
must_check int secrets_read(struct arena *a, const struct vectors *v,
			    const struct vectors_values *values,
			    const char *user_home, secrets *out,
			    struct err *err);
/* One that is no credential's, from a variable or a file: likewise. */
must_check int secrets_one(struct arena *a, const char *env, const char *file,
			   const struct vectors_values *values,
			   const char *user_home, char **out, struct err *err);
void secrets_forget(secrets *s);

#endif
