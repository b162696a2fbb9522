/* A Pod with its gate: the least of policies, compiled as any. */
#include "compiler/cli/preflight/parts.h"

#include "compiler/cli/text/console.h"

/* Documentation's (RFC 5737): nothing is asked of it. */
#define RESOLVER "192.0.2.53"

static struct front_flag flag_of(enum front_flag_kind kind, const char *spelling,
				 struct str value)
{
	return (struct front_flag){
		.kind = kind, .spelling = str_of(spelling), .value = value};
}

/* Of one name, so that HAProxy and the resolver are tried, too; nobody has it
 * (RFC 6761), and it makes the plan this visit's own. */
static bool compile_policy(struct visit *v, const struct kube_options *with,
			   struct compilation *c, struct err *err)
{
	struct front_flag flags[] = {
		flag_of(FRONT_FLAG_IMAGE, "--image", with->gate_image),
		flag_of(FRONT_FLAG_RESOLVER, "--resolver", STR(RESOLVER)),
		flag_of(FRONT_FLAG_ALLOW, "--allow",
			arena_fmt(v->a, "doctor-%s.invalid:443", v->id)),
	};
	struct front_input in = v->in.front;

	in.workspace = NULL;
	in.no_global = true;
	in.flags = flags;
	in.n_flags = ARRAY_LEN(flags);
	c->kubernetes = with;
	if (driver_compile(c, &in, err) < 0)
		return false;
	console_diags(c->a, &c->diags);
	return c->ok || (err_set(err, -1, "its policy is refused"), false);
}

/* --help: the gate's image as the agent's has no other command that ends well. */
static bool write_objects(struct visit *v, struct compilation *c,
			  struct kube_options *with, struct wire *out)
{
	char *const command[] = {arena_cstr(v->a, STR("--help")), NULL};
	struct kube_run run = {.id = str_of(v->id), .command = command};
	struct emit_in in = driver_emit(c);
	struct kube_objects objects;
	struct kube_applied applied;

	with->run = &run;
	in.kubernetes = with;
	if (!kube_run_emit(&in, &applied) || !kube_objects(&in, &objects))
		return false;
	out->text = arena_str(v->a, applied.text);
	out->pod = arena_cstr(v->a, applied.name);
	out->plan = arena_fmt(v->a, KUBE_PLAN_NAME "%s", objects.digest).p;
	return true;
}

bool wire_write(struct visit *v, struct wire *out)
{
	struct kube_options with = *v->with;
	struct compilation c = {0};
	struct err err = {0};
	bool ok;

	with.name = STR(PROBES_NAME);
	with.deadline_s = PROBES_DEADLINE_S;
	if (!with.gate_image.n)
		with.gate_image = STR(PROBES_NO_IMAGE);
	if (!findings_ok(v, CHECK_SIDECAR))
		with.sidecar = KUBE_SIDECAR_CONTAINER;
	ok = compile_policy(v, &with, &c, &err) &&
	     write_objects(v, &c, &with, out);
	if (!ok && err.text[0])
		console_error("%s", view_cleaned(v->a, str_of(err.text)).p);
	driver_done(&c);
	return ok;
}
