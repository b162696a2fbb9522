/*
 * What one policy permits and another does not: exact, and with a request that
 * shows it.
 *
 * The space of all requests is cut into cells that no rule of either policy
 * tells apart; one request of each cell is decided by both (ask.h). Settings
 * that permit nothing by themselves are compared in the order from tight to
 * loose, where they have one.
 *
 * Left out: the method CONNECT to an address that the name did not lead to; of
 * what is unchanged, requests to an address under a name that both permit for
 * other reasons than the name or the address alone, and what of them is asked
 * about where the name alone is not; spellings of a path that no rule has,
 * since whatever is said of them is said of one that a rule has, and more; and
 * requests in TLS to another name than the hello's, which are refused where
 * they are seen, so that only what is looked into can make them differ: that is
 * told by itself, as a rule, or as tls.
 */
#ifndef COMPILER_ALGEBRA_COMPARE_COMPARE_H
#define COMPILER_ALGEBRA_COMPARE_COMPARE_H

#include "compiler/algebra/decide/decide.h"

/*
 * How wide a decision is: denied, asked about (once, for a session, for good at
 * most), permitted. More than before is gained, less is lost.
 */
#define ACCESS_LEVELS 5u
unsigned access_level(const struct decision *d);

enum access_way {
	ACCESS_GAINED,
	ACCESS_LOST,
	/* Neither more nor less: another image. Counts as more: fail closed. */
	ACCESS_OTHER,
	/* Both permit it, or have it asked about. Not among the changes. */
	ACCESS_KEPT,
};

enum access_kind {
	ACCESS_CONNECT,
	ACCESS_QUIC, /* connections of QUIC, where others over UDP differ not */
	ACCESS_HTTP,
	ACCESS_RESOLVE,
	ACCESS_READ,
	ACCESS_WRITE,
	ACCESS_ARG,
	ACCESS_SETTING,
	ACCESS_CALL, /* a system call, of profiles of their own: calls.h */
};

/* Requests of HTTP under one path. */
struct access_http {
	struct str path;
	ir_texts methods;
	bool other; /* whatever no rule names, too: shown as '*' */
};

/* A set of connections, requests and questions, as the text says it. */
struct access_set {
	struct ir_dest dest;
	ir_ports ports;
	bool both; /* of names at addresses, where neither alone would tell */
	bool clear, tls; /* HTTP */
	bool crooked;	 /* with paths that are not canonical, and no others */
	bool connect;	 /* of the method CONNECT, and no other */
	bool tunnel;	 /* and no rule names it: one policy reads requests */
	VEC(struct access_http) http;
};

/*
 * Changes come by the rule that is responsible: one new grant is one change,
 * however many names it is about. A change of requests to a destination goes
 * without saying where connections to it changed the same way altogether, and
 * so does one of QUIC beside UDP, one of a name, and one of paths that are not
 * canonical beside any; and one of CONNECT that no rule names, which tells that
 * one of the two alone reads requests, beside others on its ports.
 *
 * What is unchanged comes by the rules that permit it, a pair of them where
 * the two policies have no rule in common that does. Requests go without
 * saying where connections are unchanged, and so do questions beside either.
 */
struct access_change {
	enum access_way way;
	enum access_kind kind;
	/* The set, canonical and short: "tcp/443 *.github.com",
	 * "GET,POST https://api.test/gists", "write /vendor/",
	 * "hardening.pids 4096 -> 8192". What other rules say of parts of it
	 * is not repeated in it. */
	struct str text;
	struct access_set set; /* of ACCESS_CONNECT, _QUIC, _HTTP, _RESOLVE */
	/* One policy has it on another level than the other, or both on one
	 * where it is kept. Settings have none, nor has what a mount lies on
	 * (covers.h). */
	bool has_witness;
	struct ir_request witness;
	/* Of the witness. Where thousands of rules speak of one destination,
	 * the reason of a refusal may be less than the nearest one. */
	struct decision was, is;
	struct ir_origin why; /* the rule responsible */
	bool why_old;	      /* its place is in OLD's sources */
	/* Of what is kept: the rule in OLD that permits it, where it is
	 * another one than in NOW. */
	bool has_before;
	struct ir_origin before;
};

struct comparison {
	VEC(struct access_change) changes; /* by way, kind and text */
	VEC(struct access_change) kept;	   /* by kind and text */
	bool with_kept;			   /* it was asked for */
	uint64_t unchanged; /* grants of NOW within which nothing changed */
	bool same_text;	    /* they say the same in the same words */
};

/*
 * Both IR_NORMALISED, and borrowed by *out. What is too large to be compared
 * (limits.h) is one change ACCESS_OTHER. Every witness is tried on both sides
 * (witness.h); where one does not show what it is to show, that is a bug: it
 * is reported and the program ends with status 4.
 */
void compare_policies(struct arena *a, const struct ir_policy *old,
		      const struct ir_policy *now, struct comparison *out);
/* The same, and what is unchanged: each set that both permit is in kept. */
void compare_whole(struct arena *a, const struct ir_policy *old,
		   const struct ir_policy *now, struct comparison *out);
/* Is anything permitted, or asked about, that was not, or may it be? */
bool compare_widens(const struct comparison *c);
/* Do both permit the same? */
bool compare_equal(const struct comparison *c);

#endif
