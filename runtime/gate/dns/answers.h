/*
 * What the upstream said lately: answers with addresses, each for as long as
 * all of its records last, as they came and before anybody judged them.
 *
 * Pure, of fixed size, and of bounded answers: when it is full the oldest goes,
 * and all that is lost is a question upstream. Whether a name is granted and
 * which of its addresses may stay is for the caller, at each use anew.
 */
#ifndef RUNTIME_GATE_DNS_ANSWERS_H
#define RUNTIME_GATE_DNS_ANSWERS_H

#include "runtime/gate/wire/dns_msg.h"

#define ANSWERS_MAX	512u
#define ANSWERS_BUCKETS 1024u /* a power of two */
#define ANSWERS_RRS_MAX 32u   /* one of more records is not kept */

struct answers_slot {
	char name[LIMIT_NAME_BYTES + 1]; /* empty: free */
	uint16_t type;
	int32_t next; /* of its bucket; -1: none */
	int64_t born_ms;
	struct dns_answer answer;
};

/* Zeroed by the caller, then answers_init(). */
struct answers {
	struct answers_slot v[ANSWERS_MAX];
	int32_t heads[ANSWERS_BUCKETS];
	uint32_t next; /* slot to take next, in a ring */
};

void answers_init(struct answers *s);
/*
 * This is what is known of q's name and type from now on; what was kept goes.
 * An answer without addresses, with a TTL of 0 or with too many records is not
 * kept. The records are taken from one that is: it has none any more.
 */
void answers_take(struct answers *s, const struct dns_query *q,
		  struct dns_answer *a, int64_t now_ms);
/*
 * What is kept for q, its TTLs less its age, so that none is 0. The records
 * are borrowed until the next call; all else is the caller's.
 */
bool answers_find(const struct answers *s, const struct dns_query *q,
		  int64_t now_ms, struct dns_answer *out);
void answers_clear(struct answers *s);

#endif
