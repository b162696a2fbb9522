/* Addresses that stand in for names. */
#include "runtime/gate/onward/standins.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static struct standins *s;

static bool leads(const char *name, int64_t now_ms, const char *addr)
{
	char text[ADDR_TEXT_MAX];
	struct addr a;

	return standins_take(s, str_of(name), now_ms, &a) &&
	       strcmp(addr_text(&a, text), addr) == 0;
}

static const char *name_of(const char *addr)
{
	struct addr a;

	return addr_parse(str_of(addr), &a) ? standins_name(s, &a) : NULL;
}

static void one_for_each(void)
{
	char longest[LIMIT_NAME_BYTES + 2];
	struct addr a;

	CHECK(leads("a.test", 1, "192.0.2.1") &&
	      leads("b.test", 1, "192.0.2.2"));
	CHECK(leads("a.test", 2, "192.0.2.1"));
	CHECK(strcmp(name_of("192.0.2.1"), "a.test") == 0);
	CHECK(!name_of("192.0.2.3") && !name_of("11.0.0.1") &&
	      !name_of("2001:db8::1"));
	memset(longest, 'a', sizeof(longest));
	CHECK(standins_take(s, (struct str){longest, LIMIT_NAME_BYTES}, 2, &a));
	CHECK(!standins_take(s, (struct str){longest, LIMIT_NAME_BYTES + 1}, 2,
			     &a));
	CHECK(!standins_take(s, STR(""), 2, &a));
}

static void none_is_taken_back_too_early(void)
{
	char name[32];
	struct addr a;

	for (unsigned i = s->n; i < STANDINS_MAX; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		CHECK(standins_take(s, str_of(name), 10, &a));
	}
	CHECK(strcmp(name_of("203.0.113.254"), "n761.test") == 0);
	CHECK(!standins_take(s, STR("more.test"), 10, &a));
	CHECK(leads("b.test", 20, "192.0.2.2")); /* in use again */
	CHECK(!standins_take(s, STR("more.test"), 1 + STANDINS_KEEP_MS, &a));
	/* The one that rested longest. */
	CHECK(leads("more.test", 2 + STANDINS_KEEP_MS, "192.0.2.1"));
	CHECK(strcmp(name_of("192.0.2.1"), "more.test") == 0);
	CHECK(leads("b.test", 3 + STANDINS_KEEP_MS, "192.0.2.2"));
}

int main(void)
{
	struct err err;

	if (standins_new(&s, &err) < 0)
		return 1;
	one_for_each();
	none_is_taken_back_too_early();
	return check_status();
}
