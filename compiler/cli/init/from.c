#include "compiler/cli/init/from.h"

#include "compiler/base/ascii.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"
#include "compiler/cli/init/parts.h"

#include <errno.h>
#include <string.h>

/* Objects in objects, of those that the tables know two. */
#define DEPTH_MAX 4u

#define UNKNOWN "a policy has nothing that says it"

/* --- walking -------------------------------------------------------------- */

static const struct from_row *find_row(const struct from_row *rows,
				       struct str path)
{
	for (; rows->path; rows++)
		if (str_is(path, rows->path))
			return rows;
	return NULL;
}

/* Is anything of the table below path? */
static bool has_below(const struct from_row *rows, struct str path)
{
	for (; rows->path; rows++) {
		struct str p = str_of(rows->path);

		if (str_starts(p, path) && p.n > path.n && p.p[path.n] == '.')
			return true;
	}
	return false;
}

/* A string, or a whole number of cJSON's. */
static bool text_of(struct arena *a, const cJSON *value, struct str *out)
{
	if (cJSON_IsString(value)) {
		*out = arena_str(a, str_of(value->valuestring));
		return true;
	}
	if (!cJSON_IsNumber(value) || value->valuedouble < 0 ||
	    value->valuedouble > UINT32_MAX ||
	    value->valuedouble != (double)(uint32_t)value->valuedouble)
		return false;
	*out = arena_fmt(a, "%u", (uint32_t)value->valuedouble);
	return true;
}

static void take_one(struct from *f, const struct from_row *row,
		     const cJSON *value)
{
	struct str text, where = str_of(row->path);

	if (text_of(f->d->a, value, &text))
		row->take(f, text, where);
	else
		from_unsaid(f, where, STR(""),
			    "neither a text nor a whole number");
}

static void take_row(struct from *f, const struct from_row *row,
		     const cJSON *value)
{
	const cJSON *item;

	if (!row->take) {
		if (row->unsaid)
			from_unsaid(f, str_of(row->path), STR(""), row->unsaid);
		return;
	}
	if (!cJSON_IsArray(value)) {
		take_one(f, row, value);
		return;
	}
	cJSON_ArrayForEach(item, value)
		take_one(f, row, item);
}

static void walk_members(struct from *f, const struct from_row *rows,
			 const cJSON *object, struct str above, unsigned depth)
{
	const cJSON *member;

	cJSON_ArrayForEach(member, object) {
		struct str path = arena_fmt(f->d->a, "%.*s%s%s", STR_ARG(above),
					    above.n ? "." : "", member->string);
		const struct from_row *row = find_row(rows, path);

		if (row)
			take_row(f, row, member);
		else if (depth < DEPTH_MAX && cJSON_IsObject(member) &&
			 has_below(rows, path))
			walk_members(f, rows, member, path, depth + 1);
		else
			from_unsaid(f, path, STR(""), UNKNOWN);
	}
}

/* --- whose they are ------------------------------------------------------- */

static bool has_any(const cJSON *o, const char *const *names)
{
	for (; *names; names++)
		if (cJSON_GetObjectItemCaseSensitive(o, *names))
			return true;
	return false;
}

/* By members that the others do not have. */
static const struct from_row *rows_for(struct str name, bool is_toml,
				       const cJSON *o)
{
	static const char *const claude[] = {"permissions", "sandbox", NULL};
	static const char *const srt[] = {"network", "filesystem", NULL};
	static const char *const container[] = {
		"image",    "build",	    "dockerFile", "dockerComposeFile",
		"features", "forwardPorts", NULL};

	static const char *const codex[] = {
		"permissions", "default_permissions", "sandbox_mode",
		"sandbox_workspace_write", NULL};

	if (is_toml)
		return has_any(o, codex) ? from_codex_rows : NULL;
	if (str_ends(name, STR("devcontainer.json")))
		return from_devcontainer_rows;
	if (has_any(o, claude))
		return from_claude_rows;
	if (has_any(o, srt))
		return from_srt_rows;
	return has_any(o, container) ? from_devcontainer_rows : NULL;
}

/* With comments, as editors write it; cJSON takes them out in place. */
static cJSON *parse_commented(struct arena *a, struct str text)
{
	cJSON *o = cJSON_ParseWithOpts(text.p, NULL, true);
	char *copy;

	if (o)
		return o;
	copy = arena_alloc(a, text.n + 1);
	memcpy(copy, text.p, text.n);
	copy[text.n] = '\0';
	cJSON_Minify(copy);
	return cJSON_ParseWithOpts(copy, NULL, true);
}

static void say_port(struct from *f)
{
	if (f->any_port)
		proposal_unsaid(
			f->d, STR("ports"),
			STR("the file names none, so that 443 is all that is allowed"));
}

static int parse(struct arena *a, struct str text, bool is_toml, cJSON **out,
		 struct err *err)
{
	if (memchr(text.p, '\0', text.n))
		return err_set(err, -EINVAL, "no text");
	if (is_toml)
		return toml_read(a, text, out, err);
	*out = parse_commented(a, arena_str(a, text));
	if (*out)
		return 0;
	return err_set(
		err, -EINVAL,
		"no JSON, with comments or without; no comma may stand before a closing bracket");
}

int from_settings(struct str name, struct str text, struct str workspace,
		  struct proposal *d, struct err *err)
{
	struct from f = {.d = d, .workspace = workspace};
	bool is_toml = str_ends(ascii_lower(d->a, name), STR(".toml"));
	const struct from_row *rows;
	cJSON *o = NULL;
	int rc = parse(d->a, text, is_toml, &o, err);

	if (rc < 0)
		return rc;
	rows = cJSON_IsObject(o) ? rows_for(name, is_toml, o) : NULL;
	if (!rows)
		rc = err_set(
			err, -EINVAL,
			"settings of nobody known: devcontainer.json, Claude Code's settings.json, srt's and codex's config.toml are read");
	else if (rows == from_codex_rows)
		rc = from_codex_profile(&f, o, err);
	if (rc == 0)
		walk_members(&f, rows, o, STR(""), 0);
	cJSON_Delete(o);
	say_port(&f);
	return rc;
}
