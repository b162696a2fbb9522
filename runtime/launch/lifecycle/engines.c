/*
 * The session's engine: Docker, or membrane's own. What the two need before a
 * part starts, and what each looks at, is told apart here and nowhere else.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/plan/docker_json.h"
#include "compiler/plan/native_json.h"
#include "runtime/launch/view/mounted.h"

#include <errno.h>
#include <string.h>
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
	const struct vectors_upstream *u = &l->vectors.upstream;
	struct native_place place = {
		.dir = l->session.dir,
		.sockets = l->vectors.sockets,
		.proxy = {l->proxy.addr, l->proxy.port, u->direct_names,
			  u->direct, u->n_direct},
	};
	int rc = native_programs_folder(l->a, &l->values.programs, err);

	if (rc == 0 && l->vectors.archive)
		rc = image_open(l->a, l->o.state, l->values.programs,
				l->vectors.archive, l->vectors.archive_sha256,
				l->o.quiet, &l->image, err);
	if (rc == 0)
		rc = native_write_files(l->a, l->session.dir, l->owner.uid,
					l->owner.gid, err);
	if (rc == 0)
		rc = native_open(l->a, &place, &l->native, err);
	if (rc == 0)
		l->run.engine = native_engine(l->native);
	return rc;
}

int engines_open(struct launch *l, struct err *err)
{
	return l->vectors.native ? open_native(l, err) : open_docker(l, err);
}

/* An unpacked root is folder and name; "" and NULL: this machine's. */
static int find_root(struct launch *l, const char **out, struct err *err)
{
	static const struct str dir = STR_INIT(NATIVE_JSON_ROOT);
	struct str image = str_of(l->vectors.agent.image);
	struct vector word = {0};
	char **expanded;
	int rc;

	*out = "";
	if (!str_starts(image, dir))
		return 0;
	*vec_push(l->a, &word.words) = arena_cstr(l->a, image);
	rc = vectors_expand(l->a, &word, &l->values, &expanded, err);
	if (rc == 0)
		l->image_name = *out = expanded[0] + dir.n;
	return rc;
}

static int image_inside(struct launch *l, const struct inside_size *size,
			const struct docker_command *runs, struct err *err)
{
	return inside_words(l->a, &l->vectors.agent, l->image_name, runs, size,
			    &l->values, err);
}

static int docker_inside(struct launch *l, const struct inside_size *size,
			 struct err *err)
{
	struct docker_command runs = {0};
	int rc = 0;

	l->image_name = l->vectors.agent.image;
	if (inside_begins_image(&l->vectors.agent))
		rc = docker_image_command(l->docker, l->image_name, &runs, err);
	return rc < 0 ? rc : image_inside(l, size, &runs, err);
}

int engines_inside(struct launch *l, const struct inside_size *size,
		   struct err *err)
{
	const char *root;
	int rc;

	if (!l->native)
		return docker_inside(l, size, err);
	if (l->vectors.archive) {
		l->image_name = l->vectors.archive;
		return image_inside(l, size, &l->image.runs, err);
	}
	rc = find_root(l, &root, err);
	if (rc == 0)
		inside_host_words(l->a, l->image_name, root, size, &l->values);
	return rc;
}

int engines_hosts(struct launch *l, hosts *out, struct err *err)
{
	return hosts_find(l->a, l->docker, out, err);
}

/* What is mounted is opened as it is mounted: nobody has to be stopped. */
static int expand_native(struct launch *l, struct str plan, char ***out_argv,
			 struct err *err)
{
	struct str weaker = {0};
	int rc = mounts_note(&l->mounts, &l->vectors.agent, &l->values, plan,
			     err);

	if (rc != 0)
		return rc;
	native_hear(l->native, l->mounts.moves);
	rc = vectors_expand(l->a, &l->vectors.agent, &l->values, out_argv, err);
	if (rc == 0)
		rc = native_limit(l->native, *out_argv, &weaker, err);
	if (weaker.n && !l->o.quiet)
		fprintf(stderr, "membrane: %.*s\n", STR_ARG(weaker));
	return rc;
}

int engines_tracer(struct launch *l, bool required,
		   const struct vector **out, struct err *err)
{
	bool asked = l->native && !native_may_trace(l->native);

	*out = asked ? &l->vectors.asked : &l->vectors.tracer;
	l->values.narrow =
		l->docker && docker_minor(l->docker) >= DOCKER_NARROW_MINOR;
	if ((*out)->image)
		return 0;
	if (required)
		return err_set(
			err, -EPERM,
			"the trace is required, and there is none: " NATIVE_NOT_TRACED);
	if (!l->o.quiet)
		fputs("membrane: not traced: all of the events are those of root's sessions alone ('--no-trace' wants no trace)\n",
		      stderr);
	return 0;
}

int engines_mounts(struct launch *l, struct str plan, bool may_stop,
		   char ***out_argv, struct err *err)
{
	return l->native ? expand_native(l, plan, out_argv, err)
			 : mounts_prepare(&l->mounts, l->docker,
					  &l->vectors.agent, &l->values, plan,
					  may_stop, out_argv, err);
}

void engines_gate_ready(struct launch *l)
{
	if (l->native)
		native_expect(l->native, l->run.gate->netns);
}

bool engines_may_hold(const struct launch *l)
{
	bool roots = false;

	/* which are files for the agent's mounts, once the gate has made them */
	vec_each(word, &l->vectors.agent.words)
		roots |= strstr(*word, "/" DOCKER_JSON_BUNDLE) != NULL;
	return l->native && !roots;
}

int engines_check(struct launch *l, struct err *err)
{
	if (l->native) {
		mounts_made(&l->mounts);
		return 0;
	}
	return mounts_check(&l->mounts, l->docker,
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
