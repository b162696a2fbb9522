/*
 * What git's index has of what is hidden: as git lists it, and what became
 * empty there.
 */
#include "runtime/launch/mounts/looked.h"

#include "compiler/base/sys/fileio.h"
#include "tests/check.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct arena *a;
static struct err err;
static char top[PATH_MAX];

static const char plan[] = "membrane-mounts 1\n"
			   "workspace /workspace\n"
			   "ignore .env\n"
			   "ignore keys/\n";

static struct committed find(void)
{
	struct looked_at at = {.root_path = str_of(top),
			       .mounts = str_of(plan)};
	struct looked l;
	struct committed c;

	at.root = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	CHECK_MSG(looked_make(a, &at, &l, &err) == 0, "%s", err.text);
	committed_find(a, at.root_path, l.plan.ignore, &l.found, &l.git.repos,
		       true, &c);
	close(at.root);
	return c;
}

static const char *shown(const struct committed *c)
{
	return committed_text(a, c).p;
}

static void make(const char *script)
{
	CHECK_MSG(system(script) == 0, "%s", script);
}

static void check_found(void)
{
	struct committed before, now, emptied;

	make("git init -q . && mkdir keys sub && echo s >.env && : >sub/.env && "
	     "echo k >keys/id && echo a >a && ln -s '/no where' sub/l && "
	     "git add -A . && git -c user.name=a -c user.email=a commit -qm 1");
	before = find();
	CHECK(!committed_filtered(a, str_of(top), &before));
	CHECK_MSG(strcmp(shown(&before), ".env, keys/id, sub/.env") == 0, "%s",
		  shown(&before));
	CHECK(before.in_folder && before.links.n == 0);
	CHECK(before.files.n == 3 && str_is(before.files.v[0].path, ".env") &&
	      before.files.v[0].numbers[VIEW_OUTSIDE_SIZE] == 2 &&
	      before.files.v[0].kind == VIEW_OUTSIDE_FILE);
	CHECK(before.empty.n == 1 && str_is(before.empty.v[0], "sub/.env"));
	make("echo 'a filter=x' >.gitattributes");
	CHECK(!committed_filtered(a, str_of(top), &before));
	make("echo '.env filter=lfs' >sub/.gitattributes");
	CHECK(committed_filtered(a, str_of(top), &before));
	make("echo '.env -filter' >sub/.gitattributes");
	CHECK(!committed_filtered(a, str_of(top), &before));
	make("rm .gitattributes sub/.gitattributes");
	now = find();
	committed_emptied(a, &before, &now, &emptied);
	CHECK(emptied.paths.n == 0);
	/* what is new and empty was not emptied; of a conflict, once */
	make("mkdir t && : >t/.env && git add -f t && : >keys/id && "
	     "git add keys && h=$(git rev-parse :.env) && "
	     "printf '0 0\\t.env\\n100644 %s 2\\t.env\\n100644 %s 3\\t.env\\n' "
	     "$h $h | sed 's/^0 0/0 0000000000000000000000000000000000000000/' |"
	     " git update-index --index-info");
	now = find();
	CHECK_MSG(strcmp(shown(&now), ".env, keys/id, sub/.env, t/.env") == 0,
		  "%s", shown(&now));
	/* of which git has no numbers */
	CHECK(now.files.n == 3 && str_is(now.files.v[0].path, "keys/id"));
	committed_emptied(a, &before, &now, &emptied);
	CHECK_MSG(strcmp(shown(&emptied), "keys/id") == 0, "%s",
		  shown(&emptied));
}

/* By their own names, wherever they lead, in one run of git. */
static void check_links(void)
{
	struct committed c;

	make("rm -rf * .git .env && git init -q . && mkdir sub && "
	     "ln -s '/no where' .env && ln -s .env sub/.env && ln -s x y && "
	     "git add -A .");
	c = find();
	CHECK(c.paths.n == 0 && c.links.n == 2);
	CHECK(c.links.n == 2 && str_is(c.links.v[0].path, ".env") &&
	      str_is(c.links.v[0].text, "/no where") &&
	      str_is(c.links.v[1].path, "sub/.env") &&
	      str_is(c.links.v[1].text, ".env"));
	/* what git cannot give has no text */
	make("find .git/objects -type f -delete");
	c = find();
	CHECK(c.links.n == 2 && c.links.v[0].text.n == 0);
}

int main(void)
{
	char made[] = "/tmp/membrane-committed.XXXXXX";

	a = arena_new();
	if (!mkdtemp(made) || !realpath(made, top) || chdir(top) < 0)
		exit(1);
	setenv("HOME", top, 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
	check_found();
	check_links();
	CHECK(chdir("/") == 0);
	CHECK(fileio_remove_tree(AT_FDCWD, top, &err) == 0);
	arena_free(a);
	return check_status();
}
