/*
 * Where a stream leads to, as the kernel begins to connect it: what the process
 * passed may be another address when the call ends, and the descriptor another
 * socket. For the back end without hooks.
 *
 * A part of watch.bpf.c.
 */
#define TCP_SYN_SENT 2

struct syn {
	__u64 ip, nr; /* the same call, and no later one */
	__u64 of;     /* whose state that is: to be compared alone */
	struct watch_sock sock;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u32);
	__type(value, struct syn);
} syns SEC(".maps");

/* The kernel chooses it behind that state: where the descriptor leads to the
 * same socket still, it has it by now. */
static __always_inline void learn_port(struct syn *s, struct task_struct *t,
				       __u64 fd)
{
	struct socket *now = socket_at(t, fd);
	struct sock *k = now ? GET(now, sk) : NULL;

	if ((__u64)k == s->of)
		s->sock.local_port = own_port(k);
}

/* The socket of the call that has ended here, if it began to connect one. */
static __always_inline bool put_syn(struct message *m, struct task_struct *t,
				    const volatile struct watch_call *c,
				    struct pt_regs *regs)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct syn *s = bpf_map_lookup_elem(&syns, &tid);
	struct watch_item *i;

	if (!s || s->ip != call_ip(regs) || s->nr != raw_number(regs))
		return false;
	learn_port(s, t, arg(m, c->a));
	i = item(m, WATCH_SOCK, WATCH_FIRST);
	if (!i)
		return false;
	__builtin_memcpy(room(m), &s->sock, sizeof(s->sock));
	grow(m, i, sizeof(s->sock));
	m->head.flags |= WATCH_SYN;
	bpf_map_delete_elem(&syns, &tid);
	return true;
}

SEC("tp_btf/inet_sock_set_state")
int BPF_PROG(on_state, struct sock *k, int old, int new)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct pt_regs *regs;
	struct syn s;

	if (new != TCP_SYN_SENT || !in_scope(PLAIN(t)))
		return 0;
	regs = regs_of(t);
	s.ip = call_ip(regs);
	s.nr = raw_number(regs);
	s.of = (__u64)k;
	read_sock(&s.sock, PLAIN(k));
	bpf_map_update_elem(&syns, &tid, &s, BPF_ANY);
	return 0;
}
