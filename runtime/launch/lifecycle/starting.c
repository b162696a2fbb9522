/*
 * What must be there before the session, up to its started gate.
 */
#include "runtime/launch/lifecycle/parts.h"

#include "compiler/base/sys/clock.h"
#include "compiler/base/sys/outfile.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "runtime/launch/inside/inside.h"
#include "runtime/launch/reap.h"
#include "runtime/launch/workspace/workspaces.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LINK_TIMEOUT_MS 10000 /* for a busy Docker to end a dead session */
#define LINK_STEP_MS	50

/* --trace-log: the trace; the decisions where nothing traces. */
static int open_trace_log(struct launch *l, struct err *err)
{
	struct workspaces_ask ask = {l->a, l->o.state, l->o.workspace};
	struct outfile_rule rule = {workspaces_hold, &ask};
	int fd, rc;

	if (!l->o.trace_log)
		return 0;
	rc = outfile_open(l->a, &rule, AT_FDCWD, l->o.trace_log, 0600, &fd,
			  err);
	if (rc < 0)
		return rc;
	if (l->vectors.tracer.image)
		l->trace_copy = fd;
	else
		l->run.gate->decisions.copy = fd;
	return 0;
}

/* Docker's own bridge, unless the policy names another. */
static const char *uplink_of(char *const *argv)
{
	static const struct str option = STR_INIT("--network=");

	for (; *argv; argv++)
		if (str_starts(str_of(*argv), option))
			return *argv + option.n;
	return "bridge";
}

/*
 * Ports of the host's, an address, or a place in somebody's network: whoever
 * wants that next, or wants to remove it, shall find it free.
 */
static bool holds_something(char *const *argv)
{
	static const char *const options[] = {"--network=", "--publish",
					      "--mac-address", "--ip"};

	for (; *argv; argv++)
		for (size_t i = 0; i < ARRAY_LEN(options); i++)
			if (str_starts(str_of(*argv), str_of(options[i])))
				return true;
	return false;
}

/* Detached: the command's streams are the session's. */
static int open_stage(struct launch *l, struct err *err)
{
	if (!l->o.keeper)
		return 0;
	l->run.stage = arena_new_of(l->a, struct stage);
	return stage_open(l->run.stage, l->session.dir, &l->o.keeper->stage,
			  err);
}

/*
 * The network that a bridge needs: one at a time, since its addresses are the
 * plan's. That of a launcher which was killed goes as soon as Docker has
 * ended its containers: that is waited for.
 */
static int make_link(struct launch *l, struct err *err)
{
	struct loop *r = &l->run;
	struct pollfd signals = {.fd = proc_signals_fd(), .events = POLLIN};
	int64_t until = clock_ms() + LINK_TIMEOUT_MS;
	int rc;

	r->network = arena_fmt(l->a, DOCKER_JSON_OURS "%s", l->session.id).p;
	/* as the plan names it; its own network comes with it */
	r->agent_host = r->network;
	do {
		rc = docker_make_link(l->docker, r->network, l->session.id,
				      err);
	} while (rc < 0 && clock_ms() < until &&
		 reap_is_under_way(l->a, l->o.state) &&
		 poll(&signals, 1, LINK_STEP_MS) == 0);
	if (rc < 0)
		return err_while(
			err,
			"making the link to the agent (one session with such a runtime at a time)");
	return 0;
}

/* What mounts cannot hold is not shown, and no reason not to run. */
static int show_repository(struct launch *l, struct err *err)
{
	bool part = l->o.linked->kind == GITLINKED_PART;
	int rc = part && l->vectors.view.image
			 ? gitoutside_find(l->a, l->o.linked, &l->outside, err)
			 : 0;

	if (rc == 0)
		rc = repository_prepare(l, err);
	if (rc != -ENOTSUP)
		return rc;
	if (!l->o.quiet)
		fprintf(stderr,
			"membrane: git in the session does not see its repository: %s\n",
			err->text);
	l->o.linked = l->mounts.linked = NULL;
	return 0;
}

static int say_renewed(void *ctx, struct str line, struct err *err)
{
	return gate_say(ctx, line, err);
}

static int on_renewal(void *ctx, const cJSON *event, struct err *err)
{
	return renewals_ask(ctx, event, err);
}

/* Where tokens are renewed: by us, when the gate says that the agent asks. */
static void open_renewals(struct launch *l)
{
	bool any = false;

	vec_each(c, &l->vectors.credentials)
		any |= c->refresh != NULL;
	if (!any)
		return;
	l->run.renewals = arena_new_of(l->a, struct renewals);
	renewals_init(l->run.renewals);
	l->run.renewals->v = &l->vectors;
	l->run.renewals->values = &l->values;
	l->run.renewals->proxy = l->proxy;
	/* that one is forgotten once the gate has it */
	if (l->proxy.login)
		l->run.renewals->proxy.login =
			arena_cstr(l->a, str_of(l->proxy.login));
	renewals_know(l->a, l->run.renewals, &l->secrets);
	l->run.renewals->home = getenv("HOME");
	l->run.renewals->lock = arena_fmt(l->a, "%s/tokens.lock", l->o.state).p;
	l->run.renewals->tell = say_renewed;
	l->run.renewals->ctx = l->run.gate;
	l->run.gate->on_renewal = on_renewal;
	l->run.gate->renewal_ctx = l->run.renewals;
}

/* The init, and what it is told: of a terminal that is there by now, too. */
static int begin_inside(struct launch *l, struct err *err)
{
	const struct keeper *k = l->o.keeper;
	struct inside_size size = {0};
	struct winsize now;
	int rc = inside_write(l->session.dir, err);

	/* without runc the FIFO is in no container */
	if (rc == 0 && l->vectors.link == VECTORS_VETH)
		rc = inside_listen(l->session.dir, &l->run.begun_fd, err);
	if (k)
		size = (struct inside_size){k->stage.rows, k->stage.columns};
	else if (ioctl(STDIN_FILENO, TIOCGWINSZ, &now) == 0)
		size = (struct inside_size){now.ws_row, now.ws_col};
	return rc < 0 ? rc : engines_inside(l, &size, err);
}

int starting_gate(struct launch *l, struct err *err)
{
	struct loop *r = &l->run;
	char **argv;
	int rc = prepare_folder(l->a, &l->o, &l->session, err);

	open_renewals(l);
	if (rc == 0)
		rc = telling_prepare(l, err);
	if (rc == 0)
		rc = open_stage(l, err);
	if (rc == 0)
		rc = questions_open(r->questions, r->gate, &l->session, err);
	if (rc == 0)
		rc = control_open(r->control, l->a, &l->session, r->gate,
				  r->questions, l->o.plan, err);
	if (rc == 0)
		rc = open_trace_log(l, err);
	if (rc == 0)
		rc = engines_open(l, err);
	if (rc == 0)
		rc = begin_inside(l, err);
	if (rc == 0)
		rc = tracing_check_release(l, err);
	if (rc == 0)
		rc = ownpath_prepare(l, err);
	if (rc == 0 && l->o.linked)
		rc = show_repository(l, err);
	if (rc == 0 && l->vectors.native)
		rc = searched_prepare(l, err);
	if (rc == 0)
		rc = vectors_expand(l->a, &l->vectors.gate, &l->values, &argv,
				    err);
	if (rc == 0 && l->vectors.link == VECTORS_BRIDGE)
		rc = make_link(l, err);
	if (rc == 0)
		r->gate->roots = l->roots.pem;
	if (rc == 0)
		rc = gate_start(r->gate, r->engine, argv, l->session.dir,
				l->watchdog.keep_fd, err);
	if (rc == 0) {
		watchdog_tell(&l->watchdog, r->gate->pid);
		r->uplink = l->docker ? uplink_of(argv) : NULL;
		r->may_leave = l->docker && l->vectors.link == VECTORS_VETH &&
			       !l->o.keeper && !holds_something(argv);
		rc = tracing_start(l, err);
	}
	if (rc == 0)
		rc = viewing_start(l, err);
	/* last: what was forked before shall not hold what it writes to */
	if (rc == 0)
		telling_start(l);
	r->at.gate_spawned = loop_elapsed(r);
	return rc;
}
