#include "runtime/launch/workspace/wspath.h"

#include "compiler/base/buf.h"
#include "compiler/base/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* As the kernel's MAXSYMLINKS. */
#define LINKS_MAX 40

bool wspath_below(struct str path, struct str dir)
{
	if (dir.n == 0)
		return path.n > 0;
	return path.n > dir.n && path.p[dir.n] == '/' && str_starts(path, dir);
}

int wspath_cmp(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;

	for (size_t i = 0; i < n; i++) {
		int x = (uint8_t)a.p[i], y = (uint8_t)b.p[i];

		if (x == y)
			continue;
		return (x == '/' ? 0 : x) - (y == '/' ? 0 : y);
	}
	return a.n < b.n ? -1 : a.n > b.n;
}

struct str wspath_join(struct arena *a, struct str dir, struct str name)
{
	char *p = arena_alloc(a, dir.n + name.n + 2);
	size_t n = dir.n;

	if (n) {
		memcpy(p, dir.p, n);
		p[n++] = '/';
	}
	memcpy(p + n, name.p, name.n);
	return (struct str){p, n + name.n};
}

/* Length of the UTF-8 sequence at s.p[i]; 0 when there is none. */
static size_t utf8_at(struct str s, size_t i)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint8_t c = (uint8_t)s.p[i];
	size_t n = c < 0x80   ? 1
		   : c < 0xc0 ? 0
		   : c < 0xe0 ? 2
		   : c < 0xf0 ? 3
			      : 4;
	uint32_t v = n == 1 ? c : c & (0x7fu >> n);

	if (n == 0 || c > 0xf4 || s.n - i < n)
		return 0;
	for (size_t k = 1; k < n; k++) {
		uint8_t d = (uint8_t)s.p[i + k];

		if ((d & 0xc0) != 0x80)
			return 0;
		v = v << 6 | (d & 0x3f);
	}
	if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
		return 0;
	return n;
}

bool wspath_is_utf8(struct str s)
{
	size_t n;

	for (size_t i = 0; i < s.n; i += n) {
		n = utf8_at(s, i);
		if (n == 0)
			return false;
	}
	return true;
}

const char *wspath_show(struct arena *a, struct str path)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < path.n;) {
		uint8_t c = (uint8_t)path.p[i];
		size_t n = utf8_at(path, i);

		/* U+0080 to U+009F are control characters too. */
		if (n == 0 || c < 0x20 || c == 0x7f || c == '\\' ||
		    (c == 0xc2 && (uint8_t)path.p[i + 1] < 0xa0)) {
			buf_addf(&b, "\\x%02x", c);
			i++;
			continue;
		}
		buf_add(&b, str_slice(path, i, i + n));
		i += n;
	}
	return buf_str(&b).p;
}

/* --- links -----------------------------------------------------------------
 */

/* cur is absolute and without a slash at its end; "/" is the empty string. */
struct walk {
	struct arena *a;
	int root;
	struct str at;
	struct str cur, todo;
	unsigned links;
};

/* cur as a path of the workspace; false when it is outside. */
static bool path_inside(const struct walk *w, struct str *out)
{
	if (str_eq(w->cur, w->at)) {
		*out = STR("");
		return true;
	}
	if (!wspath_below(w->cur, w->at))
		return false;
	*out = str_slice(w->cur, w->at.n + 1, w->cur.n);
	return true;
}

/* The link at rel (where cur is) is put in front of what is to do. */
static bool follow_link(struct walk *w, const char *rel)
{
	char text[LIMIT_PATH_BYTES];
	ssize_t n = readlinkat(w->root, rel, text, sizeof(text));

	if (n <= 0 || (size_t)n == sizeof(text) || ++w->links > LINKS_MAX)
		return false;
	w->cur = text[0] == '/' ? STR("") : str_parent(w->cur);
	w->todo = arena_fmt(w->a, "%.*s/%.*s", (int)n, text, STR_ARG(w->todo));
	return w->todo.n < 2 * LIMIT_PATH_BYTES;
}

/* Only slashes and dots left: nothing that needs a directory to be. */
static bool is_done(struct str todo)
{
	struct str c;

	while (str_field(&todo, '/', &c))
		if (c.n && !str_is(c, "."))
			return false;
	return true;
}

static bool has_parent_step(struct str todo)
{
	struct str c;

	while (str_field(&todo, '/', &c))
		if (str_is(c, ".."))
			return true;
	return false;
}

/* c and what is to do, as a path. */
static struct str remaining_path(const struct walk *w, struct str c)
{
	struct str todo = w->todo, more;

	while (str_field(&todo, '/', &more))
		if (more.n && !str_is(more, "."))
			c = wspath_join(w->a, c, more);
	return c;
}

/* One component; true to go on, false when *out holds the answer. */
static bool walk_component(struct walk *w, struct str c,
			   struct wspath_place *out)
{
	struct str up = w->cur, rel;
	const char *name;

	w->cur = arena_fmt(w->a, "%.*s/%.*s", STR_ARG(w->cur), STR_ARG(c));
	out->end = WSPATH_OUT;
	if (w->cur.n >= 2 * LIMIT_PATH_BYTES)
		return false;
	if (!path_inside(w, &rel) || rel.n == 0)
		return true;
	name = arena_cstr(w->a, rel);
	if (fstatat(w->root, name, &out->st, AT_SYMLINK_NOFOLLOW) < 0) {
		if (errno != ENOENT || has_parent_step(w->todo))
			return false;
		out->end = WSPATH_MISSING;
		out->rest = remaining_path(w, c);
		w->cur = up;
		path_inside(w, &out->path);
		return false;
	}
	if (S_ISLNK(out->st.st_mode)) {
		out->by_link = true;
		return follow_link(w, name);
	}
	if (S_ISDIR(out->st.st_mode) || is_done(w->todo))
		return true;
	if (has_parent_step(w->todo))
		return false;
	out->end = WSPATH_FILE;
	out->path = rel;
	return false;
}

struct wspath_place wspath_resolve(struct arena *a, int root, struct str at,
				   struct str dir, struct str path)
{
	struct walk w = {.a = a, .root = root, .at = at, .todo = path};
	struct wspath_place out = {.end = WSPATH_OUT};
	struct str c;

	w.cur = wspath_join(a, at, dir);
	if (dir.n == 0)
		w.cur = at;
	if (str_starts(path, STR("/")))
		w.cur = STR("");
	while (str_field(&w.todo, '/', &c)) {
		if (c.n == 0 || str_is(c, "."))
			continue;
		if (str_is(c, ".."))
			w.cur = str_parent(w.cur);
		else if (!walk_component(&w, c, &out))
			return out;
	}
	out.end = WSPATH_OUT;
	if (!path_inside(&w, &out.path))
		return out;
	/* Again, since the last step may have been upwards. */
	if (out.path.n == 0)
		out.end = WSPATH_ROOT;
	else if (fstatat(root, arena_cstr(a, out.path), &out.st,
			 AT_SYMLINK_NOFOLLOW) == 0)
		out.end = WSPATH_FOUND;
	return out;
}
