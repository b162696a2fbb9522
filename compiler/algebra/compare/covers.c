#include "compiler/algebra/compare/covers.h"

#include "compiler/ir/docker_mount.h"

/* "a/b" for "/workspace/a/b"; false where it lies elsewhere. */
static bool is_inside(struct str target, struct str *out)
{
	struct str root = STR(DOCKER_MOUNT_WORKSPACE "/");

	if (!str_starts(target, root))
		return false;
	*out = str_slice(target, root.n, target.n);
	return true;
}

static void add_place(struct covers *c, int side, enum docker_run_id option,
		      struct str value)
{
	struct str target, path;
	bool empty;

	if (docker_mount_place(c->a, option, value, &target, &empty) &&
	    is_inside(target, &path))
		*vec_push(c->a, &c->at[side]) = path;
}

void covers_init(struct covers *c, struct arena *a, const struct ir_policy *old,
		 const struct ir_policy *now, struct comparison *out)
{
	*c = (struct covers){.a = a, .p = {old, now}, .out = out};
	for (int side = 0; side < 2; side++) {
		const struct ir_policy *p = c->p[side];

		vec_each(arg, &p->docker_args) {
			const struct docker_run_option *d =
				docker_run_named(arg->option);

			if (d)
				add_place(c, side, d->id, arg->value);
		}
		vec_each(t, &p->hardening.tmpfs)
			add_place(c, side, DOCKER_RUN_tmpfs, t->s);
	}
}

static bool is_covered(const struct covers *c, int side, struct str path)
{
	vec_each(at, &c->at[side])
		if (docker_mount_within(path, *at))
			return true;
	return false;
}

/* Only a folder can have an empty one on it; else what it is is not known. */
static bool may_reach(struct covers *c, int side, struct str path, bool folder,
		      struct decision (*decide)(const struct decide_files *,
						struct str))
{
	struct str below = arena_fmt(c->a, "%.*s/", STR_ARG(path));

	if (!c->files[side])
		c->files[side] = decide_files_new(c->a, c->p[side]);
	return decide(c->files[side], below).verdict == VERDICT_ALLOW ||
	       (!folder &&
		decide(c->files[side], path).verdict == VERDICT_ALLOW);
}

static void tell_cover(struct covers *c, enum access_kind kind, struct str path,
		       struct str text, struct ir_origin from, bool old)
{
	*vec_push(c->a, &c->out->changes) = (struct access_change){
		.way = old ? ACCESS_GAINED : ACCESS_LOST,
		.kind = kind,
		.text = arena_fmt(c->a, "%s /%.*s, which %.*s %s",
				  kind == ACCESS_READ ? "read" : "write",
				  STR_ARG(path), STR_ARG(text),
				  old ? "covered" : "covers"),
		.why = from,
		.why_old = old,
	};
}

enum covers_place covers_tell(struct covers *c, enum docker_run_id option,
			      struct str value, struct str text,
			      struct ir_origin from, bool old, bool *out_empty)
{
	/* Who sees what it lies on: the side that does not have it. */
	int side = old ? 1 : 0;
	struct str target, path;
	bool read, write;

	if (!docker_mount_place(c->a, option, value, &target, out_empty))
		return COVERS_UNKNOWN;
	if (!is_inside(target, &path))
		return COVERS_OUTSIDE;
	if (is_covered(c, side, path))
		return COVERS_NOTHING;
	read = may_reach(c, side, path, *out_empty, decide_read);
	write = may_reach(c, side, path, *out_empty, decide_write);
	if (read)
		tell_cover(c, ACCESS_READ, path, text, from, old);
	if (write)
		tell_cover(c, ACCESS_WRITE, path, text, from, old);
	/* What is hidden cannot be written either. */
	return read ? COVERS_INSIDE : COVERS_NOTHING;
}
