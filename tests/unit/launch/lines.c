/* Lines out of pieces: wherever they are cut, however long they are. */
#include "runtime/launch/kubernetes/lines.h"

#include "tests/check.h"

#include <errno.h>
#include <stdlib.h>

struct told {
	struct arena *a;
	struct buf text; /* each line in brackets */
	size_t longest;
	unsigned ends_at; /* with -ECANCELED; 0: never */
	unsigned n;
};

static int on_line(void *ctx, struct str line, struct err *err)
{
	struct told *t = ctx;

	t->longest = line.n > t->longest ? line.n : t->longest;
	buf_addf(&t->text, "[%.*s]", line.n > 99 ? 0 : (int)line.n, line.p);
	return ++t->n == t->ends_at ? err_set(err, -ECANCELED, "enough") : 0;
}

static void begin_told(struct told *t, struct lines *l, struct arena *a)
{
	*t = (struct told){.a = a};
	buf_init(&t->text, a);
	lines_init(l, a, on_line, t);
}

static void check_cuts(struct arena *a)
{
	struct str text = STR("one\n\ntwo\r\nthree");
	struct lines l;
	struct told t;
	struct err err;

	for (size_t cut = 0; cut <= text.n; cut++) {
		begin_told(&t, &l, a);
		CHECK(lines_take(&l, str_slice(text, 0, cut), &err) == 0);
		CHECK(lines_take(&l, str_slice(text, cut, text.n), &err) == 0);
		CHECK(str_is(buf_str(&t.text), "[one][][two\r]"));
		CHECK(lines_end(&l, &err) == 0);
		CHECK_MSG(str_is(buf_str(&t.text), "[one][][two\r][three]"),
			  "cut at %zu", cut);
		CHECK(lines_end(&l, &err) == 0 && t.n == 4);
	}
}

/* By pieces that each fit and do not fit together, and by one. */
static void check_long(struct arena *a)
{
	static const size_t pieces[] = {LINES_LINE_MAX, LINES_LINE_MAX + 1,
					4096, LINES_LINE_MAX - 1};
	char *room = malloc(LINES_LINE_MAX + 1);

	memset(room, 'a', LINES_LINE_MAX + 1);
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		struct lines l;
		struct told t;
		struct err err;

		begin_told(&t, &l, a);
		for (size_t n = 0; n <= LINES_LINE_MAX; n += pieces[i])
			CHECK(lines_take(&l, (struct str){room, pieces[i]},
					 &err) == 0);
		CHECK(lines_take(&l, STR("b\nc\n"), &err) == 0);
		CHECK(t.longest == LINES_LINE_MAX);
		CHECK(str_is(buf_str(&t.text), "[][c]"));
	}
	free(room);
}

static void check_end(struct arena *a)
{
	struct lines l;
	struct told t;
	struct err err = {0};

	begin_told(&t, &l, a);
	t.ends_at = 2;
	CHECK(lines_take(&l, STR("a\nb\nc\n"), &err) == -ECANCELED);
	CHECK(str_is(str_of(err.text), "enough") && t.n == 2);
	CHECK(lines_take(&l, STR("half"), &err) == 0);
	lines_reset(&l);
	CHECK(lines_take(&l, STR("whole\n"), &err) == 0);
	CHECK(str_is(buf_str(&t.text), "[a][b][whole]"));
}

int main(void)
{
	struct arena *a = arena_new();

	check_cuts(a);
	check_long(a);
	check_end(a);
	arena_free(a);
	return check_status();
}
