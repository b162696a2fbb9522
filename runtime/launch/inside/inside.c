#include "runtime/launch/inside/inside.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/init_words.h"
#include "runtime/launch/inside/host_words.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define INCLUDE_PROGRAM(name, file)                                            \
	__asm__(".section .rodata\n"                                           \
		".balign 16\n" name ": .incbin \"" file "\"\n" name "_end:\n"  \
		".previous\n")

INCLUDE_PROGRAM("membrane_seal", SEAL_OBJECT);
INCLUDE_PROGRAM("membrane_init", INIT_OBJECT);
extern const char membrane_seal[], membrane_seal_end[];
extern const char membrane_init[], membrane_init_end[];

/* --- its files ------------------------------------------------------------ */

struct str inside_seal(void)
{
	return (struct str){membrane_seal,
			    (size_t)(membrane_seal_end - membrane_seal)};
}

struct str inside_init(void)
{
	return (struct str){membrane_init,
			    (size_t)(membrane_init_end - membrane_init)};
}

static int write_program(const char *folder, const char *name, struct str bytes,
			 struct err *err)
{
	auto_fd int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int rc;

	if (dir < 0)
		return err_errno(err, folder);
	rc = fileio_write(dir, name, bytes, 0755, err);
	/* the agent's user reads and runs it, whatever our umask is */
	if (rc == 0 && fchmodat(dir, name, 0755, 0) < 0)
		rc = err_errno(err, name);
	return rc;
}

int inside_write_seal(const char *folder, struct err *err)
{
	return write_program(folder, DOCKER_JSON_SEAL, inside_seal(), err);
}

int inside_write(const char *folder, struct err *err)
{
	struct statvfs fs;

	if (statvfs(folder, &fs) < 0)
		return err_errno(err, folder);
	if (fs.f_flag & ST_NOEXEC)
		return err_set(
			err, -ENOEXEC,
			"%s: no program runs from there (its file system is mounted noexec), and the sandbox's init has to; name another folder with MEMBRANE_HOME",
			folder);
	return write_program(folder, DOCKER_JSON_INIT, inside_init(), err);
}

int inside_listen(const char *folder, int *out_fd, struct err *err)
{
	auto_fd int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int fd;

	/* whoever the agent is: it can write, and cannot read */
	if (dir < 0 || mkfifoat(dir, DOCKER_JSON_BEGUN, 0600) < 0 ||
	    (fd = openat(dir, DOCKER_JSON_BEGUN,
			 O_RDONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
		return err_errno(err, DOCKER_JSON_BEGUN);
	if (fchmod(fd, 0222) < 0) {
		close(fd);
		return err_errno(err, DOCKER_JSON_BEGUN);
	}
	fileio_give(dir, DOCKER_JSON_BEGUN);
	*out_fd = fd;
	return 0;
}

/* --- its words ------------------------------------------------------------ */

static bool has_word(const struct vector *v, const char *word)
{
	vec_each(w, &v->words)
		if (strcmp(*w, word) == 0)
			return true;
	return false;
}

char *const *inside_sealed(struct arena *a, const char *image,
			   char *const *command)
{
	vectors_words out = {0};

	*vec_push(a, &out) = arena_cstr(a, STR(DOCKER_JSON_INIT_AT));
	*vec_push(a, &out) = arena_cstr(a, STR(INIT_SEAL));
	if (image)
		*vec_push(a, &out) =
			arena_cstr(a, arena_fmt(a, INIT_IMAGE "%s", image));
	*vec_push(a, &out) = arena_cstr(a, STR(INIT_END));
	for (; *command; command++)
		*vec_push(a, &out) = *command;
	*vec_push(a, &out) = NULL;
	return out.v;
}

static void add_host(struct arena *a, const struct vectors_values *v,
		     const char *name, vectors_words *out)
{
	const char *said = host_word(name, v->tty, v->env, v->env_ctx);

	if (said)
		*vec_push(a, out) =
			arena_cstr(a, arena_fmt(a, "%s=%s", name, said));
}

/* image: NULL where the host's own programs are there. */
static void put_init(struct arena *a, const char *image,
		     const struct inside_size *size, struct vectors_values *v)
{
	vectors_words out = {0};

	if (v->tty && size->rows && size->columns)
		*vec_push(a, &out) =
			arena_cstr(a, arena_fmt(a, INIT_SIZE "%ux%u",
						size->rows, size->columns));
	add_host(a, v, "TERM", &out);
	add_host(a, v, "LANG", &out);
	if (image)
		*vec_push(a, &out) =
			arena_cstr(a, arena_fmt(a, INIT_IMAGE "%s", image));
	*vec_push(a, &out) = NULL;
	v->init = (const char *const *)out.v;
}

bool inside_begins_image(const struct vector *agent)
{
	return has_word(agent, DOCKER_JSON_ENTRYPOINT);
}

int inside_words(struct arena *a, const struct vector *agent,
		 const char *image, const struct docker_command *runs,
		 const struct inside_size *size, struct vectors_values *values,
		 struct err *err)
{
	bool given = values->command && values->command[0];
	vectors_words out = {0};

	if (has_word(agent, DOCKER_JSON_INIT_WORDS))
		put_init(a, image, size, values);
	if (!inside_begins_image(agent))
		return 0;
	vec_each(w, &runs->entrypoint)
		*vec_push(a, &out) = arena_cstr(a, str_of(*w));
	vec_each(w, &runs->command)
		if (!given)
			*vec_push(a, &out) = arena_cstr(a, str_of(*w));
	if (!given && out.n == 0)
		return err_set(
			err, -ENOENT,
			"the image '%s' has no command of its own: say which to run, as in 'membrane -- sh'",
			image);
	*vec_push(a, &out) = NULL;
	values->entrypoint = (const char *const *)out.v;
	return 0;
}

void inside_host_words(struct arena *a, const char *image, const char *root,
		       const struct inside_size *size,
		       struct vectors_values *values)
{
	static const char *const shell[] = {"/bin/bash", NULL},
				 *const plain[] = {"/bin/sh", NULL},
				 *const none[] = {NULL};
	bool given = values->command && values->command[0];

	put_init(a, image, size, values);
	values->entrypoint =
		given ? none
		: access(arena_fmt(a, "%s%s", root, shell[0]).p, X_OK) == 0
			? shell
			: plain;
}

const char *const *inside_environment(struct arena *a, bool tty,
				      const char *(*get)(void *ctx,
							 const char *name),
				      void *ctx)
{
	static const char *const names[] = {HOST_WORDS};
	vectors_words out = {0};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		const char *said = host_word(names[i], tty, get, ctx);

		if (said)
			*vec_push(a, &out) = arena_cstr(
				a, arena_fmt(a, "--env=%s=%s", names[i], said));
	}
	*vec_push(a, &out) = NULL;
	return (const char *const *)out.v;
}
