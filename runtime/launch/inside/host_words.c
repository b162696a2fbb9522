#include "runtime/launch/inside/host_words.h"

#include "compiler/base/ascii.h"
#include "compiler/base/str.h"

#include <string.h>

static const struct {
	const char *name;
	const char *marks; /* besides letters and digits */
	bool of_terminal;
} words[] = {
	{"TERM", "+-._", true},
	{"COLORTERM", "+-._", true},
	/* language_TERRITORY.codeset@modifier */
	{"LANG", "-._@", false},
	/* Area/Place, or tzset(3)'s own, CET-1CEST,M3.5.0,M10.5.0/3 */
	{"TZ", "+-_/,.<>:", false},
};

static bool is_valid(const char *s, const char *marks)
{
	size_t n = strnlen(s, HOST_WORD_MAX + 1);

	if (n == 0 || n > HOST_WORD_MAX || strstr(s, ".."))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!ascii_is_alnum(s[i]) && (!strchr(marks, s[i]) || !s[i]))
			return false;
	/* no path: TZ could name any file */
	return ascii_is_alnum(s[0]) || s[0] == '<';
}

const char *host_word(const char *name, bool tty,
		      const char *(*get)(void *ctx, const char *name),
		      void *ctx)
{
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		const char *said;

		if (strcmp(words[i].name, name) != 0 ||
		    (words[i].of_terminal && !tty))
			continue;
		said = get(ctx, name);
		return said && is_valid(said, words[i].marks) ? said : NULL;
	}
	return NULL;
}
