#include "compiler/cli/review/sealed.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/plan/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

int sealed_default(struct arena *a, const char *workspace, const char **out_dir,
		   struct err *err)
{
	static const char *const way[] = {".membrane", ".membrane/plan"};
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(way); i++) {
		const char *path = arena_fmt(a, "%s/%s", workspace, way[i]).p;

		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
			return err_set(
				err, -ELOOP,
				"%s is a symbolic link, and may lead out of the workspace: name the folder that is meant",
				way[i]);
		*out_dir = path;
	}
	return 0;
}

struct str sealed_short(struct str dir, const struct inputs *in)
{
	struct str root = str_of(in->workspace);

	if (str_starts(dir, root) && dir.n > root.n && dir.p[root.n] == '/')
		return str_slice(dir, root.n + 1, dir.n);
	return dir;
}

static bool is_file(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

/*
 * What is in the folder, without believing any of it. Not plan_read(): that
 * stops at the first file that its manifest does not vouch for.
 */
static int read_plan(struct arena *a, const char *dir, struct plan *out,
		     struct err *err)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int rc = 0;

	if (!d)
		return err_set(err, -errno, "%s: %s", dir, strerror(errno));
	while (rc == 0 && (e = readdir(d))) {
		struct str data = {0};

		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (out->files.n > LIMIT_PLAN_FILES)
			break;
		/* Lines of it are shown: not those of what a link leads to. */
		if (!is_file(dirfd(d), e->d_name)) {
			plan_add(a, out, arena_str(a, str_of(e->d_name)), data);
			continue;
		}
		rc = fileio_read(a, dirfd(d), e->d_name, LIMIT_PLAN_BYTES,
				 &data, err);
		if (rc == -EINVAL || rc == -EFBIG)
			rc = 0; /* no artefact; it will be named as foreign */
		if (rc == 0)
			plan_add(a, out, arena_str(a, str_of(e->d_name)), data);
	}
	closedir(d);
	return rc < 0 ? err_while(err, "reading %s", dir) : 0;
}

static const struct plan_source *source_in(const struct plan *p,
					   struct str name)
{
	vec_each(s, &p->sources)
		if (str_eq(s->name, name))
			return s;
	return NULL;
}

static void find_odd(struct sealed *s, const struct plan *a,
		     const struct plan *b, bool in_plan)
{
	vec_each(one, &a->sources)
		if (s->odd_source.n == 0 && !source_in(b, one->name)) {
			s->odd_source = view_cleaned(s->a, one->name);
			s->odd_in_plan = in_plan;
		}
}

/* Of what the plan was made, and of what it would be now. */
static void compare_sources(struct sealed *s, const struct compilation *c)
{
	const struct plan_file *f = plan_file(&s->old, MANIFEST_NAME);
	const struct plan *now = &c->plan;
	struct plan was = {0};
	struct err err;

	if (!f || manifest_parse(s->a, f->data, &was, &err) < 0)
		return;
	find_odd(s, &was, now, true);
	find_odd(s, now, &was, false);
	s->is_of_sources = s->odd_source.n == 0;
	vec_each(one, &was.sources) {
		const struct plan_source *same = source_in(now, one->name);

		s->is_of_sources &= same && str_eq(same->sha256, one->sha256);
	}
}

/* Why the plan's own policy.json is none. */
static struct str add_complaint(struct sealed *s, int rc, const struct err *err)
{
	struct buf b;

	buf_init(&b, s->a);
	if (rc < 0)
		buf_addf(&b, "%s\n", view_cleaned(s->a, str_of(err->text)).p);
	else
		diags_print(&s->own.c.diags, &b, false);
	return buf_str(&b);
}

static void judge_plan(struct sealed *s, const struct compilation *c)
{
	const char *prefix = arena_fmt(s->a, "%s/", s->dir.p).p;
	struct err err;
	int rc = derived_make(&s->old, prefix, c->kubernetes, &s->own, &err);

	compare_sources(s, c);
	s->has_own = rc == 0 && s->own.c.ok;
	if (s->has_own) {
		derived_adopt(&s->own.c, c);
		changes_make(s->a, &s->own.c, c, false, &s->access);
	} else {
		s->why_not = add_complaint(s, rc, &err);
	}
}

int sealed_compare(const char *dir, const struct inputs *in,
		   const struct compilation *c, struct sealed *out,
		   struct err *err)
{
	struct arena *a = c->a;
	int rc;

	*out = (struct sealed){.a = a};
	out->dir = view_cleaned(a, sealed_short(str_of(dir), in));
	rc = read_plan(a, dir, &out->old, err);
	out->is_missing = rc == -ENOENT;
	if (rc < 0)
		return out->is_missing ? 0 : rc;
	vec_each(f, &c->plan.files)
		plan_add(a, &out->now, f->name, f->data);
	plan_add(a, &out->now, STR(MANIFEST_NAME), plan_manifest(a, &c->plan));
	out->n = plan_compare(a, &out->old, &out->now, &out->deltas);
	out->is_current = out->n == 0;
	if (!out->is_current)
		judge_plan(out, c);
	return 0;
}

void sealed_done(struct sealed *s)
{
	driver_done(&s->own.c);
}
