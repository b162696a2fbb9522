/* `membrane reset`: end what runs, remove what membrane has made. */
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

struct reset {
	bool containers, images, folder;
	const char *session; /* only this one; NULL: all */
};

/*
 * "cid" in any order, a part of it, or nothing, which is all of it; else a
 * session. A session's ID is longer than three letters.
 */
static struct reset parse_reset_words(struct arena *a, struct str what)
{
	struct reset r = {0};

	for (size_t i = 0; i < what.n; i++) {
		bool *part = what.p[i] == 'c'	? &r.containers
			     : what.p[i] == 'i' ? &r.images
			     : what.p[i] == 'd' ? &r.folder
						: NULL;

		if (!part || *part)
			return (struct reset){.containers = true,
					      .session = arena_cstr(a, what)};
		*part = true;
	}
	if (what.n == 0)
		r.images = r.folder = true;
	/* Both pull the ground from under what still runs. */
	r.containers |= r.images || r.folder;
	return r;
}

static int end_sessions(const struct reset *r, const char *state,
			struct err *err)
{
	unsigned ended = 0;
	int rc = launch_reset(state, r->session, &ended, err);

	if (rc < 0)
		return rc;
	console_error("%u session%s ended", ended, ended == 1 ? "" : "s");
	return 0;
}

static int remove_images(struct err *err)
{
	static const char *const words[] = {"docker",
					    "image",
					    "rm",
					    "--force",
					    DOCKER_JSON_IMAGE_GATE,
					    DOCKER_JSON_IMAGE_AGENT,
					    DOCKER_JSON_IMAGE_WATCH,
					    DOCKER_JSON_IMAGE_VIEW,
					    NULL};
	char *argv[ARRAY_LEN(words)] = {NULL};
	posix_spawn_file_actions_t files;
	int rc, status;
	pid_t pid;

	for (size_t i = 0; words[i]; i++)
		argv[i] = strdup(words[i]);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	rc = posix_spawnp(&pid, argv[0], &files, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	for (size_t i = 0; argv[i]; i++)
		free(argv[i]);
	if (rc)
		return err_set(err, -rc, "docker: %s", strerror(rc));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "docker: %s",
				       strerror(errno));
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		return err_set(err, -EIO, "docker could not remove the images");
	console_error(
		"images membrane-gate, membrane-agent, membrane-watch and membrane-view removed");
	return 0;
}

/*
 * Only what is ours, by name: MEMBRANE_HOME may have been set to a folder
 * that holds more than that.
 */
static int remove_folder(const char *state, struct err *err)
{
	static const char *const ours[] = {"config.yaml", "empty", "holds.lock",
					   "home",	  "last",  "saving",
					   "sessions",	  "trace", "trust.json",
					   "workspaces"};
	auto_fd int fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", state, strerror(errno));
	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		if (unlinkat(fd, ours[i], 0) == 0 || errno == ENOENT)
			continue;
		if (fileio_remove_tree(fd, ours[i], err) < 0)
			return err_while(err, "emptying %s", state);
	}
	if (rmdir(state) == 0)
		console_error("%s removed", state);
	else if (errno == ENOTEMPTY || errno == EEXIST)
		console_error("%s emptied of what is membrane's, and left",
			      state);
	else
		return err_set(err, -errno, "%s: %s", state, strerror(errno));
	return 0;
}

int command_reset(struct arena *a, const struct options *o)
{
	const struct option_given *flag = options_get(o, OPTION_RESET);
	struct str what = flag	       ? flag->value
			  : o->words.n ? o->words.v[0]
				       : (struct str){0};
	struct reset r = parse_reset_words(a, what);
	const char *state;
	struct err err;
	int rc;

	if (o->exec) {
		console_error(
			"--reset runs nothing: '--' and what follows do not belong here");
		return STATUS_USAGE;
	}
	rc = inputs_state(a, &state, &err);
	if (rc == 0 && r.containers)
		rc = end_sessions(&r, state, &err);
	if (rc == 0 && r.images)
		rc = remove_images(&err);
	if (rc == 0 && r.folder)
		rc = remove_folder(state, &err);
	if (rc == 0)
		return STATUS_OK;
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return r.session && rc == -ENOENT ? STATUS_REFUSED : STATUS_IO;
}
