#include "runtime/launch/tokens/fields.h"

#include <errno.h>
#include <string.h>

struct str fields_front(struct str path, struct str *rest)
{
	size_t dot = str_find(path, '.', 0);

	*rest = dot < path.n ? str_slice(path, dot + 1, path.n) : STR("");
	return str_slice(path, 0, dot);
}

static cJSON *find_member(const cJSON *object, struct str name)
{
	cJSON *item;

	if (!cJSON_IsObject(object))
		return NULL;
	cJSON_ArrayForEach(item, object)
		if (str_is(name, item->string))
			return item;
	return NULL;
}

cJSON *fields_find(cJSON *root, const char *name)
{
	struct str rest = str_of(name);

	while (root && rest.n)
		root = find_member(root, fields_front(rest, &rest));
	return root;
}

/* cJSON gives memory back as it is. */
static void wipe_tree(cJSON *item)
{
	for (; item; item = item->next) {
		if (cJSON_IsString(item))
			explicit_bzero(item->valuestring,
				       strlen(item->valuestring));
		wipe_tree(item->child);
	}
}

void fields_delete(cJSON *root)
{
	wipe_tree(root);
	cJSON_Delete(root);
}

/* cJSON would end the text there. */
static bool has_nul(struct str json)
{
	for (size_t i = 0; i + 1 < json.n; i++) {
		if (json.p[i] != '\\')
			continue;
		if (str_starts(str_slice(json, i, json.n), STR("\\u0000")))
			return true;
		i++; /* what it escapes */
	}
	return false;
}

cJSON *fields_parse(struct str json)
{
	const char *end = NULL;
	cJSON *root = cJSON_ParseWithLengthOpts(json.p, json.n, &end, false);

	while (root && end < json.p + json.n && strchr(" \t\r\n", *end))
		end++;
	if (root && end == json.p + json.n && !has_nul(json))
		return root;
	fields_delete(root);
	return NULL;
}

int fields_print(struct arena *a, cJSON *root, struct str like, struct str *out,
		 struct err *err)
{
	bool lines = str_find(like, '\n', 0) + 1 < like.n;
	char *text = lines ? cJSON_Print(root) : cJSON_PrintUnformatted(root);

	if (!text)
		return err_set(err, -ENOMEM, "out of memory");
	*out = arena_fmt(a, "%s\n", text);
	cJSON_free(text);
	return 0;
}
