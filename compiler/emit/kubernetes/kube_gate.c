/* The containers that are the gate's: what shuts the Pod, and the gate. */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/ir/published.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/kubernetes_json.h"

#include <stdlib.h>

/* A container of the gate's image, as far as both are the same. */
static struct kube_node *begin_gate(const struct kube *k,
				    struct kube_node *list, const char *name)
{
	struct kube_node *c = kube_tree_map(list, NULL), *image;

	kube_tree_word(c, "name", name);
	image = kube_tree_text(c, "image", k->o->gate_image);
	kube_tree_flag(image, "--gate-image");
	kube_tree_word(c, "imagePullPolicy", "IfNotPresent");
	return c;
}

/* Restricted, as the agent is: it has neither an interface nor a ruleset. */
static void put_no_rights(struct kube_node *c)
{
	static const char *const all[] = {"ALL", NULL};
	struct kube_node *s = kube_tree_map(c, "securityContext");

	kube_tree_bool(s, "allowPrivilegeEscalation", false);
	kube_tree_words(kube_tree_map(s, "capabilities"), "drop", all);
	kube_tree_bool(s, "privileged", false);
	kube_tree_bool(s, "readOnlyRootFilesystem", true);
	kube_tree_number(s, "runAsGroup", GATE_UID);
	kube_tree_bool(s, "runAsNonRoot", true);
	kube_tree_number(s, "runAsUser", GATE_UID);
	kube_tree_word(kube_tree_map(s, "seccompProfile"), "type",
		       "RuntimeDefault");
}

/* Root, because the kernel asks for rights that only root's programs keep. */
static void put_rights(struct kube_node *c, const char *const *capabilities,
		       bool may_escalate)
{
	static const char *const all[] = {"ALL", NULL};
	struct kube_node *s = kube_tree_map(c, "securityContext"), *caps;

	/* The API refuses "false" beside SYS_ADMIN; the gate says it of itself
	 * (PR_SET_NO_NEW_PRIVS). */
	if (!may_escalate)
		kube_tree_bool(s, "allowPrivilegeEscalation", false);
	caps = kube_tree_map(s, "capabilities");
	kube_tree_words(caps, "add", capabilities);
	kube_tree_words(caps, "drop", all);
	kube_tree_bool(s, "privileged", false);
	kube_tree_bool(s, "readOnlyRootFilesystem", true);
	kube_tree_number(s, "runAsGroup", 0);
	kube_tree_bool(s, "runAsNonRoot", false);
	kube_tree_number(s, "runAsUser", 0);
	kube_tree_word(kube_tree_map(s, "seccompProfile"), "type",
		       "RuntimeDefault");
}

static void put_resources(struct kube_node *c, const char *cpu,
			  const char *memory, const char *most)
{
	struct kube_node *r = kube_tree_map(c, "resources"), *m;

	kube_tree_word(kube_tree_map(r, "limits"), "memory", most);
	m = kube_tree_map(r, "requests");
	kube_tree_word(m, "cpu", cpu);
	kube_tree_word(m, "memory", memory);
}

void kube_fence_put(const struct kube *k, struct kube_node *list)
{
	static const char *const command[] = {KUBERNETES_JSON_GATE,
					      KUBERNETES_JSON_FENCE, NULL};
	static const char *const capabilities[] = {"NET_ADMIN", NULL};
	struct kube_node *c = begin_gate(k, list, "fence");

	kube_tree_words(c, "command", command);
	put_resources(c, "10m", "16Mi", "64Mi");
	put_rights(c, capabilities, false);
}

static void put_command(const struct kube *k, struct kube_node *c)
{
	struct kube_node *l = kube_tree_list(c, "command");

	kube_tree_word(l, NULL, KUBERNETES_JSON_GATE);
	kube_tree_word(l, NULL, KUBERNETES_JSON_LINK);
	kube_tree_word(l, NULL,
		       k->o->topology == KUBE_APART ? KUBERNETES_JSON_APART
						    : KUBERNETES_JSON_WIRE);
	kube_tree_word(l, NULL, KUBERNETES_JSON_PLAN);
	kube_tree_word(l, NULL, GATE_PLAN);
	kube_tree_word(l, NULL, KUBERNETES_JSON_DIGEST);
	kube_tree_word(l, NULL, k->digest);
	if (k->policy->credentials.n) {
		kube_tree_word(l, NULL, KUBERNETES_JSON_SECRETS);
		kube_tree_word(l, NULL, KUBE_SECRETS_AT);
	}
	if (kube_has_roots(k)) {
		kube_tree_word(l, NULL, KUBERNETES_JSON_ROOTS);
		kube_tree_word(l, NULL, KUBE_ROOTS_AT);
	}
}

static void put_field(struct kube_node *env, const char *name, const char *path)
{
	struct kube_node *e = kube_tree_map(env, NULL);

	kube_tree_word(e, "name", name);
	kube_tree_word(kube_tree_map(kube_tree_map(e, "valueFrom"), "fieldRef"),
		       "fieldPath", path);
}

/* status.hostIPs is as young as a sidecar that goes on. */
static void put_environment(const struct kube *k, struct kube_node *c)
{
	struct kube_node *env = kube_tree_list(c, "env");

	put_field(env, KUBERNETES_JSON_SESSION, "metadata.uid");
	put_field(env, KUBERNETES_JSON_HOSTS,
		  k->o->sidecar == KUBE_SIDECAR_NATIVE ? "status.hostIPs"
						       : "status.hostIP");
}

/* Those that Services and probes speak of: the Pod's address is the gate's. */
static void put_ports(const struct kube *k, struct kube_node *c)
{
	struct kube_node *list;

	if (k->policy->ports.n == 0)
		return;
	list = kube_tree_list(c, "ports");
	vec_each(t, &k->policy->ports) {
		struct ir_published p;
		struct kube_node *item;

		if (published_parse(t->s, &p))
			abort(); /* bound, or of a policy.json that was */
		item = kube_tree_map(list, NULL);
		kube_tree_number(item, "containerPort", p.to);
		kube_tree_word(item, "protocol", "TCP");
		kube_tree_from(k->in, item, &t->from);
	}
}

static void put_probe(struct kube_node *c, const char *kind, unsigned failures,
		      unsigned period_s)
{
	static const char *const ready[] = {KUBERNETES_JSON_GATE,
					    KUBERNETES_JSON_READY, NULL};
	struct kube_node *p = kube_tree_map(c, kind);

	kube_tree_words(kube_tree_map(p, "exec"), "command", ready);
	kube_tree_number(p, "failureThreshold", failures);
	kube_tree_number(p, "periodSeconds", period_s);
	kube_tree_number(p, "timeoutSeconds", 5);
}

static void put_mount(struct kube_node *list, const char *name, const char *at,
		      bool read_only)
{
	struct kube_node *m = kube_tree_map(list, NULL);

	kube_tree_word(m, "name", name);
	kube_tree_word(m, "mountPath", at);
	if (read_only)
		kube_tree_bool(m, "readOnly", true);
}

static void put_mounts(const struct kube *k, struct kube_node *c)
{
	struct kube_node *list = kube_tree_list(c, "volumeMounts");

	put_mount(list, KUBE_VOLUME_PLAN, GATE_PLAN, true);
	put_mount(list, KUBE_VOLUME_RUN, GATE_DIR, false);
	if (k->policy->credentials.n)
		put_mount(list, KUBE_VOLUME_KEYS, KUBE_SECRETS_AT, true);
	if (kube_has_roots(k))
		put_mount(list, KUBE_VOLUME_ROOTS, KUBE_ROOTS_AT, false);
}

/* Its Service leads to it from the moment when it enforces. */
static void put_apart(const struct kube *k, struct kube_node *list)
{
	struct kube_node *c = begin_gate(k, list, "gate");

	put_command(k, c);
	put_environment(k, c);
	put_resources(c, "50m", "64Mi", "1Gi");
	put_no_rights(c);
	put_probe(c, "readinessProbe", 1, 5);
	put_probe(c, "startupProbe", 60, 1);
	put_mounts(k, c);
}

/* In the Pod of the agent. */
static void put_wire(const struct kube *k, struct kube_node *list)
{
	static const char *const capabilities[] = {
		"KILL",	   "NET_ADMIN", "NET_BIND_SERVICE", "SETGID",
		"SETPCAP", "SETUID",	"SYS_ADMIN",	    NULL};
	struct kube_node *c = begin_gate(k, list, "gate");

	put_command(k, c);
	put_environment(k, c);
	put_ports(k, c);
	put_resources(c, "50m", "64Mi", "1Gi");
	if (k->o->sidecar == KUBE_SIDECAR_NATIVE)
		kube_tree_flag(kube_tree_word(c, "restartPolicy", "Always"),
			       "--sidecar");
	put_rights(c, capabilities, true);
	put_probe(c, "startupProbe", 60, 1);
	put_mounts(k, c);
}

void kube_gate_put(const struct kube *k, struct kube_node *list)
{
	switch (k->o->topology) {
	case KUBE_WIRE:
		put_wire(k, list);
		return;
	case KUBE_APART:
		put_apart(k, list);
		return;
	}
	abort();
}

/* --- what is mounted there ------------------------------------------------ */

static void put_memory(struct kube_node *list, const char *name,
		       const char *size)
{
	struct kube_node *v = kube_tree_map(list, NULL), *e;

	kube_tree_word(v, "name", name);
	e = kube_tree_map(v, "emptyDir");
	kube_tree_word(e, "medium", "Memory");
	kube_tree_word(e, "sizeLimit", size);
}

/* Files by the credentials' numbers, as the launcher's line has them. */
static void put_secrets(const struct kube *k, struct kube_node *list)
{
	struct kube_node *v = kube_tree_map(list, NULL), *s, *items;
	unsigned n = 0;

	kube_tree_word(v, "name", KUBE_VOLUME_KEYS);
	s = kube_tree_map(v, "secret");
	kube_tree_text(
		s, "secretName",
		arena_fmt(k->a, "%.*s-credentials", STR_ARG(k->o->name)));
	kube_tree_number(s, "defaultMode", 0400);
	items = kube_tree_list(s, "items");
	vec_each(c, &k->policy->credentials) {
		struct kube_node *i = kube_tree_map(items, NULL);

		kube_tree_text(i, "key", c->source);
		kube_tree_text(i, "path", arena_fmt(k->a, "%u", ++n));
		kube_tree_from(k->in, i, &c->from);
	}
}

void kube_gate_volumes(const struct kube *k, struct kube_node *list)
{
	struct kube_node *v = kube_tree_map(list, NULL), *m;

	kube_tree_word(v, "name", KUBE_VOLUME_PLAN);
	m = kube_tree_map(v, "configMap");
	kube_tree_text(m, "name",
		       arena_fmt(k->a, KUBE_PLAN_NAME "%s", k->digest));
	kube_tree_number(m, "defaultMode", 0444);
	put_memory(list, KUBE_VOLUME_RUN, "64Mi");
	if (k->policy->credentials.n)
		put_secrets(k, list);
	if (kube_has_roots(k))
		put_memory(list, KUBE_VOLUME_ROOTS, "4Mi");
}
