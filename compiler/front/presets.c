#include "compiler/front/presets.h"

#include "compiler/base/ascii.h"
#include "compiler/base/limits.h"
#include "compiler/base/near.h"
#include "compiler/front/bind/bind.h"
#include "compiler/front/yaml/yaml.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>

static enum files_status load_preset(struct presets *p, enum files_root root,
				     struct str path, struct str name,
				     enum layer layer, struct span at);

/* Where a preset may lie, below the folder of policies. */
static const char *const folders[] = {"", "agents/", "registries/", "forges/",
				      "clouds/"};

static struct diags *diags_of(struct presets *p)
{
	return p->files->c->diags;
}

static void report_text(struct presets *p, enum diag_id id,
			const struct ir_text *t, const char *what)
{
	diag_error(diags_of(p), id, t->from.at, "%s '%s'", what,
		   diag_quote(diags_of(p), t->s));
	p->ok = false;
}

/* --- which preset was meant ---------------------------------------------- */

static void list_folder(struct arena *a, const char *policies,
			const char *folder, presets_names *out)
{
	struct str path = arena_fmt(a, "%s/%s", policies, folder);
	DIR *dir = opendir(path.p);
	const struct dirent *e;

	if (!dir)
		return;
	while ((e = readdir(dir))) {
		struct str s = str_of(e->d_name);

		if (str_ends(s, STR(".yaml")) && s.p[0] != '.')
			*vec_push(a, out) =
				arena_cstr(a, str_slice(s, 0, s.n - 5));
	}
	closedir(dir);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *presets_folder(size_t i)
{
	return i < ARRAY_LEN(folders) ? folders[i] : NULL;
}

void presets_list(struct arena *a, const char *policies, const char *folder,
		  presets_names *out)
{
	presets_names found = {0};

	list_folder(a, policies, folder, &found);
	if (found.n)
		vec_sort(&found, by_name);
	vec_each(n, &found)
		*vec_push(a, out) = *n;
}

static void help_presets(struct presets *p, const struct ir_text *t)
{
	struct near near = {.word = ascii_lower(p->files->c->a, t->s),
			    .below = 3};
	presets_names all = {0};
	struct buf b;

	if (p->files->in->policies)
		for (size_t i = 0; i < ARRAY_LEN(folders); i++)
			list_folder(p->files->c->a, p->files->in->policies,
				    folders[i], &all);
	if (all.n == 0) {
		diag_help(
			diags_of(p),
			"no presets are installed; a file is given with its ending, as in 'base.yaml'");
		return;
	}
	vec_sort(&all, by_name);
	buf_init(&b, p->files->c->a);
	vec_each(n, &all) {
		(void)near_offer(&near, *n);
		buf_addf(&b, "%s%s", b.n ? ", " : "", *n);
	}
	if (near.name)
		diag_help(diags_of(p), "did you mean '%s'?", near.name);
	else
		diag_help(diags_of(p), "the presets are %s", b.p);
}

/* --- words of `extends` -------------------------------------------------- */

static bool is_file(struct str s)
{
	return str_ends(s, STR(".yaml")) || str_ends(s, STR(".yml"));
}

bool presets_is_word(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!ascii_is_lower(c) && !ascii_is_digit(c) &&
		    !((c == '-' || c == '/') && i))
			return false;
	}
	return s.n > 0;
}

enum files_status presets_named(struct presets *p, const struct ir_text *t,
				enum layer layer)
{
	struct arena *a = p->files->c->a;
	size_t slash = str_find(t->s, '/', 0);
	struct str base =
		slash < t->s.n ? str_slice(t->s, slash + 1, t->s.n) : t->s;
	struct str name = arena_fmt(a, "%s%.*s", p->label, STR_ARG(base));

	for (size_t i = 0; presets_is_word(t->s) && i < ARRAY_LEN(folders);
	     i++) {
		struct str path =
			arena_fmt(a, "%s%.*s.yaml", folders[i], STR_ARG(t->s));
		enum files_status s = load_preset(p, FILES_POLICIES, path, name,
						  layer, t->from.at);

		if (s != FILES_ABSENT)
			return s;
	}
	report_text(p, DIAG_PRESET, t, "unknown preset");
	help_presets(p, t);
	return FILES_REFUSED;
}

/* Why a relative path may not be extended, or NULL. */
static const char *path_fault(struct str s)
{
	struct str seg;

	if (s.n && s.p[0] == '/')
		return "an absolute path:";
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 0x20)
			return "a path with a control character:";
	while (str_field(&s, '/', &seg)) {
		if (str_is(seg, ".."))
			return "a path that leads up:";
		if (seg.n == 0 || str_is(seg, "."))
			return "a path with an empty or '.' segment:";
	}
	return NULL;
}

static enum files_status extend_file(struct presets *p, const struct ir_text *t,
				     const struct presets_file *from,
				     enum layer layer)
{
	struct arena *a = p->files->c->a;
	struct str rel = t->s, path, name, dir = from->path;
	enum files_status s;
	const char *fault;

	if (str_starts(rel, STR("./")))
		rel = str_slice(rel, 2, rel.n);
	fault = path_fault(rel);
	if (fault) {
		report_text(p, DIAG_PRESET_PATH, t, fault);
		diag_help(
			diags_of(p),
			"a file that is extended lies below the folder of the one that extends it");
		return FILES_REFUSED;
	}
	while (dir.n && dir.p[dir.n - 1] != '/')
		dir.n--;
	path = arena_fmt(a, "%.*s%.*s", STR_ARG(dir), STR_ARG(rel));
	name = path;
	if (p->files->in->prefix)
		name = arena_fmt(a, "%s%.*s", p->files->in->prefix,
				 STR_ARG(path));
	else if (from->root == FILES_GIVEN)
		name = arena_fmt(a, "~/.membrane/%.*s", STR_ARG(path));
	if (from->root == FILES_STATE)
		name = arena_fmt(a, "~/.membrane/%.*s", STR_ARG(path));
	if (from->root == FILES_POLICIES)
		name = arena_fmt(a, "%s%.*s", p->label, STR_ARG(path));
	s = load_preset(p, from->root, path, name, layer, t->from.at);
	if (s != FILES_ABSENT)
		return s;
	report_text(p, DIAG_PRESET, t, "no file");
	diag_help(diags_of(p), "it is looked for beside '%s'",
		  diag_quote(diags_of(p), from->name));
	return FILES_REFUSED;
}

static enum files_status extend_from(struct presets *p, const ir_texts *list,
				     struct presets_file from, enum layer layer)
{
	if (layer == LAYER_GLOBAL)
		layer = LAYER_PRESET;
	vec_each(t, list) {
		enum files_status s = is_file(t->s)
					      ? extend_file(p, t, &from, layer)
					      : presets_named(p, t, layer);

		if (s == FILES_FAILED)
			return s;
	}
	return FILES_OK;
}

/* --- one file ------------------------------------------------------------ */

static enum files_status find_cycle(struct presets *p, uint32_t first,
				    struct span at)
{
	diag_error(diags_of(p), DIAG_CYCLE, at, "'%s' extends itself",
		   diag_quote(diags_of(p), p->known.v[first].name));
	for (uint32_t i = first + 1; i < p->known.n; i++)
		if (p->known.v[i].open)
			diag_note(diags_of(p), p->known.v[i].at,
				  "through '%s', extended here",
				  diag_quote(diags_of(p), p->known.v[i].name));
	diag_help(diags_of(p), "remove one of these");
	return FILES_REFUSED;
}

static bool within_bounds(struct presets *p, struct span at)
{
	if (p->depth >= LIMIT_EXTENDS_DEPTH) {
		diag_error(diags_of(p), DIAG_EXTENDS_DEPTH, at,
			   "presets more than %u deep", LIMIT_EXTENDS_DEPTH);
		return false;
	}
	if (p->sources->list.n >= LIMIT_SOURCES) {
		if (p->full)
			return false;
		p->full = true;
		diag_error(diags_of(p), DIAG_SOURCES, at, "more than %u files",
			   LIMIT_SOURCES);
		return false;
	}
	return true;
}

/* A plan names its runtime. Where it does not say how masks hold, it is of
 * before there was a choice: they were made at the start. */
static void keep_masks(struct ir_policy *p)
{
	if (p->runtime.set && !p->masks.set)
		p->masks = (ir_opt_masks){.set = true,
					  .from = p->runtime.from,
					  .v = IR_MASKS_START};
}

static bool bind_text(struct presets *p, const struct presets_file *me,
		      struct str text, enum layer layer, struct doc *out,
		      ir_texts *extends)
{
	struct pass_ctx *c = p->files->c;
	const struct source *src =
		sources_add(p->sources, me->name, text, layer);
	struct yaml_node *root;
	bool derived = me->root == FILES_GIVEN && p->files->in->derived;

	p->sources->list.v[p->sources->list.n - 1].derived = derived;
	*out = (struct doc){.layer = layer,
			    .source = me->name,
			    .preset = me->root == FILES_POLICIES};
	if (!yaml_parse(c->a, c->diags, src, &root) ||
	    !bind_policy(c, layer, root, &out->policy, extends))
		return false;
	if (derived)
		keep_masks(&out->policy);
	return true;
}

/*
 * A file of the workspace that is part of its policy is as readonly as
 * .membrane.yaml is: else an agent could widen the policy of the next session.
 */
static void hold_readonly(struct presets *p, struct str path, struct span at,
			  struct doc *doc)
{
	struct buf line;

	buf_init(&line, p->files->c->a);
	buf_addc(&line, '/');
	for (size_t i = 0; i < path.n; i++) {
		if (strchr("\\*?[ ", path.p[i]))
			buf_addc(&line, '\\');
		buf_addc(&line, path.p[i]);
	}
	*vec_push(p->files->c->a, &doc->policy.readonly) = (struct ir_pattern){
		.from = {at, doc->layer}, .line = buf_str(&line)};
}

static enum files_status load_preset(struct presets *p, enum files_root root,
				     struct str path, struct str name,
				     enum layer layer, struct span at)
{
	struct presets_file me = {root, path, name, true, at};
	enum files_status s;
	ir_texts extends = {0};
	struct str text;
	struct doc doc;
	uint32_t index = p->known.n;

	for (uint32_t i = 0; i < p->known.n; i++) {
		struct presets_file *k = &p->known.v[i];

		if (k->root != root || !str_eq(k->path, path))
			continue;
		p->ok &= !k->open;
		return k->open ? find_cycle(p, i, at) : FILES_OK;
	}
	s = files_read(p->files, root, path, name, at, &text);
	p->ok &= s == FILES_OK || s == FILES_ABSENT;
	if (s != FILES_OK)
		return s;
	if (!within_bounds(p, at)) {
		p->ok = false;
		return FILES_REFUSED;
	}
	*vec_push(p->files->c->a, &p->known) = me;
	p->ok &= bind_text(p, &me, text, layer, &doc, &extends);
	if (root == FILES_WORKSPACE && at.beg)
		hold_readonly(p, path, at, &doc);
	p->depth++;
	s = extend_from(p, &extends, me, layer);
	p->depth--;
	p->known.v[index].open = false;
	*vec_push(p->files->c->a, p->out) = doc;
	return s;
}

enum files_status presets_load(struct presets *p, enum files_root root,
			       struct str path, struct str name,
			       enum layer layer)
{
	return load_preset(p, root, path, name, layer, (struct span){0});
}
