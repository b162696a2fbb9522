/*
 * The bytes of a trace: plain, or gzip of any number of members, also of a
 * file that still grows. zlib reads the members.
 *
 * A member that is damaged costs itself and no other: what follows is found by
 * the next member's first bytes.
 */
#ifndef COMPILER_TRACE_INPUT_H
#define COMPILER_TRACE_INPUT_H

#include "compiler/base/err.h"

struct input;

/* "-" is stdin. -ENOENT and so on, with the path in *err. */
must_check int input_open(const char *path, struct input **out,
			  struct err *err);
void input_close(struct input *in);
/*
 * At most n bytes more, n > 0. 0: there are none yet; a later call goes on if
 * the file has grown.
 *   -EBADMSG  something is missing here, *err is not set; the next call goes
 *             on behind it
 *   -EIO and so on, the file cannot be read
 */
must_check int input_read(struct input *in, char *to, unsigned n,
			  struct err *err);
/* Does what was read end within a member? */
bool input_is_cut(const struct input *in);

#endif
