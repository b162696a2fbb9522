#include "runtime/watch/parts.h"

#include <string.h>

static void take_struct(void *to, size_t n, struct str from)
{
	if (from.n == n)
		memcpy(to, from.p, n);
}

static bool take_item(struct parts *p, const struct watch_item *i, struct str s)
{
	if (i->part > WATCH_CMD)
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
		if (i->part > WATCH_SECOND)
			return false;
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
static struct str join(struct record *r, struct str leaf_first)
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

/* "/a/b" and "../c" as "/a/c". */
static struct str resolve(struct record *r, struct str base, struct str text)
{
	size_t n = 0;
	char *out = record_room(r, base.n + text.n + 2);
	struct str segment, parts[2] = {base, text};

	if (!out)
		return text;
	for (int i = 0; i < 2; i++)
		while (str_field(&parts[i], '/', &segment)) {
			if (segment.n == 0 || str_is(segment, "."))
				continue;
			if (str_is(segment, "..")) {
				while (n > 0 && out[--n] != '/')
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

struct str parts_path(struct record *r, const struct parts *p,
		      enum watch_part part)
{
	struct str text = parts_text(p->text[part]);

	if (p->has_path[part])
		return join(r, p->path[part]);
	if (p->has_base[part])
		return resolve(r, join(r, p->base[part]), text);
	return text;
}

struct value parts_destination(const struct parts *p)
{
	struct value v = value_addr(p->addr);

	return v.kind == VALUE_ADDR ? v : value_sock(&p->sock, true);
}
