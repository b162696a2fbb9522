/*
 * What git itself says: generated patterns over a generated tree, judged by
 * `git check-ignore` and by ours, which must name the same deciding line.
 */
#include "compiler/base/gitignore.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "tests/check.h"
#include "tests/rng.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SETS	 500
#define PATTERNS 20
#define ENTRIES	 400

static const char *const names[] = {
	"a",	"b", "ab",  "ba", "abc", "a.c", "b.c", ".c",   "a b",
	"*",	"[", "a]",  "\\", "!a",	 "#a",	"-",   "a-",   "caf\xc3\xa9",
	"\xff", "1", "foo", "a ", "a**", "...", "A",   "x.c~",
};

/* Pieces of patterns; those without a wildcard come often enough to hit. */
static const char *const pieces[] = {
	"a",	 "b",	  "c",		 "a",	    "b",     "ab",    ".c",
	"foo",	 "*",	  "*",		 "**",	    "/",     "/",     "/",
	"/**/",	 "**/",	  "/**",	 "?",	    "[ab]",  "[!a]",  "[a-c]",
	"[]a]",	 "[^]a]", "[a-]",	 "[",	    "]",     "\\*",   "\\",
	"\\/",	 "\\a",	  "[[:alpha:]]", "[[:x:]]", "[[:a]", "[\\]]", "[/]",
	" ",	 "\\ ",	  "-",		 "1",	    "#",     "!",     ".",
	"..",	 "\xff",  "\xc3\xa9",	 "[b-a]",   "[+--]", "***",   "[a\\-c]",
	"[--0]",
};

static uint32_t below(uint32_t n)
{
	static struct rng rng = {1};

	return rng_below(&rng, n);
}

struct entry {
	struct str path;
	bool is_dir;
};

static VEC(struct entry) tree;
static unsigned decided; /* answers that name a line */

static void grow_tree(struct arena *a)
{
	while (tree.n < ENTRIES) {
		struct str name = str_of(names[below(ARRAY_LEN(names))]), path;
		const struct entry *in = tree.n ? &tree.v[below(tree.n)] : NULL;
		bool dir = below(2), have = false;
		int fd;

		if (in && (!in->is_dir || in->path.n > 20))
			in = NULL;
		path = in ? arena_fmt(a, "%.*s/%.*s", STR_ARG(in->path),
				      STR_ARG(name))
			  : arena_str(a, name);
		vec_each(e, &tree)
			have |= str_eq(e->path, path);
		if (have)
			continue;
		if (dir) {
			CHECK(mkdir(path.p, 0755) == 0);
		} else {
			fd = open(path.p, O_CREAT | O_EXCL | O_WRONLY, 0644);
			CHECK(fd >= 0);
			close(fd);
		}
		*vec_push(a, &tree) = (struct entry){path, dir};
	}
}

/*
 * Up to git 2.52 a literal right before `**` and a slash or the end was cut
 * off first, so that `a**` + `/b` crossed directories, against gitignore(5).
 */
static bool is_gits_fault(struct str p)
{
	size_t i = 0;

	if (str_starts(p, STR("!")))
		p = str_slice(p, 1, p.n);
	if (p.n && p.p[p.n - 1] == '/')
		p.n--;
	if (str_find(p, '/', 0) == p.n)
		return false;
	while (i < p.n && !strchr("*?[\\", p.p[i]))
		i++;
	if (i == 0 || p.p[i - 1] == '/' ||
	    !str_starts(str_slice(p, i, p.n), STR("**")))
		return false;
	while (i < p.n && p.p[i] == '*')
		i++;
	return i == p.n || p.p[i] == '/' || p.p[i] == '\\';
}

/* Refused by us wherever it stands; in brackets git takes it for two bytes. */
static bool has_slashes_in_brackets(struct str p)
{
	size_t open = str_find(p, '[', 0);

	for (size_t i = open; i + 1 < p.n; i++)
		if (p.p[i] == '/' && p.p[i + 1] == '/')
			return true;
	return false;
}

static struct str generate(struct arena *a)
{
	for (;;) {
		struct buf b;

		buf_init(&b, a);
		if (below(5) == 0)
			buf_addc(&b, '!');
		for (uint32_t n = 1 + below(below(2) ? 3 : 7); n; n--)
			buf_adds(&b, pieces[below(ARRAY_LEN(pieces))]);
		if (below(6) == 0)
			buf_addc(&b, '/');
		if (!is_gits_fault(buf_str(&b)) &&
		    !has_slashes_in_brackets(buf_str(&b)))
			return buf_str(&b);
	}
}

/* The line, from 1, that decides about the path; 0 when none does. */
static uint32_t judge(const struct gitignore *g, const uint32_t *lines,
		      struct str path, bool is_dir)
{
	uint32_t by;

	for (size_t end = str_find(path, '/', 0); end < path.n;
	     end = str_find(path, '/', end + 1))
		if (gitignore_match(g, str_slice(path, 0, end), true, &by) ==
		    GITIGNORE_MATCH)
			return lines[by];
	if (gitignore_match(g, path, is_dir, &by) == GITIGNORE_NONE)
		return 0;
	return lines[by];
}

static int run(char *const *argv, const char *in, const char *out)
{
	posix_spawn_file_actions_t fa;
	pid_t pid;
	int status;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 0, in, O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 1, out,
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ) != 0)
		return -1;
	posix_spawn_file_actions_destroy(&fa);
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

static void compare(struct arena *a, const struct gitignore *g,
		    const uint32_t *lines, const struct str *text)
{
	struct str rest, source, line, pattern, path;
	struct err err;
	uint32_t seen = 0;

	CHECK(fileio_read(a, AT_FDCWD, "../out", 16 << 20, &rest, &err) == 0);
	while (str_field(&rest, '\0', &source) &&
	       str_field(&rest, '\0', &line) &&
	       str_field(&rest, '\0', &pattern) &&
	       str_field(&rest, '\0', &path)) {
		uint64_t want = 0;
		uint32_t got;

		CHECK(str_eq(path, tree.v[seen].path));
		str_u64(line, PATTERNS, &want);
		got = judge(g, lines, path, tree.v[seen].is_dir);
		CHECK_MSG(got == want,
			  "%.*s: git line %u '%.*s', ours %u '%.*s'",
			  STR_ARG(path), (unsigned)want, STR_ARG(pattern), got,
			  STR_ARG(got ? text[got - 1] : STR("")));
		decided += want != 0;
		seen++;
	}
	CHECK_MSG(seen == tree.n, "%u of %u answers", seen, tree.n);
}

static void one_set(struct arena *a)
{
	static char git[] = "git", cmd[] = "check-ignore", v[] = "--verbose",
		    all[] = "--non-matching", z[] = "-z", in[] = "--stdin",
		    no_index[] = "--no-index";
	char *const argv[] = {git, cmd, v, all, z, no_index, in, NULL};
	struct gitignore *g = gitignore_new(a);
	struct str text[PATTERNS];
	uint32_t lines[PATTERNS];
	struct buf file;
	struct err err;
	int status;

	buf_init(&file, a);
	for (uint32_t i = 0; i < PATTERNS; i++) {
		text[i] = generate(a);
		buf_addf(&file, "%.*s\n", STR_ARG(text[i]));
		if (gitignore_add(g, text[i], NULL) == GITIGNORE_OK)
			lines[gitignore_count(g) - 1] = i + 1;
	}
	CHECK(fileio_write(AT_FDCWD, ".git/info/exclude", buf_str(&file), 0600,
			   &err) == 0);
	status = run(argv, "../paths", "../out");
	CHECK(status == 0 || status == 1);
	compare(a, g, lines, text);
}

int main(void)
{
	static char git[] = "git", cmd[] = "init", quiet[] = "-q", here[] = ".";
	char *const init[] = {git, cmd, quiet, here, NULL};
	char dir[] = "/tmp/membrane-oracle.XXXXXX";
	struct arena *a = arena_new();
	struct buf paths;
	struct err err;

	if (!mkdtemp(dir) || chdir(dir) < 0 || mkdir("repo", 0755) < 0 ||
	    chdir("repo") < 0)
		return 1;
	setenv("HOME", dir, 1);
	setenv("GIT_CONFIG_GLOBAL", "/dev/null", 1);
	setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
	unsetenv("XDG_CONFIG_HOME");
	if (run(init, "/dev/null", "/dev/null") != 0) {
		fputs("skipped: no git\n", stderr);
		return 77;
	}
	grow_tree(a);
	buf_init(&paths, a);
	vec_each(e, &tree) {
		buf_add(&paths, e->path);
		buf_addc(&paths, '\0');
	}
	CHECK(fileio_write(AT_FDCWD, "../paths", buf_str(&paths), 0600, &err) ==
	      0);
	for (unsigned i = 0; i < SETS && check_failed < 20; i++) {
		struct arena *b = arena_new();

		one_set(b);
		arena_free(b);
	}
	CHECK_MSG(decided > SETS * ENTRIES / 4, "%u decided", decided);
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, dir, &err) == 0);
	arena_free(a);
	return check_status();
}
