/* What HAProxy asks about the agent's connections and requests, and what the
 * launcher says of those. */
#include "runtime/gate/ask/parts.h"
#include "runtime/gate/record/record.h"
#include "runtime/gate/told.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is in it: one line of the record, and nothing behind it. */
static void tell_question(const struct ask_line *l)
{
	struct record_question q = {.id = 1,
				    .rule = "a-0123456789",
				    .name = l->name,
				    .addr = &l->addr,
				    .port = l->port,
				    .sport = l->sport,
				    .method = l->method,
				    .path = l->path};
	char buf[RECORD_MAX];
	size_t n = record_question(&q, buf);

	if (n == 0 || buf[n - 1] != '\n' ||
	    str_find((struct str){buf, n}, '\n', 0) != n - 1)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	struct worker_msg m;
	struct ask_line l;

	if (ask_line_parse(text, &l))
		tell_question(&l);
	if (told_parse(text, &m) && m.word != WORKER_CHANGE &&
	    m.word != WORKER_LISTENS && m.word != WORKER_ANSWER)
		abort();
	return 0;
}
