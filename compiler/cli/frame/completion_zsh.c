#include "compiler/cli/frame/completion_zsh.h"

#include "compiler/cli/frame/completion_words.h"

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
	case VALUE_SESSION:
		buf_addf(out, ":%s: _membrane_sessions", o->meta);
		return;
	case VALUE_DIR:
		buf_addf(out, ":%s:_files -/", o->meta);
		return;
	case VALUE_WORDS:
		buf_addf(out, ":%s:(", o->meta);
		completion_option_words(out, o->id);
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

static void zsh_word(struct buf *out, const char *name,
		     enum completion_words words)
{
	switch (words) {
	case COMPLETION_NONE:
		break;
	case COMPLETION_DIR:
		buf_addf(out, "\t%s)\n\t\trest=('2:folder:_files -/') ;;\n",
			 name);
		break;
	case COMPLETION_FILES:
		buf_addf(out, "\t%s)\n\t\trest=('*:file:_files') ;;\n", name);
		break;
	case COMPLETION_COMMAND:
	case COMPLETION_SHELL:
	case COMPLETION_SCHEMA:
	case COMPLETION_TRACE:
	case COMPLETION_REQUEST:
		buf_addf(out, "\t%s)\n\t\trest=('2:word:(", name);
		completion_word_list(out, words);
		buf_adds(out, words == COMPLETION_REQUEST
				      ? ")' '*:file:_files') ;;\n"
			      : words == COMPLETION_TRACE
				      ? ")' '3:session: "
					"_membrane_records') ;;\n"
				      : ")') ;;\n");
		break;
	case COMPLETION_SESSION:
	case COMPLETION_SESSIONS:
	case COMPLETION_RECORD:
		buf_addf(out,
			 "\t%s)\n\t\trest=('%s:session: "
			 "_membrane_sessions%s') ;;\n",
			 name, words == COMPLETION_SESSIONS ? "*" : "2",
			 words == COMPLETION_RECORD ? " --all" : "");
		break;
	}
}

static void zsh_commands(struct buf *out)
{
	for (int i = 0; i < COMMANDS; i++) {
		const struct command *c = command_get((enum command_id)i);

		buf_addf(out, "\t\t'%s:", c->name);
		zsh_text(out, c->about);
		buf_adds(out, "'\n");
	}
}

static void zsh_flags(struct buf *out)
{
	const struct option *o;

	for (int c = 0; c < COMMANDS; c++) {
		buf_addf(out, "\t%s)\n\t\tflags=(\n",
			 command_get((enum command_id)c)->name);
		for (size_t i = 0; (o = option_at(i)); i++)
			if (completion_has(o, (enum command_id)c))
				zsh_option(out, o);
		buf_adds(out, "\t\t) ;;\n");
	}
}

void completion_zsh(struct buf *out)
{
	buf_adds(out, "#compdef membrane\n"
		      "_membrane_sessions()\n{\n"
		      "\tlocal -a ids\n"
		      "\tids=(${(f)\"$(command ${words[1]} ps --ids $@ "
		      "2>/dev/null)\"})\n"
		      "\tcompadd -a ids\n"
		      "}\n"
		      "_membrane_records()\n{\n"
		      "\t_files\n"
		      "\t_membrane_sessions --all\n"
		      "}\n"
		      "_membrane()\n{\n"
		      "\tlocal command=run i\n"
		      "\tlocal -a commands flags rest\n"
		      "\tcommands=(\n");
	zsh_commands(out);
	buf_adds(out, "\t)\n"
		      "\tfor ((i = 2; i < CURRENT; i++)); do\n"
		      "\t\tcase ${words[i]} in\n"
		      "\t\t--)\n"
		      "\t\t\twords=(\"${(@)words[i + 1,-1]}\")\n"
		      "\t\t\t((CURRENT -= i))\n"
		      "\t\t\t_normal\n"
		      "\t\t\treturn ;;\n"
		      "\t\t");
	completion_commands(out, "|");
	buf_adds(out, ")\n"
		      "\t\t\tcommand=${words[i]}\n"
		      "\t\t\tbreak ;;\n"
		      "\t\tesac\n"
		      "\tdone\n"
		      "\tcase $command in\n");
	zsh_flags(out);
	buf_adds(out, "\tesac\n"
		      "\tcase $command in\n");
	completion_words_each(out, zsh_word);
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
