#include "runtime/launch/workspace/gitoutside.h"

#include "compiler/base/buf.h"
#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/workspace/gitcmd.h"
#include "runtime/launch/workspace/wspath.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

/* An entry is some 200 bytes and a path. */
#define LISTING_MAX (128u << 20)
#define TIMEOUT_MS  10000
#define TEXT_MAX    (64u << 10)
#define LINKS_MAX   10000u
#define LINK_TEXTS  (64u << 20)

struct look {
	struct arena *a;
	const struct gitlinked *g;
	const char *top; /* the repository's folder */
	struct gitoutside out;
	struct err *err;
};

static int refuse_index(struct look *l, const char *why)
{
	return err_set(l->err, -ENOTSUP, "of %s beside the workspace, %s",
		       l->top, why);
}

/* --- the index ------------------------------------------------------------ */

static int read_index(struct look *l, struct str text)
{
	struct gitindex_file f;

	while (text.n) {
		if (!gitindex_entry(&text, true, &f))
			return refuse_index(l, "git lists its index in a way "
					       "that is not known");
		if (f.skipped || wspath_below(f.path, l->g->name) ||
		    str_eq(f.path, l->g->name))
			continue;
		if (f.stage)
			return refuse_index(
				l,
				"a merge has left conflicts there: end it first");
		if (l->out.files.n >= VIEW_HELLO_OUTSIDE_MAX)
			return refuse_index(
				l, "git has more files than a view takes");
		*vec_push(l->a, &l->out.files) = f;
	}
	return 0;
}

static int ask_index(struct look *l)
{
	static const char *const words[] = {
		"-c", "safe.directory=*", "ls-files", "-z",
		"-s", "--debug",	  NULL};
	struct gitcmd g = {.dir = l->top,
			   .words = words,
			   .of = GITCMD_NOBODY,
			   .max = LISTING_MAX,
			   .timeout_ms = TIMEOUT_MS};
	struct err why;

	if (gitcmd_run(l->a, &g, &why) < 0 || g.status)
		return refuse_index(l, "git cannot list its index");
	return read_index(l, g.text);
}

/* --- where links lead ----------------------------------------------------- */

/* One of `cat-file --batch`: "OID blob SIZE<LF>…<LF>". */
static bool read_blob(struct str *text, struct str *out)
{
	struct str head, word;
	uint64_t size;

	if (!str_line(text, &head) || !str_field(&head, ' ', &word) ||
	    !str_field(&head, ' ', &word) || !str_is(word, "blob") ||
	    !str_u64(head, text->n, &size))
		return false;
	*out = str_slice(*text, 0, size);
	*text = str_slice(*text, size + 1, text->n);
	return true;
}

/* One without a text cannot be read inside; git seldom has to. */
static void ask_links(struct look *l)
{
	static const char *const words[] = {"-c", "safe.directory=*",
					    "cat-file", "--batch", NULL};
	struct gitcmd g = {.dir = l->top,
			   .words = words,
			   .of = GITCMD_NOBODY,
			   .max = LINK_TEXTS,
			   .timeout_ms = TIMEOUT_MS};
	struct err ignored;
	struct str text;
	uint32_t n = 0;
	struct buf oids;

	buf_init(&oids, l->a);
	vec_each(f, &l->out.files)
		if (f->kind == VIEW_OUTSIDE_LINK && n++ < LINKS_MAX)
			buf_addf(&oids, "%.*s\n", STR_ARG(f->oid));
	g.input = buf_str(&oids);
	if (n == 0 || gitcmd_run(l->a, &g, &ignored) < 0 || g.status)
		return;
	n = 0;
	vec_each(f, &l->out.files) {
		if (f->kind != VIEW_OUTSIDE_LINK || n++ >= LINKS_MAX)
			continue;
		if (!read_blob(&g.text, &text))
			return;
		if (text.n && text.n < PATH_MAX &&
		    !memchr(text.p, '\0', text.n))
			f->text = text;
	}
}

/* --- what git reads there ------------------------------------------------- */

/* What is none, or too much of one, is left as the index has it. */
static void read_text(struct look *l, int top, struct str dir, const char *name)
{
	struct str path = wspath_join(l->a, dir, str_of(name)), text;
	struct err ignored;

	if (fileio_read_inside(l->a, top, path, TEXT_MAX, &text, &ignored) <
		    0 ||
	    memchr(text.p, '\0', text.n))
		return;
	*vec_push(l->a, &l->out.texts) = (struct gitoutside_text){path, text};
}

/* In the folders above the workspace. */
static void read_texts(struct look *l)
{
	auto_fd int top = open(l->top, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct str dir = l->g->name;

	if (top < 0)
		return;
	read_text(l, top, STR(""), ".gitmodules");
	do {
		dir = str_parent(dir);
		read_text(l, top, dir, ".gitignore");
		read_text(l, top, dir, ".gitattributes");
	} while (dir.n);
}

int gitoutside_find(struct arena *a, const struct gitlinked *g,
		    struct gitoutside *out, struct err *err)
{
	struct look l = {.a = a,
			 .g = g,
			 .top = arena_cstr(a, str_parent(g->common)),
			 .err = err};
	int rc = ask_index(&l);

	if (rc < 0)
		return rc;
	ask_links(&l);
	read_texts(&l);
	*out = l.out;
	return 0;
}
