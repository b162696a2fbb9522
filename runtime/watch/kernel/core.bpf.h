/*
 * What all programs of the tracer share: the tables that the other side fills,
 * whose processes count, and messages on their way to the ring.
 *
 * A part of watch.bpf.c.
 */
#define EPERM	    1
#define ENOENT	    2
#define EAGAIN	    11
#define EACCES	    13
#define ENOTDIR	    20
#define ENOSYS	    38
#define EINPROGRESS 115
#define ECANCELED   125
#define FMODE_WRITE 2
#define SOCK_STREAM 1
#define AT_FDCWD    (-100)
#define AF_UNIX	    1
#define AF_INET	    2
#define AF_INET6    10
#define PORT_DNS    53
#define NSFS_MAGIC  0x6e736673
#define O_CREATED   0x241 /* what creat() means: O_CREAT O_WRONLY O_TRUNC */
#define O_CHANGES   0x240 /* O_CREAT O_TRUNC: opening alone does it */
#define O_ACCMODE   3
#define O_PATH	    010000000
#define FDS_MAX	    (1u << 20)
#define ITEMS_MASK  (WATCH_ITEMS_MAX - 1)
#define SLOTS	    3

struct message {
	volatile __u64 dentry, mnt; /* on their way to put_path() */
	__u64 sent_to[4]; /* the address before, while several are told of */
	volatile __u32 users; /* see slot_take() */
	__u32 slot;
	struct watch_head head;
	/* Each item is written below ITEMS_MASK, and reaches no further than
	 * its own bound behind it. */
	__u8 items[WATCH_ITEMS_MAX + WATCH_ITEM_MAX + 64];
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} ring SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1 + SLOTS);
	__type(key, __u32);
	__type(value, struct message);
} scratch SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct watch_counts);
} counts SEC(".maps");

struct leaf {
	char name[WATCH_LEAF_MAX];
};
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 256);
	__type(key, struct leaf);
	__type(value, __u8);
} leaves SEC(".maps");

/* Alone in their sections: the other side writes them whole. */
const volatile struct watch_config config;
struct watch_scope scope;

/* clang-format off */
extern void *bpf_rdonly_cast(const void *, __u32) __ksym __weak;
/* clang-format on */

/*
 * GET(p, a, b): p->a->b, of a pointer that the verifier does not know. Where it
 * can be told what the pointer is (from 6.2 on) that is a load each; elsewhere
 * it is a helper's call each, which takes ten times as long. p is a variable.
 */
#define KNOWN(p)                                                               \
	((typeof(p))bpf_rdonly_cast(                                           \
		(p), config.types[bpf_core_type_id_local(typeof(*(p)))]))
#define GET(p, ...)                                                            \
	({                                                                     \
		___type((p), __VA_ARGS__) got_;                                \
		if (config.settings.casts)                                     \
			got_ = ___arrow(KNOWN(p), __VA_ARGS__);                \
		else                                                           \
			got_ = BPF_CORE_READ((p), __VA_ARGS__);                \
		got_;                                                          \
	})
/*
 * A pointer that the verifier trusts, as one that it does not: for each step
 * from the former it looks through all types of the kernel, 40 ms in all.
 */
#define PLAIN(p) (config.settings.casts ? KNOWN(p) : (p))

/* --- whose ---------------------------------------------------------------- */

/* A pid as the namespace at a level has it. */
static __always_inline struct upid *number_at(struct pid *pid, __u32 level)
{
	return &pid->numbers[level];
}

static __always_inline struct pid_namespace *ns_at(struct pid *pid, __u32 level)
{
	struct upid *up = number_at(pid, level);

	return GET(up, ns);
}

static __always_inline __u32 inum_at(struct pid *pid, __u32 level)
{
	struct pid_namespace *ns = ns_at(pid, level);

	return GET(ns, ns.inum);
}

/* Of a pid namespace: when its first process was started. */
static __always_inline __u64 began(struct pid_namespace *ns)
{
	return GET(ns, child_reaper, group_leader, start_boottime);
}

/* What the task's own level says costs no read: most are of no container. */
static __always_inline bool may_be_in_scope(struct task_struct *t)
{
	__u32 level = scope.level;
	struct pid *pid = t->thread_pid;

	return level && pid && pid->level >= level;
}

static __always_inline bool in_scope(struct task_struct *t)
{
	struct pid_namespace *ns;

	if (!may_be_in_scope(t))
		return false;
	ns = ns_at(t->thread_pid, scope.level);
	return GET(ns, ns.inum) == scope.pidns &&
	       (!scope.began_ns || began(ns) == scope.began_ns);
}

/* Whole words: behind the name the kernel keeps zeros. */
static __always_inline bool has_host_name(struct task_struct *t)
{
	__u64 name[WATCH_HOST / 8];
	__u64 differs = 0;

	if (bpf_core_read(name, sizeof(name),
			  &t->nsproxy->uts_ns->name.nodename))
		return false;
	for (unsigned i = 0; i < WATCH_HOST / 8; i++)
		differs |= name[i] ^ scope.host[i];
	return differs == 0;
}

/* The first program in the agent's network namespace shows its own. */
static __always_inline bool learn(struct task_struct *t)
{
	struct pid *pid = t->thread_pid;
	struct pid_namespace *ns;
	__u32 inum;

	if (scope.level || !(scope.netns || scope.host[0]) || !pid ||
	    pid->level == 0)
		return false;
	if (scope.netns ? t->nsproxy->net_ns->ns.inum != scope.netns
			: !has_host_name(t))
		return false;
	ns = ns_at(pid, pid->level);
	inum = GET(ns, ns.inum);
	if (inum == 0 || inum == scope.not_pidns)
		return false;
	scope.began_ns = began(ns);
	scope.pidns = inum;
	scope.level = pid->level;
	return true;
}

/* --- messages ------------------------------------------------------------- */

static __always_inline __u32 number_of(struct pid *pid, __u32 level)
{
	struct upid *up = number_at(pid, level);

	return (__u32)GET(up, nr);
}

/* Numbers of the task and its parents, as its own pid namespace has them. */
static __always_inline void put_numbers(struct watch_head *h,
					struct task_struct *t)
{
	struct task_struct *leader = t->group_leader, *parent = t->real_parent;
	struct pid *pid = t->thread_pid;
	__u32 level = pid->level;

	h->host_tid = (__u32)t->pid;
	h->host_pid = (__u32)t->tgid;
	h->host_ppid = (__u32)parent->tgid;
	h->tid = number_of(pid, level);
	h->pidns = level == scope.level ? scope.pidns : inum_at(pid, level);
	h->pid = h->host_tid == h->host_pid
			 ? h->tid
			 : number_of(leader->thread_pid, level);
	h->ppid = 0;
	/* A parent outside of the namespace has no number in it. */
	if (parent->thread_pid->level >= level)
		h->ppid = number_of(parent->group_leader->thread_pid, level);
}

static __always_inline void begin_at(struct message *m, struct task_struct *t,
				     __u16 kind)
{
	struct watch_head *h = &m->head;

	h->kind = kind;
	h->nr = 0;
	h->flags = 0;
	h->ret = 0;
	h->time_ns = bpf_ktime_get_boot_ns();
	h->start_ns = t->start_boottime;
	h->cgroup = bpf_get_current_cgroup_id();
	h->cpu = bpf_get_smp_processor_id();
	h->uid = (__u32)bpf_get_current_uid_gid();
	h->mntns = t->nsproxy->mnt_ns->ns.inum;
	put_numbers(h, t);
	bpf_probe_read_kernel(h->comm, sizeof(h->comm), t->comm);
	h->bytes = 0;
	__builtin_memset(h->args, 0, sizeof(h->args));
}

/* Of a tracepoint's program, which nothing interrupts on its processor. */
static __always_inline struct message *begin_message(struct task_struct *t,
						     __u16 kind)
{
	__u32 zero = 0;
	struct message *m = bpf_map_lookup_elem(&scratch, &zero);

	if (m)
		begin_at(m, t, kind);
	return m;
}

/*
 * Somebody looks at the ring in any case from time to time: woken only when it
 * fills up, and once per eighth of that bound, since it takes longer to wake
 * somebody than to make an event.
 */
static __always_inline __u64 wakes(struct watch_counts *c, __u64 bytes)
{
	__u32 bound = config.settings.wake_bytes;
	__u64 there;

	c->since_look += bytes;
	if (c->since_look < bound / 8)
		return BPF_RB_NO_WAKEUP;
	c->since_look = 0;
	there = bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA);
	c->is_crowded = there > config.settings.crowd_bytes;
	return there > bound ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

static __always_inline struct watch_counts *counted(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&counts, &zero);
}

/*
 * Of a hook's program: another task's may run on the same processor before it
 * has ended. Whoever finds himself to be the only user of a slot has it.
 */
static __always_inline struct message *slot_take(void)
{
	struct watch_counts *c;
	struct message *m;

	for (__u32 i = 1; i <= SLOTS; i++) {
		__u32 key = i;

		m = bpf_map_lookup_elem(&scratch, &key);
		if (!m)
			return NULL;
		__sync_fetch_and_add(&m->users, 1);
		if (m->users == 1) {
			m->slot = i;
			return m;
		}
		__sync_fetch_and_add(&m->users, -1);
	}
	c = counted();
	if (c)
		c->no_slot++;
	return NULL;
}

static __always_inline void slot_release(struct message *m)
{
	__sync_fetch_and_add(&m->users, -1);
}

/* head.bytes counts the items while the message is made: at most so many. */
static __always_inline void send_head(struct watch_head *h, __u32 most)
{
	__u64 n = h->bytes;
	struct watch_counts *c = counted();

	asm volatile("" : "+r"(n)); /* what is compared is what is passed */
	if (n > most)
		n = most;
	n += sizeof(*h);
	h->bytes = (__u32)n;
	if (!c)
		return;
	/* Nobody drives connections out of the trace by reading files. */
	if (c->is_crowded && (h->flags & WATCH_BULK)) {
		wakes(c, n);
		c->crowded++;
		return;
	}
	if (bpf_ringbuf_output(&ring, h, n, wakes(c, n)) == 0)
		c->sent++;
	else
		c->no_room++;
}

/* Global, so that it is verified once; the message is found again. */
__noinline int send_slot(__u32 slot)
{
	struct message *m = bpf_map_lookup_elem(&scratch, &slot);

	if (m)
		send_head(&m->head, sizeof(m->items));
	return 0;
}

static __always_inline void send(struct message *m)
{
	send_slot(m->slot);
}

/*
 * The verifier wants to see the mask, and the compiler would take it out where
 * it knows better.
 */
static __always_inline __u32 masked(__u32 at)
{
	asm volatile("" : "+r"(at));
	return at & ITEMS_MASK;
}

/* Room for an item of at most WATCH_ITEM_MAX bytes; NULL: the message is
 * full, and what does not fit is left out. */
static __always_inline struct watch_item *item(struct message *m, __u8 tag,
					       __u8 part)
{
	__u32 at = m->head.bytes;
	struct watch_item *i;

	if (at >= WATCH_ITEMS_MAX - sizeof(*i))
		return NULL;
	i = (struct watch_item *)&m->items[masked(at)];
	i->tag = tag;
	i->part = part;
	i->bytes = 0;
	m->head.bytes = at + sizeof(*i);
	return i;
}

static __always_inline void *room(struct message *m)
{
	return &m->items[masked(m->head.bytes)];
}

static __always_inline void grow(struct message *m, struct watch_item *i,
				 __u32 bytes)
{
	i->bytes += (__u16)bytes;
	m->head.bytes += bytes;
}
