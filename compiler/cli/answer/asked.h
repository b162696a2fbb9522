/*
 * Questions of a session that wait for a person, as its records tell of them
 * (runtime/launch/questions.h). What they say of names and paths was said by
 * programs inside: it is cleaned here, once.
 */
#ifndef COMPILER_CLI_ANSWER_ASKED_H
#define COMPILER_CLI_ANSWER_ASKED_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

struct asked {
	uint32_t id;
	/* As `membrane allow` takes it, "x.test:443" or "https://x.test/p". */
	struct str dest;
	struct str text;  /* for people: "POST https://x.test/p" */
	bool is_request;  /* and not a connection */
	struct str rule;  /* the id of the entry of `ask` */
	struct str since; /* the time of the day, UTC */
	struct str by;	  /* "by curl[10]: curl …"; or empty */
	struct str place; /* who reads what is sent there; or empty */
	struct str at;	  /* "FILE:LINE" of the entry; or empty */
	bool was_shown;	  /* to the person here: asked_next() */
};
typedef VEC(struct asked) asked_list;

/* A line of decisions.jsonl: one more, or one less. Others are passed over. */
void asked_take(struct arena *a, struct str line, asked_list *list);
/* The first that was not shown; or NULL. Ids are no order: a question is
 * recorded when it is known whose it is. */
struct asked *asked_next(asked_list *list);
/* All that wait in the session with this folder; none where nothing was
 * recorded yet. */
must_check int asked_read(struct arena *a, const char *dir, asked_list *out,
			  struct err *err);

#endif
