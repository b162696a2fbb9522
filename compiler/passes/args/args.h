/*
 * Raw docker arguments, parsed as docker run would.
 *
 * The words are read by ir/docker_run.h, in every spelling that docker takes;
 * docker_options.def says of every option where it belongs and how dangerous
 * it is. Words that are no option, or that end the options, are an error:
 * image and command are not for args.
 */
#ifndef COMPILER_PASSES_ARGS_ARGS_H
#define COMPILER_PASSES_ARGS_ARGS_H

#include "compiler/ir/doc.h"

/*
 * Parse p->args into p->docker_args; part of normalise. Errors: unknown
 * options, missing values, words that are no option, variables in the place of
 * an option, malformed `$`, options that membrane sets itself, and from the
 * workspace what undoes the sandbox. From other layers that is a warning.
 * Variables are opaque.
 */
must_check bool args_resolve(struct pass_ctx *c, struct ir_policy *p);

/*
 * The same with the environment, before a launch: a variable that is not set
 * is an error that names it, and what a value undoes once it is expanded is
 * reported where args_resolve() could not see it. env answers NULL for a
 * variable that is not set, and is asked for HOME too; workspace and state are
 * the folders' absolute paths. resolve, when not NULL, says where a path leads
 * through the host's links: a mount is judged by both.
 */
typedef const char *(*args_env)(const char *name);
typedef struct str (*args_resolved)(struct arena *a, struct str path);
must_check bool args_check_env(struct pass_ctx *c, const struct ir_policy *p,
			       args_env env, const char *workspace,
			       const char *state, args_resolved resolve);

#endif
