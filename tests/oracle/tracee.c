/*
 * tracee.yaml, judged by another reading of the rules: parsed with libyaml,
 * every event and field looked up in the schema's own text, every value held
 * against what Tracee's policy checker and filter parser refuse or ignore.
 */
#include "compiler/emit/trace/tracee.h"
#include "tests/check.h"
#include "tests/unit/policy.h"

#include <stdlib.h>
#include <yaml.h>

#define SCHEMA "grammar/tracee-events.tsv"

static struct arena *a;
static struct test_policy t;
static struct str schema;

static void load_schema(void)
{
	FILE *f = fopen(SCHEMA, "r");
	struct buf b;
	int c;

	if (!f) {
		puts("skipped: run from the top folder");
		exit(77);
	}
	buf_init(&b, a);
	while ((c = getc(f)) != EOF)
		buf_addc(&b, (char)c);
	fclose(f);
	schema = buf_str(&b);
}

/* Column i, from 0, of a row. */
static struct str column(struct str row, unsigned i)
{
	struct str field = {0};

	for (; i != UINT32_MAX; i--)
		if (!str_field(&row, '\t', &field))
			return (struct str){0};
	return field;
}

/* The row of an event and a field; any row when field is empty. */
static bool find_row(struct str event, struct str field, struct str *out)
{
	struct str rest = schema, row;

	while (str_line(&rest, &row))
		if (str_eq(column(row, 0), event) &&
		    (field.n == 0 || str_eq(column(row, 7), field))) {
			*out = row;
			return true;
		}
	return false;
}

/* --- the document as a list of paths and values -------------------------- */

struct item {
	struct str path; /* "spec.rules[3].event" */
	struct str value;
};
static VEC(struct item) items;

static void walk(yaml_document_t *doc, yaml_node_t *n, const char *path)
{
	if (n->type == YAML_SCALAR_NODE) {
		*vec_push(a, &items) = (struct item){
			str_of(path),
			arena_str(a, (struct str){(char *)n->data.scalar.value,
						  n->data.scalar.length})};
	} else if (n->type == YAML_SEQUENCE_NODE) {
		int i = 0;

		for (yaml_node_item_t *k = n->data.sequence.items.start;
		     k < n->data.sequence.items.top; k++)
			walk(doc, yaml_document_get_node(doc, *k),
			     arena_fmt(a, "%s[%d]", path, i++).p);
	} else {
		for (yaml_node_pair_t *p = n->data.mapping.pairs.start;
		     p < n->data.mapping.pairs.top; p++) {
			yaml_node_t *key = yaml_document_get_node(doc, p->key);

			walk(doc, yaml_document_get_node(doc, p->value),
			     arena_fmt(a, "%s.%s", path,
				       (char *)key->data.scalar.value)
				     .p);
		}
	}
}

static bool parse(struct str text)
{
	yaml_parser_t parser;
	yaml_document_t doc;
	bool ok;

	memset(&items, 0, sizeof(items));
	yaml_parser_initialize(&parser);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text.p,
				     text.n);
	ok = yaml_parser_load(&parser, &doc) &&
	     yaml_document_get_root_node(&doc);
	if (ok) {
		walk(&doc, yaml_document_get_root_node(&doc), "");
		yaml_document_delete(&doc);
	}
	yaml_parser_delete(&parser);
	return ok;
}

static struct str at(const char *path)
{
	vec_each(i, &items)
		if (str_is(i->path, path))
			return i->value;
	return (struct str){0};
}

/* --- the rules ----------------------------------------------------------- */

static void judge(bool ok, struct str what, const char *why)
{
	if (ok) {
		check_passed++;
		return;
	}
	check_failed++;
	printf("'%.*s': %s\n", STR_ARG(what), why);
}

static bool is_number(struct str s)
{
	uint64_t v;

	return str_u64(str_slice(s, s.n && s.p[0] == '-', s.n), UINT64_MAX, &v);
}

static void judge_value(struct str filter, struct str row, struct str v)
{
	struct str shape = column(row, 9), notes = column(row, 13);
	bool stars = v.n > 1 && v.p[0] == '*' && v.p[v.n - 1] == '*';
	struct str inner = v;

	judge(v.n > 0 && v.p[0] != ' ', filter, "an empty value");
	judge(!str_is(v, "*") && !str_is(v, "**"), filter, "matches all");
	if (inner.n && inner.p[0] == '*')
		inner = str_slice(inner, 1, inner.n);
	if (inner.n && inner.p[inner.n - 1] == '*')
		inner.n--;
	judge(str_find(inner, '*', 0) == inner.n, filter, "a star inside");
	if (str_starts(shape, STR("number")))
		judge(is_number(v), filter, "not a number");
	if (str_starts(shape, STR("object")))
		judge(stars, filter, "a record compared as a whole");
	if (notes.n && memmem(notes.p, notes.n, "no *x*", 6)) {
		judge(!stars, filter, "a contains-pattern in the kernel");
		judge(v.n <= 255, filter, "too long for the kernel");
	}
}

/* Name, operator and values; *out_eq: the operator is '='. */
static struct str judge_filter(struct str event, struct str filter,
			       bool *out_eq)
{
	size_t i = 0;
	struct str name, values, v, row = {0}, field;
	bool signature;

	while (i < filter.n && !strchr("=!<>", filter.p[i]))
		i++;
	judge(i > 0 && i < filter.n, filter, "no operator");
	name = str_slice(filter, 0, i);
	*out_eq = filter.p[i] == '=';
	values = str_slice(filter, i + 1, filter.n);
	if (values.n && values.p[0] == '=')
		values = str_slice(values, 1, values.n);
	if (!str_starts(name, STR("data.")) && !str_starts(name, STR("args.")))
		return name;
	judge(filter.p[i] == '=' || filter.p[i] == '!', filter,
	      "an operator that fields do not have");
	field = str_slice(name, 5, name.n);
	judge(find_row(event, (struct str){0}, &row), event, "no event");
	signature = str_is(column(row, 2), "signature");
	judge(signature || find_row(event, field, &row), filter, "no field");
	judge(signature || str_find(field, '.', 0) == field.n, filter, "a dot");
	while (!signature && str_field(&values, ',', &v))
		judge_value(filter, row, v);
	return field;
}

static void judge_rule(int r, struct str event)
{
	struct str names[64], row;
	bool eq[64];
	unsigned n = 0;

	judge(find_row(event, (struct str){0}, &row), event, "no such event");
	for (int k = 0; k < r; k++)
		judge(!str_eq(at(arena_fmt(a, ".spec.rules[%d].event", k).p),
			      event),
		      event, "twice in one policy");
	for (; n < 64; n++) {
		struct str f =
			at(arena_fmt(a, ".spec.rules[%d].filters[%u]", r, n).p);

		if (!f.n)
			break;
		names[n] = judge_filter(event, f, &eq[n]);
		for (unsigned k = 0; k < n; k++)
			judge(!str_eq(names[k], names[n]) || eq[k] == eq[n], f,
			      "= and != on one field");
	}
}

static int judge_policy(struct str text)
{
	int r;

	judge(parse(text), text, "not YAML");
	judge(str_is(at(".apiVersion"), "tracee.aquasec.com/v1beta1"),
	      at(".apiVersion"), "apiVersion");
	judge(str_is(at(".kind"), "Policy"), at(".kind"), "kind");
	judge(at(".metadata.name").n > 0, at(".metadata.name"), "no name");
	judge(at(".metadata.annotations.description").n > 0, text,
	      "no description");
	judge(str_is(at(".spec.scope[0]"), "container=new"),
	      at(".spec.scope[0]"), "scope");
	judge(at(".spec.scope[1]").n == 0, at(".spec.scope[1]"), "scope");
	for (r = 0;; r++) {
		struct str event =
			at(arena_fmt(a, ".spec.rules[%d].event", r).p);

		if (!event.n)
			break;
		judge_rule(r, event);
	}
	judge(r > 0, text, "no rules");
	return r;
}

/* --- policies ------------------------------------------------------------ */

static void start(void)
{
	test_policy_init(&t, a, LAYER_GLOBAL);
	t.doc.trace.engine.set = true;
	t.doc.trace.engine.v = IR_TRACE_TRACEE;
}

static void event(const char *name, const char *filter)
{
	struct ir_text at_ = test_policy_text(&t, name);
	struct ir_trace_event *e = vec_push(a, &t.doc.trace.events);

	t.doc.trace.has_events = true;
	e->from = at_.from;
	e->name = at_.s;
	if (filter)
		*vec_push(a, &e->filters) = test_policy_text(&t, filter);
}

/* How many rules came out; 0 when the policy was refused. */
static int emitted(void)
{
	struct emit_in in;
	struct buf out;

	if (!test_policy_done(&t))
		return 0;
	in = test_policy_in(&t);
	buf_init(&out, a);
	return tracee_emit(&in, &out) ? judge_policy(buf_str(&out)) : 0;
}

/*
 * Filters of all kinds on events of all kinds: whatever is not refused must
 * be right. A string that tries to be YAML stays a string.
 */
static void sweep(void)
{
	static const char *const names[] = {
		"data.pathname",
		"args.pathname",
		"data.flags",
		"data.sockfd",
		"data.remote_addr",
		"data.binary.path",
		"data.sha256",
		"comm",
		"uid",
		"retval",
		"container",
		"containerId",
		"data.argv",
	};
	static const char *const values[] = {
		"=1",
		"!=1",
		"<1",
		">=1",
		"=x",
		"=x*",
		"=*x",
		"=*x*",
		"=a*b",
		"=*",
		"=**",
		"=",
		"=a,b",
		"=a,",
		"= x",
		"=\"x\"",
		"='",
		"=#x",
		"=a: b",
		"=- x",
		"=&x",
		"=%x",
		"=!!str",
		"=\xc3\xa4",
		"={}",
		"=*sin_addr:10.0.0.5 *",
		"=/workspace/*",
	};
	static const char *const events[] = {
		"security_file_open",	   "openat",
		"security_socket_connect", "sched_process_exec",
		"anti_debugging",	   "magic_write",
		"process_execute_failed",  "security_inode_rename",
	};
	unsigned taken = 0;

	for (size_t e = 0; e < ARRAY_LEN(events); e++)
		for (size_t n = 0; n < ARRAY_LEN(names); n++)
			for (size_t v = 0; v < ARRAY_LEN(values); v++) {
				start();
				event(events[e],
				      arena_fmt(a, "%s%s", names[n], values[v])
					      .p);
				taken += emitted() > 0;
			}
	CHECK(taken > 300);
}

int main(void)
{
	a = arena_new();
	load_schema();
	start();
	CHECK(emitted() == 9);
	start();
	event("*", NULL);
	CHECK(emitted() > 500);
	start();
	event("*", NULL);
	*vec_push(a, &t.doc.trace.exclude) = test_policy_text(&t, "/usr");
	*vec_push(a, &t.doc.trace.exclude) = test_policy_text(&t, "/a: \"b\"");
	CHECK(emitted() > 500);
	start();
	event("fs", NULL);
	event("security_*", NULL);
	CHECK(emitted() > 60);
	sweep();
	arena_free(a);
	return check_status();
}
