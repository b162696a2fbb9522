/*
 * The back ends "fexit" and "lsm": what the kernel has in its hands where it
 * asks its security modules, so that no other thread can change it afterwards.
 *
 * A part of watch.bpf.c. Each hook is there twice, as a program at the end of
 * security_X(), and as one of the BPF LSM. What a hook sees in a system call is
 * kept for its end, which knows how it went; what an io_uring does has no such
 * end, and is told at once, with the verdict of the security modules alone.
 *
 * Files that are opened come from do_filp_open() where functions can be traced:
 * once for each name that is looked up, with its result, whereas overlay file
 * systems ask the security modules once more for the file below. The LSM has
 * the latter alone, so there it is used for io_uring only.
 */
#define PF_IO_WORKER	0x10
#define FMODE_NOACCOUNT 0x20000000 /* the file below, of an overlay */
#ifdef __TARGET_ARCH_x86
#define O_LARGEFILE 0x8000
#else
#define O_LARGEFILE 0x20000
#endif

struct seen {
	struct task_struct *t;
	struct message *m;
	struct call call; /* its number, or that of what it is told as */
	bool ring;	  /* an io_uring does it, for no call of its own */
};

/*
 * Whose it is. hows: the calls that this hook is a part of, 1 << WATCH_PATHS;
 * op: of a ring. False when nobody is interested.
 */
static __always_inline bool sees(struct seen *s, __u32 hows, enum watch_op op)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u32 nr;

	s->t = PLAIN(t);
	if (!in_scope(s->t))
		return false;
	call_read(&s->call, s->t, regs_of(t));
	nr = s->call.nr;
	s->ring = (s->t->flags & PF_IO_WORKER) ||
		  nr == config.settings.ring_enter;
	if (s->ring) {
		s->call.nr = config.ops[op];
		return op != WATCH_OP_NONE && s->call.nr < WATCH_CALLS_MAX;
	}
	return nr < WATCH_CALLS_MAX && (hows >> how_of(nr)->how & 1);
}

static __always_inline void hook_start(struct seen *s)
{
	begin_at(s->m, s->t, s->ring ? WATCH_RING : WATCH_CALL);
	s->m->head.nr = (__u16)s->call.nr;
	s->m->head.flags = s->call.flags;
}

static __always_inline bool hook_begin(struct seen *s, __u32 hows,
				       enum watch_op op)
{
	if (!sees(s, hows, op))
		return false;
	s->m = slot_take();
	if (!s->m)
		return false;
	hook_start(s);
	return true;
}

static __always_inline void hook_end(struct seen *s, int ret)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	if (s->ring) {
		s->m->head.ret = ret;
		send(s->m);
	} else if (s->m->head.bytes < KEPT_MAX) {
		bpf_map_update_elem(&kept, &tid, &s->m->head, BPF_NOEXIST);
	}
	slot_release(s->m);
}

/* --- names ---------------------------------------------------------------- */

#define PATHS  (1u << WATCH_PATHS)
#define TARGET (1u << WATCH_TARGET)

static __always_inline void on_entry(struct path *dir, struct dentry *d,
				     enum watch_op op, int ret)
{
	struct seen s;

	if (!hook_begin(&s, PATHS, op))
		return;
	put_entry(s.m, dir, d, WATCH_FIRST);
	hook_end(&s, ret);
}

static __always_inline void on_path(struct path *p)
{
	struct seen s;

	if (!hook_begin(&s, PATHS, WATCH_OP_NONE))
		return;
	put_path_of(s.m, p, WATCH_PATH, WATCH_FIRST);
	hook_end(&s, 0);
}

static __always_inline void on_paths(struct path *first, struct path *second)
{
	struct seen s;

	if (!hook_begin(&s, PATHS, WATCH_OP_NONE))
		return;
	put_path_of(s.m, first, WATCH_PATH, WATCH_FIRST);
	put_path_of(s.m, second, WATCH_PATH, WATCH_SECOND);
	hook_end(&s, 0);
}

static __always_inline void on_entries(struct path *old_dir, struct dentry *old,
				       struct path *new_dir, struct dentry *new,
				       enum watch_op op, int ret)
{
	struct seen s;

	if (!hook_begin(&s, PATHS, op))
		return;
	put_entry(s.m, old_dir, old, WATCH_FIRST);
	put_entry(s.m, new_dir, new, WATCH_SECOND);
	hook_end(&s, ret);
}

static __always_inline void on_symlink(struct path *dir, struct dentry *d,
				       const char *target, int ret)
{
	struct seen s;

	if (!hook_begin(&s, TARGET, WATCH_OP_SYMLINK))
		return;
	put_kernel_text(s.m, WATCH_TEXT, WATCH_FIRST, target);
	put_entry(s.m, dir, d, WATCH_SECOND);
	hook_end(&s, ret);
}

static __always_inline void on_mount(const char *source, struct path *at)
{
	struct seen s;

	if (!hook_begin(&s, TARGET, WATCH_OP_NONE))
		return;
	put_kernel_text(s.m, WATCH_TEXT, WATCH_FIRST, source);
	put_path_of(s.m, at, WATCH_PATH, WATCH_SECOND);
	hook_end(&s, 0);
}

static __always_inline void on_umount(struct vfsmount *mnt)
{
	struct seen s;

	if (!hook_begin(&s, PATHS, WATCH_OP_NONE))
		return;
	s.m->dentry = (__u64)GET(mnt, mnt_root);
	s.m->mnt = (__u64)mnt;
	put_path(s.m->dentry, s.m->mnt, WATCH_PATH, WATCH_FIRST, s.m->slot);
	hook_end(&s, 0);
}

/* --- sockets -------------------------------------------------------------- */

static __always_inline void on_address(struct socket *sock, const void *addr,
				       int bytes, enum watch_op op, int ret)
{
	struct seen s;

	if (!hook_begin(&s, 1u << WATCH_TO, op))
		return;
	put_socket_of(s.m, sock);
	put_addr(s.m, addr, (__u32)bytes, false);
	s.m->head.args[0] = (__u64)-1; /* for a ring: no descriptor is known */
	s.m->head.args[4] = (__u64)sock;
	hook_end(&s, ret);
}

static __always_inline void on_socket(struct socket *sock, enum watch_op op,
				      int backlog, int ret)
{
	struct seen s;

	if (!hook_begin(&s, 1u << WATCH_SOCKET, op))
		return;
	put_socket_of(s.m, sock);
	s.m->head.args[0] = (__u64)-1;
	s.m->head.args[1] = (__u32)backlog;
	s.m->head.args[4] = (__u64)sock; /* listen() may choose its port */
	hook_end(&s, ret);
}

#define ADDRESSED 10 /* words that a socket and an address are below */

/* Of several messages in one call, one before this went to another address:
 * that one was sent. */
static __always_inline void tell_former(struct seen *s)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct kept *k = bpf_map_lookup_elem(&kept, &tid);
	__u64 *was, *is = (__u64 *)s->m->items;
	bool differs = false;

	if (!k)
		return;
	was = (__u64 *)k->items;
	for (int i = 0; i < ADDRESSED; i++)
		differs |= was[i] != is[i];
	if (!differs && k->head.bytes == s->m->head.bytes)
		return;
	s->m->head.args[5] |= k->head.args[5];
	for (int i = 0; i < 6; i++)
		k->head.args[i] = s->call.args[i];
	k->head.ret = 1;
	send_head(&k->head, sizeof(k->items));
	bpf_map_delete_elem(&kept, &tid);
}

static __always_inline void on_send(struct socket *sock, struct msghdr *msg,
				    int ret)
{
	const void *addr = GET(msg, msg_name);
	__u16 port;
	struct seen s;

	if (!(is_datagram_of(sock) ||
	      ((GET(msg, msg_flags) & MSG_FASTOPEN) && is_stream_of(sock))) ||
	    !hook_begin(&s, 1u << WATCH_TO | 1u << WATCH_MSG, WATCH_OP_SEND))
		return;
	port = put_socket_of(s.m, sock);
	if (addr) {
		put_addr(s.m, addr, (__u32)GET(msg, msg_namelen), false);
		bpf_probe_read_kernel(&port, sizeof(port), addr + 2);
	}
	s.m->head.args[0] = (__u64)-1;
	s.m->head.args[4] = (__u64)sock;
	s.m->head.args[5] = port == bpf_htons(PORT_DNS);
	if (!s.ring)
		tell_former(&s);
	else if (!is_datagram_of(sock))
		s.m->head.kind = WATCH_RING_FAST;
	hook_end(&s, ret);
}

static __always_inline void on_canary(void)
{
	struct task_struct *t = bpf_get_current_task_btf();

	if (in_scope(PLAIN(t)))
		scope.hooked = 1;
}

/* --- the hooks ------------------------------------------------------------ */

#define HOOK(name, what, ...)                                                  \
	SEC("fexit/security_" #name)                                           \
	int BPF_PROG(fexit_##name, __VA_ARGS__, int ret)                       \
	{                                                                      \
		what;                                                          \
		return 0;                                                      \
	}                                                                      \
	SEC("lsm/" #name)                                                      \
	int BPF_PROG(lsm_##name, __VA_ARGS__)                                  \
	{                                                                      \
		int ret = 0; /* nothing is refused here */                     \
                                                                               \
		what;                                                          \
		return ret;                                                    \
	}

/* An active BPF LSM and an idle one take the same programs. */
HOOK(task_getscheduler, on_canary(), struct task_struct *p)

HOOK(path_unlink, on_entry(dir, d, WATCH_OP_UNLINK, ret), struct path *dir,
     struct dentry *d)
HOOK(path_rmdir, on_entry(dir, d, WATCH_OP_UNLINK, ret), struct path *dir,
     struct dentry *d)
HOOK(path_mkdir, on_entry(dir, d, WATCH_OP_MKDIR, ret), struct path *dir,
     struct dentry *d, __u16 mode)
HOOK(path_mknod, on_entry(dir, d, WATCH_OP_NONE, ret), struct path *dir,
     struct dentry *d, __u16 mode, unsigned int dev)
HOOK(path_truncate, on_path(p), struct path *p)
HOOK(path_chmod, on_path(p), struct path *p, __u16 mode)
HOOK(path_chown, on_path(p), struct path *p, __u64 uid, __u64 gid)
HOOK(path_chroot, on_path(p), struct path *p)
HOOK(path_rename, on_entries(from, old, to, new, WATCH_OP_RENAME, ret),
     struct path *from, struct dentry *old, struct path *to, struct dentry *new,
     unsigned int flags)
/* Links do not cross mounts. */
HOOK(path_link, on_entries(dir, old, dir, new, WATCH_OP_LINK, ret),
     struct dentry *old, struct path *dir, struct dentry *new)
HOOK(path_symlink, on_symlink(dir, d, target, ret), struct path *dir,
     struct dentry *d, const char *target)

HOOK(sb_mount, on_mount(source, at), const char *source, struct path *at,
     const char *type, unsigned long flags, void *data)
HOOK(sb_umount, on_umount(mnt), struct vfsmount *mnt, int flags)
HOOK(sb_pivotroot, on_paths(at, old), struct path *old, struct path *at)
HOOK(move_mount, on_paths(from, to), struct path *from, struct path *to)

HOOK(socket_connect, on_address(s, addr, bytes, WATCH_OP_CONNECT, ret),
     struct socket *s, void *addr, int bytes)
HOOK(socket_bind, on_address(s, addr, bytes, WATCH_OP_BIND, ret),
     struct socket *s, void *addr, int bytes)
HOOK(socket_listen, on_socket(s, WATCH_OP_LISTEN, backlog, ret),
     struct socket *s, int backlog)
HOOK(socket_accept, on_socket(s, WATCH_OP_ACCEPT, 0, ret), struct socket *s,
     struct socket *new)
HOOK(socket_sendmsg, on_send(s, m, ret), struct socket *s, struct msghdr *m,
     int bytes)

/* --- files ---------------------------------------------------------------- */

/* As the system call had them; where they were in memory, the kernel's copy. */
static __always_inline __u64 open_flags_of(const struct seen *s,
					   struct open_flags *op)
{
	const volatile struct watch_call *c = how_of(s->call.nr);

	if (s->ring || c->c)
		return (__u32)GET(op, open_flag) & ~O_LARGEFILE;
	return c->d < 0 ? O_CREATED : call_arg(&s->call, (__u32)c->d);
}

/* A ring first tries what needs no waiting. */
static __always_inline bool is_no_open(const struct seen *s, long ret)
{
	return ret == -ENOENT || ret == -ENOTDIR || (s->ring && ret == -EAGAIN);
}

SEC("fexit/do_filp_open")
int BPF_PROG(fexit_open, int dir, struct filename *name, struct open_flags *op,
	     struct file *f)
{
	long ret = (__u64)f >= (__u64)-4095 ? (long)f : 0;
	struct seen s;
	__u64 flags;

	if (!sees(&s, 1u << WATCH_OPEN, WATCH_OP_OPEN) || is_no_open(&s, ret))
		return 0;
	flags = open_flags_of(&s, op);
	if (ret == 0 && !wants(f, flags))
		return 0;
	s.m = slot_take();
	if (!s.m)
		return 0;
	hook_start(&s);
	s.m->head.ret = ret;
	put_open_flags(s.m, flags);
	if (ret < 0) {
		put_name(s.m, s.t, dir, name, WATCH_FIRST);
	} else {
		put_path_of(s.m, &f->f_path, WATCH_PATH, WATCH_FIRST);
		put_file(s.m, f);
		put_kernel_text(s.m, WATCH_TEXT, WATCH_CMD, GET(name, name));
	}
	send(s.m);
	slot_release(s.m);
	return 0;
}

SEC("lsm/file_open")
int BPF_PROG(lsm_file_open, struct file *f)
{
	__u32 flags = GET(f, f_flags) & ~O_LARGEFILE;
	struct seen s;

	if ((GET(f, f_mode) & FMODE_NOACCOUNT) || !wants(f, flags) ||
	    !hook_begin(&s, 0, WATCH_OP_OPEN))
		return 0;
	put_open_flags(s.m, flags);
	put_path_of(s.m, &f->f_path, WATCH_PATH, WATCH_FIRST);
	put_file(s.m, f);
	hook_end(&s, 0);
	return 0;
}
