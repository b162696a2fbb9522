#include "runtime/launch/kubernetes/objects.h"

#include "compiler/base/json.h"
#include "compiler/base/sys/fileio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#define VERSION	 1
#define FILE_MAX (64u << 10)
#define REAP_S	 1u /* for containers that nobody watches any more */

/* --- where, and on record ------------------------------------------------- */

int objects_find(struct arena *a, struct kubectl *at, struct err *err)
{
	const char *words[] = {
		"config", "view", "--minify", "--output",
		"jsonpath={.current-context}{\"\\n\"}{..namespace}", NULL};
	struct kubectl_call c = {.words = words, .timeout_ms = OBJECTS_MS};
	struct str rest, context, ns;
	int rc = kubectl_run(a, at, &c, err);

	if (rc < 0 || c.status != 0)
		return rc;
	rest = c.text;
	if (!str_line(&rest, &context))
		return 0;
	if (!str_line(&rest, &ns))
		ns = (struct str){0};
	if (at->context.n == 0)
		at->context = str_trim(context);
	if (at->ns.n == 0)
		at->ns = str_trim(ns);
	return 0;
}

static const char *file_of(struct arena *a, const struct session *s)
{
	return arena_fmt(a, "%s/" SESSION_POD, s->dir).p;
}

int objects_note(struct arena *a, const struct session *s,
		 const struct objects *o, struct err *err)
{
	cJSON *root = json_object();

	json_put_u64(root, "version", VERSION);
	json_put_str(root, "context", o->at.context);
	json_put_str(root, "namespace", o->at.ns);
	json_put_str(root, "name", o->name);
	return fileio_write(AT_FDCWD, file_of(a, s),
			    arena_fmt(a, "%s\n", json_compact(a, root).p), 0600,
			    err);
}

static bool take_member(struct arena *a, const cJSON *o, const char *name,
			struct str *out)
{
	struct str text;

	if (!json_get_str(o, name, &text))
		return false;
	*out = arena_str(a, text);
	return true;
}

int objects_noted(struct arena *a, const struct session *s, struct objects *out,
		  struct err *err)
{
	struct str text;
	cJSON *root;
	bool ok;
	int rc = fileio_read(a, AT_FDCWD, file_of(a, s), FILE_MAX, &text, err);

	if (rc < 0)
		return rc;
	*out = (struct objects){0};
	root = cJSON_ParseWithLength(text.p, text.n);
	ok = json_find_u64(root, "version", JSON_WHOLE_MAX) == VERSION &&
	     take_member(a, root, "context", &out->at.context) &&
	     take_member(a, root, "namespace", &out->at.ns) &&
	     take_member(a, root, "name", &out->name);
	cJSON_Delete(root);
	return ok ? 0
		  : err_set(err, -EPROTO, "%s: not what it should be",
			    file_of(a, s));
}

/* --- there ---------------------------------------------------------------- */

int objects_apply(struct arena *a, const struct objects *o, struct str text,
		  struct err *err)
{
	static const char *const words[] = {"apply",
					    "--server-side",
					    "--field-manager=membrane",
					    "--filename=-",
					    NULL};
	struct kubectl_call c = {
		.words = words, .input = text, .timeout_ms = OBJECTS_MS};

	return kubectl_do(a, &o->at, &c, err);
}

int objects_end(struct arena *a, const struct objects *o, uint32_t grace_s,
		struct err *err)
{
	const char *words[] = {
		"delete", arena_fmt(a, "pod/%.*s", STR_ARG(o->name)).p,
		"--ignore-not-found", "--wait=false",
		arena_fmt(a, "--grace-period=%u", grace_s).p,
		grace_s ? NULL : "--force", NULL};
	struct kubectl_call c = {.words = words, .timeout_ms = OBJECTS_MS};

	return kubectl_do(a, &o->at, &c, err);
}

int objects_remove(struct arena *a, const struct objects *o, struct err *err)
{
	const char *words[] = {
		"delete",
		arena_fmt(a, "networkpolicy/%.*s", STR_ARG(o->name)).p,
		"--ignore-not-found", "--wait=false", NULL};
	struct kubectl_call c = {.words = words, .timeout_ms = OBJECTS_MS};

	return kubectl_do(a, &o->at, &c, err);
}

int objects_reap(const struct session *s, struct err *err)
{
	struct arena *a = arena_new();
	struct objects o;
	int rc = objects_noted(a, s, &o, err);

	if (rc == 0)
		rc = objects_end(a, &o, REAP_S, err);
	if (rc == 0)
		rc = objects_remove(a, &o, err);
	arena_free(a);
	return rc;
}
