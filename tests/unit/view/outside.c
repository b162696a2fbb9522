/* What git is told of a repository beside the workspace. */
#include "runtime/view/aside/outside.h"

#include "runtime/view/aside/aside.h"
#include "tests/check.h"

#include <errno.h>
#include <string.h>

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
			(struct hello_index){.path = str_of(paths[i])};
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
	*vec_push(a, &h.outside) = (struct hello_index){.path = {name, 2100}};
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

static void the_index_is_shown(void)
{
	struct hello h = {.dev = 7, .uid = 5, .gid = 6, .part = STR("s/web")};
	struct view v = {0};
	const struct copy *c;
	struct statx x;

	*vec_push(a, &h.tracked) = (struct hello_index){
		.kind = VIEW_OUTSIDE_PROGRAM,
		.path = STR("keys/id"),
		.numbers = {[VIEW_OUTSIDE_SIZE] = 9, [VIEW_OUTSIDE_MTIME] = 3}};
	*vec_push(a, &h.tracked) =
		(struct hello_index){.kind = VIEW_OUTSIDE_LINK,
				     .path = STR(".netrc"),
				     .text = STR("keys/id")};
	*vec_push(a, &h.outside) =
		(struct hello_index){.kind = VIEW_OUTSIDE_FILE,
				     .path = STR("lib/a"),
				     .numbers = {[VIEW_OUTSIDE_INO] = 4}};
	CHECK(copies_init(&v.copies) && outside_know(&v, a, &h));
	copies_bound(&v.copies, 8);
	/* the disk's, and shown only where that has it */
	c = copies_find(&v.copies, "keys/id");
	CHECK(c && c->kind == COPY_TRACKED && !copy_is_made(c) &&
	      aside_look(c, &x) == ENOENT);
	CHECK(c->data->husk->stx_size == 9 &&
	      c->data->husk->stx_mtime.tv_sec == 3 &&
	      c->data->husk->stx_mode == (S_IFREG | 0555) &&
	      c->data->husk->stx_ino);
	c = copies_find(&v.copies, ".netrc");
	CHECK(c && c->kind == COPY_TRACKED && strcmp(c->text, "keys/id") == 0 &&
	      S_ISLNK(c->data->husk->stx_mode));
	/* beside it, whatever the disk has */
	c = copies_find(&v.copies, VIEW_HELLO_BESIDE "/lib/a");
	CHECK(aside_look(c, &x) == 0 && x.stx_ino == 4 && aside_is_index(c));
	c = copies_find(&v.copies, VIEW_HELLO_BESIDE "/s/web");
	CHECK(aside_look(c, &x) == 0 && S_ISDIR(x.stx_mode) && x.stx_uid == 5);
	copies_done(&v.copies);
}

int main(void)
{
	a = arena_new();
	the_index_is_shown();
	attributes_move();
	what_is_too_long_is_all();
	exclude_moves();
	arena_free(a);
	return check_status();
}
