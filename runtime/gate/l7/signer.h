/*
 * Leaves on first use: HAProxy asks for a name, the gate signs and installs.
 *
 * The client (clients.h) writes "NAME\n" and waits for "ok\n" or "no\n". A
 * leaf is made only for a name that the policy lets resolve, or that a denial
 * of requests is about, since HAProxy is not to be believed more than it must:
 * names.h and profiles.h are asked again. At most SIGNER_LEAVES are there at a
 * time, the oldest goes first.
 */
#ifndef RUNTIME_GATE_L7_SIGNER_H
#define RUNTIME_GATE_L7_SIGNER_H

#include "runtime/gate/l7/ca.h"
#include "runtime/gate/l7/clients.h"
#include "runtime/gate/plan/names.h"
#include "runtime/gate/plan/profiles.h"

#define SIGNER_CLIENTS 16u
#define SIGNER_LEAVES  2048u
#define SIGNER_IDLE_MS 3000
#define SIGNER_POLL    (1 + SIGNER_CLIENTS)

struct signer {
	/* Borrowed, set by the caller with the rest zeroed. */
	const struct ca *ca;
	const struct names_map *names;
	const struct profiles *profiles;
	const char *admin; /* HAProxy's runtime socket */
	const char *list;  /* its crt-list */
	const char *dir;   /* of the leaves' files, with a '/' at the end */

	struct clients clients;
	struct client slots[SIGNER_CLIENTS];
	char lines[SIGNER_CLIENTS][LIMIT_NAME_BYTES + 2];
	char leaves[SIGNER_LEAVES][LIMIT_NAME_BYTES + 1]; /* a ring */
	uint32_t next;
};

must_check int signer_open(struct signer *s, const char *path, struct err *err);
/* Fill exactly SIGNER_POLL entries. */
void signer_poll(const struct signer *s, struct pollfd *p);
/* After poll, with the same entries. -1 and *err when a leaf could not be
 * made: its client was told so, the session goes on. */
must_check int signer_step(struct signer *s, const struct pollfd *p,
			   int64_t now_ms, struct err *err);

#endif
