/*
 * What git is told of hidden files: what git itself makes of those files, and
 * what a commit of a file that reads as empty keeps.
 */
#include "compiler/emit/git/git_files.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"
#include "tests/unit/policy.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct arena *a;
static struct test_policy t;
static struct err err;

static const char *const patterns[] = {
	".env",	     "!ok.env",	  "keys/",     "!/a/keys/", "/a/b c",
	"x/**",	     "\\!odd",	  "\\#odd",    "[attr]q",   "[a-c]*.pem",
	"trail\\ ",  "blank  ",	  "qu\"ote",   "*.p?",	    "**/deep",
	"!deep/out", "dir/**/in", "back\\\\s", "\xc3\xb6",  "!\\!odd",
	"*.key",
};

/* A path, and whether it has the filter. */
static const struct {
	const char *path;
	bool filtered;
} paths[] = {
	{".env", true},
	{"sub/.env", true},
	{".env/below", true},
	{"ok.env", false},
	{"keys", false},
	{"keys/id", true},
	{"s/keys/t/id", true},
	/* taken back, and filtered all the same */
	{"a/keys/id", true},
	{"a/b c", true},
	{"a/b c/d", true},
	{"s/a/b c", false},
	{"x/y", true},
	{"x/y/z", true},
	{"s/x/y", false},
	{"!odd", false},
	{"!odd/below", true},
	{"#odd", true},
	{"aq", true},
	{"filter", false},
	{"b1.pem", true},
	{"d1.pem", false},
	{"trail ", true},
	{"trail", false},
	{"blank", true},
	{"qu\"ote", true},
	{"s/1.pg", true},
	{"deep/out", true},
	{"dir/in", true},
	{"dir/1/2/in", true},
	{"back\\s", true},
	{"\xc3\xb6", true},
};

static struct str emitted(bool (*emit)(const struct emit_in *, struct buf *))
{
	struct emit_in in = test_policy_in(&t);
	struct buf out;

	buf_init(&out, a);
	CHECK(emit(&in, &out));
	return buf_str(&out);
}

static bool has(struct str text, const char *part)
{
	return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

/* In files of this folder, in place of those of a session. */
static void write_files(void)
{
	struct str config;

	CHECK(fileio_write(AT_FDCWD, "exclude", emitted(git_exclude_emit), 0644,
			   &err) == 0);
	CHECK(fileio_write(AT_FDCWD, "attributes", emitted(git_attributes_emit),
			   0644, &err) == 0);
	config = arena_fmt(
		a,
		"%.*s[core]\n\texcludesFile = %s/exclude\n\tattributesFile = %s/attributes\n",
		STR_ARG(emitted(git_config_emit)), getenv("HOME"),
		getenv("HOME"));
	CHECK(fileio_write(AT_FDCWD, "config", config, 0644, &err) == 0);
}

static void add_pattern(const char *line)
{
	struct ir_text text = test_policy_text(&t, line);

	*vec_push(a, &t.doc.ignore) = (struct ir_pattern){
		.from = text.from, .line = text.s, .back = line[0] == '!'};
}

static void make_policy(enum ir_masks masks)
{
	test_policy_init(&t, a, LAYER_GLOBAL);
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		add_pattern(patterns[i]);
	t.doc.masks = (ir_opt_masks){.set = true, .v = masks};
	if (!test_policy_done(&t))
		test_policy_show(&t);
}

static void make(const char *script)
{
	CHECK_MSG(system(script) == 0, "%s", script);
}

/* --- what git makes of them ----------------------------------------------- */

static const char *filter_of(const char *path)
{
	char said[8192];
	FILE *in;
	size_t n;

	CHECK(fileio_write(AT_FDCWD, "asked", str_of(path), 0644, &err) == 0);
	in = popen("git -C ws check-attr -z --stdin filter <asked | "
		   "tr '\\0' '\\n' | tail -n 1 | tr -d '\\n'",
		   "r");
	CHECK(in);
	n = in ? fread(said, 1, sizeof(said) - 1, in) : 0;
	CHECK(in && pclose(in) == 0);
	return arena_cstr(a, (struct str){said, n});
}

static void check_attributes(void)
{
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		const char *got = filter_of(paths[i].path);

		CHECK_MSG(strcmp(got, paths[i].filtered ? "membrane"
							: "unspecified") == 0,
			  "%s: %s", paths[i].path, got);
	}
}

/* A pattern that git would skip for its length has a wider one in its place. */
static void check_long(void)
{
	char line[3000], back[3001];
	struct str text;

	memset(line, 'y', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	back[0] = '!';
	memcpy(back + 1, line, sizeof(line));
	test_policy_init(&t, a, LAYER_GLOBAL);
	add_pattern(line);
	add_pattern(back);
	CHECK(test_policy_done(&t));
	text = emitted(git_attributes_emit);
	CHECK(has(text, "\n\"**\" filter=membrane\n"));
	CHECK(!has(text, "!filter"));
	/* and one that is taken back has none: nothing is hidden by it */
	test_policy_init(&t, a, LAYER_GLOBAL);
	add_pattern(".env");
	add_pattern(back);
	CHECK(test_policy_done(&t));
	text = emitted(git_attributes_emit);
	CHECK(has(text, ".env") && !has(text, "\"**\""));
}

static void check_excludes(void)
{
	struct str text = emitted(git_exclude_emit);

	CHECK(has(text, "\n/.vscode/tasks.json\n"));
	make("cd ws && mkdir -p .vscode s && : >.vscode/tasks.json && : >s/.env "
	     "&& : >ok.env && test \"$(git status --porcelain -uall)\" = "
	     "'?? ok.env' && rm -r .vscode s ok.env");
	make_policy(IR_MASKS_HOLD);
	text = emitted(git_exclude_emit);
	CHECK(!has(text, ".vscode"));
}

/* --- what a commit keeps -------------------------------------------------- */

/* Names that sh, git or printf could take for something else. */
#define NAMES                                                                  \
	"'a b.key' \"it's.key\" '$(touch ran).key' '%f.key' '-a.key' "         \
	"':a.key' \"$(printf 'b\\\\nb').key\" 'c\\\\.key' 'a\"b.key'"

static void check_filter(void)
{
	make("cd ws && for f in " NAMES "; do printf '%s\\n' \"$f\" >\"./$f\"; "
	     "done && git add -Af . && git commit -qm one");
	/* all empty, as masks make them */
	make("cd ws && for f in " NAMES "; do : >\"./$f\"; done && "
	     "echo 1 >plain && git add -A && git commit -qam two && "
	     "test \"$(git diff --name-only HEAD~1 HEAD)\" = plain");
	/* without the index the last commit counts; and nothing knows a new one
	 */
	make("cd ws && git rm -q --cached ./-a.key && git add -f ./-a.key && "
	     "test \"$(git show :./-a.key)\" = -a.key && : >anew.key && "
	     "git add -f anew.key && test -z \"$(git show :anew.key)\"");
	/* what is there is what goes in, of any bytes */
	make("cd ws && printf '\\0\\1\\377\\r\\n' >a1.key && git add -f a1.key && "
	     "git show :a1.key | cmp - a1.key");
	make("cd ws && head -c 300000 /dev/urandom >a2.key && "
	     "git add -f a2.key && git show :a2.key | cmp - a2.key");
	/* mapped, a hidden file is zeros; zeros of another are its own */
	make("cd ws && for f in " NAMES "; do head -c 70000 /dev/zero | "
	     "git hash-object --stdin --path=\"$f\" >../got && "
	     "git rev-parse \":0:$f\" | cmp - ../got || exit 1; done");
	make("cd ws && printf '\\0x' >a4.key && git add -f a4.key && "
	     "git show :a4.key | cmp - a4.key && "
	     "test $(printf '\\0' | git hash-object --stdin --path=no.key) = "
	     "$(printf '\\0' | git hash-object --stdin)");
	/* ends of lines are as a checkout makes them, both ways */
	make("cd ws && git config core.autocrlf true && printf 'x\\r\\n' >a3.key "
	     "&& git add -f a3.key && git commit -qm three && : >a3.key && "
	     "git add a3.key && git diff --cached --quiet");
	CHECK(access("ws/ran", F_OK) < 0);
}

int main(void)
{
	char made[] = "/tmp/membrane-git.XXXXXX";

	a = arena_new();
	CHECK(mkdtemp(made) && chdir(made) == 0);
	setenv("HOME", made, 1);
	setenv("GIT_CONFIG_SYSTEM", arena_fmt(a, "%s/config", made).p, 1);
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("GIT_CONFIG_GLOBAL");
	make_policy(IR_MASKS_START);
	write_files();
	make("git init -q ws && git -C ws config user.name A && "
	     "git -C ws config user.email a@x.test");
	check_attributes();
	check_filter();
	check_excludes();
	check_long();
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, made, &err) == 0);
	arena_free(a);
	return check_status();
}
