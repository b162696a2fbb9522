/*
 * What `diff` says of two seccomp profiles, against what they answer: random
 * profiles of a few small conditions, asked point by point by an evaluator that
 * knows nothing of sets. Every difference is to be told, with the right sign,
 * and nothing else; and each example is one.
 */
#include "compiler/algebra/compare/calls.h"
#include "compiler/emit/docker/seccomp.h"
#include "tests/check.h"
#include "tests/rng.h"
#include "tests/unit/policy.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 1500
/* Numbers in conditions are below 16: beyond 32 nothing is told apart. */
#define VALUES	32u
#define ARGS	2u
#define KERNELS 2u
#define POINTS	(VALUES * VALUES * KERNELS)
#define RELEASE (4u << 16 | 8)
#define NAMES	(ARRAY_LEN(call_names))

static struct rng rng;

static const char *const call_names[] = {"clone", "read", "socket"};
/* The call that no profile names, and its place behind those. */
#define UNNAMED NAMES

/* --- profiles ------------------------------------------------------------- */

static const char *one_of(const char *const *list, uint32_t n)
{
	return list[rng_below(&rng, n)];
}

static cJSON *random_condition(uint32_t index)
{
	static const char *const ops[] = {
		"SCMP_CMP_EQ", "SCMP_CMP_NE",	     "SCMP_CMP_LT",
		"SCMP_CMP_LE", "SCMP_CMP_GE",	     "SCMP_CMP_GT",
		"SCMP_CMP_EQ", "SCMP_CMP_MASKED_EQ", "SCMP_CMP_MASKED_EQ"};
	const char *op = one_of(ops, ARRAY_LEN(ops));
	uint32_t value = rng_below(&rng, 16);
	cJSON *o = cJSON_CreateObject();

	cJSON_AddNumberToObject(o, "index", index);
	cJSON_AddNumberToObject(o, "value", value);
	cJSON_AddNumberToObject(o, "valueTwo", rng_below(&rng, 16) & value);
	cJSON_AddStringToObject(o, "op", op);
	return o;
}

static cJSON *random_entry(void)
{
	static const char *const actions[] = {
		"SCMP_ACT_ALLOW", "SCMP_ACT_ALLOW", "SCMP_ACT_LOG",
		"SCMP_ACT_ERRNO", "SCMP_ACT_TRAP"};
	cJSON *o = cJSON_CreateObject(), *args = cJSON_CreateArray();
	const char *name = one_of(call_names, NAMES);

	cJSON_AddItemToObject(o, "names", cJSON_CreateStringArray(&name, 1));
	cJSON_AddStringToObject(o, "action",
				one_of(actions, ARRAY_LEN(actions)));
	if (rng_below(&rng, 2))
		cJSON_AddNumberToObject(o, "errnoRet", 38);
	for (uint32_t i = 0; i < ARGS; i++)
		if (rng_below(&rng, 3))
			cJSON_AddItemToArray(args, random_condition(i));
	cJSON_AddItemToObject(o, "args", args);
	if (rng_below(&rng, 6) == 0)
		cJSON_AddStringToObject(cJSON_AddObjectToObject(o, "includes"),
					"minKernel", "4.8");
	return o;
}

static cJSON *random_profile(void)
{
	cJSON *root = cJSON_CreateObject(), *list;

	cJSON_AddStringToObject(root, "defaultAction",
				rng_below(&rng, 8) ? "SCMP_ACT_ERRNO"
						   : "SCMP_ACT_ALLOW");
	cJSON_AddArrayToObject(root, "archMap");
	list = cJSON_AddArrayToObject(root, "syscalls");
	for (uint32_t n = rng_below(&rng, 6); n; n--)
		cJSON_AddItemToArray(list, random_entry());
	return root;
}

/* Another profile, or the same with a little of it changed. */
static cJSON *relative_of(const cJSON *profile)
{
	cJSON *copy, *list;

	if (rng_below(&rng, 3) == 0)
		return random_profile();
	copy = cJSON_Duplicate(profile, true);
	list = cJSON_GetObjectItem(copy, "syscalls");
	if (cJSON_GetArraySize(list) && rng_below(&rng, 2))
		cJSON_DeleteItemFromArray(list, 0);
	if (rng_below(&rng, 2))
		cJSON_AddItemToArray(list, random_entry());
	/* The order is without meaning. */
	if (cJSON_GetArraySize(list) > 1)
		cJSON_AddItemToArray(list, cJSON_DetachItemFromArray(list, 0));
	return copy;
}

/* --- what they answer ----------------------------------------------------- */

struct point {
	uint32_t args[ARGS], kernel;
};

static struct point point_at(uint32_t i)
{
	return (struct point){{i % VALUES, i / VALUES % VALUES},
			      i / VALUES / VALUES ? RELEASE : 0};
}

static uint32_t number(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(o, key);

	return v ? (uint32_t)v->valuedouble : 0;
}

static bool meets(const cJSON *c, uint32_t v)
{
	const char *op = cJSON_GetStringValue(cJSON_GetObjectItem(c, "op")) + 9;
	uint32_t want = number(c, "value");

	return strcmp(op, "EQ") == 0   ? v == want
	       : strcmp(op, "NE") == 0 ? v != want
	       : strcmp(op, "LT") == 0 ? v < want
	       : strcmp(op, "LE") == 0 ? v <= want
	       : strcmp(op, "GE") == 0 ? v >= want
	       : strcmp(op, "GT") == 0 ? v > want
				       : (v & want) == number(c, "valueTwo");
}

/* An answer as a number; even ones are open. */
static uint32_t answer_of(const cJSON *o, const char *key)
{
	const char *action = cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
	uint32_t error = number(o, "errnoRet");

	if (strcmp(action, "SCMP_ACT_ALLOW") == 0)
		return 0;
	if (strcmp(action, "SCMP_ACT_LOG") == 0)
		return 2;
	if (strcmp(action, "SCMP_ACT_TRAP") == 0)
		return 1;
	return 3 + 2 * (error ? error : 1);
}

static bool is_about(const cJSON *e, const char *name, const struct point *p)
{
	const cJSON *c, *names = cJSON_GetObjectItem(e, "names");

	if (strcmp(cJSON_GetArrayItem(names, 0)->valuestring, name) != 0 ||
	    (cJSON_GetObjectItem(e, "includes") && p->kernel < RELEASE))
		return false;
	cJSON_ArrayForEach(c, cJSON_GetObjectItem(e, "args"))
		if (!meets(c, p->args[number(c, "index")]))
			return false;
	return true;
}

/* False where entries contradict each other. */
static bool ask(const cJSON *profile, const char *name, const struct point *p,
		uint32_t *out)
{
	bool found = false;
	const cJSON *e;

	*out = answer_of(profile, "defaultAction");
	cJSON_ArrayForEach(e, cJSON_GetObjectItem(profile, "syscalls")) {
		uint32_t answer = answer_of(e, "action");

		if (!is_about(e, name, p))
			continue;
		if (found && answer != *out)
			return false;
		*out = answer;
		found = true;
	}
	return true;
}

static bool contradicts(const cJSON *profile)
{
	uint32_t answer;

	for (size_t n = 0; n < NAMES; n++)
		for (uint32_t i = 0; i < POINTS; i++) {
			struct point p = point_at(i);

			if (!ask(profile, call_names[n], &p, &answer))
				return true;
		}
	return false;
}

static enum access_way way_of(uint32_t was, uint32_t is)
{
	if (was == is)
		return ACCESS_KEPT;
	return was % 2 == is % 2 ? ACCESS_OTHER
	       : is % 2		 ? ACCESS_LOST
				 : ACCESS_GAINED;
}

static enum access_way way_at(cJSON *const both[2], const char *name,
			      const struct point *p)
{
	uint32_t was, is;

	if (!ask(both[0], name, p, &was) || !ask(both[1], name, p, &is))
		abort();
	return way_of(was, is);
}

/* --- comparing ------------------------------------------------------------ */

static const char *name_at(size_t n)
{
	return n == UNNAMED ? "write" : call_names[n];
}

static bool is_named(cJSON *const both[2], size_t n)
{
	const cJSON *e;

	for (int i = 0; i < 2; i++)
		cJSON_ArrayForEach(e,
				   cJSON_GetObjectItem(both[i], "syscalls")) {
			const cJSON *names = cJSON_GetObjectItem(e, "names");

			if (strcmp(cJSON_GetArrayItem(names, 0)->valuestring,
				   name_at(n)) == 0)
				return true;
		}
	return false;
}

/* Is this change about that call? */
static bool tells(const struct access_change *c, const char *name)
{
	struct str rest = c->text;

	if (strcmp(name, "write") == 0)
		return str_starts(rest, STR("calls that neither"));
	if (!str_starts(rest, STR("call ")))
		return false;
	rest = str_slice(rest, 5, rest.n);
	return str_starts(rest, str_of(name)) &&
	       (rest.n == strlen(name) || strchr(" ,:", rest.p[strlen(name)]));
}

static void check_example(cJSON *const both[2], const char *name,
			  const struct access_change *c)
{
	const char *at = strstr(c->text.p, ", as in ");
	struct point p = {0};
	unsigned major = 0, minor = 0;
	const char *kernel;
	char *end;

	if (!at)
		return;
	at = strchr(at, '(');
	for (size_t i = 0; i < ARGS && *at != ')'; i++) {
		p.args[i] = (uint32_t)strtoul(at + 1, &end, 0);
		at = end;
	}
	kernel = strstr(at, " on Linux ");
	if (kernel)
		CHECK(sscanf(kernel, " on Linux %u.%u", &major, &minor) == 2);
	p.kernel = major << 16 | minor;
	CHECK_MSG(way_at(both, name, &p) == c->way, "%s", c->text.p);
}

static void check_call(cJSON *const both[2], size_t n,
		       const struct comparison *found)
{
	bool want[ACCESS_KEPT + 1] = {false}, got[ACCESS_KEPT + 1] = {false};
	const char *name = name_at(n);

	for (uint32_t i = 0; i < POINTS; i++) {
		struct point p = point_at(i);

		want[way_at(both, name, &p)] = true;
	}
	vec_each(c, &found->changes) {
		if (!tells(c, name))
			continue;
		got[c->way] = true;
		CHECK(c->kind == ACCESS_CALL);
		check_example(both, name, c);
		/* Without an example it is all that a call has, or a rule. */
		if (!strchr(c->text.p, ',') && !strstr(c->text.p, " with ") &&
		    c->way != ACCESS_OTHER && is_named(both, n))
			for (uint32_t i = 0; i < POINTS; i++) {
				struct point p = point_at(i);

				CHECK_MSG(way_at(both, name, &p) == c->way,
					  "%s", c->text.p);
			}
	}
	for (int w = 0; w < ACCESS_KEPT; w++)
		CHECK_MSG(want[w] == got[w], "%s: way %d: %d, not %d", name, w,
			  got[w], want[w]);
}

static void print_pair(struct arena *a, cJSON *const both[2])
{
	for (int i = 0; i < 2; i++) {
		char *text = cJSON_PrintUnformatted(both[i]);

		fprintf(stderr, "%s\n", arena_str(a, str_of(text)).p);
		cJSON_free(text);
	}
}

static bool read_profile(struct arena *a, const cJSON *profile,
			 struct calls *out)
{
	char *text = cJSON_PrintUnformatted(profile);
	bool bad = contradicts(profile);
	struct err err = {0};
	int rc = calls_read(a, arena_str(a, str_of(text)), out, &err);

	CHECK_MSG((rc < 0) == bad, "%s: %s", text, err.text);
	cJSON_free(text);
	return rc == 0 && !bad;
}

static void compare_pair(struct arena *a, cJSON *const both[2])
{
	unsigned failed = check_failed;
	struct comparison found = {0};
	struct calls calls[2];
	struct err err;

	if (!read_profile(a, both[0], &calls[0]) ||
	    !read_profile(a, both[1], &calls[1]))
		return;
	CHECK(calls_compare(a, &calls[0], &calls[1], &found, &err) == 0);
	for (size_t n = 0; n <= UNNAMED; n++)
		if (n == UNNAMED || is_named(both, n))
			check_call(both, n, &found);
	if (check_failed != failed)
		print_pair(a, both);
}

/* --- those that are emitted ----------------------------------------------- */

static void read_emitted(struct arena *a, bool own, const char *cap,
			 struct calls *out)
{
	struct test_policy t;
	struct emit_in in;
	struct err err = {0};
	struct buf text;

	test_policy_init(&t, a, LAYER_GLOBAL);
	t.doc.hardening.user_namespaces = (ir_opt_bool){.set = true, .v = own};
	if (cap)
		*vec_push(a, &t.doc.hardening.capabilities) =
			test_policy_text(&t, cap);
	CHECK(test_policy_done(&t));
	in = test_policy_in(&t);
	buf_init(&text, a);
	CHECK(seccomp_emit(&in, &text));
	CHECK_MSG(calls_read(a, buf_str(&text), out, &err) == 0, "%s",
		  err.text);
}

static bool has_change(const struct comparison *c, enum access_way way,
		       const char *text)
{
	vec_each(x, &c->changes)
		if (x->way == way && str_is(x->text, text))
			return true;
	return false;
}

static void check_emitted(struct arena *a)
{
	struct comparison found = {0};
	struct calls shared, own, all;
	struct err err;

	read_emitted(a, false, NULL, &shared);
	read_emitted(a, true, NULL, &own);
	read_emitted(a, true, "ALL", &all);
	CHECK(calls_compare(a, &shared, &shared, &found, &err) == 0);
	CHECK(calls_compare(a, &all, &all, &found, &err) == 0);
	CHECK(found.changes.n == 0);
	CHECK(calls_compare(a, &shared, &own, &found, &err) == 0);
	CHECK(found.changes.n == 9);
	CHECK(has_change(&found, ACCESS_GAINED, "call unshare"));
	CHECK(has_change(&found, ACCESS_GAINED,
			 "call clone, as in clone(0x20000)"));
	found.changes.n = 0;
	CHECK(calls_compare(a, &all, &own, &found, &err) == 0);
	CHECK(has_change(&found, ACCESS_LOST, "call bpf"));
	CHECK(has_change(&found, ACCESS_LOST,
			 "call socket with domain = 17 (AF_PACKET)"));
	vec_each(x, &found.changes)
		CHECK_MSG(x->way == ACCESS_LOST, "%.*s", STR_ARG(x->text));
}

int main(void)
{
	struct arena *a = arena_new();

	check_emitted(a);
	arena_free(a);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		cJSON *both[2];

		rng = (struct rng){i};
		a = arena_new();
		both[0] = random_profile();
		both[1] = relative_of(both[0]);
		compare_pair(a, both);
		cJSON_Delete(both[0]);
		cJSON_Delete(both[1]);
		arena_free(a);
	}
	return check_status();
}
