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
#include "runtime/launch/workspace/wspath.h"

/*
 * Is there, or above it, a folder that the policy mounts? Its own place is
 * taken then; Docker would make it in that folder of the host's.
 */
static int find_taken(struct launch *l, bool *out, struct err *err)
{
	struct str own = str_of(l->o.workspace);
	bind_list binds = {0};
	int rc;

	rc = values_binds(l, &binds, err);
	if (rc < 0)
		return rc;
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
	    !str_printable(own)) /* a word of docker's, a line of JSON */
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
