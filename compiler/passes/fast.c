/*
 * `masks: {fast: …}`: folders that a session has as they are on the host, past
 * the view. Nothing can be hidden or read-only there: a rule that names
 * something in one, or the folder itself, is an error, and those for files of
 * any folder are taken back below it. So whoever decides needs not know.
 */
#include "compiler/passes/parts.h"

#include "compiler/base/gitignore.h"
#include "compiler/ir/text.h"

struct list {
	const char *does; /* "hidden" */
	ir_patterns *patterns;
	struct gitignore *all;
};

static struct list list_of(struct arena *a, ir_patterns *patterns,
			   const char *does)
{
	struct list l = {does, patterns, gitignore_new(a)};

	vec_each(p, patterns)
		(void)gitignore_add(l.all, p->line, NULL);
	return l;
}

static bool is_in(struct str path, struct str folder)
{
	return str_starts(path, folder) &&
	       (path.n == folder.n || path.p[folder.n] == '/');
}

/* The folder or one that it is in; the pattern that says so, or NULL. */
static const struct ir_pattern *decides_folder(const struct list *l,
					       struct str folder)
{
	for (size_t end = 0; end < folder.n; end++) {
		uint32_t at;

		end = str_find(folder, '/', end);
		if (gitignore_match(l->all, str_slice(folder, 0, end), true,
				    &at) == GITIGNORE_MATCH)
			return &l->patterns->v[at];
	}
	return NULL;
}

/* The pattern of a path in the folder, or NULL. */
static const struct ir_pattern *decides_inside(const struct list *l,
					       struct str folder)
{
	vec_each(p, l->patterns) {
		struct str path = normalise_literal(p);
		bool is_dir = str_ends(p->line, STR("/"));

		if (path.n && is_in(path, folder) &&
		    gitignore_match(l->all, path, is_dir, NULL) ==
			    GITIGNORE_MATCH)
			return p;
	}
	return NULL;
}

static bool check_folder(struct pass_ctx *c, const struct list *l,
			 const struct ir_text *f)
{
	const struct ir_pattern *p = decides_folder(l, f->s);
	bool inside = !p;

	if (!p)
		p = decides_inside(l, f->s);
	if (!p)
		return true;
	if (inside)
		diag_error(c->diags, DIAG_FAST, f->from.at,
			   "in '%.*s' something is %s", STR_ARG(f->s), l->does);
	else
		diag_error(c->diags, DIAG_FAST, f->from.at,
			   "'%.*s' is %s, and so cannot be fast", STR_ARG(f->s),
			   l->does);
	diag_note(c->diags, p->from.at, "here");
	diag_help(
		c->diags,
		"a fast folder is as it is on the host: name a smaller one, as 'node_modules/' or '.git/objects/'");
	return false;
}

static void take_back(struct arena *a, ir_patterns *patterns,
		      const struct ir_text *f)
{
	*vec_push(a, patterns) = (struct ir_pattern){
		.from = f->from,
		.line = arena_fmt(a, "!/%.*s/**", STR_ARG(f->s)),
		.back = true,
		.fast = true};
}

static bool is_known(const ir_texts *list, const struct ir_text *f)
{
	for (const struct ir_text *x = list->v; x < f; x++)
		if (is_in(f->s, x->s))
			return true;
	return false;
}

/* In front of a view alone; a folder in another, or twice, says nothing. */
static void keep_needed(struct arena *a, struct ir_policy *p)
{
	ir_texts all = ir_texts_sorted(a, &p->fast);

	p->fast = (ir_texts){0};
	if (!ir_masks_hold(p))
		return;
	vec_each(f, &all)
		if (!is_known(&all, f))
			*vec_push(a, &p->fast) = *f;
}

bool fast_settle(struct pass_ctx *c, struct ir_policy *p)
{
	struct list lists[] = {list_of(c->a, &p->ignore, "hidden"),
			       list_of(c->a, &p->readonly, "read-only")};
	bool ok = true;

	keep_needed(c->a, p);
	vec_each(f, &p->fast)
		for (size_t i = 0; i < ARRAY_LEN(lists); i++)
			ok &= check_folder(c, &lists[i], f);
	if (!ok)
		return false;
	vec_each(f, &p->fast) {
		take_back(c->a, &p->ignore, f);
		take_back(c->a, &p->readonly, f);
	}
	return true;
}
