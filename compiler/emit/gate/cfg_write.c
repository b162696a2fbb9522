#include "compiler/emit/gate/cfg_write.h"

#include "compiler/base/ascii.h"

#include <stdarg.h>
#include <string.h>

/* arena_fmt() has no va_list. */
static void put_list(struct cfg *c, const char *fmt, va_list args)
{
	char text[4096];
	int n = vsnprintf(text, sizeof(text), fmt, args);

	if ((size_t)n >= sizeof(text))
		c->ok = false; /* ours are shorter, and well formed */
	else
		buf_adds(c->out, text);
}

/* "server origin 0.0.0.0" is where the client called. */
void cfg_text(struct cfg *c, const char *part)
{
	static const char called[] = "server origin 0.0.0.0";
	const char *at;

	while (c->origin && (at = strstr(part, called))) {
		buf_add(c->out, (struct str){part, (size_t)(at - part)});
		buf_addf(c->out, "server origin %s", c->origin);
		part = at + sizeof(called) - 1;
	}
	buf_adds(c->out, part);
}

void cfg_line(struct cfg *c, const char *fmt, ...)
{
	va_list args;

	buf_adds(c->out, "    ");
	va_start(args, fmt);
	put_list(c, fmt, args);
	va_end(args);
	buf_addc(c->out, '\n');
}

static bool refuse_text(struct cfg *c, struct str text, struct span at)
{
	c->ok = false;
	diag_error(c->diags, DIAG_QUOTE, at,
		   "'%s' cannot stand in HAProxy's configuration",
		   diag_quote(c->diags, text));
	diag_help(c->diags, "printable ASCII can");
	return false;
}

static bool check_printable(struct cfg *c, struct str text, struct span at,
			    char first)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < first || text.p[i] > '~')
			return refuse_text(c, text, at);
	return text.n ? true : refuse_text(c, text, at);
}

/* Between strong quotes everything is itself, but for the quote. */
static void put_quoted(struct cfg *c, struct str text)
{
	buf_addc(c->out, '\'');
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\'')
			buf_adds(c->out, "'\\''");
		else
			buf_addc(c->out, text.p[i]);
	buf_addc(c->out, '\'');
}

void cfg_word(struct cfg *c, struct str text, struct span at)
{
	if (!check_printable(c, text, at, '!'))
		return;
	buf_addc(c->out, ' ');
	put_quoted(c, text);
}

void cfg_format(struct cfg *c, struct str text, struct span at)
{
	if (text.n == 0 || !check_printable(c, text, at, ' '))
		return;
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '\'')
			buf_adds(c->out, "'\\''");
		else if (text.p[i] == '%')
			buf_adds(c->out, "%%");
		else
			buf_addc(c->out, text.p[i]);
}

bool cfg_name_ok(struct str name)
{
	for (size_t i = 0; i < name.n; i++) {
		char ch = name.p[i];

		if (!ascii_is_lower(ch) && !ascii_is_digit(ch) &&
		    (ch == '\0' || !strchr("-_.*", ch)))
			return false;
	}
	return name.n > 0;
}

void cfg_name_regex(struct cfg *c, struct str pattern, struct span at)
{
	if (!cfg_name_ok(pattern)) {
		refuse_text(c, pattern, at);
		return;
	}
	buf_adds(c->out, " '^");
	for (size_t i = 0; i < pattern.n; i++) {
		char ch = pattern.p[i];

		if (str_starts(str_slice(pattern, i, pattern.n), STR("**"))) {
			buf_adds(c->out, "[^.]+([.][^.]+)*");
			i++;
		} else if (ch == '*') {
			buf_adds(c->out, "[^.]+");
		} else if (ch == '.') {
			buf_adds(c->out, "[.]");
		} else {
			buf_addc(c->out, ch);
		}
	}
	buf_adds(c->out, "\\z'");
}

void cfg_path_regex(struct cfg *c, struct str path, struct span at)
{
	if (path.n && !check_printable(c, path, at, '!'))
		return;
	buf_adds(c->out, " '^");
	for (size_t i = 0; i < path.n; i++) {
		unsigned char ch = (unsigned char)path.p[i];

		if (ch == '%' && i + 2 < path.n) {
			ch = (unsigned char)(ascii_hex(path.p[i + 1]) * 16 +
					     ascii_hex(path.p[i + 2]));
			i += 2;
		}
		if (ch == '.')
			buf_adds(c->out, "[.]");
		else if (ascii_is_unreserved((char)ch) || ch == '/')
			buf_addc(c->out, (char)ch);
		else if (ch >= 0x80 || ch <= ' ')
			buf_addf(c->out, "%%%02X", ch);
		else
			buf_addf(c->out, "(\\x%02x|%%%02X)", ch, ch);
	}
	buf_adds(c->out, "(/|\\z)'");
}

#define WORDS 48u /* behind a head: HAProxy takes 64 in a line */

static void begin_line(struct cfg_list *l)
{
	struct buf *out = l->c->out;

	l->line = out->n;
	l->n = 0;
	buf_addf(out, "    %.*s", STR_ARG(l->head));
}

struct cfg_list cfg_list_begin(struct cfg *c, struct str head)
{
	struct cfg_list l = {.c = c, .head = head};

	begin_line(&l);
	return l;
}

void cfg_list_word(struct cfg_list *l)
{
	struct buf *out = l->c->out;

	if (l->n && (l->n == WORDS || out->n - l->line > CFG_COLUMNS)) {
		struct str word = arena_str(
			l->c->a, str_slice(buf_str(out), l->word, out->n));

		buf_cut(out, l->word);
		buf_addc(out, '\n');
		begin_line(l);
		buf_add(out, word);
	}
	l->n++;
	l->word = out->n;
}

void cfg_list_end(struct cfg_list *l)
{
	buf_addc(l->c->out, '\n');
}

void cfg_ports(struct cfg *c, struct str head, const ir_ports *ports)
{
	struct cfg_list l = cfg_list_begin(c, head);

	vec_each(p, ports) {
		buf_addf(c->out, " %u", p->lo);
		if (p->hi != p->lo)
			buf_addf(c->out, ":%u", p->hi);
		cfg_list_word(&l);
	}
	cfg_list_end(&l);
}
