/* YAML as it is written: byte for byte, whatever is long or not ASCII. */
#include "compiler/emit/yaml_write.h"

#include "tests/check.h"

#include <string.h>

static struct arena *a;

static void put(struct yaml_write *w, const char *s)
{
	yaml_write_scalar(w, str_of(s), YAML_PLAIN_SCALAR_STYLE);
}

#define WORDS                                                                  \
	"a line that is much longer than what YAML's emitter thinks of as a line, which is eighty columns"

static void check_text(void)
{
	struct yaml_write w;
	struct buf out;

	buf_init(&out, a);
	yaml_write_begin(&w, a, &out);
	yaml_write_map(&w, YAML_BLOCK_MAPPING_STYLE);
	put(&w, "long");
	yaml_write_scalar(&w, STR(WORDS), YAML_DOUBLE_QUOTED_SCALAR_STYLE);
	put(&w, "other");
	yaml_write_scalar(&w, STR("\xc3\xa9 \"\n"),
			  YAML_DOUBLE_QUOTED_SCALAR_STYLE);
	put(&w, "list");
	yaml_write_list(&w, YAML_BLOCK_SEQUENCE_STYLE);
	put(&w, "x");
	yaml_write_list(&w, YAML_FLOW_SEQUENCE_STYLE);
	put(&w, "y");
	put(&w, "z");
	yaml_write_list_end(&w);
	yaml_write_list_end(&w);
	yaml_write_map_end(&w);
	yaml_write_next(&w);
	yaml_write_map(&w, YAML_BLOCK_MAPPING_STYLE);
	put(&w, "k");
	yaml_write_scalar(&w, STR("a\0b"), YAML_ANY_SCALAR_STYLE);
	yaml_write_map_end(&w);
	yaml_write_end(&w);
	CHECK_MSG(str_is(buf_str(&out), "long: \"" WORDS "\"\n"
					"other: \"\xc3\xa9 \\\"\\n\"\n"
					"list:\n"
					"- x\n"
					"- [y, z]\n"
					"---\n"
					"k: \"a\\0b\"\n"),
		  "%s", out.p);
}

int main(void)
{
	a = arena_new();
	check_text();
	arena_free(a);
	return check_status();
}
