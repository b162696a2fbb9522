#include "compiler/commands/man.h"

#include "compiler/base/lint.h"
#include "compiler/commands/options.h"

static const char prose[] =
#include "compiler/commands/membrane.mdoc.inc"
	;

/* A line of text: no part of it is a request or an escape. */
static void text(struct buf *out, const char *s)
{
	if (*s == '.' || *s == '\'')
		buf_adds(out, "\\&");
	for (; *s; s++) {
		if (*s == '\\')
			buf_adds(out, "\\e");
		else if (*s == '-')
			buf_adds(out, "\\-");
		else
			buf_addc(out, *s);
	}
}

/* As the argument of a macro: macros' own names and blanks in it are text. */
static void argument(struct buf *out, const char *s)
{
	buf_adds(out, "\"\\&");
	for (; *s; s++) {
		if (*s == '"')
			buf_adds(out, "\\(dq");
		else if (*s == '\\')
			buf_adds(out, "\\e");
		else if (*s == '-')
			buf_adds(out, "\\-");
		else
			buf_addc(out, *s);
	}
	buf_addc(out, '"');
}

static bool has(const struct option *o, enum command_id id)
{
	return o->commands & 1u << id;
}

/* Flags of the policy are those that both plan and run have: one section. */
static bool is_shared(const struct option *o)
{
	return has(o, COMMAND_PLAN) && has(o, COMMAND_RUN);
}

static void option(struct buf *out, const struct option *o)
{
	buf_adds(out, ".It ");
	if (o->letter)
		buf_addf(out, "Fl %c , ", o->letter);
	buf_addf(out, "Fl -%s", o->name);
	switch (o->value) {
	case VALUE_NONE:
		break;
	case VALUE_TEXT:
	case VALUE_SESSION:
	case VALUE_FILE:
	case VALUE_DIR:
	case VALUE_WORDS:
		buf_addf(out, " Ar %s", o->meta);
		break;
	case VALUE_MAYBE:
		buf_addf(out, " Ns Op = Ns Ar %s", o->meta);
		break;
	}
	buf_addc(out, '\n');
	text(out, o->about);
	buf_addc(out, '\n');
}

/* "Takes: manifest, policy, …" below an option of few words. */
static void option_words(struct buf *out, const struct option *o)
{
	const char *w;

	if (o->value != VALUE_WORDS)
		return;
	buf_adds(out, ".Pp\nOne of:\n");
	for (size_t i = 0; (w = option_word(o->id, i)); i++) {
		text(out, w);
		buf_adds(out, option_word(o->id, i + 1) ? ",\n" : ".\n");
	}
}

static void own_options(struct buf *out, enum command_id id)
{
	const struct option *o;
	bool any = false;

	for (size_t i = 0; (o = option_at(i)); i++) {
		if (!o->about || !has(o, id) || is_shared(o) ||
		    o->id == OPTION_HELP)
			continue;
		if (!any)
			buf_adds(out, ".Bl -tag -width Ds\n");
		any = true;
		option(out, o);
		option_words(out, o);
	}
	if (any)
		buf_adds(out, ".El\n");
}

static void commands(struct buf *out)
{
	for (int i = 0; i < COMMANDS; i++) {
		const struct command *c = command_get((enum command_id)i);

		buf_adds(out, ".It Ic ");
		argument(out, c->name);
		if (*c->args) {
			buf_adds(out, " No ");
			argument(out, c->args);
		}
		buf_addc(out, '\n');
		text(out, c->about);
		buf_addc(out, '\n');
		own_options(out, (enum command_id)i);
	}
}

static void shared_options(struct buf *out)
{
	const struct option *o;

	for (size_t i = 0; (o = option_at(i)); i++)
		if (o->about && is_shared(o) && o->id != OPTION_HELP)
			option(out, o);
}

static void warnings(struct buf *out)
{
	const struct lint *l;

	for (size_t i = 0; (l = lint_at(i)); i++) {
		buf_addf(out, ".It Sy %s Pq W%03d\n", l->name, (int)l->id);
		text(out, l->about);
		buf_addc(out, '\n');
	}
}

void man_write(struct buf *out)
{
	struct str rest = str_of(prose), line;

	while (str_line(&rest, &line)) {
		if (str_is(line, "@COMMANDS@"))
			commands(out);
		else if (str_is(line, "@FLAGS@"))
			shared_options(out);
		else if (str_is(line, "@WARNINGS@"))
			warnings(out);
		else
			buf_addf(out, "%.*s\n", STR_ARG(line));
	}
}
