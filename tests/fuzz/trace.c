/*
 * The reader of traces and the expressions over them: a line with an
 * expression, then a trace, plain or gzip. Whatever is in them is counted as
 * broken or gets an error; the same input says the same twice.
 */
#include "compiler/trace/filter_match.h"
#include "compiler/trace/reader.h"

#include <stdlib.h>
#include <sys/mman.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint64_t read_all(const char *path, const struct filter *f)
{
	const struct trace_event *e;
	struct reader *r;
	struct err err;
	uint64_t matched = 0;

	if (reader_open(path, &r, &err) < 0)
		abort();
	while (reader_next(r, &e, &err) > 0) {
		struct trace_object o = trace_object(e);

		matched += o.port > 0;
		matched += f && filter_matches(f, e);
		matched += (uint64_t)trace_exit(e).code;
	}
	matched += reader_counts(r)->records << 32;
	reader_close(r);
	return matched;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str rest = {(const char *)data, n}, line = {0};
	struct arena *a = arena_new();
	struct sources sources;
	struct diags diags;
	struct filter *f;
	char path[32];
	int fd = memfd_create("trace", MFD_CLOEXEC);

	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	str_line(&rest, &line);
	f = filter_parse(&diags, &sources,
			 arena_str(a, str_slice(line, 0, 4096)), NULL);
	if (!f && diags.errors == 0)
		abort();
	if (write(fd, rest.p, rest.n) != (ssize_t)rest.n)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (read_all(path, f) != read_all(path, f))
		abort();
	if (f)
		filter_done(f);
	close(fd);
	arena_free(a);
	return 0;
}
