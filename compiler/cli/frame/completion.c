#include "compiler/cli/frame/completion.h"

#include "compiler/base/lint.h"
#include "compiler/cli/frame/options.h"
#include "compiler/cli/text/view.h"

#define ABOUT_COLUMNS 60u

/* What stands before the last word. */
struct before {
	enum command_id command;
	bool named;		    /* the command was written, not implied */
	bool exec;		    /* a command line follows */
	bool only_words;	    /* no flag follows */
	bool man;		    /* `help --man` */
	const struct option *value; /* the next word is its value */
	const struct option *flag;  /* the word before: a '=' may follow */
	uint32_t n;		    /* words of the command so far */
	struct str first;
};

static bool takes_next(const struct option *o)
{
	return o->value != VALUE_NONE && o->value != VALUE_MAYBE;
}

static void see_flag(struct before *b, struct str word)
{
	const struct option *o = NULL;

	if (str_starts(word, STR("--"))) {
		o = option_named(str_slice(word, 2, word.n), b->command);
		b->flag = o;
		if (o && takes_next(o))
			b->value = o;
	}
	/* -abVALUE: the value is the rest, or the next word */
	for (size_t k = 1; !str_starts(word, STR("--")) && k < word.n; k++) {
		o = option_lettered(word.p[k], b->command);
		if (!o || o->value == VALUE_NONE)
			continue;
		if (k + 1 == word.n)
			b->value = o;
		break;
	}
	b->man = b->man || (o && o->id == OPTION_MAN);
}

static void see_word(struct before *b, struct str word)
{
	if (!b->named) {
		b->named = true;
		if (!command_find(word, &b->command))
			b->command = COMMAND_VERSION; /* takes nothing */
		return;
	}
	if (b->n++ == 0)
		b->first = word;
	if (b->command == COMMAND_EXPLAIN && str_is(b->first, "docker-arg"))
		b->only_words = true;
}

/* bash takes words apart at '=' and ':'. */
static bool see_sign(struct before *b, struct str word)
{
	if (str_is(word, "=") && b->flag) {
		b->value = b->flag;
		b->flag = NULL;
		return true;
	}
	if (!str_is(word, ":"))
		return false;
	b->n -= b->n > 0;
	return true;
}

static void see_typed(struct before *b, struct str word)
{
	if (b->exec || see_sign(b, word))
		return;
	b->flag = NULL;
	if (b->value)
		b->value = NULL;
	else if (b->only_words)
		see_word(b, word);
	else if (str_is(word, "--") && b->command == COMMAND_EXPLAIN)
		b->only_words = true;
	else if (str_is(word, "--"))
		b->exec = true;
	else if (word.n > 1 && word.p[0] == '-')
		see_flag(b, word);
	else
		see_word(b, word);
}

/* --- what is offered ------------------------------------------------------ */

static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] <= ' ' || s.p[i] > '~')
			return false;
	return s.n && s.p[0] != ':';
}

void completion_offer(struct completion *c, struct str name, struct str about)
{
	struct str clean = view_cleaned(c->out->a, about);

	if (!is_plain(name) || !is_plain(c->before.n ? c->before : name) ||
	    !str_starts(name, c->typed))
		return;
	buf_addf(c->out, "%.*s%.*s", STR_ARG(c->before), STR_ARG(name));
	if (clean.n) {
		buf_addc(c->out, '\t');
		buf_add(c->out, view_fit(c->out->a, clean, ABOUT_COLUMNS));
	}
	buf_addc(c->out, '\n');
}

static void offer_name(struct completion *c, const char *name,
		       const char *about)
{
	completion_offer(c, str_of(name), str_of(about));
}

static void offer_commands(struct completion *c)
{
	for (int i = 0; i < COMMANDS; i++) {
		const struct command *it = command_get((enum command_id)i);

		if (!it->hidden)
			offer_name(c, it->name, it->about);
	}
}

static void offer_flags(struct completion *c, enum command_id id)
{
	const struct option *o;

	for (size_t i = 0; (o = option_at(i)); i++)
		if (option_belongs(o, id))
			offer_name(c, arena_fmt(c->out->a, "--%s", o->name).p,
				   o->about);
}

static void offer_listed(struct completion *c, enum command_id id)
{
	const struct command_word *w;

	for (size_t i = 0; (w = command_word_at(i)); i++)
		if (w->command == id && (w->kind == COMMAND_WORD_WORD ||
					 w->kind == COMMAND_WORD_TYPED))
			offer_name(c, w->name, w->about);
}

/* What `help` explains; a man page there is of less. */
static void offer_topics(struct completion *c, const struct before *b)
{
	offer_commands(c);
	if (b->man) {
		offer_name(c, "membrane", "all of it");
		offer_name(c, "policy", "the keys of a policy");
		return;
	}
	offer_listed(c, b->command);
	for (size_t i = 0; lint_at(i); i++)
		offer_name(c, lint_at(i)->name, lint_at(i)->about);
}

/* One of a few; by the name of its file, too, where no other begins so. */
static void offer_few(struct completion *c, enum option_id id)
{
	size_t n = c->out->n;
	const char *w, *file;

	for (size_t i = 0; (w = option_word(id, i)); i++) {
		file = option_word_file(id, i);
		offer_name(c, w, file ? file : "");
	}
	for (size_t i = 0; c->out->n == n && option_word(id, i); i++) {
		file = option_word_file(id, i);
		if (file)
			offer_name(c, file, "");
	}
}

static void offer_value(struct completion *c, const struct option *o)
{
	switch (o->value) {
	case VALUE_NONE:
	case VALUE_TEXT:
	case VALUE_MAYBE:
		break;
	case VALUE_SESSION:
		c->sessions = WORDS_SESSION;
		break;
	case VALUE_FILE:
		buf_adds(c->out, ":files\n");
		break;
	case VALUE_DIR:
		buf_adds(c->out, ":folders\n");
		break;
	case VALUE_WORDS:
		offer_few(c, o->id);
		break;
	}
}

/* Behind a view: what follows it there is an expression. */
static void offer_traces(struct completion *c, const struct before *b)
{
	if (b->n > 1)
		return;
	c->sessions = WORDS_TRACE;
	if (str_is(b->first, "follow"))
		c->sessions = WORDS_SESSION;
	else
		buf_adds(c->out, ":files\n");
}

static void offer_word(struct completion *c, const struct before *b)
{
	const struct command *it = command_get(b->command);
	enum command_words words = b->n ? it->rest : it->first;

	if (b->n >= it->words)
		return;
	switch (words) {
	case WORDS_NONE:
		break;
	case WORDS_LISTED:
		offer_listed(c, b->command);
		break;
	case WORDS_TOPIC:
		offer_topics(c, b);
		break;
	case WORDS_DIR:
		buf_adds(c->out, ":folders\n");
		break;
	case WORDS_PATH:
		if (str_is(b->first, "read") || str_is(b->first, "write"))
			buf_adds(c->out, ":files\n");
		break;
	case WORDS_FILE:
		buf_adds(c->out, ":files\n");
		break;
	case WORDS_SESSION:
	case WORDS_RECORD:
		c->sessions = words;
		break;
	case WORDS_TRACE:
		offer_traces(c, b);
		break;
	}
}

/* "--emit=pol": the value alone is completed, and the whole word said. */
static const struct option *split_flag(struct completion *c, enum command_id id)
{
	size_t eq = str_find(c->typed, '=', 0);
	const struct option *o;

	if (!str_starts(c->typed, STR("--")) || eq == c->typed.n)
		return NULL;
	o = option_named(str_slice(c->typed, 2, eq), id);
	c->before = str_slice(c->typed, 0, eq + 1);
	c->typed = str_slice(c->typed, eq + 1, c->typed.n);
	return o;
}

void completion_find(struct buf *out, char *const *words, struct completion *c)
{
	struct before b = {.command = COMMAND_RUN};
	const struct option *flag;

	*c = (struct completion){.out = out, .sessions = WORDS_NONE};
	for (size_t i = 0; words[i]; i++) {
		c->typed = str_of(words[i]);
		if (words[i + 1])
			see_typed(&b, c->typed);
	}
	if (b.exec) {
		if (b.command == COMMAND_RUN || b.command == COMMAND_START)
			buf_adds(out, ":command\n");
		return;
	}
	/* bash: a '=' with nothing behind it is the last word */
	if (see_sign(&b, c->typed))
		c->typed = STR("");
	if (b.value) {
		offer_value(c, b.value);
	} else if (b.only_words || !str_starts(c->typed, STR("-"))) {
		if (b.named)
			offer_word(c, &b);
		else
			offer_commands(c);
	} else if ((flag = split_flag(c, b.command))) {
		offer_value(c, flag);
	} else if (!c->before.n) {
		offer_flags(c, b.command);
	}
}
