#include "compiler/cli/frame/completion_bash.h"

#include "compiler/cli/frame/completion_words.h"

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
	if (bash_pattern(out, VALUE_SESSION))
		buf_adds(out, "\t\t_membrane_sessions ;;\n");
	for (size_t i = 0; (o = option_at(i)); i++) {
		if (o->value != VALUE_WORDS)
			continue;
		buf_addf(out, "\t--%s)\n\t\twords='", o->name);
		completion_option_words(out, o->id);
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
			if (completion_has(o, (enum command_id)c))
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

/* Where a session or a file may stand: behind a view. */
static void bash_records(struct buf *out, const char *command)
{
	struct str rest = STR(COMPLETION_VIEWS), view;
	const char *sep = "\t";

	while (str_field(&rest, ' ', &view)) {
		buf_addf(out, "%s%s:%.*s", sep, command, STR_ARG(view));
		sep = "|";
	}
	buf_adds(out, ")\n"
		      "\t\tcompopt -o filenames 2>/dev/null\n"
		      "\t\tCOMPREPLY=($(compgen -f -- \"$cur\"))\n"
		      "\t\t_membrane_sessions --all ;;\n");
}

/* Patterns of "command:word before". */
static void bash_word(struct buf *out, const char *name,
		      enum completion_words words)
{
	struct str any = arena_fmt(out->a, "%s:*", name);

	switch (words) {
	case COMPLETION_NONE:
		break;
	case COMPLETION_DIR:
		bash_files(out, any.p, 'd');
		break;
	case COMPLETION_FILES:
		bash_files(out, any.p, 'f');
		break;
	case COMPLETION_COMMAND:
	case COMPLETION_SHELL:
	case COMPLETION_SCHEMA:
	case COMPLETION_TRACE:
	case COMPLETION_REQUEST:
		buf_addf(out, "\t%s:%s)\n\t\twords='", name, name);
		completion_word_list(out, words);
		buf_adds(out, "' ;;\n");
		break;
	case COMPLETION_SESSION:
	case COMPLETION_RECORD:
		buf_addf(out, "\t%s:%s|%s:-*)\n\t\t", name, name, name);
		buf_addf(out, "_membrane_sessions%s ;;\n",
			 words == COMPLETION_RECORD ? " --all" : "");
		break;
	case COMPLETION_SESSIONS:
		buf_addf(out, "\t%s)\n\t\t_membrane_sessions ;;\n", any.p);
		break;
	}
	if (words == COMPLETION_TRACE)
		bash_records(out, name);
	if (words == COMPLETION_REQUEST)
		bash_files(out, "*:read|*:write", 'f');
}

void completion_bash(struct buf *out)
{
	buf_adds(out,
		 "# bash completion for membrane\n"
		 "_membrane_sessions()\n{\n"
		 "\t[[ $cur == -* ]] ||\n"
		 "\t\twords=$(command \"$program\" ps --ids \"$@\" "
		 "2>/dev/null)\n"
		 "}\n"
		 "_membrane()\n{\n"
		 "\tlocal IFS=$' \\t\\n' cur=${COMP_WORDS[COMP_CWORD]}\n"
		 "\tlocal prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
		 "\tlocal program=$1 command= flags= words= i\n"
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
	completion_commands(out, "|");
	buf_adds(out, ")\n"
		      "\t\t\tcommand=${command:-${COMP_WORDS[i]}} ;;\n"
		      "\t\tesac\n"
		      "\tdone\n"
		      "\tIFS=$'\\n'\n");
	bash_values(out);
	buf_adds(out, "\tcase $command:$prev in\n"
		      "\t:*)\n\t\twords='");
	completion_commands(out, " ");
	buf_adds(out, "' command=run ;;\n");
	completion_words_each(out, bash_word);
	buf_adds(out, "\tesac\n");
	bash_flags(out);
	buf_adds(out, "\tIFS=$' \\t\\n'\n"
		      "\t[[ $cur == -* ]] && words=$flags\n"
		      "\tCOMPREPLY+=($(compgen -W \"$words\" -- \"$cur\"))\n"
		      "}\n"
		      "complete -F _membrane membrane\n");
}
