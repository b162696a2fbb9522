#include "compiler/cli/cluster/cluster.h"

#include "compiler/base/ascii.h"
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

/* Its plural, as kubectl takes it. */
static struct str plural(struct arena *a, struct str kind)
{
	struct str s = ascii_lower(a, kind);

	if (str_ends(s, STR("y")))
		return arena_fmt(a, "%.*sies", (int)s.n - 1, s.p);
	return arena_fmt(a, "%.*s%s", STR_ARG(s),
			 str_ends(s, STR("x")) ? "es" : "s");
}

static void add_resource(struct arena *a, struct buf *out, struct str kind)
{
	struct str rest = buf_str(out), one = plural(a, kind), have;

	while (str_field(&rest, ',', &have))
		if (str_eq(have, one))
			return;
	buf_addf(out, "%s%.*s", out->n ? "," : "", STR_ARG(one));
}

/* What has to be in the file, of this plan: what it has, and what comes of
 * that. */
static struct str resources(const struct cluster *c)
{
	struct buf out;

	buf_init(&out, c->a);
	add_resource(c->a, &out, STR("Pod"));
	vec_each(p, &c->plan.all) {
		struct str kind = kube_tree_get(p->object, "kind")->text;

		if (str_is(kind, "SandboxTemplate"))
			add_resource(c->a, &out, STR("Sandbox"));
		add_resource(c->a, &out, kind);
	}
	return buf_str(&out);
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
			"%.*s: %s: print it by 'kubectl get %.*s -o json'",
			STR_ARG(all.state), err.text, STR_ARG(resources(&all)));
	} else {
		cluster_find(&all, &state);
		status = show_cluster(o, &all);
	}
	state_done(&state);
	return status;
}
