/* What of a policy is in the words of `docker run`, as a Pod has it. */
#include "compiler/emit/kubernetes/parts.h"

#include "compiler/base/ascii.h"
#include "compiler/ir/docker_mount.h"

/* A name of C's, as every shell takes it. */
static bool is_variable(struct str s)
{
	for (size_t i = 0; i < s.n; i++)
		if (!ascii_is_alnum(s.p[i]) && s.p[i] != '_')
			return false;
	return s.n > 0 && !ascii_is_digit(s.p[0]);
}

/* NAME=VALUE, without a variable of the machine's: '$$' is a dollar sign, and
 * passes/args has seen that none stands alone. */
static bool take_variable(struct arena *a, const struct arg *arg,
			  struct str *name, struct str *value)
{
	size_t eq = str_find(arg->value, '=', 0);
	struct str text = str_slice(arg->value, eq + 1, arg->value.n);
	struct buf b;

	*name = str_slice(arg->value, 0, eq);
	if (eq == arg->value.n || !is_variable(*name))
		return false;
	buf_init(&b, a);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '$' && text.p[++i] != '$')
			return false;
		buf_addc(&b, text.p[i]);
	}
	*value = buf_keep(&b);
	return true;
}

bool kube_words_check(const struct emit_in *in)
{
	struct str name, value;
	bool ok = true;

	vec_each(arg, &in->policy->docker_args) {
		if (!str_is(arg->option, "env"))
			ok = kube_refuse(
				in, arg->from.at, "this is a word of docker's",
				"leave it out; an overlay can set what a Pod has");
		else if (!take_variable(in->a, arg, &name, &value))
			ok = kube_refuse(
				in, arg->value_at,
				"there is no machine whose variable it could have",
				"write NAME=VALUE, with $$ for a dollar sign");
	}
	return ok;
}

void kube_words_put(const struct kube *k, struct kube_node *env)
{
	vec_each(arg, &k->policy->docker_args) {
		struct kube_node *item;
		struct str name, value;

		/* kube_check() has seen that each is one */
		ignore(take_variable(k->a, arg, &name, &value));
		item = kube_tree_map(env, NULL);
		kube_tree_text(item, "name", name);
		kube_tree_literal(item, "value", value);
		kube_tree_from(k->in, item, &arg->from);
	}
}

/* "64m" */
static bool take_size(struct str s, uint64_t *out)
{
	static const char units[] = "kmg";
	const char *u = s.n ? strchr(units, s.p[s.n - 1]) : NULL;
	uint64_t n;

	if (u)
		s.n--;
	if (!str_u64(s, UINT64_C(1) << 30, &n) || n == 0)
		return false;
	*out = u ? n << (10 * (unsigned)(u - units + 1)) : n;
	return true;
}

bool kube_tmpfs(struct str text, struct str *out_path, uint64_t *out_bytes)
{
	static const char *const taken[] = {"/workspace", "/home/agent",
					    "/proc",	  "/sys",
					    "/dev",	  KUBE_AGENT_ROOTS_AT};
	size_t colon = str_find(text, ':', 0);
	struct str rest = str_slice(text, colon + 1, text.n), word;
	struct str path = str_unslashed(str_slice(text, 0, colon));

	*out_bytes = 0;
	*out_path = path;
	if (path.n < 2 || path.p[0] != '/' || !str_printable(path))
		return false;
	for (size_t i = 0; i < ARRAY_LEN(taken); i++)
		if (docker_mount_within(path, str_of(taken[i])))
			return false;
	while (str_field(&rest, ',', &word))
		if (!str_starts(word, STR("size=")) ||
		    !take_size(str_slice(word, 5, word.n), out_bytes))
			return false;
	return true;
}
