/*
 * One renewal of tokens: the agent's request with the real refresh token, to
 * the URL that the policy names, and what the agent and the gate get of the
 * answer.
 *
 * On the host, in a process of its own that may wait: what is asked for leaves
 * by the uplink that the policy names, else by the host's own network, goes to
 * the address to which the agent went, which the session's resolver gave it,
 * or, where that stands in for a name, to that by the proxy, and over TLS that
 * is verified by the host's roots. Others renew as well: the host's file is
 * read first, under a lock that sessions have in common, and once more behind
 * the answer; what it has anew by then serves. New tokens are in it before
 * anybody else has them. renew_answer(), renew_body() and renew_found() are
 * pure.
 */
#ifndef RUNTIME_LAUNCH_TOKENS_RENEW_H
#define RUNTIME_LAUNCH_TOKENS_RENEW_H

#include "runtime/launch/docker/proxy.h"
#include "runtime/launch/tokens/fields.h"

#define RENEW_BODY_MAX	 65536u /* of the answer */
#define RENEW_ANSWER_MAX 24576u /* of what the agent gets of it */

struct renew_ask {
	const struct vectors *v;
	const struct vectors_values *values; /* what v is filled with */
	uint32_t n;			     /* of v->credentials */
	const struct proxy *proxy;	     /* on the way out; port 0: none */
	const char *home, *lock, *addr;
	bool is_form;
	const char *agent, *body;
	const char *had; /* digest of the access token that the gate has, or
			  * empty: sha256.h */
};

/* What came from the URL. */
struct renew_reply {
	long status;
	struct str body;
};

/* What becomes of it. */
struct renew_done {
	unsigned status;
	cJSON *body;   /* for the agent */
	cJSON *values; /* for the gate, {"2:DIGITS": TOKEN}; NULL: no new ones
			*/
	/* Why new tokens are for the host's file alone; NULL: they are not. */
	const char *unusable;
};

/* What is renewed, and an error as in RFC 6749, section 5.2. */
const struct vectors_credential *renew_credential(const struct renew_ask *ask);
/* Its field with this token, of oauth.h; NULL: none. */
const char *renew_field(const struct vectors_credential *c, const char *member);
cJSON *renew_error(const char *code, const char *what);
/*
 * The body to send: the one that the agent sent, with the real refresh token.
 * False where it is no renewal with the sentinel of this file.
 */
must_check bool renew_body(struct arena *a, const struct renew_ask *ask,
			   const char *secret, struct str *out);
/* Ask the URL; *out has what was said, and of an error what came by then. */
must_check int renew_post(struct arena *a, const struct renew_ask *ask,
			  struct str body, struct renew_reply *out,
			  struct err *err);
/*
 * Take the reply apart: file, the host's, gets the new tokens and their end;
 * now: seconds since 1970. False, with *out the agent's answer all the same,
 * when file is as it was.
 */
bool renew_answer(struct arena *a, const struct renew_ask *ask,
		  const struct renew_reply *reply, cJSON *file, int64_t now,
		  struct str random, struct renew_done *out);
/*
 * No renewal is needed: file has another access token than the one with this
 * digest, and it does not end soon. *out is as if it had been renewed, or says
 * that this session cannot use it.
 */
bool renew_found(struct arena *a, const struct renew_ask *ask, const char *had,
		 cJSON *file, int64_t now, struct str random,
		 struct renew_done *out);
/*
 * All of it. A line of JSON for the gate: {"status":…,"body":"…","values":{…}}.
 * What went wrong on the host alone is said on stderr.
 */
struct str renew_run(struct arena *a, const struct renew_ask *ask);

#endif
