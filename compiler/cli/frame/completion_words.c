#include "compiler/cli/frame/completion_words.h"

#include "compiler/base/lint.h"

static enum completion_words words_of(enum command_id id)
{
	switch (id) {
	case COMMAND_CHECK:
	case COMMAND_TRUST:
		return COMPLETION_DIR;
	case COMMAND_DIFF:
	case COMMAND_TEST:
		return COMPLETION_FILES;
	case COMMAND_EXPLAIN:
		return COMPLETION_REQUEST;
	case COMMAND_SCHEMA:
		return COMPLETION_SCHEMA;
	case COMMAND_TRACE:
		return COMPLETION_TRACE;
	case COMMAND_COMPLETION:
		return COMPLETION_SHELL;
	case COMMAND_HELP:
		return COMPLETION_COMMAND;
	case COMMAND_ATTACH:
	case COMMAND_RESET:
		return COMPLETION_SESSION;
	case COMMAND_STOP:
		return COMPLETION_SESSIONS;
	case COMMAND_LOGS:
		return COMPLETION_RECORD;
	case COMMAND_RUN:
	case COMMAND_START:
	case COMMAND_PLAN:
	case COMMAND_COMPILE:
	case COMMAND_INIT:
	case COMMAND_DOCTOR:
	case COMMAND_PS:
	case COMMAND_ALLOW:
	case COMMAND_DENY:
	case COMMAND_VERSION:
	case COMMANDS:
		break;
	}
	return COMPLETION_NONE;
}

void completion_words_each(struct buf *out,
			   void put(struct buf *out, const char *name,
				    enum completion_words words))
{
	for (int i = 0; i < COMMANDS; i++) {
		enum command_id id = (enum command_id)i;

		put(out, command_get(id)->name, words_of(id));
	}
}

void completion_commands(struct buf *out, const char *sep)
{
	for (int i = 0; i < COMMANDS; i++)
		buf_addf(out, "%s%s", i ? sep : "",
			 command_get((enum command_id)i)->name);
}

void completion_word_list(struct buf *out, enum completion_words words)
{
	switch (words) {
	case COMPLETION_NONE:
	case COMPLETION_DIR:
	case COMPLETION_FILES:
	case COMPLETION_SESSION:
	case COMPLETION_SESSIONS:
	case COMPLETION_RECORD:
		return;
	case COMPLETION_COMMAND: /* and what else can be explained: warnings */
		completion_commands(out, " ");
		buf_adds(out, " policy lint events filter readonly");
		for (size_t i = 0; lint_at(i); i++)
			buf_addf(out, " %s", lint_at(i)->name);
		return;
	case COMPLETION_SHELL:
		buf_adds(out, "bash zsh fish");
		return;
	case COMPLETION_TRACE:
		buf_adds(out, COMPLETION_VIEWS);
		return;
	case COMPLETION_SCHEMA:
		buf_adds(out, "policy tests");
		return;
	case COMPLETION_REQUEST: /* grammar/request.l, and the usual methods */
		buf_adds(out,
			 "connect tcp udp quic resolve read write docker-arg "
			 "GET HEAD POST PUT PATCH DELETE");
		return;
	}
}

void completion_option_words(struct buf *out, enum option_id id)
{
	const char *w;

	for (size_t i = 0; (w = option_word(id, i)); i++)
		buf_addf(out, "%s%s", i ? " " : "", w);
}

bool completion_has(const struct option *o, enum command_id id)
{
	return o->commands & 1u << id;
}
