/* Names, paths and descriptors by chance: most of them good for something. */
#define _GNU_SOURCE
#include "worker.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Few, so that they meet; and some that a reader of lines, of UTF-8 or of a
 * short name would trip over. */
static const char *const names[] = {
	"a",
	"b",
	"c",
	"d",
	"a",
	"b",
	"c",
	"d",
	"link",
	"dir",
	"dir",
	"made",
	"new\nline",
	"\xff\xfe",
	"gr\xc3\xbc\xc3\x9f",
	"\xed\xa0\x80x",
	"\xf0\x9f\x98",

	"\\\"'",
	".hidden",
	"*",
	"\x01\x7f",
	"llllllllllllllllllllllllllllllllllllllllllllllllllllllllllllllll",
	/* Where one mount hides another nobody can tell what that means. */
	"a (deleted)",
};

static size_t put_name(struct worker *w, char *to)
{
	uint32_t n = sizeof(names) / sizeof(names[0]) - !!(w->may & MAY_SPACES);

	switch (pick(w, 24)) {
	case 0:
		return (size_t)sprintf(to, "..");
	case 1:
		return (size_t)sprintf(to, ".");
	case 2: /* the longest, and one more */
		n = 255 + pick(w, 2) * rare(w, 4);
		memset(to, 'n', n);
		return n;
	}
	return (size_t)sprintf(to, "%s", names[pick(w, rare(w, 3) ? n : 12)]);
}

static size_t put_names(struct worker *w, char *to)
{
	uint32_t n = rare(w, 3) ? 1 + pick(w, 4) : 1;
	size_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (i)
			at += (size_t)sprintf(to + at, "%s",
					      rare(w, 8) ? "//" : "/");
		at += put_name(w, to + at);
	}
	if (rare(w, 16))
		to[at++] = '/';
	return at;
}

/* Deeper than a path can say, or than it can say at once. */
static size_t put_deep(struct worker *w, char *to)
{
	size_t n = pick(w, 3) ? 1000 + pick(w, 2000) : 4090 + pick(w, 12);
	size_t at = 0;

	while (at < n)
		at += (size_t)sprintf(to + at, rare(w, 9) ? "dir/../" : "./");
	return at + put_names(w, to + at);
}

static long bad_pointer(struct worker *w)
{
	static const long bad[] = {0, 1, 0x1000, -4096};

	return bad[pick(w, 4)];
}

const char *pick_path(struct worker *w, int i)
{
	char *to = w->text[i];
	size_t at = 0;

	switch (pick(w, 64)) {
	case 0:
		return (const char *)bad_pointer(w);
	case 1: /* from the root: of the working directory, or anything */
		if (syscall(SYS_getcwd, to, WORK_TEXT / 2) > 0 && *to == '/') {
			at = strlen(to);
			to[at++] = '/';
		} else {
			to[at++] = '/';
		}
		break;
	case 2:
		at = (size_t)sprintf(to, "/../..//");
		break;
	case 3:
		at = (size_t)sprintf(to, "../../../../../../../../");
		break;
	case 4:
		at = (size_t)sprintf(to, "./");
		break;
	case 5:
		*to = '\0';
		return to;
	case 40:
		to[at + put_deep(w, to)] = '\0';
		return to;
	}
	to[at + put_names(w, to + at)] = '\0';
	return to;
}

const char *pick_text(struct worker *w, int i)
{
	char *to = w->text[i];
	size_t n;

	switch (pick(w, 12)) {
	case 0:
		return (const char *)bad_pointer(w);
	case 1:
		*to = '\0';
		return to;
	case 2:
		n = 4080 + pick(w, 40);
		memset(to, 't', n);
		to[n] = '\0';
		return to;
	}
	to[put_names(w, to)] = '\0';
	return to;
}

int pick_dir(struct worker *w)
{
	int fd = w->dirs[pick(w, WORK_FDS)];

	switch (pick(w, 12)) {
	case 0:
		return -1;
	case 1:
		return 9999;
	case 2:
		return w->files[pick(w, WORK_FDS)];
	case 3:
		return w->outside >= 0 ? w->outside : AT_FDCWD;
	}
	return rare(w, 2) || fd < 0 ? AT_FDCWD : fd;
}

void keep(struct worker *w, int *fds, long fd)
{
	int *to = &fds[pick(w, WORK_FDS)];

	if (fd < 0)
		return;
	if (*to >= 0)
		close(*to);
	*to = (int)fd;
}
