/*
 * How long what was cut is tried again: at once where it had lasted, as a server
 * ends a watch now and then; else a moment later, for as long as a restarted
 * kubelet or API server takes, and not for ever.
 */
#include "runtime/launch/pod/parts.h"

static enum pod_next next_of(struct pod_again *g, int64_t now)
{
	if (g->begun_ms == 0 || now - g->begun_ms >= POD_LASTED_MS)
		g->vain_ms = 0;
	else if (g->vain_ms == 0)
		g->vain_ms = g->begun_ms;
	if (g->vain_ms == 0)
		return POD_NEXT_TRY;
	if (now - g->vain_ms >= POD_VAIN_MS)
		return POD_NEXT_FAIL;
	return now - g->begun_ms >= POD_AGAIN_MS ? POD_NEXT_TRY : POD_NEXT_WAIT;
}

enum pod_next pod_again(struct pod_again *g)
{
	int64_t now = clock_ms();
	enum pod_next next = next_of(g, now);

	g->next_ms = next == POD_NEXT_WAIT ? g->begun_ms + POD_AGAIN_MS : 0;
	if (next == POD_NEXT_TRY)
		g->begun_ms = now;
	return next;
}
