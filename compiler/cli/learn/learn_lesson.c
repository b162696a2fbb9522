/* From the record of a session to the entries that the policy lacks. */
#include "compiler/cli/learn/learn.h"

#include "compiler/algebra/decide/ask.h"
#include "compiler/base/secret.h"
#include "compiler/cli/text/console.h"
#include "compiler/cli/text/view.h"
#include "compiler/front/word/request.h"
#include "compiler/front/yaml/edit.h"
#include "compiler/ir/text.h"

#include <stdlib.h>

#define HEAD                                                                   \
	"# What an agent may reach here, on top of ~/.membrane/config.yaml.\n" \
	"# From 'membrane learn': read it before you use it.\n"

static int fail_lesson(struct lesson *x, const struct err *err)
{
	console_error("%s", view_cleaned(x->a, str_of(err->text)).p);
	return STATUS_IO;
}

/* The policy for every run here: what a command line adds is its own. */
static int compile_file(struct lesson *x, const struct front_text *text,
			struct compilation *out)
{
	struct front_input in = x->in.front;
	struct err err;

	in.n_flags = 0;
	in.n_within = 0;
	in.texts = text;
	in.n_texts = text ? 1 : 0;
	*out = (struct compilation){0};
	if (driver_compile(out, &in, &err) < 0)
		return fail_lesson(x, &err);
	if (out->ok)
		return STATUS_OK;
	console_diags(x->a, &out->diags);
	console_error("so nothing is written");
	return STATUS_REFUSED;
}

/* --- what the policy lacks ------------------------------------------------ */

static int by_flow(const void *va, const void *vb)
{
	const struct lesson_flow *a = va, *b = vb;
	int c = str_cmp(a->name, b->name);

	return c ? c : a->port - b->port;
}

static void find_flows(struct lesson *x)
{
	vec_each(d, &x->p.deeds.v) {
		bool is_http = d->r.kind == IR_REQ_HTTP;
		struct str name = is_http ? d->r.url.name : d->r.name;

		if (is_http)
			*vec_push(x->a, &x->flows) =
				(struct lesson_flow){name, d->r.url.port};
		if (is_http || d->r.kind == IR_REQ_CONNECT)
			*vec_push(x->a, &x->flows) =
				(struct lesson_flow){name, 0};
	}
	vec_sort(&x->flows, by_flow);
}

static bool has_flow(const struct lesson *x, struct str name, uint16_t port)
{
	struct lesson_flow f = {name, port};

	return x->flows.n && bsearch(&f, x->flows.v, x->flows.n,
				     sizeof(*x->flows.v), by_flow);
}

/* A connection that was HTTP all along is its requests. */
static bool is_its_requests(const struct lesson *x, const struct act *d)
{
	return d->r.kind == IR_REQ_CONNECT && !d->unseen &&
	       d->r.proto == IR_PROTO_TCP && has_flow(x, d->r.name, d->r.port);
}

/* A question that a connection follows. */
static bool is_beside(const struct lesson *x, const struct act *d)
{
	return d->r.kind == IR_REQ_RESOLVE && has_flow(x, d->r.name, 0);
}

static bool is_network(const struct act *x)
{
	return x->r.kind == IR_REQ_CONNECT || x->r.kind == IR_REQ_HTTP ||
	       x->r.kind == IR_REQ_RESOLVE;
}

/* What was done, and the policy as it is does not permit, nor asks about where
 * it was asked about. */
static struct activity find_beyond(struct lesson *x)
{
	const struct ir_policy *had = &x->old.policy;
	const struct ir_policy *ran = &x->p.under.c.policy;
	struct decide_files *files = decide_files_new(x->a, had);
	struct activity out = x->p.deeds;

	out.v.v = NULL;
	out.v.n = out.v.cap = 0;
	vec_each(d, &x->p.deeds.v) {
		enum verdict now, then;

		if (d->then == ACT_REFUSED || !is_network(d) ||
		    is_its_requests(x, d) || is_beside(x, d))
			continue;
		now = decide_asked(x->a, had, files, &d->r).verdict;
		then = decide_asked(x->a, ran, x->p.files, &d->r).verdict;
		if (now != VERDICT_ALLOW &&
		    !(now == VERDICT_ASK && then == VERDICT_ASK))
			*vec_push(x->a, &out.v) = *d;
	}
	return out;
}

static bool add_items(struct lesson *x, const char *key,
		      const suggest_grants *grants)
{
	suggest_texts items = {0};

	suggest_items(x->a, grants, &items);
	vec_each(t, &items)
		if (!edit_add(x->a, x->after, key, *t, &x->after))
			return false;
	return true;
}

static int amend_policy(struct lesson *x)
{
	const struct source *src;
	struct front_text text;

	x->file = front_policy_name(&x->old.sources);
	src = sources_named(&x->old.sources, x->file);
	x->is_new = !src;
	x->before = src ? src->text : STR("");
	x->after = src ? src->text : STR(HEAD);
	if (!add_items(x, "allow", &x->made.grants) ||
	    !add_items(x, "ask", &x->made.asks)) {
		console_error(
			"%.*s has a shape that is not edited here: put in by hand what 'membrane trace suggest' says",
			STR_ARG(x->file));
		return STATUS_REFUSED;
	}
	text = (struct front_text){x->file, x->after};
	return compile_file(x, &text, &x->now);
}

/* --- its tests ------------------------------------------------------------ */

/* As a test has it: of a connection by name the address is the machine's. */
static struct str test_text(struct lesson *x, const struct act *d)
{
	struct ir_request r = d->r;

	if (r.kind == IR_REQ_CONNECT && r.name.n &&
	    addr_scope(&r.addr) != ADDR_PRIVATE)
		r.has_addr = false;
	return ir_request_text(x->a, &r);
}

/* What 'membrane test' will make of it; false: it cannot be said there. */
static bool decide_test(struct lesson *x, const struct decide_files *files,
			struct str s, enum verdict *out)
{
	struct sources sources;
	struct diags diags;
	struct pass_ctx c = {x->a, &sources, &diags};
	struct ir_request r;
	struct secret secret;
	struct text t = {.s = s};

	if (secret_next(s, 0, &secret))
		return false;
	sources_init(&sources, x->a);
	diags_init(&diags, x->a, &sources);
	t.verbatim =
		sources_add(&sources, STR("test"), s, LAYER_WORKSPACE)->base;
	t.at = (struct span){t.verbatim, t.verbatim + (uint32_t)s.n};
	if (!request_parse(&c, &t, &r))
		return false;
	*out = decide_asked(x->a, &x->now.policy, files, &r).verdict;
	return true;
}

static void add_test(struct lesson *x, suggest_texts *list, struct str text)
{
	vec_each(t, list)
		if (str_eq(*t, text))
			return;
	if (list->n == LEARN_TESTS_MAX)
		x->more++;
	else
		*vec_push(x->a, list) = text;
}

/* What was permitted stays so, or is asked about; what was refused likewise. */
static void find_tests(struct lesson *x)
{
	const struct decide_files *files =
		decide_files_new(x->a, &x->now.policy);

	vec_each(d, &x->p.deeds.v) {
		bool done = d->then != ACT_REFUSED;
		struct str text = test_text(x, d);
		enum verdict is;

		if ((done && !is_network(d)) || is_its_requests(x, d) ||
		    is_beside(x, d) || !decide_test(x, files, text, &is))
			continue;
		if (is == VERDICT_ASK)
			add_test(x, &x->asked, text);
		else if (done && is == VERDICT_ALLOW)
			add_test(x, &x->allowed, text);
		else if (!done && is == VERDICT_DENY)
			add_test(x, &x->denied, text);
	}
}

/* --- all ------------------------------------------------------------------ */

/* What it does later would be missing. */
static bool is_running(struct lesson *x)
{
	enum session_found state;
	struct err err;

	if (metadata_state(&x->p.about, &state, &err) < 0 ||
	    state != SESSION_ALIVE)
		return false;
	console_error("%s runs: it is learned from when it has ended",
		      x->p.label.p);
	return true;
}

/* What was decided is what is learned from: without that there is nothing. */
static int load_session(struct lesson *x)
{
	int status;

	x->p = (struct past){.a = x->a, .is_session = true};
	status = past_load(&x->p, x->o, x->in.state, x->id);
	if (status != STATUS_OK)
		return status;
	if (is_running(x))
		return STATUS_REFUSED;
	if (!x->p.has_policy || !x->p.deeds.has_decisions) {
		console_error(
			"%s: its %s cannot be read, so nothing is learned from it",
			x->p.label.p, x->p.has_policy ? "decisions" : "policy");
		return STATUS_REFUSED;
	}
	if (x->p.damage.code)
		console_error("%s",
			      view_cleaned(x->a, str_of(x->p.damage.text)).p);
	x->is_partial =
		x->p.damage.code || x->p.losses.all || x->p.deeds.beyond;
	if (x->is_partial)
		console_error(
			"records of the session are missing: what is suggested may be incomplete");
	return STATUS_OK;
}

int lesson_make(struct lesson *x)
{
	struct suggest_wish wish = {.under = &x->p.under.c.policy};
	struct activity beyond;
	int status = load_session(x);

	if (status == STATUS_OK)
		status = compile_file(x, NULL, &x->old);
	if (status != STATUS_OK)
		return status;
	find_flows(x);
	beyond = find_beyond(x);
	suggest_make(x->a, &beyond, &wish, &x->made);
	if (x->made.grants.n + x->made.asks.n > LEARN_ENTRIES_MAX) {
		console_error(
			"%s needs %u entries, more than %u that anybody reads: state a narrower bound",
			x->p.label.p, x->made.grants.n + x->made.asks.n,
			LEARN_ENTRIES_MAX);
		return STATUS_REFUSED;
	}
	status = amend_policy(x);
	if (status != STATUS_OK)
		return status;
	changes_make(x->a, &x->old, &x->now, false, &x->diff);
	find_tests(x);
	return STATUS_OK;
}

void lesson_done(struct lesson *x)
{
	past_done(&x->p);
	if (x->old.a)
		driver_done(&x->old);
	if (x->now.a)
		driver_done(&x->now);
}
