#include "compiler/base/lint.h"

#include "compiler/base/near.h"

/* What each diagnostic is about, by name: the table below takes a few. */
#define DIAG(num, name, text)                                                  \
	static const char about_##name[] __attribute__((unused)) = text;
#include "compiler/base/diag.def"
#undef DIAG

static const struct lint table[] = {
#define LINT(id, name, remedy) {DIAG_##id, name, about_##id, remedy},
#include "compiler/base/lint.def"
#undef LINT
};

const struct lint *lint_at(size_t i)
{
	return i < ARRAY_LEN(table) ? &table[i] : NULL;
}

const struct lint *lint_of(enum diag_id id)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].id == id)
			return &table[i];
	return NULL;
}

const struct lint *lint_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (str_is(name, table[i].name))
			return &table[i];
	return NULL;
}

const struct lint *lint_near(struct str name)
{
	struct near near = {.word = name, .below = name.n < 6 ? 2 : 4};
	const struct lint *found = NULL;

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (near_offer(&near, table[i].name))
			found = &table[i];
	return found;
}
