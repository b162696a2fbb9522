/* Reading a seccomp profile: calls.h. */
#include "compiler/algebra/compare/calls.h"
#include "compiler/base/json.h"
#include "compiler/base/limits.h"

#include <errno.h>

/* Beyond it cJSON's numbers, which are doubles, are not exact. */
#define NUMBER_MAX (1ull << 53)
/* What runc takes where nothing is said: EPERM. */
#define ERROR_USUAL 1u

struct reader {
	struct arena *a;
	struct err *err;
	uint32_t entry; /* that is being read, from 1; 0 outside of them */
};

static bool refuse_profile(const struct reader *r, const char *what,
			   struct str word)
{
	struct str cut = str_slice(word, 0, 60);
	const char *where =
		r->entry ? arena_fmt(r->a, "entry %u: ", r->entry).p : "";

	err_set(r->err, -EPROTO, word.p ? "%s%s '%.*s'" : "%s%s", where, what,
		STR_ARG(cut));
	return false;
}

static bool refuse_plain(const struct reader *r, const char *what)
{
	return refuse_profile(r, what, (struct str){0});
}

/* --- values --------------------------------------------------------------- */

/* Only these keys, each once: other readers take the last of two. */
static bool has_keys(const struct reader *r, const cJSON *o,
		     const char *const keys[])
{
	const cJSON *item, *other;

	if (!cJSON_IsObject(o))
		return refuse_plain(r, "an object is wanted");
	cJSON_ArrayForEach(item, o) {
		struct str key = str_of(item->string);
		size_t i = 0;

		while (keys[i] && !str_is(key, keys[i]))
			i++;
		if (!keys[i])
			return refuse_profile(r, "unknown key", key);
		for (other = item->next; other; other = other->next)
			if (str_is(key, other->string))
				return refuse_profile(r, "twice the key", key);
	}
	return true;
}

static bool get_number(const struct reader *r, const cJSON *o, const char *key,
		       uint64_t max, uint64_t usual, uint64_t *out)
{
	const cJSON *v = cJSON_GetObjectItemCaseSensitive(o, key);

	*out = usual;
	if (!v)
		return true;
	return json_get_u64(o, key, max, out) ||
	       refuse_profile(r, "no number that can be used:", str_of(key));
}

/* Of the tree: it is gone when all is read. */
static bool get_text(const struct reader *r, const cJSON *o, const char *key,
		     struct str *out)
{
	return json_get_str(o, key, out) ||
	       refuse_profile(r, "no text:", str_of(key));
}

static bool get_list(const struct reader *r, const cJSON *o, const char *key,
		     const cJSON **out)
{
	return json_get_array(o, key, out) ||
	       refuse_profile(r, "no list:", str_of(key));
}

/* --- answers -------------------------------------------------------------- */

static bool read_answer(const struct reader *r, const cJSON *o,
			const char *action_key, const char *error_key,
			struct calls_answer *out)
{
	static const struct {
		const char *name;
		enum calls_action action;
	} actions[] = {
		{"SCMP_ACT_ALLOW", CALLS_ALLOW},
		{"SCMP_ACT_LOG", CALLS_LOG},
		{"SCMP_ACT_ERRNO", CALLS_ERRNO},
		{"SCMP_ACT_TRAP", CALLS_TRAP},
		{"SCMP_ACT_KILL", CALLS_KILL_THREAD},
		{"SCMP_ACT_KILL_THREAD", CALLS_KILL_THREAD},
		{"SCMP_ACT_KILL_PROCESS", CALLS_KILL_PROCESS},
	};
	struct str name;
	uint64_t error;
	size_t i = 0;

	if (!get_text(r, o, action_key, &name) ||
	    !get_number(r, o, error_key, 4095, ERROR_USUAL, &error))
		return false;
	while (i < ARRAY_LEN(actions) && !str_is(name, actions[i].name))
		i++;
	/* Also those that leave it to somebody else. */
	if (i == ARRAY_LEN(actions))
		return refuse_profile(r, "unknown action", name);
	out->action = actions[i].action;
	out->error = out->action == CALLS_ERRNO ? (uint32_t)error : 0;
	return true;
}

/* --- conditions ----------------------------------------------------------- */

static bool add_condition(const struct reader *r, struct calls_rule *rule,
			  struct calls_condition c)
{
	for (uint32_t i = 0; i < rule->n; i++)
		if (rule->conditions[i].index == c.index)
			return refuse_plain(
				r,
				"two conditions of one argument, which runtimes do not agree on");
	rule->conditions[rule->n++] = c;
	return true;
}

static bool read_condition(const struct reader *r, const cJSON *o,
			   struct calls_rule *rule)
{
	static const char *const keys[] = {"index", "value", "valueTwo", "op",
					   NULL};
	static const char *const ops[] = {
		[CALLS_EQ] = "SCMP_CMP_EQ",
		[CALLS_NE] = "SCMP_CMP_NE",
		[CALLS_LT] = "SCMP_CMP_LT",
		[CALLS_LE] = "SCMP_CMP_LE",
		[CALLS_GE] = "SCMP_CMP_GE",
		[CALLS_GT] = "SCMP_CMP_GT",
		[CALLS_MASKED] = "SCMP_CMP_MASKED_EQ",
	};
	uint64_t index, value, two;
	struct str op;
	uint32_t i = 0;

	if (!has_keys(r, o, keys) ||
	    !get_number(r, o, "index", CALLS_ARGS - 1, CALLS_ARGS, &index) ||
	    !get_number(r, o, "value", NUMBER_MAX, 0, &value) ||
	    !get_number(r, o, "valueTwo", NUMBER_MAX, 0, &two) ||
	    !get_text(r, o, "op", &op))
		return false;
	if (index == CALLS_ARGS)
		return refuse_plain(r, "a condition without an index");
	while (i < ARRAY_LEN(ops) && !str_is(op, ops[i]))
		i++;
	if (i == ARRAY_LEN(ops))
		return refuse_profile(r, "unknown operator", op);
	if (i == CALLS_MASKED && (two & ~value))
		return refuse_plain(r, "a condition has bits beside its mask");
	return add_condition(r, rule,
			     (struct calls_condition){
				     .index = (uint8_t)index,
				     .op = (enum calls_op)i,
				     .value = i == CALLS_MASKED ? two : value,
				     .mask = value});
}

/* "4.8": from that release on. */
static bool read_includes(const struct reader *r, const cJSON *o,
			  struct calls_rule *rule)
{
	static const char *const keys[] = {"minKernel", NULL};
	struct str text, part;
	uint64_t release[2];

	if (!o)
		return true;
	if (!has_keys(r, o, keys) || !get_text(r, o, "minKernel", &text))
		return false;
	for (int i = 0; i < 2; i++)
		if (!str_field(&text, '.', &part) ||
		    !str_u64(part, UINT16_MAX, &release[i]))
			return refuse_plain(r, "minKernel is no release");
	if (text.n)
		return refuse_plain(r, "minKernel is no release");
	return add_condition(r, rule,
			     (struct calls_condition){
				     .index = CALLS_KERNEL,
				     .op = CALLS_GE,
				     .value = release[0] << 16 | release[1]});
}

/* --- entries -------------------------------------------------------------- */

static bool read_entry(const struct reader *r, const cJSON *o,
		       struct calls *out)
{
	static const char *const keys[] = {"comment", "names",	  "action",
					   "args",    "errnoRet", "includes",
					   NULL};
	struct calls_rule rule = {0};
	const cJSON *names, *args = NULL, *item;

	if (!has_keys(r, o, keys) || !get_list(r, o, "names", &names) ||
	    !read_answer(r, o, "action", "errnoRet", &rule.answer))
		return false;
	if (cJSON_GetObjectItemCaseSensitive(o, "args") &&
	    !get_list(r, o, "args", &args))
		return false;
	cJSON_ArrayForEach(item, args)
		if (!read_condition(r, item, &rule))
			return false;
	if (!read_includes(r, cJSON_GetObjectItemCaseSensitive(o, "includes"),
			   &rule))
		return false;
	cJSON_ArrayForEach(item, names) {
		if (!cJSON_IsString(item) || !*item->valuestring)
			return refuse_plain(r, "a name is no text");
		rule.name = arena_str(r->a, str_of(item->valuestring));
		*vec_push(r->a, &out->rules) = rule;
	}
	return true;
}

static bool read_machine(const struct reader *r, const cJSON *o,
			 struct calls *out)
{
	static const char *const keys[] = {"architecture", "subArchitectures",
					   NULL};
	const cJSON *others, *item;
	struct str machine;

	if (!has_keys(r, o, keys) ||
	    !get_text(r, o, "architecture", &machine) ||
	    !get_list(r, o, "subArchitectures", &others))
		return false;
	cJSON_ArrayForEach(item, others) {
		if (!cJSON_IsString(item))
			return refuse_plain(r, "an architecture is no text");
		*vec_push(r->a, &out->conventions) =
			arena_fmt(r->a, "%s on %.*s", item->valuestring,
				  STR_ARG(machine));
	}
	return true;
}

static int by_name(const void *x, const void *y)
{
	const struct calls_rule *a = x, *b = y;

	return str_cmp(a->name, b->name);
}

static int by_text(const void *x, const void *y)
{
	const struct str *a = x, *b = y;

	return str_cmp(*a, *b);
}

/* --- the whole ------------------------------------------------------------ */

static int too_many(struct err *err, struct str name)
{
	return err_set(
		err, -E2BIG,
		"too many entries and conditions about '%.*s' to be compared",
		STR_ARG(str_slice(name, 0, 60)));
}

/* Which of two answers holds, where both entries are met, nobody says. */
static int check_rules(const struct calls_rule *rules, uint32_t n,
		       struct calls_budget *budget, struct err *err)
{
	struct calls_point point;

	if (n > LIMIT_CALLS_RULES)
		return too_many(err, rules->name);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < i; k++) {
			const struct calls_rule *both[] = {&rules[i],
							   &rules[k]};

			if (!calls_same_answer(rules[i].answer,
					       rules[k].answer) &&
			    calls_solve(budget, both, 2, NULL, 0, &point))
				return err_set(
					err, -EPROTO,
					"two entries about '%.*s' contradict each other",
					STR_ARG(str_slice(rules->name, 0, 60)));
			if (budget->steps == 0)
				return too_many(err, rules->name);
		}
	}
	return 0;
}

static int check_calls(const struct calls *c, struct err *err)
{
	struct calls_budget budget = {LIMIT_CALLS_STEPS};
	uint32_t n;

	for (uint32_t i = 0; i < c->rules.n; i += n) {
		const struct calls_rule *rules =
			calls_find(c, c->rules.v[i].name, &n);
		int rc = check_rules(rules, n, &budget, err);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static bool read_root(struct reader *r, const cJSON *root, struct calls *out)
{
	static const char *const keys[] = {"defaultAction", "defaultErrnoRet",
					   "archMap", "syscalls", NULL};
	const cJSON *list, *item;

	if (!has_keys(r, root, keys) ||
	    !read_answer(r, root, "defaultAction", "defaultErrnoRet",
			 &out->rest) ||
	    !get_list(r, root, "archMap", &list))
		return false;
	cJSON_ArrayForEach(item, list)
		if (!read_machine(r, item, out))
			return false;
	if (!get_list(r, root, "syscalls", &list))
		return false;
	cJSON_ArrayForEach(item, list) {
		r->entry++;
		if (!read_entry(r, item, out))
			return false;
	}
	return true;
}

/* Where the text ceases to be JSON. */
static int refuse_text(struct str json, size_t end, struct err *err)
{
	uint32_t line = 1, column = 1;

	for (size_t i = 0; i < end && i < json.n; i++, column++)
		if (json.p[i] == '\n') {
			line++;
			column = 0;
		}
	return err_set(err, -EPROTO, "%u:%u: no JSON", line, column);
}

int calls_read(struct arena *a, struct str json, struct calls *out,
	       struct err *err)
{
	struct reader r = {.a = a, .err = err};
	struct calls found = {0};
	const char *text = arena_cstr(a, json), *end = text;
	cJSON *root;
	bool ok;
	int rc;

	if (json.n > LIMIT_SOURCE_BYTES)
		return err_set(err, -E2BIG, "longer than %u bytes",
			       LIMIT_SOURCE_BYTES);
	/* With its NUL: nothing may follow. */
	root = cJSON_ParseWithLengthOpts(text, json.n + 1, &end, true);
	if (!root)
		return refuse_text(json, (size_t)(end - text), err);
	ok = read_root(&r, root, &found);
	cJSON_Delete(root);
	if (!ok)
		return err->code;
	vec_sort(&found.rules, by_name);
	vec_sort(&found.conventions, by_text);
	rc = check_calls(&found, err);
	if (rc == 0)
		*out = found;
	return rc;
}
