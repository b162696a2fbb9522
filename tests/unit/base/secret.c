/* What is taken for a secret, and what of it is shown. */
#include "compiler/base/buf.h"
#include "compiler/base/secret.h"
#include "tests/check.h"

#include <string.h>

static struct arena *a;

static void hidden(const char *text, const char *shown)
{
	struct str s = secret_hidden(a, str_of(text));

	CHECK_MSG(str_is(s, shown), "%s is shown as %.*s", text, STR_ARG(s));
	CHECK(s.n == strlen(text)); /* or carets would be off */
}

static void open_(const char *text)
{
	hidden(text, text);
}

/* Nothing but beginnings: without a bound this would not come to an end. */
static void many(const char *text)
{
	struct buf b;

	buf_init(&b, a);
	while (b.n < 1u << 18)
		buf_adds(&b, text);
	CHECK(secret_hidden(a, buf_str(&b)).n == b.n);
}

/* Put together here, or every scanner of repositories would report them. */
#define LETTERS20 "abcdefghij0123456789"
#define STARS20	  "********************"

int main(void)
{
	a = arena_new();
	hidden("ghp_" LETTERS20, "ghp_" STARS20);
	hidden("x ghp_" LETTERS20 " y", "x ghp_" STARS20 " y");
	hidden("--env=GH=github_pat_" LETTERS20,
	       "--env=GH=github_pat_" STARS20);
	hidden("AKIA0123456789ABCDEF", "AKIA****************");
	hidden("xoxb-0123456789", "xoxb-**********");
	hidden("sk-" LETTERS20, "sk-" STARS20);
	hidden("eyJ" LETTERS20 "." LETTERS20, "eyJ" STARS20 "*" STARS20);
	open_("task-" LETTERS20);
	open_("sk-abcdefghijklmnopqrstuvwxyz");
	open_("ghp_short");
	open_("AKIA");

	hidden("API_TOKEN=x1", "API_TOKEN=**");
	hidden("db-password=hunter2", "db-password=*******");
	hidden("[\"TOKEN=two words\"]", "[\"TOKEN=*********\"]");
	hidden("[-e, PGPASSWORD=hunter2]", "[-e, PGPASSWORD=*******]");
	hidden("authToken='a b'", "authToken='***'");
	hidden("SECRET_KEY_BASE=a=b", "SECRET_KEY_BASE=***");
	hidden("TOKEN=ghp_" LETTERS20 "-", "TOKEN=ghp_" STARS20 "*");
	hidden("TOKEN=$$money", "TOKEN=*******");
	hidden("A_TOKEN=1x B_TOKEN=2y", "A_TOKEN=** B_TOKEN=**");
	open_("GITHUB_TOKEN=$GITHUB_TOKEN");
	open_("GITHUB_TOKEN=${GITHUB_TOKEN}");
	open_("GITHUB_TOKEN=");
	open_("GITHUB_TOKEN");
	open_("USE_TOKEN=true");
	open_("MAX_TOKENS=4096");
	open_("TOKEN_FILE=/run/token");
	open_("DB_PASSWORD=/run/secrets/db");
	open_("PWD=somewhere");
	open_("=x");

	hidden("ID=Abcdefghijklmnopqrstuvwxyz0123456",
	       "ID=*********************************");
	open_("COMMIT=da39a3ee5e6b4b0d3255bfef95601890afd80709");
	open_("sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca49");

	hidden("http://me:pass@proxy:8080", "http://me:****@proxy:8080");
	open_("http://me@proxy:8080");
	open_("http://proxy:8080/a@b");
	open_("http://me:$PASS@proxy");

	hidden("-----BEGIN RSA PRIVATE KEY-----MII", "-----BEGIN RSA PRIVATE "
						     "KEY-----***");
	open_("-----BEGIN CERTIFICATE-----MII");
	open_("");
	many("TOKEN=$TOKEN=");
	many("sk-");
	many("a=");
	many("://a:");
	many("-----BEGIN PRIVATE KEY-----");
	arena_free(a);
	return check_status();
}
