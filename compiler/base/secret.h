/*
 * Secrets in a text: so that nothing we print carries one away.
 *
 * What is known by its form: tokens with the prefixes that their issuers gave
 * them, private keys, the value behind NAME= where the name says so (TOKEN,
 * PASSWORD, …) or where it looks drawn at random, a password in a URL. A
 * variable ($TOKEN) is no secret, nor is a path. What has none of these forms
 * is not found.
 */
#ifndef COMPILER_BASE_SECRET_H
#define COMPILER_BASE_SECRET_H

#include "compiler/base/arena.h"

struct secret {
	size_t beg, end;  /* bytes that are not to be shown */
	const char *what; /* "a token of GitHub" */
};

/* The next one that begins at or after from; false when there is none. */
bool secret_next(struct str s, size_t from, struct secret *out);
/* s with a '*' for each byte of a secret; s itself when it holds none. */
struct str secret_hidden(struct arena *a, struct str s);

#endif
