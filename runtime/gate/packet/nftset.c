#include "runtime/gate/packet/nftset.h"

#include "compiler/base/hash.h"
#include "compiler/base/limits.h"
#include "compiler/plan/gate.h"
#include "compiler/plan/names_map.h"
#include "runtime/gate/packet/ruleset.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <libnftnl/common.h>
#include <libnftnl/set.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_BYTES   32768u
#define MESSAGE_BYTES 256u /* more than any message of a batch ever takes */
/* Each is deleted and added, between two more messages. */
#define BATCH_ELEMENTS (BATCH_BYTES / MESSAGE_BYTES / 2 - 1)
/* Beyond its time the kernel may still hold an element for a moment. */
#define SLACK_MS 2000

struct batch {
	/* Aligned for struct nlmsghdr. */
	uint64_t room[BATCH_BYTES / sizeof(uint64_t)];
	size_t n;
	uint32_t last_seq;
};

int nftset_open(struct nftset *s, struct err *err)
{
	s->nl = mnl_socket_open2(NETLINK_NETFILTER, SOCK_CLOEXEC);
	if (!s->nl || mnl_socket_bind(s->nl, 0, MNL_SOCKET_AUTOPID) < 0)
		return err_set(err, -errno, "netlink socket for sets: %s",
			       strerror(errno));
	return 0;
}

static char *batch_at(struct batch *b)
{
	return (char *)b->room + b->n;
}

static void batch_begin(struct batch *b, struct nftset *s)
{
	b->n = 0;
	nftnl_batch_begin(batch_at(b), s->seq++);
	b->n += ((struct nlmsghdr *)(void *)batch_at(b))->nlmsg_len;
}

#define SET_NAME_MAX 32

static void set_name(uint16_t class, enum addr_family family,
		     char out[SET_NAME_MAX])
{
	static const char *const kinds[] = {
		NAMES_MAP_SET_GRANT, NAMES_MAP_SET_HTTP, NAMES_MAP_SET_DENIAL,
		NAMES_MAP_SET_QUIC,  NAMES_MAP_SET_ASK,	 NAMES_MAP_SET_PAST};

	snprintf(out, SET_NAME_MAX, "%s%d_%u",
		 kinds[(class - 1) / LIMIT_CLASSES], (int)family,
		 (class - 1) % LIMIT_CLASSES + 1);
}

/* Add or delete one element; false when out of memory. */
static bool batch_elem(struct batch *b, struct nftset *s, uint16_t msg,
		       const struct nftset_elem *e)
{
	uint16_t flags = msg == NFT_MSG_NEWSETELEM ? NLM_F_CREATE | NLM_F_ACK
						   : NLM_F_ACK;
	struct nftnl_set *set = nftnl_set_alloc();
	struct nftnl_set_elem *el = nftnl_set_elem_alloc();
	struct nlmsghdr *nlh;
	char name[SET_NAME_MAX];

	if (!set || !el) {
		if (set)
			nftnl_set_free(set);
		if (el)
			nftnl_set_elem_free(el);
		return false;
	}
	set_name(e->class, e->addr.family, name);
	nftnl_set_set_str(set, NFTNL_SET_TABLE, GATE_TABLE);
	nftnl_set_set_str(set, NFTNL_SET_NAME, name);
	nftnl_set_elem_set(el, NFTNL_SET_ELEM_KEY, e->addr.b,
			   addr_bits(e->addr.family) / 8u);
	if (msg == NFT_MSG_NEWSETELEM)
		nftnl_set_elem_set_u64(el, NFTNL_SET_ELEM_TIMEOUT,
				       e->ttl_s * UINT64_C(1000));
	nftnl_set_elem_add(set, el);
	b->last_seq = s->seq++;
	nlh = nftnl_nlmsg_build_hdr(batch_at(b), msg, NFPROTO_INET, flags,
				    b->last_seq);
	nftnl_set_elems_nlmsg_build_payload(nlh, set);
	b->n += nlh->nlmsg_len;
	nftnl_set_free(set); /* and el with it */
	return true;
}

/*
 * Every message asks for an answer, and the kernel has queued them all when
 * send returns; the transaction held if none of them is an error.
 */
static int read_acks(struct nftset *s, uint32_t first_seq, uint32_t last_seq,
		     struct err *err)
{
	uint64_t room[4096];
	bool seen_last = false;
	int rc = 0;

	for (;;) {
		ssize_t n = recv(mnl_socket_get_fd(s->nl), room, sizeof(room),
				 MSG_DONTWAIT);
		const struct nlmsghdr *h = (const void *)room;
		int left = (int)n;

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0)
			return err_set(err, -errno, "answer of the kernel: %s",
				       strerror(errno));
		for (; mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left)) {
			const struct nlmsgerr *e = mnl_nlmsg_get_payload(h);

			if (h->nlmsg_type != NLMSG_ERROR ||
			    h->nlmsg_seq - first_seq > last_seq - first_seq)
				continue;
			if (e->error && rc == 0)
				rc = e->error;
			seen_last |= h->nlmsg_seq == last_seq;
		}
	}
	if (rc)
		return err_set(err, rc, "set element: %s", strerror(-rc));
	if (!seen_last)
		return err_set(err, -EPROTO, "no answer from the kernel");
	return 0;
}

static int batch_send(struct batch *b, struct nftset *s, struct err *err)
{
	const struct nlmsghdr *first = (const void *)b->room;

	nftnl_batch_end(batch_at(b), s->seq++);
	b->n += ((struct nlmsghdr *)(void *)batch_at(b))->nlmsg_len;
	if (mnl_socket_sendto(s->nl, b->room, b->n) < 0)
		return err_set(err, -errno, "asking the kernel: %s",
			       strerror(errno));
	return read_acks(s, first->nlmsg_seq, b->last_seq, err);
}

/* One element alone: deleted first when it may be there, else just added. */
static int add_one(struct nftset *s, const struct nftset_elem *e, bool renew,
		   struct err *err)
{
	struct batch b;

	batch_begin(&b, s);
	if ((renew && !batch_elem(&b, s, NFT_MSG_DELSETELEM, e)) ||
	    !batch_elem(&b, s, NFT_MSG_NEWSETELEM, e))
		return err_set(err, -ENOMEM, "out of memory");
	return batch_send(&b, s, err);
}

static uint32_t mirror_hash(const struct addr *addr, uint16_t class)
{
	return hash_mixed(
		hash_bytes(HASH_SEED ^ class, addr->b, sizeof(addr->b)));
}

/* The element's slot in a table, or the free one where it would go. */
static struct nftset_mirror *slot_in(struct nftset_mirror *table,
				     const struct addr *addr, uint16_t class)
{
	uint32_t at = mirror_hash(addr, class);

	for (;; at++) {
		struct nftset_mirror *m = &table[at % NFTSET_MIRROR];

		if (m->until_ms == 0 ||
		    (m->class == class && addr_eq(&m->addr, addr)))
			return m;
	}
}

static struct nftset_mirror *mirror_find(struct nftset *s,
					 const struct nftset_elem *e)
{
	return slot_in(s->mirror, &e->addr, e->class);
}

/* Forget what has long run out. Open addressing: the rest moves. */
static void mirror_sweep(struct nftset *s, int64_t now_ms)
{
	static struct nftset_mirror old[NFTSET_MIRROR];

	memcpy(old, s->mirror, sizeof(old));
	memset(s->mirror, 0, sizeof(s->mirror));
	s->n_used = 0;
	for (size_t i = 0; i < NFTSET_MIRROR; i++) {
		struct nftset_elem e = {old[i].addr, old[i].class, 0};

		if (old[i].until_ms + SLACK_MS <= now_ms)
			continue;
		*mirror_find(s, &e) = old[i];
		s->n_used++;
	}
}

static void mirror_put(struct nftset *s, const struct nftset_elem *e,
		       int64_t now_ms)
{
	struct nftset_mirror *m = mirror_find(s, e);

	if (m->until_ms == 0)
		s->n_used++;
	*m = (struct nftset_mirror){
		.until_ms = now_ms + (int64_t)e->ttl_s * 1000,
		.addr = e->addr,
		.class = e->class,
	};
}

static int add_singly(struct nftset *s, const struct nftset_elem *v, size_t n,
		      struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		bool renew = mirror_find(s, &v[i])->until_ms != 0;
		int rc = add_one(s, &v[i], renew, err);

		if (rc == -ENOENT && renew)
			rc = add_one(s, &v[i], false, err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Send what is in the batch; one by one when something in it has just run out
 * of the set. */
static int flush_batch(struct nftset *s, struct batch *b,
		       const struct nftset_elem *v, size_t n, int64_t now_ms,
		       struct err *err)
{
	int rc = batch_send(b, s, err);

	if (rc == -ENOENT)
		rc = add_singly(s, v, n, err);
	for (size_t i = 0; rc == 0 && i < n; i++)
		mirror_put(s, &v[i], now_ms);
	return rc;
}

int nftset_add(struct nftset *s, const struct nftset_elem *v, size_t n,
	       int64_t now_ms, struct err *err)
{
	struct nftset_elem queued[BATCH_ELEMENTS];
	size_t n_queued = 0;
	struct batch b;
	int rc;

	if (s->n_used + n > NFTSET_MIRROR / 4 * 3)
		mirror_sweep(s, now_ms);
	if (s->n_used + n > NFTSET_MIRROR / 4 * 3)
		return err_set(err, -ENFILE, "too many addresses");
	for (size_t i = 0; i < n; i++) {
		struct nftset_elem e = v[i];
		struct nftset_mirror *m = mirror_find(s, &e);

		if (e.ttl_s < NFTSET_TTL_MIN_S)
			e.ttl_s = NFTSET_TTL_MIN_S;
		if (m->until_ms >= now_ms + (int64_t)e.ttl_s * 1000)
			continue;
		if (n_queued == 0)
			batch_begin(&b, s);
		if ((m->until_ms &&
		     !batch_elem(&b, s, NFT_MSG_DELSETELEM, &e)) ||
		    !batch_elem(&b, s, NFT_MSG_NEWSETELEM, &e))
			return err_set(err, -ENOMEM, "out of memory");
		queued[n_queued++] = e;
		if (n_queued < BATCH_ELEMENTS)
			continue;
		rc = flush_batch(s, &b, queued, n_queued, now_ms, err);
		if (rc < 0)
			return rc;
		n_queued = 0;
	}
	return n_queued ? flush_batch(s, &b, queued, n_queued, now_ms, err) : 0;
}

/* --- another ruleset ------------------------------------------------------ */

void nftset_next(struct nftset *s)
{
	memset(s->next, 0, sizeof(s->next));
	s->n_next = 0;
}

bool nftset_note(struct nftset *s, const struct addr *addr, uint16_t class,
		 int64_t until_ms)
{
	struct nftset_mirror *m = slot_in(s->next, addr, class);

	if (m->until_ms == 0) {
		if (s->n_next >= NFTSET_MIRROR / 4 * 3)
			return false;
		s->n_next++;
	}
	if (until_ms > m->until_ms)
		*m = (struct nftset_mirror){until_ms, *addr, class};
	return true;
}

void nftset_text(const struct nftset *s, int64_t now_ms, struct buf *out)
{
	char name[SET_NAME_MAX], addr[ADDR_TEXT_MAX];

	for (size_t i = 0; i < NFTSET_MIRROR; i++) {
		const struct nftset_mirror *m = &s->next[i];

		if (m->until_ms <= now_ms)
			continue;
		set_name(m->class, m->addr.family, name);
		buf_addf(out,
			 "add element inet " GATE_TABLE
			 " %s { %s timeout %lldms }\n",
			 name, addr_text(&m->addr, addr),
			 (long long)(m->until_ms - now_ms));
	}
}

void nftset_take(struct nftset *s)
{
	memcpy(s->mirror, s->next, sizeof(s->mirror));
	s->n_used = s->n_next;
}
