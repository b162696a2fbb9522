/* The launcher's words to the init. */
#include "runtime/inside/parts.h"

#include "compiler/plan/init_words.h"

#define SIZE_MAX_TOLD 65535u

/* A number up to the byte that ends it; NULL: it is none. */
static const char *read_number(const char *s, char end, unsigned *out)
{
	unsigned v = 0;

	if (*s < '0' || *s > '9')
		return NULL;
	for (; *s >= '0' && *s <= '9'; s++) {
		v = v * 10 + (unsigned)(*s - '0');
		if (v > SIZE_MAX_TOLD)
			return NULL;
	}
	*out = v;
	return *s == end ? s + 1 : NULL;
}

static bool read_size(const char *s, struct told *out)
{
	s = read_number(s, 'x', &out->rows);
	return s && read_number(s, '\0', &out->columns);
}

static bool read_word(const char *word, struct told *out)
{
	const char *v;

	if ((v = text_behind(word, INIT_SIZE)))
		return read_size(v, out);
	if ((v = text_behind(word, INIT_TERM)))
		out->term = v;
	else if ((v = text_behind(word, INIT_LANG)))
		out->lang = v;
	else if ((v = text_behind(word, INIT_IMAGE)))
		out->image = v;
	else if ((v = text_behind(word, INIT_FOLDER)))
		out->folder = v;
	else if (text_is(word, INIT_SEAL))
		out->to_seal = true;
	else if (text_is(word, INIT_PROTECTS))
		out->protects = true;
	else
		return false;
	return true;
}

bool told_read(char **stack, struct told *out)
{
	char **word = stack + 2; /* behind their number, and our own name */

	if ((intptr_t)stack[0] < 1)
		return false;
	out->term = out->lang = out->image = out->folder = NULL;
	out->rows = out->columns = 0;
	out->to_seal = out->protects = false;
	for (; *word && !text_is(*word, INIT_END); word++)
		if (!read_word(*word, out))
			return false;
	if (!word[0] || !word[1])
		return false;
	out->command = ++word;
	while (*word)
		word++;
	out->envp = word + 1;
	return true;
}
