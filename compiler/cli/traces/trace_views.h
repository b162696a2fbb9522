/*
 * What `membrane trace` prints: the story, statistics, the tree of processes.
 * Each is made, given every event in order, and ended; what can be said at once
 * is, so that a trace of any size needs the same memory.
 */
#ifndef COMPILER_CLI_TRACES_TRACE_VIEWS_H
#define COMPILER_CLI_TRACES_TRACE_VIEWS_H

#include "compiler/trace/event.h"

#include <cjson/cJSON.h>
#include <stdio.h>

struct trace_look {
	FILE *out;
	bool colour, json;
	bool cut;	   /* lines that are too long, as for a terminal */
	unsigned width;	   /* columns */
	uint64_t since_ns; /* nothing before that; 0: everything */
};

struct story;
struct story *story_new(const struct trace_look *look);
void story_add(struct story *s, const struct trace_event *e);
/* What the gate decided of a connection: told of whose that was. */
void story_decision(struct story *s, const cJSON *d, uint64_t at_ns);
void story_end(struct story *s); /* and let go of it */
/* So far, for somebody who watches. */
void story_flush(struct story *s);

struct stats;
struct stats *stats_new(const struct trace_look *look);
void stats_add(struct stats *s, const struct trace_event *e);
void stats_end(struct stats *s, bool prints);

struct tree;
struct tree *tree_new(const struct trace_look *look);
void tree_add(struct tree *t, const struct trace_event *e);
void tree_end(struct tree *t);

#endif
