/*
 * Raw docker arguments from a workspace, one per line: what the parser takes,
 * it takes from its own spelling again, and it never takes what would undo the
 * sandbox. The words that come out are looked at as docker would read them, and
 * likewise those for membrane's own engine, which are words of docker's.
 */
#include "compiler/emit/docker/docker.h"
#include "compiler/emit/native/native.h"
#include "compiler/passes/args/args_judge.h"
#include "compiler/plan/docker_json.h"
#include "tests/unit/policy.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

/* As nobody's words are: their braces are doubled. */
#define INIT_MOUNT                                                             \
	"type=bind,source={state}/sessions/{session}/" DOCKER_JSON_INIT        \
	",target=" DOCKER_JSON_INIT_AT ",readonly"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool make(struct test_policy *t, struct arena *a, struct str words)
{
	struct str word;

	test_policy_init(t, a, LAYER_WORKSPACE);
	while (str_field(&words, '\n', &word))
		test_policy_arg(t, arena_cstr(a, word));
	return test_policy_done(t);
}

/* Each argument in its long form is one word that is taken for the same. */
static void same_again(struct arena *a, const arg_list *list)
{
	struct test_policy t;
	struct buf words;

	buf_init(&words, a);
	vec_each(arg, list) {
		if (str_find(arg->value, '\n', 0) < arg->value.n)
			return; /* lines are words here */
		buf_addf(&words, "--%s", arg->option.p);
		if (arg->has_value)
			buf_addc(&words, '=');
		buf_add(&words, arg->value);
		buf_addc(&words, '\n');
	}
	if (!make(&t, a, buf_str(&words)) || t.policy.docker_args.n != list->n)
		abort();
	for (uint32_t i = 0; i < list->n; i++) {
		const struct arg *x = &list->v[i];
		const struct arg *y = &t.policy.docker_args.v[i];

		if (!str_eq(x->option, y->option) || x->class != y->class ||
		    !str_eq(x->value, y->value) || x->home != y->home)
			abort();
	}
}

static struct str word_at(const void *ctx, uint32_t i)
{
	return str_of(cJSON_GetArrayItem(ctx, (int)i + 2)->valuestring);
}

/* By the launcher, in the place of options; what a rootless trace asks for is
 * no word of docker's. */
static bool is_put_in(const char *word)
{
	static const char *const words[] = {
		"{environment}", "{git}",  "{masks}",	   "{own-path}",
		"{owner}",	 "{path}", "{repository}", "{terminal}"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcmp(word, words[i]) == 0)
			return true;
	return strncmp(word, "--ask=", 6) == 0;
}

/*
 * Of the agent's vector, from the words behind "docker run" on: what docker
 * reads as options ends with the ones that were asked for, in their order, and
 * the image is the policy's. Where there is no image, no option is about its
 * init.
 */
static void same_to_engine(const struct test_policy *t, bool native,
			   struct str json)
{
	cJSON *root = cJSON_ParseWithLength(json.p, json.n);
	cJSON *agent = cJSON_GetObjectItem(root, "agent");
	cJSON *argv = cJSON_GetObjectItem(agent, "argv");
	const char *image = cJSON_GetObjectItem(agent, "image")->valuestring;
	struct docker_run_reader r = {.word = word_at, .ctx = argv};
	struct docker_run_found f, all[4096];
	uint32_t n = 0, i;

	for (int k = cJSON_GetArraySize(argv) - 1; k >= 0; k--)
		if (is_put_in(cJSON_GetArrayItem(argv, k)->valuestring))
			cJSON_DeleteItemFromArray(argv, k);
	r.n = (uint32_t)cJSON_GetArraySize(argv) - 2;
	while (docker_run_read(&r, &f) == DOCKER_RUN_TAKEN)
		if (n < ARRAY_LEN(all))
			all[n++] = f;
	/* behind the image are the init's words, where it begins the command */
	if (f.at + 2 > r.n || strcmp(word_at(argv, f.at).p, image) != 0 ||
	    strcmp(word_at(argv, r.n - 1).p, "{command}") != 0)
		abort();
	/* of what was asked for, the last; the init's own options are behind */
	for (i = n; i-- > 0;)
		if (str_is(all[i].value, INIT_MOUNT))
			n = i;
	i = t->policy.docker_args.n;
	while (i-- > 0) {
		const struct arg *arg = &t->policy.docker_args.v[i];

		if (arg->home != ARG_AGENT ||
		    (native && str_is(arg->option, "init")))
			continue;
		if (n == 0 || !str_is(arg->option, all[--n].option->name))
			abort();
	}
	cJSON_Delete(root);
}

/* By both engines. A word that the native one has not is refused, with a place.
 */
static void emit_both(struct test_policy *t)
{
	struct emit_in in = test_policy_in(t);
	unsigned errors;
	struct buf out;

	buf_init(&out, t->a);
	if (docker_emit(&in, &out))
		same_to_engine(t, false, buf_str(&out));
	t->policy.engine.v = IR_ENGINE_NATIVE;
	errors = t->diags.errors;
	buf_init(&out, t->a);
	if (native_emit(&in, &out))
		same_to_engine(t, true, buf_str(&out));
	else if (t->diags.errors == errors)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct test_policy t;

	if (make(&t, a, (struct str){(const char *)data, size})) {
		vec_each(arg, &t.policy.docker_args)
			if (arg->class == ARG_UNDOING || arg->class == ARG_OURS)
				abort();
		same_again(a, &t.policy.docker_args);
		emit_both(&t);
	} else if (t.diags.errors == 0) {
		abort();
	}
	arena_free(a);
	return 0;
}
