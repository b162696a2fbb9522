#include "runtime/watch/asked/asked.h"

#include "compiler/base/sys/fdpass.h"
#include "compiler/plan/gate.h"
#include "runtime/watch/asked/parts.h"
#include "runtime/watch/asked/queue.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP /* Linux 6.6 */
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS	   SECCOMP_IOW(4, __u64)
#endif

struct asker {
	struct sensor sensor;
	const struct select *select;
	sensor_message *on_message;
	void *ctx;
	int listener, wake; /* of the agent's filter; an eventfd */
	struct seccomp_notif_sizes sizes;
	struct queue queue;
	struct message message; /* the thread's */
	_Atomic int failed;	/* why the thread ended */
	_Atomic bool found;
};

static struct asker *own(const struct sensor *s)
{
	return (struct asker *)(uintptr_t)s;
}

/* --- the thread that answers ---------------------------------------------- */

static void wake_reader(struct asker *k)
{
	uint64_t one = 1;

	if (write(k->wake, &one, sizeof(one)) < 0)
		return; /* it is awake, and has not looked yet */
}

/* Before the answer: what went on is in the queue. */
static int answer_call(struct asker *k, const struct seccomp_notif *n,
		       struct seccomp_notif_resp *r)
{
	if (message_make(&k->message, k->select, k->listener, n) &&
	    message_waits(&k->message))
		queue_put(&k->queue, &k->message.head);
	if (!k->found || queue_waiting(&k->queue) > k->queue.room / 8) {
		k->found = true;
		wake_reader(k);
	}
	memset(r, 0, k->sizes.seccomp_notif_resp);
	r->id = n->id;
	r->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
	if (ioctl(k->listener, SECCOMP_IOCTL_NOTIF_SEND, r) < 0 &&
	    errno != ENOENT) /* who asked is gone */
		return -errno;
	return 0;
}

/* Until nobody is left who could ask: 0. */
static int answer_calls(struct asker *k, struct seccomp_notif *n,
			struct seccomp_notif_resp *r)
{
	int rc = 0;

	while (rc == 0) {
		struct pollfd p = {k->listener, POLLIN, 0};

		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return -errno;
		if (!(p.revents & POLLIN) && (p.revents & POLLHUP))
			return 0;
		if (!(p.revents & POLLIN))
			continue;
		memset(n, 0, k->sizes.seccomp_notif);
		if (ioctl(k->listener, SECCOMP_IOCTL_NOTIF_RECV, n) == 0)
			rc = answer_call(k, n, r);
		else if (errno != ENOENT && errno != EINTR) /* gone, too */
			rc = -errno;
	}
	return rc;
}

static bool take_listener(struct asker *k)
{
	uint64_t same_processor = SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP;
	char byte;

	(void)fdpass_take(GATE_BROKER_FD, &byte, 1, &k->listener, 0);
	/* where the kernel has it: it halves the time of an answer */
	if (k->listener >= 0)
		(void)ioctl(k->listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
			    same_processor);
	return k->listener >= 0;
}

static void *answer_agent(void *ctx)
{
	struct asker *k = ctx;
	struct seccomp_notif *n = calloc(1, k->sizes.seccomp_notif);
	struct seccomp_notif_resp *r = calloc(1, k->sizes.seccomp_notif_resp);

	if (!n || !r)
		k->failed = -ENOMEM;
	else if (take_listener(k))
		k->failed = answer_calls(k, n, r);
	wake_reader(k);
	free(n);
	free(r);
	return NULL;
}

/* --- the sensor ----------------------------------------------------------- */

/* Who asks is the agent's: nobody else has that filter. */
static void follow_asking(struct sensor *s, uint32_t netns, const char *host,
			  uint32_t not_pidns)
{
	(void)s;
	(void)netns;
	(void)host;
	(void)not_pidns;
}

static int read_asked(struct sensor *s)
{
	struct asker *k = own(s);
	const struct watch_head *m;
	uint64_t ignored;
	int rc = 0;

	if (read(k->wake, &ignored, sizeof(ignored)) < 0 && errno != EAGAIN)
		return -errno;
	while (rc == 0 && (m = queue_next(&k->queue))) {
		rc = k->on_message(k->ctx, m, m->bytes);
		queue_drop(&k->queue, m);
	}
	return rc < 0 ? rc : k->failed;
}

static struct watch_counts counts_of(const struct sensor *s)
{
	const struct asker *k = own(s);

	return (struct watch_counts){.sent = k->queue.put,
				     .no_room = k->queue.no_room};
}

static int wake_of(const struct sensor *s)
{
	return own(s)->wake;
}

static bool has_found(const struct sensor *s)
{
	return own(s)->found;
}

static const char *name_of(const struct sensor *s)
{
	(void)s;
	return ASKED_BACK_END;
}

/* seccomp.json lets nobody have one. */
static const char *io_uring_of(const struct sensor *s)
{
	(void)s;
	return "refused";
}

/* With the process, and its thread. */
static void close_asked(struct sensor *s)
{
	(void)s;
}

/* Its filters, too, are about what is known. */
static bool can_tell(const struct select *s, enum watch_event e)
{
	const struct conditions *all = select_conditions(s, e);

	if (!events_is_asked(e))
		return false;
	for (size_t i = 0; i < all->n; i++)
		if (condition_is_later(&all->each[i]))
			return false;
	return true;
}

static bool gives_event(const struct sensor *s, enum watch_event e)
{
	return can_tell(own(s)->select, e);
}

static int check_required(const struct select *s, struct err *err)
{
	for (unsigned e = 0; select_required(s) && e < WATCH_EVENTS; e++)
		if (select_wants(s, (enum watch_event)e) &&
		    !select_optional(s, (enum watch_event)e) &&
		    !can_tell(s, (enum watch_event)e))
			return err_set(
				err, -ENOTSUP,
				"the trace of a user's session has no '%s'%s: write 'events: [asked]', run membrane as root, or write 'engine: docker'",
				events_info((enum watch_event)e)->name,
				events_is_asked((enum watch_event)e)
					? " with a filter on what came of it"
					: "");
	return 0;
}

static int start_thread(struct asker *k, struct err *err)
{
	pthread_t thread;
	int rc = pthread_create(&thread, NULL, answer_agent, k);

	if (rc != 0)
		return err_set(err, -rc, "a thread: %s", strerror(rc));
	pthread_detach(thread);
	return 0;
}

int asked_open(const struct select *s, sensor_message *on_message, void *ctx,
	       struct sensor **out, struct err *err)
{
	static const struct sensor_ops ops = {
		.close = close_asked,
		.follow = follow_asking,
		.has_found = has_found,
		.fd = wake_of,
		.read = read_asked,
		.counts = counts_of,
		.back_end = name_of,
		.io_uring = io_uring_of,
		.gives = gives_event,
	};
	static struct asker k;
	int rc = check_required(s, err);

	if (rc < 0)
		return rc;
	k.sensor.ops = &ops;
	k.select = s;
	k.on_message = on_message;
	k.ctx = ctx;
	if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &k.sizes) < 0)
		return err_set(err, -ENOTSUP,
			       "this kernel asks nobody about system calls: %s",
			       strerror(errno));
	k.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (k.wake < 0 || !queue_init(&k.queue, select_ring(s)))
		return err_set(err, -ENOMEM, "no memory for the trace");
	/* made before there is a second thread */
	(void)events_calls();
	*out = &k.sensor;
	return start_thread(&k, err);
}
