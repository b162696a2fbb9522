#include "compiler/base/third_party.h"

#include "compiler/base/name_match.h"

#include <stdlib.h>

#define ANY true
#define WEB false

static const struct third_party table[] = {
#define THIRD_PARTY(dest, kind, ports, methods, path, what, source)            \
	{STR_INIT(dest), THIRD_PARTY_##kind, false, ports,                     \
	 methods,	 STR_INIT(path),     what,  source},
#define SHARED(dest, kind, what, source)                                       \
	{STR_INIT(dest),                                                       \
	 THIRD_PARTY_##kind,                                                   \
	 true,                                                                 \
	 WEB,                                                                  \
	 "*",                                                                  \
	 STR_INIT("/"),                                                        \
	 what,                                                                 \
	 source},
#include "policies/third-party.def"
};

const struct third_party *third_party_at(size_t i)
{
	return i < ARRAY_LEN(table) ? &table[i] : NULL;
}

const char *third_party_kind_name(enum third_party_kind kind)
{
	switch (kind) {
	case THIRD_PARTY_FORGE:
		return "forge";
	case THIRD_PARTY_PASTE:
		return "paste";
	case THIRD_PARTY_FILES:
		return "files";
	case THIRD_PARTY_STORAGE:
		return "storage";
	case THIRD_PARTY_REGISTRY:
		return "registry";
	case THIRD_PARTY_OWN_KEY:
		return "own-key";
	case THIRD_PARTY_MESSAGES:
		return "messages";
	case THIRD_PARTY_TELEMETRY:
		return "telemetry";
	case THIRD_PARTY_TUNNEL:
		return "tunnel";
	case THIRD_PARTY_CATCHER:
		return "catcher";
	case THIRD_PARTY_SHORTENER:
		return "shortener";
	case THIRD_PARTY_PROXY:
		return "proxy";
	case THIRD_PARTY_RESOLVER:
		return "resolver";
	case THIRD_PARTY_HOSTING:
		return "hosting";
	}
	abort();
}

static bool is_about(const struct third_party *row, struct str method,
		     struct str path)
{
	struct str list = str_of(row->methods), one;

	if (!str_starts(path, row->path))
		return false;
	while (str_field(&list, ',', &one))
		if (str_is(one, "*") || str_eq(one, method))
			return true;
	return false;
}

const struct third_party *third_party_of(struct str name, struct str method,
					 struct str path)
{
	const struct third_party *row, *first = NULL;

	for (size_t i = 0; (row = third_party_at(i)); i++) {
		if (!name_matches(row->dest, name))
			continue;
		if (is_about(row, method, path))
			return row;
		first = first ? first : row;
	}
	return first;
}
