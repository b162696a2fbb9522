#include "compiler/cli/traces/trace_losses.h"

#include "compiler/cli/text/view.h"

static const struct {
	const char *key, *text;
} reasons[] = {
	[LOST_NO_ROOM] = {"lost_no_room", "no room"},
	[LOST_READS] = {"lost_reads", "files only read, left out for room"},
	[LOST_IN_HOOKS] = {"lost_in_hooks", "too many hooks at once"},
	[LOST_UNKNOWN_CALLS] = {"lost_unknown_calls", "unknown system calls"},
	[LOST_ANSWERS] = {"lost_answers", "answers of the resolver"},
	[LOST_IN_KERNEL] = {"lost_in_kernel", "lost by Tracee"},
	[LOST_BROKEN] = {"broken", "lines that are no record"},
};

void trace_losses_add(struct trace_losses *l, const struct trace_event *e)
{
	int64_t n;

	if (!str_is(e->name, "membrane_end"))
		return;
	l->has_end = true;
	n = trace_number(e, "lost", 0);
	l->all += n > 0 ? (uint64_t)n : 0;
	for (int i = 0; i < LOST_REASONS; i++) {
		n = trace_number(e, reasons[i].key, 0);
		l->of[i] += n > 0 ? (uint64_t)n : 0;
	}
}

struct str trace_losses_text(struct arena *a, const struct trace_losses *l)
{
	unsigned n = 0;
	struct buf b;

	buf_init(&b, a);
	if (l->all == 0)
		return STR("");
	buf_addf(&b, "%.*s event%s missing", STR_ARG(view_number(a, l->all)),
		 l->all == 1 ? " is" : "s are");
	for (int i = 0; i < LOST_REASONS; i++)
		if (l->of[i])
			buf_addf(&b, "%s%s: %.*s", n++ ? "; " : " (",
				 reasons[i].text,
				 STR_ARG(view_number(a, l->of[i])));
	if (n)
		buf_addc(&b, ')');
	return buf_str(&b);
}
