#include "compiler/commands/completion.h"

#include "compiler/base/lint.h"
#include "compiler/commands/options.h"
#include "compiler/commands/say.h"

static const char *const shells[] = {"bash", "zsh", "fish"};

/* What the words of a command are, that are neither flags nor their values. */
enum words {
	WORDS_NONE,
	WORDS_DIR,
	WORDS_FILES, /* any number of them */
	WORDS_COMMAND,
	WORDS_SHELL,
	WORDS_SCHEMA,
	WORDS_TRACE,
	WORDS_REQUEST, /* how one begins; then a file for some */
};

static enum words words_of(enum command_id id)
{
	switch (id) {
	case COMMAND_CHECK:
	case COMMAND_TRUST:
		return WORDS_DIR;
	case COMMAND_DIFF:
	case COMMAND_TEST:
		return WORDS_FILES;
	case COMMAND_EXPLAIN:
		return WORDS_REQUEST;
	case COMMAND_SCHEMA:
		return WORDS_SCHEMA;
	case COMMAND_TRACE:
		return WORDS_TRACE;
	case COMMAND_COMPLETION:
		return WORDS_SHELL;
	case COMMAND_HELP:
		return WORDS_COMMAND;
	case COMMAND_RUN:
	case COMMAND_START:
	case COMMAND_ATTACH: /* sessions are the runtime's to know */
	case COMMAND_PLAN:
	case COMMAND_COMPILE:
	case COMMAND_INIT:
	case COMMAND_DOCTOR:
	case COMMAND_PS:
	case COMMAND_LOGS:
	case COMMAND_STOP:
	case COMMAND_ALLOW:
	case COMMAND_DENY:
	case COMMAND_RESET:
	case COMMAND_VERSION:
	case COMMANDS:
		break;
	}
	return WORDS_NONE;
}

/* "run|plan|…" */
static void command_names(struct buf *out, const char *sep)
{
	for (int i = 0; i < COMMANDS; i++)
		buf_addf(out, "%s%s", i ? sep : "",
			 command_get((enum command_id)i)->name);
}

/* The words themselves, a blank between them; none for names of files. */
static void word_list(struct buf *out, enum words words)
{
	switch (words) {
	case WORDS_NONE:
	case WORDS_DIR:
	case WORDS_FILES:
		return;
	case WORDS_COMMAND: /* and what else can be explained: warnings */
		command_names(out, " ");
		buf_adds(out, " lint");
		for (size_t i = 0; lint_at(i); i++)
			buf_addf(out, " %s", lint_at(i)->name);
		return;
	case WORDS_SHELL:
		buf_adds(out, "bash zsh fish");
		return;
	case WORDS_TRACE:
		buf_adds(out, "show grep stats tree follow replay suggest");
		return;
	case WORDS_SCHEMA:
		buf_adds(out, "policy tests");
		return;
	case WORDS_REQUEST: /* grammar/request.l, and the usual methods */
		buf_adds(out,
			 "connect tcp udp quic resolve read write docker-arg "
			 "GET HEAD POST PUT PATCH DELETE");
		return;
	}
}

static void option_words(struct buf *out, enum option_id id)
{
	const char *w;

	for (size_t i = 0; (w = option_word(id, i)); i++)
		buf_addf(out, "%s%s", i ? " " : "", w);
}

static bool has(const struct option *o, enum command_id id)
{
	return o->commands & 1u << id;
}

/* --- bash --- */

/* Spellings of all options with this kind of value, as a case pattern. */
static bool bash_pattern(struct buf *out, enum option_value value)
{
	const struct option *o;
	bool any = false;

	for (size_t i = 0; (o = option_at(i)); i++) {
		if (o->value != value)
			continue;
		buf_adds(out, any ? "|" : "\t");
		buf_addf(out, "--%s", o->name);
		if (o->letter)
			buf_addf(out, "|-%c", o->letter);
		any = true;
	}
	if (any)
		buf_adds(out, ")\n");
	return any;
}

static void bash_values(struct buf *out)
{
	const struct option *o;

	buf_adds(out, "\tcase $prev in\n");
	if (bash_pattern(out, VALUE_DIR))
		buf_adds(out, "\t\tcompopt -o filenames 2>/dev/null\n"
			      "\t\tCOMPREPLY=($(compgen -d -- \"$cur\"))\n"
			      "\t\treturn ;;\n");
	if (bash_pattern(out, VALUE_FILE))
		buf_adds(out, "\t\tcompopt -o filenames 2>/dev/null\n"
			      "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
			      "\t\treturn ;;\n");
	if (bash_pattern(out, VALUE_TEXT))
		buf_adds(out, "\t\treturn ;;\n");
	for (size_t i = 0; (o = option_at(i)); i++) {
		if (o->value != VALUE_WORDS)
			continue;
		buf_addf(out, "\t--%s)\n\t\twords='", o->name);
		option_words(out, o->id);
		buf_adds(out, "' ;;\n");
	}
	buf_adds(out, "\tesac\n");
}

static void bash_flags(struct buf *out)
{
	const struct option *o;

	buf_adds(out, "\tcase $command in\n");
	for (int c = 0; c < COMMANDS; c++) {
		buf_addf(out, "\t%s)\n\t\tflags='",
			 command_get((enum command_id)c)->name);
		for (size_t i = 0; (o = option_at(i)); i++)
			if (has(o, (enum command_id)c))
				buf_addf(out, "--%s ", o->name);
		out->p[--out->n] = '\0';
		buf_adds(out, "' ;;\n");
	}
	buf_adds(out, "\tesac\n");
}

static void bash_files(struct buf *out, const char *pattern, char kind)
{
	buf_addf(out,
		 "\t%s)\n"
		 "\t\tcompopt -o filenames 2>/dev/null\n"
		 "\t\tCOMPREPLY=($(compgen -%c -- \"$cur\")) ;;\n",
		 pattern, kind);
}

/* Patterns of "command:word before". */
static void bash_words(struct buf *out)
{
	for (int c = 0; c < COMMANDS; c++) {
		enum words words = words_of((enum command_id)c);
		const char *name = command_get((enum command_id)c)->name;
		struct str any = arena_fmt(out->a, "%s:*", name);

		switch (words) {
		case WORDS_NONE:
			break;
		case WORDS_DIR:
			bash_files(out, any.p, 'd');
			break;
		case WORDS_FILES:
			bash_files(out, any.p, 'f');
			break;
		case WORDS_COMMAND:
		case WORDS_SHELL:
		case WORDS_SCHEMA:
		case WORDS_TRACE:
		case WORDS_REQUEST:
			buf_addf(out, "\t%s:%s)\n\t\twords='", name, name);
			word_list(out, words);
			buf_adds(out, "' ;;\n");
			break;
		}
		if (words == WORDS_REQUEST)
			bash_files(out, "*:read|*:write", 'f');
	}
}

static void bash(struct buf *out)
{
	buf_adds(out,
		 "# bash completion for membrane\n"
		 "_membrane()\n{\n"
		 "\tlocal IFS=$' \\t\\n' cur=${COMP_WORDS[COMP_CWORD]}\n"
		 "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		 "\tlocal command= flags= words= i\n"
		 "\tCOMPREPLY=()\n"
		 "\tif [[ $cur == = ]]; then\n"
		 "\t\tcur=\n"
		 "\telif [[ $prev == = ]]; then\n"
		 "\t\tprev=${COMP_WORDS[COMP_CWORD - 2]}\n"
		 "\tfi\n"
		 "\tfor ((i = 1; i < COMP_CWORD; i++)); do\n"
		 "\t\tcase ${COMP_WORDS[i]} in\n"
		 "\t\t--)\n"
		 "\t\t\tCOMPREPLY=($(compgen -A command -A file -- \"$cur\"))\n"
		 "\t\t\treturn ;;\n"
		 "\t\t");
	command_names(out, "|");
	buf_adds(out, ")\n"
		      "\t\t\tcommand=${command:-${COMP_WORDS[i]}} ;;\n"
		      "\t\tesac\n"
		      "\tdone\n"
		      "\tIFS=$'\\n'\n");
	bash_values(out);
	buf_adds(out, "\tcase $command:$prev in\n"
		      "\t:*)\n\t\twords='");
	command_names(out, " ");
	buf_adds(out, "' command=run ;;\n");
	bash_words(out);
	buf_adds(out, "\tesac\n");
	bash_flags(out);
	buf_adds(out, "\tIFS=$' \\t\\n'\n"
		      "\t[[ $cur == -* ]] && words=$flags\n"
		      "\tCOMPREPLY+=($(compgen -W \"$words\" -- \"$cur\"))\n"
		      "}\n"
		      "complete -F _membrane membrane\n");
}

/* --- zsh --- */

/* The help of an option or command between square brackets or quotes. */
static void zsh_text(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'') {
			buf_adds(out, "'\\''");
			continue;
		}
		if (*s == '[' || *s == ']' || *s == ':')
			buf_addc(out, '\\');
		buf_addc(out, *s);
	}
}

static void zsh_action(struct buf *out, const struct option *o)
{
	switch (o->value) {
	case VALUE_NONE:
		return;
	case VALUE_TEXT:
		buf_addf(out, ":%s: ", o->meta);
		return;
	case VALUE_MAYBE:
		buf_addf(out, "::%s: ", o->meta);
		return;
	case VALUE_FILE:
		buf_addf(out, ":%s:_files", o->meta);
		return;
	case VALUE_DIR:
		buf_addf(out, ":%s:_files -/", o->meta);
		return;
	case VALUE_WORDS:
		buf_addf(out, ":%s:(", o->meta);
		option_words(out, o->id);
		buf_addc(out, ')');
		return;
	}
}

static void zsh_option(struct buf *out, const struct option *o)
{
	const char *eq = o->value == VALUE_NONE	   ? ""
			 : o->value == VALUE_MAYBE ? "=-"
						   : "=";

	buf_adds(out, "\t\t\t'*'");
	if (o->letter)
		buf_addf(out, "{-%c%s,--%s%s}", o->letter, *eq ? "+" : "",
			 o->name, eq);
	else
		buf_addf(out, "--%s%s", o->name, eq);
	buf_adds(out, "'[");
	zsh_text(out, o->about);
	buf_addc(out, ']');
	zsh_action(out, o);
	buf_adds(out, "'\n");
}

static void zsh_words(struct buf *out)
{
	for (int c = 0; c < COMMANDS; c++) {
		enum words words = words_of((enum command_id)c);
		const char *name = command_get((enum command_id)c)->name;

		switch (words) {
		case WORDS_NONE:
			break;
		case WORDS_DIR:
			buf_addf(out,
				 "\t%s)\n\t\trest=('2:folder:_files -/') ;;\n",
				 name);
			break;
		case WORDS_FILES:
			buf_addf(out, "\t%s)\n\t\trest=('*:file:_files') ;;\n",
				 name);
			break;
		case WORDS_COMMAND:
		case WORDS_SHELL:
		case WORDS_SCHEMA:
		case WORDS_TRACE:
		case WORDS_REQUEST:
			buf_addf(out, "\t%s)\n\t\trest=('2:word:(", name);
			word_list(out, words);
			buf_adds(out, words == WORDS_REQUEST
					      ? ")' '*:file:_files') ;;\n"
					      : ")') ;;\n");
			break;
		}
	}
}

static void zsh(struct buf *out)
{
	const struct option *o;

	buf_adds(out, "#compdef membrane\n"
		      "_membrane()\n{\n"
		      "\tlocal command=run i\n"
		      "\tlocal -a commands flags rest\n"
		      "\tcommands=(\n");
	for (int i = 0; i < COMMANDS; i++) {
		const struct command *c = command_get((enum command_id)i);

		buf_addf(out, "\t\t'%s:", c->name);
		zsh_text(out, c->about);
		buf_adds(out, "'\n");
	}
	buf_adds(out, "\t)\n"
		      "\tfor ((i = 2; i < CURRENT; i++)); do\n"
		      "\t\tcase ${words[i]} in\n"
		      "\t\t--)\n"
		      "\t\t\twords=(\"${(@)words[i + 1,-1]}\")\n"
		      "\t\t\t((CURRENT -= i))\n"
		      "\t\t\t_normal\n"
		      "\t\t\treturn ;;\n"
		      "\t\t");
	command_names(out, "|");
	buf_adds(out, ")\n"
		      "\t\t\tcommand=${words[i]}\n"
		      "\t\t\tbreak ;;\n"
		      "\t\tesac\n"
		      "\tdone\n"
		      "\tcase $command in\n");
	for (int c = 0; c < COMMANDS; c++) {
		buf_addf(out, "\t%s)\n\t\tflags=(\n",
			 command_get((enum command_id)c)->name);
		for (size_t i = 0; (o = option_at(i)); i++)
			if (has(o, (enum command_id)c))
				zsh_option(out, o);
		buf_adds(out, "\t\t) ;;\n");
	}
	buf_adds(out, "\tesac\n"
		      "\tcase $command in\n");
	zsh_words(out);
	buf_adds(out, "\tesac\n"
		      "\t_arguments -s -S : $flags "
		      "'1:command:{_describe command commands}' $rest\n"
		      "}\n"
		      /* Autoloaded at the first use, which is to complete
		       * already; or sourced. */
		      "if [[ $funcstack[1] == _membrane ]]; then\n"
		      "\t_membrane \"$@\"\n"
		      "else\n"
		      "\tcompdef _membrane membrane\n"
		      "fi\n");
}

/* --- fish --- */

static void fish_text(struct buf *out, const char *s)
{
	buf_addc(out, '\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *s);
	}
	buf_addc(out, '\'');
}

static void fish_option(struct buf *out, const struct option *o)
{
	buf_adds(out, "complete -c membrane -n '__membrane_in");
	for (int c = 0; c < COMMANDS; c++)
		if (has(o, (enum command_id)c))
			buf_addf(out, " %s",
				 command_get((enum command_id)c)->name);
	buf_addf(out, "' -l %s", o->name);
	if (o->letter)
		buf_addf(out, " -s %c", o->letter);
	switch (o->value) {
	case VALUE_NONE:
	case VALUE_MAYBE:
		break;
	case VALUE_TEXT:
		buf_adds(out, " -x");
		break;
	case VALUE_FILE:
		buf_adds(out, " -r -F");
		break;
	case VALUE_DIR:
		buf_adds(out, " -x -a '(__fish_complete_directories)'");
		break;
	case VALUE_WORDS:
		buf_adds(out, " -x -a '");
		option_words(out, o->id);
		buf_addc(out, '\'');
		break;
	}
	buf_adds(out, " -d ");
	fish_text(out, o->about);
	buf_addc(out, '\n');
}

static void fish_words(struct buf *out)
{
	for (int c = 0; c < COMMANDS; c++) {
		enum words words = words_of((enum command_id)c);
		const char *name = command_get((enum command_id)c)->name;

		switch (words) {
		case WORDS_NONE:
			break;
		case WORDS_DIR:
			buf_addf(out,
				 "complete -c membrane -n '__membrane_in %s' "
				 "-a '(__fish_complete_directories)'\n",
				 name);
			break;
		case WORDS_FILES:
			buf_addf(out,
				 "complete -c membrane -n '__membrane_in %s' "
				 "-F\n",
				 name);
			break;
		case WORDS_COMMAND:
		case WORDS_SHELL:
		case WORDS_SCHEMA:
		case WORDS_TRACE:
		case WORDS_REQUEST:
			buf_addf(out,
				 "complete -c membrane -n '__membrane_after "
				 "%s' -a '",
				 name);
			word_list(out, words);
			buf_adds(out, "'\n");
			break;
		}
		if (words == WORDS_REQUEST)
			buf_adds(out, "complete -c membrane -n "
				      "'__membrane_after read write' -F\n");
	}
}

static void fish(struct buf *out)
{
	const struct option *o;

	buf_adds(out, "# fish completion for membrane\n"
		      "function __membrane_command\n"
		      "\tfor word in (commandline -opc)[2..-1]\n"
		      "\t\tif contains -- $word -- ");
	command_names(out, " ");
	buf_adds(out, "\n"
		      "\t\t\techo -- $word\n"
		      "\t\t\treturn\n"
		      "\t\tend\n"
		      "\tend\n"
		      "end\n"
		      "function __membrane_in\n"
		      "\tset -l command (__membrane_command)\n"
		      "\ttest -z \"$command\"; and set command run\n"
		      "\tcontains -- $command $argv\n"
		      "end\n"
		      "function __membrane_after\n"
		      "\tcontains -- (commandline -opc)[-1] $argv\n"
		      "end\n"
		      "function __membrane_exec\n"
		      "\tcontains -- -- (commandline -opc)\n"
		      "end\n"
		      "complete -c membrane -f\n"
		      "complete -c membrane -n __membrane_exec -F -a "
		      "'(__fish_complete_command)'\n");
	for (int i = 0; i < COMMANDS; i++) {
		const struct command *c = command_get((enum command_id)i);

		buf_addf(out,
			 "complete -c membrane -n 'test -z "
			 "(__membrane_command)' -a %s -d ",
			 c->name);
		fish_text(out, c->about);
		buf_addc(out, '\n');
	}
	fish_words(out);
	for (size_t i = 0; (o = option_at(i)); i++)
		if (o->about)
			fish_option(out, o);
}

/* --- */

bool completion_write(struct buf *out, struct str shell)
{
	static void (*const writers[])(struct buf *) = {bash, zsh, fish};

	for (size_t i = 0; i < ARRAY_LEN(shells); i++)
		if (str_is(shell, shells[i])) {
			writers[i](out);
			return true;
		}
	return false;
}

int command_completion(struct arena *a, const struct options *o)
{
	struct buf b;

	buf_init(&b, a);
	if (o->words.n && completion_write(&b, o->words.v[0]))
		return say_result(buf_str(&b));
	say("membrane completion needs a shell: bash, zsh or fish");
	return STATUS_USAGE;
}
