/*
 * Argument vectors of `docker run`, as docker.json has them.
 *
 * Words of ours hold placeholders, {session}; strings of the policy go through
 * argv_value() and argv_raw(), which keep their braces from being any.
 */
#ifndef COMPILER_EMIT_DOCKER_ARGV_H
#define COMPILER_EMIT_DOCKER_ARGV_H

#include "compiler/base/json.h"
#include "compiler/emit/emit.h"
#include "compiler/ir/visible.h"

/* What all of the artefact's vectors are written with: in is set, the rest
 * zero; words and args are for marks. */
struct argv {
	const struct emit_in *in;
	bool native;	  /* for membrane's own engine: native.h */
	struct str image; /* of the vector that is being written */
	cJSON *list;
	VEC(struct json_place) words;
	VEC(const struct arg *) args; /* one for each of words */
};

/* What tells the containers of a session apart. */
struct argv_run {
	struct str image;
	const char *name;  /* "gate": it is called membrane-gate-{session} */
	const char *role;  /* for its label; NULL: the name */
	const char *input; /* the word about its stdin, or, of Docker's, NULL */
	bool may_pull;	   /* an image that is not built here */
};

/* "docker run" and what every container of a session has. */
void argv_begin(struct argv *w, const struct argv_run *run);
/* {"image": …, "argv": […]} */
must_check cJSON *argv_end(struct argv *w);

/* A word of our own, with its placeholders. */
void argv_put(struct argv *w, const char *word);
/*
 * --option=value in one word: whatever the value is, it cannot be taken for an
 * option of its own.
 */
void argv_value(struct argv *w, const char *option, struct str value);
void argv_u64(struct argv *w, const char *option, uint64_t v);
/* A raw argument; its variables become placeholders. */
void argv_raw(struct argv *w, const struct arg *arg);
/* Its value alone, as a word behind `front`. */
void argv_raw_value(struct argv *w, const char *front, const struct arg *arg);
/* A path of the machine, mounted at itself. */
void argv_place(struct argv *w, const struct ir_visible *v);
/* The plan, at /plan. */
void argv_plan(struct argv *w);
/* The image: what comes behind it is the container's command. */
void argv_image(struct argv *w);

/* The text of the tree that the vectors were put into, which is deleted; out is
 * empty. Where raw arguments stand in it is marked, if anybody asks. */
void argv_text(struct argv *w, cJSON *take_root, struct buf *out);

#endif
