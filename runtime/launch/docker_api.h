/*
 * The Docker Engine API, as far as a session needs it.
 *
 * Requests block, for a bounded time; what Docker says about a refusal is in
 * *err word for word. Only the event stream runs beside the caller's own
 * descriptors, in docker_poll(). Containers and networks are found by the
 * label membrane.session, never by the shape of a name.
 *
 * API: https://docs.docker.com/engine/api/, 1.40 (Docker 19.03) to 1.48.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_API_H
#define RUNTIME_LAUNCH_DOCKER_API_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "runtime/launch/endpoint.h"

#include <poll.h>

#define DOCKER_LABEL "membrane.session"
#define DOCKER_LINK_SUBNET "192.0.0.0/29" /* both ends, and Docker's own */
#define DOCKER_LINK_GATEWAY "192.0.0.1"
/* Docker 23: before, its seccomp profile opens bpf(2) to SYS_ADMIN alone. */
#define DOCKER_NARROW_MINOR 42u
#define DOCKER_FDS_MAX 48u
#define DOCKER_ANSWER_MAX (16u << 20) /* bytes of one answer */

struct docker;

struct docker_container {
	const char *id, *name, *session; /* session: its label; may be "" */
	const char *role, *state;	 /* "gate", "running"; may be "" */
};
typedef VEC(struct docker_container) docker_containers;

struct docker_network {
	const char *id, *name, *session, *gateway, *subnet; /* "" if none */
};
typedef VEC(struct docker_network) docker_networks;

/* Connect and agree on a version. */
must_check int docker_open(struct arena *a, const struct endpoint *e,
			   struct docker **out, struct err *err);
void docker_close(struct docker *d); /* NULL is allowed */
/* Of the API, 1.MINOR: what the daemon and this program agreed on. */
unsigned docker_minor(const struct docker *d);

/* What the daemon says of itself and its host; "" for what it does not say. */
struct docker_info {
	const char *version, *api; /* "20.10.24", "1.41": the newest it has */
	const char *runc, *kernel, *storage;
	const char *cgroup_version, *cgroup_driver;
	const char *seccomp;  /* the profile's name or path */
	const char *mac;      /* "apparmor", "selinux" */
	const char *runtimes; /* "kata, runc" */
	bool rootless, limits_memory, limits_pids;
};
must_check int docker_info(struct docker *d, struct docker_info *out,
			   struct err *err);
/* 1, or 0 when there is none. */
must_check int docker_has_image(struct docker *d, const char *ref,
				struct err *err);
/* The tags that images of a repository have here: "0.24.1". Appends. */
typedef VEC(const char *) docker_tags;
must_check int docker_image_tags(struct docker *d, const char *repository,
				 docker_tags *out, struct err *err);
must_check int docker_has_runtime(struct docker *d, const char *name,
				  struct err *err);

/*
 * Every container that has a session label; with session not NULL only that
 * session's. Running or not. Appends.
 */
must_check int docker_list(struct docker *d, const char *session,
			   docker_containers *out, struct err *err);
/* -ENOENT: no such container, or (signal) none that runs. */
must_check int docker_signal(struct docker *d, const char *container,
			     const char *signame, struct err *err);
/* Kill and remove. A container that is gone, or going, is no error. */
must_check int docker_remove(struct docker *d, const char *container,
			     struct err *err);

/* All networks with their gateways, or only those of a session. */
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
must_check int docker_connect(struct docker *d, const char *network,
			      const char *container, struct err *err);
must_check int docker_remove_network(struct docker *d, const char *network,
				     struct err *err);
/*
 * Begin to take a container off a network, once; docker_poll() sees to the
 * rest. It only makes room earlier: nobody learns how it went, and the
 * container's end does the same.
 */
void docker_leave(struct docker *d, const char *network, const char *container);

/* What happened to a container of the session. */
struct docker_event {
	const char *action, *role; /* "start", "die", "destroy"; "agent" */
	const char *id;		   /* the container's; "" if unsaid */
};
typedef void docker_on_event(void *ctx, const struct docker_event *event);

/*
 * Follow the containers of one session. The stream only makes things known
 * earlier: when it breaks nothing is reported, and nothing may depend on it.
 */
must_check int docker_follow(struct docker *d, const char *session,
			     docker_on_event *on_event, void *ctx,
			     struct err *err);
/*
 * Wait until one of fds (POLLIN, POLLOUT; one below 0 is left out) is ready or
 * closed, or something came on the event
 * stream (on_event has been called then), or timeout_ms went by. At most
 * DOCKER_FDS_MAX. The caller reads its descriptors without blocking
 * afterwards, whatever woke it.
 */
must_check int docker_poll(struct docker *d, const struct pollfd *fds,
			   size_t n_fds, int timeout_ms, struct err *err);

#endif
