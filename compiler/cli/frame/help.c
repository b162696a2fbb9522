/*
 * `--help`, `help` and `version`: written from the tables, at most 24 lines
 * of 80 columns each, so that they fit a terminal.
 */
#include "compiler/cli/frame/parts.h"

#include "compiler/base/lint.h"
#include "compiler/cli/frame/options.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "version.h"

#include <stdio.h>

#define COLUMNS 80u

/* Commands that share a line of the overview, with what it says of them. */
static const struct {
	enum command_id first, last;
	const char *about;
} together[] = {
	{COMMAND_RUN, COMMAND_ATTACH,
	 "run a command inside the policy; detached; join such a one"},
	{COMMAND_COMPILE, COMMAND_CHECK,
	 "write the plan, to be checked in; prove that it is current"},
	{COMMAND_AGENTS, COMMAND_PRESETS,
	 "what agents are granted; what a policy can extend"},
	{COMMAND_EXPLAIN, COMMAND_DIFF,
	 "what decides a request; what access was gained and lost"},
	{COMMAND_TEST, COMMAND_TRUST,
	 "hold a policy against its tests; approve a workspace's"},
	{COMMAND_SHELL, COMMAND_LEARN,
	 "a shell inside; a first .membrane.yaml; what one lacks"},
	{COMMAND_TRACE, COMMAND_REPORT,
	 "read what a session recorded; write it as one page"},
	{COMMAND_PS, COMMAND_STOP,
	 "list the sessions that run; what one decided; end one"},
	{COMMAND_ALLOW, COMMAND_DENY,
	 "change what a session that runs may reach"},
	{COMMAND_WATCH, COMMAND_ANSWER,
	 "see one from another terminal; answer what waits there"},
	{COMMAND_DOCTOR, COMMAND_RESET,
	 "say what this host can enforce; end and remove all"},
	{COMMAND_SCHEMA, COMMAND_COMPLETION,
	 "print what editors and shells complete by"},
	{COMMAND_VERSION, COMMAND_HELP,
	 "print the version; explain a command, and more"},
};

/* The last command of the line that begins with this one. */
static enum command_id overview_line(struct buf *out, enum command_id first)
{
	const struct command *c = command_get(first);
	const char *about = c->about;
	enum command_id last = first;
	struct buf names;

	for (size_t i = 0; i < ARRAY_LEN(together); i++)
		if (together[i].first == first) {
			last = together[i].last;
			about = together[i].about;
		}
	buf_init(&names, out->a);
	for (int i = first; i <= (int)last; i++)
		buf_addf(&names, "%s%s", i == (int)first ? "" : ", ",
			 command_get((enum command_id)i)->name);
	buf_addf(out, "  %-20s%s\n", names.p, about);
	return last;
}

/* What flags do not tell of a command, or of all: its statuses alone. */
static void put_more(struct buf *out, enum command_id id, bool statuses)
{
	struct view v = {out, COLUMNS, false};
	const struct command_word *w;

	for (size_t i = 0; (w = command_word_at(i)); i++) {
		if (w->command != id ||
		    (statuses && w->kind != COMMAND_WORD_STATUS))
			continue;
		switch (w->kind) {
		case COMMAND_WORD_TYPED:
			continue;
		case COMMAND_WORD_TEXT:
			view_wrap(&v, 0, 0, str_of(w->about));
			break;
		case COMMAND_WORD_TERM:
		case COMMAND_WORD_WORD:
			buf_addf(out, "  %-12s ", w->name);
			view_wrap(&v, 15, 15, str_of(w->about));
			break;
		case COMMAND_WORD_STATUS:
			view_wrap(&v, 0, 0,
				  arena_fmt(out->a, "Status: %s", w->about));
			break;
		}
	}
}

void help_overview(struct buf *out)
{
	buf_adds(out, "membrane: a selectively permeable boundary for AI "
		      "agents\n"
		      "usage: membrane COMMAND [flags]\n"
		      "       membrane [flags] AGENT... | -- command...    "
		      "the same as membrane run\n\n");
	for (int i = 0; i < COMMANDS; i++)
		if (!command_get((enum command_id)i)->hidden)
			i = (int)overview_line(out, (enum command_id)i);
	buf_adds(out,
		 "\n'help COMMAND' has flags; 'help policy', lint, events, "
		 "filter, readonly: more.\n"
		 "Policy: presets, ~/.membrane/config.yaml, .membrane.yaml, "
		 "flags, in this order.\n");
	put_more(out, COMMAND_HELP, true);
}

static void option_line(struct buf *out, const struct option *o)
{
	char head[64];
	const char *meta = o->value == VALUE_NONE ? "" : o->meta;
	const char *sep = o->value == VALUE_NONE    ? ""
			  : o->value == VALUE_MAYBE ? "[="
						    : " ";
	char letter[5] = "    ";

	if (o->letter) {
		letter[0] = '-';
		letter[1] = o->letter;
		letter[2] = ',';
	}
	snprintf(head, sizeof(head), "%s--%s%s%s%s", letter, o->name, sep, meta,
		 o->value == VALUE_MAYBE ? "]" : "");
	buf_addf(out, "  %-28s%s\n", head, o->about);
}

/* `start` and `shell` take what `run` takes, and tell of the rest alone. */
static bool is_as_run(enum command_id id)
{
	return id == COMMAND_START || id == COMMAND_SHELL ||
	       id == COMMAND_LEARN;
}

static bool is_told_by_run(const struct option *o, enum command_id id)
{
	return is_as_run(id) && option_belongs(o, COMMAND_RUN) &&
	       o->id != OPTION_HELP;
}

/* The options that go with --target are not there where that is not. */
static bool is_runs_alone(const struct option *o, enum command_id id)
{
	return option_belongs(o, COMMAND_RUN) && !option_belongs(o, id) &&
	       o->section != SECTION_TARGET;
}

static void put_as_run(struct buf *out, enum command_id id)
{
	const char *before = " but ";
	const struct option *o;

	buf_adds(out, "All flags of 'membrane run'");
	for (size_t i = 0; (o = option_at(i)); i++)
		if (is_runs_alone(o, id)) {
			buf_addf(out, "%s--%s", before, o->name);
			before = " and ";
		}
	buf_adds(out, ", and:\n");
}

/* What is seldom wanted, by name. */
static void put_folded(struct buf *out, enum command_id id)
{
	struct view v = {out, COLUMNS, false};
	const struct option *o;
	struct buf names;

	buf_init(&names, out->a);
	for (size_t i = 0; (o = option_at(i)); i++)
		if (option_belongs(o, id) && option_folded(o, id) &&
		    !is_told_by_run(o, id) && o->section != SECTION_TARGET)
			buf_addf(&names, "%s --%s",
				 names.n ? "," : "Also:", o->name);
	if (option_belongs(option_row(OPTION_TARGET), id))
		buf_adds(&names, names.n ? ", those of --target"
					 : "Also: those of --target");
	if (!names.n)
		return;
	buf_addf(&names, ": 'man membrane-%s'", command_get(id)->name);
	buf_adds(out, "  ");
	view_wrap(&v, 2, 8, buf_str(&names));
}

void help_command(struct buf *out, enum command_id id)
{
	const struct command *c = command_get(id);
	const struct option *o;
	size_t before;

	buf_addf(out, "usage: membrane %s%s%s\n", c->name, *c->args ? " " : "",
		 c->args);
	buf_addf(out, "%s\n\n", c->about);
	before = out->n;
	put_more(out, id, false);
	if (is_as_run(id))
		put_as_run(out, id);
	if (out->n > before)
		buf_addc(out, '\n');
	for (size_t i = 0; (o = option_at(i)); i++)
		if (option_belongs(o, id) && !option_folded(o, id) &&
		    !is_told_by_run(o, id))
			option_line(out, o);
	put_folded(out, id);
}

int help_print(struct arena *a, enum command_id id)
{
	struct buf b;

	buf_init(&b, a);
	if (id == COMMAND_HELP)
		help_overview(&b);
	else
		help_command(&b, id);
	return console_result(buf_str(&b));
}

static void lint_table(struct buf *out)
{
	const struct lint *l;

	buf_adds(out, "The warnings, and what each is about; 'membrane help "
		      "NAME' says what to do.\n"
		      "'allow_lint' in a policy excepts from them.\n\n");
	for (size_t i = 0; (l = lint_at(i)); i++)
		buf_addf(out, "  W%03d %-19s%s\n", (int)l->id, l->name,
			 l->about);
}

static void lint_page(struct buf *out, const struct lint *l)
{
	struct view v = {out, 80, false};

	buf_addf(out, "W%03d %s: %s\n\n", (int)l->id, l->name, l->about);
	view_wrap(&v, 0, 0, str_of(l->remedy));
	if (l->id == DIAG_WAIVER_EXPIRED || l->id == DIAG_WAIVER_UNUSED)
		return;
	buf_addf(out,
		 "\nWhere it is meant, write so into the policy, with 'dest', "
		 "'path' or 'arg' for\n"
		 "one of several, and a last day if there is one:\n\n"
		 "  allow_lint:\n"
		 "    - {id: %s, reason: ..., until: 2027-01-31}\n",
		 l->name);
}

/* "lint", or the name of a warning; false for anything else. */
static bool help_lint(struct buf *out, struct str word)
{
	const struct lint *l = lint_named(word);

	if (str_is(word, "lint"))
		lint_table(out);
	else if (l)
		lint_page(out, l);
	return out->n > 0;
}

/* --- what tools run ------------------------------------------------------ */

enum rule { RULE_HELD, RULE_TOLD };

static const struct executed {
	enum rule rule;
	const char *tool, *patterns, *why;
} executed[] = {
#define EXECUTED(rule, tool, patterns, why) {RULE_##rule, tool, patterns, why},
#include "grammar/executed.def"
#undef EXECUTED
};

/* As people name them: of a path that is also held elsewhere, once. */
static void put_executed(struct buf *out, const struct executed *e)
{
	struct view v = {out, 80, false};
	struct str list = str_of(e->patterns), one;
	struct buf b;

	buf_init(&b, out->a);
	buf_addf(&b, "%s:", e->tool);
	while (str_field(&list, '|', &one)) {
		size_t skip = str_starts(one, STR("**/")) ? 3
			      : str_starts(one, STR("/")) ? 1
							  : 0;
		struct str name = arena_fmt(
			out->a, " %.*s", STR_ARG(str_slice(one, skip, one.n)));

		if (memmem(b.p, b.n, arena_fmt(out->a, "%s,", name.p).p,
			   name.n + 1))
			continue;
		buf_addf(&b, "%s,", name.p);
	}
	b.n--;
	buf_addf(&b, " (%s)", e->why);
	buf_adds(out, "  ");
	view_wrap(&v, 2, 4, buf_str(&b));
}

static void help_readonly(struct buf *out)
{
	buf_adds(out, "What tools on the host run, or take commands from, "
		      "without being told to.\n"
		      "Read-only in every session, whatever a policy says:\n");
	for (size_t i = 0; i < ARRAY_LEN(executed); i++) {
		if (i && executed[i].rule != executed[i - 1].rule)
			buf_adds(out, "Named at the session's end when new or "
				      "changed, as is what is new of the "
				      "above:\n");
		put_executed(out, &executed[i]);
	}
	buf_adds(out, "What git's configuration names is read-only, too: "
		      "'membrane plan' lists it. Not\n"
		      "listed here is what runs when it is called "
		      "(package.json, Makefile): read changes.\n");
}

static void help_policy(struct buf *out)
{
	buf_adds(out,
		 "The keys of a policy; 'man membrane-policy' has all that "
		 "they hold.\n");
	man_keys_overview(out);
}

static int unknown_word(struct arena *a, const char *what, struct str word)
{
	console_error("there is no %s '%s'", what,
		      view_cleaned(a, str_slice(word, 0, 60)).p);
	return STATUS_USAGE;
}

/* A man page: membrane(1), or of what a word names. */
static int help_man(struct arena *a, const struct options *o)
{
	struct str name = o->words.n ? o->words.v[0] : STR("membrane");
	struct buf b;

	buf_init(&b, a);
	if (o->words.n > 1) {
		console_error(
			"'membrane help --man' prints one page at a time");
		return STATUS_USAGE;
	}
	if (!man_write(&b, name))
		return unknown_word(a, "man page", name);
	return console_result(buf_str(&b));
}

int command_help(struct arena *a, const struct options *o)
{
	enum command_id id = COMMAND_HELP;
	struct buf b;

	buf_init(&b, a);
	if (options_get(o, OPTION_MAN))
		return help_man(a, o);
	/* "help trace show" is meant, and well so: one page has them all. */
	if (o->words.n > 1 && !str_is(o->words.v[0], "trace")) {
		console_error("'membrane help' explains one thing at a time");
		return STATUS_USAGE;
	}
	if (o->words.n == 0 || command_find(o->words.v[0], &id))
		return help_print(a, id);
	if (str_is(o->words.v[0], "readonly"))
		help_readonly(&b);
	else if (str_is(o->words.v[0], "policy"))
		help_policy(&b);
	else if (!help_lint(&b, o->words.v[0]) &&
		 !help_trace(&b, o->words.v[0]))
		return unknown_word(a, "command", o->words.v[0]);
	return console_result(buf_str(&b));
}

int command_version(struct arena *a, const struct options *o)
{
	(void)o;
	return console_result(arena_fmt(a, "membrane %s\n", MEMBRANE_VERSION));
}
