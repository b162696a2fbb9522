/* Files for the launch that the agent could have put there. */
#include "compiler/cli/workspace/outside.h"
#include "tests/check.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct arena *a;
static char top[] = "/tmp/membrane-outside-XXXXXX";

static struct str at(const char *path)
{
	return arena_fmt(a, "%s/%s", top, path);
}

static bool check_all(const char *seccomp, const char *credential,
		      struct str visible)
{
	struct outside_places places = {.workspace = at("project").p,
					.agent = at("agent").p,
					.state = at("state").p,
					.homes = at("homes").p,
					.home = top};
	struct ir_policy p = {0};
	struct ir_credential *x;
	struct sources sources;
	struct diags diags;
	struct pass_ctx c = {a, &sources, &diags};

	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	if (seccomp) {
		p.hardening.seccomp.set = true;
		p.hardening.seccomp.v = str_of(seccomp);
	}
	if (credential) {
		x = vec_push(a, &p.credentials);
		x->source = str_of(credential);
	}
	if (visible.n)
		*vec_push(a, &p.visible) = (struct ir_text){.s = visible};
	return outside_check(&c, &p, &places) && diags.errors == 0;
}

static bool check(const char *seccomp, const char *credential)
{
	return check_all(seccomp, credential, (struct str){0});
}

static bool shows(struct str path)
{
	return check_all(NULL, NULL, arena_fmt(a, "read %.*s", STR_ARG(path)));
}

static void make(void)
{
	CHECK(mkdir(at("project").p, 0700) == 0);
	CHECK(mkdir(at("projects").p, 0700) == 0);
	CHECK(mkdir(at("agent").p, 0700) == 0);
	CHECK(symlink("../key", at("project/out").p) == 0);
	CHECK(symlink("real", at("project/alias").p) == 0);
	CHECK(symlink("..", at("agent/up").p) == 0);
	CHECK(symlink("project/real", at("mine").p) == 0);
	CHECK(mkdir(at("project/real").p, 0700) == 0);
	CHECK(mkdir(at("homes").p, 0700) == 0);
	CHECK(mkdir(at("homes/0a").p, 0700) == 0);
	CHECK(symlink("../../key", at("homes/0a/out").p) == 0);
	CHECK(mkdir(at("key").p, 0700) == 0);
	CHECK(mkdir(at("projects/key").p, 0700) == 0);
}

int main(void)
{
	a = arena_new();
	if (!mkdtemp(top))
		return 1;
	make();
	CHECK(check(NULL, NULL));
	CHECK(check("default", NULL) && check("unconfined", NULL));
	CHECK(check(at("key").p, NULL) && check(at("projects/key").p, NULL));
	CHECK(check(at("none").p, NULL));
	CHECK(!check(at("project/real").p, NULL));
	CHECK(!check(at("project/out").p, NULL));
	CHECK(!check(at("mine").p, NULL));
	CHECK(!check(at("agent/up/key").p, NULL));
	CHECK(!check(at("homes/0a").p, NULL));
	CHECK(!check(NULL, "~/homes/0a/out"));
	CHECK(check(NULL, at("key").p) && check(NULL, "~/key"));
	CHECK(check(NULL, at("project/real").p) && check(NULL, "~/mine"));
	CHECK(check(NULL, "~/project/alias") && check(NULL, "~/project/none"));
	CHECK(!check(NULL, "~/project/out") &&
	      !check(NULL, at("project/out").p));
	CHECK(!check(NULL, "~/agent/up/key"));
	CHECK(!check(NULL, "~/agent/../key"));
	CHECK(mkdir(at("state").p, 0700) == 0);
	CHECK(mkdir(at("state/home").p, 0700) == 0);
	CHECK(symlink("state", at("link").p) == 0);
	CHECK(symlink("/proc", at("proc").p) == 0);
	CHECK(shows(at("key")) && shows(STR("~/key")) && shows(STR("~/none")));
	CHECK(!shows(at("project")) && !shows(at("project/real")));
	CHECK(!shows(STR("~/state")) && !shows(STR("~/state/home")));
	CHECK(!shows(STR("~/link")) && !shows(STR("~/link/home")));
	CHECK(!shows(str_of(top)) && !shows(STR("/tmp")) && !shows(STR("~/.")));
	CHECK(!shows(STR("~/proc")) && !shows(STR("~/mine")));
	CHECK(!shows(STR("~/homes/0a/out")));
	CHECK(system(arena_fmt(a, "rm -r %s", top).p) == 0);
	arena_free(a);
	return check_status();
}
