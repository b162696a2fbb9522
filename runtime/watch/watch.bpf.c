/*
 * The kernel's side of the tracer: raw tracepoints at the end of each system
 * call and where programs start, fork and exit.
 *
 * Which processes: those whose ancestors in the tree of pid namespaces include
 * the agent's. A process cannot leave that namespace, and namespaces that it
 * makes are below it. What is copied is decided by tables that the other side
 * fills; nothing here knows the number of a system call.
 *
 * Paths of files that were opened come from the kernel's own objects. What a
 * process passed as text is read when the call has ended, so another thread
 * can have changed it by then.
 */
#define WATCH_BPF
#include "runtime/watch/kernel.h"

#include "runtime/watch/event.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define EPERM	    1
#define ENOENT	    2
#define EAGAIN	    11
#define EACCES	    13
#define ENOTDIR	    20
#define SOCK_DGRAM  2
#define FMODE_WRITE 2
#define AT_FDCWD    (-100)
#define AF_INET	    2
#define AF_INET6    10
#define PORT_DNS    53
#define O_CREATED   0x241 /* what creat() means: O_CREAT O_WRONLY O_TRUNC */
#define O_CHANGES   0x240 /* O_CREAT O_TRUNC: opening alone does it */
#define FDS_MAX	    (1u << 20)
#define ITEMS_MASK  (WATCH_ITEMS_MAX - 1)
#define SLOTS	    3

struct message {
	volatile __u64 dentry, mnt; /* on their way to put_path() */
	volatile __u32 users;	    /* see slot_take() */
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

char LICENSE[] SEC("license") = "Dual MIT/GPL";

extern void *bpf_rdonly_cast(const void *, __u32)
__ksym __weak;

/*
 * GET(p, a, b): p->a->b, of a pointer that the verifier does not know. Where it
 * can be told what the pointer is (from 6.2 on) that is a load each; elsewhere
 * it is a helper's call each, which takes ten times as long. p is a variable.
 */
#define KNOWN(p)                                                               \
	((typeof(p))bpf_rdonly_cast((p), bpf_core_type_id_kernel(typeof(*(p)))))
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

static __always_inline __u32 inum_at(struct pid *pid, __u32 level)
{
	struct upid *up = number_at(pid, level);

	return GET(up, ns, ns.inum);
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
	return may_be_in_scope(t) &&
	       inum_at(t->thread_pid, scope.level) == scope.pidns;
}

/* The first program in the agent's network namespace shows its own. */
static __always_inline bool learn(struct task_struct *t)
{
	struct pid *pid = t->thread_pid;
	__u32 inum;

	if (scope.level || !scope.netns || !pid || pid->level == 0)
		return false;
	if (t->nsproxy->net_ns->ns.inum != scope.netns)
		return false;
	inum = inum_at(pid, pid->level);
	if (inum == 0 || inum == scope.not_pidns)
		return false;
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
static __always_inline struct message *begin(struct task_struct *t, __u16 kind)
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

	c->since_look += bytes;
	if (c->since_look < bound / 8)
		return BPF_RB_NO_WAKEUP;
	c->since_look = 0;
	return bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > bound
		       ? BPF_RB_FORCE_WAKEUP
		       : BPF_RB_NO_WAKEUP;
}

static __always_inline void count_lost(void)
{
	__u32 zero = 0;
	struct watch_counts *c = bpf_map_lookup_elem(&counts, &zero);

	if (c)
		c->lost++;
}

/*
 * Of a hook's program: another task's may run on the same processor before it
 * has ended. Whoever finds himself to be the only user of a slot has it.
 */
static __always_inline struct message *slot_take(void)
{
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
	count_lost();
	return NULL;
}

static __always_inline void slot_release(struct message *m)
{
	__sync_fetch_and_add(&m->users, -1);
}

/* head.bytes counts the items while the message is made. */
static __always_inline void send(struct message *m)
{
	__u32 zero = 0;
	__u64 n = m->head.bytes;
	struct watch_counts *c = bpf_map_lookup_elem(&counts, &zero);

	asm volatile("" : "+r"(n)); /* what is compared is what is passed */
	if (n > sizeof(m->items))
		n = sizeof(m->items);
	n += sizeof(m->head);
	m->head.bytes = (__u32)n;
	if (!c)
		return;
	if (bpf_ringbuf_output(&ring, &m->head, n, wakes(c, n)) == 0)
		c->sent++;
	else
		c->lost++;
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

/* --- texts and paths ------------------------------------------------------ */

static __always_inline void put_user_text(struct message *m, __u8 part,
					  const void *from)
{
	struct watch_item *i = item(m, WATCH_TEXT, part);
	long n;

	if (!i)
		return;
	n = bpf_probe_read_user_str(room(m), 4096, from);
	if (n > 0 && n <= 4096)
		grow(m, i, (__u32)n);
}

static __always_inline void put_kernel_text(struct message *m, __u8 tag,
					    __u8 part, const void *from)
{
	struct watch_item *i = item(m, tag, part);
	long n;

	if (!i)
		return;
	n = bpf_probe_read_kernel_str(room(m), 4096, from);
	if (n > 0 && n <= 4096)
		grow(m, i, (__u32)n);
}

struct walk {
	struct message *m;
	struct dentry *dentry, *root; /* root: of the mount */
	struct mount *mount;
	__u32 bytes;
};

/* One step towards the root: a component, or from a mount to what it is on. */
static long step(__u64 n, struct walk *w)
{
	struct mount *mount = w->mount, *up;
	struct dentry *d = w->dentry, *parent;
	struct message *m = w->m;
	const unsigned char *name;
	long got;

	if (d == w->root) {
		up = GET(mount, mnt_parent);
		if (up == mount)
			return 1;
		w->dentry = GET(mount, mnt_mountpoint);
		w->mount = up;
		w->root = GET(up, mnt.mnt_root);
		return 0;
	}
	parent = GET(d, d_parent);
	if (parent == d || m->head.bytes >= WATCH_ITEMS_MAX - 256)
		return 1;
	name = GET(d, d_name.name);
	got = bpf_probe_read_kernel_str(&m->items[masked(m->head.bytes)], 256,
					name);
	if (got <= 0 || got > 256)
		return 1;
	m->head.bytes += (__u32)got;
	w->bytes += (__u32)got;
	w->dentry = parent;
	return 0;
}

static __always_inline struct mount *mount_of(__u64 mnt)
{
	return (struct mount *)(mnt - bpf_core_field_offset(struct mount, mnt));
}

/*
 * Global, so that it is verified once. Only numbers may be passed; the message
 * is found again.
 */
__noinline int put_path(__u64 dentry, __u64 mnt, __u32 tag, __u32 part,
			__u32 slot)
{
	struct message *m = bpf_map_lookup_elem(&scratch, &slot);
	struct walk w = {.m = m, .dentry = (struct dentry *)dentry};
	struct mount *mount = mount_of(mnt);
	struct watch_item *i;
	__u32 at;

	if (!m || !dentry || !mnt)
		return 0;
	at = m->head.bytes;
	if (!item(m, (__u8)tag, (__u8)part))
		return 0;
	w.mount = mount;
	w.root = GET(mount, mnt.mnt_root);
	/* Mounts are steps of their own. */
	bpf_loop(2 * WATCH_DEPTH, step, &w, 0);
	i = (struct watch_item *)&m->items[masked(at)];
	i->bytes = (__u16)w.bytes;
	return 0;
}

static __always_inline void put_path_of(struct message *m, struct path *p,
					__u8 tag, __u8 part)
{
	/* Behind memory a pointer is a number to the verifier. */
	m->dentry = (__u64)GET(p, dentry);
	m->mnt = (__u64)GET(p, mnt);
	put_path(m->dentry, m->mnt, tag, part, m->slot);
}

/* Of an entry in a directory that is reached through a mount. */
static __always_inline void put_entry(struct message *m, struct path *dir,
				      struct dentry *d, __u8 part)
{
	m->dentry = (__u64)d;
	m->mnt = (__u64)GET(dir, mnt);
	put_path(m->dentry, m->mnt, WATCH_PATH, part, m->slot);
}

static __always_inline struct file *file_at(struct task_struct *t, __u64 fd)
{
	struct fdtable *fdt = t->files->fdt;
	struct file **table, *f = NULL;

	if (!fdt || fd >= fdt->max_fds || fd >= FDS_MAX)
		return NULL;
	table = fdt->fd;
	bpf_probe_read_kernel(&f, sizeof(f), &table[fd]);
	return f;
}

static __always_inline void put_file(struct message *m, struct file *f)
{
	struct watch_item *i = item(m, WATCH_FILE, WATCH_FIRST);
	struct watch_file *out;
	struct inode *inode = GET(f, f_inode);

	if (!i)
		return;
	out = room(m);
	out->inode = GET(inode, i_ino);
	out->dev = GET(inode, i_sb, s_dev);
	out->mode = GET(inode, i_mode);
	out->ctime_ns = 0;
	grow(m, i, sizeof(*out));
}

/* What a relative path is relative to, or an absolute one: a root of one's
 * own counts. */
static __always_inline void put_base(struct message *m, struct task_struct *t,
				     __s64 dir, char first, __u8 part)
{
	struct fs_struct *fs = t->fs;
	struct file *f;

	if (first == '/') {
		put_path_of(m, &fs->root, WATCH_BASE, part);
	} else if ((int)dir == AT_FDCWD) {
		put_path_of(m, &fs->pwd, WATCH_BASE, part);
	} else {
		f = file_at(t, (__u32)dir);
		if (f)
			put_path_of(m, &f->f_path, WATCH_BASE, part);
	}
}

static __always_inline void put_relative(struct message *m,
					 struct task_struct *t, __s64 dir,
					 const char *text, __u8 part)
{
	char first = 0;

	bpf_probe_read_user(&first, 1, text);
	put_base(m, t, dir, first, part);
	put_user_text(m, part, text);
}

/* The kernel's own copy of a path that was asked for. */
static __always_inline void put_name(struct message *m, struct task_struct *t,
				     __s64 dir, struct filename *from,
				     __u8 part)
{
	const char *text = GET(from, name);
	char first = 0;

	bpf_probe_read_kernel(&first, 1, text);
	put_base(m, t, dir, first, part);
	put_kernel_text(m, WATCH_TEXT, part, text);
}

/* --- system calls --------------------------------------------------------- */

static __always_inline __u64 arg(const struct message *m, __s8 n)
{
	__u32 i = (__u32)n & 7;

	if (n < 0)
		return (__u64)AT_FDCWD;
	return i < 6 ? m->head.args[i] : 0;
}

/* A mask is a mount: the name is the one of the place that it is on. */
static __always_inline struct dentry *leaf_of(struct file *f)
{
	struct dentry *d = GET(f, f_path.dentry);
	struct vfsmount *mnt = GET(f, f_path.mnt);
	struct mount *m;

	if (d != GET(mnt, mnt_root))
		return d;
	m = mount_of((__u64)mnt);
	return GET(m, mnt_mountpoint);
}

/* Of nearly all names the length and the first byte say enough. */
static __always_inline bool is_leaf(struct file *f)
{
	struct dentry *d = leaf_of(f);
	const unsigned char *name = GET(d, d_name.name);
	__u32 n = GET(d, d_name.len);
	struct leaf key = {};
	__u64 may_begin;
	__u8 first = 0;

	if (n >= WATCH_LEAF_MAX)
		return false;
	may_begin = config.settings.leaf_first[n & (WATCH_LEAF_MAX - 1)];
	if (!may_begin || bpf_probe_read_kernel(&first, 1, name) != 0 ||
	    !(may_begin >> (first & 63) & 1))
		return false;
	if (bpf_probe_read_kernel_str(key.name, sizeof(key.name), name) <= 0)
		return false;
	return bpf_map_lookup_elem(&leaves, &key) != NULL;
}

static __always_inline bool wants(struct file *f, __u64 flags)
{
	if (config.settings.reads || (flags & O_CHANGES) ||
	    (GET(f, f_mode) & FMODE_WRITE))
		return true;
	return config.settings.leaves && is_leaf(f);
}

/* True when the event is one to tell of. */
static __always_inline bool on_open(struct message *m, struct task_struct *t,
				    const volatile struct watch_call *c)
{
	struct file *f;

	if (m->head.ret < 0) {
		put_relative(m, t, (__s64)arg(m, c->a),
			     (const char *)arg(m, c->b), WATCH_FIRST);
		return true;
	}
	f = file_at(t, (__u64)m->head.ret);
	if (!f)
		return false;
	put_path_of(m, &f->f_path, WATCH_PATH, WATCH_FIRST);
	put_file(m, f);
	put_user_text(m, WATCH_CMD, (const char *)arg(m, c->b));
	return true;
}

static __always_inline struct socket *socket_at(struct task_struct *t, __u64 fd)
{
	struct file *f = file_at(t, (__u32)fd);

	if (!f || (GET(f, f_inode, i_mode) & 0170000) != 0140000)
		return NULL;
	return GET(f, private_data);
}

/* The port at its other end, 0 when there is none. */
static __always_inline __u16 put_socket_of(struct message *m, struct socket *s)
{
	struct sock *k = s ? GET(s, sk) : NULL;
	struct watch_item *i;
	struct watch_sock *o;

	if (!k)
		return 0;
	i = item(m, WATCH_SOCK, WATCH_FIRST);
	if (!i)
		return 0;
	o = room(m);
	__builtin_memset(o, 0, sizeof(*o));
	o->type = (__u16)GET(s, type);
	o->family = GET(k, __sk_common.skc_family);
	o->local_port = GET(k, __sk_common.skc_num);
	o->peer_port = GET(k, __sk_common.skc_dport);
	if (o->family == AF_INET6) {
		BPF_CORE_READ_INTO(&o->local, k,
				   __sk_common.skc_v6_rcv_saddr.in6_u.u6_addr8);
		BPF_CORE_READ_INTO(&o->peer, k,
				   __sk_common.skc_v6_daddr.in6_u.u6_addr8);
	} else if (o->family == AF_INET) {
		*(__u32 *)o->local = GET(k, __sk_common.skc_rcv_saddr);
		*(__u32 *)o->peer = GET(k, __sk_common.skc_daddr);
	}
	grow(m, i, sizeof(*o));
	return o->peer_port;
}

static __always_inline __u16 put_socket(struct message *m,
					struct task_struct *t,
					const volatile struct watch_call *c)
{
	return put_socket_of(m, socket_at(t, arg(m, c->a)));
}

static __always_inline void put_addr(struct message *m, const void *from,
				     __u64 bytes, bool users)
{
	struct watch_item *i;
	__u32 n = (__u32)bytes;

	if (!from || n < 2)
		return;
	i = item(m, WATCH_ADDR, WATCH_FIRST);
	if (!i)
		return;
	if (n > 127)
		n = 127;
	if ((users ? bpf_probe_read_user(room(m), n & 127, from)
		   : bpf_probe_read_kernel(room(m), n & 127, from)) == 0)
		grow(m, i, n & 127);
}

/* --- datagrams ------------------------------------------------------------ */

struct user_iovec {
	const void *base;
	__u64 bytes;
};

struct user_msghdr {
	const void *name;
	int name_bytes;
	const struct user_iovec *iov;
	__u64 n_iov;
	__u64 rest[3];
};

struct user_mmsghdr { /* of sendmmsg */
	struct user_msghdr h;
	__u64 sent;
};

/* To whom: as said with the message, or where the socket leads. */
static __always_inline bool to_resolver(const void *addr, __u16 peer_port)
{
	__u16 port = peer_port;

	if (addr)
		bpf_probe_read_user(&port, sizeof(port), addr + 2);
	return port == bpf_htons(PORT_DNS);
}

static __always_inline void put_data(struct message *m, __u8 part,
				     const void *from, __u64 bytes)
{
	struct watch_item *i = item(m, WATCH_DATA, part);
	__u32 n = (__u32)bytes;

	if (!i)
		return;
	if (n > WATCH_DATA_MAX - 1)
		n = WATCH_DATA_MAX - 1;
	n &= WATCH_DATA_MAX - 1;
	if (bpf_probe_read_user(room(m), n, from) == 0)
		grow(m, i, n);
}

/* The whole of a question is in the first piece. */
static __always_inline void put_msg_data(struct message *m, __u8 part,
					 const struct user_msghdr *h)
{
	struct user_iovec v;

	if (h->n_iov && bpf_probe_read_user(&v, sizeof(v), h->iov) == 0)
		put_data(m, part, v.base, v.bytes);
}

static __always_inline void put_questions(struct message *m, const void *from,
					  const volatile struct watch_call *c)
{
	bool several = c->c >= 0 && arg(m, c->c) > 1;
	struct user_msghdr h;

	if (bpf_probe_read_user(&h, sizeof(h), from) == 0)
		put_msg_data(m, WATCH_FIRST, &h);
	/* Both kinds of address are asked for at once. */
	if (several &&
	    bpf_probe_read_user(&h, sizeof(h),
				from + sizeof(struct user_mmsghdr)) == 0)
		put_msg_data(m, WATCH_SECOND, &h);
}

static __always_inline void put_msg(struct message *m, const void *from,
				    const volatile struct watch_call *c,
				    __u16 peer_port)
{
	struct user_msghdr h;

	if (bpf_probe_read_user(&h, sizeof(h), from) != 0)
		return;
	put_addr(m, h.name, (__u64)h.name_bytes, true);
	if (config.settings.questions && to_resolver(h.name, peer_port))
		put_questions(m, from, c);
}

/* --- what hooks keep ------------------------------------------------------ */

#define KEPT_MAX 8192

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
	asks = k->head.args[5] && config.settings.questions;
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
		put_questions(m, (const void *)arg(m, c->b), c);
	return true;
}

/* Enough for this call? The rest is said by its arguments. */
static __always_inline bool fill(struct message *m, struct task_struct *t,
				 const volatile struct watch_call *c)
{
	struct file *f;
	__u16 port;

	if (keeps(c) && fill_kept(m, t, c))
		return true;
	switch (c->how) {
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
		port = put_socket(m, t, c);
		put_addr(m, (const void *)arg(m, c->b), arg(m, c->c), true);
		if ((c->flags & WATCH_QUESTION) && config.settings.questions &&
		    to_resolver((const void *)arg(m, c->b), port))
			put_data(m, WATCH_FIRST, (const void *)arg(m, 1),
				 arg(m, 2));
		return true;
	case WATCH_SOCKET:
		put_socket(m, t, c);
		return true;
	case WATCH_MSG:
		port = put_socket(m, t, c);
		put_msg(m, (const void *)arg(m, c->b), c, port);
		return true;
	case WATCH_WRITE:
		if (!to_resolver(NULL, put_socket(m, t, c)))
			return false;
		put_data(m, WATCH_FIRST, (const void *)arg(m, c->b),
			 arg(m, c->c));
		return true;
	default:
		return true;
	}
}

static __always_inline bool is_datagram_of(struct socket *s)
{
	struct sock *k;
	__u16 family;

	if (!s || GET(s, type) != SOCK_DGRAM)
		return false;
	k = GET(s, sk);
	family = k ? GET(k, __sk_common.skc_family) : 0;
	return family == AF_INET || family == AF_INET6;
}

static __always_inline bool is_datagram(struct task_struct *t, __u64 fd)
{
	return is_datagram_of(socket_at(t, fd));
}

/* The arguments as they were when the call was made. */
static __always_inline __u64 call_arg(struct pt_regs *regs, __u32 n)
{
#ifdef __TARGET_ARCH_x86
	switch (n) {
	case 0:
		return regs->di;
	case 1:
		return regs->si;
	case 2:
		return regs->dx;
	case 3:
		return regs->r10;
	case 4:
		return regs->r8;
	default:
		return regs->r9;
	}
#else
	switch (n) {
	case 0:
		return regs->orig_x0;
	case 1:
		return regs->regs[1];
	case 2:
		return regs->regs[2];
	case 3:
		return regs->regs[3];
	case 4:
		return regs->regs[4];
	default:
		return regs->regs[5];
	}
#endif
}

static __always_inline __u64 open_flags(struct pt_regs *regs,
					const volatile struct watch_call *c)
{
	__u64 flags = c->d < 0 ? O_CREATED : call_arg(regs, (__u32)c->d);

	if (c->c) /* openat2: in a structure */
		bpf_probe_read_user(&flags, sizeof(flags), (void *)flags);
	return flags;
}

/*
 * Most opens are reads that nobody asked for, and most writes go to files: told
 * apart before anything is copied.
 */
static __always_inline bool may_matter(struct task_struct *t,
				       const volatile struct watch_call *c,
				       struct pt_regs *regs, long ret)
{
	struct file *f;

	if (c->flags & WATCH_DATAGRAM)
		return is_datagram(t, call_arg(regs, 0));
	if (c->how != WATCH_OPEN || ret < 0)
		return true;
	f = file_at(t, (__u64)ret);
	return f && wants(f, open_flags(regs, c));
}

static __always_inline void take_args(struct message *m, struct pt_regs *regs)
{
	for (__u32 i = 0; i < 6; i++)
		m->head.args[i] = call_arg(regs, i);
}

static __always_inline __u64 call_number(struct pt_regs *regs)
{
#ifdef __TARGET_ARCH_x86
	return regs->orig_ax;
#else
	return (__u64)regs->syscallno;
#endif
}

/* Of the system call that a task is in; t: as the kernel gave it. */
static __always_inline struct pt_regs *regs_of(struct task_struct *t)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(t);

	return PLAIN(regs);
}

#include "runtime/watch/refusal.bpf.h"

/* By how it ended. */
static __always_inline bool is_no_news(const volatile struct watch_call *c,
				       long ret)
{
	if ((c->flags & WATCH_NO_MISSING) &&
	    (ret == -ENOENT || ret == -ENOTDIR))
		return true;
	return (c->flags & WATCH_NO_RETRY) && ret == -EAGAIN;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	__u64 nr = call_number(regs);
	const volatile struct watch_call *c;
	struct task_struct *t;
	struct message *m;

	if (nr >= WATCH_CALLS_MAX)
		return 0;
	if (config.settings.refusals && (ret == -EPERM || ret == -EACCES))
		tell_refusal(regs, nr, ret);
	c = &config.calls[nr];
	if (c->how == WATCH_SKIP ||
	    (c->how == WATCH_OPEN && config.settings.opens))
		return 0;
	t = bpf_get_current_task_btf();
	t = PLAIN(t);
	if (is_no_news(c, ret) || !may_be_in_scope(t) ||
	    !may_matter(t, c, regs, ret) || !in_scope(t)) {
		if (keeps(c) && may_be_in_scope(t))
			forget();
		return 0;
	}
	m = begin(t, WATCH_CALL);
	if (!m)
		return 0;
	m->head.nr = (__u16)nr;
	m->head.ret = ret;
	take_args(m, regs);
	if (c->how == WATCH_OPEN)
		m->head.args[5] = open_flags(regs, c);
	if (fill(m, t, c))
		send(m);
	return 0;
}

/* --- processes ------------------------------------------------------------ */

static __always_inline void put_argv(struct message *m, struct task_struct *t)
{
	struct watch_item *i = item(m, WATCH_TEXT, WATCH_ARGV);
	__u64 beg = t->mm->arg_start;
	__u64 n = t->mm->arg_end - beg;

	if (!i)
		return;
	if (n > WATCH_ITEM_MAX - 1)
		n = WATCH_ITEM_MAX - 1;
	n &= WATCH_ITEM_MAX - 1;
	if (bpf_probe_read_user(room(m), (__u32)n, (const void *)beg) == 0)
		grow(m, i, (__u32)n);
}

static __always_inline void put_groups(struct message *m, struct task_struct *t)
{
	put_kernel_text(m, WATCH_GROUP, WATCH_FIRST,
			BPF_CORE_READ(t, cgroups, dfl_cgrp, kn, name));
	put_kernel_text(m, WATCH_GROUP, WATCH_FIRST,
			BPF_CORE_READ(t, cgroups, subsys[0], cgroup, kn, name));
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *t, int old_pid,
	     struct linux_binprm *b)
{
	struct message *m;
	struct file *f;
	bool first;

	t = PLAIN(t);
	b = PLAIN(b);
	first = learn(t);
	if (!config.settings.exec || !in_scope(t))
		return 0;
	m = begin(t, WATCH_EXEC);
	if (!m)
		return 0;
	f = b->file;
	put_path_of(m, &f->f_path, WATCH_PATH, WATCH_FIRST);
	put_file(m, f);
	put_kernel_text(m, WATCH_TEXT, WATCH_CMD, b->filename);
	put_kernel_text(m, WATCH_TEXT, WATCH_INTERP, b->interp);
	put_path_of(m, &t->fs->pwd, WATCH_PATH, WATCH_CWD);
	if (first)
		put_groups(m, t);
	put_argv(m, t);
	send(m);
	return 0;
}

SEC("tp_btf/sched_process_fork")
int BPF_PROG(on_fork, struct task_struct *parent, struct task_struct *child)
{
	struct watch_child *c;
	struct watch_item *i;
	struct message *m;
	__u32 level;

	parent = PLAIN(parent);
	child = PLAIN(child);
	if (!config.settings.fork || !in_scope(child))
		return 0;
	m = begin(parent, WATCH_FORK);
	if (!m)
		return 0;
	i = item(m, WATCH_CHILD, WATCH_FIRST);
	if (!i)
		return 0;
	c = room(m);
	level = child->thread_pid->level;
	c->start_ns = child->start_boottime;
	c->host_tid = (__u32)child->pid;
	c->host_pid = (__u32)child->tgid;
	c->tid = number_of(child->thread_pid, level);
	c->pid = number_of(child->group_leader->thread_pid, level);
	grow(m, i, sizeof(*c));
	send(m);
	return 0;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *t)
{
	struct message *m;

	t = PLAIN(t);
	if (config.settings.hooks && may_be_in_scope(t))
		forget();
	if (!config.settings.exit || !in_scope(t))
		return 0;
	m = begin(t, WATCH_EXIT);
	if (!m)
		return 0;
	m->head.args[0] = (__u64)t->exit_code;
	m->head.args[1] = t->signal->live.counter == 0;
	send(m);
	return 0;
}

#include "runtime/watch/hooks.bpf.h"
#include "runtime/watch/ring.bpf.h"
