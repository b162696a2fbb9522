#include "runtime/launch/workspace/gitindex.h"

#include <string.h>

/* ce_flags of git's cache.h: a sparse checkout has left it out */
#define SKIP_WORKTREE 0x40000000u

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

bool gitindex_entry(struct str *rest, bool seen, struct gitindex_file *out)
{
	struct gitindex_file f = {0};
	struct str mode, stage;
	uint64_t flags = 0;

	if (!str_field(rest, ' ', &mode) || !str_field(rest, ' ', &f.oid) ||
	    !str_field(rest, '\t', &stage) || !str_field(rest, '\0', &f.path) ||
	    !str_u64(stage, 3, &f.stage) || !read_kind(mode, &f.kind) ||
	    f.path.n == 0 || (seen && !read_seen(rest, f.numbers, &flags)))
		return false;
	f.skipped = flags & SKIP_WORKTREE;
	*out = f;
	return true;
}
