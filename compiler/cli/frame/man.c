/*
 * The man pages, in mdoc(7): membrane(1), membrane-VERB(1) for every
 * subcommand, and membrane-policy(5). doc/man/NAME.mdoc is the text of each,
 * from DESCRIPTION on; what the tables of commands, options, keys and warnings
 * know goes into the places that it marks:
 *
 *	@COMMANDS@  all subcommands        @OPTIONS@  the section of flags
 *	@KEYS@      the keys of a policy   @WARNINGS@  all warnings
 *	@MORE@      what words.def says    @STATUS@    the section of statuses
 *	@FILTER@    expressions of `trace`
 */
#include "compiler/cli/frame/parts.h"

#include "compiler/base/ascii.h"
#include "compiler/base/lint.h"
#include "compiler/cli/frame/options.h"
#include "version.h"

/* When the text was last gone through. */
#define WRITTEN "November 22, 2026"

#define PARAGRAPH_COLUMNS 60u

/* doc/man, one file after another, each behind a line "@PAGE name". */
static const char prose[] =
#include "doc/man/pages.inc"
	;

/* --- tables -------------------------------------------------------------- */

static bool has_option(const struct option *o, enum command_id id)
{
	return option_belongs(o, id) && o->id != OPTION_HELP;
}

static void put_option_head(struct buf *out, const struct option *o)
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
}

/* "One of: manifest, policy, …" below an option of few words. */
static void put_option_words(struct buf *out, const struct option *o)
{
	const char *w;

	if (o->value != VALUE_WORDS)
		return;
	buf_adds(out, ".Pp\nOne of:\n");
	for (size_t i = 0; (w = option_word(o->id, i)); i++) {
		man_text(out, w);
		buf_adds(out, option_word(o->id, i + 1) ? ",\n" : ".\n");
	}
}

/* Those of a section. */
static bool put_option_list(struct buf *out, enum command_id id,
			    enum option_section section, const char *before)
{
	const struct option *o;
	bool any = false;

	for (size_t i = 0; (o = option_at(i)); i++) {
		if (!has_option(o, id) || o->section != section)
			continue;
		if (!any)
			buf_addf(out, "%s.Bl -tag -width Ds\n", before);
		any = true;
		put_option_head(out, o);
		man_text(out, o->about);
		buf_addc(out, '\n');
		put_option_words(out, o);
	}
	if (any)
		buf_adds(out, ".El\n");
	return any;
}

static void put_options(struct buf *out, enum command_id id)
{
	static const char heading[] = ".Sh OPTIONS\n";
	bool own = put_option_list(out, id, SECTION_OWN, heading);

	put_option_list(out, id, SECTION_TARGET,
			".Pp\n"
			"With\n"
			".Fl -target :\n");
	put_option_list(out, id, SECTION_POLICY,
			own ? ".Pp\n"
			      "The flags of the policy, one more layer of it:\n"
			    : heading);
}

static void put_commands(struct buf *out)
{
	for (int i = 0; i < COMMANDS; i++) {
		const struct command *c = command_get((enum command_id)i);

		if (c->hidden)
			continue;
		buf_adds(out, ".It Ic ");
		man_argument(out, c->name);
		buf_addc(out, '\n');
		man_text(out, c->about);
		buf_addc(out, '\n');
	}
}

static void put_warnings(struct buf *out)
{
	const struct lint *l;

	for (size_t i = 0; (l = lint_at(i)); i++) {
		buf_addf(out, ".It Sy %s Pq W%03d\n", l->name, (int)l->id);
		man_text(out, l->about);
		buf_addc(out, '\n');
	}
}

/*
 * A paragraph in lines of mdoc(7): broken where a sentence ends, and before
 * they are too long.
 */
static void put_paragraph(struct buf *out, const char *text)
{
	struct str rest = str_of(text), word;
	struct buf line;

	buf_init(&line, out->a);
	while (str_field(&rest, ' ', &word)) {
		bool ends = str_ends(word, STR(".")) || !rest.n;

		buf_addf(&line, "%s%.*s", line.n ? " " : "", STR_ARG(word));
		if (!ends && line.n < PARAGRAPH_COLUMNS)
			continue;
		man_text(out, buf_str(&line).p);
		buf_addc(out, '\n');
		buf_init(&line, out->a);
	}
}

static bool is_row(const struct command_word *w, enum command_id id)
{
	return w && w->command == id &&
	       (w->kind == COMMAND_WORD_TERM || w->kind == COMMAND_WORD_WORD);
}

static void put_row(struct buf *out, const struct command_word *w)
{
	buf_addf(out, ".It %s ", w->kind == COMMAND_WORD_WORD ? "Cm" : "Ar");
	man_argument(out, w->name);
	buf_addc(out, '\n');
	put_paragraph(out, w->about);
}

/* What words.def says of a command. */
static void put_more(struct buf *out, enum command_id id)
{
	const struct command_word *w;
	bool any = false;

	for (size_t i = 0; (w = command_word_at(i)); i++) {
		if (w->command == id && w->kind == COMMAND_WORD_TEXT) {
			buf_adds(out, any ? ".Pp\n" : "");
			put_paragraph(out, w->about);
			any = true;
		}
		if (!is_row(w, id))
			continue;
		buf_adds(out, ".Bl -tag -width \"A..B, A...B\" -compact\n");
		for (; is_row(command_word_at(i), id); i++)
			put_row(out, command_word_at(i));
		buf_adds(out, ".El\n");
		i--;
	}
}

static void put_status(struct buf *out, enum command_id id)
{
	const struct command_word *w;

	for (size_t i = 0; (w = command_word_at(i)); i++)
		if (w->command == id && w->kind == COMMAND_WORD_STATUS) {
			buf_adds(out, ".Sh EXIT STATUS\n");
			put_paragraph(out, w->about);
		}
}

static void put_filter(struct buf *out)
{
	struct str rest = str_of(help_filter()), line;

	buf_adds(out, ".Bd -literal\n");
	while (str_line(&rest, &line)) {
		man_text(out, arena_cstr(out->a, line));
		buf_addc(out, '\n');
	}
	buf_adds(out, ".Ed\n");
}

/* --- pages --------------------------------------------------------------- */

struct page {
	struct str name;     /* as in "run" */
	const char *section; /* "1" */
	const char *about;
	enum command_id verb; /* COMMANDS: of none */
};

static bool page_find(struct str name, struct page *out)
{
	*out = (struct page){name, "1", NULL, COMMANDS};
	if (str_is(name, "membrane")) {
		out->about = "a selectively permeable boundary for AI agents";
	} else if (str_is(name, "policy")) {
		out->section = "5";
		out->about = "what a sandboxed command may reach, see and "
			     "change";
	} else if (command_find(name, &out->verb) &&
		   !command_get(out->verb)->hidden) {
		out->about = command_get(out->verb)->about;
	}
	return out->about;
}

/* The name and the line of it that apropos(1) shows. */
static void put_head(struct buf *out, const struct page *p)
{
	struct str name = p->name;

	if (!str_is(name, "membrane"))
		name = arena_fmt(out->a, "membrane-%.*s", STR_ARG(name));
	buf_addf(out, ".Dd %s\n.Dt %s %s\n.Os membrane %s\n", WRITTEN,
		 ascii_upper(out->a, name).p, p->section, MEMBRANE_VERSION);
	buf_addf(out, ".Sh NAME\n.Nm %.*s\n.Nd ", STR_ARG(name));
	man_text(out, p->about);
	buf_addc(out, '\n');
}

static void put_use(struct buf *out, const char *name, const char *args)
{
	buf_addf(out, ".Nm membrane%s%s\n", *name ? " " : "", name);
	if (!*args)
		return;
	buf_adds(out, ".No ");
	man_argument(out, args);
	buf_addc(out, '\n');
}

static void put_synopsis(struct buf *out, const struct page *p)
{
	const struct command *run = command_get(COMMAND_RUN);
	const struct command *verb =
		p->verb == COMMANDS ? NULL : command_get(p->verb);

	if (!verb && !str_is(p->name, "membrane"))
		return;
	buf_adds(out, ".Sh SYNOPSIS\n");
	if (verb)
		put_use(out, verb->name, verb->args);
	else
		put_use(out, "", "COMMAND [flags]");
	if (!verb || verb == run)
		put_use(out, "", run->args);
}

/* The lines of a page's own file. */
static void put_prose(struct buf *out, const struct page *p)
{
	struct str rest = str_of(prose), line, mark = STR("@PAGE ");
	bool ours = false;

	while (str_line(&rest, &line)) {
		if (str_starts(line, mark))
			ours = str_eq(str_slice(line, mark.n, line.n), p->name);
		else if (!ours)
			continue;
		else if (str_is(line, "@COMMANDS@"))
			put_commands(out);
		else if (str_is(line, "@OPTIONS@"))
			put_options(out, p->verb);
		else if (str_is(line, "@MORE@"))
			put_more(out, p->verb);
		else if (str_is(line, "@STATUS@"))
			put_status(out, p->verb == COMMANDS ? COMMAND_HELP
							    : p->verb);
		else if (str_is(line, "@FILTER@"))
			put_filter(out);
		else if (str_is(line, "@KEYS@"))
			man_keys(out);
		else if (str_is(line, "@WARNINGS@"))
			put_warnings(out);
		else
			buf_addf(out, "%.*s\n", STR_ARG(line));
	}
}

bool man_write(struct buf *out, struct str name)
{
	struct page p;

	if (!page_find(name, &p))
		return false;
	put_head(out, &p);
	put_synopsis(out, &p);
	put_prose(out, &p);
	return true;
}
