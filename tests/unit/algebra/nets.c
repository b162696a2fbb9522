/*
 * nets.h: the intervals are all addresses, in order, each of one scope and in
 * the same of the networks; and which address is shown.
 */
#include "compiler/algebra/space/nets.h"

#include "compiler/algebra/space/numbers.h"
#include "compiler/base/buf.h"

#include "tests/check.h"

#define NETS_MAX 16u

struct visits {
	struct arena *a;
	struct cidr nets[NETS_MAX];
	uint32_t n;
	struct buf shown; /* of intervals in a network that was added */
	struct addr next; /* where the next interval has to begin */
	bool past;	  /* behind the last address of the family */
};

static void check_interval(struct visits *v, const struct nets_class *c)
{
	uint32_t held = 0, wanted = 0, n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		held |= 1u << c->ids[i];
	for (uint32_t i = 0; i < v->n; i++) {
		bool is_in = cidr_has(&v->nets[i], &c->first);

		wanted |= is_in ? 1u << i : 0;
		n += is_in;
		CHECK(cidr_has(&v->nets[i], &c->last) == is_in);
	}
	CHECK(held == wanted && c->n == n);
	CHECK(addr_scope(&c->first) == c->scope &&
	      addr_scope(&c->last) == c->scope);
	CHECK(addr_cmp(&c->first, &c->shown) <= 0 &&
	      addr_cmp(&c->shown, &c->last) <= 0);
}

/* "first-last=0,1 at SHOWN\n" */
static void show_interval(struct visits *v, const struct nets_class *c)
{
	uint32_t ids[NETS_MAX];
	char text[ADDR_TEXT_MAX];

	if (c->n == 0)
		return;
	memcpy(ids, c->ids, c->n * sizeof(*ids));
	numbers_sort(ids, c->n);
	buf_addf(&v->shown, "%s-", addr_text(&c->first, text));
	buf_addf(&v->shown, "%s=", addr_text(&c->last, text));
	for (uint32_t i = 0; i < c->n; i++)
		buf_addf(&v->shown, i ? ",%u" : "%u", ids[i]);
	buf_addf(&v->shown, " at %s\n", addr_text(&c->shown, text));
}

static void visit_interval(void *ctx, const struct nets_class *c)
{
	struct visits *v = ctx;

	if (v->past) { /* of IPv4: the other family begins */
		CHECK(v->next.family == ADDR_V4);
		v->next = (struct addr){.family = ADDR_V6};
	}
	CHECK(addr_eq(&c->first, &v->next));
	CHECK(addr_cmp(&c->first, &c->last) <= 0);
	v->next = c->last;
	v->past = !addr_step_up(&v->next);
	check_interval(v, c);
	show_interval(v, c);
}

static void visit_nets(struct visits *v, const char *nets)
{
	struct str rest = str_of(nets), word;
	struct nets *n;

	*v = (struct visits){.a = arena_new(), .next.family = ADDR_V4};
	buf_init(&v->shown, v->a);
	n = nets_new(v->a);
	while (str_field(&rest, ' ', &word)) {
		CHECK(cidr_parse(word, &v->nets[v->n]) == CIDR_OK);
		nets_add(n, &v->nets[v->n], v->n);
		v->n++;
	}
	nets_each(n, visit_interval, v);
	CHECK(v->past && v->next.family == ADDR_V6);
}

static const struct {
	const char *nets, *shown;
} cases[] = {
	{"", ""},
	{"1.2.3.4", "1.2.3.4-1.2.3.4=0 at 1.2.3.4\n"},
	{"1.2.3.4 1.2.3.4", "1.2.3.4-1.2.3.4=0,1 at 1.2.3.4\n"},
	{"9.8.6.0/24 9.8.6.128/25", "9.8.6.0-9.8.6.127=0 at 9.8.6.1\n"
				    "9.8.6.128-9.8.6.255=0,1 at 9.8.6.128\n"},
	{"9.8.6.128/25 9.8.6.0/24", "9.8.6.0-9.8.6.127=1 at 9.8.6.1\n"
				    "9.8.6.128-9.8.6.255=0,1 at 9.8.6.128\n"},
	{"9.8.6.0/24 9.8.6.0/25 9.8.6.0/26",
	 "9.8.6.0-9.8.6.63=0,1,2 at 9.8.6.1\n"
	 "9.8.6.64-9.8.6.127=0,1 at 9.8.6.64\n"
	 "9.8.6.128-9.8.6.255=0 at 9.8.6.128\n"},
	{"9.8.6.0/24 9.8.6.64/26 9.8.6.192/26 9.8.6.254/32",
	 "9.8.6.0-9.8.6.63=0 at 9.8.6.1\n"
	 "9.8.6.64-9.8.6.127=0,1 at 9.8.6.64\n"
	 "9.8.6.128-9.8.6.191=0 at 9.8.6.128\n"
	 "9.8.6.192-9.8.6.253=0,2 at 9.8.6.192\n"
	 "9.8.6.254-9.8.6.254=0,2,3 at 9.8.6.254\n"
	 "9.8.6.255-9.8.6.255=0,2 at 9.8.6.255\n"},
	{"9.8.6.0/24 9.8.7.0/24", "9.8.6.0-9.8.6.255=0 at 9.8.6.1\n"
				  "9.8.7.0-9.8.7.255=1 at 9.8.7.1\n"},
	{"9.8.6.0/32 9.8.6.0/31", "9.8.6.0-9.8.6.0=0,1 at 9.8.6.0\n"
				  "9.8.6.1-9.8.6.1=1 at 9.8.6.1\n"},
	{"255.255.255.255/32 240.0.0.0/4",
	 "240.0.0.0-255.255.255.254=1 at 240.0.0.1\n"
	 "255.255.255.255-255.255.255.255=0,1 at 255.255.255.255\n"},
	{"0.0.0.0/0", "0.0.0.0-0.255.255.255=0 at 0.0.0.1\n"
		      "1.0.0.0-9.255.255.255=0 at 1.1.1.1\n"
		      "10.0.0.0-10.255.255.255=0 at 10.0.0.1\n"
		      "11.0.0.0-100.63.255.255=0 at 11.0.0.1\n"
		      "100.64.0.0-100.127.255.255=0 at 100.64.0.1\n"
		      "100.128.0.0-126.255.255.255=0 at 100.128.0.1\n"
		      "127.0.0.0-127.255.255.255=0 at 127.0.0.1\n"
		      "128.0.0.0-169.253.255.255=0 at 128.0.0.1\n"
		      "169.254.0.0-169.254.255.255=0 at 169.254.169.254\n"
		      "169.255.0.0-172.15.255.255=0 at 169.255.0.1\n"
		      "172.16.0.0-172.31.255.255=0 at 172.16.0.1\n"
		      "172.32.0.0-191.255.255.255=0 at 172.32.0.1\n"
		      "192.0.0.0-192.0.0.7=0 at 192.0.0.1\n"
		      "192.0.0.8-192.0.0.255=0 at 192.0.0.8\n"
		      "192.0.1.0-192.167.255.255=0 at 192.0.2.1\n"
		      "192.168.0.0-192.168.255.255=0 at 192.168.1.1\n"
		      "192.169.0.0-198.17.255.255=0 at 192.169.0.1\n"
		      "198.18.0.0-198.19.255.255=0 at 198.18.0.1\n"
		      "198.20.0.0-223.255.255.255=0 at 203.0.113.1\n"
		      "224.0.0.0-239.255.255.255=0 at 224.0.0.1\n"
		      "240.0.0.0-255.255.255.255=0 at 240.0.0.1\n"},
	{"2a00::/16 2a00::1/128",
	 "2a00::-2a00::=0 at 2a00::\n"
	 "2a00::1-2a00::1=0,1 at 2a00::1\n"
	 "2a00::2-2a00:ffff:ffff:ffff:ffff:ffff:ffff:ffff=0 at 2a00::2\n"},
	{"10.0.0.0/8 10.0.0.0/8", "10.0.0.0-10.255.255.255=0,1 at 10.0.0.1\n"},
	{"0.0.0.0/32 ff00::/8",
	 "0.0.0.0-0.0.0.0=0 at 0.0.0.0\n"
	 "ff00::-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff=1 at ff00::1\n"},
	{"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128",
	 "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff-ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff=0 at ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff\n"},
	{"fd00::/8",
	 "fd00::-fd00:6d65:6d61:ffff:ffff:ffff:ffff:ffff=0 at fd00::1\n"
	 "fd00:6d65:6d62::-fd00:6d65:6d62:0:ffff:ffff:ffff:ffff=0 at fd00:6d65:6d62::1\n"
	 "fd00:6d65:6d62:1::-fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff=0 at fd00:6d65:6d62:1::1\n"},
	{"203.0.113.1/32", "203.0.113.1-203.0.113.1=0 at 203.0.113.1\n"},
	{"203.0.113.0/31", "203.0.113.0-203.0.113.1=0 at 203.0.113.1\n"},
	{"203.0.113.2/31", "203.0.113.2-203.0.113.3=0 at 203.0.113.2\n"},
	{"203.0.112.0/24", "203.0.112.0-203.0.112.255=0 at 203.0.112.1\n"},
	{"198.51.100.0/24 192.0.2.0/24",
	 "192.0.2.0-192.0.2.255=1 at 192.0.2.1\n"
	 "198.51.100.0-198.51.100.255=0 at 198.51.100.1\n"},
	{"1.0.0.0/8 8.0.0.0/8", "1.0.0.0-1.255.255.255=0 at 1.1.1.1\n"
				"8.0.0.0-8.255.255.255=1 at 8.8.8.8\n"},
	{"1.1.1.0/24 8.8.8.0/24", "1.1.1.0-1.1.1.255=0 at 1.1.1.1\n"
				  "8.8.8.0-8.8.8.255=1 at 8.8.8.8\n"},
	{"2001:db8::/32 fe80::/64",
	 "2001:db8::-2001:db8:ffff:ffff:ffff:ffff:ffff:ffff=0 at 2001:db8::1\n"
	 "fe80::-fe80::ffff:ffff:ffff:ffff=1 at fe80::1\n"},
	{"7.0.0.0/31", "7.0.0.0-7.0.0.1=0 at 7.0.0.1\n"},
	{"7.0.0.0/32", "7.0.0.0-7.0.0.0=0 at 7.0.0.0\n"},
	{"7.0.1.0/24", "7.0.1.0-7.0.1.255=0 at 7.0.1.1\n"},
	{"2a00::100/120", "2a00::100-2a00::1ff=0 at 2a00::101\n"},
	{"::1/128 ::/128", "::-::=1 at ::\n"
			   "::1-::1=0 at ::1\n"},
	{"8.8.8.0/24 8.8.8.9", "8.8.8.0-8.8.8.8=0 at 8.8.8.8\n"
			       "8.8.8.9-8.8.8.9=0,1 at 8.8.8.9\n"
			       "8.8.8.10-8.8.8.255=0 at 8.8.8.10\n"},
	{"169.254.0.0/16 169.254.169.254",
	 "169.254.0.0-169.254.169.253=0 at 169.254.0.1\n"
	 "169.254.169.254-169.254.169.254=0,1 at 169.254.169.254\n"
	 "169.254.169.255-169.254.255.255=0 at 169.254.169.255\n"},
};

static void check_intervals(void)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct visits v;

		visit_nets(&v, cases[i].nets);
		CHECK_MSG(str_is(buf_str(&v.shown), cases[i].shown),
			  "%s:\n%.*s", cases[i].nets,
			  STR_ARG(buf_str(&v.shown)));
		arena_free(v.a);
	}
}

int main(void)
{
	check_intervals();
	return check_status();
}
