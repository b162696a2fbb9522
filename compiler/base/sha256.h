/* SHA-256 (FIPS 180-4), by nettle. */
#ifndef COMPILER_BASE_SHA256_H
#define COMPILER_BASE_SHA256_H

#include "compiler/base/str.h"

#include <stdbool.h>

#define SHA256_HEX_MAX 65

/* Lower-case hex and a NUL. */
const char *sha256_hex(struct str data, char out[SHA256_HEX_MAX]);
#define SHA256_BASE64_MAX 45

/* RFC 4648, section 4, and a NUL. */
const char *sha256_base64(struct str data, char out[SHA256_BASE64_MAX]);
/* Could it be one, spelled so? */
bool sha256_is_hex(struct str s);

#endif
