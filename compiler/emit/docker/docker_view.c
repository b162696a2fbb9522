/*
 * The view's part of docker.json: where masks hold at every access, the agent's
 * workspace is a file system that a program in a container of its own serves.
 */
#include "compiler/emit/docker/parts.h"

#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/gate.h"

#define SESSION_VIEW "{state}/sessions/{session}/" DOCKER_JSON_VIEW_FOLDER

/*
 * SYS_ADMIN mounts, and unmounts what the agent has by then as its own; the
 * rest is for the program's second half, which serves as the workspace's owner
 * and with no capability. AppArmor's default profile lets no container mount.
 */
static void put_view_rights(struct argv *w)
{
	static const char *const caps[] = {"SYS_ADMIN", "SETUID", "SETGID",
					   "SETPCAP"};

	argv_put(w, "--network=none");
	argv_put(w, "--cap-drop=ALL");
	for (size_t i = 0; i < ARRAY_LEN(caps); i++)
		argv_value(w, "cap-add", str_of(caps[i]));
	argv_put(w, "--device=/dev/fuse");
	argv_put(w, "--security-opt=no-new-privileges");
	argv_put(w, "--security-opt=apparmor=unconfined");
	argv_put(w, "--read-only");
	argv_put(w, "--pids-limit=16");
	argv_put(w, "--memory=512m");
	if (w->in->policy->protect.n == 0)
		return;
	/* Who asks is a process of the host's, and what program it runs takes a
	 * right to see; the program that answers the agent has neither. */
	argv_put(w, "--pid=host");
	argv_value(w, "cap-add", STR("SYS_PTRACE"));
}

void docker_view_put(struct argv *w, cJSON *root)
{
	if (!ir_masks_hold(w->in->policy))
		return;
	argv_begin(w, &(struct argv_run){.image = STR(DOCKER_JSON_IMAGE_VIEW),
					 .name = DOCKER_JSON_VIEW,
					 .input = "--interactive"});
	put_view_rights(w);
	argv_put(w, "--mount=type=bind,source={workspace},target=/source");
	argv_put(w, DOCKER_JSON_REPOSITORY_VIEW);
	if (w->in->policy->protect.n)
		argv_put(w, "--mount=type=bind,source={home},target=/home");
	/* What is mounted there appears on the host, for the agent to get. */
	argv_put(w, "--mount=type=bind,source=" SESSION_VIEW
		    ",target=/view,bind-propagation=rshared");
	argv_plan(w);
	argv_image(w);
	argv_put(w, GATE_PLAN "/" PLAN_MOUNTS);
	argv_put(w, "/source");
	argv_put(w, "/view/" DOCKER_JSON_VIEW_MOUNT);
	if (w->in->policy->protect.n) {
		argv_put(w, "/home");
		argv_put(w, "/view/" DOCKER_JSON_VIEW_HOME);
	}
	json_put(root, DOCKER_JSON_VIEW, argv_end(w));
}

const char *docker_view_workspace(const struct ir_policy *p)
{
	return ir_masks_hold(p)
		       ? "--mount=type=bind,source=" SESSION_VIEW
			 "/" DOCKER_JSON_VIEW_MOUNT ",target=/workspace"
		       : "--mount=type=bind,source={workspace},target=/workspace";
}

const char *docker_view_home(const struct ir_policy *p)
{
	return p->protect.n
		       ? "--mount=type=bind,source=" SESSION_VIEW
			 "/" DOCKER_JSON_VIEW_HOME ",target=/home/agent"
		       : "--mount=type=bind,source={home},target=/home/agent";
}

/* What an image may have set, and what would bring code into the main process.
 */
static const char *const loaders[] = {
	"BASH_ENV",	   "ENV",	   "GCONV_PATH", "LD_AUDIT",
	"LD_LIBRARY_PATH", "NODE_OPTIONS", "PYTHONHOME", "PYTHONPATH",
	"PYTHONSTARTUP",
};

void docker_view_seal(struct argv *w)
{
	if (w->in->policy->protect.n == 0)
		return;
	argv_put(
		w,
		"--mount=type=bind,source={state}/sessions/{session}/" DOCKER_JSON_SEAL
		",target=" DOCKER_JSON_SEAL_AT ",readonly");
	argv_put(w, "--env=LD_PRELOAD=" DOCKER_JSON_SEAL_AT);
	for (size_t i = 0; i < ARRAY_LEN(loaders); i++)
		argv_put(w, arena_fmt(w->in->a, "--env=%s=", loaders[i]).p);
}
