/*
 * The parts of gate.cfg, and what they share. The frontends at the edge look at
 * first bytes (gate_edge.c), a backend at TLS hellos (gate_tls.c), the inner
 * frontend at requests (gate_requests.c), and another backend says why some are
 * refused (gate_answers.c); all of them ask which profiles a name has and
 * whether one of them is reached (gate_match.c). gate_cfg.c puts them together.
 * What no policy changes is in the .cfg file of the same name.
 */
#ifndef COMPILER_EMIT_GATE_GATE_PARTS_H
#define COMPILER_EMIT_GATE_GATE_PARTS_H

#include "compiler/emit/gate/cfg_write.h"
#include "compiler/emit/profiles.h"

struct gate_marks;

struct gate {
	const struct emit_in *in;
	struct cfg c;
	const struct profiles *p;
	bool insecure;
	bool asks; /* some may wait until a person was asked */
	const struct gate_marks *marks;
};

/*
 * Rules are for one of two directives, with variables of one of two scopes:
 * those of the connection in backend tls, those of the request behind it.
 */
struct gate_scope {
	const char *rule;  /* "tcp-request content", "http-request" */
	const char *scope; /* "sess", "txn" */
	unsigned use;	   /* marks.h */
	const struct texts *texts;
};
extern const struct gate_scope gate_scope_tls, gate_scope_request;

/*
 * SCOPE.of_name becomes what is said of SCOPE.name, SCOPE.of_addr what is of
 * the address, SCOPE.net is set where that is granted as such:
 * compiler/ir/inspection.h. ACLs of all that rules ask beside names and ports.
 */
void gate_match_lookup(struct gate *g, const struct gate_scope *at);
/* The ACLs of schemes, where a rule asks for one. */
void gate_match_schemes(struct gate *g, const struct gate_scope *at);
/* The block of a profile: an empty line, and whose it is. */
void gate_match_block(struct gate *g, const struct profile *x);
/* name_3 or network_3, and port_3. */
void gate_match_acls(struct gate *g, const struct profile *x,
		     const struct gate_scope *at);
void gate_match_credential_acls(struct gate *g, const struct gate_scope *at);
/* " name_3 port_3 over_tls": the profile's name, port and scheme. */
void gate_match_aimed(struct gate *g, const struct profile *x);
/* The same, and everything else about a connection that a grant asks for. */
void gate_match_reached(struct gate *g, const struct profile *x);
/* " !network_granted": what grants ask for has no say there; or nothing. */
const char *gate_match_unless_net(const struct gate *g);
/* The beginning of a rule that sets SCOPE.reason, up to "if". */
void gate_match_reason(struct gate *g, const struct gate_scope *at,
		       const char *reason);
/* Why a name is not reached, the telling ones last: decide.c has the order. */
void gate_match_misses(struct gate *g, const struct gate_scope *at);

/* Where connections wait until a person was asked, and the doors behind. */
void gate_ask_put(struct gate *g);
void gate_edge_put(struct gate *g);
void gate_tls_put(struct gate *g);
void gate_requests_put(struct gate *g);
/* " method_3_1", where rule i of http of a profile is not about all. */
void gate_requests_method(struct gate *g, const struct profile *x,
			  const struct ir_http *h, uint32_t i);
void gate_requests_method_acl(struct gate *g, const struct profile *x,
			      const struct ir_http *h, uint32_t i);
/* Where what is refused goes; what is granted is spared these rules. */
void gate_answers_put(struct gate *g);

#endif
