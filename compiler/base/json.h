/*
 * JSON as artefacts have it: cJSON trees, in a layout made for review.
 *
 * What fits on a line is one line, everything else has one member or item per
 * line, indented by two blanks; the root is always broken up. Members stay in
 * the order in which they were put. Strings are escaped by cJSON. Running out
 * of memory ends the program, as in the arena.
 */
#ifndef COMPILER_BASE_JSON_H
#define COMPILER_BASE_JSON_H

#include "compiler/base/buf.h"

#include <cjson/cJSON.h>

/* Up to there each whole number is one of cJSON's, which has doubles. */
#define JSON_WHOLE_MAX (UINT64_C(1) << 53)

/* The caller hands them to json_put() or json_push(), or to cJSON_Delete(). */
cJSON *json_object(void);
cJSON *json_array(void);
/* s must hold no NUL. */
cJSON *json_str(struct str s);

/* All take the value, and borrow the key for as long as there is the tree. */
void json_put(cJSON *object, const char *key, cJSON *value);
void json_put_str(cJSON *object, const char *key, struct str s);
void json_put_cstr(cJSON *object, const char *key, const char *s);
void json_put_u64(cJSON *object, const char *key, uint64_t v);
void json_put_bool(cJSON *object, const char *key, bool v);
void json_push(cJSON *array, cJSON *value);
void json_push_str(cJSON *array, struct str s);

/* The text, with an LF at the end. The tree is deleted. */
struct str json_text(struct arena *a, cJSON *take_root);
/* The same for somebody's terminal, log or pull request: no secret in it. */
struct str json_shown(struct arena *a, cJSON *take_root);
/* On one line, without a blank between members, and without an LF. */
struct str json_compact(struct arena *a, cJSON *take_root);
/* Behind what is in out. */
void json_add(struct buf *out, cJSON *take_root);
/* The same; where in out each of n items of the tree stands: what shares a
 * line with others has the offset of that line's value. */
struct json_place {
	const cJSON *item;
	size_t at;
};
void json_add_at(struct buf *out, cJSON *take_root, struct json_place *places,
		 uint32_t n);

/*
 * A member's string or array; false when there is none or it is of another
 * type. The string is the tree's.
 */
bool json_get_str(const cJSON *object, const char *key, struct str *out);
bool json_get_array(const cJSON *object, const char *key, const cJSON **out);
/* A whole number up to max, which JSON_WHOLE_MAX bounds. */
bool json_get_u64(const cJSON *object, const char *key, uint64_t max,
		  uint64_t *out);
/* The same where a member may be missing: empty (and a C string), 0, false. */
struct str json_find_str(const cJSON *object, const char *key);
uint64_t json_find_u64(const cJSON *object, const char *key, uint64_t max);
bool json_find_true(const cJSON *object, const char *key);

#endif
