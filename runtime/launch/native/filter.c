/*
 * seccomp.json, as libseccomp makes it and the kernel runs it: the same file
 * that Docker gets, and the same library that runc asks.
 */
#include "runtime/launch/native/parts.h"

#include "compiler/base/sys/fileio.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_MAX (1u << 20)
#define ARGS_MAX 6
#define NEWER	 6	     /* instructions of put_newer() */
#define X32_BIT	 0x40000000u /* of calls by that convention */

static int fail_filter(struct err *err, const char *what)
{
	return err_set(err, -EPROTO, "seccomp.json: %s", what);
}

static void release_filter(scmp_filter_ctx *ctx)
{
	seccomp_release(*ctx);
}

static const char *text_of(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsString(m) ? m->valuestring : "";
}

static uint64_t number_of(const cJSON *o, const char *key)
{
	const cJSON *m = cJSON_GetObjectItemCaseSensitive(o, key);

	return cJSON_IsNumber(m) && m->valuedouble >= 0
		       ? (uint64_t)m->valuedouble
		       : 0;
}

static bool read_action(const cJSON *entry, uint32_t *out)
{
	const char *name = text_of(entry, "action");

	if (strcmp(name, "SCMP_ACT_ALLOW") == 0)
		*out = SCMP_ACT_ALLOW;
	else if (strcmp(name, "SCMP_ACT_ERRNO") == 0)
		*out = SCMP_ACT_ERRNO(number_of(entry, "errnoRet"));
	else
		return false;
	return true;
}

static bool read_compare(const cJSON *arg, struct scmp_arg_cmp *out)
{
	static const struct {
		const char *name;
		enum scmp_compare op;
	} ops[] = {
		{"SCMP_CMP_EQ", SCMP_CMP_EQ},
		{"SCMP_CMP_NE", SCMP_CMP_NE},
		{"SCMP_CMP_GT", SCMP_CMP_GT},
		{"SCMP_CMP_GE", SCMP_CMP_GE},
		{"SCMP_CMP_LT", SCMP_CMP_LT},
		{"SCMP_CMP_LE", SCMP_CMP_LE},
		{"SCMP_CMP_MASKED_EQ", SCMP_CMP_MASKED_EQ},
	};
	const char *name = text_of(arg, "op");

	for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
		if (strcmp(name, ops[i].name) != 0)
			continue;
		*out = (struct scmp_arg_cmp){
			.arg = (unsigned)number_of(arg, "index"),
			.op = ops[i].op,
			.datum_a = number_of(arg, "value"),
			.datum_b = number_of(arg, "valueTwo")};
		return out->arg < ARGS_MAX;
	}
	return false;
}

/* The kernels that this runs on have what the one condition there is asks for
 * (4.8). Any other says something that is not understood. */
static bool is_unconditional(const cJSON *entry)
{
	const cJSON *in = cJSON_GetObjectItemCaseSensitive(entry, "includes");

	if (cJSON_GetObjectItemCaseSensitive(entry, "excludes"))
		return false;
	return !in || (cJSON_GetArraySize(in) == 1 &&
		       strcmp(text_of(in, "minKernel"), "4.8") == 0);
}

/* newest: the highest number of those that the file knows. */
static int add_entry(scmp_filter_ctx ctx, const cJSON *entry, int *newest,
		     struct err *err)
{
	struct scmp_arg_cmp args[ARGS_MAX];
	const cJSON *item;
	uint32_t action;
	unsigned n = 0;

	if (!read_action(entry, &action) || !is_unconditional(entry))
		return fail_filter(err, "an entry that is not understood");
	cJSON_ArrayForEach(item,
			   cJSON_GetObjectItemCaseSensitive(entry, "args"))
		if (n == ARGS_MAX || !read_compare(item, &args[n++]))
			return fail_filter(
				err, "a condition that is not understood");
	cJSON_ArrayForEach(item,
			   cJSON_GetObjectItemCaseSensitive(entry, "names")) {
		int nr = cJSON_IsString(item) ? seccomp_syscall_resolve_name(
							item->valuestring)
					      : __NR_SCMP_ERROR,
		    rc;

		/* one that is newer than the library, or another machine's */
		if (nr == __NR_SCMP_ERROR || nr < 0)
			continue;
		*newest = nr > *newest ? nr : *newest;
		rc = seccomp_rule_add_array(ctx, action, nr, n, args);
		if (rc < 0)
			return err_set(err, rc, "seccomp.json: %s: %s",
				       item->valuestring, strerror(-rc));
	}
	return 0;
}

static int add_entries(scmp_filter_ctx ctx, const cJSON *root, int *newest,
		       struct err *err)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "syscalls"),
		    *entry;
	int rc = 0;

	if (strcmp(text_of(root, "defaultAction"), "SCMP_ACT_ERRNO") != 0 ||
	    number_of(root, "defaultErrnoRet") != EPERM || !cJSON_IsArray(list))
		return fail_filter(err, "not a list of what is open");
	cJSON_ArrayForEach(entry, list)
		if (rc == 0)
			rc = add_entry(ctx, entry, newest, err);
	return rc;
}

/*
 * Calls that came after the newest that the file knows are none that it
 * refuses: they are not there, as on an older kernel, and programs do without.
 * runc does so, too. Numbers of other machines, and of x32, go on to the
 * filter.
 */
static void put_newer(struct sock_filter *to, int newest)
{
	const struct sock_filter code[NEWER] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, seccomp_arch_native(), 0,
			 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (unsigned)newest, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};

	memcpy(to, code, sizeof(code));
}

/* libseccomp writes to a descriptor. */
static int export_filter(struct arena *a, scmp_filter_ctx ctx, int newest,
			 struct filter *out, struct err *err)
{
	auto_fd int fd = memfd_create("filter", MFD_CLOEXEC);
	struct stat st;
	size_t n;

	if (fd < 0 || seccomp_export_bpf(ctx, fd) < 0 || fstat(fd, &st) < 0)
		return err_errno(err, "seccomp.json");
	n = (size_t)st.st_size / sizeof(*out->code);
	if (n > BPF_MAXINSNS - NEWER)
		return fail_filter(err, "its filter is too long");
	out->n = (unsigned short)(NEWER + n);
	out->code = arena_alloc(a, out->n * sizeof(*out->code));
	put_newer(out->code, newest);
	if (pread(fd, out->code + NEWER, (size_t)st.st_size, 0) != st.st_size)
		return err_errno(err, "seccomp.json");
	return 0;
}

int filter_read(struct arena *a, const char *path, struct filter *out,
		struct err *err)
{
	__attribute__((cleanup(release_filter))) scmp_filter_ctx ctx =
		seccomp_init(SCMP_ACT_ERRNO(EPERM));
	struct str text;
	int newest = 0;
	cJSON *root;
	int rc = fileio_read(a, AT_FDCWD, path, FILE_MAX, &text, err);

	if (rc < 0)
		return rc;
	root = cJSON_ParseWithLength(text.p, text.n);
	if (!ctx || !root)
		rc = fail_filter(err, "not JSON");
	if (rc == 0)
		rc = add_entries(ctx, root, &newest, err);
	if (rc == 0)
		rc = export_filter(a, ctx, newest, out, err);
	cJSON_Delete(root);
	return rc;
}

int filter_load(const struct filter *f, struct err *err)
{
	struct sock_fprog program = {f->n, f->code};

	if (!f->code)
		return 0;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
		return err_errno(err, "the filter of system calls");
	return 0;
}
