/* The plan of a Pod, for people: who is in it, with which rights, and what it
 * does not hold. */
#include "compiler/cli/plan/parts.h"

#include <stdlib.h>

/* A row: what, and which line of the policy says it. */
static void put_row(const struct view *v, const struct plan_model *m,
		    const char *what, struct str value, struct ir_origin from)
{
	view_row(v, 2, VIEW_PLAIN,
		 arena_fmt(m->a, "%-10s %s", what, view_cleaned(m->a, value).p),
		 model_source(m, from));
}

static const char *kind_word(enum kube_kind k)
{
	switch (k) {
	case KUBE_POD:
		return "a Pod, which ends with its command";
	case KUBE_JOB:
		return "a Job, which is not tried again";
	case KUBE_DEPLOYMENT:
		return "a Deployment";
	case KUBE_SANDBOX:
		return "a Sandbox of agents.x-k8s.io";
	case KUBE_TEMPLATE:
		return "a SandboxTemplate of agents.x-k8s.io, and a pool of it";
	}
	abort();
}

/* How many Pods, where it may be more than one, and for how long. */
static void put_fleet(const struct view *v, const struct plan_model *m)
{
	static const struct ir_origin nowhere = {0};
	const struct kube_options *k = m->kubernetes;

	if (k->kind == KUBE_DEPLOYMENT)
		put_row(v, m, "Pods",
			arena_fmt(m->a, "%u", k->replicas ? k->replicas : 1u),
			nowhere);
	if (k->completions || k->parallelism)
		put_row(v, m, "Pods",
			arena_fmt(m->a, "%u, %u at a time",
				  k->completions ? k->completions : 1u,
				  k->parallelism ? k->parallelism : 1u),
			nowhere);
	if (k->deadline_s)
		put_row(v, m, "deadline",
			arena_fmt(m->a, "%u seconds", k->deadline_s), nowhere);
}

static struct str work_text(const struct plan_model *m)
{
	const struct kube_options *k = m->kubernetes;

	switch (k->work) {
	case KUBE_WORK_EMPTY:
		return STR("empty at the start, and gone with the Pod");
	case KUBE_WORK_GIT:
		return arena_fmt(
			m->a, "a clone of %.*s%s%.*s without what is hidden",
			STR_ARG(k->work_of), k->work_ref.n ? " at " : "",
			STR_ARG(k->work_ref));
	case KUBE_WORK_CLAIM:
		return arena_fmt(m->a, "the volume of the claim %.*s, as it is",
				 STR_ARG(k->work_of));
	}
	abort();
}

static struct str filter_text(const struct plan_model *m)
{
	const struct kube_options *k = m->kubernetes;

	if (k->seccomp.n)
		return arena_fmt(m->a,
				 "restricted; system calls by %.*s of the node",
				 STR_ARG(k->seccomp));
	return STR("restricted; system calls by the runtime's default");
}

/* What holds on a machine and not here, each in a sentence. */
static void put_unheld(const struct view *v, const struct plan_model *m)
{
	const struct ir_policy *p = m->policy;

	view_title(v, "what a Pod does not hold", 0, NULL);
	if (m->kubernetes->topology == KUBE_APART)
		view_paragraph(
			v,
			STR("What keeps the agent to its gate is the cluster's NetworkPolicy alone: where nothing enforces that, nothing is held."));
	view_paragraph(
		v,
		STR("Nothing is traced: the gate's decisions are all there is, in its log."));
	if (p->ask.n)
		view_paragraph(
			v,
			STR("Nobody is asked: what waits for an answer is denied when its time is over."));
	view_paragraph(
		v,
		STR("What tools of a machine execute (.git/hooks, editor tasks) is not read-only there: no tool of a machine sees it."));
	view_paragraph(
		v,
		STR("Processes are counted for each Pod by its node, and not by this."));
	if (m->kubernetes->work == KUBE_WORK_GIT && p->ignore.n)
		view_paragraph(
			v,
			STR("Of what is hidden the files are not there; what the repository's history has of them is."));
}

static void put_gate(const struct view *v, const struct plan_model *m)
{
	static const struct ir_origin nowhere = {0};
	const struct kube_options *k = m->kubernetes;
	char text[ADDR_TEXT_MAX];

	if (k->topology == KUBE_APART) {
		put_row(v, m, "gate",
			STR("in a Pod of its own, restricted, as the agent's is"),
			nowhere);
		for (uint32_t i = 0; i < k->n_gate_at; i++)
			put_row(v, m, "address",
				arena_fmt(m->a,
					  "%s: granted names lead there, and the agent gets to nothing else",
					  addr_text(&k->gate_at[i], text)),
				nowhere);
		return;
	}
	put_row(v, m, "fence",
		STR("shuts the Pod's network first, with NET_ADMIN alone"),
		nowhere);
	put_row(v, m, "gate",
		k->sidecar == KUBE_SIDECAR_NATIVE
			? STR("takes the wire first; it alone has rights")
			: STR("takes the wire behind the fence; it alone has rights"),
		nowhere);
}

void plan_kubernetes(const struct view *v, const struct plan_model *m)
{
	static const struct ir_origin nowhere = {0};
	const struct kube_options *k = m->kubernetes;
	const struct ir_policy *p = m->policy;

	view_title(v, "in Kubernetes", 0, NULL);
	put_row(v, m, "object",
		arena_fmt(m->a, "%.*s: %s", STR_ARG(k->name),
			  kind_word(k->kind)),
		nowhere);
	put_fleet(v, m);
	put_gate(v, m);
	put_row(v, m, "its image", k->gate_image, nowhere);
	put_row(v, m, "agent", p->image.v, p->image.from);
	put_row(v, m, "its rights", filter_text(m), nowhere);
	if (k->own_users)
		put_row(v, m, "users", STR("a namespace of the Pod's own"),
			nowhere);
	put_row(v, m, "workspace", work_text(m), nowhere);
	vec_each(c, &p->credentials)
		put_row(v, m, "secret",
			arena_fmt(m->a,
				  "%.*s of %.*s-credentials, in the gate alone",
				  STR_ARG(c->source), STR_ARG(k->name)),
			c->from);
	vec_each(t, &p->ports)
		put_row(v, m, "port",
			arena_fmt(m->a, "%.*s, from whoever gets to the Pod",
				  STR_ARG(t->s)),
			t->from);
	put_unheld(v, m);
}
