/*
 * The agent's copy of a file of credentials: the same JSON with sentinels.
 *
 * Pure. The fields that the policy names are secrets. Of the rest the copy has
 * what stands beside one of them, and the plain values above; objects and lists
 * in which none of them stands are left out, for they may hold secrets of
 * something else, and so are texts that look like one.
 */
#ifndef RUNTIME_LAUNCH_TOKENS_COPY_H
#define RUNTIME_LAUNCH_TOKENS_COPY_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

struct copy_field {
	const char *name;   /* "tokens.access" */
	const char *digits; /* sentinel.h */
	char *secret;	    /* set by copy_make(); the caller wipes it */
};

typedef VEC(struct copy_field) copy_fields;

/*
 * random: sentinel.h.
 *   -EINVAL  not JSON; a field that is missing, or is no text of visible ASCII,
 *            or longer than max bytes. *err names the field and never holds a
 * value.
 */
must_check int copy_make(struct arena *a, struct str json, copy_fields *fields,
			 struct str random, size_t max, struct str *out,
			 struct err *err);
/*
 * The first of these fields that has text in it which is no sentinel: of a
 * login that somebody made inside. NULL: none, or not JSON.
 */
const char *copy_own(struct str json, const copy_fields *fields);

#endif
