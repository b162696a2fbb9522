/* `membrane learn`: run within a bound, and say what of it was needed. */
#include "compiler/cli/learn/learn.h"

#include "compiler/cli/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"

struct learning {
	struct arena *a; /* outlives the compile */
	const struct options *o;
	struct inputs in;
	struct learn_target to;
};

static bool begin_learning(void *ctx, struct compilation *c)
{
	struct learning *l = ctx;

	return learn_target_find(l->a, l->o, &l->in, &c->sources, &l->to) &&
	       learn_bound_show(l->o, &l->in, c);
}

static int conclude(const struct learning *l, struct str id)
{
	struct lesson x = {
		.a = l->a, .o = l->o, .in = l->in, .id = id, .to = l->to};
	int status = lesson_make(&x);

	if (status == STATUS_OK)
		status = lesson_give(&x);
	lesson_done(&x);
	return status;
}

/* Of one that has ended: what runs on may need more. */
static int learn_from(struct learning *l)
{
	const struct option_given *id = options_get(l->o, OPTION_TAUGHT);
	struct compilation c = {0};
	struct inputs in;
	int status;

	if (l->o->exec || options_get(l->o, OPTION_WITHIN)) {
		console_error(
			"--session is of one that has ended: it takes no command, and no --within");
		return STATUS_USAGE;
	}
	status = inputs_compile(l->a, l->o, true, &in, &c);
	if (status == STATUS_OK &&
	    !learn_target_find(l->a, l->o, &l->in, &c.sources, &l->to))
		status = STATUS_REFUSED;
	driver_done(&c);
	return status == STATUS_OK ? conclude(l, id->value) : status;
}

static int learn_by_running(struct learning *l)
{
	char id[SESSION_ID_LEN + 1] = "";
	const struct run_lesson lesson = {begin_learning, l, id};
	int status = run_lesson(l->a, l->o, &lesson);

	if (!id[0])
		return status;
	if (conclude(l, str_of(id)) == STATUS_OK)
		return status;
	console_error(
		"this tries again, and runs nothing: membrane learn --session %s",
		id);
	return STATUS_RUN_FAILED;
}

int command_learn(struct arena *a, const struct options *o)
{
	struct learning l = {.a = a, .o = o};
	struct err err;

	if (!o->exec && !options_get(o, OPTION_TAUGHT)) {
		console_error(
			"learn needs a command, or --session: 'membrane help learn'");
		return STATUS_RUN_FAILED;
	}
	if (inputs_find(a, o, &l.in, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return options_get(o, OPTION_TAUGHT) ? STATUS_IO
						     : STATUS_RUN_FAILED;
	}
	return options_get(o, OPTION_TAUGHT) ? learn_from(&l)
					     : learn_by_running(&l);
}
