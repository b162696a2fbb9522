/*
 * `membrane reset`: end what runs, remove what membrane has made. What would be
 * removed is shown first, and somebody has to say yes; settings and logins stay
 * unless they are named.
 */
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/frame/agents.h"
#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/launch.h"
#include "runtime/launch/session/metadata.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

extern char **environ;

/* What a letter stands for. */
enum part {
	PART_SESSIONS,
	PART_IMAGES,
	PART_RECORDS,
	PART_SETTINGS,
	PART_HOME,
	PARTS,
};

static const char letters[PARTS] = {'c', 'i', 'd', 's', 'h'};
#define WITHOUT_WORDS "cid"
#define IMAGES                                                                 \
	"membrane-gate, membrane-agent, membrane-watch, membrane-view and those of agents"

/* What lies in ~/.membrane. */
static const struct {
	enum part part;
	const char *name;
} ours[] = {
#define STATE(part, name, needed) {PART_##part, name},
#include "runtime/launch/session/state.def"
#undef STATE
};

struct reset {
	bool parts[PARTS];
	const char *session; /* only this one; NULL: all */
};

static bool take_letter(struct reset *r, char letter)
{
	for (size_t i = 0; i < PARTS; i++)
		if (letters[i] == letter && !r->parts[i])
			return r->parts[i] = true;
	return false;
}

/*
 * Letters in any order, or a session, whose ID is longer than all of them are
 * or has a digit. All but sessions pull the ground from under what still runs.
 */
static struct reset parse_reset_words(struct arena *a, struct str what)
{
	struct reset r = {0};

	if (what.n == 0)
		what = STR(WITHOUT_WORDS);
	for (size_t i = 0; i < what.n; i++)
		if (!take_letter(&r, what.p[i]))
			return (struct reset){.session = arena_cstr(a, what)};
	r.parts[PART_SESSIONS] = true;
	return r;
}

/* --- what is shown -------------------------------------------------------- */

static void put_line(struct view *v, struct str text)
{
	view_wrap(v, 0, 2, text);
}

static struct str session_text(struct arena *a, const struct metadata *x)
{
	if (!x->known)
		return arena_fmt(a, "ends session %s", x->session.id);
	return arena_fmt(a, "ends session %s, in %s", x->session.id,
			 view_cleaned(a, str_of(x->workspace)).p);
}

static int put_sessions(struct view *v, struct arena *a, const char *state,
			struct err *err)
{
	sessions all = {0};
	int rc = session_list(a, state, &all, err);
	bool any = false;

	vec_each(s, &all) {
		struct metadata about;
		enum session_found found;

		metadata_read(a, s, &about);
		rc = rc < 0 ? rc : metadata_state(&about, &found, err);
		if (rc < 0)
			return rc;
		if (found == SESSION_FINISHED)
			continue;
		any = true;
		put_line(v, session_text(a, &about));
	}
	if (rc == 0 && !any)
		put_line(v, STR("no session runs"));
	return rc;
}

static bool is_there(const char *state, const char *name)
{
	auto_fd int fd = open(state, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd >= 0 && faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Those that are there, of the parts that are, or are not, to go. */
static struct str names_of(struct arena *a, const struct reset *r,
			   const char *state, bool gone)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (r->parts[ours[i].part] == gone &&
		    is_there(state, ours[i].name))
			buf_addf(&b, "%s%s", b.n ? ", " : "", ours[i].name);
	return buf_str(&b);
}

static int show_reset(struct arena *a, const struct reset *r, const char *state,
		      int fd, struct str *out, struct err *err)
{
	struct str gone = names_of(a, r, state, true),
		   kept = names_of(a, r, state, false);
	struct buf text;
	struct view v = {&text, console_width(fd), console_colour(fd)};
	int rc;

	buf_init(&text, a);
	rc = put_sessions(&v, a, state, err);
	if (r->parts[PART_IMAGES])
		put_line(&v, STR("removes the images " IMAGES));
	if (gone.n)
		put_line(&v, arena_fmt(a, "removes %.*s, of %s", STR_ARG(gone),
				       view_cleaned(a, str_of(state)).p));
	if (kept.n)
		put_line(&v, arena_fmt(a, "leaves %.*s", STR_ARG(kept)));
	*out = buf_str(&text);
	return rc;
}

/* --- what is done --------------------------------------------------------- */

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
	/* With --force, those that are not there are no error. */
	static const char *const words[] = {"docker",
					    "image",
					    "rm",
					    "--force",
					    DOCKER_JSON_IMAGE_GATE,
					    DOCKER_JSON_IMAGE_AGENT,
					    DOCKER_JSON_IMAGE_WATCH,
					    DOCKER_JSON_IMAGE_VIEW,
#define AGENT(name) AGENTS_IMAGE name,
#include "compiler/cli/frame/agents.def"
#undef AGENT
					    AGENTS_IMAGE "base",
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
	console_error("images " IMAGES " removed");
	return 0;
}

static int remove_parts(const struct reset *r, int folder, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(ours); i++) {
		if (!r->parts[ours[i].part] ||
		    unlinkat(folder, ours[i].name, 0) == 0 || errno == ENOENT)
			continue;
		if (fileio_remove_tree(folder, ours[i].name, err) < 0)
			return err_while(err, "removing '%s'", ours[i].name);
	}
	return 0;
}

static int empty_folder(struct arena *a, const struct reset *r,
			const char *state, struct err *err)
{
	struct str gone = names_of(a, r, state, true);
	auto_fd int fd = open(state, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(err, -errno, "%s: %s", state, strerror(errno));
	rc = remove_parts(r, fd, err);
	if (rc < 0)
		return rc;
	if (rmdir(state) == 0)
		console_error("%s removed", state);
	else if (errno != ENOTEMPTY && errno != EEXIST)
		return err_set(err, -errno, "%s: %s", state, strerror(errno));
	else if (gone.n)
		console_error("%.*s removed, of %s", STR_ARG(gone), state);
	return 0;
}

/* --- the command ---------------------------------------------------------- */

static bool removes_files(const struct reset *r)
{
	return r->parts[PART_RECORDS] || r->parts[PART_SETTINGS] ||
	       r->parts[PART_HOME];
}

static int do_reset(struct arena *a, const struct reset *r, const char *state,
		    struct err *err)
{
	int rc = 0;

	if (r->session || r->parts[PART_SESSIONS])
		rc = end_sessions(r, state, err);
	if (rc == 0 && r->parts[PART_IMAGES])
		rc = remove_images(err);
	if (rc == 0 && removes_files(r))
		rc = empty_folder(a, r, state, err);
	return rc;
}

/* Who names one session has said what ends. */
static int confirm_reset(struct arena *a, const struct options *o,
			 const struct reset *r, const char *state)
{
	auto_fd int tty = -1;
	struct err err;
	struct str text;

	if (r->session || options_get(o, OPTION_YES))
		return STATUS_OK;
	tty = confirm_terminal();
	if (show_reset(a, r, state, tty < 0 ? STDOUT_FILENO : tty, &text,
		       &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	if (tty >= 0 && confirm_ask(tty, text, STR("Do that? [y/N] ")))
		return STATUS_OK;
	if (tty < 0 && console_result(text) != STATUS_OK)
		return STATUS_IO;
	console_error(
		tty < 0 ? "nobody can be asked here: --yes does it; nothing was removed"
			: "nothing was removed");
	return STATUS_REFUSED;
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
	int rc, status;

	if (o->exec) {
		console_error(
			"--reset runs nothing: '--' and what follows do not belong here");
		return STATUS_USAGE;
	}
	rc = inputs_state(a, &state, &err);
	if (rc == 0) {
		status = confirm_reset(a, o, &r, state);
		if (status != STATUS_OK)
			return status;
		rc = do_reset(a, &r, state, &err);
	}
	if (rc == 0)
		return STATUS_OK;
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return r.session && rc == -ENOENT ? STATUS_REFUSED : STATUS_IO;
}
