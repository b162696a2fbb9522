/*
 * Where programs are looked for in a session of our own engine, and what else an
 * image has in its environment: {path} of native.json.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "runtime/launch/native/native.h"

#include <stdlib.h>
#include <string.h>

/* Of the image; NULL: none. */
static const char *own_path(const struct launch *l)
{
	static const char path[] = "PATH=";

	vec_each(e, &l->image.env)
		if (strncmp(*e, path, strlen(path)) == 0)
			return *e + strlen(path);
	return NULL;
}

int searched_prepare(struct launch *l, struct err *err)
{
	VEC(const char *) words = {0};
	bind_list binds = {0};
	int rc;

	rc = values_binds(l, &binds, err);
	if (rc < 0)
		return rc;
	vec_each(e, &l->image.env)
		*vec_push(l->a, &words) = arena_fmt(l->a, "--env=%s", *e).p;
	*vec_push(l->a, &words) =
		arena_fmt(l->a, "--env=PATH=%s",
			  native_path(l->a, getenv("PATH"), &binds, l->o.state,
				      own_path(l)))
			.p;
	*vec_push(l->a, &words) = NULL;
	l->values.path = words.v;
	return 0;
}
