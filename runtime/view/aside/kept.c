#include "runtime/view/aside/kept.h"

#include "compiler/base/err.h"
#include "compiler/base/limits.h"
#include "runtime/view/record.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_text(struct str s)
{
	for (size_t i = 0, len; i < s.n; i += len) {
		len = str_utf8(s, i);
		if (len == 0 || s.p[i] == '\0')
			return false;
	}
	return true;
}

size_t kept_line(const char *path, const char *what, const struct str *text,
		 char *buf, size_t size)
{
	char shown[LIMIT_PATH_BYTES];
	cJSON *o = cJSON_CreateObject();
	size_t n = 0;

	record_path(path, shown, sizeof(shown));
	if (cJSON_AddStringToObject(o, VIEW_SAYS_EVENT, VIEW_SAYS_KEPT) &&
	    cJSON_AddStringToObject(o, "path", shown) &&
	    cJSON_AddStringToObject(o, "what", what) &&
	    (!text || !is_text(*text) ||
	     cJSON_AddStringToObject(o, "text", text->p)) &&
	    cJSON_PrintPreallocated(o, buf, (int)size - 1, false)) {
		n = strlen(buf);
		buf[n++] = '\n';
	}
	cJSON_Delete(o);
	return n;
}

/* From the root; false: it is too long. */
static bool path_of(const struct copy *c, char *buf, size_t size)
{
	size_t at = size - 1;

	buf[at] = '\0';
	for (; c->parent; c = c->parent) {
		size_t n = strlen(c->name);

		if (at < n + 1)
			return false;
		if (buf[at])
			buf[--at] = '/';
		at -= n;
		memcpy(buf + at, c->name, n);
	}
	memmove(buf, buf + at, size - at);
	return true;
}

static const char *what_of(const struct copy *c)
{
	if (c->given)
		return NULL;
	switch (c->kind) {
	case COPY_FILE:
	case COPY_LINK:
	case COPY_HUSK:
		return c->config ? VIEW_SAYS_CONFIG : VIEW_SAYS_FILE;
	case COPY_GONE:
		return VIEW_SAYS_REMOVED;
	case COPY_NONE:
	case COPY_TRACKED:
	case COPY_FOLDER:
		break;
	}
	return NULL;
}

static void tell_copy(int fd, const struct copy *c)
{
	static char line[VIEW_SAYS_LINE_MAX];
	static char text[VIEW_SAYS_TEXT_MAX + 1];
	char path[LIMIT_PATH_BYTES];
	const char *what = what_of(c);
	struct str s = {text, 0};
	ssize_t n = -1;
	bool has_text;

	if (!what || !path_of(c, path, sizeof(path)))
		return;
	if (c->config)
		n = pread(c->data->fd, text, sizeof(text), 0);
	has_text = n >= 0 && n < (ssize_t)sizeof(text);
	s.n = has_text ? (size_t)n : 0;
	text[s.n] = '\0';
	s.n = kept_line(record_place(path), what, has_text ? &s : NULL, line,
			sizeof(line));
	for (const char *p = line; s.n; p += n, s.n -= (size_t)n) {
		n = write(fd, p, s.n);
		if (n <= 0)
			return;
	}
}

void kept_tell(int fd, const struct copies *t)
{
	const struct copy *c = &t->root;

	/* Down, beside, and up again. */
	while (c) {
		tell_copy(fd, c);
		if (c->first) {
			c = c->first;
			continue;
		}
		while (c && !c->after)
			c = c->parent;
		c = c ? c->after : NULL;
	}
}
