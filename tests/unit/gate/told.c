/* Lines that the launcher says while a session runs. */
#include "runtime/gate/told.h"
#include "runtime/gate/ask/asking.h"
#include "tests/check.h"

#include <string.h>

static struct worker_msg got;

static bool parse(const char *line)
{
	memset(&got, 0x7f, sizeof(got));
	return told_parse((struct str){line, strlen(line)}, &got);
}

/* What is none leaves what there was. */
static void refusals(void)
{
	static const char *const lines[] = {
		"",
		"change",
		"change 2",
		"change 2 ",
		"change 1 cut",
		"change 0 keep",
		"change 4294967296 cut",
		"change two cut",
		"change 2 cut ",
		"change  cut",
		" change 2 cut",
		"changed 2 cut",
		"asking",
		"asking ",
		"asking on ",
		"asking off off",
		"answer 1",
		"answer 0 yes",
		"answer 4294967296 yes",
		"answer one yes",
		"answer 1 maybe",
		"answer 1 timeout",
		"answer 1 yes yes",
		"answers 1 yes",
		"renewed 1 {}",
	};

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		CHECK_MSG(!parse(lines[i]) && got.word == 0x7f &&
				  got.generation == 0x7f7f7f7f,
			  "%s", lines[i]);
}

static void words(void)
{
	CHECK(parse("change 2 cut") && got.word == WORKER_CHANGE &&
	      got.generation == 2 && got.cut == 1 && got.question == 0);
	CHECK(parse("change 4294967295 keep") && got.word == WORKER_CHANGE &&
	      got.generation == 4294967295u && got.cut == 0);
	CHECK(parse("asking on") && got.word == WORKER_LISTENS &&
	      got.listens == 1 && got.generation == 0);
	CHECK(parse("asking off") && got.word == WORKER_LISTENS &&
	      got.listens == 0);
	CHECK(parse("answer 1 once") && got.word == WORKER_ANSWER &&
	      got.question == 1 && got.end == ASKING_ONCE);
	CHECK(parse("answer 2 yes") && got.question == 2 &&
	      got.end == ASKING_YES);
	CHECK(parse("answer 4294967295 no") && got.question == 4294967295u &&
	      got.end == ASKING_NO);
	CHECK(parse("answer 3 none") && got.end == ASKING_NONE);
}

int main(void)
{
	refusals();
	words();
	return check_status();
}
