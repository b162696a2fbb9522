/* `membrane run` and `membrane start`: from a policy to a session. */
#include "compiler/algebra/decide/decide.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/base/limits.h"
#include "compiler/cli/doctor/choice.h"
#include "compiler/cli/parts.h"
#include "compiler/cli/profile/profile.h"
#include "compiler/cli/program/program.h"
#include "compiler/cli/review/sealed.h"
#include "compiler/cli/text/confirm.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/trust/trust_linked.h"
#include "compiler/cli/workspace/grantable.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/cli/workspace/last.h"
#include "compiler/cli/workspace/outside.h"
#include "compiler/cli/workspace/reached.h"
#include "compiler/ir/image.h"
#include "compiler/passes/args/args.h"
#include "runtime/launch/launch.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Everything that run checks before it starts anything. */
struct attempt {
	const struct options *o;
	char *const *command; /* NULL: the image's own */
	struct inputs in;
	struct compilation c;
	struct trust_linked linked;
	bool shows_linked;
	bool native;	       /* the engine that was chosen; else Docker */
	struct keeper *keeper; /* of start, in the background */
	const struct run_lesson *lesson; /* of learn */
};

static bool fail_run(struct attempt *t, const struct err *err)
{
	console_error("%s", view_cleaned(t->c.a, str_of(err->text)).p);
	return false;
}

/* The global file, from the default policy, at the first use. */
static bool write_config(struct attempt *t)
{
	const struct inputs *in = &t->in;
	struct str text;
	struct err err;

	if (!in->first_use)
		return true;
	if (fileio_read(t->c.a, AT_FDCWD, in->standard, LIMIT_SOURCE_BYTES,
			&text, &err) < 0 ||
	    fileio_mkdirs(in->state, 0700, &err) < 0 ||
	    fileio_write(AT_FDCWD, in->config, text, 0600, &err) < 0) {
		err_while(&err, "writing the first %s", in->config);
		return fail_run(t, &err);
	}
	console_error(
		"wrote %s, the policy for all workspaces: edit it as you like",
		view_cleaned(t->c.a, str_of(in->config)).p);
	return true;
}

static const char *environment_value(const char *name)
{
	return getenv(name);
}

/* A path that does not exist leads nowhere else. */
static struct str where_it_leads(struct arena *a, struct str path)
{
	char real[PATH_MAX];

	return realpath(arena_cstr(a, path), real) ? arena_str(a, str_of(real))
						   : path;
}

/* What this version cannot enforce, and variables that are not set. */
static bool can_enforce(struct attempt *t)
{
	const struct outside_places at = outside_places_of(t->c.a, &t->in);
	struct pass_ctx ctx = driver_ctx(&t->c);
	struct diags found;
	bool ok;

	diags_init(&found, t->c.a, &t->c.sources);
	ctx.diags = &found;
	ok = passes_enforceable(&ctx, &t->c.policy);
	ok = outside_check(&ctx, &t->c.policy, &at) && ok;
	ok = args_check_env(&ctx, &t->c.policy, environment_value,
			    t->in.workspace, t->in.state, where_it_leads) &&
	     ok;
	ok = choice_check(t->c.a, &t->c.policy, &t->c.plan, &found) && ok;
	console_diags(t->c.a, &found);
	return ok;
}

static bool remember_approval(struct attempt *t, const struct contribution *x)
{
	struct err err;

	if (trust_store_add(t->c.a, t->in.state, str_of(t->in.workspace),
			    str_of(x->digest), &x->adds, &x->cuts, &err) == 0)
		return true;
	fail_run(t, &err);
	console_error(
		"the approval cannot be kept: --trust-workspace is for one run");
	return false;
}

/* Nobody to ask, or nothing to ask for. */
static bool refuse_unapproved(struct attempt *t, const struct contribution *x,
			      bool never)
{
	struct buf out;
	struct view v = {&out, console_width(STDERR_FILENO),
			 console_colour(STDERR_FILENO)};

	buf_init(&out, t->c.a);
	console_error(
		"the workspace adds to the policy, and nobody has approved that:");
	trust_view(&v, &t->c, x);
	fwrite(out.p, 1, out.n, stderr);
	if (never)
		console_error(
			"'workspace_trust: never' in the global file: remove that, or what the workspace adds");
	else
		console_error(
			"this approves it (--trust-workspace: for one run):\n"
			"  %s",
			trust_command(t->c.a, t->o, t->in.workspace).p);
	return false;
}

/* doc/semantics.md, section 7. What is asked about is what runs: t->c. */
static bool is_trusted(struct attempt *t)
{
	bool flag = options_get(t->o, OPTION_TRUST) != NULL;
	auto_fd int tty = -1;
	struct contribution x;
	struct err err;

	contribution_make(&t->c, &x);
	switch (trust_state(&t->c, &t->in, &x, &err)) {
	case TRUST_NOTHING:
	case TRUST_ALWAYS:
	case TRUST_APPROVED:
		return true;
	case TRUST_NEVER:
		return refuse_unapproved(t, &x, true);
	case TRUST_UNKNOWN:
		return flag || fail_run(t, &err);
	case TRUST_OPEN:
		break;
	}
	if (flag)
		return true;
	tty = confirm_terminal();
	if (tty < 0)
		return refuse_unapproved(t, &x, false);
	if (trust_ask(tty, &t->c, &t->in, &x))
		return remember_approval(t, &x);
	console_error("not approved: nothing was run");
	return false;
}

/* "; with all of that …", where git works in a session of all of it. */
static const char *say_whole(const struct attempt *t)
{
	const struct gitlinked *g = &t->linked.git;
	struct buf b;

	if (g->kind != GITLINKED_PART && g->kind != GITLINKED_FOLDER)
		return "";
	buf_init(&b, t->c.a);
	buf_adds(&b, "--workspace ");
	view_shell_word(&b, g->kind == GITLINKED_PART ? gitlinked_shown(g)
						      : g->common);
	return arena_fmt(t->c.a,
			 "; with all of that as the workspace it does: %s",
			 view_cleaned(t->c.a, buf_str(&b)).p)
		.p;
}

static void say_hidden(const struct attempt *t, const char *why)
{
	console_error("git in the session does not see its repository %s: %s%s",
		      view_cleaned(t->c.a, t->linked.git.common).p, why,
		      say_whole(t));
}

static bool ask_linked(struct attempt *t)
{
	auto_fd int tty = confirm_terminal();
	struct err err;

	if (tty < 0) {
		say_hidden(
			t,
			arena_fmt(
				t->c.a, "nobody approved that (%s)",
				trust_command(t->c.a, t->o, t->in.workspace).p)
				.p);
		return true;
	}
	t->shows_linked = trust_linked_ask(tty, &t->c, &t->in, &t->linked);
	return trust_linked_keep(&t->c, &t->in, &t->linked, t->shows_linked,
				 &err) == 0 ||
	       fail_run(t, &err);
}

/* What is beside the workspace is no reason not to run: false is an error. */
static bool find_linked(struct attempt *t)
{
	trust_linked_find(&t->c, &t->in, &t->linked);
	if (t->linked.git.kind == GITLINKED_REFUSED)
		console_error(
			"git in the session does not see the workspace's repository: %s",
			view_cleaned(t->c.a, t->linked.git.why).p);
	if (t->linked.git.kind == GITLINKED_FOLDER)
		console_error(
			"git in the session does not see the repository that this folder is a part of%s",
			say_whole(t));
	switch (t->linked.state) {
	case TRUST_NOTHING:
		return true;
	case TRUST_ALWAYS:
	case TRUST_APPROVED:
		t->shows_linked = true;
		return true;
	case TRUST_NEVER:
		say_hidden(t, "'workspace_trust: never' in the global file");
		return true;
	case TRUST_UNKNOWN:
		return fail_run(t, &t->linked.err);
	case TRUST_OPEN:
		break;
	}
	t->shows_linked = options_get(t->o, OPTION_TRUST) != NULL;
	return t->shows_linked || t->linked.declined || ask_linked(t);
}

/*
 * --plan DIR: run what was reviewed, or nothing. What runs is the plan in
 * memory, which is then the one in DIR to the byte: DIR is not read again.
 */
static bool is_sealed(struct attempt *t)
{
	const char *dir = options_value(t->c.a, t->o, OPTION_SEALED, NULL);
	struct sealed s = {0};
	struct buf report;
	struct view v = {&report, console_width(STDERR_FILENO),
			 console_colour(STDERR_FILENO)};
	struct err err;

	if (!dir)
		return true;
	if (sealed_compare(dir, &t->in, &t->c, &s, &err) < 0)
		return fail_run(t, &err);
	if (!s.is_current) {
		buf_init(&report, t->c.a);
		sealed_view(&v, &s, NULL);
		console_error("%s  so nothing was run", report.p);
	}
	sealed_done(&s);
	return s.is_current;
}

/* Who is told of refusals: the user's own file says so, and no plan. */
static struct tell_wish wish_of(struct attempt *t)
{
	const struct ir_on_refusal *r = &t->c.policy.on_refusal;
	struct tell_wish wish = {.silent = r->set};
	char **argv;

	if (r->webhook.s.n) {
		wish.webhook = arena_cstr(t->c.a, r->webhook.s);
		wish.key_env = arena_cstr(t->c.a, r->secret_env.s);
	}
	if (!r->command.n)
		return wish;
	argv = arena_alloc(t->c.a, (r->command.n + 1) * sizeof(*argv));
	for (uint32_t i = 0; i < r->command.n; i++)
		argv[i] = arena_cstr(t->c.a, r->command.v[i].s);
	argv[r->command.n] = NULL;
	wish.command = argv;
	return wish;
}

static int launch_session(struct attempt *t)
{
	static char *const none[] = {NULL};
	struct arena *a = t->c.a;
	struct launch_opts opts = {
		.state = t->in.state,
		.workspace = t->in.workspace,
		.plan = &t->c.plan,
		.native = t->native,
		.command = t->command ? t->command : none,
		.session_id_file =
			options_value(a, t->o, OPTION_SESSION_ID, NULL),
		.trace_log = options_value(a, t->o, OPTION_TRACE_LOG, NULL),
		.no_ask = options_get(t->o, OPTION_NO_ASK) != NULL,
		.no_update = options_get(t->o, OPTION_NO_UPDATE) != NULL,
		.can_grant = grantable,
		.purpose = decide_purpose,
		.purpose_of = &t->c.policy,
		.tell = wish_of(t),
		.linked = t->shows_linked ? &t->linked.git : NULL,
		.keeper = t->keeper,
		.id = t->lesson ? t->lesson->id : NULL,
	};
	struct err err;
	int status;

	status = t->c.kubernetes ? run_pod(&t->c, t->o, &opts, &err)
				 : launch_run(&opts, &err);
	if (status < 0) {
		if (t->lesson)
			t->lesson->id[0] = '\0';
		fail_run(t, &err);
		return STATUS_RUN_FAILED;
	}
	/* Afterwards: what could not start is not what ran here last. */
	if (last_write(a, opts.state, opts.workspace, opts.plan, &err) < 0)
		console_error(
			"what ran is not kept for 'membrane plan' to compare with: %s",
			view_cleaned(a, str_of(err.text)).p);
	return status;
}

/* --- an agent by its name ------------------------------------------------- */

/* The agent that the command is; NULL for any other. */
static const struct agent *agent_of(const struct attempt *t)
{
	return t->command && t->command[0] ? agent_named(str_of(t->command[0]))
					   : NULL;
}

static bool compile_again(struct arena *a, struct attempt *t,
			  const struct options *o)
{
	driver_done(&t->c);
	t->c = (struct compilation){0};
	return inputs_compile(a, o, true, &t->in, &t->c) == STATUS_OK;
}

/* An option more, as if it had been typed, and the compile that it means. */
static bool compile_with(struct arena *a, struct attempt *t,
			 struct option_given given)
{
	struct options *with = arena_new_of(a, struct options);

	*with = *t->o;
	with->given.v = NULL;
	with->given.n = with->given.cap = 0;
	vec_each(x, &t->o->given)
		*vec_push(a, &with->given) = *x;
	*vec_push(a, &with->given) = given;
	t->o = with;
	return compile_again(a, t, with);
}

static void say_unasked(struct arena *a, const struct attempt *t,
			const struct profile_wish *wish)
{
	if (wish->agent)
		console_error(
			"no policy here extends '%s', its profile%s; this adds it%s:\n"
			"  membrane agents %s --save --yes",
			wish->agent->name,
			t->native ? "" : ", or names an image that has it",
			wish->folders.n ? ", and the folders that belong to it"
					: "",
			wish->agent->name);
	else
		console_error(
			"no session here sees all that belongs to '%s'; with this in the policy it does:\n"
			"  %s",
			view_cleaned(a, str_of(wish->program)).p,
			view_cleaned(a, profile_lines(a, wish, "\n  ")).p);
}

/* Nothing says how it would be run: what is wished for does, once somebody says
 * so. */
static bool propose_wish(struct arena *a, struct attempt *t,
			 const struct profile_wish *wish)
{
	switch (profile_add(a, wish, &t->in, "Add that, and run it?", false)) {
	case PROFILE_ADDED:
		return compile_again(a, t, t->o);
	case PROFILE_DECLINED:
		console_error("nothing was added, and nothing was run");
		return false;
	case PROFILE_UNASKED:
		say_unasked(a, t, wish);
		return false;
	case PROFILE_FAILED:
		break;
	}
	return false;
}

/* The image is no choice of somebody's: the built-in one, or a profile's. */
static bool is_image_open(const struct attempt *t)
{
	const ir_opt_str *image = &t->c.policy.image;
	const struct source *from = sources_of(&t->c.sources, image->from.at);

	return image->from.layer == LAYER_FLOOR ||
	       (from && source_is_preset(from) && agent_of_image(image->v));
}

/* What the session has by that name is another one than a shell here has. */
static void say_other(struct arena *a, const struct program *own)
{
	const struct profile_wish wish = {.folders = own->folders};

	console_error(
		"%s is run, not %s%s%s", view_cleaned(a, str_of(own->shown)).p,
		view_cleaned(a, str_of(own->at)).p,
		own->refused ? "" : ", which takes ",
		own->refused ? ""
			     : view_cleaned(a, profile_lines(a, &wish, "")).p);
}

/* A variable of the policy's says where programs are looked for. */
static bool has_own_path(const struct attempt *t)
{
	vec_each(arg, &t->c.policy.docker_args)
		if (str_is(arg->option, "env") &&
		    str_starts(arg->value, STR("PATH=")))
			return true;
	return false;
}

/*
 * Without an image the command is this machine's, and what belongs to it is to
 * be seen: asked for once, with the profile where it is an agent's.
 */
static bool choose_natively(struct arena *a, struct attempt *t,
			    const struct agent *g)
{
	const struct outside_places places = outside_places_of(a, &t->in);
	struct profile_wish wish = {
		.program = t->command[0],
		.agent = g && !profile_extended(&t->c, g) ? g : NULL};
	struct program own;

	if (options_get(t->o, OPTION_SEALED) || has_own_path(t) ||
	    image_is_own(t->c.policy.image.v))
		return true;
	program_find(a, getenv("PATH"), &places, &t->c.policy, t->command[0],
		     &own);
	if (wish.agent && !own.at) {
		console_error(
			"%s is not installed on this machine, as far as PATH says; with 'engine: docker' it has an image",
			g->name);
		return false;
	}
	if (own.refused && !own.shown) {
		program_say_refused(a, t->command[0], &own);
		return false;
	}
	if (own.shown)
		say_other(a, &own);
	else
		wish.folders = own.folders;
	return (!wish.agent && !wish.folders.n) || propose_wish(a, t, &wish);
}

/*
 * Where the image is that of another profile, the last one that the policy
 * extends, this agent's own takes its place, as by --image.
 */
static bool take_image(struct arena *a, struct attempt *t,
		       const struct agent *g)
{
	if (!is_image_open(t) || agent_of_image(t->c.policy.image.v) == g)
		return true;
	return compile_with(a, t,
			    (struct option_given){
				    OPTION_IMAGE, STR("--image"),
				    arena_fmt(a, AGENTS_IMAGE "%s", g->name)});
}

/*
 * An agent's profile names an image, which is Docker's. Where Docker does not
 * answer and nobody has said which engine or image it shall be, the machine's
 * own program is what there is.
 */
static bool leave_docker(struct arena *a, struct attempt *t,
			 const struct agent *g)
{
	if (t->c.policy.engine.from.layer != LAYER_FLOOR ||
	    choice_named() == IR_ENGINE_DOCKER ||
	    options_get(t->o, OPTION_SEALED) || !is_image_open(t) ||
	    !program_where(a, getenv("PATH"), str_of(g->name)) ||
	    strcmp(profile_image_state(a, g), "unknown") != 0)
		return true;
	console_error(
		"docker does not answer: this machine's own %s is run, as by '--engine native'",
		g->name);
	return compile_with(a, t,
			    (struct option_given){
				    OPTION_ENGINE, STR("--engine"),
				    str_of(ir_engine_name(IR_ENGINE_NATIVE))});
}

static bool choose_profile(struct arena *a, struct attempt *t)
{
	const struct agent *g = agent_of(t);
	const struct profile_wish wish = {.program = g ? g->name : NULL,
					  .agent = g};

	if (g && !leave_docker(a, t, g))
		return false;
	/* an agent's profile asks for Docker, where nobody said otherwise */
	t->native = g ? !plan_file(&t->c.plan, PLAN_DOCKER)
		      : choice_expects_native(a, &t->c.plan);
	if (t->native && t->command && t->command[0])
		return choose_natively(a, t, g);
	if (!g || t->native)
		return true;
	if (!profile_extended(&t->c, g) && is_image_open(t) &&
	    !options_get(t->o, OPTION_SEALED) && !propose_wish(a, t, &wish))
		return false;
	return !profile_extended(&t->c, g) || take_image(a, t, g);
}

/* An agent's images are built at its first use, and where one was removed. */
static bool has_images(struct arena *a, struct attempt *t)
{
	const struct agent *g = agent_of_image(t->c.policy.image.v);
	struct err err;

	if (!g || t->native || options_get(t->o, OPTION_NO_UPDATE))
		return true;
	if (strcmp(profile_image_state(a, g), "missing") == 0)
		console_error("the first use of %s: its image is built, once",
			      g->name);
	else if (profile_session_lacks(a))
		console_error(
			"an image that every session has is not here: it is built, once");
	else
		return true;
	return images_build_for(a, g->name, &err) == 0 || fail_run(t, &err);
}

static bool is_bounded(struct attempt *t)
{
	return !t->lesson || t->lesson->begin(t->lesson->ctx, &t->c);
}

/* Of a Pod: no engine, image, repository or folder of this machine. */
static bool may_run_pod(struct attempt *t)
{
	return run_pod_fits(t->o, &t->c) && is_trusted(t) && is_sealed(t) &&
	       write_config(t);
}

/* Everything that can be said no to while nothing runs. */
static bool may_run(struct arena *a, struct attempt *t)
{
	if (inputs_compile(a, t->o, false, &t->in, &t->c) != STATUS_OK)
		return false;
	if (t->c.kubernetes)
		return may_run_pod(t);
	return inputs_apart(t->c.a, &t->in) &&
	       reached_allowed(t->c.a, &t->in) && choose_profile(a, t) &&
	       can_enforce(t) && is_bounded(t) && is_trusted(t) &&
	       is_sealed(t) && find_linked(t) && write_config(t) &&
	       choice_make(t->c.a, &t->c.plan, &t->native) && has_images(a, t);
}

int command_run(struct arena *a, const struct options *o)
{
	struct attempt t = {.o = o, .command = o->exec};
	int status = STATUS_RUN_FAILED;

	if (options_get(o, OPTION_RESET))
		return command_reset(a, o);
	if (options_get(o, OPTION_YES)) {
		console_error("--yes goes with --reset");
		return STATUS_USAGE;
	}
	if (may_run(a, &t))
		status = launch_session(&t);
	driver_done(&t.c);
	return status;
}

int run_lesson(struct arena *a, const struct options *o,
	       const struct run_lesson *lesson)
{
	struct attempt t = {.o = o, .command = o->exec, .lesson = lesson};
	int status = STATUS_RUN_FAILED;

	if (may_run(a, &t))
		status = launch_session(&t);
	driver_done(&t.c);
	return status;
}

int command_shell(struct arena *a, const struct options *o)
{
	static char sh[] = "sh", c[] = "-c",
		    script[] =
			    "command -v bash >/dev/null && exec bash; exec sh";
	static char *const shell[] = {sh, c, script, NULL};
	struct attempt t = {.o = o, .command = shell};
	int status = STATUS_RUN_FAILED;

	if (may_run(a, &t))
		status = launch_session(&t);
	driver_done(&t.c);
	return status;
}

static int in_background(void *ctx, struct keeper *k)
{
	struct attempt *t = ctx;

	t->keeper = k;
	return launch_session(t);
}

static int start_run(struct attempt *t)
{
	struct keeper k = {
		.stage = {.tty = options_get(t->o, OPTION_TTY) != NULL,
			  .input = options_get(t->o, OPTION_INTERACTIVE) !=
				   NULL},
	};
	char id[SESSION_ID_LEN + 1];
	int status = STATUS_RUN_FAILED;
	struct err err;

	if (keeper_start(&k, in_background, t, id, &status, &err) < 0)
		fail_run(t, &err);
	else if (id[0])
		status = console_result(arena_fmt(t->c.a, "%s\n", id));
	return status;
}

int command_start(struct arena *a, const struct options *o)
{
	struct attempt t = {.o = o, .command = o->exec};
	int status = STATUS_RUN_FAILED;

	if (may_run(a, &t))
		status = start_run(&t);
	driver_done(&t.c);
	return status;
}
