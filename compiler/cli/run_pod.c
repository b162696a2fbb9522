/* `membrane run --target kubernetes`: the session's Pod, written and run. */
#include "compiler/cli/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/emit/kubernetes/kube.h"
#include "runtime/launch/pod/pod.h"

/* Two rows of each: where -n is a host name's, and where it is none. */
static struct str either(struct arena *a, const struct options *o,
			 enum option_id one, enum option_id other)
{
	return str_of(options_value(a, o, one,
				    options_value(a, o, other, "")));
}

struct kubectl kubectl_of(struct arena *a, const struct options *o)
{
	return (struct kubectl){
		.context = either(a, o, OPTION_CONTEXT, OPTION_IN_CLUSTER),
		.ns = either(a, o, OPTION_NAMESPACE, OPTION_IN_NAMESPACE),
	};
}

bool run_pod_fits(const struct options *o, const struct compilation *c)
{
	static const struct {
		enum option_id id;
		const char *why;
	} of_machine[] = {
		{OPTION_TRACE_LOG, "nothing is traced in a Pod; what its gate decides is in 'membrane logs'"},
		{OPTION_NO_UPDATE, "a node pulls its images by its own rule (imagePullPolicy: IfNotPresent)"},
		{OPTION_NO_ASK, "nobody is asked about a Pod: what 'ask' names is denied when its time is over"},
	};

	for (size_t i = 0; i < ARRAY_LEN(of_machine); i++) {
		const struct option_given *g =
			options_get(o, of_machine[i].id);

		if (!g)
			continue;
		console_error("'%.*s' is for sessions of this machine: %s",
			      STR_ARG(g->spelling), of_machine[i].why);
		return false;
	}
	if (c->kubernetes->topology == KUBE_APART) {
		console_error(
			"'--topology apart': a session is one Pod, with its gate in it; two are written by 'membrane compile' and applied by kubectl");
		return false;
	}
	if (c->kubernetes->cilium) {
		console_error(
			"'--fqdn': a session's own policy is a NetworkPolicy; one of names is written by 'membrane compile' and applied by kubectl");
		return false;
	}
	if (c->kubernetes->kind == KUBE_POD)
		return true;
	console_error(
		"'--kind': a session is one Pod, which ends with its command; what goes on is written by 'membrane compile' and applied by kubectl");
	return false;
}

struct writing {
	struct compilation *c;
	char *const *command;
};

/* As it was reviewed, but for what a run has of its own. */
static bool write_pod(void *ctx, const struct pod_wish *wish,
		      struct objects *out, struct str *out_text)
{
	const struct writing *w = ctx;
	struct kube_run run = {str_of(wish->id), w->command, wish->tty,
			       wish->input};
	struct kube_options with = *w->c->kubernetes;
	struct emit_in in = driver_emit(w->c);
	struct kube_applied applied;

	with.run = &run;
	in.kubernetes = &with;
	if (!kube_run_emit(&in, &applied))
		return false;
	out->name = applied.name;
	*out_text = applied.text;
	return true;
}

int run_pod(struct compilation *c, const struct options *o,
	    const struct launch_opts *opts, struct err *err)
{
	struct writing w = {c, opts->command};
	struct pod_target target = {
		.at = kubectl_of(c->a, o), .write = write_pod, .ctx = &w};

	return pod_run(opts, &target, err);
}
