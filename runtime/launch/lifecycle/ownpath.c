/*
 * The workspace at the path that it has on the host, as well as at /workspace:
 * the words for {own-path} of docker.json. There the command begins, unless the
 * policy says where. Agents keep what they remember by the path of the folder
 * that they work in, and programs write it down.
 *
 * Only a view can be at two places: masks that are mounts hold at one.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/plan/docker_json.h"
#include "runtime/launch/docker/binds.h"
#include "runtime/launch/workspace/wspath.h"

/* A word of `docker run`, a line for the tracer in JSON. */
static bool is_printable(struct str path)
{
	for (size_t at = 0, n; at < path.n; at += n) {
		unsigned char c = (unsigned char)path.p[at];

		n = str_utf8(path, at);
		if (n == 0 || c < ' ' || c == 0x7f)
			return false;
	}
	return true;
}

/*
 * Is there, or above it, a folder that the policy mounts? Its own place is
 * taken then; Docker would make it in that folder of the host's.
 */
static int find_taken(struct launch *l, bool *out, struct err *err)
{
	static char *const no_command[] = {NULL};
	struct vectors_values values = l->values;
	struct str own = str_of(l->o.workspace);
	bind_list binds = {0};
	char **argv;
	int rc;

	values.command = no_command;
	rc = vectors_expand(l->a, &l->vectors.agent, &values, &argv, err);
	if (rc < 0)
		return rc;
	binds_read(l->a, argv, &binds);
	*out = false;
	vec_each(b, &binds)
		*out |= str_is(own, b->target) ||
			wspath_below(own, str_of(b->target));
	return 0;
}

int ownpath_prepare(struct launch *l, struct err *err)
{
	struct str own = str_of(l->o.workspace);
	const char **words;
	bool taken;
	int rc;

	if (!l->vectors.view.image || own.n < 2 || gitlinked_is_systems(own) ||
	    !is_printable(own))
		return 0;
	rc = find_taken(l, &taken, err);
	if (rc < 0 || taken)
		return rc;
	words = arena_array(l->a, 3, sizeof(*words));
	words[0] = binds_word(l->a,
			      arena_fmt(l->a,
					"%s/" DOCKER_JSON_VIEW_FOLDER
					"/" DOCKER_JSON_VIEW_MOUNT,
					l->session.dir),
			      own, false);
	words[1] = arena_fmt(l->a, "--workdir=%s", l->o.workspace).p;
	l->values.own_path = words;
	l->mounts.own = l->o.workspace;
	return values_note(l, l->o.workspace, err);
}
