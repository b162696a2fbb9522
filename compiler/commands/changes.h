/*
 * How two plans differ, told by what a person wrote: grants, denials,
 * patterns, words of docker's command lines. A file that differs in some
 * other way is named as a whole.
 */
#ifndef COMPILER_COMMANDS_CHANGES_H
#define COMPILER_COMMANDS_CHANGES_H

#include "compiler/plan/plan.h"

enum change_kind {
	CHANGE_ALLOW,
	CHANGE_DENY,
	CHANGE_IGNORE,
	CHANGE_READONLY,
	CHANGE_HOLD,
	CHANGE_AGENT, /* a word, or a flag with its value, of a vector */
	CHANGE_GATE,
	CHANGE_TRACER,
	CHANGE_FILE,
};

struct change {
	enum change_kind kind;
	bool added;	 /* else removed */
	bool both;	 /* changed: neither of the two */
	struct str text; /* not cleaned */
};
typedef VEC(struct change) change_list;

const char *change_kind_name(enum change_kind k);
/* In the order of kinds, then of texts. */
void changes_find(struct arena *a, const struct plan *old,
		  const struct plan *now, change_list *out);

#endif
