#include "compiler/base/oauth.h"

#include <strings.h>

static bool begins(struct str s, const char *word)
{
	struct str w = str_of(word);

	return s.n >= w.n && strncasecmp(s.p, word, w.n) == 0;
}

const char *oauth_member(struct str field)
{
	size_t at = field.n;

	while (at > 0 && field.p[at - 1] != '.')
		at--;
	field = str_slice(field, at, field.n);
	if (begins(field, "access"))
		return OAUTH_ACCESS;
	if (begins(field, "refresh"))
		return OAUTH_REFRESH;
	return begins(field, "id_token") || begins(field, "idToken") ||
			       (field.n == 2 && begins(field, "id"))
		       ? OAUTH_ID
		       : NULL;
}
