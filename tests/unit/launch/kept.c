/*
 * What the view says that git left in a session: records in, words out.
 */
#include "runtime/launch/view/kept.h"

#include "compiler/plan/view_hello.h"
#include "tests/check.h"

#include <errno.h>
#include <string.h>

static struct arena *a;
static struct kept *k;
static struct err err;

static int add(const char *json, const char *host)
{
	cJSON *o = cJSON_Parse(json);
	int rc;

	CHECK_MSG(o, "%s", json);
	rc = kept_add(k, o, str_of(host), &err);
	cJSON_Delete(o);
	return rc;
}

static void add_config(const char *path, const char *text, const char *host)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "path", path);
	cJSON_AddStringToObject(o, "what", VIEW_SAYS_CONFIG);
	cJSON_AddStringToObject(o, "text", text);
	CHECK(kept_config(o) && strcmp(kept_config(o), path) == 0);
	CHECK(kept_add(k, o, str_of(host), &err) == 0);
	cJSON_Delete(o);
}

static const char *printed(void)
{
	struct buf b;

	buf_init(&b, a);
	kept_print(k, "S", &b);
	return arena_cstr(a, buf_str(&b));
}

#define CONFIG                                                                 \
	"membrane: git's configuration was changed in this session alone; the workspace has it as it was\n"
#define TAKE                                                                   \
	"  what of it you want, set yourself: git config NAME VALUE (some settings are commands that git runs)\n"
#define CORE "[core]\n\tbare = false\n"
#define OLD  "[branch \"a]\\\"b\"]\n\tremote = o\n"

static const struct {
	const char *host, *now, *want;
} configs[] = {
	{CORE, CORE, ""},
	{CORE, "# x\n[core] bare = false\n", ""},
	{CORE, CORE "[remote \"o\"]\n\turl = u\n\tfetch = f\n",
	 CONFIG "  + .git/config  [remote \"o\"] url = u\n"
		"  + .git/config  [remote \"o\"] fetch = f\n" TAKE},
	{CORE OLD, CORE,
	 CONFIG "  - .git/config  [branch \"a]\\\"b\"] remote = o\n" TAKE},
	/* twice is more than once; of another section is another */
	{"[a]\nx=1\n", "[a]\nx=1\nx=1\n[b]\nx=1\n",
	 CONFIG "  + .git/config  [a] x=1\n  + .git/config  [b] x=1\n" TAKE},
	{"[a]\nx=1\nx=1\nx=1\n", "[a]\nx=1\n",
	 CONFIG "  - .git/config  [a] x=1\n  - .git/config  [a] x=1\n" TAKE},
	{"", "[a]\nx = \xc3\xb6\033[2J\n",
	 CONFIG "  + .git/config  [a] x = \\xc3\\xb6\\x1b[2J\n" TAKE},
	{"", "[a\nx\n",
	 CONFIG "  + .git/config  [a\n  + .git/config  x\n" TAKE},
};

static void check_configs(void)
{
	for (size_t i = 0; i < ARRAY_LEN(configs); i++) {
		k = kept_new(a);
		add_config(".git/config", configs[i].now, configs[i].host);
		CHECK_MSG(strcmp(printed(), configs[i].want) == 0, "%zu: %s", i,
			  printed());
	}
}

static void check_bounds(void)
{
	struct buf many;

	buf_init(&many, a);
	for (unsigned i = 0; i < KEPT_LINES_MAX + 3; i++)
		buf_addf(&many, "x = %u\n", i);
	k = kept_new(a);
	add_config("a/.git/config", arena_cstr(a, buf_str(&many)), "");
	CHECK_MSG(strstr(printed(), "x = 19\n  and 3 more: \"kept\" in S\n"),
		  "%s", printed());
	/* no text, or more texts than are held */
	k = kept_new(a);
	CHECK(add("{\"path\":\"c\",\"what\":\"config\"}", "") == 0);
	for (unsigned i = 0; i <= KEPT_TEXTS_MAX; i++)
		add_config("d", "", "");
	CHECK_MSG(strcmp(printed(),
			 CONFIG "  + c  too long, or no text\n"
				"  + d  too long, or no text\n" TAKE) == 0,
		  "%s", printed());
	k = kept_new(a);
	for (unsigned i = 0; i < KEPT_ENTRIES_MAX; i++)
		CHECK(add("{\"path\":\"c\",\"what\":\"file\"}", "") == 0);
	CHECK(add("{\"path\":\"c\",\"what\":\"file\"}", "") == -EPROTO);
}

static void check_files(void)
{
	k = kept_new(a);
	CHECK(printed()[0] == '\0');
	CHECK(add("{\"path\":\".e\\u001bnv\",\"what\":\"file\"}", "") == 0);
	CHECK_MSG(
		strcmp(printed(),
		       "membrane: git wrote or removed 1 hidden file in this session alone; the workspace has it as it was: .e\\x1bnv\n") ==
			0,
		"%s", printed());
	for (int i = 0; i < 6; i++)
		CHECK(add("{\"path\":\"k/x\",\"what\":\"removed\"}", "") == 0);
	CHECK_MSG(
		strstr(printed(),
		       "7 hidden files in this session alone; the workspace has them as they were: .e\\x1bnv, k/x, k/x, k/x, k/x and 2 more: \"kept\" in S\n"),
		"%s", printed());
}

static void check_bad(void)
{
	static const char *const bad[] = {
		"{}",
		"{\"path\":\"a\"}",
		"{\"what\":\"file\"}",
		"{\"path\":\"\",\"what\":\"file\"}",
		"{\"path\":\"a\",\"what\":\"party\"}",
		"{\"path\":\"a\",\"what\":\"config\",\"text\":1}",
		"{\"path\":\"/a\",\"what\":\"file\"}",
		"{\"path\":\"a/\",\"what\":\"file\"}",
		"{\"path\":\"a/../b\",\"what\":\"file\"}",
		"{\"path\":\".\",\"what\":\"file\"}",
		"{\"path\":\"a//b\",\"what\":\"file\"}",
	};
	cJSON *o = cJSON_Parse("{\"path\":\"../x\",\"what\":\"config\"}");

	k = kept_new(a);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		CHECK_MSG(add(bad[i], "") == -EPROTO, "%s", bad[i]);
	/* nothing outside the workspace is read for it */
	CHECK(!kept_config(o));
	cJSON_Delete(o);
}

static void check_json(void)
{
	char *text;
	cJSON *list;

	k = kept_new(a);
	add_config(".git/config", "[a]\n", "");
	CHECK(add("{\"path\":\"b\",\"what\":\"removed\"}", "") == 0);
	list = kept_json(k);
	text = cJSON_PrintUnformatted(list);
	CHECK_MSG(strcmp(text, "[{\"path\":\".git/config\",\"what\":\"config\","
			       "\"text\":\"[a]\\n\"},"
			       "{\"path\":\"b\",\"what\":\"removed\"}]") == 0,
		  "%s", text);
	cJSON_free(text);
	cJSON_Delete(list);
}

int main(void)
{
	a = arena_new();
	check_configs();
	check_bounds();
	check_files();
	check_bad();
	check_json();
	arena_free(a);
	return check_status();
}
