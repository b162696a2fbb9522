/*
 * The session's engine: Docker, or membrane's own. What the two need before a
 * part starts, and what each looks at, is told apart here and nowhere else.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/plan/docker_json.h"
#include "runtime/launch/view/mounted.h"

#include <errno.h>
#include <unistd.h>

static int open_docker(struct launch *l, struct err *err)
{
	int rc = docker_open(l->a, &l->at, &l->docker, err);

	if (rc == 0)
		rc = prepare_docker(l->docker, &l->vectors, l->o.no_update,
				    err);
	/* not while others stand still for it */
	if (rc == 0)
		rc = prepare_fetch(l->a, l->docker, &l->vectors.agent, err);
	docker_engine_init(&l->by_docker, l->a, l->docker, l->session.id);
	l->run.engine = &l->by_docker.engine;
	return rc;
}

static int open_native(struct launch *l, struct err *err)
{
	int rc = native_programs_folder(l->a, &l->values.programs, err);

	if (rc == 0)
		rc = session_set_native(&l->session, err);
	if (rc == 0)
		rc = native_write_files(l->a, l->session.dir, l->owner.uid,
					l->owner.gid, err);
	if (rc == 0)
		rc = native_open(l->a, l->session.dir, &l->native, err);
	if (rc == 0)
		l->run.engine = native_engine(l->native);
	return rc;
}

int engines_open(struct launch *l, struct err *err)
{
	return l->vectors.native ? open_native(l, err) : open_docker(l, err);
}

int engines_inside(struct launch *l, const struct inside_size *size,
		   struct err *err)
{
	if (!l->native)
		return inside_words(l->a, l->docker, &l->vectors.agent, size,
				    &l->values, err);
	inside_host_words(l->a, size, &l->values);
	return 0;
}

int engines_hosts(struct launch *l, hosts *out, struct err *err)
{
	return hosts_find(l->a, l->docker, out, err);
}

/* What is mounted is opened as it is mounted: nobody has to be stopped. */
static int expand_native(struct launch *l, char ***out_argv, struct err *err)
{
	native_expect(l->native, l->run.gate->netns);
	return vectors_expand(l->a, &l->vectors.agent, &l->values, out_argv,
			      err);
}

int engines_mounts(struct launch *l, struct str plan, bool may_stop,
		   char ***out_argv, struct err *err)
{
	return l->native ? expand_native(l, out_argv, err)
			 : mounts_prepare(&l->mounts, l->docker,
					  &l->vectors.agent, &l->values, plan,
					  may_stop, out_argv, err);
}

int engines_check(struct launch *l, struct err *err)
{
	return l->native ? 0
			 : mounts_check(&l->mounts, l->docker,
					l->by_docker.names[ENGINE_AGENT],
					l->vectors.runtime, err);
}

int engines_view(struct launch *l, const char *point, int *out_fd,
		 struct err *err)
{
	const char *folder =
		arena_fmt(l->a, "%s/" DOCKER_JSON_VIEW_FOLDER, l->session.dir)
			.p;

	if (l->native)
		folder = native_view_folder(l->a, l->native, folder);
	return mounted_open(l->a, folder, point, out_fd, err);
}
