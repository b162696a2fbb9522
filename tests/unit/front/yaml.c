/* YAML: places in bytes, bounds to the unit, what is a document. */
#include "compiler/front/yaml/yaml.h"

#include "compiler/base/limits.h"
#include "tests/unit/front.h"

#include <stdlib.h>

/* The bytes under the place of a node. */
static bool stands(const struct rig *r, const struct text *t, const char *want)
{
	return str_is(sources_text(&r->sources, t->at), want);
}

static void test_places(void)
{
	struct yaml_node *root, *list;
	struct rig r;

	rig_init(&r);
	CHECK(rig_yaml(
		&r,
		STR("# \303\244\n\303\266: [\342\202\254, \"b\303\274\", "
		    "'it''s',\n  plain text  , \"\\u00e4\"]\nz: {k: v}\n"),
		&root));
	CHECK(root->pairs.n == 2);
	CHECK(stands(&r, &root->pairs.v[0].key, "\303\266"));
	CHECK(stands(&r, &root->pairs.v[1].key, "z"));
	list = root->pairs.v[0].value;
	CHECK(list->items.n == 5);
	CHECK(stands(&r, &list->items.v[0]->text, "\342\202\254"));
	CHECK(stands(&r, &list->items.v[1]->text, "\"b\303\274\""));
	CHECK(list->items.v[1]->text.verbatim ==
	      list->items.v[1]->text.at.beg + 1);
	CHECK(stands(&r, &list->items.v[2]->text, "'it''s'"));
	CHECK(list->items.v[2]->text.verbatim == 0);
	CHECK(stands(&r, &list->items.v[3]->text, "plain text"));
	CHECK(list->items.v[3]->text.verbatim == list->items.v[3]->text.at.beg);
	CHECK(str_is(list->items.v[4]->text.s, "\303\244"));
	CHECK(list->items.v[4]->text.verbatim == 0);
	CHECK(list->size == 6 && list->height == 2);
	CHECK(root->size == 9 && root->height == 3);
	rig_done(&r);
}

static void test_anchor_places(void)
{
	struct yaml_node *root;
	struct rig r;

	rig_init(&r);
	CHECK(rig_yaml(&r, STR("a: &x  value\nb: *x\nc: &y [1]\n"), &root));
	CHECK(stands(&r, &root->pairs.v[0].value->text, "value"));
	CHECK(root->pairs.v[1].value == root->pairs.v[0].value);
	rig_done(&r);
}

static enum diag_id refusal(struct str s)
{
	struct diag_view v = {0};
	struct yaml_node *root;
	struct rig r;
	bool ok;

	rig_init(&r);
	ok = rig_yaml(&r, s, &root);
	diags_get(&r.diags, 0, &v);
	CHECK(ok == (r.diags.errors == 0));
	rig_done(&r);
	return v.id;
}

static void test_documents(void)
{
	static const char *const empty[] = {
		"", "\n", "# x\n", "---\n", "---\n...\n", "%YAML 1.1\n---\n"};
	struct yaml_node *root;
	struct rig r;

	for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
		rig_init(&r);
		root = (struct yaml_node *)&r;
		CHECK_MSG(rig_yaml(&r, str_of(empty[i]), &root) && !root, "%zu",
			  i);
		rig_done(&r);
	}
	CHECK(refusal(STR("a: 1\n---\nb: 2\n")) == DIAG_DOCUMENTS);
	CHECK(refusal(STR("a: 1\n...\n---\n")) == DIAG_DOCUMENTS);
}

static void test_bytes(void)
{
	CHECK(refusal(STR("a: \xc3\x28\n")) == DIAG_ENCODING);
	CHECK(refusal(STR("a: \xed\xa0\x80\n")) == DIAG_ENCODING);
	CHECK(refusal(STR("a: \xf4\x90\x80\x80\n")) == DIAG_ENCODING);
	CHECK(refusal(STR("a: \xc0\x80\n")) == DIAG_ENCODING);
	CHECK(refusal(STR("a: \0\n")) == DIAG_ENCODING);
	CHECK(refusal(STR("a: \x7f\n")) == DIAG_ENCODING);
	CHECK(refusal(STR("a: \xc2\x85\n")) == DIAG_ENCODING);
	CHECK(refusal(STR("a: b\r\n")) == DIAG_LINE_END);
	CHECK(refusal(STR("a: \xc3")) == DIAG_ENCODING);
	CHECK(refusal(STR("a: \"\\0\"\n")) == DIAG_SCALAR);
	CHECK(refusal(STR("a: b\tc\n")) == 0);
	CHECK(refusal(STR("a:\n\t- b\n")) == DIAG_TAB);
	CHECK(refusal(STR("\"a\\rb\": 1\n")) == DIAG_SCALAR);
}

/* "[[[…]]]", n deep. */
static enum diag_id nested(unsigned n)
{
	char text[2 * LIMIT_YAML_DEPTH + 8];

	memset(text, '[', n);
	memset(text + n, ']', n);
	return refusal((struct str){text, 2 * n});
}

/* A list of n ones. */
static enum diag_id items(uint32_t n)
{
	size_t size = 2 * (size_t)n + 2;
	char *text = malloc(size);
	enum diag_id id;

	text[0] = '[';
	for (uint32_t i = 0; i < n; i++) {
		text[1 + 2 * i] = '1';
		text[2 + 2 * i] = ',';
	}
	text[size - 1] = ']';
	id = refusal((struct str){text, size});
	free(text);
	return id;
}

static enum diag_id scalar(size_t n)
{
	char text[LIMIT_SCALAR_BYTES + 8];

	memset(text, 'a', n);
	return refusal((struct str){text, n});
}

static void test_bounds(void)
{
	CHECK(nested(LIMIT_YAML_DEPTH) == 0);
	CHECK(nested(LIMIT_YAML_DEPTH + 1) == DIAG_DEPTH);
	CHECK(items(LIMIT_YAML_NODES - 1) == 0);
	CHECK(items(LIMIT_YAML_NODES) == DIAG_TOO_BIG);
	CHECK(scalar(LIMIT_SCALAR_BYTES) == 0);
	CHECK(scalar(LIMIT_SCALAR_BYTES + 1) == DIAG_SCALAR);
	/* An alias counts for what it stands for, in depth too. */
	CHECK(refusal(STR("a: &a [[[[[[[[1]]]]]]]]\nb: [[[[[[*a]]]]]]\n")) ==
	      0);
	CHECK(refusal(STR("a: &a [[[[[[[[1]]]]]]]]\nb: [[[[[[[*a]]]]]]]\n")) ==
	      DIAG_DEPTH);
	CHECK(refusal(STR("a: &a [*a]\n")) == DIAG_ALIAS);
	CHECK(refusal(STR("a: *a\n")) == DIAG_ALIAS);
}

static void test_too_big(void)
{
	size_t n = LIMIT_SOURCE_BYTES + 1;
	char *text = malloc(n);

	memset(text, '\n', n);
	CHECK(refusal((struct str){text, n - 1}) == 0);
	CHECK(refusal((struct str){text, n}) == DIAG_TOO_BIG);
	free(text);
}

int main(void)
{
	test_places();
	test_anchor_places();
	test_documents();
	test_bytes();
	test_bounds();
	test_too_big();
	return check_status();
}
