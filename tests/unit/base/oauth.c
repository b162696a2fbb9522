/* Which token a field holds. */
#include "compiler/base/oauth.h"
#include "tests/check.h"

#include <string.h>

static bool is(const char *field, const char *member)
{
	const char *got = oauth_member(str_of(field));

	return member ? got && strcmp(got, member) == 0 : !got;
}

int main(void)
{
	CHECK(is("claudeAiOauth.accessToken", OAUTH_ACCESS));
	CHECK(is("tokens.access_token", OAUTH_ACCESS) &&
	      is("access", OAUTH_ACCESS) && is("Access", OAUTH_ACCESS));
	CHECK(is("a.b.refresh", OAUTH_REFRESH) &&
	      is("refreshToken", OAUTH_REFRESH));
	CHECK(is("id_token", OAUTH_ID) && is("idToken", OAUTH_ID) &&
	      is("x.id", OAUTH_ID));
	CHECK(is("access.key", NULL) && is("identity", NULL) && is("", NULL) &&
	      is("x.", NULL) && is("acces", NULL));
	return check_status();
}
