#include "compiler/base/json.h"

#include "compiler/base/buf.h"
#include "compiler/base/secret.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of a line, with its indentation; a record of scalars may be longer,
 * so that a name and its digest stay together. */
#define LINE_WIDTH   78
#define RECORD_WIDTH 158

static cJSON *or_die(cJSON *item)
{
	if (item)
		return item;
	fputs("membrane: out of memory\n", stderr);
	exit(3);
}

cJSON *json_object(void)
{
	return or_die(cJSON_CreateObject());
}

cJSON *json_array(void)
{
	return or_die(cJSON_CreateArray());
}

cJSON *json_str(struct str s)
{
	cJSON *item = or_die(cJSON_CreateNull());

	item->type = cJSON_String;
	item->valuestring = cJSON_malloc(s.n + 1);
	if (!item->valuestring)
		or_die(NULL);
	if (s.n)
		memcpy(item->valuestring, s.p, s.n);
	item->valuestring[s.n] = '\0';
	return item;
}

void json_put(cJSON *object, const char *key, cJSON *value)
{
	if (!cJSON_AddItemToObjectCS(object, key, value))
		or_die(NULL);
}

void json_put_str(cJSON *object, const char *key, struct str s)
{
	json_put(object, key, json_str(s));
}

void json_put_cstr(cJSON *object, const char *key, const char *s)
{
	json_put(object, key, or_die(cJSON_CreateString(s)));
}

void json_put_u64(cJSON *object, const char *key, uint64_t v)
{
	char room[24];
	struct buf text;

	/* Raw: a double would round above 2^53. */
	buf_init_in(&text, NULL, room, sizeof(room));
	buf_addu(&text, v);
	json_put(object, key, or_die(cJSON_CreateRaw(text.p)));
}

void json_put_bool(cJSON *object, const char *key, bool v)
{
	json_put(object, key, or_die(cJSON_CreateBool(v)));
}

void json_push(cJSON *array, cJSON *value)
{
	if (!cJSON_AddItemToArray(array, value))
		or_die(NULL);
}

void json_push_str(cJSON *array, struct str s)
{
	json_push(array, json_str(s));
}

/*
 * What JSON lets stand in a string, and a policy's text does not (yaml_bytes.c):
 * DEL, C1, and what reorders the line; 0 for anything else. UTF-8.
 */
static unsigned unprintable(const unsigned char *p)
{
	if (p[0] == 0x7f)
		return p[0];
	if (p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0)
		return p[1];
	if (str_is_bidi(p))
		return 0x2000u | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
	return 0;
}

static void put_escaped(struct buf *out, const char *text)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++) {
		unsigned c = unprintable(p);

		if (c == 0) {
			buf_addc(out, (char)*p);
			continue;
		}
		buf_addf(out, "\\u%04x", c);
		p += c < 0x80 ? 0 : c < 0x100 ? 1 : 2;
	}
}

static void put_scalar(struct buf *out, const cJSON *v)
{
	char *text = cJSON_PrintUnformatted(v);

	if (!text)
		or_die(NULL);
	put_escaped(out, text);
	cJSON_free(text);
}

/* Nothing in it that could want an escape. */
static bool is_plain(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (s.p[i] < ' ' || s.p[i] > '~' || s.p[i] == '"' ||
		    s.p[i] == '\\')
			return false;
	return true;
}

static void put_string(struct buf *out, char *text)
{
	cJSON item = {.type = cJSON_String, .valuestring = text};
	struct str s = str_of(text);

	if (!is_plain(s)) {
		put_scalar(out, &item);
		return;
	}
	buf_addc(out, '"');
	buf_add(out, s);
	buf_addc(out, '"');
}

static void put_key(struct buf *out, const cJSON *v)
{
	put_string(out, v->string);
	buf_adds(out, ": ");
}

/* On this line, up to end; false, with part of it, beyond. */
static bool put_flat(struct buf *out, const cJSON *v, size_t end)
{
	bool object = cJSON_IsObject(v);
	const cJSON *item;

	if (!object && !cJSON_IsArray(v)) {
		if (cJSON_IsString(v))
			put_string(out, v->valuestring);
		else if (cJSON_IsRaw(v))
			buf_adds(out, v->valuestring);
		else
			put_scalar(out, v);
		return out->n <= end;
	}
	buf_addc(out, object ? '{' : '[');
	cJSON_ArrayForEach(item, v) {
		if (item != v->child)
			buf_adds(out, ", ");
		if (object)
			put_key(out, item);
		if (!put_flat(out, item, end))
			return false;
	}
	buf_addc(out, object ? '}' : ']');
	return out->n <= end;
}

static void put_indent(struct buf *out, unsigned depth)
{
	buf_addc(out, '\n');
	for (unsigned i = 0; i < depth; i++)
		buf_adds(out, "  ");
}

static size_t line_width(const cJSON *v)
{
	const cJSON *item;

	if (!cJSON_IsObject(v))
		return LINE_WIDTH;
	cJSON_ArrayForEach(item, v)
		if (item->child)
			return LINE_WIDTH;
	return RECORD_WIDTH;
}

struct printer {
	struct buf *out;
	struct json_place *places;
	uint32_t n;
};

/* The item begins here; what is in it has this place until it has its own. */
static void note_place(struct printer *p, const cJSON *v)
{
	const cJSON *item;

	for (uint32_t i = 0; i < p->n; i++)
		if (p->places[i].item == v)
			p->places[i].at = p->out->n;
	if (p->n)
		cJSON_ArrayForEach(item, v)
			note_place(p, item);
}

static void put_value(struct printer *p, const cJSON *v, unsigned depth,
		      size_t column)
{
	struct buf *out = p->out;
	bool object = cJSON_IsObject(v);
	size_t beg = out->n, width = line_width(v);
	const cJSON *item;

	note_place(p, v);
	if ((depth > 0 || !v->child) &&
	    put_flat(out, v, beg + (column < width ? width - column : 0)))
		return;
	buf_cut(out, beg);
	if (!object && !cJSON_IsArray(v)) {
		put_scalar(out, v);
		return;
	}
	buf_addc(out, object ? '{' : '[');
	cJSON_ArrayForEach(item, v) {
		size_t before;

		put_indent(out, depth + 1);
		before = out->n;
		if (object)
			put_key(out, item);
		/* One column is for the comma behind it. */
		put_value(p, item, depth + 1,
			  2 * (depth + 1) + (out->n - before) + 1);
		if (item->next)
			buf_addc(out, ',');
	}
	if (v->child)
		put_indent(out, depth);
	buf_addc(out, object ? '}' : ']');
}

void json_add_at(struct buf *out, cJSON *take_root, struct json_place *places,
		 uint32_t n)
{
	struct printer p = {.out = out, .places = places, .n = n};

	put_value(&p, take_root, 0, 0);
	buf_addc(out, '\n');
	cJSON_Delete(take_root);
}

void json_add(struct buf *out, cJSON *take_root)
{
	json_add_at(out, take_root, NULL, 0);
}

struct str json_text(struct arena *a, cJSON *take_root)
{
	struct buf out;

	buf_init(&out, a);
	json_add(&out, take_root);
	return buf_str(&out);
}

struct str json_compact(struct arena *a, cJSON *take_root)
{
	char *text = cJSON_PrintUnformatted(take_root);
	struct str copy;

	if (!text)
		or_die(NULL);
	copy = arena_str(a, str_of(text));
	cJSON_free(text);
	cJSON_Delete(take_root);
	return copy;
}

/* In place: a '*' for a byte. */
static void hide_secrets(cJSON *node)
{
	struct secret found = {0};
	cJSON *child;

	if (cJSON_IsString(node)) {
		struct str s = str_of(node->valuestring);

		while (secret_next(s, found.end, &found))
			memset(node->valuestring + found.beg, '*',
			       found.end - found.beg);
	}
	cJSON_ArrayForEach(child, node)
		hide_secrets(child);
}

struct str json_shown(struct arena *a, cJSON *root)
{
	hide_secrets(root);
	return json_text(a, root);
}

bool json_get_str(const cJSON *object, const char *key, struct str *out)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);

	if (!cJSON_IsString(v))
		return false;
	*out = str_of(v->valuestring);
	return true;
}

bool json_get_array(const cJSON *object, const char *key, const cJSON **out)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);

	if (!cJSON_IsArray(v))
		return false;
	*out = v;
	return true;
}

bool json_get_u64(const cJSON *object, const char *key, uint64_t max,
		  uint64_t *out)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(object, key);

	if (max > JSON_WHOLE_MAX)
		max = JSON_WHOLE_MAX;
	if (!cJSON_IsNumber(v) || !(v->valuedouble >= 0) ||
	    v->valuedouble > (double)max ||
	    v->valuedouble != (double)(uint64_t)v->valuedouble)
		return false;
	*out = (uint64_t)v->valuedouble;
	return true;
}

struct str json_find_str(const cJSON *object, const char *key)
{
	struct str s = STR("");

	ignore(json_get_str(object, key, &s));
	return s;
}

uint64_t json_find_u64(const cJSON *object, const char *key, uint64_t max)
{
	uint64_t n = 0;

	ignore(json_get_u64(object, key, max, &n));
	return n;
}

bool json_find_true(const cJSON *object, const char *key)
{
	return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(object, key));
}
