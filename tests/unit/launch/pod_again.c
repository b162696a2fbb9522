/* How long a kubectl that was cut is tried again. */
#include "runtime/launch/pod/parts.h"

#include "tests/check.h"

/* One that has ended now, so long behind its beginning. */
static struct pod_again ended(int64_t lasted_ms, int64_t in_vain_ms)
{
	int64_t now = clock_ms();

	return (struct pod_again){
		.begun_ms = now - lasted_ms,
		.vain_ms = in_vain_ms ? now - in_vain_ms : 0};
}

static void check_first(void)
{
	struct pod_again g = {0};

	CHECK(pod_again(&g) == POD_NEXT_TRY);
	CHECK(g.begun_ms > 0 && g.vain_ms == 0 && g.next_ms == 0);
	/* it ended at once */
	CHECK(pod_again(&g) == POD_NEXT_WAIT);
	CHECK(g.vain_ms == g.begun_ms);
	CHECK(g.next_ms == g.begun_ms + POD_AGAIN_MS);
}

static void check_lasted(void)
{
	struct pod_again g = ended(POD_LASTED_MS, POD_VAIN_MS);

	CHECK(pod_again(&g) == POD_NEXT_TRY);
	CHECK(g.vain_ms == 0 && g.next_ms == 0);
	CHECK(clock_ms() - g.begun_ms < POD_LASTED_MS);
}

static void check_vain(void)
{
	struct pod_again g = ended(POD_AGAIN_MS, 2 * POD_AGAIN_MS);
	int64_t since = g.vain_ms;

	CHECK(pod_again(&g) == POD_NEXT_TRY);
	CHECK(g.vain_ms == since && g.next_ms == 0);
	CHECK(pod_again(&g) == POD_NEXT_WAIT && g.vain_ms == since);
	g = ended(1, POD_VAIN_MS);
	CHECK(pod_again(&g) == POD_NEXT_FAIL && g.next_ms == 0);
}

int main(void)
{
	check_first();
	check_lasted();
	check_vain();
	return check_status();
}
