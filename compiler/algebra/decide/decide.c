#include "compiler/algebra/decide/decide.h"

#include "compiler/base/gitignore.h"
#include "compiler/base/name_match.h"
#include "compiler/ir/inspection.h"
#include "compiler/ir/ports.h"

#include <stdlib.h>
#include <string.h>

const char *verdict_name(enum verdict v)
{
	switch (v) {
	case VERDICT_DENY:
		return "deny";
	case VERDICT_ASK:
		return "ask";
	case VERDICT_ALLOW:
		return "allow";
	}
	abort();
}

/* --- names --------------------------------------------------------------- */

struct str decide_purpose(const void *policy, struct str name)
{
	const struct ir_policy *p = policy;

	vec_each(x, &p->purposes) {
		struct str pattern = x->dest.kind == IR_DEST_HOST
					     ? x->dest.u.host.name
					     : x->dest.u.pattern.name;

		if (name_matches(pattern, name))
			return x->reason;
	}
	return STR("");
}

/* Does the destination speak of the name? Addresses never do, but for the one
 * that has names of its own. */
static bool dest_names(const struct ir_dest *d, struct str name)
{
	switch (d->kind) {
	case IR_DEST_ANY:
		return true;
	case IR_DEST_HOST:
		return str_eq(d->u.host.name, name);
	case IR_DEST_PATTERN:
		return name_matches(d->u.pattern.name, name);
	case IR_DEST_URL:
		if (d->u.url.who == IR_DEST_CIDR)
			return ir_dest_machine(d) && addr_names_machine(name);
		return name_matches(d->u.url.name, name);
	case IR_DEST_CIDR:
		return ir_dest_machine(d) && addr_names_machine(name);
	case IR_DEST_POISON:
		return false;
	}
	abort();
}

static bool is_private(const struct ir_grant *g)
{
	return g->private.v;
}

/* --- addresses ----------------------------------------------------------- */

/* Of a network, as the floor's all are. */
static bool covers_address(const struct ir_grant *g, const struct addr *addr)
{
	return !g->has_http && cidr_has(&g->dest.u.cidr.net, addr);
}

/* Does a grant open the address as such, whatever the port? */
static bool is_covered(const struct ir_policy *p, const struct addr *addr)
{
	vec_each(g, &p->allow)
		if (!ir_grant_http(g) && ir_grant_reaches(g, addr))
			return true;
	return false;
}

/* Does a grant open a part of the floor that the address is in? */
static bool is_opened(const struct ir_policy *p, const struct addr *addr)
{
	vec_each(g, &p->allow)
		if (ir_grant_reaches(g, addr))
			return true;
	return false;
}

/* The floor's denial of an address that no grant opens. */
static const struct ir_grant *floor_of(const struct ir_policy *p,
				       const struct addr *addr)
{
	vec_each(d, &p->deny)
		if (d->from.layer == LAYER_FLOOR && covers_address(d, addr))
			return is_opened(p, addr) ? NULL : d;
	return NULL;
}

enum decide_keep decide_answer(const struct ir_policy *p, struct str name,
			       const struct addr *addr)
{
	enum addr_scope scope = addr_scope(addr);

	if (scope == ADDR_PUBLIC)
		return DECIDE_KEEP_OPEN;
	/* Whoever answers for a name is not to send the agent there. */
	if (addr_is_machine(addr) && !addr_names_machine(name))
		return DECIDE_DROP_FLOOR;
	if (scope == ADDR_NEVER)
		return is_covered(p, addr) ? DECIDE_KEEP_COVERED
					   : DECIDE_DROP_FLOOR;
	vec_each(g, &p->allow)
		if (is_private(g) && dest_names(&g->dest, name))
			return DECIDE_KEEP_OPEN;
	return is_covered(p, addr) ? DECIDE_KEEP_COVERED : DECIDE_DROP_PRIVATE;
}

/* --- flows --------------------------------------------------------------- */

/* Does a denial speak of the flow's destination, whatever the port? */
static bool denies_flow(const struct ir_grant *d, const struct decide_flow *f)
{
	switch (d->dest.kind) {
	case IR_DEST_ANY:
		return !d->has_http;
	case IR_DEST_CIDR:
		return f->has_addr && covers_address(d, &f->addr);
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		return !d->has_http && dest_names(&d->dest, f->name);
	case IR_DEST_URL:
	case IR_DEST_POISON:
		return false;
	}
	abort();
}

/* How far a grant goes towards a flow. */
enum reach {
	REACH_NOT,
	REACH_PRIVATE, /* but for the address being private */
	REACH_DEST,
};

static enum reach reach_by_name(const struct ir_policy *p,
				const struct ir_grant *g,
				const struct decide_flow *f)
{
	if (f->name.n == 0 || !dest_names(&g->dest, f->name))
		return REACH_NOT;
	if (!f->has_addr || addr_scope(&f->addr) == ADDR_PUBLIC)
		return REACH_DEST;
	if (is_private(g) &&
	    decide_answer(p, f->name, &f->addr) == DECIDE_KEEP_OPEN)
		return REACH_DEST;
	return REACH_PRIVATE;
}

static enum reach reach_by_addr(const struct ir_grant *g,
				const struct decide_flow *f)
{
	return f->has_addr && ir_grant_reaches(g, &f->addr) ? REACH_DEST
							    : REACH_NOT;
}

static enum reach reach(const struct ir_policy *p, const struct ir_grant *g,
			const struct decide_flow *f)
{
	switch (g->dest.kind) {
	case IR_DEST_ANY:
		if (f->has_addr && addr_scope(&f->addr) == ADDR_PUBLIC)
			return REACH_DEST;
		return reach_by_name(p, g, f);
	case IR_DEST_HOST:
	case IR_DEST_PATTERN:
		return reach_by_name(p, g, f);
	case IR_DEST_URL:
		return g->dest.u.url.who == IR_DEST_CIDR
			       ? reach_by_addr(g, f)
			       : reach_by_name(p, g, f);
	case IR_DEST_CIDR:
		return reach_by_addr(g, f);
	case IR_DEST_POISON:
		return REACH_NOT;
	}
	abort();
}

/* What one grant has to say; NO_GRANT when it is about something else. */
static enum reason judge_grant(const struct ir_policy *p,
			       const struct ir_grant *g,
			       const struct decide_flow *f)
{
	enum reach r = reach(p, g, f);

	if (r == REACH_NOT)
		return REASON_NO_GRANT;
	if (!ports_has(&g->ports, f->proto, f->port))
		return f->proto == IR_PROTO_UDP ? REASON_UDP : REASON_PORT;
	if (r == REACH_PRIVATE)
		return REASON_PRIVATE_ADDRESS;
	return ir_grant_http(g) ? REASON_NOT_HTTP : REASON_GRANTED;
}

/* Which of two refusals tells the reader more. */
static int weight_of(enum reason r)
{
	static const enum reason rising[] = {
		REASON_NO_GRANT,	REASON_UDP,	 REASON_PORT,
		REASON_PRIVATE_ADDRESS, REASON_NOT_HTTP, REASON_GRANTED,
	};

	for (int i = 0; i < (int)ARRAY_LEN(rising); i++)
		if (rising[i] == r)
			return i;
	abort();
}

static struct decision refusal_for(enum reason r, const struct ir_grant *g)
{
	return (struct decision){.reason = r, .grant = g};
}

/* Are requests to the address denied that QUIC could carry? */
static bool denies_requests(const struct ir_policy *p,
			    const struct decide_flow *f)
{
	vec_each(d, &p->deny) {
		const struct cidr *net = inspection_quic_net(d);

		if (net && f->has_addr && cidr_has(net, &f->addr))
			return true;
	}
	return false;
}

/* The denial about the name that QUIC could get by on that port. */
static const struct ir_grant *quic_of_name(const struct ir_policy *p,
					   const struct decide_flow *f)
{
	vec_each(d, &p->deny)
		if (f->name.n && inspection_quic_names(d) &&
		    inspection_quic(d, f->port) &&
		    dest_names(&d->dest, f->name))
			return d;
	return NULL;
}

/* Does a grant have it that names nobody (out_unnamed), or that a name does? */
static bool quic_granted(const struct ir_policy *p, const struct decide_flow *f,
			 bool *out_unnamed)
{
	bool named = false;

	*out_unnamed = false;
	vec_each(g, &p->allow) {
		bool any = g->dest.kind == IR_DEST_ANY && !g->has_http &&
			   f->has_addr && addr_scope(&f->addr) == ADDR_PUBLIC;

		if (!ports_has(&g->ports, f->proto, f->port))
			continue;
		*out_unnamed |= (f->has_addr && !ir_grant_http(g) &&
				 ir_grant_reaches(g, &f->addr)) ||
				any;
		named |= reach(p, g, f) == REACH_DEST;
	}
	return named;
}

bool decide_quic_blind(const struct ir_policy *p, const struct decide_flow *f)
{
	bool unnamed, named = quic_granted(p, f, &unnamed);

	return unnamed || (named && denies_requests(p, f));
}

/* Who cannot be told from a denied name: compiler/ir/inspection.h. */
static const struct ir_grant *quic_of(const struct ir_policy *p,
				      const struct decide_flow *f)
{
	bool unnamed;

	if (!f->is_quic)
		return NULL;
	if (!decide_quic_blind(p, f))
		return quic_granted(p, f, &unnamed) ? quic_of_name(p, f) : NULL;
	vec_each(d, &p->deny)
		if (inspection_quic(d, f->port))
			return d;
	return NULL;
}

struct decision decide_connect(const struct ir_policy *p,
			       const struct decide_flow *f)
{
	const struct ir_grant *floor;
	struct decision best = refusal_for(REASON_NO_GRANT, NULL);

	if (f->has_addr && f->is_host)
		return refusal_for(REASON_HOST_ADDRESS, NULL);
	floor = f->has_addr ? floor_of(p, &f->addr) : NULL;
	if (floor)
		return refusal_for(REASON_FLOOR, floor);
	vec_each(d, &p->deny)
		if (d->from.layer != LAYER_FLOOR && denies_flow(d, f) &&
		    ports_has(&d->ports, f->proto, f->port))
			return refusal_for(REASON_DENIED, d);
	if (quic_of(p, f))
		return refusal_for(REASON_QUIC, quic_of(p, f));
	vec_each(g, &p->allow) {
		enum reason r = judge_grant(p, g, f);

		if (weight_of(r) > weight_of(best.reason))
			best = refusal_for(r, g);
	}
	if (best.reason == REASON_GRANTED)
		best.verdict = VERDICT_ALLOW;
	return best;
}

/* --- names --------------------------------------------------------------- */

static bool is_answered(struct str type)
{
	static const char *const types[] = {"A",   "AAAA", "CNAME", "SRV", "MX",
					    "TXT", "PTR",  "HTTPS", "SVCB"};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (str_is(type, types[i]))
			return true;
	return false;
}

/* A name itself before a pattern, a pattern before '*'. */
static int closeness_of(const struct ir_grant *g)
{
	switch (g->dest.kind) {
	case IR_DEST_HOST:
	case IR_DEST_URL:
		return 3;
	case IR_DEST_PATTERN:
		return 2;
	case IR_DEST_ANY:
		return 1;
	case IR_DEST_CIDR:
	case IR_DEST_POISON:
		return 0;
	}
	abort();
}

struct decision decide_resolve(const struct ir_policy *p, struct str name,
			       struct str type)
{
	const struct ir_grant *best = NULL;

	vec_each(d, &p->deny)
		if (d->dest.kind != IR_DEST_ANY &&
		    d->dest.kind != IR_DEST_URL && !d->has_http &&
		    ports_all(&d->ports) && dest_names(&d->dest, name))
			return refusal_for(REASON_DENIED, d);
	vec_each(g, &p->allow)
		if (dest_names(&g->dest, name) &&
		    (!best || closeness_of(g) > closeness_of(best)))
			best = g;
	if (!best)
		return refusal_for(REASON_NO_GRANT, NULL);
	if (!is_answered(type))
		return refusal_for(REASON_QUERY_TYPE, best);
	return (struct decision){VERDICT_ALLOW, REASON_GRANTED, best, NULL};
}

/* --- files --------------------------------------------------------------- */

struct list {
	struct gitignore *compiled;
	/* By index in compiled: a line that it refused is not among them. */
	VEC(const struct ir_pattern *) patterns;
};

struct decide_files {
	struct list ignore, readonly;
	struct list protect; /* of the home */
	/* The grants of the policy, and a copy of them with room behind. */
	const struct ir_grant *granted;
	uint32_t n_granted;
	struct ir_grant *room;
};

static void compile_patterns(struct arena *a, struct list *l,
			     const ir_patterns *patterns)
{
	l->compiled = gitignore_new(a);
	vec_each(p, patterns)
		if (gitignore_add(l->compiled, p->line, NULL) == GITIGNORE_OK)
			*vec_push(a, &l->patterns) = p;
}

/* Without the "~" that they begin with. */
static void compile_protected(struct arena *a, struct list *l,
			      const struct ir_policy *p)
{
	l->compiled = gitignore_new(a);
	vec_each(x, &p->protect)
		vec_each(f, &x->files)
			if (gitignore_add(l->compiled,
					  str_slice(f->line, 1, f->line.n),
					  NULL) == GITIGNORE_OK)
				*vec_push(a, &l->patterns) = f;
}

struct decide_files *decide_files_new(struct arena *a,
				      const struct ir_policy *p)
{
	struct decide_files *f = arena_new_of(a, struct decide_files);

	compile_patterns(a, &f->ignore, &p->ignore);
	compile_patterns(a, &f->readonly, &p->readonly);
	compile_protected(a, &f->protect, p);
	if (p->ask.n) {
		f->granted = p->allow.v;
		f->n_granted = p->allow.n;
		f->room = decide_room(a, p);
	}
	return f;
}

struct ir_grant *decide_room(struct arena *a, const struct ir_policy *p)
{
	size_t n = p->allow.n;
	struct ir_grant *v = arena_array(a, n + 1, sizeof(*v));

	if (n)
		memcpy(v, p->allow.v, n * sizeof(*v));
	return v;
}

struct ir_grant *decide_files_room(const struct decide_files *f,
				   const struct ir_policy *p)
{
	bool same = f && f->granted == p->allow.v &&
		    f->n_granted == p->allow.n;

	return same ? f->room : NULL;
}

/* The pattern that the path falls under, by itself or by a directory above. */
static const struct ir_pattern *falls_under(const struct list *l,
					    struct str path)
{
	bool is_dir = str_ends(path, STR("/"));
	size_t n = path.n - is_dir;
	uint32_t i;

	for (size_t at = 0; at < n; at++) {
		at = str_find(str_slice(path, 0, n), '/', at);
		if (gitignore_match(l->compiled, str_slice(path, 0, at),
				    at < n || is_dir, &i) == GITIGNORE_MATCH)
			return l->patterns.v[i];
	}
	return NULL;
}

/* By the pattern that it falls under, or by none. */
static struct decision file_decision(const struct ir_pattern *p,
				     enum reason reason)
{
	return (struct decision){.verdict = p ? VERDICT_DENY : VERDICT_ALLOW,
				 .reason = p ? reason : REASON_GRANTED,
				 .pattern = p};
}

struct decision decide_home(const struct decide_files *f, struct str path)
{
	const struct ir_pattern *p = falls_under(&f->protect, path);

	return file_decision(p, REASON_PROTECTED);
}

struct decision decide_read(const struct decide_files *f, struct str path)
{
	const struct ir_pattern *p = falls_under(&f->ignore, path);

	return file_decision(p, REASON_IGNORED);
}

struct decision decide_write(const struct decide_files *f, struct str path)
{
	struct decision d = decide_read(f, path);
	const struct ir_pattern *p;

	if (d.pattern)
		return d;
	p = falls_under(&f->readonly, path);
	return file_decision(p, REASON_READONLY);
}
