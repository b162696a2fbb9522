/*
 * Who is told of refusals when they happen: by stderr where the command has no
 * terminal of its own, and by what the user's policy says.
 */
#include "runtime/launch/lifecycle/telling.h"

#include "runtime/launch/lifecycle/parts.h"
#include "runtime/launch/workspace/workspaces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *at_home(struct arena *a, const char *path)
{
	const char *home = getenv("HOME");

	return strncmp(path, "~/", 2) == 0 && home
		       ? arena_fmt(a, "%s/%s", home, path + 2).p
		       : path;
}

/* An agent that can write it would choose what runs here. */
static int check_place(struct arena *a, const struct launch_opts *o,
		       const char *real, struct err *err)
{
	struct workspaces_ask ask = {a, o->state, o->workspace};
	const char *slash = strrchr(real, '/');
	const char *folder =
		slash == real
			? "/"
			: arena_cstr(a,
				     (struct str){real, (size_t)(slash - real)});
	auto_fd int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_errno(err, folder);
	if (workspaces_hold(&ask, fd))
		return err_set(
			err, -EPERM,
			"'on_refusal' is run on this machine, and %s is where agents write: put it elsewhere",
			real);
	return 0;
}

/* The words to be started; what they lead to by now. */
static int find_command(struct arena *a, const struct launch_opts *o,
			char ***out, struct err *err)
{
	char *const *words = o->tell.command;
	const char *path = at_home(a, words[0]);
	char real[PATH_MAX];
	size_t n = 0;
	int rc;

	if (!realpath(path, real) || access(real, X_OK) < 0)
		return err_set(err, -errno, "'on_refusal': %s: %s", path,
			       strerror(errno));
	rc = check_place(a, o, real, err);
	while (words[n])
		n++;
	*out = arena_alloc(a, (n + 1) * sizeof(char *));
	memcpy(*out, words, n * sizeof(char *));
	(*out)[0] = arena_cstr(a, str_of(real));
	return rc;
}

int telling_open(struct arena *a, const struct launch_opts *o, const char *id,
		 struct tell **out, struct err *err)
{
	struct refusal_of of = {id, o->workspace};
	char **command = NULL;
	int rc = o->tell.command ? find_command(a, o, &command, err) : 0;

	*out = arena_new_of(a, struct tell);
	tell_init(*out, a, &of);
	return rc < 0 ? rc : tell_hook(*out, &o->tell, command, err);
}

int telling_prepare(struct launch *l, struct err *err)
{
	return telling_open(l->a, &l->o, l->session.id, &l->run.tell, err);
}

static void on_refusal(void *ctx, const struct refusal *r)
{
	struct launch *l = ctx;

	tell_refusal(l->run.tell, r);
}

/* --- whose it was --------------------------------------------------------- */

static bool on_ask(void *ctx, uint32_t id, const struct refusal *r)
{
	struct launch *l = ctx;

	return l->run.tracer && tracer_ask(l->run.tracer, id, r->record);
}

/* Refusals and questions have numbers of their own. */
#define OF_QUESTION (1u << 31)

static bool on_ask_question(void *ctx, uint32_t id, const cJSON *question)
{
	struct launch *l = ctx;

	return l->run.tracer && id < OF_QUESTION &&
	       tracer_ask(l->run.tracer, OF_QUESTION | id, question);
}

static void on_whose(void *ctx, const struct watch_whose *x)
{
	struct launch *l = ctx;
	struct err err;
	struct refusal_by by = {
		.sure = x->sure,
		.pid = x->pid,
		.comm = x->comm,
		.command = x->command,
	};

	if (!(x->id & OF_QUESTION))
		tell_whose(l->run.tell, x->id, &by);
	else if (questions_whose(l->run.questions, x->id & ~OF_QUESTION, &by,
				 &err) < 0)
		loop_stop(&l->run, &err);
}

bool telling_in_colour(void)
{
	const char *no_color = getenv("NO_COLOR");

	return isatty(STDERR_FILENO) && !(no_color && *no_color);
}

void telling_note(struct gate *g, struct str line)
{
	struct arena *a = arena_new();
	struct err ignored; /* of the next record somebody hears */

	ignore(gate_note(g, arena_fmt(a, "%.*s\n", STR_ARG(line)), &ignored));
	arena_free(a);
}

static void on_told(void *ctx, struct str line)
{
	struct launch *l = ctx;

	telling_note(l->run.gate, line);
}

void telling_start(struct launch *l)
{
	const struct tell_wish *wish = &l->o.tell;
	bool is_seen = !l->o.keeper && !l->o.quiet;

	/* its terminal is the command's: a full screen is not written over */
	if (is_seen && !l->values.tty)
		tell_aloud(l->run.tell, telling_in_colour(),
			   l->native != NULL);
	else if (is_seen && isatty(STDERR_FILENO) && !wish->silent &&
		 !wish->command && !wish->webhook)
		tell_desktop(l->run.tell);
	l->run.tell->ctx = l;
	l->run.tell->on_ask = on_ask;
	l->run.tell->on_told = on_told;
	l->run.questions->on_ask = on_ask_question;
	l->run.questions->ask_ctx = l;
	if (l->run.tracer) {
		l->run.tracer->watch.on_whose = on_whose;
		l->run.tracer->watch.whose_ctx = l;
	}
	l->run.gate->on_refusal = on_refusal;
	l->run.gate->refusal_ctx = l;
	if (l->run.view) {
		l->run.view->on_refusal = on_refusal;
		l->run.view->refusal_ctx = l;
	}
}
