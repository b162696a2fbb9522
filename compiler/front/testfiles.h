/*
 * Files of tests: *.membrane-test.yaml beside the policy, and those that a
 * command line names. Each holds the keys of `tests` at its top level.
 */
#ifndef COMPILER_FRONT_TESTFILES_H
#define COMPILER_FRONT_TESTFILES_H

#include "compiler/front/front.h"

#define TESTFILES_ENDING ".membrane-test.yaml"

/*
 * Read those of the workspace's root, in the order of their names, and then
 * the named ones, each once; add what they hold to *out. c and sources are
 * those of a compile that is done. False in *out_ok after reporting. A
 * negative return is a file that cannot be read, or a named one that does not
 * exist, with *err.
 */
must_check int testfiles_load(struct pass_ctx *c, struct sources *sources,
			      const struct front_input *in,
			      const struct str *named, size_t n,
			      struct ir_tests *out, bool *out_ok,
			      struct err *err);

#endif
