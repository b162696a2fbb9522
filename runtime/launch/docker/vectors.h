/*
 * docker.json: the argument vectors of gate and agent, and what their
 * placeholders stand for at launch.
 *
 * Pure: no files, no environment but through the function that it is given.
 * In a word `{session}`, `{workspace}`, `{home}`, `{state}` and `{env:NAME}`
 * are replaced as text, `{{` and `}}` are a brace; as whole words `{masks}`,
 * `{terminal}`, `{environment}`, `{owner}`, `{git}`, `{repository}`,
 * `{repository-view}`, `{tracing}`, `{init}`, `{entrypoint}` and `{command}`
 * stand for words:
 * `{terminal}` for --interactive and, for a terminal, --tty VECTORS_NO_KEYS.
 * The mount whose source is `{workspace}` alone is read-only where the user
 * could not write there.
 * Replaced text is never looked at again. Anything else in braces refuses the
 * vector.
 */
#ifndef RUNTIME_LAUNCH_DOCKER_VECTORS_H
#define RUNTIME_LAUNCH_DOCKER_VECTORS_H

#include "compiler/base/addr.h"
#include "compiler/base/buf.h"
#include "compiler/base/err.h"
#include "compiler/base/limits.h"

/* In one expanded vector; two words for each mask. */
#define VECTORS_WORDS_MAX	(2 * LIMIT_MASKS + 16384u)
#define VECTORS_BYTES_MAX	(8u << 20)
#define VECTORS_CREDENTIALS_MAX 64
/* With a terminal: docker's command has keys that end it alone; not these. */
#define VECTORS_NO_KEYS                                                        \
	"--detach-keys=ctrl-^,ctrl-_,ctrl-^,ctrl-_,ctrl-^,ctrl-_"

typedef VEC(char *) vectors_words;
typedef VEC(uint16_t) vectors_ports;
struct vectors_published {
	struct addr addr;
	uint16_t port; /* of this machine */
};
typedef VEC(struct vectors_published) vectors_published_list;

struct vector {
	const char *image;
	vectors_words words; /* as in the plan, with placeholders */
};

/*
 * Where the value of credential n of gate.cfg comes from: a variable, a file,
 * or these fields of one.
 */
struct vectors_credential {
	uint32_t n;
	const char *env, *file;
	vectors_words fields;
	const char *refresh; /* URL where they are renewed; or NULL */
};

/* A proxy on the way out; its login as that of a credential. */
struct vectors_upstream {
	const char *host; /* a name or an address; NULL: there is none */
	uint16_t port;
	const char *env, *file;
	/* Past it go these networks, and names or none. */
	struct cidr *direct;
	uint32_t n_direct;
	bool direct_names;
};

enum vectors_link { VECTORS_VETH, VECTORS_BRIDGE };

/* Whose the agent's home is; in the session's folder, where it is nobody's. */
enum vectors_home {
	VECTORS_HOME_SHARED,
	VECTORS_HOME_WORKSPACE,
	VECTORS_HOME_NONE,
};

struct vectors {
	bool native;  /* they are native.json's */
	bool sockets; /* whose gate has no way out but a broker's sockets */
	const char *runtime; /* "runc" is what every daemon has */
	enum vectors_link link;
	struct vector gate, agent, tracer; /* tracer.image: NULL for none */
	struct vector asked; /* native: in the tracer's place, where a user
			      * launches; image: likewise */
	struct vector tracer_version; /* says its release; image: likewise */
	struct vector view;	      /* holds masks; image: likewise */
	struct vector relay; /* renewals leave by it; image: likewise */
	VEC(struct vectors_credential) credentials;
	bool ssh_agent; /* the user's is asked for */
	struct vectors_upstream upstream;
	const char *upstream_ca; /* a file of roots; or NULL */
	/* native: what the root is unpacked from; NULL: there is none */
	const char *archive, *archive_sha256;
	enum vectors_home home;
	vectors_ports host_ports; /* of this machine, that the agent gets */
	vectors_published_list published; /* that lead to the agent */
};

struct vectors_values {
	const char *session, *workspace, *home, *state;
	const char *programs;  /* membrane's own; NULL: not found */
	const char *user_home; /* of who launches; NULL: unknown */
	const char *resolver;  /* the host's, where vectors_asks_host() */
	const char *owner;     /* "UID:GID" */
	struct str roots;      /* beside the system's, PEM; empty: none */
	bool tty;	       /* the command gets a terminal */
	bool readonly;	       /* the workspace's mount is */
	bool git;	       /* the session's folder has a gitidentity */
	/* {repository} and {repository-view}: words; NULL at the end, or none
	 */
	const char *const *repository, *const *repository_view;
	const char *const *own_path; /* {own-path}: likewise */
	const char *const *path;     /* {path}: likewise */
	/* {environment}, {init} and {entrypoint}: likewise */
	const char *const *environment, *const *init, *const *entrypoint;
	bool narrow;		  /* Docker lets CAP_BPF alone load programs */
	const char *const *masks; /* words */
	size_t n_masks;
	char *const *command;				 /* NULL at the end */
	const char *(*env)(void *ctx, const char *name); /* NULL: unset */
	void *env_ctx;
};

/*
 * Read docker.json. Strict: an unknown member, a wrong type or a byte behind
 * the end is -EPROTO.
 */
must_check int vectors_parse(struct arena *a, struct str json,
			     struct vectors *out, struct err *err);
/* Is the host's own resolver to be asked? */
bool vectors_asks_host(const struct vectors *v);
/*
 * The words to exec, NULL at the end.
 *   -EPROTO  an unknown placeholder or a lone brace
 *   -ENOENT  {env:NAME} of a variable that is not set
 *   -EINVAL  a value that --mount cannot hold
 *   -E2BIG   more than VECTORS_WORDS_MAX or VECTORS_BYTES_MAX
 */
must_check int vectors_expand(struct arena *a, const struct vector *v,
			      const struct vectors_values *values,
			      char ***out_argv, struct err *err);

#endif
