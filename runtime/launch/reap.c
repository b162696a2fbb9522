#include "runtime/launch/reap.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/docker_session.h"
#include "runtime/launch/docker/rootless.h"
#include "runtime/launch/home.h"
#include "runtime/launch/kubernetes/objects.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/mounts/freeze.h"
#include "runtime/launch/mounts/masks.h"
#include "runtime/launch/native/cgroup.h"
#include "runtime/launch/view/mounted.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>

#define END_TIMEOUT_MS 20000 /* for a living launcher to end */
#define END_STEP_MS    50
#define REMOVE_TRIES   10
#define REMOVE_STEP_MS 200

static bool is_agent(const struct docker_container *c)
{
	return str_starts(str_of(c->name),
			  STR(DOCKER_JSON_OURS DOCKER_JSON_AGENT "-"));
}

/* 0, or 1: Docker is still removing one, and may yet fail. */
static int remove_containers(struct docker *d, const struct session *s,
			     struct err *err)
{
	docker_containers list = {0};
	int rc = docker_list(d, s->id, &list, err), going = 0;

	for (int pass = 0; pass < 2 && rc >= 0; pass++)
		vec_each(c, &list)
			if (rc >= 0 && strcmp(c->session, s->id) == 0 &&
			    is_agent(c) == (pass == 0)) {
				rc = docker_remove(d, c->id, err);
				going |= rc == 1;
			}
	return rc < 0 ? rc : going;
}

static int remove_networks(struct docker *d, const struct session *s,
			   struct err *err)
{
	docker_networks list = {0};
	int rc = docker_list_networks(d, s->id, &list, err);

	vec_each(n, &list)
		if (rc == 0 && strcmp(n->session, s->id) == 0)
			rc = docker_remove_network(d, n->id, err);
	return rc;
}

/* Nobody writes there any more: its launcher is gone, or calls this. */
static void remove_unfinished(const struct session *s)
{
	auto_fd int dir = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (dir >= 0)
		fileio_remove_unfinished(dir, NULL);
}

/* What a view that was killed left mounted, and the session's own home. */
static int remove_folders(const struct session *s, struct err *err)
{
	struct arena *a = arena_new();
	int rc = mounted_remove(a, s, err);

	/* what was mounted over it is gone */
	if (rc == 0)
		home_remove(a, s);
	arena_free(a);
	return rc;
}

int reap_session(struct docker *d, const char *state, const struct session *s,
		 struct err *err)
{
	int rc = 0;

	for (int i = 0; d && i < REMOVE_TRIES; i++) {
		rc = remove_containers(d, s, err);
		if (rc == 1)
			rc = err_set(err, -EBUSY,
				     "docker is still removing a container");
		if (rc == 0)
			rc = remove_networks(d, s, err);
		if (rc == 0)
			break;
		/* Docker refuses what it is just starting or ending */
		poll(NULL, 0, REMOVE_STEP_MS);
	}
	if (rc == 0)
		rc = remove_folders(s, err);
	remove_unfinished(s);
	/* only now: a placeholder may still be mounted on before */
	return rc < 0 ? rc : masks_release(state, s->id, err);
}

bool reap_is_alone(const struct session *s)
{
	return session_is_native(s) || session_is_pod(s);
}

int reap_alone(const char *state, const struct session *s, struct err *err)
{
	if (session_is_pod(s))
		return objects_reap(s, err);
	cgroup_end(s->dir);
	return reap_session(NULL, state, s, err);
}

static int need_docker(struct arena *a, const struct endpoint *at,
		       struct docker **docker, struct err *err)
{
	return *docker ? 0 : docker_open(a, at, docker, err);
}

static int reap_by_docker(struct arena *a, const char *state,
			  const struct session *s, const struct endpoint *at,
			  struct docker **docker, struct err *err)
{
	int rc = need_docker(a, at, docker, err);

	if (rc == 0)
		rc = reap_session(*docker, state, s, err);
	return rc < 0 ? rc : freeze_thaw(a, *docker, state, s, err);
}

int reap_dead(struct arena *a, const char *state, const struct endpoint *at,
	      struct docker **docker, unsigned *out_ended, struct err *err)
{
	sessions all = {0};
	struct err one;
	int rc = session_list(a, state, &all, err), first = 0;

	if (rc < 0)
		return rc;
	vec_each(s, &all) {
		rc = session_take(s, &one);
		if (rc == SESSION_DEAD) {
			rc = reap_is_alone(s)
				     ? reap_alone(state, s, &one)
				     : reap_by_docker(a, state, s, at, docker,
						      &one);
			session_release(s, rc == 0);
			if (rc == 0)
				++*out_ended;
		}
		if (rc < 0 && first == 0) {
			err_while(&one, "session %s", s->id);
			*err = one;
			first = rc;
		}
		if (first && !*docker && !reap_is_alone(s))
			break; /* nobody to ask: the next would wait, too */
	}
	return first;
}

void reap_others(struct arena *a, const char *state, const struct endpoint *at,
		 bool quiet)
{
	struct docker *docker = NULL;
	unsigned ended = 0;
	struct err err;

	if (reap_dead(a, state, at, &docker, &ended, &err) < 0 && !quiet)
		fprintf(stderr, "membrane: cleaning up: %s\n", err.text);
	docker_close(docker);
	session_prune(a, state);
}

bool reap_is_under_way(struct arena *a, const char *state)
{
	sessions all = {0};
	struct err ignored;
	bool found = false;

	if (session_list(a, state, &all, &ignored) < 0)
		return false;
	vec_each(s, &all) {
		int rc = session_take(s, &ignored);
		pid_t pid = rc == SESSION_ALIVE ? session_pid(s) : 0;

		if (rc == SESSION_DEAD) /* its watchdog has yet to begin */
			session_release(s, false);
		found |= rc == SESSION_DEAD ||
			 (pid > 1 && kill(pid, 0) < 0 && errno == ESRCH);
	}
	return found;
}

/* --- reset --------------------------------------------------------------- */

struct reset {
	struct arena *a;
	struct endpoint at; /* as long as docker is open */
	struct docker *docker;
	docker_containers containers; /* with a session label, anybody's */
	unsigned ended;
	struct err *err;
};

static bool is_named(const struct reset *r, const struct session *s,
		     const char *which)
{
	struct str w = str_of(which);

	if (!which[0])
		return false;
	if (str_starts(str_of(s->id), w))
		return true;
	vec_each(c, &r->containers)
		if (strcmp(c->session, s->id) == 0 &&
		    (strcmp(c->name, which) == 0 ||
		     (w.n >= 12 && str_starts(str_of(c->id), w))))
			return true;
	return false;
}

/* A launcher whose containers are gone ends by itself, the signal helps it. */
static int end_living(struct reset *r, struct session *s)
{
	int64_t until = clock_ms() + END_TIMEOUT_MS;
	pid_t pid = session_pid(s);
	int rc;

	if (pid > 1)
		kill(pid, SIGTERM);
	while (true) {
		rc = reap_is_alone(s)
			     ? 0
			     : remove_containers(r->docker, s, r->err);
		if (rc >= 0)
			rc = session_take(s, r->err);
		if (rc != SESSION_ALIVE)
			return rc;
		if (clock_ms() > until)
			return err_set(
				r->err, -ETIMEDOUT,
				"session %s: its launcher (process %ld) does not end",
				s->id, (long)pid);
		poll(NULL, 0, END_STEP_MS);
	}
}

static int end_session(struct reset *r, const char *state, struct session *s)
{
	int rc = session_take(s, r->err);

	if (rc == SESSION_FINISHED)
		return 0;
	if (rc == SESSION_ALIVE)
		rc = end_living(r, s);
	if (rc == SESSION_DEAD) {
		rc = reap_is_alone(s)
			     ? reap_alone(state, s, r->err)
			     : reap_session(r->docker, state, s, r->err);
		if (rc == 0 && !reap_is_alone(s))
			rc = freeze_thaw(r->a, r->docker, state, s, r->err);
		session_release(s, rc == 0);
	}
	if (rc < 0)
		return rc;
	r->ended++;
	return 0;
}

/* All that may be meant: then there is nothing to ask Docker, which may not
 * even be here. */
static bool are_alone(const sessions *all, const char *which)
{
	bool any = false, only = true;

	vec_each(s, all) {
		if (which &&
		    !(which[0] && str_starts(str_of(s->id), str_of(which))))
			continue;
		any = true;
		only &= reap_is_alone(s);
	}
	return any && only;
}

static int ask_docker(struct reset *r)
{
	int rc = endpoint_find(r->a, endpoint_getenv, &r->at, r->err);

	if (rc == 0)
		rc = rootless_enter(&r->at, r->err);
	if (rc == 0)
		rc = docker_open(r->a, &r->at, &r->docker, r->err);
	return rc < 0 ? rc
		      : docker_list(r->docker, NULL, &r->containers, r->err);
}

static int reset_all(struct reset *r, const char *state, const char *which)
{
	sessions all = {0};
	bool found = !which;
	int rc = session_list(r->a, state, &all, r->err);

	if (rc == 0 && !are_alone(&all, which))
		rc = ask_docker(r);
	vec_each(s, &all) {
		if (rc < 0 || (which && !is_named(r, s, which)))
			continue;
		found = true;
		rc = end_session(r, state, s);
	}
	if (rc == 0 && !found)
		rc = err_set(r->err, -ENOENT, "no session '%.64s' in %s", which,
			     state);
	return rc;
}

int launch_reset(const char *state, const char *which, unsigned *out_ended,
		 struct err *err)
{
	struct reset r = {.a = arena_new(), .err = err};
	int rc = reset_all(&r, state, which);

	if (rc == 0)
		*out_ended = r.ended;
	docker_close(r.docker);
	arena_free(r.a);
	return rc;
}
