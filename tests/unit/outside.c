/* Files for the launch that the agent could have put there. */
#include "compiler/commands/outside.h"
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

static bool check(const char *seccomp, const char *credential)
{
	struct outside_places places = {at("work").p, at("agent").p, top};
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
	return outside_check(&c, &p, &places) && diags.errors == 0;
}

static void make(void)
{
	CHECK(mkdir(at("work").p, 0700) == 0);
	CHECK(mkdir(at("works").p, 0700) == 0);
	CHECK(mkdir(at("agent").p, 0700) == 0);
	CHECK(symlink("../key", at("work/out").p) == 0);
	CHECK(symlink("real", at("work/alias").p) == 0);
	CHECK(symlink("..", at("agent/up").p) == 0);
	CHECK(symlink("work/real", at("mine").p) == 0);
	CHECK(mkdir(at("work/real").p, 0700) == 0);
	CHECK(mkdir(at("key").p, 0700) == 0);
	CHECK(mkdir(at("works/key").p, 0700) == 0);
}

int main(void)
{
	a = arena_new();
	if (!mkdtemp(top))
		return 1;
	make();
	CHECK(check(NULL, NULL));
	CHECK(check("default", NULL) && check("unconfined", NULL));
	CHECK(check(at("key").p, NULL) && check(at("works/key").p, NULL));
	CHECK(check(at("none").p, NULL));
	CHECK(!check(at("work/real").p, NULL));
	CHECK(!check(at("work/out").p, NULL));
	CHECK(!check(at("mine").p, NULL));
	CHECK(!check(at("agent/up/key").p, NULL));
	CHECK(check(NULL, at("key").p) && check(NULL, "~/key"));
	CHECK(check(NULL, at("work/real").p) && check(NULL, "~/mine"));
	CHECK(check(NULL, "~/work/alias") && check(NULL, "~/work/none"));
	CHECK(!check(NULL, "~/work/out") && !check(NULL, at("work/out").p));
	CHECK(!check(NULL, "~/agent/up/key"));
	CHECK(!check(NULL, "~/agent/../key"));
	CHECK(system(arena_fmt(a, "rm -r %s", top).p) == 0);
	arena_free(a);
	return check_status();
}
