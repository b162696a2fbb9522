#include "compiler/front/bind/bind_keys.h"

/* The words that the table has for its flags. */
#define MUST   BIND_KEY_MUST
#define GLOBAL BIND_KEY_GLOBAL
#define ONE    BIND_KEY_ONE

const struct bind_key bind_keys[] = {
#define KEY(map, key, type, field, setting, flags, doc)                        \
	{BIND_MAP_##map, key, BIND_TYPE_##type, setting, flags, doc},
#include "grammar/schema.def"
};

const size_t bind_keys_n = ARRAY_LEN(bind_keys);
