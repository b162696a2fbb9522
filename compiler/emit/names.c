#include "compiler/emit/names.h"

#include "compiler/emit/profiles.h"
#include "compiler/ir/ports.h"

#include <stdlib.h>

typedef VEC(struct str) lines;

static int by_bytes(const void *va, const void *vb)
{
	return str_cmp(*(const struct str *)va, *(const struct str *)vb);
}

/* A section: sorted, each line once. */
static void put_lines(struct buf *out, lines *l)
{
	if (l->n == 0)
		return;
	qsort(l->v, l->n, sizeof(*l->v), by_bytes);
	for (uint32_t i = 0; i < l->n; i++) {
		if (i && str_eq(l->v[i - 1], l->v[i]))
			continue;
		buf_add(out, l->v[i]);
		buf_addc(out, '\n');
	}
}

static void put_upstream(struct buf *out, const struct ir_resolver *r)
{
	char text[ADDR_TEXT_MAX];

	buf_adds(out, "upstream ");
	switch (r->transport) {
	case IR_TRANSPORT_DNS:
		buf_addf(out, "udp %s %u\n", addr_text(&r->addr, text),
			 r->port);
		return;
	case IR_TRANSPORT_TLS:
		buf_addf(out, "tls %s %u\n", addr_text(&r->addr, text),
			 r->port);
		return;
	case IR_TRANSPORT_HTTPS:
		buf_addf(out, "https %.*s\n", STR_ARG(r->url));
		return;
	}
	abort();
}

static struct str net_line(struct arena *a, const char *word,
			   const struct cidr *net)
{
	char text[CIDR_TEXT_MAX];

	return arena_fmt(a, "%s %s", word, cidr_text(net, text));
}

static void put_nets(const struct emit_in *in, struct buf *out)
{
	lines floor = {0}, private = {0}, cover = {0};
	const struct addr_special *s;
	struct cidr net;

	for (size_t i = 0; (s = addr_special(i)); i++) {
		cidr_parse(str_of(s->text), &net);
		if (s->scope == ADDR_NEVER)
			*vec_push(in->a, &floor) =
				net_line(in->a, "floor", &net);
	}
	for (size_t at = 0; addr_private_next(&at, &net);)
		*vec_push(in->a, &private) = net_line(in->a, "private", &net);
	vec_each(g, &in->policy->allow)
		if (g->dest.kind == IR_DEST_CIDR && !g->has_http)
			*vec_push(in->a, &cover) =
				net_line(in->a, "cover", &g->dest.u.cidr.net);
	put_lines(out, &floor);
	put_lines(out, &private);
	put_lines(out, &cover);
}

static void put_names(const struct emit_in *in, struct buf *out,
		      const emit_classes *classes)
{
	lines names = {0};

	vec_each(g, &in->policy->allow) {
		bool private = g->private.set && g->private.v;
		struct str name = ir_dest_name(&g->dest);
		char room[512];
		struct buf b;
		uint32_t k;

		if (name.n == 0)
			continue;
		buf_init_in(&b, in->a, room, sizeof(room));
		buf_adds(&b, "name ");
		buf_add(&b, name);
		buf_addc(&b, ' ');
		k = emit_class_of(in->a, classes, g);
		/* '*' opens every public address by a rule of its own. */
		if (!k || (g->dest.kind == IR_DEST_ANY && !private))
			buf_addc(&b, '-');
		else
			buf_addf(&b, "%s%u", ir_grant_http(g) ? "h" : "", k);
		buf_adds(&b, private ? " private " : " - ");
		buf_add(&b, g->id);
		*vec_push(in->a, &names) = buf_keep(&b);
	}
	put_lines(out, &names);
}

/* Names that do not resolve, and those that do with fewer ports. */
static void put_denials(const struct emit_in *in, struct buf *out,
			const emit_classes *classes)
{
	lines denied = {0}, guarded = {0};

	vec_each(d, &in->policy->deny) {
		struct str name = ir_dest_name(&d->dest);

		if (name.n == 0 || ir_grant_http(d) ||
		    d->dest.kind == IR_DEST_ANY)
			continue;
		if (ports_all(&d->ports))
			*vec_push(in->a, &denied) =
				arena_fmt(in->a, "deny %.*s %.*s",
					  STR_ARG(name), STR_ARG(d->id));
		else
			*vec_push(in->a, &guarded) = arena_fmt(
				in->a, "guard %.*s %u %.*s", STR_ARG(name),
				emit_class_of(in->a, classes, d),
				STR_ARG(d->id));
	}
	put_lines(out, &denied);
	put_lines(out, &guarded);
}

bool names_emit(const struct emit_in *in, struct buf *out)
{
	emit_classes classes, denials;

	if (!emit_classes_make(in, &classes) ||
	    !emit_denials_make(in, &denials))
		return false;
	buf_adds(out, "membrane-names 1\n");
	put_upstream(out, &in->policy->resolver.v);
	put_nets(in, out);
	put_names(in, out, &classes);
	put_denials(in, out, &denials);
	return true;
}
