/* trust.json: what is kept, what is refused, and many writers at once. */
#include "compiler/cli/trust/trust_store.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/cli/trust/contribution.h"
#include "tests/check.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define WRITERS 8
#define EACH	8

static struct arena *a;
static char state[] = "/tmp/membrane-trust-XXXXXX";

static struct str digest_of(unsigned n)
{
	return arena_fmt(a, "%064x", n);
}

static int add(const char *workspace, unsigned n, const char *text)
{
	ir_texts adds = {0};
	struct err err;

	if (text)
		*vec_push(a, &adds) = (struct ir_text){.s = str_of(text)};
	return trust_store_add(a, state, str_of(workspace), digest_of(n), &adds,
			       &(ir_texts){0}, &err);
}

static bool has(const char *workspace, unsigned n)
{
	struct trust_store s;
	struct err err;

	return trust_store_read(a, state, &s, &err) == 0 &&
	       trust_store_find(&s, str_of(workspace), digest_of(n));
}

static void put(const char *text, unsigned mode)
{
	const char *path = trust_store_path(a, state);
	struct err err;

	unlink(path);
	CHECK(fileio_write(AT_FDCWD, path, str_of(text), 0600, &err) == 0);
	CHECK(chmod(path, mode) == 0);
}

static struct str content(void)
{
	struct str s = {0};
	struct err err;

	if (fileio_read(a, AT_FDCWD, trust_store_path(a, state), 1 << 24, &s,
			&err) < 0)
		return STR("(none)");
	return s;
}

static void check_entries(void)
{
	struct trust_store s;
	struct err err;
	uint32_t n = 99;

	CHECK(trust_store_read(a, state, &s, &err) == 0 && s.entries.n == 0);
	CHECK(add("/w", 1, "allow \"a\\b\" \xc3\xa9\n") == 0);
	CHECK(add("/w", 2, NULL) == 0);
	CHECK(add("/w/x", 1, NULL) == 0);
	CHECK(has("/w", 1) && has("/w", 2) && has("/w/x", 1));
	CHECK(!has("/w", 3) && !has("/w/x", 2) && !has("/", 1) &&
	      !has("/w/", 1));
	CHECK(trust_store_read(a, state, &s, &err) == 0 && s.entries.n == 3);
	CHECK(str_is(s.entries.v[0].adds.v[0].s, "allow \"a\\b\" \xc3\xa9\n"));
	CHECK(add("/w", 1, NULL) == 0); /* once, and the newest */
	CHECK(trust_store_read(a, state, &s, &err) == 0 && s.entries.n == 3);
	CHECK(str_eq(s.entries.v[2].digest, digest_of(1)));
	CHECK(trust_store_revoke(a, state, STR("/w"), &n, &err) == 0 && n == 2);
	CHECK(!has("/w", 1) && !has("/w", 2) && has("/w/x", 1));
	CHECK(trust_store_revoke(a, state, STR("/w"), &n, &err) == 0 && n == 0);
	CHECK(add("/\xff", 1, NULL) == -EILSEQ);
}

/* Refused, and left as it is by whoever would write. */
static void refuses(int code, const char *text)
{
	struct trust_store s;
	struct err err;
	uint32_t n;

	put(text, 0600);
	CHECK_MSG(trust_store_read(a, state, &s, &err) == code, "%s", text);
	CHECK(s.entries.n == 0);
	CHECK(add("/w", 1, NULL) == code);
	CHECK(trust_store_revoke(a, state, STR("/w"), &n, &err) == code);
	CHECK_MSG(str_is(content(), text), "%s", text);
}

#define ENTRY(workspace, digest, rest)                                         \
	"{\"version\": 2, \"older\": [], \"approved\": [{\"workspace\": "      \
	"\"" workspace "\", \"digest\": \"" digest "\", \"when\": \"x\"" rest  \
	", \"cuts\": []}]}"
/* As they were before cuts. */
#define ENTRY_1(workspace, digest, rest)                                       \
	"{\"version\": 1, \"approved\": [{\"workspace\": \"" workspace         \
	"\", \"digest\": \"" digest "\", \"when\": \"x\"" rest "}]}"
#define HEX  "00000000000000000000000000000000000000000000000000000000000000aF"
#define GOOD "00000000000000000000000000000000000000000000000000000000000000af"

static void check_malformed(void)
{
	static const char *const texts[] = {
		"",
		"{",
		"[]",
		"null",
		"{}",
		"{\"version\": 1}",
		"{\"version\": 2, \"approved\": []}",
		"{\"version\": 2, \"older\": []}",
		"{\"version\": 2, \"approved\": [], \"older\": [1]}",
		"{\"version\": 2, \"approved\": [], \"older\": "
		"[{\"workspace\": \"w\", \"when\": \"x\"}]}",
		"{\"version\": 3, \"approved\": [], \"older\": []}",
		ENTRY_1("/w", GOOD,
			", \"adds\": [], \"more\": 0, \"cuts\": []"),
		ENTRY_1("/w", "00", ", \"adds\": [], \"more\": 0"),
		"{\"version\": 1.5, \"approved\": []}",
		"{\"version\": \"1\", \"approved\": []}",
		"{\"version\": 1, \"approved\": {}}",
		"{\"version\": 1, \"approved\": [], \"more\": 1}",
		"{\"version\": 1, \"version\": 1, \"approved\": []}",
		"{\"version\": 1, \"approved\": []} x",
		"{\"version\": 1, \"approved\": [1]}",
		ENTRY("/w", HEX, ", \"adds\": [], \"more\": 0"),
		ENTRY("/w", "00", ", \"adds\": [], \"more\": 0"),
		ENTRY("w", GOOD, ", \"adds\": [], \"more\": 0"),
		ENTRY("/w", GOOD, ", \"adds\": [1], \"more\": 0"),
		ENTRY("/w", GOOD, ", \"adds\": [], \"more\": -1"),
		ENTRY("/w", GOOD, ", \"adds\": []"),
		ENTRY("/w", GOOD, ", \"adds\": [], \"more\": 0, \"x\": 0"),
		ENTRY("/w", GOOD, ", \"adds\": [], \"more\": 0, \"more\": 0"),
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		refuses(-EBADMSG, texts[i]);
	put(ENTRY("/w", GOOD, ", \"adds\": [], \"more\": 0"), 0600);
	CHECK(has("/w", 0xaf));
}

static void check_mode(void)
{
	const char *path = trust_store_path(a, state);
	struct trust_store s;
	struct err err;

	put(ENTRY("/w", GOOD, ", \"adds\": [], \"more\": 0"), 0644);
	CHECK(has("/w", 0xaf));
	CHECK(chmod(path, 0664) == 0 && !has("/w", 0xaf));
	CHECK(trust_store_read(a, state, &s, &err) == -EPERM);
	CHECK(add("/w", 1, NULL) == -EPERM);
	CHECK(chmod(path, 0602) == 0 && !has("/w", 0xaf));
	CHECK(chmod(path, 0600) == 0 && has("/w", 0xaf));
	CHECK(chmod(state, 0770) == 0 && !has("/w", 0xaf));
	CHECK(add("/w", 1, NULL) == -EPERM);
	CHECK(chmod(state, 0700) == 0 && has("/w", 0xaf));
	if (geteuid() == 0) {
		CHECK(chown(path, 1, 0) == 0 && !has("/w", 0xaf));
		CHECK(add("/w", 1, NULL) == -EPERM);
		/* root, in a folder of somebody's: that one's word counts */
		CHECK(chown(state, 1, 0) == 0 && has("/w", 0xaf));
		CHECK(chown(path, 2, 0) == 0 && !has("/w", 0xaf));
		CHECK(chown(state, 0, 0) == 0);
		CHECK(chown(path, 0, 0) == 0 && has("/w", 0xaf));
	}
	CHECK(rename(path, arena_fmt(a, "%s/other", state).p) == 0 &&
	      symlink("other", path) == 0 && !has("/w", 0xaf));
	CHECK(add("/w", 1, NULL) == -EPERM);
	unlink(path);
	CHECK(mkfifo(path, 0600) == 0 && !has("/w", 0xaf));
	unlink(path);
	CHECK(mkdir(path, 0700) == 0 && !has("/w", 0xaf));
	CHECK(rmdir(path) == 0);
}

/* No approval of any is lost, and no reader sees half a file. */
static void check_writers(void)
{
	unsigned lost = 0;
	int status;

	for (int w = 0; w < WRITERS; w++)
		if (fork() == 0) {
			struct trust_store s;
			struct err err;
			int bad = 0;

			for (unsigned i = 0; i < EACH; i++) {
				bad |= add(arena_fmt(a, "/%d", w).p, i, "x");
				bad |= trust_store_read(a, state, &s, &err);
			}
			_exit(bad != 0);
		}
	for (int w = 0; w < WRITERS; w++) {
		CHECK(wait(&status) > 0 && status == 0);
		for (unsigned i = 0; w == WRITERS - 1 && i < EACH * WRITERS;
		     i++)
			lost += !has(arena_fmt(a, "/%u", i / EACH).p, i % EACH);
	}
	CHECK(lost == 0);
}

/* Beyond the bounds the oldest is forgotten, and texts are cut. */
static void check_bounds(void)
{
	const struct trust_entry *last;
	struct trust_store s;
	struct err err;
	ir_texts adds = {0};
	struct buf b;

	unlink(trust_store_path(a, state));
	buf_init(&b, a);
	for (int i = 0; i < 4096; i++)
		buf_addc(&b, '"');
	for (unsigned i = 0; i < LIMIT_TRUST_ADDS + 5; i++)
		*vec_push(a, &adds) = (struct ir_text){.s = buf_str(&b)};
	for (unsigned i = 0; i < LIMIT_TRUST_ENTRIES + 2; i++)
		check_failed += add("/w", i, "x") < 0;
	CHECK(trust_store_add(a, state, STR("/w"),
			      digest_of(LIMIT_TRUST_ENTRIES + 2), &adds, &adds,
			      &err) == 0);
	CHECK(trust_store_read(a, state, &s, &err) == 0);
	CHECK(s.entries.n == LIMIT_TRUST_ENTRIES);
	CHECK(!has("/w", 2) && has("/w", 3) && has("/w", LIMIT_TRUST_ENTRIES));
	last = &s.entries.v[s.entries.n - 1];
	CHECK(last->adds.n == LIMIT_TRUST_ADDS && last->more == 5);
	CHECK(last->cuts.n == LIMIT_TRUST_ADDS);
	CHECK(last->adds.v[0].s.n < 2 * LIMIT_TRUST_TEXT);
}

/* What counted before counts no longer, and is said until it is renewed. */
static void check_older(void)
{
	const struct trust_entry *older;
	struct trust_store s;
	struct err err;
	uint32_t n;

	put(ENTRY_1("/w", GOOD, ", \"adds\": [\"x\"], \"more\": 0"), 0600);
	CHECK(!has("/w", 0xaf));
	CHECK(trust_store_read(a, state, &s, &err) == 0 && s.entries.n == 0);
	older = trust_store_older(&s, STR("/w"));
	CHECK(older && str_is(older->when, "x"));
	CHECK(!trust_store_older(&s, STR("/v")));
	/* kept where another one is written */
	CHECK(add("/v", 1, NULL) == 0);
	CHECK(trust_store_read(a, state, &s, &err) == 0 && s.entries.n == 1 &&
	      trust_store_older(&s, STR("/w")));
	CHECK(add("/w", 1, NULL) == 0 && has("/w", 1));
	CHECK(trust_store_read(a, state, &s, &err) == 0 &&
	      !trust_store_older(&s, STR("/w")));
	put(ENTRY_1("/w", GOOD, ", \"adds\": [], \"more\": 0"), 0600);
	CHECK(trust_store_revoke(a, state, STR("/w"), &n, &err) == 0 && n == 0);
	CHECK(trust_store_read(a, state, &s, &err) == 0 && s.older.n == 0);
}

static ir_texts texts(const char *x, const char *y)
{
	ir_texts out = {0};

	if (x)
		vec_push(a, &out)->s = str_of(x);
	if (y)
		vec_push(a, &out)->s = str_of(y);
	return out;
}

static bool within(const char *add_1, const char *cut_1, const char *cut_2)
{
	ir_texts adds = texts(add_1, NULL), cuts = texts(cut_1, cut_2);
	struct trust_store s;
	struct err err;

	return trust_store_read(a, state, &s, &err) == 0 &&
	       trust_store_within(a, &s, STR("/w"), &adds, &cuts);
}

/* More that cuts is within what was approved, less is not. */
static void check_within(void)
{
	ir_texts adds = texts("allow a", NULL), cuts = texts("deny b", NULL);
	char digest[SHA256_HEX_MAX];
	struct err err;

	unlink(trust_store_path(a, state));
	contribution_digest(a, &adds, &cuts, digest);
	CHECK(trust_store_add(a, state, STR("/w"), str_of(digest), &adds, &cuts,
			      &err) == 0);
	CHECK(within("allow a", "deny b", NULL));
	CHECK(within("allow a", "deny b", "deny c"));
	CHECK(!within("allow a", NULL, NULL));
	CHECK(!within("allow a", "deny c", NULL));
	CHECK(!within("allow b", "deny b", NULL));
	CHECK(!within(NULL, "deny b", NULL));
	/* texts that do not make the digest are not all there was */
	CHECK(trust_store_add(a, state, STR("/w"), digest_of(7), &adds,
			      &(ir_texts){0}, &err) == 0);
	CHECK(!within("allow a", "deny c", NULL));
}

int main(void)
{
	a = arena_new();
	if (!mkdtemp(state))
		return 1;
	check_entries();
	check_malformed();
	check_mode();
	check_older();
	check_within();
	check_writers();
	check_bounds();
	CHECK(system(arena_fmt(a, "rm -r %s", state).p) == 0);
	arena_free(a);
	return check_status();
}
