#include "runtime/watch/sensor.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PROVE_CALL   SYS_sched_rr_get_interval /* nobody calls it by chance */
#define WAKE_BYTES   (1u << 20)
#define CPUS_MAX     4096
#define PROGRAMS_MAX 8

/* watch.bpf.o, as the compiler for the kernel's side left it. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"watch_object:\n"
	".incbin \"" WATCH_OBJECT "\"\n"
	"watch_object_end:\n"
	".popsection\n");
extern const char watch_object[], watch_object_end[];

struct sensor {
	struct bpf_object *object;
	struct bpf_link *links[PROGRAMS_MAX];
	size_t n_links;
	struct bpf_map *counts;
	struct watch_scope *scope; /* shared with the programs */
	struct ring_buffer *ring;
	sensor_message *on_message;
	void *ctx;
	bool proving, proved;
	char log[160]; /* of libbpf: the first of its complaints */
};

static struct sensor *logging; /* libbpf has no other way to say whose it is */

static int on_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN || !logging || *logging->log)
		return 0;
	vsnprintf(logging->log, sizeof(logging->log), fmt, ap);
	logging->log[strcspn(logging->log, "\n")] = '\0';
	return 0;
}

static int on_sample(void *ctx, void *data, size_t bytes)
{
	struct sensor *s = ctx;
	const struct watch_head *h = data;

	if (s->proving || h->nr == PROVE_CALL) {
		s->proved = s->proved ||
			    (bytes >= sizeof(*h) && h->kind == WATCH_CALL &&
			     h->nr == PROVE_CALL);
		return 0;
	}
	return s->on_message(s->ctx, data, bytes);
}

/* By the version: to look it up among the kernel's types takes 50 ms. */
static bool can_cast(void)
{
	struct utsname u;
	unsigned major = 0, minor = 0;

	return uname(&u) == 0 &&
	       sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	       (major > 6 || (major == 6 && minor >= 2));
}

/* What the programs hold from the beginning. */
static void fill_config(struct watch_config *c, const struct select *sel)
{
	const struct events_call *known = events_calls();
	const char *const *leaves;
	uint32_t quarter = select_ring(sel) / 4;
	size_t n = select_leaves(sel, &leaves);
	/* Who asked is also who gets the answer. */
	bool questions =
		select_wants(sel, WATCH_EVENT_net_packet_dns_request) ||
		select_wants(sel, WATCH_EVENT_net_packet_dns_response);

	for (unsigned i = 0; i < WATCH_CALLS_MAX; i++)
		if (known[i].name &&
		    (select_wants(sel, known[i].event) ||
		     (questions && (known[i].how.flags & WATCH_QUESTION))))
			c->calls[i] = known[i].how;
	c->calls[PROVE_CALL].how = WATCH_PLAIN;
	c->settings = (struct watch_settings){
		.exec = select_wants(sel, WATCH_EVENT_sched_process_exec),
		.fork = select_wants(sel, WATCH_EVENT_sched_process_fork),
		.exit = select_wants(sel, WATCH_EVENT_sched_process_exit),
		.reads = select_reads(sel),
		.leaves = n > 0,
		.questions = questions,
		.casts = can_cast(),
		.wake_bytes = quarter < WAKE_BYTES ? quarter : WAKE_BYTES,
	};
	/* Names that are too long are refused by fill_leaves(). */
	for (size_t i = 0; i < n; i++)
		c->settings.leaf_first[strlen(leaves[i]) % WATCH_LEAF_MAX] |=
			UINT64_C(1) << (leaves[i][0] & 63);
}

static int fill_leaves(int fd, const struct select *sel, struct err *err)
{
	const char *const *leaves;
	size_t n = select_leaves(sel, &leaves);
	uint8_t one = 1;

	for (size_t i = 0; i < n; i++) {
		char key[WATCH_LEAF_MAX] = "";

		if (strlen(leaves[i]) >= sizeof(key))
			return err_set(err, -EPROTO,
				       "trace.json: the name "
				       "'%s' is too long",
				       leaves[i]);
		memcpy(key, leaves[i], strlen(leaves[i]));
		if (bpf_map_update_elem(fd, key, &one, BPF_ANY) < 0)
			return err_set(err, -errno, "the table of names: %s",
				       strerror(errno));
	}
	return 0;
}

static int explain(const struct sensor *s, int rc, struct err *err)
{
	struct stat st;

	if (stat("/sys/kernel/btf/vmlinux", &st) < 0)
		return err_set(err, -ENOENT,
			       "the kernel has no type "
			       "information: CONFIG_DEBUG_INFO_BTF is needed");
	if (rc == -EPERM)
		return err_set(err, rc,
			       "no privilege to trace: CAP_BPF and "
			       "CAP_PERFMON, or CAP_SYS_ADMIN, are needed");
	return err_set(err, rc, "the kernel takes no program: %s",
		       *s->log ? s->log : strerror(-rc));
}

/* Ours are found: they are of the same build. */
static struct bpf_map *map(const struct sensor *s, const char *name)
{
	return bpf_object__find_map_by_name(s->object, name);
}

static void leave_out(struct sensor *s, const char *program, bool wanted)
{
	if (!wanted)
		bpf_program__set_autoload(
			bpf_object__find_program_by_name(s->object, program),
			false);
}

static int attach(struct sensor *s)
{
	struct bpf_program *p;

	bpf_object__for_each_program(p, s->object)
	{
		if (!bpf_program__autoload(p))
			continue;
		s->links[s->n_links] = bpf_program__attach(p);
		if (!s->links[s->n_links])
			return -errno;
		s->n_links++;
	}
	return 0;
}

static int load(struct sensor *s, const struct select *sel, struct err *err)
{
	const struct bpf_object_open_opts opts = {.sz = sizeof(opts),
						  .object_name = "watch"};
	struct watch_config config = {0};
	int rc;

	s->object = bpf_object__open_mem(
		watch_object, (size_t)(watch_object_end - watch_object), &opts);
	if (!s->object)
		return explain(s, -errno, err);
	fill_config(&config, sel);
	if (bpf_map__set_initial_value(map(s, ".rodata"), &config,
				       sizeof(config)) < 0)
		return err_set(err, -EPROTO, "programs of another build");
	leave_out(s, "on_fork", config.settings.fork);
	leave_out(s, "on_exit", config.settings.exit);
	bpf_map__set_max_entries(map(s, "ring"), select_ring(sel));
	rc = bpf_object__load(s->object);
	if (rc == 0)
		rc = fill_leaves(bpf_map__fd(map(s, "leaves")), sel, err);
	if (rc == 0)
		rc = attach(s);
	if (rc < 0)
		return explain(s, rc, err);
	s->counts = map(s, "counts");
	s->scope = mmap(NULL, sizeof(*s->scope), PROT_READ | PROT_WRITE,
			MAP_SHARED, bpf_map__fd(map(s, ".bss")), 0);
	s->ring = ring_buffer__new(bpf_map__fd(map(s, "ring")), on_sample, s,
				   NULL);
	if (s->scope == MAP_FAILED || !s->ring)
		return err_set(err, -EIO,
			       "the programs are loaded, and "
			       "cannot be reached");
	return 0;
}

int sensor_open(const struct select *sel, sensor_message *on_message, void *ctx,
		struct sensor **out, struct err *err)
{
	struct sensor *s = calloc(1, sizeof(*s));
	int rc;

	if (!s)
		return err_set(err, -ENOMEM, "no memory");
	s->on_message = on_message;
	s->ctx = ctx;
	logging = s;
	libbpf_set_print(on_log);
	rc = load(s, sel, err);
	logging = NULL;
	if (rc < 0) {
		sensor_close(s);
		return rc;
	}
	*out = s;
	return 0;
}

void sensor_close(struct sensor *s)
{
	if (!s)
		return;
	if (s->ring)
		ring_buffer__free(s->ring);
	while (s->n_links > 0)
		bpf_link__destroy(s->links[--s->n_links]);
	if (s->object)
		bpf_object__close(s->object);
	free(s);
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

int sensor_prove(struct sensor *s, struct err *err)
{
	struct timespec ignored;
	uint32_t pidns = 0;
	int rc = own_pidns(&pidns, err);

	if (rc < 0)
		return rc;
	s->proving = true;
	/* The level is not ours to see: any that fits shows the event. */
	for (uint32_t level = 1; level <= 32 && !s->proved; level++) {
		sensor_follow_pidns(s, pidns, level);
		syscall(PROVE_CALL, 0, &ignored);
		rc = ring_buffer__consume(s->ring);
	}
	sensor_follow_pidns(s, 0, 0);
	if (ring_buffer__consume(s->ring) < 0 || !s->proved)
		return err_set(err, -EIO,
			       "the programs are attached, and an "
			       "event of our own did not come back");
	s->proving = false;
	return 0;
}

void sensor_follow(struct sensor *s, uint32_t netns, uint32_t not_pidns)
{
	s->scope->not_pidns = not_pidns;
	s->scope->netns = netns;
}

void sensor_follow_pidns(struct sensor *s, uint32_t pidns, uint32_t level)
{
	/* Never a level that goes with another namespace. */
	s->scope->level = 0;
	s->scope->pidns = pidns;
	s->scope->level = level;
}

int sensor_fd(const struct sensor *s)
{
	return ring_buffer__epoll_fd(s->ring);
}

int sensor_read(struct sensor *s)
{
	int rc = ring_buffer__consume(s->ring);

	return rc < 0 ? rc : 0;
}

struct watch_counts sensor_counts(const struct sensor *s)
{
	static struct watch_counts each[CPUS_MAX];
	struct watch_counts all = {0};
	uint32_t zero = 0;
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 1 || cpus > CPUS_MAX ||
	    bpf_map_lookup_elem(bpf_map__fd(s->counts), &zero, each) < 0)
		return all;
	for (int i = 0; i < cpus; i++) {
		all.sent += each[i].sent;
		all.lost += each[i].lost;
	}
	return all;
}

const char *sensor_back_end(const struct sensor *s)
{
	(void)s;
	return "sys_exit";
}
