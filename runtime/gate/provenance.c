#include "runtime/gate/provenance.h"

#include <errno.h>
#include <stdlib.h>

static int by_id(const void *a, const void *b)
{
	const struct provenance_rule *x = a, *y = b;

	return str_cmp(str_of(x->id), str_of(y->id));
}

static bool take_rule(const cJSON *item, struct provenance_rule *out)
{
	const cJSON *source = cJSON_GetObjectItemCaseSensitive(item, "source");
	const cJSON *line = cJSON_GetObjectItemCaseSensitive(item, "line");

	if (!cJSON_IsString(source) || !cJSON_IsNumber(line) ||
	    line->valuedouble < 0 || line->valuedouble > INT32_MAX)
		return false;
	out->id = item->string;
	out->source = source->valuestring;
	out->line = (uint32_t)line->valuedouble;
	return true;
}

static int take_rules(struct provenance *p, struct err *err)
{
	const cJSON *version =
		cJSON_GetObjectItemCaseSensitive(p->tree, "version");
	const cJSON *rules = cJSON_GetObjectItemCaseSensitive(p->tree, "rules");
	const cJSON *item;

	if (!cJSON_IsNumber(version) || version->valueint != PROVENANCE_VERSION)
		return err_set(err, -EPROTO, "unknown version");
	if (!cJSON_IsObject(rules))
		return err_set(err, -EPROTO, "no rules");
	p->rules = calloc((size_t)cJSON_GetArraySize(rules) + 1,
			  sizeof(*p->rules));
	if (!p->rules)
		return err_set(err, -ENOMEM, "out of memory");
	cJSON_ArrayForEach(item, rules) if (
		!take_rule(item,
			   &p->rules[p->n++])) return err_set(err, -EPROTO,
							      "rule '%.32s'",
							      item->string);
	qsort(p->rules, p->n, sizeof(*p->rules), by_id);
	return 0;
}

int provenance_parse(struct str text, struct provenance *out, struct err *err)
{
	struct provenance p = {0};
	const char *end = NULL;
	int rc;

	p.tree = cJSON_ParseWithLengthOpts(text.p, text.n, &end, 0);
	if (!p.tree)
		return err_set(err, -EPROTO, "not JSON");
	while (end < text.p + text.n && (*end == '\n' || *end == ' '))
		end++;
	rc = end == text.p + text.n
		     ? take_rules(&p, err)
		     : err_set(err, -EPROTO, "bytes after the end");
	if (rc < 0) {
		provenance_free(&p);
		return rc;
	}
	*out = p;
	return 0;
}

void provenance_free(struct provenance *p)
{
	cJSON_Delete(p->tree);
	free(p->rules);
	*p = (struct provenance){0};
}

const struct provenance_rule *provenance_find(const struct provenance *p,
					      struct str id)
{
	uint32_t lo = 0, hi = p->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		int c = str_cmp(str_of(p->rules[mid].id), id);

		if (c == 0)
			return &p->rules[mid];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}
