/*
 * What the files of a session's life share: the session itself, and who does
 * what in it. Their names say where they are.
 */
#ifndef RUNTIME_LAUNCH_LIFECYCLE_PARTS_H
#define RUNTIME_LAUNCH_LIFECYCLE_PARTS_H

#include "runtime/launch/docker/binds.h"
#include "runtime/launch/docker/docker_session.h"
#include "runtime/launch/docker/engine.h"
#include "runtime/launch/docker/proxy.h"
#include "runtime/launch/docker/roots.h"
#include "runtime/launch/docker/secrets.h"
#include "runtime/launch/docker/hosts.h"
#include "runtime/launch/image.h"
#include "runtime/launch/inside/inside.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/loop/loop.h"
#include "runtime/launch/mounts/mounts.h"
#include "runtime/launch/native/native.h"
#include "runtime/launch/ports/hostports.h"
#include "runtime/launch/ports/published.h"
#include "runtime/launch/prepare.h"
#include "runtime/launch/sshagent.h"
#include "runtime/launch/tracer/tracer.h"
#include "runtime/launch/watchdog.h"
#include "runtime/launch/workspace/committed.h"
#include "runtime/launch/workspace/executed.h"
#include "runtime/launch/workspace/gitoutside.h"

struct launch {
	struct arena *a;
	struct launch_opts o;  /* workspace: its real path */
	struct endpoint at;    /* Docker's */
	struct docker *docker; /* NULL: not this session's engine */
	struct docker_engine by_docker;
	struct native *native; /* NULL: likewise */
	struct vectors vectors;
	struct vectors_values values;
	secrets secrets;
	struct roots roots;
	struct image_config image; /* of an archive; of Docker's: empty */
	const char *image_name;	   /* NULL: what runs is this machine's */
	struct proxy proxy;
	struct prepare_owner owner;
	struct session session;
	struct watchdog watchdog;
	struct loop run;
	int trace_copy;	  /* --trace-log; -1: nowhere */
	struct executed before;
	/* In a view: what it was told of, and what git had of it. */
	struct looked *looked;
	struct committed git;
	struct gitoutside outside; /* of a repository that is shown around it */
	struct mounts mounts;
	bool protects; /* the home is viewed, too */
	struct sshagent ssh;
	struct hostports ports;
	struct published published;
};

/* --- values.c --- */
/* The vectors, as they stand in docker.json. */
must_check int values_read_plan(struct launch *l, struct err *err);
/* Whose they are: "docker" or "native". */
const char *values_engine(const struct launch *l);
/* What fills them. The session's record begins with it. */
must_check int values_set(struct launch *l, struct err *err);
/* Its record, once more; also: where the workspace is inside besides its usual
 * place, or NULL. */
must_check int values_note(const struct launch *l, const char *also,
			   struct err *err);

/* What the agent's vector mounts, as far as it is known by now. */
must_check int values_binds(struct launch *l, bind_list *out, struct err *err);

/* --- engines.c --- */
/* The engine of the plan's vectors, and all that it needs to run them. */
must_check int engines_open(struct launch *l, struct err *err);
/* What an image would have said: its command, or a shell. */
must_check int engines_inside(struct launch *l, const struct inside_size *size,
			      struct err *err);
/* What is the host's own: nothing leads there. */
must_check int engines_hosts(struct launch *l, hosts *out, struct err *err);
/* Which tracer the engine runs here; one without an image: none, as is said.
 *   -EPERM  none, and the trace is required */
must_check int engines_tracer(struct launch *l, bool required,
			      const struct vector **out, struct err *err);
/* The agent's vector, with what it mounts held or looked at: 1, not now. */
must_check int engines_mounts(struct launch *l, struct str plan, bool may_stop,
			      char ***out_argv, struct err *err);
/* What the engine has to know of the gate, which is ready. */
void engines_gate_ready(struct launch *l);
/* The agent may be started while the gate is not ready, and held. */
bool engines_may_hold(const struct launch *l);
/* The agent has started: is it what was looked at? */
must_check int engines_check(struct launch *l, struct err *err);
/* Where the view's mounts appear for the launcher. */
must_check int engines_view(struct launch *l, const char *point, int *out_fd,
			    struct err *err);

/* --- starting.c --- */
/* All that is needed before it, the gate, and what starts beside it. */
must_check int starting_gate(struct launch *l, struct err *err);

/* --- ownpath.c --- */
/* Set values->own_path and mounts.own where the workspace can be at its own
 * path, too; it is in the session's record then. Behind what sets the other
 * values of the agent's vector. */
must_check int ownpath_prepare(struct launch *l, struct err *err);

/* --- searched.c --- */
/* Set values.path: where programs are looked for inside. Behind what sets the
 * agent's mounts. */
must_check int searched_prepare(struct launch *l, struct err *err);

/* --- repository.c --- */
/*
 * Write the file, and set values.repository and values.repository_view.
 * o.linked: not NULL, and not refused. Behind ownpath_prepare().
 *   -ESTALE  the folder is another than the one that was approved
 *   -ENOTSUP mounts cannot hold all of it
 */
must_check int repository_prepare(struct launch *l, struct err *err);

/* --- tracing.c --- */
/* Is a tracer that is not ours of the release that the plan was made for? */
must_check int tracing_check_release(struct launch *l, struct err *err);
/* Beside the gate, which takes longer; before the agent in any case. */
must_check int tracing_start(struct launch *l, struct err *err);

/* --- viewing.c --- */
/* Where the plan has masks held by one: beside the gate, too. */
must_check int viewing_start(struct launch *l, struct err *err);
/*
 * What only a look finds, from today's scan. Names are the view's to judge,
 * from now on and for as long as the session lasts.
 */
must_check int viewing_tell(struct launch *l, struct err *err);
/* What it has mounted, for the agent's own mounts. */
must_check int viewing_open(struct launch *l, struct err *err);

/* --- telling.c --- */
/* Whom the user wants to be told; before anything is started. */
must_check int telling_prepare(struct launch *l, struct err *err);
/* From now on they are. */
void telling_start(struct launch *l);

/* --- running.c --- */
void running_init(struct launch *l);
/*
 * From the started gate to the end: what fails here must end the gate too. The
 * exit status, or a negative errno.
 */
must_check int running_loop(struct launch *l, struct err *err);
/* From here on nobody is there to be told of progress. */
must_check int running_tell_caller(void *launch, struct err *err);

/* --- ending.c --- */
/*
 * Detached: whoever waits for the command to run learns of one that was done
 * before Docker said so; of one that could not start, what Docker said. rc, or
 * what went wrong with that.
 */
must_check int ending_stage(struct launch *l, int rc, struct err *err);
/* Both containers are gone; what Docker still has of them goes with this. */
must_check bool ending_clean(struct launch *l);
/* What the agent had no part in is not said of it. */
void ending_executed(struct launch *l, struct executed *out);
/* A program with a git of its own may have read what is hidden as empty. */
void ending_emptied(struct launch *l, struct committed *out);
/* What Docker still removes is seen to by the watchdog, or by the next call. */
void ending_let_go(struct launch *l, bool cleaned);

#endif
