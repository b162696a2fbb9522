/*
 * The keys of the policy as grammar/schema.def has them, for what describes
 * them: the JSON Schema, the manual page. The binder's own table is in bind.c.
 */
#ifndef COMPILER_FRONT_BIND_BIND_KEYS_H
#define COMPILER_FRONT_BIND_BIND_KEYS_H

#include "compiler/front/bind/bind_types.h"

enum {
	BIND_KEY_MUST = 1,   /* has to be there */
	BIND_KEY_GLOBAL = 2, /* in the user's own file alone */
	BIND_KEY_ONE = 4,    /* it or another key of its setting has to be */
};

struct bind_key {
	enum bind_map map;
	const char *name;
	enum bind_type type;
	const char *setting; /* keys of one setting exclude each other */
	unsigned flags;
	const char *about;
};

extern const struct bind_key bind_keys[];
extern const size_t bind_keys_n;

/* Each of them in turn. */
#define bind_each_key(k)                                                       \
	for (const struct bind_key *k = bind_keys;                             \
	     k < bind_keys + bind_keys_n; k++)

#endif
