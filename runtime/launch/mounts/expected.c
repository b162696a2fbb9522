#include "runtime/launch/mounts/expected.h"

#include "runtime/launch/mounts/place.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>

static bool is_same(const struct expected_mount *m,
		    const struct mountinfo_mount *x)
{
	return m->in_fs && m->major == x->major && m->minor == x->minor &&
	       str_is(x->root, m->in_fs);
}

static const struct mountinfo_mount *find_same(const struct expected_mount *m,
					       const mountinfo_list *have)
{
	vec_each(x, have)
		if (is_same(m, x))
			return x;
	return NULL;
}

bool expected_is_in(const struct expected_mount *m, const mountinfo_list *have)
{
	return find_same(m, have) != NULL;
}

static int mount_differs(struct arena *a, const struct expected_mount *m,
			 const struct mountinfo_mount *x, struct err *err)
{
	const char *target = wspath_show(a, m->target);

	if (!m->in_fs)
		return err_set(
			err, -EXDEV,
			"what was to be mounted on %s was removed while the session started",
			target);
	return err_set(
		err, -EXDEV,
		"%s is mounted on %s in place of %s: a folder was changed while the session started",
		x ? wspath_show(a, x->root) : "nothing", target,
		wspath_show(a, str_of(m->in_fs)));
}

/* Of a mount of its own; *out_at is where it really is. */
static int compare_one(struct arena *a, const struct expected_mount *m,
		       const mountinfo_list *have, struct str *out_at,
		       struct err *err)
{
	const struct mountinfo_mount *x = mountinfo_at(have, m->target);

	*out_at = m->target;
	if (x && is_same(m, x))
		return 0;
	if (!x) {
		x = find_same(m, have);
		if (x) {
			*out_at = x->at;
			return 0;
		}
	}
	return mount_differs(a, m, x, err);
}

static int compare_below(struct arena *a, const struct expected_mount *m,
			 struct str target, struct str at,
			 const mountinfo_list *have, struct err *err)
{
	struct str rest = str_slice(m->target, target.n, m->target.n);
	struct str path =
		str_eq(target, at)
			? m->target
			: arena_fmt(a, "%.*s%.*s", STR_ARG(at), STR_ARG(rest));
	const struct mountinfo_mount *x = mountinfo_at(have, path);

	return x && is_same(m, x) ? 0 : mount_differs(a, m, x, err);
}

int expected_compare(struct arena *a, const expected_list *meant,
		     const mountinfo_list *have, struct err *err)
{
	struct str target = STR(""), at = STR("");
	int rc = 0;

	vec_each(m, meant) {
		if (m->below) {
			rc = compare_below(a, m, target, at, have, err);
		} else {
			target = m->target;
			rc = compare_one(a, m, have, &at, err);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

int expected_locate(struct arena *a, expected_list *meant, struct err *err)
{
	mountinfo_list own = {0};
	int rc = place_mounts(a, "self", &own, err);

	if (rc < 0)
		return rc;
	vec_each(m, meant) {
		struct place p = {0};

		m->in_fs = NULL;
		if (!place_locate(a, &own, m->fd, &p))
			continue; /* it is gone: expected_compare() says so */
		m->major = p.major;
		m->minor = p.minor;
		m->in_fs = p.in_fs;
	}
	return 0;
}
