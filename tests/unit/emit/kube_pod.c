/*
 * The Pod: what of it is the policy's, the command line's, or that of one
 * session. What is the same in each is in tests/cases/kubernetes-*.
 */
#include "tests/unit/emit/kube.h"

static struct arena *a;

/* --- a tree as lines: "spec.containers[0].name=agent" -----------------------
 */

static const char *path_below(const struct kube_node *n, const char *path,
			      unsigned i)
{
	return n->key ? arena_fmt(a, "%s%s%s", path, *path ? "." : "", n->key).p
		      : arena_fmt(a, "%s[%u]", path, i).p;
}

static void add_lines(struct buf *b, const struct kube_node *n,
		      const char *path)
{
	unsigned i = 0;

	if (n->kind == KUBE_NODE_BOOL)
		buf_addf(b, "%s=%s\n", path, n->truth ? "true" : "false");
	else if (n->kind == KUBE_NODE_TEXT || n->kind == KUBE_NODE_NUMBER)
		buf_addf(b, "%s=%.*s\n", path, STR_ARG(n->text));
	else if (n->items.n == 0)
		buf_addf(b, "%s=\n", path);
	vec_each(item, &n->items)
		add_lines(b, *item, path_below(*item, path, i++));
}

static void check_tree(const char *of, const struct kube_node *root,
		       const char *lines)
{
	struct buf b;

	buf_init(&b, a);
	add_lines(&b, root, "");
	check_lines(a, of, buf_keep(&b), lines);
}

#define AGENT "spec.containers[0]."

struct row {
	const char *policy, *lines;
};

static void check_rows(const struct row *rows, size_t n, enum kube_work work)
{
	for (size_t i = 0; i < n; i++) {
		struct kube_rig t;
		struct kube k;

		kube_rig_body(&t, a, rows[i].policy);
		t.options.work = work;
		t.options.work_of = STR("https://git.example.com/a.git");
		CHECK(kube_check(&t.c.in));
		k = kube_begin(&t.c.in, "0123");
		check_tree(rows[i].policy, kube_pod_tree(&k), rows[i].lines);
		kube_rig_done(&t);
	}
}

/* --- of the policy ---------------------------------------------------------
 */

static const struct row policies[] = {
	{"", AGENT "securityContext.runAsGroup=1000\n" AGENT
		   "securityContext.runAsUser=1000\n"
		   "spec.securityContext.fsGroup=1000\n"
		   "!" AGENT "resources\n"
		   "!" AGENT "args\n"
		   "!" AGENT "stdin\n"},
	{"hardening: {user: \"7\"}\n", AGENT
	 "securityContext.runAsGroup=7\n" AGENT "securityContext.runAsUser=7\n"
	 "spec.securityContext.fsGroup=7\n"},
	{"hardening: {user: \"7:8\"}\n", AGENT
	 "securityContext.runAsGroup=8\n" AGENT "securityContext.runAsUser=7\n"
	 "spec.securityContext.fsGroup=8\n"},
	{"hardening: {memory: 1g}\n",
	 AGENT "resources.limits.memory=1073741824\n"
	       "!" AGENT "resources.limits.cpu\n"},
	{"hardening: {cpus: 1.5}\n",
	 AGENT "resources.limits.cpu=1500m\n"
	       "!" AGENT "resources.limits.memory\n"},
	{"hardening: {cpus: 2, memory: 6m}\n",
	 AGENT "resources.limits.cpu=2000m\n" AGENT
	       "resources.limits.memory=6291456\n"},
	/* a folder of the policy's own stands in the place of a usual one */
	{"hardening: {tmpfs: [\"/tmp:size=1m\", /scratch, /tmpx]}\n",
	 AGENT "volumeMounts[2].name=run\n" AGENT
	       "volumeMounts[3].name=var-tmp\n" AGENT
	       "volumeMounts[4].name=tmpfs-1\n" AGENT
	       "volumeMounts[4].mountPath=/tmp\n" AGENT
	       "volumeMounts[5].name=tmpfs-2\n" AGENT
	       "volumeMounts[5].mountPath=/scratch\n" AGENT
	       "volumeMounts[6].name=tmpfs-3\n" AGENT
	       "volumeMounts[6].mountPath=/tmpx\n"
	       "!" AGENT "volumeMounts[7]\n"
	       "spec.volumes[4].name=run\n"
	       "spec.volumes[5].name=var-tmp\n"
	       "spec.volumes[6].name=tmpfs-1\n"
	       "spec.volumes[6].emptyDir.medium=Memory\n"
	       "spec.volumes[6].emptyDir.sizeLimit=1048576\n"
	       "spec.volumes[7].name=tmpfs-2\n"
	       "spec.volumes[7].emptyDir.medium=Memory\n"
	       "spec.volumes[8].name=tmpfs-3\n"
	       "!spec.volumes[7].emptyDir.sizeLimit\n"
	       "!spec.volumes[9]\n"},
};

/* What is kept of a clone lies in its tree, of a volume in its root. */
static const struct row cloned[] = {
	{"readonly: [/a/, b/c]\n",
	 AGENT "volumeMounts[0].subPath=tree\n" AGENT
	       "volumeMounts[1].mountPath=/workspace/a\n" AGENT
	       "volumeMounts[1].readOnly=true\n" AGENT
	       "volumeMounts[1].subPath=tree/a\n" AGENT
	       "volumeMounts[2].mountPath=/workspace/b/c\n" AGENT
	       "volumeMounts[2].subPath=tree/b/c\n"},
	/* the same path twice is one mount */
	{"readonly: [/a, /a, /a/]\n",
	 AGENT "volumeMounts[1].mountPath=/workspace/a\n" AGENT
	       "volumeMounts[2].name=home\n"},
};
static const struct row claimed[] = {
	{"readonly: [/a/, b/c]\n",
	 AGENT "volumeMounts[1].mountPath=/workspace/a\n" AGENT
	       "volumeMounts[1].subPath=a\n" AGENT
	       "volumeMounts[2].mountPath=/workspace/b/c\n" AGENT
	       "volumeMounts[2].subPath=b/c\n"
	       "!" AGENT "volumeMounts[0].subPath\n"},
};

/* What the floor keeps has no mount, and takes none from who asks for it. */
static void kept_by_floor(void)
{
	struct ir_pattern *first;
	struct kube_rig t;
	struct kube k;

	kube_rig_body(&t, a, "readonly: [/a]\n");
	first = t.c.policy.readonly.v;
	CHECK(first->from.layer == LAYER_FLOOR);
	first->line = STR("/a");
	k = kube_begin(&t.c.in, "0123");
	check_tree("floor", kube_pod_tree(&k),
		   AGENT "volumeMounts[1].mountPath=/workspace/a\n" AGENT
			 "volumeMounts[2].name=home\n");
	kube_rig_done(&t);
}

/* --- of one session --------------------------------------------------------
 */

static void check_run(const struct kube_run *run, const char *lines)
{
	struct kube_rig t;
	struct kube k;

	kube_rig_body(&t, a, "");
	t.options.run = run;
	k = kube_begin(&t.c.in, "0123");
	check_tree("run", kube_pod_tree(&k), lines);
	kube_rig_done(&t);
}

static void sessions(void)
{
	static char *const none[] = {NULL};
	static char sh[] = "sh", dollar[] = "$(A)";
	static char *const words[] = {sh, dollar, NULL};

	check_run(NULL, "metadata.name=agent\n"
			"!metadata.labels.membrane/session\n");
	check_run(&(struct kube_run){.id = STR("abc"), .command = none},
		  "metadata.name=agent-abc\n"
		  "metadata.labels.membrane/session=abc\n"
		  "!" AGENT "args\n"
		  "!" AGENT "stdin\n"
		  "!" AGENT "tty\n");
	check_run(&(struct kube_run){.id = STR("abc"),
				     .command = words,
				     .input = true},
		  AGENT "args[0]=sh\n" AGENT "args[1]=$$(A)\n" AGENT
			"stdin=true\n" AGENT "stdinOnce=true\n"
			"!" AGENT "args[2]\n"
			"!" AGENT "tty\n");
	check_run(
		&(struct kube_run){
			.id = STR("abc"), .command = none, .tty = true},
		AGENT "stdin=true\n" AGENT "stdinOnce=true\n" AGENT "tty=true\n"
		      "!" AGENT "args\n");
}

/* --- of the command line ---------------------------------------------------
 */

/* Where the gate is, and what the agent asks for names. */
static void check_options(enum kube_topology topology,
			  enum kube_sidecar sidecar, const char *lines)
{
	struct kube_rig t;
	struct kube k;

	kube_rig_body(&t, a, "");
	t.options.topology = topology;
	t.options.sidecar = sidecar;
	if (topology == KUBE_APART)
		CHECK(!kube_gate_at_parse(STR("10.96.0.53,fd00::53"),
					  &t.options));
	k = kube_begin(&t.c.in, "0123");
	check_tree("options", kube_pod_tree(&k), lines);
	kube_rig_done(&t);
}

static void topologies(void)
{
	check_options(KUBE_WIRE, KUBE_SIDECAR_NATIVE,
		      AGENT "name=agent\n" AGENT
			    "livenessProbe.failureThreshold=2\n"
			    "spec.initContainers[0].name=fence\n"
			    "spec.initContainers[1].name=gate\n"
			    "!metadata.labels.membrane/role\n"
			    "!spec.containers[1]\n"
			    "!spec.dnsConfig.nameservers[1]\n");
	check_options(KUBE_WIRE, KUBE_SIDECAR_CONTAINER,
		      "spec.containers[0].name=gate\n"
		      "spec.containers[1].name=agent\n"
		      "spec.initContainers[0].name=fence\n"
		      "!spec.initContainers[1]\n");
	check_options(KUBE_APART, KUBE_SIDECAR_NATIVE,
		      "metadata.labels.membrane/role=agent\n" AGENT
		      "name=agent\n"
		      "spec.dnsConfig.nameservers[0]=10.96.0.53\n"
		      "spec.dnsConfig.nameservers[1]=fd00::53\n"
		      "spec.initContainers=\n"
		      "!spec.dnsConfig.nameservers[2]\n"
		      "!" AGENT "livenessProbe\n"
		      "!spec.containers[1]\n");
}

/* What makes Pods says how many, for how long, and of what. */
static void check_kind(struct kube_options options, const char *lines)
{
	struct kube_rig t;
	struct kube k;

	kube_rig_body(&t, a, "");
	options.name = t.options.name;
	options.gate_image = t.options.gate_image;
	t.options = options;
	CHECK(kube_check(&t.c.in));
	k = kube_begin(&t.c.in, "0123");
	check_tree(lines, kube_pod_tree(&k), lines);
	kube_rig_done(&t);
}

static void kinds(void)
{
	check_kind((struct kube_options){.deadline_s = 60},
		   "kind=Pod\nspec.activeDeadlineSeconds=60\n");
	check_kind((struct kube_options){.kind = KUBE_JOB,
					 .deadline_s = 60,
					 .completions = 3,
					 .parallelism = 2},
		   "kind=Job\n"
		   "spec.activeDeadlineSeconds=60\n"
		   "spec.backoffLimit=0\n"
		   "spec.completions=3\n"
		   "spec.parallelism=2\n"
		   "!spec.template.spec.activeDeadlineSeconds\n");
	check_kind((struct kube_options){.kind = KUBE_JOB},
		   "spec.backoffLimit=0\n"
		   "!spec.activeDeadlineSeconds\n"
		   "!spec.completions\n!spec.parallelism\n");
	check_kind(
		(struct kube_options){.kind = KUBE_DEPLOYMENT, .replicas = 2},
		"kind=Deployment\n"
		"spec.replicas=2\n"
		"spec.selector.matchLabels.app.kubernetes.io/name=agent\n"
		"spec.strategy.type=Recreate\n");
	check_kind((struct kube_options){.kind = KUBE_DEPLOYMENT},
		   "spec.replicas=1\n");
	check_kind((struct kube_options){.kind = KUBE_SANDBOX},
		   "kind=Sandbox\n!spec.envVars\n!spec.networkPolicy\n");
	check_kind((struct kube_options){.kind = KUBE_TEMPLATE},
		   "kind=SandboxTemplate\n"
		   "spec.envVarsInjectionPolicy=Disallowed\n"
		   "spec.networkPolicyManagement=Unmanaged\n");
}

int main(void)
{
	a = arena_new();
	kinds();
	check_rows(policies, ARRAY_LEN(policies), KUBE_WORK_EMPTY);
	check_rows(cloned, ARRAY_LEN(cloned), KUBE_WORK_GIT);
	check_rows(claimed, ARRAY_LEN(claimed), KUBE_WORK_CLAIM);
	kept_by_floor();
	sessions();
	topologies();
	arena_free(a);
	return check_status();
}
