#include "compiler/base/reason.h"

static const char *const names[] = {
#define REASON(name, text, about) [REASON_##name] = text,
#include "compiler/base/reason.def"
#undef REASON
};

static const char *const abouts[] = {
#define REASON(name, text, about) [REASON_##name] = about,
#include "compiler/base/reason.def"
#undef REASON
};

const char *reason_name(enum reason r)
{
	return names[r];
}

const char *reason_about(enum reason r)
{
	return abouts[r];
}

bool reason_parse(struct str name, enum reason *out)
{
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(name, names[i])) {
			*out = (enum reason)i;
			return true;
		}
	return false;
}
