/* What kubectl printed as JSON: documents, and the objects in them. */
#include "compiler/cli/cluster/parts.h"

#include <errno.h>
#include <string.h>

static struct str skip_blanks(struct str text)
{
	size_t i = 0;

	while (i < text.n && strchr(" \t\r\n", text.p[i]))
		i++;
	return str_slice(text, i, text.n);
}

/* A place in the text, as people count. */
static unsigned line_of(struct str text, const char *at)
{
	unsigned n = 1;

	for (const char *p = text.p; p < at; p++)
		n += *p == '\n';
	return n;
}

static bool is_object(const cJSON *v)
{
	return cJSON_IsObject(v) && json_find_str(v, "kind").n &&
	       state_name(v).n;
}

static int add_items(struct arena *a, const cJSON *document,
		     struct cluster_state *out, struct err *err)
{
	const cJSON *list, *item;

	if (!str_is(json_find_str(document, "kind"), "List")) {
		if (!is_object(document))
			return err_set(
				err, -EINVAL,
				"a document that is no object of a cluster: kind and metadata.name are not there");
		*vec_push(a, &out->items) = document;
		return 0;
	}
	if (!json_get_array(document, "items", &list))
		return err_set(err, -EINVAL, "a List without items");
	cJSON_ArrayForEach(item, list) {
		if (!is_object(item))
			return err_set(
				err, -EINVAL,
				"an item of a List that is no object of a cluster: kind and metadata.name are not there");
		*vec_push(a, &out->items) = item;
	}
	return 0;
}

int state_parse(struct arena *a, struct str text, struct cluster_state *out,
		struct err *err)
{
	struct str rest = skip_blanks(text);

	*out = (struct cluster_state){0};
	if (rest.n == 0)
		return err_set(err, -EINVAL, "there is nothing in it");
	while (rest.n) {
		const char *end = rest.p;
		cJSON *document =
			cJSON_ParseWithLengthOpts(rest.p, rest.n, &end, false);
		int rc;

		if (!document)
			return err_set(err, -EINVAL,
				       "line %u: this is no JSON, is cut off, or nested too deep",
				       line_of(text, end));
		*vec_push(a, &out->documents) = document;
		rc = add_items(a, document, out, err);
		if (rc < 0)
			return rc;
		rest = skip_blanks(
			str_slice(rest, (size_t)(end - rest.p), rest.n));
	}
	return 0;
}

void state_done(struct cluster_state *s)
{
	vec_each(d, &s->documents)
		cJSON_Delete(*d);
}

static const cJSON *metadata_of(const cJSON *object)
{
	return cJSON_GetObjectItemCaseSensitive(object, "metadata");
}

struct str state_kind(const cJSON *object)
{
	return json_find_str(object, "kind");
}

struct str state_name(const cJSON *object)
{
	return json_find_str(metadata_of(object), "name");
}

struct str state_namespace(const cJSON *object)
{
	return json_find_str(metadata_of(object), "namespace");
}

struct str state_label(const cJSON *object, const char *label)
{
	return json_find_str(cJSON_GetObjectItemCaseSensitive(
				     metadata_of(object), "labels"),
			     label);
}
