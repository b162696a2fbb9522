/*
 * The end of a system call: the whole of the back end "sys_exit", and where the
 * others tell what their hooks have kept.
 *
 * A part of watch.bpf.c. Files that were opened come from the kernel's own
 * objects. What a process passed as text is read when the call has ended, so
 * another thread can have changed it by then; what hooks kept is not.
 */
/* --- what hooks keep ------------------------------------------------------ */

#define KEPT_MAX      8192
#define MSG_FASTOPEN  0x20000000
#define CLONE_NEW     0x7e020000 /* all of them but the one below */
#define CLONE_NEWTIME 0x80	 /* of a signal's bits, for the older call */

/* What the kernel had in its hands when a hook was called; the call's end, by
 * the same task, tells of it. */
struct kept {
	struct watch_head head; /* args[4]: a socket; [5]: sent to port 53 */
	__u8 items[KEPT_MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 512);
	__type(key, __u32);
	__type(value, struct kept);
} kept SEC(".maps");

/* Calls of which something may be kept. */
#define KEEPS                                                                  \
	(1u << WATCH_PATHS | 1u << WATCH_TARGET | 1u << WATCH_TO |             \
	 1u << WATCH_SOCKET | 1u << WATCH_MSG)

static __always_inline bool keeps(const volatile struct watch_call *c)
{
	return config.settings.hooks && (KEEPS >> c->how & 1);
}

static __always_inline void forget(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	bpf_map_delete_elem(&kept, &tid);
}

/* How many messages sendmmsg was given; 0: it is sendmsg. */
static __always_inline __u32 several(const struct message *m,
				     const volatile struct watch_call *c)
{
	return c->c < 0 ? 0 : (__u32)arg(m, c->c);
}

/* The rest of what such a call says is in the process's own memory. */
static __always_inline bool fill_kept(struct message *m, struct task_struct *t,
				      const volatile struct watch_call *c)
{
	struct socket *s = NULL;
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), n;
	struct kept *k = bpf_map_lookup_elem(&kept, &tid);
	bool asks;

	if (!k)
		return false;
	n = k->head.bytes & (KEPT_MAX - 1);
	asks = k->head.args[5] && config.settings.questions && m->head.ret >= 0;
	bpf_probe_read_kernel(m->items, n, k->items);
	/* Its port was not chosen yet, and stands first. */
	if (k->head.args[4])
		s = socket_at(t, arg(m, c->a));
	if (s && (__u64)s == k->head.args[4])
		put_socket_of(m, s);
	m->head.bytes = n;
	bpf_map_delete_elem(&kept, &tid);
	if (!asks)
		return true;
	if (c->how == WATCH_TO)
		put_data(m, WATCH_FIRST, (const void *)arg(m, 1), arg(m, 2));
	else if (c->how == WATCH_MSG)
		put_questions(m, (const void *)arg(m, c->b), several(m, c));
	return true;
}

static __always_inline bool put_written(struct message *m,
					struct task_struct *t,
					const volatile struct watch_call *c)
{
	const void *from = (const void *)arg(m, c->b);
	struct user_iovec v = {.base = from, .bytes = arg(m, c->c)};

	if (!to_resolver(NULL, 0, put_socket(m, t, c)) ||
	    (c->c < 0 && !read_iovec(&v, from, is_narrow(m))))
		return false;
	put_data(m, WATCH_FIRST, v.base, v.bytes);
	return true;
}

/* Enough for this call? The rest is said by its arguments. */
static __always_inline bool fill(struct message *m, struct task_struct *t,
				 const volatile struct watch_call *c,
				 struct pt_regs *regs)
{
	struct file *f;
	__u16 port;

	if (keeps(c) && fill_kept(m, t, c))
		return true;
	switch ((enum watch_how)c->how) {
	case WATCH_SKIP:
	case WATCH_PLAIN:
	case WATCH_CLONE:
		return true;
	case WATCH_OPEN:
		return on_open(m, t, c);
	case WATCH_PATHS:
		put_relative(m, t, (__s64)arg(m, c->a),
			     (const char *)arg(m, c->b), WATCH_FIRST);
		if (c->d >= 0)
			put_relative(m, t, (__s64)arg(m, c->c),
				     (const char *)arg(m, c->d), WATCH_SECOND);
		return true;
	case WATCH_TARGET:
		put_user_text(m, WATCH_FIRST, (const char *)arg(m, c->a));
		if (c->d >= 0)
			put_relative(m, t, (__s64)arg(m, c->c),
				     (const char *)arg(m, c->d), WATCH_SECOND);
		return true;
	case WATCH_FD:
		f = file_at(t, (__u32)arg(m, c->a));
		if (f)
			put_path_of(m, &f->f_path, WATCH_PATH, WATCH_FIRST);
		return true;
	case WATCH_TO:
		port = put_syn(m, t, c, regs) ? 0 : put_socket(m, t, c);
		put_addr(m, (const void *)arg(m, c->b), arg(m, c->c), true);
		if ((c->flags & WATCH_QUESTION) && config.settings.questions &&
		    m->head.ret >= 0 &&
		    to_resolver((const void *)arg(m, c->b), arg(m, c->c), port))
			put_data(m, WATCH_FIRST, (const void *)arg(m, 1),
				 arg(m, 2));
		return true;
	case WATCH_SOCKET:
		put_socket(m, t, c);
		return true;
	case WATCH_MSG:
		port = put_syn(m, t, c, regs) ? 0 : put_socket(m, t, c);
		put_msg(m, (const void *)arg(m, c->b), several(m, c), port);
		return true;
	case WATCH_WRITE:
		return put_written(m, t, c);
	}
	return true;
}

static __always_inline __u64 open_flags(const struct call *call,
					const volatile struct watch_call *c)
{
	__u64 flags = c->d < 0 ? O_CREATED : call_arg(call, (__u32)c->d);

	if (c->c) /* openat2: in a structure */
		bpf_probe_read_user(&flags, sizeof(flags), (void *)flags);
	return flags;
}

/* A send that connects: TCP Fast Open. */
static __always_inline bool is_fast(const struct call *call,
				    const volatile struct watch_call *c)
{
	if (c->how == WATCH_TO || (c->how == WATCH_MSG && c->c >= 0))
		return call->args[3] & MSG_FASTOPEN;
	return c->how == WATCH_MSG && (call->args[2] & MSG_FASTOPEN);
}

/* The child's return from it is no call. */
static __always_inline bool makes_namespaces(
	const struct call *call, const volatile struct watch_call *c)
{
	__u64 flags = call->args[0];

	if (c->b >= 0 && bpf_probe_read_user(&flags, sizeof(flags),
					     (const void *)flags) != 0)
		return true;
	return flags & (c->b >= 0 ? CLONE_NEW | CLONE_NEWTIME : CLONE_NEW);
}

/* A socket that something was sent on, or that began to connect, and that is
 * none any more, was closed by another thread: what it was is not known, so it
 * matters. */
static __always_inline bool send_may_matter(struct task_struct *t,
					    const volatile struct watch_call *c,
					    const struct call *call, long ret)
{
	bool writes = c->how == WATCH_WRITE;
	struct socket *s = socket_at(t, call->args[0]);

	if (!s)
		return (ret >= 0 && !writes) || ret == -EINPROGRESS;
	if (writes && ret < 0)
		return false;
	return is_datagram_of(s) || (is_fast(call, c) && is_stream_of(s));
}

/*
 * Most opens are reads that nobody asked for, and most writes go to files: told
 * apart before anything is copied.
 */
static __always_inline bool may_matter(struct task_struct *t,
				       const volatile struct watch_call *c,
				       const struct call *call, long ret)
{
	struct file *f;

	if (c->flags & WATCH_DATAGRAM)
		return send_may_matter(t, c, call, ret);
	if (c->how == WATCH_CLONE)
		return ret != 0 && makes_namespaces(call, c);
	if (c->how != WATCH_OPEN || ret < 0)
		return true;
	f = file_at(t, (__u64)ret);
	return !f || wants(f, open_flags(call, c));
}

static __always_inline void take_call(struct message *m,
				      const struct call *call)
{
	m->head.nr = (__u16)call->nr;
	m->head.flags = call->flags;
	for (__u32 i = 0; i < 6; i++)
		m->head.args[i] = call->args[i];
}

/* By how it ended. */
static __always_inline bool is_no_news(const volatile struct watch_call *c,
				       long ret)
{
	if ((c->flags & WATCH_NO_MISSING) &&
	    (ret == -ENOENT || ret == -ENOTDIR))
		return true;
	if ((c->flags & WATCH_ONLY_FAILED) && ret >= 0)
		return true;
	return (c->flags & WATCH_NO_RETRY) && ret == -EAGAIN;
}

static __always_inline void tell_call(struct task_struct *t,
				      struct pt_regs *regs,
				      const struct call *call, long ret)
{
	const volatile struct watch_call *c = how_of(call->nr);
	struct message *m;

	if (c->how == WATCH_SKIP ||
	    (c->how == WATCH_OPEN && config.settings.opens))
		return;
	if (is_no_news(c, ret) || !may_matter(t, c, call, ret) ||
	    !in_scope(t)) {
		if (keeps(c))
			forget();
		return;
	}
	m = begin_message(t, (c->flags & WATCH_DATAGRAM) && is_fast(call, c) &&
					     !is_datagram(t, call->args[0])
				     ? WATCH_FAST
				     : WATCH_CALL);
	if (!m)
		return;
	m->head.ret = ret;
	take_call(m, call);
	if (c->how == WATCH_OPEN)
		put_open_flags(m, open_flags(call, c));
	if (fill(m, t, c, regs))
		send(m);
}

/* The call that ends on a processor: on the stack the verifier would follow
 * each way of reading it on its own, to the end. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call);
} ending SEC(".maps");

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	bool refused =
		config.settings.refusals && (ret == -EPERM || ret == -EACCES);
	__u32 nr = raw_number(regs), zero = 0;
	struct task_struct *t;
	struct call *call;

	if (!refused && !may_be_traced(nr))
		return 0;
	t = bpf_get_current_task_btf();
	t = PLAIN(t);
	if (nr == NO_CALL || !may_be_in_scope(t))
		return 0;
	call = bpf_map_lookup_elem(&ending, &zero);
	if (!call)
		return 0;
	call_read(call, t, regs);
	if (refused)
		tell_refusal(t, regs, call, ret);
	if (call->nr < WATCH_CALLS_MAX)
		tell_call(t, regs, call, ret);
	else if (in_scope(t))
		count_unknown(call, ret);
	return 0;
}
