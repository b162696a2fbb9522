/*
 * The kernel's types that the programs name, apart from its 100,000 others.
 *
 * libbpf goes through all types of the kernel for each that an object names, and
 * takes tens of milliseconds for it. So it is given those alone, under numbers
 * of their own: with the members that they have, but for what a pointer leads
 * to, which no relocation asks for (BTF: Documentation/bpf/btf.rst).
 */
#ifndef RUNTIME_WATCH_TYPES_H
#define RUNTIME_WATCH_TYPES_H

#include "compiler/base/err.h"
#include "runtime/watch/kernel/event.h"

struct btf;

/*
 * Write to fd, as BTF, each struct and union of the kernel that has the name of
 * one of the programs' types, up to "___".
 *
 * out  by the numbers that the types have among the programs' own: the kernel's
 *      numbers of them; 0: it has no such type, or several
 *   -E2BIG  the programs have more than WATCH_TYPES types
 *   other   of libbpf
 */
must_check int types_write(const struct btf *kernel, const struct btf *programs,
			   int fd, uint32_t out[WATCH_TYPES], struct err *err);

#endif
