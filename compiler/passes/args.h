/*
 * Raw docker arguments, parsed as docker run would.
 *
 * The table of options (docker_options.def: long name, short letter, takes a
 * value or not, where it belongs, how dangerous it is) covers every option of
 * `docker run --help`. All spellings are understood: --name=x, --name x, -nx,
 * -n x, -itd joined. Words that are no option, or that end the options, are an
 * error: image and command are not for args.
 */
#ifndef COMPILER_PASSES_ARGS_H
#define COMPILER_PASSES_ARGS_H

#include "compiler/passes/passes.h"

/* Whose vector the option goes to: the network namespace is the gate's. */
enum arg_home { ARG_AGENT, ARG_GATE };
enum arg_class {
	ARG_HARMLESS,
	ARG_WIDENING, /* gives the agent more than the policy's own keys do */
	ARG_UNDOING,  /* undoes the sandbox: refused from a workspace */
	ARG_OURS,     /* membrane sets it itself (--name, --network, …): refused */
};

/* A published port: -p [ip:][host:]container[/proto], ranges expanded not. */
struct arg_publish {
	struct str text;       /* as docker takes it */
	enum ir_proto proto;
	uint16_t lo, hi;       /* in the container */
};

struct arg {
	struct ir_origin from;
	struct str option;     /* long name without dashes */
	bool has_value;
	struct str value;      /* with $VAR still in it */
	enum arg_home home;
	enum arg_class class;
	bool is_publish;
	struct arg_publish publish;
};
typedef VEC(struct arg) args;

/*
 * Parse p->args. Unknown options, missing values, variables in the place of an
 * option and malformed `$` are errors. env: when not NULL, asked for the value
 * of each variable: a NULL answer is an error that names it, and values are
 * classed by what they expand to; when NULL, variables are opaque.
 */
typedef const char *(*args_env)(const char *name);
must_check bool args_parse(struct pass_ctx *c, const struct ir_policy *p,
			   args_env env, args *out);

#endif
