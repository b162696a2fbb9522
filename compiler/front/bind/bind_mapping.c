/* Mappings within mappings: protect, trace, tests. */
#include "compiler/base/ascii.h"
#include "compiler/front/bind/bind_types.h"
#include "compiler/front/word/dest.h"
#include "compiler/front/word/request.h"

#include <stddef.h>
#include <string.h>

#define outer(type, member, field)                                             \
	((type *)(void *)((char *)(field)-offsetof(type, member)))

/* --- the mappings -------------------------------------------------------- */

void bind_mapping_network(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	(void)field;
	bind_map_seen(b, BIND_MAP_NETWORK, pair->value, b->policy,
		      b->policy_seen);
}

void bind_mapping_masks(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	struct ir_policy *p = outer(struct ir_policy, masks, field);
	struct bind_masks m = {0};

	if (pair->value->kind == YAML_SCALAR) {
		bind_value_masks(b, pair, field);
		return;
	}
	bind_map(b, BIND_MAP_MASKS, pair->value, &m);
	if (m.fast.n && m.hold.set && !m.hold.v) {
		bind_error(
			b, DIAG_FAST, m.fast.v[0].from.at,
			"masks that are made at the start have no view to be past of");
		bind_help(b, "leave 'fast' out, or 'hold: false'");
		return;
	}
	p->masks = (ir_opt_masks){
		.set = true,
		.from = m.hold.set ? m.hold.from : bind_from(b, pair->key.at),
		.v = m.hold.set && !m.hold.v ? IR_MASKS_START : IR_MASKS_HOLD};
	p->fast = m.fast;
}

void bind_mapping_hardening(struct binder *b, const struct yaml_pair *pair,
			    void *field)
{
	bind_map(b, BIND_MAP_HARDENING, pair->value, field);
}

void bind_mapping_trace(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	bind_map(b, BIND_MAP_TRACE, pair->value, field);
}

void bind_mapping_rotate(struct binder *b, const struct yaml_pair *pair,
			 void *field)
{
	bind_map(b, BIND_MAP_ROTATE, pair->value,
		 outer(struct ir_trace, engine, field));
}

void bind_mapping_tests(struct binder *b, const struct yaml_pair *pair,
			void *field)
{
	bind_map(b, BIND_MAP_TESTS, pair->value, field);
}

bool bind_mapping_is(struct binder *b, const struct yaml_node *n,
		     const char *example)
{
	if (n->kind == YAML_MAP)
		return true;
	bind_error(b, DIAG_TYPE, n->text.at, "a mapping belongs here");
	bind_help(b, "as in '%s'", example);
	return false;
}

/* --- protect ------------------------------------------------------------- */

void bind_mapping_protects(struct binder *b, const struct yaml_pair *pair,
			   void *field)
{
	struct ir_policy *p = outer(struct ir_policy, protect, field);

	vec_each(item, &pair->value->items) {
		struct ir_protect entry = {
			.from = bind_from(b, (*item)->text.at)};
		unsigned before = b->c->diags->errors;

		if (!bind_mapping_is(
			    b, *item,
			    "{files: [~/.claude/.credentials.json*], by: claude}"))
			continue;
		bind_map(b, BIND_MAP_PROTECT, *item, &entry);
		if (b->c->diags->errors == before)
			*vec_push(b->c->a, &p->protect) = entry;
	}
}

void bind_mapping_program(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	const struct text *t = &pair->value->text;
	bool ok = t->s.n > 0 && (ascii_is_alnum(t->s.p[0]) || t->s.p[0] == '_');

	for (size_t i = 0; i < t->s.n; i++)
		ok &= ascii_is_alnum(t->s.p[i]) ||
		      memchr("._+-", t->s.p[i], 4) || t->s.p[i] == '_';
	if (ok) {
		*(struct str *)field = t->s;
		return;
	}
	bind_error(b, DIAG_TEXT, t->at, "'%s' is not the name of a program",
		   bind_quote(b, t->s));
	bind_help(
		b,
		"the name that the session's command is called by, without a path, as in 'claude'");
}

/* --- trace --------------------------------------------------------------- */

static bool event_name(struct binder *b, const struct text *t)
{
	bool ok = t->s.n > 0;

	for (size_t i = 0; i < t->s.n; i++) {
		char c = t->s.p[i];

		ok &= ascii_is_alnum(c) || c == '_' || c == '-' || c == '*' ||
		      c == '.';
	}
	if (ok)
		return true;
	bind_error(b, DIAG_TEXT, t->at, "'%s' is not the name of an event",
		   bind_quote(b, t->s));
	bind_help(
		b,
		"as in 'execve', 'net_packet_*' or '{event: openat, filters: [data.pathname=/etc/*]}'");
	return false;
}

void bind_mapping_event_name(struct binder *b, const struct yaml_pair *pair,
			     void *field)
{
	struct ir_trace_event *e = outer(struct ir_trace_event, name, field);

	if (!event_name(b, &pair->value->text))
		return;
	e->name = pair->value->text.s;
	e->from.at = pair->value->text.at; /* rather than of the mapping */
}

void bind_mapping_filters(struct binder *b, const struct yaml_pair *pair,
			  void *field)
{
	vec_each(item, &pair->value->items) {
		const struct text *t = &(*item)->text;

		if (!bind_word(b, *item, "a filter"))
			continue;
		*vec_push(b->c->a, (ir_texts *)field) =
			(struct ir_text){bind_from(b, t->at), t->s};
	}
}

void bind_mapping_events(struct binder *b, const struct yaml_pair *pair,
			 void *field)
{
	struct ir_trace *trace = outer(struct ir_trace, events, field);

	trace->has_events = true;
	if (pair->value->items.n == 0) {
		/* It would trace nothing, and look like the default. */
		bind_error(b, DIAG_TEXT, pair->value->text.at,
			   "an empty list of events");
		bind_help(
			b,
			"'engine: off' traces nothing; without 'events' the usual ones are");
	}
	vec_each(item, &pair->value->items) {
		struct ir_trace_event e = {
			.from = bind_from(b, (*item)->text.at)};
		unsigned before = b->c->diags->errors;

		if ((*item)->kind == YAML_MAP) {
			bind_map(b, BIND_MAP_EVENT, *item, &e);
		} else if (bind_word(b, *item, "an event") &&
			   event_name(b, &(*item)->text)) {
			e.name = (*item)->text.s;
		}
		if (b->c->diags->errors == before)
			*vec_push(b->c->a, &trace->events) = e;
	}
}

/* --- tests --------------------------------------------------------------- */

void bind_mapping_requests(struct binder *b, const struct yaml_pair *pair,
			   void *field)
{
	ir_requests *list = field;

	vec_each(item, &pair->value->items) {
		struct ir_request req;

		if (!bind_word(b, *item, "a request") ||
		    !request_parse(b->c, &(*item)->text, &req))
			continue;
		req.from.layer = b->layer;
		*vec_push(b->c->a, list) = req;
	}
}

void bind_mapping_never_files(struct binder *b, const struct yaml_pair *pair,
			      void *field)
{
	const struct text *t = &pair->value->text;
	ir_patterns one = {0};

	if (t->s.n && t->s.p[0] == '!') {
		bind_error(b, DIAG_PATTERN, t->at, "a pattern that takes back");
		bind_help(b,
			  "there is nothing before it: name what must not be");
	} else if (bind_list_pattern(b->c, b->layer, t, &one)) {
		*(struct str *)field = t->s;
	}
}

void bind_mapping_never_arg(struct binder *b, const struct yaml_pair *pair,
			    void *field)
{
	const struct text *t = &pair->value->text;

	if (str_starts(t->s, STR("-"))) {
		*(struct str *)field = t->s;
		return;
	}
	bind_error(b, DIAG_TEXT, t->at, "'%s' is no option of docker run",
		   bind_quote(b, t->s));
	bind_help(b, "as in '--privileged' or '--network=host'");
}

/* What the keys of an entry make of it. False after reporting. */
static bool never_kind(struct binder *b, const struct bind_seen *seen,
		       struct ir_never *n)
{
	static const struct {
		const char *key;
		enum ir_never_kind kind;
	} alone[] = {
		{"read", IR_NEVER_READ},
		{"write", IR_NEVER_WRITE},
		{"docker_arg", IR_NEVER_ARG},
	};

	for (size_t i = 0; i < ARRAY_LEN(alone); i++) {
		if (!bind_has(seen, alone[i].key))
			continue;
		n->kind = alone[i].kind;
		if (seen->n == 1)
			return true;
		bind_error(b, DIAG_SPELLINGS, n->from.at,
			   "'%s' together with other keys", alone[i].key);
		bind_help(b, "it stands alone in an entry of 'never'");
		return false;
	}
	n->kind = IR_NEVER_NET;
	n->has_dest = bind_has(seen, "dest");
	return true;
}

/* From the first key to the last value: what a caret goes under. */
static struct span pairs_at(const struct yaml_node *node)
{
	struct span at = node->text.at;

	vec_each(p, &node->pairs) {
		struct span value = p->value->text.at;

		if (p == node->pairs.v)
			at = p->key.at;
		vec_each(item, &p->value->items)
			value = (*item)->text.at;
		if (value.end > at.end) /* not an alias of something earlier */
			at.end = value.end;
	}
	return at;
}

static void bind_never(struct binder *b, const struct yaml_node *node,
		       struct ir_tests *tests)
{
	struct ir_never n = {.from = bind_from(b, pairs_at(node))};
	unsigned before = b->c->diags->errors;

	if (node->kind == YAML_MAP) {
		struct bind_seen seen = {.n = 0};

		bind_map_seen(b, BIND_MAP_NEVER, node, &n, &seen);
		if (node->pairs.n == 0)
			bind_error(b, DIAG_TEXT, node->text.at,
				   "an entry of 'never' that says nothing");
		if (b->c->diags->errors != before || !never_kind(b, &seen, &n))
			return;
	} else {
		if (!bind_word(b, node, "a destination") ||
		    !dest_parse(b->c, &node->text, &n.dest))
			return;
		n.has_dest = true;
	}
	*vec_push(b->c->a, &tests->never) = n;
}

/* One set may stand without the list around it. */
void bind_mapping_nevers(struct binder *b, const struct yaml_pair *pair,
			 void *field)
{
	struct ir_tests *tests = outer(struct ir_tests, never, field);

	if (pair->value->kind == YAML_MAP)
		bind_never(b, pair->value, tests);
	vec_each(item, &pair->value->items)
		bind_never(b, *item, tests);
}
