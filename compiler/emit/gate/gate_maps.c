/* The maps that gate.cfg looks hosts, addresses and certificates up in. */
#include "compiler/emit/gate/gate_cfg.h"

#include "compiler/emit/gate/cfg_write.h"
#include "compiler/emit/profiles.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/profiles_map.h"

#define LEAF_NAMES 100u /* names in one certificate */

/* One key, all of its tokens. */
struct key {
	struct str name;
	const struct cidr *net;
	struct str token;
	const struct ir_origin *from;
	bool bump;
};
typedef VEC(struct key) keys;

static int by_key(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;
	int c;

	if (a->net)
		c = cidr_cmp(a->net, b->net);
	else
		c = str_cmp(a->name, b->name);
	return c ? c : str_cmp(a->token, b->token);
}

static bool same_key(const struct key *a, const struct key *b)
{
	return a->net ? cidr_cmp(a->net, b->net) == 0
		      : str_eq(a->name, b->name);
}

/* One label at most is a '*', and the first: found by a look-up. */
static bool is_exact(struct str name)
{
	return str_find(name, '*', 0) == name.n;
}

/*
 * A leaf of its own, made on first use: what no certificate can say. Clients
 * take a star only where two labels or more follow (OpenSSL, X509_check_host).
 */
static bool on_demand(struct str name)
{
	return profiles_deep(name) ||
	       (profiles_star(name) && str_find(name, '.', 2) >= name.n);
}

static keys sorted_keys(const struct emit_in *in, const struct profiles *p,
			bool nets)
{
	keys out = {0};

	vec_each(e, &p->entries)
		if (nets ? e->net != NULL
			 : is_exact(e->name) || profiles_star(e->name) ||
				    profiles_deep(e->name))
			if (nets || e->name.n)
				*vec_push(in->a, &out) =
					(struct key){e->name, e->net, e->token,
						     e->from, e->bump};
	vec_sort(&out, by_key);
	return out;
}

/* The line at that offset leads from a name or network to a key's token. */
static void mark_key(const struct emit_in *in, size_t at, const struct key *k,
		     const struct cidr *net)
{
	struct marks_one one = {.at = at,
				.from = k->from,
				.uses = MARKS_HELLO | MARKS_REQUEST,
				.reasons = MARKS_ANY};

	if (net)
		marks_net(in->marks, one, net);
	else
		marks_add(in->marks, one);
}

/*
 * Where no network of IPv6 is found, HAProxy looks up the IPv4 address in one
 * of these, and what is granted there would be granted here (S-7). These are
 * found first, and say what those around them say.
 */
static void add_wrapped(const struct emit_in *in, keys *to)
{
	static const struct cidr compatible = {{.family = ADDR_V6}, 96},
				 six_to_four = {{ADDR_V6, {0x20, 0x02}}, 16};

	*vec_push(in->a, to) = (struct key){.net = &compatible};
	*vec_push(in->a, to) = (struct key){.net = &six_to_four};
}

/* Networks that a name leads to only where a grant says so, which HAProxy asks
 * with those of the policy. IPv4 in IPv6's clothes is IPv4 for it. */
static void add_private(const struct emit_in *in, keys *to)
{
	const struct addr_special *special;
	struct addr ignored;

	for (size_t i = 0; (special = addr_special(i)); i++)
		if (!addr_mapped(&special->net.addr, &ignored))
			*vec_push(in->a, to) = (struct key){
				.net = &special->net, .token = STR("private")};
}

static void put_word(struct buf *out, struct str word)
{
	buf_add(out, word);
	buf_addc(out, ' ');
}

bool gate_maps_hosts(const struct emit_in *in, struct buf *out)
{
	const struct profiles *p = profiles_make(in);
	keys k;

	if (!p)
		return false;
	k = sorted_keys(in, p, false);
	buf_adds(out, "# name, and what is said of it\n");
	for (uint32_t i = 0, end; i < k.n; i = end) {
		size_t at = out->n;
		bool leaf = false;

		put_word(out, k.v[i].name);
		buf_addc(out, '.');
		for (end = i; end < k.n && same_key(&k.v[i], &k.v[end]);
		     end++) {
			buf_add(out, k.v[end].token);
			buf_addc(out, '.');
			leaf |= k.v[end].bump;
			mark_key(in, at, &k.v[end], NULL);
		}
		if (leaf && !on_demand(k.v[i].name))
			buf_adds(out, "m.");
		buf_addc(out, '\n');
	}
	return true;
}

typedef VEC(const struct key *) key_refs;

/* One that is private may lie in another. */
static bool is_said(const key_refs *l, const struct key *const *x)
{
	for (const struct key *const *y = l->v; y < x; y++)
		if (!(*y)->from && str_eq((*x)->token, (*y)->token))
			return true;
	return false;
}

bool gate_maps_addrs(const struct emit_in *in, struct buf *out)
{
	const struct profiles *p = profiles_make(in);
	key_refs around = {0};
	keys k;

	if (!p)
		return false;
	k = sorted_keys(in, p, true);
	add_private(in, &k);
	add_wrapped(in, &k);
	vec_sort(&k, by_key);
	buf_adds(out,
		 "# network, and what is said of it and of those around\n");
	/* HAProxy looks up IPv4 addresses as mapped ones, too. */
	buf_adds(out, "::ffff:0:0/96 .\n");
	for (uint32_t i = 0, end; i < k.n; i = end) {
		char text[CIDR_TEXT_MAX];
		size_t at = out->n;

		while (around.n &&
		       !cidr_covers(around.v[around.n - 1]->net, k.v[i].net))
			around.n--;
		for (end = i; end < k.n && same_key(&k.v[i], &k.v[end]); end++)
			*vec_push(in->a, &around) = &k.v[end];
		buf_adds(out, cidr_text(k.v[i].net, text));
		buf_adds(out, " .");
		/* HAProxy takes the longest; it has to say all. */
		vec_each(x, &around) {
			if (!(*x)->token.n || is_said(&around, x))
				continue;
			buf_add(out, (*x)->token);
			buf_addc(out, '.');
			if ((*x)->from)
				mark_key(in, at, *x, k.v[i].net);
		}
		buf_addc(out, '\n');
	}
	return true;
}

bool gate_maps_profiles(const struct emit_in *in, struct buf *out)
{
	const struct profiles *p = profiles_make(in);

	if (!p)
		return false;
	buf_adds(out, PROFILES_MAP_HEAD "\n");
	vec_each(e, &p->entries) {
		char text[CIDR_TEXT_MAX];

		put_word(out, e->token);
		if (e->net)
			buf_adds(out, cidr_text(e->net, text));
		else
			buf_add(out, e->name);
		buf_addc(out, ' ');
		buf_add(out, e->id);
		buf_addc(out, '\n');
	}
	return true;
}

bool gate_maps_leaves(const struct emit_in *in, struct buf *out)
{
	const struct profiles *p = profiles_make(in);
	keys k;
	uint32_t n = 0;

	if (!p)
		return false;
	k = sorted_keys(in, p, false);
	for (uint32_t i = 0, end; i < k.n; i = end) {
		bool leaf = false;

		for (end = i; end < k.n && same_key(&k.v[i], &k.v[end]); end++)
			leaf |= k.v[end].bump;
		if (!leaf || on_demand(k.v[i].name))
			continue;
		if (n % LEAF_NAMES == 0)
			buf_addf(out, "%s" GATE_LEAVES "%u.pem", n ? "\n" : "",
				 n / LEAF_NAMES + 1);
		buf_addf(out, " %.*s", STR_ARG(k.v[i].name));
		n++;
	}
	buf_adds(out, n ? "\n" : GATE_LEAVES "1.pem membrane.invalid\n");
	return true;
}
