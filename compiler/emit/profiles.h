/*
 * What HAProxy is asked to tell apart: profiles.
 *
 * A profile is everything that a grant says of requests but for its name: TCP
 * ports, rules of http, whether TLS is decrypted, whether it opens private
 * addresses. Names map to lists of tokens, "3" a profile, "d2" one of
 * denials, "a4" one of what a person is asked about, "c1" a credential; the
 * rules of gate.cfg speak of tokens.
 * Grants of networks without http are the packet filter's, and here only where
 * something is denied by name or request: compiler/ir/inspection.h.
 */
#ifndef COMPILER_EMIT_PROFILES_H
#define COMPILER_EMIT_PROFILES_H

#include "compiler/emit/emit.h"

enum profile_who { PROFILE_NAME, PROFILE_ANY, PROFILE_ADDR };

struct profile {
	struct str text;  /* what it is told apart by */
	struct str token; /* "3", "d2", "a4" */
	uint32_t number;  /* from 1, as they were found */
	enum profile_who who;
	ir_ports ports;		     /* TCP only, never empty */
	const struct ir_grant *like; /* one of its grants: the rules */
	bool tls, clear;	     /* by which of the two; a URL's scheme */
	bool http;		     /* only what its rules permit, or deny */
	bool bump;		     /* TLS is decrypted */
	bool private;		     /* private addresses too */
};
typedef VEC(struct profile) profile_list;

/* One pattern or network with the token it leads to. */
struct profile_entry {
	struct str name; /* or empty */
	const struct cidr *net;
	struct str token, id;
	const struct ir_origin *from;
	bool bump; /* a leaf for the name is worth having */
};
typedef VEC(struct profile_entry) profile_entries;

struct profiles {
	/* ask: those with the widest answer last. */
	profile_list allow, ask, deny;
	/* By the place of a grant or a denial in the policy; 0: it has none,
	 * else that of its profile in the list, from 1. */
	uint32_t *allow_of, *ask_of, *deny_of;
	/* All of a policy: grants, what is asked, denials, credentials. */
	profile_entries entries;
	bool any_bump; /* something is decrypted */
	bool any_net;  /* networks without http are among them */
};

/* Whether the policy has anything that HAProxy decides. */
bool profiles_wanted(const struct ir_policy *p);
/* Those of the policy, made once for all emitters where they share a memo.
 * NULL, after an error, beyond LIMIT_CLASSES. */
must_check const struct profiles *profiles_make(const struct emit_in *in);
/* The profile of one of the policy's grants or denials; NULL: it has none. */
const struct profile *profiles_of(const struct profiles *p,
				  const struct ir_policy *policy,
				  const struct ir_grant *g);

/* Whether all passes that no denial is about: networks without http. */
bool profiles_net(const struct profile *x);
/* How a name is looked up: '*' alone in front, '**' alone in front. */
bool profiles_star(struct str name);
bool profiles_deep(struct str name);

#endif
