/* The judge of names, folder by folder, against gitignore_match() on paths. */
#include "runtime/view/judge/judge.h"

#include "tests/check.h"
#include "tests/rng.h"

#include <stdlib.h>

static struct arena *a;

static struct judge *judge_of(const char *plan, const struct judge_rules *more,
			      struct mountsplan *out)
{
	struct judge_rules r = more ? *more : (struct judge_rules){0};
	struct err err = {0};

	if (mountsplan_read(a,
			    arena_fmt(a,
				      "membrane-mounts 1\n"
				      "workspace /workspace\n%s",
				      plan),
			    out, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		abort();
	}
	r.plan = out;
	return judge_new(a, &r);
}

/* A path, part by part as the kernel asks. */
static struct judge_word judge_path(struct judge *j, const char *path,
				    bool is_dir)
{
	const struct judge_set *set = judge_root(j);
	struct judge_word word = judge_root_word(j);
	struct str rest = str_of(path), name;

	while (str_field(&rest, '/', &name)) {
		word = judge_name(j, set, word, name, rest.n > 0 || is_dir);
		set = judge_below(j, set, name);
	}
	return word;
}

static bool is(struct judge *j, const char *path, enum judge_state state,
	       enum judge_section section, uint32_t line)
{
	struct judge_word w = judge_path(j, path, false);

	return w.state == state && w.section == section && w.line == line;
}

static void sections_decide(void)
{
	struct mountsplan plan;
	struct judge_rules more = {0};
	struct judge *j;

	*vec_push(a, &more.holds) = STR(".git/hooks");
	*vec_push(a, &more.hides) = STR("state/here");
	j = judge_of("ignore .env\nignore *.pem\nignore !ca.pem\n"
		     "ignore /conf/deep.env\nignore secret/\n"
		     "readonly Makefile\nreadonly **/.git/config\n"
		     "readonly /docs/\nreadonly !/docs/open\n"
		     "hold .git/config\n",
		     &more, &plan);
	CHECK(is(j, "a/.env", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 0));
	CHECK(is(j, "x.pem", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 1));
	CHECK(is(j, "ca.pem", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	CHECK(is(j, "conf/deep.env", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 3));
	CHECK(is(j, "x/conf/deep.env", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	/* A folder's pattern is not a file's; below it nothing comes back. */
	CHECK(is(j, "secret", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	CHECK(is(j, "secret/ca.pem", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 4));
	CHECK(is(j, "a/Makefile", JUDGE_READONLY, JUDGE_BY_READONLY, 0));
	CHECK(is(j, "sub/.git/config", JUDGE_READONLY, JUDGE_BY_READONLY, 1));
	CHECK(is(j, ".git/config", JUDGE_READONLY, JUDGE_BY_HOLD, 0));
	CHECK(is(j, ".git/hooks/x", JUDGE_READONLY, JUDGE_BY_GIT, 0));
	CHECK(is(j, "docs/open", JUDGE_READONLY, JUDGE_BY_READONLY, 2));
	CHECK(is(j, "docs/.env", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 0));
	CHECK(is(j, "state/here/x", JUDGE_HIDDEN, JUDGE_BY_HIDE, 0));
	CHECK(is(j, "state/there", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	more.readonly = true;
	j = judge_of("ignore .env\n", &more, &plan);
	CHECK(is(j, "a/b", JUDGE_READONLY, JUDGE_BY_ALL, 0));
	CHECK(is(j, "a/.env", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 0));
}

/* A list of its own, whose last word counts; a policy's goes before it. */
static void linked_decide(void)
{
	struct mountsplan plan;
	struct gitignore *linked = gitignore_new(a);
	struct judge_rules more = {.linked = linked};
	static const char *const lines[] = {"/.git/*", "!/.git/objects/",
					    "!/.git/w/", "/.git/w/*",
					    "!/.git/w/own/"};
	struct judge *j;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		CHECK(gitignore_add(linked, str_of(lines[i]), NULL) ==
		      GITIGNORE_OK);
	j = judge_of("ignore *.pem\nhold .git/config\n", &more, &plan);
	CHECK(is(j, ".git/HEAD", JUDGE_READONLY, JUDGE_BY_LINKED, 0));
	CHECK(is(j, ".git/config", JUDGE_READONLY, JUDGE_BY_HOLD, 0));
	CHECK(is(j, ".git/objects/ab/c", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	CHECK(is(j, ".git/objects/x.pem", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 0));
	CHECK(is(j, ".git/w/other/HEAD", JUDGE_READONLY, JUDGE_BY_LINKED, 3));
	CHECK(is(j, ".git/w/own/HEAD", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	CHECK(is(j, "sub/.git/HEAD", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
}

/* On such a disk another spelling is the same file. */
static void gits_are_told(void)
{
	struct mountsplan plan;
	struct judge *j = judge_of("readonly **/.git/hooks/\n"
				   "readonly /.git/modules/**/config\n"
				   "readonly **/.zed/tasks.json\n"
				   "readonly **/config\n"
				   "hold .git/config\n",
				   NULL, &plan);

	CHECK(judge_is_gits(j, judge_path(j, "a/.git/hooks", true)));
	CHECK(judge_is_gits(j, judge_path(j, "a/.git/hooks/x", false)));
	/* another line has the last word there, or the path is held */
	CHECK(is(j, ".git/modules/m/config", JUDGE_READONLY, JUDGE_BY_READONLY,
		 3) &&
	      !judge_is_gits(j, judge_path(j, ".git/modules/m/config", false)));
	CHECK(!judge_is_gits(j, judge_path(j, ".git/config", false)));
	CHECK(!judge_is_gits(j, judge_path(j, "a/.zed/tasks.json", false)));
	CHECK(!judge_is_gits(j, judge_path(j, "a/.git/x", false)));
	j = judge_of("readonly **/.git/hooks/\nreadonly **/.git/hooks/\n", NULL,
		     &plan);
	CHECK(!judge_is_gits(j, judge_path(j, "a/.git/hooks", true)));
}

static void cases_fold(void)
{
	struct mountsplan plan;
	struct judge_rules more = {.folds = true};
	struct judge *j;

	*vec_push(a, &more.holds) = STR(".git/Hooks");
	j = judge_of("ignore .env\nignore *.PEM\nignore !ca.pem\n"
		     "ignore /Conf/[a-c]x\nreadonly **/.git/config\n",
		     &more, &plan);
	CHECK(is(j, ".ENV", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 0));
	CHECK(is(j, "a/b/.eNv", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 0));
	CHECK(is(j, "x/key.pem", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 1));
	CHECK(is(j, "x/CA.Pem", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	CHECK(is(j, "conf/BX", JUDGE_HIDDEN, JUDGE_BY_IGNORE, 3));
	CHECK(is(j, "x/.GIT/Config", JUDGE_READONLY, JUDGE_BY_READONLY, 0));
	CHECK(is(j, ".Git/hooks/x", JUDGE_READONLY, JUDGE_BY_GIT, 0));
	CHECK(is(j, "a.env", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	j = judge_of("ignore .env\n", NULL, &plan);
	CHECK(is(j, ".ENV", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
}

static bool differs(struct judge *j, const char *from, const char *to)
{
	const struct judge_set *root = judge_root(j);
	struct judge_word word;

	return judge_differs(j, judge_below(j, root, str_of(from)),
			     judge_below(j, root, str_of(to)), &word);
}

static bool spells(struct judge *j, const char *name)
{
	struct judge_word word;

	return judge_spells(j, judge_below(j, judge_root(j), str_of(name)),
			    &word);
}

static void prefixes_stay(void)
{
	struct mountsplan plan;
	struct judge *j = judge_of("ignore /conf/deep.env\nignore *.pem\n"
				   "ignore /*.d/key\nreadonly **/.git/config\n"
				   "readonly !/free/x\nhold .git/config\n",
				   NULL, &plan);

	CHECK(differs(j, "conf", "old") && differs(j, "old", "conf"));
	CHECK(differs(j, ".git", "git2") && differs(j, "a", "a.d"));
	CHECK(!differs(j, "a", "b") && !differs(j, "a.d", "b.d"));
	CHECK(spells(j, "conf") && spells(j, ".git"));
	CHECK(!spells(j, "con") && !spells(j, "a.d") && !spells(j, "a"));
	CHECK(!spells(j, "free"));
	/* Equal sets are one object, however they came about. */
	CHECK(judge_below(j, judge_root(j), STR("a")) ==
	      judge_below(j, judge_root(j), STR("b")));
}

static struct str random_of(struct rng *r, const char *letters, size_t most)
{
	size_t n = 1 + rng_below(r, (uint32_t)most);
	uint32_t k = (uint32_t)strlen(letters);
	char *p = arena_alloc(a, n + 1);

	for (size_t i = 0; i < n; i++)
		p[i] = letters[rng_below(r, k)];
	return (struct str){p, n};
}

static bool is_path(struct str s)
{
	for (size_t beg = 0, end; beg <= s.n; beg = end + 1) {
		end = str_find(s, '/', beg);
		if (end == beg)
			return false;
	}
	return true;
}

/* Without parents that decide: the last match of one list. */
static enum judge_state expected(const struct mountsplan *p, struct str path,
				 bool is_dir)
{
	struct str rest = path, name;
	size_t at = 0;

	while (str_field(&rest, '/', &name)) {
		at += name.n;
		if (gitignore_match(p->ignore, str_slice(path, 0, at),
				    at < path.n || is_dir,
				    NULL) == GITIGNORE_MATCH)
			return JUDGE_HIDDEN;
		at++;
	}
	return JUDGE_OPEN;
}

static void agrees_with_paths(void)
{
	struct rng r = {14};
	unsigned hidden = 0;

	for (unsigned round = 0; round < 3000; round++) {
		struct gitignore *g = gitignore_new(a);
		struct mountsplan plan = {.ignore = g,
					  .readonly = gitignore_new(a)};
		struct judge_rules rules = {.plan = &plan,
					    .folds = round % 2 == 1};
		struct judge *j;

		for (unsigned i = 0; i < 4; i++)
			ignore(gitignore_add(
				g, random_of(&r, "ab**//?!.[a]", 8), NULL));
		j = judge_new(a, &rules);
		for (unsigned i = 0; i < 20; i++) {
			struct str path = random_of(&r, "ab.//", 8);
			bool is_dir = rng_below(&r, 2) == 1;
			enum judge_state want;

			if (!is_path(path))
				continue;
			want = expected(&plan, path, is_dir);
			hidden += want == JUDGE_HIDDEN;
			CHECK(judge_path(j, path.p, is_dir).state == want);
		}
	}
	CHECK(hidden > 1000);
}

/* Of the home nothing but what is protected is judged, and that for a program.
 */
static void home_is_for_a_program(void)
{
	static const char lines[] = "ignore *\nreadonly /.claude/\n"
				    "protect claude /.claude/.cred*\n"
				    "protect claude /keys\n"
				    "protect git /keys/git\n";
	struct judge_rules more = {.home = true, .program = STR("claude")};
	struct mountsplan plan;
	struct judge *j = judge_of(lines, &more, &plan);
	struct judge_word any = {JUDGE_PROTECTED, JUDGE_BY_INODE, 0}, word;

	CHECK(is(j, ".bashrc", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	CHECK(is(j, ".claude/settings.json", JUDGE_OPEN, JUDGE_BY_NOTHING, 0));
	CHECK(is(j, ".claude/.credentials.json", JUDGE_PROTECTED,
		 JUDGE_BY_PROTECT, 0));
	CHECK(is(j, "x/.claude/.credentials.json", JUDGE_OPEN, JUDGE_BY_NOTHING,
		 0));
	CHECK(is(j, "keys/a/b", JUDGE_PROTECTED, JUDGE_BY_PROTECT, 1));
	/* Of two that speak of it, the one that says no. */
	CHECK(is(j, "keys/git", JUDGE_PROTECTED, JUDGE_BY_PROTECT, 2));
	CHECK(judge_serves(j, judge_path(j, "keys/a", false)));
	CHECK(!judge_serves(j, judge_path(j, "keys/git", false)));
	/* Under another name it is as any of them. */
	CHECK(!judge_serves(j, any));
	/* What is above stays where it is, and is a folder. */
	CHECK(judge_spells(j, judge_below(j, judge_root(j), STR(".claude")),
			   &word));
	CHECK(word.state == JUDGE_PROTECTED);
	CHECK(judge_differs(j, judge_below(j, judge_root(j), STR(".claude")),
			    judge_below(j, judge_root(j), STR("other")),
			    &word));
	more.program = STR("");
	j = judge_of(lines, &more, &plan);
	CHECK(!judge_serves(j, judge_path(j, "keys/a", false)));
	more.program = STR("claude");
	j = judge_of("protect claude /a\n", &more, &plan);
	CHECK(judge_serves(j, any));
}

int main(void)
{
	a = arena_new();
	home_is_for_a_program();
	sections_decide();
	linked_decide();
	prefixes_stay();
	gits_are_told();
	cases_fold();
	agrees_with_paths();
	arena_free(a);
	return check_status();
}
