/*
 * The tracer's part of docker.json: the built-in one, or Tracee with the vector
 * that asks it for its version.
 */
#include "compiler/emit/docker/parts.h"

#include "compiler/ir/tracee.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"

/*
 * Tracee's own program, not the image's script around it: that would not pass
 * the signal on which Tracee writes what is left.
 */
static void put_tracee_program(struct argv *w)
{
	argv_put(w, "--entrypoint=/tracee/tracee");
	argv_image(w);
}

/* What it says of itself; a tag can be put on anything. */
static cJSON *tracee_version(struct argv *w, struct str image)
{
	argv_begin(w, &(struct argv_run){.image = image,
					 .name = DOCKER_JSON_TRACER "-version",
					 .role = "version"});
	argv_put(w, "--network=none");
	argv_put(w, "--cap-drop=ALL");
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	put_tracee_program(w);
	argv_put(w, "version");
	return argv_end(w);
}

/*
 * The host's processes and cgroups are what it tells containers by. It gets
 * what its list of least privileges names (docs/install/prerequisites, with
 * SYS_ADMIN: where perf_event_paranoid is 2 or more, as on most hosts, its
 * code does not use BPF and PERFMON), and of AppArmor's default profile
 * nothing, which lets it look at no process but its own. No Docker socket: it
 * would only look up names and images.
 */
static void put_tracee_rights(struct argv *w)
{
	static const char *const caps[] = {
		"IPC_LOCK",  "NET_ADMIN",  "SETPCAP",	   "SYSLOG",
		"SYS_ADMIN", "SYS_PTRACE", "SYS_RESOURCE",
	};

	argv_put(w, "--network=none");
	argv_put(w, "--pid=host");
	argv_put(w, "--cgroupns=host");
	argv_put(w, "--cap-drop=ALL");
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		argv_value(w, "cap-add", str_of(caps[i]));
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--security-opt=apparmor=unconfined");
	argv_put(w, "--read-only");
	argv_put(w, "--tmpfs=/tmp:mode=755,size=64m");
	argv_put(w, "--pids-limit=512");
	argv_put(w, "--memory=1g");
}

static cJSON *tracee_vector(struct argv *w, struct str image, unsigned release)
{
	/* It gets near to everything: what is not here is not fetched. */
	argv_begin(w, &(struct argv_run){.image = image,
					 .name = DOCKER_JSON_TRACER});
	put_tracee_rights(w);
	argv_put(
		w,
		"--mount=type=bind,source=/etc/os-release,target=/etc/os-release-host,readonly");
	argv_put(w, "--env=LIBBPFGO_OSRELEASE_FILE=/etc/os-release-host");
	argv_plan(w);
	put_tracee_program(w);
	argv_put(w, "--policy");
	argv_put(w, GATE_PLAN "/" PLAN_TRACEE);
	argv_put(w, "--output");
	argv_put(w, "json");
	/* That it is ready, and what it cannot record, it says only so. */
	argv_put(w, "--log");
	argv_put(w, "debug");
	if (release < TRACEE_RELEASE_CONTAINERS) {
		argv_put(w, "--no-containers");
	} else {
		argv_put(w, "--containers");
		argv_put(w, "enrich=false");
	}
	return argv_end(w);
}

static void put_tracee(struct argv *w, cJSON *root)
{
	const struct ir_trace *t = &w->in->policy->trace;
	struct str version =
		t->version.set ? t->version.v : STR(TRACEE_DEFAULT_VERSION);
	struct str image =
		arena_fmt(w->in->a, "aquasec/tracee:%.*s", STR_ARG(version));
	unsigned release = TRACEE_RELEASE_DEFAULT;

	/* Known: passes/trace refuses any other. */
	ignore(tracee_release(version, &release));
	json_put(root, DOCKER_JSON_TRACER, tracee_vector(w, image, release));
	json_put(root, DOCKER_JSON_TRACER_VERSION, tracee_version(w, image));
}

/*
 * The built-in tracer sees the whole kernel, so it gets nothing else: no
 * network, no file but the plan, no process but itself. {tracing} is the least
 * that the running Docker can give for loading programs.
 */
static cJSON *watch_vector(struct argv *w)
{
	argv_begin(w, &(struct argv_run){.image = STR(DOCKER_JSON_IMAGE_WATCH),
					 .name = DOCKER_JSON_TRACER,
					 .input = "--interactive"});
	argv_put(w, "--network=none");
	argv_put(w, "--cap-drop=ALL");
	argv_put(w, DOCKER_JSON_TRACING);
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--read-only");
	argv_put(w, "--pids-limit=16");
	argv_put(w, "--memory=512m");
	argv_plan(w);
	argv_image(w);
	return argv_end(w);
}

void docker_tracer_put(struct argv *w, cJSON *root)
{
	switch (w->in->policy->trace.engine.v) {
	case IR_TRACE_NATIVE:
		json_put(root, DOCKER_JSON_TRACER, watch_vector(w));
		return;
	case IR_TRACE_TRACEE:
		put_tracee(w, root);
		return;
	case IR_TRACE_OFF:
		return;
	}
}
