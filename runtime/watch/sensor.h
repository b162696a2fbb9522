/*
 * The programs in the kernel: loaded, attached, shown to work, read.
 */
#ifndef RUNTIME_WATCH_SENSOR_H
#define RUNTIME_WATCH_SENSOR_H

#include "runtime/watch/backend.h"

struct sensor;

/* One message; on a negative return nothing more is read. */
typedef int sensor_message(void *ctx, const void *message, size_t bytes);

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
void sensor_close(struct sensor *s);

/*
 * From now on: the processes of the first pid namespace, other than
 * not_pidns, of which a program is started in this network namespace; with
 * netns 0, under this host name, of at most WATCH_HOST - 1 bytes.
 */
void sensor_follow(struct sensor *s, uint32_t netns, const char *host,
		   uint32_t not_pidns);
/* Has it been started? */
bool sensor_has_found(const struct sensor *s);
/* The same for a namespace that is known, at its level. */
void sensor_follow_pidns(struct sensor *s, uint32_t pidns, uint32_t level);

/* Readable when there is much to read. */
int sensor_fd(const struct sensor *s);
/* Hand on all that is there; what on_message returned when negative. */
must_check int sensor_read(struct sensor *s);
/* Messages that were sent, and those that found no room in the ring. */
struct watch_counts sensor_counts(const struct sensor *s);
/* "sys_exit": how events are taken. */
const char *sensor_back_end(const struct sensor *s);
/* "followed": how far an io_uring is seen into. */
const char *sensor_io_uring(const struct sensor *s);
/* False for an event that this kernel cannot give. */
bool sensor_gives(const struct sensor *s, enum watch_event e);

#endif
