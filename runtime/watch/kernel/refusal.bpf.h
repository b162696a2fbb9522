/*
 * Capabilities that a call did not have: the last one that was asked for in it,
 * when the call then failed for a lack of permission. What is asked in passing
 * (may this process have more memory than others?), and what a call can do
 * without, is no refusal.
 *
 * A part of watch.bpf.c. By the hook where there is one, which knows the checks
 * that the kernel itself does not log; elsewhere by the tracepoint that Linux
 * has from 6.13 on, which tells of all.
 */
#define CAP_OPT_NOAUDIT 2

struct refusal {
	__u64 ip, arg; /* the same call, and no later one */
	__u32 nr, cap;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct refusal);
} refusals SEC(".maps");

static __always_inline struct refusal refusal_of(struct pt_regs *regs)
{
	struct refusal r = {.nr = raw_number(regs), .ip = call_ip(regs)};

#ifdef __TARGET_ARCH_x86
	r.arg = regs->di;
#else
	r.arg = regs->orig_x0;
#endif
	return r;
}

static __always_inline void keep_refusal(int cap)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct refusal r, *before;

	if (!in_scope(PLAIN(t)))
		return;
	r = refusal_of(regs_of(t));
	r.cap = (__u32)cap;
	/* In its place: memory is asked for often, and each time in passing. */
	before = bpf_map_lookup_elem(&refusals, &tid);
	if (before)
		*before = r;
	else
		bpf_map_update_elem(&refusals, &tid, &r, BPF_ANY);
}

static __always_inline void tell_refusal(struct task_struct *t,
					 struct pt_regs *regs,
					 const struct call *call, long ret)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), cap;
	struct refusal now = refusal_of(regs), *r;
	struct message *m;
	bool same;

	if (!in_scope(t))
		return;
	r = bpf_map_lookup_elem(&refusals, &tid);
	if (!r)
		return;
	cap = r->cap;
	same = r->nr == now.nr && r->ip == now.ip && r->arg == now.arg;
	bpf_map_delete_elem(&refusals, &tid);
	m = same ? begin_message(t, WATCH_REFUSAL) : NULL;
	if (!m)
		return;
	m->head.nr = (__u16)call->nr;
	m->head.flags = call->flags;
	m->head.ret = ret;
	m->head.args[0] = cap;
	send(m);
}

SEC("fexit/cap_capable")
int BPF_PROG(fexit_capable, const struct cred *cred,
	     struct user_namespace *target, int cap, unsigned int opts, int ret)
{
	if (ret != 0 && !(opts & CAP_OPT_NOAUDIT))
		keep_refusal(cap);
	return 0;
}

SEC("tp_btf/cap_capable")
int BPF_PROG(tp_capable, const struct cred *cred, struct user_namespace *target,
	     const struct user_namespace *having, int cap, int ret)
{
	if (ret != 0)
		keep_refusal(cap);
	return 0;
}
