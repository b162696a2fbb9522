/*
 * The containers and networks of sessions, as Docker has them.
 *
 * Found by the label membrane.session, never by the shape of a name. Errors are
 * those of a request, see docker.h; what a call adds is said there.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_DOCKER_SESSION_H
#define RUNTIME_LAUNCH_DOCKER_DOCKER_SESSION_H

#include "runtime/launch/docker/docker.h"

struct docker_container {
	const char *id, *name, *session; /* session: its label; may be "" */
	const char *role, *state;	 /* "gate", "running"; may be "" */
	/* The host's folders that it can write, through a view, too, where
	 * agents are listed; those below /workspace, which are parts of one of
	 * them, are left out. */
	VEC(const char *) writes;
};
typedef VEC(struct docker_container) docker_containers;

struct docker_network {
	const char *id, *name, *session, *gateway, *subnet; /* "" if none */
};
typedef VEC(struct docker_network) docker_networks;

/*
 * Every container that has a session label; with session not NULL only that
 * session's. Running or not. Appends.
 */
must_check int docker_list(struct docker *d, const char *session,
			   docker_containers *out, struct err *err);
/* Every agent's container that runs or is paused, whose session ever. */
must_check int docker_list_agents(struct docker *d, docker_containers *out,
				  struct err *err);
/*
 * Stop all processes of a container, and let them go on. -ENOENT: there is no
 * such container, or it does not run; -EALREADY: it is (not) paused.
 */
must_check int docker_pause(struct docker *d, const char *container,
			    struct err *err);
must_check int docker_unpause(struct docker *d, const char *container,
			      struct err *err);
/*
 * The first process of a container, as the daemon's host counts; 0 when it
 * does not run (any more).
 */
must_check int docker_pid(struct docker *d, const char *container, int64_t *out,
			  struct err *err);
/* -ENOENT: no such container, or (signal) none that runs. */
must_check int docker_signal(struct docker *d, const char *container,
			     const char *signame, struct err *err);
/* Kill and remove. 0: it is gone; 1: its removal is under way, by another. */
must_check int docker_remove(struct docker *d, const char *container,
			     struct err *err);

/* All networks with their gateways, or only those of a session. Appends. */
must_check int docker_list_networks(struct docker *d, const char *session,
				    docker_networks *out, struct err *err);
/*
 * The link of a runtime that brings its own network namespace: a bridge on
 * which the host has no address and for which it does no masquerading. Its
 * addresses are the constants of the ruleset, so a daemon can have only one:
 * Docker's refusal of the second says that pools overlap.
 */
must_check int docker_make_link(struct docker *d, const char *name,
				const char *session, struct err *err);
/*
 * Give the gate its place there: with an address that it drops, so that the
 * agent's is free. -ENOENT: no such network, or no such container yet.
 */
must_check int docker_connect(struct docker *d, const char *network,
			      const char *container, struct err *err);
/* One that is gone is no error. */
must_check int docker_remove_network(struct docker *d, const char *network,
				     struct err *err);

#endif
