#include "compiler/cli/frame/options.h"

#include "compiler/base/limits.h"
#include "compiler/base/near.h"
#include "compiler/cli/frame/agents.h"
#include "compiler/cli/text/view.h"
#include "compiler/driver.h"
#include "compiler/emit/emit.h"
#include "compiler/front/front.h"
#include "compiler/plan/manifest.h"

#define FOR(id)	    (UINT64_C(1) << COMMAND_##id)
#define FOR_PLAN    FOR(PLAN)
#define FOR_COMPILE FOR(COMPILE)
#define FOR_CHECK   FOR(CHECK)
#define FOR_TARGET  (FOR(PLAN) | FOR(COMPILE) | FOR(CHECK) | FOR(RUN))
#define FOR_DIFF    FOR(DIFF)
#define FOR_RUN	    FOR(RUN)
#define FOR_START   FOR(START)
#define FOR_ATTACH  FOR(ATTACH)
#define FOR_STOP    FOR(STOP)
#define FOR_LEARN   FOR(LEARN)
#define FOR_LAUNCH  (FOR(RUN) | FOR(START) | FOR(SHELL) | FOR(LEARN))
#define FOR_SEALED  (FOR(RUN) | FOR(START) | FOR(SHELL))
#define FOR_AGENTS  FOR(AGENTS)
#define FOR_PRESETS FOR(PRESETS)
#define FOR_IMAGES  FOR(IMAGES)
#define FOR_TEST    FOR(TEST)
#define FOR_EXPLAIN FOR(EXPLAIN)
#define FOR_HELP    FOR(HELP)
#define FOR_INIT    FOR(INIT)
#define FOR_TRUST   FOR(TRUST)
#define FOR_TRACE   FOR(TRACE)
#define FOR_DOCTOR  FOR(DOCTOR)
#define FOR_PS	    FOR(PS)
#define FOR_RESET   (FOR(RESET) | FOR(RUN)) /* run --reset */
#define FOR_LOGS    FOR(LOGS)
#define FOR_AMEND   (FOR(ALLOW) | FOR(DENY))
#define FOR_ANSWER  FOR(ANSWER)
#define FOR_WATCH   FOR(WATCH)
#define FOR_POLICY                                                             \
	(FOR(PLAN) | FOR(COMPILE) | FOR(CHECK) | FOR(TEST) | FOR(RUN) |        \
	 FOR(START) | FOR(SHELL) | FOR(LEARN) | FOR(EXPLAIN))
#define FOR_NONE UINT64_C(0)
#define FOR_ALL	 ((UINT64_C(1) << COMMANDS) - 1)

#define OWN	SECTION_OWN, -1
#define OF_IT	SECTION_TARGET, -1
#define SHARED	SECTION_POLICY, -1
#define FLAG(x) SECTION_POLICY, FRONT_FLAG_##x

static const struct option table[] = {
#define OPTION(id, name, letter, value, meta, commands, section, about)        \
	{OPTION_##id, name,	letter,	 VALUE_##value,                        \
	 meta,	      commands, section, about},
#define ALIAS(id, name) {OPTION_##id, name, 0, VALUE_TEXT, "", 0, OWN, NULL},
#define FOLD(id, commands)
#include "compiler/cli/frame/options.def"
#undef OPTION
#undef ALIAS
#undef FOLD
};

/* In whose help an option has no line of its own. */
static const uint64_t folded[OPTIONS] = {
#define OPTION(id, name, letter, value, meta, commands, section, about)
#define ALIAS(id, name)
#define FOLD(id, commands) [OPTION_##id] = (commands),
#include "compiler/cli/frame/options.def"
#undef OPTION
#undef ALIAS
#undef FOLD
};

const struct option *option_at(size_t i)
{
	return i < ARRAY_LEN(table) ? &table[i] : NULL;
}

/* The one of an alias is that of the option itself. */
static bool is_of(const struct option *o, enum command_id id)
{
	uint64_t commands = option_row(o->id)->commands;

	return commands == FOR_NONE || commands >> id & 1;
}

const struct option *option_named(struct str name, enum command_id id)
{
	const struct option *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (!str_is(name, table[i].name))
			continue;
		if (is_of(&table[i], id))
			return &table[i];
		first = first ? first : &table[i];
	}
	return first;
}

const struct option *option_lettered(char letter, enum command_id id)
{
	const struct option *first = NULL;

	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		if (!table[i].letter || table[i].letter != letter)
			continue;
		if (is_of(&table[i], id))
			return &table[i];
		first = first ? first : &table[i];
	}
	return first;
}

bool option_belongs(const struct option *o, enum command_id id)
{
	return o->about && o->commands >> id & 1;
}

bool option_folded(const struct option *o, enum command_id id)
{
	return folded[o->id] >> id & 1;
}

const struct option *option_row(enum option_id id)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].id == id && table[i].about)
			return &table[i];
	return NULL;
}

const char *option_word(enum option_id id, size_t i)
{
	static const struct {
		enum option_id id;
		const char *words[6]; /* NULL behind the last */
	} few[] = {
		{OPTION_FAIL_ON, {"widen", "any", "none"}},
		{OPTION_TARGET, {"kubernetes"}},
		{OPTION_KIND,
		 {"pod", "job", "deployment", "sandbox", "template"}},
		{OPTION_FQDN, {"cilium"}},
		{OPTION_SIDECAR, {"native", "container"}},
		{OPTION_TOPOLOGY, {"wire", "apart"}},
	};

	for (size_t k = 0; k < ARRAY_LEN(few); k++)
		if (few[k].id == id)
			return few[k].words[i];
	if (id == OPTION_DUMP_IR)
		return driver_pass(i);
	if (id != OPTION_EMIT)
		return NULL;
	/* The manifest comes from no emitter: it seals what they wrote. */
	if (i == 0)
		return "manifest";
	return emitter_at(i - 1) ? emitter_at(i - 1)->name : NULL;
}

const char *option_word_file(enum option_id id, size_t i)
{
	if (id != OPTION_EMIT)
		return NULL;
	return i == 0 ? MANIFEST_NAME : emitter_at(i - 1)->file;
}

struct parser {
	struct arena *a;
	char *const *argv;
	int argc, i; /* the next word */
	struct options *out;
	struct buf *complaint;
};

/* What a user typed, harmless for a terminal. */
static void quote_word(struct parser *p, struct str s)
{
	buf_addc(p->complaint, '\'');
	view_clean(p->complaint, str_slice(s, 0, 60));
	if (s.n > 60)
		buf_adds(p->complaint, "…");
	buf_addc(p->complaint, '\'');
}

static void suggest_name(struct parser *p, const char *before, const char *name)
{
	if (name)
		buf_addf(p->complaint, "\n  did you mean '%s%s'?", before,
			 name);
}

/* Whoever types what is suggested is not to lose anything by it. */
static bool is_harmless(enum command_id id)
{
	return id != COMMAND_RESET && id != COMMAND_STOP &&
	       !command_get(id)->hidden;
}

static const char *near_option(struct str name)
{
	struct near near = {.word = name, .below = name.n < 5 ? 2 : 3};

	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (table[i].id != OPTION_RESET)
			(void)near_offer(&near, table[i].name);
	return near.name;
}

/* What people who know other tools try; none is a program to be run. */
static const char *const other_names[][2] = {
	{"lint", "plan"},     {"validate", "plan"}, {"list", "ps"},
	{"status", "ps"},     {"approve", "trust"}, {"replay", "trace"},
	{"suggest", "trace"},
};

static const char *near_command(struct str name)
{
	/* Half of it another is another word. */
	struct near near = {.word = name,
			    .below = name.n < 5 ? (unsigned)(name.n + 1) / 2
						: 3};

	for (size_t i = 0; i < ARRAY_LEN(other_names); i++)
		if (str_is(name, other_names[i][0]))
			return other_names[i][1];
	for (int i = 0; i < COMMANDS; i++)
		if (is_harmless((enum command_id)i))
			(void)near_offer(&near,
					 command_get((enum command_id)i)->name);
	for (size_t i = 0; agent_at(i); i++)
		(void)near_offer(&near, agent_at(i)->name);
	return near.name;
}

static bool unknown_option(struct parser *p, struct str spelling,
			   struct str name)
{
	buf_adds(p->complaint, "unknown option ");
	quote_word(p, spelling);
	if (name.n > 1)
		suggest_name(p, "--", near_option(name));
	return false;
}

/* An artefact goes by its file's name, too. */
static struct str word_meant(const struct option *o, struct str value)
{
	const char *w, *file;

	for (size_t i = 0; (w = option_word(o->id, i)); i++) {
		file = option_word_file(o->id, i);
		if (file && str_is(value, file))
			return str_of(w);
	}
	return value;
}

/* A value that must be one of a few. */
static bool known_word(struct parser *p, const struct option *o,
		       struct str spelling, struct str value)
{
	const char *w;

	for (size_t i = 0; (w = option_word(o->id, i)); i++)
		if (str_is(value, w))
			return true;
	buf_addf(p->complaint, "'%.*s' has no ", STR_ARG(spelling));
	quote_word(p, value);
	buf_adds(p->complaint, "\n  it takes:");
	for (size_t i = 0; (w = option_word(o->id, i)); i++)
		buf_addf(p->complaint, " %s", w);
	return false;
}

static bool give_option(struct parser *p, const struct option *o,
			struct str spelling, struct str value)
{
	if (value.n > LIMIT_SCALAR_BYTES) {
		buf_addf(p->complaint,
			 "the value of '%.*s' is longer than "
			 "%u bytes",
			 STR_ARG(spelling), LIMIT_SCALAR_BYTES);
		return false;
	}
	value = word_meant(o, value);
	if (o->value == VALUE_WORDS && !known_word(p, o, spelling, value))
		return false;
	*vec_push(p->a, &p->out->given) =
		(struct option_given){o->id, spelling, value};
	return true;
}

/* The next word is the value of an option that needs one. */
static bool give_next(struct parser *p, const struct option *o,
		      struct str spelling)
{
	if (p->i == p->argc) {
		buf_addf(p->complaint, "'%.*s' needs a value: %s",
			 STR_ARG(spelling), option_row(o->id)->meta);
		return false;
	}
	return give_option(p, o, spelling, str_of(p->argv[p->i++]));
}

static bool parse_long(struct parser *p, struct str word)
{
	size_t eq = str_find(word, '=', 0);
	struct str spelling = str_slice(word, 0, eq);
	struct str name = str_slice(spelling, 2, spelling.n);
	struct str value = str_slice(word, eq + 1, word.n);
	const struct option *o = option_named(name, p->out->command);

	if (!o)
		return unknown_option(p, spelling, name);
	switch (o->value) {
	case VALUE_NONE:
		if (eq < word.n) {
			buf_addf(p->complaint, "'%.*s' takes no value",
				 STR_ARG(spelling));
			return false;
		}
		return give_option(p, o, spelling, (struct str){0});
	case VALUE_MAYBE:
		return give_option(p, o, spelling, value);
	case VALUE_TEXT:
	case VALUE_SESSION:
	case VALUE_FILE:
	case VALUE_DIR:
	case VALUE_WORDS:
		break;
	}
	if (eq < word.n)
		return give_option(p, o, spelling, value);
	return give_next(p, o, spelling);
}

/* "-xVALUE", "-x VALUE", "-xyz" */
static bool parse_letters(struct parser *p, struct str word)
{
	for (size_t k = 1; k < word.n; k++) {
		const struct option *o =
			option_lettered(word.p[k], p->out->command);
		struct str spelling, rest = str_slice(word, k + 1, word.n);

		spelling = arena_fmt(p->a, "-%c", word.p[k]);
		if (!o)
			return unknown_option(p, k == 1 ? word : spelling,
					      str_slice(word, 1, word.n));
		if (o->value == VALUE_NONE) {
			if (!give_option(p, o, spelling, (struct str){0}))
				return false;
			continue;
		}
		return rest.n ? give_option(p, o, spelling, rest)
			      : give_next(p, o, spelling);
	}
	return true;
}

/* A word that is no flag: the subcommand, or an argument of it. */
static bool parse_word(struct parser *p, struct str word)
{
	if (p->out->named) {
		*vec_push(p->a, &p->out->words) = word;
		return true;
	}
	p->out->named = true;
	if (command_find(word, &p->out->command))
		return true;
	p->out->command = COMMAND_HELP;
	if (agent_named(word)) {
		/* All that follows is the agent's. */
		p->out->command = COMMAND_RUN;
		p->out->exec = p->argv + p->i - 1;
		return true;
	}
	buf_adds(p->complaint, "unknown command ");
	quote_word(p, word);
	if (near_command(word))
		suggest_name(p, "", near_command(word));
	else
		buf_adds(p->complaint, "\n  to run it inside the policy, put "
				       "'--' before it");
	return false;
}

/* What was typed before the command, by a name that two options have. */
static void settle(struct option_given *g, enum command_id id)
{
	const struct option *o =
		str_starts(g->spelling, STR("--"))
			? option_named(str_slice(g->spelling, 2, g->spelling.n),
				       id)
			: option_lettered(g->spelling.p[1], id);

	if ((o->value == VALUE_NONE) ==
	    (option_row(g->id)->value == VALUE_NONE))
		g->id = o->id;
}

/* Whether the subcommand has what was given, and how many words it takes. */
static bool check_given(struct parser *p)
{
	const struct options *o = p->out;
	const struct command *c = command_get(o->command);

	vec_each(g, &p->out->given) {
		settle(g, o->command);
		if (!is_of(option_row(g->id), o->command)) {
			buf_addf(p->complaint,
				 "'%.*s' is no option of "
				 "'membrane %s'",
				 STR_ARG(g->spelling), c->name);
			return false;
		}
	}
	if (o->words.n > c->words) {
		buf_addf(p->complaint, "'membrane %s' does not take ", c->name);
		quote_word(p, o->words.v[c->words]);
		if (options_launch(o) && o->command != COMMAND_SHELL)
			buf_adds(p->complaint, "\n  put '--' before the "
					       "command that is to run");
		return false;
	}
	if (o->exec && (!options_launch(o) || o->command == COMMAND_SHELL) &&
	    o->command != COMMAND_COMPLETE) {
		buf_addf(p->complaint,
			 "'membrane %s' runs nothing%s: '--' and "
			 "what follows do not belong here",
			 c->name,
			 o->command == COMMAND_SHELL ? " but a shell" : "");
		return false;
	}
	return true;
}

/* "explain docker-arg --privileged": what follows is the argument. */
static bool only_words(const struct options *o)
{
	return o->command == COMMAND_EXPLAIN && o->words.n &&
	       str_is(o->words.v[0], "docker-arg");
}

bool options_parse(struct arena *a, int argc, char *const *argv,
		   struct options *out, struct buf *complaint)
{
	struct parser p = {.a = a,
			   .argv = argv,
			   .argc = argc,
			   .i = 1,
			   .out = out,
			   .complaint = complaint};

	*out = (struct options){.command = COMMAND_RUN};
	while (p.i < argc) {
		struct str word = str_of(argv[p.i++]);
		bool ok;

		if (only_words(out)) {
			*vec_push(a, &out->words) = word;
			continue;
		}
		if (str_is(word, "--") && out->command == COMMAND_EXPLAIN) {
			while (p.i < argc)
				*vec_push(a, &out->words) = str_of(argv[p.i++]);
			break;
		}
		if (str_is(word, "--")) {
			out->exec = argv + p.i;
			break;
		}
		if (str_starts(word, STR("--")))
			ok = parse_long(&p, word);
		else if (word.n > 1 && word.p[0] == '-')
			ok = parse_letters(&p, word);
		else
			ok = parse_word(&p, word);
		if (!ok)
			return false;
		if (out->exec)
			break;
	}
	return check_given(&p);
}

const struct option_given *options_get(const struct options *o,
				       enum option_id id)
{
	const struct option_given *last = NULL;

	vec_each(g, &o->given)
		if (g->id == id)
			last = g;
	return last;
}

const char *options_value(struct arena *a, const struct options *o,
			  enum option_id id, const char *otherwise)
{
	const struct option_given *g = options_get(o, id);

	return g ? arena_cstr(a, g->value) : otherwise;
}

bool options_launch(const struct options *o)
{
	return o->command == COMMAND_RUN || o->command == COMMAND_START ||
	       o->command == COMMAND_SHELL || o->command == COMMAND_LEARN;
}
