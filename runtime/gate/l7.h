/*
 * What the gate has to do with names, methods and paths: everything around
 * HAProxy, for the worker.
 *
 * HAProxy decides, by the plan's gate.cfg and maps; this makes what it needs
 * (the session's CA and leaves, its sockets), starts it, keeps its pins, reads
 * what it logs, and says when it is gone. Without a gate.cfg in the plan it
 * does nothing at all.
 *
 * /run/gate must be there, of group 0 with mode 0770 and of user HAPROXY_UID:
 * nobody else gets near the sockets and keys in it.
 */
#ifndef RUNTIME_GATE_L7_H
#define RUNTIME_GATE_L7_H

#include "runtime/gate/haproxy.h"
#include "runtime/gate/l7log.h"
#include "runtime/gate/pins.h"
#include "runtime/gate/profiles.h"
#include "runtime/gate/signer.h"

#define L7_DIR	     "/run/gate/"
#define L7_ADMIN     L7_DIR "admin.sock"
#define L7_LOG	     L7_DIR "log.sock"
#define L7_SIGNER    L7_DIR "signer.sock"
#define L7_LEAVES    L7_DIR "leaf/"
#define L7_PINS	     "/plan/pins.map"
#define L7_CRTLIST   "/plan/crt.lst"
#define L7_ROOTS     "/etc/ssl/certs/ca-certificates.crt"
#define L7_ROOTS_MAX (4u << 20) /* bytes */
#define L7_SETTLE_MS 60		/* for the last lines of HAProxy */
#define L7_COUNT_MS  5000	/* between two looks at what it dropped */

enum l7_slot {
	L7_SLOT_END,
	L7_SLOT_WORDS,
	L7_SLOT_LOG,
	L7_SLOT_SIGNER,
};
#define L7_POLL (L7_SLOT_SIGNER + SIGNER_POLL)

struct l7 {
	/* Set by the caller with the rest zeroed. */
	const struct names_map *names; /* borrowed */
	l7log_fn *on_line;
	void (*on_lost)(void *data, uint64_t n); /* lines HAProxy dropped */
	void (*on_error)(void *data, const char *message);
	void *data;

	bool wanted;   /* the plan has a gate.cfg */
	bool decrypts; /* and a crt.lst */
	struct str config, crtlist;
	char path[512]; /* of gate.cfg */
	struct profiles profiles;
	struct hello_credentials credentials;
	struct haproxy haproxy;
	struct pins pins;
	struct ca ca;
	struct signer signer;
	int log;
	uint64_t dropped;
	int64_t sweep_ms, count_ms;
};

/* Read the plan's files. */
must_check int l7_load(struct l7 *l, const char *plan, struct err *err);
/* A CA, and the leaves that the plan names, in L7_LEAVES. */
must_check int l7_leaves(struct l7 *l, struct err *err);
/* CA and leaves, sockets, HAProxy; to be called with all capabilities. */
must_check int l7_start(struct l7 *l, struct err *err);
/* Until it answers. */
must_check int l7_wait(struct l7 *l, struct err *err);
/* Fill exactly L7_POLL entries. */
void l7_poll(const struct l7 *l, struct pollfd *p);
/* After poll, with the same entries. -EPIPE when HAProxy has ended. */
must_check int l7_step(struct l7 *l, const struct pollfd *p, int64_t now_ms,
		       struct err *err);
/* How long poll may wait at most. */
int l7_wait_ms(const struct l7 *l, int64_t now_ms);
/* End every connection, read what HAProxy says of them, end it. */
void l7_end(struct l7 *l);

#endif
