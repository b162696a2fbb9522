/*
 * Paths that people would think of first, for a pattern of gitignore.
 */
#include "compiler/algebra/compare/parts.h"

#include "compiler/base/buf.h"

/* What stands for a '*' at i: "id_rsa", ".env.local", "file.pem". */
static const char *filling_for(struct str line, size_t i)
{
	static const struct {
		const char *before, *word;
	} known[] = {{"id_", "rsa"}, {".", "local"}};
	struct str before = str_slice(line, 0, i);

	for (size_t k = 0; k < ARRAY_LEN(known); k++)
		if (str_ends(before, str_of(known[k].before)))
			return known[k].word;
	return "file";
}

static bool is_path(struct str path)
{
	struct str seg;

	if (path.n == 0 || path.p[0] == '/' || path.p[0] == ' ')
		return false;
	while (str_field(&path, '/', &seg))
		if (seg.n == 0 || str_is(seg, ".") || str_is(seg, ".."))
			return false;
	return true;
}

struct str example_path(struct arena *a, struct str line, bool below)
{
	struct buf b;

	buf_init(&b, a);
	if (str_starts(line, STR("!")))
		line = str_slice(line, 1, line.n);
	if (str_starts(line, STR("/")))
		line = str_slice(line, 1, line.n);
	while (str_starts(line, STR("**/")))
		line = str_slice(line, 3, line.n);
	for (size_t i = 0; i < line.n; i++) {
		char c = line.p[i];

		if (c == '\\' && i + 1 < line.n)
			buf_addc(&b, line.p[++i]);
		else if (c == '?')
			buf_addc(&b, 'x');
		else if (c != '*')
			buf_addc(&b, c);
		else if (i == 0 || line.p[i - 1] != '*')
			buf_adds(&b, filling_for(line, i));
	}
	if (str_ends(line, STR("/")))
		buf_adds(&b, "file");
	else if (below)
		buf_adds(&b, "/file");
	return is_path(buf_str(&b)) ? buf_str(&b) : (struct str){0};
}
