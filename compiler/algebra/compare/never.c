#include "compiler/algebra/compare/never.h"

#include "compiler/algebra/compare/parts.h"
#include "compiler/algebra/decide/option.h"
#include "compiler/algebra/space/endpoints.h"
#include "compiler/base/limits.h"
#include "compiler/ir/http.h"
#include "compiler/ir/text.h"

#include <stdlib.h>

struct search {
	struct sides *s;
	const struct ir_never *set;
	bool http_only;
	ir_ports ports; /* none: all */
	struct ir_http http;
	const struct target *to;
	bool leads;    /* the name of to leads there, or may */
	bool to_addr;  /* to is a pair, and its address in the set */
	uint64_t work; /* pairs, those of many rules more than once */
	bool found;
	struct ir_request witness;
	struct decision decision;
};

/* --- the set ------------------------------------------------------------- */

static bool is_url(const struct ir_never *set)
{
	return set->dest.kind == IR_DEST_URL;
}

static void take_ports(struct search *x, struct arena *a)
{
	const struct ir_never *set = x->set;

	vec_each(p, &set->ports)
		*vec_push(a, &x->ports) = *p;
	if (set->dest.has_port)
		*vec_push(a, &x->ports) = set->dest.port;
	if (is_url(set))
		*vec_push(a, &x->ports) = (struct ir_port){
			.lo = set->dest.u.url.port, .hi = set->dest.u.url.port};
}

/* Relative to the URL's path, where there is a URL. */
static struct str absolute_path(struct arena *a, const struct ir_never *set,
				struct str path)
{
	struct str base = STR("/");

	if (str_starts(path, STR("/")))
		return path;
	if (is_url(set))
		base = set->dest.u.url.path;
	return arena_fmt(a, "%.*s%s%.*s", STR_ARG(base),
			 str_ends(base, STR("/")) ? "" : "/", STR_ARG(path));
}

static void take_http(struct search *x, struct arena *a)
{
	const struct ir_dest any = {.kind = IR_DEST_ANY};
	const struct ir_dest *d = is_url(x->set) ? &x->set->dest : &any;
	struct ir_http h = {.any_method = x->set->methods.n == 0,
			    .any_path = x->set->paths.n == 0,
			    .methods = x->set->methods};

	vec_each(p, &x->set->paths)
		*vec_push(a, &h.paths) = (struct ir_text){
			p->from, absolute_path(a, x->set, p->s)};
	x->http = h;
	x->http.any_path = http_any_path(d, &h);
	if (!x->http.any_path)
		x->http.paths = http_paths(a, d, &h);
}

/* --- the search ---------------------------------------------------------- */

static void ask_for_witness(struct search *x, const struct ir_request *r)
{
	struct ruling ruling;

	if (x->found)
		return;
	ruling = sides_ask(x->s, 1, r);
	if (ruling.d.verdict == VERDICT_DENY)
		return;
	x->found = true;
	x->witness = cells_kept(x->s->a, r);
	x->decision = ruling.d;
}

/* Whoever reaches an address may state a name there that led elsewhere. */
static void visit_request(void *ctx, const struct cells_http *h)
{
	struct search *x = ctx;
	struct ir_request r = h->request;

	if (is_url(x->set) && r.url.scheme != x->set->dest.u.url.scheme)
		return;
	if (x->leads)
		ask_for_witness(x, &r);
	r.unresolved = true;
	if (x->to_addr)
		ask_for_witness(x, &r);
}

static void visit_ports(void *ctx, const struct cells_ports *p)
{
	struct search *x = ctx;
	struct ir_request r = cells_connect(x->to, p->proto, p->shown);

	if (x->found)
		return;
	if (!x->http_only && x->leads) {
		sides_put_all(x->s, p->ids, p->n);
		ask_for_witness(x, &r);
	}
	if (p->proto == IR_PROTO_TCP && !x->found)
		cells_http(x->s, x->to, p->shown, p->ids, p->n, &x->http,
			   visit_request, x);
}

static void search_at(struct search *x, const struct target *to,
		      const uint32_t *ids, uint32_t n)
{
	x->to = to;
	cells_ports(x->s, ids, n, x->ports.n ? &x->ports : NULL, visit_ports,
		    x);
	sides_rest(x->s);
}

static bool resolves_name(struct search *x, const struct endpoint *name)
{
	struct ir_request r = cells_resolve(name->to.name);

	sides_put_all(x->s, name->ids, name->n);
	return sides_ask(x->s, 1, &r).d.verdict != VERDICT_DENY;
}

static void search_alone(struct search *x, const struct endpoint *endpoint)
{
	struct ir_request question = cells_resolve(endpoint->to.name);

	if (x->found || !endpoint->wanted)
		return;
	x->leads = true;
	search_at(x, &endpoint->to, endpoint->ids, endpoint->n);
	if (x->found || x->http_only || x->ports.n || endpoint->to.has_addr)
		return;
	sides_put_all(x->s, endpoint->ids, endpoint->n);
	ask_for_witness(x, &question);
}

/* --- a name and an address ----------------------------------------------- */

static void search_pair(struct search *x, const struct endpoint *name,
			const struct endpoint *addr)
{
	struct target both = {name->to.name, true, addr->to.addr};
	uint32_t n, *ids;

	x->to_addr = addr->wanted;
	if (!(x->to_addr || (name->wanted && x->leads)))
		return;
	ids = endpoints_rules(x->s, name, addr, &n);
	x->work += 1 + n / 8;
	search_at(x, &both, ids, n);
}

/* One of a kind with one of a kind; endpoints_sort() put those alike together.
 */
static void search_pairs(struct search *x, struct endpoints *all)
{
	uint32_t done = UINT32_MAX;

	endpoints_sort(&all->names);
	endpoints_sort(&all->addrs);
	vec_each(name, &all->names) {
		uint32_t seen = UINT32_MAX;

		if (name->kind == done)
			continue;
		done = name->kind;
		x->leads = resolves_name(x, name);
		vec_each(addr, &all->addrs) {
			if (x->found || x->work > LIMIT_PAIRS)
				return;
			if (addr->kind == seen)
				continue;
			seen = addr->kind;
			search_pair(x, name, addr);
		}
	}
}

/* '*' in a set is about public addresses, as in a grant. */
static void leave_private_out(const struct ir_never *set, struct endpoints *all)
{
	if (!set->has_dest || set->dest.kind != IR_DEST_ANY)
		return;
	vec_each(endpoint, &all->addrs)
		if (endpoint->scope != ADDR_PUBLIC)
			endpoint->wanted = false;
}

static bool find_net(struct arena *a, const struct ir_policy *p,
		     const struct ir_never *set, struct ir_request *out_witness,
		     struct decision *out)
{
	const struct ir_dest everything = {.kind = IR_DEST_ANY};
	struct search x = {.set = set};
	struct sides s;
	struct endpoints all;

	sides_init(&s, a, NULL, p);
	x.s = &s;
	x.http_only = is_url(set) || set->methods.n || set->paths.n;
	take_ports(&x, a);
	take_http(&x, a);
	endpoints_find(&s, set->has_dest ? &set->dest : &everything, true,
		       &all);
	leave_private_out(set, &all);
	vec_each(endpoint, &all.names)
		search_alone(&x, endpoint);
	vec_each(endpoint, &all.addrs)
		search_alone(&x, endpoint);
	if (!x.found)
		search_pairs(&x, &all);
	sides_done(&s);
	if (!x.found && all.complete && x.work <= LIMIT_PAIRS)
		return false;
	*out_witness = x.witness;
	*out = x.decision;
	if (x.found)
		out_witness->text = ir_request_text(a, &x.witness);
	return true;
}

/* --- the others ---------------------------------------------------------- */

static bool find_file(struct arena *a, const struct ir_policy *p,
		      const struct ir_never *set,
		      struct ir_request *out_witness, struct decision *out)
{
	const struct decide_files *files = decide_files_new(a, p);
	struct ir_request r = {.kind = IR_REQ_READ};
	bool unknown;

	if (!files_never(a, p, set, &r, &unknown) && !unknown)
		return false;
	*out_witness = r;
	*out = (struct decision){.verdict = VERDICT_ALLOW,
				 .reason = REASON_GRANTED};
	if (r.text.n)
		*out = set->kind == IR_NEVER_WRITE ? decide_write(files, r.path)
						   : decide_read(files, r.path);
	return true;
}

static bool find_arg(struct arena *a, const struct ir_policy *p,
		     const struct ir_never *set, struct ir_request *out_witness,
		     struct decision *out)
{
	const struct arg *arg = option_find(a, &p->docker_args, set->arg);
	struct option o;

	if (!arg)
		return false;
	o = option_of(arg);
	*out_witness = (struct ir_request){.kind = IR_REQ_ARG,
					   .arg = option_text(a, &o)};
	out_witness->text = ir_request_text(a, out_witness);
	*out = (struct decision){.verdict = VERDICT_ALLOW,
				 .reason = REASON_GRANTED};
	return true;
}

bool never_find(struct arena *a, const struct ir_policy *p,
		const struct ir_never *set, struct ir_request *out_witness,
		struct decision *out)
{
	switch (set->kind) {
	case IR_NEVER_NET:
		return find_net(a, p, set, out_witness, out);
	case IR_NEVER_READ:
	case IR_NEVER_WRITE:
		return find_file(a, p, set, out_witness, out);
	case IR_NEVER_ARG:
		return find_arg(a, p, set, out_witness, out);
	}
	abort();
}
