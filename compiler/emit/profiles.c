#include "compiler/emit/profiles.h"

#include "compiler/base/limits.h"
#include "compiler/ir/http.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/text.h"
#include "compiler/ir/upstream.h"

#include <stdlib.h>
#include <string.h>

/* Does HAProxy need to know of it? ports: inspection_ports() */
static bool concerns_ports(const ir_ports *ports, const struct ir_grant *g)
{
	if (g->key == IR_KEY_DENY)
		return inspection_denies(g);
	if (!inspection_has_tcp(g))
		return false;
	if (ir_grant_http(g) || g->key == IR_KEY_ASK)
		return true;
	switch (g->dest.kind) {
	case IR_DEST_ANY:
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		return true;
	case IR_DEST_CIDR:
		return inspection_meets(ports, g);
	case IR_DEST_URL: /* has rules of http */
	case IR_DEST_POISON:
		break;
	}
	abort();
}

/* A network that is denied is the packet filter's, where there is one; where
 * there is none, '*' is refused. */
static bool denies_unfiltered(const struct emit_in *in,
			      const struct ir_grant *g)
{
	return in->apart && g->key == IR_KEY_DENY &&
	       g->from.layer != LAYER_FLOOR && inspection_has_tcp(g);
}

static bool any_meets(const struct ir_policy *p, const struct ir_grant *g)
{
	vec_each(d, &p->deny)
		if (inspection_denies(d) && inspection_meets(&d->ports, g))
			return true;
	return false;
}

bool profiles_wanted(const struct ir_policy *p)
{
	const ir_ports none = {0};
	bool direct = inspection_unseen(p);

	if (p->ask.n)
		return true;
	vec_each(g, &p->allow) {
		if (upstream_takes(p, g))
			return true;
		/* Which private address is whose, only names say. */
		if (concerns_ports(&none, g) &&
		    !(direct && g->dest.kind == IR_DEST_ANY && !g->private.v))
			return true;
		if (any_meets(p, g)) /* a network: of the others it was said */
			return true;
	}
	return false;
}

/* --- making -------------------------------------------------------------- */

static ir_ports tcp_of(struct arena *a, const ir_ports *ports)
{
	ir_ports out = {0};
	bool all = true;

	vec_each(p, ports)
		all &= p->proto == IR_PROTO_TCP;
	if (all)
		return *ports;
	vec_each(p, ports)
		if (p->proto == IR_PROTO_TCP)
			*vec_push(a, &out) = *p;
	return out;
}

static enum profile_who who_of(const struct ir_grant *g)
{
	if (ir_dest_net(&g->dest))
		return PROFILE_ADDR;
	return g->dest.kind == IR_DEST_ANY ? PROFILE_ANY : PROFILE_NAME;
}

static void put_rules(struct arena *a, struct buf *b, const struct ir_grant *g)
{
	struct http_rules rules;

	if (!ir_grant_http(g))
		return;
	rules = http_rules(a, g);
	for (uint32_t i = 0; i < rules.n; i++) {
		struct ir_http h = rules.v[i];

		h.any_path = http_any_path(&g->dest, &h);
		h.paths = http_paths(a, &g->dest, &rules.v[i]);
		buf_addf(b, " [%.*s]", STR_ARG(ir_http_text(a, &h)));
	}
}

/* Its text is in b: of thousands of grants, few have one of their own. */
static struct profile profile_of(struct arena *a, const struct ir_policy *p,
				 const struct ir_grant *g, struct buf *b)
{
	static const char *const whos[] = {"name", "any", "addr"};
	struct profile out = {.who = who_of(g), .like = g};

	out.ports = tcp_of(a, &g->ports);
	out.http = ir_grant_http(g);
	out.tls = ir_dest_has_scheme(&g->dest, IR_SCHEME_HTTPS);
	out.clear = ir_dest_has_scheme(&g->dest, IR_SCHEME_HTTP);
	out.bump = inspection_decrypts(p, g);
	out.private = g->private.v;
	/* The order of the list is that of widths, and of waits. */
	if (g->key == IR_KEY_ASK)
		buf_addf(b, "%u %03u ", (unsigned)g->lasts.v,
			 (unsigned)g->wait_s.v);
	buf_adds(b, whos[out.who]);
	ir_ports_put(b, &out.ports);
	buf_adds(b, out.bump ? " bump" : "");
	buf_adds(b, out.private ? " private" : "");
	if (!out.tls || !out.clear)
		buf_adds(b, out.tls ? " https" : " http");
	put_rules(a, b, g);
	out.text = buf_str(b);
	return out;
}

bool profiles_star(struct str name)
{
	return str_starts(name, STR("*.")) && str_find(name, '*', 1) == name.n;
}

bool profiles_deep(struct str name)
{
	return str_starts(name, STR("**.")) && str_find(name, '*', 2) == name.n;
}

bool profiles_net(const struct profile *x)
{
	return x->who == PROFILE_ADDR && !x->http;
}

static uint32_t place_of(const profile_list *l, struct str text)
{
	return l->n ? emit_place(&l->v->text, sizeof(*l->v), l->n, text) : 0;
}

/*
 * The profiles of a list, in the order of their texts; of[]: that of each
 * grant, from 1.
 */
static profile_list collect_profiles(const struct emit_in *in,
				     const ir_ports *ports,
				     const ir_grants *grants,
				     const char *prefix, uint32_t *of)
{
	profile_list out = {0};
	uint32_t *now;

	for (uint32_t i = 0; i < grants->n; i++) {
		const struct ir_grant *g = &grants->v[i];
		char room[256];
		struct profile p;
		struct buf b;
		uint32_t at;

		if (!(concerns_ports(ports, g) || denies_unfiltered(in, g)) ||
		    out.n > LIMIT_CLASSES)
			continue;
		buf_init_in(&b, in->a, room, sizeof(room));
		p = profile_of(in->a, in->policy, g, &b);
		at = place_of(&out, p.text);
		if (at >= out.n || !str_eq(out.v[at].text, p.text)) {
			(void)vec_push(in->a, &out);
			memmove(&out.v[at + 1], &out.v[at],
				(out.n - 1 - at) * sizeof(*out.v));
			p.text = buf_keep(&b);
			p.number = out.n;
			out.v[at] = p;
		}
		of[i] = out.v[at].number;
	}
	now = arena_array(in->a, out.n + 1, sizeof(*now));
	for (uint32_t i = 0; i < out.n; i++) {
		out.v[i].token = arena_fmt(in->a, "%s%u", prefix, i + 1);
		now[out.v[i].number] = i + 1;
	}
	for (uint32_t i = 0; i < grants->n; i++)
		of[i] = now[of[i]];
	return out;
}

/* Several emitters ask for the same profiles; one of them complains. */
static bool was_said(struct diags *d)
{
	struct diag_view view;

	for (unsigned i = 0; diags_get(d, i, &view); i++)
		if (view.id == DIAG_PROFILES)
			return true;
	return false;
}

static bool check_count(const struct emit_in *in, const profile_list *l)
{
	if (l->n <= LIMIT_CLASSES)
		return true;
	if (was_said(in->diags))
		return false;
	diag_error(in->diags, DIAG_PROFILES, l->v[l->n - 1].like->from.at,
		   "more than %u different sets of rules", LIMIT_CLASSES);
	diag_help(in->diags,
		  "give destinations the same ports and rules where you can");
	return false;
}

static void add_grants(const struct emit_in *in, const ir_grants *grants,
		       const profile_list *list, const uint32_t *of,
		       profile_entries *out)
{
	for (uint32_t i = 0; i < grants->n; i++) {
		const struct ir_grant *g = &grants->v[i];

		if (!of[i])
			continue;
		*vec_push(in->a, out) =
			(struct profile_entry){ir_dest_name(&g->dest),
					       ir_dest_net(&g->dest),
					       list->v[of[i] - 1].token,
					       g->id,
					       &g->from,
					       inspection_opens(in->policy, g)};
	}
}

static void add_entries(const struct emit_in *in, struct profiles *p)
{
	const struct ir_policy *policy = in->policy;
	uint32_t n = 0;

	vec_reserve(in->a, &p->entries,
		    policy->allow.n + policy->ask.n + policy->deny.n +
			    policy->credentials.n);
	add_grants(in, &policy->allow, &p->allow, p->allow_of, &p->entries);
	add_grants(in, &policy->ask, &p->ask, p->ask_of, &p->entries);
	add_grants(in, &policy->deny, &p->deny, p->deny_of, &p->entries);
	vec_each(c, &policy->credentials)
		*vec_push(in->a, &p->entries) =
			(struct profile_entry){ir_dest_name(&c->host),
					       NULL,
					       arena_fmt(in->a, "c%u", ++n),
					       STR("-"),
					       &c->from,
					       true};
}

static bool make_profiles(const struct emit_in *in, struct profiles *p)
{
	const ir_grants *allow = &in->policy->allow, *ask = &in->policy->ask,
			*deny = &in->policy->deny;
	ir_ports inside = inspection_ports(in->a, in->policy);

	p->allow_of = arena_array(in->a, allow->n, sizeof(*p->allow_of));
	p->ask_of = arena_array(in->a, ask->n, sizeof(*p->ask_of));
	p->deny_of = arena_array(in->a, deny->n, sizeof(*p->deny_of));
	p->allow = collect_profiles(in, &inside, allow, "", p->allow_of);
	p->ask = collect_profiles(in, &inside, ask, "a", p->ask_of);
	p->deny = collect_profiles(in, &inside, deny, "d", p->deny_of);
	if (!check_count(in, &p->allow) || !check_count(in, &p->ask) ||
	    !check_count(in, &p->deny))
		return false;
	p->any_bump = in->policy->credentials.n > 0;
	vec_each(x, &p->allow) {
		p->any_bump |= x->bump;
		p->any_net |= profiles_net(x);
	}
	vec_each(x, &p->ask) {
		p->any_bump |= x->bump;
		p->any_net |= profiles_net(x);
	}
	vec_each(x, &p->deny)
		p->any_bump |= x->http && x->tls;
	add_entries(in, p);
	return true;
}

const struct profiles *profiles_make(const struct emit_in *in)
{
	struct profiles *p;

	if (in->memo && in->memo->profiles)
		return in->memo->profiles;
	p = arena_new_of(in->a, struct profiles);
	if (!make_profiles(in, p))
		return NULL;
	if (in->memo)
		in->memo->profiles = p;
	return p;
}

const struct profile *profiles_of(const struct profiles *p,
				  const struct ir_policy *policy,
				  const struct ir_grant *g)
{
	const ir_grants *grants = &policy->allow;
	const profile_list *list = &p->allow;
	const uint32_t *places = p->allow_of;
	uint32_t of;

	if (g->key == IR_KEY_DENY) {
		grants = &policy->deny;
		list = &p->deny;
		places = p->deny_of;
	} else if (g->key == IR_KEY_ASK) {
		grants = &policy->ask;
		list = &p->ask;
		places = p->ask_of;
	}
	of = places[g - grants->v];
	return of ? &list->v[of - 1] : NULL;
}
