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

enum words_mask_kind {
	WORDS_HIDE, /* something empty is over it */
	WORDS_KEEP, /* it is read-only */
	WORDS_PIN,  /* it keeps its name */
	WORDS_IS,   /* nothing is made of it */
};

struct words_mask {
	enum words_mask_kind kind;
	uint64_t dev, ino;  /* what was seen there */
	const char *target; /* inside, as of a place */
};

enum words_network {
	WORDS_UPLINK, /* the gate's own */
	WORDS_AGENT,  /* the one that its first process moves into */
	WORDS_NONE,
};

/* In which part's namespace of processes its own lies. */
enum words_within {
	WORDS_NOBODYS, /* the launcher's */
	WORDS_VIEWS,
	WORDS_ASKEDS, /* where that runs */
};

struct words_call {
	int nr;
	bool write; /* where its flags say that something may be written */
};

struct words_sysctl {
	const char *path; /* below /proc/sys: "net/ipv4/ip_forward" */
	const char *value;
};

struct words {
	VEC(struct words_place) places; /* what is above before what is below */
	VEC(struct words_mask) masks;  /* likewise, and behind all places */
	const char *empty; /* a folder with "file" and "dir"; or NULL */
	VEC(struct words_sysctl) sysctls;
	VEC(const char *) env; /* NAME=VALUE; the last of a name counts */
	VEC(char *) argv;      /* the program, and its words; NULL at the end */
	const char *root;      /* a folder that is under it all; or NULL */
	const char *hostname;  /* or NULL */
	const char *folder;    /* where it begins; "/" */
	const char *filter;    /* a file, of seccomp; or NULL */
	enum words_network network;
	bool has_user;
	uid_t uid;
	gid_t gid;
	uint64_t caps;	     /* 1 << CAP_… */
	unsigned files;	     /* RLIMIT_NOFILE; 0: as it is */
	unsigned processes;  /* RLIMIT_NPROC; 0: likewise */
	uint64_t memory;     /* bytes; 0: no limit */
	unsigned cpus_milli; /* thousandths of a processor; 0: likewise */
	bool grouped; /* a control group holds those two: not of the words */
	bool tty, fuse;
	enum words_within within;
	VEC(struct words_call) ask; /* the kernel asks about these */
	bool is_asked; /* this part, by the kernel */
	bool read_only; /* what is under it all is; else what is written to it
			 * is in memory, and goes with the session */
	bool host_users; /* stays in the machine's user namespace */
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
