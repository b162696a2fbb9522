/*
 * The user's ssh-agent for a session: a socket in the session's folder, which
 * passes on what asks for public keys or for a signature
 * (draft-ietf-sshm-ssh-agent, SSH_AGENTC_REQUEST_IDENTITIES and
 * SSH_AGENTC_SIGN_REQUEST) and answers everything else with a failure: nobody
 * inside adds, removes or locks keys.
 *
 * Processes of their own: one that takes connections and one for each of these,
 * of which SSHAGENT_CLIENTS_MAX are served, more wait. They have no descriptor
 * of the launcher's but the socket, and end with it. A connection to the user's
 * ssh-agent is made for the first request and again when that has gone; where
 * nobody answers, the request fails, and the session goes on.
 */
#ifndef RUNTIME_LAUNCH_SSHAGENT_H
#define RUNTIME_LAUNCH_SSHAGENT_H

#include "compiler/base/err.h"

#include <stdatomic.h>
#include <sys/types.h>

#define SSHAGENT_CLIENTS_MAX 16
/* OpenSSH takes no longer message either. */
#define SSHAGENT_BYTES_MAX (256u << 10)

/* Shared by those processes. */
struct sshagent_counts {
	_Atomic uint32_t asked;	     /* signatures that were asked for */
	_Atomic uint32_t signatures; /* that were made */
	_Atomic uint32_t refused;    /* asked for what is not passed on */
	_Atomic uint32_t unanswered; /* the user's did not answer */
};

/* The same at the end. */
struct sshagent_told {
	uint32_t asked, signatures, refused, unanswered;
};

struct sshagent {
	pid_t pid; /* 0: none */
	struct sshagent_counts *counts;
};

/*
 * The user's: value of SSH_AUTH_SOCK, or NULL. Somebody has to listen there.
 *   -ENOENT  not set
 *   others   of connect(2)
 */
must_check int sshagent_check(const char *path, struct err *err);
/*
 * How many keys it says it has, within ms for each step.
 *   -EPROTO  what answers is no ssh-agent
 *   others   of connect(2) and recv(2)
 */
must_check int sshagent_keys(const char *path, int ms, uint32_t *out,
			     struct err *err);
/* Listen in dir, as DOCKER_JSON_SSH_SOCKET. */
must_check int sshagent_start(const char *dir, const char *path,
			      struct sshagent *out, struct err *err);
/* Nobody is served any more; says at the end what was asked for, unless that
 * is nothing or quiet. False: there was none, and *out is as it was. */
bool sshagent_stop(struct sshagent *s, bool quiet, struct sshagent_told *out);

/* One connection, until either end closes it. */
void sshagent_serve(int client, const char *path, struct sshagent_counts *n);

#endif
