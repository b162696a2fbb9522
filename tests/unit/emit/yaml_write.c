/* YAML as it is written: byte for byte, whatever is long or not ASCII. */
#include "compiler/emit/yaml_write.h"

#include "tests/check.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* A last line that could go on is ended. */
static void check_open(void)
{
	struct yaml_write w;
	struct buf out;

	buf_init(&out, a);
	yaml_write_begin(&w, a, &out);
	yaml_write_scalar(&w, STR("a\n\n"), YAML_LITERAL_SCALAR_STYLE);
	yaml_write_end(&w);
	CHECK_MSG(str_is(buf_str(&out), "|+\n  a\n\n...\n"), "%s", out.p);
}

/* What libyaml does not take ends the program, with a line about it. */
static void check_refused(void)
{
	char said[64] = "";
	struct yaml_write w;
	struct buf out;
	int fds[2], status;
	pid_t pid;

	buf_init(&out, a);
	CHECK(pipe2(fds, O_CLOEXEC) == 0);
	pid = fork();
	if (pid == 0) {
		dup2(fds[1], STDERR_FILENO);
		yaml_write_begin(&w, a, &out);
		yaml_write_map_end(&w); /* of none */
		yaml_write_map_end(&w);
		yaml_write_end(&w);
		_exit(0);
	}
	close(fds[1]);
	CHECK(read(fds[0], said, sizeof(said) - 1) > 0);
	CHECK_MSG(strcmp(said, "membrane: out of memory\n") == 0, "%s", said);
	close(fds[0]);
	CHECK(waitpid(pid, &status, 0) == pid);
	CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 3);
}

int main(void)
{
	a = arena_new();
	check_text();
	check_open();
	check_refused();
	arena_free(a);
	return check_status();
}
