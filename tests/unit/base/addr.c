#include "compiler/base/addr.h"

#include "tests/check.h"

#include <string.h>

static const struct {
	const char *text;
	enum cidr_fault fault;
	const char *out; /* canonical, or with its host bits cleared */
} nets[] = {
	{"192.0.2.1", CIDR_OK, "192.0.2.1/32"},
	{"192.0.2.0/24", CIDR_OK, "192.0.2.0/24"},
	{"0.0.0.0/0", CIDR_OK, "0.0.0.0/0"},
	{"::/0", CIDR_OK, "::/0"},
	{"2001:DB8::/32", CIDR_OK, "2001:db8::/32"},
	{"::ffff:1.2.3.4", CIDR_OK, "::ffff:1.2.3.4/128"},
	{"192.0.2.1/24", CIDR_HOST_BITS, "192.0.2.0/24"},
	{"255.255.255.255/1", CIDR_HOST_BITS, "128.0.0.0/1"},
	{"2001:db8::1/64", CIDR_HOST_BITS, "2001:db8::/64"},
	{"192.0.2.0/33", CIDR_BAD_BITS, NULL},
	{"192.0.2.0/024", CIDR_BAD_BITS, NULL},
	{"192.0.2.0/00", CIDR_BAD_BITS, NULL},
	{"192.0.2.0/", CIDR_BAD_BITS, NULL},
	{"192.0.2.0/+8", CIDR_BAD_BITS, NULL},
	{"192.0.2.0/24/8", CIDR_BAD_BITS, NULL},
	{"::/129", CIDR_BAD_BITS, NULL},
	{"192.0.2", CIDR_BAD_ADDRESS, NULL},
	{"192.0.2.256", CIDR_BAD_ADDRESS, NULL},
	{"192.0.02.1", CIDR_BAD_ADDRESS, NULL},
	{"0x7f.1", CIDR_BAD_ADDRESS, NULL},
	{"", CIDR_BAD_ADDRESS, NULL},
	{"::1%lo", CIDR_BAD_ADDRESS, NULL},
	{"fe80::1::2", CIDR_BAD_ADDRESS, NULL},
	{"[::1]", CIDR_BAD_ADDRESS, NULL},
};

static void check_parse(void)
{
	struct addr a;
	char text[CIDR_TEXT_MAX];

	for (size_t i = 0; i < ARRAY_LEN(nets); i++) {
		struct cidr c;

		CHECK_MSG(cidr_parse(str_of(nets[i].text), &c) == nets[i].fault,
			  "%s", nets[i].text);
		if (nets[i].out)
			CHECK_MSG(!strcmp(cidr_text(&c, text), nets[i].out),
				  "%s", text);
	}
	CHECK(!addr_parse((struct str){"1.2.3.4\0", 8}, &a));
	CHECK(!addr_parse(str_of("1111:1111:1111:1111:1111:1111:1111:1111:1111:"
				 "1111:1111:1111"),
			  &a));
}

static struct addr at(const char *text)
{
	struct addr a = {0};

	CHECK_MSG(addr_parse(str_of(text), &a), "%s", text);
	return a;
}

static struct cidr net(const char *text)
{
	struct cidr c = {0};

	CHECK_MSG(cidr_parse(str_of(text), &c) == CIDR_OK, "%s", text);
	return c;
}

static void check_nets(void)
{
	struct cidr a = net("10.0.0.0/8"), b = net("10.1.0.0/16");
	struct cidr all = net("0.0.0.0/0"), all6 = net("::/0");
	struct addr in = at("10.1.2.3"), out = at("11.0.0.0");

	CHECK(cidr_has(&a, &in) && !cidr_has(&a, &out));
	CHECK(cidr_covers(&a, &b) && !cidr_covers(&b, &a));
	CHECK(cidr_covers(&a, &a) && cidr_covers(&all, &a));
	CHECK(!cidr_covers(&all6, &a) && !cidr_has(&all6, &in));
	CHECK(cidr_cmp(&a, &b) < 0 && cidr_cmp(&all, &all6) < 0);
	CHECK(cidr_cmp(&a, &a) == 0);
}

static void check_steps(void)
{
	struct cidr all = net("::/0"), one = net("10.0.0.0/30");
	struct addr a = at("10.0.0.255"), b = at("10.0.1.0");
	struct addr last = at("255.255.255.255"), first = at("::");

	CHECK(addr_step_up(&a) && addr_eq(&a, &b));
	CHECK(addr_step_down(&a) && !addr_eq(&a, &b));
	CHECK(!addr_step_up(&last) && !addr_step_down(&first));
	a = at("255.255.255.255");
	CHECK(addr_eq(&last, &a));
	a = cidr_last(&one);
	b = at("10.0.0.3");
	CHECK(addr_eq(&a, &b));
	a = cidr_last(&all);
	CHECK(!addr_step_up(&a));
}

static const struct {
	const char *text;
	enum addr_scope scope;
} scopes[] = {
	{"8.8.8.8", ADDR_PUBLIC},
	{"172.15.255.255", ADDR_PUBLIC},
	{"172.16.0.0", ADDR_PRIVATE},
	{"172.31.255.255", ADDR_PRIVATE},
	{"172.32.0.0", ADDR_PUBLIC},
	{"100.64.0.1", ADDR_PRIVATE},
	{"192.0.0.7", ADDR_NEVER},
	{"192.0.0.8", ADDR_PRIVATE},
	{"192.0.1.0", ADDR_PUBLIC},
	{"127.1.2.3", ADDR_NEVER},
	{"169.254.169.254", ADDR_NEVER},
	{"255.255.255.255", ADDR_NEVER},
	{"2606:4700::1", ADDR_PUBLIC},
	{"::1", ADDR_NEVER},
	{"::ffff:8.8.8.8", ADDR_NEVER},
	{"::8.8.8.8", ADDR_PUBLIC},
	{"::10.0.0.1", ADDR_PRIVATE},
	{"64:ff9b::8.8.8.8", ADDR_PUBLIC},
	{"64:ff9b::10.0.0.1", ADDR_PRIVATE},
	{"64:ff9b::169.254.169.254", ADDR_NEVER},
	{"64:ff9b::127.0.0.1", ADDR_NEVER},
	{"64:ff9b::192.0.0.1", ADDR_NEVER},
	{"64:ff9b:1::8.8.8.8", ADDR_NEVER},
	{"::127.0.0.1", ADDR_NEVER},
	{"::ffff:0:127.0.0.1", ADDR_NEVER},
	{"::ffff:0:10.0.0.1", ADDR_PRIVATE},
	{"::ffff:0:8.8.8.8", ADDR_PUBLIC},
	{"2002:7f00:0001::1", ADDR_NEVER},
	{"2002:a9fe:a9fe::1", ADDR_NEVER},
	{"2001:0:5ef5:79fd::1", ADDR_NEVER},
	{"2001:2::1", ADDR_PRIVATE},
	{"2001:db8::1", ADDR_PUBLIC},
	{"2002:0a00:0001::1", ADDR_PRIVATE},
	{"2002:0808:0808::1", ADDR_PUBLIC},
	{"fd00::1", ADDR_PRIVATE},
	{"fd00:6d65:6d62::1", ADDR_NEVER},
	{"fe80::1", ADDR_NEVER},
	{"ff02::1", ADDR_NEVER},
};

static void check_scopes(void)
{
	const struct addr_special *s;

	for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
		struct addr a = at(scopes[i].text);
		enum addr_scope scope = ADDR_PUBLIC;

		CHECK_MSG(addr_scope(&a) == scopes[i].scope, "%s",
			  scopes[i].text);
		/* The networks say the same; the strictest counts. */
		for (size_t n = 0; (s = addr_special(n)); n++)
			if (cidr_has(&s->net, &a) && s->scope > scope)
				scope = s->scope;
		CHECK_MSG(scope == scopes[i].scope, "%s", scopes[i].text);
	}
}

int main(void)
{
	check_parse();
	check_nets();
	check_steps();
	check_scopes();
	return check_status();
}
