/*
 * What takes events and makes messages of them: programs in the kernel
 * (sensor.c: loaded, attached, shown to work, read), or, where nobody may load
 * any, being asked by the kernel before each call (asked/asked.c).
 */
#ifndef RUNTIME_WATCH_SENSOR_H
#define RUNTIME_WATCH_SENSOR_H

#include "runtime/watch/backend.h"

/* One message; on a negative return nothing more is read. */
typedef int sensor_message(void *ctx, const void *message, size_t bytes);

struct sensor;

struct sensor_ops {
	void (*close)(struct sensor *s);
	/*
	 * From now on: the processes of the first pid namespace, other than
	 * not_pidns, of which a program is started in this network namespace;
	 * with netns 0, under this host name, of at most WATCH_HOST - 1 bytes.
	 */
	void (*follow)(struct sensor *s, uint32_t netns, const char *host,
		       uint32_t not_pidns);
	/* Has it been started? */
	bool (*has_found)(const struct sensor *s);
	/* Readable when there is much to read. */
	int (*fd)(const struct sensor *s);
	/* Hand on all that is there; what on_message returned when negative,
	 * or why there will be no more. */
	int (*read)(struct sensor *s);
	/* Messages that were sent, and those that found no room. */
	struct watch_counts (*counts)(const struct sensor *s);
	/* "sys_exit": how events are taken. */
	const char *(*back_end)(const struct sensor *s);
	/* "followed": how far an io_uring is seen into. */
	const char *(*io_uring)(const struct sensor *s);
	/* False for an event that it cannot give. */
	bool (*gives)(const struct sensor *s, enum watch_event e);
};

struct sensor {
	const struct sensor_ops *ops;
};

/*
 * Load, attach and prove by an event of our own, with the first back end that
 * this kernel takes; or with the forced one. Nothing is traced yet. Needs a pid
 * namespace that is not the first one.
 *   -EPERM    the privileges for it are missing
 *   -ENOENT   the kernel has no type information (CONFIG_DEBUG_INFO_BTF)
 *   -ENOTSUP  it cannot give an event that was asked for by name
 *   -EIO      the programs are attached, and nothing came back
 */
must_check int sensor_open(const struct select *s, const enum backend *forced,
			   sensor_message *on_message, void *ctx,
			   struct sensor **out, struct err *err);

#endif
