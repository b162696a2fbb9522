/* Addresses that stand in for names. */
#include "runtime/gate/onward/onward.h"
#include "compiler/base/agent_link.h"
#include "tests/check.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* U-3 */
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
	/* Then the longest name's, of which nothing stays. */
	CHECK(leads("c.test", 4 + STANDINS_KEEP_MS, "192.0.2.3"));
	CHECK(strcmp(name_of("192.0.2.3"), "c.test") == 0);
	/* What is in memory behind the names is none. */
	memcpy(name, &s->n, sizeof(s->n));
	name[sizeof(s->n)] = '\0';
	CHECK(!standins_take(s, str_of(name), 5 + STANDINS_KEEP_MS, &a));
}

/* In a process of its own, which is given no more. */
static void no_memory(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		struct rlimit little = {1, 1};
		struct standins *none = NULL;
		struct err err;

		_exit(setrlimit(RLIMIT_AS, &little) < 0 ||
		      standins_new(&none, &err) != -ENOMEM || none);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

static bool passes(const char *addr, int64_t now_ms)
{
	struct addr a;

	return addr_parse(str_of(addr), &a) && standins_passes(s, &a, now_ms);
}

static void addresses_pass_for_a_while(void)
{
	struct addr a = {.family = ADDR_V4, .b = {11, 0, 0, 1}};

	CHECK(!passes("11.0.0.1", 1));
	CHECK(standins_pass(s, &a, 1, 100) && passes("11.0.0.1", 99));
	CHECK(!passes("11.0.0.1", 100) && !passes("11.0.0.2", 1));
	CHECK(standins_pass(s, &a, 50, 200) && passes("11.0.0.1", 199));
	CHECK(standins_pass(s, &a, 60, 90) && passes("11.0.0.1", 199));
	for (uint32_t i = 1; i < STANDINS_PASSING; i++) {
		a.b[2] = (uint8_t)(i >> 8);
		a.b[3] = (uint8_t)i;
		a.b[1] = 1;
		CHECK(standins_pass(s, &a, 60, 150));
	}
	a.b[1] = 2;
	CHECK(!standins_pass(s, &a, 149, 300));
	CHECK(standins_pass(s, &a, 150, 300) && passes("11.2.31.255", 299));
	CHECK(passes("11.0.0.1", 199));
}

/* As another process may find it: a name that is about to be written. */
static void unwritten(void)
{
	const char *name;
	struct addr a;

	CHECK(standins_take(s, STR("c.test"), 90000000, &a));
	name = standins_name(s, &a);
	CHECK(name && strcmp(name, "c.test") == 0);
	*(char *)(uintptr_t)name = '\0';
	CHECK(!standins_name(s, &a));
	*(char *)(uintptr_t)name = 'c';
}

/* Where a connection goes, by the address that it is for. */
/* U-15 */
static void which_way(void)
{
	struct cidr net = {.addr = {.family = ADDR_V4, .b = {10}}, .bits = 8};
	const struct names_nets past = {&net, 1};
	static const struct {
		const char *addr;
		enum onward_way way;
	} cases[] = {
		{"192.0.2.2", ONWARD_NAME},
		{"198.51.100.255", ONWARD_NOWHERE},
		{"10.1.2.3", ONWARD_PAST},
		{"11.0.0.1", ONWARD_PAST},
		{"11.0.0.9", ONWARD_ADDRESS},
		{"2001:db8::1", ONWARD_ADDRESS},
		{LINK_MACHINE_V4, ONWARD_MACHINE},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *name = NULL;
		struct addr a;

		CHECK(addr_parse(str_of(cases[i].addr), &a));
		CHECK_MSG(onward_way(s, &past, &a, 160, &name) == cases[i].way,
			  "%s", cases[i].addr);
		CHECK(cases[i].way != ONWARD_NAME ||
		      strcmp(name, "b.test") == 0);
	}
}

int main(void)
{
	struct err err;

	if (standins_new(&s, &err) < 0)
		return 1;
	one_for_each();
	none_is_taken_back_too_early();
	no_memory();
	addresses_pass_for_a_while();
	which_way();
	unwritten();
	return check_status();
}
