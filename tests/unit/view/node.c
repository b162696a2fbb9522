/* The nodes that the kernel knows: none too many, none too few. */
#include "runtime/view/node.h"

#include "tests/check.h"
#include "tests/rng.h"

#include <string.h>

static struct nodes t;

static struct node *known(struct node *parent, const char *name)
{
	struct node *n = node_new(&t, parent, name);

	n->lookups = 1;
	return n;
}

static void forget(struct node *n)
{
	n->lookups = 0;
	node_settle(&t, n);
}

static bool is_at(const struct node *n, const char *want)
{
	char path[64];
	size_t len = node_path(n, NULL, path, sizeof(path));

	return len == strlen(want) && strcmp(path, want) == 0;
}

static void paths_are_told(void)
{
	struct node *a = known(&t.root, "a"), *b = known(a, "b");
	char path[8];

	CHECK(is_at(&t.root, "") && is_at(a, "a") && is_at(b, "a/b"));
	CHECK(node_path(&t.root, "x", path, sizeof(path)) == 1 &&
	      strcmp(path, "x") == 0);
	CHECK(node_path(b, "cdef", path, sizeof(path)) == 0);
	CHECK(node_path(b, "cde", path, sizeof(path)) == 7 &&
	      strcmp(path, "a/b/cde") == 0);
	forget(a);
	CHECK(node_find(&t, &t.root, "a") == a); /* b is in it */
	forget(b);
	CHECK(t.n == 0 && t.root.below_n == 0);
}

static void names_move(void)
{
	struct node *a = known(&t.root, "a"), *b = known(&t.root, "b");
	struct node *f = known(a, "f"), *g = known(b, "g");

	CHECK(node_move(&t, f, b, "g") && is_at(f, "b/g"));
	CHECK(g->orphan && node_find(&t, b, "g") == f);
	CHECK(!node_find(&t, a, "f") && a->below_n == 0 && b->below_n == 2);
	CHECK(node_move(&t, f, b, "g") && node_find(&t, b, "g") == f);
	forget(g);
	CHECK(node_move(&t, b, a, "sub") && is_at(f, "a/sub/g"));
	g = known(a, "x");
	node_exchange(&t, g, b);
	CHECK(is_at(b, "a/x") && is_at(f, "a/x/g") && is_at(g, "a/sub"));
	node_exchange(&t, NULL, g);
	CHECK(g->orphan && !node_find(&t, a, "sub"));
	/* The name of what was replaced is the new one's. */
	node_orphan(&t, f);
	node_orphan(&t, f);
	CHECK(known(b, "g") != f && node_find(&t, b, "g") != f);
	forget(node_find(&t, b, "g"));
	forget(f);
	forget(g);
	forget(b);
	forget(a);
	CHECK(t.n == 0 && t.root.below_n == 0);
}

/* Against a table of what should be there. */
static void many_stay_true(void)
{
	struct node *dirs[8], *have[8][64] = {0};
	struct rng r = {7};
	char name[16];
	unsigned n = 0;

	for (unsigned i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		dirs[i] = known(&t.root, name);
	}
	for (unsigned i = 0; i < 20000; i++) {
		unsigned d = rng_below(&r, 8), k = rng_below(&r, 64);
		unsigned e = rng_below(&r, 8), m = rng_below(&r, 64);
		struct node *was = have[d][k], *there = have[e][m];

		snprintf(name, sizeof(name), "%u", m);
		if (!was) {
			char own[16];

			snprintf(own, sizeof(own), "%u", k);
			have[d][k] = known(dirs[d], own);
			n++;
		} else if (rng_below(&r, 3) == 0) {
			forget(was);
			have[d][k] = NULL;
			n--;
		} else if (there != was) {
			CHECK(node_move(&t, was, dirs[e], name));
			have[d][k] = NULL;
			have[e][m] = was;
			if (there) {
				forget(there);
				n--;
			}
		}
		CHECK(t.n == n + 8);
		CHECK(node_find(&t, dirs[e], name) == have[e][m]);
	}
	for (unsigned d = 0; d < 8; d++)
		for (unsigned k = 0; k < 64; k++)
			if (have[d][k])
				forget(have[d][k]);
	for (unsigned d = 0; d < 8; d++)
		forget(dirs[d]);
	CHECK(t.n == 0);
}

int main(void)
{
	if (!nodes_init(&t, -1))
		return 1;
	paths_are_told();
	names_move();
	many_stay_true();
	for (unsigned i = 0; i < 3000; i++) {
		char name[16];

		snprintf(name, sizeof(name), "%u", i);
		known(&t.root, name);
	}
	CHECK(t.size > 3000 / 2 && node_find(&t, &t.root, "2999"));
	nodes_done(&t); /* whoever still has them */
	return check_status();
}
