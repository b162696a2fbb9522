/*
 * The exit statuses of membrane: doc/semantics.md, section 8.
 */
#ifndef COMPILER_CLI_TEXT_STATUS_H
#define COMPILER_CLI_TEXT_STATUS_H

enum status {
	STATUS_OK = 0,
	STATUS_REFUSED = 1,
	STATUS_USAGE = 2,
	STATUS_IO = 3,
	STATUS_BUG = 4,
	STATUS_RUN_FAILED = 125,
};

#endif
