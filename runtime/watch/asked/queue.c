#include "runtime/watch/asked/queue.h"

#include <string.h>
#include <sys/mman.h>

bool queue_init(struct queue *q, size_t room)
{
	memset(q, 0, sizeof(*q));
	q->room = room;
	q->bytes = mmap(NULL, room, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (q->bytes == MAP_FAILED)
		q->bytes = NULL;
	return q->bytes != NULL;
}

void queue_done(struct queue *q)
{
	if (q->bytes)
		munmap(q->bytes, q->room);
	q->bytes = NULL;
}

/* So that each begins where a head may. */
static size_t rounded(uint32_t bytes)
{
	return (bytes + 7u) & ~(size_t)7;
}

/* A message is in one piece: what is left before the end is passed over. */
void queue_put(struct queue *q, const struct watch_head *message)
{
	uint64_t in = q->in;
	size_t n = rounded(message->bytes), at = in & (q->room - 1);
	size_t passed = q->room - at < n ? q->room - at : 0;

	if (passed + n > q->room - (in - q->out)) {
		q->no_room++;
		return;
	}
	if (passed)
		memset(q->bytes + at, 0, sizeof(message->bytes));
	memcpy(q->bytes + ((at + passed) & (q->room - 1)), message,
	       message->bytes);
	q->put++;
	q->in = in + passed + n;
}

const struct watch_head *queue_next(struct queue *q)
{
	uint64_t out = q->out;
	size_t at = out & (q->room - 1);
	uint32_t bytes;

	if (out == q->in)
		return NULL;
	memcpy(&bytes, q->bytes + at, sizeof(bytes));
	if (bytes == 0) {
		q->out = out + q->room - at;
		at = 0;
	}
	return (const struct watch_head *)(const void *)(q->bytes + at);
}

void queue_drop(struct queue *q, const struct watch_head *message)
{
	q->out += rounded(message->bytes);
}

size_t queue_waiting(const struct queue *q)
{
	return q->in - q->out;
}
