/* A tree of the emitters beside an object of JSON: all that differs. */
#include "compiler/cli/cluster/parts.h"

#include "compiler/base/ascii.h"
#include "compiler/cli/cluster/quantity.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct walk {
	struct arena *a;
	cluster_diffs *out;
};

/* Where both are. */
struct spot {
	const char *path;	    /* as people read it */
	const char *place;	    /* of defaults.def */
	const struct kube_node *by; /* the nearest that says its cause */
	bool amount;		    /* a text here is a quantity */
};

static void compare_nodes(const struct walk *w, const struct spot *at,
			  const struct kube_node *n, const cJSON *v);

/* --- what is shown -------------------------------------------------------- */

static cJSON *node_json(const struct kube_node *n)
{
	cJSON *o;

	switch (n->kind) {
	case KUBE_NODE_MAP:
		o = json_object();
		vec_each(item, &n->items)
			json_put(o, (*item)->key, node_json(*item));
		return o;
	case KUBE_NODE_LIST:
		o = json_array();
		vec_each(item, &n->items)
			json_push(o, node_json(*item));
		return o;
	case KUBE_NODE_TEXT:
		return json_str(n->text);
	case KUBE_NODE_NUMBER:
		return cJSON_CreateRaw(n->text.p);
	case KUBE_NODE_BOOL:
		return cJSON_CreateBool(n->truth);
	}
	abort();
}

static struct str show_json(const struct walk *w, cJSON *take_value)
{
	return view_fit(
		w->a, view_cleaned(w->a, json_compact(w->a, take_value)),
		CLUSTER_SHOWN);
}

static struct cluster_diff *add_diff(const struct walk *w,
				     const struct spot *at)
{
	struct cluster_diff *d = vec_push(w->a, w->out);

	d->path = view_cleaned(w->a, str_of(at->path));
	d->by = at->by;
	return d;
}

/* Either may be NULL: it is not there. */
static void differ(const struct walk *w, const struct spot *at,
		   const struct kube_node *n, const cJSON *v)
{
	struct cluster_diff *d = add_diff(w, at);

	if (v)
		d->cluster = show_json(w, cJSON_Duplicate(v, true));
	if (n)
		d->plan = show_json(w, node_json(n));
}

/* Texts of lines: the first that is not the same. */
static void differ_lines(const struct walk *w, const struct spot *at,
			 struct str plan, struct str cluster)
{
	struct cluster_diff *d = add_diff(w, at);
	struct str x = {0}, y = {0};
	bool more = true;

	while (more && str_eq(x, y)) {
		bool in_plan = str_line(&plan, &x);

		if (!in_plan)
			x = (struct str){0};
		more = str_line(&cluster, &y);
		if (!more)
			y = (struct str){0};
		more |= in_plan;
		d->line++;
	}
	d->plan = show_json(w, json_str(x));
	d->cluster = show_json(w, json_str(y));
}

/* --- one value ------------------------------------------------------------ */

static bool is_number(struct str text, const cJSON *v)
{
	uint64_t n;

	return cJSON_IsNumber(v) && str_u64(text, JSON_WHOLE_MAX, &n) &&
	       v->valuedouble == (double)n;
}

static bool is_text(const struct spot *at, struct str text, const cJSON *v)
{
	struct str other;

	if (!cJSON_IsString(v))
		return false;
	other = str_of(v->valuestring);
	return str_eq(text, other) || (at->amount && quantity_same(text, other));
}

static void compare_texts(const struct walk *w, const struct spot *at,
			  const struct kube_node *n, const cJSON *v)
{
	if (is_text(at, n->text, v))
		return;
	if (cJSON_IsString(v) && memchr(n->text.p, '\n', n->text.n))
		differ_lines(w, at, n->text, str_of(v->valuestring));
	else
		differ(w, at, n, v);
}

/* --- maps ----------------------------------------------------------------- */

static bool is_plain(const char *key)
{
	for (; *key; key++)
		if (!ascii_is_alnum(*key) && *key != '_' && *key != '-')
			return false;
	return true;
}

static struct spot below_key(const struct walk *w, const struct spot *at,
			     const char *key, const struct kube_node *n)
{
	struct spot s = *at;

	s.path = is_plain(key)
			 ? arena_fmt(w->a, "%s%s%s", at->path,
				     *at->path ? "." : "", key)
				   .p
			 : arena_fmt(w->a, "%s[\"%s\"]", at->path, key).p;
	s.place = default_below(w->a, at->place, key);
	if (n && n->causes.n)
		s.by = n;
	s.amount |= strcmp(key, "resources") == 0 ||
		    strcmp(key, "sizeLimit") == 0;
	return s;
}

/* What is asked for, where only a limit is said, is the limit. */
static bool is_limit(const struct kube_node *limits, const struct spot *at,
		     const cJSON *v)
{
	const struct kube_node *n = kube_tree_get(limits, v->string);

	return n && is_text(at, n->text, v);
}

static void compare_requests(const struct walk *w, const struct spot *at,
			     const struct kube_node *limits, const cJSON *v)
{
	const cJSON *member;

	cJSON_ArrayForEach(member, v) {
		struct spot s = below_key(w, at, member->string, NULL);

		if (!is_limit(limits, &s, member))
			differ(w, &s, NULL, member);
	}
}

/* A field that the plan has not. */
static void compare_more(const struct walk *w, const struct spot *map_at,
			 const struct kube_node *map, const cJSON *v)
{
	struct spot at = below_key(w, map_at, v->string, NULL);
	const struct kube_node *limits =
		map && strcmp(at.place, "container.resources.requests") == 0
			? kube_tree_get(map, "limits")
			: NULL;
	const cJSON *member;

	if (default_holds(map_at->place, v))
		return;
	if (!cJSON_IsObject(v) || (!limits && !default_known(at.place))) {
		differ(w, &at, NULL, v);
		return;
	}
	if (limits) {
		compare_requests(w, &at, limits, v);
		return;
	}
	cJSON_ArrayForEach(member, v)
		compare_more(w, &at, NULL, member);
}

static void compare_maps(const struct walk *w, const struct spot *at,
			 const struct kube_node *n, const cJSON *v)
{
	const cJSON *member;

	if (!cJSON_IsObject(v)) {
		differ(w, at, n, v);
		return;
	}
	cJSON_ArrayForEach(member, v) {
		const struct kube_node *own = kube_tree_get(n, member->string);
		struct spot s;

		if (!own) {
			compare_more(w, at, n, member);
			continue;
		}
		s = below_key(w, at, member->string, own);
		compare_nodes(w, &s, own, member);
	}
	vec_each(own, &n->items) {
		struct spot s;

		if (cJSON_GetObjectItemCaseSensitive(v, (*own)->key) ||
		    default_left_out(at->place, *own))
			continue;
		s = below_key(w, at, (*own)->key, *own);
		differ(w, &s, *own, NULL);
	}
}

/* --- lists ---------------------------------------------------------------- */

static struct spot below_item(const struct walk *w, const struct spot *at,
			      uint32_t i, const struct kube_node *n)
{
	struct spot s = *at;

	s.path = arena_fmt(w->a, "%s[%u]", at->path, i).p;
	s.place = default_below(w->a, at->place, "[]");
	if (n && n->causes.n)
		s.by = n;
	return s;
}

static bool is_same_item(const char *by, const struct kube_node *n,
			 const cJSON *v)
{
	const struct kube_node *own = kube_tree_get(n, by);
	const cJSON *other = cJSON_GetObjectItemCaseSensitive(v, by);

	if (!own || !other)
		return false;
	return own->kind == KUBE_NODE_NUMBER
		       ? is_number(own->text, other)
		       : cJSON_IsString(other) &&
				 str_is(own->text, other->valuestring);
}

/* The plan's item of that name, the first that is not taken; else n. */
static uint32_t find_item(const struct kube_node *list, const bool *taken,
			  const char *by, const cJSON *v)
{
	for (uint32_t i = 0; i < list->items.n; i++)
		if (!taken[i] && is_same_item(by, list->items.v[i], v))
			return i;
	return list->items.n;
}

/* Names alone: what is in the items was compared. */
static void differ_order(const struct walk *w, const struct spot *at,
			 const struct kube_node *n, const cJSON *v,
			 const char *by)
{
	struct cluster_diff *d = add_diff(w, at);
	cJSON *plan = json_array(), *cluster = json_array();
	const cJSON *item;

	vec_each(own, &n->items)
		json_push(plan, node_json(kube_tree_get(*own, by)));
	cJSON_ArrayForEach(item, v)
		json_push(cluster,
			  cJSON_Duplicate(
				  cJSON_GetObjectItemCaseSensitive(item, by),
				  true));
	d->plan = show_json(w, plan);
	d->cluster = show_json(w, cluster);
}

static void compare_named(const struct walk *w, const struct spot *at,
			  const struct kube_node *n, const cJSON *v,
			  const char *by)
{
	bool *taken = arena_array(w->a, n->items.n + 1, sizeof(*taken));
	bool ordered = true;
	uint32_t i = 0, last = 0;
	const cJSON *item;

	cJSON_ArrayForEach(item, v) {
		uint32_t own = find_item(n, taken, by, item);
		bool there = own < n->items.n;
		struct kube_node *node = there ? n->items.v[own] : NULL;
		struct spot s = below_item(w, at, i++, node);

		if (!there) {
			differ(w, &s, NULL, item);
			continue;
		}
		taken[own] = true;
		ordered &= own >= last;
		last = own;
		compare_nodes(w, &s, node, item);
	}
	for (i = 0; i < n->items.n; i++) {
		struct spot s = below_item(w, at, i, n->items.v[i]);

		if (!taken[i])
			differ(w, &s, n->items.v[i], NULL);
	}
	if (!ordered)
		differ_order(w, at, n, v, by);
}

static void compare_lists(const struct walk *w, const struct spot *at,
			  const struct kube_node *n, const cJSON *v)
{
	const char *by = default_items(at->place);
	const cJSON *item;
	uint32_t i = 0;

	if (!cJSON_IsArray(v)) {
		differ(w, at, n, v);
		return;
	}
	if (by) {
		compare_named(w, at, n, v, by);
		return;
	}
	cJSON_ArrayForEach(item, v) {
		struct kube_node *own =
			i < n->items.n ? n->items.v[i] : NULL;
		struct spot s = below_item(w, at, i++, own);

		if (own)
			compare_nodes(w, &s, own, item);
		else
			differ(w, &s, NULL, item);
	}
	for (; i < n->items.n; i++) {
		struct spot s = below_item(w, at, i, n->items.v[i]);

		differ(w, &s, n->items.v[i], NULL);
	}
}

static void compare_nodes(const struct walk *w, const struct spot *at,
			  const struct kube_node *n, const cJSON *v)
{
	switch (n->kind) {
	case KUBE_NODE_MAP:
		compare_maps(w, at, n, v);
		return;
	case KUBE_NODE_LIST:
		compare_lists(w, at, n, v);
		return;
	case KUBE_NODE_TEXT:
		compare_texts(w, at, n, v);
		return;
	case KUBE_NODE_NUMBER:
		if (!is_number(n->text, v))
			differ(w, at, n, v);
		return;
	case KUBE_NODE_BOOL:
		if (!cJSON_IsBool(v) || cJSON_IsTrue(v) != n->truth)
			differ(w, at, n, v);
		return;
	}
	abort();
}

void cluster_compare(struct arena *a, const struct kube_node *plan,
		     const cJSON *object, const char *root, cluster_diffs *out)
{
	struct walk w = {a, out};
	struct spot at = {.path = "", .place = root};

	compare_maps(&w, &at, plan, object);
}
