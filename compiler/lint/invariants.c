#include "compiler/lint/invariants.h"

#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/decide/option.h"
#include "compiler/base/gitignore.h"

static const char *metadata_grant(const struct decision *d)
{
	if (d->verdict == VERDICT_ALLOW)
		return "this grant allows it";
	if (d->verdict == VERDICT_ASK)
		return "this entry has it asked about";
	if (d->grant && d->grant->key == IR_KEY_DENY)
		return "this denial forbids it";
	return "this grant comes nearest";
}

static const char *metadata_pattern(const struct decision *d)
{
	if (d->reason == REASON_PROTECTED)
		return "this keeps it for one program";
	return d->reason == REASON_IGNORED ? "this pattern hides it"
					   : "this pattern makes it read-only";
}

/* The pattern that takes a path, or a folder that it is in, back; or NULL. */
static const struct ir_pattern *taken_back(struct arena *a,
					   const ir_patterns *patterns,
					   struct str path)
{
	struct gitignore *g = gitignore_new(a);
	bool is_dir = str_ends(path, STR("/"));
	uint32_t which;

	vec_each(p, patterns)
		(void)gitignore_add(g, p->line, NULL);
	if (is_dir)
		path.n--;
	for (; path.n; path = str_parent(path), is_dir = true)
		if (gitignore_match(g, path, is_dir, &which) == GITIGNORE_BACK)
			return &patterns->v[which];
	return NULL;
}

/* Why a path is as free as it is. */
static struct ir_origin file_rule(struct pass_ctx *c, const struct ir_policy *p,
				  const struct ir_request *r)
{
	bool read = r->kind == IR_REQ_READ;
	const struct ir_pattern *back =
		taken_back(c->a, read ? &p->ignore : &p->readonly, r->path);

	if (back) {
		diag_note(c->diags, back->from.at,
			  "this pattern takes it back");
		return back->from;
	}
	diag_help(c->diags, read ? "'ignore' would hide it"
				 : "'readonly' would keep it as it is");
	return (struct ir_origin){0};
}

/* The docker argument that gives what was asked for. */
static struct ir_origin arg_origin(struct arena *a, const struct ir_policy *p,
				   struct str asked)
{
	vec_each(arg, &p->docker_args) {
		arg_list one = {.v = arg, .n = 1};

		if (option_among(a, &one, asked))
			return arg->from;
	}
	return (struct ir_origin){0};
}

struct ir_origin invariants_rule(struct pass_ctx *c, const struct ir_policy *p,
				 const struct ir_request *r,
				 const struct decision *d)
{
	struct ir_origin from = {0};
	const char *about = "";

	if (d->pattern) {
		from = d->pattern->from;
		about = metadata_pattern(d);
	} else if (d->grant) {
		from = d->grant->from;
		about = metadata_grant(d);
	} else if (r->kind == IR_REQ_ARG && d->verdict == VERDICT_ALLOW) {
		from = arg_origin(c->a, p, r->arg);
		about = "docker gets it from here";
	} else if (d->verdict == VERDICT_ALLOW &&
		   (r->kind == IR_REQ_READ || r->kind == IR_REQ_WRITE)) {
		return file_rule(c, p, r);
	}
	if (from.at.beg)
		diag_note(c->diags, from.at, "%s", about);
	return from;
}

bool invariants_never(struct pass_ctx *c, const struct ir_policy *p,
		      const struct ir_never *n, struct ir_request *out_witness,
		      struct decision *out, struct ir_origin *rule)
{
	if (!never_find(c->a, p, n, out_witness, out))
		return true;
	*rule = (struct ir_origin){0};
	if (out_witness->text.n == 0) { /* fail closed */
		diag_error(c->diags, DIAG_NEVER, n->from.at,
			   "a policy that is too large to prove this of");
		diag_help(c->diags, "fewer rules, or a smaller set");
		return false;
	}
	diag_error(c->diags, DIAG_NEVER, n->from.at,
		   out->verdict == VERDICT_ASK
			   ? "'%s' is asked about, and never may be permitted"
			   : "'%s' is allowed, and never may be",
		   diag_quote(c->diags, out_witness->text));
	*rule = invariants_rule(c, p, out_witness, out);
	return false;
}

bool invariants_hold(struct pass_ctx *c, const struct ir_policy *p)
{
	struct ir_request witness;
	struct ir_origin rule;
	struct decision d;
	bool ok = true;

	vec_each(n, &p->tests.never) {
		if ((n->from.layer != LAYER_GLOBAL &&
		     n->from.layer != LAYER_PRESET) ||
		    invariants_never(c, p, n, &witness, &d, &rule))
			continue;
		diag_help(c->diags,
			  "'never' of the global file binds every layer");
		ok = false;
	}
	return ok;
}
