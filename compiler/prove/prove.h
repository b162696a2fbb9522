/*
 * Does a plan do what a policy says? For every packet and every answer of a
 * resolver, by comparing finitely many of them: `check --prove`.
 *
 * On one side stands decide.h, which looks at the policy alone. On the other
 * the bytes that are loaded: ruleset.nft through firewall.h, and names.map
 * through the functions that the gate itself calls with it
 * (runtime/gate/plan/names.h).
 *
 * **Why finitely many are enough.** Neither side can tell two ports apart that
 * lie in the same of all ranges that either of them speaks of. So two ports
 * between which no range begins or ends are decided alike, by both; and whoever
 * compares at each border, and beside it, has compared everywhere. Of addresses
 * the ranges are networks: of the policy, of the sets, of the special registry
 * (addr_special()), and for each network of IPv4 the forms of IPv6 that wrap
 * it. Of names they are patterns, which read labels and ask of each whether it
 * is one that is written somewhere: so one name for each set of patterns that
 * can match together (space/names.h) stands for all, labels that occur nowhere
 * and one label more among them.
 *
 * What is alike on both sides is compared once: places that lie in the same
 * networks, or in networks whose rules do the same, and in the same sets. The
 * rules that are judged by are all of the policy's, in each cell.
 *
 * A name is a dimension of its own: an address that this session resolved for
 * it, or did not; or for two names, where other rules are about one of them
 * than about the other, so that their order counts. Rules ask of each set alone
 * whether it has an address, so that more names say nothing new.
 *
 * Of a plan for Kubernetes also networkpolicy.yaml is held against the policy,
 * through backstop.h: what may leave the Pod has to be let out, and nothing is
 * that the policy without its denials of names and requests would not let out,
 * which is as tight as that language can be. Its cells are borders of its own:
 * networks, ranges of ports, and Pods with the labels that it speaks of. Where
 * the gate is in a Pod of its own no packet is filtered, so that there is no
 * ruleset.nft: names.map and the NetworkPolicies of both Pods are compared.
 *
 * What is not compared is prove_gap().
 */
#ifndef COMPILER_PROVE_PROVE_H
#define COMPILER_PROVE_PROVE_H

#include "compiler/algebra/decide/decide.h"
#include "runtime/gate/plan/names.h"

/* Some seconds at most. */
#define PROVE_CELLS_MAX 8000000u
#define PROVE_STEPS_MAX 200000000u /* to find them: borders times rules */

/* Manifests that say what reaches a Pod, the bytes. */
struct prove_pods {
	struct str network, pod; /* networkpolicy.yaml, pod.yaml */
	struct str gate;	 /* gate.yaml, where it is apart */
	bool apart;
	bool cilium; /* what is applied is in another language */
};

struct prove_in {
	const struct ir_policy *policy; /* IR_NORMALISED */
	struct str ruleset, names; /* ruleset.nft and names.map, the bytes */
	const struct prove_pods *pods; /* NULL: the plan is a machine's */
};

/* What was compared. */
enum prove_scope {
	PROVE_SESSION, /* filter and resolver */
	PROVE_WIRE,    /* and a NetworkPolicy */
	PROVE_CILIUM,  /* and one, beside another that is applied */
	PROVE_APART,   /* resolver and NetworkPolicies */
};

enum prove_end {
	PROVE_AGREES,
	PROVE_DIFFERS,
	PROVE_UNREADABLE, /* an artefact is not in its language */
	PROVE_TOO_LARGE,
};

struct prove_line {
	const char *file; /* the artefact */
	uint32_t line;	  /* from 1; 0: there is no line for it */
	struct str text;
};

struct prove_out {
	enum prove_end end;
	enum prove_scope scope;
	uint64_t cells;		 /* compared */
	uint64_t backstop_cells; /* of them, those of networkpolicy.yaml */
	uint32_t addresses, ports, names; /* borders looked at */
	/* DIFFERS: the packet or question, what the policy says of it and by
	 * which rule, what the artefact does, and by which line. UNREADABLE:
	 * the line, and what is wrong there. */
	struct str subject, wanted, got;
	struct decision want;
	struct prove_line by;
	/* TOO_LARGE: what there is too much of, how much, and the bound. */
	const char *what;
	uint64_t n, max;
};

/* All of *out is in the arena, or points into what was given. */
void prove_plan(struct arena *a, const struct prove_in *in,
		struct prove_out *out);

/* What the gate's verdict about an address of an answer is to the policy. */
enum decide_keep prove_keep_of(enum names_verdict v);

/* What a proof says nothing about, for people; NULL at the end. */
const char *prove_gap(enum prove_scope scope, size_t i);

#endif
