/* What the tracer is told: names whose opening is recorded, bounds of files. */
#include "tests/unit/emit/planned.h"

#include "compiler/ir/tracee.h"
#include "compiler/plan/files.h"

#include <cjson/cJSON.h>

#define BUILT_IN  21
#define NAMES_MAX 200

/* trace.json of a policy with these lines. */
static cJSON *trace_of(const char *policy)
{
	struct compilation c;
	cJSON *json;

	CHECK_MSG(planned(&c, policy), "%s", policy);
	json = cJSON_Parse(planned_file(&c, "trace.json").p);
	CHECK_MSG(json, "%s", policy);
	driver_done(&c);
	return json;
}

static const char *name_at(const cJSON *json, int i)
{
	const cJSON *list = cJSON_GetObjectItem(json, "sensitive");
	const char *name = cJSON_GetStringValue(cJSON_GetArrayItem(list, i));

	return name ? name : "";
}

#define X63 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"

/* A hidden name is recorded, in whatever folder; a pattern is no name. */
static void check_names(void)
{
	cJSON *json = trace_of(
		"ignore: ['a?c', 'b*c', d/e, 'f[g]', 'h\\i', '!k', plain, shadow,"
		" 'has#in', plain, " X63 ", y" X63 "]\n");

	CHECK(strcmp(name_at(json, 0), ".aws") == 0);
	CHECK(strcmp(name_at(json, BUILT_IN - 1), "token") == 0);
	CHECK(strcmp(name_at(json, BUILT_IN), "plain") == 0);
	CHECK(strcmp(name_at(json, BUILT_IN + 1), "has#in") == 0);
	CHECK(strcmp(name_at(json, BUILT_IN + 2), X63) == 0);
	CHECK(!*name_at(json, BUILT_IN + 3));
	cJSON_Delete(json);
}

static void check_many_names(void)
{
	struct arena *a = arena_new();
	struct buf b;
	cJSON *json;

	buf_init(&b, a);
	buf_adds(&b, "ignore:\n");
	for (unsigned i = 0; i < NAMES_MAX; i++)
		buf_addf(&b, "  - n%u\n", i);
	json = trace_of(buf_str(&b).p);
	CHECK(strcmp(name_at(json, BUILT_IN), "n0") == 0);
	CHECK(strcmp(name_at(json, NAMES_MAX - 1), "n178") == 0);
	CHECK(!*name_at(json, NAMES_MAX));
	cJSON_Delete(json);
	arena_free(a);
}

/* Tracee's version stands there where it is the engine: the one asked for. */
static void check_version(void)
{
	static const char *const policies[] = {
		"trace: {engine: tracee, version: 0.20.1}",
		"trace: {engine: tracee}", "trace: {engine: native}"};
	static const char *const versions[] = {"0.20.1", TRACEE_DEFAULT_VERSION,
					       NULL};

	for (size_t i = 0; i < ARRAY_LEN(policies); i++) {
		cJSON *json = trace_of(policies[i]);
		const char *got = cJSON_GetStringValue(
			cJSON_GetObjectItem(json, "tracee"));

		CHECK_MSG((!got && !versions[i]) ||
				  (got && versions[i] &&
				   strcmp(got, versions[i]) == 0),
			  "%s", policies[i]);
		/* what Tracee opens its own policy says */
		CHECK_MSG(!cJSON_GetObjectItem(json, "sensitive") ==
				  (versions[i] != NULL),
			  "%s", policies[i]);
		cJSON_Delete(json);
	}
}

/* Its own policy is there where it is the engine, and nowhere else. */
static void check_engine(const char *engine, bool is_tracee)
{
	struct compilation c;
	struct arena *a = arena_new();

	CHECK(planned(&c, arena_fmt(a, "trace: {engine: %s}", engine).p));
	CHECK_MSG((plan_file(&c.plan, PLAN_TRACEE) != NULL) == is_tracee, "%s",
		  engine);
	driver_done(&c);
	arena_free(a);
}

int main(void)
{
	check_names();
	check_many_names();
	check_version();
	check_engine("tracee", true);
	check_engine("native", false);
	check_engine("\"off\"", false);
	return check_status();
}
