/* `membrane presets`: what a policy can extend. */
#include "compiler/cli/profile/profile.h"
#include "compiler/cli/text/console.h"
#include "compiler/front/presets.h"

#define ABOUT_AT 27u /* columns */

struct asked {
	struct arena *a;
	const char *policies;
	struct str name; /* empty: all of them */
	struct view v;
	uint32_t found;
};

static bool list_preset(struct asked *x, const char *folder, const char *name)
{
	struct profile p;
	bool ok = profile_read(x->a, x->policies, folder, name, &p);

	if (ok) {
		uint32_t n = profile_grants(&p);

		x->found++;
		buf_addf(x->v.out, "%-15s%3u grant%c  ", name, n,
			 n == 1 ? ' ' : 's');
		view_wrap(&x->v, ABOUT_AT, ABOUT_AT,
			  view_cleaned(x->a, p.about));
		if (x->name.n) {
			profile_view(&x->v, &p);
			view_row(&x->v, 2, VIEW_DIM,
				 arena_fmt(x->a, "policies/%s%s.yaml", folder,
					   name),
				 (struct str){0});
		}
	}
	driver_done(&p.c);
	return ok;
}

/* The default policy lies in the first folder: it is no preset to extend. */
static bool list_folder(struct asked *x, const char *folder)
{
	presets_names names = {0};

	presets_list(x->a, x->policies, folder, &names);
	vec_each(n, &names)
		if ((!x->name.n || str_is(x->name, *n)) &&
		    !list_preset(x, folder, *n))
			return false;
	return true;
}

int command_presets(struct arena *a, const struct options *o)
{
	struct asked x = {.a = a};
	struct inputs in;
	struct buf out;
	struct err err;

	if (inputs_find(a, o, &in, &err) < 0) {
		console_error("%s", view_cleaned(a, str_of(err.text)).p);
		return STATUS_IO;
	}
	buf_init(&out, a);
	x.policies = in.front.policies;
	x.v = (struct view){&out, console_width(STDOUT_FILENO),
			    console_colour(STDOUT_FILENO)};
	if (o->words.n)
		x.name = o->words.v[0];
	for (size_t i = 1; presets_folder(i); i++)
		if (!list_folder(&x, presets_folder(i)))
			return STATUS_REFUSED;
	if (x.found)
		return console_result(buf_str(&out));
	if (x.name.n)
		console_error(
			"there is no preset '%s': 'membrane presets' lists them",
			view_cleaned(a, str_slice(x.name, 0, 60)).p);
	else
		console_error("no presets are installed");
	return STATUS_REFUSED;
}
