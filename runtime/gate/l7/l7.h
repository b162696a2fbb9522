/*
 * What the gate has to do with names, methods and paths: everything around
 * HAProxy, for the worker.
 *
 * HAProxy decides, by the plan's gate.cfg and maps; this makes what it needs
 * (the session's CA and leaves, its sockets), starts it, keeps its pins, reads
 * what it logs, and says when it is gone. Without a gate.cfg in the plan it
 * does nothing at all.
 *
 * /run/gate must be there, of group 0 with mode 0770 and of user GATE_UID:
 * nobody else gets near the sockets and keys in it.
 */
#ifndef RUNTIME_GATE_L7_L7_H
#define RUNTIME_GATE_L7_L7_H

#include "compiler/plan/files.h"
#include "runtime/gate/l7/haproxy.h"
#include "runtime/gate/l7/l7log.h"
#include "runtime/gate/l7/pins.h"
#include "runtime/gate/l7/renewal.h"
#include "runtime/gate/l7/signer.h"
#include "runtime/gate/plan/profiles.h"

#define L7_CRTLIST   GATE_PLAN "/" PLAN_LEAVES
#define L7_SETTLE_MS 20	  /* of silence: its last line was read */
#define L7_CLOSE_MS  2000 /* for HAProxy to close what is open */
#define L7_COUNT_MS  5000 /* between two looks at what it dropped */
#define L7_PAST	     4u	  /* processes that only end what they have */

enum l7_slot {
	L7_SLOT_END,
	L7_SLOT_WORDS,
	L7_SLOT_LOG,
	L7_SLOT_SIGNER,
	L7_SLOT_RENEWAL = L7_SLOT_SIGNER + SIGNER_POLL,
};
#define L7_POLL (L7_SLOT_RENEWAL + RENEWAL_POLL)

/* Its part of a plan. */
struct l7_plan {
	bool wanted;   /* the plan has a gate.cfg */
	bool decrypts; /* and a crt.lst */
	struct str config, crtlist;
	char path[512]; /* of gate.cfg */
	struct profiles profiles;
	uint32_t generation; /* which of the session's plans it is, from 1 */
};

/* A process that takes nothing new, and what its log lines mean. */
struct l7_past {
	struct haproxy haproxy; /* pid 0: free */
	struct profiles profiles;
	uint32_t generation;
	int64_t kill_ms; /* then it has to go; 0: it may end what it has */
};

struct l7 {
	/* Set by the caller with the rest zeroed. */
	const struct names_map *names; /* borrowed */
	l7log_fn *on_line;
	void (*on_lost)(void *data, uint64_t n); /* lines HAProxy dropped */
	void (*on_error)(void *data, const char *message);
	renewal_fn *on_renewal; /* the agent asks for one */
	void *data;

	struct l7_plan plan;
	struct hello_credentials credentials;
	struct haproxy_ports ports;
	struct haproxy haproxy;
	struct haproxy next; /* what is to take its place: l7_next.h */
	struct l7_past past[L7_PAST];
	struct pins pins;
	struct ca ca;
	struct signer signer;
	struct renewal renewal;
	struct l7log log;
	bool serves;	  /* haproxy answers, and takes who comes by its ports */
	int64_t begun_ms; /* when it was started */
	uint64_t dropped;
	int64_t sweep_ms, count_ms;
};

/* Read the plan's files; *out is zeroed. On failure nothing is left. */
must_check int l7_load(struct l7_plan *out, const char *plan, struct err *err);
void l7_plan_free(struct l7_plan *p);
void l7_init(struct l7 *l);
/* A CA where there is none, and the leaves that a plan names, in GATE_LEAVES.
 */
/* GATE_FAILURES, empty: for an HAProxy that is about to start. */
must_check int l7_failures(struct err *err);
/* The session's CA, made now unless there is one. */
must_check int l7_authority(struct l7 *l, struct err *err);
must_check int l7_leaves(struct l7 *l, const struct l7_plan *p,
			 struct err *err);
/*
 * What an HAProxy of this plan finds when it starts: CA and leaves, pins, its
 * ports, the sockets that it talks to. What is there already stays.
 */
must_check int l7_prepare(struct l7 *l, const struct l7_plan *p,
			  struct err *err);
/* All that for l->plan, whose HAProxy begins with l7_begin(), else the first
 * l7_step() or l7_wait(); until it serves, who comes by its ports waits in
 * their queues. */
must_check int l7_start(struct l7 *l, struct err *err);
must_check int l7_begin(struct l7 *l, struct err *err);
/*
 * Is this one there, does it read as it must (reader_probe.h), and has it what
 * was learned since it was prepared? Asks once: 1, or 0 when it is not there
 * yet, or no more: its end is known by the next call (-EPIPE), or by l7_step().
 */
must_check int l7_answers(struct l7 *l, struct haproxy *h,
			  const struct l7_plan *p, struct err *err);
/* Until it serves; at once where it does already. */
must_check int l7_wait(struct l7 *l, struct err *err);
/* Fill exactly L7_POLL entries. */
void l7_poll(const struct l7 *l, struct pollfd *p);
/* After poll, with the same entries. -EPIPE when HAProxy has ended. */
must_check int l7_step(struct l7 *l, const struct pollfd *p, int64_t now_ms,
		       struct err *err);
/*
 * What the launcher says of a renewal, "ID JSON": new values are in HAProxy
 * before the agent has the answer. Negative: the launcher makes no sense, or
 * HAProxy does not answer.
 */
must_check int l7_renewed(struct l7 *l, struct str line, struct err *err);
/* The profiles behind the log lines of a process, and its generation. */
const struct profiles *l7_profiles_of(const struct l7 *l, pid_t pid,
				      uint32_t *out_generation);
/* How long poll may wait at most. */
int l7_wait_ms(const struct l7 *l, int64_t now_ms);
/* Ask HAProxy how many lines it could not send, and report those. */
void l7_count_dropped(struct l7 *l, const char *admin);
/* End every connection that HAProxy has to a server, so that it logs them. */
must_check int l7_shut_down(const char *admin, struct err *err);
/* After that: until all of them are closed, and it has no more to say. */
void l7_hear_out(struct l7 *l, const char *admin);
/* End every connection, read what HAProxy says of them, end it. */
void l7_end(struct l7 *l);

#endif
