/*
 * paths.h: the classes of paths, each visited once, and which prefixes hold
 * each; and the tree that they are found in, when there are many.
 */
#include "compiler/algebra/space/paths.h"

#include "compiler/algebra/space/numbers.h"
#include "compiler/algebra/space/trie.h"
#include "compiler/base/buf.h"

#include "tests/check.h"

/* "path=0,2 " */
static void show_class(void *ctx, const struct paths_class *c)
{
	struct buf *b = ctx;
	uint32_t ids[16];

	for (uint32_t i = 0; i < c->n; i++)
		ids[i] = c->ids[i];
	numbers_sort(ids, c->n);
	buf_addf(b, "%.*s=", STR_ARG(c->path));
	for (uint32_t i = 0; i < c->n; i++)
		buf_addf(b, i ? ",%u" : "%u", ids[i]);
	buf_addc(b, ' ');
}

/* Prefixes, those of denials behind a '!'; the root is "." */
static const struct {
	const char *prefixes, *classes;
} cases[] = {
	{"", "/= "},
	{".", "/=0 "},
	{"!.", "/=0 "},
	{"/a", "/= /a=0 "},
	{"/a/b", "/= /a= /a/b=0 "},
	{"/a /a/b", "/= /a=0 /a/b=0,1 "},
	{"/a /b /a", "/= /a=0,2 /b=1 "},
	{". /a !/a", "/=0 /a=0,1,2 "},
	{"/a !/b", "/= /a=0 /b=1 "},
	{"!/a/b", "/= /a= /a/b=0 "},
	{"/a !/a/b", "/= /a=0 /a/b=0,1 "},
	{"/a/b !/a", "/= /a=1 /a/b=0,1 "},
	{"/a !/a/b /a/b !/a/c", "/= /a=0 /a/b=0,1,2 /a/c=0,3 "},
	{"/%28 !/(", "/= /%28=0,1 /(=1 "},
	{"/( /%28 !/%28", "/= /(=0,2 /%28=1,2 "},
	{"!/( !/%28", "/= /(=0,1 "},
	{"/a/%28/c !/a/(/c/d",
	 "/= /a= /a/%28= /a/%28/c=0 /a/%28/c/d=0,1 /a/(= /a/(/c= /a/(/c/d=1 "},
	{"!/%C3%A4 /%C3%A4/x", "/= /%C3%A4=0 /%C3%A4/x=0,1 "},
	{"!/%28 /(", "/= /(=0,1 /%28=0 "},
};

static void check_classes(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct arena *a = arena_new();
		struct paths *p = paths_new(a);
		struct str rest = str_of(cases[i].prefixes), word;
		uint32_t n = 0;
		struct buf b;

		buf_init(&b, a);
		while (str_field(&rest, ' ', &word)) {
			bool decoded = word.p[0] == '!';

			word = str_slice(word, decoded, word.n);
			paths_add(p, str_is(word, ".") ? STR("") : word,
				  decoded, n++);
		}
		paths_each(p, show_class, &b);
		CHECK_MSG(str_is(buf_str(&b), cases[i].classes),
			  "%s:\n\t\t\"%.*s\"", cases[i].prefixes,
			  STR_ARG(buf_str(&b)));
		arena_free(a);
	}
}

/* --- the tree ------------------------------------------------------------- */

#define WORDS 1000u

static struct str word_of(struct arena *a, uint32_t i)
{
	return arena_fmt(a, "%u", i);
}

/* Of two parents, which have children of the same names; some are asked for
 * again. */
static void check_trie(void)
{
	struct arena *a = arena_new();
	struct trie_node *of[2];
	struct trie t;

	trie_init(&t, a);
	CHECK(!trie_child(&t, &t.root, STR("x")));
	CHECK(!trie_child(&t, NULL, STR("x")));
	of[0] = trie_child_make(&t, &t.root, STR("x"), STR("X"));
	of[1] = trie_child_make(&t, &t.root, STR("y"), STR("Y"));
	CHECK(t.root.children == of[0] && of[0]->sibling == of[1] &&
	      !of[1]->sibling);
	for (uint32_t i = 0; i < WORDS; i++)
		for (int k = 0; k < 2; k++) {
			struct str word = word_of(a, i);
			struct trie_node *c =
				trie_child_make(&t, of[k], word, word);

			*vec_push(a, &c->here) = i;
			CHECK(trie_child_make(&t, of[k], word, STR("z")) == c);
		}
	for (int k = 0; k < 2; k++) {
		uint32_t i = 0;

		for (const struct trie_node *c = of[k]->children; c;
		     c = c->sibling, i++) {
			CHECK(c->parent == of[k] && c->here.n == 1 &&
			      c->here.v[0] == i);
			CHECK(str_eq(c->label, word_of(a, i)));
			CHECK(trie_child(&t, of[k], c->key) == c);
		}
		CHECK(i == WORDS);
		CHECK(!trie_child(&t, of[k], STR("x")));
	}
	CHECK(!trie_child(&t, &t.root, STR("1")));
	CHECK(trie_child(&t, &t.root, STR("y")) == of[1]);
	arena_free(a);
}

int main(void)
{
	check_classes();
	check_trie();
	return check_status();
}
