/* What git is told of a repository beside the workspace. */
#include "runtime/view/aside/outside.h"

#include "tests/check.h"

static struct arena *a;

static void attributes_move(void)
{
	static const char *const paths[] = {"README",  "b/x",	   "b/y",
					    "s/api/z", "s/web2/q", "s/w[b",
					    "s/a\"b"};
	struct hello h = {.part = STR("s/web")};
	struct str got;

	for (size_t i = 0; i < ARRAY_LEN(paths); i++)
		*vec_push(a, &h.outside) =
			(struct hello_outside){.path = str_of(paths[i])};
	got = outside_attributes(a, &h,
				 STR("# of the plan\n"
				     "\"**/.env\" filter=membrane\n"
				     "\"/keys/**\" !filter\n"));
	CHECK_MSG(str_is(got, "# of the plan\n"
			      "\"/s/web/**/.env\" filter=membrane\n"
			      "\"/s/web/keys/**\" !filter\n"
			      "\"/README\" filter=membrane\n"
			      "\"/README/**\" filter=membrane\n"
			      "\"/b\" filter=membrane\n"
			      "\"/b/**\" filter=membrane\n"
			      "\"/s/api\" filter=membrane\n"
			      "\"/s/api/**\" filter=membrane\n"
			      "\"/s/web2\" filter=membrane\n"
			      "\"/s/web2/**\" filter=membrane\n"
			      "\"/s/w\\\\[b\" filter=membrane\n"
			      "\"/s/w\\\\[b/**\" filter=membrane\n"
			      "\"/s/a\\\"b\" filter=membrane\n"
			      "\"/s/a\\\"b/**\" filter=membrane\n"),
		  "%.*s", STR_ARG(got));
}

/* git skips a line of so many bytes: then all has the filter. */
static void what_is_too_long_is_all(void)
{
	char *name = arena_alloc(a, 2100);
	struct hello h = {.part = {name, 2100}};

	memset(name, 'x', 2100);
	CHECK(str_is(outside_attributes(a, &h, STR("\"/k\" !filter\n")),
		     "\"**\" filter=membrane\n"));
	h.part = STR("s");
	*vec_push(a, &h.outside) = (struct hello_outside){.path = {name, 2100}};
	CHECK(str_is(outside_attributes(a, &h, STR("")),
		     "\"**\" filter=membrane\n\"**\" filter=membrane\n"));
}

static void exclude_moves(void)
{
	struct str got = outside_exclude(a, STR("s/w*b"),
					 STR("# a/b\n*.pem\nkeys/\n/top\n"
					     "a/b\n!/top/x\n!c\n\n"));

	CHECK_MSG(str_is(got, "# a/b\n*.pem\nkeys/\n/s/w\\*b/top\n"
			      "/s/w\\*b/a/b\n!/s/w\\*b/top/x\n!c\n\n"),
		  "%.*s", STR_ARG(got));
}

int main(void)
{
	a = arena_new();
	attributes_move();
	what_is_too_long_is_all();
	exclude_moves();
	arena_free(a);
	return check_status();
}
