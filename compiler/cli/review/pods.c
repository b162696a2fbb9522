#include "compiler/cli/review/pods.h"

#include "compiler/base/buf.h"
#include "compiler/base/sha256.h"
#include "compiler/manifest/manifest.h"
#include "compiler/plan/docker_json.h"
#include "compiler/plan/files.h"
#include "compiler/plan/kubernetes_json.h"
#include "compiler/plan/manifest.h"

#include <errno.h>

/* --- the ConfigMap ---------------------------------------------------------
 */

static int read_yaml(struct arena *a, const struct plan *p, const char *name,
		     struct manifest *out, struct err *err)
{
	const struct plan_file *f = plan_file(p, name);
	struct manifest_fault fault;

	if (!f)
		return err_set(err, -EPROTO, "%s: missing", name);
	if (!manifest_documents(a, f->data, out, &fault))
		return err_set(err, -EPROTO, "%s:%u: %.*s", name, fault.line,
			       STR_ARG(fault.what));
	return 0;
}

static int read_data(void *ctx, struct arena *a, struct str name,
		     struct str *out, struct err *err)
{
	const struct manifest_node *data = ctx, *n;

	n = manifest_get(data, arena_cstr(a, name));
	if (!n || n->kind != MANIFEST_TEXT)
		return err_set(err, -EPROTO, "%.*s: missing", STR_ARG(name));
	*out = n->text;
	return 0;
}

/* The digest of what the ConfigMap holds, which is the plan's. */
static int sealed_digest(struct arena *a, const struct plan *p,
			 char hex[SHA256_HEX_MAX], struct err *err)
{
	const struct manifest_node *root, *data;
	struct plan inside = {0};
	struct manifest m;
	struct str seal;
	int rc = read_yaml(a, p, PLAN_CONFIGMAP, &m, err);

	if (rc < 0)
		return rc;
	root = m.documents.n == 1 ? m.documents.v[0] : NULL;
	data = manifest_get(root, "data");
	seal = manifest_text(manifest_get(data, MANIFEST_NAME));
	rc = manifest_open(a, seal, read_data, (void *)(uintptr_t)data, &inside,
			   err);
	if (rc < 0)
		return err_while(err, PLAN_CONFIGMAP);
	vec_each(f, &inside.files) {
		const struct plan_file *own =
			plan_file(p, arena_cstr(a, f->name));

		if (!own || !str_eq(own->data, f->data))
			return err_set(err, -EPROTO,
				       PLAN_CONFIGMAP
				       ": %.*s is not the plan's",
				       STR_ARG(f->name));
	}
	sha256_hex(seal, hex);
	if (!str_eq(manifest_text(manifest_get(manifest_get(root, "metadata"),
					       "name")),
		    arena_fmt(a, KUBE_PLAN_NAME "%s", hex)))
		return err_set(err, -EPROTO,
			       PLAN_CONFIGMAP
			       ": its name is not the digest of what it holds");
	return 0;
}

int pods_open(struct arena *a, const struct plan *p, struct kube_options *out,
	      struct err *err)
{
	const struct plan_file *f = plan_file(p, PLAN_KUBERNETES);
	cJSON *root = f ? cJSON_ParseWithLength(f->data.p, f->data.n) : NULL;
	const cJSON *item, *list;
	char hex[SHA256_HEX_MAX];
	int rc = sealed_digest(a, p, hex, err);

	*out = (struct kube_options){.name = STR(KUBE_NAME),
				     .cilium = plan_file(p, PLAN_CILIUM)};
	if (plan_file(p, PLAN_GATE_POD))
		out->topology = KUBE_APART;
	list = cJSON_GetObjectItemCaseSensitive(root,
						KUBERNETES_JSON_ADDRESSES);
	cJSON_ArrayForEach(item, list)
		if (cJSON_IsString(item) && rc == 0 &&
		    kube_gate_at_parse(str_of(item->valuestring), out))
			rc = err_set(err, -EPROTO,
				     PLAN_KUBERNETES ": no address of a gate");
	cJSON_Delete(root);
	return rc;
}

/* --- fields ----------------------------------------------------------------
 */

struct field {
	struct str path, text;
};
typedef VEC(struct field) field_list;

struct reader {
	struct arena *a;
	const char *hex; /* of its plan: what every other one has differently */
	field_list all;
};

/* The text without the plan's digest, whole or as a label has it. */
static struct str undigested(const struct reader *r, struct str text)
{
	size_t n = strlen(r->hex);

	for (size_t at = 0; at + KUBE_LABEL_HEX <= text.n; at++) {
		size_t k = 0;

		while (k < n && at + k < text.n && text.p[at + k] == r->hex[k])
			k++;
		if (k == n || (k == KUBE_LABEL_HEX && at + k == text.n))
			return arena_fmt(r->a, "%.*sPLAN%.*s", (int)at, text.p,
					 (int)(text.n - at - k),
					 text.p + at + k);
	}
	return text;
}

/* What an item of a list is called: by its name, its mountPath or its place. */
static struct str item_name(const struct reader *r,
			    const struct manifest_node *n, uint32_t i)
{
	struct str path = manifest_text(manifest_get(n, "mountPath"));
	struct str name = manifest_text(manifest_get(n, "name"));

	if (path.n || name.n)
		return path.n ? path : name;
	return n->kind == MANIFEST_TEXT ? undigested(r, n->text)
					: arena_fmt(r->a, "%u", i);
}

static struct str member_path(const struct reader *r, struct str path,
			      const struct manifest_node *of, struct str key)
{
	return of->kind == MANIFEST_LIST
		       ? arena_fmt(r->a, "%.*s[%.*s]", STR_ARG(path),
				   STR_ARG(key))
		       : arena_fmt(r->a, "%.*s%s%.*s", STR_ARG(path),
				   path.n ? "." : "", STR_ARG(key));
}

static void add_fields(struct reader *r, const struct manifest_node *n,
		       struct str path)
{
	uint32_t i = 0;

	if (n->kind == MANIFEST_TEXT) {
		*vec_push(r->a, &r->all) =
			(struct field){path, undigested(r, n->text)};
		return;
	}
	if (n->members.n == 0)
		*vec_push(r->a, &r->all) = (struct field){path, STR("{}")};
	vec_each(m, &n->members) {
		struct str key = n->kind == MANIFEST_MAP
					 ? m->key
					 : item_name(r, m->value, i++);

		/* What the item is called already. */
		if (n->kind == MANIFEST_MAP && str_ends(path, STR("]")) &&
		    str_eq(item_name(r, n, 0), manifest_text(m->value)))
			continue;
		add_fields(r, m->value, member_path(r, path, n, key));
	}
}

/* The Pod is "pod", whatever object makes it. */
static void add_object(struct reader *r, const struct manifest_node *n,
		       struct str path)
{
	bool is_pod = str_is(manifest_text(manifest_get(n, "kind")), "Pod");
	const struct manifest_node *spec = manifest_get(n, "spec");

	if (n->kind != MANIFEST_MAP)
		return;
	vec_each(m, &n->members) {
		if (is_pod && m->value == spec)
			add_fields(r, m->value, STR("pod.spec"));
		else if (m->value != spec || spec->kind != MANIFEST_MAP)
			add_fields(r, m->value,
				   member_path(r, path, n, m->key));
	}
	if (is_pod)
		add_fields(r,
			   manifest_get(manifest_get(n, "metadata"), "labels"),
			   STR("pod.metadata.labels"));
	else if (spec && spec->kind == MANIFEST_MAP)
		vec_each(m, &spec->members)
			add_fields(
				r, m->value,
				str_is(m->key, "template") ||
						str_is(m->key, "podTemplate")
					? STR("pod")
					: member_path(r,
						      member_path(r, path, n,
								  STR("spec")),
						      spec, m->key));
}

static int by_path(const void *va, const void *vb)
{
	const struct field *a = va, *b = vb;
	int c = str_cmp(a->path, b->path);

	return c ? c : str_cmp(a->text, b->text);
}

/* Fields of several objects begin with what each is. */
static int read_fields(struct arena *a, const struct plan *p, const char *name,
		       field_list *out, struct err *err)
{
	char hex[SHA256_HEX_MAX];
	struct reader r = {.a = a, .hex = hex};
	struct manifest m;
	int rc = 0;

	*out = (field_list){0};
	if (!plan_file(p, name))
		return 0;
	rc = sealed_digest(a, p, hex, err);
	if (rc == 0)
		rc = read_yaml(a, p, name, &m, err);
	if (rc < 0)
		return rc;
	for (uint32_t i = 0; i < m.documents.n; i++)
		add_object(&r, m.documents.v[i],
			   i ? arena_fmt(a, "[%u]", i) : (struct str){0});
	vec_sort(&r.all, by_path);
	*out = r.all;
	return 0;
}

/* --- what differs ----------------------------------------------------------
 */

static bool ends_so(struct str path, const char *const *words)
{
	for (; *words; words++)
		if (str_ends(path, str_of(*words)))
			return true;
	return false;
}

static bool is_in(struct str path, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= path.n; i++)
		if (memcmp(path.p + i, part, n) == 0)
			return true;
	return false;
}

/* Is what the field is of not on that side? */
static bool is_gone(const field_list *side, struct str path)
{
	size_t end = path.n;

	while (end && path.p[end - 1] != '.')
		end--;
	vec_each(f, side)
		if (str_starts(f->path, str_slice(path, 0, end)))
			return false;
	return true;
}

/* Fewer rights is what can be told so; the rest is more, or neither. */
static enum access_way way_of(const field_list *old, const field_list *now,
			      struct str path, struct str was, struct str is)
{
	static const char *const rights[] = {".privileged",
					     ".allowPrivilegeEscalation",
					     ".hostNetwork",
					     ".hostPID",
					     ".hostIPC",
					     ".hostUsers",
					     ".automountServiceAccountToken",
					     ".enableServiceLinks",
					     ".shareProcessNamespace",
					     NULL};
	static const char *const bounds[] = {
		".readOnlyRootFilesystem", ".runAsNonRoot", ".readOnly", NULL};
	bool added = is_in(path, ".capabilities.add[");
	bool taken = is_in(path, ".capabilities.drop[");

	if (is_gone(is.n ? old : now, path))
		return !added && !is_in(path, ".volumes[") &&
				       !is_in(path, ".volumeMounts[")
			       ? ACCESS_OTHER
		       : is.n ? ACCESS_GAINED
			      : ACCESS_LOST;
	if (added || taken)
		return (added ? is.n : was.n) ? ACCESS_GAINED : ACCESS_LOST;
	if (ends_so(path, rights))
		return str_is(is, "false") ? ACCESS_LOST : ACCESS_GAINED;
	if (ends_so(path, bounds))
		return str_is(is, "true") ? ACCESS_LOST : ACCESS_GAINED;
	if (is_in(path, ".volumes[") || is_in(path, ".volumeMounts["))
		return is.n == 0 ? ACCESS_LOST : ACCESS_GAINED;
	return ACCESS_OTHER;
}

static void compare_fields(struct arena *a, const char *file,
			   const field_list *old, const field_list *now,
			   pods_changes *out)
{
	uint32_t i = 0, k = 0;

	while (i < old->n || k < now->n) {
		const struct field *x = i < old->n ? &old->v[i] : NULL;
		const struct field *y = k < now->n ? &now->v[k] : NULL;
		int c = !x ? 1 : !y ? -1 : str_cmp(x->path, y->path);
		struct pods_change change = {.file = file};

		i += c <= 0;
		k += c >= 0;
		if (c == 0 && str_eq(x->text, y->text))
			continue;
		change.path = c <= 0 ? x->path : y->path;
		change.was = c <= 0 ? x->text : (struct str){0};
		change.is = c >= 0 ? y->text : (struct str){0};
		change.way =
			way_of(old, now, change.path, change.was, change.is);
		*vec_push(a, out) = change;
	}
}

int pods_compare(struct arena *a, const struct plan *old,
		 const struct plan *now, pods_changes *out, struct err *err)
{
	static const char *const files[] = {PLAN_POD, PLAN_GATE_POD};

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		field_list was, is;
		int rc = read_fields(a, old, files[i], &was, err);

		if (rc == 0)
			rc = read_fields(a, now, files[i], &is, err);
		if (rc < 0)
			return rc;
		compare_fields(a, files[i], &was, &is, out);
	}
	return 0;
}
