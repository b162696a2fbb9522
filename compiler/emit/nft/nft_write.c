#include "compiler/emit/nft/nft_write.h"

static void put_set_name(struct buf *out, struct nft_set set)
{
	buf_addf(out, "%s%d", set.stem, set.family == ADDR_V4 ? 4 : 6);
	if (set.number)
		buf_addf(out, "_%u", set.number);
}

static void set_begin(struct buf *out, struct nft_set set)
{
	buf_adds(out, "\tset ");
	put_set_name(out, set);
	buf_addf(out, " {\n\t\ttype ipv%d_addr\n",
		 set.family == ADDR_V4 ? 4 : 6);
}

void nft_put_ranges(struct buf *out, struct nft_set set, const ranges *r)
{
	nft_put_ranges_at(out, set, r, NULL);
}

void nft_put_ranges_at(struct buf *out, struct nft_set set, const ranges *r,
		       size_t *out_at)
{
	/* nft lists two IPv4 elements on a line, and one IPv6 element. */
	uint32_t columns = set.family == ADDR_V4 ? 2 : 1;

	set_begin(out, set);
	buf_adds(out, "\t\tflags interval\n");
	for (uint32_t i = 0; i < r->n; i++) {
		if (i == 0)
			buf_adds(out, "\t\telements = { ");
		else if (i % columns)
			buf_adds(out, ", ");
		else
			buf_adds(out, ",\n\t\t\t     ");
		if (out_at)
			out_at[i] = out->n;
		ranges_print(out, &r->v[i]);
	}
	if (r->n)
		buf_adds(out, " }\n");
	buf_adds(out, "\t}\n\n");
}

/* Of no size: for one the kernel makes a table of 1 MB at once, and the gate,
 * which alone adds elements, bounds them all (NFTSET_MIRROR). */
void nft_put_dynamic(struct buf *out, struct nft_set set)
{
	set_begin(out, set);
	buf_adds(out, "\t\tflags timeout\n\t}\n\n");
}

void nft_about(struct buf *out, const char *text)
{
	buf_addf(out, "\t# %s\n", text);
}

void nft_note(struct buf *out, const char *text)
{
	buf_addf(out, "\t\t# %s\n", text);
}

void nft_chain_begin(struct buf *out, const char *name)
{
	buf_addf(out, "\tchain %s {\n", name);
}

void nft_chain_hook(struct buf *out, const char *type, const char *hook,
		    const char *priority, const char *policy)
{
	buf_addf(out, "\t\ttype %s hook %s priority %s; policy %s;\n", type,
		 hook, priority, policy);
}

void nft_chain_end(struct buf *out)
{
	buf_adds(out, "\t}\n");
}

void nft_rule(struct buf *out, const char *text)
{
	buf_addf(out, "\t\t%s\n", text);
}

void nft_begin(struct buf *out)
{
	buf_addc(out, '\t');
}

static void put_part(struct buf *out)
{
	buf_addc(out, out->p[out->n - 1] == '\t' ? '\t' : ' ');
}

void nft_daddr(struct buf *out, struct nft_set set, bool is_in)
{
	put_part(out);
	buf_adds(out, set.family == ADDR_V4 ? "ip daddr " : "ip6 daddr ");
	buf_adds(out, is_in ? "@" : "!= @");
	put_set_name(out, set);
}

bool nft_has_proto(const ir_ports *ports, enum ir_proto proto)
{
	vec_each(p, ports)
		if (p->proto == proto)
			return true;
	return false;
}

void nft_dport(struct buf *out, const ir_ports *ports, enum ir_proto proto)
{
	uint32_t n = 0;

	vec_each(p, ports)
		n += p->proto == proto;
	put_part(out);
	buf_addf(out, "%s dport ", ir_proto_name(proto));
	/* A set of one element is listed without its braces. */
	if (n > 1)
		buf_adds(out, "{ ");
	for (uint32_t i = 0, k = 0; i < ports->n; i++) {
		const struct ir_port *p = &ports->v[i];

		if (p->proto != proto)
			continue;
		buf_addf(out, k++ ? ", %u" : "%u", p->lo);
		if (p->hi != p->lo)
			buf_addf(out, "-%u", p->hi);
	}
	if (n > 1)
		buf_adds(out, " }");
}

void nft_word(struct buf *out, const char *text)
{
	put_part(out);
	buf_adds(out, text);
}

void nft_end(struct buf *out)
{
	buf_addc(out, '\n');
}
