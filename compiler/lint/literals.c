/*
 * Secrets that were written into the policy itself: in docker's arguments and
 * in the format of a credential.
 */
#include "compiler/lint/parts.h"

#include "compiler/base/secret.h"

/* "--env DB_PASSWORD", or the option alone where nothing has a name. */
static struct str subject_of(struct pass_ctx *c, const struct arg *arg)
{
	size_t eq = str_find(arg->value, '=', 0);

	if (eq == arg->value.n || !str_is(arg->option, "env"))
		return arena_fmt(c->a, "--%.*s", STR_ARG(arg->option));
	return arena_fmt(c->a, "--%.*s %.*s", STR_ARG(arg->option), (int)eq,
			 arg->value.p);
}

static void warn_of_secret(struct pass_ctx *c, struct span at,
			   const char *where, struct str subject,
			   const struct secret *found)
{
	diag_warn(c->diags, DIAG_LITERAL_SECRET, at, "'%s' holds %s", where,
		  found->what);
	diag_about(c->diags, subject);
	diag_help(
		c->diags,
		"write '$NAME' for a variable of yours; with 'credentials' the agent never holds it");
}

void literals_lint(struct pass_ctx *c, const struct ir_policy *p)
{
	struct secret found;

	vec_each(arg, &p->docker_args) {
		struct str subject = subject_of(c, arg);

		if (arg->has_value && secret_next(arg->value, 0, &found))
			warn_of_secret(c, arg->value_at,
				       diag_quote(c->diags, subject), subject,
				       &found);
	}
	vec_each(x, &p->credentials)
		if (secret_next(x->format, 0, &found))
			warn_of_secret(c, x->from.at, "format",
				       x->host.u.host.name, &found);
}
