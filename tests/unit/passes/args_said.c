/*
 * What is said of raw docker arguments: at which word, in which words, and what
 * would be right. Places are words, the first is 1.
 */
#include "compiler/base/limits.h"
#include "tests/unit/passes/args.h"

/* "2 E TEXT | HELP (SUBJECT)", a line for each. */
static struct str all_said(void)
{
	struct diag_view v;
	struct buf b;

	buf_init(&b, a);
	for (unsigned i = 0; diags_get(&diags, i, &v); i++) {
		buf_addf(&b, "%u %c %.*s", sources_place(&sources, v.at).line,
			 v.error ? 'E' : 'W', STR_ARG(v.text));
		if (v.help.n)
			buf_addf(&b, " | %.*s", STR_ARG(v.help));
		if (v.subject.n)
			buf_addf(&b, " (%.*s)", STR_ARG(v.subject));
		buf_addc(&b, '\n');
	}
	return buf_keep(&b);
}

static void said_in(enum layer layer, const char *words, const char *wanted)
{
	bool ok = resolve(layer, words);
	struct str got = all_said();

	CHECK_MSG(ok == (diags.errors == 0), "%s", words);
	CHECK_MSG(str_is(got, wanted), "'%s'\ngot:\n%.*s", words, STR_ARG(got));
}

static void said(const char *words, const char *wanted)
{
	said_in(LAYER_WORKSPACE, words, wanted);
}

/* --- words -----------------------------------------------------------------
 */

#define ITEMS "one word per item: write '"

static void options(void)
{
	said("--nam=x",
	     "1 E docker run has no option '--nam' | did you mean '--name'?\n");
	/* everything is near two letters */
	said("--en", "1 E docker run has no option '--en'\n");
	said("--envy",
	     "1 E docker run has no option '--envy' | did you mean '--env'?\n");
	said("--env A=b", "1 E docker run has no option '--env A' | " ITEMS
			  "--env' and what follows it as two items\n");
	said("-Z", "1 E docker run has no option '-Z'\n");
	said("-qZ", "1 E docker run has no option '-Z', in '-qZ'\n");
	/* what follows may be its value: nothing is said of that */
	said("--bogus\nx\ny\n--other",
	     "1 E docker run has no option '--bogus'\n"
	     "4 E docker run has no option '--other'\n");
	said("--bogus\nx", "1 E docker run has no option '--bogus'\n");
	said("-e A=b", "1 E a blank behind '-e' in '-e A=b' | " ITEMS
		       "-e' and what follows it as two items\n");
	said("-q x", "1 E a blank behind '-q' in '-q x' | " ITEMS
		     "-q' and what follows it as two items\n");
}

#define IMAGE                                                                  \
	"the image is the key 'image'; the command stands behind '--' on the command line\n"
#define IN_PLACE                                                               \
	"what docker is asked for must stand in the policy; only values can come from variables\n"

static void no_options(void)
{
	said("--quiet\nx",
	     "2 E 'x' is neither an option nor the value of one | " IMAGE);
	said("$X",
	     "1 E a variable in the place of an option: '$X' | " IN_PLACE);
	said("--e$X=1",
	     "1 E a variable in the place of an option: '--e$X=1' | " IN_PLACE);
	said("-q$X",
	     "1 E a variable in the place of an option: '-q$X' | " IN_PLACE);
	said("-e\nA=$",
	     "2 E a '$' that begins no variable in 'A=$' | write $NAME, ${NAME}, or $$ for the dollar sign itself\n");
	said("-e\nA=\x7f", "2 E a control byte in 'A=\\x7f'\n");
	said("--env", "1 E '--env' stands without its value\n");
	said("--init=maybe", "1 E '--init' takes true or false, not 'maybe'\n");
	said("--pids-limit\nx",
	     "2 E '--pids-limit' takes a whole number, not 'x'\n");
}

/* A line end and a tab are a value's own. */
static void line_ends(void)
{
	fresh();
	add_words(LAYER_WORKSPACE, "-eA=b");
	policy.args.v[0].s = STR("-eA=b\nc\td");
	CHECK(args_resolve(&ctx, &policy));
	CHECK(str_is(policy.docker_args.v[0].value, "A=b\nc\td"));
	fresh();
	add_words(LAYER_WORKSPACE, "--mount=target=/a");
	policy.args.v[0].s = STR("--mount=target=/a\ntype=bind");
	CHECK(!args_resolve(&ctx, &policy));
	CHECK(str_starts(all_said(), STR("1 E '--mount target=/a")));
	CHECK(str_ends(all_said(), STR("': a line end\n")));
}

static void limit(void)
{
	struct buf b;

	buf_init(&b, a);
	for (unsigned i = 0; i < LIMIT_ARGS; i++)
		buf_adds(&b, "-q\n");
	CHECK(resolve(LAYER_WORKSPACE, arena_cstr(a, buf_str(&b))));
	CHECK(policy.docker_args.n == LIMIT_ARGS);
	buf_adds(&b, "-q\n");
	said(arena_cstr(a, buf_str(&b)),
	     "513 E 513 docker arguments, at most 512\n");
}

/* --- ports -----------------------------------------------------------------
 */

#define PORTS                                                                  \
	" | write [ADDRESS:][PORT:]PORT[/tcp|/udp], the port in the container last\n"

static void ports(void)
{
	said("-p\n0",
	     "2 E '0': no port from 1 to 65535 for the container" PORTS);
	said("-p\n80/sctp",
	     "2 E '80/sctp': only tcp and udp pass the gate" PORTS);
	said("-p\n1-2:5-7",
	     "2 E '1-2:5-7': the two ranges are not equally long" PORTS);
	said("-p\npublished=1",
	     "2 E 'published=1': the form with key=value is not for 'docker run'" PORTS);
}

/* --- verdicts --------------------------------------------------------------
 */

#define WORKSPACE                                                              \
	" | a workspace cannot ask for it; ~/.membrane/config.yaml and --arg can\n"

/* The option is underlined where it is never taken, else its value. */
static void places(void)
{
	said("--privileged",
	     "1 E '--privileged' undoes the sandbox: a privileged container is the host" WORKSPACE);
	said_in(LAYER_GLOBAL, "--privileged",
		"1 W '--privileged' undoes the sandbox: a privileged container is the host (--privileged)\n");
	said("--device\n/dev/sda",
	     "1 E '--device /dev/sda' undoes the sandbox: a device of the host is a way around its file permissions and into its kernel" WORKSPACE);
	said("--name\nx",
	     "1 E '--name x' is membrane's to say: containers are named after the session\n");
	said("-v\n/:/x",
	     "2 E '--volume /:/x' undoes the sandbox: it is the whole host" WORKSPACE);
	said("--label\nmembrane",
	     "2 E '--label membrane' is membrane's to say: labels named membrane.* say which session a container belongs to\n");
	said("-v\n/a:b",
	     "2 E '--volume /a:b': the place in the container must be an absolute path\n");
	said("--dns\n1.1.1.1",
	     "2 W '--dns 1.1.1.1': this is for the gate's own lookups: the agent's only resolver is membrane's | for the agent write 'dns_resolver' (--dns)\n");
	said("--read-only", "");
}

static void undone(const char *words, const char *why)
{
	struct diag_view v;
	struct str end = arena_fmt(a, "undoes the sandbox: %s", why);

	CHECK(!resolve(LAYER_WORKSPACE, words));
	CHECK_MSG(diags_get(&diags, 0, &v) && str_ends(v.text, end), "%s: %.*s",
		  words, STR_ARG(v.text));
}

/* Of several reasons the first, and the nearest. */
static void reasons(void)
{
	undone("-v./docker.sock:/x",
	       "whoever has that socket is root on the host");
	undone("-v/var:/x",
	       "it holds membrane's own folder, and with it the policy of the next session");
	undone("-v/var/lib:/x", "it holds every container's files");
	undone("--mount=type=volume,volume-driver=x,bind-propagation=shared,target=/x",
	       "a volume driver mounts what it likes");
	undone("--security-opt=$X", "what a variable holds is not known here");
	undone("--security-opt=seccomp:x",
	       "it replaces the filter of system calls");
	/* the old ':' counts where there is no '=' */
	undone("--security-opt=seccomp:a=b",
	       "it lifts what the host's kernel holds against the container");
	undone("--security-opt=no-new-privileges=false",
	       "set-user-ID programs would raise the agent's privileges");
}

static void faults(void)
{
	/* what docker would refuse comes before what it would do */
	said("-v/:b",
	     "1 E '--volume /:b': the place in the container must be an absolute path\n");
	said("--mount=type=nfs,target=/,source=/",
	     "1 E '--mount type=nfs,target=/,source=/': nothing can be mounted on the container's root\n");
	said("--mount=type=nfs,target=/workspace",
	     "1 E '--mount type=nfs,target=/workspace': a type that is not bind, volume, tmpfs or image\n");
	said("--mount=type=nfs,volume-driver=x,target=/x",
	     "1 E '--mount type=nfs,volume-driver=x,target=/x': a type that is not bind, volume, tmpfs or image\n");
	said("--mount=target=\"/x",
	     "1 E '--mount target=\"/x': not a list of key=value with commas between\n");
	said("--mount=type=bind,a=b,target=/x",
	     "1 E '--mount type=bind,a=b,target=/x': a key that mounts do not have\n");
	said("--mount=type=bind,source=/x",
	     "1 E '--mount type=bind,source=/x': no target\n");
	said("--mount=type=bind,target=/x",
	     "1 E '--mount type=bind,target=/x': no source\n");
	said("-v/a:",
	     "1 E '--volume /a:': no place in the container behind the ':'\n");
	said("--env-file=", "1 E '--env-file ': no file\n");
	said("--security-opt=no-new-privileges=maybe",
	     "1 E '--security-opt no-new-privileges=maybe': neither true nor false\n");
	said("--security-opt=seccomp=x",
	     "1 E '--security-opt seccomp=x' undoes the sandbox: it replaces the filter of system calls | write 'seccomp' under 'hardening'\n");
}

int main(void)
{
	a = arena_new();
	options();
	no_options();
	line_ends();
	limit();
	ports();
	places();
	reasons();
	faults();
	arena_free(a);
	return check_status();
}
