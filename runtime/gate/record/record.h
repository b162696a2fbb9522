/*
 * Lines for the launcher: decisions, readiness, errors, as JSON.
 *
 * Pure: text only; where it goes is outlog.h's.
 */
#ifndef RUNTIME_GATE_RECORD_RECORD_H
#define RUNTIME_GATE_RECORD_RECORD_H

#include "compiler/base/sys/clock.h"
#include "compiler/base/reason.h"
#include "runtime/gate/record/logline.h"
#include "runtime/gate/record/provenance.h"
#include "runtime/gate/wire/dns_msg.h"
#include "runtime/gate/wire/flow_msg.h"
#include "runtime/gate/wire/packet.h"

#define RECORD_MAX	 4096u /* bytes in one line, LF included */
#define RECORD_NAMES_MAX 4u

enum record_kind {
	RECORD_CONNECT,
	RECORD_RESOLVE,
	RECORD_REQUEST,
};

struct record {
	enum record_kind kind;
	bool allow;
	enum reason reason;
	struct timespec time;
	const struct packet *packet;	     /* of a connection; may be NULL */
	const struct addr *addr;	     /* of an answer; may be NULL */
	const char *names[RECORD_NAMES_MAX]; /* the question, or what led to
						the address; newest first */
	unsigned n_names;
	const struct logline *flow; /* what HAProxy told of it; may be NULL */
	bool uncounted;	  /* packets, and the kernel does not count them */
	const char *type; /* of a question; may be NULL */
	struct str id;	  /* the rule that decided; may be empty */
	const struct provenance_rule *rule; /* of it; may be NULL */
	uint32_t generation; /* of the plan that decided; told from 2 on */
};

/* One line with its LF into buf. The length, 0 when it does not fit. */
size_t record_decision(const struct record *r, char buf[RECORD_MAX]);
/*
 * The same line for several decisions that are alike: "count" says how many,
 * time when the last of them was. One that was alone has no count.
 */
size_t record_folded(struct str line, const struct timespec *time,
		     uint64_t count, char buf[RECORD_MAX]);

/*
 * What a question got, for the tracer: by whom it was asked is for that to find
 * out, from the port and the message's number.
 */
#define RECORD_ANSWERS_MAX 16u /* records; further ones are left out */
struct record_answer {
	struct timespec time;
	bool tcp, cut; /* cut: empty, to be asked again by TCP */
	const struct sockaddr_storage *client, *server;
	const struct dns_query *q;
	ldns_pkt_rcode rcode;
	bool refused; /* for this reason */
	enum reason reason;
	size_t bytes;			 /* of the message */
	const struct dns_answer *answer; /* NULL: no records */
};
size_t record_answer(const struct record_answer *r, char buf[RECORD_MAX]);
/* So many of them were not told. */
size_t record_answers_lost(uint64_t n, char buf[RECORD_MAX]);
/* So many lines of any kind had no room, since this was last said. */
size_t record_lost(uint64_t n, char buf[RECORD_MAX]);

/*
 * How much a flow moved that the packet filter passed: the record of its
 * decision came when it began, and has the same proto, addr, port and sport.
 * The length, 0 when it does not fit.
 */
size_t record_end(const struct flow *f, const struct timespec *time,
		  char buf[RECORD_MAX]);
/* The last line: no record follows, and none is missing before it. */
size_t record_done(char buf[RECORD_MAX]);
struct record_ready {
	bool ipv6;
	int64_t ms;
	const char *ca; /* the session's, in PEM; NULL: nothing is decrypted */
	const char *session; /* its name; NULL: who reads this has given it */
	/* Inodes of namespaces, by which a tracer knows the agent's first
	 * program: its network, and the gate's own pids. 0: not known. */
	uint32_t netns, pidns;
};
size_t record_ready(const struct record_ready *r, char buf[RECORD_MAX]);
/* What became of another plan. */
struct record_change {
	uint32_t generation;
	int64_t ms;
	const char *why_not; /* NULL: it is enforced */
};
size_t record_change(const struct record_change *c, char buf[RECORD_MAX]);
/*
 * A piece of the roots that the gate trusts, in PEM, at most RECORD_ROOTS_MAX
 * bytes.
 */
#define RECORD_ROOTS_MAX (RECORD_MAX - 512u)
size_t record_roots(struct str pem, char buf[RECORD_MAX]);
size_t record_error(const char *message, char buf[RECORD_MAX]);
/* The agent asks for new tokens. The length, 0 when it does not fit. */
struct record_renewal {
	uint32_t id, n;
	const struct addr *addr;
	bool is_form;
	struct str agent, body;
};
size_t record_renewal(const struct record_renewal *r, char buf[RECORD_MAX]);

/* What waits for a person's answer, and the end of that. */
struct record_question {
	struct timespec time;
	uint32_t id, wait_s;
	const char *rule;		    /* its id */
	const struct provenance_rule *from; /* of it; may be NULL */
	const char *name;		    /* empty: it is about the address */
	const struct addr *addr;
	uint16_t port, sport;
	bool tls;		   /* of a request: https */
	const char *method, *path; /* empty: it is about the connection */
};
/* The length, 0 when it does not fit. */
size_t record_question(const struct record_question *q, char buf[RECORD_MAX]);
struct record_answered {
	struct timespec time;
	uint32_t id;
	const char *answer; /* asking_end_text() */
};
size_t record_answered(const struct record_answered *r, char buf[RECORD_MAX]);

/*
 * The prefix of a log rule: "membrane:REASON:" or "membrane:allow:", and
 * behind it nothing or the id of the rule. False for anything else.
 */
struct record_prefix {
	bool allow;
	enum reason reason;
	struct str id;
};
bool record_prefix(struct str prefix, struct record_prefix *out);
/*
 * The reason to tell. Where the filter only knows that nothing grants it, this
 * knows whether the address (known: resolved for a granted name, or covered by
 * a network that is granted) would have been right with another port.
 */
enum reason record_reason(const struct record_prefix *p,
			  const struct packet *packet, bool known);

#endif
