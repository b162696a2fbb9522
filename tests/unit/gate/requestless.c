/* Ends of decrypted connections: which of them a request came by. */
#include "runtime/gate/requestless.h"
#include "tests/check.h"

static struct requestless all;
static struct logline out;

static bool end(uint16_t sport, int64_t now_ms)
{
	return requestless_end(&all, &(struct logline){.sport = sport}, now_ms);
}

static void request(uint16_t sport)
{
	requestless_request(&all, &(struct logline){.sport = sport});
}

/* The port of one that has waited; 0: none has. */
static uint16_t due(int64_t now_ms)
{
	out = (struct logline){0};
	if (!requestless_due(&all, now_ms, &out))
		return 0;
	CHECK(out.sport != 0);
	return out.sport;
}

/* Whichever comes first, and once each. */
static void either_order(void)
{
	all = (struct requestless){0};
	request(700);
	CHECK(end(700, 1000) && due(INT64_MAX) == 0);
	CHECK(end(700, 1000));
	request(700);
	CHECK(due(INT64_MAX) == 0);
	/* the port's next connection is another */
	CHECK(end(700, 1000) && due(INT64_MAX) == 700 && due(INT64_MAX) == 0);
	/* that of a port of the same word is not meant */
	request(700 + 64);
	request(700 + 1);
	CHECK(end(700, 1000) && due(INT64_MAX) == 700);
	CHECK(end(700 + 64, 1000) && end(700 + 1, 1000) && due(INT64_MAX) == 0);
	request(65535);
	CHECK(end(65535, 1) && due(INT64_MAX) == 0);
}

static void waits(void)
{
	all = (struct requestless){0};
	CHECK(end(1, 1000) && end(2, 1001) && end(3, 1000));
	CHECK(due(1000 + REQUESTLESS_WAIT_MS - 1) == 0);
	CHECK(due(1000 + REQUESTLESS_WAIT_MS) == 1);
	CHECK(due(1000 + REQUESTLESS_WAIT_MS) == 3);
	CHECK(due(1000 + REQUESTLESS_WAIT_MS) == 0);
	/* a request of another takes none away */
	request(9);
	CHECK(due(1001 + REQUESTLESS_WAIT_MS) == 2);
	CHECK(end(9, 1) && due(INT64_MAX) == 0);
	/* behind one that is over there is another */
	CHECK(end(4, 1000) && end(5, 1000));
	request(4);
	request(5);
	CHECK(due(INT64_MAX) == 0 && all.n == 0);
	CHECK(end(4, 1) && due(INT64_MAX) == 4);
	/* one that is over waits for none, beside one that does */
	CHECK(end(6, 1) && end(4, 1));
	request(4);
	request(4);
	CHECK(all.n == 1);
	CHECK(end(4, 1) && due(INT64_MAX) == 6 && due(INT64_MAX) == 0);
}

/* As many as there is room for; what goes makes some. */
static void crowded(void)
{
	all = (struct requestless){0};
	for (uint16_t i = 1; i <= REQUESTLESS_MAX; i++)
		CHECK(end(i, 1000));
	CHECK(!end(999, 1000));
	request(7);
	CHECK(end(998, 1000) && !end(999, 1000));
	for (uint32_t i = 0; i < REQUESTLESS_MAX; i++)
		CHECK(due(INT64_MAX) != 0);
	CHECK(due(INT64_MAX) == 0 && all.n == 0);
}

int main(void)
{
	either_order();
	waits();
	crowded();
	return check_status();
}
