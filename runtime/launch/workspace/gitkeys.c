#include "runtime/launch/workspace/gitkeys.h"

static const struct row {
	const char *section, *name;
	enum gitkeys_kind kind;
} rows[] = {
#define GITKEY(section, name, kind) {section, name, GITKEYS_##kind},
#include "runtime/launch/workspace/gitkeys.def"
#undef GITKEY
};

/* What takes its program, or what to do, from a file of the workspace. */
static const char *const interpreters[] = {
	"sh",	"bash",	  "dash",    "zsh",	"fish", "ksh",	  "ash",
	"env",	"exec",	  "eval",    "source",	".",	"xargs",  "sudo",
	"node", "deno",	  "bun",     "npx",	"npm",	"pnpm",	  "yarn",
	"perl", "python", "python2", "python3", "ruby", "php",	  "lua",
	"make", "just",	  "task",    "cargo",	"go",	"uv",	  "uvx",
	"pipx", "poetry", "bundle",  "rake",	"mvn",	"gradle", "java",
	"awk",	"sed",	  "find",
};

enum gitkeys_kind gitkeys_kind(struct str key)
{
	size_t dot = str_find(key, '.', 0), last = key.n;
	struct str section = str_slice(key, 0, dot), name;

	while (last > 0 && key.p[last - 1] != '.')
		last--;
	name = str_slice(key, last, key.n);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (str_is(section, rows[i].section) &&
		    (rows[i].name[0] == '*' || str_is(name, rows[i].name)))
			return rows[i].kind;
	return GITKEYS_NONE;
}

static bool is_interpreter(struct str word)
{
	size_t beg = word.n;

	while (beg > 0 && word.p[beg - 1] != '/')
		beg--;
	word = str_slice(word, beg, word.n);
	for (size_t i = 0; i < ARRAY_LEN(interpreters); i++)
		if (str_is(word, interpreters[i]))
			return true;
	return false;
}

static bool is_bool(struct str value)
{
	static const char *const words[] = {"",	  "true", "false", "yes", "no",
					    "on", "off",  "1",	   "0"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (str_is(value, words[i]))
			return true;
	return false;
}

static bool ends_word(char c)
{
	return strchr(" \t\n'\"`;|&()<>{}$=,\\", c) != NULL;
}

static bool ends_command(char c)
{
	return strchr("\n`;|&(", c) != NULL;
}

/* The text of what a shell gets to run; empty: nothing. */
static struct str shell_text(enum gitkeys_kind kind, struct str value)
{
	struct str none = {0};

	switch (kind) {
	case GITKEYS_COMMAND:
		if (is_bool(value))
			return none;
		return str_slice(value, str_starts(value, STR("!")), value.n);
	case GITKEYS_SHELL:
		return str_starts(value, STR("!"))
			       ? str_slice(value, 1, value.n)
			       : none;
	case GITKEYS_REMOTE:
		return str_starts(value, STR("ext::"))
			       ? str_slice(value, 5, value.n)
			       : none;
	case GITKEYS_NONE:
	case GITKEYS_HOOKS:
	case GITKEYS_INCLUDE:
	case GITKEYS_TEMPLATE:
	case GITKEYS_WORKTREE:
		return none;
	}
	return none;
}

void gitkeys_command(struct arena *a, enum gitkeys_kind kind, struct str value,
		     struct gitkeys_command *out)
{
	struct str text = shell_text(kind, value);
	bool program = true, script = false;
	size_t at = 0;

	*out = (struct gitkeys_command){0};
	while (at < text.n) {
		size_t beg = at;
		struct str word;

		while (at < text.n && !ends_word(text.p[at]))
			at++;
		word = str_slice(text, beg, at);
		if (word.n) {
			*vec_push(a, &out->words) =
				(struct gitkeys_word){word, program, script};
			if (is_interpreter(word))
				script = out->open = true;
			/* NAME=VALUE in front of a program is not it */
			program = program && at < text.n && text.p[at] == '=';
		}
		if (at < text.n && ends_command(text.p[at])) {
			program = true;
			script = false;
		}
		at++;
	}
}
