#include "runtime/launch/mounts/masks.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/plan/native_json.h"
#include "runtime/launch/mounts/placeholders.h"
#include "runtime/launch/mounts/looked.h"
#include "runtime/launch/mounts/place.h"
#include "runtime/launch/workspace/wspath.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_SPARE 256u /* open files for all else */

/* --- arranging -------------------------------------------------------------
 */

static int by_path_then_strength(const void *a, const void *b)
{
	const struct mask *x = a, *y = b;
	int d = wspath_cmp(x->path, y->path);

	if (d)
		return d;
	if (x->kind != y->kind)
		return (int)x->kind - (int)y->kind;
	/* The one that needs a mount even where another would not. */
	return y->submount - x->submount;
}

/* Pin what lies above m and is not in the list, which ends right before it. */
static void pin_above(struct arena *a, struct masks *out, const struct mask *m)
{
	struct str path = m->path;

	for (size_t n = str_find(path, '/', 0); n < path.n;
	     n = str_find(path, '/', n + 1)) {
		struct str dir = str_slice(path, 0, n), last = STR("");

		if (out->list.n)
			last = out->list.v[out->list.n - 1].path;
		if (str_eq(last, dir) || (last.n && wspath_below(last, dir)))
			continue;
		*vec_push(a, &out->list) =
			(struct mask){.path = dir, .kind = MASK_PIN_DIR};
	}
}

/*
 * Order masks, drop those that another makes pointless, add pins.
 *
 * Below something hidden nothing is needed. Below something readonly nothing
 * can be renamed, and only what is hidden, or another mount of the host's,
 * needs its own.
 */
static void arrange_masks(struct arena *a, const struct scan *found,
			  struct masks *out)
{
	struct str hidden = STR(""), readonly = STR(""), last = STR("");
	uint32_t n = found->masks.n;
	struct mask *all = arena_array(a, n + 1, sizeof(*all));

	if (n)
		memcpy(all, found->masks.v, n * sizeof(*all));
	qsort(all, n, sizeof(*all), by_path_then_strength);
	for (uint32_t i = 0; i < n; i++) {
		const struct mask *m = &all[i];
		bool in_readonly =
			found->readonly ||
			(readonly.n && wspath_below(m->path, readonly));

		if (i && str_eq(m->path, last))
			continue;
		last = m->path;
		if (hidden.n && wspath_below(m->path, hidden))
			continue;
		if (in_readonly && !m->submount &&
		    (m->kind == MASK_READONLY_DIR ||
		     m->kind == MASK_READONLY_FILE))
			continue;
		if (!in_readonly)
			pin_above(a, out, m);
		*vec_push(a, &out->list) = *m;
		if (m->kind == MASK_IGNORE_DIR)
			hidden = m->path;
		else if (m->kind == MASK_READONLY_DIR && !in_readonly)
			readonly = m->path;
	}
}

/* --- too many --------------------------------------------------------------
 */

struct heap {
	struct str dir;
	uint32_t n;
};

static int by_dir(const void *a, const void *b)
{
	const struct heap *x = a, *y = b;

	return str_cmp(x->dir, y->dir);
}

static int by_count(const void *a, const void *b)
{
	const struct heap *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? 1 : -1;
	return str_cmp(x->dir, y->dir);
}

/* Up to the first slash, or up to the last; with it. */
static struct str dir_of(struct str path, bool top)
{
	size_t first = str_find(path, '/', 0), n = path.n;

	if (top)
		return str_slice(path, 0, first < path.n ? first + 1 : 0);
	while (n && path.p[n - 1] != '/')
		n--;
	return str_slice(path, 0, n);
}

/* Directories by how many masks are right in them (or anywhere below). */
static uint32_t count_dirs(const struct masks *m, bool top, struct heap *dirs)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < m->list.n; i++)
		if (m->list.v[i].kind != MASK_PIN_DIR)
			dirs[n++] = (struct heap){
				dir_of(m->list.v[i].path, top), 1};
	qsort(dirs, n, sizeof(*dirs), by_dir);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && str_eq(dirs[kept - 1].dir, dirs[i].dir))
			dirs[kept - 1].n++;
		else
			dirs[kept++] = dirs[i];
	}
	qsort(dirs, kept, sizeof(*dirs), by_count);
	return kept;
}

static struct str shorten_path(struct str path)
{
	return path.n > 60 ? str_slice(path, 0, 60) : path;
}

static int too_many(struct arena *a, const struct masks *m, struct err *err)
{
	struct heap *dirs = arena_array(a, m->list.n, sizeof(*dirs));
	uint32_t n = count_dirs(m, false, dirs);
	struct buf b;

	if (n && dirs[0].n < m->list.n / 10)
		n = count_dirs(m, true, dirs);
	buf_init(&b, a);
	for (uint32_t i = 0; i < n && i < 3; i++)
		buf_addf(&b, "%s%u in %s", i ? ", " : "", dirs[i].n,
			 dirs[i].dir.n
				 ? wspath_show(a, shorten_path(dirs[i].dir))
				 : "the workspace's own folder");
	return err_set(
		err, -E2BIG,
		"ignore and readonly need %u mounts, at most %u are possible; %s: a pattern for a whole directory, such as 'build/', needs a single one",
		m->list.n, LIMIT_MASKS, buf_str(&b).p);
}

/* --- words -----------------------------------------------------------------
 */

/* One CSV field as Go's encoding/csv reads it. */
static void add_field(struct buf *b, const char *key, struct str dir,
		      struct str path)
{
	struct str parts[] = {str_of(key), dir, STR("/"), path};
	bool quote = false;

	for (size_t k = 0; k < ARRAY_LEN(parts); k++)
		for (size_t i = 0; i < parts[k].n; i++)
			quote |= strchr(",\"\r\n", parts[k].p[i]) != NULL;
	if (quote)
		buf_addc(b, '"');
	for (size_t k = 0; k < ARRAY_LEN(parts); k++) {
		for (size_t i = 0; i < parts[k].n; i++) {
			if (parts[k].p[i] == '"')
				buf_addc(b, '"');
			buf_addc(b, parts[k].p[i]);
		}
	}
	if (quote)
		buf_addc(b, '"');
}

static bool has_crlf(struct str s)
{
	for (size_t i = 1; i < s.n; i++)
		if (s.p[i - 1] == '\r' && s.p[i] == '\n')
			return true;
	return false;
}

/*
 * docker sends its arguments on as JSON, which turns what is no UTF-8 into
 * U+FFFD, and its CSV reader turns CR LF into LF: either would be another
 * path, and the mask would be missing where it has to be.
 */
static int check_path(struct arena *a, struct str path, struct err *err)
{
	const char *why = !wspath_is_utf8(path) ? "is not UTF-8"
			  : has_crlf(path)	? "has a CR LF in it"
						: NULL;

	if (!why)
		return 0;
	return err_set(
		err, -EILSEQ,
		"%s: this name %s, so that docker cannot be told to mask it: rename it, or ignore a directory that it is in",
		wspath_show(a, shorten_path(path)), why);
}

static void add_word(struct arena *a, struct masks *out, const struct mask *m,
		     struct str empty, struct str root, struct str target)
{
	struct buf b;

	buf_init(&b, a);
	buf_adds(&b, "type=bind,");
	switch (m->kind) {
	case MASK_IGNORE_DIR:
		add_field(&b, "source=", empty, STR("dir"));
		break;
	case MASK_IGNORE_FILE:
		add_field(&b, "source=", empty, STR("file"));
		break;
	case MASK_READONLY_DIR:
	case MASK_READONLY_FILE:
	case MASK_PIN_DIR:
		add_field(&b, "source=", root, m->path);
		break;
	}
	buf_addc(&b, ',');
	add_field(&b, "target=", target, m->path);
	if (m->kind != MASK_PIN_DIR)
		buf_adds(&b, ",readonly");
	*vec_push(a, &out->words) = "--mount";
	*vec_push(a, &out->words) = buf_str(&b).p;
}

static const char *native_kind(enum mask_kind kind)
{
	switch (kind) {
	case MASK_IGNORE_DIR:
	case MASK_IGNORE_FILE:
		return NATIVE_JSON_HIDE;
	case MASK_READONLY_DIR:
	case MASK_READONLY_FILE:
		return NATIVE_JSON_KEEP;
	case MASK_PIN_DIR:
		break;
	}
	return NATIVE_JSON_PIN;
}

static void add_native_word(struct arena *a, struct masks *out,
			    const char *kind, uint64_t dev, uint64_t ino,
			    struct str target)
{
	*vec_push(a, &out->words) =
		arena_fmt(a, NATIVE_JSON_MASK "%s:%llu:%llu:%.*s", kind,
			  (unsigned long long)dev, (unsigned long long)ino,
			  STR_ARG(target))
			.p;
}

/* The workspace's own is the first: its name may lead elsewhere by now. */
static int add_native_words(struct arena *a, struct masks *out, int root,
			    struct str target, struct err *err)
{
	struct place_id id;
	int rc = place_id(root, &id, err);

	if (rc < 0)
		return rc;
	add_native_word(a, out, NATIVE_JSON_IS, id.dev, id.ino, target);
	vec_each(m, &out->list)
		add_native_word(a, out, native_kind(m->kind), m->dev, m->ino,
				arena_fmt(a, "%.*s/%.*s", STR_ARG(target),
					  STR_ARG(m->path)));
	return 0;
}

static int add_words(struct arena *a, struct masks *out, const char *state,
		     struct str root, struct str target, struct err *err)
{
	struct str empty = arena_fmt(a, "%s/empty", state);
	int rc = 0;

	if (out->list.n)
		rc = check_path(a, root, err);
	if (rc == 0 && out->list.n)
		rc = check_path(a, empty, err);
	vec_each(m, &out->list) {
		if (rc == 0)
			rc = check_path(a, m->path, err);
		if (rc < 0)
			return rc;
		add_word(a, out, m, empty, root, target);
	}
	return 0;
}

/* --- notes -----------------------------------------------------------------
 */

static void add_notes(struct arena *a, const struct scan *found,
		      struct masks *out)
{
	vec_each(n, &found->notes) {
		const char *path = wspath_show(a, n->path);

		*vec_push(a, &out->notes) =
			n->error ? arena_fmt(a, "%s: %s (%s)", path,
					     scan_note_text(n->kind),
					     strerror(n->error))
				 : arena_fmt(a, "%s: %s", path,
					     scan_note_text(n->kind));
	}
}

/* --- preparing -------------------------------------------------------------
 */

static int make_file(const char *path, struct err *err)
{
	auto_fd int fd = fileio_create(AT_FDCWD, path, O_RDONLY | O_EXCL, 0444);
	struct stat st;

	if (fd >= 0)
		return 0;
	if (errno != EEXIST || lstat(path, &st) < 0)
		return err_errno(err, path);
	if (!S_ISREG(st.st_mode) || st.st_size)
		return err_set(err, -EEXIST,
			       "%s: not an empty file; masks need it to be one",
			       path);
	return 0;
}

static int make_dir(const char *path, struct err *err)
{
	const struct dirent *e;
	unsigned n = 0;
	DIR *dir;

	if (fileio_mkdir(AT_FDCWD, path, 0555, err) < 0)
		return err->code;
	dir = opendir(path);
	if (!dir)
		return err_errno(err, path);
	while ((e = readdir(dir)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
	closedir(dir);
	if (n)
		return err_set(
			err, -EEXIST,
			"%s: not an empty folder; masks need it to be one",
			path);
	return 0;
}

/* What masks are made of: {state}/empty/file and {state}/empty/dir. */
static int make_sources(struct arena *a, const char *state, struct err *err)
{
	const char *empty = arena_fmt(a, "%s/empty", state).p;
	int rc;

	if (fileio_mkdir(AT_FDCWD, empty, 0755, err) < 0)
		return err->code;
	rc = make_file(arena_fmt(a, "%s/file", empty).p, err);
	return rc < 0 ? rc : make_dir(arena_fmt(a, "%s/dir", empty).p, err);
}

/* --- sources ---------------------------------------------------------------
 */

/* One descriptor each, on top of all others. */
static int make_room(uint32_t n, struct err *err)
{
	struct rlimit files;
	rlim_t want = (rlim_t)n + FILES_SPARE;

	if (getrlimit(RLIMIT_NOFILE, &files) < 0)
		return err_errno(err, "the limit of open files");
	if (files.rlim_cur == RLIM_INFINITY || files.rlim_cur >= want)
		return 0;
	if (files.rlim_max != RLIM_INFINITY && files.rlim_max < want)
		return err_set(
			err, -EMFILE,
			"ignore and readonly need %llu open files, and %llu are permitted (ulimit -Hn): a pattern for a whole directory needs a single one",
			(unsigned long long)want,
			(unsigned long long)files.rlim_max);
	files.rlim_cur = want;
	return setrlimit(RLIMIT_NOFILE, &files) < 0
		       ? err_errno(err, "the limit of open files")
		       : 0;
}

/*
 * What is there already, a mount by itself, cannot be renamed in the container:
 * it is a mount there as well.
 */
static bool needs_pin(int fd)
{
#ifdef STATX_ATTR_MOUNT_ROOT
	struct statx sx;

	if (statx(fd, "", AT_EMPTY_PATH, 0, &sx) == 0 &&
	    sx.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT)
		return !(sx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
#endif
	return true;
}

static int fail_held(struct arena *a, const struct mask *m, int code,
		     struct err *err)
{
	return err_set(err, code,
		       "%s was changed while it was looked at (%s): start again",
		       wspath_show(a, shorten_path(m->path)), strerror(-code));
}

/* Where it goes, natively: the place is found again, and by no other name. 0 in
 * m->ino: a pin that is not needed. */
static int note_target(struct arena *a, const struct placeholders *h,
		       struct mask *m, struct err *err)
{
	struct place_id id;
	int fd, rc = place_open_below(h->root, m->path, O_PATH, &fd, err);

	if (rc < 0)
		return fail_held(a, m, rc, err);
	rc = place_id(fd, &id, err);
	if (rc == 0 && (m->kind != MASK_PIN_DIR || needs_pin(fd))) {
		m->dev = id.dev;
		m->ino = id.ino;
	}
	fd_close(&fd);
	m->fd = -1;
	return rc;
}

/* -1 in m->fd: a pin that is not needed. */
static int hold_source(struct arena *a, const struct placeholders *h,
		       const struct masks *out, struct mask *m, struct err *err)
{
	int flags = O_PATH, rc;

	switch (m->kind) {
	case MASK_IGNORE_DIR:
		m->fd = out->empty_dir;
		return 0;
	case MASK_IGNORE_FILE:
		m->fd = out->empty_file;
		return 0;
	case MASK_READONLY_FILE:
		break;
	case MASK_READONLY_DIR:
	case MASK_PIN_DIR:
		flags |= O_DIRECTORY;
		break;
	}
	rc = place_open_below(h->root, m->path, flags, &m->fd, err);
	if (rc < 0)
		return fail_held(a, m, rc, err);
	if (m->kind == MASK_PIN_DIR && !needs_pin(m->fd)) {
		fd_close(&m->fd);
		m->fd = -1;
	}
	return 0;
}

static int note_targets(struct arena *a, const struct placeholders *h,
			struct masks *out, struct err *err)
{
	uint32_t n = out->list.n, kept = 0;
	int rc = n > LIMIT_MASKS ? too_many(a, out, err) : 0;

	out->list.n = 0;
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		struct mask m = out->list.v[i];

		rc = note_target(a, h, &m, err);
		if (rc == 0 && m.ino)
			out->list.v[kept++] = m;
		out->list.n = kept;
	}
	return rc;
}

/* From here on they are what they are, whatever becomes of their names. */
static int hold_sources(struct arena *a, const struct placeholders *h,
			struct masks *out, struct err *err)
{
	const char *dir = arena_fmt(a, "%s/empty/dir", h->state).p;
	const char *file = arena_fmt(a, "%s/empty/file", h->state).p;
	uint32_t n = out->list.n, kept = 0;
	int rc = n > LIMIT_MASKS ? too_many(a, out, err) : make_room(n, err);

	out->list.n = 0;
	if (rc < 0)
		return rc;
	out->empty_dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	out->empty_file = open(file, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (out->empty_dir < 0 || out->empty_file < 0)
		return err_errno(err, dir);
	for (uint32_t i = 0; rc == 0 && i < n; i++) {
		struct mask m = out->list.v[i];

		rc = hold_source(a, h, out, &m, err);
		if (rc == 0 && m.fd >= 0)
			out->list.v[kept++] = m;
		out->list.n = kept;
	}
	return rc;
}

void masks_close(struct masks *m)
{
	vec_each(one, &m->list)
		if (one->kind != MASK_IGNORE_DIR &&
		    one->kind != MASK_IGNORE_FILE)
			fd_close(&one->fd);
	m->list.n = 0;
	if (m->target.n == 0)
		return;
	fd_close(&m->empty_dir);
	fd_close(&m->empty_file);
	m->empty_dir = m->empty_file = -1;
}

/* Under the lock: look, hold, arrange, claim. */
static int prepare_masks(struct arena *a, const struct masks_opts *o,
			 const char *state, struct placeholders *h,
			 struct masks *out, struct err *err)
{
	struct looked_at at = {.state = str_of(state),
			       .root_path = h->root_path,
			       .root = h->root,
			       .mounts = o->plan,
			       .readonly = o->readonly,
			       .moves = o->moves};
	struct committed git;
	struct looked l;
	int rc = looked_make(a, &at, &l, err);

	if (rc == 0)
		rc = placeholders_claim_folders(h, err);
	if (rc == 0 && !o->readonly) /* else nobody can make it */
		rc = placeholders_make(h, &l.plan, &l.found, err);
	if (rc < 0)
		return rc;
	out->entries = l.found.entries;
	arrange_masks(a, &l.found, out);
	out->target = l.plan.target;
	rc = o->moves ? note_targets(a, h, out, err)
		      : hold_sources(a, h, out, err);
	if (rc == 0)
		rc = o->moves ? add_native_words(a, out, h->root, out->target,
						 err)
			      : add_words(a, out, o->state, h->root_path,
					  out->target, err);
	if (rc == 0)
		rc = placeholders_claim(h, out->list.v, out->list.n, err);
	if (rc == 0) {
		add_notes(a, &l.found, out);
		committed_find(a, h->root_path, l.plan.ignore, &l.found,
			       &l.git.repos, false, &git);
		looked_git_notes(a, &l, &git, false, &out->notes);
	}
	return rc;
}

int masks_prepare(struct arena *a, const struct masks_opts *o,
		  struct masks *out, struct err *err)
{
	char state[PATH_MAX];
	struct placeholders h = {.a = a,
				 .state = o->state,
				 .session = o->session,
				 .root = o->root,
				 .root_path = str_of(o->workspace),
				 .fd = -1};
	auto_fd int lock = -1;
	struct masks made = {.empty_dir = -1, .empty_file = -1};
	struct err ignored;
	int rc;

	rc = looked_state(o->state, o->workspace, state, err);
	if (rc == 0)
		rc = make_sources(a, o->state, err);
	if (rc < 0)
		return rc;
	rc = placeholders_lock(o->state, &lock, err);
	if (rc < 0)
		return rc;
	rc = prepare_masks(a, o, state, &h, &made, err);
	fd_close(&h.fd);
	fd_close(&lock); /* placeholders_undo() takes it itself */
	lock = -1;
	if (rc == 0) {
		*out = made;
		return 0;
	}
	masks_close(&made);
	if (masks_release(o->state, o->session, &ignored) < 0)
		return err_while(err, "(%s)", ignored.text);
	return rc;
}

int masks_release(const char *state, const char *session, struct err *err)
{
	return placeholders_undo(state, session, err);
}

/* --- the argument vector ---------------------------------------------------
 */

/* Linux: MAX_ARG_STRLEN, and three quarters of _STK_LIM. */
#define FIT_WORD  (128u << 10)
#define FIT_TOTAL (6u << 20)
/* For the file name, the auxiliary vector and what the kernel adds. */
#define FIT_SPARE (64u << 10)

static size_t size_of(char *const *v, size_t *longest)
{
	size_t sum = sizeof(*v);

	for (; *v; v++) {
		size_t n = strlen(*v) + 1;

		sum += n + sizeof(*v);
		if (n > *longest)
			*longest = n;
	}
	return sum;
}

static int too_long(size_t have, size_t most, struct err *err)
{
	return err_set(
		err, -E2BIG,
		"the mounts make a command line of %zu bytes, at most %zu are possible: ignore whole folders in place of the files in them",
		have, most);
}

int masks_fit(char *const *argv, char *const *envp, struct err *err)
{
	size_t longest = 0, need = size_of(argv, &longest);
#ifdef __linux__
	struct rlimit stack;
	rlim_t want;

	need += size_of(envp, &longest) + FIT_SPARE;
	if (longest > FIT_WORD)
		return too_long(longest, FIT_WORD, err);
	if (need > FIT_TOTAL)
		return too_long(need, FIT_TOTAL, err);
	if (getrlimit(RLIMIT_STACK, &stack) < 0)
		return err_errno(err, "stack limit");
	want = (rlim_t)need * 4;
	if (stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur >= want)
		return 0;
	if (stack.rlim_max != RLIM_INFINITY && stack.rlim_max < want)
		return too_long(need, stack.rlim_max / 4, err);
	stack.rlim_cur = want;
	return setrlimit(RLIMIT_STACK, &stack) < 0
		       ? err_errno(err, "stack limit")
		       : 0;
#else
	long most = sysconf(_SC_ARG_MAX);

	need += size_of(envp, &longest);
	return most > 0 && need > (size_t)most
		       ? too_long(need, (size_t)most, err)
		       : 0;
#endif
}
