/*
 * Letters and digits of ASCII, whatever the locale says.
 */
#ifndef COMPILER_FRONT_ASCII_H
#define COMPILER_FRONT_ASCII_H

#include "compiler/base/arena.h"

bool ascii_is_digit(char c);
bool ascii_is_alnum(char c);
/* A token of RFC 9110, section 5.6.2: a method, the name of a header. */
bool ascii_is_token(struct str s);
/* Copies in the arena, with a NUL behind; other bytes stay as they are. */
struct str ascii_lower(struct arena *a, struct str s);
struct str ascii_upper(struct arena *a, struct str s);

#endif
