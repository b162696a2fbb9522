/* What kubectl prints, read. */
#include "compiler/cli/preflight/parts.h"

#include "compiler/base/ascii.h"

#include <stdio.h>
#include <string.h>

static const cJSON *find(const cJSON *o, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(o, name);
}

/* --- versions --------------------------------------------------------------- */

/* "20", "33+": some clouds add a sign. */
static unsigned minor_of(const cJSON *version)
{
	struct str text = json_find_str(version, "minor");
	size_t n = 0;
	uint64_t minor = 0;

	while (n < text.n && ascii_is_digit(text.p[n]))
		n++;
	return str_u64(str_slice(text, 0, n), 9999, &minor) ? (unsigned)minor
							    : 0;
}

static void take_version(const cJSON *version, char *out, unsigned *out_minor)
{
	snprintf(out, ANSWERS_VERSION_MAX, "%.*s",
		 STR_ARG(json_find_str(version, "gitVersion")));
	*out_minor = minor_of(version);
}

bool answers_versions(struct str text, struct answers_versions *out)
{
	cJSON *root = cJSON_ParseWithLength(text.p, text.n);
	const cJSON *client = find(root, "clientVersion");
	bool ok = json_find_str(client, "gitVersion").n > 0;

	if (ok) {
		*out = (struct answers_versions){0};
		take_version(client, out->client, &out->client_minor);
		take_version(find(root, "serverVersion"), out->server,
			     &out->server_minor);
	}
	cJSON_Delete(root);
	return ok;
}

/* --- rights ----------------------------------------------------------------- */

static bool is_for(const struct answers_right *r, const cJSON *asked)
{
	return str_is(json_find_str(asked, "verb"), r->verb) &&
	       str_is(json_find_str(asked, "group"), r->group) &&
	       str_is(json_find_str(asked, "resource"), r->resource) &&
	       str_is(json_find_str(asked, "subresource"), r->subresource);
}

static void take_review(const cJSON *review, struct answers_right *rights,
			size_t n)
{
	const cJSON *asked = find(find(review, "spec"), "resourceAttributes");
	const cJSON *status = find(review, "status");

	if (!status)
		return;
	for (size_t i = 0; i < n; i++)
		if (is_for(&rights[i], asked))
			rights[i].state = json_find_true(status, "allowed")
						  ? DOCTOR_OK
						  : DOCTOR_MISSING;
}

/* One document behind another, or items of a List: kubectl's versions differ. */
void answers_rights(struct str text, struct answers_right *rights, size_t n)
{
	text = str_trim(text);
	while (text.n) {
		const char *end = text.p;
		cJSON *root =
			cJSON_ParseWithLengthOpts(text.p, text.n, &end, false);
		const cJSON *list, *one;

		if (!root)
			return;
		if (json_get_array(root, "items", &list))
			cJSON_ArrayForEach(one, list)
				take_review(one, rights, n);
		else
			take_review(root, rights, n);
		text = str_trim(
			str_slice(text, (size_t)(end - text.p), text.n));
		cJSON_Delete(root);
	}
}

struct str answers_verbs(struct arena *a, const struct answers_right *rights,
			 size_t n, enum check_id id, enum doctor_state state)
{
	struct buf b;

	buf_init(&b, a);
	for (size_t i = 0; i < n; i++)
		if (rights[i].id == id && rights[i].state == state)
			buf_addf(&b, "%s%s", b.n ? ", " : "", rights[i].verb);
	return buf_str(&b);
}

/* --- what a server keeps ---------------------------------------------------- */

bool answers_sidecar_kept(struct str pod)
{
	cJSON *root = cJSON_ParseWithLength(pod.p, pod.n);
	const cJSON *first = cJSON_GetArrayItem(
		find(find(root, "spec"), "initContainers"), 0);
	bool kept = str_is(json_find_str(first, "restartPolicy"), "Always");

	cJSON_Delete(root);
	return kept;
}

bool answers_users_kept(struct str pod)
{
	cJSON *root = cJSON_ParseWithLength(pod.p, pod.n);
	bool kept = cJSON_IsFalse(find(find(root, "spec"), "hostUsers"));

	cJSON_Delete(root);
	return kept;
}

bool answers_served(struct str text, const char *resource)
{
	cJSON *root = cJSON_ParseWithLength(text.p, text.n);
	const cJSON *one;
	bool found = false;

	cJSON_ArrayForEach(one, find(root, "resources"))
		found |= str_is(json_find_str(one, "name"), resource);
	cJSON_Delete(root);
	return found;
}

/* --- logs ------------------------------------------------------------------- */

static bool holds(struct str text, const char *part)
{
	return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

/* HAProxy's words, 2.6: one check that passes, and three that did not. */
enum answers_reach answers_reach(struct str line)
{
	if (holds(line, "Health check for server probe/listener succeeded"))
		return REACH_YES;
	if (holds(line, "Server probe/listener is DOWN"))
		return REACH_NO;
	return REACH_NOTHING;
}

enum answers_event answers_gate(struct arena *a, struct str line,
				struct str *out_text, bool *out_ipv6)
{
	cJSON *root = cJSON_ParseWithLength(line.p, line.n);
	struct str event = json_find_str(root, "event");
	enum answers_event found = GATE_OTHER;

	if (str_is(event, "ready")) {
		found = GATE_READY;
		*out_ipv6 = json_find_true(root, "ipv6");
	} else if (str_is(event, "error")) {
		found = GATE_ERROR;
		*out_text = arena_str(a, json_find_str(root, "message"));
	} else {
		*out_text = arena_str(a, line);
	}
	cJSON_Delete(root);
	return found;
}
