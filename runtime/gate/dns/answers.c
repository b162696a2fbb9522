#include "runtime/gate/dns/answers.h"

#include "compiler/base/hash.h"

#include <string.h>

void answers_init(struct answers *s)
{
	for (size_t i = 0; i < ANSWERS_BUCKETS; i++)
		s->heads[i] = -1;
}

static uint32_t bucket_of(const char *name, uint16_t type)
{
	return hash_mixed(hash_bytes(HASH_SEED ^ type, name, strlen(name))) %
	       ANSWERS_BUCKETS;
}

/* By its answer: a name that has no text is empty. */
static bool is_used(const struct answers_slot *slot)
{
	return slot->answer.rrs != NULL;
}

/* Its slot, or -1. */
static int32_t slot_of(const struct answers *s, const struct dns_query *q)
{
	int32_t at = s->heads[bucket_of(q->name, q->type)];

	while (at >= 0 && (s->v[at].type != q->type ||
			   strcmp(s->v[at].name, q->name) != 0))
		at = s->v[at].next;
	return at;
}

static void forget_slot(struct answers *s, int32_t at)
{
	struct answers_slot *slot = &s->v[at];
	int32_t *p = &s->heads[bucket_of(slot->name, slot->type)];

	while (*p != at)
		p = &s->v[*p].next;
	*p = slot->next;
	dns_msg_done(&slot->answer);
}

/* NXDOMAIN and an empty answer say in another record how long they last. */
static bool is_kept(const struct dns_answer *a)
{
	return a->rcode == LDNS_RCODE_NOERROR && a->n_addrs && a->ttl_s &&
	       ldns_rr_list_rr_count(a->rrs) <= ANSWERS_RRS_MAX;
}

void answers_take(struct answers *s, const struct dns_query *q,
		  struct dns_answer *a, int64_t now_ms)
{
	int32_t at = slot_of(s, q), *head;
	struct answers_slot *slot;

	if (at >= 0)
		forget_slot(s, at);
	if (!is_kept(a))
		return;
	if (at < 0) {
		at = (int32_t)s->next;
		s->next = (s->next + 1) % ANSWERS_MAX;
		if (is_used(&s->v[at]))
			forget_slot(s, at);
	}
	head = &s->heads[bucket_of(q->name, q->type)];
	slot = &s->v[at];
	*slot = (struct answers_slot){.type = q->type,
				      .next = *head,
				      .born_ms = now_ms,
				      .answer = *a};
	memcpy(slot->name, q->name, sizeof(slot->name));
	*head = at;
	a->rrs = NULL;
}

bool answers_find(const struct answers *s, const struct dns_query *q,
		  int64_t now_ms, struct dns_answer *out)
{
	int32_t at = slot_of(s, q);
	/* Rounded up: no time is handed out that upstream did not give. */
	int64_t age_s = at < 0 ? 0 : (now_ms - s->v[at].born_ms + 999) / 1000;

	if (at < 0 || age_s >= s->v[at].answer.ttl_s)
		return false;
	*out = s->v[at].answer;
	out->age_s = (uint32_t)age_s;
	out->ttl_s -= out->age_s;
	for (uint32_t i = 0; i < out->n_addrs; i++)
		out->addrs[i].ttl_s -= out->age_s;
	return true;
}

void answers_clear(struct answers *s)
{
	for (int32_t i = 0; i < (int32_t)ANSWERS_MAX; i++)
		if (is_used(&s->v[i]))
			forget_slot(s, i);
}
