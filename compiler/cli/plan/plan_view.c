/*
 * The plan for people: what the agent can reach, see and change, how it is
 * run, what stays open, what changed. Pure: model in, text out.
 */
#include "compiler/cli/plan/views.h"

#include "compiler/base/date.h"
#include "compiler/base/lint.h"
#include "compiler/cli/plan/parts.h"
#include "compiler/ir/inspection.h"

/* Where others can read, of which a folded plan has a line each. */
#define PLACES_SHOWN 4u

/* --- the ssh-agent --- */

static void put_ssh_agent(const struct view *v, const struct plan_model *m)
{
	if (!ir_ssh_agent(m->policy))
		return;
	view_title(v, "your ssh-agent, beyond the workspace", 0, NULL);
	buf_adds(v->out, "  ");
	view_wrap(
		v, 2, 2,
		STR("The session has SSH_AUTH_SOCK: it is told the public keys of your ssh-agent, and gets signatures with each of them. Nothing else is asked of it: no key is added, removed or locked."));
}

/* --- protected --- */

static void put_protected(const struct view *v, const struct plan_model *m)
{
	uint64_t n = 0;

	vec_each(x, &m->policy->protect)
		n += x->files.n;
	if (n == 0)
		return;
	view_title(v, "for one program alone", n, "file");
	vec_each(x, &m->policy->protect)
		vec_each(f, &x->files)
			view_row(
				v, 2, VIEW_PLAIN,
				arena_fmt(
					m->a,
					"only the process %.*s itself opens %s (enforced)",
					STR_ARG(x->by),
					view_cleaned(m->a, f->line).p),
				model_source(m, f->from));
	view_paragraph(
		v,
		STR("what it reads it can repeat: its own file tools and prompts are not bound by this"));
}

/* --- asked about --- */

static void put_asked(const struct view *v, const struct plan_model *m)
{
	const ir_grants *ask = &m->policy->ask;
	uint64_t i = 0;

	if (ask->n == 0)
		return;
	view_title(v, "asks before", ask->n, "destination");
	vec_each(g, ask) {
		if (view_more(v, 2, i++, ask->n))
			return;
		view_row(v, 2, VIEW_PLAIN,
			 view_cleaned(m->a, g->canon), model_source(m, g->from));
	}
	view_paragraph(
		v,
		STR("what nothing allows or denies there waits for a person's answer, and is denied without one"));
}

/* --- decrypted --- */

/* Why a grant's TLS is decrypted, or what its denial is for. */
static const char *why_decrypted(const struct ir_policy *p,
				 const struct ir_grant *g)
{
	if (g->key == IR_KEY_DENY)
		return "some of its requests are denied";
	if (g->has_http)
		return "http rules";
	if (g->dest.kind == IR_DEST_URL)
		return "a URL";
	return g->tls.set && g->tls.v == IR_TLS_INSPECT ? "tls: inspect"
	       : p->tls.v == IR_TLS_INSPECT ? "tls: inspect, for all"
					    : "";
}

static void decrypted_row(const struct view *v, const struct plan_model *m,
			  struct str what, const char *why,
			  struct ir_origin from)
{
	view_row(v, 2, VIEW_PLAIN,
		 arena_fmt(m->a, "%s: %s", view_cleaned(m->a, what).p, why),
		 model_source(m, from));
}

/* What requests to the host of a credential have besides the agent's words. */
static const char *what_it_gets(const struct plan_model *m,
				const struct ir_credential *c)
{
	struct buf b;

	if (c->fields.n == 0)
		return arena_fmt(m->a, "gets the header %s",
				 view_cleaned(m->a, c->header).p)
			.p;
	buf_init(&b, m->a);
	buf_adds(&b, "gets, in the place of sentinels, ");
	vec_each(f, &c->fields)
		buf_addf(&b, "%s%s", f == c->fields.v ? "" : ", ",
			 view_cleaned(m->a, f->s).p);
	buf_addf(&b, " of %s", view_cleaned(m->a, c->source).p);
	if (c->has_refresh)
		buf_addf(&b, ", renewed at %s",
			 view_cleaned(m->a, ir_dest_text(m->a, &c->refresh)).p);
	return b.p;
}

uint64_t plan_decrypted(const struct ir_policy *p)
{
	const ir_grants *lists[] = {&p->allow, &p->deny};
	uint64_t n = p->credentials.n;

	for (int k = 0; k < 2; k++)
		vec_each(g, lists[k])
			n += inspection_opens(p, g);
	return n;
}

static void put_decrypted(const struct view *v, const struct plan_model *m)
{
	const struct ir_policy *p = m->policy;
	const ir_grants *lists[] = {&p->allow, &p->deny};
	uint64_t n = plan_decrypted(p), i = 0;

	if (n == 0 && !m->all)
		return;
	view_title(v, "decrypted", n, n ? "destination" : NULL);
	if (n == 0)
		view_paragraph(
			v,
			STR("nothing: no http rules, no credentials, no 'tls: inspect', so the session has no certificate authority of its own"));
	for (int k = 0; k < 2; k++)
		vec_each(g, lists[k]) {
			if (!inspection_opens(p, g))
				continue;
			if (view_more(v, 2, i++, n))
				return;
			decrypted_row(v, m, ir_dest_text(m->a, &g->dest),
				      why_decrypted(p, g), g->from);
		}
	vec_each(c, &p->credentials) {
		if (view_more(v, 2, i++, n))
			return;
		decrypted_row(v, m, ir_dest_text(m->a, &c->host),
			      what_it_gets(m, c), c->from);
	}
}

/* Names whose TLS passes as it is, when the hello says one that is granted. */
static bool is_name_checked(const struct ir_policy *p, const struct ir_grant *g)
{
	if ((g->dest.kind != IR_DEST_HOST && g->dest.kind != IR_DEST_PATTERN) ||
	    inspection_opens(p, g))
		return false;
	vec_each(d, &p->deny)
		if (inspection_opens(p, d) &&
		    str_eq(ir_dest_name(&d->dest), ir_dest_name(&g->dest)))
			return false;
	return true;
}

static void name_checked(const struct view *v, const struct plan_model *m)
{
	uint64_t n = 0, i = 0;

	vec_each(g, &m->policy->allow)
		n += is_name_checked(m->policy, g);
	if (n == 0 || !m->all)
		return;
	view_title(v, "only name-checked", n, "destination");
	vec_each(g, &m->policy->allow) {
		if (!is_name_checked(m->policy, g))
			continue;
		if (view_more(v, 2, i++, n))
			break;
		view_row(v, 2, VIEW_PLAIN,
			 view_cleaned(m->a, ir_dest_text(m->a, &g->dest)),
			 model_source(m, g->from));
	}
}

/*
 * Where somebody else can read what is sent; for '*', which reaches all of it,
 * one line.
 */
static void third_parties(const struct view *v, const struct plan_model *m)
{
	uint32_t n = m->reached.n, i = 0;
	const struct ir_grant *any = NULL;

	if (n == 0)
		return;
	view_title(v, "others can read what is sent to", n, "place");
	vec_each(h, &m->reached) {
		if (h->grant->dest.kind == IR_DEST_ANY) {
			any = h->grant;
			continue;
		}
		if (!m->all && i == PLACES_SHOWN && n > PLACES_SHOWN + 1) {
			view_paragraph(v, arena_fmt(m->a, "… and %u more",
						    n - i - (any != NULL)));
			break;
		}
		i++;
		view_row(v, 2, VIEW_WARN,
			 arena_fmt(m->a, "%s%s  (%s)", h->name.p,
				   h->place->path.n > 1 ? h->place->path.p : "",
				   third_party_kind_name(h->place->kind)),
			 model_source(m, h->grant->from));
		if (m->all)
			view_row(v, 4, VIEW_DIM, str_of(h->place->what),
				 (struct str){0});
	}
	if (any)
		view_row(v, 2, VIEW_WARN, STR("*: every place that is known"),
			 model_source(m, any->from));
}

/* --- what else there is to say --- */

/* "mark text (place)", wrapped under itself. */
static void put_point(const struct view *v, const char *mark,
		      enum view_paint paint, struct str text, struct str place)
{
	if (place.n)
		text = arena_fmt(v->out->a, "%.*s (%.*s)", STR_ARG(text),
				 STR_ARG(place));
	buf_adds(v->out, "  ");
	view_paint(v, paint, str_of(mark));
	buf_addc(v->out, ' ');
	view_wrap(v, 4, 4, text);
}

static const char *trust_text(const struct plan_model *m)
{
	switch (m->trust) {
	case TRUST_NOTHING:
		return "";
	case TRUST_ALWAYS:
		return "'workspace_trust: always': 'run' does not ask.";
	case TRUST_NEVER:
		return "'workspace_trust: never': 'run' refuses this.";
	case TRUST_APPROVED:
		return "You approved this.";
	case TRUST_OPEN:
		return "Nobody approved this: 'run' asks at a terminal, 'membrane trust' approves it.";
	case TRUST_UNKNOWN:
		break;
	}
	return arena_fmt(m->a, "Whether this is approved is not known: %s.",
			 view_cleaned(m->a, str_of(m->trust_err.text)).p)
		.p;
}

static void put_additions(const struct view *v, const struct plan_model *m)
{
	uint32_t i = 0;

	if (m->adds.adds.n == 0)
		return;
	view_title(v, "added by the workspace", m->adds.adds.n, "addition");
	vec_each(t, &m->adds.adds) {
		if (view_more(v, 2, i++, m->adds.adds.n))
			break;
		view_row(v, 2, VIEW_GOOD,
			 arena_fmt(m->a, "+ %s", view_cleaned(m->a, t->s).p),
			 model_source(m, t->from));
	}
	view_paragraph(v, str_of(trust_text(m)));
	trust_view_older(v, &m->adds);
}

/* "any-grant, .membrane.yaml:3" */
static struct str lint_place(const struct plan_model *m,
			     const struct diag_view *one)
{
	struct str at = model_source(m, (struct ir_origin){.at = one->at});
	const struct lint *lint = one->error ? NULL : lint_of(one->id);

	if (!lint)
		return at;
	return arena_fmt(m->a, "%s%s%.*s", lint->name, at.n ? ", " : "",
			 STR_ARG(at));
}

static void diag_points(const struct view *v, const struct plan_model *m,
			struct diags d, bool errors, const char *title)
{
	unsigned n = errors ? d.errors : d.warnings, shown = 0;
	struct diag_view one;

	if (n == 0)
		return;
	view_title(v, title, n, NULL);
	for (unsigned i = 0; diags_get(&d, i, &one); i++) {
		if (one.error != errors)
			continue;
		if (view_more(v, 2, shown++, n))
			break;
		put_point(v, errors ? "✗" : "!", errors ? VIEW_BAD : VIEW_WARN,
			  view_cleaned(m->a, one.text), lint_place(m, &one));
	}
}

static void put_excepted(const struct view *v, const struct plan_model *m)
{
	uint32_t i = 0;

	if (m->waived.n == 0)
		return;
	view_title(v, "warnings with an exception", m->waived.n,
		   m->all ? NULL : "warning");
	if (!m->all)
		return;
	vec_each(w, &m->waived) {
		if (view_more(v, 2, i++, m->waived.n))
			break;
		put_point(v, "·", VIEW_DIM, view_cleaned(m->a, w->view.text),
			  lint_place(m, &w->view));
		buf_adds(v->out, "    ");
		view_wrap(
			v, 4, 4,
			arena_fmt(m->a, "%s%s%s: %s",
				  model_source(m, w->waiver->from).p,
				  w->waiver->has_until ? ", until " : "",
				  w->waiver->has_until
					  ? date_text(m->a, w->waiver->until).p
					  : "",
				  view_cleaned(m->a, w->waiver->reason).p));
	}
}

/* Those that no line of a policy brings are there in nearly every plan. */
static void put_common_risks(const struct view *v, const struct plan_model *m)
{
	struct buf names;
	uint32_t n = 0;

	buf_init(&names, m->a);
	vec_each(r, &m->risks) {
		if (r->from.layer != LAYER_FLOOR)
			continue;
		buf_addf(&names, "%s%s", n++ ? ", " : ": ", r->id);
	}
	if (n)
		put_point(v, "·", VIEW_DIM,
			  arena_fmt(m->a, "%u of no line here%s", n, names.p),
			  (struct str){0});
}

/* "· fronting: where only the name of a…    .membrane.yaml:2" */
static void put_risk_line(const struct view *v, const struct plan_model *m,
			  const struct risk *r)
{
	struct str place = model_source(m, r->from);
	unsigned room = v->width > view_columns(place) + 6
				? v->width - view_columns(place) - 6
				: v->width;

	view_row(
		v, 2, VIEW_PLAIN,
		view_fit(m->a,
			 arena_fmt(m->a, "· %s: %.*s", r->id, STR_ARG(r->text)),
			 room),
		place);
}

static void put_risks(const struct view *v, const struct plan_model *m)
{
	uint32_t i = 0;

	view_title(v, "residual risks", m->risks.n, NULL);
	vec_each(r, &m->risks) {
		if (!m->all && r->from.layer == LAYER_FLOOR)
			continue;
		if (!m->all) {
			put_risk_line(v, m, r);
			continue;
		}
		if (view_more(v, 2, i++, m->risks.n))
			break;
		put_point(v, "·", VIEW_WARN, r->text,
			  r->from.layer == LAYER_FLOOR
				  ? (struct str){0}
				  : model_source(m, r->from));
	}
	if (!m->all)
		put_common_risks(v, m);
}

/* Lines moved, or another version wrote it: no word about access. */
static void other_text(const struct view *v, const struct plan_model *m)
{
	struct buf names;

	buf_init(&names, m->a);
	for (uint32_t i = 0; i < m->n_files; i++)
		buf_addf(&names, "%s%.*s", i ? ", " : "",
			 STR_ARG(m->files[i].name));
	view_title(
		v,
		model_has_changes(m)
			? "the same access as the plan that ran here last"
			: "another version wrote the plan that ran here last",
		0, NULL);
	view_paragraph(v, arena_fmt(m->a, "In other words: %s", names.p));
}

static void put_changes(const struct view *v, const struct plan_model *m)
{
	const struct changes *x = &m->changes;
	uint32_t i = 0;

	if (!m->last) {
		view_title(v, "no plan ran here before", 0, NULL);
		return;
	}
	if (m->n_files == 0) {
		view_title(v, "the same as the plan that ran here last", 0,
			   NULL);
		return;
	}
	if (!model_has_changes(m) || x->found.changes.n == 0) {
		other_text(v, m);
		return;
	}
	view_title(v, "changes since the plan that ran here last",
		   x->found.changes.n, "change");
	vec_each(c, &x->found.changes) {
		if (view_more(v, 2, i++, x->found.changes.n))
			break;
		changes_view_one(v, x, c);
	}
}

/* Where that is so, most of what follows is no longer true. */
static void put_undone(const struct view *v, const struct plan_model *m)
{
	unsigned n = 0;

	vec_each(arg, &m->policy->docker_args)
		n += arg->class == ARG_UNDOING;
	if (n == 0)
		return;
	buf_adds(v->out, "  ");
	view_paint(v, VIEW_BAD, STR("✗"));
	buf_addc(v->out, ' ');
	view_wrap(
		v, 4, 4,
		arena_fmt(
			m->a,
			"%u docker argument%s the sandbox: with %s, little of what follows holds an agent that wants out",
			n, n == 1 ? " undoes" : "s undo",
			n == 1 ? "it" : "them"));
}

/* Of the workspace, that nobody approved. */
static bool has_open(const struct plan_model *m)
{
	return m->trust == TRUST_OPEN || m->trust == TRUST_NEVER ||
	       m->trust == TRUST_UNKNOWN;
}

/* Access, since a plan ran here. */
static bool has_changed(const struct plan_model *m)
{
	return m->last && m->n_files && model_has_changes(m) &&
	       m->changes.found.changes.n;
}

void plan_view(const struct view *v, const struct plan_model *m)
{
	view_row(v, 0, VIEW_TITLE, arena_fmt(m->a, "plan %.12s", m->digest),
		 arena_fmt(m->a, "%u artefacts of %u source%s",
			   m->plan->files.n, m->plan->sources.n,
			   m->plan->sources.n == 1 ? "" : "s"));
	if (m->first_use)
		view_paragraph(
			v,
			STR("There is no ~/.membrane/config.yaml yet: this is the default that the first 'run' will write there."));
	if (!m->kubernetes)
		put_undone(v, m);
	/* What nobody has looked at yet stands first. */
	if (!m->all && has_open(m))
		put_additions(v, m);
	if (!m->all && has_changed(m))
		put_changes(v, m);
	plan_reach(v, m);
	put_asked(v, m);
	plan_patterns(v, m);
	put_protected(v, m);
	put_ssh_agent(v, m);
	if (m->kubernetes) {
		plan_kubernetes(v, m);
	} else {
		plan_git_view(v, &m->git);
		plan_linked_view(v, &m->linked);
		plan_identity_view(v, &m->identity);
		plan_settings(v, m);
	}
	put_decrypted(v, m);
	name_checked(v, m);
	third_parties(v, m);
	if (!m->kubernetes)
		plan_trace(v, m);
	if (m->all || !has_open(m))
		put_additions(v, m);
	diag_points(v, m, m->refused, true,
		    "not enforced yet: 'run' refuses this policy");
	put_risks(v, m);
	diag_points(v, m, *m->diags, false, "warnings");
	put_excepted(v, m);
	if (m->all || !has_changed(m))
		put_changes(v, m);
	if (!m->all)
		view_title(v, "'--all' has what is folded here", 0, NULL);
}
