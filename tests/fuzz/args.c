/*
 * Raw docker arguments from a workspace, one per line: what the parser takes,
 * it takes from its own spelling again, and it never takes what would undo the
 * sandbox. The words that come out are looked at as docker would read them.
 */
#include "compiler/emit/docker.h"
#include "compiler/passes/args_judge.h"
#include "tests/unit/policy.h"

#include <stdlib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct test_policy t;

	if (make(&t, a, (struct str){(const char *)data, size})) {
		struct emit_in in = test_policy_in(&t);
		struct buf out;

		vec_each(arg, &t.policy.docker_args)
			if (arg->class == ARG_UNDOING || arg->class == ARG_OURS)
				abort();
		same_again(a, &t.policy.docker_args);
		buf_init(&out, a);
		(void)docker_emit(&in, &out);
	} else if (t.diags.errors == 0) {
		abort();
	}
	arena_free(a);
	return 0;
}
