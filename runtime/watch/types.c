#include "runtime/watch/types.h"

#include "compiler/base/str.h"
#include "compiler/base/sys/fileio.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 64 /* of structs in structs */
#define SEVERAL	  UINT32_MAX

struct copy {
	const struct btf *from;
	struct btf *to;
	uint32_t *ids; /* in to, by those in from; 0: not there yet */
};

/* Of the programs' own. */
struct named {
	struct str name;
	uint32_t id;
};

static bool is_composite(const struct btf_type *t)
{
	return btf_is_struct(t) || btf_is_union(t);
}

/* Without what tells versions of a type apart (libbpf's flavors). */
static struct str essential(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off),
		   *flavor = strstr(name, "___");

	return (struct str){name,
			    flavor ? (size_t)(flavor - name) : strlen(name)};
}

/* --- a type and what it is made of ----------------------------------------- */

static int copy_type(struct copy *c, uint32_t id, unsigned depth);

static int copy_array(struct copy *c, const struct btf_type *t, unsigned depth)
{
	const struct btf_array *a = btf_array(t);
	int index = copy_type(c, a->index_type, depth),
	    of = index < 0 ? index : copy_type(c, a->type, depth);

	return of < 0 ? of : btf__add_array(c->to, index, of, (int)a->nelems);
}

/* Its members' types first: a field goes to the type that was added last. */
static int copy_members(struct copy *c, const struct btf_type *t,
			unsigned depth)
{
	const struct btf_member *m = btf_members(t);

	for (unsigned i = 0; i < btf_vlen(t); i++) {
		int rc = copy_type(c, m[i].type, depth);

		if (rc < 0)
			return rc;
	}
	return 0;
}

static int copy_composite(struct copy *c, const struct btf_type *t,
			  unsigned depth)
{
	const char *name = btf__name_by_offset(c->from, t->name_off);
	const struct btf_member *m = btf_members(t);
	int rc = copy_members(c, t, depth), id = rc;

	if (rc == 0)
		id = btf_is_struct(t) ? btf__add_struct(c->to, name, t->size)
				      : btf__add_union(c->to, name, t->size);
	for (unsigned i = 0; id > 0 && rc == 0 && i < btf_vlen(t); i++)
		rc = btf__add_field(
			c->to, btf__name_by_offset(c->from, m[i].name_off),
			copy_type(c, m[i].type, depth),
			btf_member_bit_offset(t, i),
			btf_member_bitfield_size(t, i));
	return rc < 0 ? rc : id;
}

static int copy_new(struct copy *c, const struct btf_type *t, unsigned depth)
{
	const char *name = btf__name_by_offset(c->from, t->name_off);

	if (is_composite(t))
		return copy_composite(c, t, depth);
	if (btf_is_array(t))
		return copy_array(c, t, depth);
	if (btf_is_ptr(t))
		return btf__add_ptr(c->to, 0);
	if (btf_is_int(t))
		return btf__add_int(c->to, name, t->size, btf_int_encoding(t));
	if (btf_is_any_enum(t))
		return btf__add_enum(c->to, name, t->size);
	if (btf_is_float(t))
		return btf__add_float(c->to, name, t->size);
	return -EPROTO; /* nothing that has a size */
}

/* Its number in to, or what libbpf says. What only renames or qualifies a type
 * is left out: relocations look through that. */
static int copy_type(struct copy *c, uint32_t id, unsigned depth)
{
	const struct btf_type *t = btf__type_by_id(c->from, id);
	int rc;

	while (t && (btf_is_mod(t) || btf_is_typedef(t) || btf_is_type_tag(t))) {
		id = t->type;
		t = btf__type_by_id(c->from, id);
	}
	if (!t || depth == 0)
		return -EPROTO;
	if (c->ids[id])
		return (int)c->ids[id];
	rc = copy_new(c, t, depth - 1);
	if (rc > 0)
		c->ids[id] = (uint32_t)rc;
	return rc;
}

/* --- which ------------------------------------------------------------------ */

static int by_name(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

/* In their order; the number of them. */
static size_t find_named(const struct btf *programs, struct named *out)
{
	size_t n = 0;

	for (uint32_t id = 1; id < btf__type_cnt(programs); id++) {
		const struct btf_type *t = btf__type_by_id(programs, id);

		if (is_composite(t) && t->name_off)
			out[n++] = (struct named){essential(programs, t), id};
	}
	qsort(out, n, sizeof(*out), by_name);
	return n;
}

/* The first of that name; the others of it follow. */
static const struct named *look_up(const struct named *v, size_t n,
				   struct str name)
{
	const struct named wanted = {.name = name},
			   *at = bsearch(&wanted, v, n, sizeof(*v), by_name);

	while (at && at > v && str_eq(at[-1].name, name))
		at--;
	return at;
}

static int copy_named(struct copy *c, const struct named *v, size_t n,
		      uint32_t out[WATCH_TYPES])
{
	for (uint32_t id = 1; id < btf__type_cnt(c->from); id++) {
		const struct btf_type *t = btf__type_by_id(c->from, id);
		const struct named *at;
		int rc;

		if (!is_composite(t) || !t->name_off)
			continue;
		at = look_up(v, n, essential(c->from, t));
		for (; at && at < v + n && str_eq(at->name, essential(c->from, t));
		     at++) {
			out[at->id] = out[at->id] ? SEVERAL : id;
			rc = copy_type(c, id, DEPTH_MAX);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int write_to(const struct btf *btf, int fd, struct err *err)
{
	uint32_t n = 0;
	const void *p = btf__raw_data(btf, &n);

	if (!p)
		return err_set(err, -ENOMEM, "no memory");
	return fileio_write_all(fd, (struct str){p, n}, err);
}

int types_write(const struct btf *kernel, const struct btf *programs, int fd,
		uint32_t out[WATCH_TYPES], struct err *err)
{
	struct named named[WATCH_TYPES];
	struct copy c = {kernel, btf__new_empty(),
			 calloc(btf__type_cnt(kernel), sizeof(*c.ids))};
	int rc = !c.to || !c.ids			    ? -ENOMEM
		 : btf__type_cnt(programs) > WATCH_TYPES ? -E2BIG
							 : 0;

	memset(out, 0, WATCH_TYPES * sizeof(*out));
	if (rc == 0)
		rc = copy_named(&c, named, find_named(programs, named), out);
	for (size_t i = 0; i < WATCH_TYPES; i++)
		if (out[i] == SEVERAL)
			out[i] = 0;
	rc = rc < 0 ? err_set(err, rc, "the kernel's types: %s", strerror(-rc))
		    : write_to(c.to, fd, err);
	btf__free(c.to);
	free(c.ids);
	return rc;
}
