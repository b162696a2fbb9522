#include "compiler/front/front.h"

#include "compiler/front/files.h"
#include "compiler/front/parts.h"
#include "compiler/front/presets.h"

#include <errno.h>
#include <string.h>

#define GLOBAL_NAME STR("~/.membrane/config.yaml")

/* By layout, as in front.h. */
static const char *const policy_names[] = {FRONT_POLICY, FRONT_POLICY_OLDER};
static const char *const ignore_names[] = {".membraneignore",
					   ".membrane/.membraneignore"};

/* Names that look like ours and would be passed over in silence. */
static const struct {
	enum files_root root;
	const char *wrong, *right, *shown;
} misnamed[] = {
	{FILES_WORKSPACE, ".membrane.yml", FRONT_POLICY, ".membrane.yml"},
	{FILES_WORKSPACE, ".membrane/config.yaml", FRONT_POLICY_OLDER,
	 ".membrane/config.yaml"},
	{FILES_STATE, "config.yml", "config.yaml", "~/.membrane/config.yml"},
};

struct front {
	struct files files;
	struct presets presets;
	struct sources *sources;
	bool ok;
};

static struct diags *diags_of(struct front *f)
{
	return f->files.c->diags;
}

/*
 * In one's home: what lies in .membrane there is everybody's policy, not that
 * of a workspace, and no name of it is wrong for being the one or the other.
 */
static bool is_home(struct front *f)
{
	if (!files_is_state(&f->files))
		return false;
	diag_error(
		diags_of(f), DIAG_LAYOUT, (struct span){0},
		"the workspace holds membrane's own folder, '.membrane': it is your home, or the like");
	diag_help(diags_of(f),
		  "work in a folder below it: '--workspace DIR', or cd there");
	f->ok = false;
	return true;
}

static void check_names(struct front *f)
{
	for (size_t i = 0; i < ARRAY_LEN(misnamed); i++) {
		if ((misnamed[i].root == FILES_STATE &&
		     f->files.in->no_global) ||
		    !files_exists(&f->files, misnamed[i].root,
				  misnamed[i].wrong))
			continue;
		diag_error(diags_of(f), DIAG_MISNAMED, (struct span){0},
			   "'%s' is not a name that membrane reads",
			   misnamed[i].shown);
		diag_help(diags_of(f), "rename it to '%s'", misnamed[i].right);
		f->ok = false;
	}
}

/* Which of the two is there: an index, 2 for neither; both is an error. */
static unsigned which_is_there(struct front *f, const char *const names[2])
{
	bool here = files_exists(&f->files, FILES_WORKSPACE, names[0]);
	bool older = files_exists(&f->files, FILES_WORKSPACE, names[1]);

	if (here && older) {
		diag_error(diags_of(f), DIAG_LAYOUT, (struct span){0},
			   "both '%s' and '%s' in the workspace", names[0],
			   names[1]);
		diag_help(diags_of(f), "keep '%s' and remove the older one",
			  names[0]);
		f->ok = false;
		return 2;
	}
	return here ? 0 : older ? 1 : 2;
}

/* What people know a file of the workspace by. */
static struct str named_file(struct front *f, const char *path)
{
	const char *prefix = f->files.in->prefix;

	return prefix ? arena_fmt(f->files.c->a, "%s%s", prefix, path)
		      : str_of(path);
}

/* The user's own file, or the default that the first run writes there. */
static enum files_status load_global(struct front *f)
{
	const struct front_input *in = f->files.in;
	enum files_status s;

	if (in->no_global)
		return FILES_OK;
	if (in->global) {
		s = presets_load(&f->presets, FILES_GIVEN, str_of(in->global),
				 in->prefix ? named_file(f, in->global)
					    : GLOBAL_NAME,
				 LAYER_GLOBAL);
		if (s != FILES_ABSENT)
			return s;
		err_set(f->files.err, -ENOENT, "%s: %s", in->global,
			strerror(ENOENT));
		return FILES_FAILED;
	}
	s = presets_load(&f->presets, FILES_STATE, STR("config.yaml"),
			 GLOBAL_NAME, LAYER_GLOBAL);
	if (s == FILES_ABSENT)
		s = presets_load(&f->presets, FILES_POLICIES,
				 STR("default.yaml"),
				 STR(SOURCE_PRESET "default"), LAYER_GLOBAL);
	return s;
}

static enum files_status load_workspace(struct front *f)
{
	unsigned i = which_is_there(f, policy_names);

	if (i == 2)
		return FILES_OK;
	return presets_load(&f->presets, FILES_WORKSPACE,
			    str_of(policy_names[i]),
			    named_file(f, policy_names[i]), LAYER_WORKSPACE);
}

static enum files_status load_ignore(struct front *f)
{
	unsigned i = which_is_there(f, ignore_names);
	struct doc doc = {.layer = LAYER_WORKSPACE};
	const struct source *src;
	enum files_status s;
	struct str text;

	if (i == 2)
		return FILES_OK;
	doc.source = named_file(f, ignore_names[i]);
	s = files_read(&f->files, FILES_WORKSPACE, str_of(ignore_names[i]),
		       doc.source, (struct span){0}, &text);
	if (s != FILES_OK)
		return s;
	src = sources_add(f->sources, doc.source, text, LAYER_WORKSPACE);
	f->ok &= ignorefile_parse(f->files.c, src, &doc.policy.ignore);
	*vec_push(f->files.c->a, f->presets.out) = doc;
	return FILES_OK;
}

static void load_flags(struct front *f, const struct flags_text *flags)
{
	struct doc doc;

	if (flags->n == 0)
		return;
	f->ok &= flags_bind(f->files.c, f->sources, flags, &doc);
	*vec_push(f->files.c->a, f->presets.out) = doc;
}

int front_load(struct pass_ctx *c, struct sources *sources,
	       const struct front_input *in, docs *out, bool *out_ok,
	       struct err *err)
{
	static enum files_status (*const steps[])(struct front *) = {
		load_global, load_workspace, load_ignore};
	struct front f = {
		.files = {c, in, err},
		.sources = sources,
		.ok = true,
	};

	f.presets = (struct presets){.files = &f.files,
				     .sources = sources,
				     .out = out,
				     .label = SOURCE_PRESET,
				     .ok = true};
	if (is_home(&f)) {
		*out_ok = false;
		return 0;
	}
	check_names(&f);
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		enum files_status s = steps[i](&f);

		if (s == FILES_FAILED)
			return err->code;
		f.ok &= s != FILES_REFUSED;
	}
	load_flags(&f, &(struct flags_text){in->flags, in->n_flags, LAYER_FLAGS,
					    "<command line>", ' '});
	if (in->n_within &&
	    within_load(&f.presets, in->within, in->n_within) == FILES_FAILED)
		return err->code;
	load_flags(&f, &(struct flags_text){in->session, in->n_session,
					    LAYER_SESSION, "session", '\n'});
	*out_ok = f.ok && f.presets.ok && c->diags->errors == 0;
	return 0;
}

struct str front_policy_name(const struct sources *sources)
{
	struct str older = STR(FRONT_POLICY_OLDER);

	return sources_named(sources, older) ? older : STR(FRONT_POLICY);
}
