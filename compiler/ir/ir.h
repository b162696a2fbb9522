/*
 * The typed policy: what everything after the front reads.
 *
 * One struct for a single source (a "document", as the front binds it) and for
 * the merged policy (as passes/layers makes it). Every node knows the place
 * and the layer it came from. All memory is the arena's; strings are views
 * into sources or the arena.
 *
 * Life of a policy, each step checked by ir_verify():
 *   bound       as written, one per source
 *   merged      one, sources in order of their layers
 *   normalised  what IR_NORMALISED below promises; emitters take only this
 */
#ifndef COMPILER_IR_IR_H
#define COMPILER_IR_IR_H

#include "compiler/base/addr.h"
#include "compiler/base/arena.h"
#include "compiler/base/source.h"

struct ir_origin {
	struct span at;
	enum layer layer;
};

/* A scalar that may be absent; a later layer replaces an earlier one. */
#define IR_OPT(T)                                                              \
	struct {                                                               \
		bool set;                                                      \
		struct ir_origin from;                                         \
		T v;                                                           \
	}

/* A string of the user's with its place: list items, scalar values. */
struct ir_text {
	struct ir_origin from;
	struct str s;
};
typedef VEC(struct ir_text) ir_texts;
typedef IR_OPT(bool) ir_opt_bool;
typedef IR_OPT(uint64_t) ir_opt_u64;
typedef IR_OPT(struct str) ir_opt_str;

/* --- destinations -------------------------------------------------------- */

enum ir_dest_kind {
#define DEST(name, text) IR_DEST_##name,
#include "compiler/ir/dest.def"
#undef DEST
};

enum ir_proto { IR_PROTO_TCP, IR_PROTO_UDP };

/* An inclusive range, 1 to 65535. */
struct ir_port {
	enum ir_proto proto;
	uint16_t lo, hi;
	struct span at;
};
typedef VEC(struct ir_port) ir_ports;

enum ir_scheme { IR_SCHEME_HTTP, IR_SCHEME_HTTPS };

struct ir_url {
	enum ir_scheme scheme;
	enum ir_dest_kind who; /* IR_DEST_HOST, IR_DEST_PATTERN, IR_DEST_CIDR */
	struct str name;       /* for host and pattern */
	struct cidr net;       /* for cidr: one address */
	uint16_t port;	       /* written, or the scheme's */
	struct str path;       /* begins with '/'; "/" when none was written */
	struct span path_at;
};

struct ir_dest {
	enum ir_dest_kind kind;
	struct span at;
	bool has_port; /* a ':port' was written (not for url: see there) */
	bool by_name;  /* an address that a name was written for: 'host' */
	struct ir_port port;
	union {
		/* A-labels, lower case, no trailing dot. */
		struct {
			struct str name;
		} host, pattern;
		struct {
			struct cidr net;
		} cidr;
		struct ir_url url;
	} u;
};

/* One rule of `http`: absent lists mean any. */
struct ir_http {
	struct span at;
	bool any_method, any_path;
	ir_texts methods; /* upper case, RFC 9110 tokens */
	ir_texts paths;	  /* bound: as written; normalised: absolute */
};

enum ir_tls { IR_TLS_VERIFY, IR_TLS_INSPECT };
typedef IR_OPT(enum ir_tls) ir_opt_tls;

/* Which key a grant was written under: what "no ports" means, and errors. */
enum ir_grant_key {
	IR_KEY_ALLOW,
	IR_KEY_ASK,
	IR_KEY_DENY,
	IR_KEY_HOSTNAMES,
	IR_KEY_CIDRS
};

/* The widest answer that a person may give: each has in it those before. */
enum ir_lasts { IR_LASTS_ONCE, IR_LASTS_SESSION, IR_LASTS_ALWAYS };
typedef IR_OPT(enum ir_lasts) ir_opt_lasts;
/* How long a request may wait for the answer, and how long it does. */
#define IR_WAIT_MAX_S 600u
#define IR_WAIT_S     60u

/* An entry of allow, hostnames, cidrs, ask or deny. */
struct ir_grant {
	struct ir_origin from;
	enum ir_grant_key key;
	struct ir_dest dest;
	ir_ports ports; /* bound: as written, may be empty */
	bool has_http;
	VEC(struct ir_http) http;
	ir_opt_tls tls;
	ir_opt_bool private;
	bool implied; /* by a credential's 'refresh' */
	ir_opt_lasts lasts; /* of ask; normalised: set */
	ir_opt_u64 wait_s;  /* of ask: how long a request waits for the answer,
			       seconds; normalised: set */
	/* Set by normalise: where else the same was written, in order. */
	VEC(struct ir_origin) again;
	/* Set by normalise: canonical text without place ("github.com tcp/443")
	 * and the id made of it, "g-0123456789", "a-…" (ask) or "d-…". */
	struct str canon, id;
};
typedef VEC(struct ir_grant) ir_grants;

/* --- everything else ----------------------------------------------------- */

/* A line of ignore or readonly, gitignore syntax. */
struct ir_pattern {
	struct ir_origin from;
	struct str line;
	bool back; /* begins with '!' */
	/* A literal path that holds even where it does not exist yet: no
	 * wildcard, anchored. Set by normalise. */
	bool hold;
	bool fast; /* what normalise takes back for ir_policy.fast */
};
typedef VEC(struct ir_pattern) ir_patterns;

/* Asked over UDP, and over TCP where UDP truncates. */
struct ir_resolver {
	bool host; /* which the host asks, read at launch; nothing else is set
		    */
	struct addr addr;
	uint16_t port;
};
typedef IR_OPT(struct ir_resolver) ir_opt_resolver;
#define IR_RESOLVER_HOST "host"
/* An uplink that is no network's name: the gate has one of its own. */
#define IR_UPLINK_ISOLATED "isolated"

/* Of the first the machine decides, where the policy leaves it open. */
enum ir_engine { IR_ENGINE_AUTO, IR_ENGINE_DOCKER, IR_ENGINE_NATIVE };
typedef IR_OPT(enum ir_engine) ir_opt_engine;
/* runc joins the gate's network namespace; sysbox and kata need a bridge. */
enum ir_runtime { IR_RUNTIME_RUNC, IR_RUNTIME_SYSBOX, IR_RUNTIME_KATA };
typedef IR_OPT(enum ir_runtime) ir_opt_runtime;
/* At every access, by a view of the workspace; or by mounts over what is there
 * at the start. */
enum ir_masks { IR_MASKS_HOLD, IR_MASKS_START };
typedef IR_OPT(enum ir_masks) ir_opt_masks;
/* What may be done with a path of the machine. */
enum ir_mode { IR_MODE_READ, IR_MODE_WRITE };
typedef IR_OPT(enum ir_mode) ir_opt_mode;
/* Who finds what is left there: all sessions, those of the workspace, nobody.
 * In this order each is looser than those behind it. */
enum ir_home { IR_HOME_SHARED, IR_HOME_WORKSPACE, IR_HOME_NONE };
typedef IR_OPT(enum ir_home) ir_opt_home;

struct ir_hardening {
	ir_opt_bool read_only;	       /* root file system; default false */
	ir_texts tmpfs;		       /* absolute paths in the container */
	ir_opt_u64 pids;	       /* default 4096 */
	ir_opt_u64 memory;	       /* bytes; default none */
	ir_opt_u64 cpus_milli;	       /* thousandths; default none */
	ir_opt_str user;	       /* UID[:GID]; default the owner */
	ir_texts capabilities;	       /* added, CAP_ prefix off, upper case */
	ir_opt_bool no_new_privileges; /* default true */
	ir_opt_str seccomp; /* "default", "docker", "unconfined" or a path */
	ir_opt_bool user_namespaces; /* default false */
};

/* Files of the agent's home that only the session's main process may open,
 * and that only while it runs this program. */
struct ir_protect {
	struct ir_origin from;
	ir_patterns files; /* "~/", a path, wildcards in its last part alone */
	struct str by;	   /* a name without a slash */
};

/*
 * A header that the gate adds; or, with fields, a file of JSON of which the
 * agent has a copy with sentinels, which the gate replaces in headers.
 */
struct ir_credential {
	struct ir_origin from;
	struct ir_dest host;
	struct str header; /* empty with fields */
	bool from_env;	   /* else a file */
	struct str
		source; /* name of a variable, or a path: "~/…" with fields */
	struct span source_at;
	struct str format;	/* one "{}"; "{}" by default */
	ir_texts fields;	/* "tokens.access": names from the root */
	struct ir_dest refresh; /* of has_refresh: https, a host, a path */
	bool has_refresh;
};

/* What is reached past the proxy: a name, a pattern or a network. */
struct ir_direct {
	struct ir_origin from;
	struct ir_dest dest;
};
typedef VEC(struct ir_direct) ir_directs;

/* The proxy that the gate goes out through. A later layer's replaces all. */
struct ir_upstream {
	bool set;
	struct ir_origin from;
	struct ir_dest proxy; /* IR_DEST_URL, http, a host or an address */
	bool has_login;
	bool from_env;	   /* else a file */
	struct str source; /* name of a variable, or a path */
	struct span source_at;
	ir_directs direct;
};

enum ir_trace_engine { IR_TRACE_NATIVE, IR_TRACE_TRACEE, IR_TRACE_OFF };
typedef IR_OPT(enum ir_trace_engine) ir_opt_trace_engine;
struct ir_trace_event {
	struct ir_origin from;
	struct str name;  /* bound: may hold '*' or name a set; expanded by
			     passes/trace */
	ir_texts filters; /* "data.pathname=/tmp/x" */
	/* It may be missing, where the kernel cannot give it: said, or one of
	 * a set. Only of those that not every kernel gives. */
	ir_opt_bool optional;
};
struct ir_trace {
	ir_opt_trace_engine engine;
	ir_opt_str version; /* of Tracee, "0.24.1" */
	bool has_events;    /* the key was written */
	VEC(struct ir_trace_event) events;
	ir_texts exclude; /* absolute paths left out */
	/* Files opened only to be read, whatever their names. */
	ir_opt_bool reads;
	ir_opt_u64 rotate_bytes, rotate_age_s, keep_files, keep_bytes;
	ir_opt_bool required;
};

/* One expectation of `tests`; doc/semantics.md, section 6. */
enum ir_request_kind {
	IR_REQ_CONNECT, /* "github.com:22", "udp 8.8.8.8:53", "tcp 1.2.3.4:80
			   x.y", "quic x.y:443" */
	IR_REQ_HTTP,	/* "POST https://api.github.com/gists" */
	IR_REQ_RESOLVE, /* "resolve x.y.z TXT" */
	IR_REQ_READ,	/* "read .env" */
	IR_REQ_WRITE,	/* "write .git/hooks/x" */
	IR_REQ_ARG,	/* "docker-arg --privileged" */
};
struct ir_request {
	struct ir_origin from;
	enum ir_request_kind kind;
	struct str text;     /* as written */
	enum ir_proto proto; /* connect */
	struct str name;     /* connect, resolve; may be empty */
	bool quic;	     /* connect, over UDP: one of QUIC */
	bool has_addr;
	struct addr addr;  /* connect; http, where the URL's name leads */
	bool unresolved;   /* http: to addr, which the name did not lead to */
	uint16_t port;	   /* connect */
	struct str method; /* http */
	struct ir_url url; /* http */
	struct str type;   /* resolve; "A" by default */
	struct str path;   /* read, write */
	struct str arg;	   /* docker-arg */
};
typedef VEC(struct ir_request) ir_requests;
/*
 * `never`: a set of requests that nothing may permit. What is absent leaves
 * nothing out: without dest it is every destination, without ports every port
 * of both protocols, with neither methods nor paths every connection and every
 * request. As it was bound: normalise leaves it alone.
 */
enum ir_never_kind {
	IR_NEVER_NET,	/* dest, ports, methods, paths */
	IR_NEVER_READ,	/* pattern */
	IR_NEVER_WRITE, /* pattern */
	IR_NEVER_ARG,	/* arg: "--privileged", "--network=host" */
};
struct ir_never {
	struct ir_origin from;
	enum ir_never_kind kind;
	bool has_dest;
	struct ir_dest dest;
	ir_ports ports;
	ir_texts methods, paths; /* paths: relative to a URL's, or absolute */
	struct str pattern;	 /* gitignore syntax, no '!' */
	struct str arg;
};
struct ir_tests {
	ir_requests allow, ask, deny;
	VEC(struct ir_never) never;
};

/* --- raw docker arguments, parsed: passes/args.h ---------------------------
 */

/* Whose vector the option goes to: the network namespace is the gate's. */
enum arg_home { ARG_AGENT, ARG_GATE };
enum arg_class {
	ARG_HARMLESS,
	ARG_WIDENING, /* gives the agent more than the policy's own keys do */
	ARG_UNDOING,  /* undoes the sandbox: refused from a workspace */
	ARG_OURS, /* membrane sets it itself (--name, --network, …): refused */
};

/* A published port: -p [ip:][host:]container[/proto], ranges expanded not. */
struct arg_publish {
	struct str text; /* as docker takes it */
	enum ir_proto proto;
	uint16_t lo, hi; /* in the container */
};

struct arg {
	struct ir_origin from; /* of the word that names it */
	struct span
		value_at;  /* the word that holds the value: often the same */
	struct str option; /* long name without dashes */
	bool has_value;
	struct str value; /* with $VAR and $$ still in it */
	enum arg_home home;
	enum arg_class class;
	bool is_publish;
	struct arg_publish publish;
};
typedef VEC(struct arg) arg_list;

/*
 * An entry of `allow_lint`: an exception from a warning. It changes what is
 * printed and nothing that is enforced: no artefact knows of it.
 */
enum ir_waiver_kind { IR_WAIVER_ALL, IR_WAIVER_DEST, IR_WAIVER_TEXT };
struct ir_waiver {
	struct ir_origin from; /* of the warning's name */
	int lint;	       /* enum diag_id */
	enum ir_waiver_kind kind;
	struct str subject; /* canonical text of a destination; or as written */
	struct str reason;
	bool has_until;
	uint32_t until; /* its last day: base/date.h */
	struct span until_at;
};
typedef VEC(struct ir_waiver) ir_waivers;

/*
 * An entry of `refused_on_purpose`: what an agent asks for and does not need.
 * It changes how a refusal is told, and nothing that is enforced.
 */
struct ir_purpose {
	struct ir_origin from;
	struct ir_dest dest; /* IR_DEST_HOST or IR_DEST_PATTERN */
	struct str reason;
};
typedef VEC(struct ir_purpose) ir_purposes;

/*
 * `on_refusal`: a command, a URL, or neither: then nobody but stderr is told.
 * It is about the person and no part of a plan.
 */
struct ir_on_refusal {
	bool set;
	struct ir_origin from;
	ir_texts command; /* its first word is absolute, or begins with "~/" */
	struct ir_text webhook, secret_env; /* empty: none */
};

enum ir_trust { IR_TRUST_ASK, IR_TRUST_ALWAYS, IR_TRUST_NEVER };
typedef IR_OPT(enum ir_trust) ir_opt_trust;

struct ir_policy {
	ir_grants allow, ask, deny;
	ir_patterns ignore, readonly;
	ir_opt_masks masks; /* ir_masks_hold() */
	ir_texts fast; /* folders, relative, no slash at the end; normalised:
			  sorted, and none where masks do not hold */
	ir_opt_resolver resolver;
	ir_opt_tls tls;
	ir_opt_str uplink;
	struct ir_upstream upstream; /* upstream.h */
	ir_opt_str upstream_ca;	     /* a file of PEM; "/…" or "~/…" */
	ir_texts ports;	  /* published.h, as published_text() has them;
			     normalised: sorted, without repeats */
	ir_texts visible; /* visible.h; normalised: by path, a folder before
			     what is in it, without what it holds */
	ir_opt_bool ssl_insecure;
	ir_opt_bool ssh_agent; /* ir_ssh_agent() */
	ir_opt_home home;      /* not set: shared */
	ir_texts args;
	arg_list docker_args; /* args, parsed; set by normalise */
	ir_opt_str image;
	ir_opt_str image_written; /* by a person, not by a preset of ours: the
				     last such; the image may be another's */
	ir_opt_str image_spared;  /* a preset's, which the engine has no use
				     for; the image is the default then */
	ir_opt_engine engine;
	ir_opt_runtime runtime;
	struct ir_hardening hardening;
	VEC(struct ir_protect) protect;
	VEC(struct ir_credential) credentials;
	struct ir_trace trace;
	struct ir_tests tests;
	ir_waivers waivers;
	ir_purposes purposes;
	ir_opt_trust workspace_trust;	 /* global file only */
	struct ir_on_refusal on_refusal; /* the same */
};

/*
 * What `normalised` promises, and ir_verify() checks:
 * - no IR_DEST_POISON; hostnames and cidrs have become allow;
 * - ports of a grant: never empty, sorted, merged, no overlap; 'at' of each
 *   port kept; has_port is false (it moved to ports);
 * - methods and paths sorted, unique, paths absolute and canonical;
 * - two grants with the same canon are one (the earlier origin wins);
 * - allow, ask and deny in the order of canon; canon and id are set;
 * - every IR_OPT that has a default is set (layer LAYER_FLOOR);
 * - trace events expanded, one per name, in order of names;
 * - patterns keep their order: it has meaning.
 */
enum ir_stage { IR_BOUND, IR_MERGED, IR_NORMALISED };

/* Assert the promises of a stage; prints the broken one and exits with 4. */
void ir_verify(const struct ir_policy *p, enum ir_stage stage);

/* Names of the kinds, as plan and policy.json print them. */
const char *ir_proto_name(enum ir_proto p);
const char *ir_scheme_name(enum ir_scheme s);
const char *ir_tls_name(enum ir_tls t);
const char *ir_lasts_name(enum ir_lasts l); /* "once", "session", "always" */
const char *ir_grant_key_name(enum ir_grant_key k); /* "allow", "ask", … */
const char *ir_engine_name(enum ir_engine e);
const char *ir_runtime_name(enum ir_runtime r); /* "runc", "sysbox-runc", … */
const char *ir_masks_name(enum ir_masks m);
const char *ir_home_name(enum ir_home h);
const char *ir_trace_engine_name(enum ir_trace_engine e);

/* Is it runc, which is the default? */
bool ir_runtime_is_runc(const struct ir_policy *p);
/* Is every access judged, whoever wrote it or not? What is not written depends
 * on the runtime: no other than runc can have a view. */
bool ir_masks_hold(const struct ir_policy *p);
/* May a session have the user's ssh-agent sign? */
bool ir_ssh_agent(const struct ir_policy *p);

/*
 * Canonical text of a destination without its port, "*.github.com",
 * "192.0.2.0/24", "https://api.openai.com/v1/"; of ports,
 * "tcp/443,udp/8000-8999"; of one rule of http, "GET,POST /a /b", where '*'
 * is any; of a whole grant. No two normalised grants that differ in meaning
 * have the same text. Names are as they are, not copied.
 */
struct str ir_dest_text(struct arena *a, const struct ir_dest *d);
struct str ir_ports_text(struct arena *a, const ir_ports *ports);
struct str ir_http_text(struct arena *a, const struct ir_http *h);
struct str ir_grant_text(struct arena *a, const struct ir_grant *g);
/* "9.9.9.9:53", "[2620:fe::fe]:53" */
struct str ir_resolver_text(struct arena *a, const struct ir_resolver *r);
/* The text of the ports of a normalised grant, which is in that of it all. */
struct str ir_grant_ports(const struct ir_grant *g);
/* The names that it is about: a name, a pattern, "**" for any; none (empty)
 * for addresses. */
struct str ir_dest_name(const struct ir_dest *d);
/* The network that it is about, in the destination itself; NULL for names. */
const struct cidr *ir_dest_net(const struct ir_dest *d);
/* Is it about the machine that runs membrane, 'host'? That is a network of one
 * address here: compiler/base/agent_link.h. */
bool ir_dest_machine(const struct ir_dest *d);
/* Does a grant speak of it? */
bool ir_allows_machine(const struct ir_policy *p);
/* Is the uplink 'isolated', and is it the name of a network? */
bool ir_uplink_isolated(const struct ir_policy *p);
bool ir_uplink_named(const struct ir_policy *p);
/* Of a native session: whether all that leaves does so by sockets of the
 * machine's own network, and the gate's has no way out; else by a tap. */
bool ir_uplink_sockets(const struct ir_policy *p);
/* Whether it is about requests of that scheme: a URL is about its own's, all
 * others are about both. */
bool ir_dest_has_scheme(const struct ir_dest *d, enum ir_scheme s);
/* Decided by requests and not by packets alone. */
bool ir_grant_http(const struct ir_grant *g);
/*
 * Does a grant by address lead there, on whichever port? To the floor
 * (addr_special()) only one that is more specific than the floor's entry and
 * has no rules of http: for those HAProxy makes the connection, and what is
 * loopback or a link to it is the gate's own. Of 'host' that is meant.
 */
bool ir_grant_reaches(const struct ir_grant *g, const struct addr *addr);
/* How long it is asked about, "60s", "2m": of ask, normalised. */
struct str ir_wait_text(struct arena *a, const struct ir_grant *g);
/* What is never permitted, for people: "POST gist.github.com tcp/443". */
struct str ir_never_text(struct arena *a, const struct ir_never *n);

#endif
