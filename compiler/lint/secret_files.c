#include "compiler/lint/secret_files.h"

#include "compiler/base/buf.h"
#include "compiler/base/secret.h"

#include <stdlib.h>
#include <string.h>

static const struct {
	struct str pattern;
	struct secret_file file;
} table[] = {
#define FILE(pattern, check, needles, what)                                    \
	{STR_INIT(pattern), {needles, what, SECRET_FILE_##check}},
#include "compiler/lint/secret_files.def"
#undef FILE
};

struct gitignore *secret_files_new(struct arena *a)
{
	struct gitignore *g = gitignore_new(a);
	struct buf line;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		/* One with a '/' is meant at any depth, too. */
		bool deep =
			str_find(table[i].pattern, '/', 0) < table[i].pattern.n;

		buf_init(&line, a);
		buf_adds(&line, deep ? "**/" : "");
		buf_add(&line, table[i].pattern);
		if (gitignore_add(g, buf_str(&line), NULL) != GITIGNORE_OK)
			abort();
	}
	return g;
}

const struct secret_file *secret_files_row(const struct gitignore *g,
					   struct str path)
{
	uint32_t row;

	if (gitignore_match(g, path, false, &row) != GITIGNORE_MATCH ||
	    table[row].file.check == SECRET_FILE_NEVER)
		return NULL;
	return &table[row].file;
}

static bool has_needle(struct str list, struct str text)
{
	struct str one;

	while (str_field(&list, '|', &one))
		if (text.n && memmem(text.p, text.n, one.p, one.n))
			return true;
	return false;
}

bool secret_files_holds(const struct secret_file *row, struct str beginning)
{
	struct secret found;

	switch (row->check) {
	case SECRET_FILE_ANY:
		return beginning.n > 0;
	case SECRET_FILE_TEXT:
		return has_needle(str_of(row->needles), beginning);
	case SECRET_FILE_SECRET:
		return secret_next(beginning, 0, &found);
	case SECRET_FILE_NEVER:
		return false;
	}
	abort();
}
