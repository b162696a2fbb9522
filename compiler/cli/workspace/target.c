#include "compiler/cli/workspace/target.h"

#include "compiler/base/duration.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"

#define GIT   "git:"
#define CLAIM "claim:"

/* Which of the option's words was given; the first, when none was. */
static int word_of(const struct options *o, enum option_id id)
{
	const struct option_given *g = options_get(o, id);
	const char *w;

	for (int i = 0; g && (w = option_word(id, (size_t)i)); i++)
		if (str_is(g->value, w))
			return i;
	return 0;
}

static bool complain(struct arena *a, const char *option, struct str value,
		     const char *fault)
{
	console_error("'%s': '%s' %s", option, view_cleaned(a, value).p, fault);
	return false;
}

static bool take_text(struct arena *a, const struct options *o,
		      enum option_id id, const char *(*fault_of)(struct str),
		      struct str *out)
{
	const struct option_given *g = options_get(o, id);
	const char *fault = g ? fault_of(g->value) : NULL;

	if (fault)
		return complain(a, arena_fmt(a, "%.*s", STR_ARG(g->spelling)).p,
				g->value, fault);
	if (g)
		*out = g->value;
	return true;
}

static bool take_git(struct arena *a, struct str rest, struct kube_options *out)
{
	size_t hash = str_find(rest, '#', 0);
	const char *fault;

	out->work = KUBE_WORK_GIT;
	out->work_of = str_slice(rest, 0, hash);
	out->work_ref = str_slice(rest, hash + 1, rest.n);
	fault = kube_url_fault(out->work_of);
	if (fault)
		return complain(a, "--workspace-from", out->work_of, fault);
	fault = hash < rest.n ? kube_word_fault(out->work_ref) : NULL;
	return !fault || complain(a, "--workspace-from", out->work_ref, fault);
}

static bool take_work(struct arena *a, const struct options *o,
		      struct kube_options *out)
{
	const struct option_given *g = options_get(o, OPTION_WORKSPACE_FROM);
	const char *fault;

	if (!g || str_is(g->value, "empty"))
		return true;
	if (str_starts(g->value, STR(GIT)))
		return take_git(
			a, str_slice(g->value, sizeof(GIT) - 1, g->value.n),
			out);
	if (!str_starts(g->value, STR(CLAIM)))
		return complain(
			a, "--workspace-from", g->value,
			"is none of empty, git:URL[#REF] and claim:NAME");
	out->work = KUBE_WORK_CLAIM;
	out->work_of = str_slice(g->value, sizeof(CLAIM) - 1, g->value.n);
	fault = kube_name_fault(out->work_of);
	return !fault || complain(a, "--workspace-from", out->work_of, fault);
}

/* A clone goes out through the gate, which has to be there. */
static bool take_sidecar(const struct options *o, struct kube_options *out)
{
	out->sidecar = (enum kube_sidecar)word_of(o, OPTION_SIDECAR);
	if (out->sidecar == KUBE_SIDECAR_NATIVE || out->work != KUBE_WORK_GIT)
		return true;
	console_error(
		"'--sidecar container': the gate begins behind all init containers then, and a clone would have no way out");
	return false;
}

/* Whoever claims one of a pool would have what the last one left. */
static bool is_alone(const struct kube_options *k)
{
	if (k->kind != KUBE_TEMPLATE || k->work != KUBE_WORK_CLAIM)
		return true;
	console_error(
		"'--kind template': all sandboxes of the pool would have the workspace of one claim: take 'empty' or 'git:URL'");
	return false;
}

/* What of a fleet belongs to which kind. */
static bool take_number(struct arena *a, const struct options *o,
			enum option_id id, unsigned kinds, const char *others,
			uint32_t *out)
{
	const struct option_given *g = options_get(o, id);
	int kind = word_of(o, OPTION_KIND);
	uint64_t n = 0;
	bool ok;

	if (!g)
		return true;
	if (!(kinds >> kind & 1)) {
		console_error("'%.*s' is for %s", STR_ARG(g->spelling), others);
		return false;
	}
	if (id == OPTION_DEADLINE)
		ok = duration_parse(g->value, &n) && n <= KUBE_DEADLINE_S;
	else
		ok = str_u64(g->value, KUBE_PODS_MAX, &n);
	*out = (uint32_t)n;
	return (ok && n > 0) ||
	       complain(
		       a, arena_fmt(a, "%.*s", STR_ARG(g->spelling)).p,
		       g->value,
		       id == OPTION_DEADLINE
			       ? "is no time from 1s to 366d, as 90s, 10m, 1h30m, 2d or 1w are"
			       : "is no number from 1 to 10000");
}

/* Many agents of one volume would write into each other's workspace. */
static bool take_fleet(struct arena *a, const struct options *o,
		       struct kube_options *out)
{
	static const unsigned pod = 1u << KUBE_POD, job = 1u << KUBE_JOB,
			      kept = 1u << KUBE_DEPLOYMENT |
				     1u << KUBE_TEMPLATE;

	if (!take_number(a, o, OPTION_REPLICAS, kept,
			 "'--kind deployment' and '--kind template'",
			 &out->replicas) ||
	    !take_number(a, o, OPTION_PARALLELISM, job, "'--kind job'",
			 &out->parallelism) ||
	    !take_number(a, o, OPTION_COMPLETIONS, job, "'--kind job'",
			 &out->completions) ||
	    !take_number(
		    a, o, OPTION_DEADLINE, pod | job,
		    "'--kind pod' and '--kind job': what else runs Pods would begin again",
		    &out->deadline_s))
		return false;
	if (out->work != KUBE_WORK_CLAIM ||
	    (out->replicas < 2 && out->parallelism < 2))
		return true;
	console_error(
		"'--workspace-from claim:': several Pods at a time would write into one workspace: take 'empty' or 'git:URL'");
	return false;
}

/* Of a gate that has a Pod of its own, and of no other. */
static bool take_gate_at(struct arena *a, const struct options *o,
			 struct kube_options *out)
{
	const struct option_given *at = options_get(o, OPTION_GATE_ADDRESS);
	bool apart = out->topology == KUBE_APART;
	const char *fault;

	if (apart && options_get(o, OPTION_SIDECAR)) {
		console_error(
			"'--sidecar' is of a gate in the agent's Pod, and with '--topology apart' it is in one of its own");
		return false;
	}
	if (apart && out->cilium) {
		console_error(
			"'--fqdn' is of a gate in the agent's Pod, and with '--topology apart' it is in one of its own");
		return false;
	}
	if (apart && !at) {
		console_error(
			"'--topology apart' needs '--gate-address': an address of the cluster's Services that is free, which the gate's has then");
		return false;
	}
	if (!at)
		return true;
	if (!apart) {
		console_error("'--gate-address' is for '--topology apart'");
		return false;
	}
	fault = kube_gate_at_parse(at->value, out);
	return !fault || complain(a, "--gate-address", at->value, fault);
}

static bool take_options(struct arena *a, const struct options *o,
			 struct kube_options *out)
{
	out->topology = (enum kube_topology)word_of(o, OPTION_TOPOLOGY);
	out->kind = (enum kube_kind)word_of(o, OPTION_KIND);
	out->cilium = options_get(o, OPTION_FQDN) != NULL;
	out->own_users = options_get(o, OPTION_OWN_USERS) != NULL;
	out->name = STR(KUBE_NAME);
	if (!options_get(o, OPTION_GATE_IMAGE) &&
	    o->command != COMMAND_DOCTOR) {
		console_error(
			"'--target kubernetes' needs '--gate-image': the gate's image in the cluster's registry, NAME@sha256:DIGEST");
		return false;
	}
	return take_text(a, o, OPTION_GATE_IMAGE, kube_gate_image_fault,
			 &out->gate_image) &&
	       take_text(a, o, OPTION_NAME, kube_name_fault, &out->name) &&
	       take_text(a, o, OPTION_SECCOMP_PROFILE, kube_word_fault,
			 &out->seccomp) &&
	       take_work(a, o, out) && take_sidecar(o, out) && is_alone(out) &&
	       take_fleet(a, o, out) && take_gate_at(a, o, out);
}

/* Of a target that nobody named. */
static bool has_stray(const struct options *o)
{
	static const enum option_id of_target[] = {
		OPTION_GATE_IMAGE,     OPTION_KIND,	OPTION_NAME,
		OPTION_WORKSPACE_FROM, OPTION_SIDECAR,	OPTION_SECCOMP_PROFILE,
		OPTION_OWN_USERS,      OPTION_REPLICAS, OPTION_PARALLELISM,
		OPTION_COMPLETIONS,    OPTION_DEADLINE,	OPTION_TOPOLOGY,
		OPTION_GATE_ADDRESS,   OPTION_IN_CLUSTER, OPTION_IN_NAMESPACE,
		OPTION_FQDN,	       OPTION_CLUSTER_STATE, OPTION_CONTEXT,
		OPTION_NAMESPACE,
	};

	for (size_t i = 0; i < ARRAY_LEN(of_target); i++) {
		const struct option_given *g = options_get(o, of_target[i]);

		if (!g)
			continue;
		console_error("'%.*s' is for '--target kubernetes'",
			      STR_ARG(g->spelling));
		return true;
	}
	return false;
}

bool target_find(struct arena *a, const struct options *o,
		 const struct kube_options **out)
{
	struct kube_options *k;

	*out = NULL;
	if (!options_get(o, OPTION_TARGET))
		return !has_stray(o);
	k = arena_new_of(a, struct kube_options);
	if (!take_options(a, o, k))
		return false;
	*out = k;
	return true;
}
