#include "compiler/prove/prove.h"

#include "compiler/base/agent_link.h"
#include "compiler/prove/parts.h"

#include <stdlib.h>

#define OF(scope) (1u << (scope))
#define OF_PODS	  (OF(PROVE_WIRE) | OF(PROVE_CILIUM) | OF(PROVE_APART))
#define OF_FILTER (OF(PROVE_SESSION) | OF(PROVE_WIRE) | OF(PROVE_CILIUM))

static const struct {
	unsigned scopes;
	const char *text;
} gaps[] = {
	{OF_FILTER | OF_PODS,
	 "what HAProxy does with what is sent to it (gate.cfg): names in TLS, requests"},
	{OF_FILTER, "the kernel, which loads these rules and follows them"},
	{OF(PROVE_CILIUM),
	 "ciliumnetworkpolicy.yaml, which is applied in the place of networkpolicy.yaml"},
	{OF_PODS,
	 "the cluster: whether anything enforces a NetworkPolicy there, and others that select these Pods"},
	{OF_FILTER | OF_PODS, "files, and everything else that a policy says"},
};

const char *prove_gap(enum prove_scope scope, size_t i)
{
	for (size_t k = 0; k < ARRAY_LEN(gaps); k++)
		if ((gaps[k].scopes & OF(scope)) && i-- == 0)
			return gaps[k].text;
	return NULL;
}

bool proof_bounded(struct proof *p, const char *what, uint64_t n, uint64_t max)
{
	if (n <= max)
		return true;
	p->out->end = PROVE_TOO_LARGE;
	p->out->what = what;
	p->out->n = n;
	p->out->max = max;
	p->done = true;
	return false;
}

void proof_differs(struct proof *p, struct str subject,
		   const struct decision *want, struct str wanted,
		   const struct fate *got)
{
	struct prove_out *o = p->out;

	o->end = PROVE_DIFFERS;
	o->subject = subject;
	o->want = *want;
	o->wanted = wanted;
	o->got = fate_text(p->a, got);
	o->by = (struct prove_line){"ruleset.nft", got->by ? got->by->line : 0,
				    got->by ? got->by->text : (struct str){0}};
	p->done = true;
}

static bool is_missing(struct proof *p, const char *file)
{
	p->out->end = PROVE_UNREADABLE;
	p->out->got = STR("it is empty, or not there");
	p->out->by.file = file;
	return false;
}

static bool read_ruleset(struct proof *p)
{
	struct firewall_fault fault;

	if (p->in->ruleset.n == 0)
		return is_missing(p, "ruleset.nft");
	if (firewall_read(p->a, p->in->ruleset, &p->firewall, &fault))
		return true;
	p->out->end = PROVE_UNREADABLE;
	p->out->got = fault.what;
	p->out->by = (struct prove_line){"ruleset.nft", fault.line, fault.text};
	return false;
}

/* "line 12: malformed …"; of the whole, the first. */
static uint32_t line_in(struct str text)
{
	struct str word =
		str_slice(text, strlen("line "), str_find(text, ':', 0));
	uint64_t n;

	return str_starts(text, STR("line ")) && str_u64(word, UINT32_MAX, &n)
		       ? (uint32_t)n
		       : 1;
}

static bool read_names(struct proof *p)
{
	struct prove_line by = {.file = "names.map"};
	struct str rest = p->in->names;
	struct err err;

	if (p->in->names.n == 0)
		return is_missing(p, "names.map");
	if (names_parse(p->in->names, &p->map, &err) == 0)
		return true;
	p->out->end = PROVE_UNREADABLE;
	p->out->got = arena_str(p->a, str_of(err.text));
	by.line = line_in(p->out->got);
	for (uint32_t i = 0; i < by.line; i++)
		(void)str_line(&rest, &by.text);
	p->out->by = by;
	return false;
}

static enum filler filler_of(const struct firewall_term *t)
{
	if (t->filled)
		return FILLER_RESOLVER;
	if (str_is(t->name, "host4") || str_is(t->name, "host6"))
		return FILLER_HOST;
	if (str_is(t->name, "proxy4") || str_is(t->name, "proxy6"))
		return FILLER_PROXY;
	if (str_is(t->name, "resolver4") || str_is(t->name, "resolver6"))
		return FILLER_ASKED;
	return FILLER_NOBODY;
}

/* What a yes is. */
void proof_add_yes(struct proof *p)
{
	const struct ir_policy *policy = p->in->policy;
	uint32_t n = policy->allow.n + 1;

	p->with = arena_array(p->a, policy->ask.n + 1, sizeof(*p->with));
	for (uint32_t i = 0; i < policy->ask.n; i++) {
		struct ir_policy *w = &p->with[i];

		*w = *policy;
		w->allow.v = arena_array(p->a, n, sizeof(*w->allow.v));
		w->allow.n = w->allow.cap = n;
		if (policy->allow.n)
			memcpy(w->allow.v, policy->allow.v,
			       policy->allow.n * sizeof(*w->allow.v));
		w->allow.v[n - 1] = policy->ask.v[i];
		w->allow.v[n - 1].key = IR_KEY_ALLOW;
	}
}

static struct spot spot_at(struct proof *p, const char *text)
{
	struct addr addr;

	if (!addr_parse(str_of(text), &addr))
		abort(); /* a constant of ours */
	return space_spot(p, addr);
}

static void find_spots(struct proof *p)
{
	p->filler =
		arena_array(p->a, p->firewall.terms.n + 1, sizeof(*p->filler));
	for (uint32_t i = 0; i < p->firewall.terms.n; i++)
		p->filler[i] = filler_of(&p->firewall.terms.v[i]);
	p->gate[0] = spot_at(p, LINK_GATE_V4);
	p->gate[1] = spot_at(p, LINK_GATE_V6);
	p->agent[0] = spot_at(p, LINK_AGENT_V4);
	p->agent[1] = spot_at(p, LINK_AGENT_V6);
	p->machine = spot_at(p, LINK_MACHINE_V4);
}

/* Where the gate is apart there is no packet to follow: what its resolver says
 * of names and addresses is all that it has of this. */
static bool compare_plan(struct proof *p)
{
	find_spots(p);
	space_effects(p);
	proof_add_yes(p);
	if (!space_names(p) || !space_spots(p) || !space_ports(p))
		return false;
	if (p->out->scope == PROVE_APART)
		return walk_answers(p);
	return walk_flows(p) && link_packets(p);
}

static enum prove_scope scope_of(const struct prove_pods *pods)
{
	if (!pods)
		return PROVE_SESSION;
	return pods->apart    ? PROVE_APART
	       : pods->cilium ? PROVE_CILIUM
			      : PROVE_WIRE;
}

void prove_plan(struct arena *a, const struct prove_in *in,
		struct prove_out *out)
{
	struct proof p = {.a = a, .in = in, .out = out};

	*out = (struct prove_out){.end = PROVE_AGREES,
				  .scope = scope_of(in->pods)};
	if ((out->scope != PROVE_APART && !read_ruleset(&p)) || !read_names(&p))
		return;
	if (compare_plan(&p) && in->pods)
		(void)backstop_prove(&p);
	names_free(&p.map);
}
