#include "runtime/gate/record/outlog.h"

#include "compiler/base/sys/clock.h"
#include "runtime/gate/record/record.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

static bool put_line(struct outlog *o, const char *line, size_t n)
{
	size_t tail = (o->head + o->n) % OUTLOG_BYTES;
	size_t first = OUTLOG_BYTES - tail;

	if (n > OUTLOG_BYTES - o->n)
		return false;
	if (first > n)
		first = n;
	memcpy(o->ring + tail, line, first);
	memcpy(o->ring, line + first, n - first);
	o->n += n;
	return true;
}

static void report_lost(struct outlog *o)
{
	char line[RECORD_MAX];

	if (o->n_lost && put_line(o, line, record_lost(o->n_lost, line)))
		o->n_lost = 0;
}

static void take_line(struct outlog *o, const char *line, size_t n)
{
	if (o->closed)
		return;
	/* Once there is room again, not line by line while there is not. */
	if (o->n < OUTLOG_BYTES / 2)
		report_lost(o);
	if (n > 0 && put_line(o, line, n))
		return;
	/* Who does not read is not waited for with each line. */
	if (n > 0 && !o->stuck) {
		outlog_drain(o, OUTLOG_WAIT_MS);
		if (put_line(o, line, n))
			return;
		o->stuck = true;
	}
	o->n_lost++;
}

void outlog_line(struct outlog *o, const char *line, size_t n)
{
	o->due_ms = 0;
	take_line(o, line, n);
}

void outlog_line_later(struct outlog *o, const char *line, size_t n)
{
	if (!o->n)
		o->due_ms = clock_ms() + OUTLOG_LATE_MS;
	take_line(o, line, n);
}

void outlog_lost(struct outlog *o, uint64_t n)
{
	o->n_lost += n;
}

bool outlog_has_room(const struct outlog *o)
{
	return o->n_lost == 0 && o->n < OUTLOG_BYTES / 2;
}

bool outlog_pending(const struct outlog *o)
{
	return !o->closed && (o->n || o->n_lost);
}

int outlog_wait_ms(const struct outlog *o, int64_t now_ms)
{
	if (!outlog_pending(o))
		return -1;
	if (o->n_lost || o->n >= OUTLOG_BATCH || now_ms >= o->due_ms)
		return 0;
	return (int)(o->due_ms - now_ms);
}

void outlog_write(struct outlog *o)
{
	size_t n = OUTLOG_BYTES - o->head;
	ssize_t done;

	if (o->n < OUTLOG_BYTES / 2)
		report_lost(o);
	if (n > o->n)
		n = o->n;
	if (n > PIPE_BUF)
		n = PIPE_BUF;
	if (n == 0)
		return;
	done = write(o->fd, o->ring + o->head, n);
	if (done < 0 && errno != EAGAIN && errno != EINTR)
		o->closed = true;
	if (done > 0) {
		o->head = (o->head + (size_t)done) % OUTLOG_BYTES;
		o->n -= (size_t)done;
		/* A page read now and then is not yet a reader who keeps up. */
		if (o->n < OUTLOG_BYTES / 2)
			o->stuck = false;
	}
}

void outlog_drain(struct outlog *o, int timeout_ms)
{
	int64_t deadline_ms = clock_ms() + timeout_ms;

	while (outlog_pending(o)) {
		struct pollfd p = {o->fd, POLLOUT, 0};
		int64_t left_ms = deadline_ms - clock_ms();

		if (left_ms <= 0 || poll(&p, 1, (int)left_ms) <= 0)
			return;
		outlog_write(o);
	}
}

void outlog_finish(struct outlog *o)
{
	size_t before = 0;

	for (int i = 0; i < OUTLOG_ROUNDS && o->n != before; i++) {
		before = o->n;
		outlog_drain(o, OUTLOG_WAIT_MS);
	}
}
