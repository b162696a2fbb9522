/*
 * What of the host's terminal and language the image does not know: a program
 * that finds no description of its terminal ends, one that finds no locale
 * complains at each start.
 */
#include "runtime/inside/parts.h"

#include "compiler/plan/init_words.h"

#include <fcntl.h>

#define PATH_ROOM 256

struct path {
	char text[PATH_ROOM];
	size_t n;
};

static void add_byte(struct path *p, char c)
{
	if (p->n + 1 < PATH_ROOM)
		p->text[p->n++] = c;
	p->text[p->n] = '\0';
}

static void add_text(struct path *p, const char *s)
{
	for (; *s; s++)
		add_byte(p, *s);
}

static bool is_there(const char *path)
{
	return call_kernel(SYS_faccessat, AT_FDCWD, address(path), 0, 0) == 0;
}

/* term(5): by its first byte, or by that byte's number. */
static bool has_terminal(const char *name)
{
	static const char *const folders[] = {
		"/etc/terminfo/", "/lib/terminfo/", "/usr/share/terminfo/",
		"/usr/lib/terminfo/", "/usr/local/share/terminfo/"};
	static const char digits[] = "0123456789abcdef";
	unsigned char first = (unsigned char)name[0];

	for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
		for (int by_number = 0; by_number < 2; by_number++) {
			struct path p = {.n = 0};

			add_text(&p, folders[i]);
			if (by_number) {
				add_byte(&p, digits[first >> 4]);
				add_byte(&p, digits[first & 15]);
			} else {
				add_byte(&p, name[0]);
			}
			add_byte(&p, '/');
			add_text(&p, name);
			if (is_there(p.text))
				return true;
		}
	return false;
}

/* As glibc names its folder: "en_US.UTF-8" is at "en_US.utf8". */
static void add_locale(struct path *p, const char *name)
{
	bool in_codeset = false;

	for (; *name; name++) {
		char c = *name;

		if (c == '@')
			in_codeset = false;
		if (in_codeset && c == '-')
			continue;
		if (in_codeset && c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c == '.')
			in_codeset = true;
		add_byte(p, c);
	}
}

/* Without glibc's folder another C library takes any; what its archive holds
 * is taken to be all. */
static bool has_language(const char *name)
{
	static const char folder[] = "/usr/lib/locale";
	struct path p = {.n = 0};

	if (text_is(name, "C") || text_is(name, "POSIX") || !is_there(folder) ||
	    is_there("/usr/lib/locale/locale-archive"))
		return true;
	add_text(&p, folder);
	add_byte(&p, '/');
	add_locale(&p, name);
	return is_there(p.text);
}

static void replace_variable(char **envp, const char *name, const char *was,
			     char *now)
{
	for (; *envp; envp++) {
		const char *value = text_behind(*envp, name);

		if (value && text_is(value, was))
			*envp = now;
	}
}

void surroundings_mend(const struct told *t)
{
	static char term[] = INIT_TERM INIT_FALLBACK_TERM;
	static char lang[] = INIT_LANG INIT_FALLBACK_LANG;

	if (t->term && t->term[0] && !has_terminal(t->term))
		replace_variable(t->envp, INIT_TERM, t->term, term);
	if (t->lang && t->lang[0] && !has_language(t->lang))
		replace_variable(t->envp, INIT_LANG, t->lang, lang);
}
