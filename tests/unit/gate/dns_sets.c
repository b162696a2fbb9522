/* What the resolver opens in the kernel's sets before an answer leaves: each
 * address in all sets of its name, for as long as it lasts there. */
#include "tests/unit/gate/dns_rig.h"

#include <errno.h>
#include <linux/netlink.h>
#include <sys/syscall.h>

static struct nftset sets;
static struct err err;
/* What the kernel says to the next elements: 0 or a negative errno. */
static int kernel_says;
static struct {
	struct nlmsghdr head;
	struct nlmsgerr said;
} answers[16];
static unsigned n_answers, at_answer;

/* These take the libraries' place in all of this program. */
ssize_t mnl_socket_sendto(const struct mnl_socket *nl, const void *p, size_t n)
{
	const struct nlmsghdr *h = p;
	int left = (int)n;

	CHECK(nl == sets.nl);
	n_answers = at_answer = 0;
	for (; mnl_nlmsg_ok(h, left); h = mnl_nlmsg_next(h, &left)) {
		if (!(h->nlmsg_flags & NLM_F_ACK) ||
		    n_answers == ARRAY_LEN(answers))
			continue;
		answers[n_answers].head = (struct nlmsghdr){
			.nlmsg_len = sizeof(answers[0]),
			.nlmsg_type = NLMSG_ERROR,
			.nlmsg_seq = h->nlmsg_seq,
		};
		answers[n_answers++].said.error = kernel_says;
	}
	return (ssize_t)n;
}

ssize_t recv(int fd, void *to, size_t size, int flags)
{
	if (!sets.nl || fd != mnl_socket_get_fd(sets.nl))
		return syscall(SYS_recvfrom, fd, to, size, flags, NULL, NULL);
	if (at_answer == n_answers) {
		errno = EAGAIN;
		return -1;
	}
	CHECK(size >= sizeof(answers[0]));
	memcpy(to, &answers[at_answer++], sizeof(answers[0]));
	return sizeof(answers[0]);
}

static void begin(const char *head, const char *rest)
{
	rig_open(head, rest);
	memset(&sets, 0, sizeof(sets));
	kernel_says = 0;
	CHECK(nftset_open(&sets, &err) == 0);
	rig.g.sets = &sets;
}

static void end(void)
{
	mnl_socket_close(sets.nl);
	sets.nl = NULL;
	rig_close();
}

/* Until when an address is in the set of that class; 0: it is not. */
static int64_t until_ms(const char *text, uint16_t class)
{
	struct addr a;

	CHECK(addr_parse(str_of(text), &a));
	for (size_t i = 0; i < NFTSET_MIRROR; i++)
		if (sets.mirror[i].class == class &&
		    addr_eq(&sets.mirror[i].addr, &a))
			return sets.mirror[i].until_ms;
	return 0;
}

static void classes(void)
{
	begin("udp", "floor 127.0.0.0/8\nports 1 tcp/443\nports 2 tcp/80\n"
		     "name *.test 1 - g-0000000001\n"
		     "name a.test 2 - g-0000000002\n");
	rig.g.next_exact = UINT32_MAX; /* not by itself */
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A,
			 "a.test 100 IN A 11.0.0.1;a.test 7 IN A 11.0.0.2;"
			 "a.test 100 IN A 127.0.0.1"),
	     "NOERROR 7 11.0.0.1 11.0.0.2");
	CHECK(sets.n_used == 4);
	for (uint16_t k = 1; k <= 2; k++) {
		CHECK(until_ms("11.0.0.1", k) == 1000 + 100000);
		/* a minute at least */
		CHECK(until_ms("11.0.0.2", k) == 1000 + 60000);
	}
	end();
}

/* By whoever goes on for HAProxy they are gone to for longer. */
static void past_the_proxy(void)
{
	begin("proxy udp", "past *.direct.test\nports 1 tcp/443\n"
			   "name **.test 1 - g-0000000001\n");
	CHECK(standins_new(&rig.g.standins, &err) == 0);
	SAID(rig_resolve("a.direct.test", LDNS_RR_TYPE_A,
			 "a.direct.test 100 IN A 11.0.0.1;"
			 "a.direct.test 7 IN A 11.0.0.2"),
	     "NOERROR 7 11.0.0.1 11.0.0.2");
	CHECK(sets.n_used == 4 && until_ms("11.0.0.1", 1) == 1000 + 100000 &&
	      until_ms("11.0.0.2", 1) == 1000 + 60000);
	CHECK(until_ms("11.0.0.1", NAMES_CLASS_PAST) ==
	      1000 + 100000 + PINS_GRACE_MS);
	CHECK(until_ms("11.0.0.2", NAMES_CLASS_PAST) ==
	      1000 + 60000 + PINS_GRACE_MS);
	end();
}

/* The kernel does not take it: the answer does not leave, and it is said whose
 * address that was. */
static void not_taken(void)
{
	begin("udp", "ports 1 tcp/443\nname *.test 1 - g-0000000001\n");
	kernel_says = -ENOSPC;
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A, "a.test 100 IN A 11.0.0.1"),
	     "SERVFAIL");
	CHECK(rig.n_errors == 1 && sets.n_used == 0 && rig.n_told == 0);
	SAID(rig.error,
	     "opening 'a.test': set element: No space left on device");
	CHECK(rig.seen.names[0].due_ms[SEEN_A] == 0);
	/* nor is it kept */
	kernel_says = 0;
	SAID(rig_resolve("a.test", LDNS_RR_TYPE_A, "a.test 100 IN A 11.0.0.1"),
	     "NOERROR 100 11.0.0.1");
	CHECK(rig.n_errors == 1 && sets.n_used == 1);
	end();
}

int main(void)
{
	classes();
	past_the_proxy();
	not_taken();
	return check_status();
}
