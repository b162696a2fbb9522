#include "runtime/launch/docker/engine.h"

#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/docker_events.h"
#include "runtime/launch/docker/docker_session.h"

#include <string.h>

static const char *const roles[ENGINE_PARTS] = {
	[ENGINE_GATE] = DOCKER_JSON_GATE,
	[ENGINE_AGENT] = DOCKER_JSON_AGENT,
	[ENGINE_TRACER] = DOCKER_JSON_TRACER,
	[ENGINE_VIEW] = DOCKER_JSON_VIEW,
};

static struct docker_engine *own(struct engine *e)
{
	return (struct docker_engine *)e;
}

/* The vector is a docker command: exec'd verbatim. */
static int start_part(struct engine *e, enum engine_part part,
		      const struct proc_opts *o, pid_t *out_pid,
		      struct err *err)
{
	(void)e;
	(void)part;
	return proc_spawn(o, out_pid, err);
}

static int signal_part(struct engine *e, enum engine_part part,
		       const char *signame, struct err *err)
{
	return docker_signal(own(e)->docker, own(e)->names[part], signame, err);
}

static int remove_part(struct engine *e, enum engine_part part, struct err *err)
{
	return docker_remove(own(e)->docker, own(e)->names[part], err);
}

static int follow_parts(struct engine *e, engine_on_event *on_event, void *ctx,
			struct err *err)
{
	return docker_follow(own(e)->docker, own(e)->session, on_event, ctx,
			     err);
}

static int ask_parts(struct engine *e, engine_on_event *on_event, void *ctx,
		     struct err *err)
{
	docker_containers list = {0};
	int rc = docker_list(own(e)->docker, own(e)->session, &list, err);

	vec_each(c, &list) {
		bool runs = strcmp(c->state, "running") == 0;
		struct engine_event event = {runs ? "start" : "", c->role,
					     c->id};

		if (rc == 0)
			on_event(ctx, &event);
	}
	return rc;
}

static int poll_parts(struct engine *e, const struct pollfd *fds, size_t n,
		      int timeout_ms, struct err *err)
{
	return docker_poll(own(e)->docker, fds, n, timeout_ms, err);
}

/* The daemon still has the container then, and says when it has not. */
static bool is_gone(struct engine *e, enum engine_part part)
{
	(void)e;
	(void)part;
	return false;
}

static void leave_uplink(struct engine *e, const char *uplink)
{
	docker_leave(own(e)->docker, uplink, own(e)->names[ENGINE_GATE]);
}

static int join_network(struct engine *e, const char *network, struct err *err)
{
	return docker_connect(own(e)->docker, network,
			      own(e)->names[ENGINE_GATE], err);
}

void docker_engine_init(struct docker_engine *e, struct arena *a,
			struct docker *d, const char *session)
{
	static const struct engine_ops ops = {
		.start = start_part,
		.signal = signal_part,
		.remove = remove_part,
		.follow = follow_parts,
		.ask = ask_parts,
		.poll = poll_parts,
		.ended = is_gone,
		.leave = leave_uplink,
		.join = join_network,
	};

	*e = (struct docker_engine){
		.engine = {&ops}, .docker = d, .session = session};
	for (size_t i = 0; i < ENGINE_PARTS; i++)
		e->names[i] = arena_fmt(a, DOCKER_JSON_OURS "%s-%s", roles[i],
					session)
				      .p;
}
