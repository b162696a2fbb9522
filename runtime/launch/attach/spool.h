/*
 * What the command of a detached session printed: sessions/ID/output/.
 *
 * Frames as Docker's attach has them (the stream, three zeros, a length of
 * four bytes with the most significant first, then so many bytes), in the
 * order in which they came, in files 1, 2, 3 ... of SPOOL_SEGMENT bytes, of
 * which the last SPOOL_SEGMENTS are kept. One writes, any number read, also
 * while it grows: a reader never makes the writer wait, and learns when it
 * was too slow.
 */
#ifndef RUNTIME_LAUNCH_ATTACH_SPOOL_H
#define RUNTIME_LAUNCH_ATTACH_SPOOL_H

#include "compiler/base/err.h"

#include <stdint.h>

#define SPOOL_FRAME_MAX 65536u
#define SPOOL_SEGMENT	(4u << 20)
#define SPOOL_SEGMENTS	8u
#define SPOOL_FOLDER	"output"

enum spool_stream { SPOOL_OUT = 1, SPOOL_ERR = 2 };

/* The border of two frames. */
struct spool_place {
	uint32_t segment;
	uint64_t at;
};

struct spool {
	int dir_fd, fd;
	struct spool_place end;
	uint64_t unwritten; /* bytes for which the disk had no room */
};

/* Make the folder below dir, a session's. */
must_check int spool_open(struct spool *s, const char *dir, struct err *err);
/* At most SPOOL_FRAME_MAX bytes. What cannot be written is only counted. */
void spool_add(struct spool *s, enum spool_stream stream, struct str bytes);
void spool_done(struct spool *s);

struct spool_reader {
	int dir_fd, fd;
	struct spool_place place;
	bool skipped; /* what came next was gone already */
	char bytes[SPOOL_FRAME_MAX];
};

/*
 * From the oldest frame that is kept.
 *   -ENOENT  there is no record of this session's output
 */
must_check int spool_reader_open(struct spool_reader *r, const char *dir,
				 struct err *err);
/*
 * The next frame: 1, with bytes that are good until the next call; or 0, there
 * is none yet.
 *   -EPROTO  that is no record of output
 */
must_check int spool_next(struct spool_reader *r, enum spool_stream *out_stream,
			  struct str *out, struct err *err);
void spool_seek(struct spool_reader *r, struct spool_place to);
/*
 * To where the last lines of all that is there begin. An unfinished line
 * counts. *out_within: how many bytes of the next frame come before that.
 */
must_check int spool_tail(struct spool_reader *r, uint64_t lines,
			  size_t *out_within, struct err *err);
void spool_reader_done(struct spool_reader *r);

#endif
