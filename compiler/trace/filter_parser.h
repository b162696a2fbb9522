/*
 * What the actions of grammar/filter.y build. Spans are offsets into the text;
 * an action that returns NULL has reported, and the grammar then stops.
 */
#ifndef COMPILER_TRACE_FILTER_PARSER_H
#define COMPILER_TRACE_FILTER_PARSER_H

#include "compiler/trace/filter.h"

#include "compiler/base/addr.h"

#include <regex.h>

enum filter_op {
	FILTER_EQ,
	FILTER_NE,
	FILTER_LT,
	FILTER_LE,
	FILTER_GT,
	FILTER_GE,
	FILTER_GLOB,
	FILTER_REGEX,
	FILTER_IN,
	FILTER_HAS, /* the field alone: it is there, and not empty */
};

enum filter_field {
	FILTER_EVENT,
	FILTER_COMM,
	FILTER_PID,
	FILTER_TID,
	FILTER_PPID,
	FILTER_HOST_PID,
	FILTER_UID,
	FILTER_RET,
	FILTER_CONTAINER,
	FILTER_SYSCALL,
	FILTER_PATH,
	FILTER_ADDR,
	FILTER_PORT,
	FILTER_NAME,
	FILTER_ARG, /* any argument, by its own name */
};

enum filter_kind { FILTER_TEST, FILTER_NOT, FILTER_AND, FILTER_OR };

/* A value: its text, and what else that can be read as. */
struct filter_value {
	struct str text;
	struct span at;
	bool quoted, is_number, is_net;
	int64_t number;
	struct cidr net;
	struct filter_value *next; /* of a list */
};

struct filter_node {
	enum filter_kind kind;
	struct filter_node *a, *b; /* NOT: a alone */
	enum filter_field field;
	enum filter_op op;
	const char *arg; /* FILTER_ARG */
	struct filter_value *value;
	regex_t *regex;
};

struct filter {
	struct filter_node *root;
	VEC(regex_t *) regexes;
};

struct filter_parser {
	struct diags *d;
	struct arena *a;
	filter_event_at *event_at;
	struct str text;
	uint32_t base;	 /* of the text, among the sources */
	uint32_t offset; /* of the scanner */
	unsigned depth;
	struct filter *out;
};

/* part: of the text. */
void filter_error(struct filter_parser *p, struct span part, const char *fmt,
		  ...) printf_like(3, 4);
struct filter_node *filter_pair(struct filter_parser *p, enum filter_kind kind,
				struct filter_node *a, struct filter_node *b);
struct filter_node *filter_test(struct filter_parser *p, struct span field,
				enum filter_op op, struct filter_value *value);
/* quoted: with the quotes, and '\' before them and before itself. A number
 * in quotes is one, too: the field says what it is compared as. NULL only
 * without quotes. */
struct filter_value *filter_value(struct filter_parser *p, struct span at,
				  bool quoted);
void filter_unexpected(struct filter_parser *p, struct span at);

#endif
