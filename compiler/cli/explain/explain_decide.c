#include "compiler/cli/explain/explain_decide.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/limits.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/status.h"
#include "compiler/front/word/request.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* What one read takes: a thousand requests. */
#define CHUNK_BYTES 65536

struct answers {
	const struct ir_policy *p;
	const struct decide_files *files;
	uint32_t line; /* of stdin, from 1 */
	bool denied, unread;
};

/* What one line takes goes with it. */
static void answer_line(struct answers *as, struct arena *a, struct str line,
			struct buf *out)
{
	struct sources sources;
	struct diags diags;
	struct pass_ctx ctx = {a, &sources, &diags};
	struct ir_request r;
	const struct source *src;
	struct text text;
	struct decision d;

	sources_init(&sources, a);
	diags_init(&diags, a, &sources);
	src = sources_add(&sources, STR("<request>"), line, LAYER_FLAGS);
	text = (struct text){line,
			     {src->base, src->base + (uint32_t)line.n},
			     src->base};
	if (!request_parse(&ctx, &text, &r)) {
		console_error("line %u of stdin is no request:", as->line);
		console_diags(a, &diags);
		as->unread = true;
		buf_adds(out, "error\n");
		return;
	}
	d = decide_asked(a, as->p, as->files, &r);
	as->denied |= d.verdict == VERDICT_DENY;
	buf_adds(out, verdict_name(d.verdict));
	buf_addc(out, ' ');
	buf_adds(out, reason_name(d.reason));
	buf_addc(out, '\n');
}

/* All lines of it, answered in one write. */
static int answer_lines(struct answers *as, struct str text)
{
	struct arena *a = arena_new();
	struct str line;
	struct buf out;
	int status;

	buf_init(&out, a);
	while (str_line(&text, &line)) {
		as->line++;
		line = str_trim(line);
		if (line.n && line.p[0] != '#') {
			struct arena *one = arena_new();

			answer_line(as, one, line, &out);
			arena_free(one);
		}
	}
	status = console_result(buf_str(&out));
	arena_free(a);
	return status;
}

/* Up to and with the last end of a line; none: 0. */
static size_t whole_lines(const char *p, size_t n)
{
	while (n && p[n - 1] != '\n')
		n--;
	return n;
}

/* Reads on behind the n bytes that are there: how many came, -1 after why. */
static ssize_t read_more(char *p, size_t n)
{
	size_t room = LIMIT_SOURCE_BYTES + 1 - n;
	ssize_t got;

	do
		got = read(STDIN_FILENO, p + n,
			   room < CHUNK_BYTES ? room : CHUNK_BYTES);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		console_error("stdin: %s", strerror(errno));
	else if (n + (size_t)got > LIMIT_SOURCE_BYTES) {
		console_error("stdin: a line of more than a megabyte");
		got = -1;
	}
	return got;
}

static int answer_stdin(struct arena *a, struct answers *as)
{
	char *p = arena_alloc(a, LIMIT_SOURCE_BYTES + 1);
	size_t n = 0, done;
	ssize_t got;

	while ((got = read_more(p, n)) > 0) {
		n += (size_t)got;
		done = whole_lines(p, n);
		if (answer_lines(as, (struct str){p, done}) != STATUS_OK)
			return STATUS_IO;
		n -= done;
		memmove(p, p + done, n);
	}
	return got < 0 ? STATUS_IO : answer_lines(as, (struct str){p, n});
}

int explain_decide(const struct ir_policy *p)
{
	struct arena *a = arena_new();
	struct answers as = {.p = p, .files = decide_files_new(a, p)};
	int status = answer_stdin(a, &as);

	arena_free(a);
	if (status != STATUS_OK)
		return status;
	return as.unread ? STATUS_USAGE : as.denied ? STATUS_REFUSED : STATUS_OK;
}
