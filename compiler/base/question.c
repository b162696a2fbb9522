#include "compiler/base/question.h"

bool question_is_yes(struct str answer)
{
	static const char *const words[] = {"once", "session", "always", "yes"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(answer, words[i]))
			return true;
	return false;
}
