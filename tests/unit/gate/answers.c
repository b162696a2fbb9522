/* What is kept of the upstream's answers: which, for how long, how many. */
#include "runtime/gate/dns/answers.h"

#include "tests/check.h"

#include <malloc.h>
#include <string.h>
#include <sys/mman.h>

static struct answers kept;
static struct addr addr = {ADDR_V4, {192, 0, 2, 1}};

static struct dns_query question_for(const char *name, uint16_t type)
{
	struct dns_query q;

	CHECK(dns_msg_query_for(name, type, &q));
	return q;
}

static void keep_address(const char *name, uint32_t ttl_s, int64_t now_ms)
{
	struct dns_query q = question_for(name, LDNS_RR_TYPE_A);
	struct dns_answer a;

	dns_msg_known(&q, &addr, ttl_s, &a);
	answers_take(&kept, &q, &a, now_ms);
	dns_msg_done(&a);
}

/* The least TTL that is handed out; 0: nothing is kept. */
static uint32_t ttl_of(const char *name, uint16_t type, int64_t now_ms)
{
	struct dns_query q = question_for(name, type);
	struct dns_answer a;

	if (!answers_find(&kept, &q, now_ms, &a))
		return 0;
	CHECK(a.n_addrs && a.addrs[0].ttl_s >= a.ttl_s);
	return a.ttl_s;
}

static uint32_t a_ttl_of(const char *name, int64_t now_ms)
{
	return ttl_of(name, LDNS_RR_TYPE_A, now_ms);
}

/* */
static void ages(void)
{
	struct dns_query q = question_for("a.test", LDNS_RR_TYPE_A);
	struct dns_shown shown;
	struct dns_answer a;
	uint8_t out[512];

	CHECK(a_ttl_of("a.test", 1000) == 0);
	keep_address("a.test", 7, 1000);
	CHECK(a_ttl_of("a.test", 1000) == 7);
	CHECK(a_ttl_of("a.test", 1001) == 6);
	CHECK(a_ttl_of("a.test", 2000) == 6);
	CHECK(a_ttl_of("a.test", 2001) == 5);
	CHECK(a_ttl_of("a.test", 7000) == 1);
	CHECK(a_ttl_of("a.test", 7001) == 0);
	CHECK(a_ttl_of("a.test", 800000) == 0);
	/* in what is sent and told, too */
	CHECK(answers_find(&kept, &q, 5000, &a));
	CHECK(a.addrs[0].ttl_s == 3 && a.ttl_s == 3 && a.age_s == 4);
	CHECK(dns_msg_show(&a, &shown, 1) == 1 && shown.ttl_s == 3);
	CHECK(dns_msg_reply(&q, a.rcode, &a, false, out, sizeof(out)) > 12);
	q.id = 0;
	CHECK(dns_msg_answer(out,
			     dns_msg_reply(&q, a.rcode, &a, false, out, 512),
			     &q, 0, &a) == DNS_MSG_GOT_ANSWER);
	CHECK(a.ttl_s == 3 && addr_eq(&a.addrs[0].addr, &addr));
	dns_msg_done(&a);
	/* another one takes its place */
	keep_address("a.test", 9, 5000);
	CHECK(a_ttl_of("a.test", 5000) == 9);
}

static void keys(void)
{
	struct dns_query q = question_for("A.tesT", LDNS_RR_TYPE_AAAA);
	struct dns_answer a;

	keep_address("key.test", 60, 0);
	CHECK(a_ttl_of("KEY.test", 0) == 60);
	CHECK(a_ttl_of("a.key.test", 0) == 0 && a_ttl_of("key.tes", 0) == 0);
	CHECK(ttl_of("key.test", LDNS_RR_TYPE_AAAA, 0) == 0);
	dns_msg_known(&q, &addr, 30, &a);
	answers_take(&kept, &q, &a, 0);
	CHECK(!a.rrs && ttl_of("a.test", LDNS_RR_TYPE_AAAA, 0) == 30);
	CHECK(ttl_of("a.test", LDNS_RR_TYPE_TXT, 0) == 0);
}

/* What came last counts, also when that is nothing to keep. */
/* */
static void not_kept(void)
{
	struct dns_query q = question_for("no.test", LDNS_RR_TYPE_A);
	struct dns_answer a;

	for (unsigned what = 0; what < 4; what++) {
		keep_address("no.test", 60, 0);
		CHECK(a_ttl_of("no.test", 0) == 60);
		dns_msg_known(&q, &addr, 60, &a);
		for (unsigned i = 0; what == 0 && i < ANSWERS_RRS_MAX; i++)
			CHECK(ldns_rr_list_push_rr(
				a.rrs,
				ldns_rr_clone(ldns_rr_list_rr(a.rrs, 0))));
		if (what == 1)
			a.rcode = LDNS_RCODE_NXDOMAIN;
		if (what == 2)
			a.ttl_s = 0;
		if (what == 3)
			a.n_addrs = 0;
		answers_take(&kept, &q, &a, 0);
		CHECK(a.rrs && a_ttl_of("no.test", 0) == 0);
		dns_msg_done(&a);
	}
}

/* The oldest goes; a bucket's others are found all the same. */
static void bounded(void)
{
	size_t before;
	char name[32];

	answers_clear(&kept);
	CHECK(a_ttl_of("a.test", 0) == 0);
	for (unsigned i = 0; i < ANSWERS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		keep_address(name, 60 + i, 0);
	}
	for (unsigned i = 0; i < ANSWERS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		CHECK(a_ttl_of(name, 0) == (i < 100 ? 0 : 60 + i));
	}
	/* what goes is gone from memory, too */
	before = mallinfo2().uordblks;
	for (unsigned i = 0; i < ANSWERS_MAX; i++) {
		snprintf(name, sizeof(name), "m%u.test", i);
		keep_address(name, 60, 0);
	}
	CHECK(mallinfo2().uordblks < before + 16384);
	answers_clear(&kept);
	for (unsigned i = 0; i < ANSWERS_MAX + 100; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		CHECK(a_ttl_of(name, 0) == 0);
	}
	answers_clear(&kept);
}

/* Of a name that has no text, as fuzzing found: it is not kept for ever. */
static void nameless(void)
{
	struct dns_query q = question_for("x.test", LDNS_RR_TYPE_A);
	struct dns_answer a;

	q.name[0] = '\0';
	dns_msg_known(&q, &addr, 60, &a);
	answers_take(&kept, &q, &a, 0);
	CHECK(answers_find(&kept, &q, 0, &a));
	answers_clear(&kept);
	CHECK(!answers_find(&kept, &q, 0, &a));
}

static void begin(void)
{
	answers_clear(&kept);
	memset(&kept, 0, sizeof(kept));
	answers_init(&kept);
}

/* What is known already takes its own place: nothing else goes for it. */
static void renewed(void)
{
	const unsigned first = ANSWERS_MAX; /* in the first slot by now */
	char name[32];

	begin();
	for (unsigned i = 0; i < ANSWERS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		keep_address(name, 60, 0);
	}
	snprintf(name, sizeof(name), "n%u.test", first);
	for (unsigned i = 0; i < 3; i++) {
		keep_address(name, 60, 1000);
		keep_address("n77.test", 60, 1000);
	}
	for (unsigned i = 5; i < ANSWERS_MAX + 5; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		CHECK_MSG(a_ttl_of(name, 1000) ==
				  (i == first || i == 77 ? 60 : 59),
			  "%s", name);
	}
	answers_clear(&kept);
}

/* Who shares a bucket is told apart, also from what is in the first slot: of so
 * many names some do. */
static void shared_buckets(void)
{
	const unsigned many = 16 * ANSWERS_BUCKETS;
	char name[32];

	begin();
	keep_address("first.test", 60, 0);
	for (unsigned i = 0; i < many; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		CHECK_MSG(a_ttl_of(name, 0) == 0, "%s", name);
		keep_address(name, 60, 0);
		CHECK_MSG(a_ttl_of(name, 0) == 60, "%s", name);
		CHECK_MSG(ttl_of(name, LDNS_RR_TYPE_AAAA, 0) == 0, "%s", name);
	}
	answers_clear(&kept);
}

/* Of what is not kept no slot is read, also none before the first. */
static void no_slot(void)
{
	const size_t page = 65536; /* at least one, and a slot */
	const size_t size = page + sizeof(struct answers);
	char *p =
		mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct dns_query q = question_for("a.test", LDNS_RR_TYPE_A);
	struct answers *s = (void *)(p + page);
	struct dns_answer a;

	CHECK(sizeof(struct answers_slot) <= page);
	CHECK(p != MAP_FAILED &&
	      mprotect(s, sizeof(*s), PROT_READ | PROT_WRITE) == 0);
	answers_init(s);
	CHECK(!answers_find(s, &q, 0, &a));
	CHECK(munmap(p, size) == 0);
}

int main(void)
{
	answers_init(&kept);
	ages();
	keys();
	not_kept();
	bounded();
	nameless();
	renewed();
	shared_buckets();
	no_slot();
	return check_status();
}
