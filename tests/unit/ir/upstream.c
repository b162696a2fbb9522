/* What goes past the proxy, and what is said of it. */
#include "compiler/ir/upstream.h"
#include "tests/check.h"

#include <string.h>

static struct arena *a;

static struct ir_dest dest(const char *text)
{
	struct ir_dest d = {.kind = IR_DEST_HOST};

	if (strcmp(text, "*") == 0)
		d.kind = IR_DEST_ANY;
	else if (cidr_parse(str_of(text), &d.u.cidr.net) == CIDR_OK)
		d.kind = IR_DEST_CIDR;
	else
		d.u.host.name = str_of(text);
	if (d.kind == IR_DEST_HOST && strchr(text, '*'))
		d.kind = IR_DEST_PATTERN;
	return d;
}

static bool passes(const char *direct, const char *granted)
{
	struct ir_policy p = {.upstream = {.set = true}};
	struct ir_dest d = dest(granted);

	if (direct)
		*vec_push(a, &p.upstream.direct) =
			(struct ir_direct){.dest = dest(direct)};
	return upstream_passes(&p, &d);
}

static void names(void)
{
	CHECK(passes("a.test", "a.test") && !passes("a.test", "b.test"));
	CHECK(!passes("a.test", "x.a.test") && !passes("x.a.test", "a.test"));
	CHECK(passes("*.a.test", "x.a.test") && !passes("*.a.test", "a.test"));
	CHECK(!passes("*.a.test", "y.x.a.test"));
	CHECK(passes("*.a.test", "*.a.test"));
	CHECK(!passes("*.a.test", "**.a.test"));
	CHECK(!passes("x.a.test", "*.a.test"));
	CHECK(passes("**.a.test", "**.a.test"));
	CHECK(passes("**.a.test", "*.a.test"));
	CHECK(passes("**.a.test", "y.x.a.test"));
	CHECK(passes("**.a.test", "**.x.a.test"));
	CHECK(!passes("**.x.a.test", "**.a.test"));
	CHECK(!passes("**.a.test", "a.test") &&
	      !passes("**.a.test", "ba.test"));
	CHECK(passes("x.*.test", "x.a.test") &&
	      !passes("x.*.test", "y.a.test"));
	CHECK(passes("**.x.*.test", "b.a.x.y.test") &&
	      !passes("**.x.*.test", "x.y.test"));
	CHECK(!passes("**.a.test", "*") && !passes(NULL, "a.test"));
}

static void networks(void)
{
	CHECK(passes("10.0.0.0/8", "10.1.0.0/16"));
	CHECK(passes("10.0.0.0/8", "10.0.0.0/8"));
	CHECK(!passes("10.1.0.0/16", "10.0.0.0/8"));
	CHECK(!passes("10.0.0.0/8", "11.0.0.1/32"));
	CHECK(passes("2001:db8::/32", "2001:db8::1/128"));
	CHECK(!passes("0.0.0.0/0", "2001:db8::1/128"));
	/* A name takes the way of its name. */
	CHECK(!passes("10.0.0.0/8", "a.test") &&
	      !passes("a.test", "10.0.0.0/8"));
	/* The machine itself is never behind it. */
	CHECK(passes(NULL, "192.0.0.5/32"));
}

static void nobody(void)
{
	struct ir_policy p = {0};
	struct ir_dest d = dest("a.test");

	CHECK(upstream_passes(&p, &d));
}

static void texts(void)
{
	struct ir_upstream u = {.set = true};
	struct ir_url *url = &u.proxy.u.url;

	url->who = IR_DEST_HOST;
	url->name = STR("p.test");
	url->port = 3128;
	CHECK(str_is(upstream_text(a, &u), "http://p.test:3128"));
	u.has_login = u.from_env = true;
	u.source = STR("LOGIN");
	CHECK(str_is(upstream_text(a, &u), "http://p.test:3128 as $LOGIN"));
	u.from_env = false;
	CHECK(str_is(upstream_text(a, &u),
		     "http://p.test:3128 as in the file LOGIN"));
	url->who = IR_DEST_CIDR;
	CHECK(addr_parse(STR("2001:db8::1"), &url->net.addr));
	CHECK(str_is(upstream_at(a, &u), "[2001:db8::1]:3128"));
	CHECK(addr_parse(STR("192.0.2.1"), &url->net.addr));
	CHECK(str_is(upstream_at(a, &u), "192.0.2.1:3128"));
	*vec_push(a, &u.direct) = (struct ir_direct){.dest = dest("*.a.test")};
	CHECK(upstream_directs(a, &u).n == 1 &&
	      str_is(upstream_directs(a, &u).v[0].s, "*.a.test"));
}

int main(void)
{
	a = arena_new();
	names();
	networks();
	nobody();
	texts();
	arena_free(a);
	return check_status();
}
