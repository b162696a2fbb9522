/*
 * Traces, as a stream of events: JSON lines, plain or gzip, also of a file
 * that still grows. Constant memory, whatever the size.
 *
 * What is no record is counted and left out: a trace that is damaged, or whose
 * end was cut off, is still worth reading. yajl reads the JSON.
 */
#ifndef COMPILER_TRACE_READER_H
#define COMPILER_TRACE_READER_H

#include "compiler/base/err.h"
#include "compiler/trace/event.h"

#define READER_LINE_MAX (1u << 20)

struct reader;

struct reader_counts {
	uint64_t records, bytes; /* bytes of JSON */
	uint64_t bad;		 /* lines that are no records, or too long */
	uint64_t first_bad;	 /* number of the first of them, from 1 */
	uint64_t damaged;	 /* places where something is missing */
	bool cut;		 /* the file ends within a record */
};

/* "-" is stdin. -ENOENT and so on, with the path in *err. */
must_check int reader_open(const char *path, struct reader **out,
			   struct err *err);
void reader_close(struct reader *r);
/*
 * The next event: 1. It stays until the next call. 0 at the end of what is
 * there; a later call goes on if the file has grown.
 *   -EIO and so on, the file cannot be read
 */
must_check int reader_next(struct reader *r, const struct trace_event **out,
			   struct err *err);
const struct reader_counts *reader_counts(const struct reader *r);

#endif
