#include "runtime/launch/tokens/copy.h"

#include "compiler/base/ascii.h"
#include "compiler/base/secret.h"
#include "runtime/launch/tokens/fields.h"
#include "runtime/launch/tokens/sentinel.h"

#include <errno.h>
#include <string.h>

#define TOKEN_MIN 40u /* bytes of a text that could be one, without a blank */

/* --- what is left --------------------------------------------------------- */

static bool is_on_the_way(const copy_fields *fields, struct str above,
			  const char *name, bool *out_is_field)
{
	bool found = false;

	*out_is_field = false;
	vec_each(f, fields) {
		struct str path = str_of(f->name), rest;

		if (!str_starts(path, above))
			continue;
		path = str_slice(path, above.n, path.n);
		if (!str_is(fields_front(path, &rest), name))
			continue;
		found = true;
		*out_is_field |= rest.n == 0;
	}
	return found;
}

/* Do fields stand in this object itself? */
static bool has_fields(const copy_fields *fields, const cJSON *object,
		       struct str above)
{
	const cJSON *item;
	bool is_field;

	cJSON_ArrayForEach(item, object)
		if (is_on_the_way(fields, above, item->string, &is_field) &&
		    is_field)
			return true;
	return false;
}

/* above: "tokens." of an object of that name, "" of the root. */
static void leave_out(struct arena *a, const copy_fields *fields, cJSON *object,
		      struct str above)
{
	bool keeps = has_fields(fields, object, above), is_field;
	cJSON *next;

	for (cJSON *item = object->child; item; item = next) {
		bool way =
			is_on_the_way(fields, above, item->string, &is_field);

		next = item->next;
		if (cJSON_IsObject(item) && way && !is_field)
			leave_out(a, fields, item,
				  arena_fmt(a, "%.*s%s.", STR_ARG(above),
					    item->string));
		else if ((cJSON_IsObject(item) || cJSON_IsArray(item)) &&
			 !keeps)
			fields_delete(cJSON_DetachItemViaPointer(object, item));
	}
}

/* As tokens are: long, of their characters alone, and no path. */
static bool looks_secret(const char *text)
{
	struct secret ignored;
	size_t n = strlen(text);

	if (secret_next((struct str){text, n}, 0, &ignored))
		return true;
	for (size_t i = 0; i < n; i++)
		if (!ascii_is_alnum(text[i]) && !strchr("._~+/=-", text[i]))
			return false;
	return n >= TOKEN_MIN && text[0] != '/';
}

/* What stands beside a field may be a secret of another kind. */
static void leave_secrets(struct arena *a, const copy_fields *fields,
			  cJSON *list, struct str above)
{
	cJSON *next;
	bool is_field;

	for (cJSON *item = list->child; item; item = next) {
		const char *name = item->string ? item->string : "";

		next = item->next;
		if (is_on_the_way(fields, above, name, &is_field) && is_field)
			continue;
		leave_secrets(a, fields, item,
			      arena_fmt(a, "%.*s%s.", STR_ARG(above), name));
		if (cJSON_IsString(item) && looks_secret(item->valuestring))
			fields_delete(cJSON_DetachItemViaPointer(list, item));
	}
}

/* --- sentinels ------------------------------------------------------------ */

static bool is_value(const char *text, size_t max)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if (text[i] <= ' ' || text[i] >= 127)
			return false;
	return n > 0 && n <= max;
}

static int replace_field(struct arena *a, cJSON *root, struct copy_field *f,
			 struct str random, size_t max, struct err *err)
{
	cJSON *item = fields_find(root, f->name);
	struct str sentinel;

	if (!cJSON_IsString(item))
		return err_set(err, -EINVAL, "no text at '%.200s'", f->name);
	if (!is_value(item->valuestring, max))
		return err_set(
			err, -EINVAL,
			"what stands at '%.200s' is empty, longer than %zu bytes or no token",
			f->name, max);
	f->secret = arena_cstr(a, str_of(item->valuestring));
	sentinel = sentinel_make(a, str_of(f->secret), f->digits, random);
	explicit_bzero(item->valuestring, strlen(item->valuestring));
	if (!cJSON_SetValuestring(item, sentinel.p))
		return err_set(err, -ENOMEM, "out of memory");
	return 0;
}

int copy_make(struct arena *a, struct str json, copy_fields *fields,
	      struct str random, size_t max, struct str *out, struct err *err)
{
	cJSON *root = fields_parse(json);
	int rc =
		cJSON_IsObject(root)
			? 0
			: err_set(err, -EINVAL,
				  "not an object of JSON, or with a NUL in a text");

	vec_each(f, fields)
		if (rc == 0)
			rc = replace_field(a, root, f, random, max, err);
	if (rc == 0) {
		leave_out(a, fields, root, STR(""));
		leave_secrets(a, fields, root, STR(""));
		rc = fields_print(a, root, json, out, err);
	}
	fields_delete(root);
	return rc;
}

const char *copy_own(struct str json, const copy_fields *fields)
{
	cJSON *root = fields_parse(json);
	const char *own = NULL;

	vec_each(f, fields) {
		const cJSON *item = root ? fields_find(root, f->name) : NULL;

		if (!own && cJSON_IsString(item) && item->valuestring[0] &&
		    !sentinel_is(str_of(item->valuestring), f->digits))
			own = f->name;
	}
	fields_delete(root);
	return own;
}
