/*
 * Sentinels: what the agent holds in the place of a secret.
 *
 * Pure. One has the secret's beginning as far as clients look at that, the
 * word membrane, digits that say which field of which file it stands for, and
 * digits at random up to the secret's length, 8 at least. It is no secret: it
 * is only unlike any other text. The digits of a field are the same in all
 * sessions, since sessions share the agent's home and find each other's copies.
 *
 * What is kept of a secret: of a JWT (RFC 7519) header and claims, which
 * clients read, and which are worth nothing without the signature; else at most
 * 16 bytes of short words with '-' or '_' behind each ("sk-ant-oat01-"), where
 * 24 bytes or more follow.
 */
#ifndef RUNTIME_LAUNCH_TOKENS_SENTINEL_H
#define RUNTIME_LAUNCH_TOKENS_SENTINEL_H

#include "compiler/base/arena.h"
#include "compiler/plan/gate.h"

/* GATE_SENTINEL_DIGITS of them, and a NUL. */
const char *sentinel_digits(struct arena *a, const char *file,
			    const char *field);
/* How many bytes of it are shown. */
size_t sentinel_kept(struct str secret);
/* random: lower-case hexadecimal digits, one at least. */
struct str sentinel_make(struct arena *a, struct str secret, const char *digits,
			 struct str random);
/* Is it one of these digits? */
bool sentinel_is(struct str text, const char *digits);

#endif
