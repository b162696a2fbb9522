/*
 * seccomp.json as the kernel would run it: libseccomp makes of it the filter
 * that runc loads, for both machines, and a small interpreter runs that. What
 * it answers is compared with what the JSON says by itself, for every call
 * there is and arguments at the borders, and with a table of what matters.
 */
#include "compiler/emit/docker/seccomp.h"
#include "tests/check.h"
#include "tests/rng.h"
#include "tests/unit/policy.h"

#include <cjson/cJSON.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define EPERM_	(SECCOMP_RET_ERRNO | 1)
#define ENOSYS_ (SECCOMP_RET_ERRNO | 38)
#define EPROTO_ (SECCOMP_RET_ERRNO | 93)
#define ALLOW_	SECCOMP_RET_ALLOW
#define KILL_	SECCOMP_RET_KILL_THREAD

static struct arena *a;
static struct rng rng = {1};

struct machine {
	const char *name;
	uint32_t arch;	/* libseccomp's */
	uint32_t audit; /* the kernel's */
};

static const struct machine machines[] = {
	{"SCMP_ARCH_X86_64", SCMP_ARCH_X86_64, AUDIT_ARCH_X86_64},
	{"SCMP_ARCH_AARCH64", SCMP_ARCH_AARCH64, AUDIT_ARCH_AARCH64},
};

/* --- the kernel's side ---------------------------------------------------- */

struct filter {
	struct sock_filter code[4096];
	size_t n;
};

static uint32_t run_filter(const struct filter *f, const struct seccomp_data *d)
{
	uint32_t acc = 0;

	for (size_t pc = 0; pc < f->n; pc++) {
		const struct sock_filter *i = &f->code[pc];
		bool yes = false;

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			memcpy(&acc, (const char *)d + i->k, sizeof(acc));
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			acc &= i->k;
			continue;
		case BPF_RET | BPF_K:
			return i->k;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			yes = acc == i->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			yes = acc > i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			yes = acc >= i->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			yes = acc & i->k;
			break;
		default:
			abort();
		}
		pc += yes ? i->jt : i->jf;
	}
	abort();
}

/* --- what the JSON says --------------------------------------------------- */

static uint64_t number(const cJSON *o, const char *key)
{
	const cJSON *v = cJSON_GetObjectItem(o, key);

	return cJSON_IsNumber(v) ? (uint64_t)v->valuedouble : 0;
}

static const char *text(const cJSON *o, const char *key)
{
	const char *s = cJSON_GetStringValue(cJSON_GetObjectItem(o, key));

	return s ? s : "";
}

static uint32_t verdict_of(const cJSON *entry)
{
	if (strcmp(text(entry, "action"), "SCMP_ACT_ALLOW") == 0)
		return ALLOW_;
	return SECCOMP_RET_ERRNO | (uint32_t)number(entry, "errnoRet");
}

static bool meets(const cJSON *entry, const uint64_t *args)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, cJSON_GetObjectItem(entry, "args")) {
		uint64_t v = args[number(c, "index")],
			 want = number(c, "value");
		const char *op = text(c, "op");

		if (strcmp(op, "SCMP_CMP_EQ") == 0 ? v != want
		    : strcmp(op, "SCMP_CMP_GT") == 0
			    ? v <= want
			    : (v & want) != number(c, "valueTwo"))
			return false;
	}
	return true;
}

static bool names(const cJSON *entry, const char *name)
{
	const cJSON *n;

	cJSON_ArrayForEach(n, cJSON_GetObjectItem(entry, "names"))
		if (strcmp(n->valuestring, name) == 0)
			return true;
	return false;
}

/* No two entries may disagree. */
static uint32_t said(const cJSON *profile, const char *name,
		     const uint64_t *args)
{
	uint32_t verdict = EPERM_;
	bool found = false;
	const cJSON *e;

	cJSON_ArrayForEach(e, cJSON_GetObjectItem(profile, "syscalls")) {
		if (!names(e, name) || !meets(e, args))
			continue;
		CHECK_MSG(!found || verdict == verdict_of(e), "%s", name);
		verdict = verdict_of(e);
		found = true;
	}
	return verdict;
}

/* --- what runc does ------------------------------------------------------- */

static enum scmp_compare operator_of(const char *op)
{
	return strcmp(op, "SCMP_CMP_EQ") == 0	? SCMP_CMP_EQ
	       : strcmp(op, "SCMP_CMP_GT") == 0 ? SCMP_CMP_GT
						: SCMP_CMP_MASKED_EQ;
}

static void add_entry(scmp_filter_ctx ctx, const cJSON *e)
{
	struct scmp_arg_cmp args[6];
	unsigned n = 0;
	const cJSON *c, *name;
	uint32_t action = verdict_of(e);

	cJSON_ArrayForEach(c, cJSON_GetObjectItem(e, "args"))
		args[n++] = (struct scmp_arg_cmp){(unsigned)number(c, "index"),
						  operator_of(text(c, "op")),
						  number(c, "value"),
						  number(c, "valueTwo")};
	cJSON_ArrayForEach(name, cJSON_GetObjectItem(e, "names")) {
		int nr = seccomp_syscall_resolve_name(name->valuestring);

		if (nr == __NR_SCMP_ERROR)
			continue; /* runc passes those over as well */
		CHECK_MSG(seccomp_rule_add_array(ctx, action, nr, n, args) == 0,
			  "%s", name->valuestring);
	}
}

static void make_filter(const cJSON *profile, const struct machine *m,
			struct filter *out)
{
	scmp_filter_ctx ctx = seccomp_init(SCMP_ACT_ERRNO(1));
	int fd = memfd_create("filter", MFD_CLOEXEC);
	const cJSON *e;
	ssize_t got;

	if (!ctx || fd < 0)
		abort();
	if (seccomp_arch_native() != m->arch &&
	    (seccomp_arch_add(ctx, m->arch) < 0 ||
	     seccomp_arch_remove(ctx, seccomp_arch_native()) < 0))
		abort();
	cJSON_ArrayForEach(e, cJSON_GetObjectItem(profile, "syscalls"))
		add_entry(ctx, e);
	CHECK(seccomp_export_bpf(ctx, fd) == 0);
	got = pread(fd, out->code, sizeof(out->code), 0);
	CHECK(got > 0 && (size_t)got < sizeof(out->code));
	out->n = (size_t)got / sizeof(*out->code);
	close(fd);
	seccomp_release(ctx);
}

/* --- comparing ------------------------------------------------------------ */

static uint64_t some_argument(void)
{
	static const uint64_t values[] = {
		0,
		1,
		2,
		3,
		5,
		6,
		9,
		10,
		15,
		16,
		17,
		38,
		40,
		132,
		136,
		262,
		0x80000,
		0x800,
		18,
		12,
		0xffffffff,
		0x10000000,
		0x20000,
		0x7e020000,
		17 | 0x10000000,
		0x80001,
		0x80002,
		1ull << 32,
		40 + (1ull << 32),
		1 + (1ull << 32),
		2 + (1ull << 32),
	};

	return values[rng_below(&rng, ARRAY_LEN(values))];
}

static uint32_t ask(const struct filter *f, const struct machine *m, int nr,
		    const uint64_t *args)
{
	struct seccomp_data d = {.nr = nr, .arch = m->audit};

	memcpy(d.args, args, sizeof(d.args));
	return run_filter(f, &d);
}

static void compare_call(const cJSON *profile, const struct filter *f,
			 const struct machine *m, int nr)
{
	char *name = seccomp_syscall_resolve_num_arch(m->arch, nr);
	unsigned times = name && (strcmp(name, "socket") == 0 ||
				  strcmp(name, "clone") == 0)
				 ? 20000
				 : 40;

	for (unsigned i = 0; i < times; i++) {
		uint64_t args[6];
		uint32_t want, got;

		for (size_t k = 0; k < ARRAY_LEN(args); k++)
			args[k] = some_argument();
		want = name ? said(profile, name, args) : EPERM_;
		got = ask(f, m, nr, args);
		CHECK_MSG(got == want, "%s %s: %x, not %x", m->name,
			  name ? name : "?", got, want);
	}
	free(name);
}

struct expected {
	const char *name;
	uint64_t args[3];
	uint32_t shared, own; /* without and with user_namespaces */
};

static const struct expected table[] = {
	{"read", {0}, ALLOW_, ALLOW_},
	{"execve", {0}, ALLOW_, ALLOW_},
	{"ptrace", {0}, ALLOW_, ALLOW_},
	{"process_vm_readv", {0}, ALLOW_, ALLOW_},
	{"seccomp", {0}, ALLOW_, ALLOW_},
	{"socket", {1, 1, 0}, ALLOW_, ALLOW_},
	{"socket", {2, 1, 0}, ALLOW_, ALLOW_},
	{"socket", {2, 0x80801, 6}, ALLOW_, ALLOW_},
	{"socket", {10, 2, 17}, ALLOW_, ALLOW_},
	{"socket", {16, 3, 0}, ALLOW_, ALLOW_},
	{"socket", {16, 3, 12}, EPROTO_, EPROTO_},
	{"socket", {16, 3, (uint64_t)-1}, EPROTO_, EPROTO_},
	{"socket", {2, 1, 262}, EPROTO_, EPROTO_},
	{"socket", {2, 1, 17}, EPERM_, EPERM_},
	{"socket", {2, 1, 132}, EPERM_, EPERM_},
	{"socket", {2, 5, 0}, EPERM_, EPERM_},
	{"socket", {2, 3, 255}, EPERM_, EPERM_},
	{"socket", {2, 10, 0}, EPERM_, EPERM_},
	{"socket", {17, 3, 0}, EPERM_, EPERM_},
	{"socket", {38, 5, 0}, EPERM_, EPERM_},
	{"socket", {40, 1, 0}, EPERM_, EPERM_},
	{"socket", {40 + (1ull << 32), 1, 0}, EPERM_, EPERM_},
	{"socketpair", {1, 1, 0}, ALLOW_, ALLOW_},
	{"socketpair", {30, 1, 0}, EPERM_, EPERM_},
	{"io_uring_setup", {0}, ENOSYS_, ENOSYS_},
	{"clone3", {0}, ENOSYS_, ENOSYS_},
	{"fsopen", {0}, ENOSYS_, ENOSYS_},
	{"userfaultfd", {0}, EPERM_, EPERM_},
	{"keyctl", {0}, EPERM_, EPERM_},
	{"add_key", {0}, EPERM_, EPERM_},
	{"request_key", {0}, EPERM_, EPERM_},
	{"bpf", {0}, EPERM_, EPERM_},
	{"perf_event_open", {0}, EPERM_, EPERM_},
	{"init_module", {0}, EPERM_, EPERM_},
	{"kexec_load", {0}, EPERM_, EPERM_},
	{"open_by_handle_at", {0}, EPERM_, EPERM_},
	{"pidfd_getfd", {0}, EPERM_, EPERM_},
	{"personality", {0xffffffff}, ALLOW_, ALLOW_},
	{"personality", {8}, EPERM_, EPERM_},
	{"clone", {17}, ALLOW_, ALLOW_},
	{"clone", {17 | 0x10000000}, EPERM_, ALLOW_},
	{"clone", {17 | 0x40000000}, EPERM_, ALLOW_},
	{"clone", {17 | 0x20000}, EPERM_, ALLOW_},
	{"unshare", {0}, EPERM_, ALLOW_},
	{"setns", {0}, EPERM_, ALLOW_},
	{"mount", {0}, EPERM_, ALLOW_},
	{"pivot_root", {0}, EPERM_, ALLOW_},
	{"chroot", {0}, EPERM_, ALLOW_},
	{"umount2", {0}, EPERM_, ALLOW_},
};

static void check_table(const struct filter *f, const struct machine *m,
			bool own)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const struct expected *x = &table[i];
		uint64_t args[6] = {x->args[0], x->args[1], x->args[2]};
		int nr = seccomp_syscall_resolve_name_arch(m->arch, x->name);

		CHECK_MSG(ask(f, m, nr, args) == (own ? x->own : x->shared),
			  "%s %s %llx", m->name, x->name,
			  (unsigned long long)args[0]);
	}
}

/* Calls by another convention end the program, whatever they are. */
static void check_other_conventions(const struct filter *f,
				    const struct machine *m)
{
	static const uint32_t others[] = {AUDIT_ARCH_I386, AUDIT_ARCH_ARM,
					  AUDIT_ARCH_S390X};
	const uint64_t none[6] = {0};

	for (int nr = 0; nr < 500; nr++) {
		for (size_t i = 0; i < ARRAY_LEN(others); i++) {
			const struct machine other = {"", 0, others[i]};

			CHECK(ask(f, &other, nr, none) == KILL_);
		}
		if (m->audit == AUDIT_ARCH_X86_64)
			CHECK(ask(f, m, 0x40000000 + nr, none) == KILL_);
	}
}

static cJSON *emitted(bool own, const char *cap)
{
	struct test_policy t;
	struct emit_in in;
	struct buf out;

	test_policy_init(&t, a, LAYER_GLOBAL);
	t.doc.hardening.user_namespaces = (ir_opt_bool){.set = true, .v = own};
	if (cap)
		*vec_push(a, &t.doc.hardening.capabilities) =
			test_policy_text(&t, cap);
	CHECK(test_policy_done(&t));
	in = test_policy_in(&t);
	buf_init(&out, a);
	CHECK(seccomp_wanted(&t.policy) && seccomp_emit(&in, &out));
	return cJSON_Parse(out.p);
}

static void check_profile(const cJSON *profile, const bool *own)
{
	for (size_t i = 0; i < ARRAY_LEN(machines); i++) {
		const struct machine *m = &machines[i];
		struct filter f;

		make_filter(profile, m, &f);
		CHECK(strcmp(text(cJSON_GetArrayItem(
					  cJSON_GetObjectItem(profile,
							      "archMap"),
					  (int)i),
				  "architecture"),
			     m->name) == 0);
		for (int nr = 0; nr < 600; nr++)
			compare_call(profile, &f, m, nr);
		check_other_conventions(&f, m);
		if (own)
			check_table(&f, m, *own);
	}
}

/* A misspelt name would be passed over, and its call refused. */
static void check_names(const cJSON *profile)
{
	/* Newer than the libseccomp that may be here. */
	static const char newer[] =
		" cachestat fchmodat2 futex_requeue futex_wait futex_wake "
		"getxattrat listmount listxattrat map_shadow_stack mseal "
		"removexattrat setxattrat statmount uretprobe ";
	const cJSON *e, *n;

	cJSON_ArrayForEach(e, cJSON_GetObjectItem(profile, "syscalls"))
		cJSON_ArrayForEach(n, cJSON_GetObjectItem(e, "names"))
			CHECK_MSG(
				seccomp_syscall_resolve_name(n->valuestring) !=
						__NR_SCMP_ERROR ||
					strstr(newer, arena_fmt(a, " %s ",
								n->valuestring)
							      .p),
				"%s", n->valuestring);
}

int main(void)
{
	static const char *const caps[] = {"ALL", "NET_RAW", "SYS_ADMIN",
					   "SYS_CHROOT"};
	cJSON *profile;

	a = arena_new();
	for (unsigned own = 0; own < 2; own++) {
		profile = emitted(own, NULL);
		check_profile(profile, &(bool){own});
		cJSON_Delete(profile);
	}
	for (size_t i = 0; i < ARRAY_LEN(caps); i++) {
		profile = emitted(false, caps[i]);
		check_names(profile);
		check_profile(profile, NULL);
		cJSON_Delete(profile);
	}
	arena_free(a);
	return check_status();
}
