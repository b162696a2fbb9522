/* Names known beside the disk's: a tree, with bounds that hold. */
#include "runtime/view/aside/copies.h"

#include "tests/check.h"

#include <string.h>
#include <sys/mman.h>

static struct copies t;

static struct copy_data *new_data(void)
{
	return copies_data(&t, memfd_create("test", MFD_CLOEXEC));
}

static bool put(const char *path, enum copy_kind kind)
{
	struct copy *c = copies_make(&t, path);
	struct copy_data *d = c && (kind == COPY_FILE || kind == COPY_FOLDER)
				      ? new_data()
				      : NULL;

	return c && copies_set(&t, c, kind, d);
}

static enum copy_kind kind_at(const char *path)
{
	const struct copy *c = copies_find(&t, path);

	return c ? c->kind : COPY_NONE;
}

static void names_make_a_tree(void)
{
	struct copy *c;

	CHECK(copies_init(&t));
	CHECK(!copies_find(&t, "a"));
	CHECK(put("a/b/c", COPY_TRACKED) && put("a/d", COPY_FILE));
	CHECK(t.n == 4 && kind_at("a/b/c") == COPY_TRACKED);
	CHECK(copies_find(&t, "a")->kind == COPY_NONE);
	CHECK(!copies_find(&t, "a/") && !copies_find(&t, "a/b/c/d"));
	CHECK(!copies_find(&t, "ab") && !copies_find(&t, "b"));
	c = copies_find(&t, "a/b");
	CHECK(copies_below(&t, c, "c") == copies_find(&t, "a/b/c"));
	CHECK(copy_is_made(copies_find(&t, "a/d")) && !copy_is_made(c));
	CHECK(!copy_is_made(NULL));
	/* The last of a branch takes the branch away. */
	CHECK(copies_set(&t, copies_find(&t, "a/b/c"), COPY_NONE, NULL));
	CHECK(t.n == 2 && !copies_find(&t, "a/b"));
	/* Nothing is left below what is gone. */
	CHECK(put("a/x/y", COPY_FILE) && put("a", COPY_GONE));
	CHECK(t.n == 1 && t.held == 1 && kind_at("a") == COPY_GONE);
	copies_done(&t);
}

static void many_are_found(void)
{
	char path[32];

	CHECK(copies_init(&t));
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "d%u/f%u", i % 7, i);
		CHECK(put(path, COPY_TRACKED));
	}
	for (unsigned i = 0; i < 3000; i++) {
		snprintf(path, sizeof(path), "d%u/f%u", i % 7, i);
		CHECK(kind_at(path) == COPY_TRACKED);
	}
	CHECK(t.n == 3007 && t.held == 0);
	copies_done(&t);
}

static void names_move(void)
{
	CHECK(copies_init(&t));
	CHECK(put("a/b/c", COPY_FILE) && put("x", COPY_GONE));
	copies_move(&t, copies_find(&t, "a"), copies_make(&t, "p/q"));
	CHECK(kind_at("p/q/b/c") == COPY_FILE && !copies_find(&t, "a"));
	copies_move(&t, copies_find(&t, "p/q/b/c"), copies_find(&t, "x"));
	CHECK(kind_at("x") == COPY_FILE && !copies_find(&t, "p"));
	CHECK(t.n == 1 && t.held == 1);
	CHECK(put("y/z", COPY_TRACKED));
	copies_exchange(&t, copies_find(&t, "x"), copies_find(&t, "y"));
	CHECK(kind_at("y") == COPY_FILE && kind_at("x/z") == COPY_TRACKED);
	copies_done(&t);
}

/* A listing goes on where it was, whatever comes and goes meanwhile. */
static void order_stays(void)
{
	const struct copy *c;
	uint32_t at;

	CHECK(copies_init(&t));
	CHECK(put("d/1", COPY_FILE) && put("d/2", COPY_FILE) &&
	      put("d/3", COPY_FILE));
	c = copies_after(copies_find(&t, "d"), 0);
	CHECK(strcmp(c->name, "1") == 0);
	at = c->serial;
	copies_set(&t, copies_find(&t, "d/1"), COPY_NONE, NULL);
	copies_set(&t, copies_find(&t, "d/2"), COPY_NONE, NULL);
	CHECK(put("d/4", COPY_FILE));
	c = copies_after(copies_find(&t, "d"), at);
	CHECK(strcmp(c->name, "3") == 0);
	c = copies_after(copies_find(&t, "d"), c->serial);
	CHECK(strcmp(c->name, "4") == 0);
	CHECK(!copies_after(copies_find(&t, "d"), c->serial));
	copies_done(&t);
}

static void bytes_are_bounded(void)
{
	struct copy_data *a, *b;

	CHECK(copies_init(&t));
	a = new_data();
	b = new_data();
	CHECK(copies_grow(&t, a, COPIES_BYTES_MAX - 10));
	CHECK(copies_grow(&t, b, 10) && !copies_grow(&t, b, 11));
	CHECK(!copies_grow(&t, b, UINT64_MAX));
	CHECK(copies_grow(&t, a, 5) && t.bytes == COPIES_BYTES_MAX);
	copies_shrink(&t, a, 5);
	CHECK(copies_grow(&t, b, 11) && t.bytes == 16);
	/* Open, and without a name: it counts. */
	a->refs++;
	CHECK(copies_set(&t, copies_make(&t, "a"), COPY_FILE, a));
	CHECK(copies_set(&t, copies_find(&t, "a"), COPY_NONE, NULL));
	CHECK(t.bytes == 16 && t.held == 2 && t.n == 0);
	copies_release(&t, a);
	copies_release(&t, b);
	CHECK(t.bytes == 0 && t.held == 0);
	copies_done(&t);
}

static void names_are_bounded(void)
{
	struct copy_data *d;
	char path[32];

	CHECK(copies_init(&t));
	for (unsigned i = 0; i < COPIES_MAX; i++) {
		snprintf(path, sizeof(path), "%u", i);
		CHECK(put(path, COPY_GONE));
	}
	CHECK(!put("more", COPY_GONE) && kind_at("more") == COPY_NONE);
	copies_settle(&t, copies_find(&t, "more"));
	CHECK(!copies_data(&t, -1));
	/* One for another. */
	CHECK(put("7", COPY_GONE));
	CHECK(copies_set(&t, copies_find(&t, "7"), COPY_NONE, NULL));
	d = copies_data(&t, -1);
	CHECK(d && copies_set(&t, copies_make(&t, "7"), COPY_HUSK, d));
	CHECK(copies_set(&t, copies_find(&t, "7"), COPY_GONE, NULL));
	copies_bound(&t, 2);
	CHECK(copies_make(&t, "x/y") && !copies_make(&t, "z"));
	CHECK(!copies_make(&t, "x/y/z/z") && kind_at("x/y/z") == COPY_NONE);
	copies_done(&t);
}

/* What is there from the start counts for nobody. */
static void given_are_not_counted(void)
{
	char path[32];

	CHECK(copies_init(&t));
	copies_open(&t);
	for (unsigned i = 0; i < COPIES_MAX + 10; i++) {
		snprintf(path, sizeof(path), "%u", i);
		CHECK(copies_set(&t, copies_make(&t, path), COPY_HUSK,
				 copies_data(&t, -1)));
	}
	copies_bound(&t, COPIES_MAX + 2);
	for (unsigned i = 0; i < COPIES_MAX; i++) {
		CHECK(!copies_full(&t));
		snprintf(path, sizeof(path), "n%u", i);
		CHECK(put(path, COPY_GONE));
	}
	CHECK(copies_full(&t) && !copies_data(&t, -1));
	CHECK(!put("n", COPY_GONE));
	copies_done(&t);
}

int main(void)
{
	given_are_not_counted();
	names_make_a_tree();
	many_are_found();
	names_move();
	order_stays();
	bytes_are_bounded();
	names_are_bounded();
	return check_status();
}
