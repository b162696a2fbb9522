/* The command line: every way to write a flag, every way to get it wrong. */
#include "compiler/cli/frame/options.h"

#include "compiler/cli/frame/parts.h"
#include "compiler/cli/text/view.h"
#include "tests/check.h"

#include <string.h>

static struct arena *a;
static struct options o;
static struct buf said;

/* Parse words split at blanks; "~" stands for an empty word. */
static bool parse(const char *line)
{
	static char *argv[64];
	struct str rest = str_of(line), word;
	int argc = 1;

	argv[0] = arena_cstr(a, STR("membrane"));
	while (str_field(&rest, ' ', &word))
		argv[argc++] =
			arena_cstr(a, str_is(word, "~") ? STR("") : word);
	argv[argc] = NULL;
	buf_init(&said, a);
	return options_parse(a, argc, argv, &o, &said);
}

static bool has(enum option_id id, const char *value)
{
	const struct option_given *g = options_get(&o, id);

	return g && str_is(g->value, value);
}

static bool refused(const char *line, const char *part)
{
	bool ok = !parse(line) && strstr(said.p, part);

	if (!ok)
		fprintf(stderr, "'%s' said: %s\n", line, said.n ? said.p : "");
	return ok;
}

/* An agent by its name: what follows is its own. */
static void test_agents(void)
{
	CHECK(parse("claude") && o.command == COMMAND_RUN && o.named);
	CHECK(o.exec && strcmp(o.exec[0], "claude") == 0 && !o.exec[1]);
	CHECK(parse("-n x.y codex exec -n z plan") &&
	      has(OPTION_HOSTNAME, "x.y"));
	CHECK(o.given.n == 1 && strcmp(o.exec[2], "-n") == 0);
	CHECK(strcmp(o.exec[4], "plan") == 0 && !o.exec[5]);
	CHECK(parse("pi -- x") && strcmp(o.exec[1], "--") == 0);
	CHECK(parse("agents claude") && !o.exec && o.words.n == 1);
	CHECK(refused("run claude", "put '--' before"));
	CHECK(refused("--json claude", "is no option of 'membrane run'"));
	CHECK(refused("cluade", "did you mean 'claude'"));
	CHECK(refused("shell -- ls", "runs nothing but a shell"));
	CHECK(parse("shell -n x.y") && options_launch(&o));
}

static void test_spellings(void)
{
	CHECK(parse("plan --hostname=x.y") && has(OPTION_HOSTNAME, "x.y"));
	CHECK(parse("plan --hostname x.y") && has(OPTION_HOSTNAME, "x.y"));
	CHECK(parse("plan -nx.y") && has(OPTION_HOSTNAME, "x.y"));
	CHECK(parse("plan -n x.y") && has(OPTION_HOSTNAME, "x.y"));
	CHECK(str_is(o.given.v[0].spelling, "-n"));
	CHECK(parse("plan --hostname= --json") && has(OPTION_HOSTNAME, ""));
	CHECK(parse("plan -n ~") && has(OPTION_HOSTNAME, ""));
	CHECK(parse("plan -n --json") && has(OPTION_HOSTNAME, "--json"));
	CHECK(!options_get(&o, OPTION_JSON));
	CHECK(parse("plan -a --env=A=b") && has(OPTION_ARG, "--env=A=b"));
	CHECK(parse("plan --arg=--env=A=b") && has(OPTION_ARG, "--env=A=b"));
	CHECK(parse("run -e A=b -v/x:/y") && has(OPTION_ENV, "A=b") &&
	      has(OPTION_VOLUME, "/x:/y"));
	CHECK(parse("ps -a") && options_get(&o, OPTION_ALL));
	CHECK(parse("--all ps") && options_get(&o, OPTION_ALL));
	CHECK(refused("ps -aid", "'-i' is no option of 'membrane ps'"));
	CHECK(refused("ps -v x", "'-v' is no option of 'membrane ps'"));
	CHECK(refused("-a x ps", "'-a' is no option of 'membrane ps'"));
	CHECK(parse("--dns-resolver 9.9.9.9") &&
	      has(OPTION_RESOLVER, "9.9.9.9"));
	CHECK(parse("--resolver=9.9.9.9") && has(OPTION_RESOLVER, "9.9.9.9"));
	CHECK(parse("--image a --image b") && has(OPTION_IMAGE, "b"));
	CHECK(o.given.n == 2);
}

static void test_commands(void)
{
	CHECK(parse("") && o.command == COMMAND_RUN && !o.named && !o.exec);
	CHECK(parse("plan") && o.command == COMMAND_PLAN && o.named);
	CHECK(parse("--image x plan") && o.command == COMMAND_PLAN);
	CHECK(parse("check DIR") && o.words.n == 1);
	CHECK(parse("-- plan --json") && o.command == COMMAND_RUN && !o.named);
	CHECK(o.exec && strcmp(o.exec[0], "plan") == 0 && !o.exec[2]);
	CHECK(parse("run --") && o.exec && !o.exec[0]);
	CHECK(parse("-nx -- a -- b") && strcmp(o.exec[1], "--") == 0);
	CHECK(parse("--reset") && has(OPTION_RESET, ""));
	CHECK(parse("--reset=ci") && has(OPTION_RESET, "ci"));
	CHECK(parse("--version") && options_get(&o, OPTION_VERSION));
	CHECK(parse("plan --version") && parse("plan -h"));
	CHECK(parse("plan --emit names") && parse("plan --dump-ir=layers"));
}

static void test_refusals(void)
{
	CHECK(refused("plan --hostnam x", "did you mean '--hostname'?"));
	CHECK(refused("plan --jsn", "did you mean '--json'?"));
	CHECK(refused("plan --xyzzyx", "unknown option '--xyzzyx'"));
	CHECK(!strstr(said.p, "did you mean"));
	CHECK(refused("plan -z", "unknown option '-z'"));
	CHECK(refused("plan -hz", "unknown option '-z'"));
	CHECK(refused("pln", "did you mean 'plan'?"));
	CHECK(refused("ls -la", "unknown command 'ls'"));
	CHECK(refused("ls", "put '--' before it"));
	CHECK(refused("run ls", "put '--' before"));
	CHECK(refused("plan x", "does not take 'x'"));
	CHECK(refused("check a b", "does not take 'b'"));
	CHECK(refused("plan -- x", "runs nothing"));
	CHECK(refused("plan --trust-workspace",
		      "no option of 'membrane plan'"));
	CHECK(refused("run --json", "no option of 'membrane run'"));
	CHECK(refused("plan --json=yes", "takes no value"));
	CHECK(refused("plan --hostname", "needs a value: NAME"));
	CHECK(refused("plan -n", "needs a value: NAME"));
	CHECK(refused("plan --dns-resolver", "needs a value: ADDR"));
	CHECK(refused("plan --emit nonsense", "it takes: manifest"));
	CHECK(refused("plan --dump-ir=x", "it takes: layers"));
	CHECK(refused("plan --\x1b[31m", "'--\\x1b[31m'"));
	CHECK(refused("plan -", "does not take '-'"));
}

static void test_table(void)
{
	const struct option *one, *two;

	for (size_t i = 0; (one = option_at(i)); i++)
		for (size_t k = 0; k < i && (two = option_at(k)); k++) {
			if (!(one->commands & two->commands))
				continue;
			CHECK_MSG(strcmp(one->name, two->name) != 0, "--%s",
				  one->name);
			CHECK(!one->letter || one->letter != two->letter);
		}
}

/* Every help fits 24 lines of 80 columns. */
static void test_help(void)
{
	for (int i = 0; i < COMMANDS; i++) {
		struct str rest, line;
		unsigned lines = 0;
		struct buf out;

		buf_init(&out, a);
		if (i == COMMAND_HELP)
			help_overview(&out);
		else
			help_command(&out, (enum command_id)i);
		rest = buf_str(&out);
		while (str_line(&rest, &line)) {
			lines++;
			CHECK_MSG(view_columns(line) <= 80, "%.*s",
				  STR_ARG(line));
		}
		CHECK_MSG(lines <= 24, "%s: %u lines",
			  command_get((enum command_id)i)->name, lines);
	}
}

int main(void)
{
	a = arena_new();
	test_agents();
	test_spellings();
	test_commands();
	test_refusals();
	test_table();
	test_help();
	arena_free(a);
	return check_status();
}
