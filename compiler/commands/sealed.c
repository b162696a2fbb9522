#include "compiler/commands/sealed.h"

#include "compiler/base/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/commands/view.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define MANIFEST "manifest.json"
/* Columns of a line of an artefact that are shown. */
#define LINE_SHOWN 72u
#define LINE_BYTES (4u * LINE_SHOWN) /* of it, enough for that */
#define LINE_AFTER 24u /* columns from the difference on, at least */

int sealed_default(struct arena *a, const char *workspace, const char **out_dir,
		   struct err *err)
{
	static const char *const way[] = {".membrane", ".membrane/plan"};
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(way); i++) {
		const char *path = arena_fmt(a, "%s/%s", workspace, way[i]).p;

		if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
			return err_set(err, -ELOOP,
				       "%s is a symbolic link, and may lead "
				       "out of the workspace: name the folder "
				       "that is meant",
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
static int read_all(struct arena *a, const char *dir, struct plan *out,
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

static struct str nth_line(struct str text, uint32_t n)
{
	struct str line = {0};

	while (n-- && str_line(&text, &line))
		;
	return line;
}

/* "    - text": one line of an artefact, cut around where it differs. */
static void show_line(struct buf *out, char mark, struct str line, size_t from)
{
	char *copy = arena_cstr(out->a, line);
	struct str clean, cut;
	size_t beg = 0, blank = 0;

	for (size_t i = 0; i < line.n; i++)
		if (copy[i] == '\t')
			copy[i] = ' ';
	while (blank < from && copy[blank] == ' ')
		blank++;
	line = (struct str){copy + blank, line.n - blank};
	from -= blank;
	if (from > LINE_SHOWN - LINE_AFTER)
		beg = from - LINE_SHOWN / 2;
	while (beg && ((unsigned char)line.p[beg] & 0xc0) == 0x80)
		beg--;
	clean = view_cleaned(out->a, str_slice(line, beg, beg + LINE_BYTES));
	cut = view_cut(clean, LINE_SHOWN);
	buf_addf(out, "    %c %s%.*s%s\n", mark, beg ? "…" : "", STR_ARG(cut),
		 cut.n < clean.n || beg + LINE_BYTES < line.n ? "…" : "");
}

static void show_delta(struct buf *out, const struct plan_delta *d,
		       const struct plan *old, const struct plan *now)
{
	const char *name = view_cleaned(out->a, d->name).p;
	struct str was, is;
	size_t i = 0;

	switch (d->change) {
	case PLAN_SAME:
		return;
	case PLAN_ADDED:
		buf_addf(out, "  %s: missing\n", name);
		return;
	case PLAN_REMOVED:
		buf_addf(out, "  %s: not a part of this plan\n", name);
		return;
	case PLAN_CHANGED:
		break;
	}
	was = nth_line(plan_file(old, arena_cstr(out->a, d->name))->data,
		       d->line);
	is = nth_line(plan_file(now, arena_cstr(out->a, d->name))->data,
		      d->line);
	while (i < was.n && i < is.n && was.p[i] == is.p[i])
		i++;
	buf_addf(out, "  %s:%u\n", name, d->line);
	show_line(out, '-', was, i);
	show_line(out, '+', is, i);
}

int sealed_compare(struct arena *a, const char *dir, const struct inputs *in,
		   const struct plan *now, bool *out_same, struct buf *report,
		   struct err *err)
{
	const char *name = view_cleaned(a, sealed_short(str_of(dir), in)).p;
	struct plan old = {0}, with = {0};
	struct plan_delta *deltas = NULL;
	uint32_t n;
	int rc = read_all(a, dir, &old, err);

	*out_same = false;
	if (rc == -ENOENT) {
		buf_addf(report, "there is no plan in %s\n", name);
		return 0;
	}
	if (rc < 0)
		return rc;
	vec_each(f, &now->files)
		plan_add(a, &with, f->name, f->data);
	plan_add(a, &with, STR(MANIFEST), plan_manifest(a, now));
	n = plan_compare(a, &old, &with, &deltas);
	*out_same = n == 0;
	if (n)
		buf_addf(report, "%s is not what the policy says now\n", name);
	/* The manifest follows from the others: only alone it is news. */
	for (uint32_t i = 0; i < n; i++)
		if (n == 1 || !str_is(deltas[i].name, MANIFEST))
			show_delta(report, &deltas[i], &old, &with);
	return 0;
}
