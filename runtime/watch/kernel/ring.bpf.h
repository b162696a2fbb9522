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
	RING_SEND_ZC = 47,
	RING_SENDMSG_ZC = 48,
	RING_FTRUNCATE = 55,
	RING_BIND = 56,
	RING_LISTEN = 57,
	RING_MULTISHOT = 1, /* of an accept */
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
	case RING_FTRUNCATE:
		return WATCH_OP_FTRUNCATE;
	case RING_SENDMSG:
	case RING_SENDMSG_ZC:
	case RING_SEND:
	case RING_SEND_ZC:
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

	put_name(m, t, GET(o, dfd), GET(o, filename), WATCH_FIRST);
	put_open_flags(m, GET(o, how.flags) & ~(__u64)O_LARGEFILE);
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

/*
 * The kernel's own copy of an address: alone, or in a message. No message
 * begins with the number of such a family, but with a pointer.
 */
static __always_inline void put_copied(struct message *m, struct io_kiocb *req,
				       __u32 bytes)
{
	struct io_async_msghdr *copy = GET(req, async_data);
	__u16 family = 0;

	bpf_probe_read_kernel(&family, sizeof(family), copy);
	if (family == AF_UNIX || family == AF_INET || family == AF_INET6)
		put_addr(m, copy, bytes, false);
	else if (copy)
		put_addr(m, &copy->addr, bytes, false);
}

static __always_inline void put_ring_connect(struct message *m,
					     struct io_kiocb *req)
{
	struct io_connect *o = (void *)req;

	if (bpf_core_type_exists(struct io_async_connect))
		put_addr(m, GET(o, addr), (__u32)GET(o, addr_len), true);
	else
		put_copied(m, req, (__u32)GET(o, addr_len));
}

static __always_inline bool has_header(struct io_kiocb *req)
{
	__u8 opcode = GET(req, opcode);

	return opcode == RING_SENDMSG || opcode == RING_SENDMSG_ZC;
}

static __always_inline void put_ring_send(struct message *m,
					  struct io_kiocb *req)
{
	struct io_async_msghdr *copy = GET(req, async_data);
	struct io_sr_msg___old *old = (void *)req;
	struct io_sr_msg *o = (void *)req;
	struct user_msghdr h;

	m->head.args[2] = GET(o, msg_flags);
	if (!bpf_core_field_exists(old->addr)) {
		if (copy && GET(copy, msg.msg_name))
			put_addr(m, &copy->addr,
				 (__u32)GET(copy, msg.msg_namelen), false);
	} else if (!has_header(req)) {
		put_addr(m, GET(old, addr), GET(old, addr_len), true);
	} else if (read_msghdr(&h, GET(o, umsg), 0, is_narrow(m))) {
		put_addr(m, h.name, (__u64)h.name_bytes, true);
	}
}

static __always_inline void put_ring(struct message *m, struct task_struct *t,
				     struct io_kiocb *req, enum watch_op op)
{
	struct io_unlink *unlink = (void *)req;
	struct io_mkdir *mkdir = (void *)req;
	struct io_listen *listen = (void *)req;
	struct io_ftrunc *cut = (void *)req;
	struct io_bind *bind = (void *)req;

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
		put_ring_connect(m, req);
		return;
	case WATCH_OP_BIND:
		if (bpf_core_type_exists(struct io_bind))
			put_copied(m, req, (__u32)GET(bind, addr_len));
		return;
	case WATCH_OP_LISTEN:
		if (bpf_core_type_exists(struct io_listen))
			m->head.args[1] = (__u32)GET(listen, backlog);
		return;
	case WATCH_OP_FTRUNCATE:
		if (bpf_core_type_exists(struct io_ftrunc))
			m->head.args[1] = (__u64)GET(cut, len);
		return;
	case WATCH_OP_SEND:
		put_ring_send(m, req);
		return;
	case WATCH_OP_ACCEPT:
	case WATCH_OP_NONE:
	case WATCH_OPS:
		return;
	}
}

/* One request, an answer for each connection: those do not name it. */
struct shot {
	__u64 ctx, user_data;
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct shot);
	__type(value, __u64);
} shots SEC(".maps");

static __always_inline void note_shots(struct io_kiocb *req, enum watch_op op)
{
	struct io_accept *accept = (void *)req;
	struct shot shot = {};
	__u64 key = (__u64)req;

	if (op != WATCH_OP_ACCEPT)
		return;
	/* Older kernels do not show here that it is one of those. */
	if (bpf_core_field_exists(accept->iou_flags) &&
	    !(GET(accept, iou_flags) & RING_MULTISHOT))
		return;
	shot.ctx = (__u64)GET(req, ctx);
	shot.user_data = GET(req, cqe.user_data);
	bpf_map_update_elem(&shots, &shot, &key, BPF_ANY);
}

static __always_inline void on_asked(struct io_kiocb *req)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct watch_counts *c = counted();
	enum watch_op op;
	struct message *m;
	__u64 key = (__u64)req;

	t = PLAIN(t);
	if (!in_scope(t))
		return;
	op = ring_op(GET(req, opcode));
	if (op == WATCH_OP_NONE || config.ops[op] >= WATCH_CALLS_MAX)
		return;
	m = begin_message(t, WATCH_RING);
	if (!m)
		return;
	m->head.nr = config.ops[op];
	m->head.args[0] = (__u64)-1; /* what it works on has no descriptor */
	put_ring(m, t, req, op);
	note_shots(req, op);
	if (m->head.bytes < KEPT_MAX &&
	    bpf_map_update_elem(&asked, &key, &m->head, BPF_ANY) == 0)
		return;
	/* How it went is not known then, nor whether it has to be told. */
	if (op != WATCH_OP_SEND)
		send(m);
	else if (c)
		c->no_slot++;
}

/* Where it is among the process's files; in the ring's own table it is not
 * looked for. */
static __always_inline bool ring_wants(const struct message *m,
				       struct io_kiocb *req)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct io_open *o = (void *)req;
	struct file *f =
		GET(o, file_slot) ? NULL : file_at(PLAIN(t), m->head.ret);

	return !f || wants(f, m->head.args[5]);
}

/* What it worked on is known when it is done. */
static __always_inline bool put_worked_on(struct message *m,
					  struct io_kiocb *req)
{
	struct socket *s = ring_socket(req);
	struct file *f = GET(req, file);
	enum watch_op op = ring_op(GET(req, opcode));
	bool fast = (m->head.args[2] & MSG_FASTOPEN) && is_stream_of(s);

	if (op == WATCH_OP_OPEN && m->head.ret >= 0)
		return ring_wants(m, req);
	if (op == WATCH_OP_FTRUNCATE && f)
		put_path_of(m, &f->f_path, WATCH_PATH, WATCH_FIRST);
	put_socket_of(m, s);
	if (op != WATCH_OP_SEND || is_datagram_of(s))
		return true;
	if (fast)
		m->head.kind = WATCH_RING_FAST;
	return fast;
}

static __always_inline void tell_done(struct io_kiocb *req, int res, bool last)
{
	__u64 key = (__u64)req;
	struct kept *k = bpf_map_lookup_elem(&asked, &key);
	__u32 zero = 0, n;
	struct message *m = bpf_map_lookup_elem(&scratch, &zero);

	if (!k || !m)
		return;
	n = k->head.bytes & (KEPT_MAX - 1);
	__builtin_memcpy(&m->head, &k->head, sizeof(m->head));
	bpf_probe_read_kernel(m->items, n, k->items);
	if (last)
		bpf_map_delete_elem(&asked, &key);
	m->head.bytes = n;
	m->head.ret = res;
	if (res != -ENOENT && res != -ENOTDIR && put_worked_on(m, req))
		send(m);
}

static __always_inline void on_done(void *ctx, struct io_kiocb *req,
				    __u64 user_data, int res)
{
	struct shot shot = {(__u64)ctx, user_data};
	__u64 *several = bpf_map_lookup_elem(&shots, &shot), key = (__u64)req;
	bool last = several && *several == key;

	if (last)
		bpf_map_delete_elem(&shots, &shot);
	if (last && res == -ECANCELED)
		bpf_map_delete_elem(&asked, &key);
	else if (req)
		tell_done(req, res, true);
	else if (several && res >= 0)
		tell_done((struct io_kiocb *)*several, res, false);
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
int BPF_PROG(ring_done, void *ctx_, void *req, __u64 data, int res)
{
	on_done(ctx_, req, data, res);
	return 0;
}

/* From 6.15 on. */
SEC("tp_btf/io_uring_complete")
int BPF_PROG(ring_done_cqe, void *ctx_, void *req, struct io_uring_cqe *cqe)
{
	on_done(ctx_, req, GET(cqe, user_data), GET(cqe, res));
	return 0;
}
