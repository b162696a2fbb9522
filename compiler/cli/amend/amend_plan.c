/* Which session is meant, and what its policy would be: judged beforehand. */
#include "compiler/cli/amend/amend.h"

#include "compiler/algebra/compare/never.h"
#include "compiler/algebra/decide/ask.h"
#include "compiler/cli/text/console.h"
#include "compiler/emit/gate/gate_cfg.h"
#include "compiler/front/word/dest.h"
#include "compiler/front/word/request.h"
#include "compiler/lint/invariants.h"
#include "compiler/plan/files.h"
#include "compiler/plan/manifest.h"
#include "runtime/launch/control.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define READ_TRIES   20 /* a plan that is just being put in its place */
#define READ_STEP_MS 25

static int fail_session(struct amend *x, int status, const struct err *err)
{
	console_error("%s", view_cleaned(x->a, str_of(err->text)).p);
	return status;
}

/* --- which session -------------------------------------------------------- */

/* The only one that runs. */
static int find_only(struct amend *x)
{
	sessions all = {0};
	unsigned n = 0;
	struct err err;

	if (session_list(x->a, x->state, &all, &err) < 0)
		return fail_session(x, STATUS_IO, &err);
	vec_each(s, &all) {
		enum session_found state;
		struct metadata about;

		metadata_read(x->a, s, &about);
		if (metadata_state(&about, &state, &err) < 0)
			return fail_session(x, STATUS_IO, &err);
		if (state == SESSION_ALIVE && n++ == 0)
			x->about = about;
	}
	if (n == 1)
		return STATUS_OK;
	if (n == 0)
		console_error("no session runs");
	else
		console_error(
			"%u sessions run: name one with --session ('membrane ps' lists them)",
			n);
	return STATUS_REFUSED;
}

static int find_session(struct amend *x)
{
	const struct option_given *id = options_get(x->o, OPTION_SESSION);
	enum session_found state = SESSION_FINISHED;
	struct err err;
	int rc = inputs_state(x->a, &x->state, &err);

	if (rc < 0)
		return fail_session(x, STATUS_IO, &err);
	if (x->about.session.dir)
		return STATUS_OK;
	if (!id)
		return find_only(x);
	if (id->value.n == 0) {
		console_error(
			"--session needs the ID of a session, or how it begins");
		return STATUS_USAGE;
	}
	rc = metadata_find(x->a, x->state, id->value, &x->about, &err);
	if (rc == 0)
		rc = metadata_state(&x->about, &state, &err);
	if (rc < 0)
		return fail_session(
			x, rc == -ENOENT ? STATUS_REFUSED : STATUS_IO, &err);
	if (state == SESSION_ALIVE)
		return STATUS_OK;
	console_error("session %s has ended: nothing of it can be changed",
		      x->about.session.id);
	return STATUS_REFUSED;
}

int amend_find(struct amend *x)
{
	int status = find_session(x);

	if (status != STATUS_OK || !session_is_pod(&x->about.session))
		return status;
	console_error(
		"session %s is in a Pod: its plan is an immutable ConfigMap, and its gate takes none but that of one digest; change the policy, and run it anew",
		x->about.session.id);
	return STATUS_REFUSED;
}

/* --- what runs ------------------------------------------------------------ */

static int read_plan_once(struct amend *x, struct err *err)
{
	const struct session *s = &x->about.session;
	int rc;

	x->done.n = 0;
	x->base = x->running = (struct plan){0};
	rc = change_log_read(x->a, s, &x->done, err);
	x->generation = x->done.n + 1;
	if (rc == 0)
		rc = change_log_plan(x->a, s, 1, &x->base, err);
	if (rc == 0)
		rc = change_log_plan(x->a, s, x->generation, &x->running, err);
	return rc;
}

static int read_session(struct amend *x, struct err *err)
{
	int rc = read_plan_once(x, err);

	for (int i = 0; rc < 0 && i < READ_TRIES; i++) {
		poll(NULL, 0, READ_STEP_MS);
		rc = read_plan_once(x, err);
	}
	return rc;
}

/* --- the layer of the session --------------------------------------------- */

static bool parse_dest(struct amend *x, struct str text, struct ir_dest *out)
{
	struct sources sources;
	struct diags diags;
	struct pass_ctx c = {x->a, &sources, &diags};
	const struct source *src;
	struct text t = {.s = text};

	sources_init(&sources, x->a);
	diags_init(&diags, x->a, &sources);
	src = sources_add(&sources, STR("dest"), text, LAYER_SESSION);
	t.at = (struct span){src->base, src->base + (uint32_t)text.n};
	t.verbatim = src->base;
	return dest_parse(&c, &t, out);
}

/* Two spellings of one destination. */
static bool same_dest(struct amend *x, struct str one, struct str other)
{
	struct ir_dest a, b;

	if (str_eq(one, other))
		return true;
	return parse_dest(x, one, &a) && parse_dest(x, other, &b) &&
	       a.kind == b.kind && a.has_port == b.has_port &&
	       (!a.has_port ||
		(a.port.proto == b.port.proto && a.port.lo == b.port.lo &&
		 a.port.hi == b.port.hi)) &&
	       str_eq(ir_dest_text(x->a, &a), ir_dest_text(x->a, &b));
}

static struct front_flag flag_of(bool allow, struct str dest)
{
	return (struct front_flag){
		.kind = allow ? FRONT_FLAG_ALLOW : FRONT_FLAG_DENY,
		.spelling = allow ? STR("allow") : STR("deny"),
		.value = dest};
}

/*
 * A line for each change; what was said of a destination last holds of those
 * that name it: allowing takes back the session's own denial of it, and the
 * other way round. Lines stay where they are.
 */
static struct front_flag *flags_of(struct amend *x, uint32_t *out_n)
{
	struct front_flag *v =
		arena_array(x->a, (size_t)x->done.n + 1, sizeof(*v));
	uint32_t n = 0;

	vec_each(c, &x->done)
		v[n++] = flag_of(c->allow, str_of(c->dest));
	*out_n = n;
	v[n] = flag_of(x->allow, x->dest);
	return v;
}

static void settle_flags(struct amend *x, struct front_flag *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = i + 1; k < n; k++)
			v[i].off |= v[k].kind != v[i].kind &&
				    same_dest(x, v[i].value, v[k].value);
}

/* --- whether it may ------------------------------------------------------- */

static bool is_told_by_sources(struct str name)
{
	return str_is(name, PLAN_PROVENANCE) || str_is(name, MANIFEST_NAME);
}

/* What runs is what this program makes of the same words? */
static bool is_what_runs(struct amend *x)
{
	struct plan_delta *all;
	uint32_t n = plan_compare(x->a, &x->running, &x->old.c.plan, &all);

	for (uint32_t i = 0; i < n; i++) {
		if (is_told_by_sources(all[i].name))
			continue;
		console_error(
			"the session runs another %.*s than this membrane makes of its policy: another version started it",
			STR_ARG(all[i].name));
		return false;
	}
	return true;
}

/* As before a session: what the gate would not do is not begun. */
static bool can_enforce(struct amend *x)
{
	struct pass_ctx c = driver_ctx(&x->now.c);
	bool ok = passes_enforceable(&c, &x->now.c.policy);

	if (!ok)
		console_diags(x->a, &x->now.c.diags);
	return ok;
}

/*
 * policy.json does not say whose 'never' it has. All of them bind that what
 * runs holds to: those of the global file always did, or nothing would run.
 */
static bool holds_never(struct amend *x)
{
	struct pass_ctx c = driver_ctx(&x->now.c);
	const struct ir_policy *old = &x->old.c.policy, *now = &x->now.c.policy;
	struct ir_request witness;
	struct ir_origin rule;
	struct decision d;
	bool ok = true;

	vec_each(n, &now->tests.never)
		if (!never_find(x->a, old, n, &witness, &d))
			ok &= invariants_never(&c, now, n, &witness, &d, &rule);
	if (!ok)
		console_diags(x->a, &x->now.c.diags);
	return ok;
}

static bool is_machine(struct amend *x)
{
	struct ir_dest d;

	return parse_dest(x, x->dest, &d) && ir_dest_machine(&d);
}

/* A native session that began with names alone, and is to have more. */
static bool leaves_by_sockets(struct amend *x)
{
	return session_is_native(&x->about.session) &&
	       ir_uplink_sockets(&x->old.c.policy) &&
	       !ir_uplink_sockets(&x->now.c.policy);
}

static bool is_only_network(struct amend *x)
{
	const char *what =
		control_forbidden(x->a, &x->running, &x->now.c.plan,
				  session_is_native(&x->about.session));

	if (!what)
		return true;
	if (is_machine(x))
		console_error(
			"a port of 'host' is opened when a session begins: write it into the policy, and start another session");
	else if (leaves_by_sockets(x))
		console_error(
			"this session reaches names over TCP, by sockets that are made for it, and its gate has no other way out: write networks and UDP, or 'uplink: isolated', into the policy, and start another session");
	else if (gate_cfg_decrypts(&x->now.c.policy) &&
		 !gate_cfg_decrypts(&x->old.c.policy))
		console_error(
			"requests can be told apart only inside TLS, and this session decrypts nothing: its agent trusts no CA. Name the host alone, or start another session with it");
	else
		console_error(
			"this would change %s as well: what a session is besides its network does not change while it runs",
			what);
	return false;
}

/* --- why nothing would change --------------------------------------------- */

/* A request that a destination speaks of, as the grammar has it. */
static struct str sample_request(struct amend *x)
{
	struct ir_dest d;
	struct buf b;
	struct str text;
	unsigned port;

	if (!parse_dest(x, x->dest, &d))
		return (struct str){0};
	text = ir_dest_text(x->a, &d);
	buf_init(&b, x->a);
	port = d.has_port ? d.port.lo : 443;
	if (d.kind == IR_DEST_URL) {
		buf_addf(&b, "GET %.*s", STR_ARG(text));
	} else if (ir_dest_net(&d) && !ir_dest_machine(&d)) {
		char addr[ADDR_TEXT_MAX];
		const struct cidr *net = ir_dest_net(&d);
		bool v6 = net->addr.family == ADDR_V6;

		buf_addf(&b, "%s%s%s:%u", v6 ? "[" : "",
			 addr_text(&net->addr, addr), v6 ? "]" : "", port);
	} else {
		if (str_is(text, "*"))
			text = STR("any.example");
		for (size_t i = 0; i < text.n; i++) {
			if (text.p[i] == '*' && i + 1 < text.n &&
			    text.p[i + 1] == '*')
				continue;
			buf_addc(&b, text.p[i] == '*' ? 'x' : text.p[i]);
		}
		buf_addf(&b, ":%u", port);
	}
	return buf_keep(&b);
}

static struct decision decide_sample(struct amend *x, struct str text)
{
	struct sources sources;
	struct diags diags;
	struct pass_ctx c = {x->a, &sources, &diags};
	struct ir_request r = {0};
	const struct source *src;
	struct text t = {.s = text};

	sources_init(&sources, x->a);
	diags_init(&diags, x->a, &sources);
	src = sources_add(&sources, STR("request"), text, LAYER_SESSION);
	t.at = (struct span){src->base, src->base + (uint32_t)text.n};
	t.verbatim = src->base;
	if (text.n == 0 || !request_parse(&c, &t, &r))
		return (struct decision){.reason = REASON_NO_GRANT};
	return decide_asked(x->a, &x->now.c.policy,
			    decide_files_new(x->a, &x->now.c.policy), &r);
}

static struct str rule_text(struct amend *x, const struct ir_grant *g)
{
	struct str at = view_source(x->a, &x->now.c.sources, g->from.at);

	if (g->from.layer == LAYER_FLOOR)
		at = STR("built in");
	return arena_fmt(x->a, "'%s %s' (%.*s)",
			 ir_grant_key_name(g->key),
			 view_cleaned(x->a, g->canon).p, STR_ARG(at));
}

static void say_why_not(struct amend *x)
{
	struct decision d = decide_sample(x, sample_request(x));
	const char *dest = view_cleaned(x->a, x->dest).p;

	if (x->allow && d.verdict == VERDICT_DENY && d.grant &&
	    (d.reason == REASON_DENIED || d.reason == REASON_FLOOR))
		console_error(
			"%s stays denied, by %s: the grant would have no effect",
			dest, rule_text(x, d.grant).p);
	else if (x->allow && d.verdict == VERDICT_ALLOW && d.grant)
		console_error(
			"%s is allowed already, by %s: nothing would change",
			dest, rule_text(x, d.grant).p);
	else if (!x->allow)
		console_error("nothing of %s is allowed: nothing would change",
			      dest);
	else
		console_error(
			"that gives no access that the session does not have: nothing would change");
}

/* --- compiling ------------------------------------------------------------ */

static int derive_plan(struct amend *x, const struct plan *told,
		       const struct front_flag *v, uint32_t n,
		       struct derived *out)
{
	const char *prefix = arena_fmt(x->a, "%s/plan/", x->about.session.id).p;
	struct err err;

	if (derived_extend(&x->base, told, prefix, v, n, out, &err) < 0)
		return fail_session(x, STATUS_IO, &err);
	if (out->c.ok)
		return STATUS_OK;
	console_diags(x->a, &out->c.diags);
	return STATUS_REFUSED;
}

static int judge_change(struct amend *x)
{
	if (!is_what_runs(x) || !can_enforce(x) || !holds_never(x))
		return STATUS_REFUSED;
	changes_make(x->a, &x->old.c, &x->now.c, false, &x->diff);
	x->is_idle = changes_verdict(&x->diff) <= CHANGES_COSMETIC;
	if (x->is_idle) {
		say_why_not(x);
		return x->save.wanted ? STATUS_OK : STATUS_REFUSED;
	}
	return is_only_network(x) ? STATUS_OK : STATUS_REFUSED;
}

int amend_compile(struct amend *x)
{
	struct front_flag *flags, *before;
	uint32_t n;
	struct err err;
	int status;

	if (read_session(x, &err) < 0)
		return fail_session(x, STATUS_IO, &err);
	flags = flags_of(x, &n);
	before = flags_of(x, &n);
	settle_flags(x, before, n);
	settle_flags(x, flags, n + 1);
	status = derive_plan(x, NULL, flags, n + 1, &x->now);
	if (status == STATUS_OK)
		status = derive_plan(x, &x->running, before, n, &x->old);
	return status == STATUS_OK ? judge_change(x) : status;
}

void amend_release(struct amend *x)
{
	if (x->old.c.a)
		driver_done(&x->old.c);
	if (x->now.c.a)
		driver_done(&x->now.c);
	x->old = x->now = (struct derived){0};
}
