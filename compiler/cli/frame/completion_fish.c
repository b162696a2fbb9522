#include "compiler/cli/frame/completion_fish.h"

#include "compiler/cli/frame/completion_words.h"

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
		if (completion_has(o, (enum command_id)c))
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
	case VALUE_SESSION:
		buf_adds(out, " -x -a '(__membrane_sessions)'");
		break;
	case VALUE_FILE:
		buf_adds(out, " -r -F");
		break;
	case VALUE_DIR:
		buf_adds(out, " -x -a '(__fish_complete_directories)'");
		break;
	case VALUE_WORDS:
		buf_adds(out, " -x -a '");
		completion_option_words(out, o->id);
		buf_addc(out, '\'');
		break;
	}
	buf_adds(out, " -d ");
	fish_text(out, o->about);
	buf_addc(out, '\n');
}

static void fish_word(struct buf *out, const char *name,
		      enum completion_words words)
{
	switch (words) {
	case COMPLETION_NONE:
		break;
	case COMPLETION_DIR:
		buf_addf(out,
			 "complete -c membrane -n '__membrane_in %s' "
			 "-a '(__fish_complete_directories)'\n",
			 name);
		break;
	case COMPLETION_FILES:
		buf_addf(out,
			 "complete -c membrane -n '__membrane_in %s' "
			 "-F\n",
			 name);
		break;
	case COMPLETION_COMMAND:
	case COMPLETION_SHELL:
	case COMPLETION_SCHEMA:
	case COMPLETION_TRACE:
	case COMPLETION_REQUEST:
		buf_addf(out,
			 "complete -c membrane -n '__membrane_after "
			 "%s' -a '",
			 name);
		completion_word_list(out, words);
		buf_adds(out, "'\n");
		break;
	case COMPLETION_SESSION:
	case COMPLETION_SESSIONS:
	case COMPLETION_RECORD:
		buf_addf(out,
			 "complete -c membrane -n '__membrane_%s %s' "
			 "-a '(__membrane_sessions%s)'\n",
			 words == COMPLETION_SESSIONS ? "in" : "after", name,
			 words == COMPLETION_RECORD ? " --all" : "");
		break;
	}
	if (words == COMPLETION_TRACE)
		buf_addf(out,
			 "complete -c membrane -n '__membrane_in %s; "
			 "and __membrane_after " COMPLETION_VIEWS
			 "' -F -a '(__membrane_sessions --all)'\n",
			 name);
	if (words == COMPLETION_REQUEST)
		buf_adds(out, "complete -c membrane -n "
			      "'__membrane_after read write' -F\n");
}

static void fish_commands(struct buf *out)
{
	for (int i = 0; i < COMMANDS; i++) {
		const struct command *c = command_get((enum command_id)i);

		buf_addf(out,
			 "complete -c membrane -n 'test -z "
			 "(__membrane_command)' -a %s -d ",
			 c->name);
		fish_text(out, c->about);
		buf_addc(out, '\n');
	}
}

void completion_fish(struct buf *out)
{
	const struct option *o;

	buf_adds(out, "# fish completion for membrane\n"
		      "function __membrane_command\n"
		      "\tfor word in (commandline -opc)[2..-1]\n"
		      "\t\tif contains -- $word -- ");
	completion_commands(out, " ");
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
		      "function __membrane_sessions\n"
		      "\tset -l words (commandline -opc)\n"
		      "\tcommand $words[1] ps --ids $argv 2>/dev/null\n"
		      "end\n"
		      "complete -c membrane -f\n"
		      "complete -c membrane -n __membrane_exec -F -a "
		      "'(__fish_complete_command)'\n");
	fish_commands(out);
	completion_words_each(out, fish_word);
	for (size_t i = 0; (o = option_at(i)); i++)
		if (o->about)
			fish_option(out, o);
}
