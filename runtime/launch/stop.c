/* Stopping a session from outside, to the end. */
#include "runtime/launch/launch.h"

#include "compiler/base/sys/clock.h"
#include "runtime/launch/docker/rootless.h"
#include "runtime/launch/reap.h"
#include "runtime/launch/session/metadata.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

#define STEP_MS 50
/* More than what a launcher needs for both containers, after its command. */
#define TIMEOUT_MS 60000

/* -ETIMEDOUT, or what has become of it: FINISHED or DEAD. */
static int wait_for_end(struct session *s, uint32_t grace_s, struct err *err)
{
	int64_t until = clock_ms() + 1000 * (int64_t)grace_s + TIMEOUT_MS;
	pid_t pid = session_pid(s);
	int rc;

	if (pid <= 1 || kill(pid, SIGTERM) < 0)
		return err_set(
			err, -EPERM,
			"session %s: its launcher (process %ld) cannot be signalled",
			s->id, (long)pid);
	while ((rc = session_take(s, err)) == SESSION_ALIVE) {
		if (clock_ms() > until)
			return err_set(
				err, -ETIMEDOUT,
				"session %s does not end; 'membrane reset %s' removes it by force",
				s->id, s->id);
		poll(NULL, 0, STEP_MS);
	}
	return rc;
}

/* Its launcher was killed: its lock is ours. */
static int clean_up(struct arena *a, const char *state, struct session *s,
		    struct err *err)
{
	struct docker *d = NULL;
	struct endpoint at;
	int rc;

	if (reap_is_alone(s)) {
		rc = reap_alone(state, s, err);
		session_release(s, rc == 0);
		return rc;
	}
	rc = endpoint_find(a, endpoint_getenv, &at, err);

	if (rc == 0)
		rc = rootless_enter(&at, err);
	if (rc == 0)
		rc = docker_open(a, &at, &d, err);
	if (rc == 0)
		rc = reap_session(d, state, s, err);
	session_release(s, rc == 0);
	docker_close(d);
	return rc;
}

int launch_stop(struct arena *a, const char *state, struct str which,
		const uint32_t *grace_s, const char **out_id, struct err *err)
{
	struct metadata x;
	struct session *s = &x.session;
	int rc = metadata_find(a, state, which, &x, err);

	if (rc < 0)
		return rc;
	rc = session_take(s, err);
	if (rc == SESSION_FINISHED ||
	    (rc == SESSION_ALIVE && metadata_is_at_end(s)))
		return err_set(err, -ESRCH, "session %s has ended before",
			       s->id);
	if (rc == SESSION_ALIVE && grace_s &&
	    session_set_grace(s, *grace_s, err) < 0)
		return err->code;
	if (rc == SESSION_ALIVE)
		rc = wait_for_end(s, grace_s ? *grace_s : 0, err);
	if (rc == SESSION_DEAD)
		rc = clean_up(a, state, s, err);
	if (rc < 0)
		return rc;
	*out_id = arena_cstr(a, str_of(s->id));
	return 0;
}
