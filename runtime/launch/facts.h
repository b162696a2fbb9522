/*
 * What can be told of this host without starting anything: read from /proc
 * and /sys, and asked of the kernel. Nothing is changed by it.
 *
 * It is about the kernel that this program runs on; Docker may run on another.
 */
#ifndef RUNTIME_LAUNCH_FACTS_H
#define RUNTIME_LAUNCH_FACTS_H

#include "compiler/base/arena.h"

enum fact { FACT_UNKNOWN, FACT_NO, FACT_YES };

struct facts {
	const char *kernel; /* uname -r */
	const char *lsms;   /* "lockdown,yama,apparmor"; NULL: unknown */
	enum fact btf, bridge_netfilter;
	enum fact kprobes;	   /* perf events of the kernel's functions */
	enum fact user_namespaces; /* for those who are not root */
	enum fact fuse;		   /* /dev/fuse, for who may open it */
	const char *fuse_why;	   /* NULL for FACT_YES */
	bool opens_fuse;	   /* this process may */
	enum fact traces;	   /* ptrace(2), for who has the right */
};
void facts_read(struct arena *a, struct facts *out);

/* The mount that a folder lies in, or will: the nearest above it that is there
 * counts. */
struct facts_mount {
	enum fact shared; /* what a container mounts below it comes here */
	const char *at;	  /* NULL: unknown */
};
void facts_mount(struct arena *a, const char *folder, struct facts_mount *out);

#endif
