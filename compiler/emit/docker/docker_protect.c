/*
 * What `protect` cannot be held beside: an error at its place. The main
 * process of the agent's container has to be the program itself, closed to all
 * others, and without code that somebody else brings in.
 */
#include "compiler/emit/docker/parts.h"

#include "compiler/emit/docker/seccomp.h"

/* Does a variable of this name bring code into a process? */
static bool is_steering(struct str name)
{
	static const char *const families[] = {"LD_", "PYTHON"};
	static const char *const names[] = {
		"BASH_ENV",	  "BUN_OPTIONS", "ENV",		 "GCONV_PATH",
		"GLIBC_TUNABLES", "LOCPATH",	 "NODE_OPTIONS",
	};

	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (str_starts(name, str_of(families[i])))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

static bool refuse_protect(const struct emit_in *in, struct span at,
			   const char *what, const char *help)
{
	diag_error(in->diags, DIAG_PROTECT, at, "%s", what);
	diag_note(in->diags, in->policy->protect.v[0].from.at,
		  "files are protected here");
	diag_help(in->diags, "%s", help);
	return false;
}

static bool check_variable(const struct emit_in *in, const struct arg *arg)
{
	struct str name =
		str_slice(arg->value, 0, str_find(arg->value, '=', 0));

	if (!is_steering(name))
		return true;
	return refuse_protect(
		in, arg->value_at,
		arena_fmt(
			in->a,
			"'%s' brings code into the process that opens protected files",
			diag_quote(in->diags, name))
			.p,
		"leave it out, or set it for the command that needs it");
}

static bool check_argument(const struct emit_in *in, const struct arg *arg)
{
	if (str_is(arg->option, "env"))
		return check_variable(in, arg);
	if (str_is(arg->option, "env-file"))
		return refuse_protect(
			in, arg->from.at,
			"what a file of variables brings into the process that opens protected files is not known",
			"write each with --env");
	if (str_is(arg->option, "init") || str_is(arg->option, "entrypoint"))
		return refuse_protect(
			in, arg->from.at,
			arena_fmt(
				in->a,
				"with '--%.*s' the main process is not the command",
				STR_ARG(arg->option))
				.p,
			"leave it out: only the main process opens protected files");
	if (str_is(arg->option, "cap-add"))
		return refuse_protect(
			in, arg->from.at,
			"who has a capability can look into the process that opens protected files",
			"leave it out");
	return true;
}

static bool check_hardening(const struct emit_in *in)
{
	const struct ir_hardening *h = &in->policy->hardening;

	if (h->capabilities.n)
		return refuse_protect(
			in, h->capabilities.v[0].from.at,
			"who has a capability can look into the process that opens protected files",
			"leave 'capabilities' out");
	if (seccomp_wanted(in->policy))
		return true;
	return refuse_protect(
		in,
		h->seccomp.from.at,
		"another filter of system calls than membrane's lets processes look into each other",
		"leave 'hardening.seccomp' out");
}

bool docker_protect_check(const struct emit_in *in)
{
	const struct ir_policy *p = in->policy;
	bool ok;

	if (p->protect.n == 0)
		return true;
	if (!ir_masks_hold(p))
		return refuse_protect(
			in, p->masks.from.at,
			"protected files are held by a view, and here there is none",
			ir_runtime_is_runc(p)
				? "leave 'masks' out, or write 'hold'"
				: "'runtime: runc' has one");
	ok = check_hardening(in);
	vec_each(arg, &p->docker_args)
		ok &= check_argument(in, arg);
	return ok;
}
