/*
 * Options of `docker run`, compared by what docker makes of them and not by
 * their spelling: "-v /a:/b", "-v/a:/b" and "--volume=/a:/b" are one.
 */
#ifndef COMPILER_ALGEBRA_DECIDE_OPTION_H
#define COMPILER_ALGEBRA_DECIDE_OPTION_H

#include "compiler/ir/ir.h"

struct option {
	struct str name;  /* the long one, without dashes */
	bool any;	  /* stands for every value: none was written */
	struct str value; /* of a flag "true" or "false" */
};
typedef VEC(struct option) option_list;

/*
 * "--name=value", "--name value", "-n value", "-nvalue", "-itn value": one or
 * more options. False when docker would not take it for options.
 */
must_check bool option_parse(struct arena *a, struct str text,
			     option_list *out);
struct option option_of(const struct arg *arg);
/* The one spelling that it is shown in: "--name=value", "--flag". */
struct str option_text(struct arena *a, const struct option *o);
/* Are all the options that the text spells among the arguments? */
bool option_among(struct arena *a, const arg_list *args, struct str text);
/* One of the arguments that the text, an option or several, is about. */
const struct arg *option_find(struct arena *a, const arg_list *args,
			      struct str text);

#endif
