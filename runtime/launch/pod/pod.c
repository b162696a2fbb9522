#include "runtime/launch/pod/pod.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/proc.h"
#include "runtime/launch/lifecycle/outcome.h"
#include "runtime/launch/lifecycle/telling.h"
#include "runtime/launch/pod/parts.h"
#include "runtime/launch/prepare.h"
#include "runtime/launch/reap.h"
#include "runtime/launch/session/foreign.h"
#include "runtime/launch/session/metadata.h"

#include <errno.h>
#include <termios.h>
#include <unistd.h>

#define ENGINE "kubernetes"

/* --- its record ------------------------------------------------------------ */

static void on_refusal(void *ctx, const struct refusal *r)
{
	tell_refusal(ctx, r);
}

static void on_told(void *ctx, struct str line)
{
	telling_note(ctx, line);
}

/* A terminal is the command's: a full screen is not written over. */
static int open_telling(struct pod *p, struct err *err)
{
	int rc = telling_open(p->a, p->o, p->session.id, &p->run.tell, err);

	if (rc < 0)
		return rc;
	if (!p->o->quiet && !p->wish.tty)
		tell_aloud(p->run.tell, telling_in_colour(), false);
	p->run.tell->ctx = p->run.gate;
	p->run.tell->on_told = on_told;
	p->run.gate->on_refusal = on_refusal;
	p->run.gate->refusal_ctx = p->run.tell;
	return 0;
}

static int open_record(struct pod *p, struct err *err)
{
	const struct metadata_found found = {.engine = ENGINE};
	const struct metadata_streams streams = {0};
	int rc = prepare_folder(p->a, p->o, &p->session, err);

	if (rc == 0)
		rc = metadata_write(p->a, &p->session, p->o->workspace,
				    p->o->command, NULL, &found, &streams, err);
	if (rc == 0)
		rc = gate_record(p->run.gate, p->session.dir, err);
	return rc < 0 ? rc : open_telling(p, err);
}

static void init_run(struct pod *p)
{
	struct loop *r = &p->run;

	r->a = p->a;
	r->session = &p->session;
	r->gate = arena_new_of(p->a, struct gate);
	gate_init(r->gate, summary_new(p->a, p->o->can_grant));
	summary_purposes(r->gate->summary, p->o->purpose, p->o->purpose_of);
	r->control = arena_new_of(p->a, struct control);
	r->progress = !p->o->quiet && isatty(STDERR_FILENO);
	p->grace_s = LOOP_GRACE_S;
	pod_watch_init(p);
}

/* --- its course ------------------------------------------------------------ */

/* On record before anything is made of them. */
static int write_objects(struct pod *p, struct str *out_text, struct err *err)
{
	p->wish.id = p->session.id;
	pod_streams_wish(&p->wish);
	if (!p->t->write(p->t->ctx, &p->wish, &p->objects, out_text))
		return err_set(err, -EINVAL, "the Pod cannot be written");
	return objects_note(p->a, &p->session, &p->objects, err);
}

/* All of them or none: what was made when one was refused goes at once. */
static int run_objects(struct pod *p, struct str text, struct err *err)
{
	struct err other;
	int rc = objects_apply(p->a, &p->objects, text, err);

	if (rc == 0)
		rc = pod_loop(p, err);
	else if (objects_end(p->a, &p->objects, 1, &other) < 0)
		p->is_left = true;
	if (!p->is_left && objects_remove(p->a, &p->objects, &other) < 0) {
		fprintf(stderr,
			"membrane: left for the next call to clean up: %s\n",
			other.text);
		p->is_left = true;
	}
	return rc;
}

static void write_outcome(struct pod *p, int status, const struct err *why)
{
	const struct executed none = {0};
	const struct committed nothing = {0};
	struct outcome outcome = {.a = p->a,
				  .executed = &none,
				  .emptied = &nothing,
				  .workspace = p->o->workspace,
				  .engine = ENGINE,
				  .is_fixed = true,
				  .run = &p->run,
				  .status = status,
				  .why = why};

	outcome_write(&outcome);
	session_release(&p->session, !p->is_left);
	watchdog_stop(&p->watchdog);
	if (!p->o->quiet)
		outcome_print(&outcome);
	if (status < 0) /* whoever called us says why */
		tell_begin_line(p->run.tell);
}

static int in_session(struct pod *p, struct err *err)
{
	struct endpoint none = {0};
	struct termios terminal;
	bool saved = tcgetattr(STDIN_FILENO, &terminal) == 0;
	struct str text;
	int rc = write_objects(p, &text, err);

	if (rc == 0)
		rc = watchdog_start(p->o->state, &p->session, &none,
				    &p->watchdog, err);
	if (rc < 0) {
		session_release(&p->session, true);
		return rc;
	}
	init_run(p);
	rc = open_record(p, err);
	if (rc == 0)
		rc = run_objects(p, text, err);
	if (saved && p->wish.tty) /* kubectl may have had no chance to */
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
	if (p->run.tell)
		tell_finish(p->run.tell);
	gate_done(p->run.gate);
	write_outcome(p, rc, err);
	return rc;
}

static int begin_session(struct pod *p, struct err *err)
{
	const struct launch_opts *o = p->o;
	struct endpoint at = {0};
	struct err ignored;
	int rc = fileio_mkdirs(o->state, 0700, err);

	if (rc == 0)
		rc = foreign_set_aside(p->a, o->state, o->quiet, err);
	if (rc == 0)
		rc = objects_find(p->a, &p->objects.at, err);
	if (rc < 0)
		return rc;
	/* without a daemon, what was Docker's is left for whoever has one */
	if (endpoint_find(p->a, endpoint_getenv, &at, &ignored) < 0)
		at = (struct endpoint){0};
	reap_others(p->a, o->state, &at, o->quiet);
	rc = session_new(p->a, o->state, &p->session, err);
	if (rc == 0 && o->id)
		memcpy(o->id, p->session.id, sizeof(p->session.id));
	return rc;
}

int pod_run(const struct launch_opts *o, const struct pod_target *t,
	    struct err *err)
{
	struct arena *a = arena_new();
	struct pod *p = arena_new_of(a, struct pod);
	int rc;

	p->a = a;
	p->o = o;
	p->t = t;
	p->objects.at = t->at;
	p->complaint = -1;
	p->run.begun = clock_ms();
	rc = proc_signals_catch(err);
	if (rc == 0) {
		rc = begin_session(p, err);
		if (rc == 0)
			rc = in_session(p, err);
		proc_signals_restore();
	}
	arena_free(a);
	return rc;
}
