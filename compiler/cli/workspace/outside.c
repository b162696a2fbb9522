#include "compiler/cli/workspace/outside.h"

#include "compiler/ir/image.h"
#include "compiler/ir/visible.h"
#include "runtime/launch/docker/roots.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

struct outside_places outside_places_of(struct arena *a,
					const struct inputs *in)
{
	return (struct outside_places){
		in->workspace, arena_fmt(a, "%s/home", in->state).p, in->state,
		arena_fmt(a, "%s/homes", in->state).p, getenv("HOME")};
}

static bool is_within(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	while (n && folder[n - 1] == '/')
		n--;
	return strncmp(path, folder, n) == 0 &&
	       (path[n] == '/' || path[n] == '\0');
}

struct way {
	bool through; /* some folder or link on it is the agent's */
	bool into;    /* so is what it leads to */
};

/* What does not exist leads nowhere: the launch will say so. */
static struct way follow_path(struct arena *a, struct str path,
			      const struct outside_places *at)
{
	struct way way = {0};
	char real[PATH_MAX];

	for (size_t i = 1; i <= path.n; i++) {
		if (i < path.n && path.p[i] != '/')
			continue;
		if (!realpath(arena_cstr(a, str_slice(path, 0, i)), real))
			break;
		way.into = is_within(real, at->workspace) ||
			   is_within(real, at->agent) ||
			   is_within(real, at->homes);
		way.through |= way.into;
	}
	return way;
}

static bool check_credential(struct pass_ctx *c, const struct ir_credential *x,
			     const struct outside_places *at)
{
	struct str path = x->source;
	struct way way;

	if (x->from_env)
		return true;
	if (str_starts(path, STR("~/")) && at->home)
		path = arena_fmt(c->a, "%s%.*s", at->home, (int)path.n - 1,
				 path.p + 1);
	way = follow_path(c->a, path, at);
	if (x->fields.n && way.into) {
		diag_error(c->diags, DIAG_IN_REACH, x->source_at,
			   "the agent can read '%s' itself",
			   diag_quote(c->diags, x->source));
		diag_help(
			c->diags,
			"a sentinel stands for what only the host has: put the file outside of the workspace");
		return false;
	}
	if (!way.through || way.into)
		return true;
	diag_error(c->diags, DIAG_IN_REACH, x->source_at,
		   "'%s' leads out of what the agent can write",
		   diag_quote(c->diags, x->source));
	diag_help(
		c->diags,
		"an agent could make such a link to any file: write the path that it leads to");
	return false;
}

static bool check_seccomp(struct pass_ctx *c, const ir_opt_str *v,
			  const struct outside_places *at)
{
	if (!v->set || v->v.n == 0 || v->v.p[0] != '/' ||
	    !follow_path(c->a, v->v, at).through)
		return true;
	diag_error(c->diags, DIAG_IN_REACH, v->from.at,
		   "the agent can rewrite the filter '%s'",
		   diag_quote(c->diags, v->v));
	diag_help(c->diags, "put it where the agent cannot write");
	return false;
}

/* Roots decide whom the gate believes; and what is none is said here, at its
 * line, before anything starts. */
static bool check_roots(struct pass_ctx *c, const ir_opt_str *v,
			const struct outside_places *at)
{
	struct str path = v->v;
	struct roots ignored;
	struct err err;

	if (!v->set)
		return true;
	if (str_starts(path, STR("~/")) && at->home)
		path = arena_fmt(c->a, "%s%.*s", at->home, (int)path.n - 1,
				 path.p + 1);
	if (follow_path(c->a, path, at).through) {
		diag_error(c->diags, DIAG_IN_REACH, v->from.at,
			   "the agent can rewrite the roots in '%s'",
			   diag_quote(c->diags, v->v));
		diag_help(c->diags, "put them where the agent cannot write");
		return false;
	}
	if (roots_read(c->a, arena_cstr(c->a, path), at->home, &ignored,
		       &err) == 0)
		return true;
	diag_error(c->diags, DIAG_ROOTS, v->from.at, "no roots: %s", err.text);
	diag_help(
		c->diags,
		"a file of certificates of authorities in PEM, as 'openssl x509 -in FILE' writes it");
	return false;
}

/* Where a path leads, links and all; where nothing is, the launch will say so.
 */
const char *outside_visible_fault(struct arena *a, const struct ir_visible *v,
				  const struct outside_places *at)
{
	struct str path = v->path;
	char real[PATH_MAX];

	if (v->in_home && !at->home)
		return "there is no HOME";
	if (v->in_home)
		path = arena_fmt(a, "%s%.*s", at->home, STR_ARG(v->path));
	if (!realpath(arena_cstr(a, path), real))
		return NULL;
	if (is_within(at->workspace, real) || is_within(real, at->workspace))
		return "it shows the workspace a second time, without what 'ignore' and 'readonly' say";
	if (is_within(at->state, real) || is_within(real, at->state))
		return "it holds membrane's own folder, and with it the policy of the next session";
	if (at->home && is_within(at->home, real))
		return "it holds your whole home";
	if (visible_fault(str_of(real)))
		return arena_fmt(a, "it leads to '%s', which %s", real,
				 visible_fault(str_of(real)))
			.p;
	return follow_path(a, path, at).through
		       ? "it leads out of what the agent can write"
		       : NULL;
}

static bool check_visible(struct pass_ctx *c, const struct ir_text *t,
			  const struct outside_places *at)
{
	struct ir_visible v = visible_of(t->s);
	const char *fault = outside_visible_fault(c->a, &v, at);

	if (!fault)
		return true;
	diag_error(c->diags, DIAG_IN_REACH, t->from.at,
		   "'%s%s' cannot be visible: %s", v.in_home ? "~" : "",
		   diag_quote(c->diags, v.path), fault);
	diag_help(c->diags, "name the folder or file that is needed");
	return false;
}

/* Who may write it would be in the next session what the agent trusts. */
static bool check_root(struct pass_ctx *c, const ir_opt_str *image,
		       const struct outside_places *at)
{
	struct str root = image->set ? image_place(image->v) : (struct str){0};
	struct ir_visible v = {.path = root};
	const char *fault = NULL;

	if (root.n && image_root(image->v).n)
		fault = outside_visible_fault(c->a, &v, at);
	else if (root.n && follow_path(c->a, root, at).through)
		fault = "the agent can rewrite it while it is read";

	if (!fault)
		return true;
	diag_error(c->diags, DIAG_IN_REACH, image->from.at,
		   "'%s' cannot be the root: %s", diag_quote(c->diags, root),
		   fault);
	diag_help(c->diags, "put the root where the agent cannot write");
	return false;
}

bool outside_check(struct pass_ctx *c, const struct ir_policy *p,
		   const struct outside_places *at)
{
	bool ok = check_seccomp(c, &p->hardening.seccomp, at);

	ok &= check_roots(c, &p->upstream_ca, at);
	ok &= check_root(c, &p->image, at);

	vec_each(x, &p->credentials)
		ok &= check_credential(c, x, at);
	vec_each(t, &p->visible)
		ok &= check_visible(c, t, at);
	return ok;
}
