/*
 * What of ours is in the agent's container: the init as its first process, the
 * seal with `protect`, and the words that the first gets. Both programs are
 * runtime/inside, and lie in this one.
 */
#ifndef RUNTIME_LAUNCH_INSIDE_INSIDE_H
#define RUNTIME_LAUNCH_INSIDE_INSIDE_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"
#include "compiler/base/str.h"
#include "runtime/launch/docker/docker_info.h"
#include "runtime/launch/docker/vectors.h"

/* The init, in the folder, readable for all; whatever is there is replaced.
 * -ENOEXEC: no program runs from there. */
must_check int inside_write(const char *folder, struct err *err);
must_check int inside_write_seal(const char *folder, struct err *err);
struct str inside_seal(void);
/* The FIFO by which the init tells whether the command has begun, in the
 * folder; the end that hears it. */
must_check int inside_listen(const char *folder, int *out_fd, struct err *err);
struct str inside_init(void);
/* The command, begun by the init, which asks for the seal; in the arena. Both
 * end with NULL. image: for what it says, or NULL. */
char *const *inside_sealed(struct arena *a, const char *image,
			   char *const *command);

struct inside_size {
	uint16_t rows, columns; /* of the command's terminal; 0: unknown */
};

/* Is what the image runs to be begun by our words? */
bool inside_begins_image(const struct vector *agent);
/*
 * {init} and {entrypoint} of the agent's vector, from what the image says and
 * what the host has; nothing where the vector has no such word.
 *
 * image  for what the init says of it
 * runs   looked at where inside_begins_image()
 *   -ENOENT  no command was given, and the image has none
 */
must_check int inside_words(struct arena *a, const struct vector *agent,
			    const char *image,
			    const struct docker_command *runs,
			    const struct inside_size *size,
			    struct vectors_values *values, struct err *err);
/* The same where nothing says what it runs: where no command was given, a shell.
 * image: NULL where root is this machine's. */
void inside_host_words(struct arena *a, const char *image, const char *root,
		       const struct inside_size *size,
		       struct vectors_values *values);
/* {environment}: what of the host's own variables the command gets, by the
 * function, which may say NULL. */
const char *const *inside_environment(struct arena *a, bool tty,
				      const char *(*get)(void *ctx,
							 const char *name),
				      void *ctx);

#endif
