#include "runtime/watch/programs.h"

#include "compiler/base/sys/fileio.h"
#include "runtime/watch/types.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_TYPES "/sys/kernel/btf/vmlinux"

#define HALVES	  2
#define LINKS_MAX 32

/* watch.bpf.o, as the compiler for the kernel's side left it. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	"watch_object:\n"
	".incbin \"" WATCH_OBJECT "\"\n"
	"watch_object_end:\n"
	".popsection\n");
/* Hidden, or arm64 takes both from one entry of the table of addresses. */
extern const char watch_object[] __attribute__((visibility("hidden"))),
	watch_object_end[] __attribute__((visibility("hidden")));

struct half {
	struct bpf_object *object;
	size_t instructions;
	int rc;
	char log[160]; /* of libbpf: the first of its complaints */
};

struct programs {
	struct half halves[HALVES];
	struct bpf_link *links[LINKS_MAX];
	size_t n_links;
};

/* libbpf has no other way to say whose it is. */
static _Thread_local struct half *logging;

static int on_log(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_WARN || !logging || *logging->log)
		return 0;
	vsnprintf(logging->log, sizeof(logging->log), fmt, ap);
	logging->log[strcspn(logging->log, "\n")] = '\0';
	return 0;
}

/* Whether our users are the host's: all of them are mapped to themselves. A
 * kernel without user namespaces has no such file. */
static bool hosts_users(void)
{
	FILE *f = fopen("/proc/self/uid_map", "re");
	unsigned long from = 0, to = 0, n = UINT32_MAX;

	if (f && fscanf(f, "%lu %lu %lu", &from, &to, &n) != 3)
		n = 0;
	if (f)
		fclose(f);
	return from == 0 && to == 0 && n == UINT32_MAX;
}

static int explain_failure(int rc, const char *log, struct err *err)
{
	struct stat st;

	if (stat(KERNEL_TYPES, &st) < 0)
		return err_set(
			err, -ENOENT,
			"the kernel has no type information: CONFIG_DEBUG_INFO_BTF is needed");
	if (rc == -EPERM && !hosts_users())
		return err_set(
			err, rc,
			"in a user namespace nothing can be traced: Docker has to be without 'userns-remap', and not rootless");
	if (rc == -EPERM)
		return err_set(
			err, rc,
			"no privilege to trace: CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, are needed");
	return err_set(err, rc, "the kernel takes no program: %s",
		       *log ? log : strerror(-rc));
}

/* --- maps ----------------------------------------------------------------- */

/* Ours are found: they are of the same build. */
static struct bpf_map *map_of(const struct half *h, const char *name)
{
	return bpf_object__find_map_by_name(h->object, name);
}

/* What this back end does not need takes no memory. */
static uint32_t map_entries(const struct bpf_map *m,
			    const struct programs_job *job)
{
	struct str name = str_of(bpf_map__name(m));
	bool raw = job->backend == BACKEND_SYS_EXIT;

	if (str_is(name, "ring"))
		return select_ring(job->select);
	if (str_is(name, raw ? "kept" : "asked") ||
	    (raw && str_is(name, "scratch")))
		return 1;
	return bpf_map__max_entries(m);
}

static int make_map(const struct bpf_map *m, const struct programs_job *job)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts,
		    .map_flags = bpf_map__map_flags(m));
	int fd = bpf_map_create(bpf_map__type(m), bpf_map__name(m),
				bpf_map__key_size(m), bpf_map__value_size(m),
				map_entries(m, job), &opts);

	return fd < 0 ? -errno : fd;
}

static int share_maps(struct programs *p, const struct programs_job *job)
{
	struct bpf_map *m;
	int rc = 0;

	bpf_object__for_each_map(m, p->halves[0].object) {
		int fd = make_map(m, job);

		rc = fd < 0 ? fd : 0;
		for (unsigned i = 0; i < HALVES && rc == 0; i++)
			rc = bpf_map__reuse_fd(
				map_of(&p->halves[i], bpf_map__name(m)), fd);
		if (fd >= 0)
			close(fd);
		if (rc < 0)
			return rc;
	}
	return 0;
}

/* Closed to writing, so that the verifier takes what is in it for constant. */
static int fill_config(int fd, const struct watch_config *config)
{
	uint32_t zero = 0;

	if (bpf_map_update_elem(fd, &zero, config, BPF_ANY) < 0 ||
	    bpf_map_freeze(fd) < 0)
		return -errno;
	return 0;
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
				       "trace.json: the name '%s' is too long",
				       leaves[i]);
		memcpy(key, leaves[i], strlen(leaves[i]));
		if (bpf_map_update_elem(fd, key, &one, BPF_ANY) < 0)
			return err_set(err, -errno, "the table of names: %s",
				       strerror(errno));
	}
	return 0;
}

static int make_maps(struct programs *p, const struct programs_job *job,
		     struct err *err)
{
	int rc;

	if (bpf_map__value_size(map_of(&p->halves[0], ".rodata")) !=
	    sizeof(*job->config))
		return err_set(err, -EPROTO, "programs of another build");
	rc = share_maps(p, job);
	if (rc == 0)
		rc = fill_config(programs_map(p, ".rodata"), job->config);
	if (rc < 0)
		return explain_failure(rc, p->halves[0].log, err);
	return fill_leaves(programs_map(p, "leaves"), job->select, err);
}

/* --- programs ------------------------------------------------------------- */

/* The same object twice: what is open after each other are the same ones. */
static void deal_programs(struct programs *p, const struct programs_job *job)
{
	struct half *h = p->halves;
	struct bpf_program *one, *other = NULL;

	bpf_object__for_each_program(one, h[0].object) {
		bool wanted = backend_uses(job->backend, job->kernel,
					   job->select, bpf_program__name(one));
		unsigned to = h[1].instructions < h[0].instructions;

		other = bpf_object__next_program(h[1].object, other);
		bpf_program__set_autoload(one, wanted && to == 0);
		bpf_program__set_autoload(other, wanted && to == 1);
		if (wanted)
			h[to].instructions += bpf_program__insn_cnt(one);
	}
}

static void *load_half(void *arg)
{
	struct half *h = arg;

	logging = h;
	h->rc = bpf_object__load(h->object);
	logging = NULL;
	return NULL;
}

static int load_halves(struct programs *p, struct err *err)
{
	struct half *h = p->halves;
	pthread_t thread;
	bool beside = pthread_create(&thread, NULL, load_half, &h[1]) == 0;

	load_half(&h[0]);
	if (beside)
		pthread_join(thread, NULL);
	else
		load_half(&h[1]);
	for (unsigned i = 0; i < HALVES; i++)
		if (h[i].rc < 0)
			return explain_failure(h[i].rc, h[i].log, err);
	return 0;
}

static int attach_half(struct programs *p, const struct half *h)
{
	struct bpf_program *prog;

	bpf_object__for_each_program(prog, h->object) {
		if (!bpf_program__autoload(prog))
			continue;
		if (p->n_links == LINKS_MAX)
			return -E2BIG;
		p->links[p->n_links] = bpf_program__attach(prog);
		if (!p->links[p->n_links])
			return -errno;
		p->n_links++;
	}
	return 0;
}

static int attach_all(struct programs *p, struct err *err)
{
	for (unsigned i = 0; i < HALVES; i++) {
		struct half *h = &p->halves[i];
		int rc;

		logging = h;
		rc = attach_half(p, h);
		logging = NULL;
		if (rc < 0)
			return explain_failure(rc, h->log, err);
	}
	return 0;
}

/* types: a file of the kernel's, which is read when it is loaded. Its types
 * named, nobody looks for them among those of modules, which takes
 * CAP_SYS_ADMIN. */
static int open_half(struct half *h, const char *types, struct err *err)
{
	const struct bpf_object_open_opts opts = {.sz = sizeof(opts),
						  .object_name = "watch",
						  .btf_custom_path = types};

	logging = h;
	h->object = bpf_object__open_mem(
		watch_object, (size_t)(watch_object_end - watch_object), &opts);
	logging = NULL;
	return h->object ? 0 : explain_failure(-errno, h->log, err);
}

static int open_halves(struct programs *p, const struct programs_job *job,
		       int types, struct err *err)
{
	char path[64];
	int rc = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", types);
	for (unsigned i = 0; i < HALVES && rc == 0; i++)
		rc = open_half(&p->halves[i], path, err);
	if (rc == 0 && !job->types)
		rc = explain_failure(-ENOENT, "", err);
	return rc < 0 ? rc
		      : types_write(job->types,
				    bpf_object__btf(p->halves[0].object), types,
				    job->config->types, err);
}

static int load_all(struct programs *p, const struct programs_job *job,
		    struct err *err)
{
	auto_fd int types = memfd_create("types", MFD_CLOEXEC);
	int rc = types < 0 ? err_errno(err, "the kernel's types")
			   : open_halves(p, job, types, err);

	if (rc == 0)
		rc = make_maps(p, job, err);
	if (rc < 0)
		return rc;
	deal_programs(p, job);
	rc = load_halves(p, err);
	return rc < 0 ? rc : attach_all(p, err);
}

int programs_load(const struct programs_job *job, struct programs **out,
		  struct err *err)
{
	struct programs *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return err_set(err, -ENOMEM, "no memory");
	libbpf_set_print(on_log);
	rc = load_all(p, job, err);
	if (rc < 0) {
		programs_free(p);
		return rc;
	}
	*out = p;
	return 0;
}

void programs_free(struct programs *p)
{
	if (!p)
		return;
	while (p->n_links > 0)
		bpf_link__destroy(p->links[--p->n_links]);
	for (unsigned i = 0; i < HALVES; i++)
		bpf_object__close(p->halves[i].object);
	free(p);
}

int programs_map(const struct programs *p, const char *name)
{
	return bpf_map__fd(map_of(&p->halves[0], name));
}

/* What cannot be counted is one: a trace is whole where that is known. */
static uint64_t missed_runs(const struct bpf_program *prog)
{
	struct bpf_prog_info info = {0};
	uint32_t n = sizeof(info);

	if (!bpf_program__autoload(prog))
		return 0;
	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &n) < 0)
		return 1;
	return info.recursion_misses;
}

uint64_t programs_missed(const struct programs *p)
{
	struct bpf_program *prog;
	uint64_t all = 0;

	for (unsigned i = 0; i < HALVES; i++)
		bpf_object__for_each_program(prog, p->halves[i].object)
			all += missed_runs(prog);
	return all;
}
