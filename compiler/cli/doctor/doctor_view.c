/* What the findings of this machine come to, and how they are shown. */
#include "compiler/base/json.h"
#include "compiler/cli/doctor/doctor.h"

struct check {
	const char *group, *name, *consequence, *remedy;
	enum doctor_need needed;
};

static const struct check table[] = {
#define CHECK(id, group, name, needed, consequence, remedy)                    \
	[DOCTOR_##id] = {group, name, consequence, remedy, DOCTOR_FOR_##needed},
#include "compiler/cli/doctor/doctor.def"
#undef CHECK
};

/* What a view takes, where the policy here has none. */
static bool is_spared(const struct doctor *d, int id)
{
	return d->viewless && (id == DOCTOR_NATIVE_VIEW || id == DOCTOR_FUSE ||
			       id == DOCTOR_SHARED || id == DOCTOR_IMAGE_VIEW);
}

static unsigned lacking_count(const struct doctor *d, enum doctor_need engine)
{
	unsigned n = 0;

	for (int i = 0; i < DOCTOR_CHECKS; i++)
		n += table[i].needed == engine && !is_spared(d, i) &&
		     d->of[i].state != DOCTOR_OK;
	return n;
}

/* What runs it, or would: of what is left open the native engine where it
 * works, then Docker; NO: neither does. */
static enum doctor_need engine_of(const struct doctor *d)
{
	switch (d->engine) {
	case IR_ENGINE_DOCKER:
		return DOCTOR_FOR_DOCKER;
	case IR_ENGINE_NATIVE:
		return DOCTOR_FOR_NATIVE;
	case IR_ENGINE_AUTO:
		break;
	}
	if (lacking_count(d, DOCTOR_FOR_NATIVE) == 0)
		return DOCTOR_FOR_NATIVE;
	return lacking_count(d, DOCTOR_FOR_DOCKER) == 0 ? DOCTOR_FOR_DOCKER
							: DOCTOR_FOR_NO;
}

bool doctor_runs(const struct doctor *d)
{
	enum doctor_need engine = engine_of(d);

	return engine != DOCTOR_FOR_NO && lacking_count(d, engine) == 0;
}

/* Where neither engine works, whatever one of them lacks would help. */
static bool is_needed(const struct doctor *d, int id)
{
	enum doctor_need engine = engine_of(d), own = table[id].needed;

	return own != DOCTOR_FOR_NO && !is_spared(d, id) &&
	       (engine == DOCTOR_FOR_NO || own == engine);
}

static const char *consequence_of(const struct doctor *d, int id)
{
	return is_spared(d, id)
		       ? "nothing for the policy here, of 'masks: start': its sessions have no view; no session starts where masks hold"
		       : table[id].consequence;
}

/* Of the policies that a folder here could have. */
static const char *policy_of(const struct doctor *d)
{
	for (int i = 0; i < DOCTOR_CHECKS; i++)
		if (is_spared(d, i) && d->of[i].state != DOCTOR_OK)
			return "with masks that are made at the start, as the policy here says";
	return "with the default policy";
}

const char *doctor_remedy(enum doctor_id id)
{
	return table[id].remedy;
}

static const char *remedy_of(const struct check *c,
			     const struct doctor_finding *f)
{
	return f->remedy ? f->remedy : c->remedy;
}

static void put_sum(const struct view *v, const struct doctor *d)
{
	static const char *const by[] = {
		[DOCTOR_FOR_NO] = "",
		[DOCTOR_FOR_DOCKER] = "docker",
		[DOCTOR_FOR_NATIVE] = "the native engine",
	};
	enum doctor_need engine = engine_of(d);

	if (doctor_runs(d)) {
		buf_addf(
			v->out,
			"'membrane run' works here %s, by %s\n",
			policy_of(d), by[engine]);
		return;
	}
	if (engine == DOCTOR_FOR_NO) {
		buf_addf(
			v->out,
			"'membrane run' does not work here: the native engine lacks %u of what it needs, and docker %u\n",
			lacking_count(d, DOCTOR_FOR_NATIVE),
			lacking_count(d, DOCTOR_FOR_DOCKER));
		return;
	}
	if (engine == DOCTOR_FOR_DOCKER &&
	    lacking_count(d, DOCTOR_FOR_NATIVE) == 0)
		buf_adds(
			v->out,
			"without 'engine: docker' in the policy it needs no Docker, and what the native engine takes is here\n");
	buf_addf(
		v->out,
		"'membrane run' does not work here by %s: it lacks %u of what it needs\n",
		by[engine], lacking_count(d, engine));
}

static const struct doctor_row *rows_of(struct arena *a, const struct doctor *d)
{
	struct doctor_row *rows = arena_array(a, DOCTOR_CHECKS, sizeof(*rows));

	for (int i = 0; i < DOCTOR_CHECKS; i++)
		rows[i] = (struct doctor_row){
			.group = table[i].group,
			.name = table[i].name,
			.consequence = consequence_of(d, i),
			.remedy = remedy_of(&table[i], &d->of[i]),
			.needed = is_needed(d, i),
			.found = d->of[i],
		};
	return rows;
}

void doctor_view(const struct view *v, const struct doctor *d)
{
	doctor_rows_view(v, rows_of(v->out->a, d), DOCTOR_CHECKS);
	put_sum(v, d);
}

struct str doctor_json(struct arena *a, const struct doctor *d)
{
	return json_shown(a, doctor_rows_json(rows_of(a, d), DOCTOR_CHECKS,
					      doctor_runs(d)));
}
