/*
 * The life of one session around its loop (loop.c): what must be there before,
 * the gate's start, the agent's mounts, and all that is cleaned up and told at
 * the end.
 */
#include "runtime/launch/launch.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/sys/outfile.h"
#include "compiler/base/sys/proc.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/mounts_plan.h"
#include "runtime/launch/docker/docker_session.h"
#include "runtime/launch/docker/hosts.h"
#include "runtime/launch/docker/secrets.h"
#include "runtime/launch/mounts/freeze.h"
#include "runtime/launch/mounts/masks.h"
#include "runtime/launch/mounts/mounts.h"
#include "runtime/launch/lifecycle/outcome.h"
#include "runtime/launch/prepare.h"
#include "runtime/launch/probe.h"
#include "runtime/launch/reap.h"
#include "runtime/launch/lifecycle/repository.h"
#include "runtime/launch/sshagent.h"
#include "runtime/launch/loop/loop.h"
#include "runtime/launch/session/metadata.h"
#include "runtime/launch/session/foreign.h"
#include "runtime/launch/tokens/tokens.h"
#include "runtime/launch/tracer/tracer.h"
#include "runtime/launch/view/hello.h"
#include "runtime/launch/view/mounted.h"
#include "runtime/launch/view/seal.h"
#include "runtime/launch/watchdog.h"
#include "runtime/launch/workspace/workspaces.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>

#define LINK_TIMEOUT_MS 10000 /* for a busy Docker to end a dead session */
#define LINK_STEP_MS	50

struct launch {
	struct arena *a;
	struct launch_opts o; /* workspace: its real path */
	struct endpoint at;
	struct vectors vectors;
	struct vectors_values values;
	secrets secrets;
	struct prepare_owner owner;
	struct session session;
	struct watchdog watchdog;
	struct loop run;
	int trace_copy; /* --trace-log; -1: nowhere */
	struct executed before;
	/* In a view: what it was told of, and what git had of it. */
	struct looked *looked;
	struct committed git;
	struct gitoutside outside; /* of a repository that is shown around it */
	struct mounts mounts;
	bool protects; /* the home is viewed, too */
	struct sshagent ssh;
};

static const char *from_environment(void *ctx, const char *name)
{
	(void)ctx;
	return getenv(name);
}

static int read_plan(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_DOCKER);
	int rc;

	if (!f)
		return err_set(err, -EPROTO, "the plan has no docker.json");
	rc = vectors_parse(l->a, f->data, &l->vectors, err);
	return rc;
}

static int set_values(struct launch *l, struct err *err)
{
	const struct keeper *k = l->o.keeper;
	struct metadata_streams streams = {
		.kept = k != NULL,
		.tty = k ? k->stage.tty
			 : isatty(STDIN_FILENO) && isatty(STDOUT_FILENO),
		.input = !k || k->stage.tty || k->stage.input,
	};
	struct tokens_homes homes = {.user = getenv("HOME")};
	char *real = realpath(l->o.workspace, NULL);
	int rc;

	if (!real)
		return err_set(err, -errno, "%s: %s", l->o.workspace,
			       strerror(errno));
	l->o.workspace = arena_cstr(l->a, str_of(real));
	free(real);
	rc = mounts_open(&l->mounts, l->o.workspace, err);
	if (rc == 0)
		rc = workspaces_note(l->a, l->o.state, l->o.workspace, err);
	if (rc < 0)
		return rc;
	rc = metadata_write(l->a, &l->session, l->o.workspace, l->o.command,
			    &streams, err);
	if (rc == 0)
		rc = prepare_owner(l->a, &l->o, l->mounts.root, &l->owner, err);
	if (rc < 0)
		return rc;
	homes.agent = l->owner.home;
	l->values = (struct vectors_values){
		.session = l->session.id,
		.workspace = l->o.workspace,
		.home = l->owner.home,
		.state = l->o.state,
		.owner = l->owner.text,
		.tty = streams.tty,
		.readonly = scan_is_readonly(l->o.workspace),
		.command = l->o.command,
		.env = from_environment,
	};
	rc = secrets_read(l->a, &l->vectors, &l->values, homes.user,
			  &l->secrets, err);
	return rc < 0 ? rc
		      : tokens_place(l->a, &l->vectors, &homes, &l->secrets,
				     err);
}

/* --- while the gate starts ----------------------------------------------- */

static int tell_gate(struct launch *l, struct err *err)
{
	hosts h = {0};
	struct str hello;
	int rc = hosts_find(l->a, l->run.docker, &h, err);

	if (rc < 0)
		return rc;
	hello = hosts_hello(l->a, l->session.id, &h, &l->secrets);
	rc = gate_hello(l->run.gate, hello, err);
	explicit_bzero((void *)(uintptr_t)hello.p, hello.n);
	secrets_forget(&l->secrets);
	return rc;
}

static int open_views(struct launch *l, struct err *err)
{
	struct mounts *m = &l->mounts;
	int rc = 0;

	if (m->view < 0)
		rc = mounted_open(l->a, &l->session, DOCKER_JSON_VIEW_MOUNT,
				  &m->view, err);
	m->home = l->owner.home;
	m->home_at = MOUNTS_PLAN_HOME;
	if (rc == 0 && l->protects && m->home_view < 0)
		rc = mounted_open(l->a, &l->session, DOCKER_JSON_VIEW_HOME,
				  &m->home_view, err);
	return rc;
}

/*
 * 0, or 1: not now, since somebody else's agent or start is in the way; with
 * may_stop agents are not.
 */
static int prepare_agent(struct launch *l, bool may_stop, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_MOUNTS);
	char **argv = NULL;
	int rc;

	if (!f)
		return err_set(err, -EPROTO, "the plan has no mounts.plan");
	if (!l->before.at)
		executed_look(l->a, l->o.workspace, &l->before);
	if (l->run.view && open_views(l, err) < 0)
		return err->code;
	rc = mounts_prepare(&l->mounts, l->run.docker, &l->vectors.agent,
			    &l->values, f->data, may_stop, &argv, err);
	if (rc == 0)
		rc = masks_fit(argv, environ, err);
	if (rc == 0)
		l->run.agent_argv = argv;
	if (l->mounts.alone_at)
		l->run.at.alone = l->mounts.alone_at - l->run.begun;
	l->run.at.prepared = loop_elapsed(&l->run);
	return rc;
}

/* Named like the program, the first process is that program's. */
static int add_home(struct launch *l, const struct mountsplan *plan,
		    const struct hello_owner *owner, struct str *hello,
		    struct err *err)
{
	const char *command = l->o.command[0], *name = NULL;
	bool serves = false;
	struct str home;
	int rc;

	if (command)
		name = strrchr(command, '/') ? strrchr(command, '/') + 1
					     : command;
	vec_each(by, &plan->by)
		serves |= name && str_is(*by, name);
	if (!serves && !l->o.quiet)
		fprintf(stderr,
			"membrane: files that 'protect' names are for %.*s, and the command is %s: nobody opens them\n",
			STR_ARG(plan->by.v[0]),
			name ? "another" : "the image's own");
	if (serves)
		l->values.command = seal_command(l->a, l->o.command);
	rc = hello_write_home(l->a, l->owner.home, owner, serves ? name : NULL,
			      &home, err);
	if (rc == 0)
		*hello = arena_fmt(l->a, "%.*s%.*s", STR_ARG(*hello),
				   STR_ARG(home));
	return rc;
}

/*
 * What only a look finds, from today's scan. Names are the view's to judge,
 * from now on and for as long as the session lasts.
 */
static int tell_view(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_MOUNTS);
	struct hello_owner owner = {l->owner.uid, l->owner.gid};
	hello_holds *holds = arena_new_of(l->a, hello_holds);
	struct looked *looked = arena_new_of(l->a, struct looked);
	looked_notes notes = {0};
	char state[PATH_MAX];
	struct looked_at at;
	struct str hello;
	int rc = looked_state(l->o.state, l->o.workspace, state, err);

	if (rc < 0)
		return rc;
	at = (struct looked_at){.state = arena_str(l->a, str_of(state)),
				.root_path = str_of(l->o.workspace),
				.root = l->mounts.root,
				.mounts = f->data,
				.linked = l->o.linked,
				.outside = &l->outside,
				.readonly = l->values.readonly};
	rc = looked_make(l->a, &at, looked, err);
	if (rc < 0)
		return rc;
	committed_find(l->a, at.root_path, looked->plan.ignore, &looked->found,
		       &looked->git.repos, &l->git);
	l->git.filtered = plan_file(l->o.plan, PLAN_GIT_ATTRIBUTES) &&
			  committed_filtered(l->a, at.root_path, &l->git);
	rc = hello_write(l->a, looked, &l->git, &owner, holds, &hello, err);
	if (rc == 0 && l->protects)
		rc = add_home(l, &looked->plan, &owner, &hello, err);
	if (rc < 0)
		return rc;
	l->looked = looked;
	refusals_know(l->run.view->refusals, holds);
	view_tell(l->run.view, hello);
	looked_git_notes(l->a, looked, &l->git, true, &notes);
	mounts_say(&l->mounts, &notes, l->values.readonly);
	return 0;
}

/* Gate, tracer and view are ready. What could be done before them has been. */
static int on_ready(void *ctx, struct err *err)
{
	struct launch *l = ctx;

	return l->run.agent_argv ? 0 : prepare_agent(l, true, err);
}

static int on_started(void *ctx, struct err *err)
{
	struct launch *l = ctx;
	int rc = mounts_check(&l->mounts, l->run.docker, l->run.agent_name,
			      l->vectors.runtime, err);

	/* one that could not go on has taken its mounts away, and said why */
	if (rc < 0 && l->run.view && view_has_failed(l->run.view))
		rc = err_set(err, -ENOTCONN, "the view of the workspace ended");
	l->run.at.checked = loop_elapsed(&l->run);
	if (rc == 0 && l->run.view)
		view_detach(l->run.view);
	return rc;
}

/* Another session stopped our agent; should that have died, it goes on. */
static bool on_paused(void *ctx, const char *container)
{
	struct launch *l = ctx;

	return freeze_rescue(l->run.docker, l->o.state, container);
}

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

/*
 * A tag is what somebody put on it; the policy was checked against what one
 * release knows.
 */
static int check_release(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_TRACE);
	const char *said;
	char **argv;
	int rc;

	if (!l->vectors.tracer_version.image)
		return 0;
	if (!f)
		return err_set(err, -EPROTO, "the plan has no trace.json");
	rc = vectors_expand(l->a, &l->vectors.tracer_version, &l->values, &argv,
			    err);
	if (rc == 0)
		rc = probe_line(l->a, argv, &said, err);
	if (rc < 0)
		return err_while(err, "asking %s for its version",
				 l->vectors.tracer_version.image);
	return tracer_check_release(f->data, said, err);
}

/* Beside the gate, which takes longer; before the agent in any case. */
static int start_tracer(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_TRACE);
	char **argv;
	int rc;

	if (!l->vectors.tracer.image)
		return 0;
	if (!f)
		return err_set(
			err, -ENOTSUP,
			"the plan asks for a tracer that this version cannot start; --no-trace runs without");
	l->values.narrow = docker_minor(l->run.docker) >= DOCKER_NARROW_MINOR;
	rc = vectors_expand(l->a, &l->vectors.tracer, &l->values, &argv, err);
	if (rc < 0)
		return rc;
	l->run.tracer = arena_new_of(l->a, struct tracer);
	rc = tracer_start(l->a, l->run.tracer, argv, f->data,
			  arena_fmt(l->a, "%s/trace", l->o.state).p,
			  l->session.id, l->watchdog.keep_fd, err);
	if (rc == 0)
		l->run.tracer->file.copy = l->trace_copy;
	if (l->run.tracer->pid)
		watchdog_tell(&l->watchdog, l->run.tracer->pid);
	l->run.gate->tracer = l->run.tracer;
	return rc;
}

static int find_protected(struct launch *l, struct str plan, struct err *err)
{
	struct mountsplan read;
	int rc = mountsplan_read(l->a, plan, &read, err);

	l->protects = rc == 0 && read.by.n > 0;
	return rc;
}

/* Where the plan has masks held by one: beside the gate, too. */
static int start_view(struct launch *l, struct err *err)
{
	const struct plan_file *f = plan_file(l->o.plan, PLAN_MOUNTS);
	const struct plan_file *at = plan_file(l->o.plan, PLAN_PROVENANCE);
	struct view *v;
	char **argv;
	int rc;

	if (!l->vectors.view.image)
		return 0;
	if (!f)
		return err_set(err, -EPROTO, "the plan has no mounts.plan");
	rc = find_protected(l, f->data, err);
	if (rc == 0)
		rc = mounted_prepare(l->a, &l->session, err);
	if (rc == 0 && l->protects)
		rc = mounted_prepare_home(l->a, &l->session, err);
	if (rc == 0 && l->protects)
		rc = seal_write(l->session.dir, err);
	if (rc == 0)
		rc = vectors_expand(l->a, &l->vectors.view, &l->values, &argv,
				    err);
	if (rc < 0)
		return rc;
	v = l->run.view = arena_new_of(l->a, struct view);
	view_init(v,
		  refusals_new(l->a, f->data,
			       written_read(l->a, at ? at->data : STR(""))),
		  kept_new(l->a), l->mounts.root, &l->run.gate->decisions);
	v->linked = l->o.linked;
	rc = view_start(v, argv, l->watchdog.keep_fd, err);
	if (v->pid)
		watchdog_tell(&l->watchdog, v->pid);
	return rc;
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
	int64_t until = proc_now_ms() + LINK_TIMEOUT_MS;
	int rc;

	r->network = arena_fmt(l->a, DOCKER_JSON_OURS "%s", l->session.id).p;
	/* as the plan names it; its own network comes with it */
	r->agent_host = r->network;
	do {
		rc = docker_make_link(r->docker, r->network, l->session.id,
				      err);
	} while (rc < 0 && proc_now_ms() < until &&
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
		rc = repository_prepare(l->a, &l->o, &l->session, &l->vectors,
					&l->values, err);
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
	renewals_know(l->a, l->run.renewals, &l->secrets);
	l->run.renewals->home = getenv("HOME");
	l->run.renewals->lock = arena_fmt(l->a, "%s/tokens.lock", l->o.state).p;
	l->run.renewals->tell = say_renewed;
	l->run.renewals->ctx = l->run.gate;
	l->run.gate->on_renewal = on_renewal;
	l->run.gate->renewal_ctx = l->run.renewals;
}

static int start_gate(struct launch *l, struct err *err)
{
	struct loop *r = &l->run;
	char **argv;
	int rc = prepare_folder(l->a, &l->o, &l->session, err);

	open_renewals(l);
	if (rc == 0)
		rc = open_stage(l, err);
	if (rc == 0)
		rc = control_open(r->control, l->a, &l->session, r->gate,
				  l->o.plan, err);
	if (rc == 0)
		rc = open_trace_log(l, err);
	if (rc == 0)
		rc = docker_open(l->a, &l->at, &r->docker, err);
	if (rc == 0)
		rc = prepare_docker(r->docker, &l->vectors, l->o.no_update,
				    err);
	/* not while others stand still for it */
	if (rc == 0)
		rc = prepare_fetch(l->a, r->docker, &l->vectors.agent, err);
	if (rc == 0)
		rc = check_release(l, err);
	if (rc == 0 && l->o.linked)
		rc = show_repository(l, err);
	if (rc == 0)
		rc = vectors_expand(l->a, &l->vectors.gate, &l->values, &argv,
				    err);
	if (rc == 0 && l->vectors.link == VECTORS_BRIDGE)
		rc = make_link(l, err);
	if (rc == 0)
		rc = gate_start(r->gate, argv, l->session.dir,
				l->watchdog.keep_fd, err);
	if (rc == 0) {
		watchdog_tell(&l->watchdog, r->gate->pid);
		r->uplink = uplink_of(argv);
		r->may_leave = l->vectors.link == VECTORS_VETH &&
			       !l->o.keeper && !holds_something(argv);
		rc = start_tracer(l, err);
	}
	if (rc == 0)
		rc = start_view(l, err);
	r->at.gate_spawned = loop_elapsed(r);
	return rc;
}

/* From the started gate to the end: what fails here must end the gate too. */
static int run_session(struct launch *l, struct err *err)
{
	struct loop *r = &l->run;
	struct err why;
	int rc = tell_gate(l, &why);

	if (rc == 0 && r->view)
		rc = tell_view(l, &why);
	if (rc == 0)
		rc = prepare_git(l->a, &l->o, &l->session, &l->values.git,
				 &why);
	if (rc == 0 && !r->view)
		rc = prepare_agent(l, false, &why);
	if (rc < 0)
		loop_stop(r, &why);
	return loop_run(r, err);
}

/* While the gate ends. Should it fail, clean_session() does it again, and says
 * so. */
static void release_masks(void *ctx)
{
	struct launch *l = ctx;
	struct err ignored;

	if (masks_release(l->o.state, l->session.id, &ignored) < 0)
		return;
}

/* From here on nobody is there to be told of progress. */
static int tell_caller(void *ctx, struct err *err)
{
	struct launch *l = ctx;

	l->run.progress = false;
	return keeper_tell(l->o.keeper, &l->session, err);
}

static bool is_at_terminal(void)
{
	return isatty(STDIN_FILENO) || isatty(STDOUT_FILENO) ||
	       isatty(STDERR_FILENO);
}

static void init_run(struct launch *l)
{
	struct loop *r = &l->run;

	r->a = l->a;
	r->session = &l->session;
	r->gate = arena_new_of(l->a, struct gate);
	gate_init(r->gate, summary_new(l->a, l->o.can_grant));
	r->control = arena_new_of(l->a, struct control);
	r->control->listen = r->control->client = -1;
	l->trace_copy = -1;
	mounts_init(&l->mounts, l->a, l->o.state, &l->session, l->o.quiet);
	l->mounts.linked = l->o.linked;
	r->tracer_name =
		arena_fmt(l->a, DOCKER_JSON_OURS DOCKER_JSON_TRACER "-%s",
			  l->session.id)
			.p;
	r->view_name = arena_fmt(l->a, DOCKER_JSON_OURS DOCKER_JSON_VIEW "-%s",
				 l->session.id)
			       .p;
	r->gate_name = arena_fmt(l->a, DOCKER_JSON_OURS DOCKER_JSON_GATE "-%s",
				 l->session.id)
			       .p;
	r->agent_name =
		arena_fmt(l->a, DOCKER_JSON_OURS DOCKER_JSON_AGENT "-%s",
			  l->session.id)
			.p;
	r->watchdog = &l->watchdog;
	r->on_ready = on_ready;
	r->on_started = on_started;
	r->on_paused = on_paused;
	r->on_agent_gone = release_masks;
	r->on_agent_runs = l->o.keeper ? tell_caller : NULL;
	r->caller = l->o.keeper ? l->o.keeper->caller : -1;
	r->ctx = l;
	r->progress = !l->o.quiet && isatty(STDERR_FILENO);
	/* in another group it would be stopped for writing there, too */
	r->shares_terminal = !l->o.keeper && is_at_terminal();
}

/* --- the end ------------------------------------------------------------- */

/* Both containers are gone; what Docker still has of them goes with this. */
static bool clean_session(struct launch *l)
{
	struct err err;
	int rc = 0;

	if (l->run.left ||
	    (loop_left_nothing(&l->run) && l->vectors.link == VECTORS_VETH)) {
		rc = masks_release(l->o.state, l->session.id, &err);
		if (rc == 0)
			rc = mounted_remove(l->a, &l->session, &err);
	} else if (l->run.docker) {
		rc = reap_session(l->run.docker, l->o.state, &l->session, &err);
	}
	/* last: no container of ours can start any more */
	if (rc == 0)
		rc = mounts_end(&l->mounts, l->run.docker, &err);
	l->run.at.cleaned = loop_elapsed(&l->run);
	if (rc < 0)
		fprintf(stderr,
			"membrane: left for the next call to clean up: %s\n",
			err.text);
	return rc == 0;
}

/*
 * Detached: whoever waits for the command to run learns of one that was done
 * before Docker said so; of one that could not start, what Docker said.
 */
static int end_stage(struct launch *l, int rc, struct err *err)
{
	struct loop *r = &l->run;

	if (!r->stage)
		return rc;
	if (!r->agent_runs && rc >= 0 && rc < 125 && tell_caller(l, err) < 0)
		rc = err->code;
	if (!l->o.keeper->told)
		fwrite(r->stage->words, 1, r->stage->words_n, stderr);
	if (r->stage->spool.unwritten)
		fprintf(stderr,
			"membrane: the record of the output lacks %llu bytes, for which there was no room\n",
			(unsigned long long)r->stage->spool.unwritten);
	stage_done(r->stage);
	return rc;
}

/* What Docker still removes is seen to by the watchdog, or by the next call. */
static void let_go(struct launch *l, bool cleaned)
{
	struct err ignored;

	if (l->run.left && cleaned) {
		session_shut(&l->session);
		if (watchdog_leave(&l->watchdog, &l->session, &ignored) == 0)
			return;
		cleaned = false;
	}
	session_release(&l->session, cleaned);
	watchdog_stop(&l->watchdog);
}

/* What the agent had no part in is not said of it. */
static void find_executed(struct launch *l, struct executed *out)
{
	struct executed now;

	if (!l->run.agent_made)
		return;
	executed_look(l->a, l->o.workspace, &now);
	executed_changed(l->a, &l->before, &now, out);
}

/* A program with a git of its own may have read what is hidden as empty. */
static void find_emptied(struct launch *l, struct committed *out)
{
	const struct looked *looked = l->looked;
	struct committed now;

	if (!l->run.agent_made || !looked || l->git.paths.n == 0)
		return;
	committed_find(l->a, looked->at.root_path, looked->plan.ignore,
		       &looked->found, &looked->git.repos, &now);
	committed_emptied(l->a, &l->git, &now, out);
}

static int in_session(struct launch *l, struct err *err)
{
	struct termios terminal;
	struct executed executed = {0};
	struct committed emptied = {0};
	struct outcome outcome;
	bool saved = tcgetattr(STDIN_FILENO, &terminal) == 0, cleaned;
	int rc = watchdog_start(l->o.state, &l->session, &l->at, &l->watchdog,
				err);

	if (rc < 0) {
		session_release(&l->session, true);
		return rc;
	}
	init_run(l);
	rc = set_values(l, err);
	if (rc == 0 && l->vectors.ssh_agent)
		rc = sshagent_start(l->session.dir, getenv("SSH_AUTH_SOCK"),
				    &l->ssh, err);
	if (rc == 0)
		rc = start_gate(l, err);
	if (rc == 0)
		rc = run_session(l, err);
	if (saved && l->run.was_killed) /* docker had no chance to */
		tcsetattr(STDIN_FILENO, TCSANOW, &terminal);
	control_close(l->run.control);
	gate_done(l->run.gate);
	if (l->run.tracer)
		tracer_done(l->run.tracer);
	if (l->run.view)
		view_done(l->run.view);
	sshagent_stop(&l->ssh, l->o.quiet);
	fd_close(&l->trace_copy);
	rc = end_stage(l, rc, err);
	cleaned = clean_session(l);
	find_executed(l, &executed);
	find_emptied(l, &emptied);
	outcome = (struct outcome){.a = l->a,
				   .executed = &executed,
				   .emptied = &emptied,
				   .workspace = l->o.workspace,
				   .run = &l->run,
				   .status = rc,
				   .why = err};
	outcome_write(&outcome);
	let_go(l, cleaned);
	docker_close(l->run.docker);
	if (!l->o.quiet)
		outcome_print(&outcome);
	return rc;
}

/* Best effort: a dead session that cannot be cleaned up harms nobody. */
static void reap_others(struct launch *l)
{
	struct docker *docker = NULL;
	unsigned ended = 0;
	struct err err;

	if (reap_dead(l->a, l->o.state, &l->at, &docker, &ended, &err) < 0 &&
	    !l->o.quiet)
		fprintf(stderr, "membrane: cleaning up: %s\n", err.text);
	docker_close(docker);
	session_prune(l->a, l->o.state);
}

int launch_run(const struct launch_opts *o, struct err *err)
{
	struct arena *a = arena_new();
	struct launch *l = arena_new_of(a, struct launch);
	int rc;

	l->a = a;
	l->o = *o;
	l->run.begun = proc_now_ms();
	rc = read_plan(l, err);
	if (rc == 0 && l->vectors.ssh_agent)
		rc = sshagent_check(getenv("SSH_AUTH_SOCK"), err);
	if (rc == 0)
		rc = endpoint_find(a, endpoint_getenv, &l->at, err);
	if (rc == 0)
		rc = fileio_mkdirs(o->state, 0700, err);
	if (rc == 0)
		rc = foreign_set_aside(a, o->state, o->quiet, err);
	if (rc == 0)
		rc = proc_signals_catch(err);
	if (rc == 0) {
		reap_others(l);
		rc = session_new(a, o->state, &l->session, err);
		if (rc == 0)
			rc = in_session(l, err);
		proc_signals_restore();
	}
	arena_free(a);
	return rc;
}
