/*
 * Renewals that the agent asks for, one at a time: each is done by a process of
 * its own (renew.h), and its answer goes to the gate.
 *
 * Whoever asks about the same file while one is under way gets the answer of
 * that, and of one that brought new tokens so does whoever asks within
 * RENEWALS_SAME_MS after it: two processes of an agent renew at the same
 * moment. No secret stays in here: of the access token that the gate has it
 * keeps a digest, to know one that somebody else renewed.
 */
#ifndef RUNTIME_LAUNCH_TOKENS_RENEWALS_H
#define RUNTIME_LAUNCH_TOKENS_RENEWALS_H

#include "compiler/base/sha256.h"
#include "compiler/plan/gate.h"
#include "runtime/launch/docker/secrets.h"
#include "runtime/launch/tokens/renew.h"

#include <sys/types.h>

#define RENEWALS_MAX	  8u /* that wait; more are refused */
#define RENEWALS_SAME_MS  10000
#define RENEWALS_TEXT_MAX 2304u

struct renewals_one {
	uint32_t id, n; /* id 0: free */
	bool is_form;
	char addr[64], agent[256], body[RENEWALS_TEXT_MAX];
};

struct renewals_had {
	uint32_t n;	 /* of the credential */
	const char *key; /* "2:DIGITS" of its access token */
	char digest[SHA256_HEX_MAX];
};

/* A line for the gate, with its LF. Negative: it is gone. */
typedef int renewals_tell(void *ctx, struct str line, struct err *err);

struct renewals {
	const struct vectors *v;	     /* borrowed */
	const struct vectors_values *values; /* borrowed */
	struct proxy proxy; /* its login is for as long as this */
	const char *home, *lock;	     /* borrowed */
	renewals_tell *tell;
	void *ctx;
	VEC(struct renewals_had) had;
	struct renewals_one waiting[RENEWALS_MAX];
	uint32_t under_way; /* number of the credential; 0: none */
	pid_t pid;
	int out; /* of the process; -1: none */
	size_t n_text;
	char text[GATE_RENEWED_MAX];
	/* The answer to the last, without values. */
	uint32_t last_n;
	int64_t last_ms;
	size_t n_last;
	char last[GATE_RENEWED_MAX];
};

void renewals_init(struct renewals *r);
/* r->v is set; these are the values that the gate begins with. */
void renewals_know(struct arena *a, struct renewals *r, const secrets *s);
/*
 * The gate's event {"id", "n", "addr", "form", "agent", "body"}.
 *   -EPROTO  it is none
 */
must_check int renewals_ask(struct renewals *r, const cJSON *event,
			    struct err *err);
/* After poll said that r->out can be read, or at any time. */
must_check int renewals_pump(struct renewals *r, struct err *err);
/* End what is under way. */
void renewals_done(struct renewals *r);

#endif
