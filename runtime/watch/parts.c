#include "runtime/watch/parts.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void take_struct(void *to, size_t n, struct str from)
{
	if (from.n == n)
		memcpy(to, from.p, n);
}

static bool take_item(struct parts *p, const struct watch_item *i, struct str s)
{
	if (i->part >= (i->tag == WATCH_DATA ? WATCH_QUESTIONS : WATCH_PARTS))
		return false;
	switch ((enum watch_tag)i->tag) {
	case WATCH_TEXT:
		p->text[i->part] = s;
		return true;
	case WATCH_PATH:
		p->path[i->part] = s;
		p->has_path[i->part] = true;
		return true;
	case WATCH_BASE:
		p->base[i->part] = s;
		p->has_base[i->part] = true;
		return true;
	case WATCH_FILE:
		take_struct(&p->file, sizeof(p->file), s);
		return true;
	case WATCH_ADDR:
		p->addr = s;
		return true;
	case WATCH_SOCK:
		take_struct(&p->sock, sizeof(p->sock), s);
		return true;
	case WATCH_CHILD:
		take_struct(&p->child, sizeof(p->child), s);
		return true;
	case WATCH_DATA:
		p->data[i->part] = s;
		return true;
	case WATCH_GROUP:
		/* The unified hierarchy's comes first, and may be the root's */
		if (s.n > p->group.n)
			p->group = s;
		return true;
	}
	return false;
}

bool parts_take(struct parts *p, const char *at, const char *end)
{
	while (at < end) {
		struct watch_item i;

		if ((size_t)(end - at) < sizeof(i))
			return false;
		memcpy(&i, at, sizeof(i));
		at += sizeof(i);
		if ((size_t)(end - at) < i.bytes ||
		    !take_item(p, &i, (struct str){at, i.bytes}))
			return false;
		at += i.bytes;
	}
	return true;
}

/* --- paths ---------------------------------------------------------------- */

/* Components, leaf first, as a path from the root. */
static struct str join_parts(struct record *r, struct str leaf_first)
{
	size_t n = leaf_first.n ? leaf_first.n : 1, end = leaf_first.n;
	char *out = record_room(r, n), *at = out;

	if (!out)
		return (struct str){0};
	*at++ = '/';
	while (end > 1) {
		size_t beg = end - 1;

		while (beg > 0 && leaf_first.p[beg - 1] != '\0')
			beg--;
		memcpy(at, leaf_first.p + beg, end - 1 - beg);
		at += end - 1 - beg;
		end = beg;
		if (end > 1)
			*at++ = '/';
	}
	return (struct str){out, (size_t)(at - out)};
}

struct str parts_text(struct str s)
{
	return s.n && s.p[s.n - 1] == '\0' ? str_slice(s, 0, s.n - 1) : s;
}

/* Is it, or below it? Paths from the root. */
static bool is_below(struct str path, struct str dir)
{
	return str_starts(path, dir) &&
	       (dir.n == 1 || path.n == dir.n || path.p[dir.n] == '/');
}

/* "/a/b" and "../c" as "/a/c"; floor: bytes that no '..' takes away. */
static struct str resolve_path(struct record *r, struct str base,
			       struct str text, size_t floor)
{
	size_t n = base.n > 1 ? base.n : 0;
	char *out = record_room(r, base.n + text.n + 2);
	struct str segment;

	if (!out)
		return text;
	memcpy(out, base.p, n);
	while (str_field(&text, '/', &segment)) {
		if (segment.n == 0 || str_is(segment, "."))
			continue;
		if (str_is(segment, "..")) {
			while (n > floor && out[--n] != '/')
				;
			continue;
		}
		out[n++] = '/';
		memcpy(out + n, segment.p, segment.n);
		n += segment.n;
	}
	if (n == 0)
		out[n++] = '/';
	return (struct str){out, n};
}

/* What was asked for, from where. */
static struct str join_text(struct record *r, const struct parts *p,
			    struct str base, struct str text)
{
	struct str root = STR("/");

	if (str_starts(text, STR("/")))
		root = base;
	else if (p->has_path[WATCH_ROOT])
		root = join_parts(r, p->path[WATCH_ROOT]);
	return resolve_path(r, base, text,
			    root.n > 1 && is_below(base, root) ? root.n : 0);
}

struct str parts_base(struct record *r, const struct parts *p,
		      enum watch_part part)
{
	return join_parts(r, p->base[part]);
}

struct str parts_path(struct record *r, const struct parts *p,
		      enum watch_part part)
{
	struct str text = parts_text(p->text[part]);

	if (p->has_path[part])
		return join_parts(r, p->path[part]);
	if (p->has_base[part])
		return join_text(r, p, parts_base(r, p, part), text);
	return text;
}

struct str parts_file(struct record *r, const struct parts *p)
{
	struct str leaf_first = p->path[WATCH_FIRST];
	struct str kind = parts_text(p->text[WATCH_KIND]);
	const int wide = 64;
	char *out;
	int n;

	if (!kind.n && S_ISFIFO(p->file.mode) && leaf_first.n == 1)
		kind = STR("pipe");
	out = kind.n ? record_room(r, wide) : NULL;
	if (!out)
		return parts_path(r, p, WATCH_FIRST);
	n = snprintf(out, wide, "%.*s:[%llu]", (int)kind.n, kind.p,
		     (unsigned long long)p->file.inode);
	return (struct str){out, (size_t)(n < wide ? n : wide - 1)};
}

struct value parts_destination(const struct parts *p)
{
	struct value v = value_addr(p->addr);

	return v.kind == VALUE_ADDR ? v : value_sock(&p->sock, true);
}
