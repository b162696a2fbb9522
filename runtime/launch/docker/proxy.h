/*
 * The proxy that the gate goes out through, 'upstream' of the policy, as this
 * machine finds it when a session begins: its address, for all of the session,
 * and the login that the policy leads to. The login is for the gate's stdin,
 * and for nothing else.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_PROXY_H
#define RUNTIME_LAUNCH_DOCKER_PROXY_H

#include "runtime/launch/docker/vectors.h"

#define PROXY_LOGIN_MAX 1024u /* ONWARD_LOGIN_MAX of the gate */

struct proxy {
	struct addr addr;
	uint16_t port; /* 0: there is none */
	char *login;   /* USER:PASSWORD; NULL: none */
};

/*
 *   -ENOENT  its name does not resolve here, or its login is not there
 *   -EINVAL  the login is no USER:PASSWORD
 */
must_check int proxy_find(struct arena *a, const struct vectors *v,
			  const struct vectors_values *values,
			  const char *user_home, struct proxy *out,
			  struct err *err);
void proxy_forget(struct proxy *p);

#endif
