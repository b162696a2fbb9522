/*
 * OAuth 2.0, as far as names go: which token a field of a file of credentials
 * holds. RFC 6749, section 5.1, and OpenID Connect have the answer's members.
 */
#ifndef COMPILER_BASE_OAUTH_H
#define COMPILER_BASE_OAUTH_H

#include "compiler/base/str.h"

#define OAUTH_ACCESS  "access_token"
#define OAUTH_REFRESH "refresh_token"
#define OAUTH_ID      "id_token"
#define OAUTH_EXPIRES "expires_in" /* seconds */

/*
 * The member of an answer that a field is renewed by, told by how its last name
 * begins, in letters of any case: access, refresh, id. NULL: none.
 */
const char *oauth_member(struct str field);

#endif
