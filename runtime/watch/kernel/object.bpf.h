/*
 * Files that are opened, sockets, and what is sent to resolvers, as items of a
 * message.
 *
 * A part of watch.bpf.c.
 */
/* --- files and sockets ---------------------------------------------------- */

static __always_inline __u64 arg(const struct message *m, __s8 n)
{
	__u32 i = (__u32)n & 7;

	if (n < 0)
		return (__u64)AT_FDCWD;
	return i < 6 ? m->head.args[i] : 0;
}

#define MASKS 8 /* one on the other */

/* A mask is a mount: the name is the one of the place that it is on. */
static __always_inline struct dentry *leaf_of(struct file *f)
{
	struct dentry *d = GET(f, f_path.dentry);
	struct vfsmount *mnt = GET(f, f_path.mnt);
	struct mount *m = mount_of((__u64)mnt);

	for (int i = 0; i < MASKS && d == GET(m, mnt.mnt_root); i++) {
		d = GET(m, mnt_mountpoint);
		m = GET(m, mnt_parent);
	}
	return d;
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

/* What was asked for counts, too: by now another thread can have put another
 * file in its place. */
static __always_inline bool wants(struct file *f, __u64 flags)
{
	if (config.settings.reads || (flags & O_CHANGES) ||
	    (!(flags & O_PATH) && (flags & O_ACCMODE)) ||
	    (GET(f, f_mode) & FMODE_WRITE))
		return true;
	return config.settings.leaves && is_leaf(f);
}

/* Where all files that are read are told, most events are that. */
static __always_inline void put_open_flags(struct message *m, __u64 flags)
{
	m->head.args[5] = flags;
	if (config.settings.reads && !(flags & (O_ACCMODE | O_CHANGES)))
		m->head.flags |= WATCH_BULK;
}

/* True when the event is one to tell of. */
static __always_inline bool on_open(struct message *m, struct task_struct *t,
				    const volatile struct watch_call *c)
{
	struct file *f;

	/* Another thread can have closed it by now. */
	f = m->head.ret < 0 ? NULL : file_at(t, (__u64)m->head.ret);
	if (!f) {
		put_relative(m, t, (__s64)arg(m, c->a),
			     (const char *)arg(m, c->b), WATCH_FIRST);
		return true;
	}
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

/* The one that it had last where it has none any more, as getsockname(2): who
 * is refused at once is told of with it all the same. */
static __always_inline __u16 own_port(struct sock *k)
{
	__u16 family = GET(k, __sk_common.skc_family);
	__u16 port = GET(k, __sk_common.skc_num);

	if (port || (family != AF_INET && family != AF_INET6))
		return port;
	return bpf_ntohs(GET((struct inet_sock *)k, inet_sport));
}

static __always_inline void read_sock(struct watch_sock *o, struct sock *k)
{
	__builtin_memset(o, 0, sizeof(*o));
	o->type = GET(k, sk_type);
	o->family = GET(k, __sk_common.skc_family);
	o->local_port = own_port(k);
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
	read_sock(o, k);
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

/* Of a 32-bit program. */
struct narrow_iovec {
	__u32 base, bytes;
};

struct narrow_msghdr {
	__u32 name;
	int name_bytes;
	__u32 iov, n_iov;
	__u32 rest[3];
};

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

static __always_inline bool read_iovec(struct user_iovec *out, const void *from,
				       bool narrow)
{
	struct narrow_iovec v;

	if (!narrow)
		return bpf_probe_read_user(out, sizeof(*out), from) == 0;
	if (bpf_probe_read_user(&v, sizeof(v), from) != 0)
		return false;
	out->base = (const void *)(__u64)v.base;
	out->bytes = v.bytes;
	return true;
}

/* The n-th of sendmmsg: behind each stands how much was sent. */
static __always_inline bool read_msghdr(struct user_msghdr *out,
					const void *from, __u32 n, bool narrow)
{
	struct narrow_msghdr h;

	if (!narrow)
		return bpf_probe_read_user(
			       out, sizeof(*out),
			       from + n * (sizeof(*out) + sizeof(__u64))) == 0;
	if (bpf_probe_read_user(&h, sizeof(h),
				from + n * (sizeof(h) + sizeof(__u32))) != 0)
		return false;
	out->name = (const void *)(__u64)h.name;
	out->name_bytes = h.name_bytes;
	out->iov = (const void *)(__u64)h.iov;
	out->n_iov = h.n_iov;
	return true;
}

/* To whom: as said with the message, or where the socket leads. */
static __always_inline bool to_resolver(const void *addr, __u64 bytes,
					__u16 peer_port)
{
	__u16 port = peer_port;

	if (addr && (__u32)bytes)
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

static __always_inline bool is_narrow(const struct message *m)
{
	return m->head.flags & WATCH_NARROW;
}

/* The whole of a question is in the first piece. */
static __always_inline void put_msg_data(struct message *m, __u8 part,
					 const struct user_msghdr *h)
{
	struct user_iovec v;

	if (h->n_iov && read_iovec(&v, h->iov, is_narrow(m)))
		put_data(m, part, v.base, v.bytes);
}

static __always_inline void put_questions(struct message *m, const void *from,
					  __u32 several)
{
	struct user_msghdr h;

	if (m->head.ret >= 0 && read_msghdr(&h, from, 0, is_narrow(m)))
		put_msg_data(m, WATCH_FIRST, &h);
	/* Both kinds of address are asked for at once. */
	if (several && m->head.ret > 1 &&
	    read_msghdr(&h, from, 1, is_narrow(m)))
		put_msg_data(m, WATCH_SECOND, &h);
}

/* What each step finds as the one before did: the verifier sees two. */
struct several {
	struct message *m;
	const void *from;
	__u32 bytes; /* of the message, before the address */
	__u32 questions;
	__u16 peer_port;
};

static __always_inline void put_question(struct several *s,
					 const struct user_msghdr *h)
{
	if (!config.settings.questions || s->questions >= WATCH_QUESTIONS ||
	    !to_resolver(h->name, (__u64)h->name_bytes, s->peer_port))
		return;
	put_msg_data(s->m, (__u8)s->questions, h);
	s->questions++;
}

static __always_inline void read_name(__u64 addr[4],
				      const struct user_msghdr *h)
{
	__u32 n = (__u32)h->name_bytes;

	addr[0] = addr[1] = addr[2] = addr[3] = 0;
	if (h->name && n)
		bpf_probe_read_user(addr, n < 32 ? n : 32, h->name);
}

/* As it was compared: an address of IP is no longer, and only those count. */
static __always_inline void put_sent_to(struct message *m)
{
	struct watch_item *i = item(m, WATCH_ADDR, WATCH_FIRST);

	if (!i)
		return;
	__builtin_memcpy(room(m), m->sent_to, sizeof(m->sent_to));
	grow(m, i, sizeof(m->sent_to));
}

/* To another address than the one before: what there is of that is told. */
static long next_msg(__u64 i, struct several *s)
{
	struct message *m = s->m;
	struct user_msghdr h;
	__u64 addr[4];

	if (!read_msghdr(&h, s->from, (__u32)i + 1, is_narrow(m)))
		return 1;
	read_name(addr, &h);
	if (addr[0] == m->sent_to[0] && addr[1] == m->sent_to[1] &&
	    addr[2] == m->sent_to[2] && addr[3] == m->sent_to[3]) {
		put_question(s, &h);
		return 0;
	}
	__builtin_memcpy(m->sent_to, addr, sizeof(addr));
	m->head.ret = 1;
	send(m);
	m->head.bytes = s->bytes;
	s->questions = 0;
	if (addr[0])
		put_sent_to(m);
	put_question(s, &h);
	return 0;
}

/* Of those that were sent the addresses, each of them once in a row. */
static __always_inline void put_several(struct several *s,
					const struct user_msghdr *first)
{
	struct message *m = s->m;
	__s64 ret = m->head.ret;

	if (ret < 2)
		return;
	read_name(m->sent_to, first);
	bpf_loop((__u32)ret - 1, next_msg, s, 0);
	m->head.ret = ret;
}

/* several: how many messages were given to sendmmsg; 0: it is sendmsg. */
static __always_inline void put_msg(struct message *m, const void *from,
				    __u32 several, __u16 peer_port)
{
	struct several s = {.m = m,
			    .from = from,
			    .bytes = m->head.bytes,
			    .peer_port = peer_port};
	struct user_msghdr h;

	if (!read_msghdr(&h, from, 0, is_narrow(m)))
		return;
	put_addr(m, h.name, (__u64)h.name_bytes, true);
	if (m->head.ret >= 0)
		put_question(&s, &h);
	if (several)
		put_several(&s, &h);
}

static __always_inline bool is_ip(struct socket *s)
{
	struct sock *k = s ? GET(s, sk) : NULL;
	__u16 family = k ? GET(k, __sk_common.skc_family) : 0;

	return family == AF_INET || family == AF_INET6;
}

/* Of IP, and whatever is no stream: what is sent may go to anybody. */
static __always_inline bool is_datagram_of(struct socket *s)
{
	return is_ip(s) && GET(s, type) != SOCK_STREAM;
}

/* On others a send that would connect is one as any other. */
static __always_inline bool is_stream_of(struct socket *s)
{
	return is_ip(s) && GET(s, type) == SOCK_STREAM;
}

static __always_inline bool is_datagram(struct task_struct *t, __u64 fd)
{
	return is_datagram_of(socket_at(t, fd));
}
