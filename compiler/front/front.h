/*
 * Everything a user wrote, as bound documents: files, presets, ignore file,
 * command line and what was said while the session ran, in the order of their
 * layers.
 */
#ifndef COMPILER_FRONT_FRONT_H
#define COMPILER_FRONT_FRONT_H

#include "compiler/base/err.h"
#include "compiler/ir/doc.h"

/* The workspace's own policy, in two layouts: the second is the older one. */
#define FRONT_POLICY	   ".membrane.yaml"
#define FRONT_POLICY_OLDER ".membrane/config.yml"

/*
 * A policy flag from the command line, -n github.com. The flags become one
 * source named "<command line>", so that a diagnostic can point into them.
 */
enum front_flag_kind {
	FRONT_FLAG_ALLOW,    /* --allow DEST */
	FRONT_FLAG_ASK,	     /* --ask DEST */
	FRONT_FLAG_DENY,     /* --deny DEST */
	FRONT_FLAG_HOSTNAME, /* -n, --hostname */
	FRONT_FLAG_CIDR,     /* -c, --cidr */
	FRONT_FLAG_IGNORE,   /* -i, --ignore */
	FRONT_FLAG_READONLY, /* -r, --readonly */
	FRONT_FLAG_ARG,	     /* -a, --arg */
	FRONT_FLAG_ENV,	     /* -e, --env: two of args, as is the next */
	FRONT_FLAG_VOLUME,   /* -v, --volume */
	FRONT_FLAG_PUBLISH,  /* -p, --publish */
	FRONT_FLAG_RESOLVER, /* --resolver, --dns-resolver */
	FRONT_FLAG_IMAGE,    /* --image */
	FRONT_FLAG_ENGINE,   /* --engine */
	FRONT_FLAG_UPLINK,   /* --uplink */
	FRONT_FLAG_NO_TRACE, /* --no-trace: trace.engine = off */
};

struct front_flag {
	enum front_flag_kind kind;
	struct str spelling; /* as typed: "-n" */
	struct str value;
	bool off; /* it stands there, and another has taken it back */
};

/* A text in the place of a file's: what would an edit do? */
struct front_text {
	struct str name; /* as users know it: ".membrane.yaml" */
	struct str text;
};

/*
 * A folder that is not on disk, such as one in a revision of a repository.
 * read: the file at a path below it, with its mode as lstat(2) has it; its
 * text, at most max bytes, only when it is a regular file and out_text is not
 * NULL.
 *   -ENOENT  there is none
 *   -EFBIG   more than max bytes
 */
struct front_tree {
	int (*read)(const struct front_tree *t, struct arena *a,
		    struct str path, size_t max, unsigned *out_mode,
		    struct str *out_text, struct err *err);
};

struct front_input {
	const char *workspace; /* directory; NULL: there is none */
	const char *state;     /* ~/.membrane, or $MEMBRANE_HOME; or NULL */
	const char *global;    /* read as ~/.membrane/config.yaml; NULL: the
				  one in state, or else default.yaml of the
				  presets: what the first run will write */
	/* The workspace and a global file that is given are read from here;
	 * NULL: from the disk. */
	const struct front_tree *tree;
	/* What the names of those files begin with for people, "main:"; a
	 * global file that is given then goes by its own. NULL: neither. */
	const char *prefix;
	bool derived;	      /* that file is a plan's own policy.json */
	const char *policies; /* directory of the presets */
	bool no_global;	      /* --no-global-config */
	const struct front_flag *flags;
	size_t n_flags;
	/* What was changed while the session ran, above the flags: a line each
	 * of a source named "session". */
	const struct front_flag *session;
	size_t n_session;
	/* What a session that learns may reach besides, of the flags' layer. */
	const struct str *within;
	size_t n_within;
	const struct front_text *texts;
	size_t n_texts;
};

/*
 * Load all sources. Diagnostics go to c->diags; false when the policy must be
 * refused. A file that exists but cannot be read is a negative return with
 * *err; one that does not exist is no error.
 */
must_check int front_load(struct pass_ctx *c, struct sources *sources,
			  const struct front_input *in, docs *out, bool *out_ok,
			  struct err *err);

/* The workspace's own policy among what was loaded; where there was none, the
 * one to be written. */
struct str front_policy_name(const struct sources *sources);

#endif
