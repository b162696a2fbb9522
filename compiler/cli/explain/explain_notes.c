/*
 * What is said beside the edits: why there are none, and whose they are.
 */
#include "compiler/cli/explain/parts.h"

#include "compiler/ir/upstream.h"

static void add_note(struct arena *a, struct explain_flip *out,
		     const char *text)
{
	*vec_push(a, &out->notes) = text;
}

static bool is_preset(const struct compilation *c, const struct explanation *e)
{
	const struct source *s =
		e->has_rule ? sources_of(&c->sources, e->rule.from->at) : NULL;

	return s && source_is_preset(s);
}

/* Why nothing was found. */
static const char *stuck_text(const struct compilation *c,
			      const struct explanation *e)
{
	enum reason reason = e->decision.reason;
	bool allow = e->decision.verdict == VERDICT_ALLOW;

	if (e->held.text.n)
		return "it follows from the workspace as it is now, its links and git's configuration: no edit of a policy is proposed";
	if ((reason == REASON_DENIED || allow) && is_preset(c, e))
		return "the rule is a preset's, which another file extends that is not edited here";
	if (reason == REASON_FLOOR)
		return "the floor is built in: no policy opens this part of it";
	if (reason == REASON_QUERY_TYPE)
		return "the resolver answers no such type, whatever a policy says";
	if (reason == REASON_PATH_NOT_CANONICAL)
		return "where a rule has paths, no other spelling of a path is taken: ask for the canonical one";
	if (reason == REASON_METHOD && !e->has_rule)
		return "CONNECT is never forwarded";
	if (e->request->kind == IR_REQ_ARG && !allow)
		return "docker gets this from no policy";
	return "no small edit of these files does";
}

/* Is the edit one of the global file alone? */
static bool is_global(const struct explain_edit *edit)
{
	vec_each(h, &edit->hunks)
		if (!str_eq(h->file, EXPLAIN_GLOBAL))
			return false;
	return edit->hunks.n > 0;
}

/* Which way a connection leaves that is allowed; NULL: nothing says. */
static const char *way_text(const struct compilation *c,
			    const struct ir_request *r)
{
	bool http = r->kind == IR_REQ_HTTP;
	struct ir_dest d = {.kind = IR_DEST_HOST};
	struct addr addr = r->addr;

	if (!c->policy.upstream.set || (!http && r->kind != IR_REQ_CONNECT))
		return NULL;
	d.u.host.name = http ? r->url.name : r->name;
	if (http && r->url.who == IR_DEST_CIDR)
		addr = r->url.net.addr;
	if (d.u.host.name.n == 0) {
		d.kind = IR_DEST_CIDR;
		d.u.cidr.net = (struct cidr){addr, addr_bits(addr.family)};
	}
	if (ir_dest_machine(&d))
		return NULL;
	return upstream_passes(&c->policy, &d)
		       ? "it goes past the proxy: 'direct' of 'upstream' has it"
		       : "it goes by the proxy of 'upstream', which may refuse it";
}

void explain_notes_find(struct arena *a, const struct compilation *c,
			const struct explanation *e, struct explain_flip *out)
{
	enum layer layer = e->has_rule ? e->rule.from->layer : LAYER_FLAGS;
	bool denied = e->decision.reason == REASON_DENIED;
	bool allow = e->decision.verdict == VERDICT_ALLOW;

	const char *way = allow ? way_text(c, e->request) : NULL;

	if (out->edits.n == 0)
		add_note(a, out, stuck_text(c, e));
	if (way)
		add_note(a, out, way);
	if (e->committed)
		add_note(
			a, out,
			"git has committed it: 'git show HEAD:FILE' gives it inside all the same");
	if (out->edits.n && denied && is_preset(c, e))
		add_note(
			a, out,
			"the denial is the preset's: it goes with all that the preset says");
	if (denied && (layer == LAYER_GLOBAL || layer == LAYER_PRESET))
		add_note(
			a, out,
			"no workspace can lift it: a denial in the global file and its presets holds for all of them");
	if (out->edits.n && !allow && e->request->kind == IR_REQ_RESOLVE)
		add_note(
			a, out,
			"a grant of a name opens a port too: this is the least");
	if (out->edits.n && e->decision.reason == REASON_FLOOR)
		add_note(a, out, "this opens a part of the floor");
	if (out->edits.n && e->request->kind == IR_REQ_ARG && !allow &&
	    is_global(&out->edits.v[0]))
		add_note(a, out, "a workspace may not ask for it");
}
