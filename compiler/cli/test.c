/* `membrane test`: the policy against the tests that are written of it. */
#include "compiler/base/json.h"
#include "compiler/base/sys/outfile.h"
#include "compiler/cli/review/expect.h"
#include "compiler/cli/review/junit.h"
#include "compiler/cli/text/place_json.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/cli/workspace/inputs.h"
#include "compiler/front/testfiles.h"
#include "runtime/launch/workspace/workspaces.h"

#include <fcntl.h>
#include <string.h>

#define TEST_JSON_VERSION 1

/* --- as JSON ------------------------------------------------------------- */

static cJSON *test_json(const struct sources *s, const struct expectation *e)
{
	cJSON *o = json_object();

	json_put_cstr(o, "expect", expect_name(e->kind));
	json_put_str(o, "text", e->text);
	place_json_span(o, s, e->from.at);
	json_put_bool(o, "passed", e->passed);
	if (e->witness.n)
		json_put_str(o, "witness", e->witness);
	if (e->has_decision) {
		json_put_cstr(o, "verdict", verdict_name(e->was.verdict));
		json_put_cstr(o, "reason", reason_name(e->was.reason));
	}
	if (e->rule.at.beg) {
		cJSON *rule = json_object();

		if (e->was.grant && e->was.grant->id.n)
			json_put_str(rule, "id", e->was.grant->id);
		json_put_cstr(rule, "layer", layer_name(e->rule.layer));
		place_json_span(rule, s, e->rule.at);
		json_put(o, "rule", rule);
	}
	if (e->said.n)
		json_put_str(o, "report", e->said);
	return o;
}

static struct str results_json(struct compilation *c, const expectations *list)
{
	cJSON *root = json_object(), *tests = json_array();
	uint64_t failed = expect_failed(list);

	json_put_u64(root, "version", TEST_JSON_VERSION);
	json_put_u64(root, "passed", list->n - failed);
	json_put_u64(root, "failed", failed);
	vec_each(e, list)
		json_push(tests, test_json(&c->sources, e));
	json_put(root, "tests", tests);
	return json_shown(c->a, root);
}

/* --- as text ------------------------------------------------------------- */

static struct str results_text(struct compilation *c, const expectations *list)
{
	uint64_t failed = expect_failed(list);
	bool colour = console_colour(STDOUT_FILENO);
	struct buf b;

	buf_init(&b, c->a);
	/* What kept the policy from compiling went to stderr already. */
	vec_each(e, list)
		if (!e->passed && e->kind != EXPECT_COMPILE)
			buf_add(&b, colour ? e->coloured : e->said);
	buf_addf(&b, "%llu passed, %llu failed\n",
		 (unsigned long long)(list->n - failed),
		 (unsigned long long)failed);
	return buf_str(&b);
}

/* --- the command --------------------------------------------------------- */

static int report_results(const struct options *o, const struct inputs *in,
			  struct compilation *c, const expectations *list)
{
	const char *junit = options_value(c->a, o, OPTION_JUNIT, NULL);
	struct workspaces_ask ask = {c->a, in->state, in->workspace};
	struct outfile_rule rule = {workspaces_hold, &ask};
	int status;
	struct err err;

	if (junit && outfile_write(c->a, &rule, AT_FDCWD, junit,
				   junit_text(c->a, &c->sources, list), 0644,
				   &err) < 0) {
		console_error("%s", view_cleaned(c->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	status = console_result(options_get(o, OPTION_JSON)
					? results_json(c, list)
					: results_text(c, list));
	if (status != STATUS_OK)
		return status;
	if (list->n == 0)
		console_error(
			"there are no tests: 'tests' in a policy, or a file beside it that ends in " TESTFILES_ENDING);
	return expect_failed(list) ? STATUS_REFUSED : STATUS_OK;
}

/* The tests of files, behind those of the policy. */
static int load_tests(const struct options *o, const struct inputs *in,
		      struct compilation *c, struct diags *diags,
		      struct ir_tests *tests)
{
	struct pass_ctx ctx = {c->a, &c->sources, diags};
	bool ok = false;
	struct err err;

	diags_init(diags, c->a, &c->sources);
	if (testfiles_load(&ctx, &c->sources, &in->front, o->words.v,
			   o->words.n, tests, &ok, &err) < 0) {
		console_error("%s", view_cleaned(c->a, str_of(err.text)).p);
		return STATUS_IO;
	}
	console_diags(c->a, diags);
	return ok ? STATUS_OK : STATUS_REFUSED;
}

int command_test(struct arena *a, const struct options *o)
{
	struct compilation c = {.unbound = true};
	struct diags of_files;
	struct ir_tests tests;
	expectations list = {0};
	struct inputs in;
	int status = inputs_compile(a, o, true, &in, &c);

	if (status == STATUS_REFUSED)
		expect_refused(c.a, &c.diags, &list);
	if (status == STATUS_OK) {
		tests = c.policy.tests;
		status = load_tests(o, &in, &c, &of_files, &tests);
		if (status == STATUS_REFUSED)
			expect_refused(c.a, &of_files, &list);
	}
	if (status == STATUS_OK)
		expect_all(&c, &tests, &list);
	if (status != STATUS_IO)
		status = report_results(o, &in, &c, &list);
	driver_done(&c);
	return status;
}
