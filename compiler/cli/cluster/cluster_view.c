/* A comparison, for people and for programs. */
#include "compiler/cli/cluster/parts.h"

#include <string.h>

#define CLUSTER_JSON_VERSION 1

static const struct {
	const char *word;
	enum view_paint paint;
} ends[] = {
	[CLUSTER_SAME] = {"same", VIEW_GOOD},
	[CLUSTER_DIFFERS] = {"differs", VIEW_BAD},
	[CLUSTER_MISSING] = {"missing", VIEW_BAD},
	[CLUSTER_STRAY] = {"stray", VIEW_BAD},
};

/* --- for people ----------------------------------------------------------- */

static void put_causes(const struct view *v, const struct kube_node *by)
{
	const char *sep = "      made by  ";

	if (!by)
		return;
	vec_each(c, &by->causes) {
		buf_addf(v->out, "%s", sep);
		view_clean(v->out, *c);
		sep = ", ";
	}
	buf_addc(v->out, '\n');
}

static void put_side(const struct view *v, const char *side, struct str value)
{
	buf_addf(v->out, "      %s  ", side);
	view_wrap(v, 15, 15, value.n ? value : STR("nothing"));
}

static void put_diff(const struct view *v, const struct cluster_diff *d)
{
	buf_addf(v->out, "    %.*s", STR_ARG(d->path));
	if (d->line)
		buf_addf(v->out, ", line %u", d->line);
	buf_addc(v->out, '\n');
	put_side(v, "cluster", d->cluster);
	put_side(v, "plan   ", d->plan);
	put_causes(v, d->by);
}

static void put_evidence(const struct view *v, const struct cluster_object *o)
{
	buf_addf(v->out, "    gate %s", o->gate);
	if (o->proved)
		buf_addf(v->out, "; %u image%s by digest", o->proved,
			 o->proved == 1 ? "" : "s");
	if (o->unproved)
		buf_addf(v->out,
			 "; of %u the node says no digest, or the plan none",
			 o->unproved);
	buf_addc(v->out, '\n');
}

static void put_object(const struct view *v, const struct cluster_object *o)
{
	uint32_t i = 0;

	buf_adds(v->out, "  ");
	view_paint(v, ends[o->end].paint, str_of(ends[o->end].word));
	buf_addf(v->out, "%*s%.*s ", 9 - (int)strlen(ends[o->end].word), "",
		 STR_ARG(o->kind));
	if (o->ns.n)
		buf_addf(v->out, "%.*s/", STR_ARG(o->ns));
	buf_addf(v->out, "%.*s\n", STR_ARG(o->name));
	if (o->why) {
		buf_adds(v->out, "    ");
		view_wrap(v, 4, 4, str_of(o->why));
	}
	if (o->gate)
		put_evidence(v, o);
	vec_each(d, &o->diffs) {
		if (view_more(v, 4, i++, o->diffs.n))
			break;
		put_diff(v, d);
	}
}

/* What is wrong comes first: of a thousand Pods most are as they should be. */
void cluster_view(const struct view *v, const struct cluster *c)
{
	uint32_t same = 0, i = 0;

	vec_each(o, &c->objects)
		if (o->end == CLUSTER_SAME)
			same++;
		else
			put_object(v, o);
	vec_each(o, &c->objects) {
		if (o->end != CLUSTER_SAME)
			continue;
		if (view_more(v, 2, i++, same))
			break;
		put_object(v, o);
	}
	if (c->pods == 0)
		buf_adds(v->out, "  no Pod of it is there\n");
}

/* --- for programs --------------------------------------------------------- */

static void put_text(cJSON *o, const char *key, struct str text)
{
	if (text.n)
		json_put_str(o, key, text);
}

static cJSON *diff_json(const struct cluster_diff *d)
{
	cJSON *o = json_object(), *causes = json_array();

	json_put_str(o, "path", d->path);
	if (d->line)
		json_put_u64(o, "line", d->line);
	put_text(o, "cluster", d->cluster);
	put_text(o, "plan", d->plan);
	if (d->by)
		vec_each(c, &d->by->causes)
			json_push_str(causes, *c);
	json_put(o, "causes", causes);
	return o;
}

static cJSON *object_json(const struct cluster_object *one)
{
	cJSON *o = json_object(), *diffs = json_array();

	json_put_cstr(o, "end", ends[one->end].word);
	json_put_str(o, "kind", one->kind);
	put_text(o, "namespace", one->ns);
	json_put_str(o, "name", one->name);
	if (one->why)
		json_put_cstr(o, "why", one->why);
	if (one->gate) {
		json_put_cstr(o, "gate", one->gate);
		json_put_u64(o, "images_proved", one->proved);
		json_put_u64(o, "images_unproved", one->unproved);
	}
	vec_each(d, &one->diffs)
		json_push(diffs, diff_json(d));
	json_put(o, "differences", diffs);
	return o;
}

struct str cluster_json(const struct cluster *c)
{
	cJSON *root = json_object(), *objects = json_array();

	json_put_u64(root, "version", CLUSTER_JSON_VERSION);
	json_put_str(root, "state", c->state);
	json_put_cstr(root, "plan", c->plan.digest);
	json_put_str(root, "name", c->name);
	json_put_bool(root, "same", c->same);
	json_put_u64(root, "pods", c->pods);
	vec_each(o, &c->objects)
		json_push(objects, object_json(o));
	json_put(root, "objects", objects);
	return json_shown(c->a, root);
}
