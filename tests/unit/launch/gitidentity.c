/*
 * Who git takes the user for: what is read of a listing, what git itself says
 * over real configuration, and what git makes of the file that goes in.
 */
#include "runtime/launch/workspace/gitidentity.h"

#include "compiler/base/buf.h"
#include "compiler/base/sys/fileio.h"
#include "runtime/launch/workspace/gitcmd.h"
#include "tests/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* "key=value<source>" of each, then "!note" of each, a blank between two. */
static const char *shown(struct arena *a, const struct gitidentity *g)
{
	struct buf b;

	buf_init(&b, a);
	vec_each(v, &g->values)
		buf_addf(&b, "%s%s=%.*s<%.*s>", b.n ? " " : "", v->key,
			 STR_ARG(v->value), STR_ARG(v->source));
	vec_each(n, &g->notes)
		buf_addf(&b, "%s!%.*s", b.n ? " " : "", STR_ARG(*n));
	return arena_cstr(a, buf_str(&b));
}

/* --- listings ------------------------------------------------------------ */

#define G(key_and_value) "global\0file:/h/.gitconfig\0" key_and_value "\0"
#define NOT_IN		 "!git's identity does not go in: "

static const struct {
	struct str listing;
	const char *want;
} listings[] = {
	{STR_INIT(""), ""},
	{STR_INIT(G("user.name\nAda")), "user.name=Ada<~/.gitconfig>"},
	/* the last one counts, in whatever scope of the user's */
	{STR_INIT("system\0file:/etc/gitconfig\0user.name\nS\0" G(
		 "user.name\nAda") "command\0command line:\0user.name\nC\0"),
	 "user.name=C<the environment>"},
	/* the repository's own is for git inside */
	{STR_INIT(G("user.name\nAda") "local\0file:.git/config\0user.name\nL\0"
				      "worktree\0file:.git/w\0user.name\nW\0"),
	 "user.name=Ada<~/.gitconfig>"},
	{STR_INIT("local\0file:.git/config\0user.email\nl@x\0"), ""},
	/* in a fixed order; as people write the key */
	{STR_INIT(G("init.defaultbranch\ntrunk") G("user.email\na@x")),
	 "user.email=a@x<~/.gitconfig> "
	 "init.defaultBranch=trunk<~/.gitconfig>"},
	{STR_INIT(G("user.signingkey\nK") G("user.names\nx")), ""},
	/* an empty one takes back */
	{STR_INIT(G("user.name\nAda") G("user.name\n")), ""},
	/* what does not go in */
	{STR_INIT(G("user.name")),
	 NOT_IN "user.name of ~/.gitconfig has no value"},
	{STR_INIT(G("user.name\nA\nB")),
	 NOT_IN "user.name of ~/.gitconfig holds control characters"},
	{STR_INIT(G("user.name\nA\rB")),
	 NOT_IN "user.name of ~/.gitconfig holds control characters"},
	{STR_INIT(G("user.name\nA\x7f") G("user.email\na@x")),
	 "user.email=a@x<~/.gitconfig> " NOT_IN
	 "user.name of ~/.gitconfig holds control characters"},
	/* cut short: nothing of the last */
	{STR_INIT(G("user.name\nAda") "global\0file:/h/x\0"),
	 "user.name=Ada<~/.gitconfig>"},
	{STR_INIT("global\0file:/h"), ""},
	{STR_INIT("\0\0\0\0\0\0"), ""},
};

static void check_listings(struct arena *a)
{
	for (size_t i = 0; i < ARRAY_LEN(listings); i++) {
		struct gitidentity g;
		const char *got;

		gitidentity_read(a, listings[i].listing, "/h", &g);
		got = shown(a, &g);
		CHECK_MSG(strcmp(got, listings[i].want) == 0, "%zu: %s", i,
			  got);
	}
}

static void check_bound(struct arena *a)
{
	static const char head[] = "global\0file:/h/x\0user.name\n";
	char text[sizeof(head) + GITIDENTITY_VALUE_MAX + 2];
	struct gitidentity g;

	for (size_t more = 0; more < 2; more++) {
		size_t n = GITIDENTITY_VALUE_MAX + more;

		memcpy(text, head, sizeof(head) - 1);
		memset(text + sizeof(head) - 1, 'x', n);
		text[sizeof(head) - 1 + n] = '\0';
		gitidentity_read(a, (struct str){text, sizeof(head) + n}, NULL,
				 &g);
		CHECK(g.values.n == 1 - more && g.notes.n == more);
	}
}

/* --- with git ------------------------------------------------------------ */

struct bed {
	struct arena *a;
	char top[PATH_MAX];
	struct err err;
};

static void make(const char *script)
{
	CHECK_MSG(system(script) == 0, "%s", script);
}

/* home/ and ws/ below a fresh folder, and nobody else's settings. */
static void bed_init(struct bed *b)
{
	char made[] = "/tmp/membrane-identity.XXXXXX";

	*b = (struct bed){.a = arena_new()};
	if (!mkdtemp(made) || !realpath(made, b->top) || chdir(b->top) < 0)
		exit(1);
	CHECK(mkdir("home", 0755) == 0 && mkdir("ws", 0755) == 0);
	setenv("HOME", arena_fmt(b->a, "%s/home", b->top).p, 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("GIT_CONFIG_GLOBAL");
}

static void bed_done(struct bed *b)
{
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, b->top, &b->err) == 0);
	arena_free(b->a);
}

static const char *found(struct bed *b)
{
	struct gitidentity g;

	gitidentity_find(b->a, "ws", &g);
	return shown(b->a, &g);
}

static void check_asked(void)
{
	struct bed b;
	const char *got;

	bed_init(&b);
	CHECK(strcmp(found(&b), "") == 0);
	make("git config --global user.name Ada && "
	     "git config --global includeIf.gitdir:$PWD/ws/.path inc && "
	     "git config -f home/inc user.email work@x");
	CHECK(strcmp(found(&b), "user.name=Ada<~/.gitconfig>") == 0);
	/* once it is a repository, the user's own condition holds */
	make("git init -q ws && git -C ws config user.name Local");
	got = found(&b);
	CHECK_MSG(strcmp(got, "user.name=Ada<~/.gitconfig> "
			      "user.email=work@x<~/inc>") == 0,
		  "%s", got);
	/* nothing that it names is run */
	make("git -C ws config core.fsmonitor \"touch $PWD/ran\" && "
	     "git -C ws config core.pager \"touch $PWD/ran\" && "
	     "git -C ws config alias.config \"!touch $PWD/ran\"");
	CHECK(strcmp(found(&b), got) == 0);
	CHECK(access("ran", F_OK) < 0);
	/* nor is anybody waited for who never writes */
	make("mkfifo pipe && git -C ws config include.path ../../pipe");
	got = found(&b);
	CHECK_MSG(strcmp(got, NOT_IN "git did not answer in time") == 0, "%s",
		  got);
	make("git config -f ws/.git/config --unset include.path");
	make("printf '[user\\n' >home/.gitconfig");
	got = found(&b);
	CHECK_MSG(strstr(got, NOT_IN "bad config line 1 in file ") == got, "%s",
		  got);
	setenv("PATH", "/nonexistent", 1);
	CHECK(strcmp(found(&b), "") == 0);
	setenv("PATH", "/usr/local/bin:/usr/bin:/bin", 1);
	bed_done(&b);
}

/* What git reads back of a file with that value. */
static void check_value(struct bed *b, const char *value)
{
	static const char *const words[] = {"config", "--null", "user.name",
					    NULL};
	struct gitcmd c = {
		.dir = "ws", .words = words, .max = 65536, .timeout_ms = 5000};
	struct gitidentity g = {0};

	*vec_push(b->a, &g.values) = (struct gitidentity_value){
		"user.name", str_of(value), STR("x")};
	CHECK(fileio_write(AT_FDCWD, "file", gitidentity_config(b->a, &g), 0644,
			   &b->err) == 0);
	setenv("GIT_CONFIG_SYSTEM", arena_fmt(b->a, "%s/file", b->top).p, 1);
	CHECK(gitcmd_run(b->a, &c, &b->err) == 0 && c.status == 0);
	/* with the NUL at its end */
	CHECK_MSG(c.text.n == strlen(value) + 1 &&
			  memcmp(c.text.p, value, c.text.n) == 0,
		  "%s: %.*s", value, STR_ARG(c.text));
}

static void check_file(void)
{
	static const char *const values[] = {
		"Ada",	"\"",	       "\\",	"a\\\"b\\", " blanks  ",
		"#x;y", "[core]",      "$(id)", "{home}{x", "\xff\xc3\xb6",
		"=",	"%(prefix)/x", "a]b",	"-c"};
	struct gitidentity none = {0};
	struct bed b;

	bed_init(&b);
	CHECK(gitidentity_config(b.a, &none).n == 0);
	for (size_t i = 0; i < ARRAY_LEN(values); i++)
		check_value(&b, values[i]);
	/* what is set anywhere else wins */
	make("git config --global user.name Agent && "
	     "test \"$(git config user.name)\" = Agent");
	bed_done(&b);
}

int main(void)
{
	struct arena *a = arena_new();

	check_listings(a);
	check_bound(a);
	check_asked();
	check_file();
	arena_free(a);
	return check_status();
}
