/*
 * What a policy says of names and requests, and not of packets alone.
 *
 * A network that is granted without rules of http passes as packets: what is
 * inside is nobody's business, and the packet filter alone is the fast way.
 * Not so where a denial is about a name, a URL, a method: `deny` wins over
 * every grant, so on the ports of such denials HAProxy is asked
 * (doc/semantics.md, sections 1 and 3). What it refuses there is what a denial
 * says, and what might be that and cannot be read:
 *
 *	a name that is denied, in the TLS hello or in a Host
 *	a request that is denied; its TLS is decrypted to see it
 *	a hello of two readings, or one that hides its name (ECH): a name that
 *		is stated, and which one nobody can tell
 *	a malformed request, and one that makes a tunnel (CONNECT, Upgrade)
 *
 * Everything else passes untouched: another name, wherever it resolved to; a
 * hello without a name, which is what TLS to an address looks like and states
 * nothing that is denied (but where a denial of requests is about whatever name
 * or about the address itself, or where the session saw a denied name lead to
 * that address); other protocols, servers that speak first.
 *
 * UDP states no name that the gate reads. QUIC does to the server, and hides it
 * from who is in between (RFC 9001, section 5.2): to networks and to '*' its
 * first packets are refused on the ports of such denials, whichever name is in
 * them. What is denied over TCP, a request or a name on some ports, may go by
 * QUIC to the same number (RFC 9114, section 3.1). Where requests to an address
 * are denied, that holds for names that lead there, too; and where requests to
 * a name are, or some ports of it, for the addresses that the name leads to,
 * whichever name a grant of UDP is about. Where a name is denied whole it does
 * not resolve, and which addresses it has nobody knows.
 */
#ifndef COMPILER_IR_INSPECTION_H
#define COMPILER_IR_INSPECTION_H

#include "compiler/ir/ir.h"

/* Has it TCP ports? Only there anything is looked at. */
bool inspection_has_tcp(const struct ir_grant *g);
/* Is a denial about names or requests over TCP? The floor's are not. */
bool inspection_denies(const struct ir_grant *d);
/* Is it about requests over TLS, which is opened to see them? */
bool inspection_denies_tls(const struct ir_grant *d);
/* The TCP ports on which some denial is; normalised, may be empty. */
ir_ports inspection_ports(struct arena *a, const struct ir_policy *p);
/* Is it one of requests over TLS, or of a name, so that QUIC could be for it on
 * that port? */
bool inspection_quic(const struct ir_grant *d, uint16_t port);
/* The UDP ports of those; normalised, may be empty. */
ir_ports inspection_quic_ports(struct arena *a, const struct ir_policy *p);
/* Is it about requests to names that QUIC could carry, or about names on some
 * ports? */
bool inspection_quic_names(const struct ir_grant *d);
/* Is it that, and can a grant of UDP by name let it through? */
bool inspection_quic_guards(const struct ir_policy *p,
			    const struct ir_grant *d);
/* Its ports as UDP's; normalised. */
ir_ports inspection_quic_same(struct arena *a, const ir_ports *ports);
/* The network at which it denies requests that QUIC could carry, or NULL. */
const struct cidr *inspection_quic_net(const struct ir_grant *d);
/* Is one of the TCP ports the grant's, too? */
bool inspection_meets(const ir_ports *ports, const struct ir_grant *g);
/* Is the TLS of a grant decrypted by itself: doc/semantics.md, section 3. */
bool inspection_decrypts(const struct ir_policy *p, const struct ir_grant *g);
/* The same for the sake of a grant, or of a denial. */
bool inspection_opens(const struct ir_policy *p, const struct ir_grant *g);
/* Is a grant's rule, or its TLS, something that has requests read (N-4)? */
bool inspection_looks(const struct ir_policy *p, const struct ir_grant *g);
/*
 * Does what '*' opens pass the gate without a look inside? Nothing asks for
 * one: no request is decided, no name denied, no header added.
 */
bool inspection_unseen(const struct ir_policy *p);

#endif
