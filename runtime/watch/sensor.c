#include "runtime/watch/sensor.h"

#include "runtime/watch/programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PROVE_CALL SYS_sched_rr_get_interval /* nobody calls it by chance */
#define CPUS_MAX 8192 /* that a kernel can be built for: NR_CPUS */

struct loaded {
	struct sensor sensor;
	enum backend backend;
	struct backend_kernel kernel;
	struct programs *programs;
	struct watch_scope *scope; /* shared with the programs */
	struct ring_buffer *ring;
	sensor_message *on_message;
	void *ctx;
	bool proving, proved;
};

static struct loaded *own(const struct sensor *s)
{
	return (struct loaded *)(uintptr_t)s;
}

static int on_sample(void *ctx, void *data, size_t bytes)
{
	struct loaded *s = ctx;
	const struct watch_head *h = data;

	if (s->proving || h->nr == PROVE_CALL) {
		s->proved = s->proved ||
			    (bytes >= sizeof(*h) && h->kind == WATCH_CALL &&
			     h->nr == PROVE_CALL);
		return 0;
	}
	return s->on_message(s->ctx, data, bytes);
}

static int reach_programs(struct loaded *s, struct err *err)
{
	s->scope = mmap(NULL, sizeof(*s->scope), PROT_READ | PROT_WRITE,
			MAP_SHARED, programs_map(s->programs, ".bss"), 0);
	s->ring = ring_buffer__new(programs_map(s->programs, "ring"), on_sample,
				   s, NULL);
	if (s->scope == MAP_FAILED || !s->ring)
		return err_set(
			err, -EIO,
			"the programs are loaded, and cannot be reached");
	return 0;
}

static int load_programs(struct loaded *s, const struct btf *types,
			 const struct select *sel, struct err *err)
{
	struct watch_config config;
	const struct programs_job job = {
		.backend = s->backend,
		.types = types,
		.kernel = &s->kernel,
		.select = sel,
		.config = &config,
	};
	int rc;

	backend_config(s->backend, &s->kernel, sel, PROVE_CALL, &config);
	rc = programs_load(&job, &s->programs, err);
	return rc < 0 ? rc : reach_programs(s, err);
}

static int own_pidns(uint32_t *out, struct err *err)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0)
		return err_set(err, -errno, "/proc/self/ns/pid: %s",
			       strerror(errno));
	*out = (uint32_t)st.st_ino;
	return 0;
}

/* The processes of a namespace that is known, at its level. */
static void follow_pidns(struct loaded *s, uint32_t pidns, uint32_t level)
{
	/* Never a level that goes with another namespace. */
	s->scope->level = 0;
	s->scope->began_ns = 0;
	s->scope->pidns = pidns;
	s->scope->level = level;
}

/*
 * Has an event of our own come back, and was a hook called for it? Needs a pid
 * namespace that is not the first one.
 */
static int prove_event(struct loaded *s, struct err *err)
{
	bool hooked = s->backend == BACKEND_SYS_EXIT;
	struct timespec ignored;
	uint32_t pidns = 0;
	int rc = own_pidns(&pidns, err);

	if (rc < 0)
		return rc;
	s->proving = true;
	/* The level is not ours to see: any that fits shows the event. */
	for (uint32_t level = 1; level <= 32 && !s->proved; level++) {
		follow_pidns(s, pidns, level);
		syscall(PROVE_CALL, 0, &ignored);
		rc = ring_buffer__consume(s->ring);
	}
	hooked = hooked || s->scope->hooked;
	follow_pidns(s, 0, 0);
	if (ring_buffer__consume(s->ring) < 0 || !s->proved)
		return err_set(
			err, -EIO,
			"the programs are attached, and an event of our own did not come back");
	s->proving = false;
	return hooked ? 0
		      : err_set(err, -EIO,
				"the hooks are attached, and are not called");
}

static void close_loaded(struct sensor *sensor)
{
	struct loaded *s = own(sensor);

	if (s->ring)
		ring_buffer__free(s->ring);
	programs_free(s->programs);
	free(s);
}

static void follow_agent(struct sensor *sensor, uint32_t netns,
			 const char *host, uint32_t not_pidns)
{
	struct loaded *s = own(sensor);
	char name[WATCH_HOST] = "";

	s->scope->not_pidns = not_pidns;
	if (netns) {
		s->scope->netns = netns;
		return;
	}
	snprintf(name, sizeof(name), "%s", host);
	/* the first word last: it says that they are all there */
	for (unsigned i = WATCH_HOST / 8; i-- > 0;) {
		uint64_t word;

		memcpy(&word, name + 8 * i, sizeof(word));
		__atomic_store_n(&s->scope->host[i], word, __ATOMIC_RELEASE);
	}
}

static bool has_found(const struct sensor *s)
{
	return own(s)->scope->level != 0;
}

static int fd_of(const struct sensor *s)
{
	return ring_buffer__epoll_fd(own(s)->ring);
}

static int read_ring(struct sensor *s)
{
	int rc = ring_buffer__consume(own(s)->ring);

	return rc < 0 ? rc : 0;
}

static struct watch_counts counts_of(const struct sensor *sensor)
{
	const struct loaded *s = own(sensor);
	static struct watch_counts each[CPUS_MAX];
	struct watch_counts all = {0};
	uint32_t zero = 0;

	/* How many there are /sys says, which a native tracer does not have: the
	 * kernel writes what there is, and the rest stays zero. */
	if (bpf_map_lookup_elem(programs_map(s->programs, "counts"), &zero,
				each) < 0) {
		all.no_room = 1; /* not known, which is not nothing */
		return all;
	}
	for (int i = 0; i < CPUS_MAX; i++) {
		all.sent += each[i].sent;
		all.no_room += each[i].no_room;
		all.crowded += each[i].crowded;
		all.no_slot += each[i].no_slot;
		all.unknown += each[i].unknown;
	}
	/* of a hook: any of them may have been the agent's */
	if (s->backend != BACKEND_SYS_EXIT)
		all.no_slot += programs_missed(s->programs);
	return all;
}

static const char *back_end_of(const struct sensor *s)
{
	return backend_name(own(s)->backend);
}

static const char *io_uring_of(const struct sensor *s)
{
	return backend_io_uring(own(s)->backend, &own(s)->kernel);
}

static bool gives_event(const struct sensor *s, enum watch_event e)
{
	return backend_gives(own(s)->backend, &own(s)->kernel, e);
}

/* What cannot be told is said now, or refused. */
static int check_events(const struct loaded *s, const struct select *sel,
			struct err *err)
{
	for (unsigned e = 0; e < WATCH_EVENTS; e++)
		if (select_wants(sel, (enum watch_event)e) &&
		    !select_optional(sel, (enum watch_event)e) &&
		    !backend_gives(s->backend, &s->kernel, (enum watch_event)e))
			return err_set(
				err, -ENOTSUP,
				"this kernel cannot give '%s': it needs the back end fexit, or Linux 6.13",
				events_info((enum watch_event)e)->name);
	return 0;
}

static const struct sensor_ops loaded_ops = {
	.close = close_loaded,
	.follow = follow_agent,
	.has_found = has_found,
	.fd = fd_of,
	.read = read_ring,
	.counts = counts_of,
	.back_end = back_end_of,
	.io_uring = io_uring_of,
	.gives = gives_event,
};

static int try_backend(enum backend b, const struct backend_kernel *k,
		       const struct btf *types, const struct select *sel,
		       struct loaded **out, struct err *err)
{
	struct loaded *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_set(err, -ENOMEM, "no memory");
	s->sensor.ops = &loaded_ops;
	s->backend = b;
	s->kernel = *k;
	rc = load_programs(s, types, sel, err);
	if (rc == 0)
		rc = prove_event(s, err);
	if (rc == 0)
		rc = check_events(s, sel, err);
	if (rc < 0) {
		close_loaded(&s->sensor);
		return rc;
	}
	*out = s;
	return 0;
}

int sensor_open(const struct select *sel, const enum backend *forced,
		sensor_message *on_message, void *ctx, struct sensor **out,
		struct err *err)
{
	struct loaded *s = NULL;
	struct btf *types = btf__load_vmlinux_btf();
	struct backend_kernel kernel;
	int rc = -EINVAL;

	backend_kernel_read(types, &kernel);
	for (unsigned b = 0; b < BACKENDS && rc < 0; b++)
		if (forced ? *forced == (enum backend)b : kernel.takes[b])
			rc = try_backend((enum backend)b, &kernel, types, sel,
					 &s, err);
	btf__free(types);
	if (rc < 0)
		return rc;
	s->on_message = on_message;
	s->ctx = ctx;
	*out = &s->sensor;
	return 0;
}
