/* `membrane images`: build those that are missing or old, by image/images.sh. */
#include "compiler/cli/parts.h"

#include "compiler/base/sys/proc.h"
#include "compiler/cli/frame/agents.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/cli/workspace/installed.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char script[] = "images.sh";

typedef VEC(char *) arguments;

static bool is_image(struct str word)
{
	const struct command_word *w;

	for (size_t i = 0; (w = command_word_at(i)); i++)
		if (w->command == COMMAND_IMAGES && w->name &&
		    str_is(word, w->name))
			return true;
	return false;
}

/* Those that are asked for, or all that every session has. */
static void add_images(struct arena *a, const struct options *o, arguments *out)
{
	const struct command_word *w;

	vec_each(word, &o->words)
		*vec_push(a, out) = arena_cstr(a, *word);
	for (size_t i = 0; o->words.n == 0 && (w = command_word_at(i)); i++)
		if (w->command == COMMAND_IMAGES && w->name &&
		    !agent_named(str_of(w->name)))
			*vec_push(a, out) = arena_cstr(a, str_of(w->name));
}

/* To its end; what it said went to stderr. */
static int run_script(char *const *argv, struct err *err)
{
	const struct proc_opts o = {
		.argv = argv, .in = -1, .out = -1, .err = -1, .keep = -1};
	char text[PROC_STATUS_TEXT_MAX];
	int rc, status;
	pid_t pid;

	rc = proc_spawn(&o, &pid, err);
	if (rc < 0)
		return rc;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "%s: %s", argv[0],
				       strerror(errno));
	status = proc_status(status);
	if (status)
		return err_set(err, -EIO, "the images are not built: %s",
			       proc_status_text(status, text));
	return 0;
}

/* args: words of the script, NULL behind the last. */
static int call_script(struct arena *a, const arguments *args, struct err *err)
{
	const char *folder = installed_folder(a, "image", script), *state;
	char *path = arena_cstr(a, arena_fmt(a, "%s/%s", folder, script));
	arguments argv = {0};
	int rc;

	if (access(path, X_OK) < 0)
		return err_set(
			err, -ENOENT,
			"what images are built from is not installed: %s is part of the package membrane-images",
			path);
	/* For PATH: the script finds its programs by it. */
	rc = inputs_state(a, &state, err);
	if (rc < 0)
		return rc;
	*vec_push(a, &argv) = path;
	vec_each(word, args)
		*vec_push(a, &argv) = *word;
	*vec_push(a, &argv) = NULL;
	return run_script(argv.v, err);
}

int images_build_for(struct arena *a, const char *agent, struct err *err)
{
	/* What a session needs besides, too: this may be the first of all. */
	static const char *const with[] = {"gate", "watch", "view"};
	arguments args = {0};

	for (size_t i = 0; i < ARRAY_LEN(with); i++)
		*vec_push(a, &args) = arena_cstr(a, str_of(with[i]));
	*vec_push(a, &args) = arena_cstr(a, str_of(agent));
	return call_script(a, &args, err);
}

int command_images(struct arena *a, const struct options *o)
{
	static char remove_them[] = "--remove", raise_them[] = "--update";
	bool to_raise = options_get(o, OPTION_UPDATE) != NULL;
	arguments args = {0};
	struct err err;

	vec_each(word, &o->words)
		if (!is_image(*word) || (to_raise && !agent_named(*word))) {
			console_error(
				to_raise
					? "there is no image of an agent '%s': 'membrane agents' lists them"
					: "there is no image '%s': 'membrane help images' lists them",
				view_cleaned(a, str_slice(*word, 0, 60)).p);
			return STATUS_USAGE;
		}
	if (options_get(o, OPTION_REMOVE)) {
		if (o->words.n == 0 || to_raise) {
			console_error(
				"--remove needs the names of images, and nothing else");
			return STATUS_USAGE;
		}
		*vec_push(a, &args) = remove_them;
	}
	if (to_raise)
		*vec_push(a, &args) = raise_them;
	if (!to_raise || o->words.n)
		add_images(a, o, &args);
	if (call_script(a, &args, &err) == 0)
		return STATUS_OK;
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return STATUS_IO;
}
