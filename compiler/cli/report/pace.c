/* When things happened: a histogram that needs not know how long it will be. */
#include "compiler/cli/report/parts.h"

#define BIN_LEAST_NS 1000000u

/* Twice as much in each bin. */
static void widen_bins(struct pace *p)
{
	for (uint32_t i = 0; i < PACE_BINS; i++) {
		bool is_half = i < PACE_BINS / 2;

		p->done[i] = is_half ? p->done[2 * i] + p->done[2 * i + 1] : 0;
		p->refused[i] =
			is_half ? p->refused[2 * i] + p->refused[2 * i + 1] : 0;
	}
	p->bin_ns *= 2;
}

void pace_add(struct pace *p, uint64_t at_ns, bool is_refused)
{
	uint64_t bin;

	if (at_ns == 0) /* a record that says no time */
		return;
	if (!p->any)
		*p = (struct pace){
			.first_ns = at_ns, .bin_ns = BIN_LEAST_NS, .any = true};
	/* What was told of late began no session. */
	bin = at_ns > p->first_ns ? at_ns - p->first_ns : 0;
	while (bin / p->bin_ns >= PACE_BINS && p->bin_ns < UINT64_MAX / 2)
		widen_bins(p);
	bin /= p->bin_ns;
	if (is_refused)
		p->refused[bin]++;
	else
		p->done[bin]++;
}
