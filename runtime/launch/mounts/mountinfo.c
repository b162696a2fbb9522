#include "runtime/launch/mounts/mountinfo.h"

#include <errno.h>
#include <stdlib.h>

static bool is_octal(char c)
{
	return c >= '0' && c <= '7';
}

/* The kernel writes blank, tab, LF, '\' and '#' as \ooo. */
static struct str unescape_field(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] != '\\' || s.n - i < 4 || !is_octal(s.p[i + 1]) ||
		    !is_octal(s.p[i + 2]) || !is_octal(s.p[i + 3])) {
			p[n++] = s.p[i];
			continue;
		}
		p[n++] = (char)((s.p[i + 1] - '0') << 6 |
				(s.p[i + 2] - '0') << 3 | (s.p[i + 3] - '0'));
		i += 3;
	}
	return (struct str){p, n};
}

static bool take_number(struct str *rest, char sep, uint64_t max, uint64_t *out)
{
	struct str field;

	return str_field(rest, sep, &field) && str_u64(field, max, out);
}

/* "rw,relatime shared:1 master:2 - ext4 /dev/sda1 rw" */
static bool is_heard(struct str rest)
{
	struct str field;

	if (!str_field(&rest, ' ', &field))
		return false;
	while (str_field(&rest, ' ', &field) && !str_is(field, "-"))
		if (str_starts(field, STR("shared:")) ||
		    str_starts(field, STR("master:")))
			return true;
	return false;
}

static bool read_mount(struct arena *a, struct str line,
		       struct mountinfo_mount *out)
{
	struct str root, at;
	uint64_t major, minor;

	if (!take_number(&line, ' ', UINT64_MAX, &out->id) ||
	    !take_number(&line, ' ', UINT64_MAX, &out->parent) ||
	    !take_number(&line, ':', UINT32_MAX, &major) ||
	    !take_number(&line, ' ', UINT32_MAX, &minor) ||
	    !str_field(&line, ' ', &root) || !str_field(&line, ' ', &at) ||
	    root.n == 0 || at.n == 0 || at.p[0] != '/')
		return false;
	out->major = (uint32_t)major;
	out->minor = (uint32_t)minor;
	out->root = unescape_field(a, root);
	out->at = unescape_field(a, at);
	out->heard = is_heard(line);
	return true;
}

static int by_place(const void *a, const void *b)
{
	const struct mountinfo_mount *x = a, *y = b;
	int d = str_cmp(x->at, y->at);

	return d ? d : (x->id > y->id) - (x->id < y->id);
}

int mountinfo_parse(struct arena *a, struct str text, mountinfo_list *out,
		    struct err *err)
{
	mountinfo_list list = {0};
	struct str line;

	while (str_line(&text, &line))
		if (!read_mount(a, line, vec_push(a, &list)))
			return err_set(err, -EPROTO,
				       "mountinfo, line %u: not a mount",
				       list.n);
	vec_sort(&list, by_place);
	*out = list;
	return 0;
}

/* The first of those at path; list->n when there is none. */
static uint32_t first_at(const mountinfo_list *list, struct str path)
{
	uint32_t lo = 0, hi = list->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (str_cmp(list->v[mid].at, path) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < list->n && str_eq(list->v[lo].at, path) ? lo : list->n;
}

/* Those right at path, which lie on each other: the lowest and the topmost. */
struct pile {
	const struct mountinfo_mount *low, *top; /* NULL: there is none */
};

static struct pile pile_at(const mountinfo_list *list, struct str path)
{
	uint32_t from = first_at(list, path), end = from;
	struct pile pile = {NULL, NULL};

	while (end < list->n && str_eq(list->v[end].at, path))
		end++;
	for (uint32_t i = from; i < end; i++) {
		bool lies_on = false, is_covered = false;

		for (uint32_t k = from; k < end; k++) {
			lies_on |= k != i && list->v[i].parent == list->v[k].id;
			is_covered |=
				k != i && list->v[k].parent == list->v[i].id;
		}
		if (!lies_on)
			pile.low = &list->v[i];
		if (!is_covered)
			pile.top = &list->v[i];
	}
	return pile;
}

/* The one that path lies in, were there none right at it. */
static const struct mountinfo_mount *top_above(const mountinfo_list *list,
					       struct str path)
{
	const struct mountinfo_mount *m = NULL;
	size_t n = path.n;

	while (!m && n > 1) {
		do
			n--;
		while (n > 0 && path.p[n] != '/');
		m = pile_at(list, n ? str_slice(path, 0, n) : STR("/")).top;
	}
	return m;
}

const struct mountinfo_mount *mountinfo_at(const mountinfo_list *list,
					   struct str path)
{
	const struct mountinfo_mount *above = top_above(list, path);
	struct pile pile = pile_at(list, path);

	if (!pile.low || !pile.top || (above && pile.low->parent != above->id))
		return NULL;
	return pile.top;
}

const struct mountinfo_mount *mountinfo_by_id(const mountinfo_list *list,
					      uint64_t id)
{
	vec_each(m, list)
		if (m->id == id)
			return m;
	return NULL;
}

const char *mountinfo_inner(struct arena *a, const struct mountinfo_mount *m,
			    struct str path)
{
	struct str root = str_is(m->root, "/") ? STR("") : m->root;
	struct str rest = path;

	if (!str_is(m->at, "/")) {
		if (!str_starts(path, m->at) ||
		    (path.n > m->at.n && path.p[m->at.n] != '/'))
			return NULL;
		rest = str_slice(path, m->at.n, path.n);
	}
	if (str_is(rest, "/"))
		rest = STR("");
	if (root.n + rest.n == 0)
		return "/";
	return arena_fmt(a, "%.*s%.*s", STR_ARG(root), STR_ARG(rest)).p;
}
