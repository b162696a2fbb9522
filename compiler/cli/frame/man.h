/*
 * The man pages, in mdoc(7): membrane(1), membrane-VERB(1) for every
 * subcommand, and membrane-policy(5). doc/man/NAME.mdoc is the text of each,
 * from DESCRIPTION on; what the tables of commands, options, keys and warnings
 * know goes into the places that it marks:
 *
 *	@COMMANDS@  all subcommands        @OPTIONS@  the section of flags
 *	@KEYS@      the keys of a policy   @WARNINGS@  all warnings
 *	@MORE@      what words.def says    @STATUS@    the section of statuses
 *	@FILTER@    expressions of `trace`
 */
#ifndef COMPILER_CLI_FRAME_MAN_H
#define COMPILER_CLI_FRAME_MAN_H

#include "compiler/base/buf.h"

/*
 * The page of "membrane", of "policy" or of a subcommand. False, and nothing
 * written, when name is none of these.
 */
must_check bool man_write(struct buf *out, struct str name);

#endif
