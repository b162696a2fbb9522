/* Raw docker arguments with the environment: what a variable holds is judged
 * as if it stood there. */
#include "tests/unit/passes/args.h"

static const char *env(const char *name)
{
	static const char *const set[][2] = {
		{"HOME", "/srv/people/me/"},
		{"PWD", "/src/project"},
		{"ROOT", "/"},
		{"EMPTY", ""},
		{"SOCK", "/run/user/7/agent"},
		{"TRICK", "/:/x:rw"},
		{"COMMA", "/a,source=/"},
		{"UP", "../.."},
		{"PORT", "8080"},
		{"RANGE", "1-3"},
	};

	for (size_t i = 0; i < ARRAY_LEN(set); i++)
		if (strcmp(set[i][0], name) == 0)
			return set[i][1];
	return NULL;
}

/* Of one who has no home, and nothing else either. */
static const char *no_env(const char *name)
{
	(void)name;
	return NULL;
}

/* /opt/link leads to the root, as far as the host is concerned. */
static struct str resolved(struct arena *arena, struct str path)
{
	(void)arena;
	return str_is(path, "/opt/link") ? STR("/") : path;
}

/* 0: taken; else the id of what was said. */
static void with_env(enum diag_id id, const char *words)
{
	bool ok = resolve(LAYER_WORKSPACE, words);

	CHECK(ok);
	if (!ok)
		shown(words);
	/* paths as somebody may have written them */
	ok = args_check_env(&ctx, &policy, env, "/src/project/",
			    "/data/./state/", resolved);
	if (ok != (id == 0) || first_id() != id) {
		check_failed++;
		printf("env, wanted E%d: ", id);
		shown(words);
	} else {
		check_passed++;
	}
}

static void values(void)
{
	with_env(0, "-e\nA=$PORT");
	with_env(0, "-v$SOCK:/x");
	with_env(0, "-p$PORT:80");
	with_env(0, "-v$HOME/.aws:/x");
	with_env(0, "--pids-limit=$PORT");
	with_env(DIAG_ARG_UNSET, "-e\nA=$NOPE");
	with_env(DIAG_ARG_UNDOING, "-v$ROOT:/x");
	with_env(DIAG_ARG_UNDOING, "-v$TRICK:/y");
	with_env(DIAG_ARG_UNDOING, "-v/opt/$UP:/y");
	with_env(DIAG_ARG_UNDOING, "--mount\ntype=bind,source=$ROOT,target=/x");
	with_env(DIAG_ARG_UNDOING, "-v/src/project/secret:/x");
	with_env(DIAG_ARG_UNDOING, "-v/src:/x");
	with_env(DIAG_ARG_MOUNT, "-v$EMPTY:$EMPTY");
	with_env(0, "-v/opt/other:/x");
	with_env(DIAG_ARG_UNDOING, "-v/opt/link:/x");
	/* the state's own folder, what is in it, and what it is in */
	with_env(DIAG_ARG_UNDOING, "-v/data/state:/x");
	with_env(DIAG_ARG_UNDOING, "-v/data/state/sessions:/x");
	with_env(DIAG_ARG_UNDOING, "-v/data:/x");
	with_env(0, "-v/data/other:/x");
	/* and the user's own */
	with_env(DIAG_ARG_UNDOING, "-v/srv/people:/x");
	with_env(0, "-v/srv/peoples:/x");
	with_env(DIAG_ARG_UNDOING, "-v/src/project:/x");
	with_env(0, "-v/src/projects:/x");
	/* ranges, where they are known */
	with_env(0, "-p$RANGE:5-7");
	with_env(DIAG_ARG_PUBLISH, "-p$RANGE:5-6");
	/* what is turned off is no risk */
	with_env(0, "--privileged=false");
	with_env(0, "--init");
}

/* What could be said without the environment is said once. */
static void said_before(void)
{
	CHECK(resolve(LAYER_GLOBAL, "--dns=1.1.1.1\n-v/:/x\n--pid=host"));
	CHECK(diags.warnings == 3);
	CHECK(args_check_env(&ctx, &policy, env, "/src/project", "/data/state",
			     NULL));
	CHECK(diags.warnings == 3 && diags.errors == 0);
	/* and what could not, of who may ask for it, is a warning, too */
	CHECK(resolve(LAYER_GLOBAL, "-v$ROOT:/x"));
	CHECK(diags.warnings == 0);
	CHECK(args_check_env(&ctx, &policy, env, "/src/project", "/data/state",
			     NULL));
	CHECK(diags.warnings == 1 && diags.errors == 0);
}

/* Without a home there is none to be shown, and "" is in every path. */
static void no_home(void)
{
	CHECK(resolve(LAYER_WORKSPACE, "-v/opt/a:/x"));
	CHECK(args_check_env(&ctx, &policy, no_env, "/src/project",
			     "/data/state", NULL));
	CHECK(resolve(LAYER_WORKSPACE, "-v$HOME/.aws:/x"));
	CHECK(!args_check_env(&ctx, &policy, no_env, "/src/project",
			      "/data/state", NULL));
	CHECK(first_id() == DIAG_ARG_UNSET);
}

int main(void)
{
	a = arena_new();
	values();
	said_before();
	no_home();
	arena_free(a);
	return check_status();
}
