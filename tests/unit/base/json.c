/* The layout of JSON artefacts: one text for one tree. */
#include "compiler/base/json.h"
#include "tests/check.h"

static struct arena *a;

static void is(cJSON *take, const char *want)
{
	struct str got = json_text(a, take);

	CHECK_MSG(str_is(got, want), "%.*s", STR_ARG(got));
}

static void scalars(void)
{
	cJSON *o = json_object();

	is(json_object(), "{}\n");
	is(json_array(), "[]\n");
	json_put_u64(o, "most", UINT64_MAX);
	json_put_bool(o, "yes", true);
	json_put_cstr(o, "text", "a\"b\\c\n\x01\xc3\xa4/");
	json_put_str(o, "none", (struct str){0});
	is(o, "{\n"
	      "  \"most\": 18446744073709551615,\n"
	      "  \"yes\": true,\n"
	      "  \"text\": \"a\\\"b\\\\c\\n\\u0001\xc3\xa4/\",\n"
	      "  \"none\": \"\"\n"
	      "}\n");
}

/* What fits on a line is one; a record of scalars may be longer. */
static void layout(void)
{
	cJSON *o = json_object(), *list = json_array(), *record = json_object();
	cJSON *words = json_array();

	json_push_str(list, STR("a"));
	json_push(list, json_object());
	json_put(o, "short", list);
	json_put_cstr(record, "name",
		      "a name of forty bytes, or of some more.");
	json_put_cstr(record, "other", "and another one, so that it is long.");
	json_put(o, "record", record);
	for (int i = 0; i < 4; i++)
		json_push_str(words, STR("a word of twenty-odd"));
	json_put(o, "words", words);
	is(o, "{\n"
	      "  \"short\": [\"a\", {}],\n"
	      "  \"record\": {\"name\": \"a name of forty bytes, or of some "
	      "more.\", \"other\": \"and another one, so that it is "
	      "long.\"},\n"
	      "  \"words\": [\n"
	      "    \"a word of twenty-odd\",\n"
	      "    \"a word of twenty-odd\",\n"
	      "    \"a word of twenty-odd\",\n"
	      "    \"a word of twenty-odd\"\n"
	      "  ]\n"
	      "}\n");
}

static void getting(void)
{
	cJSON *o = cJSON_Parse("{\"a\": \"x\", \"b\": [1], \"A\": 2}");
	const cJSON *list = NULL;
	struct str s = {0};

	CHECK(json_get_str(o, "a", &s) && str_is(s, "x"));
	CHECK(!json_get_str(o, "b", &s) && !json_get_str(o, "c", &s));
	CHECK(!json_get_str(o, "A", &s));
	CHECK(json_get_array(o, "b", &list) && cJSON_GetArraySize(list) == 1);
	CHECK(!json_get_array(o, "a", &list));
	cJSON_Delete(o);
}

int main(void)
{
	a = arena_new();
	scalars();
	layout();
	getting();
	arena_free(a);
	return check_status();
}
