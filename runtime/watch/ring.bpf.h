/*
 * io_uring without hooks: what is asked of a ring makes no system call, and
 * is seen where the kernel takes it from the ring (names are its own copies by
 * then) and where it says how it went. Linux 6.0 and later.
 *
 * A part of watch.bpf.c.
 */

/* uapi/linux/io_uring.h */
enum {
	RING_SENDMSG = 9,
	RING_ACCEPT = 13,
	RING_CONNECT = 16,
	RING_OPENAT = 18,
	RING_SEND = 26,
	RING_OPENAT2 = 28,
	RING_RENAMEAT = 35,
	RING_UNLINKAT = 36,
	RING_MKDIRAT = 37,
	RING_SYMLINKAT = 38,
	RING_LINKAT = 39,
	RING_BIND = 56,
	RING_LISTEN = 57,
};

/* By request, until it is done. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct kept);
} asked SEC(".maps");

static __always_inline enum watch_op ring_op(__u8 opcode)
{
	switch (opcode) {
	case RING_OPENAT:
	case RING_OPENAT2:
		return WATCH_OP_OPEN;
	case RING_UNLINKAT:
		return WATCH_OP_UNLINK;
	case RING_RENAMEAT:
		return WATCH_OP_RENAME;
	case RING_LINKAT:
		return WATCH_OP_LINK;
	case RING_SYMLINKAT:
		return WATCH_OP_SYMLINK;
	case RING_MKDIRAT:
		return WATCH_OP_MKDIR;
	case RING_CONNECT:
		return WATCH_OP_CONNECT;
	case RING_BIND:
		return WATCH_OP_BIND;
	case RING_LISTEN:
		return WATCH_OP_LISTEN;
	case RING_ACCEPT:
		return WATCH_OP_ACCEPT;
	case RING_SENDMSG:
	case RING_SEND:
		return WATCH_OP_SEND;
	}
	return WATCH_OP_NONE;
}

static __always_inline struct socket *ring_socket(struct io_kiocb *req)
{
	struct file *f = GET(req, file);

	if (!f || (GET(f, f_inode, i_mode) & 0170000) != 0140000)
		return NULL;
	return GET(f, private_data);
}

static __always_inline void put_ring_open(struct message *m,
					  struct task_struct *t, void *cmd)
{
	struct io_open *o = cmd;
	struct filename *name = GET(o, filename);

	put_name(m, t, GET(o, dfd), name, WATCH_FIRST);
	put_kernel_text(m, WATCH_TEXT, WATCH_CMD, GET(name, name));
	m->head.args[5] = GET(o, how.flags) & ~(__u64)O_LARGEFILE;
}

static __always_inline void put_ring_names(struct message *m,
					   struct task_struct *t, void *cmd)
{
	struct io_rename *o = cmd;

	put_name(m, t, GET(o, old_dfd), GET(o, oldpath), WATCH_FIRST);
	put_name(m, t, GET(o, new_dfd), GET(o, newpath), WATCH_SECOND);
}

static __always_inline void put_ring_link(struct message *m,
					  struct task_struct *t, void *cmd,
					  bool symbolic)
{
	struct io_link *o = cmd;
	struct filename *old = GET(o, oldpath);

	if (symbolic)
		put_kernel_text(m, WATCH_TEXT, WATCH_FIRST, GET(old, name));
	else
		put_name(m, t, GET(o, old_dfd), old, WATCH_FIRST);
	put_name(m, t, GET(o, new_dfd), GET(o, newpath), WATCH_SECOND);
}

static __always_inline void put_ring_connect(struct message *m, void *cmd)
{
	struct io_connect *o = cmd;

	put_addr(m, GET(o, addr), (__u32)GET(o, addr_len), true);
}

static __always_inline void put_ring(struct message *m, struct task_struct *t,
				     struct io_kiocb *req, enum watch_op op)
{
	struct io_unlink *unlink = (void *)req;
	struct io_mkdir *mkdir = (void *)req;

	switch (op) {
	case WATCH_OP_OPEN:
		put_ring_open(m, t, req);
		return;
	case WATCH_OP_UNLINK:
		put_name(m, t, GET(unlink, dfd), GET(unlink, filename),
			 WATCH_FIRST);
		return;
	case WATCH_OP_MKDIR:
		put_name(m, t, GET(mkdir, dfd), GET(mkdir, filename),
			 WATCH_FIRST);
		return;
	case WATCH_OP_RENAME:
		put_ring_names(m, t, req);
		return;
	case WATCH_OP_LINK:
	case WATCH_OP_SYMLINK:
		put_ring_link(m, t, req, op == WATCH_OP_SYMLINK);
		return;
	case WATCH_OP_CONNECT:
		put_socket_of(m, ring_socket(req));
		put_ring_connect(m, req);
		return;
	case WATCH_OP_BIND:
	case WATCH_OP_LISTEN:
	case WATCH_OP_ACCEPT:
	case WATCH_OP_SEND:
		put_socket_of(m, ring_socket(req));
		return;
	case WATCH_OP_NONE:
	case WATCH_OPS:
		return;
	}
}

static __always_inline void on_asked(struct io_kiocb *req)
{
	struct task_struct *t = bpf_get_current_task_btf();
	enum watch_op op;
	struct message *m;
	__u64 key = (__u64)req;

	t = PLAIN(t);
	if (!in_scope(t))
		return;
	op = ring_op(GET(req, opcode));
	if (op == WATCH_OP_NONE || config.ops[op] >= WATCH_CALLS_MAX ||
	    (op == WATCH_OP_SEND && !is_datagram_of(ring_socket(req))))
		return;
	m = begin(t, WATCH_RING);
	if (!m)
		return;
	m->head.nr = config.ops[op];
	m->head.args[0] = (__u64)-1; /* what it works on has no descriptor */
	put_ring(m, t, req, op);
	if (m->head.bytes >= KEPT_MAX ||
	    bpf_map_update_elem(&asked, &key, &m->head, BPF_ANY) != 0)
		send(m); /* how it went is not known then */
}

static __always_inline void on_done(__u64 req, int res)
{
	struct kept *k = bpf_map_lookup_elem(&asked, &req);
	__u32 zero = 0, n;
	struct message *m = bpf_map_lookup_elem(&scratch, &zero);

	if (!k || !m)
		return;
	n = k->head.bytes & (KEPT_MAX - 1);
	__builtin_memcpy(&m->head, &k->head, sizeof(m->head));
	bpf_probe_read_kernel(m->items, n, k->items);
	bpf_map_delete_elem(&asked, &req);
	m->head.bytes = n;
	m->head.ret = res;
	if (res != -ENOENT && res != -ENOTDIR)
		send(m);
}

SEC("tp_btf/io_uring_submit_req")
int BPF_PROG(ring_asked, struct io_kiocb *req)
{
	on_asked(req);
	return 0;
}

/* Before 6.4. */
SEC("tp_btf/io_uring_submit_sqe")
int BPF_PROG(ring_asked_sqe, struct io_kiocb *req, bool force)
{
	on_asked(req);
	return 0;
}

SEC("tp_btf/io_uring_complete")
int BPF_PROG(ring_done, void *rings, void *req, __u64 data, int res)
{
	on_done((__u64)req, res);
	return 0;
}

/* From 6.15 on. */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(ring_done_cqe, void *rings, void *req, struct io_uring_cqe *cqe)
{
	on_done((__u64)req, GET(cqe, res));
	return 0;
}
