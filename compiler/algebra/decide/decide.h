/*
 * The one decision function: doc/semantics.md, section 6.
 *
 * What the packet filter, the resolver and the mounts enforce, said a second
 * time and straight from the policy; the oracles compare the two. Everything
 * takes a policy that is IR_NORMALISED and looks at it alone: what the host's
 * own addresses are, and what a name resolves to, is the caller's to say.
 */
#ifndef COMPILER_ALGEBRA_DECIDE_DECIDE_H
#define COMPILER_ALGEBRA_DECIDE_DECIDE_H

#include "compiler/base/arena.h"
#include "compiler/base/reason.h"
#include "compiler/ir/ir.h"

/* In the order of width: what is more permits all that is less. */
enum verdict {
	VERDICT_DENY,
	VERDICT_ASK, /* of ask.h alone: a person may permit it */
	VERDICT_ALLOW,
};
/* "allow", "ask", "deny" */
const char *verdict_name(enum verdict v);

struct decision {
	enum verdict verdict;
	enum reason reason;
	/* What decided, or the grant that came nearest; may be NULL. Of what is
	 * asked, the entry with the widest answer. */
	const struct ir_grant *grant;
	const struct ir_pattern *pattern; /* of read and write */
};

/*
 * The decisions below are about what is permitted without a word of anybody:
 * they do not look at `ask`, but for those of ask.h, which has all three.
 */

struct decide_flow {
	enum ir_proto proto;
	uint16_t port;
	bool has_addr;
	struct addr addr;
	bool is_host;	 /* addr is one of the host's own */
	bool is_quic;	 /* a first packet of QUIC */
	struct str name; /* that the address was resolved for, canonical, or
			    empty; alone: as if it led to a public address */
};

/* May the agent open this flow? */
struct decision decide_connect(const struct ir_policy *p,
			       const struct decide_flow *flow);
/*
 * Is QUIC there refused for whatever denial of a name or of requests has its
 * port, whomever that is about? compiler/ir/inspection.h
 */
bool decide_quic_blind(const struct ir_policy *p,
		       const struct decide_flow *flow);

/*
 * A request of HTTP, or with a TLS hello alone: what HAProxy is asked, and what
 * passes without it (compiler/ir/inspection.h).
 *
 * host and sni are canonical names (lower case, no dot at the end), or empty;
 * an address in host, too. path is the target as it was sent, with its query.
 */
struct decide_request {
	bool tls;
	uint16_t port;
	bool has_addr;
	struct addr addr;
	bool is_pinned;	 /* this session resolved the name to addr; as if so
			    where has_addr is not set */
	bool is_guarded; /* a name that is denied there led to addr */
	struct str sni;	 /* tls */
	bool only_hello; /* nothing behind the hello is looked at yet */
	struct str host, method, path;
};
struct decision decide_request(struct arena *a, const struct ir_policy *p,
			       const struct decide_request *r);
/* Is the TLS of that name on that port decrypted, when it is granted? */
bool decide_decrypts(const struct ir_policy *p, const struct decide_request *r);
/*
 * Is the path, without its query, spelled in the one way that rules use?
 * doc/semantics.md, section 3.
 */
bool decide_path_canonical(struct str path);
/* What denials compare: the path with its escapes decoded. */
struct str decide_path_decoded(struct arena *a, struct str path);

/* Does the resolver answer? type as in zone files: "A", "TXT". */
struct decision decide_resolve(const struct ir_policy *p, struct str name,
			       struct str type);

/* What the resolver does with an address in the answer for a name. */
enum decide_keep {
	DECIDE_DROP_FLOOR,   /* never in an answer */
	DECIDE_DROP_PRIVATE, /* private, neither covered nor granted */
	DECIDE_KEEP_COVERED, /* kept for a cidr grant, which has the ports */
	DECIDE_KEEP_OPEN,    /* kept, and open on the ports of the name */
};
enum decide_keep decide_answer(const struct ir_policy *p, struct str name,
			       const struct addr *addr);

/* Why the policy refuses a name on purpose; empty: it does not say so. policy:
 * a struct ir_policy, for those who hand it on and do not know of one. */
struct str decide_purpose(const void *policy, struct str name);

/* What decisions of a policy take that is made once: its patterns compiled,
 * and where it asks, its grants with room for one more. */
struct decide_files;
struct decide_files *decide_files_new(struct arena *a,
				      const struct ir_policy *p);
/* A copy of the grants with room for one behind them. */
struct ir_grant *decide_room(struct arena *a, const struct ir_policy *p);
/* The one that there is, borrowed: whoever uses the room needs it until the
 * next does. NULL: f is NULL, or of a policy with other grants. */
struct ir_grant *decide_files_room(const struct decide_files *f,
				   const struct ir_policy *p);
/*
 * May the agent read or write this path, relative to the workspace? A '/' at
 * its end says that it is a directory.
 */
struct decision decide_read(const struct decide_files *f, struct str path);
struct decision decide_write(const struct decide_files *f, struct str path);
/*
 * May whatever process but the one that `protect` names open this path,
 * relative to the agent's home?
 */
struct decision decide_home(const struct decide_files *f, struct str path);

#endif
