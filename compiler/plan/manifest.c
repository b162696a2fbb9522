#include "compiler/plan/manifest.h"

#include "compiler/base/ascii.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"
#include "compiler/base/sha256.h"

#include <errno.h>
#include <string.h>

#define FORMAT "membrane-plan"

bool manifest_name_ok(struct str name)
{
	if (name.n == 0 || name.n > 64 || name.p[0] == '.' ||
	    str_is(name, MANIFEST_NAME))
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (!ascii_is_alnum(c) && c != '.' && c != '_' && c != '-')
			return false;
	}
	return true;
}

void plan_add(struct arena *a, struct plan *p, struct str name, struct str data)
{
	uint32_t i;

	(void)vec_push(a, &p->files);
	for (i = p->files.n - 1; i > 0; i--) {
		if (str_cmp(p->files.v[i - 1].name, name) < 0)
			break;
		p->files.v[i] = p->files.v[i - 1];
	}
	p->files.v[i] = (struct plan_file){name, data};
}

const struct plan_file *plan_file(const struct plan *p, const char *name)
{
	vec_each(f, &p->files)
		if (str_is(f->name, name))
			return f;
	return NULL;
}

static cJSON *named_digest(struct str name, struct str sha256)
{
	cJSON *o = json_object();

	json_put_str(o, "name", name);
	json_put_str(o, "sha256", sha256);
	return o;
}

struct str plan_manifest(struct arena *a, const struct plan *p)
{
	cJSON *root = json_object();
	cJSON *files = json_array(), *sources = json_array();

	json_put_u64(root, "version", PLAN_VERSION);
	json_put_cstr(root, "format", FORMAT);
	vec_each(f, &p->files) {
		char hex[SHA256_HEX_MAX];

		json_push(files,
			  named_digest(f->name,
				       str_of(sha256_hex(f->data, hex))));
	}
	json_put(root, "files", files);
	vec_each(s, &p->sources)
		json_push(sources, named_digest(s->name, s->sha256));
	json_put(root, "sources", sources);
	return json_text(a, root);
}

static int parse_files(struct arena *a, const cJSON *list, struct plan *out,
		       struct err *err)
{
	const cJSON *item;
	struct str name;

	cJSON_ArrayForEach(item, list) {
		if (out->files.n == LIMIT_PLAN_FILES)
			return err_set(err, -EPROTO, "%s: more than %u files",
				       MANIFEST_NAME, LIMIT_PLAN_FILES);
		if (!json_get_str(item, "name", &name) ||
		    !manifest_name_ok(name))
			return err_set(
				err, -EPROTO,
				"%s: file %u has no name that a plan can hold",
				MANIFEST_NAME, out->files.n + 1);
		*vec_push(a, &out->files) =
			(struct plan_file){.name = arena_str(a, name)};
	}
	return 0;
}

static int parse_sources(struct arena *a, const cJSON *list, struct plan *out,
			 struct err *err)
{
	struct str name, sha256;
	const cJSON *item;

	cJSON_ArrayForEach(item, list) {
		/* Flags are one more source than there are files. */
		if (out->sources.n > LIMIT_SOURCES)
			return err_set(err, -EPROTO, "%s: more than %u sources",
				       MANIFEST_NAME, LIMIT_SOURCES);
		if (!json_get_str(item, "name", &name) ||
		    !json_get_str(item, "sha256", &sha256) ||
		    !sha256_is_hex(sha256))
			return err_set(err, -EPROTO,
				       "%s: source %u has no name or digest",
				       MANIFEST_NAME, out->sources.n + 1);
		*vec_push(a, &out->sources) = (struct plan_source){
			arena_str(a, name), arena_str(a, sha256)};
	}
	return 0;
}

static int parse_root(struct arena *a, const cJSON *root, struct plan *out,
		      struct err *err)
{
	const cJSON *version =
		cJSON_GetObjectItemCaseSensitive(root, "version");
	const cJSON *files, *sources;
	struct str format;
	int rc;

	if (!json_get_str(root, "format", &format) || !str_is(format, FORMAT))
		return err_set(err, -EPROTO, "%s: not of a membrane plan",
			       MANIFEST_NAME);
	if (!cJSON_IsNumber(version) || version->valuedouble != PLAN_VERSION)
		return err_set(
			err, -EPROTO,
			"%s: a version of plan that is not known here (this is %d)",
			MANIFEST_NAME, PLAN_VERSION);
	if (!json_get_array(root, "files", &files) ||
	    !json_get_array(root, "sources", &sources))
		return err_set(err, -EPROTO, "%s: no files or no sources",
			       MANIFEST_NAME);
	rc = parse_files(a, files, out, err);
	return rc < 0 ? rc : parse_sources(a, sources, out, err);
}

int manifest_parse(struct arena *a, struct str text, struct plan *out,
		   struct err *err)
{
	struct plan p = {0};
	cJSON *root;
	int rc;

	/* cJSON stops at a NUL, and what is behind one would go unread. */
	if (str_find(text, '\0', 0) < text.n)
		return err_set(err, -EPROTO, "%s: a NUL byte", MANIFEST_NAME);
	root = cJSON_ParseWithLength(text.n ? text.p : "", text.n);
	if (!root)
		return err_set(err, -EPROTO, "%s: not JSON", MANIFEST_NAME);
	rc = parse_root(a, root, &p, err);
	cJSON_Delete(root);
	if (rc == 0)
		*out = p;
	return rc;
}

/* Say which file it is, where a digest is what differs. */
static int fail_mismatch(struct str text, const struct plan *p, struct err *err)
{
	vec_each(f, &p->files) {
		char hex[SHA256_HEX_MAX];

		if (!memmem(text.p, text.n, sha256_hex(f->data, hex),
			    SHA256_HEX_MAX - 1))
			return err_set(
				err, -EPROTO,
				"%.*s: altered since the plan was written",
				STR_ARG(f->name));
	}
	return err_set(err, -EPROTO, "%s: altered since the plan was written",
		       MANIFEST_NAME);
}

int manifest_open(struct arena *a, struct str text, manifest_read read,
		  void *ctx, struct plan *out, struct err *err)
{
	struct plan p;
	int rc = manifest_parse(a, text, &p, err);

	if (rc < 0)
		return rc;
	vec_each(f, &p.files) {
		rc = read(ctx, a, f->name, &f->data, err);
		if (rc < 0)
			return rc;
	}
	for (uint32_t i = 1; i < p.files.n; i++)
		if (str_cmp(p.files.v[i - 1].name, p.files.v[i].name) >= 0)
			return err_set(err, -EPROTO, "%s: files out of order",
				       MANIFEST_NAME);
	if (!str_eq(plan_manifest(a, &p), text))
		return fail_mismatch(text, &p, err);
	*out = p;
	return 0;
}
