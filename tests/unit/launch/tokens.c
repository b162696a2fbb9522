/* Copies of files of credentials, and what stands in them. */
#include "runtime/launch/tokens/copy.h"
#include "runtime/launch/tokens/sentinel.h"
#include "runtime/launch/tokens/tokens.h"
#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LONG  "Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9Zz9"
#define CLAIM "eyJhbGciOiJSUzI1NiJ9.eyJleHAiOjF9."

static struct arena *a;
static struct err err;

static size_t kept(const char *secret)
{
	return sentinel_kept(str_of(secret));
}

static void what_is_kept(void)
{
	CHECK(kept("sk-ant-oat01-" LONG) == strlen("sk-ant-oat01-"));
	CHECK(kept("github_pat_" LONG) == strlen("github_pat_"));
	CHECK(kept("gho_" LONG) == 4 && kept("rt-1-" LONG) == 5);
	CHECK(kept(LONG) == 0 && kept("-" LONG) == 0 && kept("") == 0);
	CHECK(kept("ab-cd-ef-gh-ij-kl-mn-" LONG) == 15); /* 16 at most */
	CHECK(kept("toolong-" LONG) == 0);
	/* Too short to give anything away. */
	CHECK(kept("s3cret-value-of-the-test") == 0);
	CHECK(kept(CLAIM LONG) == strlen(CLAIM));
	CHECK(kept(CLAIM) == 0 && kept(CLAIM LONG "." LONG) == 0);
	CHECK(kept("eyJ." LONG) == 0 && kept("eyJx.." LONG) == 0);
	CHECK(kept("eyJx.y z." LONG) == 0);
}

static void sentinels(void)
{
	const char *one = sentinel_digits(a, "~/a", "x"),
		   *two = sentinel_digits(a, "~/a", "y");
	struct str s =
		sentinel_make(a, STR("sk-ant-oat01-" LONG), one, STR("0123"));

	CHECK(strlen(one) == GATE_SENTINEL_DIGITS && strcmp(one, two) != 0);
	CHECK(strcmp(one, sentinel_digits(a, "~/a", "x")) == 0);
	CHECK(strcmp(one, sentinel_digits(a, "~/b", "x")) != 0);
	CHECK(s.n == strlen("sk-ant-oat01-" LONG) &&
	      str_starts(s, STR("sk-ant-oat01-" GATE_SENTINEL)) &&
	      str_ends(s, STR("0123")));
	CHECK(sentinel_is(s, one) && !sentinel_is(s, two));
	s = sentinel_make(a, STR("short"), one, STR("ab"));
	CHECK(s.n == strlen(GATE_SENTINEL) + GATE_SENTINEL_DIGITS + 8 &&
	      sentinel_is(s, one) && !sentinel_is(str_slice(s, 1, s.n), one));
}

static copy_fields fields_of(const char *names)
{
	copy_fields list = {0};
	struct str rest = str_of(names), name;

	while (str_field(&rest, ' ', &name)) {
		struct copy_field *f = vec_push(a, &list);

		*f = (struct copy_field){.name = arena_cstr(a, name)};
		f->digits = sentinel_digits(a, "~/f", f->name);
	}
	return list;
}

static int make(const char *json, const char *names, struct str *out)
{
	copy_fields fields = fields_of(names);
	int rc = copy_make(a, str_of(json), &fields, STR("5"), 64, out, &err);

	CHECK(rc == 0 || !strstr(err.text, "Zz9"));
	if (rc == 0)
		CHECK(!copy_own(*out, &fields) &&
		      copy_own(str_of(json), &fields));
	return rc;
}

/* The copy of a JSON, or what is wrong, must have and lack these. */
static void copied(const char *json, const char *names, const char *has,
		   const char *lacks)
{
	struct str out = {0};

	CHECK_MSG(make(json, names, &out) == 0, "%s: %s", json, err.text);
	CHECK_MSG(out.n && strstr(out.p, has), "%s: %s", json, out.p);
	CHECK_MSG(out.n && !strstr(out.p, lacks), "%s: %s", json, out.p);
}

static void refused(const char *json, const char *names, const char *word)
{
	struct str out = {0};

	CHECK_MSG(make(json, names, &out) == -EINVAL, "%s", json);
	CHECK_MSG(strstr(err.text, word) && !out.n, "%s: %s", json, err.text);
}

static void copies(void)
{
	copied("{\"a\":\"secret\",\"n\":1}", "a", ",\"n\":1}", "secret");
	copied("{\n \"a\": \"secret\"\n}\n", "a", "\n\t\"a\":", "secret");
	copied("{\"t\":{\"a\":\"secret\",\"l\":[1]},\"n\":null}", "t.a",
	       "\"l\":[1]},\"n\":null", "secret");
	/* What is not on the way to a field is not ours to show. */
	copied("{\"t\":{\"u\":{\"a\":\"s3\"},\"v\":{\"a\":\"s4\"}},\"w\":[1]}",
	       "t.u.a", "{\"t\":{\"u\":{\"a\":", "\"v\"");
	copied("{\"t\":{\"a\":\"s3\"},\"w\":[\"" LONG "\"]}", "t.a", "{\"t\"",
	       "\"w\"");
	copied("{\"a\":\"s3\",\"b\":\"s4\"}", "a b", "\"b\":\"membrane", "s4");
	copied("{\"a\":\"s3\",\"at\":\"/home/" LONG "\"}", "a", "/home/", "s3");
	/* Words are no secret, however many; a key of a known form is one. */
	copied("{\"a\":\"s3\",\"say\":\"" LONG " it\"}", "a", " it\"", "s3");
	copied("{\"a\":\"s3\",\"at\":\"AKIA"
	       "Z7Q2M4X6W8R3T5Y7\"}",
	       "a", "{\"a\"", "\"at\"");
	refused("", "a", "not an object");
	refused("{\"a\":\"s\"} x", "a", "not an object");
	refused("[\"a\"]", "a", "not an object");
	refused("{\"b\":\"s\"}", "a", "'a'");
	refused("{\"A\":\"s\"}", "a", "'a'");
	refused("{\"a\":{\"b\":\"s\"}}", "a", "'a'");
	refused("{\"a\":\"s\"}", "a.b", "'a.b'");
	refused("{\"a\":\"\"}", "a", "empty");
	refused("{\"a\":\"s t\"}", "a", "no token");
	refused("{\"a\":\"s\\u00e9\"}", "a", "no token");
	refused("{\"a\":\"" LONG LONG "\"}", "a", "longer");
	copied("{\"a\":\"s3\",\"key\":\"" LONG "\",\"n\":1}", "a", ",\"n\":1}",
	       "key");
	copied("{\"t\":{\"a\":\"s3\",\"l\":[{\"k\":\"" LONG "\"},\"" LONG
	       "\",\"x\"]}}",
	       "t.a", "\"l\":[{},\"x\"]", "Zz9");
}

/* --- on disk ---------------------------------------------------------------
 */

static char top[] = "/tmp/membrane-tokens-XXXXXX";

static const char *at(const char *path)
{
	return arena_fmt(a, "%s/%s", top, path).p;
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(at(path), "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

static int place(secrets *out)
{
	struct vectors_credential c[] = {{.n = 2, .file = "~/.app/auth.json"},
					 {.n = 3, .file = "~/.app/auth.json"}};
	struct vectors v = {.credentials = {.v = c, .n = 2}};
	struct tokens_homes homes = {at("user"), at("agent")};

	*vec_push(a, &c[0].fields) = arena_cstr(a, STR("a"));
	*vec_push(a, &c[0].fields) = arena_cstr(a, STR("b"));
	*vec_push(a, &c[1].fields) = arena_cstr(a, STR("a"));
	*out = (secrets){0};
	return tokens_place(a, &v, &homes, out, &err);
}

static void placed(void)
{
	struct stat st;
	secrets s;

	put("user/.app/auth.json", "{\"a\":\"s3\",\"b\":\"s4\"}");
	CHECK_MSG(place(&s) == 0, "%s", err.text);
	CHECK(s.n == 3 && s.v[0].n == 2 && strcmp(s.v[0].value, "s3") == 0);
	CHECK(s.v[2].n == 3 && strcmp(s.v[2].value, "s3") == 0 &&
	      strcmp(s.v[2].digits, s.v[0].digits) == 0);
	CHECK(stat(at("agent/.app/auth.json"), &st) == 0 &&
	      (st.st_mode & 07777) == 0600);
	CHECK(place(&s) == 0); /* over its own */
	put("agent/.app/auth.json", "{\"a\":\"mine\"}");
	CHECK(place(&s) == -EEXIST && strstr(err.text, "'a'"));
	put("agent/.app/auth.json", "not JSON");
	CHECK(place(&s) == 0);
	put("agent/.app/auth.json", "{\"a\":\"\",\"b\":null}");
	CHECK(place(&s) == 0);
}

static void through_links(void)
{
	secrets s;

	CHECK(unlink(at("agent/.app/auth.json")) == 0);
	CHECK(symlink("../../out", at("agent/.app/auth.json")) == 0);
	CHECK(place(&s) < 0 && access(at("out"), F_OK) < 0);
	CHECK(unlink(at("agent/.app/auth.json")) == 0);
	CHECK(rmdir(at("agent/.app")) == 0);
	CHECK(mkdir(at("elsewhere"), 0700) == 0);
	CHECK(symlink("../elsewhere", at("agent/.app")) == 0);
	CHECK(place(&s) == -ENOTDIR);
	CHECK(rmdir(at("elsewhere")) == 0); /* nothing is in it */
	CHECK(unlink(at("agent/.app")) == 0);
	CHECK(unlink(at("user/.app/auth.json")) == 0);
	CHECK(place(&s) == -ENOENT && strstr(err.text, "~/.app/auth.json"));
	CHECK(access(at("agent/.app"), F_OK) < 0);
}

int main(void)
{
	a = arena_new();
	what_is_kept();
	sentinels();
	copies();
	CHECK(mkdtemp(top) && mkdir(at("user"), 0700) == 0 &&
	      mkdir(at("agent"), 0700) == 0 &&
	      mkdir(at("user/.app"), 0700) == 0);
	placed();
	through_links();
	CHECK(system(arena_fmt(a, "rm -r %s", top).p) == 0);
	arena_free(a);
	return check_status();
}
