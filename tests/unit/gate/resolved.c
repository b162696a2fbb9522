/* What the session has resolved: which names led to an address, in so many
 * slots that are used again. */
#include "runtime/gate/dns/resolved.h"

#include "tests/check.h"

#include <string.h>

static struct resolved seen;

static void sights(void)
{
	struct resolved_name *names[4];
	struct addr a = {ADDR_V4, {1, 2, 3, 4}};
	char name[32];

	resolved_init(&seen);
	CHECK(resolved_names_of(&seen, &a, names, 4) == 0);
	resolved_addr(&seen, STR("one.test"), &a);
	resolved_addr(&seen, STR("two.test"), &a);
	resolved_addr(&seen, STR("one.test"), &a);
	CHECK(resolved_names_of(&seen, &a, names, 4) == 2);
	CHECK(strcmp(names[0]->name, "two.test") == 0);
	CHECK(resolved_names_of(&seen, &a, names, 1) == 1);
	/* many more than there is room for: the old ones are forgotten */
	for (unsigned i = 0; i < 5 * RESOLVED_ADDRS; i++) {
		struct addr b = {
			ADDR_V4,
			{9, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i}};

		snprintf(name, sizeof(name), "n%u.test", i);
		resolved_addr(&seen, str_of(name), &b);
		CHECK(resolved_names_of(&seen, &b, names, 4) == 1 &&
		      strcmp(names[0]->name, name) == 0);
	}
	CHECK(resolved_names_of(&seen, &a, names, 4) == 0);
}

static struct addr addr_of(uint32_t i)
{
	return (struct addr){
		ADDR_V4,
		{9, (uint8_t)(i >> 16), (uint8_t)(i >> 8), (uint8_t)i}};
}

static unsigned count_names(const struct addr *a)
{
	struct resolved_name *names[8];

	return resolved_names_of(&seen, a, names, 8);
}

static void begin(void)
{
	memset(&seen, 0, sizeof(seen));
	resolved_init(&seen);
}

/* The entry of a name is the same one as long as it is there. */
static void entries(void)
{
	char name[300];
	struct resolved_name *n;

	begin();
	n = resolved_name(&seen, STR("a.test"));
	CHECK(strcmp(n->name, "a.test") == 0 && seen.n_names == 1 && !n->used &&
	      n->due_ms[SEEN_A] == 0);
	n->used = true;
	CHECK(resolved_name(&seen, STR("a.test")) == n && n->used);
	CHECK(resolved_name(&seen, STR("a.tes")) != n &&
	      resolved_name(&seen, STR("a.testt")) != n && seen.n_names == 3);
	/* of one that is too long as much as there is room for */
	memset(name, 'x', sizeof(name));
	n = resolved_name(&seen, (struct str){name, sizeof(name)});
	CHECK(strlen(n->name) == LIMIT_NAME_BYTES);
	n = resolved_name(&seen, (struct str){name, LIMIT_NAME_BYTES});
	CHECK(strlen(n->name) == LIMIT_NAME_BYTES);
	CHECK(strcmp(resolved_name(&seen, STR("a.test"))->name, "a.test") == 0);
	/* whatever stands behind it */
	n = resolved_name(&seen, (struct str){"b.testing", 6});
	CHECK(strcmp(n->name, "b.test") == 0);
	CHECK(resolved_name(&seen, STR("b.test")) == n);
}

/* A slot that another name has is nothing of the old one's. */
static void used_again(void)
{
	const struct addr a = addr_of(1), b = addr_of(2);
	char name[32];
	struct resolved_name *n, *names[2];

	begin();
	resolved_addr(&seen, STR("old.test"), &a);
	resolved_addr(&seen, STR("old.test"), &b);
	n = resolved_name(&seen, STR("old.test"));
	n->used = true;
	n->due_ms[SEEN_AAAA] = 7;
	for (unsigned i = 1; i < RESOLVED_NAMES; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		(void)resolved_name(&seen, str_of(name));
	}
	CHECK(seen.n_names == RESOLVED_NAMES && count_names(&a) == 1);
	CHECK(resolved_name(&seen, STR("new.test")) == n &&
	      seen.n_names == RESOLVED_NAMES);
	CHECK(strcmp(n->name, "new.test") == 0 && !n->used &&
	      n->due_ms[SEEN_AAAA] == 0);
	CHECK(count_names(&a) == 0 && count_names(&b) == 0);
	/* to the same address, anew */
	resolved_addr(&seen, STR("new.test"), &a);
	CHECK(resolved_names_of(&seen, &a, names, 2) == 1 && names[0] == n);
	CHECK(count_names(&b) == 0);
	/* the others are found all the same, the next of them goes next */
	for (unsigned i = 2; i < RESOLVED_NAMES; i++) {
		snprintf(name, sizeof(name), "n%u.test", i);
		CHECK(resolved_name(&seen, str_of(name)) == &seen.names[i]);
	}
	CHECK(resolved_name(&seen, STR("old.test")) == &seen.names[1]);
}

/* Addresses likewise: the oldest goes. */
static void many_addresses(void)
{
	struct addr a;

	begin();
	for (uint32_t i = 0; i < RESOLVED_ADDRS; i++) {
		a = addr_of(i);
		resolved_addr(&seen, STR("a.test"), &a);
	}
	for (uint32_t i = 0; i < RESOLVED_ADDRS; i++) {
		a = addr_of(i);
		CHECK(count_names(&a) == 1);
	}
	/* it is known: nothing has to go */
	resolved_addr(&seen, STR("a.test"), &a);
	a = addr_of(0);
	CHECK(count_names(&a) == 1);
	a = addr_of(RESOLVED_ADDRS);
	resolved_addr(&seen, STR("a.test"), &a);
	for (uint32_t i = 0; i <= RESOLVED_ADDRS; i++) {
		a = addr_of(i);
		CHECK(count_names(&a) == (i > 0));
	}
}

int main(void)
{
	sights();
	entries();
	used_again();
	many_addresses();
	return check_status();
}
