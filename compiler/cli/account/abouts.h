/*
 * What is on record about refusals behind their decisions: to be shown beside
 * them, which others may have come between.
 */
#ifndef COMPILER_CLI_ACCOUNT_ABOUTS_H
#define COMPILER_CLI_ACCOUNT_ABOUTS_H

#include "compiler/base/arena.h"

#include <cjson/cJSON.h>

struct abouts;

struct abouts *abouts_new(struct arena *a);
/* All that a session's folder has of them; what cannot be read is not there:
 * who reads the decisions says it. */
void abouts_read(struct abouts *x, const char *dir);
/* A line of decisions.jsonl: kept if it is about a refusal. */
void abouts_take(struct abouts *x, struct str line);
/* A line again: what is about it, once; empty: nothing is. */
struct str abouts_of(struct abouts *x, struct str line);
/* The same of a decision, each time. */
struct str abouts_find(const struct abouts *x, const cJSON *decision);
/* One that is about a refusal: has it been given by now? */
bool abouts_was_given(const struct abouts *x, struct str line);

#endif
