#include "compiler/cli/review/derived.h"

#include "compiler/base/sha256.h"
#include "compiler/plan/files.h"
#include "compiler/plan/manifest.h"

#include <errno.h>
#include <sys/stat.h>

/* A folder with one file, in memory. */
struct memory {
	struct front_tree tree;
	struct str name, text;
};

/* Whatever its size: a policy written out is longer than what people wrote,
 * and was bounded when it was read. */
static int read_memory(const struct front_tree *t, struct arena *a,
		       struct str path, size_t max, unsigned *out_mode,
		       struct str *out_text, struct err *err)
{
	const struct memory *m = (const struct memory *)t;

	(void)a;
	(void)max;
	if (!str_eq(path, m->name))
		return err_set(err, -ENOENT, "no '%.*s'", STR_ARG(path));
	*out_mode = S_IFREG;
	if (out_text)
		*out_text = m->text;
	return 0;
}

static bool is_one_of(struct str name, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_is(name, list[i]))
			return true;
	return false;
}

bool derived_is_pods(struct str name)
{
	static const char *const pods[] = {PLAN_CONFIGMAP, PLAN_NETWORKPOLICY,
					   PLAN_POD,	   PLAN_ADMISSION,
					   PLAN_GATE_POD,  PLAN_CILIUM};

	return is_one_of(name, pods, ARRAY_LEN(pods));
}

/* What may differ is told by sources, and not by the policy. */
static bool follows_policy(struct str name)
{
	static const char *const told[] = {PLAN_PROVENANCE, MANIFEST_NAME};

	return !derived_is_pods(name) &&
	       !is_one_of(name, told, ARRAY_LEN(told));
}

static void compare_derived(const struct plan *p, struct derived *d)
{
	struct plan_delta *all;
	uint32_t n = plan_compare(d->c.a, p, &d->c.plan, &all);

	d->deltas = all;
	for (uint32_t i = 0; i < n; i++)
		if (follows_policy(all[i].name))
			d->deltas[d->n++] = all[i];
}

static int compile_told(const struct plan *p, struct front_input in,
			struct derived *out, struct err *err)
{
	const struct plan_file *f = plan_file(p, PLAN_POLICY);
	struct memory m = {.tree = {read_memory}, .name = STR(PLAN_POLICY)};
	const char *prefix = in.prefix;
	int rc;

	in.global = PLAN_POLICY;
	in.derived = true;
	in.tree = &m.tree;
	if (!f)
		return err_set(err, -ENOENT, "%s%s: missing", prefix,
			       PLAN_POLICY);
	m.text = f->data.n ? f->data : STR("");
	rc = driver_compile(&out->c, &in, err);
	if (rc == 0 && out->c.ok)
		compare_derived(p, out);
	return rc;
}

/* Comments say of rules where that plan has them. */
static void adopt_places(const struct plan *told, struct compilation *c)
{
	const struct plan_file *f = plan_file(told, PLAN_PROVENANCE);

	if (f)
		c->places = f->data;
}

int derived_make(const struct plan *p, const char *prefix,
		 const struct kube_options *kubernetes, struct derived *out,
		 struct err *err)
{
	/* Whose 'never' its tests hold, it does not say: the sources bind. */
	*out = (struct derived){.c.unbound = true, .c.kubernetes = kubernetes};
	adopt_places(p, &out->c);
	return compile_told(p, (struct front_input){.prefix = prefix}, out,
			    err);
}

/* What the manifest tells: the plan's own sources, and what was changed. */
static void name_sources(const struct plan *p, struct compilation *c)
{
	char hex[SHA256_HEX_MAX];

	c->plan.sources.n = 0;
	vec_each(s, &p->sources)
		*vec_push(c->a, &c->plan.sources) = *s;
	vec_each(s, &c->sources.list)
		if (s->layer == LAYER_SESSION)
			*vec_push(c->a,
				  &c->plan.sources) = (struct plan_source){
				s->name,
				arena_str(c->a,
					  str_of(sha256_hex(s->text, hex)))};
}

int derived_extend(const struct plan *p, const struct plan *told,
		   const char *prefix, const struct front_flag *changes,
		   size_t n, struct derived *out, struct err *err)
{
	const struct plan_file *f = plan_file(p, PLAN_PROVENANCE);
	struct front_input in = {
		.prefix = prefix, .session = changes, .n_session = n};
	int rc;

	*out = (struct derived){.c.unbound = true};
	if (f)
		out->c.origins = f->data;
	if (told)
		adopt_places(told, &out->c);
	rc = compile_told(p, in, out, err);
	if (rc == 0 && out->c.ok)
		name_sources(p, &out->c);
	return rc;
}

void derived_adopt(struct compilation *own, const struct compilation *other)
{
	own->policy.workspace_trust = other->policy.workspace_trust;
	own->policy.on_refusal = other->policy.on_refusal;
}
