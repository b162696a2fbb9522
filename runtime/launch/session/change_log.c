#include "runtime/launch/session/change_log.h"

#include "compiler/base/sys/fileio.h"
#include "compiler/base/json.h"
#include "runtime/launch/session/summary.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const char *verb_of(const struct change_log *c)
{
	return c->allow ? "allow" : "deny";
}

static void add_texts(cJSON *o, const char *key, const change_log_texts *texts)
{
	cJSON *list = cJSON_AddArrayToObject(o, key);

	vec_each(t, texts)
		cJSON_AddItemToArray(list, cJSON_CreateString(*t));
}

cJSON *change_log_json(const struct change_log *c)
{
	cJSON *o = cJSON_CreateObject(), *who;

	cJSON_AddStringToObject(o, "event", "change");
	cJSON_AddStringToObject(o, "time", c->time);
	cJSON_AddStringToObject(o, "kind", "change");
	cJSON_AddStringToObject(o, "verb", verb_of(c));
	cJSON_AddStringToObject(o, "dest", c->dest);
	cJSON_AddNumberToObject(o, "generation", c->generation);
	who = cJSON_AddObjectToObject(o, "who");
	cJSON_AddNumberToObject(who, "uid", (double)c->uid);
	cJSON_AddStringToObject(who, "name", c->name);
	cJSON_AddBoolToObject(o, "saved", c->saved);
	cJSON_AddBoolToObject(o, "cut", c->cut);
	add_texts(o, "gained", &c->gained);
	add_texts(o, "lost", &c->lost);
	cJSON_AddNumberToObject(o, "ms", c->ms);
	return o;
}

/* --- reading -------------------------------------------------------------- */

static const char *member_text(struct arena *a, const cJSON *o, const char *key,
			       size_t max)
{
	struct str s;

	if (!json_get_str(o, key, &s) || s.n > max)
		return NULL;
	return arena_cstr(a, s);
}

static bool texts_of(struct arena *a, const cJSON *o, const char *key,
		     change_log_texts *out)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(o, key), *m;

	if (!cJSON_IsArray(list) ||
	    cJSON_GetArraySize(list) > (int)CHANGE_LOG_TEXTS)
		return false;
	cJSON_ArrayForEach(m, list) {
		if (!cJSON_IsString(m) ||
		    strlen(m->valuestring) > CHANGE_LOG_TEXT_MAX)
			return false;
		*vec_push(a, out) = arena_cstr(a, str_of(m->valuestring));
	}
	return true;
}

int change_log_parse(struct arena *a, const cJSON *o, struct change_log *out,
		     struct err *err)
{
	const cJSON *who = cJSON_GetObjectItemCaseSensitive(o, "who");
	const char *verb = member_text(a, o, "verb", 8);
	struct change_log c = {.saved = json_find_true(o, "saved"),
			       .cut = json_find_true(o, "cut")};
	uint64_t number = 0, ms = 0;

	c.dest = member_text(a, o, "dest", CHANGE_LOG_DEST_MAX);
	c.time = member_text(a, o, "time", 64);
	c.name = member_text(a, who, "name", 256);
	c.allow = verb && strcmp(verb, "allow") == 0;
	if (!verb || (!c.allow && strcmp(verb, "deny") != 0) || !c.dest ||
	    !c.time || !c.name ||
	    !json_get_u64(who, "uid", UINT32_MAX, &c.uid) ||
	    !json_get_u64(o, "generation", UINT32_MAX, &number) ||
	    !json_get_u64(o, "ms", UINT32_MAX, &ms) ||
	    !texts_of(a, o, "gained", &c.gained) ||
	    !texts_of(a, o, "lost", &c.lost))
		return err_set(err, -EPROTO, "not a record of a change");
	c.generation = (uint32_t)number;
	c.ms = (double)ms;
	*out = c;
	return 0;
}

int change_log_read(struct arena *a, const struct session *s,
		    change_log_list *out, struct err *err)
{
	const char *path = arena_fmt(a, "%s/" CHANGE_LOG_FILE, s->dir).p;
	struct str text, line;
	int rc = fileio_read(a, AT_FDCWD, path, CHANGE_LOG_BYTES, &text, err);

	if (rc == -ENOENT)
		return 0;
	while (rc == 0 && str_line(&text, &line)) {
		cJSON *o = cJSON_ParseWithLength(line.p, line.n);
		struct change_log c;

		rc = change_log_parse(a, o, &c, err);
		if (rc == 0)
			*vec_push(a, out) = c;
		cJSON_Delete(o);
	}
	return rc < 0 ? err_while(err, "%s", path) : 0;
}

/*
 * `plan` is rewritten before the gate has said whether it takes the next one;
 * before that, the first is kept. So where that is, nothing else counts, even
 * if it came while `plan` was read.
 */
int change_log_plan(struct arena *a, const struct session *s,
		    uint32_t generation, struct plan *out, struct err *err)
{
	const char *kept = arena_fmt(a, "%s/plan.%u", s->dir, generation).p;
	const char *first = arena_fmt(a, "%s/plan", s->dir).p;
	struct plan found = {0};
	int rc;

	if (generation > 1 || access(kept, F_OK) == 0)
		return plan_read(a, kept, out, err);
	rc = plan_read(a, first, &found, err);
	if (access(kept, F_OK) == 0)
		return plan_read(a, kept, out, err);
	if (rc == 0)
		*out = found;
	return rc;
}

struct str change_log_text(struct arena *a, const struct change_log *c)
{
	struct buf b;

	buf_init(&b, a);
	buf_addf(&b, "%s ", verb_of(c));
	summary_escape(&b, str_of(c->dest), CHANGE_LOG_DEST_MAX);
	return buf_str(&b);
}
