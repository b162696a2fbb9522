#include "compiler/emit/trace/trace_json.h"

#include "compiler/base/json.h"
#include "compiler/ir/tracee.h"
#include "compiler/plan/trace_json.h"

/* Of a session's files: 100 MB or a day each, twenty, two GB together. */
#define ROTATE_BYTES (100u << 20)
#define ROTATE_AGE_S 86400u
#define KEEP_FILES   20u
#define KEEP_BYTES   (2ull << 30)
#define NAME_MAX_LEN 63u /* the tracer compares no more */

/* Where people and tools keep what opens other doors. */
static const char *const sensitive[] = {
	".aws",	       ".docker",     ".env",	  ".git-credentials",
	".gnupg",      ".kube",	      ".netrc",	  ".npmrc",
	".pgpass",     ".pypirc",     ".ssh",	  "authorized_keys",
	"credentials", "id_dsa",      "id_ecdsa", "id_ed25519",
	"id_rsa",      "known_hosts", "shadow",	  "sudoers",
	"token",
};

bool trace_json_wanted(const struct ir_policy *p)
{
	return p->trace.engine.v != IR_TRACE_OFF;
}

static cJSON *events_json(const struct ir_trace *t)
{
	cJSON *list = json_array();

	vec_each(e, &t->events) {
		cJSON *o = json_object(), *filters = json_array();

		json_put_str(o, TRACE_JSON_NAME, e->name);
		vec_each(f, &e->filters)
			json_push_str(filters, f->s);
		json_put(o, TRACE_JSON_FILTERS, filters);
		if (e->optional.v)
			json_put_bool(o, TRACE_JSON_OPTIONAL, true);
		json_push(list, o);
	}
	return list;
}

/* A pattern that is one name, whatever folder it is in. */
static bool is_name(const struct ir_pattern *p)
{
	if (p->back || p->line.n > NAME_MAX_LEN)
		return false;
	for (size_t i = 0; i < p->line.n; i++)
		if (p->line.p[i] == '/' || p->line.p[i] == '*' ||
		    p->line.p[i] == '?' || p->line.p[i] == '[' ||
		    p->line.p[i] == '\\')
			return false;
	return true;
}

static bool has_text(const cJSON *list, struct str s)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, list)
		if (str_is(s, item->valuestring))
			return true;
	return false;
}

/* What is hidden is worth a record when somebody asks for it. */
static cJSON *names_json(const struct ir_policy *p)
{
	cJSON *list = json_array();

	for (size_t i = 0; i < ARRAY_LEN(sensitive); i++)
		json_push_str(list, str_of(sensitive[i]));
	vec_each(i, &p->ignore)
		if (is_name(i) && cJSON_GetArraySize(list) < 200 &&
		    !has_text(list, i->line))
			json_push_str(list, i->line);
	return list;
}

static uint64_t or_default(const ir_opt_u64 *v, uint64_t otherwise)
{
	return v->set ? v->v : otherwise;
}

/* What only the built-in tracer leaves out; Tracee has its own policy. */
static void put_choice(cJSON *root, const struct ir_policy *p)
{
	cJSON *exclude = json_array();

	json_put_bool(root, TRACE_JSON_READS, p->trace.reads.v);
	json_put(root, TRACE_JSON_SENSITIVE, names_json(p));
	vec_each(e, &p->trace.exclude)
		json_push_str(exclude, e->s);
	json_put(root, TRACE_JSON_EXCLUDE, exclude);
}

bool trace_json_emit(const struct emit_in *in, struct buf *out)
{
	const struct ir_trace *t = &in->policy->trace;
	cJSON *root = json_object(), *rotate = json_object();

	json_put_u64(root, TRACE_JSON_VERSION_KEY, TRACE_JSON_VERSION);
	if (t->engine.v == IR_TRACE_TRACEE)
		json_put_str(root, TRACE_JSON_TRACEE,
			     t->version.set ? t->version.v
					    : STR(TRACEE_DEFAULT_VERSION));
	json_put(root, TRACE_JSON_EVENTS, events_json(t));
	if (t->engine.v == IR_TRACE_NATIVE)
		put_choice(root, in->policy);
	json_put_u64(rotate, TRACE_JSON_SIZE,
		     or_default(&t->rotate_bytes, ROTATE_BYTES));
	json_put_u64(rotate, TRACE_JSON_AGE,
		     or_default(&t->rotate_age_s, ROTATE_AGE_S));
	json_put_u64(rotate, TRACE_JSON_KEEP,
		     or_default(&t->keep_files, KEEP_FILES));
	json_put_u64(rotate, TRACE_JSON_TOTAL,
		     or_default(&t->keep_bytes, KEEP_BYTES));
	json_put(root, TRACE_JSON_ROTATE, rotate);
	json_put_bool(root, TRACE_JSON_REQUIRED, t->required.v);
	json_add(out, root);
	return true;
}
