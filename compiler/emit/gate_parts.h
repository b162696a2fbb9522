/*
 * The parts of gate.cfg, and what they share. The frontends at the edge look at
 * first bytes (gate_edge.c), a backend at TLS hellos (gate_tls.c), the inner
 * frontend at requests (gate_requests.c) and says what it refused
 * (gate_answers.c); all of them ask which profiles a name has and whether one
 * of them is reached (gate_match.c). gate_cfg.c puts them together. What no
 * policy changes is in the .cfg file of the same name.
 */
#ifndef COMPILER_EMIT_GATE_PARTS_H
#define COMPILER_EMIT_GATE_PARTS_H

#include "compiler/emit/cfg_write.h"
#include "compiler/emit/profiles.h"

struct gate_marks;

struct gate {
	const struct emit_in *in;
	struct cfg c;
	const struct profiles *p;
	bool insecure;
	const struct gate_marks *marks; /* NULL where nobody asks */
};

/*
 * Rules are for one of two directives, in one of two scopes: "tcp-request
 * content" with variables of the connection ("sess"), "http-request" with those
 * of the request ("txn"). rule: the directive; s: the scope.
 */

/* ACLs of profiles, of addresses and of the scheme. */
void gate_match_acls(struct gate *g, const char *s);
void gate_match_credential_acls(struct gate *g, const char *s);
/* SCOPE.p becomes what is said of SCOPE.name, SCOPE.a what is of the address,
 * SCOPE.net is set where that is granted as such: compiler/ir/inside.h. */
void gate_match_lookup(struct gate *g, const char *rule, const char *s);
/* " n3 p3 tls": the profile's name, port and scheme. */
void gate_match_aimed(struct gate *g, const struct profile *x);
/* The same, and everything else about a connection that a grant asks for. */
void gate_match_reached(struct gate *g, const struct profile *x);
/* " !net": what grants ask for has no say there; or nothing. */
const char *gate_match_unless_net(const struct gate *g);
/* The beginning of a rule that sets SCOPE.reason, up to "if". */
void gate_match_reason(struct gate *g, const char *rule, const char *s,
		       const char *reason);
/* Why a name is not reached, the telling ones last: decide.c has the order. */
void gate_match_misses(struct gate *g, const char *rule, const char *s);

void gate_edge_put(struct gate *g);
void gate_tls_put(struct gate *g);
void gate_requests_put(struct gate *g);
/*
 * The end of the frontend's rules, by which "granted" is known; the backend
 * that refuses the rest; pages for what failed upstream.
 */
void gate_answers_verdict(struct cfg *c);
void gate_answers_refusals(struct cfg *c);
void gate_answers_failures(struct cfg *c);

#endif
