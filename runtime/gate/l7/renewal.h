/*
 * Renewals of tokens: HAProxy asks, the launcher on the host does it.
 *
 * The client (clients.h), gate.lua, writes "N ADDR KIND BYTES\n", a line that
 * says who asks, and a body of so many bytes: N is the credential's number,
 * ADDR where the agent went, KIND form or json. It gets "STATUS BYTES\n" and a
 * body. What it asked is told at once, and answered when the launcher has said
 * what became of it; a client without an answer after RENEWAL_WAIT_MS is
 * dropped.
 */
#ifndef RUNTIME_GATE_L7_RENEWAL_H
#define RUNTIME_GATE_L7_RENEWAL_H

#include "compiler/base/addr.h"
#include "runtime/gate/l7/clients.h"

#define RENEWAL_CLIENTS 4u
#define RENEWAL_ASK_MAX 9216u /* bytes: the lines and the body */
#define RENEWAL_WAIT_MS 60000
#define RENEWAL_POLL	(1 + RENEWAL_CLIENTS)
#define RENEWAL_BODY_MAX                                                       \
	2048u /* that one line to the launcher has room for                    \
	       */

struct renewal_ask {
	uint32_t id, n;
	struct addr addr;
	bool is_form;
	struct str agent, body;
};

/* False: it cannot be told. */
typedef bool renewal_fn(void *data, const struct renewal_ask *ask);

struct renewal {
	struct clients clients;
	struct client slots[RENEWAL_CLIENTS]; /* id: of what was asked */
	char texts[RENEWAL_CLIENTS][RENEWAL_ASK_MAX];
	uint32_t last_id;
};

/* Pure: 1 with *out pointing into text, 0 when more has to come, -1. */
int renewal_parse(struct str text, struct renewal_ask *out);

must_check int renewal_open(struct renewal *r, const char *path,
			    struct err *err);
/* Fill exactly RENEWAL_POLL entries. */
void renewal_poll(const struct renewal *r, struct pollfd *p);
/* After poll, with the same entries. */
void renewal_step(struct renewal *r, const struct pollfd *p, int64_t now_ms,
		  renewal_fn *tell, void *data);
/* To the client with this id, should it be there still. */
void renewal_answer(struct renewal *r, uint32_t id, unsigned status,
		    struct str body);

#endif
