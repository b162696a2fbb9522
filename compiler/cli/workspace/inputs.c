#include "compiler/cli/workspace/inputs.h"

#include "compiler/base/date.h"
#include "compiler/base/limits.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/installed.h"
#include "compiler/cli/workspace/reached.h"
#include "compiler/cli/workspace/saving.h"
#include "compiler/cli/workspace/target.h"
#include "runtime/launch/workspace/programs.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static bool path_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static const char *join_path(struct arena *a, const char *dir, const char *name)
{
	return arena_fmt(a, "%s/%s", dir, name).p;
}

static int absolute_path(struct arena *a, const char *path, const char **out,
			 struct err *err)
{
	char cwd[PATH_MAX];

	if (path[0] == '/') {
		*out = path;
		return 0;
	}
	if (!getcwd(cwd, sizeof(cwd)))
		return err_set(err, -errno, "the current folder: %s",
			       strerror(errno));
	*out = join_path(a, cwd, path);
	return 0;
}

static int find_state(struct arena *a, const char **out, struct err *err)
{
	const char *set = getenv("MEMBRANE_HOME"), *home = getenv("HOME");
	const struct passwd *pw;

	if (set && *set)
		return absolute_path(a, set, out, err);
	if (!home || !*home) {
		pw = getpwuid(getuid());
		home = pw ? pw->pw_dir : NULL;
	}
	if (!home || home[0] != '/')
		return err_set(
			err, -ENOENT,
			"there is no home directory: set HOME or MEMBRANE_HOME");
	*out = join_path(a, home, ".membrane");
	return 0;
}

int inputs_state(struct arena *a, const char **out, struct err *err)
{
	struct workspaces_ask ask = {.a = a};
	int rc = find_state(a, out, err);

	if (rc < 0)
		return rc;
	ask.state = *out;
	programs_trust_path(&ask);
	return 0;
}

static const char *policies_folder(struct arena *a, const struct options *o)
{
	const char *set = getenv("MEMBRANE_POLICIES");

	set = options_value(a, o, OPTION_POLICIES, set && *set ? set : NULL);
	return set ? set : installed_folder(a, "policies", "default.yaml");
}

static void find_flags(struct arena *a, const struct options *o,
		       struct front_input *in)
{
	struct front_flag *flags =
		arena_array(a, (size_t)o->given.n + 1, sizeof(*flags));

	struct str *within =
		arena_array(a, (size_t)o->given.n + 1, sizeof(*within));

	in->flags = flags;
	in->within = within;
	vec_each(g, &o->given) {
		int kind = option_row(g->id)->flag;

		if (g->id == OPTION_WITHIN)
			within[in->n_within++] = g->value;

		if (kind >= 0)
			flags[in->n_flags++] = (struct front_flag){
				.kind = (enum front_flag_kind)kind,
				.spelling = g->spelling,
				.value = g->value};
	}
}

/* Before anything reads it: half of a policy may permit what neither does. */
int inputs_recover(struct arena *a, const char *state, const char *workspace,
		   struct err *err)
{
	const char *what;
	int rc = saving_recover(a, state, workspace, &what, err);

	if (rc == 0 && what)
		console_error("%s", view_cleaned(a, str_of(what)).p);
	return rc;
}

int inputs_find(struct arena *a, const struct options *o, struct inputs *out,
		struct err *err)
{
	/* The word of `trust` is the workspace. */
	const char *word = o->command == COMMAND_TRUST && o->words.n
				   ? arena_cstr(a, o->words.v[0])
				   : ".";
	const char *where = options_value(a, o, OPTION_WORKSPACE, word);
	char real[PATH_MAX];
	struct stat st;

	*out = (struct inputs){0};
	if (!realpath(where, real) || stat(real, &st) < 0)
		return err_set(err, -errno, "the workspace %s: %s", where,
			       strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR, "the workspace %s: not a folder",
			       where);
	out->workspace = arena_cstr(a, str_of(real));
	if (find_state(a, &out->state, err) < 0)
		return err->code;
	programs_trust_path(
		&(struct workspaces_ask){a, out->state, out->workspace});
	if (reached_find(a, where, out, err) < 0 ||
	    inputs_recover(a, out->state, out->workspace, err) < 0)
		return err->code;
	out->config = join_path(a, out->state, "config.yaml");
	out->front.workspace = out->workspace;
	out->front.state = out->state;
	out->front.policies = policies_folder(a, o);
	out->front.no_global = options_get(o, OPTION_NO_GLOBAL) != NULL;
	out->standard = join_path(a, out->front.policies, "default.yaml");
	out->first_use = !out->front.no_global && !path_exists(out->config);
	if (out->first_use)
		out->front.global = out->standard;
	find_flags(a, o, &out->front);
	return 0;
}

/*
 * The day that exceptions from warnings are judged by: reproducible where
 * SOURCE_DATE_EPOCH is set (reproducible-builds.org/specs/source-date-epoch).
 */
static bool find_today(uint32_t *out)
{
	const char *set = getenv("SOURCE_DATE_EPOCH");
	uint64_t t = (uint64_t)time(NULL);

	if (set && *set &&
	    !str_u64(str_of(set), (uint64_t)UINT32_MAX * DATE_DAY_S, &t)) {
		console_error("SOURCE_DATE_EPOCH is not a number of seconds");
		return false;
	}
	*out = (uint32_t)(t / DATE_DAY_S);
	return true;
}

int inputs_compile(struct arena *a, const struct options *o, bool quiet,
		   struct inputs *in, struct compilation *c)
{
	bool plan = o->command == COMMAND_PLAN;
	struct driver_look look = {.patterns = plan};
	struct err err;

	if (!find_today(&look.today) || !target_find(a, o, &c->kubernetes))
		return STATUS_USAGE;
	if (inputs_find(a, o, in, &err) < 0 ||
	    driver_compile(c, &in->front, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	/* Others are about the policy, whatever it meets here. */
	if (plan || options_launch(o))
		look.workspace = in->workspace;
	if (c->ok && !c->stop_after)
		driver_lint(c, &look);
	if (!quiet || c->diags.errors)
		console_diags(c->a, &c->diags);
	return c->ok || (c->stop_after && c->dump.n) ? STATUS_OK
						     : STATUS_REFUSED;
}

bool inputs_denied(const struct options *o, struct compilation *c, bool quiet)
{
	unsigned n = c->diags.warnings;

	if (n == 0 || !options_get(o, OPTION_DENY_WARNINGS))
		return false;
	if (quiet)
		console_diags(c->a, &c->diags);
	console_error("%u warning%s, and --deny-warnings", n,
		      n == 1 ? "" : "s");
	return true;
}

/* Is path the folder dir, or below it? */
static bool is_within(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return n <= 1 || (strncmp(path, dir, n) == 0 &&
			  (path[n] == '/' || path[n] == '\0'));
}

/* What does not exist yet will be made below the nearest folder that does. */
bool inputs_apart(struct arena *a, const struct inputs *in)
{
	char *path = arena_cstr(a, str_of(in->state));
	bool there = access(path, F_OK) == 0, holds;
	char real[PATH_MAX], *slash;

	while (!realpath(path, real) && (slash = strrchr(path, '/')))
		slash[slash == path] = '\0';
	holds = is_within(real, in->workspace);
	if (!holds && !(there && is_within(in->workspace, real)))
		return true;
	console_error(
		"the workspace %s %s membrane's own folder, %s: choose another one",
		view_cleaned(a, str_of(in->workspace)).p,
		holds ? "holds" : "lies in",
		view_cleaned(a, str_of(in->state)).p);
	return false;
}

bool inputs_stdin(struct arena *a, size_t max, struct str *out)
{
	struct buf b;

	buf_init(&b, a);
	for (;;) {
		char room[65536];
		ssize_t got = read(STDIN_FILENO, room, sizeof(room));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || b.n + (size_t)got > max) {
			console_error("stdin: %s",
				      got < 0 ? strerror(errno)
					      : arena_fmt(a,
							  "more than %zu bytes",
							  max)
							.p);
			return false;
		}
		if (got == 0)
			break;
		buf_add(&b, (struct str){room, (size_t)got});
	}
	*out = buf_str(&b);
	return true;
}
