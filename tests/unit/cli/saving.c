/* A policy that is written over, and every way in which that can end. */
#include "compiler/cli/workspace/saving.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/json.h"
#include "compiler/base/sha256.h"
#include "tests/check.h"
#include "tests/unit/failing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILE_NAME STR(".membrane.yaml")
#define KILLS	  40

static struct arena *a;
static const char *state, *workspace, *policy, *journal;

static const char before[] = "# mine\nallow:\n  - a.test:443\ndeny: [b.test]\n";
static const char longer[] =
	"# mine\nallow:\n  - a.test:443\n  - other.test:443\ndeny: [b.test]\n";
static const char shorter[] = "# mine\nallow: []\n";

static void put(const char *path, struct str text)
{
	struct err err;

	CHECK(fileio_write(AT_FDCWD, path, text, 0600, &err) == 0);
}

static struct str text_of(const char *path)
{
	struct str s = {0};
	struct err err;

	CHECK(fileio_read(a, AT_FDCWD, path, 1 << 20, &s, &err) == 0);
	return s;
}

static bool exists(const char *path)
{
	return access(path, F_OK) == 0;
}

static int write_it(const char *after, struct err *err)
{
	return saving_write(a, state, workspace, FILE_NAME, str_of(before),
			    str_of(after), err);
}

static int recover(const char **what)
{
	struct err err;

	*what = NULL;
	return saving_recover(a, state, workspace, what, &err);
}

/* As one leaves it that was killed. */
static void put_journal(const char *after)
{
	cJSON *o = json_object();

	json_put_u64(o, "version", 1);
	json_put_str(o, "file", FILE_NAME);
	json_put_cstr(o, "before", before);
	json_put_cstr(o, "after", after);
	put(journal, json_text(a, o));
}

static void whole(void)
{
	const char *what;
	struct stat st;
	struct err err;
	ino_t inode;

	put(policy, str_of(before));
	CHECK(stat(policy, &st) == 0);
	inode = st.st_ino;
	CHECK(write_it(longer, &err) == 0);
	CHECK(str_is(text_of(policy), longer));
	CHECK(stat(policy, &st) == 0 && st.st_ino == inode);
	CHECK(!exists(journal));
	CHECK(recover(&what) == 0 && !what);
	put(policy, str_of(before));
	CHECK(write_it(shorter, &err) == 0);
	CHECK(str_is(text_of(policy), shorter));
	/* Somebody was faster. */
	CHECK(write_it(longer, &err) == -ESTALE);
	CHECK(str_is(text_of(policy), shorter) && !exists(journal));
	CHECK(unlink(policy) == 0 && symlink("/dev/null", policy) == 0);
	CHECK(write_it(longer, &err) == -ELOOP);
	CHECK(unlink(policy) == 0);
	CHECK(write_it(longer, &err) == -ENOENT);
}

static bool comes_back(struct str half)
{
	const char *what;

	put(policy, half);
	return recover(&what) == 0 && what && str_is(text_of(policy), before) &&
	       !exists(journal);
}

/* The end of the longer text first, then its beginning; blocks of zeros. */
static void halves(const char *after)
{
	size_t n = strlen(after), m = strlen(before);
	size_t most = n > m ? n : m, least = n < m ? n : m;
	char half[256];

	for (size_t size = least; size <= most; size += most - least)
		for (size_t k = 1; k < size; k += 7) {
			memset(half, 0, sizeof(half));
			memcpy(half, before, m);
			memcpy(half + least, after + least, n - least);
			if (size > n)
				memcpy(half + n, before + n, m - n);
			memcpy(half, after, k < n ? k : n);
			if (memcmp(half, before, m) == 0 && size == m)
				continue;
			if (memcmp(half, after, n) == 0 && size == n)
				continue;
			put_journal(after);
			CHECK(comes_back((struct str){half, size}));
		}
	memset(half, 0, sizeof(half));
	put_journal(after);
	CHECK(comes_back((struct str){half, least}));
}

static void others(void)
{
	const char *what, *kept = arena_fmt(a, "%s.before", journal).p;
	static const char *const texts[] = {before, longer};

	for (size_t i = 0; i < 2; i++) {
		put_journal(longer);
		put(policy, str_of(texts[i]));
		CHECK(recover(&what) == 0 && !what && !exists(journal));
		CHECK(str_is(text_of(policy), texts[i]));
	}
	/* Killed while it wrote the journal: the file was not touched yet. */
	put(journal, STR("{\"version\":1,\"file\":\".membr"));
	CHECK(recover(&what) == 0 && !what && !exists(journal));
	put_journal(longer);
	put(policy, STR("allow: [mended.test]\n"));
	CHECK(recover(&what) == 0 && what && !exists(journal));
	CHECK(str_is(text_of(policy), "allow: [mended.test]\n"));
	CHECK(str_is(text_of(kept), before));
	CHECK(unlink(kept) == 0 && unlink(policy) == 0);
	put_journal(longer);
	CHECK(recover(&what) == 0 && what && !exists(policy));
	CHECK(str_is(text_of(kept), before));
}

/* Whenever it is killed, what is read next is one text or the other. */
static void kills(void)
{
	const char *what;

	for (int i = 0; i < KILLS; i++) {
		pid_t child;

		put(policy, str_of(before));
		child = fork();
		if (child == 0) {
			struct err err;

			for (;;) {
				if (write_it(longer, &err) < 0)
					_exit(1);
				put(policy, str_of(before));
			}
		}
		usleep((useconds_t)(i * 997 % 40000));
		kill(child, SIGKILL);
		CHECK(waitpid(child, NULL, 0) == child);
		CHECK(recover(&what) == 0 && !exists(journal));
		CHECK(str_is(text_of(policy), before) ||
		      str_is(text_of(policy), longer));
	}
}

/* Nothing was changed, and nothing is left to put back. */
static bool is_untouched(const char *call, unsigned after, int code)
{
	struct err err;
	int rc;

	put(policy, str_of(before));
	fail_call(call, after, code);
	rc = write_it(longer, &err);
	return has_failed() && rc == -code && err.code == -code &&
	       str_is(text_of(policy), before) && !exists(journal);
}

static void failures(void)
{
	const char *what;
	struct err err;

	/* of the journal: the file was not touched */
	CHECK(is_untouched("ftruncate", 0, EIO));
	CHECK(is_untouched("pwrite", 0, ENOSPC));
	CHECK(is_untouched("fsync", 0, EIO));
	/* of what is longer than before: it is taken back */
	CHECK(is_untouched("pwrite", 1, ENOSPC));
	CHECK(is_untouched("fsync", 2, EIO));
	/* in the middle of it: the journal puts back what was there */
	put(policy, str_of(before));
	fail_call("pwrite", 2, EIO);
	CHECK(write_it(longer, &err) == -EIO && has_failed());
	CHECK(exists(journal) && strstr(err.text, policy));
	CHECK(recover(&what) == 0 && what && !exists(journal));
	CHECK(str_is(text_of(policy), before));
	/* a signal is no failure */
	fail_call("pwrite", 1, EINTR);
	CHECK(write_it(longer, &err) == 0 && has_failed());
	CHECK(str_is(text_of(policy), longer));
}

/* It waits for who has the journal, and begins anew where that was removed. */
static void waits(void)
{
	struct err err;

	put(policy, str_of(before));
	fail_call("flock", 0, EWOULDBLOCK);
	CHECK(write_it(longer, &err) == 0 && has_failed());
	CHECK(str_is(text_of(policy), longer));
}

static void news(void)
{
	struct err err;

	CHECK(unlink(policy) == 0);
	CHECK(saving_new(a, workspace, FILE_NAME, STR("one"), &err) == 0);
	CHECK(str_is(text_of(policy), "one"));
	CHECK(saving_new(a, workspace, FILE_NAME, STR("two"), &err) == -EEXIST);
	CHECK(strcmp(err.text, ".membrane.yaml was made meanwhile") == 0);
	CHECK(str_is(text_of(policy), "one"));
	CHECK(saving_new(a, "/nonexistent", FILE_NAME, STR(""), &err) ==
	      -ENOENT);
	CHECK(unlink(policy) == 0 && mkfifo(policy, 0600) == 0);
	CHECK(write_it(longer, &err) == -EINVAL);
	CHECK(strstr(err.text, "not a file") && !exists(journal));
	CHECK(unlink(policy) == 0);
}

/* Nobody can say what was being saved: that is told, and nothing is done. */
static void broken(void)
{
	static const char *const odd[] = {"[]", "{\"file\":\"x\"}",
					  "{\"file\":\"x\",\"before\":\"\"}"};
	const char *what;
	struct err err;

	put(policy, str_of(longer));
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		put(journal, str_of(odd[i]));
		CHECK(recover(&what) == 0 && !what && !exists(journal));
		CHECK(str_is(text_of(policy), longer));
	}
	/* a mixture of neither */
	put_journal(longer);
	put(policy, STR("# mine\nallow:\n  - a.test:443\ndeny: [c.test]\n"));
	CHECK(recover(&what) == 0 && what && strstr(what, "somebody changed"));
	CHECK(mkdir(journal, 0700) == 0);
	CHECK(recover(&what) < 0 && rmdir(journal) == 0);
	put(policy, str_of(before));
	CHECK(fileio_remove_tree(AT_FDCWD, state, &err) == 0);
	put(state, STR("a file"));
	CHECK(write_it(longer, &err) == -ENOTDIR);
	CHECK(str_is(text_of(policy), before));
}

int main(void)
{
	char dir[] = "/tmp/membrane-saving.XXXXXX", hex[SHA256_HEX_MAX];
	struct err err;

	a = arena_new();
	CHECK(mkdtemp(dir));
	state = arena_fmt(a, "%s/state", dir).p;
	workspace = arena_fmt(a, "%s/w", dir).p;
	policy = arena_fmt(a, "%s/.membrane.yaml", workspace).p;
	journal = arena_fmt(a, "%s/saving/%.16s.json", state,
			    sha256_hex(str_of(workspace), hex))
			  .p;
	CHECK(mkdir(workspace, 0700) == 0);
	whole();
	halves(longer);
	halves(shorter);
	others();
	kills();
	failures();
	waits();
	news();
	broken();
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
