/* `membrane agents`: those that go by their names, and what each is granted. */
#include "compiler/base/json.h"
#include "compiler/cli/profile/profile.h"
#include "compiler/cli/text/console.h"

#include <string.h>

#define AGENTS_JSON_VERSION 1
#define FOLDER		    "agents/"
#define ABOUT_AT	    38u /* columns */

struct listed {
	const struct agent *agent;
	struct profile profile;
	const char *image; /* profile_image_state() */
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
	return o;
}

static void list_line(const struct view *v, const struct listed *x)
{
	struct arena *a = v->out->a;

	uint32_t n = profile_grants(&x->profile);

	buf_addf(v->out, "%-10s%3u grant%c  image %-8s ", x->agent->name, n,
		 n == 1 ? ' ' : 's', x->image);
	view_wrap(v, ABOUT_AT, ABOUT_AT, view_cleaned(a, x->profile.about));
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
				profile_view(&v, &x.profile);
		}
		driver_done(&x.profile.c);
	}
	if (!as_json)
		return console_result(buf_str(&out));
	json_put_u64(root, "version", AGENTS_JSON_VERSION);
	json_put(root, "agents", all);
	return console_result(json_shown(a, root));
}

/* --save: the profile of one into the workspace's policy. */
static int save_agent(struct arena *a, const struct options *o,
		      const struct inputs *in, const struct agent *g)
{
	struct compilation c = {0};
	bool there;
	struct err err;

	if (driver_compile(&c, &in->front, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		driver_done(&c);
		return STATUS_IO;
	}
	there = profile_extended(&c, g);
	driver_done(&c);
	if (there) {
		console_error("the policy extends '%s' already", g->name);
		return STATUS_REFUSED;
	}
	switch (profile_add(a, g, in, "Add that?",
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
