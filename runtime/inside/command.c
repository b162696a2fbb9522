/*
 * From a process of ours to the command: where it is looked for, and what is
 * said when it cannot be.
 */
#include "runtime/inside/parts.h"

#include "compiler/plan/docker_json.h"
#include "compiler/plan/init_words.h"
#include "compiler/plan/mounts_plan.h"
#include "compiler/plan/view_hello.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>

#define LINE_ROOM 1024 /* of a message, and of a script's first line */

/* --- what is said --------------------------------------------------------- */

void command_say(const char *const *parts)
{
	char line[LINE_ROOM];
	size_t n = 0;
	const char *beginning = "membrane: ";

	for (const char *s = beginning; s; s = *parts++)
		for (; *s && n + 1 < sizeof(line); s++) {
			unsigned char c = (unsigned char)*s;

			line[n++] = c < ' ' || c == 127 ? '?' : (char)c;
		}
	line[n++] = '\n';
	call_kernel(SYS_write, 2, address(line), (long)n, 0);
}

_Noreturn void command_leave(long status)
{
	for (;;)
		call_kernel(SYS_exit_group, status, 0, 0, 0);
}

static long launcher = -1; /* the FIFO */

void command_announce(void)
{
	/* where nobody waits for it, nobody reads */
	launcher =
		call_kernel(SYS_openat, AT_FDCWD, address(DOCKER_JSON_BEGUN_AT),
			    O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0);
}

static _Noreturn void refuse_command(long status, const char *const *parts)
{
	command_say(parts);
	if (launcher >= 0)
		call_kernel(SYS_write, launcher, address("-"), 1, 0);
	command_leave(status);
}

/* --- where it is ---------------------------------------------------------- */

const char *command_variable(char *const *envp, const char *name)
{
	const char *value = NULL;

	for (; *envp && !value; envp++)
		value = text_behind(*envp, name);
	return value;
}

static bool has_slash(const char *s)
{
	for (; *s; s++)
		if (*s == '/')
			return true;
	return false;
}

/* Why it cannot. */
static long go_on_as(const char *path, const struct told *t)
{
	return -call_kernel(SYS_execve, address(path), address(t->command),
			    address(t->envp), 0);
}

/* A folder of PATH, which is the current one if it is empty, and the name. */
static bool join_path(const char *folder, size_t n, const char *name,
		      char out[PATH_MAX])
{
	size_t have = text_length(name), at = 0;

	if (n + have + 3 > PATH_MAX)
		return false;
	if (n == 0)
		out[at++] = '.';
	for (size_t i = 0; i < n; i++)
		out[at++] = folder[i];
	out[at++] = '/';
	for (size_t i = 0; i <= have; i++)
		out[at++] = name[i];
	return true;
}

static bool is_there(const char *path)
{
	return call_kernel(SYS_faccessat, AT_FDCWD, address(path), 0, 0) == 0;
}

/*
 * As execvp(3) looks. path is where it was last found; why it cannot be run.
 * A script whose interpreter is missing is there, and that is it.
 */
static long look_for(const struct told *t, char path[PATH_MAX])
{
	const char *folders = command_variable(t->envp, "PATH=");
	long why = ENOENT, last;
	char at[PATH_MAX];
	size_t n;

	path[0] = '\0';
	for (; folders; folders = folders[n] ? folders + n + 1 : NULL) {
		for (n = 0; folders[n] && folders[n] != ':'; n++)
			;
		if (!join_path(folders, n, t->command[0], at))
			continue;
		last = go_on_as(at, t);
		if (last == ENOTDIR || (last == ENOENT && !is_there(at)))
			continue;
		join_path(folders, n, t->command[0], path);
		why = last;
		if (last != EACCES)
			break;
	}
	return why;
}

/* --- why it is not -------------------------------------------------------- */

/* The program that a script's first line names; NULL: it is no script. */
static const char *interpreter_of(const char *path, char line[LINE_ROOM])
{
	long fd = call_kernel(SYS_openat, AT_FDCWD, address(path),
			      O_RDONLY | O_CLOEXEC, 0);
	long n = fd < 0 ? -1
			: call_kernel(SYS_read, fd, address(line),
				      LINE_ROOM - 1, 0);
	char *name = line + 2, *end;

	if (n < 3 || line[0] != '#' || line[1] != '!')
		return NULL;
	line[n] = '\0';
	while (*name == ' ' || *name == '\t')
		name++;
	for (end = name; *end && *end != ' ' && *end != '\t' && *end != '\n' &&
			 *end != '\r';
	     end++)
		;
	*end = '\0';
	return name;
}

static bool is_folder(const char *path)
{
	return call_kernel(SYS_openat, AT_FDCWD, address(path),
			   O_PATH | O_DIRECTORY | O_CLOEXEC, 0) >= 0;
}

/* What there is instead of an image: what is shown of the machine. */
#define SHOWN "the session sees of this machine what is installed in /usr, and what 'visible:' in the policy names"

static _Noreturn void refuse_unseen(const struct told *t)
{
	refuse_command(INIT_NOT_FOUND,
		       (const char *const[]){"there is no '", t->command[0],
					     "' in the sandbox: " SHOWN, NULL});
}

static _Noreturn void refuse_missing(const struct told *t)
{
	const char *image = t->image;

	if (!image)
		refuse_unseen(t);
	if (has_slash(t->command[0]))
		refuse_command(
			INIT_NOT_FOUND,
			(const char *const[]){
				"there is no '", t->command[0],
				"' in the sandbox, which has the image ", image,
				" and, at /workspace, the workspace", NULL});
	refuse_command(
		INIT_NOT_FOUND,
		(const char *const[]){
			"the image ", image, " has no '", t->command[0],
			"': name one that has it with 'image:' in the policy",
			NULL});
}

static _Noreturn void refuse_found(const struct told *t, const char *path,
				   long why)
{
	const char *image = t->image ? t->image : "what the session sees of this machine";
	const char *says = "' cannot be run", *interpreter;
	char line[LINE_ROOM];

	interpreter = why == ENOENT ? interpreter_of(path, line) : NULL;
	if (interpreter)
		refuse_command(INIT_NOT_RUN,
			       (const char *const[]){
				       "'", path, "' needs '", interpreter,
				       "', and ", t->image ? "the image " : "",
				       image, " has no such program", NULL});
	if (why == ENOENT)
		says = "' is built for another C library than the image has: its loader is missing";
	else if (why == EACCES && is_folder(path))
		says = "' is a folder";
	else if (why == EACCES)
		says = "' cannot be run: nobody may execute it (chmod +x)";
	else if (why == ENOEXEC)
		says = "' is no program of this machine, and no script whose first line names its interpreter (#!/bin/sh)";
	else if (why == E2BIG)
		says = "' cannot be run: its words and variables are too long";
	refuse_command(INIT_NOT_RUN,
		       (const char *const[]){"'", path, says, NULL});
}

static long ask_view(const char *attribute)
{
	return call_kernel(SYS_getxattr, address(MOUNTS_PLAN_HOME),
			   address(attribute), 0, 0);
}

void command_claim(void)
{
	if (ask_view(VIEW_MAIN_ATTRIBUTE) == 0)
		return;
	refuse_command(
		INIT_FAILED,
		(const char *const[]){
			"the command is not started: the view of the home does not know it",
			NULL});
}

/* ENODATA: this is not the main process, which opens nothing. */
static bool may_go_on(void)
{
	long rc = ask_view(VIEW_SEAL_ATTRIBUTE);

	return rc == 0 || rc == -ENODATA;
}

_Noreturn void command_run(const struct told *t)
{
	char path[PATH_MAX];
	const char *at = t->command[0];
	long why;

	if (t->folder &&
	    call_kernel(SYS_chdir, address(t->folder), 0, 0, 0) < 0)
		refuse_command(
			INIT_NOT_RUN,
			(const char *const[]){
				"the command is to begin in '", t->folder,
				"' (--workdir), and there is no such folder",
				NULL});
	if (t->to_seal && !may_go_on())
		refuse_command(
			INIT_FAILED,
			(const char *const[]){
				"'", at,
				"' is not started: its memory cannot be closed",
				NULL});
	if (has_slash(at)) {
		why = go_on_as(at, t);
		if (why == ENOENT && !is_there(at))
			refuse_missing(t);
	} else {
		why = at[0] ? look_for(t, path) : ENOENT;
		if (why == ENOENT && (!at[0] || !path[0]))
			refuse_missing(t);
		at = path;
	}
	if (why == ENOTDIR)
		refuse_missing(t);
	refuse_found(t, at, why);
}
