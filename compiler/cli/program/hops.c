/* From the name of a program to every path that it is found by. */
#include "compiler/cli/program/parts.h"

#include "compiler/base/buf.h"
#include "compiler/base/err.h"
#include "compiler/ir/docker_mount.h"

#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCRIPT_LINE                                                            \
	256u /* of which the kernel reads that much: binfmt_script */

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
	       access(path, X_OK) == 0;
}

const char *program_where(struct arena *a, const char *path, struct str name)
{
	struct str rest = str_of(path ? path : ""), dir;

	if (name.n == 0 || str_find(name, '/', 0) < name.n)
		return NULL;
	while (str_field(&rest, ':', &dir)) {
		const char *at;

		if (!str_starts(dir, STR("/")))
			continue;
		at = arena_fmt(a, "%.*s/%.*s", STR_ARG(str_unslashed(dir)),
			       STR_ARG(name))
			     .p;
		if (is_program(at))
			return at;
	}
	return NULL;
}

/* --- links ---------------------------------------------------------------- */

/*
 * The path with the first link on it followed, or NULL where there is none.
 * What is before it has none: "..", too, is then what it looks like.
 */
static const char *follow_link(struct arena *a, struct str path)
{
	for (size_t i = 1; i <= path.n; i++) {
		struct str front = str_slice(path, 0, i);
		char to[PATH_MAX];
		struct str before;
		ssize_t n;

		if (i < path.n && path.p[i] != '/')
			continue;
		n = readlink(arena_cstr(a, front), to, sizeof(to) - 1);
		if (n <= 0)
			continue;
		to[n] = '\0';
		before = to[0] == '/' ? STR("") : str_parent(front);
		return docker_mount_clean(
			       a,
			       arena_fmt(a, "%.*s/%s%.*s", STR_ARG(before), to,
					 STR_ARG(str_slice(path, i, path.n))))
			.p;
	}
	return NULL;
}

/* --- scripts -------------------------------------------------------------- */

/* Out of "#! /usr/bin/env -S NAME=VALUE node --flag": what is run. */
static const char *run_by_env(struct arena *a, const char *path,
			      struct str words)
{
	struct str word;

	while (str_field(&words, ' ', &word)) {
		if (word.n == 0 || word.p[0] == '-' ||
		    str_find(word, '=', 0) < word.n)
			continue;
		return str_starts(word, STR("/"))
			       ? arena_cstr(a, word)
			       : program_where(a, path, word);
	}
	return NULL;
}

static struct str read_line(struct arena *a, const char *program)
{
	auto_fd int fd =
		open(program, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char line[SCRIPT_LINE];
	ssize_t n = fd < 0 ? 0 : read(fd, line, sizeof(line));
	struct str text = {line, n > 0 ? (size_t)n : 0};

	if (!str_starts(text, STR("#!")))
		return (struct str){0};
	text = str_slice(text, 2, str_find(text, '\n', 0));
	return arena_str(a, str_trim(text));
}

/* What runs it, and by env(1) what that runs: added; the last is followed. */
static const char *add_interpreter(struct arena *a, const char *path,
				   const char *program, program_paths *out)
{
	struct str line = read_line(a, program), word;
	const char *by;

	if (!str_field(&line, ' ', &word) || !str_starts(word, STR("/")))
		return NULL;
	by = arena_cstr(a, word);
	if (!str_ends(word, STR("/env")))
		return by;
	*vec_push(a, out) = by;
	return run_by_env(a, path, str_trim(line));
}

/* --- all ------------------------------------------------------------------ */

static bool is_known(const program_paths *list, const char *path)
{
	vec_each(p, list)
		if (strcmp(*p, path) == 0)
			return true;
	return false;
}

void hops_follow(struct arena *a, const char *path, const char *program,
		 program_paths *out)
{
	const char *at = docker_mount_clean(a, str_of(program)).p;

	while (at && out->n < PROGRAM_HOPS_MAX && !is_known(out, at)) {
		const char *next = follow_link(a, str_of(at));

		*vec_push(a, out) = at;
		at = next ? next : add_interpreter(a, path, at, out);
	}
}
