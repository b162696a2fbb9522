#include "compiler/cli/doctor/choice.h"

#include "compiler/cli/doctor/doctor_judge.h"
#include "compiler/cli/text/console.h"
#include "compiler/emit/native/native.h"
#include "compiler/ir/natively.h"
#include "compiler/plan/files.h"
#include "runtime/launch/docker/docker.h"
#include "runtime/launch/docker/vectors.h"
#include "runtime/launch/native/native.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ANSWER_MS 5000 /* a daemon that hangs runs nothing either */

/* Why the native engine runs nothing here, and what mends that. */
struct obstacle {
	const char *why, *remedy;
};

static bool fail_for(struct arena *a, const struct err *err, enum doctor_id id,
		     struct obstacle *out)
{
	*out = (struct obstacle){arena_cstr(a, str_of(err->text)),
				 doctor_remedy(id)};
	return false;
}

/* Where names alone are granted there is no need for a tap, and where masks are
 * mounts none for a view. */
static void find_needs(struct arena *a, const struct plan *plan, bool *out_tap,
		       bool *out_view)
{
	const struct plan_file *f = plan_file(plan, PLAN_NATIVE);
	struct vectors v;
	struct err ignored;
	bool known = f && vectors_parse(a, f->data, &v, &ignored) == 0;

	*out_tap = !known || !v.sockets;
	*out_view = !known || v.view.image;
}

/* What it starts, as far as looking tells. */
static bool has_programs(struct arena *a, const struct plan *plan, bool tap,
			 struct obstacle *out)
{
	const char *folder;
	struct err err;

	if (native_programs_folder(a, &folder, &err) < 0)
		return fail_for(a, &err, DOCTOR_NATIVE_PROGRAMS, out);
	if (plan_file(plan, PLAN_GATE) &&
	    access(DOCTOR_HAPROXY_PATH, X_OK) < 0) {
		err_errno(&err, DOCTOR_HAPROXY_PATH);
		return fail_for(a, &err, DOCTOR_NATIVE_HAPROXY, out);
	}
	if (!tap)
		return true;
	if (!native_uplink_program(a)) {
		err_set(&err, -ENOENT, "neither pasta nor slirp4netns is here");
		return fail_for(a, &err, DOCTOR_NATIVE_UPLINK, out);
	}
	if (access("/dev/net/tun", R_OK | W_OK) < 0) {
		err_errno(&err, "/dev/net/tun");
		return fail_for(a, &err, DOCTOR_NATIVE_TAP, out);
	}
	return true;
}

static bool works_natively(struct arena *a, const struct plan *plan,
			   struct obstacle *out)
{
	enum try_step step;
	struct try_host host;
	bool tap, view;
	struct err err;
	int rc;

	find_needs(a, plan, &tap, &view);
	if (!has_programs(a, plan, tap, out))
		return false;
	rc = try_start(a, view, tap, &step, &host, &err);
	if (rc == 0)
		return true;
	*out = (struct obstacle){arena_cstr(a, str_of(err.text)),
				 doctor_step_remedy(&host, step, rc)};
	return false;
}

static bool has_docker(struct arena *a, struct err *err)
{
	struct endpoint at = {0};
	struct docker *d = NULL;
	int rc = endpoint_find(a, endpoint_getenv, &at, err);

	at.timeout_ms = ANSWER_MS;
	if (rc == 0)
		rc = docker_open(a, &at, &d, err);
	docker_close(d);
	return rc == 0;
}

static bool try_both(struct arena *a, const struct plan *plan, bool *out_native)
{
	struct obstacle o;
	struct err err;

	*out_native = works_natively(a, plan, &o);
	if (*out_native)
		return true;
	if (has_docker(a, &err)) {
		console_error(
			"docker runs this: the native engine does not work here: %s\n"
			"  what mends that: %s",
			view_cleaned(a, str_of(o.why)).p, o.remedy);
		return true;
	}
	console_error("no engine works here\n"
		      "  native: %s\n"
		      "    what mends that: %s\n"
		      "  docker: %s\n"
		      "  'membrane doctor' tries all that each of them needs",
		      view_cleaned(a, str_of(o.why)).p, o.remedy,
		      view_cleaned(a, str_of(err.text)).p);
	return false;
}

enum ir_engine choice_named(void)
{
	static const enum ir_engine all[] = {IR_ENGINE_DOCKER,
					     IR_ENGINE_NATIVE};
	const char *named = getenv(CHOICE_ENV);

	for (size_t i = 0; named && i < ARRAY_LEN(all); i++)
		if (strcmp(named, ir_engine_name(all[i])) == 0)
			return all[i];
	return IR_ENGINE_AUTO;
}

static bool check_native(struct arena *a, const struct ir_policy *p,
			 struct diags *diags)
{
	struct native_obstacle o;

	if (!native_obstacle(a, p, &o))
		return true;
	diag_error(diags, DIAG_NEEDS_ENGINE, o.at,
		   CHOICE_ENV " is 'native', which cannot hold this: %.*s",
		   STR_ARG(o.text));
	diag_help(diags,
		  native_if_named(a, diags->sources, p)
			  ? "'engine: native' in the policy, or --engine native, runs it by what this machine has; or unset " CHOICE_ENV
			  : "unset " CHOICE_ENV
			    ", or leave out what is docker's");
	return false;
}

bool choice_check(struct arena *a, const struct ir_policy *p,
		  const struct plan *plan, struct diags *diags)
{
	struct natively own;

	if (p->engine.v != IR_ENGINE_AUTO)
		return true;
	if (choice_named() == IR_ENGINE_NATIVE && !plan_file(plan, PLAN_NATIVE))
		return check_native(a, p, diags);
	if (choice_named() != IR_ENGINE_DOCKER ||
	    plan_file(plan, PLAN_DOCKER) || !natively_alone(p, 0, &own))
		return true;
	diag_error(diags, DIAG_NEEDS_ENGINE, own.from.at,
		   CHOICE_ENV " is 'docker', and %s is the native engine's",
		   own.what);
	diag_help(diags, "unset " CHOICE_ENV ", or write %s", own.instead);
	return false;
}

bool choice_expects_native(struct arena *a, const struct plan *plan)
{
	struct obstacle ignored;

	if (!plan_file(plan, PLAN_NATIVE) || !plan_file(plan, PLAN_DOCKER))
		return plan_file(plan, PLAN_NATIVE);
	switch (choice_named()) {
	case IR_ENGINE_DOCKER:
		return false;
	case IR_ENGINE_NATIVE:
		return true;
	case IR_ENGINE_AUTO:
		break;
	}
	return works_natively(a, plan, &ignored);
}

bool choice_make(struct arena *a, const struct plan *plan, bool *out_native)
{
	bool native = plan_file(plan, PLAN_NATIVE),
	     docker = plan_file(plan, PLAN_DOCKER);
	const char *named = getenv(CHOICE_ENV);

	*out_native = native;
	if (!native || !docker)
		return true;
	switch (choice_named()) {
	case IR_ENGINE_DOCKER:
		*out_native = false;
		return true;
	case IR_ENGINE_NATIVE:
		return true;
	case IR_ENGINE_AUTO:
		break;
	}
	if (!named || !*named || strcmp(named, "auto") == 0)
		return try_both(a, plan, out_native);
	console_error(CHOICE_ENV " is 'docker' or 'native', and not '%s'",
		      view_cleaned(a, str_of(named)).p);
	return false;
}
