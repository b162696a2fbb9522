#include "compiler/cli/doctor/doctor.h"

#include "compiler/cli/doctor/choice.h"
#include "compiler/cli/doctor/doctor_judge.h"
#include "compiler/cli/preflight/preflight.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/cli/workspace/target.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/native_json.h"
#include "runtime/launch/docker/rootless.h"
#include "runtime/launch/native/cgroup.h"
#include "runtime/launch/native/native.h"
#include "runtime/launch/sshagent.h"

#include <stdlib.h>

#define ANSWER_MS 5000 /* a daemon that hangs must not hang this */

static const char *kept_text(struct arena *a, const struct err *err)
{
	return arena_cstr(a, str_of(err->text));
}

static void ask_client(struct arena *a, struct doctor_host *h)
{
	char *argv[] = {arena_cstr(a, STR("docker")),
			arena_cstr(a, STR("--version")), NULL};
	struct err err;

	if (probe_line(a, argv, &h->client, &err) < 0) {
		h->client = NULL;
		h->no_client = kept_text(a, &err);
	}
}

/* Everything that the daemon is asked; nothing is started. NULL: no answer. */
static struct docker *ask_docker(struct arena *a, struct doctor_host *h)
{
	struct docker *d = NULL;
	struct err err;
	int rc = endpoint_find(a, endpoint_getenv, &h->at, &err);

	h->at.timeout_ms = ANSWER_MS;
	if (rc == 0)
		rc = rootless_enter(&h->at, &err);
	if (rc == 0)
		rc = docker_open(a, &h->at, &d, &err);
	if (rc == 0)
		rc = docker_info(d, &h->info, &err);
	if (rc < 0) {
		h->no_daemon = kept_text(a, &err);
		docker_close(d);
		return NULL;
	}
	if (docker_image_tags(d, "aquasec/tracee", &h->tracee, &err) < 0)
		h->no_tracee = kept_text(a, &err);
	return d;
}

static void ask_image(struct arena *a, struct docker *d, const char *image,
		      struct doctor_image *out)
{
	struct err err;
	int rc = docker_has_image(d, image, &err);

	out->there = rc < 0 ? FACT_UNKNOWN : rc ? FACT_YES : FACT_NO;
	out->why = rc < 0 ? kept_text(a, &err) : NULL;
}

static void ask_ssh_agent(struct arena *a, struct doctor_host *h)
{
	struct err err;

	h->ssh = getenv("SSH_AUTH_SOCK");
	if (h->ssh && !*h->ssh)
		h->ssh = NULL;
	if (h->ssh && sshagent_keys(h->ssh, ANSWER_MS, &h->ssh_keys, &err) < 0)
		h->no_ssh = kept_text(a, &err);
}

/* --- the native engine ---------------------------------------------------- */

static void ask_program(struct arena *a, const char *path, const char *word,
			struct doctor_program *out)
{
	char *argv[] = {arena_cstr(a, str_of(path)),
			arena_cstr(a, str_of(word)), NULL};
	struct err err;

	if (probe_line(a, argv, &out->line, &err) < 0) {
		out->line = NULL;
		out->why = kept_text(a, &err);
	}
}

static void find_programs(struct arena *a, struct doctor_program *out)
{
	static const char *const names[] = {
		NATIVE_JSON_GATE, NATIVE_JSON_READER, NATIVE_JSON_VIEW};
	const char *folder;
	struct err err;
	int rc = native_programs_folder(a, &folder, &err);

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(names); i++) {
		const char *path = arena_fmt(a, "%s/%s", folder, names[i]).p;

		if (access(path, R_OK) < 0)
			rc = err_errno(&err, path);
	}
	out->line = rc == 0 ? folder : NULL;
	out->why = rc == 0 ? NULL : kept_text(a, &err);
}

/* What a gate needs; a view and a device of the uplink's it has none of. */
static bool has_worked(const struct doctor_host *h)
{
	static const enum try_step all[] = {TRY_PROC, TRY_RULES, TRY_FILTER};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (h->steps.of[all[i]].state != TRY_WORKED)
			return false;
	return h->programs.line != NULL;
}

/* Before anybody's namespaces are entered: a session would not be there. */
static int try_engine(struct arena *a, const struct plan *plan,
		      struct doctor_host *h, struct err *err)
{
	const struct plan_file *filter = plan_file(plan, PLAN_SECCOMP);
	const char *uplink = native_uplink_program(a);
	struct err why;

	if (cgroup_try(a, &why) < 0)
		h->no_group = kept_text(a, &why);
	try_native(a, filter ? filter->data : (struct str){0}, &h->steps);
	find_programs(a, &h->programs);
	ask_program(a, DOCTOR_HAPROXY_PATH, "-v", &h->haproxy);
	h->uplink.why = "it is not here";
	if (uplink)
		ask_program(a, uplink, "--version", &h->uplink);
	return has_worked(h) ? probe_native(a, h->state, plan, &h->native, err)
			     : 0;
}

/* --- Docker's trials ------------------------------------------------------ */

static int try_parts(struct arena *a, struct docker *d, const struct plan *plan,
		     struct doctor_host *h, struct err *err)
{
	ask_image(a, d, DOCKER_JSON_IMAGE_GATE, &h->gate);
	ask_image(a, d, DOCKER_JSON_IMAGE_WATCH, &h->watch);
	ask_image(a, d, DOCKER_JSON_IMAGE_AGENT, &h->agent);
	ask_image(a, d, DOCKER_JSON_IMAGE_VIEW, &h->view);
	return probe_session(a, d, h->state, plan, h->gate.there == FACT_YES,
			     h->watch.there == FACT_YES, &h->tried, err);
}

/* Of a policy that leaves it open: the only one that can, or what is named. */
static enum ir_engine planned_engine(const struct plan *plan)
{
	if (!plan_file(plan, PLAN_NATIVE))
		return IR_ENGINE_DOCKER;
	return plan_file(plan, PLAN_DOCKER) ? choice_named() : IR_ENGINE_NATIVE;
}

/* Which engine the policy here would run by, the one where only that can; and
 * whether it does without a view. One that is refused says nothing of that:
 * `run` says why. */
static void ask_policy(struct arena *a, const struct options *o,
		       struct doctor_host *h)
{
	struct compilation c = {.unwritten = true};
	struct inputs in;
	struct err ignored;

	h->engine = choice_named();
	if (inputs_find(a, o, &in, &ignored) == 0 &&
	    driver_compile(&c, &in.front, &ignored) == 0 && c.ok) {
		h->viewless = !ir_masks_hold(&c.policy);
		h->engine = c.policy.engine.v;
		if (h->engine == IR_ENGINE_AUTO)
			h->engine = planned_engine(&c.plan);
	}
	driver_done(&c);
}

/* The default policy, with a name so that there is an HAProxy to try (RFC 6761,
 * 6.4: it is nobody's), alone: nobody's own files, no workspace. */
static int compile_policy(struct arena *a, const struct options *o,
			  struct inputs *in, struct compilation *c)
{
	static const struct front_flag name = {.kind = FRONT_FLAG_ALLOW,
					       .spelling = STR_INIT("--allow"),
					       .value = STR_INIT("doctor.invalid")};
	struct err err;

	if (inputs_find(a, o, in, &err) == 0) {
		in->front.workspace = NULL;
		in->front.global = in->standard;
		in->front.flags = &name;
		in->front.n_flags = 1;
		if (driver_compile(c, &in->front, &err) == 0) {
			console_diags(c->a, &c->diags);
			return c->ok ? STATUS_OK : STATUS_REFUSED;
		}
	}
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return STATUS_IO;
}

static int print_findings(struct arena *a, const struct options *o,
			  const struct doctor *d)
{
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO),
			 console_colour(STDOUT_FILENO)};
	int status;

	buf_init(&out, a);
	if (options_get(o, OPTION_JSON))
		buf_add(&out, doctor_json(a, d));
	else
		doctor_view(&v, d);
	status = console_result(buf_str(&out));
	return status == STATUS_OK && !doctor_runs(d) ? STATUS_REFUSED : status;
}

static int visit_host(struct arena *a, const struct options *o,
		      const char *state, const struct plan *plan)
{
	struct doctor_host h = {.state = state};
	struct doctor d;
	struct docker *docker;
	struct err err;
	int rc;

	ask_policy(a, o, &h);
	ask_client(a, &h);
	ask_ssh_agent(a, &h);
	rc = try_engine(a, plan, &h, &err);
	docker = ask_docker(a, &h);
	h.entered = rootless_entered();
	/* as the daemon has it: only now this is where that is */
	facts_read(a, &h.facts);
	facts_mount(a, state, &h.mount);
	if (docker && rc == 0)
		rc = try_parts(a, docker, plan, &h, &err);
	docker_close(docker);
	if (rc < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	doctor_judge(a, &h, &d);
	return print_findings(a, o, &d);
}

static int visit_cluster(struct arena *a, const struct options *o,
			 const struct kube_options *with)
{
	struct kubectl at = {
		.context = str_of(options_value(a, o, OPTION_CONTEXT, "")),
		.ns = str_of(options_value(a, o, OPTION_NAMESPACE, "")),
	};

	return preflight_cluster(a, o, &at, with);
}

int command_doctor(struct arena *a, const struct options *o)
{
	const struct kube_options *cluster;
	struct compilation c = {0};
	struct inputs in;
	int status;

	if (!target_find(a, o, &cluster))
		return STATUS_USAGE;
	if (cluster)
		return visit_cluster(a, o, cluster);
	status = compile_policy(a, o, &in, &c);
	if (status == STATUS_OK)
		status = visit_host(a, o, in.state, &c.plan);
	driver_done(&c);
	return status;
}
