/*
 * What a vector of native.json asks for: its words, read. Pure.
 *
 * The words and what each means: compiler/plan/native_json.h. A word that is
 * not there is refused, so that nothing is left out which somebody reviewed.
 */
#ifndef RUNTIME_LAUNCH_NATIVE_WORDS_H
#define RUNTIME_LAUNCH_NATIVE_WORDS_H

#include "compiler/base/arena.h"
#include "compiler/base/err.h"

#include <sys/types.h>

enum words_mount {
	WORDS_BIND,
	WORDS_TMPFS,
};

struct words_place {
	enum words_mount kind;
	const char *source; /* on the host, absolute; WORDS_BIND */
	const char *target; /* inside, absolute, without "." and ".." */
	bool readonly;
	bool optional;	  /* a source that is not there is no error */
	bool shared;	  /* what is mounted there is seen outside, too */
	bool exec;	  /* WORDS_TMPFS: programs may run from there */
	unsigned mode;	  /* WORDS_TMPFS, as are the rest */
	const char *size; /* as mount(2) has it */
	uid_t uid;
	gid_t gid;
};

enum words_network {
	WORDS_UPLINK, /* the gate's own */
	WORDS_AGENT,  /* the one that its first process moves into */
	WORDS_NONE,
};

struct words_sysctl {
	const char *path; /* below /proc/sys: "net/ipv4/ip_forward" */
	const char *value;
};

struct words {
	VEC(struct words_place) places; /* what is above before what is below */
	VEC(struct words_sysctl) sysctls;
	VEC(const char *) env; /* NAME=VALUE; the last of a name counts */
	VEC(char *) argv;      /* the program, and its words; NULL at the end */
	const char *hostname;  /* or NULL */
	const char *folder;    /* where it begins; "/" */
	const char *filter;    /* a file, of seccomp; or NULL */
	enum words_network network;
	bool has_user;
	uid_t uid;
	gid_t gid;
	uint64_t caps;	    /* 1 << CAP_… */
	unsigned files;	    /* RLIMIT_NOFILE; 0: as it is */
	unsigned processes; /* RLIMIT_NPROC; 0: likewise */
	bool tty, fuse;
};

typedef const char *words_get(void *ctx, const char *name);

/*
 * Read an expanded vector, NULL at its end. get says what this process has of a
 * variable that is named without a value; NULL: nothing.
 *   -EPROTO  a word that the engine does not know, or a value that makes no
 *            sense
 */
must_check int words_read(struct arena *a, char *const *vector, words_get *get,
			  void *ctx, struct words *out, struct err *err);

#endif
