/* `membrane agents`: those that go by their names, and what each is granted. */
#include "compiler/base/json.h"
#include "compiler/cli/profile/profile.h"
#include "compiler/cli/program/program.h"
#include "compiler/cli/text/console.h"
#include "compiler/ir/natively.h"

#include <stdlib.h>
#include <string.h>

#define AGENTS_JSON_VERSION 1
#define FOLDER		    "agents/"
#define ABOUT_AT	    48u /* columns */

struct listed {
	const struct agent *agent;
	struct profile profile;
	const char *image;     /* profile_image_state() */
	const char *installed; /* where PATH has it; or NULL */
};

static bool read_agent(struct arena *a, const struct inputs *in,
		       const struct agent *g, struct listed *out)
{
	*out = (struct listed){.agent = g};
	if (!profile_read(a, in->front.policies, FOLDER, g->name,
			  &out->profile)) {
		driver_done(&out->profile.c);
		return false;
	}
	out->image = profile_image_state(a, g);
	out->installed = program_where(a, getenv("PATH"), str_of(g->name));
	return true;
}

static cJSON *agent_json(struct arena *a, const struct listed *x)
{
	cJSON *o = json_object(), *reaches = json_array();
	cJSON *refuses = json_array();

	json_put_cstr(o, "name", x->agent->name);
	json_put_str(o, "about", view_cleaned(a, x->profile.about));
	vec_each(g, &x->profile.c.policy.allow)
		json_push_str(reaches, view_cleaned(a, g->canon));
	json_put(o, "reaches", reaches);
	vec_each(r, &x->profile.c.policy.purposes) {
		cJSON *one = json_object();

		json_put_str(one, "dest", ir_dest_text(a, &r->dest));
		json_put_str(one, "reason", view_cleaned(a, r->reason));
		json_push(refuses, one);
	}
	json_put(o, "refuses", refuses);
	json_put_cstr(o, "image", x->image);
	if (x->installed)
		json_put_str(o, "installed",
			     view_cleaned(a, str_of(x->installed)));
	return o;
}

static void list_line(const struct view *v, const struct listed *x)
{
	struct arena *a = v->out->a;

	uint32_t n = profile_grants(&x->profile);

	buf_addf(v->out, "%-10s%3u grant%c  image %-8s %-9s ", x->agent->name,
		 n, n == 1 ? ' ' : 's', x->image,
		 x->installed ? "installed" : "");
	view_wrap(v, ABOUT_AT, ABOUT_AT, view_cleaned(a, x->profile.about));
}

static void view_agent(const struct view *v, const struct listed *x)
{
	profile_view(v, &x->profile);
	if (x->installed)
		view_row(v, 2, VIEW_PLAIN,
			 view_cleaned(v->out->a, str_of(x->installed)),
			 STR("installed"));
}

static int list_agents(struct arena *a, const struct options *o,
		       const struct inputs *in)
{
	bool as_json = options_get(o, OPTION_JSON) != NULL;
	cJSON *root = as_json ? json_object() : NULL;
	cJSON *all = as_json ? json_array() : NULL;
	const struct agent *g;
	struct buf out;
	struct view v = {&out, console_width(STDOUT_FILENO),
			 console_colour(STDOUT_FILENO)};

	buf_init(&out, a);
	for (size_t i = 0; (g = agent_at(i)); i++) {
		struct listed x;

		if (o->words.n && !str_is(o->words.v[0], g->name))
			continue;
		if (!read_agent(a, in, g, &x)) {
			cJSON_Delete(root);
			cJSON_Delete(all);
			return STATUS_REFUSED;
		}
		if (as_json) {
			json_push(all, agent_json(a, &x));
		} else {
			list_line(&v, &x);
			if (o->words.n)
				view_agent(&v, &x);
		}
		driver_done(&x.profile.c);
	}
	if (!as_json)
		return console_result(buf_str(&out));
	json_put_u64(root, "version", AGENTS_JSON_VERSION);
	json_put(root, "agents", all);
	return console_result(json_shown(a, root));
}

/* Its folders, where sessions here run this machine's programs: the engine is
 * named, or Docker does not answer. */
static bool find_folders(struct arena *a, const struct inputs *in,
			 const struct compilation *c, const struct agent *g,
			 ir_texts *out)
{
	const struct outside_places places = outside_places_of(a, in);
	struct program own;

	if (!c->ok || !(natively_runs(&c->policy) ||
			(c->policy.engine.from.layer == LAYER_FLOOR &&
			 strcmp(profile_image_state(a, g), "unknown") == 0)))
		return true;
	program_find(a, getenv("PATH"), &places, &c->policy, g->name, &own);
	*out = own.folders;
	program_say_refused(a, g->name, &own);
	return !own.refused;
}

/* --save: the profile of one into the workspace's policy. */
static int save_agent(struct arena *a, const struct options *o,
		      const struct inputs *in, const struct agent *g)
{
	struct profile_wish wish = {.program = g->name, .agent = g};
	struct compilation c = {0};
	bool ok;
	struct err err;

	if (driver_compile(&c, &in->front, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		driver_done(&c);
		return STATUS_IO;
	}
	if (profile_extended(&c, g))
		wish.agent = NULL;
	ok = find_folders(a, in, &c, g, &wish.folders);
	driver_done(&c);
	if (!ok)
		return STATUS_REFUSED;
	if (!wish.agent && !wish.folders.n) {
		console_error("the policy extends '%s' already", g->name);
		return STATUS_REFUSED;
	}
	switch (profile_add(a, &wish, in, "Add that?",
			    options_get(o, OPTION_YES) != NULL)) {
	case PROFILE_ADDED:
		return STATUS_OK;
	case PROFILE_DECLINED:
		console_error("nothing was added");
		return STATUS_REFUSED;
	case PROFILE_UNASKED:
		console_error(
			"nobody can be asked here: --yes does it; nothing was added");
		return STATUS_REFUSED;
	case PROFILE_FAILED:
		break;
	}
	return STATUS_REFUSED;
}

int command_agents(struct arena *a, const struct options *o)
{
	bool save = options_get(o, OPTION_SAVE) != NULL;
	const struct agent *g = o->words.n ? agent_named(o->words.v[0]) : NULL;
	struct inputs in;
	struct err err;

	if (o->words.n && !g) {
		console_error(
			"there is no agent '%s' here: 'membrane agents' lists them",
			view_cleaned(a, str_slice(o->words.v[0], 0, 60)).p);
		return STATUS_USAGE;
	}
	if ((save && (!g || options_get(o, OPTION_JSON))) ||
	    (!save && options_get(o, OPTION_YES))) {
		console_error(
			"--save goes with an agent's name, and --yes with --save");
		return STATUS_USAGE;
	}
	if (inputs_find(a, o, &in, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	return save ? save_agent(a, o, &in, g) : list_agents(a, o, &in);
}
