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
/* ce_flags of git's cache.h: a sparse checkout has left it out */
#define SKIP_WORKTREE 0x40000000u

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

static bool read_kind(struct str mode, enum view_outside *out)
{
	static const char *const modes[] = {
		[VIEW_OUTSIDE_FILE] = "100644",
		[VIEW_OUTSIDE_PROGRAM] = "100755",
		[VIEW_OUTSIDE_LINK] = "120000",
		[VIEW_OUTSIDE_FOLDER] = "160000",
	};

	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (str_is(mode, modes[i])) {
			*out = (enum view_outside)i;
			return true;
		}
	return false;
}

/* "  WORD: NUMBER" and what ends it. */
static bool read_number(struct str *rest, const char *word, char end,
			uint64_t *out)
{
	struct str one;

	while (str_starts(*rest, STR(" ")))
		*rest = str_slice(*rest, 1, rest->n);
	if (!str_starts(*rest, str_of(word)))
		return false;
	*rest = str_slice(*rest, strlen(word), rest->n);
	return str_field(rest, end, &one) && str_u64(one, UINT32_MAX, out);
}

static bool read_hex(struct str s, uint64_t *out)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
						   : -1;

		if (digit < 0 || i >= 8)
			return false;
		n = n << 4 | (unsigned)digit;
	}
	*out = n;
	return s.n > 0;
}

/* What git last saw of it, as `ls-files --debug` prints that. */
static bool read_seen(struct str *rest, uint64_t *n, uint64_t *flags)
{
	uint64_t dev;
	struct str word;

	if (!read_number(rest, "ctime: ", ':', &n[VIEW_OUTSIDE_CTIME]) ||
	    !read_number(rest, "", '\n', &n[VIEW_OUTSIDE_CTIME_NS]) ||
	    !read_number(rest, "mtime: ", ':', &n[VIEW_OUTSIDE_MTIME]) ||
	    !read_number(rest, "", '\n', &n[VIEW_OUTSIDE_MTIME_NS]) ||
	    !read_number(rest, "dev: ", '\t', &dev) ||
	    !read_number(rest, "ino: ", '\n', &n[VIEW_OUTSIDE_INO]) ||
	    !read_number(rest, "uid: ", '\t', &n[VIEW_OUTSIDE_UID]) ||
	    !read_number(rest, "gid: ", '\n', &n[VIEW_OUTSIDE_GID]) ||
	    !read_number(rest, "size: ", '\t', &n[VIEW_OUTSIDE_SIZE]) ||
	    !str_starts(*rest, STR("flags: ")))
		return false;
	*rest = str_slice(*rest, 7, rest->n);
	return str_field(rest, '\n', &word) && read_hex(word, flags);
}

bool gitoutside_entry(struct str *rest, struct str part,
		      struct gitoutside_file *out, bool *out_skip,
		      uint64_t *out_stage)
{
	struct gitoutside_file f = {0};
	struct str mode, stage;
	uint64_t flags;

	if (!str_field(rest, ' ', &mode) || !str_field(rest, ' ', &f.oid) ||
	    !str_field(rest, '\t', &stage) || !str_field(rest, '\0', &f.path) ||
	    !str_u64(stage, 3, out_stage) || !read_kind(mode, &f.kind) ||
	    f.path.n == 0 || !read_seen(rest, f.numbers, &flags))
		return false;
	*out_skip = flags & SKIP_WORKTREE || wspath_below(f.path, part) ||
		    str_eq(f.path, part);
	*out = f;
	return true;
}

static int read_index(struct look *l, struct str text)
{
	struct gitoutside_file f;
	uint64_t stage;
	bool skip;

	while (text.n) {
		if (!gitoutside_entry(&text, l->g->name, &f, &skip, &stage))
			return refuse_index(l, "git lists its index in a way "
					       "that is not known");
		if (skip)
			continue;
		if (stage)
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
