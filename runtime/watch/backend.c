#include "runtime/watch/backend.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <linux/bpf.h>
#include <seccomp.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WAKE_BYTES  (1u << 20)
#define HOOK_EVENTS 6

static const char *const names[] = {"fexit", "lsm", "sys_exit"};

const char *backend_name(enum backend b)
{
	return names[b];
}

bool backend_find(const char *name, enum backend *out)
{
	for (unsigned i = 0; i < BACKENDS; i++)
		if (strcmp(name, names[i]) == 0) {
			*out = (enum backend)i;
			return true;
		}
	return false;
}

/* --- the kernel ----------------------------------------------------------- */

enum sought {
	FEXIT_CANARY,
	LSM_CANARY,
	CASTS,
	TP_CAPABLE,
	TP_RING_REQUEST,
	TP_RING_SQE,
	TP_RING_COMPLETE,
	SOUGHT,
};

static const struct {
	const char *name;
	unsigned kind;
} sought[SOUGHT] = {
	[FEXIT_CANARY] = {"security_task_getscheduler", BTF_KIND_FUNC},
	[LSM_CANARY] = {"bpf_lsm_task_getscheduler", BTF_KIND_FUNC},
	[CASTS] = {"bpf_rdonly_cast", BTF_KIND_FUNC},
	[TP_CAPABLE] = {"btf_trace_cap_capable", BTF_KIND_TYPEDEF},
	[TP_RING_REQUEST] = {"btf_trace_io_uring_submit_req", BTF_KIND_TYPEDEF},
	[TP_RING_SQE] = {"btf_trace_io_uring_submit_sqe", BTF_KIND_TYPEDEF},
	[TP_RING_COMPLETE] = {"btf_trace_io_uring_complete", BTF_KIND_TYPEDEF},
};

/* Once through all types, of which there are more than a hundred thousand; ids
 * of what is not there stay 0. */
static void seek_types(const struct btf *btf, uint32_t ids[SOUGHT])
{
	uint32_t n = btf ? btf__type_cnt(btf) : 0;

	for (uint32_t id = 1; id < n; id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		const char *name = btf__name_by_offset(btf, t->name_off);

		if (!btf_is_func(t) && !btf_is_typedef(t))
			continue;
		for (unsigned i = 0; i < SOUGHT; i++)
			if (btf_kind(t) == sought[i].kind && !ids[i] &&
			    strcmp(name, sought[i].name) == 0)
				ids[i] = id;
	}
}

/* The parameters of a tracepoint's functions, its context among them; 0 when
 * there is none. */
static unsigned parameters_of(const struct btf *btf, uint32_t id)
{
	const struct btf_type *t = id ? btf__type_by_id(btf, id) : NULL;

	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? btf_vlen(t) : 0;
}

/* Does it load a program at that function? Lists of features promise more. */
static bool takes_program(enum bpf_prog_type type, enum bpf_attach_type at,
			  uint32_t id)
{
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = at,
		    .attach_btf_id = id);
	int fd;

	if (id == 0)
		return false;
	fd = bpf_prog_load(type, "watch_try", "Dual MIT/GPL", nothing,
			   ARRAY_LEN(nothing), &opts);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void backend_kernel_read(const struct btf *btf, struct backend_kernel *out)
{
	uint32_t ids[SOUGHT] = {0};

	seek_types(btf, ids);
	*out = (struct backend_kernel){
		.takes = {takes_program(BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT,
					ids[FEXIT_CANARY]),
			  takes_program(BPF_PROG_TYPE_LSM, BPF_LSM_MAC,
					ids[LSM_CANARY]),
			  true},
		.casts = ids[CASTS] != 0,
		.capable = parameters_of(btf, ids[TP_CAPABLE]) == 6,
		.ring_requests = parameters_of(btf, ids[TP_RING_REQUEST]) == 2,
		/* Before 6.0 with more, and requests of another shape. */
		.ring_sqes = parameters_of(btf, ids[TP_RING_SQE]) == 3,
		.ring_done_cqes =
			parameters_of(btf, ids[TP_RING_COMPLETE]) == 4,
	};
}

static bool sees_rings(const struct backend_kernel *k)
{
	return k->ring_requests || k->ring_sqes;
}

const char *backend_io_uring(enum backend b, const struct backend_kernel *k)
{
	return b != BACKEND_SYS_EXIT || sees_rings(k) ? "followed"
						      : "its setup";
}

bool backend_gives(enum backend b, const struct backend_kernel *k,
		   enum watch_event e)
{
	return e != WATCH_EVENT_cap_capable || b == BACKEND_FEXIT || k->capable;
}

/* --- programs ------------------------------------------------------------- */

/* What a hook is for, by its name without the back end's. */
static const struct {
	const char *hook;
	enum watch_event events[HOOK_EVENTS];
	unsigned n;
} hooks[] = {
#define E(name) WATCH_EVENT_##name
#define HOOK(name, ...)                                                        \
	{                                                                      \
#name, {__VA_ARGS__ },                                         \
			sizeof((enum watch_event[]){__VA_ARGS__}) /            \
				sizeof(enum watch_event)                       \
	}
	HOOK(open, E(security_file_open)),
	HOOK(file_open, E(security_file_open)),
	HOOK(capable, E(cap_capable)),
	HOOK(path_unlink, E(security_inode_unlink)),
	HOOK(path_rmdir, E(security_inode_unlink), E(rmdir)),
	HOOK(path_mkdir, E(mkdir), E(mkdirat)),
	HOOK(path_mknod, E(mknod), E(mknodat)),
	HOOK(path_truncate, E(truncate)),
	HOOK(path_chmod, E(chmod), E(fchmodat)),
	HOOK(path_chown, E(chown), E(lchown), E(fchownat)),
	HOOK(path_chroot, E(chroot)),
	HOOK(path_rename, E(security_inode_rename)),
	HOOK(path_link, E(link), E(linkat)),
	HOOK(path_symlink, E(security_inode_symlink)),
	HOOK(sb_mount, E(mount)),
	HOOK(sb_umount, E(umount2)),
	HOOK(sb_pivotroot, E(pivot_root)),
	HOOK(move_mount, E(move_mount)),
	HOOK(socket_connect, E(security_socket_connect)),
	HOOK(socket_bind, E(security_socket_bind)),
	HOOK(socket_listen, E(security_socket_listen)),
	HOOK(socket_accept, E(security_socket_accept)),
	HOOK(socket_sendmsg, E(security_socket_connect), E(sendto), E(sendmsg),
	     E(sendmmsg), E(net_packet_dns_request),
	     E(net_packet_dns_response)),
#undef HOOK
#undef E
};

static bool hook_wanted(const struct select *s, struct str hook)
{
	for (size_t i = 0; i < ARRAY_LEN(hooks); i++)
		for (unsigned k = 0; k < hooks[i].n; k++)
			if (str_is(hook, hooks[i].hook) &&
			    select_wants(s, hooks[i].events[k]))
				return true;
	return str_is(hook, "task_getscheduler");
}

bool backend_uses(enum backend b, const struct backend_kernel *k,
		  const struct select *s, const char *program)
{
	struct str name = str_of(program);
	bool raw = b == BACKEND_SYS_EXIT;

	if (str_starts(name, STR("fexit_")))
		return b == BACKEND_FEXIT &&
		       hook_wanted(s, str_slice(name, 6, name.n));
	if (str_starts(name, STR("lsm_")))
		return b == BACKEND_LSM &&
		       hook_wanted(s, str_slice(name, 4, name.n));
	if (str_is(name, "tp_capable"))
		return b != BACKEND_FEXIT && k->capable &&
		       select_wants(s, WATCH_EVENT_cap_capable);
	if (str_is(name, "ring_asked"))
		return raw && k->ring_requests;
	if (str_is(name, "ring_asked_sqe"))
		return raw && !k->ring_requests && k->ring_sqes;
	if (str_is(name, "ring_done_cqe"))
		return raw && sees_rings(k) && k->ring_done_cqes;
	if (str_is(name, "ring_done"))
		return raw && sees_rings(k) && !k->ring_done_cqes;
	if (str_is(name, "on_state"))
		return raw &&
		       select_wants(s, WATCH_EVENT_security_socket_connect);
	if (str_is(name, "on_fork"))
		return select_wants(s, WATCH_EVENT_sched_process_fork);
	if (str_is(name, "on_exit")) /* it forgets what hooks kept, too */
		return !raw || select_wants(s, WATCH_EVENT_sched_process_exit);
	return true;
}

/* --- what they hold ------------------------------------------------------- */

/* Who asked is also who gets the answer. */
static bool wants_asker(const struct select *s)
{
	return select_wants(s, WATCH_EVENT_net_packet_dns_request) ||
	       select_wants(s, WATCH_EVENT_net_packet_dns_response);
}

/* A datagram's calls are a stream's, too: TCP Fast Open. */
static bool connects_too(const struct watch_call *c)
{
	return (c->flags & WATCH_DATAGRAM) && c->how != WATCH_WRITE;
}

static void fill_calls(struct watch_config *c, const struct select *s)
{
	const struct events_call *known = events_calls();
	bool questions = wants_asker(s);
	bool connects = select_wants(s, WATCH_EVENT_security_socket_connect);

	for (unsigned i = 0; i < WATCH_CALLS_MAX; i++)
		if (known[i].name &&
		    (select_wants(s, known[i].event) ||
		     (questions && (known[i].how.flags & WATCH_QUESTION)) ||
		     (connects && connects_too(&known[i].how))))
			c->calls[i] = known[i].how;
}

/* The call that an operation of a ring is recorded as. */
static void fill_ops(struct watch_config *c, const struct select *s)
{
	static const char *const as[WATCH_OPS] = {
		[WATCH_OP_OPEN] = "openat",
		[WATCH_OP_UNLINK] = "unlinkat",
		[WATCH_OP_RENAME] = "renameat2",
		[WATCH_OP_LINK] = "linkat",
		[WATCH_OP_SYMLINK] = "symlinkat",
		[WATCH_OP_MKDIR] = "mkdirat",
		[WATCH_OP_CONNECT] = "connect",
		[WATCH_OP_BIND] = "bind",
		[WATCH_OP_LISTEN] = "listen",
		[WATCH_OP_ACCEPT] = "accept4",
		[WATCH_OP_SEND] = "sendmsg",
		[WATCH_OP_FTRUNCATE] = "ftruncate",
	};

	for (unsigned i = 0; i < WATCH_OPS; i++) {
		int nr = as[i] ? seccomp_syscall_resolve_name(as[i]) : -1;

		c->ops[i] = WATCH_CALLS_MAX;
		if (nr >= 0 && nr < (int)WATCH_CALLS_MAX &&
		    select_wants(s, events_calls()[nr].event))
			c->ops[i] = (uint16_t)nr;
	}
}

void backend_config(enum backend b, const struct backend_kernel *k,
		    const struct select *s, uint32_t prove_call,
		    struct watch_config *out)
{
	const char *const *leaves;
	uint32_t quarter = select_ring(s) / 4;
	size_t n = select_leaves(s, &leaves);

	memset(out, 0, sizeof(*out));
	fill_calls(out, s);
	out->calls[prove_call].how = WATCH_PLAIN;
	foreign_fill(out);
	fill_ops(out, s);
	out->settings = (struct watch_settings){
		.exec = select_wants(s, WATCH_EVENT_sched_process_exec),
		.fork = select_wants(s, WATCH_EVENT_sched_process_fork),
		.exit = select_wants(s, WATCH_EVENT_sched_process_exit),
		.reads = select_reads(s),
		.leaves = n > 0,
		.questions = wants_asker(s),
		.casts = k->casts,
		.hooks = b != BACKEND_SYS_EXIT,
		.opens = b == BACKEND_FEXIT,
		.refusals = select_wants(s, WATCH_EVENT_cap_capable) &&
			    backend_gives(b, k, WATCH_EVENT_cap_capable),
		.ring_enter = SYS_io_uring_enter,
		.wake_bytes = quarter < WAKE_BYTES ? quarter : WAKE_BYTES,
		.crowd_bytes = 3 * quarter,
	};
	/* Names that are too long are refused by fill_leaves(). */
	for (size_t i = 0; i < n; i++)
		out->settings.leaf_first[strlen(leaves[i]) % WATCH_LEAF_MAX] |=
			UINT64_C(1) << (leaves[i][0] & 63);
}
