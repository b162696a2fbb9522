/* The agent's container, restricted throughout, and its workspace. */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/emit/docker/agent.h"
#include "compiler/emit/gate/gate_cfg.h"

#include <inttypes.h>

#define HOME_AT "/home/agent"
#define WORK_AT "/workspace"
/* In the volume: a folder of the agent's own, because git asks whose it is. */
#define WORK_TREE "tree"
#define CLONE_AT  "/work"

static const char workspace_script[] =
#include "compiler/emit/kubernetes/workspace.sh.inc"
	;

bool kube_has_roots(const struct kube *k)
{
	return gate_cfg_decrypts(k->policy);
}

/* --- rights --------------------------------------------------------------- */

void kube_user(const struct kube *k, uint64_t *uid, uint64_t *gid)
{
	const ir_opt_str *user = &k->policy->hardening.user;
	size_t colon = str_find(user->v, ':', 0);

	/* Where there are any, kube_check() has seen that they are numbers. */
	*uid = 1000;
	ignore(str_u64(str_slice(user->v, 0, colon), UINT32_MAX, uid));
	*gid = *uid;
	ignore(str_u64(str_slice(user->v, colon + 1, user->v.n), UINT32_MAX,
		       gid));
}

static void put_seccomp(const struct kube *k, struct kube_node *s)
{
	struct kube_node *p = kube_tree_map(s, "seccompProfile");

	if (k->o->seccomp.n == 0) {
		kube_tree_word(p, "type", "RuntimeDefault");
		return;
	}
	kube_tree_word(p, "type", "Localhost");
	kube_tree_text(p, "localhostProfile", k->o->seccomp);
	kube_tree_flag(p, "--seccomp-profile");
}

static void put_rights(const struct kube *k, struct kube_node *c)
{
	static const char *const all[] = {"ALL", NULL};
	const ir_opt_str *user = &k->policy->hardening.user;
	struct kube_node *s = kube_tree_map(c, "securityContext"), *n[2];
	uint64_t uid, gid;

	kube_user(k, &uid, &gid);
	kube_tree_bool(s, "allowPrivilegeEscalation", false);
	kube_tree_words(kube_tree_map(s, "capabilities"), "drop", all);
	kube_tree_bool(s, "privileged", false);
	kube_tree_bool(s, "readOnlyRootFilesystem", true);
	n[0] = kube_tree_number(s, "runAsGroup", gid);
	kube_tree_bool(s, "runAsNonRoot", true);
	n[1] = kube_tree_number(s, "runAsUser", uid);
	for (size_t i = 0; i < ARRAY_LEN(n); i++)
		kube_tree_from(k->in, n[i], &user->from);
	put_seccomp(k, s);
}

static void put_cpu(const struct kube *k, struct kube_node *in)
{
	const ir_opt_u64 *cpus = &k->policy->hardening.cpus_milli;

	if (cpus->set)
		kube_tree_from(k->in,
			       kube_tree_text(in, "cpu",
					      arena_fmt(k->a, "%" PRIu64 "m",
							cpus->v)),
			       &cpus->from);
}

static void put_memory(const struct kube *k, struct kube_node *in)
{
	const ir_opt_u64 *memory = &k->policy->hardening.memory;

	if (memory->set)
		kube_tree_from(
			k->in,
			kube_tree_text(in, "memory",
				       arena_fmt(k->a, "%" PRIu64, memory->v)),
			&memory->from);
}

static void put_resources(const struct kube *k, struct kube_node *c)
{
	const struct ir_hardening *h = &k->policy->hardening;
	struct kube_node *r, *limits;

	if (!h->cpus_milli.set && !h->memory.set)
		return;
	r = kube_tree_map(c, "resources");
	limits = kube_tree_map(r, "limits");
	put_cpu(k, limits);
	put_memory(k, limits);
}

/* --- variables ------------------------------------------------------------ */

static void put_variable(struct kube_node *env, const char *name,
			 const char *value)
{
	struct kube_node *e = kube_tree_map(env, NULL);

	kube_tree_word(e, "name", name);
	kube_tree_word(e, "value", value);
}

/* Where programs look for roots. */
static void put_roots(const struct kube *k, struct kube_node *env)
{
	const struct agent_ca *ca;

	if (!kube_has_roots(k))
		return;
	for (size_t i = 0; (ca = agent_ca_at(i)); i++)
		put_variable(
			env, ca->name,
			arena_fmt(k->a, KUBE_AGENT_ROOTS_AT "/%s.pem", ca->file)
				.p);
}

static void put_environment(const struct kube *k, struct kube_node *c)
{
	struct kube_node *env = kube_tree_list(c, "env"), *e;

	put_variable(env, "HOME", HOME_AT);
	put_variable(env, "MEMBRANE", "1");
	e = kube_tree_map(env, NULL);
	kube_tree_word(e, "name", "MEMBRANE_SESSION");
	kube_tree_word(kube_tree_map(kube_tree_map(e, "valueFrom"), "fieldRef"),
		       "fieldPath", "metadata.uid");
	put_roots(k, env);
	kube_words_put(k, env);
}

/* --- mounts --------------------------------------------------------------- */

static struct kube_node *put_mount(struct kube_node *list, const char *name,
				   struct str at, bool read_only)
{
	struct kube_node *m = kube_tree_map(list, NULL);

	kube_tree_word(m, "name", name);
	kube_tree_text(m, "mountPath", at);
	if (read_only)
		kube_tree_bool(m, "readOnly", true);
	return m;
}

static bool is_cloned(const struct kube *k)
{
	return k->o->work == KUBE_WORK_GIT;
}

/* Of a line, from the workspace's root. */
static struct str kept_path(const struct ir_pattern *p)
{
	struct str path = str_unslashed(p->line);

	return str_slice(path, str_starts(path, STR("/")), path.n);
}

/* A Pod has one mount at a path, whoever asks for it. */
static bool is_kept_before(const struct kube *k, const struct ir_pattern *p)
{
	for (const struct ir_pattern *q = k->policy->readonly.v; q < p; q++)
		if (q->from.layer != LAYER_FLOOR &&
		    str_eq(kept_path(q), kept_path(p)))
			return true;
	return false;
}

/* A path that holds whether it is there or not: without one the kubelet makes
 * a folder, in which nobody can make anything. */
static void put_kept(const struct kube *k, struct kube_node *list)
{
	vec_each(r, &k->policy->readonly) {
		struct str path = kept_path(r);
		struct kube_node *m;

		if (r->from.layer == LAYER_FLOOR || is_kept_before(k, r))
			continue;
		m = put_mount(list, KUBE_VOLUME_WORK,
			      arena_fmt(k->a, WORK_AT "/%.*s", STR_ARG(path)),
			      true);
		kube_tree_text(m, "subPath",
			       is_cloned(k) ? arena_fmt(k->a, WORK_TREE "/%.*s",
							STR_ARG(path))
					    : path);
		kube_tree_from(k->in, m, &r->from);
	}
}

static const char *tmpfs_name(const struct kube *k, unsigned i)
{
	return arena_fmt(k->a, "tmpfs-%u", i + 1).p;
}

/* Folders that hardly a program lives without; the policy's own come first. */
static const struct {
	const char *name, *at, *size;
} usual[] = {
	{"home", HOME_AT, ""},
	{"run", "/run", "64Mi"},
	{"tmp", "/tmp", "1Gi"},
	{"var-tmp", "/var/tmp", "1Gi"},
};

/* kube_check() has seen that it is one. */
static struct str tmpfs_path(const struct ir_text *t, uint64_t *bytes)
{
	struct str path;

	ignore(kube_tmpfs(t->s, &path, bytes));
	return path;
}

static bool has_tmpfs(const struct kube *k, const char *at)
{
	uint64_t bytes;

	vec_each(t, &k->policy->hardening.tmpfs)
		if (str_is(tmpfs_path(t, &bytes), at))
			return true;
	return false;
}

static void put_folders(const struct kube *k, struct kube_node *list)
{
	unsigned n = 0;
	uint64_t bytes;

	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (!has_tmpfs(k, usual[i].at))
			put_mount(list, usual[i].name, str_of(usual[i].at),
				  false);
	vec_each(t, &k->policy->hardening.tmpfs)
		kube_tree_from(k->in,
			       put_mount(list, tmpfs_name(k, n++),
					 tmpfs_path(t, &bytes), false),
			       &t->from);
}

static void put_mounts(const struct kube *k, struct kube_node *c)
{
	struct kube_node *list = kube_tree_list(c, "volumeMounts"), *m;

	m = put_mount(list, KUBE_VOLUME_WORK, STR(WORK_AT), false);
	if (is_cloned(k))
		kube_tree_word(m, "subPath", WORK_TREE);
	kube_tree_flag(m, "--workspace-from");
	put_kept(k, list);
	put_folders(k, list);
	if (kube_has_roots(k))
		put_mount(list, KUBE_VOLUME_ROOTS, STR(KUBE_AGENT_ROOTS_AT),
			  true);
}

/* --- the container -------------------------------------------------------- */

static void put_image(const struct kube *k, struct kube_node *c)
{
	const ir_opt_str *image = &k->policy->image;

	kube_tree_from(k->in, kube_tree_text(c, "image", image->v),
		       &image->from);
	kube_tree_word(c, "imagePullPolicy", "IfNotPresent");
}

/* The wire goes with the gate: an agent that lives on has nothing to do. */
static void put_probe(struct kube_node *c)
{
	static const char *const there[] = {
		"/bin/sh", "-c", "test -e /sys/class/net/eth0", NULL};
	struct kube_node *p = kube_tree_map(c, "livenessProbe");

	kube_tree_words(kube_tree_map(p, "exec"), "command", there);
	kube_tree_number(p, "failureThreshold", 2);
	kube_tree_number(p, "periodSeconds", 5);
	kube_tree_number(p, "timeoutSeconds", 5);
}

/* Of `run`: as with docker, behind what the image begins with. */
static void put_command(const struct kube *k, struct kube_node *c)
{
	const struct kube_run *run = k->o->run;
	struct kube_node *l;

	if (!run || !run->command[0])
		return;
	l = kube_tree_list(c, "args");
	for (size_t i = 0; run->command[i]; i++)
		kube_tree_literal(l, NULL, str_of(run->command[i]));
}

static void put_streams(const struct kube *k, struct kube_node *c)
{
	const struct kube_run *run = k->o->run;

	if (!run || !(run->tty || run->input))
		return;
	kube_tree_bool(c, "stdin", true);
	kube_tree_bool(c, "stdinOnce", true);
	if (run->tty)
		kube_tree_bool(c, "tty", true);
}

void kube_agent_put(const struct kube *k, struct kube_node *list)
{
	struct kube_node *c = kube_tree_map(list, NULL);

	kube_tree_word(c, "name", "agent");
	put_image(k, c);
	put_command(k, c);
	put_streams(k, c);
	kube_tree_word(c, "workingDir", WORK_AT);
	put_environment(k, c);
	put_resources(k, c);
	put_rights(k, c);
	if (k->o->topology == KUBE_WIRE)
		put_probe(c);
	put_mounts(k, c);
}

/* --- what fills the workspace --------------------------------------------- */

static void put_patterns(const struct kube *k, struct kube_node *list)
{
	struct buf b;
	struct kube_node *n;

	buf_init(&b, k->a);
	vec_each(p, &k->policy->ignore)
		buf_addf(&b, "%s%.*s", p == k->policy->ignore.v ? "" : "\n",
			 STR_ARG(p->line));
	n = kube_tree_literal(list, NULL, buf_str(&b));
	vec_each(p, &k->policy->ignore)
		kube_tree_from(k->in, n, &p->from);
}

/* Values are words of the shell's, never part of what it reads. */
static void put_script(const struct kube *k, struct kube_node *c)
{
	struct kube_node *l = kube_tree_list(c, "command");

	kube_tree_word(l, NULL, "/bin/sh");
	kube_tree_word(l, NULL, "-c");
	kube_tree_literal(l, NULL, STR(workspace_script));
	kube_tree_word(l, NULL, "workspace");
	kube_tree_flag(kube_tree_literal(l, NULL, k->o->work_of),
		       "--workspace-from");
	kube_tree_word(l, NULL, CLONE_AT "/" WORK_TREE);
	kube_tree_flag(kube_tree_literal(l, NULL, k->o->work_ref),
		       "--workspace-from");
	put_patterns(k, l);
}

void kube_work_put(const struct kube *k, struct kube_node *list)
{
	struct kube_node *c, *mounts;

	if (!is_cloned(k))
		return;
	c = kube_tree_map(list, NULL);
	kube_tree_word(c, "name", "workspace");
	put_image(k, c);
	put_script(k, c);
	put_environment(k, c);
	put_resources(k, c);
	put_rights(k, c);
	mounts = kube_tree_list(c, "volumeMounts");
	put_mount(mounts, KUBE_VOLUME_WORK, STR(CLONE_AT), false);
	put_folders(k, mounts);
	if (kube_has_roots(k))
		put_mount(mounts, KUBE_VOLUME_ROOTS, STR(KUBE_AGENT_ROOTS_AT),
			  true);
}

/* --- volumes -------------------------------------------------------------- */

static void put_work(const struct kube *k, struct kube_node *list)
{
	struct kube_node *v = kube_tree_map(list, NULL);

	kube_tree_word(v, "name", KUBE_VOLUME_WORK);
	switch (k->o->work) {
	case KUBE_WORK_EMPTY:
	case KUBE_WORK_GIT:
		kube_tree_map(v, "emptyDir");
		break;
	case KUBE_WORK_CLAIM:
		kube_tree_text(kube_tree_map(v, "persistentVolumeClaim"),
			       "claimName", k->o->work_of);
		break;
	}
	kube_tree_flag(v, "--workspace-from");
}

static void put_tmpfs(const struct kube *k, struct kube_node *list,
		      const struct ir_text *t, unsigned i)
{
	struct kube_node *v = kube_tree_map(list, NULL), *e;
	uint64_t bytes;

	kube_tree_word(v, "name", tmpfs_name(k, i));
	e = kube_tree_map(v, "emptyDir");
	kube_tree_word(e, "medium", "Memory");
	(void)tmpfs_path(t, &bytes);
	if (bytes)
		kube_tree_text(e, "sizeLimit",
			       arena_fmt(k->a, "%" PRIu64, bytes));
	kube_tree_from(k->in, v, &t->from);
}

void kube_agent_volumes(const struct kube *k, struct kube_node *list)
{
	unsigned n = 0;

	put_work(k, list);
	for (size_t i = 0; i < ARRAY_LEN(usual); i++) {
		struct kube_node *v, *e;

		if (has_tmpfs(k, usual[i].at))
			continue;
		v = kube_tree_map(list, NULL);
		kube_tree_word(v, "name", usual[i].name);
		e = kube_tree_map(v, "emptyDir");
		if (*usual[i].size)
			kube_tree_word(e, "sizeLimit", usual[i].size);
	}
	vec_each(t, &k->policy->hardening.tmpfs)
		put_tmpfs(k, list, t, n++);
}
