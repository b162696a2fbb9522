#include "compiler/cli/cluster/cluster.h"

#include "compiler/base/limits.h"
#include "compiler/base/sys/fileio.h"
#include "compiler/cli/cluster/parts.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/workspace/inputs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

bool cluster_wanted(const struct options *o, bool *out_fault)
{
	if (!options_get(o, OPTION_CLUSTER_STATE))
		return false;
	*out_fault = true;
	if (o->words.n)
		console_error(
			"'--cluster-state' is held against the policy: no folder goes with it");
	else if (options_get(o, OPTION_PROVE))
		console_error(
			"'--prove' is about files of a plan, and '--cluster-state' about a cluster: one at a time");
	else if (options_get(o, OPTION_TOPOLOGY) &&
		 str_is(options_get(o, OPTION_TOPOLOGY)->value, "apart"))
		console_error(
			"'--cluster-state': the gate's own Pod and Service are not compared yet: not with '--topology apart'");
	else if (options_get(o, OPTION_FQDN))
		console_error(
			"'--cluster-state': a CiliumNetworkPolicy is not compared yet: not with '--fqdn'");
	else if (options_get(o, OPTION_KIND) &&
		 str_is(options_get(o, OPTION_KIND)->value, "template"))
		console_error(
			"'--cluster-state': the sandboxes of a template have names of their own, which nothing here can tell: not with '--kind template'");
	else
		*out_fault = false;
	return true;
}

static bool read_state(struct arena *a, struct str file, struct str *out)
{
	struct err err;

	if (str_is(file, "-"))
		return inputs_stdin(a, LIMIT_CLUSTER_BYTES, out);
	if (fileio_read(a, AT_FDCWD, arena_cstr(a, file), LIMIT_CLUSTER_BYTES,
			out, &err) == 0)
		return true;
	console_error("%s", view_cleaned(a, str_of(err.text)).p);
	return false;
}

static int show_cluster(const struct options *o, const struct cluster *c)
{
	int fd = c->same ? STDOUT_FILENO : STDERR_FILENO;
	struct buf out;
	struct view v = {&out, console_width(fd), console_colour(fd)};
	int status;

	if (options_get(o, OPTION_JSON)) {
		status = console_result(cluster_json(c));
		return status == STATUS_OK && !c->same ? STATUS_REFUSED
						       : status;
	}
	buf_init(&out, c->a);
	buf_addf(&out, "%.*s is%s what was reviewed\n", STR_ARG(c->state),
		 c->same ? "" : " not");
	cluster_view(&v, c);
	if (c->same)
		return console_result(buf_str(&out));
	buf_cut(&out, out.n - 1);
	console_error("%s", out.p);
	return STATUS_REFUSED;
}

static bool find_plan(const struct compilation *c, struct cluster *out)
{
	struct diags none;
	struct emit_in in = {.policy = &c->policy,
			     .sources = &c->sources,
			     .diags = &none,
			     .a = c->a,
			     .kubernetes = c->kubernetes,
			     .made = &c->plan};

	diags_init(&none, c->a, &c->sources);
	out->name = c->kubernetes->name;
	return kube_objects(&in, &out->plan);
}

int cluster_check(const struct options *o, const struct compilation *c)
{
	struct str file = options_get(o, OPTION_CLUSTER_STATE)->value, text;
	struct cluster all = {.a = c->a};
	struct cluster_state state;
	struct err err;
	int status = STATUS_IO;

	all.state = str_is(file, "-") ? STR("stdin") : view_cleaned(c->a, file);
	if (!find_plan(c, &all))
		abort(); /* it was emitted */
	if (!read_state(c->a, file, &text))
		return STATUS_IO;
	if (state_parse(c->a, text, &state, &err) < 0) {
		console_error(
			"%.*s: %s: print it by 'kubectl get pods,configmaps,networkpolicies,jobs,deployments -o json'",
			STR_ARG(all.state), err.text);
	} else {
		cluster_find(&all, &state);
		status = show_cluster(o, &all);
	}
	state_done(&state);
	return status;
}
