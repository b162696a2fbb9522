/*
 * Shell completions, written from the tables of commands and options: a new
 * flag completes without anybody remembering to say so.
 */
#include "compiler/base/buf.h"
#include "compiler/cli/frame/completion_bash.h"
#include "compiler/cli/frame/completion_fish.h"
#include "compiler/cli/frame/completion_zsh.h"
#include "compiler/cli/frame/options.h"
#include "compiler/cli/text/say.h"

static const char *const shells[] = {"bash", "zsh", "fish"};

/* False when shell is none of them. */
static bool write_for(struct buf *out, struct str shell)
{
	static void (*const writers[])(struct buf *) = {
		completion_bash, completion_zsh, completion_fish};

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
	if (o->words.n && write_for(&b, o->words.v[0]))
		return say_result(buf_str(&b));
	say("membrane completion needs a shell: bash, zsh or fish");
	return STATUS_USAGE;
}
