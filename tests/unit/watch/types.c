/*
 * The kernel's types that programs name, out of a small kernel's: which are
 * there, under which numbers, and that they are laid out as they were.
 */
#include "runtime/watch/types.h"

#include "tests/check.h"

#include <bpf/btf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct err err;

/*
 * struct deep { long a[3]; };
 * struct task {
 *	const struct deep d; struct other *next; u8 low : 3, high : 5;
 *	union { long x; char y; };
 * };
 */
static struct btf *make_kernel(int *task)
{
	struct btf *b = btf__new_empty();
	int l = btf__add_int(b, "long", 8, BTF_INT_SIGNED),
	    c = btf__add_int(b, "char", 1, 0),
	    longs = btf__add_array(b, l, l, 3), byte, deep, held, other, to, any;

	byte = btf__add_typedef(b, "u8", c);
	deep = btf__add_struct(b, "deep", 24);
	btf__add_field(b, "a", longs, 0, 0);
	held = btf__add_const(b, deep);
	other = btf__add_struct(b, "other", 8);
	btf__add_field(b, "n", l, 0, 0);
	to = btf__add_ptr(b, other);
	any = btf__add_union(b, "", 8);
	btf__add_field(b, "x", l, 0, 0);
	btf__add_field(b, "y", c, 0, 0);
	*task = btf__add_struct(b, "task", 48);
	btf__add_field(b, "d", held, 0, 0);
	btf__add_field(b, "next", to, 192, 0);
	btf__add_field(b, "low", byte, 256, 3);
	btf__add_field(b, "high", byte, 259, 5);
	btf__add_field(b, "", any, 320, 0);
	CHECK(btf__add_struct(b, "twice", 8) > 0);
	CHECK(btf__add_struct(b, "twice", 16) > 0);
	return b;
}

static struct btf *make_programs(int ids[4])
{
	static const char *const names[] = {"task", "task___old", "missing",
					    "twice"};
	struct btf *b = btf__new_empty();

	for (unsigned i = 0; i < 4; i++)
		ids[i] = btf__add_struct(b, names[i], 8);
	return b;
}

static struct btf *read_back(int fd)
{
	static char bytes[65536];
	ssize_t n = pread(fd, bytes, sizeof(bytes), 0);

	CHECK(n > 0);
	return btf__new(bytes, (uint32_t)n);
}

static const struct btf_type *find(const struct btf *b, const char *name)
{
	int id = btf__find_by_name_kind(b, name, BTF_KIND_STRUCT);

	return id > 0 ? btf__type_by_id(b, (uint32_t)id) : NULL;
}

static void check_task(const struct btf *b)
{
	const struct btf_type *t = find(b, "task");
	const struct btf_member *m = t ? btf_members(t) : NULL;

	CHECK(t && t->size == 48 && btf_vlen(t) == 5);
	if (!t || btf_vlen(t) != 5)
		return;
	CHECK(btf__resolve_size(b, m[0].type) == 24); /* without const */
	CHECK(strcmp(btf__name_by_offset(b, m[1].name_off), "next") == 0);
	CHECK(btf_is_ptr(btf__type_by_id(b, m[1].type)));
	CHECK(btf__type_by_id(b, m[1].type)->type == 0);
	CHECK(btf_member_bit_offset(t, 3) == 259);
	CHECK(btf_member_bitfield_size(t, 3) == 5);
	CHECK(btf__resolve_size(b, m[3].type) == 1); /* nor by another name */
	CHECK(btf_is_union(btf__type_by_id(b, m[4].type)));
	CHECK(btf_vlen(btf__type_by_id(b, m[4].type)) == 2);
}

static void named_alone(void)
{
	int task, ids[4], fd = memfd_create("types", MFD_CLOEXEC);
	struct btf *kernel = make_kernel(&task), *programs = make_programs(ids),
		   *got;
	uint32_t numbers[WATCH_TYPES];

	CHECK(types_write(kernel, programs, fd, numbers, &err) == 0);
	CHECK(numbers[ids[0]] == (uint32_t)task);
	CHECK(numbers[ids[1]] == (uint32_t)task); /* another version of it */
	CHECK(numbers[ids[2]] == 0);
	CHECK(numbers[ids[3]] == 0); /* which of the two, nobody knows */
	got = read_back(fd);
	check_task(got);
	CHECK(find(got, "deep"));   /* a part of it */
	CHECK(find(got, "twice"));  /* both, for libbpf to compare */
	CHECK(!find(got, "other")); /* behind a pointer */
	btf__free(got);
	btf__free(kernel);
	btf__free(programs);
	close(fd);
}

static void too_many(void)
{
	int ignored, fd = memfd_create("types", MFD_CLOEXEC);
	struct btf *kernel = make_kernel(&ignored), *programs = btf__new_empty();
	uint32_t numbers[WATCH_TYPES];

	for (unsigned i = 0; i < WATCH_TYPES; i++)
		CHECK(btf__add_ptr(programs, 0) > 0);
	CHECK(types_write(kernel, programs, fd, numbers, &err) < 0);
	CHECK(strstr(err.text, "the kernel's types: "));
	btf__free(kernel);
	btf__free(programs);
	close(fd);
}

int main(void)
{
	named_alone();
	too_many();
	return check_status();
}
