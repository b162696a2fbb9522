/*
 * The command line of `docker run`, read as docker reads it.
 *
 * Syntax alone: which words are options, which are their values. What an
 * option may do is passes/args_judge.h. The options are those of
 * grammar/docker-run.def, which is made from docker's own help.
 *
 *	--name=x   --name x   --flag   --flag=false
 *	-nx   -n=x   -n x   -f   -f=false   -fgnx (flags, and one with a value)
 *
 * docker's parser is pflag without interspersed words: the first word that is
 * neither an option nor the value of one is the image, and so is what stands
 * behind "--". "-" is a word. A flag takes no word behind it: the "false" of
 * "--init false" is the image.
 */
#ifndef COMPILER_IR_DOCKER_RUN_H
#define COMPILER_IR_DOCKER_RUN_H

#include "compiler/base/str.h"

#include <stdbool.h>

enum docker_run_id {
#define DOCKER_RUN(id, name, letter, type) DOCKER_RUN_##id,
#include "grammar/docker-run.def"
#undef DOCKER_RUN
	DOCKER_RUN_IDS,
};

struct docker_run_option {
	enum docker_run_id id;
	const char *name;
	char letter; /* 0 when it has none */
	enum { DOCKER_RUN_FLAG, DOCKER_RUN_NUMBER, DOCKER_RUN_WORD } type;
};

/* In the order of names. */
const struct docker_run_option *docker_run_option(enum docker_run_id id);
/* NULL when there is none. */
const struct docker_run_option *docker_run_named(struct str name);
const struct docker_run_option *docker_run_lettered(char letter);
/* The release of the client whose help the table was made from. */
const char *docker_run_version(void);
/* The boolean that docker reads; false when it is none. */
bool docker_run_bool(struct str value, bool *out);

enum docker_run_status {
	DOCKER_RUN_TAKEN,
	DOCKER_RUN_END,	    /* no word is left */
	DOCKER_RUN_IMAGE,   /* at is the image's: what follows is no option */
	DOCKER_RUN_UNKNOWN, /* text: the name, or the letter, without dashes */
	DOCKER_RUN_ALONE,   /* option stands without its value */
};

struct docker_run_found {
	uint32_t at; /* index of the word that names it */
	const struct docker_run_option *option;
	bool is_letter; /* written as a letter */
	bool has_value;
	uint32_t value_at; /* index of the word that holds the value */
	struct str value;
	struct str text; /* DOCKER_RUN_UNKNOWN */
};

/*
 * A reader goes from option to option: set word, ctx and n, the rest zero. A
 * word may hold several options; the reader keeps its place in it. joins says
 * whether word i may be the value of an option in the word before; NULL: all
 * may.
 */
struct docker_run_reader {
	struct str (*word)(const void *ctx, uint32_t i);
	bool (*joins)(const void *ctx, uint32_t i);
	const void *ctx;
	uint32_t n;
	uint32_t next; /* the word to read next */
	size_t in;     /* where in it; 0 at its beginning */
};

/*
 * After DOCKER_RUN_UNKNOWN and DOCKER_RUN_ALONE, r->next is the word behind;
 * whether an unknown option has a value cannot be known. After
 * DOCKER_RUN_IMAGE, r->next is the image, or r->n when "--" was the last word.
 */
enum docker_run_status docker_run_read(struct docker_run_reader *r,
				       struct docker_run_found *out);

#endif
