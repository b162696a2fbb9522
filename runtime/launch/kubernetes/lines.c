#include "runtime/launch/kubernetes/lines.h"

void lines_init(struct lines *l, struct arena *a, lines_fn *on_line, void *ctx)
{
	l->on_line = on_line;
	l->ctx = ctx;
	buf_init(&l->part, a);
}

void lines_reset(struct lines *l)
{
	buf_cut(&l->part, 0);
}

static int tell_line(struct lines *l, struct err *err)
{
	int rc = l->on_line(l->ctx, buf_str(&l->part), err);

	lines_reset(l);
	return rc;
}

int lines_take(struct lines *l, struct str text, struct err *err)
{
	int rc = 0;

	while (text.n && rc == 0) {
		size_t end = str_find(text, '\n', 0);

		buf_add(&l->part, str_slice(text, 0, end));
		if (l->part.n > LINES_LINE_MAX)
			buf_cut(&l->part, LINES_LINE_MAX);
		if (end == text.n)
			return 0;
		rc = tell_line(l, err);
		text = str_slice(text, end + 1, text.n);
	}
	return rc;
}

int lines_end(struct lines *l, struct err *err)
{
	return l->part.n ? tell_line(l, err) : 0;
}
