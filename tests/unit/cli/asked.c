#include "compiler/cli/answer/asked.h"

#include "tests/check.h"

static void take(struct arena *a, asked_list *list, const char *line)
{
	asked_take(a, str_of(line), list);
}

static uint32_t show_next(asked_list *list)
{
	struct asked *q = asked_next(list);

	if (!q)
		return 0;
	q->was_shown = true;
	return q->id;
}

/* A question is recorded when it is known whose it is: 5 before 4. */
static void check_each_is_shown(struct arena *a)
{
	asked_list list = {0};

	CHECK(!asked_next(&list));
	take(a, &list, "{\"event\":\"question\",\"id\":5,\"name\":\"e.test\"}");
	CHECK(show_next(&list) == 5);
	CHECK(show_next(&list) == 0);
	take(a, &list, "{\"event\":\"question\",\"id\":4,\"name\":\"d.test\"}");
	take(a, &list, "{\"event\":\"question\",\"id\":6,\"name\":\"f.test\"}");
	take(a, &list, "{\"event\":\"answered\",\"id\":5}");
	CHECK(list.n == 2);
	CHECK(show_next(&list) == 4);
	take(a, &list, "{\"event\":\"answered\",\"id\":4}");
	CHECK(show_next(&list) == 6);
	CHECK(show_next(&list) == 0);
	take(a, &list, "{\"event\":\"decision\",\"id\":7}");
	CHECK(show_next(&list) == 0 && list.n == 1);
}

int main(void)
{
	struct arena *a = arena_new();

	check_each_is_shown(a);
	arena_free(a);
	return check_status();
}
