/*
 * HAProxy's runtime socket: commands in, answers read and checked.
 *
 * One connection for each batch (0.06 ms on an idle machine): there is no
 * session to lose. Calls wait for the answer, but never longer than
 * ADMIN_WAIT_MS. Whoever may write to this socket may rewrite the policy; it
 * lies in a directory that only HAProxy and the gate can enter.
 */
#ifndef RUNTIME_GATE_L7_ADMIN_H
#define RUNTIME_GATE_L7_ADMIN_H

#include "compiler/base/err.h"

#define ADMIN_WAIT_MS 1000
#define ADMIN_BATCH_MAX                                                        \
	8192u /* bytes; HAProxy drops what its buffer of                       \
		 16 KiB cannot hold, without a word */
#define ADMIN_ANSWER_MAX 16384u

/*
 * Send text, which must end in a LF, and read the answer to its end.
 *   -ETIMEDOUT  no answer in time
 *   -EMSGSIZE   a batch or an answer that is too long
 *   other       from connecting, or from the socket
 */
must_check int admin_ask(const char *path, struct str text,
			 char answer[ADMIN_ANSWER_MAX], size_t *out_n,
			 struct err *err);

/* The same; of a longer answer as much as there is room for. */
must_check int admin_ask_some(const char *path, struct str text,
			      char answer[ADMIN_ANSWER_MAX], size_t *out_n,
			      struct err *err);

/*
 * What goes on while an answer is waited for, as HAProxy may itself be waiting
 * for it: step is called when fd can be read, until it says false. One for the
 * process; fd -1, as at the start: nothing.
 */
void admin_meanwhile(int fd, bool (*step)(void *data), void *data);

/*
 * Pure: is this the answer to n commands that say nothing when they are done?
 * Each of them answers with an empty line; lines that read `fine` (NULL: none)
 * are let pass. On false *out_line is what was said instead.
 */
bool admin_done(struct str answer, unsigned n, const char *fine,
		struct str *out_line);

/* Both: ask, and -EPROTO with HAProxy's words unless all n are done. */
must_check int admin_do(const char *path, struct str text, unsigned n,
			const char *fine, struct err *err);

#endif
