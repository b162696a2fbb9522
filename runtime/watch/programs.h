/*
 * The programs of watch.bpf.c and their maps: loaded, attached, counted.
 *
 * They are loaded in two halves at the same time, each an object of libbpf:
 * one takes as long as all else that is done before an agent may start, since
 * the kernel goes through all ways that a program can take. The maps are made
 * before, and shared.
 */
#ifndef RUNTIME_WATCH_PROGRAMS_H
#define RUNTIME_WATCH_PROGRAMS_H

#include "runtime/watch/backend.h"

struct programs;

struct programs_job {
	enum backend backend;
	const struct btf *types; /* the kernel's; NULL: it tells of none */
	const struct backend_kernel *kernel;
	const struct select *select;
	/* What they read, and never write; but for types, which is theirs. */
	struct watch_config *config;
};

/*
 * They run from now on. *out is the caller's, for programs_free().
 *   -EPERM   the privileges for it are missing
 *   -ENOENT  the kernel has no type information (CONFIG_DEBUG_INFO_BTF)
 */
must_check int programs_load(const struct programs_job *job,
			     struct programs **out, struct err *err);
/* Detached, and gone from the kernel. */
void programs_free(struct programs *p);

/* The descriptor of a map, by its name there; it stays theirs. */
int programs_map(const struct programs *p, const char *name);
/* Calls that the kernel left out, since the same program was at work on that
 * processor for another task. */
uint64_t programs_missed(const struct programs *p);

#endif
