/*
 * The plan for programs: one JSON object, described in doc/json.md. Members are
 * added as membrane grows; none changes its meaning under one "version".
 */
#include "compiler/cli/plan/views.h"

#include "compiler/base/date.h"
#include "compiler/base/lint.h"
#include "compiler/cli/review/changes_json.h"
#include "compiler/cli/text/place_json.h"
#include "compiler/plan/files.h"

static void put_lint(cJSON *o, const struct diag_view *one)
{
	const struct lint *lint = lint_of(one->id);
	char id[8];

	snprintf(id, sizeof(id), "%c%03u", one->error ? 'E' : 'W',
		 (unsigned)one->id % 1000);
	json_put_cstr(o, "id", id);
	if (lint && !one->error)
		json_put_cstr(o, "name", lint->name);
	json_put_str(o, "text", one->text);
	if (one->help.n)
		json_put_str(o, "help", one->help);
}

static cJSON *diag_list(struct diags d, bool errors)
{
	cJSON *list = json_array();
	struct diag_view one;

	for (unsigned i = 0; diags_get(&d, i, &one); i++) {
		cJSON *o;

		if (one.error != errors)
			continue;
		o = json_object();
		put_lint(o, &one);
		place_json_span(o, d.sources, one.at);
		json_push(list, o);
	}
	return list;
}

/* Of 'engine: auto' by Docker alone: the line that decided. */
static cJSON *obstacle_json(const struct plan_model *m)
{
	cJSON *o = json_object();

	json_put_str(o, "text", m->obstacle.text);
	place_json_span(o, m->sources, m->obstacle.at);
	return o;
}

static cJSON *third_parties(const struct plan_model *m)
{
	cJSON *list = json_array();

	vec_each(h, &m->reached) {
		const struct third_party *place = h->place;
		cJSON *o = json_object(), *by = json_object();

		json_put_str(o, "dest", h->name);
		json_put_cstr(o, "kind", third_party_kind_name(place->kind));
		json_put_bool(o, "shared", place->shared);
		json_put_cstr(o, "methods", place->methods);
		json_put_str(o, "path", place->path);
		json_put_cstr(o, "what", place->what);
		json_put_cstr(o, "documented", place->source);
		json_put_str(by, "text", h->grant->canon);
		place_json_span(by, m->sources, h->grant->from.at);
		json_put(o, "grant", by);
		json_push(list, o);
	}
	return list;
}

static cJSON *excepted_json(const struct plan_model *m)
{
	cJSON *list = json_array();

	vec_each(w, &m->waived) {
		cJSON *o = json_object(), *by = json_object();

		put_lint(o, &w->view);
		place_json_span(o, m->sources, w->view.at);
		json_put_str(by, "reason", w->waiver->reason);
		if (w->waiver->has_until)
			json_put_str(by, "until",
				     date_text(m->a, w->waiver->until));
		place_json_span(by, m->sources, w->waiver->from.at);
		json_put(o, "exception", by);
		json_push(list, o);
	}
	return list;
}

static cJSON *files_json(const struct plan_model *m)
{
	cJSON *list = json_array();
	char hex[SHA256_HEX_MAX];

	vec_each(f, &m->plan->files) {
		cJSON *o = json_object();

		json_put_str(o, "name", f->name);
		json_put_cstr(o, "sha256", sha256_hex(f->data, hex));
		json_put_u64(o, "bytes", f->data.n);
		json_push(list, o);
	}
	return list;
}

static cJSON *sources_json(const struct plan_model *m)
{
	cJSON *list = json_array();

	vec_each(s, &m->plan->sources) {
		cJSON *o = json_object();

		json_put_str(o, "name", s->name);
		json_put_str(o, "sha256", s->sha256);
		json_push(list, o);
	}
	return list;
}

static cJSON *additions_json(const struct plan_model *m)
{
	cJSON *list = json_array();

	vec_each(t, &m->adds.adds) {
		cJSON *o = json_object();

		json_put_str(o, "text", t->s);
		place_json_span(o, m->sources, t->from.at);
		json_push(list, o);
	}
	return list;
}

/* Whether what is added may run, and the digest that approvals go by. */
static cJSON *trust_json(const struct plan_model *m)
{
	static const char *const states[] = {
		[TRUST_NOTHING] = "nothing",   [TRUST_ALWAYS] = "always",
		[TRUST_NEVER] = "never",       [TRUST_APPROVED] = "approved",
		[TRUST_OPEN] = "not-approved", [TRUST_UNKNOWN] = "unknown",
	};
	cJSON *o = json_object();

	json_put_cstr(o, "state", states[m->trust]);
	json_put_cstr(o, "digest", m->adds.digest);
	return o;
}

static cJSON *risks_json(const struct plan_model *m)
{
	cJSON *list = json_array();

	vec_each(r, &m->risks) {
		cJSON *o = json_object();

		json_put_cstr(o, "id", r->id);
		json_put_str(o, "text", r->text);
		place_json_span(o, m->sources, r->from.at);
		json_push(list, o);
	}
	return list;
}

/* Files of the plan that are not as they were. */
static cJSON *changed_files(const struct plan_model *m)
{
	cJSON *list = json_array();

	for (uint32_t i = 0; i < m->n_files; i++)
		json_push_str(list, m->files[i].name);
	return list;
}

struct str plan_json(const struct plan_model *m)
{
	const struct plan_file *policy = plan_file(m->plan, PLAN_POLICY);
	cJSON *root = json_object();

	json_put_u64(root, "version", PLAN_JSON_VERSION);
	json_put_cstr(root, "plan", m->digest);
	json_put_bool(root, "first_use", m->first_use);
	json_put(root, "policy",
		 policy ? cJSON_ParseWithLength(policy->data.p, policy->data.n)
			: cJSON_CreateNull());
	json_put(root, "files", files_json(m));
	json_put(root, "sources", sources_json(m));
	json_put(root, "additions", additions_json(m));
	json_put(root, "trust", trust_json(m));
	if (m->obstacle.text.n)
		json_put(root, "not_native", obstacle_json(m));
	json_put(root, "not_enforced", diag_list(m->refused, true));
	json_put(root, "git", plan_git_json(&m->git));
	if (m->linked.git.kind != GITLINKED_NONE)
		json_put(root, "git_repository", plan_linked_json(&m->linked));
	json_put(root, "git_identity", plan_identity_json(m->a, &m->identity));
	json_put(root, "residual_risks", risks_json(m));
	json_put(root, "third_parties", third_parties(m));
	json_put(root, "warnings", diag_list(*m->diags, false));
	json_put(root, "excepted_warnings", excepted_json(m));
	json_put(root, "changes",
		 model_has_changes(m) ? changes_json(&m->changes)
				      : cJSON_CreateNull());
	json_put(root, "changed_files",
		 m->last ? changed_files(m) : cJSON_CreateNull());
	return json_shown(m->a, root);
}

struct str plan_json_refused(struct arena *a, unsigned version,
			     const struct diags *d)
{
	cJSON *root = json_object();

	json_put_u64(root, "version", version);
	json_put(root, "errors", diag_list(*d, true));
	json_put(root, "warnings", diag_list(*d, false));
	return json_shown(a, root);
}
