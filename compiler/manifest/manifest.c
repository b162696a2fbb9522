#include "compiler/manifest/manifest.h"

#include "compiler/base/limits.h"

#include <yaml.h>

#define MEMBERS_MAX                                                            \
	1024u /* of one map: each key is compared with the others              \
	       */

struct reader {
	struct arena *a;
	yaml_parser_t parser;
	struct manifest_fault *fault;
	uint32_t nodes;
};

static uint32_t line_of(const yaml_mark_t *mark)
{
	return (uint32_t)mark->line + 1;
}

static bool fails(struct reader *r, uint32_t line, const char *what)
{
	*r->fault =
		(struct manifest_fault){line, arena_str(r->a, str_of(what))};
	return false;
}

static bool next_event(struct reader *r, yaml_event_t *e)
{
	const char *why;

	if (yaml_parser_parse(&r->parser, e))
		return true;
	why = r->parser.problem;
	return fails(r, line_of(&r->parser.problem_mark),
		     why ? why : "no YAML");
}

static bool read_node(struct reader *r, const yaml_event_t *e, unsigned depth,
		      struct manifest_node **out);

static bool read_value(struct reader *r, struct manifest_member *m,
		       unsigned depth)
{
	yaml_event_t e;
	bool ok;

	if (!next_event(r, &e))
		return false;
	ok = read_node(r, &e, depth, &m->value);
	yaml_event_delete(&e);
	return ok;
}

static bool read_key(struct reader *r, const yaml_event_t *e,
		     const struct manifest_node *n, struct manifest_member *m)
{
	if (e->type != YAML_SCALAR_EVENT || e->data.scalar.anchor ||
	    e->data.scalar.tag)
		return fails(r, m->line, "a key that is no plain text");
	m->key =
		arena_str(r->a, (struct str){(const char *)e->data.scalar.value,
					     e->data.scalar.length});
	if (str_is(m->key, "<<"))
		return fails(r, m->line, "a merge key");
	if (n->members.n == MEMBERS_MAX)
		return fails(r, m->line, "a map with too many keys");
	vec_each(other, &n->members)
		if (str_eq(other->key, m->key))
			return fails(r, m->line, "a key that is there twice");
	return true;
}

/* Of a list, or of a map, whose members have a key before their value. */
static bool read_members(struct reader *r, struct manifest_node *n,
			 unsigned depth)
{
	bool is_map = n->kind == MANIFEST_MAP;

	for (;;) {
		struct manifest_member m = {0};
		yaml_event_t e;
		bool ok = next_event(r, &e), end;

		if (!ok)
			return false;
		end = e.type == (is_map ? YAML_MAPPING_END_EVENT
					: YAML_SEQUENCE_END_EVENT);
		m.line = line_of(&e.start_mark);
		ok = end || (is_map ? read_key(r, &e, n, &m)
				    : read_node(r, &e, depth + 1, &m.value));
		yaml_event_delete(&e);
		if (end || !ok)
			return ok;
		if (is_map && !read_value(r, &m, depth + 1))
			return false;
		*vec_push(r->a, &n->members) = m;
	}
}

/* A tag says what a writer thinks it is; one of ours has none to say. */
static bool is_tagged(const yaml_event_t *e)
{
	if (e->type == YAML_SCALAR_EVENT)
		return e->data.scalar.anchor || e->data.scalar.tag;
	if (e->type == YAML_SEQUENCE_START_EVENT)
		return e->data.sequence_start.anchor ||
		       e->data.sequence_start.tag;
	return e->type == YAML_MAPPING_START_EVENT &&
	       (e->data.mapping_start.anchor || e->data.mapping_start.tag);
}

static bool read_node(struct reader *r, const yaml_event_t *e, unsigned depth,
		      struct manifest_node **out)
{
	struct manifest_node *n = arena_new_of(r->a, struct manifest_node);

	n->line = line_of(&e->start_mark);
	if (e->type == YAML_ALIAS_EVENT || is_tagged(e))
		return fails(r, n->line, "an anchor, an alias or a tag");
	if (depth > LIMIT_YAML_DEPTH)
		return fails(r, n->line, "it is too deep");
	if (++r->nodes > LIMIT_DERIVED_NODES)
		return fails(r, n->line, "it has too many parts");
	*out = n;
	if (e->type == YAML_SEQUENCE_START_EVENT) {
		n->kind = MANIFEST_LIST;
		return read_members(r, n, depth);
	}
	if (e->type == YAML_MAPPING_START_EVENT) {
		n->kind = MANIFEST_MAP;
		return read_members(r, n, depth);
	}
	n->kind = MANIFEST_TEXT;
	n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	n->text =
		arena_str(r->a, (struct str){(const char *)e->data.scalar.value,
					     e->data.scalar.length});
	return true;
}

static bool read_stream(struct reader *r, struct manifest *out)
{
	for (;;) {
		struct manifest_node *n = NULL;
		yaml_event_t e;
		bool ok = next_event(r, &e), end;

		if (!ok)
			return false;
		end = e.type == YAML_STREAM_END_EVENT;
		if (e.type == YAML_SCALAR_EVENT || e.type == YAML_ALIAS_EVENT ||
		    e.type == YAML_SEQUENCE_START_EVENT ||
		    e.type == YAML_MAPPING_START_EVENT)
			ok = read_node(r, &e, 1, &n);
		yaml_event_delete(&e);
		if (end || !ok)
			return ok;
		if (n)
			*vec_push(r->a, &out->documents) = n;
	}
}

bool manifest_documents(struct arena *a, struct str text, struct manifest *out,
			struct manifest_fault *fault)
{
	struct reader r = {.a = a, .fault = fault};
	struct manifest all = {0};
	bool ok;

	if (text.n > LIMIT_PLAN_BYTES)
		return fails(&r, 1, "it is too large");
	if (!yaml_parser_initialize(&r.parser))
		return fails(&r, 1, "out of memory");
	yaml_parser_set_encoding(&r.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&r.parser, (const unsigned char *)text.p,
				     text.n);
	ok = read_stream(&r, &all);
	yaml_parser_delete(&r.parser);
	if (ok)
		*out = all;
	return ok;
}

const struct manifest_node *manifest_get(const struct manifest_node *n,
					 const char *key)
{
	if (n && n->kind == MANIFEST_MAP)
		vec_each(m, &n->members)
			if (str_is(m->key, key))
				return m->value;
	return NULL;
}

struct str manifest_text(const struct manifest_node *n)
{
	return n && n->kind == MANIFEST_TEXT ? n->text : (struct str){0};
}

bool manifest_number(const struct manifest_node *n, uint64_t max, uint64_t *out)
{
	return n && n->kind == MANIFEST_TEXT && n->plain &&
	       str_u64(n->text, max, out);
}
