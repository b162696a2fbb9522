/*
 * Emitters: a normalised policy in, the text of one artefact out.
 *
 * An emitter reads the IR and fills a buffer: no files, no sockets, no
 * globals, no clock. What its language cannot express is an error at that
 * node's span, never left out. Strings of the policy go through the typed
 * writers of the artefact's language, which refuse what cannot be quoted.
 */
#ifndef COMPILER_EMIT_EMIT_H
#define COMPILER_EMIT_EMIT_H

#include "compiler/base/buf.h"
#include "compiler/base/diag.h"
#include "compiler/emit/marks.h"
#include "compiler/ir/ir.h"
#include "compiler/plan/plan.h"

/* What one emitter made and others need, too: part of it may be absent. */
struct emit_memo {
	const struct profiles *profiles; /* profiles_make() */
};

struct places;
struct kube_options;

/* Which grants or denials made one thing. */
typedef VEC(const struct ir_grant *) emit_members;

struct emit_in {
	const struct ir_policy *policy; /* IR_NORMALISED */
	const struct sources *sources;
	struct diags *diags;
	struct arena *a;
	struct marks *marks;	/* NULL: nobody asks where lines came from */
	struct emit_memo *memo; /* NULL: each makes its own */
	bool unwritten;		/* of emit_all(): only what may refuse */
	const struct places *places; /* NULL: rules are where they stand */
	const struct kube_options *kubernetes; /* NULL: for one machine */
	bool apart; /* the agent is in another Pod, behind no packet filter */
	const struct plan *made; /* of emit_all(): what there is already */
};

/* What an artefact is for. */
enum emit_for {
	EMIT_FOR_ALL,
	EMIT_FOR_FILTER,     /* where packets go through the gate */
	EMIT_FOR_MACHINE,    /* an engine's, here */
	EMIT_FOR_KUBERNETES, /* out of the policy alone */
	EMIT_FOR_PLAN,	     /* of Kubernetes: after the rest, which it reads */
	EMIT_FOR_WIRE,	     /* the same, of a gate in the agent's Pod */
	EMIT_FOR_APART,	     /* the same, of a gate in a Pod of its own */
	EMIT_FOR_CILIUM,     /* the same, where its network is Cilium's */
};

struct emitter {
	const char *name; /* --emit=NAME */
	const char *file; /* the artefact's name, and its expected file's */
	bool (*emit)(const struct emit_in *in, struct buf *out);
	/* NULL: always; else whether this policy has the artefact at all */
	bool (*wanted)(const struct ir_policy *policy);
	bool takes_all; /* it refuses no policy */
	enum emit_for target;
};

/* The registry, by hand, in the order of names; NULL at the end. */
const struct emitter *emitter_at(size_t i);

/* All wanted artefacts into *out; false when any emitter refused. With
 * in->unwritten without those whose emitters never do. */
must_check bool emit_all(const struct emit_in *in, struct plan *out);

/*
 * Port classes, shared by ruleset.nft and names.map: the distinct port lists
 * of the policy's grants without http, numbered from 1 in canonical order.
 * Grants of URLs have none: they are for the HTTP part.
 */
struct emit_class {
	ir_ports ports;
	struct str text; /* ir_grant_ports() */
	bool has_name;	 /* a name leads to addresses of this class */
	bool has_any;
	/* The same of grants that only HTTP and TLS may use. */
	bool has_http, has_anyhttp;
};
typedef VEC(struct emit_class) emit_classes;
/* False, after an error, beyond LIMIT_CLASSES. */
must_check bool emit_classes_make(const struct emit_in *in, emit_classes *out);
/* Likewise for the denials that the packet filter holds: networks, '*' with
 * ports, and names with ports, whose addresses only HTTP and TLS may reach on
 * those. The floor's are not among them. */
must_check bool emit_denials_make(const struct emit_in *in, emit_classes *out);
/* And for denials of requests to names that QUIC could carry past HAProxy:
 * inspection_quic_guards(). Their ports are TCP's, as they were written. */
must_check bool emit_quics_make(const struct emit_in *in, emit_classes *out);
/* And for what a person is asked about: with and without http alike. */
must_check bool emit_asks_make(const struct emit_in *in, emit_classes *out);
uint32_t emit_quic_of(const emit_classes *classes, const struct ir_grant *d);
/* The class with the ports of a grant or denial, from 1; 0: there is none. */
uint32_t emit_class_of(const emit_classes *classes, const struct ir_grant *g);

/*
 * Where the element of that text is, or belongs, among n that are sorted by
 * theirs. texts: the first one's; stride: from one to the next, in bytes.
 */
uint32_t emit_place(const struct str *texts, size_t stride, uint32_t n,
		    struct str text);

#endif
