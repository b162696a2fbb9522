#include "compiler/algebra/space/intersect.h"

#include "compiler/base/buf.h"

/* --- names --------------------------------------------------------------- */

typedef VEC(struct str) label_list;

/* Last label first. */
static label_list labels_of(struct arena *a, struct str name)
{
	label_list out = {0};
	size_t end = name.n;

	while (end) {
		size_t beg = end;

		while (beg && name.p[beg - 1] != '.')
			beg--;
		*vec_push(a, &out) = str_slice(name, beg, end);
		end = beg ? beg - 1 : 0;
	}
	return out;
}

static bool is_deep(const label_list *l, uint32_t i)
{
	return str_is(l->v[i], "**");
}

static struct str joined_labels(struct arena *a, const label_list *l)
{
	struct buf b;

	buf_init(&b, a);
	for (uint32_t i = l->n; i-- > 0;) {
		buf_add(&b, l->v[i]);
		if (i)
			buf_addc(&b, '.');
	}
	return buf_str(&b);
}

bool intersect_names(struct arena *a, struct str x, struct str y,
		     struct str *out)
{
	label_list lx = labels_of(a, x), ly = labels_of(a, y), met = {0};

	for (uint32_t i = 0; i < lx.n || i < ly.n; i++) {
		bool deep_x = i < lx.n ? is_deep(&lx, i) : false;
		bool deep_y = i < ly.n ? is_deep(&ly, i) : false;

		if (i >= lx.n || i >= ly.n)
			return false;
		if (deep_x || deep_y) {
			const label_list *rest = deep_x ? &ly : &lx;

			for (; i < rest->n; i++)
				*vec_push(a, &met) = rest->v[i];
			break;
		}
		if (str_is(lx.v[i], "*"))
			*vec_push(a, &met) = ly.v[i];
		else if (str_is(ly.v[i], "*") || str_eq(lx.v[i], ly.v[i]))
			*vec_push(a, &met) = lx.v[i];
		else
			return false;
	}
	*out = joined_labels(a, &met);
	return true;
}

/* --- destinations -------------------------------------------------------- */

static struct ir_dest of_name(struct str name)
{
	struct ir_dest d = {.kind = IR_DEST_HOST};

	if (str_is(name, "**"))
		return (struct ir_dest){.kind = IR_DEST_ANY};
	if (str_find(name, '*', 0) < name.n)
		d.kind = IR_DEST_PATTERN;
	if (d.kind == IR_DEST_HOST)
		d.u.host.name = name;
	else
		d.u.pattern.name = name;
	return d;
}

static struct ir_dest of_net(const struct cidr *net)
{
	return (struct ir_dest){.kind = IR_DEST_CIDR, .u.cidr.net = *net};
}

bool intersect_dest(struct arena *a, const struct ir_dest *x,
		    const struct ir_dest *y, struct ir_dest *out)
{
	const struct cidr *nx = ir_dest_net(x), *ny = ir_dest_net(y);
	struct str name;

	if (nx && ny) {
		if (!cidr_covers(nx, ny) && !cidr_covers(ny, nx))
			return false;
		*out = of_net(cidr_covers(nx, ny) ? ny : nx);
		return true;
	}
	if (nx || ny) {
		/* '*' is about addresses, too. */
		if ((nx ? y : x)->kind != IR_DEST_ANY)
			return false;
		*out = of_net(nx ? nx : ny);
		return true;
	}
	if (!intersect_names(a, ir_dest_name(x), ir_dest_name(y), &name))
		return false;
	*out = of_name(name);
	return true;
}

bool intersect_same(const struct ir_dest *x, const struct ir_dest *y)
{
	const struct cidr *nx = ir_dest_net(x), *ny = ir_dest_net(y);

	if (nx && ny)
		return cidr_cmp(nx, ny) == 0;
	/* A network has no name. */
	return str_eq(ir_dest_name(x), ir_dest_name(y));
}
