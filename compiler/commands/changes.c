#include "compiler/commands/changes.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* One thing that a plan says, found in one of its files. */
struct fact {
	enum change_kind kind;
	struct str text;
};
typedef VEC(struct fact) facts;

static const char *const names[] = {
	[CHANGE_ALLOW] = "allow",   [CHANGE_DENY] = "deny",
	[CHANGE_IGNORE] = "ignore", [CHANGE_READONLY] = "readonly",
	[CHANGE_HOLD] = "hold",	    [CHANGE_AGENT] = "agent",
	[CHANGE_GATE] = "gate",	    [CHANGE_TRACER] = "tracer",
	[CHANGE_FILE] = "file",
};

const char *change_kind_name(enum change_kind k)
{
	return names[k];
}

/* Files that facts are read from; the rest is compared as a whole. */
static const char *const told[] = {"docker.json", "mounts.plan",
				   "provenance.json"};
/* Derived from the same grants and patterns: a change there needs no word. */
static const char *const derived[] = {"names.map", "policy.json",
				      "ruleset.nft"};

static bool listed(const char *const *list, size_t n, struct str name)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(name, list[i]))
			return true;
	return false;
}

static cJSON *parse(const struct plan *p, const char *name)
{
	const struct plan_file *f = plan_file(p, name);

	return f ? cJSON_ParseWithLength(f->data.p, f->data.n) : NULL;
}

static void add(struct arena *a, facts *out, enum change_kind kind,
		struct str text)
{
	*vec_push(a, out) = (struct fact){kind, arena_str(a, text)};
}

/* provenance.json: {"rules": {"g-…": {"text": …}}} */
static void read_rules(struct arena *a, const struct plan *p, facts *out)
{
	cJSON *root = parse(p, "provenance.json");
	const cJSON *rule;

	cJSON_ArrayForEach(rule, cJSON_GetObjectItem(root, "rules"))
	{
		const char *text =
			cJSON_GetStringValue(cJSON_GetObjectItem(rule, "text"));

		if (text && rule->string)
			add(a, out,
			    rule->string[0] == 'd' ? CHANGE_DENY : CHANGE_ALLOW,
			    str_of(text));
	}
	cJSON_Delete(root);
}

/* mounts.plan: "ignore PATTERN" and the like, one per line. */
static void read_mounts(struct arena *a, const struct plan *p, facts *out)
{
	const struct plan_file *f = plan_file(p, "mounts.plan");
	struct str rest = f ? f->data : (struct str){0}, line, kind;

	while (str_line(&rest, &line)) {
		if (!str_field(&line, ' ', &kind))
			continue;
		for (int k = CHANGE_IGNORE; k <= CHANGE_HOLD; k++)
			if (str_is(kind, names[k]))
				add(a, out, (enum change_kind)k, line);
	}
}

/* docker.json: the words of each vector; a flag and its value are one. */
static void read_argv(struct arena *a, const cJSON *root, enum change_kind role,
		      facts *out)
{
	const cJSON *argv = cJSON_GetObjectItem(
		cJSON_GetObjectItem(root, names[role]), "argv");
	int n = cJSON_GetArraySize(argv);

	for (int i = 0; i < n; i++) {
		const char *w =
			cJSON_GetStringValue(cJSON_GetArrayItem(argv, i));
		const char *v =
			cJSON_GetStringValue(cJSON_GetArrayItem(argv, i + 1));

		if (!w)
			continue;
		if (w[0] == '-' && !strchr(w, '=') && v && v[0] != '-' &&
		    v[0] != '{') {
			add(a, out, role, arena_fmt(a, "%s %s", w, v));
			i++;
			continue;
		}
		add(a, out, role, str_of(w));
	}
}

static int by_kind_and_text(const void *va, const void *vb)
{
	const struct fact *x = va, *y = vb;

	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
				  : str_cmp(x->text, y->text);
}

static facts read_facts(struct arena *a, const struct plan *p)
{
	facts out = {0};
	cJSON *docker = parse(p, "docker.json");

	read_rules(a, p, &out);
	read_mounts(a, p, &out);
	read_argv(a, docker, CHANGE_AGENT, &out);
	read_argv(a, docker, CHANGE_GATE, &out);
	read_argv(a, docker, CHANGE_TRACER, &out);
	cJSON_Delete(docker);
	if (out.n)
		qsort(out.v, out.n, sizeof(*out.v), by_kind_and_text);
	return out;
}

static void compare_files(struct arena *a, const struct plan *old,
			  const struct plan *now, bool any_fact,
			  change_list *out)
{
	struct plan_delta *deltas = NULL;
	uint32_t n = plan_compare(a, old, now, &deltas);

	for (uint32_t i = 0; i < n; i++) {
		struct plan_delta *d = &deltas[i];

		if (d->change == PLAN_CHANGED &&
		    listed(told, ARRAY_LEN(told), d->name))
			continue;
		if (any_fact && d->change == PLAN_CHANGED &&
		    listed(derived, ARRAY_LEN(derived), d->name))
			continue;
		*vec_push(a, out) = (struct change){
			.added = d->change == PLAN_ADDED,
			.both = d->change == PLAN_CHANGED,
			.kind = CHANGE_FILE,
			.text = d->name,
		};
	}
}

void changes_find(struct arena *a, const struct plan *old,
		  const struct plan *now, change_list *out)
{
	facts was = read_facts(a, old), is = read_facts(a, now);
	uint32_t i = 0, k = 0;

	while (i < was.n || k < is.n) {
		int order = i == was.n	? 1
			    : k == is.n ? -1
					: by_kind_and_text(&was.v[i], &is.v[k]);

		if (order == 0) {
			i++;
			k++;
			continue;
		}
		const struct fact *f = order < 0 ? &was.v[i++] : &is.v[k++];

		*vec_push(a, out) = (struct change){
			.added = order > 0, .kind = f->kind, .text = f->text};
	}
	compare_files(a, old, now, out->n > 0, out);
}
